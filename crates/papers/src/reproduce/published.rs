//! Values as a paper prints them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ops::Range;

/// A published value: a number with its printed decimals, or a direction.
#[derive(Clone, Debug)]
pub struct Published {
    value: Value,
    /// Position of the value in the data file.
    span: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Number { value: f64, decimals: u32 },
    Up,
    Down,
}

/// Equality ignores the position in the file.
impl PartialEq for Published {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Published {
    /// A number with this many printed decimals.
    pub fn number_of(value: f64, decimals: u32) -> Self {
        Published {
            value: Value::Number { value, decimals },
            span: 0..0,
        }
    }

    /// The number; none for a direction.
    pub fn number(&self) -> Option<f64> {
        match self.value {
            Value::Number { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Decimals that the paper prints; 0 for a direction.
    pub fn decimals(&self) -> u32 {
        match self.value {
            Value::Number { decimals, .. } => decimals,
            _ => 0,
        }
    }

    /// Half a unit of the last printed decimal; of a direction what rounding leaves.
    pub fn resolution(&self) -> f64 {
        match self.value {
            Value::Number { decimals, .. } => half_unit(decimals),
            Value::Up | Value::Down => ROUNDING,
        }
    }

    /// 1 up, -1 down, 0 neither: the side of `neutral` on which it lies.
    pub fn direction(&self, neutral: f64) -> i8 {
        match self.value {
            Value::Number { value, .. } => sign(value - neutral, ROUNDING),
            Value::Up => 1,
            Value::Down => -1,
        }
    }

    /// Takes the decimals from the text of the data file, which has `1.20`
    /// where the number is 1.2; `given` decimals stand for all values.
    pub(super) fn resolve(&mut self, text: &str, given: Option<u32>) {
        if let Value::Number { decimals, .. } = &mut self.value {
            let printed = text.get(self.span.clone()).unwrap_or_default();
            *decimals = given.unwrap_or_else(|| decimals_of(printed));
        }
    }

    /// The value in the paper's notation.
    pub fn text(&self) -> String {
        match self.value {
            Value::Number { value, decimals } => format!("{value:.*}", decimals as usize),
            Value::Up => "up".to_owned(),
            Value::Down => "down".to_owned(),
        }
    }

    fn of(value: &toml::Value, span: Range<usize>) -> Result<Self, String> {
        let expected = "expected a number as the paper prints it, \"up\" or \"down\"";
        let wrong = || format!("published value {value}: {expected}");
        let value = match value {
            toml::Value::Float(value) if value.is_finite() => Value::Number {
                value: *value,
                decimals: decimals_of(&value.to_string()),
            },
            toml::Value::Integer(value) => Value::Number {
                value: *value as f64,
                decimals: 0,
            },
            toml::Value::String(text) if text == "up" => Value::Up,
            toml::Value::String(text) if text == "down" => Value::Down,
            _ => return Err(wrong()),
        };
        Ok(Published { value, span })
    }
}

/// Half a unit of the last decimal.
pub(super) fn half_unit(decimals: u32) -> f64 {
    0.5 * 0.1_f64.powi(decimals.min(15) as i32)
}

/// Differences that only rounding makes.
const ROUNDING: f64 = 1e-9;

/// -1, 0 or 1; what is no further from 0 than `least` is 0.
pub(super) fn sign(value: f64, least: f64) -> i8 {
    match value {
        v if v > least => 1,
        v if v < -least => -1,
        _ => 0,
    }
}

fn decimals_of(printed: &str) -> u32 {
    let digits = |s: &str| s.chars().take_while(char::is_ascii_digit).count() as u32;
    printed.split_once('.').map_or(0, |(_, part)| digits(part))
}

impl<'de> Deserialize<'de> for Published {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = toml::Spanned::<toml::Value>::deserialize(deserializer)?;
        let span = value.span();
        Published::of(value.get_ref(), span).map_err(serde::de::Error::custom)
    }
}

impl Serialize for Published {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Number { value, .. } => serializer.serialize_f64(value),
            Value::Up => serializer.serialize_str("up"),
            Value::Down => serializer.serialize_str("down"),
        }
    }
}
