//! Accesses that the compiler has moved to another line: a load that both branches of
//! an `if` have is done before it, and has its line; a load out of a loop is done at the
//! barrier in front, one of a variable where the variable is first used. What changes is
//! the line that has the access in the source.

use super::change::LineChange;
use super::declared_pointers::names_into;
use super::other_names::has_word;
use super::through_pointer::pointer_change;
use super::types::Types;
use super::wrapped::pointers_change;
use crate::suggest::SourceFiles;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::files::split;
use crate::suggest::source::pointers::declared_pointer;
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::{first_name, is_word, last_name, names, word};
use spadkit_mapping::trace::Op;
use std::collections::BTreeMap;

/// The keywords that begin a statement with inner statements.
const HEADS: [&str; 5] = ["if", "else", "for", "while", "switch"];

/// Functions of CUDA that return no reference, in addition to `__name` and `make_float4`.
const BUILT_IN: [&str; 12] = [
    "min", "max", "fminf", "fmaxf", "fma", "fmaf", "sqrtf", "rsqrtf", "expf", "logf", "fabsf",
    "abs",
];

/// Gives the accesses of each line that has none in its text to the lines of its
/// statement that have them. `unit`: bytes that every mapping keeps together.
pub(in crate::suggest) fn to_their_lines(
    lines: &mut Vec<LineChange>,
    types: &BTreeMap<String, Types>,
    mapped: Mapped,
    sources: &mut SourceFiles,
) {
    let Mapped { array, unit, .. } = mapped;
    from_plain_lines(lines, array, sources);
    let mut at = 0;
    while at < lines.len() {
        let own = own_lines(&lines[at], array, sources);
        let Some((file, numbers)) = own.filter(|(_, numbers)| !numbers.is_empty()) else {
            at += 1;
            continue;
        };
        let moved = lines.remove(at);
        let mut first = true;
        for number in numbers {
            let source = format!("{file}:{number}");
            let known = lines.iter().position(|l| l.place() == Some(&source));
            let index = known.unwrap_or_else(|| {
                let kept = types.get(&file).map(|t| t.kept(array, Some(unit)));
                let call = kept.and_then(|kept| {
                    pointers_change(&source, kept, mapped, sources).or_else(|| {
                        let op = (moved.only_op()?, kept);
                        pointer_change(&source, op, mapped, sources)
                    })
                });
                lines.push(LineChange {
                    text: sources.line(&source),
                    source: Some(source.clone()),
                    inlined_at: moved.inlined_at.clone(),
                    call,
                    ..LineChange::default()
                });
                lines.len() - 1
            });
            lines[index].moved_to.clone_from(&moved.source);
            if std::mem::take(&mut first) {
                lines[index].take_accesses(moved.clone());
            }
        }
    }
}

/// Gives the accesses of each line that has none, nor a call that may return one, to a
/// line of its function that changes: that whose value it uses, else the next one.
fn from_plain_lines(lines: &mut Vec<LineChange>, array: &str, sources: &mut SourceFiles) {
    let mut at = 0;
    while at < lines.len() {
        let Some(own) = origin(&lines[at], lines, array, sources) else {
            at += 1;
            continue;
        };
        let moved = lines[at].clone();
        lines[own].moved_to.clone_from(&moved.source);
        lines[own].take_accesses(moved);
        lines.remove(at);
    }
}

