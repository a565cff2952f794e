//! Loads, stores and atomics.
//!
//! `resolve` makes pointers of addresses, with every check; `remote` makes
//! those of other blocks' shared memory. `shared` has the common accesses to
//! shared memory again, for all lanes at a time, and `pair` those of 128 bits.

pub(super) mod pair;
mod remote;
mod resolve;
pub(super) mod shared;

use super::image::element::Element;
use super::image::{MemoryOp, Transfer, Update};
use super::lanes;
use super::machine::Machine;
use super::registers::Slot;
use crate::names::Space;
use crate::scalar::sources;
use resolve::Pointers;
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
///
/// # Safety
/// `to` is a register of the file, and `values` are not in that register.
#[inline(always)]
unsafe fn blend<R: Unit>(to: *mut [R; 32], exec: u32, values: &[R; 32]) {
    // SAFETY: the caller gives a register of the file that nothing else refers to.
    let to = unsafe { &mut *to };
    for lane in (0..32).filter(|lane| exec >> lane & 1 != 0) {
        to[lane] = values[lane];
    }
}

/// Loads elements of `S` to registers of `R`.
///
/// # Safety
/// `to` are registers of `R` inside the file.
#[inline(always)]
unsafe fn load_elements<S: Unit, R: Unit, const SIGNED: bool>(
    m: &mut Machine,
    info: &MemoryOp,
    to: &[Slot],
    exec: u32,
    keep: impl Fn(*mut [R; 32], &[R; 32]),
) {
    let pointers = m.resolve(info, exec);
    for (at, &slot) in to.iter().enumerate() {
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
        keep(m.registers.place(slot.at), &values);
    }
}

/// # Safety
/// As for [`load_elements`].
unsafe fn load_any<S: Unit, R: Unit, const SIGNED: bool>(
    m: &mut Machine,
    info: &MemoryOp,
    to: &[Slot],
    exec: u32,
) {
    // SAFETY: the caller gives registers of the file.
    unsafe {
        load_elements::<S, R, SIGNED>(m, info, to, exec, |to, values| blend(to, exec, values))
    }
}

/// # Safety
/// As for [`load_elements`].
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
unsafe fn load_fast<S: Unit, R: Unit, const SIGNED: bool>(
    m: &mut Machine,
    info: &MemoryOp,
    to: &[Slot],
    exec: u32,
) {
    // SAFETY: the caller gives registers of the file.
    unsafe {
        load_elements::<S, R, SIGNED>(m, info, to, exec, |to, values| {
            lanes::keep(to, exec, values)
        })
    }
}

/// Stores registers of `R` as elements of `S`.
///
/// # Safety
/// `from` are registers of `R` inside the file.
#[inline(always)]
unsafe fn store_elements<S: Unit, R: Unit>(
    m: &mut Machine,
    info: &MemoryOp,
    from: &[Slot],
    exec: u32,
) {
    let pointers = m.resolve(info, exec);
    for (at, &slot) in from.iter().enumerate() {
        let skip = at * size_of::<S>();
        // SAFETY: as for `load_elements`; registers are inside the file.
        unsafe {
            let values = &*m.registers.place::<[R; 32]>(slot.at);
            for lane in 0..32 {
                S::cut(values[lane].zero_extend()).put(pointers[lane].wrapping_add(skip));
            }
        }
    }
}

/// # Safety
/// As for [`store_elements`].
unsafe fn store_any<S: Unit, R: Unit>(m: &mut Machine, info: &MemoryOp, from: &[Slot], exec: u32) {
    // SAFETY: the caller's promise.
    unsafe { store_elements::<S, R>(m, info, from, exec) }
}

/// # Safety
/// As for [`store_elements`].
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
unsafe fn store_fast<S: Unit, R: Unit>(m: &mut Machine, info: &MemoryOp, from: &[Slot], exec: u32) {
    // SAFETY: the caller's promise.
    unsafe { store_elements::<S, R>(m, info, from, exec) }
}

/// A byte that others may write at the same time.
///
/// # Safety
/// As for [`Unit::get`].
pub(super) unsafe fn get_byte(from: *mut u8) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { u8::get(from) }
}

