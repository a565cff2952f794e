//! The common instructions for 32 lanes at a time, with the machine's vector
//! instructions; everything else is computed by `generic` lane after lane.

use super::image::Generic;
use super::image::form::{
    Combine, Compare, CompareKernel, Map, MapKernel, Masks, Select, SelectKernel,
};
use super::registers::{Registers, Width};
use crate::ast::Instruction;
use crate::names::{Type, Word};
use crate::opcodes::Opcode;
use crate::scalar::SOURCES;
use std::ptr::NonNull;

/// Any instruction of the scalar definitions.
pub(super) fn generic(registers: Registers, info: &Generic, exec: u32) {
    let mut left = exec;
    while left != 0 {
        let lane = left.trailing_zeros();
        left &= left - 1;
        let mut x = [0; SOURCES];
        for (value, &slot) in x.iter_mut().zip(&info.sources) {
            *value = registers.read_lane(slot, lane);
        }
        let [result, second] = (info.compute)(&x);
        registers.write_lane(info.result, lane, result);
        if let Some(slot) = info.second {
            registers.write_lane(slot, lane, second);
        }
    }
}

/// Logic of predicates, a copy among it.
#[inline(always)]
pub(super) fn masks(registers: Registers, op: &Masks, exec: u32) {
    let [a, b] = op.sources.map(|mask| registers.lanes(mask));
    let term = |n: u32, a: u32, b: u32| if op.table >> n & 1 != 0 { a & b } else { 0 };
    let value = term(0, !a, !b) | term(1, !a, b) | term(2, a, !b) | term(3, a, b);
    registers.set_mask(op.to, exec, value);
}

/// Whether the kernels of this file can run here.
pub(super) fn available() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// The only value of a closure type without captures.
#[inline(always)]
fn conjured<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0) };
    // SAFETY: reading a value without bytes reads nothing; a value of the
    // type existed when the kernel was chosen.
    unsafe { NonNull::<F>::dangling().read() }
}

/// `d = f(a, b, c)` for all lanes, kept where `exec` has them.
///
/// # Safety
/// Registers of these types are inside the file, as decoding gives them.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
unsafe fn map<A: Copy, B: Copy, C: Copy, D: Copy + Default, F: Fn(A, B, C) -> D + Copy>(
    registers: Registers,
    op: &Map,
    exec: u32,
) {
    let f = conjured::<F>();
    let [a, b, c] = op.sources;
    // SAFETY: decoding gives registers of these widths inside the file.
    unsafe {
        let a = &*registers.place::<[A; 32]>(a);
        let b = &*registers.place::<[B; 32]>(b);
        let c = &*registers.place::<[C; 32]>(c);
        let mut out = [D::default(); 32];
        for lane in 0..32 {
            out[lane] = f(a[lane], b[lane], c[lane]);
        }
        keep(registers.place(op.to), exec, &out);
    }
}

/// Writes the lanes of `exec`.
///
/// # Safety
/// `to` is a register of the file.
#[inline]
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
pub(super) unsafe fn keep<D: Copy>(to: *mut [D; 32], exec: u32, out: &[D; 32]) {
    // SAFETY: the caller gives a register of the file.
    unsafe {
        if exec == u32::MAX {
            *to = *out;
            return;
        }
        #[cfg(target_arch = "x86_64")]
        blend(
            to.cast(),
            exec,
            std::ptr::from_ref(out).cast(),
            size_of::<D>(),
        );
        #[cfg(not(target_arch = "x86_64"))]
        for lane in (0..32).filter(|lane| exec >> lane & 1 != 0) {
            (*to)[lane] = out[lane];
        }
    }
}

