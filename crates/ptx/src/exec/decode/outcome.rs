//! Outcome of a wait for an `mbarrier`: the ways that threads go if it says that the phase
//! is complete, and if it says that it is not.
//!
//! The outcome is followed through copies, negations, comparisons with constants and the
//! like. A branch whose condition is known by it goes one way, another one both.

mod later;

use super::awaited::{computes, reports};
use crate::ast::{Function, Guard, Immediate, Instruction, Operand, Register};
use crate::cfg::{Cfg, Flow, flow};
use crate::names::{Type, Word};
use crate::opcodes::{Class, Opcode};
use crate::operands;
use crate::scalar::fold;
use std::collections::{BTreeMap, BTreeSet};

/// Facts about a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Value {
    known: Option<u64>,
    /// Whether it depends on the outcome.
    depends: bool,
}

/// The registers of which something is known, with their values.
type State = BTreeMap<u32, Value>;

/// The ways of threads behind a wait, by its outcome.
pub(super) struct Way {
    complete: bool,
    /// Instructions that are executed, the ones at which it ends included.
    pub reached: Vec<bool>,
    /// Whether each of them is executed, or branches, by a guard that is not known.
    pub open: Vec<bool>,
    /// Registers that depend on the outcome where it ends, other than by leaving.
    pub kept: BTreeSet<u32>,
}

impl Way {
    fn new(complete: bool, count: usize) -> Self {
        Way {
            complete,
            reached: vec![false; count],
            open: vec![false; count],
            kept: BTreeSet::new(),
        }
    }
}

/// A wait whose outcome is followed.
pub(super) struct Follower<'a> {
    pub body: &'a Function,
    pub cfg: &'a Cfg,
    pub wait: usize,
    /// Instructions at which a way ends, beside the wait.
    pub ends: &'a [bool],
}

impl Follower<'_> {
    /// Whether a way ends at an instruction, if that is executed.
    pub fn ends_at(&self, at: usize) -> bool {
        at == self.wait || self.ends[at]
    }
}

/// The instructions behind an instruction.
enum Next {
    Here,
    Nowhere,
    To(Vec<u32>),
}

impl Follower<'_> {
    /// The ways of threads if the phase is complete, or is not; none where something other
    /// than a branch may depend on the outcome in a way that is not followed.
    pub fn way(&self, complete: bool) -> Option<Way> {
        let mut way = Way::new(complete, self.body.instructions.len());
        let state = self.outcome(complete);
        let mut states: Vec<Option<State>> = vec![None; self.cfg.blocks.len()];
        let mut open = Vec::new();
        let first = self.cfg.block_of[self.wait];
        self.run(
            (self.wait + 1, first),
            state,
            &mut way,
            &mut |block, state| {
                meet(&mut states, block, state).then(|| open.push(block));
            },
        )?;
        while let Some(block) = open.pop() {
            let Some(state) = states[block as usize].clone() else {
                continue;
            };
            let start = self.cfg.blocks[block as usize].start as usize;
            self.run((start, block), state, &mut way, &mut |block, state| {
                meet(&mut states, block, state).then(|| open.push(block));
            })?;
        }
        Some(way)
    }

    /// What is known right behind the wait.
    fn outcome(&self, complete: bool) -> State {
        let outcome = Value {
            known: Some(complete.into()),
            depends: true,
        };
        let results = operands::writes(&self.body.instructions[self.wait]);
        results.into_iter().map(|r| (r.0, outcome)).collect()
    }

    /// Follows a block from an instruction on, and hands the state to the next ones.
    fn run(
        &self,
        (from, block): (usize, u32),
        mut state: State,
        way: &mut Way,
        hand: &mut impl FnMut(u32, &State),
    ) -> Option<()> {
        let end = self.cfg.blocks[block as usize].end as usize;
        for at in from..end {
            match self.step(at, &mut state, way)? {
                Next::Here => {}
                Next::Nowhere => return Some(()),
                Next::To(places) => {
                    for place in places {
                        hand(self.block_at(place as usize), &state);
                    }
                    return Some(());
                }
            }
        }
        hand(self.block_at(end), &state);
        Some(())
    }

    fn block_at(&self, place: usize) -> u32 {
        let block = self.cfg.block_of.get(place).copied();
        block.unwrap_or(self.cfg.exit())
    }

    fn step(&self, at: usize, state: &mut State, way: &mut Way) -> Option<Next> {
        let i = &self.body.instructions[at];
        let guard = i.guard.map(|guard| value_of_guard(state, guard));
        if guard.is_some_and(|g| g.known == Some(0)) {
            return Some(Next::Here);
        }
        let sure = guard.is_none_or(|g| g.known.is_some());
        way.reached[at] = true;
        way.open[at] |= !sure;
        let flow = flow(self.body, i);
        let hidden = guard.is_some_and(|g| g.known.is_none() && g.depends);
        let carried = carries(i, state);
        let harmless = reports(i) || computes(i) && (flow == Flow::Next || !hidden);
        if (hidden || carried) && !harmless {
            return None;
        }
        // Where it is not known whether a way ends, that with success goes on, whose code has
        // to need no order, and the other one ends.
        if self.ends_at(at) && (sure || !way.complete) {
            let kept = state.iter().filter(|(_, value)| value.depends);
            way.kept.extend(kept.map(|(register, _)| register));
            return Some(Next::Nowhere);
        }
        Some(match flow {
            Flow::Next => {
                assign(i, guard.filter(|_| !sure), state);
                Next::Here
            }
            Flow::Leave(_)
                if !matches!(i.opcode.class(), Class::Return | Class::Exit | Class::Trap) =>
            {
                return None;
            }
            Flow::Leave(_) if sure => Next::Nowhere,
            Flow::Leave(_) => Next::Here,
            Flow::Branch(mut places, _) => {
                if !sure {
                    places.push(at as u32 + 1);
                }
                Next::To(places)
            }
        })
    }
}

