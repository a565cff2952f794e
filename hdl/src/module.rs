//! From a rust-hdl block to one Verilog module with documented ports.

pub use crate::error::{HdlError, Result};
use crate::geometry::Geometry;
use rust_hdl::core::atom::{Atom, AtomKind};
use rust_hdl::core::check_error::check_all;
use rust_hdl::core::module_defines::ModuleDefines;
use rust_hdl::prelude::*;
use serde::Serialize;

/// Direction of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dir {
    /// Input.
    In,
    /// Output.
    Out,
}

/// A port of a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Port {
    /// Verilog name.
    pub name: String,
    /// Direction.
    pub dir: Dir,
    /// Bits.
    pub width: usize,
    /// Meaning and bit order.
    pub doc: String,
    /// Of an output: the inputs that it depends on in the same cycle, `cfg_*`
    /// and `rst` aside. None of them: it comes from registers. `None`: not
    /// declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<Vec<String>>,
}

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
    /// Clock cycles from input to output; 0 for combinational blocks.
    pub latency_cycles: u32,
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

/// A unit on its way to Verilog: its documentation, port by port.
pub(crate) struct Unit {
    doc: UnitDoc,
    ports: Vec<(&'static str, String)>,
    /// Ports of which some bits are not used, with the reason.
    unused: Vec<(&'static str, String)>,
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
    pub(crate) fn port(mut self, name: &'static str, doc: impl Into<String>) -> Self {
        self.ports.push((name, doc.into()));
        self
    }

    /// Waives the lint of address bits from `used` upward, where there are any.
    pub(crate) fn unused_above(mut self, g: Geometry, used: usize) -> Self {
        if used < g.addr_bits {
            let reason = format!("addr[{}:{used}] does not enter the hash", g.addr_bits - 1);
            self.unused.push(("addr", reason));
        }
        self
    }

    /// Emits the block `B` as one module.
    pub(crate) fn emit<B: Block + Default>(self) -> Result<Module> {
        self.emit_block(&mut B::default())
    }

    /// Emits a kernel as one module.
    pub(crate) fn emit_kernel(self, mut kernel: crate::kernel::Kernel) -> Result<Module> {
        self.emit_block(&mut kernel)
    }

    /// Not generic: it would be compiled once for each unit and geometry.
    fn emit_block(self, block: &mut dyn Block) -> Result<Module> {
        block.connect_all();
        check_all(block).map_err(|e| HdlError::Check {
            unit: self.doc.name.clone(),
            reason: format!("{e:?}"),
        })?;
        let mut defines = ModuleDefines::default();
        block.accept(&self.doc.name, &mut defines);
        let ports = documented_ports(block, &self.doc.name, &self.ports)?;
        let body = tidy(&defines.defines(), &self.unused);
        let text = format!("{}{body}", header(&self.doc, &ports));
        Ok(Module {
            doc: self.doc,
            ports,
            submodules: Vec::new(),
            text,
        })
    }
}

fn documented_ports(
    block: &dyn Block,
    unit: &str,
    port_docs: &[(&'static str, String)],
) -> Result<Vec<Port>> {
    let mut collector = PortCollector::default();
    block.accept(unit, &mut collector);
    let names: Vec<_> = collector.0.iter().map(|p| p.name.clone()).collect();
    let documented: Vec<_> = port_docs.iter().map(|(n, _)| (*n).to_owned()).collect();
    if names != documented {
        return Err(HdlError::PortDocs {
            unit: unit.to_owned(),
            ports: names,
            documented,
        });
    }
    let with_doc = |(mut port, (_, doc)): (Port, &(&'static str, String))| {
        port.doc.clone_from(doc);
        port
    };
    Ok(collector
        .0
        .into_iter()
        .zip(port_docs)
        .map(with_doc)
        .collect())
}

/// Collects the ports of the top block.
#[derive(Default)]
struct PortCollector(Vec<Port>);

impl Probe for PortCollector {
    fn visit_atom(&mut self, name: &str, signal: &dyn Atom) {
        let dir = match signal.kind() {
            AtomKind::InputParameter => Dir::In,
            AtomKind::OutputParameter => Dir::Out,
            _ => return,
        };
        self.0.push(Port {
            name: name.to_owned(),
            dir,
            width: signal.bits(),
            doc: String::new(),
            depends_on: None,
        });
    }
}

/// Columns of text in a header comment.
const COMMENT_WIDTH: usize = 76;

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

fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("never empty");
        if !last.is_empty() && last.len() + 1 + word.len() > width {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}

/// Columns of code before an expression is broken into lines.
const CODE_WIDTH: usize = 96;

/// rust-hdl's text without its section comments, blank lines and double
/// spaces, with long expressions broken and unused input bits waived.
fn tidy(text: &str, unused: &[(&'static str, String)]) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or_default().trim_end();
        if code.is_empty() {
            continue;
        }
        let body = code.trim_start();
        let indent = " ".repeat(code.len() - body.len());
        let body = body
            .replace("reg  ", "reg ")
            .replace("wire  ", "wire ")
            .replace('$', "__");
        let waived = |(name, _): &&(&str, String)| {
            body.starts_with("input wire") && body.ends_with(&format!(" {name};"))
        };
        if let Some((_, reason)) = unused.iter().find(waived) {
            out.push_str(&format!(
                "{indent}/* verilator lint_off UNUSEDSIGNAL */ // {reason}\n{indent}{body}\n\
                 {indent}/* verilator lint_on UNUSEDSIGNAL */\n"
            ));
            continue;
        }
        for line in break_expression(&indent, &body) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

/// Breaks `a = (b | c | ...);` before the operators of its outermost chain.
fn break_expression(indent: &str, body: &str) -> Vec<String> {
    let mut lines = vec![indent.to_owned()];
    let hanging = format!("{indent}        ");
    for word in body.split_inclusive(' ') {
        let last = lines.last_mut().expect("never empty");
        let operator = matches!(word.trim(), "|" | "^" | "&");
        if operator && last.len() > CODE_WIDTH - 24 {
            let kept = last.trim_end().len();
            last.truncate(kept);
            lines.push(format!("{hanging}{word}"));
        } else {
            last.push_str(word);
        }
    }
    lines
}
