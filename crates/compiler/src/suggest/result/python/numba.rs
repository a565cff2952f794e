//! Numba: `tile = cuda.shared.array((32, 32), float32)` gets longer rows, or the indices of the
//! array go through a function.

use super::text::{Part, assigned, calls, changed, function_around, number, plus};
use super::{Kernel, lines_of};
use crate::suggest::result::judged::Judged;
use crate::suggest::result::language::Python;
use crate::suggest::result::matrices::LongerRows;
use crate::suggest::result::padding::best_of;
use crate::suggest::source::edits::{Edit, applied};
use crate::suggest::source::files::SourceFiles;
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::brackets;
use crate::suggest::source::words::word;
use crate::suggest::{AccessChange, LineChange, Suggestion, of_longer_rows};
use spadkit_mapping::software::numba_function;
use std::collections::BTreeMap;
use std::ops::Range;

/// The function that declares an array of shared memory.
const DECLARES: &str = "shared.array";
/// The name of the function of a mapping.
const FUNCTION: &str = "spad_place";

/// `name = cuda.shared.array((rows, columns), ...)`.
struct Declaration {
    file: String,
    /// 1-based.
    line: usize,
    /// The line, without the white space around it.
    text: String,
    name: String,
    shape: Vec<Part>,
    /// As far as they are known.
    sizes: Vec<Option<u32>>,
}

impl Declaration {
    /// The elements, and those of a row.
    fn elements(&self) -> Option<(u32, u32)> {
        let mut all = self.sizes.iter();
        let count = all.try_fold(1u32, |n, size| n.checked_mul((*size)?))?;
        Some((count, (*self.sizes.last()?)?))
    }
}

impl Kernel<'_> {
    /// Longer rows, or a function.
    pub fn in_numba(&self, s: Suggestion, sources: &mut SourceFiles) -> Suggestion {
        let declaration = self.declaration(&s, sources);
        let rows = declaration.as_ref().and_then(|d| self.longer(d, sources));
        match rows {
            Some(rows) => rows,
            None => self.through_a_function(s, declaration.as_ref()),
        }
    }

    fn longer(&self, declaration: &Declaration, sources: &mut SourceFiles) -> Option<Suggestion> {
        let (elements, row) = declaration.elements()?;
        (declaration.sizes.len() > 1).then_some(())?;
        let bytes = self.bytes_of(elements)?;
        let banks = self.target.array.geometry().banks() as u32;
        let (by, layout) = best_of(self.target, row * bytes, bytes, banks)?;
        let last = declaration.shape.last()?;
        let place = (declaration.file.as_str(), declaration.line);
        let change = changed(place, &declaration.text, last, plus(&last.text, by))?;
        let longer = LongerRows {
            layout,
            declarations: vec![change],
            lines: Vec::new(),
        };
        let judged = Judged::new(self.target, self.tuned, &[], sources);
        let of = (self.target, self.tuned);
        let found = of_longer_rows(of, longer, declaration.name.clone(), judged);
        Some(Suggestion {
            element_bytes: bytes,
            elements: elements / row * (row + by),
            elements_before: elements,
            python: Some(Python::Numba),
            ..found
        })
    }

    /// Bytes of each of the elements of the variable, if they fit.
    fn bytes_of(&self, elements: u32) -> Option<u32> {
        let all = self.target.bytes()?;
        let bytes = all.checked_div(elements)?;
        let fits = bytes * elements == all && bytes.is_power_of_two() && bytes <= 16;
        fits.then_some(bytes)
    }

    /// The indices under the mapping, by a function.
    fn through_a_function(&self, s: Suggestion, declaration: Option<&Declaration>) -> Suggestion {
        let layout = &self.target.choices.best().layout;
        let columns = declaration.and_then(|d| match &d.shape[..] {
            [_, columns] => Some(columns.text.as_str()),
            _ => None,
        });
        let bytes = s.element_bytes;
        let array = declaration.map_or(s.array.clone(), |d| d.name.clone());
        let lines = match declaration.filter(|d| d.shape.len() <= 2) {
            Some(d) => s.lines.iter().map(|line| wrapped(line, &d.name)).collect(),
            None => Vec::new(),
        };
        Suggestion {
            function: numba_function(layout, FUNCTION, bytes, columns),
            function_name: FUNCTION.to_owned(),
            lines,
            array,
            hash: layout.spec().clone(),
            conflicts: self.target.choices.best().conflicts,
            ..s.in_python(Python::Numba)
        }
    }

    /// The declaration of the array.
    fn declaration(&self, s: &Suggestion, sources: &mut SourceFiles) -> Option<Declaration> {
        let (file, numbers, lines) = lines_of(s, sources)?;
        let own = function_around(&numbers, &lines)?;
        let all: Vec<Declaration> = declarations(&file, &lines, own).collect();
        if let Some(at) = self.rank_of_variable(all.len()) {
            let found = all.into_iter().nth(at)?;
            let fits = |(elements, _)| self.bytes_of(elements).is_some();
            return found.elements().is_none_or(fits).then_some(found);
        }
        let accessed: Vec<&String> = numbers.iter().filter_map(|n| lines.get(n - 1)).collect();
        let is_named = |d: &Declaration| {
            let fits = |(elements, _)| elements == s.elements_before;
            let accesses = accessed.iter().all(|line| word(line, &d.name).is_some());
            accesses && d.elements().is_some_and(fits)
        };
        // Of two arrays with one shape, accessed by all lines, it is unknown which is meant.
        let mut found = all.into_iter().filter(is_named);
        found.next().filter(|_| found.next().is_none())
    }

    /// The place of the variable among those of the kernel, which Numba numbers in the order of
    /// their declarations; `None` unless there are as many as declarations.
    fn rank_of_variable(&self, declarations: usize) -> Option<usize> {
        let number =
            |name: &str| -> Option<u32> { name.strip_prefix("_cudapy_smem_")?.parse().ok() };
        let all = self.tuned.trace.shared_variables();
        let mut numbers: Vec<u32> = all
            .iter()
            .flat_map(|v| v.name.split(", "))
            .map(number)
            .collect::<Option<_>>()?;
        numbers.sort_unstable();
        let own = match self.target.variable {
            Some(variable) => number(&variable.name)?,
            None => *numbers.first().filter(|_| numbers.len() == 1)?,
        };
        let rank = numbers.iter().position(|n| *n == own)?;
        (numbers.len() == declarations).then_some(rank)
    }
}

