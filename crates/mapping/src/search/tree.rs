//! The search tree of the optimal search: every kernel once.
//!
//! The columns of the bank matrix are decided in order. A column is a *pivot*,
//! with a bank bit of its own, or it is *free*, with a kernel vector. This
//! vector has this column, no later one, and no other free one, and it flips
//! some of the pivots before it. That is the reduced echelon form of the
//! kernel, so each row space occurs once: the order of bank bits and XORs among
//! them are gone. The units differ only in what a free column may flip:
//!
//! - permutation: nothing;
//! - XOR of pairs: pivots that no other free column flips (rows of two bits);
//!   these kernels are the partitions of the address bits, which is why there
//!   are far fewer of them than sets of pairs;
//! - matrix: any pivots.

use super::columns::Columns;
use crate::hash::kind::Family;

/// A partial kernel: the columns before `next` are decided.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    /// Free columns in order, each with the mask of pivots (counted from the
    /// first) that its kernel vector flips.
    pub(super) kernel: Vec<(usize, usize)>,
    next: usize,
}

/// One more kernel vector for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The free column.
    pub(super) column: usize,
    /// Pivots before it: its coordinate in the divided space.
    pub(super) top: usize,
    /// The pivots that it flips.
    pub(super) flips: usize,
}

impl Node {
    /// The node with one more kernel vector.
    pub(super) fn child(&self, step: Step) -> Node {
        let mut kernel = self.kernel.clone();
        kernel.push((step.column, step.flips));
        Node {
            kernel,
            next: step.column + 1,
        }
    }

    /// The steps that led here.
    pub(super) fn steps(&self) -> impl Iterator<Item = Step> {
        let steps = self.kernel.iter().enumerate();
        steps.map(|(freed, &(column, flips))| Step {
            column,
            top: column - freed,
            flips,
        })
    }

    /// Every choice of the next kernel vector.
    pub(super) fn next_steps(&self, columns: &Columns, family: Family) -> Vec<Step> {
        let mut steps = Vec::new();
        let freed = self.kernel.len();
        let spare_freed = (self.kernel.iter()).any(|&(column, _)| columns.is_spare(column));
        for column in self.next..columns.len() {
            if column > self.next {
                // The column before this one is a pivot now.
                let pivot = column - 1;
                // Spare columns are alike: the first ones are the pivots.
                let alike = spare_freed && columns.is_spare(pivot);
                if pivot >= columns.allowed() || alike {
                    break;
                }
            }
            let top = column - freed;
            if top > columns.pivots() {
                break;
            }
            if column < columns.fixed() {
                continue; // a pivot in any case
            }
            if top + columns.allowed().saturating_sub(column + 1) < columns.pivots() {
                continue; // too few columns are left for the pivots
            }
            // A spare column that flips something only makes things worse.
            let flippable = if columns.is_spare(column) {
                0
            } else {
                self.flippable(family, top) & !((1 << columns.fixed()) - 1)
            };
            let flips = subsets(flippable);
            steps.extend(flips.map(|flips| Step { column, top, flips }));
        }
        steps
    }

    /// The pivots among the first `top` that the next free column may flip.
    fn flippable(&self, family: Family, top: usize) -> usize {
        let all = (1 << top) - 1;
        match family {
            Family::Permutation => 0,
            Family::Xor => {
                let flipped = self.kernel.iter().fold(0, |mask, (_, flips)| mask | flips);
                all & !flipped
            }
            Family::Matrix => all,
        }
    }
}

