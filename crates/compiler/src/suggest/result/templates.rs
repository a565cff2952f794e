//! The mapping in the layouts of CuTe and Triton, of the array's own elements.

use super::padding::Shape;
use crate::suggest::array::target::Target;
use serde::Serialize;
use spadkit_mapping::software::choice::MappingKind;
use spadkit_mapping::software::{Layout, LayoutSpec, swizzle_of};

/// A layout of another language.
#[derive(Clone, Debug, Serialize)]
pub struct Template {
    /// The mapping, of 32-bit words. It may differ from the recommended one if the
    /// language can express only another that is nearly as good.
    pub hash: LayoutSpec,
    /// Conflicts left.
    pub conflicts: u64,
    /// The text.
    pub code: String,
}

/// A swizzle of the array's elements, as CuTe counts its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::suggest) struct Swizzle {
    pub bits: u32,
    pub base: u32,
    pub shift: i32,
}

impl Swizzle {
    /// A swizzle of words as one of elements of `bytes` bytes.
    pub fn of(spec: &LayoutSpec, bytes: u32) -> Option<Self> {
        let &LayoutSpec::Swizzle { bits, base, shift } = spec else {
            return None;
        };
        // Bit 0 of a word's index is that of byte 4.
        let base = (base + 2).checked_sub(bytes.ilog2())?;
        Some(Swizzle { bits, base, shift })
    }
}

/// The swizzle that is the mapping, or the best one, if it is nearly as good.
pub(in crate::suggest) fn swizzle(target: &Target) -> Option<(Layout, Swizzle)> {
    let bytes = target.element_bytes();
    let best = &target.choices.best().layout;
    let same = swizzle_of(best).and_then(|s| Layout::new(&s, best.geometry()).ok());
    let other = || Some(target.best_of(MappingKind::Swizzle)?.layout.clone());
    let layout = same.or_else(other)?;
    let swizzle = Swizzle::of(layout.spec(), bytes)?;
    Some((layout, swizzle))
}

pub(in crate::suggest) fn template(target: &Target, layout: &Layout, code: String) -> Template {
    Template {
        hash: layout.spec().clone(),
        conflicts: target.array.count(layout).conflicts,
        code,
    }
}

/// `composition(Swizzle<B, M, S>{}, Layout<...>{})`
pub(in crate::suggest) fn cute(target: &Target, shape: &Shape) -> Option<Template> {
    let (layout, Swizzle { bits, base, shift }) = swizzle(target)?;
    let array = match shape.rows.last() {
        Some(&row) => format!(
            "cute::Layout<cute::Shape<cute::Int<{}>, cute::Int<{row}>>, \
             cute::Stride<cute::Int<{row}>, cute::Int<1>>>",
            shape.elements / row
        ),
        None => format!("cute::Layout<cute::Int<{}>, cute::Int<1>>", shape.elements),
    };
    let code =
        format!("cute::composition(cute::Swizzle<{bits}, {base}, {shift}>{{}}, {array}{{}})");
    Some(template(target, &layout, code))
}

/// `#ttg.swizzled_shared<{vec, perPhase, maxPhase, order}>` of a tensor whose
/// rows have a length that the swizzle can say.
pub(in crate::suggest) fn triton(target: &Target, shape: &Shape) -> Option<Template> {
    let (layout, swizzle) = swizzle(target)?;
    let natural = swizzle.row()?;
    let row = shape.rows.last().copied().unwrap_or(natural);
    let encoding = swizzle.encoding(row)?;
    let code = format!("{encoding}, of rows of {row} elements");
    Some(template(target, &layout, code))
}

impl Swizzle {
    /// The longest row that the number of the row alone swizzles.
    pub fn row(self) -> Option<u32> {
        let shift = u32::try_from(self.shift).ok()?;
        Some(1 << (self.base + shift))
    }

    /// Triton's words for it.
    pub fn encoding(self, row: u32) -> Option<String> {
        let (vec, per_phase, max_phase) = self.phases(row)?;
        Some(format!(
            "#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per_phase}, maxPhase = {max_phase}, \
             order = [1, 0]}}>"
        ))
    }

    /// `vec`, `perPhase` and `maxPhase`: element c of row r is at c ^ vec * ((r / perPhase)
    /// mod maxPhase). None where the bits that choose the phase are not the row's, or a row is
    /// shorter than its phases.
    pub fn phases(self, row: u32) -> Option<(u32, u32, u32)> {
        let (longest, reach) = (self.row()?, 1 << (self.base + self.bits));
        let said = row.is_power_of_two() && row <= longest && row >= reach;
        said.then(|| (1 << self.base, longest / row, 1 << self.bits))
    }
}
