//! Buffers without contents, as `cudaMalloc` returns them: a byte has no value before a kernel
//! writes it.

use crate::exec::race::global::{LINE, lines};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The bytes that kernels have written of a buffer that had no contents.
#[derive(Debug, Default)]
pub struct Written {
    /// By the number of a line.
    lines: Mutex<HashMap<u64, u128>>,
}

impl Written {
    /// An access to bytes from `offset` on, which reads or writes: the first byte that is read
    /// and that no kernel has written, counted from `offset`.
    pub fn touch(&self, (offset, bytes): (u64, u32), (reads, writes): (bool, bool)) -> Option<u64> {
        let mut written = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let mut first = None;
        for (line, mask) in lines(offset, bytes) {
            let known = written.entry(line).or_default();
            let missing = mask & !*known;
            if reads && missing != 0 && first.is_none() {
                first = Some(LINE * line + u64::from(missing.trailing_zeros()) - offset);
            }
            if writes {
                *known |= mask;
            }
        }
        first
    }
}

impl Clone for Written {
    fn clone(&self) -> Self {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        Written {
            lines: Mutex::new(lines.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_has_a_value_when_it_was_written() {
        let written = Written::default();
        let [load, store, update] = [(true, false), (false, true), (true, true)];
        assert_eq!(written.touch((120, 4), store), None);
        assert_eq!(written.touch((120, 16), load), Some(4));
        assert_eq!(written.touch((124, 8), update), Some(0));
        assert_eq!(written.touch((120, 12), load), None);
        assert_eq!(written.clone().touch((116, 16), load), Some(0));
    }
}
