//! Elements that a function gets by reference: `order(s[i], s[j])` with
//! `void order(float &a, float &b)`. The accesses are in the lines of the function, and
//! what changes is the call.

use super::SourceLine;
use super::change::LineChange;
use super::edits::{self, CallChange, Edit};
use super::files::split;
use super::pointers::{declared_reference, is_element, pointers};
use super::scan::{Text, arguments, first_name, word};
use super::source::Declarations;

/// Gives the accesses of each line that uses such references, and names elements in no
/// other way, to the line of the call.
pub(super) fn to_their_calls(
    lines: &mut Vec<LineChange>,
    array: &str,
    function: &str,
    declarations: &Declarations,
    text: &mut SourceLine,
) {
    let mut at = 0;
    while at < lines.len() {
        let found = call(&lines[at], array, text);
        let found = found.and_then(|call| call.line(array, function, declarations, text));
        let Some((call, depth)) = found else {
            at += 1;
            continue;
        };
        let moved = lines.remove(at);
        let same = |l: &LineChange| l.place() == call.place() && l.statement() == call.statement();
        let index = lines.iter().position(same).unwrap_or_else(|| {
            lines.push(LineChange {
                inlined_at: moved.inlined_at[depth..].to_vec(),
                ..call
            });
            lines.len() - 1
        });
        lines[index].take_accesses(moved);
    }
}

/// A call that hands over elements of the array.
struct Call {
    /// `file:line`
    source: String,
    place: Text,
    /// Its statement.
    statement: (usize, usize),
    /// The elements.
    elements: Vec<(usize, usize)>,
    /// Its number among the calls around the access, from 1.
    depth: usize,
}

/// The call whose arguments are what a line accesses by reference.
fn call(line: &LineChange, array: &str, text: &mut SourceLine) -> Option<Call> {
    if line.statement().is_some() || line.accesses.is_empty() {
        return None;
    }
    let chain = line.chain();
    let own = line.text.as_deref()?;
    // An element of a pointer may be what it accesses.
    if own.contains('[') || own.contains("->") || word(own, array).is_some() {
        return None;
    }
    let mut used = own.to_owned();
    for (depth, calls) in chain.windows(2).enumerate() {
        let [inner, outer] = calls else { return None };
        let (callee, references) = references(inner, &used, text)?;
        let (file, number) = split(outer)?;
        let place = Text::of_file(file, text);
        let (name, open) = place.call(&callee, place.start_of_line(number)?)?;
        let given = arguments(&place, open)?;
        let given: Vec<(usize, usize)> = references
            .iter()
            .map(|n| given.get(*n).copied())
            .collect::<Option<_>>()?;
        let mut names = pointers(&place, name, array).unwrap_or_default();
        names.push(array.to_owned());
        let is_of_array = |(from, to): &(usize, usize)| {
            let argument = place.masked[*from..*to].trim();
            names
                .iter()
                .any(|n| first_name(argument.trim_start_matches('*')) == n)
        };
        let (elements, others): (Vec<_>, Vec<_>) = given.into_iter().partition(is_of_array);
        if elements.is_empty() {
            used = others
                .iter()
                .map(|(from, to)| place.masked[*from..*to].trim())
                .collect::<Vec<_>>()
                .join(" ");
            continue;
        }
        let is_whole =
            |(from, to): &(usize, usize)| is_element(place.masked[*from..*to].trim(), &names);
        if !elements.iter().all(is_whole) {
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

/// The name of the function around a line, and the numbers of those of its parameters
/// that are references which `used` names.
fn references(source: &str, used: &str, text: &mut SourceLine) -> Option<(String, Vec<usize>)> {
    let (file, number) = split(source)?;
    let place = Text::of_file(file, text);
    let function = place.function_around(place.start_of_line(number)?)?;
    let parameters = arguments(&place, function.open)?;
    let is_used = |(from, to): (usize, usize)| {
        let name = declared_reference(place.masked[from..to].trim());
        name.is_some_and(|name| word(used, name).is_some())
    };
    let numbers = parameters.into_iter().enumerate();
    let numbers: Vec<usize> = numbers
        .filter_map(|(n, parameter)| is_used(parameter).then_some(n))
        .collect();
    (!numbers.is_empty()).then_some((function.name, numbers))
}

impl Call {
    /// The line of the call, changed, and how many calls are around it less than around
    /// the access.
    fn line(
        self,
        array: &str,
        function: &str,
        declarations: &Declarations,
        text: &mut SourceLine,
    ) -> Option<(LineChange, usize)> {
        let old = text(&self.source)?;
        let (from, to) = self.statement;
        let is_a_line = !self.place.text[from..to].trim().contains('\n');
        let seen = declarations.seen_from(&self.source, text).cloned();
        let seen = seen.filter(|_| is_a_line);
        let changed_text = seen.as_ref().and_then(|d| d.changed(&old, array, function));
        let call = match changed_text {
            Some(_) => None,
            None => Some(self.by_address(array, function)?),
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
    fn by_address(&self, array: &str, function: &str) -> Option<CallChange> {
        let mut edits = Vec::new();
        for (from, to) in &self.elements {
            let argument = &self.place.masked[*from..*to];
            let begin = from + argument.len() - argument.trim_start().len();
            let end = begin + argument.trim().len();
            match argument.trim().starts_with('*') {
                true => edits.push(Edit::insert(begin + 1, format!("{function}_at({array}, "))),
                false => edits.push(Edit::insert(begin, format!("*{function}_at({array}, &"))),
            }
            edits.push(Edit::insert(end, ")"));
        }
        edits::change(self.source.clone(), &self.place, self.statement, &edits)
    }
}