/// The one of `lines` that has the accesses of a line in the source.
fn origin(
    line: &LineChange,
    lines: &[LineChange],
    array: &str,
    sources: &mut SourceFiles,
) -> Option<usize> {
    // A store is executed in its own line.
    let is_load = line
        .accesses
        .iter()
        .all(|a| a.op.is_none_or(|op| op == Op::Load));
    if !line.is_by_hand() || line.accesses.is_empty() || !is_load {
        return None;
    }
    let (file, number) = split(line.source.as_deref()?)?;
    let place = sources.text(file);
    let start = place.start_of_line(number)?;
    let (from, to) = (place.statement_start(start), place.statement_end(start));
    let own = &place.masked[from.min(start)..to.max(place.line_end(start))];
    let pointers = names_into(&place, start, array);
    if pointers.iter().any(|name| word(own, name).is_some())
        || has_call(own)
        || !pointed(own).all(|name| is_elsewhere(&place, start, name))
        || pointers_read(&place, start, own)
    {
        return None;
    }
    let body = place.function_around(start)?.body;
    if has_reference(own, &place.masked[body..start]) {
        return None;
    }
    let block = place.line_of(body)..=place.line_of(place.block_end(body).saturating_sub(1));
    let changed = |(at, other): (usize, &LineChange)| {
        let (own_file, number) = split(other.place()?)?;
        let is_own = own_file == file && block.contains(&number) && !other.is_by_hand();
        is_own.then_some((at, number))
    };
    let mut candidates: Vec<_> = lines.iter().enumerate().filter_map(changed).collect();
    candidates.sort_by_key(|(_, number)| *number);
    let assigns = |(at, _): &&(usize, u32)| {
        let old = lines[*at].statement().map_or("", |(old, _)| old);
        let left = old.split_once('=').map_or("", |(left, _)| left);
        // The variable itself, or an array of which it is an element.
        let mut assigned = names(left).filter(|(_, after)| {
            let after = after.trim();
            after.is_empty() || after.starts_with('[')
        });
        assigned.any(|(name, _)| word(own, name).is_some())
    };
    let by_value = candidates.iter().rev().find(assigns);
    let next = || candidates.iter().find(|(_, own)| *own > number);
    let found = by_value.or_else(next).or(candidates.last())?;
    Some(found.0)
}

/// Whether a statement has a name that `before` declares as a reference, which may be to
/// an element: a type stands before the `&`, unlike in `(&name)`.
fn has_reference(statement: &str, before: &str) -> bool {
    let own = names(statement).map(|(name, _)| name);
    let mut own = own.filter(|n| !n.starts_with(|c: char| c.is_ascii_digit()));
    own.any(|name| {
        let mut at = before.match_indices(name).map(|(at, _)| at);
        at.any(|at| {
            let is_whole = !before[at + name.len()..].starts_with(is_word);
            let kind = before[..at].trim_end().strip_suffix('&');
            let ends_a_type = |c: char| is_word(c) || matches!(c, '>' | '*' | '&');
            is_whole && kind.is_some_and(|kind| kind.trim_end().ends_with(ends_a_type))
        })
    })
}

/// An expression that is indexed, without the cast of `((float4 *)out)[i]`.
fn under_a_cast(indexed: &str) -> &str {
    let cast = || {
        let text = Text::new(indexed.to_owned());
        let close = indexed.strip_suffix(')')?.len();
        let inside = &indexed[text.opening(close)? + 1..close];
        let kind = inside.strip_suffix(last_name(inside))?.trim_end();
        (kind.starts_with('(') && kind.ends_with("*)")).then_some(inside)
    };
    cast().unwrap_or(indexed)
}

/// The names of which a statement has elements, or what they point to.
fn pointed(statement: &str) -> impl Iterator<Item = &str> {
    let elements = statement.match_indices(['[', '-']).filter_map(|(at, c)| {
        let is_member = c == "-" && statement[at..].starts_with("->");
        let before = statement[..at].trim_end();
        // The second index of an element has the name of the first.
        let is_first = c == "[" && !before.ends_with(']');
        (is_first || is_member).then(|| last_name(under_a_cast(before)))
    });
    let stars = statement.match_indices('*').filter_map(|(at, _)| {
        let before = statement[..at].trim_end();
        let is_product = before.ends_with(|c: char| is_word(c) || matches!(c, ')' | ']'));
        let after = statement[at + 1..].trim_start();
        let name = first_name(after);
        (!is_product).then_some(name)
    });
    elements.chain(stars)
}

