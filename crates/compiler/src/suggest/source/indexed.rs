//! Parses the source: lines that index an array.

use super::addresses::{Used, leads_elsewhere, use_of};
use super::declarations::Declaration;
use super::edits::{Edit, applied};
use super::scan::Text;
use super::words::{brackets, first_name, is_word, last_name, word};
use crate::suggest::mapped::Mapped;

/// Operators whose operand is not computed.
const UNEVALUATED: [&str; 5] = ["sizeof", "alignof", "__alignof__", "decltype", "noexcept"];
/// Words before an expression; other words before a name declare it.
pub(in crate::suggest) const BEFORE_EXPRESSIONS: [&str; 9] = [
    "return", "else", "do", "case", "throw", "sizeof", "and", "or", "not",
];

impl Declaration {
    /// A line with every element of the array that it names under `function`;
    /// none where it names the array in another way.
    pub fn changed(&self, line: &str, mapped: Mapped) -> Option<String> {
        let code = Text::new(line.to_owned());
        applied(line, &self.edits(&code, mapped)?)
    }

    /// Edits of the elements of the array in `code`; none if it names the array in
    /// another way, or not at all. Literals, comments, names of other scopes
    /// (`Other::tile[0]`) and unevaluated operands (`sizeof(tile[0])`) are kept.
    pub fn edits(&self, code: &Text, mapped: Mapped) -> Option<Vec<Edit>> {
        let array = mapped.array;
        let mut edits = Vec::new();
        let mut from = 0;
        while let Some(found) = word(&code.masked[from..], array) {
            let at = from + found;
            from = at + array.len();
            if code.masked[..at].trim_end().ends_with("::") {
                continue;
            }
            let (indices, end) = brackets(&code.masked[from..]);
            let is_element = indices.len() == self.dimensions.len();
            // Another array of this name, or several elements.
            if !is_element || is_declared(code, at) {
                return None;
            }
            let used = use_of(code, (at, from + end));
            let used = used.filter(|used| *used != Used::Exactly && !is_unevaluated(code, at));
            if let Some(other) = used {
                let (own, end) = other.edits(code, at, mapped)?;
                edits.extend(own);
                from = end;
                continue;
            }
            if leads_elsewhere(code, (at, from + end)) {
                return None;
            }
            let inner = self.indices(&code.text[from..from + end], &indices, mapped)?;
            from += end;
            if is_unevaluated(code, at) {
                continue;
            }
            edits.push(Edit {
                from: at,
                to: from,
                new: self.element(&inner, mapped),
            });
        }
        (!edits.is_empty()).then_some(edits)
    }

    /// The text with the indices in its brackets changed: an index may name the array
    /// itself. `masked`: the same without literals and comments.
    fn indices(&self, text: &str, masked: &[&str], mapped: Mapped) -> Option<Vec<String>> {
        let array = mapped.array;
        let mut at = 0;
        let mut all = Vec::new();
        for index in masked {
            at += text[at..].find('[')? + 1;
            let own = text.get(at..at + index.len())?;
            at += index.len() + 1;
            all.push(match word(index, array) {
                None => own.to_owned(),
                Some(_) => self.changed(own, mapped)?,
            });
        }
        Some(all)
    }

    fn element(&self, indices: &[String], mapped: Mapped) -> String {
        let Mapped {
            array, function, ..
        } = mapped;
        let Some((first, others)) = indices.split_first() else {
            return array.to_owned();
        };
        let mut index = first.trim().to_owned();
        for (next, dimension) in others.iter().zip(&self.dimensions[1..]) {
            index = format!(
                "{} * {} + {}",
                in_parentheses(&index),
                in_parentheses(dimension),
                in_parentheses(next)
            );
        }
        if others.is_empty() {
            format!("{array}[{function}({index})]")
        } else {
            let zeros = "[0]".repeat(indices.len());
            format!("(&{array}{zeros})[{function}({index})]")
        }
    }
}

/// Whether the name at `at` is declared there: a type is before it, or the name that the
/// declaration begins with.
pub(in crate::suggest) fn is_declared(code: &Text, at: usize) -> bool {
    let is_type = |name: &str| {
        let is_name = name.starts_with(|c: char| is_word(c) && !c.is_ascii_digit());
        is_name && !BEFORE_EXPRESSIONS.contains(&name)
    };
    let before = code.masked[..at].trim_end();
    if before.ends_with(',') {
        let from = code.open_before(at).map_or(0, |open| open + 1);
        let parts = code.split(from, at, ';');
        let own = parts
            .last()
            .map_or("", |part| code.masked[part.0..part.1].trim());
        let name = first_name(own);
        let rest = own[name.len()..].trim_start();
        return is_type(name) && rest.starts_with(is_word);
    }
    is_type(last_name(before))
}

