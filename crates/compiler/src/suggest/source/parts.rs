//! The pointers that the source has for the parts of dynamic shared memory which a launch file
//! names. Where a function uses nothing else of that memory, it is seen as if each pointer were
//! an array:
//!
//! ```text
//! float *a = mem, *b = mem + 1024;
//! extern __shared__ float a[]; extern __shared__ float b[];
//! ```

use super::constants::Constants;
use super::declarations::parsed;
use super::files::split;
use super::pointers::{declared_pointer, is_moved, is_operand, value};
use super::scan::Text;
use super::words::{last_name, word};
use crate::suggest::SourceFiles;
use spadkit_mapping::trace::{AccessTrace, SharedVariable};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

impl SourceFiles {
    /// Sees the parts of dynamic shared memory that `trace` names as arrays, until the next
    /// call.
    pub(in crate::suggest) fn see_parts_of(&mut self, trace: &AccessTrace) {
        self.views.clear();
        self.pointers.clear();
        let variables = trace.shared_variables();
        let parts: Vec<&SharedVariable> = variables.iter().filter(|v| v.part.is_some()).collect();
        if parts.is_empty() {
            return;
        }
        for (file, lines) in lines(trace) {
            let edits = self.parts_in(&file, &lines, &parts, trace.block_dim);
            if !edits.is_empty() {
                let view = replaced(&self.text(&file).text, edits);
                self.views.insert(file, Rc::new(Text::new(view)));
            }
        }
    }

    /// The declarations of the functions with these lines of a file that become those of
    /// arrays.
    fn parts_in(
        &mut self,
        file: &str,
        lines: &BTreeSet<u32>,
        parts: &[&SharedVariable],
        block: [u32; 3],
    ) -> Vec<((usize, usize), String)> {
        let mut edits = Vec::new();
        let constants = Constants::of(file, self);
        let names = dynamic_arrays(&constants);
        for body in functions(constants.place(), lines) {
            let end = constants.place().block_end(body);
            let line = constants.place().line_of(end);
            let own = Constants::of(file, self).seen_from(line);
            let carved = Carved::of(&own, body, &names, block);
            let own = carved.and_then(|carved| carved.of_parts(parts));
            let agrees = |(part, pointer): (&String, &String)| {
                self.pointers.get(part).is_none_or(|known| known == pointer)
            };
            if let Some((pointers, arrays)) = own.filter(|own| own.0.iter().all(agrees)) {
                self.pointers.extend(pointers);
                edits.extend(arrays);
            }
        }
        edits
    }
}

/// The lines of the accesses, and of the calls around them, by file.
fn lines(trace: &AccessTrace) -> BTreeMap<String, BTreeSet<u32>> {
    let places = trace.places();
    let pcs: BTreeSet<u32> = trace.accesses.iter().map(|access| access.pc).collect();
    let all = pcs.into_iter().flat_map(|pc| {
        let (place, _) = places.of(pc).of_user();
        place.source.into_iter().chain(place.inlined_at)
    });
    let mut lines: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for place in all {
        if let Some((file, line)) = split(&place) {
            lines.entry(file.to_owned()).or_default().insert(line);
        }
    }
    lines
}

/// The text with each span replaced; the lines keep their numbers.
fn replaced(text: &str, mut edits: Vec<((usize, usize), String)>) -> String {
    edits.sort_by_key(|(span, _)| std::cmp::Reverse(*span));
    let mut text = text.to_owned();
    for ((from, to), new) in edits {
        let ends = "\n".repeat(text[from..to].matches('\n').count());
        text.replace_range(from..to, &(new + &ends));
    }
    text
}

/// The arrays of dynamic shared memory, with the bytes of their elements.
fn dynamic_arrays(constants: &Constants) -> BTreeMap<String, Option<u64>> {
    let masked = &constants.place().masked;
    let mut found = BTreeMap::new();
    let mut from = 0;
    while let Some(at) = word(&masked[from..], "__shared__") {
        let at = from + at;
        from = at + "__shared__".len();
        let start = constants.place().statement_start(at);
        let statement = &masked[start..constants.place().statement_end(at)];
        let head = statement.split('[').next().unwrap_or_default();
        let name = last_name(head.trim_end());
        if word(head, "extern").is_none() || name.is_empty() {
            continue;
        }
        let declared = parsed(statement, name);
        let bytes = declared.and_then(|d| constants.bytes_of(&d.element));
        found.insert(name.to_owned(), bytes.map(u64::from));
    }
    found
}

/// The bodies of the functions with one of the lines.
fn functions(place: &Text, lines: &BTreeSet<u32>) -> BTreeSet<usize> {
    let ends = lines.iter().filter_map(|line| place.start_of_line(*line));
    let around = ends.filter_map(|at| place.outermost_function(place.line_end(at)));
    around.map(|function| function.body).collect()
}

/// An address in dynamic shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Address {
    /// Bytes from the start, if the source says them.
    start: Option<u64>,
    /// Bytes of what it points to.
    element: Option<u64>,
    /// The pointer that it is counted from; `None` for the memory itself.
    from: Option<usize>,
}

