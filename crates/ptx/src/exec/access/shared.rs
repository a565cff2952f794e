//! Loads and stores of 32-bit words of shared memory without a pointer per
//! lane. Loads gather; where all lanes access one word, or consecutive words in
//! the order of the lanes, one vector access does. Anything else is left to
//! `access`.
//!
//! Shared memory belongs to one block, which one thread runs; plain vector
//! accesses are enough.

use crate::exec::image::element::Element;
use crate::exec::image::{From, MemoryOp, Transfer};
use crate::names::Space;

#[cfg(target_arch = "x86_64")]
pub use vector::{load, store};

/// Whether an operation on memory may be one of these accesses.
pub fn applies(info: &MemoryOp) -> bool {
    let words = match &info.transfer {
        Transfer::Load { element, .. } => *element == Element::Word,
        Transfer::Store { element, from } => *element == Element::Word && from.len() == 1,
        _ => false,
    };
    let shared = info.space == Some(Space::Shared) && !matches!(info.from, From::Double(_));
    words && shared && cfg!(target_arch = "x86_64")
}

#[cfg(not(target_arch = "x86_64"))]
pub use super::{load, store};

#[cfg(target_arch = "x86_64")]
mod vector {
    use super::{From, MemoryOp, Space, Transfer};
    use crate::exec::machine::Machine;
    use crate::exec::registers::Slot;
    use crate::exec::{access, lanes};
    use std::arch::x86_64::*;

    /// The layout of the lanes of an access.
    enum Pattern {
        /// All lanes access the word at this byte.
        One(u32),
        /// Lane `n` at this byte plus `4 n`.
        Consecutive(u32),
        Other,
    }

