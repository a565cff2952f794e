//! The properties of the units of the hash family.

/// A property that is proved of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Property {
    /// Given the values of its registers, the unit computes its definition, for
    /// every address and every legal value of the registers.
    Function,
    /// (bank, row) is a bijection for every legal configuration.
    Bijection,
    /// A write stores what was written, and nothing else changes a register.
    Registers,
    /// After reset, bank and row are those of the machine's mapping: unless it has
    /// another, bank = addr mod 2^m and row = addr >> m.
    Reset,
}

impl Property {
    /// The name in results.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
