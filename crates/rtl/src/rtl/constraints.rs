//! Timing constraints (SDC) of each unit as a block of its own.

use super::budget::Budget;
use super::design::{Design, EmittedUnit};
use crate::output::OwnedFile;
use spadkit_hdl::{Dir, Port};

/// Columns of a file; ports beyond them are on further lines.
const COLUMNS: usize = 100;

/// The units whose `cfg_*` are static while anything is inside.
const STATIC: [&str; 4] = [
    "spad_sm_path",
    "spad_stream",
    "spad_wide_stream",
    "spad_tcdm",
];

/// One file per unit: the clock, and the budgets of its period for the logic around the block.
pub(super) fn files(design: &Design) -> impl Iterator<Item = OwnedFile> {
    let file = |unit: &EmittedUnit| {
        let name = format!("sdc/{}.sdc", unit.top);
        OwnedFile::new(name, text(design, unit))
    };
    design.units.iter().map(file)
}

fn text(design: &Design, unit: &EmittedUnit) -> String {
    let top = &unit.top;
    let is_data = |p: &&Port| p.name != "clk";
    let ports = |dir: Dir| {
        let of_dir = unit.ports.iter().filter(|p| p.dir == dir).filter(is_data);
        get_ports("    ", "        ", of_dir.map(pattern))
    };
    let clock = if unit.is_sequential() {
        " [get_ports clk]"
    } else {
        ""
    };
    let about = if unit.is_sequential() {
        "Its clock is clk."
    } else {
        "It has no clock: a virtual one bounds the way from inputs to outputs."
    };
    let config = static_ports(unit);
    let registers = static_registers(unit);
    let Budget {
        period,
        before,
        behind,
    } = design.budget;
    format!(
        "# SPDX-License-Identifier: MIT OR Apache-2.0\n\
         # {top} as a block of its own, {} ({}).\n\
         # {about}\n\
         #\n\
         # The period is in the time unit of the library, mostly nanoseconds; the\n\
         # input and output delays are fractions of it that the surrounding logic uses.\n\
         # Set your own before this file is read:\n\
         # set spadkit_period 2.0\n\
         if {{ ![info exists spadkit_period] }} {{ set spadkit_period {period:?} }}\n\
         if {{ ![info exists spadkit_input_delay] }} {{ set spadkit_input_delay {before:?} }}\n\
         if {{ ![info exists spadkit_output_delay] }} {{ set spadkit_output_delay {behind:?} }}\n\
         create_clock -name clk -period $spadkit_period{clock}\n\
         set_input_delay [expr {{$spadkit_input_delay * $spadkit_period}}] -clock clk \\\n\
         {}\n\
         set_output_delay [expr {{$spadkit_output_delay * $spadkit_period}}] -clock clk \\\n\
         {}\n\
         {config}{registers}",
        design.preset,
        design.geometry,
        ports(Dir::In),
        ports(Dir::Out),
    )
}

/// The ports of the configuration, which change only while nothing depends on them.
fn static_ports(unit: &EmittedUnit) -> String {
    let is_config = |p: &&Port| p.dir == Dir::In && p.name.starts_with("cfg_");
    let mut config = unit.ports.iter().filter(is_config).map(pattern).peekable();
    match (config.peek().is_none(), STATIC.contains(&&*unit.name)) {
        (true, _) => String::new(),
        (_, true) => format!(
            "# Configuration is static while anything is inside.\n{}\n",
            get_ports("set_false_path -from ", "    ", config)
        ),
        (_, false) => format!(
            "# Configuration is static while a kernel runs. Where yours comes from registers\n\
             # that are written only when the block is idle:\n{}\n",
            get_ports("# set_false_path -from ", "#     ", config)
        ),
    }
}

/// The registers of the mapping, which are written only while nothing is inside.
fn static_registers(unit: &EmittedUnit) -> String {
    let written = ["hash", "row"].into_iter().filter(|name| {
        let enable = format!("{name}_wr_en");
        unit.ports.iter().any(|port| port.name == enable)
    });
    let stage = match &*unit.name {
        "spad_sm_path" => "hash_stage/",
        _ => "",
    };
    let pins = written.map(|name| format!("{stage}{name}_config/cfg_*"));
    let pins = pins.collect::<Vec<_>>().join(" ");
    if pins.is_empty() {
        return pins;
    }
    format!(
        "# The registers of the mapping are as static. Where the hierarchy is kept their outputs\n\
         # are pins; elsewhere these names find none.\n\
         foreach spadkit_names {{{pins}}} {{\n\
         \x20   set spadkit_pins [get_pins -quiet $spadkit_names]\n\
         \x20   if {{ [llength $spadkit_pins] > 0 }} {{ set_false_path -through $spadkit_pins }}\n\
         }}\n"
    )
}

/// `opening` and the ports that are meant, in lines of which each but the first
/// begins with `indent`.
fn get_ports(opening: &str, indent: &str, patterns: impl Iterator<Item = String>) -> String {
    let behind = 2; // what ends a line: a space and a backslash, or two brackets
    let mut text = format!("{opening}[get_ports {{");
    let mut column = text.len();
    for (i, pattern) in patterns.enumerate() {
        let space = usize::from(i > 0);
        if i > 0 && column + space + pattern.len() + behind > COLUMNS {
            text.push_str(&format!(" \\\n{indent}"));
            column = indent.len();
        } else {
            text.push_str(&" ".repeat(space));
            column += space;
        }
        column += pattern.len();
        text.push_str(&pattern);
    }
    text + "}]"
}

/// A port as `get_ports` wants it.
fn pattern(port: &Port) -> String {
    match port.width {
        1 => port.name.clone(),
        _ => format!("{}[*]", port.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// Every port is in the file of its unit, and no line is too long.
    #[test]
    fn lists_of_ports_are_broken_into_lines() {
        let config = Config::preset("fermi").unwrap();
        let design = Design::emit(&[], &config).unwrap();
        for unit in &design.units {
            let text = text(&design, unit);
            let long = text.lines().find(|line| line.len() > COLUMNS);
            assert_eq!(long, None, "{}", unit.top);
            let joined = text.replace(" \\\n", " ");
            let words = joined.split([' ', '{', '}', '\n']);
            let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
            for port in unit.ports.iter().filter(|port| port.name != "clk") {
                assert!(
                    words.contains(&&*pattern(port)),
                    "{}: {}",
                    unit.top,
                    port.name
                );
            }
        }
    }

    #[test]
    fn a_comment_goes_on_as_a_comment() {
        let names = (0..12).map(|i| format!("a_long_name_{i}"));
        let text = get_ports("# set_false_path -from ", "#     ", names);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.starts_with('#')));
        assert!(lines[0].ends_with(" \\") && lines[2].ends_with("}]"));
    }
}
