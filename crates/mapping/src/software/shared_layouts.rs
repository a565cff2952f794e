//! CuTe's and Triton's swizzles: when a layout is one, and which comes nearest.

use super::layout::{Layout, LayoutSpec};
use crate::geometry::Geometry;

/// The swizzle that is the layout, if there is one.
pub fn swizzle_of(layout: &Layout) -> Option<LayoutSpec> {
    let rows = layout.rows()?;
    let same = |s: &LayoutSpec| distance(s, &rows, layout.geometry()) == Some(0);
    swizzles(layout.geometry()).find(same)
}

/// The swizzle whose matrix differs from the layout's in the fewest bits, the
/// first of several: `None` for a layout that is not linear.
pub(super) fn nearest_swizzle(layout: &Layout) -> Option<LayoutSpec> {
    let rows = layout.rows()?;
    let by_distance = |s: &LayoutSpec| distance(s, &rows, layout.geometry()).unwrap_or(u32::MAX);
    swizzles(layout.geometry()).min_by_key(by_distance)
}

/// Bits in which the matrices differ.
fn distance(spec: &LayoutSpec, rows: &[u32], geometry: Geometry) -> Option<u32> {
    let swizzle = Layout::new(spec, geometry).ok()?.rows()?;
    Some(
        swizzle
            .iter()
            .zip(rows)
            .map(|(a, b)| (a ^ b).count_ones())
            .sum(),
    )
}

/// All swizzles of a geometry, the identity first.
pub fn swizzles(geometry: Geometry) -> impl Iterator<Item = LayoutSpec> {
    let n = geometry.addr_bits();
    let identity = LayoutSpec::Swizzle {
        bits: 0,
        base: 0,
        shift: 0,
    };
    let others = (1..=n / 2).flat_map(move |bits| {
        (bits..=n - bits).flat_map(move |distance| {
            (0..=n - bits - distance).flat_map(move |base| {
                [1, -1].map(|sign| LayoutSpec::Swizzle {
                    bits,
                    base,
                    shift: sign * distance as i32,
                })
            })
        })
    });
    std::iter::once(identity).chain(others)
}
