//! `mbarrier`, and the arrivals of `cp.async`.

use super::Decoder;
use super::operand::Reason;
use crate::ast::{Instruction, Operand};
use crate::exec::image::form::{Form, Step};
use crate::exec::image::{Action, Change, SharedPlace, Wait};
use crate::exec::machine::phase::pending_count;
use crate::exec::registers::{Slot, Width};
use crate::names::{Space, Type, Word};

impl Decoder<'_> {
    /// The place of an object in shared memory.
    pub(super) fn mbarrier_place(
        &mut self,
        i: &Instruction,
        operand: Option<&Operand>,
    ) -> Result<SharedPlace, Reason> {
        let operand = operand.ok_or("too few operands")?;
        let (space, from, offset) = self.address(i, operand)?;
        match space {
            None | Some(Space::Shared) => Ok(SharedPlace {
                from,
                offset,
                generic: space.is_none(),
            }),
            Some(other) => Err(format!("an mbarrier in .{} memory", other.text())),
        }
    }

    fn sized(&mut self, operand: &Operand, ty: Type) -> Result<Slot, Reason> {
        let slot = self.source(operand, ty)?;
        if Some(slot.width) == Width::of(ty) {
            Ok(slot)
        } else {
            Err(format!("a register of .{} expected", ty.text()))
        }
    }

    pub(super) fn mbarrier(&mut self, i: &Instruction) -> Result<(), Reason> {
        use Word::*;
        if i.ty(0) != Some(Type::B64) {
            return Err("`mbarrier` needs .b64".to_owned());
        }
        // An arrival may also expect bytes.
        let word = i.one_of(&[Arrive, ArriveDrop]).or_else(|| {
            i.one_of(&[
                Init,
                Inval,
                ExpectTx,
                CompleteTx,
                TestWait,
                TryWait,
                PendingCount,
            ])
        });
        match word.ok_or("this form is not supported")? {
            TestWait | TryWait => self.mbarrier_wait(i),
            PendingCount => {
                let [to, state] = &i.operands[..] else {
                    return Err("two operands expected".to_owned());
                };
                let state = self.sized(state, Type::B64)?;
                let to = self.target(to, Type::B32)?;
                self.generic(
                    Box::new(|x| [pending_count(x[0]), 0]),
                    vec![state],
                    to,
                    None,
                );
                Ok(())
            }
            word => self.mbarrier_change(i, word),
        }
    }

    fn mbarrier_change(&mut self, i: &Instruction, word: Word) -> Result<(), Reason> {
        let arrives = matches!(word, Word::Arrive | Word::ArriveDrop);
        let expects = arrives && i.has(Word::ExpectTx);
        let action = match word {
            Word::Init => Action::Init,
            Word::Inval => Action::Invalidate,
            Word::ExpectTx => Action::ExpectBytes,
            Word::CompleteTx => Action::CompleteBytes,
            _ => Action::Arrive {
                drops: word == Word::ArriveDrop,
                expects,
                stays: i.has(Word::NoComplete),
            },
        };
        let (state, rest) = if arrives {
            (i.operands.first(), i.operands.get(1..).unwrap_or(&[]))
        } else {
            (None, &i.operands[..])
        };
        let numbers = match action {
            Action::Invalidate => 0..=0,
            Action::Arrive { expects, stays, .. } => usize::from(expects || stays)..=1,
            _ => 1..=1,
        };
        let Some((place, number)) = rest.split_first().filter(|r| numbers.contains(&r.1.len()))
        else {
            return Err("wrong number of operands".to_owned());
        };
        let abroad = i.space() == Some(Space::SharedCluster);
        let state = match state {
            Some(Operand::Register(_)) if abroad => {
                return Err("an arrival at .shared::cluster gives no state: expected _".to_owned());
            }
            Some(operand @ Operand::Register(_)) => Some(self.target(operand, Type::B64)?),
            Some(Operand::Discard) | None => None,
            Some(_) => return Err("a result that is not a register".to_owned()),
        };
        let number = match number.first() {
            Some(operand) => Some(self.sized(operand, Type::U32)?),
            None => None,
        };
        let place = self.mbarrier_place(i, Some(place))?;
        self.add_change(Change {
            action,
            place,
            number,
            state,
            releases: !i.has(Word::Relaxed),
            narrow: i.has(Word::Cta),
        });
        Ok(())
    }

    fn add_change(&mut self, change: Change) {
        let at = self.image.changes.len() as u32;
        self.image.changes.push(change);
        self.step(Step::Mbarrier { change: at });
    }

    fn mbarrier_wait(&mut self, i: &Instruction) -> Result<(), Reason> {
        let [result, place, by, hint @ ..] = &i.operands[..] else {
            return Err("a predicate, an address and a state or a parity expected".to_owned());
        };
        if hint.len() > usize::from(i.has(Word::TryWait)) {
            return Err("too many operands".to_owned());
        }
        let parity = i.has(Word::Parity);
        let by = self.sized(by, if parity { Type::U32 } else { Type::B64 })?;
        let result = self.target(result, Type::Pred)?;
        let place = self.mbarrier_place(i, Some(place))?;
        let wait = self.image.waits.len() as u32;
        self.image.waits.push(Wait {
            place,
            by,
            parity,
            result,
            acquires: !i.has(Word::Relaxed),
            narrow: i.has(Word::Cta),
            decides: !self.waits.ignored[self.at],
        });
        self.push(Form::Wait { wait });
        Ok(())
    }

    /// `cp.async.mbarrier.arrive`
    pub(super) fn copies_arrive(&mut self, i: &Instruction) -> Result<(), Reason> {
        let place = self.mbarrier_place(i, i.operands.first())?;
        self.add_change(Change {
            action: Action::Copies {
                counts: i.has(Word::Noinc),
            },
            place,
            number: None,
            state: None,
            releases: true,
            narrow: false,
        });
        Ok(())
    }
}