/// A line whose accesses to `array` go through the function.
fn wrapped(line: &LineChange, array: &str) -> LineChange {
    let access = |access: &AccessChange| AccessChange {
        expression: None,
        changed: None,
        stands_for: BTreeMap::new(),
        ..access.clone()
    };
    LineChange {
        source: line.source.clone(),
        text: line.text.clone(),
        changed_text: line.text.as_deref().and_then(|text| indexed(text, array)),
        conflicts: line.conflicts,
        accesses: line.accesses.iter().map(access).collect(),
        ..LineChange::default()
    }
}

/// `tile[y, x]` as `tile[spad_place(y, x)]`.
fn indexed(line: &str, array: &str) -> Option<String> {
    let code = Text::new(line.to_owned());
    let (mut edits, mut at) = (Vec::new(), 0);
    while let Some(found) = word(&code.masked[at..], array) {
        at += found + array.len();
        let (indices, _) = brackets(&code.masked[at..]);
        let index = indices.first().filter(|_| indices.len() == 1)?;
        let from = at + code.masked[at..].find('[')? + 1;
        let to = from + index.len();
        edits.push(Edit {
            from,
            to,
            new: format!("{FUNCTION}({})", &line[from..to]),
        });
    }
    (!edits.is_empty()).then(|| applied(line, &edits))?
}

/// The arrays that some lines declare.
fn declarations<'a>(
    file: &'a str,
    lines: &'a [String],
    own: Range<usize>,
) -> impl Iterator<Item = Declaration> + 'a {
    let numbered = (1..).zip(lines).skip(own.start).take(own.len());
    numbered.flat_map(move |(at, line)| {
        let text = line.trim().to_owned();
        let of_line = calls_of(&text).into_iter();
        let declared = of_line.map(|(name, shape)| Declaration {
            file: file.to_owned(),
            line: at,
            text: text.clone(),
            sizes: shape.iter().map(|p| number(&p.text, lines)).collect(),
            name,
            shape,
        });
        declared.collect::<Vec<_>>()
    })
}

/// The names and the shapes of the arrays that a line declares.
fn calls_of(line: &str) -> Vec<(String, Vec<Part>)> {
    let code = line.split('#').next().unwrap_or_default();
    let declared = calls(code, DECLARES).into_iter().filter_map(|(at, parts)| {
        let name = assigned(code, at)?;
        let shape = parts.iter().find_map(|p| p.value_of("shape"));
        let shape = shape.or_else(|| parts.first().cloned())?;
        let sizes = shape.items().unwrap_or_else(|| vec![shape.clone()]);
        Some((name.to_owned(), sizes))
    });
    declared.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_found_by_their_declarations() {
        let line = "sa=cuda.shared.array((16, 8),f4); sb = numba.cuda.shared.array(\
                    shape=( 16,N ), dtype=f4); s = cuda.shared.array(256, f4)";
        let found = calls_of(line);
        let shown = found.iter().map(|(name, shape)| {
            let sizes: Vec<&str> = shape.iter().map(|p| &line[p.from..p.to()]).collect();
            (name.as_str(), sizes.join("x"))
        });
        let expected = [("sa", "16x8"), ("sb", "16xN"), ("s", "256")];
        assert!(shown.eq(expected.map(|(n, s)| (n, s.to_owned()))));
        assert!(calls_of("s[x] = 1 # s = cuda.shared.array(1, f4)").is_empty());
    }

    #[test]
    fn all_elements_of_a_line_go_through_the_function() {
        let changed = indexed("sA[tx, ty] = A[x, sA[0, ty] + i]", "sA");
        let expected = "sA[spad_place(tx, ty)] = A[x, sA[spad_place(0, ty)] + i]";
        assert_eq!(changed.as_deref(), Some(expected));
        assert_eq!(indexed("f(sA)", "sA"), None);
    }
}