/// Whether a statement has what a pointer of the function points to behind a parenthesis,
/// `for (...) *p = 0` or `(float)*p`, where the text alone may be a product.
fn pointers_read(place: &Text, at: usize, statement: &str) -> bool {
    let Some(function) = place.function_around(at) else {
        return false;
    };
    let declared = &place.masked[function.open..place.block_end(function.body)];
    statement.match_indices('*').any(|(star, _)| {
        let name = first_name(statement[star + 1..].trim_start());
        let behind = statement[..star].trim_end().ends_with(')');
        behind && !name.is_empty() && !is_elsewhere(place, at, name) && is_pointer(declared, name)
    })
}

/// Whether a function, from its parameters on, declares `name` as a pointer.
fn is_pointer(declared: &str, name: &str) -> bool {
    let mut all = declared.match_indices(name).map(|(at, _)| at + name.len());
    all.any(|end| {
        let before = &declared[..end];
        let is_whole = !declared[end..].starts_with(is_word);
        let begin = before.rfind([';', '{', '}', '(', ',']).unwrap_or(0);
        // The argument of a call declares nothing.
        let is_call = before[begin..].starts_with('(') && begin > 0;
        let is_head = last_name(before[..begin].trim_end()) == "for";
        let is_type = |c: char| is_word(c) || c.is_whitespace() || "*:<>&".contains(c);
        let kind = before[begin..].get(1..).unwrap_or_default();
        is_whole
            && (!is_call || is_head)
            && kind.chars().all(is_type)
            && declared_pointer(kind) == Some(name)
    })
}

/// Whether a name is a parameter of the kernel around `at`, or an array of a thread: no
/// pointer into shared memory.
fn is_elsewhere(place: &Text, at: usize, name: &str) -> bool {
    let Some(function) = place.function_around(at).filter(|_| !name.is_empty()) else {
        return false;
    };
    let parameters = &place.masked[function.open..function.close];
    if has_word(place, &function, "__global__") && word(parameters, name).is_some() {
        return true;
    }
    let body = &place.masked[function.body..at];
    let mut from = 0;
    while let Some(found) = word(&body[from..], name) {
        let begin = from + found;
        from = begin + name.len();
        let is_declared =
            body[..begin].ends_with(' ') && body[..begin].trim_end().ends_with(is_word);
        let is_returned = last_name(body[..begin].trim_end()) == "return";
        if is_declared && !is_returned && body[from..].starts_with('[') {
            return true;
        }
    }
    false
}

/// Whether a function of the source may be called: it may return a reference.
fn has_call(statement: &str) -> bool {
    statement.match_indices('(').any(|(at, _)| {
        let name = last_name(statement[..at].trim_end());
        let is_built_in =
            BUILT_IN.contains(&name) || ["__", "make_"].iter().any(|b| name.starts_with(b));
        !name.is_empty() && !HEADS.contains(&name) && !is_built_in
    })
}

/// The file, and the lines of a statement that have an access, where its head has none.
fn own_lines(
    line: &LineChange,
    array: &str,
    sources: &mut SourceFiles,
) -> Option<(String, Vec<u32>)> {
    if !line.is_by_hand() || line.accesses.is_empty() {
        return None;
    }
    let (file, number) = split(line.source.as_deref()?)?;
    let place = sources.text(file);
    let start = place.start_of_line(number)?;
    let end = place.line_end(start);
    let names = names_into(&place, start, array);
    let named = |from: usize, to: usize| {
        let part = &place.masked[from..to];
        names.iter().any(|name| word(part, name).is_some())
    };
    let head = place.masked[start..end].trim_start_matches(|c: char| c == '}' || c.is_whitespace());
    let keyword = first_name(head);
    if named(start, end) || !HEADS.contains(&keyword) {
        return None;
    }
    let last = statement_end(&place, end - head.len())?;
    let (first, last) = (number + 1, place.line_of(last));
    let has_access = |number: &u32| {
        let from = place.start_of_line(*number);
        from.is_some_and(|from| named(from, place.line_end(from)))
    };
    Some((file.to_owned(), (first..=last).filter(has_access).collect()))
}