/// Adds what is known at the begin of a block: whether it is less than before.
fn meet(states: &mut [Option<State>], block: u32, state: &State) -> bool {
    let Some(place) = states.get_mut(block as usize) else {
        return false;
    };
    let Some(old) = place else {
        *place = Some(state.clone());
        return true;
    };
    let registers = old.keys().chain(state.keys());
    let value = |all: &State, r: &u32| all.get(r).copied().unwrap_or_default();
    let both = registers.map(|r| (*r, either(value(old, r), value(state, r))));
    let new: State = both.filter(|(_, v)| *v != Value::default()).collect();
    let changed = new != *old;
    *old = new;
    changed
}

/// Facts that hold of either of two values.
fn either(one: Value, other: Value) -> Value {
    Value {
        known: one.known.filter(|_| one.known == other.known),
        depends: one.depends || other.depends,
    }
}

fn value_of_guard(state: &State, guard: Guard) -> Value {
    let value = state.get(&guard.register.0).copied().unwrap_or_default();
    if guard.negated { negated(value) } else { value }
}

/// The negation of a predicate.
fn negated(value: Value) -> Value {
    Value {
        known: value.known.map(|v| 1 - (v & 1)),
        ..value
    }
}

/// Whether an instruction reads, not as its guard, what depends on the outcome.
fn carries(i: &Instruction, state: &State) -> bool {
    let reads = operands::reads(i);
    let mut sources = reads.iter().skip(i.guard.iter().count());
    sources.any(|r| state.get(&r.0).is_some_and(|v| v.depends))
}

/// Writes the results of an instruction, which a guard may leave out.
fn assign(i: &Instruction, guard: Option<Value>, state: &mut State) {
    for (register, mut value) in results(i, state) {
        if let Some(guard) = guard {
            let before = state.get(&register.0).copied().unwrap_or_default();
            value = either(before, value);
            value.depends |= guard.depends;
        }
        if value == Value::default() {
            state.remove(&register.0);
        } else {
            state.insert(register.0, value);
        }
    }
}

