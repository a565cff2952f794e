//! Bundles: named fields side by side in one vector.

use crate::signal::{Bits, Expr, Operand, concat};
use crate::size::Size;

/// Declares a bundle, its fields with their widths, the first in the low bits:
///
/// ```text
/// bundle! {
///     /// What is offered.
///     Offer(s) { kind: 4, last: 1, tag: s.TG }
/// }
/// ```
///
/// `Offer::wires(&u, &s, "head")` declares `head_kind`, `head_last`, `head_tag`;
/// `offer.joined(&s)` is the vector; of wires, it can be given a value.
macro_rules! bundle {
    ($(#[$about:meta])* $name:ident($s:ident) { $($field:ident: $width:expr),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        pub(crate) struct $name<T = $crate::signal::Signal> {
            $(pub(crate) $field: T,)*
        }

        #[allow(dead_code, reason = "not every bundle is used in every way")]
        impl $name {
            /// A wire for each field, called by its name, `prefix` in front.
            #[track_caller]
            pub(crate) fn wires(
                u: &$crate::unit::UnitBuilder,
                $s: &$crate::params::Sizes,
                prefix: &str,
            ) -> Self {
                $name {
                    $($field: u.wire(&$crate::bundle::named(prefix, stringify!($field)), $width),)*
                }
            }

            /// The fields as parts of a vector.
            pub(crate) fn parts(
                $s: &$crate::params::Sizes,
                vector: $crate::signal::Signal,
            ) -> $name<$crate::signal::Expr> {
                let mut from = $crate::size::Size::from(0);
                let mut next = |width| {
                    let part = $crate::signal::Bits::part(vector, from, width);
                    from = from + width;
                    part
                };
                $name {
                    $($field: next($crate::size::Size::from($width)),)*
                }
            }

            /// Bits of the vector.
            pub(crate) fn bits($s: &$crate::params::Sizes) -> usize {
                let widths = [$($crate::size::Size::from($width)),*];
                widths.iter().filter_map(|width| width.value()).sum()
            }
        }

        #[allow(dead_code, reason = "not every bundle is used in every way")]
        impl<T: Into<$crate::signal::Operand>> $name<T> {
            /// The fields with their values.
            pub(crate) fn values(self, $s: &$crate::params::Sizes) -> $crate::bundle::Values {
                let fields = [
                    $((stringify!($field), $crate::size::Size::from($width), self.$field.into()),)*
                ];
                $crate::bundle::Values(fields.into())
            }

            /// The values.
            pub(crate) fn fields(self) -> Vec<T> {
                vec![$(self.$field),*]
            }

            /// The vector.
            pub(crate) fn joined(self, $s: &$crate::params::Sizes) -> $crate::signal::Expr {
                self.values($s).joined()
            }
        }
    };
}
pub(crate) use bundle;

/// The name of a field after a prefix, which may be empty.
pub(crate) fn named(prefix: &str, field: &str) -> String {
    match prefix {
        "" => field.to_owned(),
        prefix => format!("{prefix}_{field}"),
    }
}

/// The fields of a bundle: name, width and value.
pub(crate) struct Values(pub(crate) Vec<(&'static str, Size, Operand)>);

impl Values {
    /// The values side by side, the first in the low bits.
    #[track_caller]
    pub(crate) fn joined(self) -> Expr {
        let parts: Vec<_> = self
            .0
            .into_iter()
            .map(|(name, width, value)| {
                if let Operand::Expr(value) = &value {
                    assert!(value.width.same(width), "the field {name}: {value:?}");
                }
                // With the field's name for its width, since a port of one bit has none.
                value.beside(width).of_width(width)
            })
            .collect();
        concat(parts.into_iter().rev())
    }
}

#[cfg(test)]
mod tests {
    use crate::address_widths::AddressWidths;
    use crate::machine::Machine;
    use crate::module::UnitDoc;
    use crate::params::Params;
    use crate::signal::Operand;
    use crate::unit::UnitBuilder;
    use spadkit_names::HashKind;

    bundle! {
        /// What is offered.
        Offer(s) { kind: 4, last: 1, tag: s.TG }
    }

    fn unit() -> (UnitBuilder, Params) {
        let geometry = AddressWidths {
            addr_bits: 10,
            bank_bits: 3,
        };
        let machine = Machine::of_geometry(geometry, HashKind::Matrix);
        let u = UnitBuilder::new(UnitDoc::part("unit", "a unit.", "none".into(), "1"));
        (u, Params::of(&machine))
    }

    #[test]
    fn fields_lie_side_by_side_from_the_low_end() {
        let (u, p) = unit();
        let s = u.all_sizes(&p);
        let (tag, offer) = (u.input("tag", s.TG, "a tag"), u.input("offer", 13, "all"));
        let out = u.output("out", 13, "an offer");
        let head = Offer::wires(&u, &s, "head");
        u.assign(head.joined(&s), offer);
        let again = Offer::<Operand> {
            kind: 7.into(),
            last: head.last.into(),
            tag: tag.into(),
        };
        u.assign(out, again.joined(&s));
        let text = u.emit().unwrap().file.text;
        let expected = "    localparam TG = 8;\n    wire [3:0] head_kind;\n    \
                        wire head_last;\n    wire [TG-1:0] head_tag;\n    \
                        assign {head_tag, head_last, head_kind} = offer;\n    \
                        assign out = {tag, head_last, 4'd7};\nendmodule\n";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    #[should_panic(expected = "the field tag")]
    fn a_value_is_as_wide_as_its_field() {
        let (u, p) = unit();
        let s = u.all_sizes(&p);
        let tag = u.input("tag", 7, "a tag");
        let (kind, last) = (1.into(), 0.into());
        let offer = Offer::<Operand> {
            kind,
            last,
            tag: tag.into(),
        };
        offer.joined(&s);
    }
}
