//! `spad_atomic_bank`: a bank that performs atomic operations
//! (microarchitecture/atomic-bank.md).
//!
//! The accesses take effect one after the other, each at once: the pipeline of the
//! hardware shows in the cycle of the answer only.

use super::lanes::byte_mask;
pub use spadkit_hdl::codes::amo;

/// The operation of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BankOperation {
    /// Reads.
    Read,
    /// Writes the bytes that it enables.
    Write {
        /// A bit for each byte.
        be: u8,
    },
    /// An atomic operation (`amo` of [`spadkit_hdl::codes`]) of the whole word.
    Atomic {
        /// Code of the operation; one above [`amo::COUNT`] reads.
        code: u8,
        /// The expected value of a compare-and-swap.
        expected: u64,
        /// A store-conditional finds its reservation.
        reserved: bool,
    },
}

/// The answer to an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BankAnswer {
    /// The word before the access; of a store-conditional 0, or 1 if it fails.
    pub word: u64,
    /// The word has been written.
    pub written: bool,
}

/// The words of a bank.
#[derive(Clone, Debug)]
pub struct AtomicBank {
    words: Vec<u64>,
    word_bits: u32,
}

impl AtomicBank {
    /// A bank of `rows` zero words of 32 or 64 bits.
    pub fn new(rows: usize, word_bits: u32) -> Self {
        AtomicBank {
            words: vec![0; rows],
            word_bits,
        }
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.words.len()
    }

    /// The word in `row`, which must be below the rows.
    pub fn word(&self, row: usize) -> u64 {
        self.words[row]
    }

    /// Takes an access of the word in `row` back, which was `word` before it.
    pub fn restore(&mut self, row: usize, word: u64) {
        self.words[row] = word;
    }

    /// Accesses the word in `row`. `data` is the word to write or the operand; for a
    /// count, the number of lanes that count.
    pub fn access(&mut self, row: usize, operation: BankOperation, data: u64) -> BankAnswer {
        let all = u64::MAX >> (u64::BITS - self.word_bits);
        let (old, data) = (self.words[row], data & all);
        let new = match operation {
            BankOperation::Read => None,
            BankOperation::Write { be } => {
                let bytes = byte_mask(be) & all;
                Some((old & !bytes) | (data & bytes))
            }
            BankOperation::Atomic {
                code,
                expected,
                reserved,
            } => match code {
                amo::CAS => (old == expected & all).then_some(data),
                amo::SC => reserved.then_some(data),
                code => self.operated(code, old, data),
            },
        };
        if let Some(new) = new {
            self.words[row] = new & all;
        }
        let word = match operation {
            BankOperation::Atomic {
                code: amo::SC,
                reserved,
                ..
            } => u64::from(!reserved),
            _ => old,
        };
        BankAnswer {
            word,
            written: new.is_some(),
        }
    }

    /// The word after an operation with one operand; `None` of any other code.
    fn operated(&self, code: u8, old: u64, operand: u64) -> Option<u64> {
        let shift = u64::BITS - self.word_bits;
        let signed = |word: u64| (word << shift) as i64;
        let pick = |first: bool| if first { old } else { operand };
        Some(match code {
            amo::ADD | amo::COUNT => old.wrapping_add(operand),
            amo::AND => old & operand,
            amo::OR => old | operand,
            amo::XOR => old ^ operand,
            amo::SWAP => operand,
            amo::UMIN => pick(old < operand),
            amo::UMAX => pick(old > operand),
            amo::SMIN => pick(signed(old) < signed(operand)),
            amo::SMAX => pick(signed(old) > signed(operand)),
            _ => return None,
        })
    }
}

/// Accesses whose words are not written yet: bank, row, and the previous word. A
/// reset restores them.
#[derive(Clone, Debug, Default)]
pub(super) struct Unwritten {
    /// Writes in their second cycle.
    second: Vec<(usize, usize, u64)>,
    /// Writes in their third cycle, in which only an asynchronous reset prevents
    /// them.
    third: Vec<(usize, usize, u64)>,
    asynchronous: bool,
}