/// Whether the element at `at` is not computed.
pub(in crate::suggest) fn is_unevaluated(code: &Text, at: usize) -> bool {
    let before = code.masked[..at].trim_end();
    let around = std::iter::successors(code.open_before(at), |open| code.open_before(*open));
    let mut called = around.filter_map(|open| code.called(open));
    UNEVALUATED.contains(&last_name(before)) || called.any(|(_, name)| UNEVALUATED.contains(&name))
}

/// The text as an operand of `*`, in parentheses if needed.
fn in_parentheses(text: &str) -> String {
    let text = text.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let whole = Text::new(text.to_owned());
    let is_in_parentheses = text.starts_with('(') && whole.closing(0) == Some(text.len() - 1);
    if text.chars().all(plain) || is_in_parentheses {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(dimensions: &[&str]) -> Declaration {
        Declaration {
            element: "int".to_owned(),
            dimensions: dimensions.iter().map(|d| (*d).to_owned()).collect(),
        }
    }

    #[test]
    fn lines_are_changed_element_by_element() {
        let tile = declared(&["TILE", "TILE + PAD"]);
        let changed = |line: &str| tile.changed(line, Mapped::words("tile", "f"));
        assert_eq!(
            changed("tile[ty + j][tx] = 2 * tile[tx][a[1]];").unwrap(),
            "(&tile[0][0])[f((ty + j) * (TILE + PAD) + tx)] = \
             2 * (&tile[0][0])[f(tx * (TILE + PAD) + (a[1]))];"
        );
        let one = declared(&["64"]);
        let line = "a[a[t]] += data[t] + s.a[1];";
        assert_eq!(
            one.changed(line, Mapped::words("a", "f")).unwrap(),
            "a[f(a[f(t)])] += data[t] + s.a[1];"
        );
        for other in ["x = y;", "use(tile);", "tile[i] = 0;", "tile[i"] {
            assert_eq!(changed(other), None, "{other}");
        }
        let dynamic = declared(&[""]);
        let changed = dynamic.changed("x = data[i2] + data[2 * i];", Mapped::words("data", "f"));
        assert_eq!(changed.unwrap(), "x = data[f(i2)] + data[f(2 * i)];");
    }

    #[test]
    fn what_is_no_element_stays() {
        let one = declared(&["64"]);
        let changed = |line: &str| one.changed(line, Mapped::words("tile", "f"));
        for same in [
            "printf(\"tile[%d]\", 1);",
            "asm volatile(\"st [%0], tile[0];\" :: \"r\"(a));",
            "/* tile[0] first, tile */",
            "x = Other::tile[0];",
            "n = sizeof(tile[0]);",
            "n = sizeof tile[0] + alignof(decltype(tile[0]));",
            "// fill tile",
        ] {
            assert_eq!(changed(same), None, "{same}");
            // The comment of a line may be the last only.
            let (before, after) = if same.starts_with("//") {
                ("", same)
            } else {
                (same, "")
            };
            let line = |element: &str| format!("{before} {element} = 'a' + tile[1]; {after}");
            let expected = line("tile[f(g('[' /* tile */))]").replace("+ tile[1]", "+ tile[f(1)]");
            let found = changed(&line("tile[g('[' /* tile */)]"));
            assert_eq!(found, Some(expected), "{same}");
        }
        for refused in [
            "{ float tile[4]; tile[0] = 1; }",
            "{ const float a[4] = {}, tile[4] = {}; x = tile[0]; }",
            "memset(&tile[0], 0, 64); tile[1] = 2;",
            "x = tile[0] + sum((const int *)&tile[i], n);",
            "float *e = &tile[i];",
            "x = ((float2 *)&tile[0])[i];",
            "x = (&tile[0])[tile[1]];",
            "{ const float &e = tile[0]; x = (&e)[1]; }",
        ] {
            assert_eq!(changed(refused), None, "{refused}");
        }
        for (element, expected) in [
            ("return tile[0];", "return tile[f(0)];"),
            ("float a = 1, b = tile[0];", "float a = 1, b = tile[f(0)];"),
            (
                "g(a, tile[0]), tile[1] = 2;",
                "g(a, tile[f(0)]), tile[f(1)] = 2;",
            ),
            ("atomicAdd(&tile[0], 1);", "atomicAdd(&tile[f(0)], 1);"),
            ("x = LOAD(&tile[0]);", "x = LOAD(&tile[f(0)]);"),
            (
                "{ int &e = tile[0]; e = 1; atomicAdd(&e, 2); }",
                "{ int &e = tile[f(0)]; e = 1; atomicAdd(&e, 2); }",
            ),
            (
                "(&tile[0])[i] = tile[1];",
                "(*f_at(tile, &(&tile[0])[i])) = tile[f(1)];",
            ),
            (
                "x = *(&tile[n] + i) + tile[0];",
                "x = *(f_at(tile, &tile[n] + i)) + tile[f(0)];",
            ),
        ] {
            assert_eq!(changed(element).as_deref(), Some(expected));
        }
    }
}
