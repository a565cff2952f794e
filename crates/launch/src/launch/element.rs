//! Element types of buffers and scalars, and their bytes in memory.

use spadkit_base::input::section::{Number, Section, Source};

/// The type of a buffer's elements or of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// A signed integer of that many bytes.
    Signed(u8),
    /// An unsigned integer of that many bytes.
    Unsigned(u8),
    /// IEEE half precision.
    F16,
    /// The upper half of a single-precision number.
    Bf16,
    /// IEEE single precision.
    F32,
    /// IEEE double precision.
    F64,
    /// Bytes without a meaning: a struct, or a buffer of anything.
    Bytes,
}

/// Every name, as a launch file writes it.
const NAMES: [(&str, Element); 13] = [
    ("s8", Element::Signed(1)),
    ("u8", Element::Unsigned(1)),
    ("s16", Element::Signed(2)),
    ("u16", Element::Unsigned(2)),
    ("s32", Element::Signed(4)),
    ("u32", Element::Unsigned(4)),
    ("s64", Element::Signed(8)),
    ("u64", Element::Unsigned(8)),
    ("f16", Element::F16),
    ("bf16", Element::Bf16),
    ("f32", Element::F32),
    ("f64", Element::F64),
    ("bytes", Element::Bytes),
];

impl Element {
    /// The names of all types, for messages.
    pub fn names() -> String {
        NAMES.map(|(name, _)| name).join(", ")
    }

    /// The type of that name.
    pub fn parse(name: &str) -> Option<Self> {
        NAMES.iter().find(|(n, _)| *n == name).map(|(_, e)| *e)
    }

    /// Name of the element type in a launch file.
    pub fn name(self) -> &'static str {
        let named = NAMES.iter().find(|(_, e)| *e == self);
        named.map_or("bytes", |(name, _)| name)
    }

    /// Bytes of one element.
    pub fn size(self) -> usize {
        match self {
            Element::Signed(n) | Element::Unsigned(n) => n.into(),
            Element::Bytes => 1,
            Element::F16 | Element::Bf16 => 2,
            Element::F32 => 4,
            Element::F64 => 8,
        }
    }

    /// Smallest and largest value of an integer type; bytes are unsigned.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        match self {
            Element::Signed(n) => Some((-(1 << (8 * n - 1)), (1 << (8 * n - 1)) - 1)),
            Element::Unsigned(n) => Some((0, (1 << (8 * n)) - 1)),
            Element::Bytes => Some((0, 255)),
            _ => None,
        }
    }

    /// Explicit fraction bits of a floating-point type.
    pub fn fraction_bits(self) -> Option<u32> {
        match self {
            Element::F16 => Some(10),
            Element::Bf16 => Some(7),
            Element::F32 => Some(23),
            Element::F64 => Some(52),
            _ => None,
        }
    }

    /// The bytes of an integer, cut to the type's width, or of the nearest
    /// floating-point number.
    pub fn bytes_of_integer(self, value: i128) -> Vec<u8> {
        match self {
            Element::Signed(_) | Element::Unsigned(_) | Element::Bytes => {
                value.to_le_bytes()[..self.size()].to_vec()
            }
            _ => self.bytes_of_float(value as f64),
        }
    }

    /// The bytes of the number of this type that is nearest to `value` (ties to
    /// even); integers take the integer part.
    pub fn bytes_of_float(self, value: f64) -> Vec<u8> {
        match self {
            Element::F16 => narrow(value, 5, 10).to_le_bytes().to_vec(),
            Element::Bf16 => narrow(value, 8, 7).to_le_bytes().to_vec(),
            Element::F32 => (value as f32).to_le_bytes().to_vec(),
            Element::F64 => value.to_le_bytes().to_vec(),
            _ => self.bytes_of_integer(value as i128),
        }
    }

    /// The bytes of a number that a launch file gives; otherwise what is wrong.
    pub fn bytes_of(self, number: &Number) -> Result<Vec<u8>, String> {
        match self.integer_range() {
            Some(range) => self.integer(number, range),
            None => self.float(number).map(|v| self.bytes_of_float(v)),
        }
    }

    fn integer(self, number: &Number, (min, max): (i128, i128)) -> Result<Vec<u8>, String> {
        let value = match number {
            Number::Integer(i) => Some(*i),
            Number::Float(_) => None,
            Number::Text(text) => parse_integer(text),
        };
        match value {
            None => Err("not an integer".to_owned()),
            Some(v) if (min..=max).contains(&v) => Ok(self.bytes_of_integer(v)),
            Some(_) => Err(format!("out of range of {}", self.name())),
        }
    }

    /// A number as floating point; otherwise what is wrong.
    pub fn float(self, number: &Number) -> Result<f64, String> {
        match number {
            Number::Integer(i) => Ok(*i as f64),
            Number::Float(f) => Ok(*f),
            Number::Text(text) => text.parse().map_err(|_| "not a number".to_owned()),
        }
    }

    /// The notation of a value of this type, for messages.
    pub fn expected(self) -> String {
        match self.integer_range() {
            Some((min, max)) => format!(
                "expected an integer from {min} to {max}, or a string with one (decimal or 0x...)"
            ),
            None => "expected a number, or a string with one (\"nan\" and \"inf\", too)".to_owned(),
        }
    }

    /// Element `bytes` as a floating-point number; exact except for 64-bit
    /// integers.
    pub fn to_f64(self, bytes: &[u8]) -> f64 {
        match self {
            Element::F16 => widen(u16::from_le_bytes([bytes[0], bytes[1]]), 5, 10),
            Element::Bf16 => widen(u16::from_le_bytes([bytes[0], bytes[1]]), 8, 7),
            Element::F32 => f32::from_le_bytes(bytes.try_into().expect("4 bytes")).into(),
            Element::F64 => f64::from_le_bytes(bytes.try_into().expect("8 bytes")),
            Element::Signed(_) | Element::Unsigned(_) | Element::Bytes => {
                self.to_integer(bytes) as f64
            }
        }
    }

    /// Element `bytes` of an integer type.
    pub fn to_integer(self, bytes: &[u8]) -> i128 {
        let negative = matches!(self, Element::Signed(_)) && bytes.last().is_some_and(|b| *b > 127);
        let mut wide = [if negative { 255 } else { 0 }; 16];
        wide[..bytes.len()].copy_from_slice(bytes);
        i128::from_le_bytes(wide)
    }
}

