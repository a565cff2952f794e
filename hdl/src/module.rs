//! From a rust-hdl block to one Verilog module with documented ports.

use crate::codes;
pub use crate::error::{HdlError, Result};
use crate::geometry::Geometry;
use crate::lines::{COMMENT_WIDTH, wrap};
pub use crate::port::{Dir, Port};
use crate::print;
use crate::widths::{Local, Widths};
use rust_hdl::core::atom::{Atom, AtomKind};
use rust_hdl::core::check_error::check_all;
use rust_hdl::prelude::*;
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
}

/// The unit itself, which stands behind the modules that it instantiates.
pub(crate) fn top(modules: &[Module]) -> &Module {
    modules.last().expect("a unit has a module")
}

/// A unit on its way to Verilog: its documentation, port by port.
pub(crate) struct Unit {
    doc: UnitDoc,
    ports: Vec<(String, String)>,
    /// Ports of which some bits are not used, with the reason.
    unused: Vec<(String, String)>,
}

impl Unit {
    pub(crate) fn new(doc: UnitDoc) -> Self {
        Unit {
            doc,
            ports: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// Documents the next port, in the order of the block's fields.
    pub(crate) fn port(mut self, name: &str, doc: impl Into<String>) -> Self {
        self.ports.push((name.to_owned(), doc.into()));
        self
    }

    /// Waives the lint of address bits from `used` upward, where there are any.
    pub(crate) fn unused_above(mut self, g: Geometry, used: usize) -> Self {
        if used < g.addr_bits {
            let reason = format!("addr[{}:{used}] does not enter the hash", g.addr_bits - 1);
            self.unused.push(("addr".into(), reason));
        }
        self
    }

    /// Emits the block `B` as one module.
    pub(crate) fn emit<B: Block + Default>(self) -> Result<Module> {
        self.emit_block(&mut B::default())
    }

    /// Not generic: it would be compiled once for each unit and geometry.
    fn emit_block(self, block: &mut dyn Block) -> Result<Module> {
        block.connect_all();
        let refused = |reason: String| HdlError::Check {
            unit: self.doc.name.clone(),
            reason,
        };
        check_all(block).map_err(|e| refused(format!("{e:?}")))?;
        let mut signals = Signals::default();
        block.accept(&self.doc.name, &mut signals);
        let Verilog::Combinatorial(statements) = block.hdl() else {
            return Err(refused("it is not combinational".into()));
        };
        let locals = signals.locals.iter().map(|l| (l.name.clone(), l.width));
        let all = signals.ports.iter().map(|p| (p.name.clone(), p.width));
        let mut widths = Widths::new(all.chain(locals));
        signals
            .locals
            .extend(widths.check(&statements).map_err(refused)?);
        let ports = documented(signals.ports, &self.doc.name, &self.ports)?;
        let body = print::body(&signals.locals, &statements, &widths);
        let codes = codes::declarations(&body);
        let opening = print::opening(&self.doc.name, &[], &ports, &[], &self.unused);
        let text = format!(
            "{}{opening}\n{codes}{body}endmodule\n",
            header(&self.doc, &ports)
        );
        Ok(Module {
            doc: self.doc,
            ports,
            submodules: Vec::new(),
            text,
        })
    }
}

/// The ports with their documentation.
fn documented(ports: Vec<Port>, unit: &str, port_docs: &[(String, String)]) -> Result<Vec<Port>> {
    let names: Vec<_> = ports.iter().map(|p| p.name.clone()).collect();
    let documented: Vec<_> = port_docs.iter().map(|(n, _)| n.clone()).collect();
    if names != documented {
        return Err(HdlError::PortDocs {
            unit: unit.to_owned(),
            ports: names,
            documented,
        });
    }
    let with_doc = |(mut port, (_, doc)): (Port, &(String, String))| {
        port.doc.clone_from(doc);
        port
    };
    Ok(ports.into_iter().zip(port_docs).map(with_doc).collect())
}

/// Collects the signals of the top block.
#[derive(Default)]
struct Signals {
    ports: Vec<Port>,
    locals: Vec<Local>,
}

impl Probe for Signals {
    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        let width = signal.bits();
        let dir = match signal.kind() {
            AtomKind::InputParameter => Dir::In,
            AtomKind::OutputParameter => Dir::Out,
            _ => {
                let name = name.to_owned();
                return self.locals.push(Local { name, width });
            }
        };
        self.ports.push(Port::new(name, dir, width, ""));
    }
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
