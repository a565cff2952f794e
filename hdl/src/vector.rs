//! Parameters of a Verilog module that are vectors of bits.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A vector of bits that an instance may set; in JSON with its width, and its default
/// as a number of Verilog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Its name.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// What it consists of, from the low bits on: width and default of each.
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
        let bits: Vec<bool> = (self.fields.iter())
            .flat_map(|(width, value)| (0..*width).map(move |bit| value >> bit & 1 == 1))
            .collect();
        let digit = |bits: &[bool]| {
            bits.iter()
                .rev()
                .fold(0, |all, bit| 2 * all + u32::from(*bit))
        };
        let digits = bits
            .chunks(4)
            .rev()
            .map(|four| format!("{:x}", digit(four)));
        format!("{}'h{}", bits.len(), digits.collect::<String>())
    }

    /// Its declaration without the keyword.
    pub(crate) fn declared(&self) -> String {
        let range = format!("[{}:0] ", self.width() - 1);
        let range = if self.width() == 1 { "" } else { &range };
        format!("{range}{} = {}", self.name, self.value())
    }
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
        assert_eq!(three.declared(), "[11:0] RESET = 12'h895");
        assert_eq!(vector(&[(1, 1)]).declared(), "RESET = 1'h1");
        assert_eq!(vector(&[(6, 33)]).value(), "6'h21");
        assert_eq!(
            vector(&[(64, 0); 2]).value(),
            format!("128'h{}", "0".repeat(32))
        );
    }
}
