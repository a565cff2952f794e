//! Shared by the configuration registers of all hash units.

use spadkit_mapping::hash::PortValue;

/// A configuration register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigRegister {
    /// Name of the register in the RTL.
    pub name: String,
    /// Bits.
    pub bits: u32,
    /// Value after reset, for bank = addr mod 2^m, unless the machine has another
    /// reset mapping.
    pub reset: u64,
}

impl ConfigRegister {
    /// The register `name`.
    pub(super) fn new(name: &str, bits: u32, reset: u64) -> Self {
        ConfigRegister {
            name: name.to_owned(),
            bits,
            reset,
        }
    }

    /// `count` registers of one width, `r0` and so on.
    pub(super) fn each(count: u32, bits: u32, reset: impl Fn(u32) -> u64) -> Vec<Self> {
        let register = |i| ConfigRegister::new(&format!("r{i}"), bits, reset(i));
        (0..count).map(register).collect()
    }
}

/// Bits of a register for the numbers below `values`.
pub(super) fn bits_for(values: u32) -> u32 {
    values.next_power_of_two().trailing_zeros()
}

/// The registers side by side, `bits` of each.
pub(super) fn side_by_side(registers: &[u64], bits: u32) -> PortValue {
    let bits = bits as usize;
    let mut value = PortValue::zero(registers.len() * bits);
    for (i, &register) in registers.iter().enumerate() {
        value.set_field(i * bits, bits, register);
    }
    value
}

/// The select lines of a value without meaning.
pub(super) fn none_selected(lines: &mut PortValue) {
    *lines = PortValue::zero(lines.width());
}
