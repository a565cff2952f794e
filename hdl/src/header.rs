//! The comment that opens a file: what a reader must know about a module.

use crate::lines::{COMMENT_WIDTH, wrap, wrap_list};
use crate::port::{Dir, Port};
use crate::style::Style;
use crate::vector::Vector;
use serde::Serialize;

/// The facts about a unit that a reader needs before its ports.
#[derive(Clone, Debug, Serialize)]
pub struct UnitDoc {
    /// Module name; also the file's name.
    pub name: String,
    /// One sentence: what the block does.
    pub summary: String,
    /// The widths of this emission, e.g. `addr_bits = 14, bank_bits = 5`.
    pub parameters: String,
    /// Combinational, or the clock cycles from input to output.
    pub timing: String,
    /// The paper section that defines it.
    pub paper: String,
    /// Clock cycles from the one in which an input is taken (issued) to the one in
    /// which its result shows, without conflicts; 0 for combinational blocks.
    pub latency_cycles: u32,
}

impl UnitDoc {
    /// The header of a combinational part of a unit, defined in `chapter` of the contract.
    pub(crate) fn part(name: &str, summary: &str, parameters: String, chapter: &str) -> Self {
        UnitDoc {
            name: name.into(),
            summary: summary.into(),
            parameters,
            timing: "combinational".into(),
            paper: format!("microarchitecture/{chapter}"),
            latency_cycles: 0,
        }
    }

    /// The documentation where modules are called by other names.
    pub(crate) fn in_style(&self, style: &Style) -> Self {
        UnitDoc {
            name: style.module(&self.name),
            summary: style.prose(&self.summary),
            parameters: style.prose(&self.parameters),
            timing: style.prose(&self.timing),
            ..self.clone()
        }
    }
}

/// The first line of every file.
pub(crate) const LICENSE: &str = "// SPDX-License-Identifier: MIT OR Apache-2.0\n";

/// The comment that opens every file.
pub(crate) fn header(doc: &UnitDoc, vectors: &[Vector], ports: &[Port]) -> String {
    let mut out = String::from(LICENSE);
    let mut add = |prefix: &str, text: &str, wrap: fn(&str, usize) -> Vec<String>| {
        let indent = " ".repeat(prefix.len());
        let width = COMMENT_WIDTH - prefix.len();
        for (i, line) in wrap(text, width).iter().enumerate() {
            let start = if i == 0 { prefix } else { &indent };
            out.push_str(format!("// {start}{line}").trim_end());
            out.push('\n');
        }
    };
    add("", &format!("{}: {}", doc.name, doc.summary), wrap);
    add("", "", wrap);
    // `NAME = value` stays in one line.
    add("Parameters: ", &doc.parameters, wrap_list);
    add("Timing:     ", &doc.timing, wrap);
    add("Reference:  ", &doc.paper, wrap);
    add("", "", wrap);
    let of_port = |port: &Port| {
        let dir = match port.dir {
            Dir::In => "in ",
            Dir::Out => "out",
        };
        let name = port.name.clone();
        (dir, name, width_text(port), port.doc.clone())
    };
    let of_vector = |vector: &Vector| {
        let width = vector.width().to_string();
        ("par", vector.name.clone(), width, vector.doc.clone())
    };
    let rows: Vec<_> = (vectors.iter().map(of_vector))
        .chain(ports.iter().map(of_port))
        .collect();
    let names = rows
        .iter()
        .map(|(_, name, ..)| name.len())
        .max()
        .unwrap_or(0);
    let widths = rows.iter().map(|(_, _, width, _)| width.len()).max();
    let widths = widths.unwrap_or(0).max(3);
    for (kind, name, width, doc) in rows {
        add(
            &format!("{kind} {name:names$} {width:>widths$}  "),
            &doc,
            wrap,
        );
    }
    out.push('\n');
    out
}

/// The width of a port, by the parameters that decide it.
fn width_text(port: &Port) -> String {
    port.size.unwrap_or(port.width.into()).text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_aligned_and_breaks_between_parameters() {
        let parameters: Vec<_> = (0..8).map(|i| format!("WIDTH_{i} = {i}")).collect();
        let doc = UnitDoc::part("unit", "a unit.", parameters.join(", "), "bus.md");
        let ports = [
            Port::new("a", Dir::In, 1, "a bit"),
            Port::new("data", Dir::Out, 1116, "many bits"),
        ];
        let expected = "// unit: a unit.\n//\n\
            // Parameters: WIDTH_0 = 0, WIDTH_1 = 1, WIDTH_2 = 2, WIDTH_3 = 3, WIDTH_4 = 4,\n\
            //             WIDTH_5 = 5, WIDTH_6 = 6, WIDTH_7 = 7\n\
            // Timing:     combinational\n// Reference:  microarchitecture/bus.md\n//\n\
            // in  a       1  a bit\n// out data 1116  many bits\n\n";
        assert_eq!(header(&doc, &[], &ports), LICENSE.to_owned() + expected);
    }
}
