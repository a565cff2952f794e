//! The registers between the stages of the scratchpad, and what goes through them.

use crate::signal::{Expr, Signal};
use crate::unit::UnitBuilder;

/// The registers of a stage, which are all loaded in the same cycles.
pub(super) struct Stage<'u> {
    unit: &'u UnitBuilder,
    number: usize,
    /// The stage holds a group.
    valid: Signal,
    values: Vec<(Signal, Expr)>,
}

impl<'u> Stage<'u> {
    pub(super) fn new(unit: &'u UnitBuilder, number: usize, valid: Signal) -> Self {
        Stage {
            unit,
            number,
            valid,
            values: Vec::new(),
        }
    }

    /// The stage that holds in the next cycle what another one holds now.
    pub(super) fn after(unit: &'u UnitBuilder, number: usize, adv: Signal, holds: Signal) -> Self {
        let valid = unit.register(&format!("mem{number}_valid"), 1).reset(0);
        unit.at_clock().when(adv).next(valid, holds);
        Stage::new(unit, number, valid)
    }

    /// A register that takes this value.
    pub(super) fn holds(&mut self, name: &str, value: impl Into<Expr>) -> Signal {
        let value = value.into();
        let name = format!("mem{}_{name}", self.number);
        let register = self
            .unit
            .register(&name, value.width)
            .covered_by(self.valid);
        self.values.push((register, value));
        register
    }

    pub(super) fn loaded_when(self, condition: impl Into<Expr>) {
        let clocked = self.unit.at_clock().when(condition);
        for (register, value) in self.values {
            clocked.next(register, value);
        }
    }
}

/// A group of an access in a stage: what its answer needs.
#[derive(Clone, Copy)]
pub(super) struct Group {
    pub(super) valid: Signal,
    pub(super) last: Signal,
    pub(super) served: Signal,
    pub(super) bank: Signal,
    pub(super) degree: Signal,
    pub(super) op: Signal,
    pub(super) mask: Signal,
    pub(super) tag: Signal,
    pub(super) error: Signal,
}

impl Group {
    /// Moves the group to a stage; the lanes `served` get words there.
    pub(super) fn in_stage(&self, stage: &mut Stage, served: impl Into<Expr>) -> Self {
        Group {
            valid: stage.valid,
            last: stage.holds("last", self.last),
            served: stage.holds("served", served),
            bank: stage.holds("bank", self.bank),
            degree: stage.holds("degree", self.degree),
            op: stage.holds("op", self.op),
            mask: stage.holds("mask", self.mask),
            tag: stage.holds("tag", self.tag),
            error: stage.holds("error", self.error),
        }
    }
}

/// Further fields of a group, for banks and locks.
pub(super) struct ToBanks {
    pub(super) leader: Signal,
    pub(super) bank_valid: Signal,
    pub(super) bank_write: Signal,
    pub(super) row: Signal,
    pub(super) data: Signal,
    pub(super) writes: Signal,
    /// The group takes locks; it clears locks.
    pub(super) locks: Option<[Signal; 2]>,
    pub(super) window: Option<Signal>,
}

impl ToBanks {
    /// Moves it to a stage.
    pub(super) fn in_stage(&self, stage: &mut Stage) -> Self {
        ToBanks {
            leader: stage.holds("leader", self.leader),
            bank_valid: stage.holds("bank_valid", self.bank_valid),
            bank_write: stage.holds("bank_write", self.bank_write),
            row: stage.holds("row", self.row),
            data: stage.holds("data", self.data),
            writes: stage.holds("writes", self.writes),
            locks: self.locks.map(|[locking, lock]| {
                [stage.holds("locking", locking), stage.holds("lock", lock)]
            }),
            window: self.window.map(|window| stage.holds("window", window)),
        }
    }
}