impl Unwritten {
    /// No accesses; `asynchronous` is the style of the reset.
    pub(super) fn new(asynchronous: bool) -> Self {
        Unwritten {
            asynchronous,
            ..Unwritten::default()
        }
    }

    /// A cycle ends in which nothing has begun yet.
    pub(super) fn next_cycle(&mut self) {
        std::mem::swap(&mut self.second, &mut self.third);
        self.second.clear();
    }

    /// An access of `row` of `bank`, which has `word`, begins in the cycle that ends.
    pub(super) fn begin(&mut self, bank: usize, row: usize, word: u64) {
        self.second.push((bank, row, word));
    }

    /// No access is in its second cycle.
    pub(super) fn is_landed(&self) -> bool {
        self.second.is_empty()
    }

    /// A reset takes them back, the last one first.
    pub(super) fn reset(&mut self, banks: &mut [AtomicBank]) {
        let third = if self.asynchronous {
            &self.third[..]
        } else {
            &[]
        };
        for &(bank, row, word) in third.iter().chain(&self.second).rev() {
            banks[bank].restore(row, word);
        }
        self.second.clear();
        self.third.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atomic(code: u8) -> BankOperation {
        BankOperation::Atomic {
            code,
            expected: 0,
            reserved: false,
        }
    }

    /// The word that `code` makes of `old`, and the answer.
    fn of(word_bits: u32, code: u8, old: u64, operand: u64) -> (u64, u64) {
        let mut bank = AtomicBank::new(2, word_bits);
        bank.access(1, BankOperation::Write { be: 0xff }, old);
        let answer = bank.access(1, atomic(code), operand);
        assert_eq!(bank.word(0), 0);
        (bank.word(1), answer.word)
    }

    #[test]
    fn operations_are_those_of_risc_v_and_cuda() {
        let (minus_2, top) = (0xffff_fffe, 0x8000_0000);
        for (code, old, operand, new) in [
            (amo::ADD, minus_2, 3, 1),
            (amo::AND, 0b1100, 0b1010, 0b1000),
            (amo::OR, 0b1100, 0b1010, 0b1110),
            (amo::XOR, 0b1100, 0b1010, 0b0110),
            (amo::SWAP, 7, 9, 9),
            (amo::UMIN, minus_2, 3, 3),
            (amo::UMAX, minus_2, 3, minus_2),
            (amo::SMIN, minus_2, 3, minus_2),
            (amo::SMAX, top, 3, 3),
            (amo::LR, 5, 9, 5),
            (amo::COUNT, 0xffff_ffff, 3, 2),
            (15, 5, 9, 5),
        ] {
            assert_eq!(of(32, code, old, operand), (new, old), "{code}");
        }
        // The sign is that of the word.
        assert_eq!(of(64, amo::SMIN, minus_2, 3), (3, minus_2));
        assert_eq!(of(64, amo::ADD, minus_2, 3).0, 0x1_0000_0001);
    }

    #[test]
    fn what_is_conditional_writes_or_does_not() {
        let mut bank = AtomicBank::new(1, 32);
        let cas = |expected| BankOperation::Atomic {
            code: amo::CAS,
            expected,
            reserved: true,
        };
        assert!(!bank.access(0, cas(1), 5).written);
        assert!(bank.access(0, cas(0), 5).written);
        assert_eq!(bank.word(0), 5);
        let conditional = |reserved| BankOperation::Atomic {
            code: amo::SC,
            expected: 0,
            reserved,
        };
        let failed = bank.access(0, conditional(false), 6);
        assert_eq!((failed.word, failed.written, bank.word(0)), (1, false, 5));
        let done = bank.access(0, conditional(true), 6);
        assert_eq!((done.word, done.written, bank.word(0)), (0, true, 6));
        // A write of no byte is a write.
        let nothing = bank.access(0, BankOperation::Write { be: 0 }, 9);
        assert_eq!((nothing.word, nothing.written, bank.word(0)), (6, true, 6));
    }
}
