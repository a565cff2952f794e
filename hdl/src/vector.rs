//! Parameters of a Verilog module that are vectors of bits.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A vector of bits that an instance may set; in JSON with its width, and its default
/// as a number of Verilog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Name of the vector.
    pub name: String,
    /// Description of the vector.
    pub doc: String,
    /// Fields of the vector, from the low bits on: width and default of each.
    pub fields: Vec<(usize, u64)>,
}

impl Vector {
    /// Bits.
    #[must_use]
    pub fn width(&self) -> usize {
        self.fields.iter().map(|(width, _)| width).sum()
    }

    /// The default as a number of Verilog, `12'h0a4`.
    #[must_use]
    pub fn value(&self) -> String {
        literal(&self.bits())
    }

    /// The default as a number of Verilog, with several numbers side by side where
    /// one would be long.
    pub(crate) fn value_in_lines(&self) -> String {
        let bits = self.bits();
        if bits.len() <= LONGEST {
            return literal(&bits);
        }
        let parts = bits.chunks(LONGEST).rev().map(literal);
        let parts = parts.collect::<Vec<_>>().join(",\n        ");
        format!("{{\n        {parts}\n    }}")
    }

    /// `parameter [11:0] NAME = 12'h0a4,`
    pub(crate) fn declared(&self, comma: &str) -> String {
        let (last, value) = (self.width() - 1, self.value_in_lines());
        format!("parameter [{last}:0] {} = {value}{comma}", self.name)
    }

    /// The bits of the default.
    fn bits(&self) -> Vec<bool> {
        let fields = self.fields.iter();
        let bits = fields.flat_map(|(width, value)| (0..*width).map(move |i| value >> i & 1 == 1));
        bits.collect()
    }
}

/// The longest vector, in bits, that is printed on the line of its name.
const LONGEST: usize = 192;

/// The bits, the low one first, as a number of Verilog.
fn literal(bits: &[bool]) -> String {
    let digit = |bits: &[bool]| {
        let bits = bits.iter().rev();
        bits.fold(0, |all, bit| 2 * all + u32::from(*bit))
    };
    let digits = bits
        .chunks(4)
        .rev()
        .map(|four| format!("{:x}", digit(four)));
    format!("{}'h{}", bits.len(), digits.collect::<String>())
}

impl Serialize for Vector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Vector", 4)?;
        fields.serialize_field("name", &self.name)?;
        fields.serialize_field("width", &self.width())?;
        fields.serialize_field("value", &self.value())?;
        fields.serialize_field("doc", &self.doc)?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lie_side_by_side_from_the_low_bits_on() {
        let vector = |fields: &[(usize, u64)]| Vector {
            name: "RESET".into(),
            doc: String::new(),
            fields: fields.to_vec(),
        };
        let three = vector(&[(3, 5), (4, 2), (5, 17)]);
        assert_eq!(three.width(), 12);
        // 10001 0010 101
        assert_eq!(three.declared(","), "parameter [11:0] RESET = 12'h895,");
        assert_eq!(
            vector(&[(1, 1)]).declared(""),
            "parameter [0:0] RESET = 1'h1"
        );
        assert_eq!(vector(&[(6, 33)]).value(), "6'h21");
        let long = vector(&[(64, 0), (64, 1), (64, 2), (6, 33)]);
        assert_eq!(long.value().len(), "198'h".len() + 50);
        let (zeros, low) = ("0".repeat(15), "0".repeat(16));
        let lines = format!("{{\n        6'h21,\n        192'h{zeros}2{zeros}1{low}\n    }}");
        assert_eq!(long.value_in_lines(), lines);
    }
}
