//! Whether every use of an array keeps its meaning if the rows become longer: it names an
//! element, or a row as a pointer to its elements. Uses that know the length of a row
//! (`float (&row)[32]`, `for (float x : tile[y])`, `sizeof(tile[0])`), or that step from one
//! row to the next (`(float *)tile`, `&tile[0][0]`), do not.

use crate::suggest::source::addresses::{Used, use_of};
use crate::suggest::source::declarations::Named;
use crate::suggest::source::hidden::is_hidden;
use crate::suggest::source::indexed::is_declared;
use crate::suggest::source::macros::{defined, parameters_and_body};
use crate::suggest::source::namespaces::namespaces_of;
use crate::suggest::source::pointers::{declared_pointer, declared_reference, is_operand};
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::brackets;
use crate::suggest::source::words::{last_name, word};

/// Functions of CUDA that get a row as the address of its first element.
const OF_ROWS: [&str; 2] = ["load_matrix_sync", "store_matrix_sync"];

/// Whether that holds for the array whose name is declared at `declared`, with this many indices.
pub(in crate::suggest) fn may_be_longer(
    place: &Text,
    declared: usize,
    named: Named,
    indices: usize,
) -> bool {
    let array = named.declared();
    let from = declared + array.len();
    // A declaration outside of functions is seen to the end of the file.
    let end = place.block_end(declared);
    let in_namespaces = namespaces_of(named.variable).is_some();
    let own = Uses {
        place,
        indices,
        in_namespaces,
    };
    let mut at = from;
    while let Some(found) = word(&place.masked[at..end], array) {
        let begin = at + found;
        at = begin + array.len();
        if !is_hidden(place, (from, begin), array) && !own.is_understood((begin, at), end) {
            return false;
        }
    }
    let whole = place.masked.replace("\\\n", " ");
    let mut macros = whole.lines().filter_map(defined);
    macros.all(|(_, body)| {
        // A parameter of that name is another array.
        let has_parameter = |(own, _): (&str, &str)| word(own, array).is_some();
        if body.starts_with('(') && parameters_and_body(body).is_some_and(has_parameter) {
            return true;
        }
        let body = Text::new(body.to_owned());
        let own = Uses {
            place: &body,
            indices,
            in_namespaces,
        };
        let mut at = 0;
        std::iter::from_fn(|| {
            let begin = at + word(&body.masked[at..], array)?;
            at = begin + array.len();
            Some((begin, at))
        })
        .all(|name| own.is_understood(name, body.masked.len()))
    })
}

/// The uses of an array in a text.
#[derive(Clone, Copy)]
struct Uses<'a> {
    place: &'a Text,
    /// Number of indices of an element.
    indices: usize,
    /// Whether names with a scope before them are the array's, too.
    in_namespaces: bool,
}

