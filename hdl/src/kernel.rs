//! A rust-hdl block whose port widths are known when it is emitted.
//!
//! rust-hdl's own signals carry their width as a const generic, so a unit would
//! be compiled once for every number of lanes, banks and warps. The kernels of
//! the scratchpad path (slices and the like) come in too many sizes
//! for that; their signals have a width in a field instead.

use rust_hdl::core::ast::{VerilogLiteral, VerilogStatement};
use rust_hdl::core::atom::{Atom, AtomKind};
use rust_hdl::core::constraint::PinConstraint;
use rust_hdl::core::synth::VCDValue;
use rust_hdl::core::type_descriptor::{TypeDescriptor, TypeKind};
use rust_hdl::prelude::*;

/// A signal of a kernel.
struct Wire {
    name: String,
    width: usize,
    kind: AtomKind,
    id: usize,
    /// What a port means.
    doc: String,
}

impl Atom for Wire {
    fn bits(&self) -> usize {
        self.width
    }
    /// The kernel drives all of its outputs.
    fn connected(&self) -> bool {
        true
    }
    fn changed(&self) -> bool {
        false
    }
    fn kind(&self) -> AtomKind {
        self.kind
    }
    fn descriptor(&self) -> TypeDescriptor {
        TypeDescriptor {
            name: String::new(),
            kind: TypeKind::Bits(self.width),
        }
    }
    fn vcd(&self) -> VCDValue {
        VCDValue::String(String::new())
    }
    fn id(&self) -> usize {
        self.id
    }
    fn verilog(&self) -> VerilogLiteral {
        false.into()
    }
    fn constraints(&self) -> Vec<PinConstraint> {
        Vec::new()
    }
}

/// A combinational block under construction.
#[derive(Default)]
pub(crate) struct Kernel {
    wires: Vec<Wire>,
    logic: Vec<VerilogStatement>,
}

impl Kernel {
    /// Adds an input, with what it means.
    pub(crate) fn input(self, name: &str, width: usize, doc: &str) -> Self {
        self.wire(name, width, AtomKind::InputParameter, doc)
    }

    /// Adds an output, with what it means.
    pub(crate) fn output(self, name: &str, width: usize, doc: &str) -> Self {
        self.wire(name, width, AtomKind::OutputParameter, doc)
    }

    /// The statements, in an order in which every signal inside is written
    /// before it is read.
    pub(crate) fn logic(mut self, statements: Vec<VerilogStatement>) -> Self {
        self.logic = statements;
        self
    }

    /// The ports with what they mean.
    pub(crate) fn documented(&self) -> Vec<(String, String)> {
        let ports = self.wires.iter();
        ports.map(|w| (w.name.clone(), w.doc.clone())).collect()
    }

    fn wire(mut self, name: &str, width: usize, kind: AtomKind, doc: &str) -> Self {
        let id = self.wires.len();
        self.wires.push(Wire {
            name: name.to_owned(),
            width,
            kind,
            id,
            doc: doc.to_owned(),
        });
        self
    }
}

impl Logic for Kernel {
    fn update(&mut self) {}

    fn hdl(&self) -> Verilog {
        Verilog::Combinatorial(self.logic.clone())
    }
}

impl Block for Kernel {
    fn connect_all(&mut self) {}

    fn update_all(&mut self) {}

    fn has_changed(&self) -> bool {
        false
    }

    fn accept(&self, name: &str, probe: &mut dyn Probe) {
        probe.visit_start_scope(name, self);
        for wire in &self.wires {
            probe.visit_atom(&wire.name, wire);
        }
        probe.visit_end_scope(name, self);
    }
}
