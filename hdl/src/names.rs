//! Names of a module that differ only by case.

use std::collections::BTreeMap;

/// Two names in a module's text that differ only by case. Verilog tells them
/// apart. A reader, VHDL and some netlists do not, and Verilator warns of them.
pub(crate) fn alike(text: &str) -> Option<[&str; 2]> {
    let mut known = BTreeMap::new();
    let mut pairs = text.lines().flat_map(names).map(|name| {
        let first = *known.entry(name.to_lowercase()).or_insert(name);
        [first.min(name), first.max(name)]
    });
    pairs.find(|[a, b]| a != b)
}

/// The names in a line of code, without those of other modules' ports.
fn names(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let code = line.split('"').next().unwrap_or_default();
    let code = code.split("//").next().unwrap_or_default();
    let starts = code.char_indices().scan(' ', move |before, (at, c)| {
        let before = std::mem::replace(before, c);
        Some((at, c, before))
    });
    let starts = starts.filter(move |(_, c, before)| {
        // After a quote are the digits of a number.
        let begins = !is_part(*before) && !matches!(before, '.' | '\'');
        begins && is_part(*c) && !c.is_ascii_digit()
    });
    starts.map(move |(at, ..)| {
        let rest = &code[at..];
        &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_only_by_case_are_found() {
        let text = "    localparam W = 4;\n    genvar w;\n";
        assert_eq!(alike(text), Some(["W", "w"]));
        let text = "    wire [DB-1:0] be;\n    wire Be;\n";
        assert_eq!(alike(text), Some(["Be", "be"]));
        let text = "    wire [B-1:0] x;\n        else $error(\"b: a bank\");\n";
        assert_eq!(alike(text), None);
    }

    #[test]
    fn what_is_not_a_name_of_the_module_does_not_count() {
        let text = "    wire [D-1:0] a = {D{1'b0}} | 4'd1; // d, A\n    \
                    part part_of (.A(a), .D(a), .Be(1'b0));\n    wire [DB-1:0] be;\n";
        assert_eq!(alike(text), None);
    }
}
