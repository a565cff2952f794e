//! What rust-hdl's syntax tree cannot say, in one place.
//!
//! Its expressions and assignments are used as they are. They have no name for
//! a width and no index that a loop computes (`Slice` and `Cast` hold a
//! number), no concatenation and no replication, so these are leaves of the
//! tree, `Signal`s that hold their text. Its statements are those of one
//! combinational block: declarations, clocked blocks, `generate` and instances
//! with port expressions are items around them (`item`).

use crate::print;
use crate::size::Size;
use rust_hdl::core::ast::VerilogExpression;

/// The text of an expression.
pub(crate) fn text(tree: &VerilogExpression) -> String {
    print::text(tree)
}

/// The constant `value` of `width` bits: 0 is copied to a width with a name,
/// since a literal's width is a number in Verilog.
pub(crate) fn number(width: Size, value: usize) -> String {
    match (width.is_number(), width.text()) {
        (true, "1") => format!("1'b{value}"),
        (true, bits) => format!("{bits}'d{value}"),
        (false, _) if value == 0 => copies_of(width, "1'b0"),
        (false, bits) => panic!("{value} of {bits} bits"),
    }
}

/// The constant of `width` bits that are all `bit`.
pub(crate) fn all_bits(width: Size, bit: bool) -> String {
    let bit = if bit { "1'b1" } else { "1'b0" };
    match width.is_number() {
        true if bit == "1'b0" => number(width, 0),
        true if width.text() == "1" => bit.to_owned(),
        _ => copies_of(width, bit),
    }
}

/// `{width{bit}}`
pub(crate) fn copies(width: Size, bit: &VerilogExpression) -> String {
    copies_of(width, &text(bit))
}

fn copies_of(width: Size, bit: &str) -> String {
    let name = width.text();
    if name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        format!("{{{name}{{{bit}}}}}")
    } else {
        format!("{{({name}){{{bit}}}}}")
    }
}
