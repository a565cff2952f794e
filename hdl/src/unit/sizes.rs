//! The sizes of a unit: numbers with names, and the parameters of its Verilog module.

use super::{State, UnitBuilder};
use crate::allowed::Allowed;
use crate::parameter::{Parameter, default_of};
use crate::params::{Params, Sizes};
use crate::size::{Size, interned};

impl UnitBuilder {
    /// Parameters of the machine, by their names.
    pub(crate) fn sizes<const N: usize>(&self, p: &Params, names: [&str; N]) -> [Size; N] {
        names.map(|name| self.size(name, p.called(name)))
    }

    /// All parameters of the machine as sizes of this unit.
    pub(crate) fn all_sizes(&self, p: &Params) -> Sizes {
        p.sizes(|name, value| self.size(name, value))
    }

    /// A parameter of the Verilog module, for what instances of several widths
    /// share: its default, and the values that an instance may set.
    pub(crate) fn parameter(&self, name: &str, default: usize, values: impl Into<Allowed>) -> Size {
        let parameter = Parameter {
            name: interned(name),
            default,
            values: values.into(),
        };
        let size = parameter.size();
        let mut state = self.state.borrow_mut();
        let known = state.sizes.iter().any(|(known, _)| *known == name);
        assert!(!known, "{name} is a size before it is a parameter");
        state.parameters.push(parameter);
        size
    }

    /// A parameter of the machine that is one of the Verilog module, too: all in the
    /// module follows from it. It is declared before the sizes that do.
    pub(crate) fn machine_parameter(
        &self,
        p: &Params,
        name: &str,
        values: impl Into<Allowed>,
    ) -> Size {
        self.parameter(name, p.called(name), values)
    }

    /// Whether the size is one of `allowed` whatever the parameters of this unit are.
    pub(crate) fn is_always(&self, size: Size, allowed: Allowed) -> bool {
        let state = self.state.borrow();
        let size = state.by_parameters(size);
        let mut names = Vec::new();
        size.number().names(&mut |name| names.push(name));
        let mut parameters = state.parameters.iter();
        let parameters = parameters.find(|own| names.contains(&own.name));
        let Some(parameter) = parameters else {
            return size
                .value()
                .is_some_and(|value| allowed.contains(value as u64));
        };
        let with = |value: usize| {
            let of = |name| {
                assert_eq!(name, parameter.name, "{size} follows from one parameter");
                value.into()
            };
            size.with(&of)
                .value()
                .expect("it follows from the parameter")
        };
        let mut values = parameter.values.values().map(with);
        values.all(|value| allowed.contains(value as u64))
    }

    /// A size of this unit. A module declares those that it uses, once; a name
    /// has one value, which may follow from parameters of the module, or be one.
    #[track_caller]
    pub(crate) fn size(&self, name: &str, value: impl Into<Size>) -> Size {
        let value: Size = value.into();
        let mut state = self.state.borrow_mut();
        let parameter = state.parameters.iter().find(|own| own.name == name);
        if let Some(parameter) = parameter {
            assert_eq!(value.value(), Some(parameter.default), "two of {name}");
            return parameter.size();
        }
        let known = state.sizes.iter().find(|(known, _)| *known == name);
        match known.map(|(_, known)| *known) {
            None => {
                state.sizes.push((interned(name), value));
                Size::called(name, value)
            }
            Some(known) => {
                let same = known.number() == value.number()
                    || state.by_default(known) == state.by_default(value);
                assert!(same, "two of {name}");
                Size::called(name, known)
            }
        }
    }
}

impl State {
    /// The size in terms of parameters alone: the sizes of the body follow the ports.
    pub(super) fn by_parameters(&self, size: Size) -> Size {
        if size.value().is_some() {
            return size.plain();
        }
        let of = |name| {
            let parameter = self.parameters.iter().find(|own| own.name == name);
            let known = || self.sizes.iter().find(|(known, _)| *known == name);
            match parameter {
                Some(parameter) => parameter.size(),
                None => self.by_parameters(known().expect("a size of the module").1),
            }
        };
        size.with(&of)
    }

    /// The value of the size with the defaults of all parameters.
    pub(super) fn by_default(&self, size: Size) -> usize {
        let with_defaults = default_of(&self.parameters);
        let size = self.by_parameters(size).with(&with_defaults);
        size.value().expect("parameters have values")
    }
}