/// The type that the key `type` of a table names.
pub(super) fn parse_element(
    section: &Section,
    source: &Source,
) -> spadkit_base::error::Result<Element> {
    let expected = format!("one of {}", Element::names());
    let name = section.required_string("type", &expected)?;
    Element::parse(&name.value).ok_or_else(|| {
        let what = format!("there is no type '{}'", name.value);
        source.error(what, format!("expected {expected}"), name.offset)
    })
}

/// A decimal or 0x integer with a sign.
fn parse_integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    // from_str_radix would take a second sign.
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let value = match digits.strip_prefix("0x") {
        Some(hex) if hex.starts_with(['+', '-']) => return None,
        Some(hex) => i128::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}

/// The 16-bit number with that many exponent and fraction bits which is nearest
/// to `value`, ties to even.
fn narrow(value: f64, exponent_bits: i32, fraction_bits: i32) -> u16 {
    let bias = (1 << (exponent_bits - 1)) - 1;
    let sign = u16::from(value.is_sign_negative()) << 15;
    let infinity = (((1u32 << exponent_bits) - 1) << fraction_bits) as u16;
    if value.is_nan() {
        return sign | infinity | 1 << (fraction_bits - 1);
    }
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return sign;
    }
    // Subnormal numbers all have the exponent of the smallest normal one.
    let exponent = (((magnitude.to_bits() >> 52) as i32) - 1023).max(1 - bias);
    if exponent > bias {
        return sign | infinity;
    }
    // An integer and its fraction: rounding carries into the exponent by itself.
    let scaled = magnitude * 2f64.powi(fraction_bits - exponent);
    let rounded = scaled.round_ties_even() as u32;
    let base = ((exponent + bias - 1) << fraction_bits) as u32;
    sign | (base + rounded).min(infinity.into()) as u16
}

