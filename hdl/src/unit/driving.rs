//! The drivers of a unit's signals: recorded where they are written, checked
//! when the unit is emitted.

use super::{Kind, Known, State, UnitBuilder};
use crate::drivers::{self, Driven, Driver};
use crate::origin::Origin;
use crate::parameter::Parameter;
use crate::signal::{Expr, Part, Signal};
use crate::tree::Tree;
use std::result::Result;

impl State {
    /// A statement drives bits of a signal.
    #[track_caller]
    fn driven(&mut self, part: Part, inside: &[Origin]) {
        self.drivers.push(Driver {
            part,
            scopes: self.scopes.clone(),
            at: Origin::caller(),
            inside: inside.to_vec(),
        });
    }

    /// Notes for each output which lines drive it; for one that shows a register,
    /// those that say what the register becomes.
    pub(super) fn note_output_drivers(&mut self) {
        let shows = |port: &Signal| {
            let mut shown = self.output_registers.iter();
            let register = shown.find(|(output, ..)| output.id == port.id);
            register.map_or(port.id, |(_, register, _)| register.id)
        };
        let signals = self.port_signals.iter().map(shows);
        for (port, signal) in self.ports.iter_mut().zip(signals) {
            let drivers = self.drivers.iter();
            let drivers = drivers.filter(|driver| driver.part.signal == signal);
            for driver in drivers {
                for at in std::iter::once(&driver.at).chain(&driver.inside) {
                    if !port.driven_by.contains(at) {
                        port.driven_by.push(*at);
                    }
                }
            }
        }
    }

    /// Each bit has one driver, with the parameters at their defaults and, where
    /// that is allowed, one above.
    pub(super) fn check_drivers(&self) -> Result<(), String> {
        let driven = |known: &Known| {
            let driven = Driven {
                name: known.name,
                width: known.width,
                depth: known.scopes.len(),
            };
            (!matches!(known.kind, Kind::Input)).then_some(driven)
        };
        let signals: Vec<_> = self.signals.iter().map(driven).collect();
        let check = |of: fn(&Parameter) -> usize| {
            let parameters = self.parameters.iter();
            let parameters: Vec<_> = parameters.map(|own| (own.name, of(own))).collect();
            drivers::check(&signals, &self.drivers, &parameters, &self.sizes)
        };
        check(|own| own.default)?;
        if self.parameters.is_empty() {
            return Ok(());
        }
        check(Parameter::other)
    }
}

impl UnitBuilder {
    /// Notes that something drives a wire or an output.
    #[track_caller]
    pub(crate) fn drive(&self, target: &Expr) {
        self.drive_by_port(target, &[]);
    }

    /// Notes that the port of an instance does; inside, these lines drive it.
    #[track_caller]
    pub(crate) fn drive_by_port(&self, target: &Expr, inside: &[Origin]) {
        let mut state = self.state.borrow_mut();
        assert!(!target.of.is_empty(), "{target} is no signal");
        for part in &target.of {
            let kind = &state.signals[part.signal].kind;
            assert!(matches!(kind, Kind::Wire), "{target} is not a wire");
            state.driven(*part, inside);
        }
    }

    /// Notes that a clocked block drives a register; what a reset makes of it.
    #[track_caller]
    pub(crate) fn drive_register(&self, target: &Expr) -> Option<Tree> {
        let mut state = self.state.borrow_mut();
        let [part] = target.of[..] else {
            panic!("{target:?} is no signal")
        };
        state.driven(part, &[]);
        let known = &state.signals[part.signal];
        let Kind::Register(reset) = &known.kind else {
            panic!("{} is no register", known.name)
        };
        let reset = reset.as_ref()?;
        if part.bits.is_none() {
            return Some(reset.tree.clone());
        }
        // If a register is reset in parts, all bits have the same reset value.
        let bit = reset.tree.uniform();
        let bit = bit.unwrap_or_else(|| panic!("{} is reset to {reset}", known.name));
        Some(Tree::all_bits(target.width, bit))
    }
}