impl Uses<'_> {
    /// Whether the name in this span, in a scope up to `end`, is that of an element, or of a
    /// row as a pointer.
    fn is_understood(&self, (begin, after): (usize, usize), end: usize) -> bool {
        let place = self.place;
        let start = place.qualified_start(begin);
        // A name of another scope, or the same array once more.
        if start != begin && !self.in_namespaces || self.is_declared_again(start) {
            return true;
        }
        let begin = start;
        let (indices, length) = brackets(&place.masked[after..end]);
        let own_end = after + length;
        if indices.len() == self.indices {
            let used = use_of(place, (begin, own_end));
            return matches!(used, None | Some(Used::Exactly));
        }
        let rest = self.indices.saturating_sub(indices.len());
        let row = (begin, own_end);
        rest == 1 && (self.is_row_of_matrix(begin) || self.is_read_at_once(row))
            || self.is_bound(row, rest, end)
    }

    /// Whether the name is declared again there: by an alternative that a preprocessor
    /// selects, or by a variable that hides the array.
    fn is_declared_again(&self, at: usize) -> bool {
        let head = &self.place.masked[self.place.statement_start(at).min(at)..at];
        word(head, "__shared__").is_some() || is_declared(self.place, at)
    }

    /// Whether wmma gets the row, whose length the call says.
    fn is_row_of_matrix(&self, at: usize) -> bool {
        let open = self.place.open_before(at);
        let called = open.and_then(|open| self.place.called(open));
        called.is_some_and(|(_, name)| OF_ROWS.contains(&name))
    }

    /// Whether an element of the row in this span is read at once: `*(tile[y] + x)`.
    fn is_read_at_once(&self, (begin, after): (usize, usize)) -> bool {
        let place = self.place;
        let is_sum = place.masked[after..].trim_start().starts_with('+');
        let Some(open) = place.open_before(begin).filter(|_| is_sum) else {
            return false;
        };
        let outside = place.masked[..open].trim_end();
        let next = place.closing(open).map(|close| &place.masked[close + 1..]);
        place.masked[open + 1..begin].trim().is_empty()
            && outside.ends_with('*')
            && is_operand(outside)
            && next.is_some_and(|next| !next.trim_start().starts_with('['))
    }

    /// Whether the row in this span is the value of `float *row`, or of `auto &row`, and
    /// the rest of the scope uses only elements of it, with `rest` indices: `row[x]`.
    fn is_bound(&self, (begin, after): (usize, usize), rest: usize, end: usize) -> bool {
        let place = self.place;
        let head = place.masked[..begin].trim_end().strip_suffix('=');
        let head = head.map_or("", str::trim_end);
        let deduced = || {
            let name = declared_reference(head)?;
            let kind = head.strip_suffix(name)?.trim_end().strip_suffix('&')?;
            (last_name(kind.trim_end()) == "auto").then_some(name)
        };
        let pointer = declared_pointer(head).filter(|_| rest == 1);
        let is_all = place.masked[after..end]
            .trim_start()
            .starts_with([',', ';']);
        let Some(name) = pointer.or_else(deduced).filter(|_| is_all) else {
            return false;
        };
        let scope_end = place.block_end(after).min(end);
        let mut at = after;
        while let Some(found) = word(&place.masked[at..scope_end], name) {
            let begin = at + found;
            at = begin + name.len();
            let (indices, length) = brackets(&place.masked[at..scope_end]);
            let used = use_of(place, (begin, at + length));
            if indices.len() != rest || !matches!(used, None | Some(Used::Exactly)) {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether rows of a tile may be longer in a kernel with these lines.
    fn may_be_longer_in(head: &str, lines: &str) -> bool {
        let source = format!(
            "{head}\n__global__ void k() {{\n__shared__ float t[32][32], u[4];\n{lines}\n}}\n\
             __global__ void other() {{\n__shared__ float t[8][8]; g(t);\n}}"
        );
        let place = Text::new(source);
        let declared = place.masked.find("t[32]").unwrap();
        let named = Named {
            name: "t",
            variable: "",
        };
        may_be_longer(&place, declared, named, 2)
    }

    #[test]
    fn elements_and_rows_as_pointers_stay_what_they_are() {
        for lines in [
            "t[y][x] = t[x][y] + sizeof(t[0][0]);",
            "atomicAdd(&t[y][x], 1); x = *reinterpret_cast<float4 *>(&t[y][x]);",
            "float *const row = t[y], *other = t[x]; row[x] = other[y];",
            "volatile float *row = t[y]; row[x] = 1;",
            "{ float t[4]; g(t); } t[0][x] = 1; // g(t)",
            "wmma::load_matrix_sync(a, t[y], 32); wmma::load_matrix_sync(a, &t[y][x], 32);",
            "x = Other::t[0];",
            "x = *(t[y] + x);",
            "auto &row = t[x]; row[0] = 1;",
        ] {
            assert!(may_be_longer_in("", lines), "{lines}");
        }
        assert!(may_be_longer_in("#define T(y, x) t[y][x]", "T(0, 1) = 2;"));
    }

    #[test]
    fn what_knows_the_length_of_a_row_needs_it() {
        for lines in [
            "m = row_max(t[x]);",
            "for (const float &e : t[x]) sum += e;",
            "n = sizeof(t[0]) / 4;",
            "memset(t, 0, sizeof(t));",
            "volatile float (*v)[32] = t; v[y][x] = 1;",
            "float (&row)[32] = t[x]; row[0] = 1;",
            "auto &row = t[x]; for (float e : row) sum += e;",
            "auto &all = t; all[y][x] = 1; n = sizeof(all);",
            "x = ((float *)t + r * 32)[x];",
            "x = ((float4 *)t[x])[y];",
            "(&t[0][0])[i] = 0;",
            "float *e = &t[0][0]; e[i] = 0;",
            "float *e = t[0]; *e = 0; e += 32;",
            "float *e = t[0]; g(e);",
            "float *e = t[0]; x = *(e + i);",
            "x = *((float4 *)t[y] + i);",
            "x = std::size(t[0]);",
        ] {
            assert!(!may_be_longer_in("", lines), "{lines}");
        }
        assert!(!may_be_longer_in(
            "#define FLAT ((float *)t)",
            "FLAT[0] = 2;"
        ));
    }
}
