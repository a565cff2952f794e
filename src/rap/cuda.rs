//! The shifts packed into registers, as CUDA (RAP paper, section VI, Fig. 7):
//! for 32 banks six 5-bit values a word.

use crate::error::{Error, Result};
use std::fmt::Write;

/// Bits of a register.
const REGISTER_BITS: u32 = 32;

/// Shifts packed into 32-bit words, and the CUDA that uses them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaShiftTable {
    /// The words; shift i is in word i / per_word.
    pub words: Vec<u32>,
    /// Shifts per word; shift i starts at bit bits * (i % per_word).
    pub per_word: u32,
    /// Bits of a shift.
    pub bits: u32,
    /// A device function `rap_column(i, j)`: the physical column of `a[i][j]`.
    pub source: String,
}

/// Packs the shifts of w rows, w = `shifts.len()` a power of two from 2 to
/// 1024, each below w.
pub fn cuda_shift_table(shifts: &[u32]) -> Result<CudaShiftTable> {
    let w = shifts.len() as u32;
    if !(2..=1024).contains(&shifts.len()) || !w.is_power_of_two() {
        return Err(Error::usage(
            format!("{} shifts cannot be packed", shifts.len()),
            "expected a power of two from 2 to 1024",
        ));
    }
    if let Some(shift) = shifts.iter().find(|&&s| s >= w) {
        return Err(Error::usage(
            format!("shift {shift} is out of range"),
            format!("expected {w} shifts from 0 to {}", w - 1),
        ));
    }
    let bits = w.ilog2();
    let per_word = REGISTER_BITS / bits;
    let pack = |chunk: &[u32]| {
        let places = (0..).step_by(bits as usize);
        chunk
            .iter()
            .zip(places)
            .fold(0, |word, (s, at)| word | s << at)
    };
    let words: Vec<u32> = shifts.chunks(per_word as usize).map(pack).collect();
    let source = source(&words, per_word, bits);
    Ok(CudaShiftTable {
        words,
        per_word,
        bits,
        source,
    })
}

fn source(words: &[u32], per_word: u32, bits: u32) -> String {
    let w = 1 << bits;
    let count = words.len();
    let mask = w - 1;
    let mut list = String::new();
    for (i, word) in words.iter().enumerate() {
        let separator = match i {
            0 => "",
            _ if i % 6 == 0 => ",\n        ",
            _ => ", ",
        };
        // Writing to a String cannot fail.
        let _ = write!(list, "{separator}{word:#010x}u");
    }
    format!(
        "// Random address permute-shift: element a[i][j] of a {w} x {w} array in shared\n\
         // memory is kept in a[i][rap_column(i, j)]. {per_word} shifts of {bits} bits a word; where i\n\
         // is known at compile time the words stay in registers or become constants.\n\
         __device__ __forceinline__ unsigned rap_column(unsigned i, unsigned j)\n\
         {{\n    const unsigned r[{count}] = {{\n        {list}\n    }};\n    \
         return (j + (r[i / {per_word}] >> ({bits} * (i % {per_word})))) & {mask:#x}u;\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::ShiftTable;

    /// What the emitted function computes, from the numbers in its text.
    fn column(source: &str, i: u32, j: u32) -> u32 {
        let list = source.split('{').nth(2).unwrap().split('}').next().unwrap();
        let words: Vec<u32> = list
            .split(',')
            .map(|s| s.trim().trim_start_matches("0x").trim_end_matches('u'))
            .map(|hex| u32::from_str_radix(hex, 16).unwrap())
            .collect();
        let formula = source.split("return").nth(1).unwrap();
        let number = |after: &str| -> u32 {
            let rest = formula.split(after).nth(1).unwrap();
            let digits = rest.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap();
            let radix = if after == "0x" { 16 } else { 10 };
            u32::from_str_radix(digits, radix).unwrap()
        };
        let (per_word, bits, mask) = (number("i / "), number(">> ("), number("0x"));
        assert!(words.len() as u32 * per_word > i);
        (j + (words[(i / per_word) as usize] >> (bits * (i % per_word)))) & mask
    }

    #[test]
    fn the_emitted_function_unpacks_every_shift() {
        for w in [2, 8, 16, 32, 64, 1024] {
            let shifts = ShiftTable::Seed(11).values(w, true).unwrap();
            let table = cuda_shift_table(&shifts).unwrap();
            for i in 0..w as u32 {
                for j in [0, 1, w as u32 - 1] {
                    let expected = (j + shifts[i as usize]) % w as u32;
                    assert_eq!(column(&table.source, i, j), expected, "w={w} i={i}");
                }
            }
        }
    }

    #[test]
    fn figure_7_packs_six_values_of_five_bits() {
        let table = cuda_shift_table(&(0..32).collect::<Vec<_>>()).unwrap();
        assert_eq!((table.words.len(), table.per_word, table.bits), (6, 6, 5));
        let first = (0..6).map(|i| i << (5 * i)).sum::<u32>();
        assert_eq!(table.words[0], first);
        assert_eq!(table.words[5], 30 | 31 << 5);
    }

    #[test]
    fn tables_that_do_not_fit_are_refused() {
        assert!(cuda_shift_table(&[0; 24]).is_err());
        assert!(cuda_shift_table(&[]).is_err());
        assert!(cuda_shift_table(&[0, 1, 4, 2]).is_err());
    }
}
