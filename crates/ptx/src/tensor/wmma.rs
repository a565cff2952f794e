//! `wmma`: shapes, types, fragments. The PTX ISA leaves open which lane holds
//! what; here it is as `mma` has it, so that an `n`-wide accumulator is that of
//! several `mma` side by side.

use super::fragment::Bit::{self, Column, Row};
use super::fragment::Fragment;
use super::mma::{Arithmetic, arithmetic, check_sums, layouts, shape};
use super::target::Target;
use crate::ast::Instruction;
use crate::names::{Type, Word};

/// A matrix of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    A,
    B,
    /// The accumulator, and the result.
    Sum,
}

/// The form in which a matrix is held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub side: Side,
    pub ty: Type,
    /// Rows and columns.
    pub size: [u32; 2],
    pub fragment: Fragment,
    /// Registers of the instruction: of f16 factors some hold nothing.
    pub registers: u32,
}

/// Elements of a lane, of a factor with 8, 16 or 32 rows and the columns that
/// a type has.
const WORDS: &[(u32, u32, &[Bit])] = &[
    // Bits of an element, rows, places.
    (16, 8, &[Column(0), Column(3)]),
    (16, 16, &[Column(0), Row(3), Column(3)]),
    (16, 32, &[Column(0), Row(3), Row(4), Column(3)]),
    (8, 8, &[Column(0), Column(1)]),
    (8, 16, &[Column(0), Column(1), Row(3)]),
    (8, 32, &[Column(0), Column(1), Row(3), Row(4)]),
    (32, 16, &[Row(3), Column(2)]),
    (64, 8, &[]),
    (4, 8, &[Column(0), Column(1), Column(2)]),
    (
        1,
        8,
        &[Column(0), Column(1), Column(2), Column(3), Column(4)],
    ),
];

/// Layouts of accumulators: rows, columns, places.
const SUMS: &[(u32, u32, &[Bit])] = &[
    (8, 8, &[Column(0)]),
    (16, 16, &[Column(0), Row(3), Column(3)]),
    (32, 8, &[Column(0), Row(3), Row(4)]),
    (8, 32, &[Column(0), Column(3), Column(4)]),
];

/// Shape, rows, columns and inner products, types of factors, first target.
type Shape = (Word, [u32; 3], &'static [Type], u32);
const SHAPES: &[Shape] = {
    use Type::{B1, Bf16, F16, F64, S4, S8, Tf32, U4, U8};
    use Word::{M8n8k4, M8n8k32, M8n8k128, M8n32k16, M16n16k8, M16n16k16, M32n8k16};
    &[
        (M16n16k16, [16, 16, 16], &[F16, Bf16, S8, U8], 70),
        (M8n32k16, [8, 32, 16], &[F16, Bf16, S8, U8], 70),
        (M32n8k16, [32, 8, 16], &[F16, Bf16, S8, U8], 70),
        (M16n16k8, [16, 16, 8], &[Tf32], 80),
        (M8n8k4, [8, 8, 4], &[F64], 80),
        (M8n8k32, [8, 8, 32], &[S4, U4], 75),
        (M8n8k128, [8, 8, 128], &[B1], 75),
    ]
};

/// The matrix of a side in a shape; none where the type has no such.
fn held(shape: &Shape, side: Side, ty: Type) -> Option<Held> {
    let [m, n, k] = shape.1;
    let (size, rows) = match side {
        Side::A => ([m, k], m),
        Side::B => ([k, n], n),
        Side::Sum => ([m, n], m),
    };
    let element = match side {
        Side::Sum => SUMS.iter().find(|row| row.0 == m && row.1 == n)?,
        _ => WORDS
            .iter()
            .find(|row| row.0 == ty.bits() && row.1 == rows)?,
    };
    let skip = match (side, ty.bits()) {
        (Side::Sum, _) | (_, 16) => 1,
        (_, 8) => 2,
        (_, 4) => 3,
        (_, 1) => 5,
        _ => 0,
    };
    let fragment = Fragment {
        lane: [Column(skip), Column(skip + 1), Row(0), Row(1), Row(2)],
        element: element.2,
    };
    let used = (fragment.elements() * ty.bits()).div_ceil(ty.bits().max(32));
    let registers = match (side, ty) {
        (Side::A | Side::B, Type::F16) => 8,
        _ => used,
    };
    Some(Held {
        side,
        ty,
        size,
        fragment,
        registers,
    })
}

impl Held {
    /// Row and column of an element of a lane; the columns of `b` are held as
    /// the rows of `a`.
    pub fn place(&self, lane: u32, element: u32) -> (u32, u32) {
        let place = self.fragment.place(lane, element);
        match self.side {
            Side::B => (place.column, place.row),
            _ => (place.row, place.column),
        }
    }
}

fn of(i: &Instruction, target: Target) -> Result<&'static Shape, String> {
    if !i.has(Word::Sync) || !i.has(Word::Aligned) {
        return Err("`wmma` needs .sync.aligned".to_owned());
    }
    let expected = || {
        let all: Vec<String> = SHAPES.iter().map(|s| format!(".{}", s.0.text())).collect();
        all.join(" ")
    };
    let Some(word) = shape(i) else {
        return Err(format!(
            "`wmma` has an unknown shape: expected {}",
            expected()
        ));
    };
    let Some(shape) = SHAPES.iter().find(|s| s.0 == word) else {
        return Err(format!(
            "`wmma` has no .{}: expected {}",
            word.text(),
            expected()
        ));
    };
    let types: Vec<Type> = i.types().collect();
    let of_type = if types.contains(&Type::Bf16) {
        80
    } else {
        if types
            .iter()
            .any(|t| matches!(t, Type::S8 | Type::U8 | Type::S32))
        {
            72
        } else {
            70
        }
    };
    let first = shape.3.max(of_type);
    if target.0 < first {
        Err(format!(
            "`wmma` of .{} with these types requires sm_{first} or later, and the module targets \
             sm_{}",
            word.text(),
            target.0
        ))
    } else {
        Ok(shape)
    }
}

