//! The choices that the copy engine leaves: an array that tensor copies go
//! through is in one of the swizzle modes of their maps, and in no other order.

use super::super::layout::LayoutSpec;
use crate::hash::HashSpec;
use crate::trace::TensorCopy;

/// The swizzle modes by name, each with the bytes within which it permutes
/// units of 16 bytes; the narrowest first.
pub(super) const MODES: [(&str, u32); 4] = [
    ("none", 0),
    ("tma:32", 32),
    ("tma:64", 64),
    ("tma:128", 128),
];

/// The permutation that turns mode `from` into mode `to`: each mode XORs the
/// low bits of the unit's number with the low bits of the number of its
/// 128-byte row.
pub(super) fn between(from: u32, to: u32) -> LayoutSpec {
    let bits = |mode: u32| (mode / 16).max(1).ilog2();
    let (low, high) = (bits(from.min(to)), bits(from.max(to)));
    if low == high {
        return LayoutSpec::Hash(HashSpec::Mod);
    }
    LayoutSpec::Swizzle {
        bits: high - low,
        base: 2 + low,
        shift: 3,
    }
}

/// Whether every copy has a swizzle mode for the order in which `spec` stores its words.
pub(super) fn allows(copies: &[TensorCopy], spec: &LayoutSpec) -> bool {
    copies.iter().all(|copy| mode_under(copy, spec).is_some())
}

/// The swizzle mode of a copy under `spec`, applied to the present mapping;
/// none if the hardware has no such mode.
pub(super) fn mode_under(copy: &TensorCopy, spec: &LayoutSpec) -> Option<u32> {
    let modes = MODES.iter().map(|(_, mode)| *mode);
    let mut taken = modes.filter(|mode| takes(copy, *mode));
    taken.find(|mode| between(copy.swizzle, *mode) == *spec)
}

/// Whether the rows of a copy go into a mode, and lie as far apart as now:
/// those that are narrower than the mode take all of it.
fn takes(copy: &TensorCopy, mode: u32) -> bool {
    let pitch = |mode: u32| copy.row_bytes.max(mode);
    (mode == 0 || copy.row_bytes <= mode) && pitch(mode) == pitch(copy.swizzle)
}

/// The mode that the array is in, where all copies have the same; none without
/// copies.
pub(super) fn present(copies: &[TensorCopy]) -> u32 {
    match copies {
        [first, others @ ..] if others.iter().all(|c| c.swizzle == first.swizzle) => first.swizzle,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Geometry;
    use crate::software::Layout;

    fn copy(swizzle: u32, row_bytes: u32) -> TensorCopy {
        TensorCopy {
            ptx_line: 1,
            ptx_file: None,
            stores: false,
            offset: 0,
            bytes: 4096,
            swizzle,
            row_bytes,
        }
    }

    #[test]
    fn a_change_of_modes_is_the_one_and_then_the_other() {
        let geometry = Geometry::new(14, 5).unwrap();
        let layout = |spec: &LayoutSpec| Layout::new(spec, geometry).unwrap();
        for (_, from) in MODES {
            for (_, to) in MODES {
                let [was, is, change] =
                    [between(0, from), between(0, to), between(from, to)].map(|s| layout(&s));
                for word in 0..1024 {
                    assert_eq!(change.place(was.place(word)), is.place(word));
                }
            }
        }
        for (name, mode) in &MODES[1..] {
            assert_eq!(between(0, *mode), name.parse().unwrap());
        }
    }

    fn allowed(copies: &[TensorCopy]) -> Vec<&'static str> {
        let from = copies[0].swizzle;
        let modes = MODES
            .iter()
            .filter(|(_, to)| allows(copies, &between(from, *to)));
        modes.map(|(name, _)| *name).collect()
    }

    #[test]
    fn modes_are_those_that_the_rows_of_all_copies_fit() {
        assert_eq!(allowed(&[copy(0, 128)]), ["none", "tma:128"]);
        assert_eq!(allowed(&[copy(128, 128)]), ["none", "tma:128"]);
        assert_eq!(allowed(&[copy(0, 64)]), ["none", "tma:64"]);
        assert_eq!(allowed(&[copy(0, 256)]), ["none"]);
        // Rows of 64 bytes that lie 128 bytes apart stay there.
        assert_eq!(allowed(&[copy(128, 64)]), ["tma:128"]);
        assert_eq!(allowed(&[copy(0, 64), copy(0, 128)]), ["none"]);
        // A permutation that differs between copies is no mapping of the array.
        assert_eq!(
            allowed(&[copy(0, 128), copy(128, 128)]),
            ["none", "tma:128"]
        );
        assert_eq!(allowed(&[copy(0, 128), copy(64, 64)]), ["none"]);
        assert!(!allows(
            &[copy(0, 128)],
            &"pad:every=32,by=4".parse().unwrap()
        ));
    }
}
