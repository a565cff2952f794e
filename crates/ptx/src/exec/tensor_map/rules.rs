//! Rules of CUDA for a tensor map (driver API, `cuTensorMapEncodeTiled` and
//! `cuTensorMapEncodeIm2col`).

use super::{Boxed, MOST_DIMENSIONS, TensorMap};

/// A rule that a map breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The key of a launch file that says it.
    pub key: &'static str,
    /// The error.
    pub what: String,
    /// The values that are expected.
    pub expected: String,
}

/// A note on the order of dimensions: arrays of most languages have theirs the other way.
const INNERMOST: &str = " (0 is the innermost)";
/// Addresses and strides are multiples of it, and rows of a box.
const UNIT: u64 = 16;
/// Elements of a box in one dimension, and channels of a pixel.
const MOST_ELEMENTS: u32 = 256;
const MOST_PIXELS: u32 = 1024;
const MOST_STEP: u32 = 8;
const MOST_EXTENT: u64 = 1 << 32;
/// Strides are below it.
const STRIDE_END: u64 = 1 << 40;

impl Wrong {
    pub(super) fn new(key: &'static str, what: &str, expected: &str) -> Self {
        Wrong {
            key,
            what: what.to_owned(),
            expected: format!("expected {expected}"),
        }
    }

    pub(super) fn rank(rank: usize) -> Self {
        let what = format!("{rank} dimensions");
        Wrong::new("extent", &what, &format!("1 to {MOST_DIMENSIONS}"))
    }
}

/// The first of some values that is outside of a range; they are of dimensions
/// from `first` on.
fn all_in<T: Copy + PartialOrd + std::fmt::Display>(
    key: &'static str,
    what: &str,
    (first, values): (usize, &[T]),
    range: std::ops::RangeInclusive<T>,
) -> Result<(), Wrong> {
    match values.iter().position(|v| !range.contains(v)) {
        None => Ok(()),
        Some(at) => Err(Wrong::new(
            key,
            &format!(
                "{what} {} in dimension {}{INNERMOST}",
                values[at],
                first + at
            ),
            &format!("{} to {}", range.start(), range.end()),
        )),
    }
}

impl TensorMap {
    /// Whether the map is one that CUDA takes; otherwise the first rule that it
    /// breaks.
    pub fn check(&self) -> Result<(), Wrong> {
        let rank = self.extent.len();
        if !(1..=MOST_DIMENSIONS).contains(&rank) {
            return Err(Wrong::rank(rank));
        }
        all_in("extent", "an extent of", (0, &self.extent), 1..=MOST_EXTENT)?;
        if !self.address.is_multiple_of(UNIT) {
            let what = format!("the tensor begins at address {:#x}", self.address);
            return Err(Wrong::new("offset", &what, "a multiple of 16"));
        }
        self.check_strides()?;
        // That of the innermost dimension is ignored.
        let counted = self.steps.get(1..).unwrap_or(&[]);
        if let Some(at) = counted.iter().position(|s| !(1..=MOST_STEP).contains(s)) {
            let what = format!(
                "an element stride of {} in dimension {}{INNERMOST}",
                counted[at],
                at + 1
            );
            return Err(Wrong::new("element_strides", &what, "1 to 8"));
        }
        match &self.boxed {
            Boxed::Tile(extent) => {
                all_in("box", "a box of", (0, extent), 1..=MOST_ELEMENTS)?;
                self.check_row("box")?;
            }
            Boxed::Pixels { .. } => self.check_pixels()?,
        }
        if self.nan_fill && !self.element.is_float() {
            let what = format!("elements of {} have no NaN", self.element.text());
            return Err(Wrong::new("fill", &what, "zeros, or a floating-point type"));
        }
        Ok(())
    }

    fn check_strides(&self) -> Result<(), Wrong> {
        let good = |stride: u64| stride.is_multiple_of(UNIT) && stride < STRIDE_END;
        match self.strides.iter().position(|s| !good(*s)) {
            None => Ok(()),
            Some(at) => Err(Wrong::new(
                "strides",
                &format!(
                    "a stride of {} bytes in dimension {}{INNERMOST}",
                    self.strides[at],
                    at + 1
                ),
                "a multiple of 16 below 2^40",
            )),
        }
    }

    /// Rows are whole units, and fit into the span of the swizzle.
    fn check_row(&self, key: &'static str) -> Result<(), Wrong> {
        let (bytes, span) = (self.row_bytes(), self.swizzle.span());
        let what = format!("rows of {bytes} bytes");
        if !bytes.is_multiple_of(UNIT) {
            return Err(Wrong::new(key, &what, "a multiple of 16"));
        }
        if span > 0 && bytes > span {
            let expected = format!("at most {span}, the span of the swizzle");
            return Err(Wrong::new(key, &what, &expected));
        }
        Ok(())
    }

    fn check_pixels(&self) -> Result<(), Wrong> {
        let Boxed::Pixels {
            lower,
            upper,
            channels,
            count,
        } = &self.boxed
        else {
            return Ok(());
        };
        let rank = self.extent.len();
        if rank < 3 {
            let what = format!("an image of {rank} dimensions");
            return Err(Wrong::new(
                "extent",
                &what,
                "3 to 5: channels, width, ..., images",
            ));
        }
        // CUDA has this many bits for a corner.
        let most = match rank {
            3 => i32::from(i16::MAX),
            4 => i32::from(i8::MAX),
            _ => 15,
        };
        all_in("lower", "a corner of", (1, lower), -most - 1..=most)?;
        all_in("upper", "a corner of", (1, upper), -most - 1..=most)?;
        for (at, (low, high)) in lower.iter().zip(upper).enumerate() {
            let last = self.extent[at + 1] as i64 - 1 + i64::from(*high);
            if last < i64::from(*low) {
                let what = format!("no pixel in dimension {}{INNERMOST}", at + 1);
                return Err(Wrong::new(
                    "upper",
                    &what,
                    "a last coordinate that is not before the first",
                ));
            }
        }
        for (key, n, most) in [
            ("channels", *channels, MOST_ELEMENTS),
            ("pixels", *count, MOST_PIXELS),
        ] {
            if !(1..=most).contains(&n) {
                return Err(Wrong::new(
                    key,
                    &format!("{n} {key}"),
                    &format!("1 to {most}"),
                ));
            }
        }
        self.check_row("channels")
    }
}
