//! CuTe's swizzles, each of them.

use super::super::layout::{Layout, LayoutSpec};
use super::super::shared_layouts::swizzles;
use super::{Candidate, MappingKind, Search};
use spadkit_base::error::Result;
use std::time::Instant;

impl Search<'_> {
    /// The swizzles that nothing else of their kind beats. Each takes the same
    /// two operations, so they differ in conflicts and wasted words.
    pub(super) fn swizzles(&mut self) -> Result<()> {
        let start = Instant::now();
        let array = self.array;
        let mut evaluated = 0;
        let mut found: Vec<(u32, u64, LayoutSpec)> = Vec::new();
        for spec in swizzles(array.geometry()) {
            let LayoutSpec::Swizzle { bits, base, shift } = spec else {
                continue;
            };
            // Beyond the array's bits a swizzle is a smaller one.
            let reach = bits + base + shift.unsigned_abs();
            if bits == 0 || reach > array.index_bits() {
                continue;
            }
            let layout = Layout::new(&spec, array.geometry())?;
            if array.refuses(&layout).is_some() {
                continue;
            }
            evaluated += 1;
            let conflicts = array.count(&layout).conflicts;
            found.push((array.wasted(&layout), conflicts, spec));
        }
        // The first of equal ones; then only what beats all that waste less.
        found.sort_by_key(|(wasted, conflicts, _)| (*wasted, *conflicts));
        let mut fewest = u64::MAX;
        for (_, conflicts, spec) in found {
            if conflicts >= fewest {
                continue;
            }
            fewest = conflicts;
            self.take(Candidate {
                spec,
                kind: MappingKind::Swizzle,
                method: "exhaustive",
                lower_bound: conflicts,
                evaluated,
                start,
            })?;
        }
        Ok(())
    }
}
