//! The swizzle modes of tensor copies as mappings of an array: which of them
//! clears it. The copy engine has these and no others.

use super::super::layout::{Layout, LayoutSpec};
use super::{Array, copied};
use crate::geometry::Geometry;
use serde::Serialize;
use spadkit_base::error::Result;

/// Swizzle modes permute units of 16 bytes: 2^this words.
const UNIT_BITS: u32 = 2;

/// An array in one mode.
#[derive(Clone, Debug, Serialize)]
pub struct Mode {
    /// `none`, `tma:32`, `tma:64` or `tma:128`.
    #[serde(rename = "mode")]
    pub name: &'static str,
    /// The mode as a mapping of the words in their present order.
    #[serde(rename = "hash")]
    pub spec: LayoutSpec,
    /// Whether the tensor copies that go through the array can be in it.
    pub possible: bool,
    /// Bytes after which it repeats: what the array's address is a multiple of.
    pub span_bytes: u32,
    /// Conflicts left.
    pub conflicts: u64,
    /// The largest conflict degree.
    pub max_degree: u32,
    /// Sum of the degrees.
    pub wavefronts: u64,
}

/// Every mode of an array, the narrowest first.
#[derive(Clone, Debug)]
pub struct Modes {
    /// The modes.
    pub all: Vec<Mode>,
    /// Conflicts without a mapping.
    pub unmapped: u64,
    /// Conflicts that no mapping at all avoids.
    pub floor: u64,
    /// Conflicts that no mapping avoids if it keeps units of 16 bytes whole:
    /// the words at one offset within their units share a quarter of the banks.
    pub unit_floor: u64,
}

/// Whether the copy engine's modes fit the banks: those of a GPU, 32.
fn has_modes(geometry: Geometry) -> bool {
    geometry.bank_bits() == 5 && geometry.addr_bits() >= 8
}

