//! Parameters of Verilog modules.

use crate::allowed::Allowed;
use crate::size::Size;

/// A parameter of a module. The module is consistent with every one of `values`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) default: usize,
    pub(crate) values: Allowed,
}

impl Parameter {
    pub(crate) fn size(&self) -> Size {
        let [least, most] = self.values.ends();
        Size::parameter(self.name, least..=most)
    }

    /// `parameter integer NAME = DEFAULT, // VALUES`
    pub(crate) fn declared(&self, comma: &str) -> String {
        let Parameter {
            name,
            default,
            values,
        } = self;
        format!("parameter integer {name} = {default}{comma} // {values}")
    }

    /// A value above the default, where there is one.
    pub(crate) fn other(&self) -> usize {
        let mut above = self.values.values().filter(|value| *value > self.default);
        above.next().unwrap_or(self.default)
    }
}

/// The default of each name that is one of `parameters`.
pub(crate) fn default_of(parameters: &[Parameter]) -> impl Fn(&'static str) -> Size {
    move |name| {
        let parameter = parameters.iter().find(|own| own.name == name);
        parameter.expect("a parameter").default.into()
    }
}