/// Writes a byte that others may read at the same time.
///
/// # Safety
/// As for [`Unit::get`].
pub(super) unsafe fn put_byte(to: *mut u8, value: u8) {
    // SAFETY: the caller's promise.
    unsafe { value.put(to) }
}

/// `ld`
pub(super) fn load(m: &mut Machine, info: &MemoryOp, exec: u32) {
    use Element::*;
    let Transfer::Load { element, to } = &info.transfer else {
        return;
    };
    let vector = m.image.vector;
    macro_rules! of {
        ($s:ty, $r:ty, $signed:literal) => {
            // SAFETY: the registers are of the element's width; the image is
            // made for vector instructions only where there are some.
            unsafe {
                match vector {
                    true => load_fast::<$s, $r, $signed>(m, info, to, exec),
                    false => load_any::<$s, $r, $signed>(m, info, to, exec),
                }
            }
        };
    }
    match element {
        U8InHalf => of!(u8, u16, false),
        S8InHalf => of!(u8, u16, true),
        U8InWord => of!(u8, u32, false),
        S8InWord => of!(u8, u32, true),
        U8InDouble => of!(u8, u64, false),
        S8InDouble => of!(u8, u64, true),
        Half => of!(u16, u16, false),
        U16InWord => of!(u16, u32, false),
        S16InWord => of!(u16, u32, true),
        U16InDouble => of!(u16, u64, false),
        S16InDouble => of!(u16, u64, true),
        Word => of!(u32, u32, false),
        U32InDouble => of!(u32, u64, false),
        S32InDouble => of!(u32, u64, true),
        Double => of!(u64, u64, false),
    }
}

/// `st`
pub(super) fn store(m: &mut Machine, info: &MemoryOp, exec: u32) {
    use Element::*;
    let Transfer::Store { element, from } = &info.transfer else {
        return;
    };
    let vector = m.image.vector;
    macro_rules! of {
        ($s:ty, $r:ty) => {
            // SAFETY: as for `load`.
            unsafe {
                match vector {
                    true => store_fast::<$s, $r>(m, info, from, exec),
                    false => store_any::<$s, $r>(m, info, from, exec),
                }
            }
        };
    }
    match element {
        U8InHalf | S8InHalf => of!(u8, u16),
        U8InWord | S8InWord => of!(u8, u32),
        U8InDouble | S8InDouble => of!(u8, u64),
        Half => of!(u16, u16),
        U16InWord | S16InWord => of!(u16, u32),
        U16InDouble | S16InDouble => of!(u16, u64),
        Word => of!(u32, u32),
        U32InDouble | S32InDouble => of!(u32, u64),
        Double => of!(u64, u64),
    }
}

/// A load of one word, for `shared`.
///
/// # Safety
/// `to` are registers of 32 bits inside the file.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn load_word(m: &mut Machine, info: &MemoryOp, to: &[Slot], exec: u32) {
    // SAFETY: the caller's promise.
    unsafe { load_fast::<u32, u32, false>(m, info, to, exec) }
}

/// A store of one word, for `shared`.
///
/// # Safety
/// `from` are registers of 32 bits inside the file.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn store_word(m: &mut Machine, info: &MemoryOp, from: &[Slot], exec: u32) {
    // SAFETY: the caller's promise.
    unsafe { store_fast::<u32, u32>(m, info, from, exec) }
}

/// Loads a parameter of the kernel, the same for all lanes.
pub(super) fn load_parameter(m: &mut Machine, info: &MemoryOp, exec: u32) {
    let Transfer::Load { element, to } = &info.transfer else {
        return;
    };
    let (params, size) = (m.common.params, u64::from(element.bytes()));
    for (at, &slot) in (0..).zip(to) {
        let value = params.element(info.offset as u64 + at * size, size);
        let value = element.extend(value);
        m.registers.write(slot, exec, &[value; 32]);
    }
}

/// A load of a parameter that is not aligned, or reads beyond it: a finding,
/// and zeros.
pub(super) fn bad_parameter(m: &mut Machine, info: &MemoryOp, exec: u32) {
    m.bad_parameter(info, exec.trailing_zeros());
    if let Transfer::Load { to, .. } = &info.transfer {
        for &slot in to {
            m.registers.write(slot, exec, &[0; 32]);
        }
    }
}

