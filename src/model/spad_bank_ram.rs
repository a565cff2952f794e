//! `spad_bank_ram`: one bank, one port (docs/microarchitecture.md, section 5).

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

/// The bank.
#[derive(Clone, Debug)]
pub struct BankRam {
    words: Vec<u64>,
    dout: u64,
}

impl BankRam {
    /// A bank of `rows` zero words.
    pub fn new(rows: usize) -> Self {
        BankRam {
            words: vec![0; rows],
            dout: 0,
        }
    }

    /// The word of the last read; registered.
    pub fn eval(&self) -> u64 {
        self.dout
    }

    /// The word in `row`; 0 beyond the bank.
    pub fn word(&self, row: usize) -> u64 {
        self.words.get(row).copied().unwrap_or(0)
    }

    /// Puts `word` into `row` from outside of the clocked world: initial
    /// contents. Rows beyond the bank are ignored.
    pub fn preload(&mut self, row: usize, word: u64) {
        if let Some(place) = self.words.get_mut(row) {
            *place = word;
        }
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &BankInputs) {
        if inputs.rst {
            self.dout = 0;
        } else if inputs.en && inputs.we {
            self.write(inputs.row, inputs.be, inputs.wdata);
        } else if inputs.en {
            self.read(inputs.row);
        }
    }

    /// The clock edge of a read; the word that shows behind it.
    pub(super) fn read(&mut self, row: u16) -> u64 {
        self.dout = self.word(row.into());
        self.dout
    }

    /// The clock edge of a write.
    pub(super) fn write(&mut self, row: u16, be: u8, wdata: u64) {
        if let Some(word) = self.words.get_mut(usize::from(row)) {
            let mask = byte_mask(be);
            *word = (*word & !mask) | (wdata & mask);
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