impl Modes {
    /// The names of the modes that the tensor copies of `array` can be in;
    /// `None` where its banks are not the 32 of a GPU.
    pub fn possible(array: &Array) -> Option<Vec<&'static str>> {
        let copies = array.tensor_copies();
        let present = copied::present(copies);
        let allowed = |bytes| copied::allows(copies, &copied::between(present, bytes));
        has_modes(array.geometry()).then(|| {
            let modes = copied::MODES.into_iter();
            let possible = modes.filter(|(_, bytes)| allowed(*bytes));
            possible.map(|(name, _)| name).collect()
        })
    }

    /// Counts the conflicts of `array` in each mode; `None` where its banks are
    /// not the 32 of a GPU, or `wmma` computes addresses of it.
    pub fn of(array: &Array) -> Result<Option<Modes>> {
        let geometry = array.geometry();
        // Swizzled rows are none that wmma finds.
        if !has_modes(geometry) || array.has_matrices() {
            return Ok(None);
        }
        let copies = array.tensor_copies();
        let present = copied::present(copies);
        let mode = |(name, bytes): (&'static str, u32)| {
            let layout = Layout::new(&copied::between(present, bytes), geometry)?;
            let count = array.count(&layout);
            Ok(Mode {
                name,
                spec: layout.spec().clone(),
                possible: copied::allows(copies, layout.spec()),
                span_bytes: (8 * bytes).max(128),
                conflicts: count.conflicts,
                max_degree: count.max_degree,
                wavefronts: count.wavefronts(),
            })
        };
        let unmapped = array.profile().count(|word| word & geometry.bank_mask());
        Ok(Some(Modes {
            all: copied::MODES.into_iter().map(mode).collect::<Result<_>>()?,
            unmapped: unmapped.conflicts,
            floor: array.any_floor(),
            unit_floor: array.lower_bound(UNIT_BITS),
        }))
    }

    /// The possible mode with the fewest conflicts, the narrowest of several.
    pub fn best(&self) -> &Mode {
        let possible = self.all.iter().filter(|mode| mode.possible);
        let best = possible.min_by_key(|mode| mode.conflicts);
        best.unwrap_or(&self.all[0])
    }

    /// The narrowest possible mode under which nothing is left that any mapping avoids.
    pub fn clears(&self) -> Option<&Mode> {
        let best = self.best();
        (best.conflicts == self.floor).then_some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Access, AccessTrace, Atomics, ConflictRule, Op, Wide};

    /// An H100's shared memory: 227 KB of it for a block.
    const BLOCK_WORDS: u32 = 227 * 256;
    const RULE: ConflictRule = ConflictRule {
        lanes: 32,
        wide: Wide::PhasesMerged,
        atomics: Atomics::LanesButIncrements,
        broadcast: true,
    };

    fn geometry() -> Geometry {
        Geometry::new(16, 5).unwrap()
    }

    /// Accesses of a warp, `bytes` from each word.
    fn modes(bytes: u32, words: &[&[u32]]) -> Modes {
        let access = |words: &&[u32]| Access {
            warp: 0,
            pc: 0,
            op: Op::Load,
            addrs: words.iter().copied().map(Some).collect(),
            bytes,
            increment: false,
            aggregated: false,
            extra: Default::default(),
        };
        let trace = AccessTrace {
            name: "t".to_owned(),
            source: String::new(),
            block_dim: [32, 1, 1],
            shared_bytes: 1 << 14,
            warp_size: 32,
            barriers: Vec::new(),
            accesses: words.iter().map(access).collect(),
            executed: Default::default(),
            extra: Default::default(),
        };
        let array = Array::new(&trace, geometry(), RULE, BLOCK_WORDS);
        Modes::of(&array).unwrap().unwrap()
    }

    fn conflicts(modes: &Modes) -> Vec<u64> {
        modes.all.iter().map(|m| m.conflicts).collect()
    }

    /// Eight rows of 16 bytes that stand together, in rows of 128, 64 and 32
    /// bytes: each has its mode.
    #[test]
    fn each_row_length_has_its_mode() {
        let column = |row_words: u32| -> Vec<u32> {
            (0..32)
                .map(|lane| row_words * (lane % 8) + lane / 8 * 8 * row_words)
                .collect()
        };
        let of = |row_words| modes(16, &[&column(row_words)]);
        let wide = of(32);
        // Each phase of eight rows: seven conflicts, in eight, four, two groups.
        assert_eq!(conflicts(&wide), [28, 12, 4, 0]);
        assert_eq!(wide.clears().unwrap().name, "tma:128");
        let half = of(16);
        assert_eq!(conflicts(&half), [12, 4, 0, 0]);
        assert_eq!(half.clears().unwrap().name, "tma:64");
        let quarter = of(8);
        assert_eq!(conflicts(&quarter), [4, 0, 0, 0]);
        assert_eq!(quarter.clears().unwrap().name, "tma:32");
        let packed = of(4);
        assert_eq!(packed.clears().unwrap().name, "none");
    }

    /// A column of words: units of 16 bytes leave four of 32 in a bank, whatever
    /// becomes of them.
    #[test]
    fn what_units_leave_is_bounded() {
        let column: Vec<u32> = (0..32).map(|lane| 32 * lane).collect();
        let found = modes(4, &[&column]);
        assert_eq!(conflicts(&found), [31, 15, 7, 3]);
        assert_eq!((found.floor, found.unit_floor), (0, 3));
        assert!(found.clears().is_none());
        assert_eq!(found.best().name, "tma:128");
    }

    /// Every mode repeats after 1,024 bytes: two words at that distance share a
    /// bank. One conflict that another mapping avoids is one too many.
    #[test]
    fn a_mode_that_leaves_one_conflict_clears_nothing() {
        let found = modes(4, &[&[0, 256]]);
        assert_eq!(conflicts(&found), [1, 1, 1, 1]);
        assert_eq!(found.floor, 0);
        assert!(found.clears().is_none());
    }

    /// The bound holds for mappings that keep units whole, here all swizzles.
    #[test]
    fn no_mapping_of_whole_units_beats_the_bound() {
        let rows: [&[u32]; 3] = [&[0, 32, 64, 96, 128], &[1, 2, 37, 70, 101, 134], &[5; 8]];
        let found = modes(4, &rows);
        for spec in crate::software::swizzles(geometry()) {
            let LayoutSpec::Swizzle { bits, base, .. } = spec else {
                continue;
            };
            if bits > 0 && base < 2 {
                continue;
            }
            let layout = Layout::new(&spec, geometry()).unwrap();
            let sum: u64 = rows
                .iter()
                .map(|row| {
                    let mut row = row.to_vec();
                    row.sort_unstable();
                    row.dedup();
                    let degree = crate::trace::conflict_degree(&row, |w| layout.bank(w));
                    u64::from(degree - 1)
                })
                .sum();
            assert!(sum >= found.unit_floor, "{spec}: {sum}");
        }
        assert!(found.unit_floor <= found.best().conflicts);
    }
}