/// A pointer that a function declares.
struct Pointer {
    name: String,
    element: String,
    address: Address,
    /// Whether it points there everywhere.
    stays: bool,
    /// The span of its declaration in the file.
    statement: (usize, usize),
}

/// What a function makes of dynamic shared memory.
struct Carved {
    pointers: Vec<Pointer>,
}

impl Carved {
    /// Those of the function with this body. `None` if it accesses the memory in another way
    /// than through pointers that stay where they begin.
    fn of(
        constants: &Constants,
        at: usize,
        names: &BTreeMap<String, Option<u64>>,
        block: [u32; 3],
    ) -> Option<Self> {
        let place = constants.place();
        let body = Text::new(place.text[at..place.block_end(at)].to_owned());
        let begins = names.iter().map(|(name, element)| {
            let address = Address {
                start: Some(0),
                element: *element,
                from: None,
            };
            (name.clone(), address)
        });
        let mut carving = Carving {
            body: &body,
            at,
            constants,
            block,
            known: begins.collect(),
            spans: Vec::new(),
            pointers: Vec::new(),
        };
        carving.declare_all()?;
        let Carving {
            spans, pointers, ..
        } = carving;
        let is_used_otherwise = names.keys().any(|name| {
            occurrences(&body, name).any(|at| {
                let is_value = spans.iter().any(|(from, to)| (*from..*to).contains(&at));
                let statement = &body.masked[body.statement_start(at)..at];
                !is_value && word(statement, "__shared__").is_none()
            })
        });
        (!is_used_otherwise).then_some(Carved { pointers })
    }

    /// The pointer of each part, and the declarations as those of arrays. `None` if another
    /// pointer may lead to a part.
    #[allow(clippy::type_complexity, reason = "two lists")]
    fn of_parts(
        mut self,
        parts: &[&SharedVariable],
    ) -> Option<(BTreeMap<String, String>, Vec<((usize, usize), String)>)> {
        for pointer in &mut self.pointers {
            let own = parts.iter().find(|part| part.name == pointer.name);
            let begin = own.and_then(|part| part.part).map(u64::from);
            match (pointer.address.start, begin) {
                (Some(start), Some(begin)) if start != begin => return None,
                // The launch file says where it begins, by its name.
                (None, begin) => pointer.address.start = Some(begin?),
                _ => {}
            }
        }
        let mut names = BTreeMap::new();
        let mut within = BTreeSet::new();
        for part in parts {
            let begin = u64::from(part.part?);
            let is_inside = |(_, pointer): &(usize, &Pointer)| {
                let start = pointer.address.start;
                start.is_some_and(|at| (begin..begin + u64::from(part.bytes)).contains(&at))
            };
            let mut inside = self.pointers.iter().enumerate().filter(is_inside);
            let Some((first, own)) = inside.next() else {
                continue;
            };
            (own.address.start == Some(begin)).then_some(())?;
            names.insert(part.name.clone(), own.name.clone());
            for (at, pointer) in inside {
                // An address in the part, as of any array.
                let from = pointer.address.from?;
                (from == first || within.contains(&from)).then_some(())?;
                within.insert(at);
            }
        }
        let arrays = self.pointers.iter().enumerate();
        let arrays = arrays.filter(|(at, _)| !within.contains(at));
        let own: Vec<&Pointer> = arrays.map(|(_, pointer)| pointer).collect();
        if own.iter().any(|pointer| !pointer.stays) {
            return None;
        }
        let mut arrays: BTreeMap<(usize, usize), String> = BTreeMap::new();
        for pointer in own {
            let (name, element) = (&pointer.name, &pointer.element);
            let array = arrays.entry(pointer.statement);
            let array = array.or_insert_with(|| format!("extern __shared__ {element} "));
            let comma = if array.ends_with(']') { ", " } else { "" };
            array.push_str(&format!("{comma}{name}[]"));
        }
        arrays.values_mut().for_each(|array| array.push(';'));
        (!names.is_empty()).then(|| (names, arrays.into_iter().collect()))
    }
}

/// A function while its pointers are found.
struct Carving<'a> {
    body: &'a Text,
    /// Where the body begins in the file.
    at: usize,
    constants: &'a Constants,
    block: [u32; 3],
    known: BTreeMap<String, Address>,
    /// The values of the pointers in the body.
    spans: Vec<(usize, usize)>,
    pointers: Vec<Pointer>,
}

