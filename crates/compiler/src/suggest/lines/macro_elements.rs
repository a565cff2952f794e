//! Elements that a macro takes as a vector: `FLOAT4(tile[i][j]) = v`, where `FLOAT4` is
//! `(reinterpret_cast<float4 *>(&(x))[0])`.

use super::calls::window_with;
use crate::suggest::SourceFiles;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::edits::{self, CallChange, Edit};
use crate::suggest::source::files::split;
use crate::suggest::source::macros::Macro;
use crate::suggest::source::words::word;

/// The line with every such element under `function`. `None` where it names the array in
/// another way.
pub(in crate::suggest) fn macro_change(
    source: &str,
    mapped: Mapped,
    sources: &mut SourceFiles,
) -> Option<CallChange> {
    let array = mapped.array;
    let (file, _) = split(source)?;
    let (place, line) = window_with(source, array, sources)?;
    let end = place.line_end(line);
    let (mut edits, mut at) = (Vec::new(), line);
    while let Some(found) = word(&place.masked[at..end], array) {
        let begin = at + found;
        let open = place.open_before(begin)?;
        let close = place.closing(open).filter(|close| *close < end)?;
        let element = place.masked[open + 1..close].trim();
        let is_element = element[array.len().min(element.len())..].starts_with('[');
        let is_all = element.starts_with(array) && element.ends_with(']') && is_element;
        let is_only = word(&element[array.len().min(element.len())..], array).is_none();
        let (_, name) = place.called(open)?;
        let takes = Macro::named(name, file, sources).is_some_and(|m| m.is_a_vector());
        (is_all && is_only && takes).then_some(())?;
        edits.push(Edit::insert(begin, format!("*{}&", mapped.at())));
        edits.push(Edit::insert(begin + element.len(), ")"));
        at = close;
    }
    let change = || edits::change(source.to_owned(), &place, (line, end), &edits);
    (!edits.is_empty()).then(change)?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::source::files::given;

    fn change(body: &str, line: &str) -> Option<String> {
        let source = format!(
            "#define V4(x) {body}\n__global__ void k()\n{{\n__shared__ float s[8][64];\n{line}\n}}"
        );
        macro_change("k.cu:5", Mapped::words("s", "at"), &mut given(&source))
            .map(|c| c.changed_text)
    }

    #[test]
    fn an_element_under_a_cast_is_mapped() {
        for body in [
            "(reinterpret_cast<float4 *>(&(x))[0])",
            "*(float4 *)&x",
            "(*((const float4 *)(&(x))))",
        ] {
            assert_eq!(
                change(body, "V4(s[i][4 * j]) = V4(in[i]);").unwrap(),
                "V4(*at_at(s, &s[i][4 * j])) = V4(in[i]);"
            );
        }
    }

    #[test]
    fn other_macros_and_uses_are_left_to_a_person() {
        let vector = "(reinterpret_cast<float4 *>(&(x))[0])";
        for (body, line) in [
            ("((x) * 2)", "V4(s[i][0]) = 1;"),
            ("(&(x))[1]", "V4(s[i][0]) = 1;"),
            (vector, "V4(s[i][0]) = s[1][0];"),
            (vector, "V4(s[i][int(s[0][0])]) = 1;"),
            (vector, "V4(s[i][0] + 1);"),
            (vector, "f(s[i][0]);"),
        ] {
            assert_eq!(change(body, line), None, "{body} {line}");
        }
    }
}