/// The subsets of `mask`, ascending.
fn subsets(mask: usize) -> impl Iterator<Item = usize> {
    let next = move |&subset: &usize| (subset != mask).then(|| (subset.wrapping_sub(mask)) & mask);
    std::iter::successors(Some(0), next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Geometry;
    use crate::hash::HashKind;
    use crate::search::Problem;
    use crate::search::space;
    use crate::search::testing::random_profile;
    use std::collections::HashSet;

    fn leaves(n: u32, m: u32, limit: u32, family: Family) -> Vec<Vec<u32>> {
        let geometry = Geometry::new(n, m).unwrap();
        let problem = Problem::new(&random_profile(1, n, 4, 32), geometry);
        leaves_of(&problem.with_pivot_limit(limit).unwrap(), family)
    }

    fn leaves_of(problem: &Problem, family: Family) -> Vec<Vec<u32>> {
        let geometry = problem.geometry();
        let (n, m) = (geometry.addr_bits(), geometry.bank_bits());
        let columns = Columns::new(problem);
        let mut found = Vec::new();
        let mut open = vec![Node::default()];
        while let Some(node) = open.pop() {
            if node.kernel.len() == (n - m) as usize {
                let rows = columns.rows(&node.kernel);
                assert!(problem.allows(&rows), "{rows:x?}");
                found.push(rows);
                continue;
            }
            let steps = node.next_steps(&columns, family);
            assert!(!steps.is_empty(), "a dead end: {node:?}");
            open.extend(steps.into_iter().map(|step| node.child(step)));
        }
        found
    }

    /// The row space as the set of its members.
    fn span(rows: &[u32]) -> Vec<u32> {
        let member = |set: u32| {
            let rows = rows.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
            rows.fold(0, |x, (_, row)| x ^ row)
        };
        let mut span: Vec<u32> = (0..1 << rows.len()).map(member).collect();
        span.sort_unstable();
        span
    }

    #[test]
    fn every_row_space_occurs_once() {
        let g = Geometry::new(9, 3).unwrap();
        for (family, expected) in [
            (
                Family::Permutation,
                space::of_unit(HashKind::BitwisePerm, g),
            ),
            (Family::Xor, space::unique_bitwise_xor(g)),
            (Family::Matrix, space::of_unit(HashKind::Matrix, g)),
        ] {
            let leaves = leaves(9, 3, 9, family);
            let spans: HashSet<_> = leaves.iter().map(|rows| span(rows)).collect();
            assert_eq!((leaves.len(), spans.len() as u128), (spans.len(), expected));
        }
    }

    #[test]
    fn forbidden_pivots_leave_exactly_the_allowed_mappings() {
        let all = leaves(9, 3, 9, Family::Xor);
        for limit in [3, 5, 8] {
            let g = Geometry::new(9, 3).unwrap();
            let problem = Problem::new(&random_profile(1, 9, 4, 32), g);
            let problem = problem.with_pivot_limit(limit).unwrap();
            let allowed = all.iter().filter(|rows| problem.allows(rows));
            let expected: HashSet<_> = allowed.map(|rows| span(rows)).collect();
            let found = leaves(9, 3, limit, Family::Xor);
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().all(|rows| expected.contains(&span(rows))));
        }
    }

    /// The remaining row spaces are those that contain the low bits.
    #[test]
    fn vectors_leave_exactly_the_mappings_that_keep_them_whole() {
        let geometry = Geometry::new(9, 3).unwrap();
        let profile = random_profile(1, 9, 4, 32);
        for (family, limits) in [
            (Family::Permutation, &[4, 9][..]),
            (Family::Xor, &[4, 9]),
            (Family::Matrix, &[4]),
        ] {
            for &limit in limits {
                let free = Problem::new(&profile, geometry);
                let free = free.with_pivot_limit(limit).unwrap();
                let all = leaves_of(&free, family);
                for bits in [1, 2] {
                    let whole = free.clone().with_vectors(bits);
                    let found = leaves_of(&whole, family);
                    let expected = all
                        .iter()
                        .map(|rows| span(rows))
                        .filter(|span| (0..bits).all(|bit| span.contains(&(1 << bit))));
                    let expected: HashSet<_> = expected.collect();
                    let spans: HashSet<_> = found.iter().map(|rows| span(rows)).collect();
                    assert_eq!((found.len(), &spans), (expected.len(), &expected));
                    assert!(
                        all.iter()
                            .all(|r| whole.allows(r) == expected.contains(&span(r)))
                    );
                }
            }
        }
    }
}