/// Registers that an instruction writes, with what is known of them.
fn results(i: &Instruction, state: &State) -> Vec<(Register, Value)> {
    let of = |at: usize| match i.operands.get(at) {
        Some(Operand::Register(r)) => state.get(&r.0).copied().unwrap_or_default(),
        Some(Operand::Negated(r)) => negated(state.get(&r.0).copied().unwrap_or_default()),
        Some(Operand::Immediate(Immediate::Integer(n))) => Value {
            known: Some(*n as u64),
            depends: false,
        },
        _ => Value::default(),
    };
    let unknown = Value {
        known: None,
        depends: carries(i, state),
    };
    if i.opcode == Opcode::Setp
        && let Some(to) = i.operands.first()
    {
        return compared(i, to, [of(1), of(2), of(3)]);
    }
    let all = operands::writes(i).into_iter();
    if i.operands
        .iter()
        .any(|o| matches!(o, Operand::Vector(_) | Operand::Pair(_)))
    {
        return all.map(|r| (r, unknown)).collect();
    }
    let whole = i.ty(0).filter(|t| !t.is_float() && t.bits() <= 64);
    let value = match (i.opcode, whole) {
        (Opcode::Mov, Some(_)) => of(1),
        (Opcode::Selp, Some(_)) => chosen([of(1), of(2)], of(3)),
        (Opcode::Not, Some(Type::Pred)) => negated(of(1)),
        (Opcode::And | Opcode::Or | Opcode::Xor, Some(Type::Pred)) => {
            joined(i.opcode, of(1), of(2))
        }
        (Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Cvt, Some(_)) if !i.has(Word::Sat) => {
            let known = folded(i, |n| of(n + 1).known);
            Value { known, ..unknown }
        }
        _ => unknown,
    };
    all.map(|r| (r, value)).collect()
}

/// The one that a predicate chooses.
fn chosen([one, other]: [Value; 2], by: Value) -> Value {
    let value = match by.known {
        Some(0) => other,
        Some(_) => one,
        None => either(one, other),
    };
    Value {
        depends: value.depends || by.depends,
        ..value
    }
}

/// Two predicates, joined: where one alone decides, the other may be unknown, and what is
/// unknown with a known one depends on the other alone.
fn joined(opcode: Opcode, one: Value, other: Value) -> Value {
    let decides = match opcode {
        Opcode::And => Some(0),
        Opcode::Or => Some(1),
        _ => None,
    };
    let depends = one.depends || other.depends;
    match (one.known, other.known) {
        (Some(a), Some(b)) => Value {
            known: Some(match opcode {
                Opcode::And => a & b,
                Opcode::Or => a | b,
                _ => a ^ b,
            }),
            depends,
        },
        (known, None) | (None, known) if known.is_some() && known == decides => {
            Value { known, depends }
        }
        (Some(_), None) => other,
        (None, Some(_)) => one,
        (None, None) => Value {
            known: None,
            depends,
        },
    }
}

/// The predicates that a comparison gives.
fn compared(i: &Instruction, to: &Operand, [a, b, with]: [Value; 3]) -> Vec<(Register, Value)> {
    let is = a.known.zip(b.known).and_then(|(a, b)| compare(i, a, b));
    let is = Value {
        known: is.map(u64::from),
        depends: a.depends || b.depends,
    };
    let combine = |is: Value| match i.one_of(&[Word::And, Word::Or, Word::Xor]) {
        Some(Word::And) => joined(Opcode::And, is, with),
        Some(Word::Or) => joined(Opcode::Or, is, with),
        Some(_) => joined(Opcode::Xor, is, with),
        None => is,
    };
    let both = match to {
        Operand::Pair(pair) => [Some(&pair.0), Some(&pair.1)],
        to => [Some(to), None],
    };
    let values = [combine(is), combine(negated(is))];
    let all = both.into_iter().zip(values);
    all.filter_map(|(to, value)| match to {
        Some(Operand::Register(r)) => Some((*r, value)),
        _ => None,
    })
    .collect()
}

/// The result of a comparison of integers, before it is combined with a predicate.
fn compare(i: &Instruction, a: u64, b: u64) -> Option<bool> {
    let neutral = u64::from(i.has(Word::And));
    let operands = [a, b, neutral];
    let result = folded(i, |n| operands.get(n).copied())?;
    Some(result != 0)
}

/// The result of an instruction on integers, if `operand` knows its operands by number.
fn folded(i: &Instruction, operand: impl Fn(usize) -> Option<u64>) -> Option<u64> {
    fold(i, |n, ty| {
        let known = operand(n)?;
        let bits = ty.bits();
        (!ty.is_float() && bits <= 64).then(|| known & u64::MAX >> (64 - bits))
    })
}
