//! Memory macros as cells of a Liberty library, so that paths into and out
//! of the memories that are left out of a netlist are timed.

use super::technology::Technology;
use super::yosys::YosysModule;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Transition time of a macro's outputs, in FO4 delays of the library.
const TRANSITION_FO4: f64 = 1.0;

/// A library with a cell for each of `memories` (name and ports): every output
/// is valid the technology's clock-to-output time after the rising edge of
/// `clk`. Every input must be stable its set-up time before that edge. Empty
/// without memories.
pub(super) fn liberty(memories: &[(&str, &YosysModule)], technology: &Technology) -> String {
    if memories.is_empty() {
        return String::new();
    }
    let ports = || memories.iter().flat_map(|(_, m)| m.ports.values());
    let widths: BTreeSet<usize> = ports().map(|p| p.bits.len()).filter(|w| *w > 1).collect();
    let mut text = String::from(HEAD);
    for width in widths {
        let _ = writeln!(
            text,
            "  type (bits{width}) {{ base_type : array; data_type : bit; bit_width : {width}; \
             bit_from : {}; bit_to : 0; downto : true; }}",
            width - 1
        );
    }
    for (name, module) in memories {
        let _ = writeln!(text, "  cell ({name}) {{\n    area : 0;");
        for (port, shape) in &module.ports {
            let width = shape.bits.len();
            let (group, kind) = match width {
                1 => ("pin", String::new()),
                _ => ("bus", format!("bus_type : bits{width}; ")),
            };
            let body = pin(port, shape.direction == "output", technology);
            let _ = writeln!(text, "    {group} ({port}) {{ {kind}{body} }}");
        }
        text.push_str("  }\n");
    }
    text + "}\n"
}

/// The contents of the group of a pin or bus.
fn pin(name: &str, is_output: bool, technology: &Technology) -> String {
    let memory = technology.memory;
    let values = |ps: f64| format!("(scalar) {{ values (\"{ps}\"); }}");
    if is_output {
        let (delay, edge) = (
            values(memory.clock_to_output_ps),
            values(technology.liberty.fo4_ps.unwrap_or_default() * TRANSITION_FO4),
        );
        return format!(
            "direction : output; timing () {{ related_pin : \"clk\"; timing_type : rising_edge; \
             cell_rise {delay} cell_fall {delay} rise_transition {edge} fall_transition {edge} }}"
        );
    }
    let load = format!("direction : input; capacitance : {};", technology.load_ff);
    if name == "clk" {
        return format!("{load} clock : true;");
    }
    let setup = values(memory.setup_ps);
    format!(
        "{load} timing () {{ related_pin : \"clk\"; timing_type : setup_rising; \
         rise_constraint {setup} fall_constraint {setup} }}"
    )
}

const HEAD: &str = r#"library (memory_macros) {
  delay_model : table_lookup;
  time_unit : "1ps";
  capacitive_load_unit (1, ff);
  voltage_unit : "1V";
  current_unit : "1mA";
  pulling_resistance_unit : "1kohm";
  leakage_power_unit : "1nW";
  input_threshold_pct_rise : 50;
  input_threshold_pct_fall : 50;
  output_threshold_pct_rise : 50;
  output_threshold_pct_fall : 50;
  slew_lower_threshold_pct_rise : 30;
  slew_lower_threshold_pct_fall : 30;
  slew_upper_threshold_pct_rise : 70;
  slew_upper_threshold_pct_fall : 70;
"#;
