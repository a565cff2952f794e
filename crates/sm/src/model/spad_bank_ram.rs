//! `spad_bank_ram`: one bank, one port (microarchitecture/bank-ram.md).

use super::lanes::byte_mask;

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct BankInputs {
    /// Synchronous reset; of the output only.
    pub rst: bool,
    /// Access in this cycle.
    pub en: bool,
    /// Write, else read.
    pub we: bool,
    /// Bytes to write.
    pub be: u8,
    /// Row; one beyond the bank is the user's mistake (here it reads 0).
    pub row: u16,
    /// Word to write.
    pub wdata: u64,
}

/// Words of banks with the same number of rows, stored row by row: words that many
/// lanes access in one cycle are adjacent in memory.
#[derive(Clone, Debug)]
pub(super) struct BankWords {
    words: Vec<u64>,
    /// Banks, a power of two, as its logarithm.
    bank_bits: u32,
}

impl BankWords {
    /// `rows` rows of 2^`bank_bits` banks, all words zero.
    pub(super) fn new(rows: usize, bank_bits: u32) -> Self {
        BankWords {
            words: vec![0; rows << bank_bits],
            bank_bits,
        }
    }

    /// The word in `row` of `bank`; 0 beyond the bank.
    pub(super) fn word(&self, bank: usize, row: usize) -> u64 {
        let place = self.place(bank, row);
        self.words.get(place).copied().unwrap_or(0)
    }

    /// Writes all of a word. Rows beyond the bank are ignored.
    pub(super) fn put(&mut self, bank: usize, row: usize, word: u64) {
        let place = self.place(bank, row);
        if let Some(place) = self.words.get_mut(place) {
            *place = word;
        }
    }

    /// Writes the bytes that `be` names. Rows beyond the bank are ignored.
    pub(super) fn write(&mut self, bank: usize, row: usize, be: u8, wdata: u64) {
        let place = self.place(bank, row);
        if let Some(word) = self.words.get_mut(place) {
            let mask = byte_mask(be);
            *word = (*word & !mask) | (wdata & mask);
        }
    }

    fn place(&self, bank: usize, row: usize) -> usize {
        debug_assert!(bank >> self.bank_bits == 0, "bank {bank}");
        row << self.bank_bits | bank
    }
}

/// The bank.
#[derive(Clone, Debug)]
pub struct BankRam {
    words: BankWords,
    dout: u64,
}

impl BankRam {
    /// A bank of `rows` zero words.
    pub fn new(rows: usize) -> Self {
        BankRam {
            words: BankWords::new(rows, 0),
            dout: 0,
        }
    }

    /// The word of the last read; registered.
    pub fn eval(&self) -> u64 {
        self.dout
    }

    /// The word in `row`; 0 beyond the bank.
    pub fn word(&self, row: usize) -> u64 {
        self.words.word(0, row)
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &BankInputs) {
        let row = usize::from(inputs.row);
        if inputs.rst {
            self.dout = 0;
        } else if inputs.en && inputs.we {
            self.words.write(0, row, inputs.be, inputs.wdata);
        } else if inputs.en {
            self.dout = self.words.word(0, row);
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &BankInputs) -> u64 {
        let dout = self.eval();
        self.commit(inputs);
        dout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_change_enabled_bytes_and_keep_the_output() {
        let mut bank = BankRam::new(3);
        let write = |row, be, wdata| BankInputs {
            en: true,
            we: true,
            be,
            row,
            wdata,
            ..BankInputs::default()
        };
        let read = |row| BankInputs {
            en: true,
            row,
            ..BankInputs::default()
        };
        bank.step(&write(2, 0b1111, 0xaabbccdd));
        bank.step(&write(2, 0b0101, 0x11223344));
        assert_eq!(bank.step(&read(2)), 0);
        assert_eq!(bank.step(&write(2, 0b1111, 0)), 0xaa22cc44);
        assert_eq!(bank.step(&read(1)), 0xaa22cc44);
        let reset = BankInputs {
            rst: true,
            ..write(1, 0b1111, 5)
        };
        assert_eq!(bank.step(&reset), 0);
        assert_eq!(bank.word(1), 0, "no write in reset");
    }
}
