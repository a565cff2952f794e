//! A Verilog module that has been described: it can be printed in several ways.

use crate::body::{self, Description};
pub use crate::error::{HdlError, Result};
pub use crate::header::UnitDoc;
use crate::names::Names;
use crate::parameter::Parameter;
pub use crate::port::{Dir, Port};
pub use crate::print::Printed;
use crate::style::Style;
pub use crate::vector::Vector;
use std::sync::Arc;

/// One emitted Verilog module.
#[derive(Clone, Debug)]
pub struct Module {
    /// Documentation; `doc.name` is the module's name.
    pub doc: UnitDoc,
    /// Ports in order.
    pub ports: Vec<Port>,
    /// Parameters that are vectors of bits.
    pub vectors: Vec<Vector>,
    /// Names of modules that it instantiates.
    pub submodules: Vec<String>,
    /// The whole file.
    pub file: Printed,
    /// The file in SystemVerilog with assertions, if the unit has some.
    pub asserted: Option<Printed>,
    /// The description that is printed.
    description: Arc<Description>,
}

impl Module {
    /// The module that a description is of, in the usual style, and the names in it.
    pub(crate) fn printed(
        description: Description,
        submodules: Vec<String>,
        asserts: bool,
    ) -> Result<(Self, Names)> {
        let style = Style::default();
        let (file, mut names) = body::module(&description, &style, false)?;
        let mut asserted = None;
        if asserts {
            let (file, all) = body::module(&description, &style, true)?;
            (asserted, names) = (Some(file), all);
        }
        let module = Module {
            doc: description.doc.clone(),
            ports: description.ports.clone(),
            vectors: description.vectors.clone(),
            submodules,
            file,
            asserted,
            description: Arc::new(description),
        };
        Ok((module, names))
    }

    /// The parameters that an instance may set.
    pub(crate) fn parameters(&self) -> &[Parameter] {
        &self.description.parameters
    }

    /// The module as described, printed in that style.
    pub(crate) fn in_style(mut self, style: &Style) -> Result<Self> {
        if *style == Style::default() {
            return Ok(self);
        }
        self.doc.name = style.module(&self.doc.name);
        self.ports = style.reset.ports(&self.description.ports);
        let submodules = self.submodules.iter();
        self.submodules = submodules.map(|name| style.module(name)).collect();
        self.file = body::module(&self.description, style, false)?.0;
        if let Some(asserted) = &mut self.asserted {
            *asserted = body::module(&self.description, style, true)?.0;
        }
        Ok(self)
    }
}

/// The unit itself, the last, after the modules that it instantiates.
pub(crate) fn top(modules: &[Module]) -> &Module {
    modules.last().expect("a unit has a module")
}