/// Copies the lanes of `exec`, of 2, 4 or 8 bytes.
///
/// # Safety
/// `to` and `from` have 32 elements of `size` bytes.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,fma")]
unsafe fn blend(to: *mut u8, exec: u32, from: *const u8, size: usize) {
    use std::arch::x86_64::*;
    let per = 32 / size;
    for part in 0..size {
        let bits = (exec >> (part * per % 32)) as i64;
        // All ones where the bit of the lane is set.
        let mask = match size {
            8 => {
                let lanes = _mm256_setr_epi64x(1, 2, 4, 8);
                _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(bits), lanes), lanes)
            }
            4 => {
                let lanes = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
                _mm256_cmpeq_epi32(
                    _mm256_and_si256(_mm256_set1_epi32(bits as i32), lanes),
                    lanes,
                )
            }
            _ => {
                let low = 1i64 | 2 << 16 | 4 << 32 | 8 << 48;
                let lanes = _mm256_setr_epi64x(low, low << 4, low << 8, low << 12);
                _mm256_cmpeq_epi16(
                    _mm256_and_si256(_mm256_set1_epi16(bits as i16), lanes),
                    lanes,
                )
            }
        };
        // SAFETY: 32 lanes of `size` bytes are `size` times 32 bytes.
        unsafe {
            let old = _mm256_loadu_si256(to.add(32 * part).cast());
            let new = _mm256_loadu_si256(from.add(32 * part).cast());
            let both = _mm256_blendv_epi8(old, new, mask);
            _mm256_storeu_si256(to.add(32 * part).cast(), both);
        }
    }
}

/// The kernel that computes `f`.
fn of<A: Copy, B: Copy, C: Copy, D: Copy + Default, F: Fn(A, B, C) -> D + Copy>(_: F) -> MapKernel {
    map::<A, B, C, D, F>
}

/// `setp`: the mask of the lanes whose values are in an accepted order.
///
/// # Safety
/// Registers of these types are inside the file, as decoding gives them.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
unsafe fn compare<A: Copy + PartialOrd, F: Fn(A) -> A + Copy>(
    registers: Registers,
    op: &Compare,
    exec: u32,
) {
    let f = conjured::<F>();
    let [a, b] = op.sources;
    // SAFETY: decoding gives registers of this width inside the file.
    let (a, b) = unsafe {
        let a = &*registers.place::<[A; 32]>(a);
        (a, &*registers.place::<[A; 32]>(b))
    };
    // All ones for each order that is accepted.
    let accepted = |on: bool| -i32::from(on);
    let (less, equal) = (accepted(op.accepts.less), accepted(op.accepts.equal));
    let (greater, unordered) = (accepted(op.accepts.greater), accepted(op.accepts.unordered));
    let mut accepted = [0i32; 32];
    for lane in 0..32 {
        let (a, b) = (f(a[lane]), f(b[lane]));
        let [is_less, is_equal, is_greater] = [a < b, a == b, a > b].map(|c| -i32::from(c));
        let rest = !(is_less | is_equal | is_greater);
        accepted[lane] =
            is_less & less | is_equal & equal | is_greater & greater | rest & unordered;
    }
    let mut value = signs(&accepted);
    if let Some((how, other)) = op.combined {
        let other = registers.lanes(other);
        value = match how {
            Combine::And => value & other,
            Combine::Or => value | other,
            Combine::Xor => value ^ other,
        };
    }
    registers.set_mask(op.to, exec, value);
}

/// The sign bits of 32 numbers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn signs(values: &[i32; 32]) -> u32 {
    use std::arch::x86_64::{_mm256_castsi256_ps, _mm256_loadu_si256, _mm256_movemask_ps};
    (0..4).fold(0, |mask, part| {
        // SAFETY: the array has four times eight numbers.
        let eight = unsafe { _mm256_loadu_si256(values.as_ptr().add(8 * part).cast()) };
        mask | (_mm256_movemask_ps(_mm256_castsi256_ps(eight)) as u32) << (8 * part)
    })
}

/// The sign bits of 32 numbers.
#[cfg(not(target_arch = "x86_64"))]
fn signs(values: &[i32; 32]) -> u32 {
    (0..32).fold(0, |mask, lane| mask | u32::from(values[lane] < 0) << lane)
}

fn comparing<A: Copy + PartialOrd, F: Fn(A) -> A + Copy>(_: F) -> CompareKernel {
    compare::<A, F>
}

/// The kernel of a comparison of values of a type.
pub(super) fn compare_of(ty: Type, ftz: bool) -> Option<CompareKernel> {
    Some(match ty {
        Type::U32 | Type::B32 => comparing(|a: u32| a),
        Type::S32 => comparing(|a: i32| a),
        Type::U64 | Type::B64 => comparing(|a: u64| a),
        Type::S64 => comparing(|a: i64| a),
        Type::U16 | Type::B16 => comparing(|a: u16| a),
        Type::S16 => comparing(|a: i16| a),
        Type::F32 if ftz => comparing(flush),
        Type::F32 => comparing(|a: f32| a),
        Type::F64 => comparing(|a: f64| a),
        _ => return None,
    })
}

