//! Parameters of Verilog modules.

use crate::size::Size;
use std::ops::RangeInclusive;

/// A parameter of a module. The module is consistent with every one of `values`: its
/// description is checked with all of them.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) default: usize,
    pub(crate) values: RangeInclusive<usize>,
}

impl Parameter {
    pub(crate) fn size(&self) -> Size {
        Size::parameter(self.name, self.values.clone())
    }

    /// `parameter NAME = DEFAULT, // LEAST to MOST`
    pub(crate) fn declared(&self, comma: &str) -> String {
        let Parameter {
            name,
            default,
            values,
        } = self;
        let (least, most) = (values.start(), values.end());
        format!("parameter {name} = {default}{comma} // {least} to {most}")
    }

    /// A value beside the default, where there is one.
    pub(crate) fn other(&self) -> usize {
        (self.default + 1).min(*self.values.end())
    }
}

/// The default of each name that is one of `parameters`.
pub(crate) fn default_of(parameters: &[Parameter]) -> impl Fn(&'static str) -> Size {
    move |name| {
        let parameter = parameters.iter().find(|own| own.name == name);
        parameter.expect("a parameter").default.into()
    }
}
