//! The atomic operations, by the words of their definition
//! (microarchitecture/atomic-bank.md).

pub const CAS: u64 = 9;
pub const LR: u64 = 10;
pub const SC: u64 = 11;
pub const COUNT: u64 = 12;

/// The word after an operation with one operand, a code of 0 to 8.
pub fn operated(code: u64, old: u32, operand: u32) -> u32 {
    match code {
        0 => old.wrapping_add(operand),
        1 => old & operand,
        2 => old | operand,
        3 => old ^ operand,
        4 => operand,
        5 => old.min(operand),
        6 => old.max(operand),
        7 => (old as i32).min(operand as i32) as u32,
        8 => (old as i32).max(operand as i32) as u32,
        _ => panic!("operation {code} was accepted"),
    }
}
