//! Elements that a function gets by reference: `order(s[i], s[j])` with
//! `void order(float &a, float &b)`. The accesses are in the lines of the function, and
//! what changes is the call.

use super::change::LineChange;
use super::declared_pointers::names_into;
use super::pointer_parameters::function_of_line;
use crate::suggest::SourceFiles;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::declarations::Declarations;
use crate::suggest::source::edits::{self, CallChange, Edit};
use crate::suggest::source::files::split;
use crate::suggest::source::pointers::{declared_reference, is_element};
use crate::suggest::source::scan::{Text, arguments};
use crate::suggest::source::words::{first_name, word};
use std::rc::Rc;

/// Gives the accesses of each line that uses such references, and names elements in no
/// other way, to the line of the call.
pub(in crate::suggest) fn to_their_calls(
    lines: &mut Vec<LineChange>,
    mapped: Mapped,
    declarations: &Declarations,
    sources: &mut SourceFiles,
) {
    let array = mapped.array;
    let mut at = 0;
    while at < lines.len() {
        let found = call(&lines[at], array, sources);
        let found = found.and_then(|call| call.line(mapped, declarations, sources));
        let Some((call, depth)) = found else {
            at += 1;
            continue;
        };
        let moved = lines.remove(at);
        let same = |l: &LineChange| l.place() == call.place() && l.statement() == call.statement();
        let index = lines.iter().position(same).unwrap_or_else(|| {
            lines.push(LineChange {
                inlined_at: moved.chain().split_off(depth + 1),
                ..call
            });
            lines.len() - 1
        });
        lines[index].take_accesses(moved);
    }
}

/// A call that passes elements of the array by reference.
struct Call {
    /// `file:line`
    source: String,
    place: Rc<Text>,
    /// Span of the statement with the call.
    statement: (usize, usize),
    /// The elements.
    elements: Vec<(usize, usize)>,
    /// Index in the chain of calls of the access, whose own index is 0.
    depth: usize,
}

/// The call whose arguments are what a line accesses by reference.
fn call(line: &LineChange, array: &str, sources: &mut SourceFiles) -> Option<Call> {
    if !line.is_by_hand() || line.accesses.is_empty() {
        return None;
    }
    let chain = line.chain();
    let own = line.text.as_deref()?;
    // The access may be to an element of a pointer.
    if own.contains('[') || own.contains("->") || word(own, array).is_some() {
        return None;
    }
    let mut used = own.to_owned();
    for (depth, calls) in chain.windows(2).enumerate() {
        let [inner, outer] = calls else { return None };
        let callee = Callee::around(inner, sources)?;
        let (file, number) = split(outer)?;
        let place = sources.text(file);
        let (name, open) = place.call(&callee.name, place.start_of_line(number)?)?;
        let given = arguments(&place, open)?;
        let given = callee.references.iter().map(|(number, reference)| {
            let is_used = word(&used, reference).is_some();
            Some((is_used, *given.get(*number)?))
        });
        let given: Vec<(bool, (usize, usize))> = given.collect::<Option<_>>()?;
        let names = names_into(&place, name, array);
        let argument = |(from, to): (usize, usize)| place.masked[from..to].trim();
        let is_of_array = |at: (usize, usize)| {
            let name = first_name(argument(at).trim_start_matches('*'));
            names.iter().any(|n| n == name)
        };
        if !given
            .iter()
            .any(|(is_used, at)| *is_used && is_of_array(*at))
        {
            let passed = given.iter().filter(|(is_used, _)| *is_used);
            used = passed
                .map(|(_, at)| argument(*at))
                .collect::<Vec<_>>()
                .join(" ");
            continue;
        }
        let elements = given
            .into_iter()
            .map(|(_, at)| at)
            .filter(|at| is_of_array(*at));
        let elements: Vec<(usize, usize)> = elements.collect();
        if !elements.iter().all(|at| is_element(argument(*at), &names)) {
            return None;
        }
        return Some(Call {
            source: format!("{file}:{}", place.line_of(name)),
            statement: (place.line_start(name), place.statement_end(open)),
            elements,
            place,
            depth: depth + 1,
        });
    }
    None
}

/// A function, and those of its parameters that are references, by their numbers.
struct Callee {
    name: String,
    references: Vec<(usize, String)>,
}

impl Callee {
    /// The function around a line.
    fn around(source: &str, sources: &mut SourceFiles) -> Option<Self> {
        let (file, number) = split(source)?;
        let place = sources.text(file);
        let function = function_of_line(&place, place.start_of_line(number)?)?;
        let parameters = arguments(&place, function.open)?.into_iter().enumerate();
        let references = parameters.filter_map(|(number, (from, to))| {
            let name = declared_reference(place.masked[from..to].trim())?;
            Some((number, name.to_owned()))
        });
        Some(Callee {
            name: function.name,
            references: references.collect(),
        })
    }
}

