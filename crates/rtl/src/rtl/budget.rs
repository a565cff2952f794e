//! The share of a clock cycle that a block may use.

/// The clock period, and how much of it is outside the block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// The period in the library's time unit.
    pub period: f64,
    /// The part of it that passes before an input.
    pub before: f64,
    /// The part of it that is needed after an output.
    pub behind: f64,
}

impl Default for Budget {
    /// Slow enough for every unit in old libraries (180 nm), and 30 % on either
    /// side.
    fn default() -> Self {
        Budget {
            period: 10.0,
            before: 0.3,
            behind: 0.3,
        }
    }
}
