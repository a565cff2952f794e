//! Elements that a lambda chooses: `auto at = [&](int i) -> float & { return tile[i]; };`.
//! The access is in the line of the call, and what changes is the lambda.

use super::change::LineChange;
use crate::suggest::SourceFiles;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::declarations::Declarations;
use crate::suggest::source::files::split;
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::{last_name, word};

/// Gives the accesses of each line that calls such a lambda, and names the array in no
/// other way, to the line of the lambda.
pub(in crate::suggest) fn to_their_lines(
    lines: &mut Vec<LineChange>,
    mapped: Mapped,
    declarations: &Declarations,
    sources: &mut SourceFiles,
) {
    let mut at = 0;
    while at < lines.len() {
        let Some(lambda) = lambda(&lines[at], mapped, declarations, sources) else {
            at += 1;
            continue;
        };
        let called = lines.remove(at);
        let known = lines.iter().position(|l| l.source == lambda.source);
        let index = known.unwrap_or_else(|| {
            lines.push(lambda);
            lines.len() - 1
        });
        lines[index].take_accesses(called);
    }
}

/// The line of the lambda that a line calls, changed.
fn lambda(
    line: &LineChange,
    mapped: Mapped,
    declarations: &Declarations,
    sources: &mut SourceFiles,
) -> Option<LineChange> {
    let array = mapped.array;
    if !line.is_by_hand() || line.accesses.is_empty() {
        return None;
    }
    let (file, number) = split(line.source.as_deref()?)?;
    let place = sources.text(file);
    let start = place.start_of_line(number)?;
    let own = &place.masked[start..place.line_end(start)];
    if word(own, array).is_some() {
        return None;
    }
    let calls = own.match_indices('(');
    let mut names = calls.map(|(open, _)| last_name(&own[..open]));
    let from = place.function_around(start)?.body;
    let defined = names.find_map(|name| definition(&place, (from, start), name, array))?;
    let source = format!("{file}:{}", place.line_of(defined));
    let seen = declarations.seen_from(&source, sources)?;
    let old = sources.line(&source)?;
    let changed = seen.changed(&old, mapped)?;
    Some(LineChange {
        source: Some(source),
        text: Some(old),
        changed_text: Some(changed),
        declared: Some(seen.clone()),
        inlined_at: line.inlined_at.clone(),
        ..LineChange::default()
    })
}

/// The position in this span at which the lambda `name` is defined, on one line, if
/// it does nothing but return an element of the array.
fn definition(place: &Text, (from, to): (usize, usize), name: &str, array: &str) -> Option<usize> {
    let at = from + word(place.masked.get(from..to)?, name).filter(|_| !name.is_empty())?;
    let end = place.line_end(at);
    let value = place.masked[at + name.len()..end].trim_start();
    let value = value.strip_prefix('=')?.trim_start();
    let open = end - value.len() + value.starts_with('[').then(|| value.find('{'))??;
    let close = place.closing(open).filter(|close| *close < end)?;
    let returned = place.masked[open + 1..close]
        .trim()
        .strip_prefix("return")?;
    let element = returned.trim_start().strip_prefix(array)?.trim_start();
    let is_only = returned.matches(';').count() == 1;
    (is_only && element.starts_with('[')).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::source::declarations::Named;
    use crate::suggest::source::files::given;

    /// The changed line of the lambda that the fourth line calls.
    fn changed(lambda: &str, call: &str) -> Option<String> {
        let source = format!("void k() {{\n__shared__ float tile[64];\n{lambda}\n{call}\n}}");
        let mut text = given(&source);
        let array = Named {
            name: "tile",
            variable: "",
        };
        let declarations = Declarations::of(["k.cu:4"].into_iter(), array, 4, &mut text);
        let mut lines = vec![LineChange {
            source: Some("k.cu:4".to_owned()),
            accesses: vec![crate::suggest::lines::change::AccessChange::default()],
            ..LineChange::default()
        }];
        to_their_lines(
            &mut lines,
            Mapped::words("tile", "f"),
            &declarations,
            &mut text,
        );
        lines.remove(0).changed_text
    }

    #[test]
    fn the_lambda_changes_in_place_of_its_call() {
        let lambda = "auto at = [&](int r, int c) -> float & { return tile[r * 8 + c]; };";
        let expected = "auto at = [&](int r, int c) -> float & { return tile[f(r * 8 + c)]; };";
        assert_eq!(changed(lambda, "at(x, 1) = 2;").unwrap(), expected);
        assert_eq!(changed(lambda, "y = 2 * at(x, 1);").unwrap(), expected);
    }

    #[test]
    fn other_calls_are_left_to_a_person() {
        for lambda in [
            "auto at = [&](int r) { return &tile[r * 8]; };",
            "auto at = [&](int r) { n++; return tile[r]; };",
            "auto at = other;",
            "auto at = [&](int r) { return tiles[r]; };",
        ] {
            assert_eq!(changed(lambda, "y = at(x);"), None, "{lambda}");
        }
        let lambda = "auto at = [&](int r) { return tile[r]; };";
        assert_eq!(changed(lambda, "y = at(x) + tile[1];"), None);
        assert_eq!(changed(lambda, "y = let(x);"), None);
    }
}