/// The matrix that `wmma.load` or `wmma.store` moves, and whether it is in
/// memory by columns.
pub(crate) fn moved(i: &Instruction, target: Target) -> Result<(Held, bool), String> {
    let shape = of(i, target)?;
    let Some(ty) = i.ty(0) else {
        return Err("`wmma` needs a type that it knows".to_owned());
    };
    let store = i.has(Word::Store);
    let side = match i.one_of(&[Word::A, Word::B, Word::C, Word::D]) {
        Some(Word::A) if !store => Side::A,
        Some(Word::B) if !store => Side::B,
        Some(Word::C) if !store => Side::Sum,
        Some(Word::D) if store => Side::Sum,
        _ => return Err("expected `wmma.load.a`, `.b`, `.c` or `wmma.store.d`".to_owned()),
    };
    let sums: &[Type] = match shape.2[0] {
        Type::F16 => &[Type::F16, Type::F32, Type::S32],
        Type::Tf32 => &[Type::F32],
        Type::F64 => &[Type::F64],
        _ => &[Type::S32],
    };
    let allowed = if side == Side::Sum { sums } else { shape.2 };
    let held = held(shape, side, ty).filter(|_| allowed.contains(&ty));
    let Some(held) = held else {
        let all: Vec<String> = allowed.iter().map(|t| format!(".{}", t.text())).collect();
        return Err(format!(
            "`wmma` of .{} has no .{} there: expected {}",
            shape.0.text(),
            ty.text(),
            all.join(" ")
        ));
    };
    let layouts: Vec<Word> = layouts(i).collect();
    let [layout] = layouts[..] else {
        return Err("`wmma` needs .row or .col of the matrix".to_owned());
    };
    let small = matches!(ty, Type::S4 | Type::U4 | Type::B1);
    let only = if side == Side::A {
        Word::Row
    } else {
        Word::Col
    };
    if small && layout != only {
        return Err(format!("`wmma` of .{} needs .{}", ty.text(), only.text()));
    }
    Ok((held, layout == Word::Col))
}

/// A product: the matrices `d`, `a`, `b`, `c`.
pub(crate) struct Product {
    pub matrices: [Held; 4],
    pub arithmetic: Arithmetic,
}

/// The form of a `wmma.mma`.
pub(crate) fn product(i: &Instruction, target: Target) -> Result<Product, String> {
    let shape = of(i, target)?;
    let types: Vec<Type> = i.types().collect();
    let types = match types[..] {
        [d, c] => [d, Type::F16, Type::F16, c],
        [d, a, b, c] if a != Type::F16 => [d, a, b, c],
        _ => {
            return Err(
                "`wmma.mma` needs the types of result and accumulator, and of factors \
                         other than .f16 theirs between"
                    .to_owned(),
            );
        }
    };
    let [d, a, b, c] = types;
    if !shape.2.contains(&a) || a != b {
        return Err(format!(
            "`wmma.mma.{}` does not multiply .{} by .{}",
            shape.0.text(),
            a.text(),
            b.text()
        ));
    }
    let floats: &[Type] = match a {
        Type::F16 => &[Type::F16, Type::F32],
        Type::Bf16 | Type::Tf32 => &[Type::F32],
        Type::F64 => &[Type::F64],
        _ => &[Type::S32],
    };
    if !floats.contains(&d) || !floats.contains(&c) {
        return Err(format!(
            "`wmma.mma` of .{} has no sums from .{} to .{}",
            a.text(),
            c.text(),
            d.text()
        ));
    }
    if layouts(i).count() != 2 {
        return Err("`wmma.mma` needs .row or .col of both factors".to_owned());
    }
    let arithmetic = arithmetic(i, a, d);
    check_sums(i, "wmma.mma", arithmetic)?;
    let sides = [(Side::Sum, d), (Side::A, a), (Side::B, b), (Side::Sum, c)];
    let all = sides.map(|(side, ty)| held(shape, side, ty));
    match all {
        [Some(d), Some(a), Some(b), Some(c)] => Ok(Product {
            matrices: [d, a, b, c],
            arithmetic,
        }),
        _ => Err(format!(
            "`wmma.mma` has no .{} of .{}",
            shape.0.text(),
            a.text()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn fragments_cover_their_matrices() {
        for shape in SHAPES {
            for (side, ty) in [
                (Side::A, shape.2[0]),
                (Side::B, shape.2[0]),
                (Side::Sum, Type::S32),
            ] {
                let held = held(shape, side, ty).unwrap();
                let all = (0..32).flat_map(|l| (0..held.fragment.elements()).map(move |e| (l, e)));
                let places: BTreeSet<_> = all.map(|(l, e)| held.place(l, e)).collect();
                assert_eq!(
                    places.len() as u32,
                    held.size[0] * held.size[1],
                    "{:?} {side:?}",
                    shape.0
                );
                assert!(
                    places
                        .iter()
                        .all(|p| p.0 < held.size[0] && p.1 < held.size[1])
                );
            }
        }
    }
}
