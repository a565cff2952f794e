//! The mappings of the hash units that software can afford.
//!
//! A row that is the upper bits of the index costs no operation and wastes no
//! row; pivots above the bank bits move bits about and may spread the array.
//! So each kind is searched with the pivots held to the bank bits first, then
//! to what wastes nothing, then to all bits of the array, as long as there are
//! conflicts to gain.

use super::super::layout::{Layout, LayoutSpec};
use super::super::operation::Steps;
use super::{Candidate, MappingKind, Search};
use crate::geometry::Geometry;
use crate::hash::kind::{self, Family, Search as UnitSearch};
use crate::hash::{BankFunction, HashKind, HashSpec};
use crate::search::Problem;
use crate::search::bitvec::all_pairs;
use crate::search::reduced;
use crate::search::reference::Selection;
use crate::search::tune::{Method, Tuner};
use spadkit_base::error::Result;
use std::time::Instant;

impl Search<'_> {
    pub(super) fn linear(&mut self, kind: HashKind) -> Result<()> {
        let array = self.array;
        let geometry = array.geometry();
        let method = Method::default_for(kind);
        let first = self.found.len();
        let mut fewest = u64::MAX;
        // Per search: the pivots it allowed, and its bound.
        let mut bounds = Vec::new();
        for limit in self.pivot_limits(kind) {
            if fewest == array.floor() || self.effort.control.stopped() {
                break;
            }
            let start = Instant::now();
            let problem = array.problem().clone().with_pivot_limit(limit)?;
            let tuner = Tuner {
                problem: &problem,
                sets: &[],
                pairs: &all_pairs(geometry),
                selection: Selection::Allowed,
            };
            let found = tuner.run(kind, method, &self.effort.control())?;
            bounds.push((limit, found.lower_bound));
            if family(kind) == Some(Family::Matrix) && limit >= array.index_bits() {
                self.linear_bound = Some(found.lower_bound);
            }
            if found.conflicts >= fewest {
                continue;
            }
            fewest = found.conflicts;
            self.take(Candidate {
                spec: LayoutSpec::Hash(arranged(kind, &found.spec, &problem)?),
                kind: MappingKind::Hash(kind),
                method: method.name(),
                lower_bound: array.floor(),
                evaluated: found.evaluated,
                start,
            })?;
        }
        // A bound holds for the pivots that were allowed; all bits of the array
        // cover every mapping.
        let bound = bounds
            .last()
            .filter(|(limit, _)| *limit >= array.index_bits());
        let bound = bound.map_or(0, |(_, bound)| *bound).max(array.floor());
        for choice in &mut self.found[first..] {
            choice.lower_bound = bound.min(choice.conflicts);
        }
        Ok(())
    }

    /// Address bits below which pivots may be, ascending.
    fn pivot_limits(&self, kind: HashKind) -> Vec<u32> {
        let m = self.array.geometry().bank_bits();
        let all = self.array.index_bits();
        let whole = self.array.words().trailing_zeros().clamp(m, all);
        let mut limits = vec![m, whole, all];
        limits.dedup();
        // With the bank bits as pivots, the only permutation is the identity.
        if permutes(kind, self.array.geometry()) && limits.len() > 1 {
            limits.remove(0);
        }
        limits
    }
}

/// A mapping with the same conflicts in few operations: bank bits stay where
/// they are as far as the kind allows.
fn arranged(kind: HashKind, spec: &HashSpec, problem: &Problem) -> Result<HashSpec> {
    let geometry = problem.geometry();
    let (Some(family), BankFunction::Linear(matrix)) =
        (family(kind), BankFunction::new(spec, geometry)?)
    else {
        return Ok(spec.clone());
    };
    let rows = in_place(matrix.rows(), geometry.bank_bits());
    if family == Family::Matrix {
        return trimmed(rows, problem);
    }
    let placed = (kind::of(kind).of_rows)(&rows, geometry);
    Ok(placed.map_or_else(|| spec.clone(), HashSpec::from))
}

/// The rows that the unit of `kind` can make one by one.
fn family(kind: HashKind) -> Option<Family> {
    match kind::of(kind).search {
        UnitSearch::Rows(family) => Some(family),
        UnitSearch::Each | UnitSearch::Windows => None,
    }
}

/// Whether the rows of each configuration are one address bit each.
fn permutes(kind: HashKind, geometry: Geometry) -> bool {
    match kind::of(kind).search {
        UnitSearch::Rows(family) => family == Family::Permutation,
        UnitSearch::Windows => false,
        UnitSearch::Each => {
            let mut single = true;
            let each = (kind::of(kind).each)(geometry, &mut |spec| {
                single &= spec
                    .get()
                    .rows(geometry)
                    .iter()
                    .all(|row| row.is_power_of_two());
                Ok(())
            });
            each.is_ok() && single
        }
    }
}

/// A basis of the row space of `rows`: reduced, with each row in the position of its pivot
/// if that is a bank bit.
fn in_place(rows: &[u32], m: u32) -> Vec<u32> {
    let rows = reduced(rows);
    let (own, moved): (Vec<u32>, Vec<u32>) =
        (rows.iter().copied()).partition(|row| row.trailing_zeros() < m);
    let mut moved = moved.into_iter();
    (0..m)
        .filter_map(|bit| {
            let own = own.iter().find(|row| row.trailing_zeros() == bit);
            own.copied().or_else(|| moved.next())
        })
        .collect()
}

/// The matrix without bits that gain nothing, where that saves operations.
fn trimmed(rows: Vec<u32>, problem: &Problem) -> Result<HashSpec> {
    let passes = problem.passes();
    let conflicts = passes.conflicts(&rows, u64::MAX);
    let mut left = rows.clone();
    // First, all bits at one distance, which are one shift.
    let distance = |row: usize, bit: u32| bit as i32 - row as i32;
    let n = problem.geometry().addr_bits();
    let keeps = |rows: &[u32]| {
        problem.allows_as_written(rows) && passes.conflicts(rows, conflicts) <= conflicts
    };
    for d in (1..n as i32).rev() {
        let mut without = left.clone();
        for (i, row) in without.iter_mut().enumerate() {
            let off = (0..n).filter(|&bit| distance(i, bit) == d && bit != row.trailing_zeros());
            *row &= !off.fold(0, |mask, bit| mask | 1 << bit);
        }
        if without != left && keeps(&without) {
            left = without;
        }
    }
    for i in 0..left.len() {
        for bit in (0..n).rev() {
            let mut without = left.clone();
            without[i] &= !(1 << bit);
            if without != left && without[i] != 0 && keeps(&without) {
                left = without;
            }
        }
    }
    let cost = |rows: &[u32]| -> Result<usize> {
        let spec = LayoutSpec::Hash(Family::Matrix.spec(rows, problem.geometry()).into());
        Ok(Steps::of(&Layout::new(&spec, problem.geometry())?).count())
    };
    let fewer = cost(&left)? < cost(&rows)?;
    let rows = if fewer { left } else { rows };
    Ok(Family::Matrix.spec(&rows, problem.geometry()).into())
}
