//! Error bounds of floating-point computations: values that carry how far the
//! machine's result may be from them.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Unit roundoff of single precision.
pub const U: f64 = 1.0 / (1u64 << 24) as f64;
/// Unit roundoff of double precision.
pub const U_DOUBLE: f64 = 1.0 / (1u64 << 53) as f64;

/// An exact value (up to double rounding) and a bound of what the machine,
/// which rounds after each operation, computes instead. An operation that is
/// contracted with the next one (FMA) rounds less, so the bound holds, too.
#[derive(Clone, Copy, Debug)]
pub struct Approx {
    pub value: f64,
    pub error: f64,
    pub unit: f64,
}

impl Approx {
    /// A number that the machine has exactly.
    pub fn exact(value: f32) -> Self {
        Approx {
            value: value.into(),
            error: 0.0,
            unit: U,
        }
    }

    /// A double that the machine has exactly.
    pub fn double(value: f64) -> Self {
        Approx {
            value,
            error: 0.0,
            unit: U_DOUBLE,
        }
    }

    /// A constant that the machine has rounded to single precision.
    pub fn constant(value: f64) -> Self {
        Approx {
            value,
            error: 0.0,
            unit: U,
        }
        .rounded(1.0)
    }

    /// After a function whose result is off by `times` half units in the last
    /// place.
    pub fn rounded(self, times: f64) -> Self {
        let error = self.error + times * self.unit * (self.value.abs() + self.error);
        Approx { error, ..self }
    }

    fn op(self, value: f64, error: f64) -> Self {
        Approx {
            value,
            error,
            unit: self.unit,
        }
        .rounded(1.0)
    }

    /// A function with slope of at most `slope` between here and the machine's
    /// argument, exact but for one rounding.
    pub fn map(self, f: impl Fn(f64) -> f64, slope: f64, roundings: f64) -> Self {
        Approx {
            value: f(self.value),
            error: self.error * slope,
            unit: self.unit,
        }
        .rounded(roundings)
    }

    /// The largest magnitude that the machine may have.
    pub fn largest(self) -> f64 {
        self.value.abs() + self.error
    }
}

impl Add for Approx {
    type Output = Self;
    fn add(self, b: Self) -> Self {
        self.op(self.value + b.value, self.error + b.error)
    }
}

impl Sub for Approx {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        self.op(self.value - b.value, self.error + b.error)
    }
}

impl Mul for Approx {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        let error = self.value.abs() * b.error + b.value.abs() * self.error + self.error * b.error;
        self.op(self.value * b.value, error)
    }
}

impl Div for Approx {
    type Output = Self;
    fn div(self, b: Self) -> Self {
        let value = self.value / b.value;
        let error = (self.error + value.abs() * b.error) / (b.value.abs() - b.error);
        self.op(value, error)
    }
}

impl Neg for Approx {
    type Output = Self;
    fn neg(self) -> Self {
        Approx {
            value: -self.value,
            ..self
        }
    }
}

/// A sum in whatever order: n - 1 additions at most on the way of each term.
pub fn sum(terms: impl IntoIterator<Item = Approx>) -> Approx {
    let (mut value, mut error, mut magnitude, mut count, mut unit) = (0.0, 0.0, 0.0, 0.0, U);
    for term in terms {
        value += term.value;
        error += term.error;
        magnitude += term.largest();
        count += 1.0;
        unit = term.unit;
    }
    let gamma = count * unit / (1.0 - count * unit);
    Approx {
        value,
        error: error + gamma * magnitude,
        unit,
    }
}

/// Asserts that what the machine computed is within the bounds, and that these
/// are tight enough to mean something.
pub fn assert_within(what: &str, got: &[f32], want: &[Approx]) {
    let wide: Vec<f64> = got.iter().map(|v| f64::from(*v)).collect();
    assert_within_double(what, &wide, want);
}

/// The same for doubles.
pub fn assert_within_double(what: &str, got: &[f64], want: &[Approx]) {
    assert_eq!(got.len(), want.len(), "{what}");
    let largest = want.iter().map(|w| w.value.abs()).fold(0.0, f64::max);
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        // Rounding of the reference itself, in double precision.
        let slack = 1e-13 * largest;
        let limit = w.error + if w.unit == U { slack } else { 0.0 };
        assert!(
            (g - w.value).abs() <= limit,
            "{what}[{i}]: {g} instead of {} +- {limit}",
            w.value
        );
        assert!(
            w.error <= 0.01 * largest.max(1.0),
            "{what}[{i}]: no bound: {w:?}"
        );
    }
}
