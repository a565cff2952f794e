//! The expressions of all values, and induction variables.

use super::super::{BitFacts, Context, Definition, KnownBits, Loops, ValueId, Values};
use super::{Affine, Term};
use crate::ast::{Function, Module};
use crate::cfg::Cfg;

/// Why a value is not affine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAffine {
    /// The instruction that made it so; where values of several blocks meet
    /// the first instruction of the block where they do.
    pub at: u32,
    /// The reason, as `masking` or `data from memory`.
    pub reason: &'static str,
}

/// The expressions of a function's values.
pub struct Affines<'a> {
    pub(in super::super) module: &'a Module,
    pub(in super::super) function: &'a Function,
    pub(super) values: &'a Values,
    pub(super) context: &'a Context,
    pub(super) facts: &'a BitFacts,
    pub(in super::super) cfg: &'a Cfg,
    loops: &'a Loops,
    /// None: the value is a term of its own.
    known: Vec<Option<Box<Affine>>>,
    /// The expressions of the phis at loop headers that count.
    counters: Vec<Option<Box<Affine>>>,
}

impl<'a> Affines<'a> {
    /// The expressions of the values of `function` in launches that `context`
    /// covers.
    pub fn new(
        module: &'a Module,
        function: &'a Function,
        cfg: &'a Cfg,
        values: &'a Values,
        loops: &'a Loops,
        facts: &'a BitFacts,
        context: &'a Context,
    ) -> Self {
        let mut affines = Affines {
            module,
            function,
            values,
            context,
            facts,
            cfg,
            loops,
            known: vec![None; values.count()],
            counters: vec![None; values.count()],
        };
        affines.solve();
        affines
    }

    /// The expression of a value: exact, with a term of its own for what is
    /// not affine.
    pub fn expression(&self, value: ValueId) -> Affine {
        self.resolve(self.raw(value))
    }

    /// The expression of a value, or what made it not affine.
    pub fn affine(&self, value: ValueId) -> Result<Affine, NotAffine> {
        let affine = self.expression(value);
        match affine.opaque() {
            None => Ok(affine),
            Some(opaque) => Err(self.reason(opaque)),
        }
    }

    /// Why a value is a term of its own.
    pub fn reason(&self, value: ValueId) -> NotAffine {
        match self.values.definition(value) {
            Definition::Undefined(_) => NotAffine {
                at: 0,
                reason: "a register that is never written",
            },
            Definition::Phi { block, .. } => NotAffine {
                at: self.cfg.blocks[*block as usize].start,
                reason: match self.loops.of_header(*block) {
                    Some(_) => "a value that a loop does not change by a constant",
                    None => "different values of several branches",
                },
            },
            Definition::Instruction { at, .. } => NotAffine {
                at: *at,
                reason: self.function.instructions[*at as usize]
                    .opcode
                    .row()
                    .not_affine,
            },
            Definition::Guarded { at, .. } => NotAffine {
                at: *at,
                reason: "an instruction with a guard",
            },
        }
    }

    /// The expression in which phis that count are terms of their own.
    pub(super) fn raw(&self, value: ValueId) -> Affine {
        let width = self.facts.width(value);
        if let Some(constant) = self.facts.of(value).value() {
            return Affine::constant(constant as i64, width);
        }
        match &self.known[value.0 as usize] {
            Some(known) => (**known).clone(),
            None => Affine::term(Term::Opaque(value), width),
        }
    }

    fn solve(&mut self) {
        for &block in &self.cfg.reverse_postorder {
            for &phi in self.values.phis(block) {
                self.known[phi.0 as usize] = self.meeting(block, phi).map(Box::new);
            }
            let (start, end) = {
                let b = &self.cfg.blocks[block as usize];
                (b.start, b.end)
            };
            for at in start..end {
                for index in 0..self.values.writes(at).len() {
                    let value = self.values.writes(at)[index].1;
                    let new = self.instruction(at, index).filter(|a| !is_itself(a, value));
                    let new = match self.values.definition(value) {
                        Definition::Guarded { old, .. } => {
                            let i = &self.function.instructions[at as usize];
                            let old = self.raw(*old);
                            match self.facts.guard(self.values, at, i) {
                                Some(true) => new,
                                Some(false) => Some(old),
                                None => new.filter(|n| *n == old),
                            }
                        }
                        _ => new,
                    };
                    self.known[value.0 as usize] = new.map(Box::new);
                }
            }
        }
        for &block in &self.cfg.reverse_postorder {
            if let Some(index) = self.loops.innermost(block)
                && self.loops.list[index as usize].header == block
            {
                for &phi in self.values.phis(block) {
                    self.counters[phi.0 as usize] = self.counter(index, phi).map(Box::new);
                }
            }
        }
    }

