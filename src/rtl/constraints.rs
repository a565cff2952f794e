//! Timing constraints (SDC) of each unit as a block of its own.

use super::design::{Design, EmittedUnit};
use crate::output::OwnedFile;
use spadkit_hdl::{Dir, Port};

/// The clock period where the user sets none, in the library's time unit:
/// slow enough for every unit in old libraries (180 nm).
const PERIOD: &str = "10.0";

/// One file per unit: the clock, and 30 % of its period on either side for
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
    let config = match config.is_empty() {
        true => String::new(),
        false => format!(
            "# Configuration is static while a kernel runs. Where yours comes from registers\n\
             # that are written only when the block is idle:\n\
             # set_false_path -from [get_ports {{{}}}]\n",
            config.join(" ")
        ),
    };
    format!(
        "# SPDX-License-Identifier: MIT OR Apache-2.0\n\
         # {top} as a block of its own, {} ({}).\n\
         # {about}\n\
         #\n\
         # The period is in the time unit of the library, mostly nanoseconds. Set another\n\
         # one before this file is read: set spadkit_period 2.0\n\
         if {{ ![info exists spadkit_period] }} {{ set spadkit_period {PERIOD} }}\n\
         create_clock -name clk -period $spadkit_period{clock}\n\
         # What is around the block takes 30 % of the period before and behind it.\n\
         set spadkit_outside [expr {{0.3 * $spadkit_period}}]\n\
         set_input_delay $spadkit_outside -clock clk [get_ports {{{}}}]\n\
         set_output_delay $spadkit_outside -clock clk [get_ports {{{}}}]\n\
         {config}",
        design.preset,
        design.geometry,
        ports(Dir::In),
        ports(Dir::Out),
    )
}

/// A port as `get_ports` wants it.
fn pattern(port: &Port) -> String {
    match port.width {
        1 => port.name.clone(),
        _ => format!("{}[*]", port.name),
    }
}
