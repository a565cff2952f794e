//! An array, and the function that maps it.

use spadkit_mapping::geometry::WORD_BYTES;

/// An array's name in the source, and the function of its mapping.
#[derive(Clone, Copy)]
pub(super) struct Mapped<'a> {
    /// The array.
    pub array: &'a str,
    /// The function that changed lines call.
    pub function: &'a str,
    /// Bytes that every mapping keeps together.
    pub unit: u32,
}

impl<'a> Mapped<'a> {
    /// An array of words, which every mapping keeps whole.
    pub fn words(array: &'a str, function: &'a str) -> Self {
        Mapped {
            array,
            function,
            unit: WORD_BYTES,
        }
    }

    /// The start of a call that maps an address: `spad_tile_at(tile, `.
    pub fn at(&self) -> String {
        format!("{}_at({}, ", self.function, self.array)
    }
}
