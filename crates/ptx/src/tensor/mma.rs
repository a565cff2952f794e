//! Products of matrices: shapes, types and targets of `mma.sync` and `mma.sp`. The
//! executor's tests (`tensor.txt`) list what `ptxas` accepts.

use super::fragment::Fragment;
use super::table::{
    ACCUMULATOR_8, ACCUMULATOR_16, Fragments, QUADS_A, QUADS_B, QUADS_F16, QUADS_F32, Tile, row,
    rows,
};
use super::target::Target;
use crate::ast::Instruction;
use crate::names::Word::{M8n8k4, M16n8k64};
use crate::names::{Modifier, Type, Word};

/// The arithmetic in which products are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    /// Sums in f16.
    Half,
    /// Sums in f32.
    Single,
    /// Sums in f64, with this rounding.
    Double(Word),
    /// Sums in s32: modulo 2^32, or clamped.
    Integer { clamped: bool },
    /// The number of ones, in s32, of the conjunction or of the difference.
    Bits { and: bool },
}

/// The form of a product: its matrices and its arithmetic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MmaForm {
    /// Rows, columns, length of the inner products.
    pub size: [u32; 3],
    pub fragments: Fragments,
    /// The accumulator that is read, and the result.
    pub c: Fragment,
    pub d: Fragment,
    /// Types of `d`, `a`, `b`, `c`.
    pub types: [Type; 4],
    pub arithmetic: Arithmetic,
    /// Whether `a` is sparse: half of it, with metadata.
    pub sparse: bool,
}

/// The shape of an instruction, by its word.
pub(super) fn shape(i: &Instruction) -> Option<Word> {
    i.modifiers.iter().find_map(|m| match m {
        Modifier::Word(word) if is_shape(word.text()) => Some(*word),
        _ => None,
    })
}

/// `m16n8k16`
fn is_shape(text: &str) -> bool {
    text.starts_with("m8") || text.starts_with("m16") || text.starts_with("m32")
}

/// The form of an `mma`; an error if its target has none such.
pub(crate) fn mma(i: &Instruction, target: Target) -> Result<MmaForm, String> {
    let name = named(i);
    if !i.has(Word::Sync) || !i.has(Word::Aligned) {
        return Err(format!("`{name}` needs .sync.aligned"));
    }
    let types: Vec<Type> = i.types().collect();
    let Ok(types) = <[Type; 4]>::try_from(types) else {
        return Err(format!(
            "`{name}` needs four types it knows: of the result, of both factors and of the \
             accumulator"
        ));
    };
    let Some(shape) = shape(i) else {
        return Err(format!(
            "`{name}` has an unknown shape: expected {}",
            shapes(i, types[1])
        ));
    };
    let sparse = i.one_of(&[Word::Sp, Word::SpOrdered]).is_some();
    let form = match (shape, types[1], sparse) {
        (M8n8k4, Type::F16, false) => quad_pairs(i, types)?,
        _ => plain(i, shape, types, sparse)?,
    };
    accumulates(i, &form)?;
    let first = first_target(shape, &form);
    if target < first {
        return Err(format!(
            "`{name}.{}` of .{} requires sm_{} or later, and the module targets sm_{}",
            shape.text(),
            types[1].text(),
            first.0,
            target.0
        ));
    }
    Ok(form)
}

fn named(i: &Instruction) -> &'static str {
    match i.one_of(&[Word::Sp, Word::SpOrdered]) {
        Some(_) => "mma.sp",
        None => "mma",
    }
}

/// The shapes that a type has.
fn shapes(i: &Instruction, ty: Type) -> String {
    let sparse = i.one_of(&[Word::Sp, Word::SpOrdered]).is_some();
    let mut all: Vec<String> = Vec::new();
    if ty == Type::F16 && !sparse {
        all.push(".m8n8k4".to_owned());
    }
    let of = rows(sparse).iter().filter(|tile| has(tile, ty, sparse));
    all.extend(of.map(|tile| format!(".{}", tile.shape.text())));
    if all.is_empty() {
        "elements of .f16 .bf16 .tf32 .f64 .s8 .u8 .s4 .u4 .b1 .e4m3 .e5m2".to_owned()
    } else {
        all.join(" ")
    }
}

/// Whether a row of the table is for a type.
fn has(tile: &Tile, ty: Type, sparse: bool) -> bool {
    let plain = matches!(
        ty,
        Type::F16 | Type::Bf16 | Type::Tf32 | Type::F64 | Type::S8 | Type::U8 | Type::S4 | Type::U4
    );
    tile.bits == ty.bits()
        && match ty {
            Type::E4m3 | Type::E5m2 if sparse => tile.shape == M16n8k64,
            Type::E4m3 | Type::E5m2 => tile.size[0] == 16,
            Type::B1 => true,
            _ => plain,
        }
}

