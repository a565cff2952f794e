//! A Verilog module that has been described: it can be printed in several ways.

use crate::body::{self, Description};
pub use crate::error::{HdlError, Result};
pub use crate::header::UnitDoc;
use crate::names::Names;
use crate::parameter::Parameter;
pub use crate::port::{Dir, Port};
pub use crate::print::Printed;
use crate::reset::Reset;
use std::sync::Arc;

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
    pub file: Printed,
    /// The same in SystemVerilog with assertions, if the unit has some.
    pub asserted: Option<Printed>,
    /// What is printed.
    description: Arc<Description>,
}

impl Module {
    /// The module that a description is of, with a synchronous reset, and the names
    /// in it.
    pub(crate) fn printed(
        description: Description,
        submodules: Vec<String>,
        asserts: bool,
    ) -> Result<(Self, Names)> {
        let (file, mut names) = body::module(&description, Reset::Sync, false)?;
        let mut asserted = None;
        if asserts {
            let (file, all) = body::module(&description, Reset::Sync, true)?;
            (asserted, names) = (Some(file), all);
        }
        let module = Module {
            doc: description.doc.clone(),
            ports: description.ports.clone(),
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

    /// The module as described, with registers of that style of reset. Registers
    /// without a reset, whose contents a valid bit covers, stay without.
    pub(crate) fn with_reset(mut self, reset: Reset) -> Result<Self> {
        if reset == Reset::Sync {
            return Ok(self);
        }
        self.ports = reset.ports(&self.description.ports);
        self.file = body::module(&self.description, reset, false)?.0;
        if let Some(asserted) = &mut self.asserted {
            *asserted = body::module(&self.description, reset, true)?.0;
        }
        Ok(self)
    }
}

/// The unit itself, the last, after the modules that it instantiates.
pub(crate) fn top(modules: &[Module]) -> &Module {
    modules.last().expect("a unit has a module")
}