/// `selp`
///
/// # Safety
/// Registers of these types are inside the file, as decoding gives them.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
unsafe fn select<A: Copy + Default>(registers: Registers, op: &Select, exec: u32) {
    let chosen = registers.lanes(op.chosen);
    let [a, b] = op.sources;
    // SAFETY: decoding gives registers of this width inside the file.
    unsafe {
        let a = &*registers.place::<[A; 32]>(a);
        let b = &*registers.place::<[A; 32]>(b);
        let mut out = [A::default(); 32];
        for lane in 0..32 {
            out[lane] = if chosen >> lane & 1 != 0 {
                a[lane]
            } else {
                b[lane]
            };
        }
        keep(registers.place(op.to), exec, &out);
    }
}

/// The kernel of a selection.
pub(super) fn select_of(width: Width) -> Option<SelectKernel> {
    Some(match width {
        Width::Half => select::<u16>,
        Width::Word => select::<u32>,
        Width::Double => select::<u64>,
        Width::Mask => return None,
    })
}

/// The kernel of a copy.
pub(super) fn move_of(width: Width) -> Option<MapKernel> {
    Some(match width {
        Width::Half => of(|a: u16, _: u16, _: u16| a),
        Width::Word => of(|a: u32, _: u32, _: u32| a),
        Width::Double => of(|a: u64, _: u64, _: u64| a),
        Width::Mask => return None,
    })
}

/// Subnormal numbers become zero with their sign.
#[inline(always)]
fn flush(value: f32) -> f32 {
    let bits = value.to_bits();
    let zero = bits & 0x7f80_0000 == 0;
    f32::from_bits(if zero { bits & 0x8000_0000 } else { bits })
}

/// NaN in its one form, as the machine has it. By the bits: compilers take
/// one NaN for another.
#[inline(always)]
fn canonical(value: f32) -> f32 {
    let bits = value.to_bits();
    let nan = bits & 0x7fff_ffff > 0x7f80_0000;
    f32::from_bits(if nan { 0x7fff_ffff } else { bits })
}

#[inline(always)]
fn canonical64(value: f64) -> f64 {
    let bits = value.to_bits();
    let nan = bits & 0x7fff_ffff_ffff_ffff > 0x7ff0_0000_0000_0000;
    f64::from_bits(if nan { 0x7fff_ffff_ffff_ffff } else { bits })
}

/// The lesser number: a NaN loses, -0 is below +0.
#[inline(always)]
fn minimum(a: f32, b: f32) -> f32 {
    let key = |x: f32| {
        let bits = x.to_bits() as i32;
        bits ^ (bits >> 31 & i32::MAX)
    };
    let less = if key(a) < key(b) { a } else { b };
    let number = if a.is_nan() { b } else { less };
    canonical(if b.is_nan() { a } else { number })
}

/// The kernel of a form that is fast; none where the scalar definition
/// must do. The widths of the operands are those of the types.
pub(super) fn fast(i: &Instruction) -> Option<MapKernel> {
    use Opcode::*;
    let ty = i.ty(0)?;
    if i.has(Word::Sat) || i.has(Word::Cc) || i.has(Word::Relu) || i.has(Word::Xorsign) {
        return None;
    }
    match (i.opcode, ty) {
        (Cvt, _) => return convert(i, ty),
        (_, Type::F32) => return single(i),
        (_, Type::F64) => return double(i),
        _ => {}
    }
    arithmetic(i, ty).or_else(|| logic(i, ty))
}

/// Whether a type is of a kernel's integers: signed and unsigned of 32 bits,
/// then of 64.
fn integers(ty: Type) -> [bool; 4] {
    [
        ty == Type::S32,
        matches!(ty, Type::U32 | Type::B32),
        ty == Type::S64,
        matches!(ty, Type::U64 | Type::B64),
    ]
}

