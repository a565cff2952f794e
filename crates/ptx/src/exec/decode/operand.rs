//! Decodes operands to registers of the register file.

use super::{Decoder, SCRATCH, forms};
use crate::ast::{Operand, Register, Symbol};
use crate::exec::image::{FUNCTION_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};
use crate::exec::registers::{Mask, Slot, Width};
use crate::names::{Space, Special, Type};
use crate::parse::immediate_bits;

/// Why an instruction cannot be run.
pub(super) type Reason = String;

impl Decoder<'_> {
    /// A new register.
    pub(super) fn allocate(&mut self, width: Width) -> Slot {
        if width != Width::Mask {
            self.next = self.next.next_multiple_of(32);
        }
        let at = self.next;
        self.next += width.bytes();
        Slot {
            at,
            width,
            flip: false,
        }
    }

    /// The place of a register of the current function.
    pub(super) fn register(&mut self, register: Register) -> Slot {
        let key = (self.function, register.0);
        if let Some(slot) = self.slots.get(&key) {
            return *slot;
        }
        let ty = self.body().registers[register.0 as usize].ty;
        // Registers of 128 bits are refused where they are used.
        let slot = self.allocate(Width::of(ty).unwrap_or(Width::Double));
        self.slots.insert(key, slot);
        slot
    }

    pub(super) fn constant(&mut self, bits: u64, width: Width) -> Slot {
        if width == Width::Mask {
            let none = Mask::ALL_AT + Width::Mask.bytes();
            let at = if bits & 1 != 0 { Mask::ALL_AT } else { none };
            return Slot {
                at,
                width,
                flip: false,
            };
        }
        if let Some(slot) = self.constants.get(&(bits, width)) {
            return *slot;
        }
        let slot = self.allocate(width);
        self.constants.insert((bits, width), slot);
        self.image.constants.push((slot, bits));
        slot
    }

    fn special(&mut self, special: Special) -> Result<Slot, Reason> {
        use Special::*;
        if matches!(special, Other) {
            return Err("a special register that is not modelled".to_owned());
        }
        let changes = matches!(
            special,
            Clock | ClockHi | Clock64 | Globaltimer | GlobaltimerLo | GlobaltimerHi
        );
        if changes {
            return Err("a clock register read by an instruction other than mov".to_owned());
        }
        if let Some(slot) = self.specials.get(&special) {
            return Ok(*slot);
        }
        let slot = self.allocate(if special.bits() == 64 {
            Width::Double
        } else {
            Width::Word
        });
        self.specials.insert(special, slot);
        self.image.specials.push((slot, special));
        Ok(slot)
    }

    /// The address of a variable in its space.
    pub(super) fn address_of(&self, symbol: Symbol) -> Result<u64, Reason> {
        let variable = self.module.variable(self.body(), symbol);
        let function = match symbol {
            Symbol::Module(_) => None,
            Symbol::Local(_) => Some(self.function),
        };
        let (Symbol::Module(at) | Symbol::Local(at)) = symbol;
        let missing = || format!("{} has no memory here", variable.name);
        match variable.space {
            Space::Shared | Space::SharedCta => self
                .shared
                .get(&(function, at))
                .map(|&o| u64::from(o))
                .ok_or_else(missing),
            Space::Local | Space::Param if function.is_some() => {
                let offset = self.locals.get(&(self.function, at)).ok_or_else(missing)?;
                let window = match (
                    variable.space,
                    self.body().is_entry && self.is_parameter(at),
                ) {
                    (Space::Param, true) => PARAM_WINDOW,
                    (Space::Param, false) => LOCAL_WINDOW,
                    _ => 0,
                };
                Ok(window | u64::from(*offset))
            }
            Space::Global | Space::Const if function.is_none() => {
                let extern_twin = || {
                    let twins = self.module.variables.iter().enumerate();
                    let mut twins = twins.filter(|(_, v)| v.name == variable.name);
                    twins.find_map(|(at, _)| self.addresses.get(&(at as u32)))
                };
                let found = self.addresses.get(&at).or_else(extern_twin);
                found
                    .copied()
                    .ok_or_else(|| format!("{} is not defined here", variable.name))
            }
            _ => Err(format!(
                ".{} variable {} inside a function",
                variable.space.text(),
                variable.name
            )),
        }
    }

    pub(super) fn is_parameter(&self, variable: u32) -> bool {
        self.body()
            .params
            .contains(&crate::ast::Parameter::Variable(variable))
    }

    /// A source operand as a register; constants take the type `ty`.
    pub(super) fn source(&mut self, operand: &Operand, ty: Type) -> Result<Slot, Reason> {
        let width = Width::of(ty).ok_or("a value of 128 bits")?;
        Ok(match operand {
            Operand::Register(register) => {
                self.takes(*register, ty)?;
                self.register(*register)
            }
            // Which part is meant the definition of the instruction knows.
            Operand::Selected(register, _) => {
                self.takes(*register, ty)?;
                self.register(*register)
            }
            Operand::Negated(register) => {
                self.takes(*register, ty)?;
                let slot = self.register(*register);
                match slot.width {
                    Width::Mask => Slot { flip: true, ..slot },
                    _ => return Err("`!` before something that is not a predicate".to_owned()),
                }
            }
            Operand::Immediate(value) => {
                forms::takes_constant(*value, ty)?;
                let bits = immediate_bits(*value, ty).ok_or("a constant of another type")?;
                self.constant(bits, width)
            }
            Operand::Special(_) | Operand::Variable(..) if ty.is_float() => {
                return Err(format!("an integer where .{} is expected", ty.text()));
            }
            Operand::Special(special) => self.special(*special)?,
            Operand::Variable(symbol, offset) => {
                let address = self.address_of(*symbol)?.wrapping_add(*offset as u64);
                self.constant(
                    if width == Width::Word {
                        address & 0xffff_ffff
                    } else {
                        address
                    },
                    width,
                )
            }
            Operand::Function(function) => {
                self.constant(FUNCTION_WINDOW | u64::from(*function) << 4, width)
            }
            Operand::Discard => self.constant(0, width),
            _ => return Err("an operand that is not supported here".to_owned()),
        })
    }

    /// A result operand; `_` goes nowhere.
    pub(super) fn target(&mut self, operand: &Operand, ty: Type) -> Result<Slot, Reason> {
        match operand {
            Operand::Register(register) | Operand::Selected(register, _) => {
                self.takes(*register, ty)?;
                Ok(self.register(*register))
            }
            Operand::Discard => Ok(Slot {
                at: SCRATCH,
                width: Width::of(ty).ok_or("a value of 128 bits")?,
                flip: false,
            }),
            _ => Err("a result that is not a register".to_owned()),
        }
    }

    /// Whether values of a type may be in a register of the function.
    fn takes(&self, register: Register, ty: Type) -> Result<(), Reason> {
        let register = self.body().registers[register.0 as usize].ty;
        forms::takes(register, ty, self.sizes)
    }

    /// Whether a register holds values of this type as they are.
    pub(super) fn fits(slot: Slot, ty: Type) -> bool {
        Width::of(ty) == Some(slot.width) && !slot.flip
    }

    /// A function's `.generic` address of a space begins with this.
    pub(super) fn window(space: Space) -> u64 {
        match space {
            Space::Shared | Space::SharedCta | Space::SharedCluster => SHARED_WINDOW,
            Space::Local => LOCAL_WINDOW,
            _ => 0,
        }
    }
}