/// An atomic operation on a unit of memory; returns the old value.
///
/// # Safety
/// As for [`Unit::get`], of an aligned pointer.
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

/// `atom` and `red`: lane after lane, of vectors element after element.
pub(super) fn atomic(m: &mut Machine, info: &MemoryOp, exec: u32) {
    let Transfer::Atomic(updates) = &info.transfer else {
        return;
    };
    let mut pointers = m.resolve(info, exec);
    let parallel = m.common.parallel && !matches!(info.space, Some(Space::Shared));
    let bytes = info.bytes / updates.len() as u32;
    for element in updates {
        update(m, element, &pointers, (bytes, parallel), exec);
        pointers = pointers.map(|p| p.wrapping_add(bytes as usize));
    }
}

/// An atomic operation on an element of this many bytes.
fn update(
    m: &Machine,
    info: &Update,
    pointers: &Pointers,
    (bytes, parallel): (u32, bool),
    exec: u32,
) {
    let source = |n: usize| {
        let slot = info.sources.get(n);
        slot.map_or([0; 32], |&s| m.registers.read(s))
    };
    let (first, second) = (source(0), source(1));
    let mut results = [0; 32];
    for lane in (0..32).filter(|lane| exec >> lane & 1 != 0) {
        let new = |old| (info.compute)(&sources([old, first[lane], second[lane]]))[0];
        let pointer = pointers[lane];
        // SAFETY: `resolve` gives aligned pointers.
        results[lane] = unsafe {
            match bytes {
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
    if let Some(result) = info.result {
        m.registers.write(result, exec, &results);
    }
}

/// The lanes of `exec` that an asynchronous copy reads for: of zero bytes
/// nothing is read.
pub(super) fn reading(m: &Machine, size: Option<Slot>, exec: u32) -> u32 {
    let Some(size) = size else {
        return exec;
    };
    let sizes = m.registers.read(size);
    let reading = (0..32).filter(|&l| sizes[l] != 0);
    exec & reading.fold(0, |mask, l| mask | 1 << l)
}

/// `cp.async`: copies at once; its groups are then always complete.
pub(super) fn copy(m: &mut Machine, to: &MemoryOp, exec: u32) {
    let Transfer::CopyTarget { source, size } = to.transfer else {
        return;
    };
    let from = &m.image.memory[source as usize];
    let sources = m.resolve(from, reading(m, size, exec));
    let targets = m.resolve(to, exec);
    let sizes = size.map(|s| m.registers.read(s));
    for lane in (0..32).filter(|lane| exec >> lane & 1 != 0) {
        let wanted = sizes.map_or(to.bytes, |s| (s[lane] as u32).min(to.bytes));
        for byte in 0..to.bytes as usize {
            // SAFETY: `resolve` gives pointers to all bytes of both sides.
            unsafe {
                let value = if byte < wanted as usize {
                    u8::get(sources[lane].wrapping_add(byte))
                } else {
                    0
                };
                value.put(targets[lane].wrapping_add(byte));
            }
        }
    }
}

/// `ldmatrix` and `stmatrix`: eight rows of 16 bytes per matrix, the address of
/// row `r` of matrix `n` in lane `8 n + r`. Lane `l` has elements `2 (l % 4)`
/// and the next of row `l / 4`, or with `.trans` of that column.
pub(super) fn matrix(m: &mut Machine, info: &MemoryOp, exec: u32) {
    let (registers, transposed, stores) = match &info.transfer {
        Transfer::LoadMatrix { to, transposed } => (to, *transposed, false),
        Transfer::StoreMatrix { from, transposed } => (from, *transposed, true),
        _ => return,
    };
    let pointers = m.resolve(info, info.transfer.addressed(exec));
    for (at, &slot) in registers.iter().enumerate() {
        let mut values = if stores {
            m.registers.read(slot)
        } else {
            [0; 32]
        };
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
                    if stores {
                        ((*value >> (16 * half)) as u16).put(place)
                    } else {
                        *value |= u64::from(u16::get(place)) << (16 * half)
                    }
                }
            }
        }
        if !stores {
            m.registers.write(slot, exec, &values);
        }
    }
}