    /// The addresses of lanes `8 part` to `8 part + 7`.
    ///
    /// # Safety
    /// `at` is the offset of a register of 32 bits inside the file.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn addresses(m: &Machine, at: u32, offset: u32, part: usize) -> __m256i {
        // SAFETY: the caller's promise.
        let base = unsafe { _mm256_loadu_si256(m.registers.place(at + 32 * part as u32)) };
        _mm256_add_epi32(base, _mm256_set1_epi32(offset as i32))
    }

    /// A mask with all ones in the lanes of `exec`, of a part of 8 lanes.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn mask(exec: u32, part: usize) -> __m256i {
        let lanes = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        let bits = _mm256_set1_epi32((exec >> (8 * part)) as i32);
        _mm256_cmpeq_epi32(_mm256_and_si256(bits, lanes), lanes)
    }

    /// # Safety
    /// As for [`load`]: decoding gives registers inside the file.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn pattern(m: &Machine, info: &MemoryOp, exec: u32) -> Pattern {
        let From::Word(at) = info.from else {
            return Pattern::One(info.offset as u32);
        };
        let lane = exec.trailing_zeros() % 32;
        let offset = info.offset as u32;
        let first = m.registers.word(at, lane).wrapping_add(offset);
        let start = first.wrapping_sub(4 * lane);
        let (mut one, mut consecutive) = (-1, -1);
        for part in 0..4 {
            // SAFETY: decoding gives registers inside the file.
            let address = unsafe { addresses(m, at, offset, part) };
            let off = mask(!exec, part);
            let same = _mm256_cmpeq_epi32(address, _mm256_set1_epi32(first as i32));
            let step = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
            let from = _mm256_set1_epi32(start.wrapping_add(32 * part as u32) as i32);
            let next = _mm256_cmpeq_epi32(address, _mm256_add_epi32(from, step));
            one &= _mm256_movemask_epi8(_mm256_or_si256(same, off));
            consecutive &= _mm256_movemask_epi8(_mm256_or_si256(next, off));
        }
        match (one, consecutive) {
            (-1, _) => Pattern::One(first),
            (_, -1) => Pattern::Consecutive(start),
            _ => Pattern::Other,
        }
    }

    /// Whether `bytes` from `start` on are inside, at a word.
    #[inline(always)]
    fn inside(m: &Machine, info: &MemoryOp, start: u32, bytes: u64) -> bool {
        let (low, high) = info.region.within(Space::Shared, m.shared_len);
        let start = u64::from(start);
        start.is_multiple_of(4) && start >= low && start + bytes <= high
    }

    /// Loads for each lane of `exec` from its own address, where all of these are
    /// inside and aligned; else does nothing and says so.
    ///
    /// # Safety
    /// As for [`load`]: decoding gives registers inside the file.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn gather(m: &Machine, info: &MemoryOp, to: &[Slot], exec: u32) -> bool {
        let (From::Word(at), offset) = (info.from, info.offset as u32) else {
            return false;
        };
        let (low, high) = info.region.within(Space::Shared, m.shared_len);
        // Gathers take signed offsets.
        let last = high.checked_sub(u64::from(info.bytes));
        let Some(last) = last.filter(|last| (low..=i32::MAX as u64).contains(last)) else {
            return false;
        };
        let [low, room] = [low, last - low].map(|bytes| _mm256_set1_epi32(bytes as i32));
        let unaligned = _mm256_set1_epi32(info.bytes as i32 - 1);
        let mut good = -1;
        for part in 0..4 {
            // SAFETY: the caller's promise.
            let address = unsafe { addresses(m, at, offset, part) };
            let from = _mm256_sub_epi32(address, low);
            let inside = _mm256_cmpeq_epi32(_mm256_min_epu32(from, room), from);
            let rest = _mm256_and_si256(address, unaligned);
            let aligned = _mm256_cmpeq_epi32(rest, _mm256_setzero_si256());
            let off = mask(!exec, part);
            let fine = _mm256_or_si256(_mm256_and_si256(inside, aligned), off);
            good &= _mm256_movemask_epi8(fine);
        }
        if good != -1 {
            return false;
        }
        // The register of the addresses may be one of those that are loaded.
        // SAFETY: the caller's promise; the words of the lanes are inside.
        unsafe {
            let places = [0, 1, 2, 3].map(|part| addresses(m, at, offset, part));
            for (n, slot) in to.iter().enumerate() {
                let word = m.shared.as_ptr().cast::<u8>().add(4 * n).cast::<i32>();
                let to = m.registers.place::<u8>(slot.at);
                for (part, place) in places.into_iter().enumerate() {
                    let to = to.add(32 * part).cast::<__m256i>();
                    let old = _mm256_loadu_si256(to);
                    let lanes = mask(exec, part);
                    let new = _mm256_mask_i32gather_epi32::<1>(old, word, place, lanes);
                    _mm256_storeu_si256(to, new);
                }
            }
        }
        true
    }

    /// `ld.shared` of words.
    pub fn load(m: &mut Machine<'_>, info: &MemoryOp, exec: u32) {
        // SAFETY: decoding takes this form only where there are such vector
        // instructions.
        unsafe { get(m, info, exec) }
    }

    /// `st.shared` of words.
    pub fn store(m: &mut Machine<'_>, info: &MemoryOp, exec: u32) {
        // SAFETY: decoding takes this form only where there are such vector
        // instructions.
        unsafe { put(m, info, exec) }
    }

    /// # Safety
    /// As for [`load`]: decoding gives registers inside the file.
    #[target_feature(enable = "avx2,fma")]
    unsafe fn get(m: &mut Machine<'_>, info: &MemoryOp, exec: u32) {
        let Transfer::Load { to, .. } = &info.transfer else {
            return;
        };
        let registers = m.registers;
        // SAFETY: the accesses are inside, the register is of the file.
        unsafe {
            let shared = m.shared.as_ptr().cast::<u8>();
            // What is not yet complete is tracked word by word.
            if !m.complete {
                return access::load_word(m, info, to, exec);
            }
            match pattern(m, info, exec) {
                Pattern::One(at)
                    if at.is_multiple_of(info.bytes)
                        && inside(m, info, at, u64::from(info.bytes)) =>
                {
                    for (n, slot) in to.iter().enumerate() {
                        let value = shared.add(at as usize + 4 * n).cast::<u32>().read();
                        lanes::keep(registers.place(slot.at), exec, &[value; 32]);
                    }
                }
                Pattern::Consecutive(at) if to.len() == 1 && inside(m, info, at, 128) => {
                    let values = shared.add(at as usize).cast::<[u32; 32]>();
                    lanes::keep(registers.place(to[0].at), exec, &*values);
                }
                _ if gather(m, info, to, exec) => {}
                _ => return access::load_word(m, info, to, exec),
            }
        }
        m.shared_accesses += 1;
    }

    /// # Safety
    /// As for [`store`]: decoding gives registers inside the file.
    #[target_feature(enable = "avx2,fma")]
    unsafe fn put(m: &mut Machine<'_>, info: &MemoryOp, exec: u32) {
        let Transfer::Store { from, .. } = &info.transfer else {
            return;
        };
        // SAFETY: as for `get`.
        unsafe {
            if !m.complete {
                return access::store_word(m, info, from, exec);
            }
            match pattern(m, info, exec) {
                Pattern::Consecutive(at) if inside(m, info, at, 128) => {
                    let shared = m.shared.as_mut_ptr().cast::<u8>().add(at as usize);
                    let from = m.registers.place::<u8>(from[0].at);
                    for part in 0..4 {
                        let values = _mm256_loadu_si256(from.add(32 * part).cast());
                        let to = shared.add(32 * part).cast::<i32>();
                        _mm256_maskstore_epi32(to, mask(exec, part), values);
                    }
                }
                _ => return access::store_word(m, info, from, exec),
            }
        }
        m.shared_accesses += 1;
    }
}
