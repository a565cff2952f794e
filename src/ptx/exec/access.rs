//! Loads, stores and atomics.

use super::image::{Handler, Op, Slot, Width};
use super::machine::Machine;
use crate::ptx::names::Type;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// A size of access.
pub(super) trait Unit: Copy {
    /// # Safety
    /// The pointer is aligned and what it points to lives; others may write
    /// there at the same time, with accesses of their own.
    unsafe fn get(from: *mut u8) -> Self;
    /// # Safety
    /// As for `get`.
    unsafe fn put(self, to: *mut u8);
    fn cut(value: u64) -> Self;
    fn zero_extend(self) -> u64;
    fn sign_extend(self) -> u64;
}

macro_rules! unit {
    ($unsigned:ty, $signed:ty, $atomic:ty) => {
        impl Unit for $unsigned {
            #[inline(always)]
            unsafe fn get(from: *mut u8) -> Self {
                // SAFETY: the caller's promise.
                unsafe { <$atomic>::from_ptr(from.cast()).load(Relaxed) }
            }
            #[inline(always)]
            unsafe fn put(self, to: *mut u8) {
                // SAFETY: the caller's promise.
                unsafe { <$atomic>::from_ptr(to.cast()).store(self, Relaxed) }
            }
            #[inline(always)]
            fn cut(value: u64) -> Self {
                value as $unsigned
            }
            #[inline(always)]
            fn zero_extend(self) -> u64 {
                u64::from(self)
            }
            #[inline(always)]
            fn sign_extend(self) -> u64 {
                self as $signed as i64 as u64
            }
        }
    };
}
unit!(u8, i8, AtomicU8);
unit!(u16, i16, AtomicU16);
unit!(u32, i32, AtomicU32);
unit!(u64, i64, AtomicU64);

/// Writes the lanes of `exec` of a register.
#[inline(always)]
unsafe fn blend<R: Unit>(m: &mut Machine, slot: Slot, exec: u32, values: &[R; 32]) {
    // SAFETY: decoding gives registers inside the file of this width.
    unsafe {
        let to = &mut *m.regs.add(slot.at as usize).cast::<[R; 32]>();
        if exec == u32::MAX {
            *to = *values;
            return;
        }
        for lane in 0..32 {
            to[lane] = if exec >> lane & 1 != 0 {
                values[lane]
            } else {
                to[lane]
            };
        }
    }
}

/// Loads elements of `S` to registers of `R`.
unsafe fn load<S: Unit, R: Unit, const SIGNED: bool>(m: &mut Machine, op: &Op, exec: u32) {
    let info = &m.image.memory[op.extra as usize];
    let pointers = m.resolve(info, exec);
    for (at, &slot) in info.data.iter().enumerate() {
        let skip = at * size_of::<S>();
        // SAFETY: `resolve` gives aligned pointers to all bytes of the access.
        unsafe {
            let value = |lane: usize| {
                let value = S::get(pointers[lane].wrapping_add(skip));
                R::cut(if SIGNED {
                    value.sign_extend()
                } else {
                    value.zero_extend()
                })
            };
            let values: [R; 32] = std::array::from_fn(value);
            blend(m, slot, exec, &values);
        }
    }
}

/// Stores registers of `R` as elements of `S`.
unsafe fn store<S: Unit, R: Unit>(m: &mut Machine, op: &Op, exec: u32) {
    let info = &m.image.memory[op.extra as usize];
    let pointers = m.resolve(info, exec);
    for (at, &slot) in info.data.iter().enumerate() {
        let skip = at * size_of::<S>();
        // SAFETY: as for `load`; registers are inside the file.
        unsafe {
            let values = &*m.regs.add(slot.at as usize).cast::<[R; 32]>();
            for lane in 0..32 {
                S::cut(values[lane].zero_extend()).put(pointers[lane].wrapping_add(skip));
            }
        }
    }
}

