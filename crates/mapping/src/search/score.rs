//! The scores by which the heuristics choose bank bits.

use super::reference::ReferenceSet;

/// The score of each candidate, given the bits already chosen.
pub(super) trait Score<'a> {
    /// The score of a candidate.
    type Value: Copy;

    /// Before any bit is taken.
    fn new(sets: &'a [ReferenceSet], rows: &[u32]) -> Self;

    /// The score of the row at an index of the candidates.
    fn of(&self, index: usize, row: u32) -> Self::Value;

    /// Takes a row.
    fn take(&mut self, index: usize, row: u32);

    /// The best of some scores; nothing if there are none.
    fn best(scores: impl Iterator<Item = Self::Value>) -> Option<Self::Value>;

    /// Whether a score counts as equal to the best one.
    fn is_best(score: Self::Value, best: Self::Value) -> bool;

    /// Decides among candidates with equal scores: the smallest wins, then the first.
    fn tie(row: u32) -> u32;

    /// A score as the hash paper states it.
    fn number(&self, score: Self::Value) -> f64;
}
