//! Words in memory that carry something, by their bytes. Accesses of another size at the
//! same address are of another word, and a write to any byte of a word replaces it.

use std::collections::HashMap;

/// Bytes of the largest word.
const LARGEST: u64 = 16;

/// The bytes of a word: an address that is a multiple of their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bytes {
    pub address: u64,
    pub count: u8,
}

/// A value for each word that has one. No two of the words share a byte.
#[derive(Debug)]
pub struct Words<T> {
    by_address: HashMap<u64, (u8, T)>,
    /// Bounds of the addresses of all words.
    low: u64,
    high: u64,
    /// Bytes of the smallest word there has been.
    smallest: u8,
}

impl<T> Default for Words<T> {
    fn default() -> Self {
        Words {
            by_address: HashMap::new(),
            low: u64::MAX,
            high: 0,
            smallest: LARGEST as u8,
        }
    }
}

impl<T> Words<T> {
    pub fn is_empty(&self) -> bool {
        self.by_address.is_empty()
    }

    pub fn clear(&mut self) {
        self.by_address.clear();
        (self.low, self.high) = (u64::MAX, 0);
    }

    /// The value of exactly that word.
    pub fn get(&self, word: Bytes) -> Option<&T> {
        let (count, value) = self.by_address.get(&word.address)?;
        (*count == word.count).then_some(value)
    }

    /// Forgets the words that have a byte among those of a write; of `keep`, only the
    /// others of them.
    fn forget(&mut self, write: Bytes, keep: Option<Bytes>) {
        let end = write.address + u64::from(write.count);
        if self.by_address.is_empty() || write.address >= self.high || end <= self.low {
            return;
        }
        let first = write.address & !(LARGEST - 1);
        for address in (first..end).step_by(usize::from(self.smallest)) {
            let Some(&(count, _)) = self.by_address.get(&address) else {
                continue;
            };
            let is_kept = keep == Some(Bytes { address, count });
            if address + u64::from(count) > write.address && !is_kept {
                self.by_address.remove(&address);
            }
        }
    }

    /// An atomic that takes nothing along leaves its word as it is, and replaces others.
    pub fn update(&mut self, word: Bytes) {
        self.forget(word, Some(word));
    }

    /// A write replaces what its bytes took along.
    pub fn remove(&mut self, write: Bytes) {
        self.forget(write, None);
    }

    /// A write gives the word a value.
    pub fn insert(&mut self, word: Bytes, value: T) {
        self.forget(word, None);
        self.note(word);
        self.by_address.insert(word.address, (word.count, value));
    }

    /// The value of the word, which an atomic adds to.
    pub fn entry(&mut self, word: Bytes) -> &mut T
    where
        T: Default,
    {
        self.forget(word, Some(word));
        self.note(word);
        let new = || (word.count, T::default());
        &mut self.by_address.entry(word.address).or_insert_with(new).1
    }

    fn note(&mut self, word: Bytes) {
        self.low = self.low.min(word.address);
        self.high = self.high.max(word.address + u64::from(word.count));
        self.smallest = self.smallest.min(word.count.max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(address: u64, count: u8) -> Bytes {
        Bytes { address, count }
    }

    #[test]
    fn a_word_has_its_own_size() {
        let mut words = Words::default();
        words.insert(bytes(64, 8), 'a');
        assert_eq!(words.get(bytes(64, 8)), Some(&'a'));
        assert_eq!(words.get(bytes(64, 4)), None);
        assert_eq!(words.get(bytes(68, 4)), None);
    }

    #[test]
    fn a_write_to_any_byte_replaces_a_word() {
        for (write, is_replaced) in [
            (bytes(64, 8), true),
            (bytes(64, 1), true),
            (bytes(71, 1), true),
            (bytes(68, 4), true),
            (bytes(64, 16), true),
            (bytes(72, 4), false),
            (bytes(60, 4), false),
        ] {
            let mut words = Words::default();
            words.insert(bytes(64, 8), 'a');
            words.insert(bytes(80, 1), 'b');
            words.remove(write);
            assert_eq!(words.get(bytes(64, 8)).is_none(), is_replaced, "{write:?}");
            assert!(words.get(bytes(80, 1)).is_some());
        }
    }

    #[test]
    fn an_atomic_keeps_its_word_and_replaces_others() {
        let mut words: Words<Vec<u32>> = Words::default();
        words.entry(bytes(64, 4)).push(1);
        words.entry(bytes(64, 4)).push(2);
        assert_eq!(words.get(bytes(64, 4)), Some(&vec![1, 2]));
        words.entry(bytes(64, 8)).push(3);
        assert_eq!(words.get(bytes(64, 8)), Some(&vec![3]));
    }
}
