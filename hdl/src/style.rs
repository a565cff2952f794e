//! Style of a printed design: the user's choices apart from the machine.

use crate::port::Port;
use crate::reset::Reset;

/// The style in which a design is printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Reset of registers. Registers without a reset, whose contents a valid bit
    /// covers, stay without.
    pub reset: Reset,
    /// Prefix of the name of every module, so that the blocks of two machines can
    /// be in one chip.
    pub prefix: String,
}

impl From<Reset> for Style {
    fn from(reset: Reset) -> Self {
        Style {
            reset,
            ..Style::default()
        }
    }
}

impl Style {
    /// The printed name of the module `name`.
    pub(crate) fn module(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Text for people, in which modules have the names that they are called by.
    pub(crate) fn prose(&self, text: &str) -> String {
        text.replace("spad_", &self.module("spad_"))
    }

    /// The ports of a module, of which one may be the reset.
    pub(crate) fn ports(&self, ports: &[Port]) -> Vec<Port> {
        let mut ports = self.reset.ports(ports);
        for port in &mut ports {
            port.doc = self.prose(&port.doc);
        }
        ports
    }
}
