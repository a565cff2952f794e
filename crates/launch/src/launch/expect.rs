//! The expected content of a buffer after the run.

use super::element::Element;
use std::path::PathBuf;

/// The expected content of a buffer after the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// A .npy or .raw file.
    pub file: PathBuf,
    /// Largest error, as [`Comparison::max_error`] has it; 0: the same bits.
    pub tolerance: f64,
}

/// The comparison of a buffer with its expected content.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Whether every element is within the tolerance.
    pub ok: bool,
    /// The largest |a - b| / max(1, |b|), a being the result and b what was
    /// expected; infinite where one of them alone is NaN or infinite.
    pub max_error: f64,
    /// Index of the first element that is not within the tolerance.
    pub first: Option<usize>,
}

/// Compares two buffers of the same length.
pub fn compare(element: Element, result: &[u8], expected: &[u8], tolerance: f64) -> Comparison {
    let size = element.size();
    let mut all = Comparison {
        ok: true,
        max_error: 0.0,
        first: None,
    };
    let pairs = result.chunks_exact(size).zip(expected.chunks_exact(size));
    for (i, (a, b)) in pairs.enumerate().filter(|(_, (a, b))| a != b) {
        let error = error(element, a, b);
        all.max_error = all.max_error.max(error);
        // Zeros of both signs differ in their bits alone.
        if tolerance == 0.0 || error > tolerance {
            all.ok = false;
            all.first.get_or_insert(i);
        }
    }
    all
}

fn error(element: Element, a: &[u8], b: &[u8]) -> f64 {
    if element.integer_range().is_some() {
        let (a, b) = (element.to_integer(a), element.to_integer(b));
        return a.abs_diff(b) as f64 / b.abs().max(1) as f64;
    }
    let (a, b) = (element.to_f64(a), element.to_f64(b));
    let error = (a - b).abs() / b.abs().max(1.0);
    match a.is_nan() && b.is_nan() || a == b {
        true => 0.0,
        false if error.is_nan() => f64::INFINITY,
        false => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    fn compared(a: &[f32], b: &[f32], tolerance: f64) -> Comparison {
        compare(Element::F32, &floats(a), &floats(b), tolerance)
    }

    #[test]
    fn the_error_is_absolute_below_one_and_relative_above() {
        let c = compared(&[0.5, 101.0], &[0.25, 100.0], 0.1);
        assert_eq!((c.ok, c.max_error, c.first), (false, 0.25, Some(0)));
        assert!(compared(&[101.0], &[100.0], 0.01).ok);
        assert!(!compared(&[101.0], &[100.0], 0.009).ok);
    }

    #[test]
    fn without_tolerance_the_bits_count() {
        assert!(!compared(&[0.0], &[-0.0], 0.0).ok);
        assert!(compared(&[0.0], &[-0.0], 1e-30).ok);
        assert!(compared(&[f32::NAN], &[f32::NAN], 0.0).ok);
    }

    #[test]
    fn nan_and_infinity_match_only_themselves() {
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        assert!(compared(&[-nan, inf], &[nan, inf], 1.0).ok);
        for (a, b) in [(nan, 1.0), (1.0, nan), (inf, 1.0), (1.0, inf), (inf, -inf)] {
            let c = compared(&[a], &[b], 1e30);
            assert!(!c.ok && c.max_error == f64::INFINITY, "{a} {b}");
        }
    }

    #[test]
    fn integers_do_not_lose_bits() {
        let bytes = |v: u64| v.to_le_bytes();
        let element = Element::Unsigned(8);
        let c = compare(element, &bytes(u64::MAX), &bytes(u64::MAX - 1), 0.0);
        assert!(!c.ok && c.first == Some(0));
        let c = compare(Element::Signed(1), &[3], &[255], 4.0);
        assert!(c.ok && c.max_error == 4.0);
    }
}