impl Call {
    /// The line of the call, changed, and its index in the chain of calls of the access.
    fn line(
        self,
        mapped: Mapped,
        declarations: &Declarations,
        sources: &mut SourceFiles,
    ) -> Option<(LineChange, usize)> {
        let array = mapped.array;
        let old = sources.line(&self.source)?;
        let (from, to) = self.statement;
        let is_a_line = !self.place.text[from..to].trim().contains('\n');
        let seen = declarations.seen_from(&self.source, sources).cloned();
        // An element of a pointer has no index in the array.
        let is_of_array =
            |(from, to): &(usize, usize)| first_name(self.place.masked[*from..*to].trim()) == array;
        let seen = seen.filter(|_| is_a_line && self.elements.iter().all(is_of_array));
        let changed_text = seen.as_ref().and_then(|d| d.changed(&old, mapped));
        let call = match changed_text {
            Some(_) => None,
            None => Some(self.by_address(mapped)?),
        };
        let line = LineChange {
            source: Some(self.source),
            text: Some(old),
            declared: seen.filter(|_| changed_text.is_some()),
            changed_text,
            call,
            ..LineChange::default()
        };
        Some((line, self.depth))
    }

    /// The statement with the address of each element under the function.
    fn by_address(&self, mapped: Mapped) -> Option<CallChange> {
        let array = mapped.array;
        let mut edits = Vec::new();
        // Another argument is loaded in the line of the call.
        let named =
            |(from, to): &(usize, usize)| word(&self.place.masked[*from..*to], array).is_some();
        let own = self.elements.iter().filter(|e| named(e)).count();
        let (from, to) = self.statement;
        if self.place.masked[from..to].matches(array).count() > own {
            return None;
        }
        for (from, to) in &self.elements {
            let argument = &self.place.masked[*from..*to];
            let begin = from + argument.len() - argument.trim_start().len();
            let end = begin + argument.trim().len();
            edits.push(if argument.trim().starts_with('*') {
                Edit::insert(begin + 1, mapped.at())
            } else {
                Edit::insert(begin, format!("*{}&", mapped.at()))
            });
            edits.push(Edit::insert(end, ")"));
        }
        edits::change(self.source.clone(), &self.place, self.statement, &edits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::lines::change::AccessChange;
    use crate::suggest::source::declarations::Named;
    use crate::suggest::source::files::given;

    const SOURCE: &str = "void swap(float &x, float &y) {
    float z = x;
}
void order(float &a, float &b, int n) {
    if (a > b)
        swap(a, b);
}
void k() {
    __shared__ float tile[64];
    float *row = tile + 8;
    CALL
}";

    /// The changed call, of an access in `swap`.
    fn changed(call: &str) -> Option<String> {
        let source = SOURCE.replace("CALL", call);
        let mut text = given(&source);
        let array = Named {
            name: "tile",
            variable: "",
        };
        let declarations = Declarations::of(["k.cu:11"].into_iter(), array, 4, &mut text);
        let mut lines = vec![LineChange {
            source: Some("k.cu:2".to_owned()),
            text: text.line("k.cu:2"),
            inlined_at: vec!["k.cu:6".to_owned(), "k.cu:11".to_owned()],
            accesses: vec![AccessChange::default()],
            ..LineChange::default()
        }];
        to_their_calls(
            &mut lines,
            Mapped::words("tile", "f"),
            &declarations,
            &mut text,
        );
        assert_eq!((lines.len(), lines[0].accesses.len()), (1, 1));
        let (_, new) = lines[0].statement()?;
        assert_eq!(lines[0].place(), Some("k.cu:11"));
        Some(new.trim().to_owned())
    }

    /// The call of an access in a function that begins and ends on the access's line.
    #[test]
    fn a_function_may_have_one_line() {
        let source = "void swap(float &x, float &y) { float z = x; x = y; y = z; }\n\
                      void k() {\n__shared__ float tile[64];\nswap(tile[i], tile[j]);\n}";
        let mut text = given(source);
        let array = Named {
            name: "tile",
            variable: "",
        };
        let declarations = Declarations::of(["k.cu:4"].into_iter(), array, 4, &mut text);
        let mut lines = vec![LineChange {
            source: Some("k.cu:1".to_owned()),
            text: text.line("k.cu:1"),
            inlined_at: vec!["k.cu:4".to_owned()],
            accesses: vec![AccessChange::default()],
            ..LineChange::default()
        }];
        let mapped = Mapped::words("tile", "f");
        to_their_calls(&mut lines, mapped, &declarations, &mut text);
        assert_eq!(lines[0].place(), Some("k.cu:4"));
        let (_, new) = lines[0].statement().unwrap();
        assert_eq!(new, "swap(tile[f(i)], tile[f(j)]);");
    }

    #[test]
    fn the_elements_of_the_call_are_mapped() {
        let call = changed("order(tile[i], tile[j + 1], 3);").unwrap();
        assert_eq!(call, "order(tile[f(i)], tile[f(j + 1)], 3);");
        let call = changed("order(*row, row[j], 0);").unwrap();
        assert_eq!(call, "order(*f_at(tile, row), *f_at(tile, &row[j]), 0);");
    }

    #[test]
    fn other_calls_are_left_to_a_person() {
        for call in [
            "order(out[i], out[j], 3);",
            "other(tile[i], tile[j]);",
            "order(*row, row[j], tile[0]);",
            "order(c ? tile[i] : x, tile[j], 3);",
        ] {
            assert_eq!(changed(call), None, "{call}");
        }
    }
}