/// The handler of a load of elements of `ty` to registers of `width`.
pub(super) fn load_of(ty: Type, width: Width) -> Option<Handler> {
    let signed = ty.is_signed();
    Some(match (ty.bits(), width, signed) {
        (8, Width::Half, false) => load::<u8, u16, false>,
        (8, Width::Half, true) => load::<u8, u16, true>,
        (8, Width::Word, false) => load::<u8, u32, false>,
        (8, Width::Word, true) => load::<u8, u32, true>,
        (8, Width::Double, false) => load::<u8, u64, false>,
        (8, Width::Double, true) => load::<u8, u64, true>,
        (16, Width::Half, _) => load::<u16, u16, false>,
        (16, Width::Word, false) => load::<u16, u32, false>,
        (16, Width::Word, true) => load::<u16, u32, true>,
        (16, Width::Double, false) => load::<u16, u64, false>,
        (16, Width::Double, true) => load::<u16, u64, true>,
        (32, Width::Word, _) => load::<u32, u32, false>,
        (32, Width::Double, false) => load::<u32, u64, false>,
        (32, Width::Double, true) => load::<u32, u64, true>,
        (64, Width::Double, _) => load::<u64, u64, false>,
        _ => return None,
    })
}

/// The handler of a store of elements of `ty` from registers of `width`.
pub(super) fn store_of(ty: Type, width: Width) -> Option<Handler> {
    Some(match (ty.bits(), width) {
        (8, Width::Half) => store::<u8, u16>,
        (8, Width::Word) => store::<u8, u32>,
        (8, Width::Double) => store::<u8, u64>,
        (16, Width::Half) => store::<u16, u16>,
        (16, Width::Word) => store::<u16, u32>,
        (16, Width::Double) => store::<u16, u64>,
        (32, Width::Word) => store::<u32, u32>,
        (32, Width::Double) => store::<u32, u64>,
        (64, Width::Double) => store::<u64, u64>,
        _ => return None,
    })
}

/// Loads a parameter of the kernel, the same for all lanes.
pub(super) unsafe fn load_parameter(m: &mut Machine, op: &Op, exec: u32) {
    let info = &m.image.memory[op.extra as usize];
    let params = m.common.params;
    for (at, &slot) in info.data.iter().enumerate() {
        let start = info.offset as usize + at * info.element as usize;
        let mut bytes = [0; 8];
        bytes[..info.element as usize].copy_from_slice(&params[start..][..info.element as usize]);
        let value = u64::from_le_bytes(bytes);
        // Signed types are extended, which the element's sign says.
        let value = match info.update.as_ref() {
            Some(extend) => extend(&[value, 0, 0, 0])[0],
            None => value,
        };
        // SAFETY: registers are inside the file.
        unsafe {
            match slot.width {
                Width::Half => blend(m, slot, exec, &[value as u16; 32]),
                Width::Double => blend(m, slot, exec, &[value; 32]),
                _ => blend(m, slot, exec, &[value as u32; 32]),
            }
        }
    }
}

/// One atomic operation on a unit of memory: the old value.
unsafe fn exchange<S: Unit>(
    pointer: *mut u8,
    parallel: bool,
    update: impl Fn(u64) -> u64,
    swap: impl Fn(*mut u8, S, S) -> Result<S, S>,
) -> u64 {
    // SAFETY: the caller's promise of an aligned pointer.
    unsafe {
        let mut old = S::get(pointer);
        if !parallel {
            S::cut(update(old.zero_extend())).put(pointer);
            return old.zero_extend();
        }
        loop {
            match swap(pointer, old, S::cut(update(old.zero_extend()))) {
                Ok(_) => return old.zero_extend(),
                Err(found) => old = found,
            }
        }
    }
}