    /// The expression of values that meet, if it is the same for all of them.
    fn meeting(&self, block: u32, phi: ValueId) -> Option<Affine> {
        let Definition::Phi { inputs, .. } = self.values.definition(phi) else {
            return None;
        };
        let taken = inputs.iter().filter(|i| self.facts.is_taken(i.0, block));
        // What a loop changes is for its counters.
        let natural = self.loops.of_header(block);
        let again = natural.is_some_and(|l| l.back.iter().any(|&(f, t)| self.facts.is_taken(f, t)));
        if again || self.loops.is_irreducible(block) || self.facts.width(phi) < 16 {
            return None;
        }
        let mut all = taken.map(|i| self.raw(i.1));
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)
    }

    /// `start + step * trips` of a phi at the header of the loop.
    fn counter(&self, index: u32, phi: ValueId) -> Option<Affine> {
        let Definition::Phi { inputs, .. } = self.values.definition(phi) else {
            return None;
        };
        let own = &self.loops.list[index as usize];
        let width = self.facts.width(phi);
        if width < 16 || self.loops.is_irreducible(own.header) {
            return None;
        }
        let (mut start, mut step) = (None, None);
        let taken = inputs
            .iter()
            .filter(|i| self.facts.is_taken(i.0, own.header));
        for &(from, value) in taken {
            let inside = own.back.iter().any(|e| e.0 == from);
            let (place, new) = if inside {
                let itself = Affine::term(Term::Opaque(phi), width);
                (&mut step, self.resolve(self.raw(value)).plus(-1, &itself)?)
            } else {
                (&mut start, self.resolve(self.raw(value)))
            };
            if *place.get_or_insert_with(|| new.clone()) != new {
                return None;
            }
        }
        let (start, step) = (start?, step?);
        if !step.terms.iter().all(|(t, _)| self.is_invariant(t, index)) {
            return None;
        }
        let trips = Affine::term(Term::Trips(own.header), width);
        start.plus(1, &trips.times(&step, width)?)
    }

    /// Whether a term stays the same while a loop runs.
    fn is_invariant(&self, term: &Term, index: u32) -> bool {
        term.factors().iter().all(|factor| match factor {
            Term::Trips(header) => !self.loops.is_inside(*header, index),
            Term::Opaque(value) => {
                let block = self.values.block(*value);
                block.is_some_and(|b| !self.loops.is_inside(b, index))
            }
            _ => true,
        })
    }

    /// Puts the expressions of counters in the place of their phis.
    fn resolve(&self, affine: Affine) -> Affine {
        let counter = |term: &Term| match term {
            Term::Opaque(value) => self.counters[value.0 as usize].as_deref(),
            _ => None,
        };
        let counts = |t: &Term| t.factors().iter().any(|f| counter(f).is_some());
        if !affine.terms.iter().any(|(t, _)| counts(t)) {
            return affine;
        }
        let substitute = || {
            let mut sum = Affine::constant(affine.constant, affine.bits);
            for (term, coefficient) in &affine.terms {
                let mut product = Affine::constant(1, affine.bits);
                for factor in term.factors() {
                    let one = match counter(factor) {
                        Some(counter) => counter.clone(),
                        None => Affine::term(factor.clone(), affine.bits),
                    };
                    product = product.times(&one, affine.bits)?;
                }
                sum = sum.plus(*coefficient, &product)?;
            }
            Some(sum)
        };
        // Where it would be no affine expression, the phi stays.
        substitute().unwrap_or(affine)
    }

    /// The least and the largest value of an expression as an integer; none
    /// where a term has no bound.
    pub(super) fn range(&self, affine: &Affine) -> Option<(i128, i128)> {
        let start = i128::from(affine.constant);
        let mut range = (start, start);
        for (term, coefficient) in &affine.terms {
            let mut product = (i128::from(*coefficient), i128::from(*coefficient));
            for factor in term.factors() {
                let (low, high) = self.term_range(factor)?;
                let corners = [
                    product.0.checked_mul(low)?,
                    product.0.checked_mul(high)?,
                    product.1.checked_mul(low)?,
                    product.1.checked_mul(high)?,
                ];
                product = (*corners.iter().min()?, *corners.iter().max()?);
            }
            range = (
                range.0.checked_add(product.0)?,
                range.1.checked_add(product.1)?,
            );
        }
        Some(range)
    }

    fn term_range(&self, term: &Term) -> Option<(i128, i128)> {
        let of = |known: KnownBits| Some((i128::from(known.min()), i128::from(known.max())));
        match term {
            Term::Parameter { bytes, .. } => of(KnownBits::unknown(8 * bytes)),
            Term::Base(symbol) => {
                let variable = self.module.variable(self.function, *symbol);
                let shared = super::super::context::is_any_shared(variable.space);
                of(KnownBits::unknown(if shared { 24 } else { 64 }))
            }
            Term::Opaque(value) => of(self.facts.of(*value)),
            Term::Trips(_) | Term::Product(_) => None,
            other => {
                let (low, high) = self.context.range(other.special()?)?;
                Some((low.into(), high.into()))
            }
        }
    }
}

/// Whether an expression is just the term that the value is.
fn is_itself(affine: &Affine, value: ValueId) -> bool {
    affine.constant == 0 && matches!(affine.terms[..], [(Term::Opaque(v), 1)] if v == value)
}