/// The end of the statement at `at`, with its inner statements and the `else` after it.
fn statement_end(place: &Text, at: usize) -> Option<usize> {
    let mut at = at;
    loop {
        let rest = place.masked[at..].trim_start();
        at = place.masked.len() - rest.len();
        let name = first_name(rest);
        at = match name {
            "else" => at + name.len(),
            "if" | "for" | "while" | "switch" => place.closing(at + rest.find('(')?)? + 1,
            _ => {
                let end = if rest.starts_with('{') {
                    place.closing(at)? + 1
                } else {
                    place.statement_end(at)
                };
                let after = place.masked[end..].trim_start().strip_prefix("else");
                if after.is_none_or(|rest| rest.starts_with(is_word)) {
                    return Some(end - 1);
                }
                end
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::source::files::given;

    fn own(source: &str, number: u32) -> Option<Vec<u32>> {
        let line = LineChange {
            source: Some(format!("k.cu:{number}")),
            accesses: vec![crate::suggest::lines::change::AccessChange::default()],
            ..LineChange::default()
        };
        own_lines(&line, "tile", &mut given(source)).map(|(_, lines)| lines)
    }

    /// Whether line 5 has the load of this line.
    fn plain(line: &str) -> bool {
        of_plain(line, Op::Load)
    }

    /// The same of an access of any kind.
    fn of_plain(line: &str, op: Op) -> bool {
        let source = format!(
            "__global__ void k(float *out)\n{{\n__shared__ float tile[64];\nfloat v[2]; float m[2][2];\n\
             float x = tile[t]; auto &r = at(t);\nfloat *q = pick((int *)(&v[1]));\n{line}\n}}"
        );
        let own = LineChange {
            source: Some("k.cu:7".to_owned()),
            accesses: vec![crate::suggest::lines::change::AccessChange {
                op: Some(op),
                ..Default::default()
            }],
            ..LineChange::default()
        };
        let changed = LineChange {
            source: Some("k.cu:5".to_owned()),
            text: Some("float x = tile[t];".to_owned()),
            changed_text: Some("float x = tile[f(t)];".to_owned()),
            ..LineChange::default()
        };
        let all = [own.clone(), changed];
        origin(&own, &all, "tile", &mut given(&source)) == Some(1)
    }

    #[test]
    fn a_line_without_an_access_has_none_of_another_pointer() {
        for line in [
            "out[t] = x;",
            "__syncthreads();",
            "out[0] = v[1] * x;",
            "x = fmaf(x, 2, 1);",
            "m[0][1] = m[1]\n[0] * x;",
            "((float4 *)out)[t] = x;",
        ] {
            assert!(plain(line), "{line}");
        }
        for line in [
            "x += q[1];",
            "x = *q + 1;",
            "x = ((int *)q)[1] + (out + 1)[0];",
            "x = (q + out)[0];",
            "x = q->y;",
            "x = f(t);",
            "q[tile[0]] = x;",
            "x = 2 * r;",
            "for (int i = 0; i < n; i++) *q = x;",
            "x = (float)*q;",
        ] {
            assert!(!plain(line), "{line}");
        }
        assert!(plain("x = (x + 1) * x;"));
        // A store is executed in its own line.
        assert!(!of_plain("out[t] = x;", Op::Store));
    }

    #[test]
    fn a_moved_access_is_in_the_statement() {
        let source = "void k() {\n__shared__ float tile[64];\nfloat *p = tile;\n\
                      if (n > 4) {\nx = p[1];\n} else if (n)\ny = tile[t];\nelse\n{ z = 1; }\n\
                      x = p[2];\nfor (;;)\nx += tile[1];\nif (tile[t])\nx = tile[2];\n}";
        assert_eq!(own(source, 4), Some(vec![5, 7]));
        assert_eq!(own(source, 6), Some(vec![7]));
        assert_eq!(own(source, 11), Some(vec![12]));
        assert_eq!(own(source, 10), None);
        assert_eq!(own(source, 13), None);
    }
}