/// `atom` and `red`: lane after lane.
pub(super) unsafe fn atomic(m: &mut Machine, op: &Op, exec: u32) {
    let info = &m.image.memory[op.extra as usize];
    let Some(update) = &info.update else {
        return;
    };
    let pointers = m.resolve(info, exec);
    // The first register is the result, where there is one.
    let count = info.data.len();
    let sources: Vec<[u64; 32]> = info.data[1.min(count)..]
        .iter()
        .map(|&s| m.read(s))
        .collect();
    let mut results = [0; 32];
    let parallel = m.common.parallel;
    for lane in (0..32).filter(|lane| exec >> lane & 1 != 0) {
        let operand = |n: usize| sources.get(n).map_or(0, |s| s[lane]);
        let new = |old| update(&[old, operand(0), operand(1), 0])[0];
        let pointer = pointers[lane];
        // SAFETY: `resolve` gives aligned pointers.
        results[lane] = unsafe {
            match info.element {
                2 => exchange::<u16>(pointer, parallel, new, |p, old, new| {
                    AtomicU16::from_ptr(p.cast()).compare_exchange(old, new, Relaxed, Relaxed)
                }),
                4 => exchange::<u32>(pointer, parallel, new, |p, old, new| {
                    AtomicU32::from_ptr(p.cast()).compare_exchange(old, new, Relaxed, Relaxed)
                }),
                _ => exchange::<u64>(pointer, parallel, new, |p, old, new| {
                    AtomicU64::from_ptr(p.cast()).compare_exchange(old, new, Relaxed, Relaxed)
                }),
            }
        };
    }
    if op.d != 0 {
        m.write(info.data[0], exec, &results);
    }
}

/// `cp.async`: copies at once; its groups are then always complete.
pub(super) unsafe fn copy(m: &mut Machine, op: &Op, exec: u32) {
    let to = &m.image.memory[op.extra as usize];
    let from = &m.image.memory[op.extra as usize + 1];
    let size = to.data.first().map(|&s| m.read(s));
    let sources = match &size {
        // Of zero bytes nothing is read.
        Some(size) => {
            let reading = (0..32)
                .filter(|&l| size[l] != 0)
                .fold(0, |mask, l| mask | 1 << l);
            m.resolve(from, exec & reading)
        }
        None => m.resolve(from, exec),
    };
    let targets = m.resolve(to, exec);
    for lane in (0..32).filter(|lane| exec >> lane & 1 != 0) {
        let wanted = size.map_or(to.bytes, |s| (s[lane] as u32).min(to.bytes));
        for byte in 0..to.bytes as usize {
            // SAFETY: `resolve` gives pointers to all bytes of both sides.
            unsafe {
                let value = match byte < wanted as usize {
                    true => u8::get(sources[lane].wrapping_add(byte)),
                    false => 0,
                };
                value.put(targets[lane].wrapping_add(byte));
            }
        }
    }
}

/// `ldmatrix` and `stmatrix`: eight rows of 16 bytes per matrix, the address
/// of row `r` of matrix `n` in lane `8 n + r`; lane `l` has elements `2 (l %
/// 4)` and the next of row `l / 4`, or with `.trans` of that column.
pub(super) unsafe fn matrix(m: &mut Machine, op: &Op, exec: u32) {
    let info = &m.image.memory[op.extra as usize];
    let (transposed, count) = (op.a != 0, info.data.len());
    let rows = u32::MAX >> (32 - 8 * count);
    let pointers = m.resolve(info, exec & rows);
    for (at, &slot) in info.data.iter().enumerate() {
        let mut values = if info.store { m.read(slot) } else { [0; 32] };
        for lane in 0..32 {
            for half in 0..2 {
                let (row, column) = (lane / 4, 2 * (lane % 4) + half);
                let (row, column) = if transposed {
                    (column, row)
                } else {
                    (row, column)
                };
                let place = pointers[8 * at + row].wrapping_add(2 * column);
                // SAFETY: `resolve` gives pointers to rows of 16 bytes.
                unsafe {
                    match info.store {
                        true => ((values[lane] >> (16 * half)) as u16).put(place),
                        false => values[lane] |= u64::from(u16::get(place)) << (16 * half),
                    }
                }
            }
        }
        if !info.store {
            m.write(slot, exec, &values);
        }
    }
}