impl Carving<'_> {
    /// The pointers, in the order of their declarations. `None` if an address goes to something
    /// that is none.
    fn declare_all(&mut self) -> Option<()> {
        let body = self.body;
        for (equals, _) in body.masked.match_indices('=') {
            let Some(address) = self.address(value(body, equals)) else {
                continue;
            };
            let before = body.masked[..equals].trim_end();
            let name = declared_pointer(before)?.to_owned();
            let start = body.statement_start(equals);
            let end = body.statement_end(equals);
            let declarators = body.split(start, end, ',').len();
            let element = element_of(&body.masked[start..equals])?;
            let bytes = self.constants.bytes_of(&element).map(u64::from);
            let address = Address {
                element: bytes,
                ..address
            };
            let from = equals + 1;
            let length = body.masked[from..end].find(value(body, equals))?;
            let from = from + length;
            self.spans.push((from, from + value(body, equals).len()));
            let known = Address {
                from: Some(self.pointers.len()),
                ..address
            };
            self.known.insert(name.clone(), known);
            self.pointers.push(Pointer {
                stays: stays(body, &name),
                name,
                element,
                address,
                statement: (self.at + start, self.at + end),
            });
            let own = |p: &&Pointer| p.statement.0 == self.at + start;
            let is_last = body.masked[equals..end].matches('=').count() == 1;
            if is_last && self.pointers.iter().filter(own).count() != declarators {
                return None;
            }
        }
        Some(())
    }

    /// The address that an expression is; `None` if it is none of dynamic shared memory.
    fn address(&self, expression: &str) -> Option<Address> {
        let text = Text::new(expression.trim().to_owned());
        let masked = &text.masked[..];
        let parts = text.split(0, masked.len(), '+');
        if let [first, others @ ..] = &parts[..]
            && !others.is_empty()
        {
            let base = self.address(&masked[first.0..first.1])?;
            let others = others
                .iter()
                .map(|&(from, to)| self.value(&masked[from..to]));
            let count = others.sum::<Option<u64>>();
            return Some(base.moved(count));
        }
        if let Some(address) = masked.strip_prefix('&') {
            let open = address.find('[')?;
            let base = self.address(&address[..open])?;
            let count = address[open + 1..].strip_suffix(']');
            return Some(base.moved(count.and_then(|count| self.value(count))));
        }
        let (kind, inside) = match masked.strip_prefix("reinterpret_cast<") {
            Some(rest) => rest.split_once(">(").map(|(kind, _)| {
                let open = masked.len() - rest.len() + kind.len() + 1;
                (Some(kind), open)
            })?,
            None if masked.starts_with('(') => (None, 0),
            None => return self.known.get(masked).copied(),
        };
        let close = text.closing(inside)?;
        let (own, rest) = (&masked[inside + 1..close], masked[close + 1..].trim());
        match (kind, rest.is_empty()) {
            (kind, true) => {
                let found = self.address(own)?;
                Some(match kind {
                    Some(kind) => found.cast(self.bytes_of_pointer(kind)?),
                    None => found,
                })
            }
            (None, false) => {
                let bytes = self.bytes_of_pointer(own)?;
                Some(self.address(rest)?.cast(bytes))
            }
            _ => None,
        }
    }

    /// Bytes of what a type of pointers points to, `None` if it is no such type.
    fn bytes_of_pointer(&self, kind: &str) -> Option<Option<u64>> {
        let element = plain_type(kind.trim_end().strip_suffix('*')?);
        Some(self.constants.bytes_of(&element).map(u64::from))
    }

    /// The value of a count of elements; the launch says the size of a block.
    fn value(&self, count: &str) -> Option<u64> {
        let mut count = count.trim().to_owned();
        for (axis, size) in ["x", "y", "z"].iter().zip(self.block) {
            count = count.replace(&format!("blockDim.{axis}"), &size.to_string());
        }
        self.constants.value(&count)
    }
}

impl Address {
    /// `count` elements behind it.
    fn moved(self, count: Option<u64>) -> Self {
        let bytes = || match count? {
            0 => Some(0),
            count => count.checked_mul(self.element?),
        };
        Address {
            start: self.start.zip(bytes()).and_then(|(a, b)| a.checked_add(b)),
            ..self
        }
    }

    fn cast(self, element: Option<u64>) -> Self {
        Address { element, ..self }
    }
}

/// `float` of `const float *__restrict__ a = mem, *b`.
fn element_of(declaration: &str) -> Option<String> {
    let element = plain_type(declaration.split('*').next()?);
    (!element.is_empty()).then_some(element)
}

/// A type without `const` and `volatile`.
fn plain_type(kind: &str) -> String {
    let words = kind.split_whitespace();
    let words = words.filter(|word| !["const", "volatile"].contains(word));
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a pointer points to where it began, at the end of the function too.
fn stays(body: &Text, name: &str) -> bool {
    let is_open = |at: usize| {
        let before = body.masked[..at].trim_end();
        let after = body.masked[at + name.len()..].trim_start();
        let called = body.open_before(at).and_then(|open| body.called(open));
        let is_swapped = called.is_some_and(|(_, called)| called == "swap");
        let is_address = before.ends_with('&') && is_operand(before) && !after.starts_with('[');
        let is_bound = before.ends_with('=') && before.contains('&') && {
            let head = before.trim_end_matches('=').trim_end();
            let reference = last_name(head);
            let kind = head[..head.len() - reference.len()].trim_end();
            kind.ends_with("*&") || kind.ends_with("auto &")
        };
        is_swapped || is_address || is_bound
    };
    !is_moved(body, name) && !occurrences(body, name).any(is_open)
}

/// The positions of a name.
fn occurrences<'a>(body: &'a Text, name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + word(&body.masked[from..], name)?;
        from = at + name.len();
        Some(at)
    })
}
