//! Values that stores write, byte by byte. They tell whether two racing stores write the
//! same, and which earlier stores have to be remembered for that.

use super::mark::Mark;

/// The bytes of a word, as bits.
const WORD: u8 = 0xF;
/// Bytes that a lane stores at most.
const MOST: usize = 32;
/// Stores of a place that are remembered for their values alone.
pub const KEPT: usize = 8;

/// The bytes that lanes store at one address.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stored {
    bytes: [u8; MOST],
    /// The bytes that have the value already, as bits.
    silent: u32,
    /// All lanes store the same bytes; else they differ, or nobody knows them.
    known: bool,
    /// As of a [`Mark`].
    joint: bool,
}

impl Stored {
    /// The store of an access of so many bytes; its bytes are unknown if it is too long.
    pub fn of(bytes: u32) -> Self {
        Stored {
            known: bytes as usize <= MOST,
            ..Stored::default()
        }
    }

    /// The row of a matrix, of which each lane has a part.
    pub fn of_row(bytes: u32) -> Self {
        Stored {
            joint: true,
            ..Stored::of(bytes)
        }
    }

    /// An element, and the bytes of it that are there already.
    #[inline(always)]
    pub fn put(&mut self, at: u32, bytes: u32, value: u64, there: u32) {
        let (start, count) = (at as usize, bytes as usize);
        if let Some(to) = self.bytes.get_mut(start..start + count) {
            to.copy_from_slice(&value.to_le_bytes()[..count]);
            self.silent |= there << at;
        }
    }

    /// Adds to a mark what the store writes to a place, which has `unit` bytes from byte
    /// `at` on.
    #[inline(always)]
    pub fn mark(&self, mark: Mark, at: u32, unit: u32) -> Mark {
        let at = at as usize;
        if !self.known || at + 4 > MOST && unit == 4 {
            return mark;
        }
        let (value, silent) = if unit == 4 {
            let word = [0, 1, 2, 3].map(|n| self.bytes[at + n]);
            (u32::from_le_bytes(word), (self.silent >> at) as u8 & WORD)
        } else {
            let there = self.silent >> at & 1 != 0;
            (u32::from(self.bytes[at]), if there { WORD } else { 0 })
        };
        Mark {
            value,
            silent,
            known: true,
            joint: self.joint,
            ..mark
        }
    }
}

impl Mark {
    /// A store of what is there already, in all of the place.
    pub fn is_silent(&self) -> bool {
        self.silent == WORD
    }

    /// The bytes in which two stores may leave different values.
    #[inline(always)]
    pub fn differs(&self, other: &Mark) -> u8 {
        if !self.known || !other.known {
            return WORD;
        }
        let bits = self.value ^ other.value;
        let byte = |n: u32| u8::from(bits >> (8 * n) & 0xFF != 0) << n;
        byte(0) | byte(1) | byte(2) | byte(3)
    }

    /// The mark of a byte of the word.
    pub fn byte(&self, n: u32) -> Mark {
        Mark {
            value: self.value >> (8 * n) & 0xFF,
            silent: if self.silent >> n & 1 != 0 { WORD } else { 0 },
            ..*self
        }
    }

    /// More lanes of the same instruction store to the place.
    pub fn join(&mut self, new: &Mark) {
        self.known &= self.differs(new) == 0;
        self.silent &= new.silent;
        self.lanes |= new.lanes;
    }
}

/// Whether an earlier store need not be remembered beside a `new` one of lanes that
/// have seen it: with every value that it would be a fault with, the new one is, too,
/// or one of those that came `later` than it. The place is looked at as a `whole`, or
/// byte by byte.
pub fn is_outdone(old: &Mark, new: &Mark, later: &[Mark], whole: bool) -> bool {
    let chain = |m: &&Mark| {
        let own = m.warp == old.warp && old.lanes & !m.lanes == 0;
        own && m.moment > old.moment && m.how.covers(old.how)
    };
    is_outdone_by(old, new, later.iter().filter(chain), whole)
}

/// Like [`is_outdone`], if every one of the new stores races with everything that the
/// earlier store races with.
pub fn is_outdone_by<'a>(
    old: &Mark,
    first: &Mark,
    more: impl Iterator<Item = &'a Mark>,
    whole: bool,
) -> bool {
    let spread = |bytes: u8| if whole && bytes != 0 { WORD } else { bytes };
    let changes = |m: &Mark| spread(!m.silent & WORD);
    // Nothing equals both of two values, nor one that is not known.
    let mut split = if first.known { 0 } else { WORD };
    let mut changed = changes(first);
    for mark in more {
        split |= spread(first.differs(mark));
        changed |= changes(mark);
    }
    (spread(first.differs(old)) & !split) | (changes(old) & !changed) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(moment: u32, value: u32) -> Mark {
        let mut stored = Stored::of(4);
        stored.put(0, 4, value.into(), 0);
        let mark = Mark {
            moment,
            lanes: 1,
            ..Mark::default()
        };
        stored.mark(mark, 0, 4)
    }

    #[test]
    fn two_values_outdo_all_before_in_their_bytes() {
        let [a, b, c] = [store(1, 0x0001), store(2, 0x0101), store(3, 0x0100)];
        assert!(!is_outdone(&a, &b, &[], false));
        assert!(is_outdone(&a, &store(2, 1), &[], false));
        // Byte 0 has two values in `b` and `c`; byte 1 has one, and `a` another.
        assert!(!is_outdone(&a, &c, &[b], false));
        assert!(is_outdone(&a, &c, &[b], true));
        // Of another lane it need not race with the same.
        let other = Mark { lanes: 2, ..b };
        assert!(!is_outdone(&a, &store(3, 0x0201), &[other], true));
        let unknown = Mark { known: false, ..c };
        assert!(is_outdone(&a, &unknown, &[], false) && !is_outdone(&unknown, &a, &[], false));
        // What changed the value is a fault for readers.
        let silent = Mark { silent: WORD, ..a };
        assert!(!is_outdone(
            &a,
            &Mark {
                moment: 2,
                ..silent
            },
            &[],
            true
        ));
        assert!(is_outdone(&silent, &Mark { moment: 2, ..a }, &[], true));
    }

    #[test]
    fn a_place_has_its_bytes() {
        let mut stored = Stored::of(8);
        stored.put(4, 4, 0x0A00_0B0C, 0b0100);
        let word = stored.mark(Mark::default(), 4, 4);
        assert_eq!((word.value, word.silent), (0x0A00_0B0C, 0b0100));
        for n in 0..4 {
            assert_eq!(word.byte(n), stored.mark(Mark::default(), 4 + n, 1));
        }
        assert!(word.byte(2).is_silent() && !word.is_silent());
        assert!(!Stored::of(64).mark(Mark::default(), 0, 4).known);
    }
}
