//! Loads, stores and atomics.

use super::image::{Handler, Op, Width};
use super::lanes;
use super::machine::Machine;
use crate::ptx::names::{Space, Type};
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
unsafe fn blend<R: Unit>(to: *mut [R; 32], exec: u32, values: &[R; 32]) {
    // SAFETY: the caller gives a register of the file.
    let to = unsafe { &mut *to };
    for lane in (0..32).filter(|lane| exec >> lane & 1 != 0) {
        to[lane] = values[lane];
    }
}

/// Loads elements of `S` to registers of `R`.
#[inline(always)]
unsafe fn load<S: Unit, R: Unit, const SIGNED: bool>(
    m: &mut Machine,
    op: &Op,
    exec: u32,
    keep: impl Fn(*mut [R; 32], &[R; 32]),
) {
    let image = m.image;
    let info = &image.memory[op.extra as usize];
    let pointers = m.resolve(info, exec);
    for (at, &slot) in info.data.iter().enumerate() {
        let skip = at * size_of::<S>();
        let value = |lane: usize| {
            // SAFETY: `resolve` gives aligned pointers to all bytes of the
            // access.
            let value = unsafe { S::get(pointers[lane].wrapping_add(skip)) };
            R::cut(if SIGNED {
                value.sign_extend()
            } else {
                value.zero_extend()
            })
        };
        let values: [R; 32] = std::array::from_fn(value);
        keep(m.regs.wrapping_add(slot.at as usize).cast(), &values);
    }
}

unsafe fn load_any<S: Unit, R: Unit, const SIGNED: bool>(m: &mut Machine, op: &Op, exec: u32) {
    // SAFETY: decoding gives registers inside the file of this width.
    unsafe { load::<S, R, SIGNED>(m, op, exec, |to, values| blend(to, exec, values)) }
}

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
unsafe fn load_fast<S: Unit, R: Unit, const SIGNED: bool>(m: &mut Machine, op: &Op, exec: u32) {
    // SAFETY: as above.
    unsafe { load::<S, R, SIGNED>(m, op, exec, |to, values| lanes::keep(to, exec, values)) }
}

/// Stores registers of `R` as elements of `S`.
#[inline(always)]
unsafe fn store<S: Unit, R: Unit>(m: &mut Machine, op: &Op, exec: u32) {
    let image = m.image;
    let info = &image.memory[op.extra as usize];
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

unsafe fn store_any<S: Unit, R: Unit>(m: &mut Machine, op: &Op, exec: u32) {
    // SAFETY: the caller's promise.
    unsafe { store::<S, R>(m, op, exec) }
}

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
unsafe fn store_fast<S: Unit, R: Unit>(m: &mut Machine, op: &Op, exec: u32) {
    // SAFETY: the caller's promise.
    unsafe { store::<S, R>(m, op, exec) }
}

/// A load of one word, for `shared`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn load_word(m: &mut Machine, op: &Op, exec: u32) {
    // SAFETY: the caller's promise.
    unsafe { load_fast::<u32, u32, false>(m, op, exec) }
}

/// A store of one word, for `shared`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn store_word(m: &mut Machine, op: &Op, exec: u32) {
    // SAFETY: the caller's promise.
    unsafe { store_fast::<u32, u32>(m, op, exec) }
}

/// The handler of a load of elements of `ty` to registers of `width`.
pub(super) fn load_of(ty: Type, width: Width, fast: bool) -> Option<Handler> {
    macro_rules! of {
        ($s:ty, $r:ty, $signed:literal) => {
            match fast {
                true => load_fast::<$s, $r, $signed> as Handler,
                false => load_any::<$s, $r, $signed>,
            }
        };
    }
    let signed = ty.is_signed();
    Some(match (ty.bits(), width, signed) {
        (8, Width::Half, false) => of!(u8, u16, false),
        (8, Width::Half, true) => of!(u8, u16, true),
        (8, Width::Word, false) => of!(u8, u32, false),
        (8, Width::Word, true) => of!(u8, u32, true),
        (8, Width::Double, false) => of!(u8, u64, false),
        (8, Width::Double, true) => of!(u8, u64, true),
        (16, Width::Half, _) => of!(u16, u16, false),
        (16, Width::Word, false) => of!(u16, u32, false),
        (16, Width::Word, true) => of!(u16, u32, true),
        (16, Width::Double, false) => of!(u16, u64, false),
        (16, Width::Double, true) => of!(u16, u64, true),
        (32, Width::Word, _) => of!(u32, u32, false),
        (32, Width::Double, false) => of!(u32, u64, false),
        (32, Width::Double, true) => of!(u32, u64, true),
        (64, Width::Double, _) => of!(u64, u64, false),
        _ => return None,
    })
}

/// The handler of a store of elements of `ty` from registers of `width`.
pub(super) fn store_of(ty: Type, width: Width, fast: bool) -> Option<Handler> {
    macro_rules! of {
        ($s:ty, $r:ty) => {
            match fast {
                true => store_fast::<$s, $r> as Handler,
                false => store_any::<$s, $r>,
            }
        };
    }
    Some(match (ty.bits(), width) {
        (8, Width::Half) => of!(u8, u16),
        (8, Width::Word) => of!(u8, u32),
        (8, Width::Double) => of!(u8, u64),
        (16, Width::Half) => of!(u16, u16),
        (16, Width::Word) => of!(u16, u32),
        (16, Width::Double) => of!(u16, u64),
        (32, Width::Word) => of!(u32, u32),
        (32, Width::Double) => of!(u32, u64),
        (64, Width::Double) => of!(u64, u64),
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
        m.write(slot, exec, &[value; 32]);
    }
}

/// A load of a parameter that is not aligned, or reads beyond it: a finding,
/// and zeros.
pub(super) unsafe fn bad_parameter(m: &mut Machine, op: &Op, exec: u32) {
    let image = m.image;
    let info = &image.memory[op.extra as usize];
    m.bad_parameter(info, exec.trailing_zeros());
    for &slot in &info.data {
        m.write(slot, exec, &[0; 32]);
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
    // The first register is the result; the machine's scratch for none.
    let source = |n: usize| info.data.get(n).map_or([0; 32], |&s| m.read(s));
    let (first, second) = (source(1), source(2));
    let mut results = [0; 32];
    let parallel = m.common.parallel && !matches!(info.space, Some(Space::Shared));
    for lane in (0..32).filter(|lane| exec >> lane & 1 != 0) {
        let new = |old| update(&[old, first[lane], second[lane], 0])[0];
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
        for (lane, value) in values.iter_mut().enumerate() {
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
                        true => ((*value >> (16 * half)) as u16).put(place),
                        false => *value |= u64::from(u16::get(place)) << (16 * half),
                    }
                }
            }
        }
        if !info.store {
            m.write(slot, exec, &values);
        }
    }
}