fn widen(bits: u16, exponent_bits: i32, fraction_bits: i32) -> f64 {
    let bias = (1 << (exponent_bits - 1)) - 1;
    let exponent = i32::from(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    let fraction = f64::from(bits & ((1 << fraction_bits) - 1));
    let one = 2f64.powi(fraction_bits);
    let magnitude = match exponent {
        0 => fraction / one * 2f64.powi(1 - bias),
        e if e == (1 << exponent_bits) - 1 && fraction == 0.0 => f64::INFINITY,
        e if e == (1 << exponent_bits) - 1 => f64::NAN,
        e => (1.0 + fraction / one) * 2f64.powi(e - bias),
    };
    if bits >> 15 == 1 {
        -magnitude
    } else {
        magnitude
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bit_floats_go_there_and_back() {
        for (element, exponent_bits, fraction_bits) in
            [(Element::F16, 5, 10), (Element::Bf16, 8, 7)]
        {
            for bits in 0..=u16::MAX {
                let value = widen(bits, exponent_bits, fraction_bits);
                if !value.is_nan() {
                    let bytes = element.bytes_of_float(value);
                    assert_eq!(bytes, bits.to_le_bytes(), "{bits:#x}");
                    assert_eq!(element.to_f64(&bytes), value);
                }
            }
        }
    }

    #[test]
    fn half_precision_rounds_to_even_and_overflows_at_the_right_place() {
        let f16 = |v| Element::F16.to_f64(&Element::F16.bytes_of_float(v));
        assert_eq!(f16(2049.0), 2048.0);
        assert_eq!(f16(2051.0), 2052.0);
        assert_eq!(f16(65519.0), 65504.0);
        assert_eq!(f16(65520.0), f64::INFINITY);
        // Half the smallest subnormal is a tie with zero.
        assert_eq!(f16(2f64.powi(-25)), 0.0);
        assert_eq!(f16(1.5 * 2f64.powi(-25)), 2f64.powi(-24));
        assert!(f16(f64::NAN).is_nan());
        // bfloat16: the upper half of a single, rounded.
        for v in [1.0f32, 2.71, 1e-40, 3.3e38, 65535.0, -0.1] {
            let bits = v.to_bits();
            let rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
            let bytes = Element::Bf16.bytes_of_float(v.into());
            assert_eq!(bytes, (rounded as u16).to_le_bytes(), "{v}");
        }
    }

    #[test]
    fn values_are_checked_against_the_type() {
        let text = |s: &str| Number::Text(s.to_owned());
        let u64_max = Element::Unsigned(8).bytes_of(&text("0xffffffffffffffff"));
        assert_eq!(u64_max.unwrap(), [255; 8]);
        let s8 = |n: Number| Element::Signed(1).bytes_of(&n);
        assert_eq!(s8(Number::Integer(-128)).unwrap(), [0x80]);
        assert_eq!(s8(text("-0x80")).unwrap(), [0x80]);
        assert!(s8(Number::Integer(128)).is_err());
        assert!(s8(Number::Float(1.0)).is_err());
        for bad in ["", "-", "--1", "+1", "0x", "0x-1", "1e3", " 1"] {
            assert!(s8(text(bad)).is_err(), "{bad:?}");
        }
        let f32 = |n: Number| Element::F32.bytes_of(&n);
        assert_eq!(f32(text("inf")).unwrap(), f32::INFINITY.to_le_bytes());
        assert_eq!(f32(Number::Integer(3)).unwrap(), 3f32.to_le_bytes());
        assert!(f32(text("one")).is_err());
    }

    #[test]
    fn integers_are_sign_extended_as_their_type_says() {
        assert_eq!(Element::Signed(2).to_integer(&[0xff, 0xff]), -1);
        assert_eq!(Element::Unsigned(2).to_integer(&[0xff, 0xff]), 65535);
        assert_eq!(
            Element::Signed(8).integer_range().unwrap().0,
            i64::MIN.into()
        );
    }
}
