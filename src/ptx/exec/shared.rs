//! Loads and stores of 32-bit words of shared memory where the lanes access
//! one place, or consecutive words in the order of the lanes: without a
//! pointer per lane. Anything else is left to `access`.
//!
//! Shared memory belongs to one block, which one thread runs; plain vector
//! accesses are enough.

use super::image::{From, Handler, MemoryOp, Op, Width};
use crate::ptx::names::{Space, Type};

/// The handler for an operation on memory that these accesses may be found
/// in; none where there is no point.
pub(super) fn handler(info: &MemoryOp, ty: Type) -> Option<Handler> {
    let words = ty.bits() == 32 && info.data[0].width == Width::Word;
    let words = words && (!info.store || info.data.len() == 1);
    let shared = info.space == Some(Space::Shared) && !matches!(info.from, From::Double(_));
    match words && shared {
        true => vector::handler(info.store),
        false => None,
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod vector {
    pub fn handler(_store: bool) -> Option<super::Handler> {
        None
    }
}

#[cfg(target_arch = "x86_64")]
mod vector {
    use super::{From, Handler, MemoryOp, Op, Space};
    use crate::ptx::exec::machine::Machine;
    use crate::ptx::exec::{access, lanes};
    use std::arch::x86_64::*;

    pub fn handler(store: bool) -> Option<Handler> {
        Some(if store { put } else { get })
    }

    /// How the lanes of an access lie.
    enum Pattern {
        /// All at this byte.
        One(u32),
        /// Lane `n` at this byte plus `4 n`.
        Consecutive(u32),
        Other,
    }

    /// All ones in the lanes of `exec` of a part of 8.
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn mask(exec: u32, part: usize) -> __m256i {
        let lanes = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
        let bits = _mm256_set1_epi32((exec >> (8 * part)) as i32);
        _mm256_cmpeq_epi32(_mm256_and_si256(bits, lanes), lanes)
    }

    #[inline]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn pattern(m: &Machine, info: &MemoryOp, exec: u32) -> Pattern {
        let From::Word(at) = info.from else {
            return Pattern::One(info.offset as u32);
        };
        let lane = exec.trailing_zeros() % 32;
        let offset = info.offset as u32;
        let first = m.word(at, lane).wrapping_add(offset);
        let start = first.wrapping_sub(4 * lane);
        let (mut one, mut consecutive) = (-1, -1);
        for part in 0..4 {
            // SAFETY: decoding gives registers inside the file.
            let base = unsafe { _mm256_loadu_si256(m.regs.add(at as usize + 32 * part).cast()) };
            let address = _mm256_add_epi32(base, _mm256_set1_epi32(offset as i32));
            let off = _mm256_xor_si256(mask(exec, part), _mm256_set1_epi32(-1));
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

    #[target_feature(enable = "avx2,fma")]
    unsafe fn get(m: &mut Machine<'_>, op: &Op, exec: u32) {
        let image = m.image;
        let info = &image.memory[op.extra as usize];
        let (count, file) = (info.data.len(), m.regs);
        let register = |n: usize| {
            file.wrapping_add(info.data[n].at as usize)
                .cast::<[u32; 32]>()
        };
        // SAFETY: the accesses are inside, the register is of the file.
        unsafe {
            let shared = m.shared.as_ptr().cast::<u8>();
            // What is not yet complete is tracked word by word.
            let pattern = if m.complete {
                pattern(m, info, exec)
            } else {
                Pattern::Other
            };
            match pattern {
                Pattern::One(at)
                    if at.is_multiple_of(info.bytes)
                        && inside(m, info, at, u64::from(info.bytes)) =>
                {
                    for n in 0..count {
                        let value = shared.add(at as usize + 4 * n).cast::<u32>().read();
                        lanes::keep(register(n), exec, &[value; 32]);
                    }
                }
                Pattern::Consecutive(at) if count == 1 && inside(m, info, at, 128) => {
                    let values = shared.add(at as usize).cast::<[u32; 32]>();
                    lanes::keep(register(0), exec, &*values);
                }
                _ => return access::load_word(m, op, exec),
            }
        }
        m.shared_accesses += 1;
    }

    #[target_feature(enable = "avx2,fma")]
    unsafe fn put(m: &mut Machine<'_>, op: &Op, exec: u32) {
        let image = m.image;
        let info = &image.memory[op.extra as usize];
        // SAFETY: as for `get`.
        unsafe {
            let pattern = if m.complete {
                pattern(m, info, exec)
            } else {
                Pattern::Other
            };
            match pattern {
                Pattern::Consecutive(at) if inside(m, info, at, 128) => {
                    let shared = m.shared.as_mut_ptr().cast::<u8>().add(at as usize);
                    let from = m.regs.add(info.data[0].at as usize);
                    for part in 0..4 {
                        let values = _mm256_loadu_si256(from.add(32 * part).cast());
                        let to = shared.add(32 * part).cast::<i32>();
                        _mm256_maskstore_epi32(to, mask(exec, part), values);
                    }
                }
                _ => return access::store_word(m, op, exec),
            }
        }
        m.shared_accesses += 1;
    }
}
