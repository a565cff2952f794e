//! The operations that compute a layout.

use super::layout::{Layout, LayoutSpec};
use super::linear;
use super::operation::{Step, Steps, Value};
use crate::hash::BankFunction;

impl Steps {
    /// The operations of `layout`.
    pub fn of(layout: &Layout) -> Steps {
        if let Some(rows) = layout.rows() {
            return linear::steps(&rows);
        }
        let mut steps = Steps::default();
        match (layout.spec(), layout.mapping().map(|m| m.bank_function())) {
            (&LayoutSpec::Pad { every, by }, _) => steps.pad(every, by, layout),
            (_, Some(BankFunction::Shift(shifts))) => steps.shift(shifts, layout),
            // The only other function that is not linear is ADD.
            _ => steps.add_fold(layout),
        }
        steps
    }

    /// The operations of the linear layout with the matrix `rows` (word bit j
    /// is the parity of the index bits in element j). The index may have bits
    /// beyond the matrix, which are unchanged: an [`Step::And`] always keeps
    /// them.
    pub fn of_open_matrix(rows: &[u32]) -> Steps {
        linear::open_steps(rows)
    }

    /// value / divisor for values that are word indices.
    fn divide(&mut self, value: Value, divisor: u32) -> Value {
        if divisor.is_power_of_two() {
            return self.push(Step::Right(value, divisor.ilog2()));
        }
        // ceil(2^32 / d) is exact for values below 2^16 and d up to 2^16: the
        // error, below value / 2^32, does not reach the next multiple of 1/d.
        let factor = (1u64 << 32).div_ceil(u64::from(divisor)) as u32;
        self.push(Step::MulHigh(value, factor))
    }

    fn pad(&mut self, every: u32, by: u32, layout: &Layout) {
        if by == 0 || every as usize >= layout.geometry().words() {
            return;
        }
        if every == 1 {
            let (value, add) = (Value::Index, Value::Index);
            self.push(Step::MulAdd {
                value,
                factor: by,
                add,
            });
            return;
        }
        let gaps = self.divide(Value::Index, every);
        let add = Value::Index;
        match by {
            1 => self.push(Step::Add(gaps, add)),
            factor => self.push(Step::MulAdd {
                value: gaps,
                factor,
                add,
            }),
        };
    }

    fn add_fold(&mut self, layout: &Layout) {
        let geometry = layout.geometry();
        let upper = self.push(Step::Right(Value::Index, geometry.bank_bits()));
        let sum = self.push(Step::Add(Value::Index, upper));
        self.keep_row(sum, geometry.bank_mask());
    }

    /// The bank bits of `bank` before the row of the index.
    fn keep_row(&mut self, bank: Value, mask: u32) {
        self.push(Step::Merge {
            inside: bank,
            outside: Value::Index,
            mask,
        });
    }

    /// RAP and RAS: the shifts of the rows packed into words (RAP paper,
    /// section VI: six 5-bit values a word).
    fn shift(&mut self, shifts: &[u32], layout: &Layout) {
        let geometry = layout.geometry();
        let (bits, mask) = (geometry.bank_bits(), geometry.bank_mask());
        let per_word = u32::BITS / bits;
        self.table = shifts
            .chunks(per_word as usize)
            .map(|chunk| {
                chunk
                    .iter()
                    .rev()
                    .fold(0, |word, shift| word << bits | shift)
            })
            .collect();
        let row = self.push(Step::Right(Value::Index, bits));
        let row = if geometry.row_bits() > bits {
            self.push(Step::And(row, mask))
        } else {
            row
        };
        let word = self.divide(row, per_word);
        // row - per_word * word, times bits.
        let inside = self.push(Step::MulAdd {
            value: word,
            factor: per_word.wrapping_neg(),
            add: row,
        });
        let place = self.push(Step::MulAdd {
            value: inside,
            factor: bits - 1,
            add: inside,
        });
        let packed = self.push(Step::Table(word));
        let shift = self.push(Step::RightBy(packed, place));
        let sum = self.push(Step::Add(Value::Index, shift));
        self.keep_row(sum, mask);
    }
}
