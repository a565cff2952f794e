//! A unit whose body is a Tera template: ports, header and parameters.

use crate::codes;
use crate::module::{Dir, HdlError, Module, Port, Result, UnitDoc};
use crate::params::Params;
use crate::print::{self, opening};
use crate::template::render;
use crate::widths::Widths;
use rust_hdl::core::ast::VerilogStatement;
use serde::Serialize;
use std::collections::BTreeMap;

/// A template-based unit on its way to Verilog.
pub(crate) struct Shell {
    doc: UnitDoc,
    ports: Vec<Port>,
    submodules: Vec<String>,
    /// Outputs that are registers.
    registers: Vec<String>,
    /// Inputs of which this emission does not use all bits, with the reason.
    unused: Vec<(String, String)>,
    /// Signals of the body that the logic reads or drives.
    signals: Vec<(String, usize)>,
    /// Equations by name, in their order.
    logic: Vec<(&'static str, Vec<VerilogStatement>)>,
}

/// What every template gets: the module's opening, the equations and the
/// parameters.
#[derive(Serialize)]
struct Values<'a, E: Serialize> {
    head: String,
    logic: BTreeMap<&'static str, String>,
    p: &'a Params,
    x: &'a E,
}

impl Shell {
    pub(crate) fn new(doc: UnitDoc) -> Self {
        Shell {
            doc,
            ports: Vec::new(),
            submodules: Vec::new(),
            registers: Vec::new(),
            unused: Vec::new(),
            signals: Vec::new(),
            logic: Vec::new(),
        }
    }

    /// `clk` and `rst`.
    pub(crate) fn clocked(self) -> Self {
        self.input("clk", 1, "clock")
            .input("rst", 1, "synchronous reset")
    }

    pub(crate) fn input(self, name: &str, width: usize, doc: &str) -> Self {
        self.port(name, Dir::In, width, doc)
    }

    pub(crate) fn output(self, name: &str, width: usize, doc: &str) -> Self {
        self.port(name, Dir::Out, width, doc)
    }

    /// An output that the body writes at clock edges.
    pub(crate) fn register(mut self, name: &str, width: usize, doc: &str) -> Self {
        self.registers.push(name.into());
        self.output(name, width, doc)
    }

    fn port(mut self, name: &str, dir: Dir, width: usize, doc: &str) -> Self {
        self.ports.push(Port::new(name, dir, width, doc));
        self
    }

    /// Declares for each output so far which inputs it depends on in the same
    /// cycle, `cfg_*` and `rst` aside; a test looks in the netlist.
    pub(crate) fn outputs_depend_on<'a>(mut self, inputs: impl Fn(&str) -> Vec<&'a str>) -> Self {
        for port in self.ports.iter_mut().filter(|p| p.dir == Dir::Out) {
            let names = inputs(&port.name).into_iter();
            port.depends_on = Some(names.map(str::to_owned).collect());
        }
        self
    }

    /// Waives the lint of an input's unused bits where `when` holds.
    pub(crate) fn unused(mut self, when: bool, name: &str, reason: &str) -> Self {
        if when {
            self.unused.push((name.into(), reason.into()));
        }
        self
    }

    /// Names a module that the template instantiates.
    pub(crate) fn instantiates(mut self, module: &Module) -> Self {
        if !self.submodules.contains(&module.doc.name) {
            self.submodules.push(module.doc.name.clone());
        }
        self
    }

    /// Names the last module of each group: the one that the template
    /// instantiates, behind what that needs itself.
    pub(crate) fn instantiates_last(self, groups: &[Vec<Module>]) -> Self {
        let tops = groups.iter().filter_map(|modules| modules.last());
        tops.fold(self, Shell::instantiates)
    }

    /// Registers and wires of the template that the logic reads or drives.
    pub(crate) fn signals<N: AsRef<str>>(mut self, signals: &[(N, usize)]) -> Self {
        let owned = |(name, width): &(N, usize)| (name.as_ref().to_owned(), *width);
        self.signals.extend(signals.iter().map(owned));
        self
    }

    /// Equations that the template puts into the body as `logic.NAME`, in the
    /// order of the calls. They read and drive ports and `signals`; what else
    /// they write is a wire that they declare.
    pub(crate) fn logic(mut self, name: &'static str, statements: Vec<VerilogStatement>) -> Self {
        self.logic.push((name, statements));
        self
    }

    /// The text of the equations, once their widths fit.
    fn equations(&self) -> Result<BTreeMap<&'static str, String>> {
        let ports = self.ports.iter().map(|p| (p.name.clone(), p.width));
        let mut widths = Widths::new(ports.chain(self.signals.iter().cloned()));
        let text = |(name, statements): &(&'static str, Vec<_>)| {
            let new = widths
                .check(statements)
                .map_err(|reason| self.refused(reason))?;
            let text = print::body(&new, statements, &widths);
            Ok((*name, text.trim_end().to_owned()))
        };
        self.logic.iter().map(text).collect()
    }

    fn refused(&self, reason: String) -> HdlError {
        HdlError::Check {
            unit: self.doc.name.clone(),
            reason,
        }
    }

    /// Renders `template` with the parameters alone.
    pub(crate) fn emit(self, template: &str, p: &Params) -> Result<Module> {
        self.emit_with(template, p, &())
    }

    /// Renders `template` with the parameters and `x`.
    pub(crate) fn emit_with(
        self,
        template: &str,
        p: &Params,
        x: &impl Serialize,
    ) -> Result<Module> {
        let head = opening(
            &self.doc.name,
            &[],
            &self.ports,
            &self.registers,
            &self.unused,
        );
        let logic = self.equations()?;
        let values = Values {
            head: head.clone(),
            logic: logic.clone(),
            p,
            x,
        };
        let text = render(template, &self.doc, &self.ports, &values)?;
        if let Some(name) = logic.iter().find(|(_, own)| !text.contains(*own)) {
            return Err(self.refused(format!("{template} does not have logic.{}", name.0)));
        }
        // The codes that the body names, behind the ports.
        let codes = codes::declarations(&text);
        let text = if codes.is_empty() {
            text
        } else {
            text.replacen(&head, &format!("{head}\n{}", codes.trim_end()), 1)
        };
        Ok(Module {
            doc: self.doc,
            ports: self.ports,
            submodules: self.submodules,
            text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{assign, wire};
    use crate::geometry::Geometry;
    use crate::hashes::HashKind;
    use crate::machine::Machine;

    /// What the template of the package asks for.
    #[derive(Serialize)]
    struct Package {
        fields: [usize; 0],
    }

    /// Why `in_ready = value` is refused, in a template without equations.
    fn refused(value: &str) -> String {
        let geometry = Geometry {
            addr_bits: 10,
            bank_bits: 3,
        };
        let p = Params::new(&Machine::of_geometry(geometry, HashKind::Matrix)).unwrap();
        let emitted = Shell::new(UnitDoc::part("unit", "a unit.", "none".into(), "1"))
            .input("in_data", 2, "two bits")
            .output("in_ready", 1, "one bit")
            .signals(&[("full", 1)])
            .logic("ports", vec![assign("in_ready", wire(value))])
            .emit_with("spad_pkg.sv.tera", &p, &Package { fields: [] });
        match emitted {
            Err(HdlError::Check { reason, .. }) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn equations_fit_and_are_in_the_template() {
        assert!(refused("in_data").contains("1 and 2 bits"));
        assert!(refused("none").contains("no signal none"));
        assert!(refused("full").contains("does not have logic.ports"));
    }
}
