//! The index XORed with two shifted and masked copies of itself, i ^ ((i >> d)
//! & p) ^ ((i >> e) & q): four operations, and the row is unchanged. With one
//! copy it is the bit-vector XOR with k1 = 0.

use super::super::layout::LayoutSpec;
use super::{Candidate, MappingKind, Search};
use crate::hash::kind::Family;
use rayon::prelude::*;
use spadkit_base::error::Result;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A copy: bit j of the mask takes index bit j + distance.
#[derive(Clone, Copy)]
struct Copy {
    distance: u32,
    mask: u32,
}

impl Search<'_> {
    /// Tries all pairs of shifted copies, unless two operations are as good.
    pub(super) fn two_shifts(&mut self) -> Result<()> {
        let start = Instant::now();
        let array = self.array;
        let two_operations = self.found.iter().filter(|c| c.added <= 2);
        let fewest = two_operations.map(|c| c.conflicts).min();
        let limit = fewest.unwrap_or(u64::MAX);
        if limit == array.floor() {
            return Ok(());
        }
        let m = array.geometry().bank_bits();
        let copies = self.copies();
        let rows = |copies: [&Copy; 2]| -> Vec<u32> {
            let row = |j: u32| {
                let taken = copies.iter().filter(|c| c.mask >> j & 1 == 1);
                taken.fold(1 << j, |row, copy| row ^ 1 << (j + copy.distance))
            };
            (0..m).map(row).collect()
        };
        let passes = array.problem().passes();
        let control = self.effort.control();
        // Equal ones go on, so that the first of the best wins.
        let best = AtomicU64::new(limit);
        let evaluated = AtomicU64::new(0);
        let found: Vec<Option<(u64, usize, usize)>> = (0..copies.len())
            .into_par_iter()
            .map(|i| {
                let mut own = None;
                let first = &copies[i];
                let others = copies.iter().enumerate();
                for (j, second) in others.filter(|(_, c)| c.distance > first.distance) {
                    let most = best.load(Ordering::Relaxed);
                    let conflicts = passes.conflicts(&rows([first, second]), most);
                    evaluated.fetch_add(1, Ordering::Relaxed);
                    if conflicts <= most && own.is_none_or(|(fewest, _, _)| conflicts < fewest) {
                        own = Some((conflicts, i, j));
                        best.fetch_min(conflicts, Ordering::Relaxed);
                    }
                    if evaluated.load(Ordering::Relaxed).is_multiple_of(256) && control.stopped() {
                        return None;
                    }
                }
                Some(own.unwrap_or((u64::MAX, i, i)))
            })
            .collect();
        let complete = found.iter().all(Option::is_some);
        let winner = found.into_iter().flatten().min();
        let Some((conflicts, i, j)) = winner.filter(|(conflicts, ..)| *conflicts < limit) else {
            return Ok(());
        };
        let rows = rows([&copies[i], &copies[j]]);
        self.take(Candidate {
            spec: LayoutSpec::Hash(Family::Xor.spec(&rows, array.geometry()).into()),
            kind: MappingKind::TwoShifts,
            method: "exhaustive",
            lower_bound: if complete { conflicts } else { array.floor() },
            evaluated: evaluated.into_inner(),
            start,
        })
    }

    /// Copies that move bits of the array onto bank bits, but onto none inside
    /// a vector.
    fn copies(&self) -> Vec<Copy> {
        let (n, m) = (self.array.index_bits(), self.array.geometry().bank_bits());
        let low = self.array.vector_words().ilog2();
        (1..n)
            .flat_map(|distance| {
                let reached = (low..m).filter(|bit| bit + distance < n);
                let all = reached.fold(0u32, |mask, bit| mask | 1 << bit);
                let masks = (1..1u32 << m).filter(move |mask| mask & !all == 0);
                masks.map(move |mask| Copy { distance, mask })
            })
            .collect()
    }
}
