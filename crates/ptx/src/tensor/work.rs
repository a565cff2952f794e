//! Work of a product of matrices, for its time on a machine.

use super::mma::shape;
use crate::ast::Instruction;
use crate::names::{Modifier, Type, Word};

/// The multiplications of a warp's part of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Bits of an element of the factors as the tensor cores take it: 1, 4, 8,
    /// 16, 32 (tf32) or 64.
    pub bits: u8,
    /// Multiplications, each with its addition. Of a sparse factor those of the
    /// elements that it stores.
    pub macs: u32,
    /// Whether it is a warp's part of a product of a warpgroup.
    pub group: bool,
}

impl Work {
    /// The work of an `mma`, `mma.sp`, `wmma.mma` or `wgmma.mma_async`; `None` for other
    /// instructions.
    pub fn of(i: &Instruction) -> Option<Work> {
        let group = i.modifiers.iter().find_map(|m| match m {
            Modifier::Group(shape) => Some([64, shape.columns(), shape.k()]),
            _ => None,
        });
        let shape = shape(i);
        let [m, n, k] = group.or_else(|| sizes(shape?.text()))?;
        let types: Vec<Type> = i.types().collect();
        // `wmma` of f16 names the types of the sums alone.
        let factor = match types[..] {
            [_, factor, _] | [_, factor, _, _] => factor,
            _ => Type::F16,
        };
        let quads = shape == Some(Word::M8n8k4) && factor == Type::F16;
        // Four warps share the product of 64 rows.
        let (of_four, warps) = (if quads { 4 } else { 1 }, if m == 64 { 4 } else { 1 });
        let stored = match i.one_of(&[Word::Sp, Word::SpOrdered]) {
            Some(_) => k / 2,
            None => k,
        };
        Some(Work {
            bits: if factor == Type::Tf32 {
                32
            } else {
                factor.bits() as u8
            },
            macs: m * n * stored * of_four / warps,
            group: group.is_some(),
        })
    }
}

/// `m16n8k16`: rows, columns, length of the inner products.
fn sizes(text: &str) -> Option<[u32; 3]> {
    let (m, rest) = text.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Module;

    fn work(text: &str) -> Option<Work> {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {{\n\
             .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .f64 %d<9>;\n{text}\nret;\n}}\n"
        );
        let module = Module::parse(&text, "k.ptx").unwrap();
        Work::of(&module.functions[0].instructions[0])
    }

    #[test]
    fn a_product_has_as_many_multiplications_as_its_shape_says() {
        let d = "{%f0,%f1,%f2,%f3}";
        let r = "{%r0,%r1,%r2,%r3}";
        let f16 = format!(
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d}, {r}, {{%r4,%r5}}, {d};"
        );
        let part = |bits, macs, group| Some(Work { bits, macs, group });
        let of = |bits, macs| part(bits, macs, false);
        assert_eq!(work(&f16), of(16, 16 * 8 * 16));
        let tf32 = f16
            .replace("k16", "k8")
            .replace("f32.f16.f16", "f32.tf32.tf32");
        assert_eq!(work(&tf32), of(32, 16 * 8 * 8));
        // Half of the first factor's elements are stored.
        let sparse = f16.replace("mma.sync", "mma.sp.sync").replace("k16", "k32");
        let sparse = sparse.replace("{%r4,%r5}", r).replace(";", ", %r9, 0;");
        assert_eq!(work(&sparse), of(16, 16 * 8 * 16));
        // Four products of 8 x 8 x 4.
        let quads = "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r0,%r1,%r2,%r3}, \
                     {%r4,%r5}, {%r6,%r7}, {%r0,%r1,%r2,%r3};";
        assert_eq!(work(quads), of(16, 4 * 8 * 8 * 4));
        let double = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0,%d1}, {%d2}, {%d3}, \
                      {%d0,%d1};";
        assert_eq!(work(double), of(64, 8 * 8 * 4));
        let bits = "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%r0,%r1,%r2,%r3}, \
                    {%r4,%r5,%r6,%r7}, {%r8,%r9}, {%r0,%r1,%r2,%r3};";
        assert_eq!(work(bits), of(1, 16 * 8 * 256));
        let wmma = "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%r0,%r1,%r2,%r3}, \
                    {%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}, {%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}, \
                    {%r0,%r1,%r2,%r3};";
        assert_eq!(work(wmma), of(16, 16 * 16 * 16));
        // A warp's quarter of 64 rows.
        let group = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, 0, 0, 1, \
                     1, 1, 0, 0;";
        assert_eq!(work(group), part(16, 16 * 8 * 16, true));
        let sparse = group.replace("async", "async.sp").replace("k16", "k32");
        assert_eq!(work(&sparse), part(16, 16 * 8 * 16, true));
        assert_eq!(work("mov.u32 %r0, %r1;"), None);
    }
}