/// A product of the tables.
fn plain(i: &Instruction, shape: Word, types: [Type; 4], sparse: bool) -> Result<MmaForm, String> {
    let [d, a, b, c] = types;
    let name = named(i);
    let tile = row(shape, a.bits(), sparse).filter(|tile| has(tile, a, sparse));
    let Some(tile) = tile else {
        return Err(format!(
            "`{name}` has no .{} of .{}: expected {}",
            shape.text(),
            a.text(),
            shapes(i, a)
        ));
    };
    let mixed = !a.is_float() && a != Type::B1 || matches!(a, Type::E4m3 | Type::E5m2);
    let pair = a == b || mixed && a.bits() == b.bits() && a.is_float() == b.is_float();
    if !pair {
        return Err(format!(
            "`{name}` does not multiply .{} by .{}",
            a.text(),
            b.text()
        ));
    }
    let layouts: Vec<Word> = layouts(i).collect();
    if layouts != [Word::Row, Word::Col] {
        return Err(format!(
            "`{name}.{}` needs .row.col: its first factor by rows, its second by columns",
            shape.text()
        ));
    }
    let accumulator = match tile.size[0] {
        8 => ACCUMULATOR_8,
        _ => ACCUMULATOR_16,
    };
    let floats: &[Type] = match a {
        Type::F16 => &[Type::F16, Type::F32],
        Type::E4m3 | Type::E5m2 if !sparse => &[Type::F16, Type::F32],
        Type::F64 => &[Type::F64],
        _ if a.is_float() => &[Type::F32],
        _ => &[Type::S32],
    };
    if c != d || !floats.contains(&c) {
        let listed: Vec<String> = floats.iter().map(|t| format!(".{}", t.text())).collect();
        return Err(format!(
            "`{name}` of .{} sums in {}, accumulator and result alike: not .{} to .{}",
            a.text(),
            listed.join(" or "),
            c.text(),
            d.text()
        ));
    }
    Ok(MmaForm {
        size: tile.size,
        fragments: tile.fragments,
        c: accumulator,
        d: accumulator,
        types,
        arithmetic: arithmetic(i, a, d),
        sparse,
    })
}

/// `.row` and `.col`, in their order.
pub(super) fn layouts(i: &Instruction) -> impl Iterator<Item = Word> + '_ {
    i.modifiers.iter().filter_map(|m| match m {
        Modifier::Word(word @ (Word::Row | Word::Col)) => Some(*word),
        _ => None,
    })
}

/// `.m8n8k4` of f16: four products of 8 x 8 x 4, one for each pair of quads.
fn quad_pairs(i: &Instruction, types: [Type; 4]) -> Result<MmaForm, String> {
    let layouts: Vec<Word> = layouts(i).collect();
    let [of_a, of_b] = layouts[..] else {
        return Err("`mma.m8n8k4` needs .row or .col of both factors".to_owned());
    };
    let accumulator = |ty: Type| match ty {
        Type::F16 => Some(QUADS_F16),
        Type::F32 => Some(QUADS_F32),
        _ => None,
    };
    let [d, _, b, c] = types;
    let both = accumulator(c).zip(accumulator(d));
    let narrows = d == Type::F16 && c == Type::F32;
    let Some((c, d)) = both.filter(|_| b == Type::F16 && !narrows) else {
        return Err(format!(
            "`mma.m8n8k4` of .f16 has no .{}.f16.{}.{}: expected .f16.f16.f16.f16, \
             .f32.f16.f16.f16 or .f32.f16.f16.f32",
            d.text(),
            b.text(),
            c.text()
        ));
    };
    let by = |word: Word| usize::from(word == Word::Col);
    Ok(MmaForm {
        size: [8, 8, 4],
        fragments: Fragments {
            a: QUADS_A[by(of_a)],
            b: QUADS_B[by(of_b)],
        },
        c,
        d,
        types,
        arithmetic: arithmetic(i, Type::F16, types[0]),
        sparse: false,
    })
}

/// The sums for elements of type `a` and results of type `d`.
pub(super) fn arithmetic(i: &Instruction, a: Type, d: Type) -> Arithmetic {
    let round = i.one_of(&[Word::Rn, Word::Rz, Word::Rm, Word::Rp]);
    match (a, d) {
        (Type::B1, _) => Arithmetic::Bits {
            and: i.has(Word::And),
        },
        (_, Type::F16) => Arithmetic::Half,
        (_, Type::F32) => Arithmetic::Single,
        (_, Type::F64) => Arithmetic::Double(round.unwrap_or(Word::Rn)),
        _ => Arithmetic::Integer {
            clamped: i.has(Word::Satfinite),
        },
    }
}

/// Modifiers that only some sums have.
fn accumulates(i: &Instruction, form: &MmaForm) -> Result<(), String> {
    check_sums(i, named(i), form.arithmetic)
}

/// Checks the modifiers that only some sums have; `name` is for the message.
pub(super) fn check_sums(i: &Instruction, name: &str, sums: Arithmetic) -> Result<(), String> {
    let bits = i.one_of(&[Word::And, Word::Xor]).is_some() && i.has(Word::Popc);
    let any = |words: &[Word]| i.one_of(words);
    let integer = matches!(sums, Arithmetic::Integer { .. });
    match sums {
        Arithmetic::Bits { .. } if !bits => {
            return Err(format!("`{name}` of .b1 needs .xor.popc or .and.popc"));
        }
        Arithmetic::Bits { .. } => {}
        _ => {
            if let Some(word) = any(&[Word::And, Word::Xor, Word::Popc]) {
                return Err(format!("only `{name}` of .b1 has .{}", word.text()));
            }
        }
    }
    if i.has(Word::Satfinite) && !integer {
        return Err(format!("only `{name}` of .s8 .u8 .s4 .u4 has .satfinite"));
    }
    let round = any(&[Word::Rn, Word::Rz, Word::Rm, Word::Rp]);
    match (round, sums) {
        (Some(word), sums) if !matches!(sums, Arithmetic::Double(_)) => {
            Err(format!("only `{name}` of .f64 has .{}", word.text()))
        }
        _ => Ok(()),
    }
}

/// The first compute capability that has a product.
fn first_target(shape: Word, form: &MmaForm) -> Target {
    let a = form.types[1];
    let of_shape = match row(shape, a.bits(), form.sparse) {
        Some(tile) => tile.target,
        None => 70,
    };
    let of_type = match (a, form.arithmetic) {
        (Type::Bf16, _) | (_, Arithmetic::Bits { and: true }) => 80,
        (Type::E4m3 | Type::E5m2, _) => 89,
        _ => 70,
    };
    Target(of_shape.max(of_type))
}
