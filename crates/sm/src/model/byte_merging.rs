//! Selects the lane of a group that writes each byte of a word (MERGE;
//! microarchitecture/conflict-arbiter.md).

use super::lanes::{LaneMask, MAX_BANKS, MAX_LANES, lanes_of};
use crate::config::Config;

/// The way in which the stores of a group to one word are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteMerging {
    /// MERGE: each byte is of the lowest lane that enables it; else the
    /// leader's bytes are stored.
    pub merge: bool,
    /// Bytes of a word: 4 or 8.
    pub word_bytes: u32,
}

impl ByteMerging {
    /// The byte merging of a machine.
    pub fn of(config: &Config) -> Self {
        ByteMerging {
            merge: config.path.merge_bytes,
            word_bytes: config.word_bytes(),
        }
    }

    /// Bytes that each served lane writes: `be` are the lanes' byte enables,
    /// and lanes of one bank are on one word.
    pub(super) fn writes(
        self,
        served: LaneMask,
        leader: LaneMask,
        bank: &[u8],
        be: &[u8],
    ) -> [u8; MAX_LANES] {
        let mut writes = [0; MAX_LANES];
        // The lowest lane of a byte is the first that enables it.
        let mut taken = [0u8; MAX_BANKS];
        for lane in lanes_of(if self.merge { served } else { leader }) {
            let taken = &mut taken[usize::from(bank[lane]) % MAX_BANKS];
            writes[lane] = self.enables(be[lane]) & !*taken;
            *taken |= writes[lane];
        }
        writes
    }

    /// The bytes that a lane writes which shares its word with no other.
    pub(super) fn enables(self, be: u8) -> u8 {
        be & self.all_bytes()
    }

    /// The bytes of a word.
    pub(super) fn all_bytes(self) -> u8 {
        (u16::MAX >> (16 - self.word_bytes)) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lanes 0..4 on one word, with these byte enables.
    fn writes(merge: bool, be: [u8; 4]) -> [u8; 4] {
        let merging = ByteMerging {
            merge,
            word_bytes: 4,
        };
        let writes = merging.writes(0b1111, 1, &[2; 4], &be);
        std::array::from_fn(|lane| writes[lane])
    }

    #[test]
    fn stores_to_one_word_merge_per_byte() {
        assert_eq!(writes(true, [1, 2, 4, 8]), [1, 2, 4, 8]);
        // Overlapping: the lowest lane of each byte; the leader may enable none.
        assert_eq!(writes(true, [0, 0b0110, 0b1100, 0]), [0, 0b0110, 0b1000, 0]);
        assert_eq!(writes(true, [0; 4]), [0; 4]);
    }

    /// A store of a part of a word keeps the rest of it.
    #[test]
    fn without_merging_the_leader_writes_what_it_enables() {
        assert_eq!(writes(false, [0b0010, 0b1111, 0, 0]), [0b0010, 0, 0, 0]);
        assert_eq!(writes(false, [0, 15, 15, 15]), [0; 4]);
    }
}
