//! Narrower accesses to the same words: vectors against conflicts.
//!
//! A vector of four words stays in four banks side by side, so a lane that reads
//! one word of each meets at least three others in its banks. Split into narrower
//! accesses, the words are free to go anywhere, for more instructions.

use super::{Array, Choices, Effort, MappingKind, choices};
use crate::geometry::Geometry;
use crate::trace::{AccessTrace, ConflictRule};
use spadkit_base::error::Result;

/// The accesses with none wider than `bytes`.
#[derive(Clone, Debug)]
pub struct Narrower {
    /// Bytes of the widest access.
    pub bytes: u32,
    /// The words and the accesses to them.
    pub array: Array,
    /// Mappings of these words.
    pub choices: Choices,
}

/// The mappings with accesses of half and of a quarter of the width of
/// `array`, the widest first; none where its best mapping leaves no conflicts
/// already.
pub fn narrower(
    trace: &AccessTrace,
    geometry: Geometry,
    rule: ConflictRule,
    (array, found): (&Array, &Choices),
    kinds: &[MappingKind],
    effort: &Effort,
) -> Result<Vec<Narrower>> {
    let mut all = Vec::new();
    let mut left = found.best().conflicts;
    for words in [2, 1].into_iter().filter(|w| *w < array.vector_words()) {
        if left == 0 || effort.control.stopped() {
            break;
        }
        let array = Array::new(&trace.narrowed(4 * words), geometry, rule, array.room());
        let choices = choices(&array, kinds, effort)?;
        left = choices.best().conflicts;
        all.push(Narrower {
            bytes: 4 * words,
            array,
            choices,
        });
    }
    Ok(all)
}
