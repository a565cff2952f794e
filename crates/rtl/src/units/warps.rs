//! The per-warp inputs of the benches of scheduling and issue: vectors, kinds, classes.

use super::bench::{Frame, Stimulus};
use super::layout::PortSlot;
use crate::model::kind;
use crate::model::{Policy, WarpClasses, even_bits};

/// Policies by their value on `cfg_policy`.
pub(super) const POLICIES: [Policy; 4] = [
    Policy::Lrr,
    Policy::OwfLrr,
    Policy::OwfSlot,
    Policy::LowestSlot,
];

/// A vector with few, half, or nearly all bits set.
pub(super) fn sparse(stimulus: &mut Stimulus, width: usize) -> u128 {
    let (a, b) = (stimulus.wide(width), stimulus.wide(width));
    match stimulus.below(6) {
        0 => 0,
        1 => 1 << stimulus.below(width as u32),
        2 => a & b & stimulus.wide(width),
        3 => a | b,
        4 => u128::MAX >> (128 - width),
        _ => a,
    }
}

/// The bit planes of classes that come as two bits per warp.
pub(super) fn classes_of(frame: &Frame, port: &PortSlot) -> WarpClasses {
    let mut cls = WarpClasses::default();
    for (i, &word) in frame.driven_words(port).iter().enumerate() {
        cls.low |= u128::from(even_bits(word.into())) << (16 * i);
        cls.high |= u128::from(even_bits((word >> 1).into())) << (16 * i);
    }
    cls
}

/// The two bit planes of classes as a vector of two bits per warp.
pub(super) fn class_codes(cls: WarpClasses, warps: usize) -> impl Iterator<Item = u8> {
    (0..warps).map(move |w| cls.of(w))
}

/// Kinds that the path knows, and more of those with rules of their own: of 64
/// drawn at random a quarter is any code, and a quarter RELSSP.
const KINDS: [u8; 64] = {
    let mut kinds = [kind::RELSSP; 64];
    let mut i = 0;
    while i < 16 {
        kinds[i] = i as u8;
        kinds[16 + i] = i as u8 % (kind::RELSSP + 1);
        kinds[32 + i] = i as u8 % (kind::RELSSP + 1);
        i += 1;
    }
    kinds
};

/// A kind of [`KINDS`].
pub(super) fn some_kind(stimulus: &mut Stimulus) -> u32 {
    KINDS[stimulus.below(64) as usize].into()
}

/// Drives a kind for each warp.
pub(super) fn drive_kinds(port: &PortSlot, stimulus: &mut Stimulus, frame: &mut Frame) {
    let kinds = std::iter::repeat_with(|| stimulus.bits64()).flat_map(|bits| {
        let kind = move |i| KINDS[(bits >> (6 * i) & 63u64) as usize];
        (0..10).map(kind)
    });
    frame.drive_fields(port, 4, kinds);
}

/// The number of the only bit that is set.
pub(super) fn index(one_hot: u128) -> Option<usize> {
    (one_hot != 0).then(|| one_hot.trailing_zeros() as usize)
}

/// The vector whose only bit is that of the number.
pub(super) fn one_hot(index: Option<usize>) -> u128 {
    index.map_or(0, |i| 1 << i)
}
