//! The content of a buffer before the run.

use super::element::Element;
use super::image::Image;
use super::stream::stream;
use rand_chacha::rand_core::Rng;
use std::path::PathBuf;

/// The content of a buffer before the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// Zeros.
    Zeros,
    /// None, as `cudaMalloc` returns memory: a byte has no value before a kernel writes it.
    None,
    /// Element i is i, cut to the type's width.
    Iota,
    /// Seeded random elements.
    Random(Random),
    /// A seeded image.
    Image(Image),
    /// Every element these bytes.
    Fill(Vec<u8>),
    /// A .npy or .raw file.
    File(PathBuf),
    /// Bytes given one by one.
    Bytes(Vec<u8>),
}

/// Random elements: which, and how they are seeded.
#[derive(Clone, Debug, PartialEq)]
pub struct Random {
    /// Seed of the generator.
    pub seed: u64,
    /// Range of the elements.
    pub range: Range,
}

/// The range of random elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// Integers from the first to the last.
    Integers(i128, i128),
    /// Numbers from the first to the last; in [0, 1), never the last. In other ranges
    /// the product is rounded to the type, which may give the last.
    Floats(f64, f64),
}

impl Range {
    /// The range with every value of an integer type, or [0, 1) of a floating-point
    /// one.
    pub fn of(element: Element) -> Self {
        match element.integer_range() {
            Some((min, max)) => Range::Integers(min, max),
            None => Range::Floats(0.0, 1.0),
        }
    }
}

/// `count` times 0, 1, 2, ...
pub(super) fn iota(element: Element, count: u64) -> Vec<u8> {
    let item = |i: u64| element.bytes_of_integer(i.into());
    gathered(element, count, (0..count).flat_map(item))
}

/// The bytes of `count` elements, in memory of exactly their size.
fn gathered(element: Element, count: u64, bytes: impl Iterator<Item = u8>) -> Vec<u8> {
    let mut all = Vec::with_capacity(count as usize * element.size());
    all.extend(bytes);
    all
}

/// The generator of the documentation: the ChaCha stream of 12 rounds. Its key
/// is the seed in the first 8 bytes (little-endian), followed by zeros. Element
/// i takes the i-th 64-bit word r of the stream.
pub(super) fn random(element: Element, count: u64, random: &Random) -> Vec<u8> {
    let mut stream = stream(random.seed);
    let item = |_| match random.range {
        Range::Integers(min, max) => {
            // min + floor(r (max - min + 1) / 2^64)
            let span = (max - min + 1) as u128;
            let part = (u128::from(stream.next_u64()) * span) >> 64;
            element.bytes_of_integer(min + part as i128)
        }
        Range::Floats(min, max) => {
            // As many bits of r as the type's significand has, so the product is exact in [0, 1).
            let bits = element.fraction_bits().unwrap_or(52) + 1;
            let unit = (stream.next_u64() >> (64 - bits)) as f64 / (1u64 << bits) as f64;
            element.bytes_of_float(min + unit * (max - min))
        }
    };
    gathered(element, count, (0..count).flat_map(item))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integers(seed: u64, min: i128, max: i128, count: u64) -> Vec<i128> {
        let range = Range::Integers(min, max);
        let bytes = random(Element::Signed(8), count, &Random { seed, range });
        let value = |b: &[u8]| Element::Signed(8).to_integer(b);
        bytes.chunks(8).map(value).collect()
    }

    #[test]
    fn random_is_the_documented_generator() {
        // ChaCha12 with an all-zero key and nonce (the published test vector
        // "TC1" begins 9bf49a6a 0755f953).
        let range = Range::of(Element::Unsigned(8));
        let bytes = random(Element::Unsigned(8), 1, &Random { seed: 0, range });
        assert_eq!(bytes, [0x9b, 0xf4, 0x9a, 0x6a, 0x07, 0x55, 0xf9, 0x53]);
    }

    #[test]
    fn integers_reach_both_ends_and_nothing_beyond() {
        let values = integers(1, -3, 3, 1000);
        for v in -3..=3 {
            assert!(values.contains(&v), "{v}");
        }
        assert!(values.iter().all(|v| (-3..=3).contains(v)));
        assert_ne!(values, integers(2, -3, 3, 1000));
        assert_eq!(values, integers(1, -3, 3, 1000));
        assert_eq!(integers(1, 5, 5, 3), [5, 5, 5]);
    }

    #[test]
    fn floats_stay_below_the_upper_end() {
        for element in [Element::F16, Element::Bf16, Element::F32, Element::F64] {
            let range = Range::of(element);
            let bytes = random(element, 5000, &Random { seed: 3, range });
            let values = bytes.chunks(element.size()).map(|b| element.to_f64(b));
            let mean = values.clone().sum::<f64>() / 5000.0;
            assert!((mean - 0.5).abs() < 0.02, "{element:?} {mean}");
            assert!(values.clone().all(|v| (0.0..1.0).contains(&v)));
        }
    }

    #[test]
    fn iota_counts_and_wraps() {
        let bytes = iota(Element::Unsigned(1), 300);
        assert_eq!((bytes[255], bytes[256], bytes.len()), (255, 0, 300));
        assert_eq!(iota(Element::F32, 2)[4..], 1f32.to_le_bytes());
    }
}
