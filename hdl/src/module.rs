//! A Verilog module with documented ports.

pub use crate::error::{HdlError, Result};
use crate::lines::{COMMENT_WIDTH, wrap};
pub use crate::port::{Dir, Port};
use serde::Serialize;

/// What a reader must know about a unit before its ports.
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
    /// Of a combinational part of a unit, defined in `chapter` of the contract.
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
}

/// One emitted Verilog module.
#[derive(Clone, Debug)]
pub struct Module {
    /// Documentation; `doc.name` is the module's name.
    pub doc: UnitDoc,
    /// Ports in order.
    pub ports: Vec<Port>,
    /// Names of modules that it instantiates.
    pub submodules: Vec<String>,
    /// The whole file.
    pub text: String,
    /// The same in SystemVerilog with assertions, if the unit has some.
    pub asserted: Option<String>,
}

/// The unit itself, which stands behind the modules that it instantiates.
pub(crate) fn top(modules: &[Module]) -> &Module {
    modules.last().expect("a unit has a module")
}

/// The first line of every file.
pub(crate) const LICENSE: &str = "// SPDX-License-Identifier: MIT OR Apache-2.0\n";

/// The comment that opens every file.
pub(crate) fn header(doc: &UnitDoc, ports: &[Port]) -> String {
    let mut out = String::from(LICENSE);
    let mut add = |prefix: &str, text: &str| {
        let indent = " ".repeat(prefix.len());
        let width = COMMENT_WIDTH - prefix.len();
        for (i, line) in wrap(text, width).iter().enumerate() {
            let start = if i == 0 { prefix } else { &indent };
            out.push_str(format!("// {start}{line}").trim_end());
            out.push('\n');
        }
    };
    add("", &format!("{}: {}", doc.name, doc.summary));
    add("", "");
    add("Parameters: ", &doc.parameters);
    add("Timing:     ", &doc.timing);
    add("Reference:  ", &doc.paper);
    add("", "");
    let longest = ports.iter().map(|p| p.name.len()).max().unwrap_or(0);
    for port in ports {
        let dir = match port.dir {
            Dir::In => "in ",
            Dir::Out => "out",
        };
        let width = match port.width {
            0 => "*".to_owned(), // by a parameter
            width => width.to_string(),
        };
        let prefix = format!("{dir} {:longest$} {width:>3}  ", port.name);
        add(&prefix, &port.doc);
    }
    out.push('\n');
    out
}
