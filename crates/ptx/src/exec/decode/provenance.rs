//! Provenance of addresses: the variables that they may be of, so that an access which
//! leaves its variable is found although there is memory after it.
//!
//! A register has the variables that any instruction puts an address of into it. Arithmetic
//! that starts from a variable's address stays in that variable; next to an address the
//! other operand is an index. Addresses from memory, from callers and from calls may be of
//! anything: nothing is said of them then.

use super::Decoder;
use crate::ast::{Base, Instruction, Operand, Symbol};
use crate::exec::image::Region;
use crate::names::{Space, Type};
use crate::opcodes::Address;
use crate::operands;

/// The variables that a value may be an address of; none for a number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    regions: Vec<Region>,
    /// Something that is not followed, as global memory or a caller's pointer.
    other: bool,
}

impl Origin {
    fn other() -> Self {
        Origin {
            other: true,
            ..Origin::default()
        }
    }

    /// Adds the variables of another value, and returns whether that added any.
    fn or(&mut self, more: &Origin) -> bool {
        let new = more.other && !self.other;
        self.other |= more.other;
        let count = self.regions.len();
        for region in &more.regions {
            if !self.regions.contains(region) {
                self.regions.push(*region);
            }
        }
        new || self.regions.len() > count
    }

    /// The origin of the sum of two values.
    fn plus(mut self, more: &Origin) -> Origin {
        match (self.regions.is_empty(), more.regions.is_empty()) {
            // What is added to an address is an index.
            (true, false) => more.clone(),
            (false, true) => self,
            _ => {
                self.or(more);
                self
            }
        }
    }
}

impl Decoder<'_> {
    /// Follows the addresses of the current function.
    pub(super) fn follow_addresses(&mut self) {
        let body = self.body();
        self.origins = vec![Origin::default(); body.registers.len()];
        for parameter in &body.params {
            if let crate::ast::Parameter::Register(register) = parameter {
                self.origins[register.0 as usize] = Origin::other();
            }
        }
        // Chains of copies against the order of the text are short; where one
        // is not, nothing is said.
        for _ in 0..64 {
            let mut changed = false;
            for i in &body.instructions {
                changed |= self.follow(i);
            }
            if !changed {
                return;
            }
        }
        self.origins.fill(Origin::other());
    }

    fn follow(&mut self, i: &Instruction) -> bool {
        let mut result = None;
        let mut changed = false;
        for register in operands::writes(i) {
            let wide = matches!(
                self.body().registers[register.0 as usize].ty.bits(),
                32 | 64
            );
            if wide {
                let origin = result.get_or_insert_with(|| self.result(i));
                changed |= self.origins[register.0 as usize].or(origin);
            }
        }
        changed
    }

    fn result(&self, i: &Instruction) -> Origin {
        let sources = || i.operands.iter().skip(1).map(|o| self.origin(o));
        match i.opcode.row().address {
            _ if i.ty(0).is_some_and(Type::is_float) => Origin::default(),
            Address::Loaded => self.loaded(i),
            Address::Memory | Address::Returned => Origin::other(),
            Address::Choice => sources().take(2).fold(Origin::default(), |mut a, b| {
                a.or(&b);
                a
            }),
            Address::Number => Origin::default(),
            Address::Sum | Address::Converted => {
                sources().fold(Origin::default(), |a, b| a.plus(&b))
            }
        }
    }

    fn loaded(&self, i: &Instruction) -> Origin {
        let bits = i.ty(0).map_or(64, Type::bits);
        let parameter = match i.operands.get(1) {
            Some(Operand::Address(Base::Variable(symbol), _)) => {
                self.body().is_entry
                    && self.module.variable(self.body(), *symbol).space == Space::Param
            }
            _ => false,
        };
        if bits < 32 || parameter && bits < 64 {
            Origin::default()
        } else {
            Origin::other()
        }
    }

    fn origin(&self, operand: &Operand) -> Origin {
        match operand {
            Operand::Register(r) | Operand::Address(Base::Register(r), _) => {
                self.origins[r.0 as usize].clone()
            }
            Operand::Variable(symbol, _) | Operand::Address(Base::Variable(symbol), _) => Origin {
                regions: self.region_of(*symbol).into_iter().collect(),
                other: self.region_of(*symbol).is_none(),
            },
            Operand::Vector(items) => items
                .iter()
                .fold(Origin::default(), |a, b| a.plus(&self.origin(b))),
            Operand::Function(_) => Origin::other(),
            _ => Origin::default(),
        }
    }

    /// The region of a variable that has no memory of its own.
    fn region_of(&self, symbol: Symbol) -> Option<Region> {
        let variable = self.module.variable(self.body(), symbol);
        let (function, at) = match symbol {
            Symbol::Module(at) => (None, at),
            Symbol::Local(at) => (Some(self.function), at),
        };
        let (space, low) = match variable.space {
            Space::Shared | Space::SharedCta => (Space::Shared, *self.shared.get(&(function, at))?),
            Space::Local | Space::Param => {
                let parameter =
                    self.body().is_entry && variable.space == Space::Param && self.is_parameter(at);
                let space = if parameter {
                    Space::Param
                } else {
                    Space::Local
                };
                (space, *self.locals.get(&(function?, at))?)
            }
            _ => return None,
        };
        let low = u64::from(low);
        // Dynamic ones end where shared memory does.
        let dynamic = variable.bytes == 0 || variable.linkage == crate::ast::Linkage::Extern;
        let high = if space == Space::Shared && dynamic {
            u64::MAX
        } else {
            low + variable.bytes
        };
        Some(Region { space, low, high })
    }

    /// The region in which an access at this address has to stay.
    pub(super) fn region(&self, address: &Operand) -> Region {
        let origin = self.origin(address);
        let mut regions = origin.regions.into_iter();
        let first = regions.next().filter(|_| !origin.other);
        let hull = first.and_then(|first| {
            regions.try_fold(first, |a, b| {
                (a.space == b.space).then_some(Region {
                    low: a.low.min(b.low),
                    high: a.high.max(b.high),
                    ..a
                })
            })
        });
        hull.unwrap_or(Region::ANYWHERE)
    }
}
