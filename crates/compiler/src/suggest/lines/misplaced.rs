//! Accesses to which the compiler gives the line of another array's statement: where a function
//! of the toolkit is inlined twice in a row, the second place may stand for both. The address in
//! such a line is that of the other array, which keeps its place.

use super::change::{LineChange, names};
use crate::suggest::mapped::Mapped;
use crate::suggest::source::files::split;
use crate::suggest::source::pointers::CASTS;
use crate::suggest::source::words;

/// Takes back changes that map the address of one of the `others`. Their accesses go to the
/// nearest line that calls the same function with the array; a line without one changes by hand.
pub(in crate::suggest) fn take_back(
    changes: &mut Vec<LineChange>,
    mapped: Mapped,
    others: &[String],
) {
    let mut at = 0;
    while at < changes.len() {
        let line = &changes[at];
        let of_change = other_array(line, mapped, others);
        let own = own_line(changes, at, mapped.array);
        let of_call = own.and_then(|own| same_call(line, &changes[own], mapped.array, others));
        let Some(other) = of_change.or(of_call) else {
            at += 1;
            continue;
        };
        match own {
            Some(own) => {
                let line = changes.remove(at);
                let own = if own > at { own - 1 } else { own };
                changes[own].take_accesses(line);
            }
            None => {
                let line = &mut changes[at];
                line.call = None;
                line.line_of = Some(other);
                at += 1;
            }
        }
    }
}

/// The other array whose address the change of a line puts under the function.
fn other_array(line: &LineChange, mapped: Mapped, others: &[String]) -> Option<String> {
    let call = line.call.as_ref()?;
    let opened = mapped.at();
    let wrapped = call.edits.iter().filter(|e| e.new.ends_with(&opened));
    let mut bases = wrapped.filter_map(|e| base(call.text.get(e.to..)?));
    bases.find_map(|base| others.iter().find(|o| *o == base).cloned())
}

/// The other array that a line without a change gives to the function to which the line of
/// `own` gives the array.
fn same_call(
    line: &LineChange,
    own: &LineChange,
    array: &str,
    others: &[String],
) -> Option<String> {
    if !line.is_by_hand() {
        return None;
    }
    let (function, given) = first_argument(line.text.as_deref()?)?;
    let same = first_argument(own.text.as_deref()?)? == (function, array);
    let other = others.iter().find(|other| *other == given);
    other.filter(|_| same).cloned()
}

/// The function that a statement begins with, and the base of its first argument.
fn first_argument(text: &str) -> Option<(&str, &str)> {
    let (function, arguments) = text.split_once('(')?;
    Some((function.trim(), base(arguments.split(',').next()?)?))
}

/// The first name of an address that is no function and no part of a cast.
fn base(address: &str) -> Option<&str> {
    let mut names = words::names(address).filter(|(name, after)| {
        let is_call = after.starts_with(['(', '<']);
        let is_number = name.starts_with(|c: char| c.is_ascii_digit());
        !is_call && !is_number && !is_of_cast(name)
    });
    names.next().map(|(name, _)| name)
}

fn is_of_cast(name: &str) -> bool {
    let types = [
        "const", "volatile", "void", "char", "unsigned", "int", "long", "float", "half",
    ];
    types.contains(&name) || name.ends_with("_t") || CASTS.iter().any(|c| c.starts_with(name))
}

/// The nearest line of the file that names the array and leads to the same lines of headers.
fn own_line(changes: &[LineChange], at: usize, array: &str) -> Option<usize> {
    let line = &changes[at];
    let (file, number) = split(line.source.as_deref()?)?;
    let distance = |l: &LineChange| {
        let (other, own) = split(l.source.as_deref()?)?;
        let is_known = l.text.as_deref().is_some_and(|text| names(text, array));
        let same = other == file && l.through == line.through && is_known;
        let calls = l.inlined_at != line.inlined_at;
        same.then_some((calls, own.abs_diff(number)))
    };
    let all = changes.iter().enumerate().filter(|(n, _)| *n != at);
    let all = all.filter_map(|(n, l)| Some((distance(l)?, n)));
    all.min()
        .filter(|_| !line.through.is_empty())
        .map(|(_, n)| n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_of_an_address_is_its_first_name() {
        for (address, expected) in [
            ("&Bs[s][r][c]), &A[0], 16);", "Bs"),
            ("(unsigned)__cvta_generic_to_shared(&As[i]))", "As"),
            ("static_cast<const uint32_t *>(p) + Bs[i])", "p"),
            ("mine + 4 * x)", "mine"),
        ] {
            assert_eq!(base(address), Some(expected), "{address}");
        }
    }
}
