//! All paddings that differ in conflicts or waste.
//!
//! `pad:every=K,by=P` moves word a by P floor(a / K). The banks depend on P
//! modulo their number, so P below the number of banks is enough. K goes up to
//! the number of words of the array. A padding that more than doubles the array is
//! not tried: it halves the blocks of an SM. Tried in the order of the words they
//! waste, a padding is of interest only if it has fewer conflicts than every
//! one before it.

use super::super::layout::LayoutSpec;
use super::{Array, Candidate, MappingKind, Search};
use crate::search::Control;
use rayon::prelude::*;
use spadkit_base::error::Result;
use std::time::Instant;

/// Paddings that are tried at once.
const ROUND: usize = 1024;

/// A padding: gaps of `by` words after every `every`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pad {
    pub every: u32,
    pub by: u32,
    /// Words that it wastes.
    pub wasted: u32,
}

/// Result of the search.
pub(super) struct Pads {
    /// Paddings by the words that they waste; each has fewer conflicts than the one
    /// before.
    pub front: Vec<(u64, Pad)>,
    pub evaluated: u64,
    /// Whether every padding that could matter was tried.
    pub complete: bool,
}

impl Search<'_> {
    pub(super) fn pads(&mut self) -> Result<()> {
        let start = Instant::now();
        let array = self.array;
        let unpadded = array.count(&self.found[0].layout).conflicts;
        let pads = search(array, unpadded, &self.effort.control());
        if pads.complete {
            self.pad_bound = Some(pads.front.last().map_or(unpadded, |(fewest, _)| *fewest));
        }
        for &(conflicts, Pad { every, by, .. }) in &pads.front {
            self.take(Candidate {
                spec: LayoutSpec::Pad { every, by },
                kind: MappingKind::Pad,
                method: "exhaustive",
                lower_bound: if pads.complete {
                    conflicts
                } else {
                    array.floor()
                },
                evaluated: pads.evaluated,
                start,
            })?;
        }
        // Padding by one, the usual choice, for comparison.
        let by = array.vector_words();
        let every = array.geometry().banks() as u32;
        let by_one = LayoutSpec::Pad { every, by };
        let known = |c: &super::Choice| *c.layout.spec() == by_one;
        if every < array.words() && !self.found.iter().any(known) {
            self.take(Candidate {
                spec: by_one,
                kind: MappingKind::Pad,
                method: "fixed",
                lower_bound: if pads.complete {
                    best_within(&pads, by * ((array.words() - 1) / every), unpadded)
                } else {
                    array.floor()
                },
                evaluated: 1,
                start,
            })
        } else {
            Ok(())
        }
    }
}

/// The fewest conflicts of a padding that wastes at most `wasted` words.
fn best_within(pads: &Pads, wasted: u32, unpadded: u64) -> u64 {
    let within = pads.front.iter().filter(|(_, pad)| pad.wasted <= wasted);
    within
        .map(|(conflicts, _)| *conflicts)
        .min()
        .unwrap_or(unpadded)
}

/// The paddings with fewer conflicts than `unpadded` and than all that waste
/// as few words.
pub(super) fn search(array: &Array, unpadded: u64, control: &Control) -> Pads {
    let pads = all(array);
    let counter = Counter::new(array);
    let mut front: Vec<(u64, Pad)> = Vec::new();
    let (mut fewest, mut evaluated) = (unpadded, 0);
    let mut complete = true;
    for round in pads.chunks(ROUND) {
        if fewest == array.floor() {
            break; // all that follow waste more
        }
        if control.stopped() {
            complete = false;
            break;
        }
        evaluated += round.len() as u64;
        let counted: Vec<Option<u64>> = (round.par_iter())
            .map(|pad| counter.below(*pad, fewest))
            .collect();
        for (&pad, conflicts) in round.iter().zip(counted) {
            let Some(conflicts) = conflicts.filter(|&c| c < fewest) else {
                continue;
            };
            // Within a round, one may beat another that wastes as much.
            if front
                .last()
                .is_some_and(|(_, last)| last.wasted == pad.wasted)
            {
                front.pop();
            }
            front.push((conflicts, pad));
            fewest = conflicts;
        }
        control.report(evaluated, pads.len() as u64, Some(fewest));
    }
    Pads {
        front,
        evaluated,
        complete,
    }
}

/// Paddings that keep vectors whole and fit, by the words that they waste; of equal
/// ones, first those whose interval is a power of two of words, which need no
/// division.
fn all(array: &Array) -> Vec<Pad> {
    let vector = array.vector_words();
    let doubled = array.words().max(array.geometry().banks() as u32);
    let room = array.room().saturating_sub(array.words()).min(doubled);
    let last = array.words().saturating_sub(1);
    let steps = |end: u32| (vector..end).step_by(vector as usize);
    let mut pads: Vec<Pad> = steps(last + 1)
        .flat_map(|every| {
            let pad = move |by| Pad {
                every,
                by,
                wasted: by * (last / every),
            };
            steps(array.geometry().banks() as u32).map(pad)
        })
        .filter(|pad| pad.wasted <= room && array.allows_gaps(pad.every, pad.by))
        .collect();
    pads.sort_by_key(|pad| (pad.wasted, !pad.every.is_power_of_two(), pad.every, pad.by));
    pads
}

/// The phases of an array, ready to be counted under many paddings.
struct Counter {
    /// The words of each phase, and how often it occurs; often ones first, so
    /// that a bad padding shows early.
    phases: Vec<(Vec<u32>, u64)>,
    bank_mask: u32,
}

impl Counter {
    fn new(array: &Array) -> Self {
        let passes = array.profile().passes.iter().filter(|p| p.addrs.len() > 1);
        let mut phases: Vec<_> = passes.map(|p| (p.addrs.clone(), p.weight)).collect();
        phases.sort_by_key(|(words, weight)| std::cmp::Reverse(weight * words.len() as u64));
        Counter {
            phases,
            bank_mask: array.geometry().bank_mask(),
        }
    }

    /// Conflicts under `pad` where they are fewer than `limit`.
    fn below(&self, pad: Pad, limit: u64) -> Option<u64> {
        // As in the emitted code: exact for all indices of the array.
        let reciprocal = (1u64 << 32).div_ceil(u64::from(pad.every));
        let mut conflicts = 0;
        for (words, weight) in &self.phases {
            let mut load = [0u8; 64];
            let mut degree = 0;
            for &word in words {
                let piece = ((u64::from(word) * reciprocal) >> 32) as u32;
                let slot = &mut load[((word + pad.by * piece) & self.bank_mask) as usize];
                *slot += 1;
                degree = degree.max(*slot);
            }
            conflicts += weight * u64::from(degree - 1);
            if conflicts >= limit {
                return None;
            }
        }
        Some(conflicts)
    }
}
