//! Bundles: named fields side by side in one vector.

use crate::signal::{Bits, Expr, Operand, Signal, concat};
use crate::size::Size;

/// A field of a bundle by its name, with its width.
pub(crate) type Field = (&'static str, Size);

/// The fields of a vector, the first in the low bits.
pub(crate) struct Bundle<const N: usize> {
    fields: [Field; N],
}

impl<const N: usize> Bundle<N> {
    pub(crate) fn new(fields: [Field; N]) -> Self {
        Bundle { fields }
    }

    /// Bits of them all.
    pub(crate) fn width(&self) -> usize {
        let bits = |(_, width): &Field| width.value().expect("a field has one width");
        self.fields.iter().map(bits).sum()
    }

    /// The fields of `vector`.
    #[track_caller]
    pub(crate) fn of(&self, vector: Signal) -> [Expr; N] {
        let mut from = Size::from(0);
        self.fields.map(|(_, width)| {
            let field = vector.part(from, width);
            from = from + width;
            field
        })
    }

    /// The vector that has these values as its fields.
    #[track_caller]
    pub(crate) fn with(&self, values: [Operand; N]) -> Expr {
        let fields = self.fields.into_iter().zip(values);
        let parts: Vec<_> = fields
            .map(|((name, width), value)| {
                if let Operand::Expr(value) = &value {
                    assert!(value.width.same(width), "the field {name}: {value:?}");
                }
                value.beside(width)
            })
            .collect();
        concat(parts.into_iter().rev())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter;

    fn offer() -> Bundle<3> {
        Bundle::new([
            ("kind", 4.into()),
            ("last", 1.into()),
            ("tag", Size::named("TG", 8)),
        ])
    }

    #[test]
    fn fields_lie_side_by_side_from_the_low_end() {
        assert_eq!(offer().width(), 13);
        let vector = Signal::new(0, "offer", 13.into());
        let texts = offer().of(vector).map(|field| adapter::text(&field.tree));
        assert_eq!(texts, ["offer[3:0]", "offer[4]", "offer[5 +: TG]"]);
        let tag = Signal::new(1, "tag", 8.into());
        let all = offer().with([7.into(), 0.into(), tag.into()]);
        assert_eq!(adapter::text(&all.tree), "{tag, 1'b0, 4'd7}");
    }

    #[test]
    #[should_panic(expected = "the field tag")]
    fn a_value_is_as_wide_as_its_field() {
        let tag = Signal::new(1, "tag", 7.into());
        offer().with([7.into(), 0.into(), tag.into()]);
    }
}
