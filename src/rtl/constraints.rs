//! Timing constraints (SDC) of each unit as a block of its own.

use super::budget::Budget;
use super::design::{Design, EmittedUnit};
use crate::output::OwnedFile;
use spadkit_hdl::{Dir, Port};

/// The units whose `cfg_*` are static while anything is inside.
const STATIC: [&str; 3] = ["spad_sm_path", "spad_stream", "spad_tcdm"];

/// One file per unit: the clock, and the parts of its period that belong to
/// what is around the block.
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
        of_dir.map(pattern).collect::<Vec<_>>().join(" ")
    };
    let clock = match unit.is_sequential() {
        true => " [get_ports clk]",
        false => "", // a virtual one
    };
    let about = match unit.is_sequential() {
        true => "Its clock is clk.",
        false => "It has no clock: a virtual one bounds the way from inputs to outputs.",
    };
    let config: Vec<String> = unit
        .ports
        .iter()
        .filter(|p| p.dir == Dir::In && p.name.starts_with("cfg_"))
        .map(pattern)
        .collect();
    let config = match (config.is_empty(), STATIC.contains(&&*unit.name)) {
        (true, _) => String::new(),
        (_, true) => format!(
            "# Configuration is static while anything is inside.\n\
             set_false_path -from [get_ports {{{}}}]\n",
            config.join(" ")
        ),
        (_, false) => format!(
            "# Configuration is static while a kernel runs. Where yours comes from registers\n\
             # that are written only when the block is idle:\n\
             # set_false_path -from [get_ports {{{}}}]\n",
            config.join(" ")
        ),
    };
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
         # The period is in the time unit of the library, mostly nanoseconds; before and\n\
         # behind are the parts of it that what is around the block takes in front of its\n\
         # inputs and behind its outputs. Set others before this file is read:\n\
         # set spadkit_period 2.0\n\
         if {{ ![info exists spadkit_period] }} {{ set spadkit_period {period:?} }}\n\
         if {{ ![info exists spadkit_before] }} {{ set spadkit_before {before:?} }}\n\
         if {{ ![info exists spadkit_behind] }} {{ set spadkit_behind {behind:?} }}\n\
         create_clock -name clk -period $spadkit_period{clock}\n\
         set_input_delay [expr {{$spadkit_before * $spadkit_period}}] -clock clk \\\n\
         \x20   [get_ports {{{}}}]\n\
         set_output_delay [expr {{$spadkit_behind * $spadkit_period}}] -clock clk \\\n\
         \x20   [get_ports {{{}}}]\n\
         {config}{registers}",
        design.preset,
        design.geometry,
        ports(Dir::In),
        ports(Dir::Out),
    )
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

/// A port as `get_ports` wants it.
fn pattern(port: &Port) -> String {
    match port.width {
        1 => port.name.clone(),
        _ => format!("{}[*]", port.name),
    }
}
