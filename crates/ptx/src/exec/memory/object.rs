//! A run of bytes of global memory.

use super::blank::Written;
use std::alloc::{Layout, alloc_zeroed};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// A buffer or a variable of the module.
#[derive(Debug)]
pub struct Object {
    pub name: String,
    pub address: u64,
    /// Size in bytes.
    pub len: u64,
    /// Whether kernels may not write it (`.const`).
    pub constant: bool,
    /// What kernels have written of it, if it had no contents.
    pub written: Option<Written>,
    /// The bytes in units that atomic accesses of up to 64 bits fit in.
    words: Box<[AtomicU64]>,
}

impl Object {
    /// A new object of zeros; `None` if there is no memory for it.
    pub fn new(name: &str, address: u64, len: u64, constant: bool) -> Option<Object> {
        Some(Object {
            name: name.to_owned(),
            address,
            len,
            constant,
            written: None,
            words: zeroed(len.div_ceil(8) as usize)?,
        })
    }

    /// Bytes that kernels may not write.
    pub fn of_constants(name: &str, bytes: &[u8]) -> Object {
        let word = |bytes: &[u8]| {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            AtomicU64::new(u64::from_le_bytes(whole))
        };
        Object {
            name: name.to_owned(),
            address: 0,
            len: bytes.len() as u64,
            constant: true,
            written: None,
            words: bytes.chunks(8).map(word).collect(),
        }
    }

    /// The bytes, for accesses by atomic operations.
    pub fn data(&self) -> *mut u8 {
        self.words.as_ptr() as *mut u8
    }

    /// A copy of the object in another place; `None` if there is no memory for it.
    pub fn copy(&self) -> Option<Object> {
        let words = zeroed(self.words.len())?;
        for (to, from) in words.iter().zip(&self.words) {
            let word = from.load(Relaxed);
            if word != 0 {
                to.store(word, Relaxed);
            }
        }
        Some(Object {
            name: self.name.clone(),
            written: self.written.clone(),
            words,
            ..*self
        })
    }

    /// The bits of an element of 1, 2, 4 or 8 bytes at a multiple of its size,
    /// which has to be one of it.
    pub fn element(&self, offset: u64, bytes: u64) -> u64 {
        let word = self.words[(offset / 8) as usize].load(Relaxed);
        word >> (8 * (offset % 8)) & (u64::MAX >> (64 - 8 * bytes))
    }

    /// Writes such an element.
    pub fn put(&self, offset: u64, bytes: u64, value: u64) {
        let pointer = self.data().wrapping_add(offset as usize);
        // SAFETY: the bytes are inside, and aligned.
        unsafe {
            match bytes {
                1 => AtomicU8::from_ptr(pointer).store(value as u8, Relaxed),
                2 => AtomicU16::from_ptr(pointer.cast()).store(value as u16, Relaxed),
                4 => AtomicU32::from_ptr(pointer.cast()).store(value as u32, Relaxed),
                _ => AtomicU64::from_ptr(pointer.cast()).store(value, Relaxed),
            }
        }
    }

    /// Eight bytes of any alignment, which have to be bytes of it.
    pub fn unaligned_word(&self, offset: u64) -> u64 {
        (0..8).fold(0, |all, n| {
            all | u64::from(self.byte(offset + n)) << (8 * n)
        })
    }

    /// A byte, which has to be one of it.
    pub fn byte(&self, offset: u64) -> u8 {
        (self.words[(offset / 8) as usize].load(Relaxed) >> (8 * (offset % 8))) as u8
    }
}

/// Words that take no memory before something is written to them; none where
/// the system does not give that many.
fn zeroed(count: usize) -> Option<Box<[AtomicU64]>> {
    if count == 0 {
        return Some(Box::new([]));
    }
    let layout = Layout::array::<AtomicU64>(count).ok()?;
    // SAFETY: the layout is not empty.
    let first = unsafe { alloc_zeroed(layout) }.cast::<AtomicU64>();
    if first.is_null() {
        return None;
    }
    // SAFETY: these are `count` words of zeros, allocated as a box of them is.
    Some(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(first, count)) })
}