fn arithmetic(i: &Instruction, ty: Type) -> Option<MapKernel> {
    use Opcode::*;
    let [s32, u32_, s64, u64_] = integers(ty);
    let (w32, w64) = (s32 || u32_, s64 || u64_);
    let (wide, low) = (i.has(Word::Wide), i.has(Word::Lo));
    Some(match i.opcode {
        Add if w32 => of(|a: u32, b: u32, _: u32| a.wrapping_add(b)),
        Add if w64 => of(|a: u64, b: u64, _: u64| a.wrapping_add(b)),
        Sub if w32 => of(|a: u32, b: u32, _: u32| a.wrapping_sub(b)),
        Sub if w64 => of(|a: u64, b: u64, _: u64| a.wrapping_sub(b)),
        Mul if low && w32 => of(|a: u32, b: u32, _: u32| a.wrapping_mul(b)),
        Mul if low && w64 => of(|a: u64, b: u64, _: u64| a.wrapping_mul(b)),
        Mul if wide && u32_ => of(|a: u32, b: u32, _: u32| u64::from(a) * u64::from(b)),
        Mul if wide && s32 => of(|a: i32, b: i32, _: i32| i64::from(a) * i64::from(b)),
        Mad if low && w32 => of(|a: u32, b: u32, c: u32| a.wrapping_mul(b).wrapping_add(c)),
        Mad if low && w64 => of(|a: u64, b: u64, c: u64| a.wrapping_mul(b).wrapping_add(c)),
        Mad if wide && u32_ => {
            of(|a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).wrapping_add(c))
        }
        Mad if wide && s32 => {
            of(|a: i32, b: i32, c: i64| (i64::from(a) * i64::from(b)).wrapping_add(c))
        }
        Neg if w32 => of(|a: u32, _: u32, _: u32| a.wrapping_neg()),
        Abs if s32 => of(|a: i32, _: i32, _: i32| a.wrapping_abs()),
        Min if s32 => of(|a: i32, b: i32, _: i32| a.min(b)),
        Min if u32_ => of(|a: u32, b: u32, _: u32| a.min(b)),
        Max if s32 => of(|a: i32, b: i32, _: i32| a.max(b)),
        Max if u32_ => of(|a: u32, b: u32, _: u32| a.max(b)),
        _ => return None,
    })
}

fn logic(i: &Instruction, ty: Type) -> Option<MapKernel> {
    use Opcode::*;
    let [s32, u32_, s64, u64_] = integers(ty);
    let (w32, w64) = (s32 || u32_, s64 || u64_);
    Some(match i.opcode {
        And if w32 => of(|a: u32, b: u32, _: u32| a & b),
        And if w64 => of(|a: u64, b: u64, _: u64| a & b),
        And if ty == Type::B16 => of(|a: u16, b: u16, _: u16| a & b),
        Or if w32 => of(|a: u32, b: u32, _: u32| a | b),
        Or if w64 => of(|a: u64, b: u64, _: u64| a | b),
        Xor if w32 => of(|a: u32, b: u32, _: u32| a ^ b),
        Xor if w64 => of(|a: u64, b: u64, _: u64| a ^ b),
        Not if w32 => of(|a: u32, _: u32, _: u32| !a),
        Shl if w32 => of(|a: u32, b: u32, _: u32| if b < 32 { a << (b & 31) } else { 0 }),
        Shl if w64 => of(|a: u64, b: u32, _: u32| if b < 64 { a << (b & 63) } else { 0 }),
        Shr if s32 => of(|a: i32, b: u32, _: u32| a >> b.min(31)),
        Shr if u32_ => of(|a: u32, b: u32, _: u32| if b < 32 { a >> (b & 31) } else { 0 }),
        Shr if s64 => of(|a: i64, b: u32, _: u32| a >> b.min(63)),
        Shr if u64_ => of(|a: u64, b: u32, _: u32| if b < 64 { a >> (b & 63) } else { 0 }),
        Shf if i.has(Word::L) && i.has(Word::Wrap) => {
            of(|a: u32, b: u32, c: u32| (b << (c & 31)) | ((a >> 1) >> (!c & 31)))
        }
        Shf if i.has(Word::R) && i.has(Word::Wrap) => {
            of(|a: u32, b: u32, c: u32| (a >> (c & 31)) | ((b << 1) << (!c & 31)))
        }
        _ => return None,
    })
}

