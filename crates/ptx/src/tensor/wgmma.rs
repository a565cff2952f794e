//! `wgmma`: which products of a warpgroup there are, and what one of its four
//! warps holds of them: 16 of the 64 rows (PTX ISA, "Asynchronous Warpgroup
//! Level Matrix Multiply-Accumulate Instructions"). Which of them `ptxas`
//! takes: see the tests of the executor (`wgmma.txt`).

use super::fragment::Fragment;
use super::mma::{Arithmetic, arithmetic, check_sums};
use super::table::{ACCUMULATOR_16, row};
use crate::ast::Instruction;
use crate::names::{GroupShape, Modifier, Type, Word};

/// Bytes of a row of `a` that one instruction multiplies.
const ROW: u32 = 32;

/// The form of a product of a warpgroup: its matrices and its arithmetic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupForm {
    /// Columns of the result, and length of the inner products.
    pub size: [u32; 2],
    /// Types of `d`, `a`, `b`.
    pub types: [Type; 3],
    /// The 16 rows of `a` of a warp, where registers hold them; of a sparse
    /// one half the columns.
    pub a: Fragment,
    /// Eight columns of the accumulator; the next eight follow in the next
    /// registers.
    pub d: Fragment,
    pub arithmetic: Arithmetic,
    /// Whether `a` is sparse: half of it, with metadata.
    pub sparse: bool,
}

impl GroupForm {
    /// Whether factors may be negated.
    pub fn has_signs(&self) -> bool {
        self.types[1].is_float()
    }

    /// Whether factors may lie along M or N.
    pub fn has_majors(&self) -> bool {
        matches!(self.types[1], Type::F16 | Type::Bf16)
    }
}

/// The form of a `wgmma.mma_async`; an error if it has none.
pub(crate) fn wgmma(i: &Instruction) -> Result<GroupForm, String> {
    let types: Vec<Type> = i.types().collect();
    let Ok([d, a, b]) = <[Type; 3]>::try_from(types) else {
        return Err(
            "`wgmma` needs three types it knows: of the result and of both factors".to_owned(),
        );
    };
    let sparse = i.has(Word::Sp);
    let (fragment, sums) = factor(a, sparse)?;
    check_types([d, a, b], sums)?;
    let shape = i.modifiers.iter().find_map(|m| match m {
        Modifier::Group(shape) => Some(*shape),
        _ => None,
    });
    let k = ROW * 8 / a.bits() * if sparse { 2 } else { 1 };
    let fits = |shape: &GroupShape| shape.k() == k && has_columns(a, shape.columns());
    let Some(shape) = shape.filter(fits) else {
        let given = shape.map_or("has an unknown shape".to_owned(), |shape| {
            format!("has no .{}", shape.text())
        });
        return Err(format!(
            "`wgmma` of .{} {given}: expected .m64n8k{k} to .m64n256k{k}, {}",
            a.text(),
            columns(a)
        ));
    };
    let arithmetic = arithmetic(i, a, d);
    check_sums(i, "wgmma", arithmetic)?;
    if i.has(Word::Xor) {
        return Err("`wgmma` of .b1 supports only .and.popc".to_owned());
    }
    Ok(GroupForm {
        size: [shape.columns(), k],
        types: [d, a, b],
        a: fragment,
        d: ACCUMULATOR_16,
        arithmetic,
        sparse,
    })
}

/// The fragment of a factor, which is that of `mma` for as many bytes, and the
/// types that its products are summed in.
fn factor(a: Type, sparse: bool) -> Result<(Fragment, &'static [Type]), String> {
    let (shape, sums): (Word, &[Type]) = match a {
        Type::F16 => (Word::M16n8k16, &[Type::F16, Type::F32]),
        Type::Bf16 => (Word::M16n8k16, &[Type::F32]),
        Type::Tf32 => (Word::M16n8k8, &[Type::F32]),
        Type::E4m3 | Type::E5m2 => (Word::M16n8k32, &[Type::F16, Type::F32]),
        Type::S8 | Type::U8 => (Word::M16n8k32, &[Type::S32]),
        Type::B1 if !sparse => (Word::M16n8k256, &[Type::S32]),
        _ => {
            return Err(format!(
                "`wgmma` does not multiply .{}: expected .f16 .bf16 .tf32 .e4m3 .e5m2 .s8 .u8{}",
                a.text(),
                if sparse { "" } else { " .b1" }
            ));
        }
    };
    match row(shape, a.bits(), false) {
        Some(tile) => Ok((tile.fragments.a, sums)),
        None => Err(format!("`wgmma` has no fragment of .{}", a.text())),
    }
}

/// Whether such factors are multiplied, and their products summed so.
fn check_types([d, a, b]: [Type; 3], sums: &[Type]) -> Result<(), String> {
    let mixed = matches!(
        (a, b),
        (Type::E4m3 | Type::E5m2, Type::E4m3 | Type::E5m2)
            | (Type::S8 | Type::U8, Type::S8 | Type::U8)
    );
    if a != b && !mixed {
        return Err(format!(
            "`wgmma` does not multiply .{} by .{}",
            a.text(),
            b.text()
        ));
    }
    if sums.contains(&d) {
        return Ok(());
    }
    let listed: Vec<String> = sums.iter().map(|t| format!(".{}", t.text())).collect();
    Err(format!(
        "`wgmma` of .{} sums in {}, not in .{}",
        a.text(),
        listed.join(" or "),
        d.text()
    ))
}

/// Whether a result may have this many columns, a multiple of 8.
fn has_columns(a: Type, n: u32) -> bool {
    a.is_float() || n == 8 || n == 24 || n.is_multiple_of(16)
}

fn columns(a: Type) -> &'static str {
    if a.is_float() {
        "with a multiple of 8 columns"
    } else {
        "with 8, 24, or a multiple of 16 columns"
    }
}