fn single(i: &Instruction) -> Option<MapKernel> {
    use Opcode::*;
    if i.one_of(&[Word::Rz, Word::Rm, Word::Rp]).is_some() {
        return None;
    }
    let ftz = i.has(Word::Ftz);
    let two = i.operands.len() == 3 && !i.has(Word::BigNan);
    Some(match (i.opcode, ftz) {
        (Add, false) => of(|a: f32, b: f32, _: f32| canonical(a + b)),
        (Sub, false) => of(|a: f32, b: f32, _: f32| canonical(a - b)),
        (Mul, false) => of(|a: f32, b: f32, _: f32| canonical(a * b)),
        (Fma | Mad, false) => of(|a: f32, b: f32, c: f32| canonical(a.mul_add(b, c))),
        (Add, true) => of(|a: f32, b: f32, _: f32| flush(canonical(flush(a) + flush(b)))),
        (Sub, true) => of(|a: f32, b: f32, _: f32| flush(canonical(flush(a) - flush(b)))),
        (Mul, true) => of(|a: f32, b: f32, _: f32| flush(canonical(flush(a) * flush(b)))),
        (Fma | Mad, true) => {
            of(|a: f32, b: f32, c: f32| flush(canonical(flush(a).mul_add(flush(b), flush(c)))))
        }
        // `div.approx` of large numbers gives zero.
        (Div, false) if !i.has(Word::Approx) => of(|a: f32, b: f32, _: f32| canonical(a / b)),
        (Rcp, false) => of(|a: f32, _: f32, _: f32| canonical(1.0 / a)),
        (Sqrt, false) => of(|a: f32, _: f32, _: f32| canonical(a.sqrt())),
        (Min, false) if two => of(|a: f32, b: f32, _: f32| minimum(a, b)),
        (Max, false) if two => of(|a: f32, b: f32, _: f32| canonical(-minimum(-a, -b))),
        (Neg, false) => of(|a: f32, _: f32, _: f32| -a),
        (Abs, false) => of(|a: f32, _: f32, _: f32| a.abs()),
        _ => return None,
    })
}

fn double(i: &Instruction) -> Option<MapKernel> {
    use Opcode::*;
    if i.one_of(&[Word::Rz, Word::Rm, Word::Rp, Word::Approx])
        .is_some()
    {
        return None;
    }
    Some(match i.opcode {
        Add => of(|a: f64, b: f64, _: f64| canonical64(a + b)),
        Sub => of(|a: f64, b: f64, _: f64| canonical64(a - b)),
        Mul => of(|a: f64, b: f64, _: f64| canonical64(a * b)),
        Fma | Mad => of(|a: f64, b: f64, c: f64| canonical64(a.mul_add(b, c))),
        Div => of(|a: f64, b: f64, _: f64| canonical64(a / b)),
        Neg => of(|a: f64, _: f64, _: f64| -a),
        Abs => of(|a: f64, _: f64, _: f64| a.abs()),
        _ => return None,
    })
}

fn convert(i: &Instruction, to: Type) -> Option<MapKernel> {
    use Type::*;
    let nearest = i
        .one_of(&[Word::Rz, Word::Rm, Word::Rp, Word::Ftz])
        .is_none();
    Some(match (to, i.ty(1)?) {
        (U64 | S64, U32) => of(|a: u32, _: u32, _: u32| u64::from(a)),
        (U64 | S64, S32) => of(|a: i32, _: i32, _: i32| i64::from(a)),
        (U32 | S32, U64 | S64) => of(|a: u64, _: u64, _: u64| a as u32),
        (U32 | S32, U16) => of(|a: u16, _: u16, _: u16| u32::from(a)),
        (U32 | S32, S16) => of(|a: i16, _: i16, _: i16| i32::from(a)),
        (U16 | S16, U32 | S32) => of(|a: u32, _: u32, _: u32| a as u16),
        (F32, S32) if nearest => of(|a: i32, _: i32, _: i32| a as f32),
        (F32, U32) if nearest => of(|a: u32, _: u32, _: u32| a as f32),
        (S32, F32) if i.has(Word::Rzi) && nearest => of(|a: f32, _: f32, _: f32| a as i32),
        (F64, F32) if nearest => of(|a: f32, _: f32, _: f32| canonical64(f64::from(a))),
        (F32, F64) if nearest => of(|a: f64, _: f64, _: f64| canonical(a as f32)),
        _ => return None,
    })
}
