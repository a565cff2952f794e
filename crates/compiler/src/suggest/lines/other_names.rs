//! The names through which a line may access an array, apart from its own: pointers into it,
//! references to its elements. A change that leaves one of them as it is reads what
//! the other names have stored elsewhere.

use super::calls::declaration_at;
use super::change::LineChange;
use super::declared_pointers::pointers_to_rows;
use crate::suggest::SourceFiles;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::files::split;
use crate::suggest::source::indexed::{BEFORE_EXPRESSIONS, is_declared, is_unevaluated};
use crate::suggest::source::macros::defined;
use crate::suggest::source::pointers::{declared_reference, is_operand, members, pointer, value};
use crate::suggest::source::scan::{Function, Text, arguments};
use crate::suggest::source::words::brackets;
use crate::suggest::source::words::{is_word, last_name, names, word};
use std::collections::{BTreeMap, BTreeSet};

/// Names that may lead to elements of an array.
#[derive(Debug, Default)]
pub(in crate::suggest) struct OtherNames {
    /// Pointers, and what may be one.
    pointers: BTreeSet<String>,
    /// References: their name alone is an access.
    references: BTreeSet<String>,
    /// Macros with parameters, whose use may be an access.
    macros: BTreeSet<String>,
    /// Brackets of an element, of the array and of pointers to rows.
    depths: BTreeMap<String, usize>,
}

impl OtherNames {
    /// Names that may lead to the array at position `at`, whatever the order of the
    /// statements; the function's own parameters `passed` are among them.
    pub fn at(place: &Text, at: usize, array: &str, passed: Vec<String>) -> Self {
        let mut found = OtherNames {
            pointers: passed.into_iter().collect(),
            depths: pointers_to_rows(place, at),
            ..OtherNames::default()
        };
        if let Some(declared) = declaration_at(place, at, array)
            && let Some(begin) = word(&declared, array)
        {
            let depth = brackets(&declared[begin + array.len()..]).0.len();
            found.depths.insert(array.to_owned(), depth);
        }
        let function = place.outermost_function(at);
        let body = function.as_ref().map_or(String::new(), |f| {
            place.text[f.body..place.block_end(f.body)].to_owned()
        });
        let body = Text::new(body);
        let outputs = function.map_or(Vec::new(), |f| pointers_to_values(place, &f));
        loop {
            let known = found.len();
            found.add_macros(place, array);
            found.add_assigned(&body, array, &outputs);
            found.add_initialised(&body, array);
            if found.len() == known {
                return found;
            }
        }
    }

    /// Brackets after which a name is an element; a reference may be to rows.
    pub(super) fn depth(&self, name: &str) -> usize {
        let unknown = if self.references.contains(name) {
            usize::MAX
        } else {
            1
        };
        self.depths.get(name).copied().unwrap_or(unknown)
    }

    fn len(&self) -> usize {
        self.pointers.len() + self.references.len() + self.macros.len()
    }

    fn all<'a>(&'a self, array: &'a str) -> impl Iterator<Item = &'a str> {
        let known = self.pointers.iter().chain(&self.references);
        let known = known.chain(&self.macros).map(String::as_str);
        known.chain([array])
    }

    fn add_macros(&mut self, place: &Text, array: &str) {
        for (name, body) in place.masked.lines().filter_map(defined) {
            if name == array || !self.all(array).any(|n| word(body, n).is_some()) {
                continue;
            }
            let all = if body.starts_with('(') {
                &mut self.macros
            } else {
                &mut self.pointers
            };
            all.insert(name.to_owned());
        }
    }

    /// Names whose value is an address in the array, whatever is done with it. What `outputs`
    /// point to are no addresses.
    fn add_assigned(&mut self, body: &Text, array: &str, outputs: &[String]) {
        for (equals, _) in body.masked.match_indices('=') {
            let before = body.masked[..equals].trim_end();
            if body.masked[equals + 1..].starts_with('=')
                || before.ends_with(['=', '!', '<', '>', '+', '-', '*', '/', '%', '&', '|', '^'])
            {
                continue;
            }
            let value = value(body, equals);
            let reference = declared_reference(before).or_else(|| reference_to_array(before));
            let Some(name) = reference.or_else(|| assigned(before)) else {
                continue;
            };
            let is_stored = before.ends_with(']') && outputs.iter().any(|o| o == name);
            let is_value = reference.is_none() && value.trim_start().starts_with('*') || is_stored;
            let leads = !is_value
                && self.all(array).any(|n| match reference {
                    Some(_) => is_outside_brackets(value, n),
                    None => has_address(value, n, self.depth(n)),
                });
            if leads && name != array {
                let all = match reference {
                    Some(_) => &mut self.references,
                    None => &mut self.pointers,
                };
                all.insert(name.to_owned());
            }
        }
    }

    /// Names that are declared with an address in the array, in braces or in parentheses:
    /// `float *p{s}`, `View v(s, 32)`.
    fn add_initialised(&mut self, body: &Text, array: &str) {
        for (open, _) in body.masked.match_indices(['(', '{']) {
            let Some(name) = initialised(&body.masked[..open]) else {
                continue;
            };
            let Some(close) = body.closing(open) else {
                continue;
            };
            let given = &body.masked[open + 1..close];
            let leads = self
                .all(array)
                .any(|n| has_address(given, n, self.depth(n)));
            if leads && name != array {
                self.pointers.insert(name.to_owned());
            }
        }
    }

    /// The names among these that a text has.
    pub fn named_in(&self, masked: &str) -> Vec<String> {
        let named = self.pointers.iter().chain(&self.references);
        let named = named.filter(|name| word(masked, name).is_some());
        named.cloned().collect()
    }

    /// Names through which a changed statement accesses the array, or may do so,
    /// without the function of the mapping; the array itself is one of them.
    /// `changed`: the macros whose definitions change.
    pub fn left_in(&self, statement: &str, mapped: Mapped, changed: &[String]) -> Vec<String> {
        let code = Text::new(statement.to_owned());
        let mut left: Vec<String> = Vec::new();
        for name in self.all(mapped.array) {
            let is_own = name == mapped.array;
            let mut used = occurrences(&code.masked, name);
            let is_left = used.any(|(at, end)| {
                let is_member =
                    code.masked[..at].ends_with('.') || code.masked[..at].ends_with("->");
                !(is_own && is_member) && self.is_left(&code, (at, end), mapped)
            });
            if is_left && !changed.iter().any(|c| c == name) {
                left.push(name.to_owned());
            }
        }
        left
    }

    fn is_left(&self, code: &Text, (at, end): (usize, usize), mapped: Mapped) -> bool {
        let name = &code.masked[at..end];
        let before = code.masked[..at].trim_end();
        let after = code.masked[end..].trim_start();
        let index = format!("[{}(", mapped.function);
        let address = format!("{}_at", mapped.function);
        let around = || std::iter::successors(code.open_before(at), |o| code.open_before(*o));
        let is_in_call = || around().any(|o| code.called(o).is_some_and(|(_, n)| n == address));
        // `(&tile[0][0])[spad_place(i)]`
        let is_counted = || {
            let open = code.open_before(at);
            let close = open.and_then(|open| code.closing(open));
            before.ends_with("(&")
                && close.is_some_and(|c| code.masked[c + 1..].starts_with(&index))
        };
        if before.ends_with("::")
            || is_unevaluated(code, at)
            || is_declared(code, at)
            || is_in_call()
        {
            return false;
        }
        let is_pointed = before.ends_with('*') && is_operand(before);
        // A member of another object may be a pointer, and a call of it, or of one of its
        // functions, may access what it has.
        let whole = &code.masked[end..members(code, end, code.masked.len())];
        let method = code.masked[end + whole.len()..].trim_start();
        let is_call = after.starts_with('(') || !whole.is_empty() && method.starts_with('(');
        let has_index = (whole.contains(['[', '>']) || is_call) && name != mapped.array;
        let is_element =
            after.starts_with('[') || after.starts_with("->") || is_pointed || has_index;
        if name == mapped.array {
            // Of an address, what is read through it changes.
            let is_address = before.ends_with('&') && is_operand(before);
            return is_element && !is_address && !after.starts_with(&index) && !is_counted();
        }
        if self.macros.contains(name) {
            return after.starts_with('(');
        }
        let is_address = before.ends_with('&') && is_operand(before);
        is_element || self.references.contains(name) && !is_address
    }
}

/// The name at the end of a declaration or on the left of an assignment: `float *p`,
/// `float (*rows)[32]`, `p[0]`.
fn assigned(before: &str) -> Option<&str> {
    let mut head = before;
    while let Some(inner) = head.strip_suffix(']') {
        let text = Text::new(head.to_owned());
        head = head[..text.opening(inner.len())?].trim_end();
    }
    let head = head.strip_suffix(')').unwrap_or(head).trim_end();
    let name = last_name(head);
    let is_name = name.starts_with(|c: char| is_word(c) && !c.is_ascii_digit());
    is_name.then_some(name)
}

/// The parameters of a function that point to values, which are no pointers.
fn pointers_to_values(place: &Text, function: &Function) -> Vec<String> {
    let own = arguments(place, function.open).unwrap_or_default();
    let parameters = own.into_iter().map(|(from, to)| &place.masked[from..to]);
    let of_values = parameters.filter(|text| text.matches('*').count() == 1);
    let named = of_values.filter_map(|text| pointer(text.trim()));
    named.map(str::to_owned).collect()
}

/// The name at the end of the declaration of a reference to an array: `float (&rows)[4][32]`.
fn reference_to_array(before: &str) -> Option<&str> {
    let name = assigned(before)?;
    let inner = before[..before.rfind(')')?].trim_end();
    let declarator = inner.strip_suffix(name)?.trim_end().strip_suffix('&')?;
    declarator.trim_end().ends_with('(').then_some(name)
}

/// The name at the end of a declaration without `=`: `float *p`, `View v`.
fn initialised(before: &str) -> Option<&str> {
    let name = last_name(before.trim_end());
    let is_name = name.starts_with(|c: char| is_word(c) && !c.is_ascii_digit());
    let ty = before.trim_end().strip_suffix(name).filter(|_| is_name)?;
    let ty = ty.trim_end_matches(['*', '&', ' ']);
    let is_apart = ty.len() < before.trim_end().len() - name.len();
    let word = last_name(ty);
    let is_type = ty.ends_with('>') && !ty.ends_with("->")
        || word.starts_with(|c: char| is_word(c) && !c.is_ascii_digit())
            && !BEFORE_EXPRESSIONS.contains(&word);
    (is_apart && is_type).then_some(name)
}

/// Whether an expression has `name` outside the brackets of indices.
fn is_outside_brackets(expression: &str, name: &str) -> bool {
    occurrences(expression, name).any(|(begin, _)| {
        let open = expression[..begin].matches('[').count();
        open == expression[..begin].matches(']').count()
    })
}

/// Whether an expression has the address of `name`, or of an element: no value.
fn has_address(expression: &str, name: &str, depth: usize) -> bool {
    occurrences(expression, name).any(|(begin, end)| {
        let before = expression[..begin].trim_end();
        let is_address = before.ends_with('&') && is_operand(before)
            || before.ends_with("&") && before.trim_end_matches('&').trim_end().ends_with("*)");
        let after = expression[end..].trim_start();
        let is_element = after.starts_with('[') && brackets(after).0.len() >= depth;
        let is_value = is_element || after.starts_with("->");
        let is_pointed = before.ends_with('*') && is_operand(before);
        is_address || !is_value && !is_pointed
    })
}

/// Places where a text has `name`, also as that of a member.
fn occurrences<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
    let all = text
        .match_indices(name)
        .map(|(at, _)| (at, at + name.len()));
    all.filter(|&(at, end)| !text[..at].ends_with(is_word) && !text[end..].starts_with(is_word))
}

/// Whether the head of a function has `word`, also by a macro of the file.
pub(in crate::suggest) fn has_word(place: &Text, function: &Function, word: &str) -> bool {
    let head = &place.masked[place.statement_start(function.open)..function.open];
    let mut macros = place.masked.lines().filter_map(defined);
    head.contains(word)
        || macros.any(|(name, body)| body.contains(word) && names(head).any(|(own, _)| own == name))
}

/// The parameters of the function around `at` that may lead to `array`: what the call gives for
/// them names it.
pub(in crate::suggest) fn parameters(
    line: &LineChange,
    (place, at): (&Text, usize),
    array: &str,
    sources: &mut SourceFiles,
) -> Vec<String> {
    let Some(function) = place.function_around(at) else {
        return Vec::new();
    };
    let own = arguments(place, function.open).unwrap_or_default();
    let given = line.inlined_at.first().and_then(|call| {
        let (file, number) = split(call)?;
        let caller = sources.text(file);
        let (name, open) = caller.call(&function.name, caller.start_of_line(number)?)?;
        let names = OtherNames::at(&caller, name, array, Vec::new());
        let given = arguments(&caller, open)?.into_iter().map(|(from, to)| {
            let argument = &caller.masked[from..to];
            names.all(array).any(|n| word(argument, n).is_some())
        });
        Some(given.collect::<Vec<_>>())
    });
    // Without a known call: most get other arrays.
    let Some(given) = given else {
        return Vec::new();
    };
    let leads = |number: usize| given.get(number).copied().unwrap_or(true);
    let parameters = own
        .into_iter()
        .enumerate()
        .filter_map(|(number, (from, to))| {
            let parameter = place.masked[from..to].trim();
            let name = pointer(parameter).or_else(|| declared_reference(parameter))?;
            (name != array && leads(number)).then(|| name.to_owned())
        });
    parameters.collect()
}

/// Takes back the change of each line that leaves an access of the array as it is.
pub(in crate::suggest) fn take_back(
    changes: &mut [LineChange],
    mapped: Mapped,
    sources: &mut SourceFiles,
) {
    let defined = changes
        .iter()
        .filter_map(|l| l.call.as_ref()?.defines.clone());
    let defined: Vec<String> = defined.collect();
    for line in changes {
        // What passes addresses on accesses nothing itself.
        let by_pointers = line.changed_text.is_none();
        if by_pointers && line.accesses.is_empty() {
            continue;
        }
        let Some((_, new)) = line.statement() else {
            continue;
        };
        let Some((file, number)) = line.place().and_then(split) else {
            continue;
        };
        let place = sources.text(file);
        let Some(at) = place.start_of_line(number) else {
            continue;
        };
        // The end of the line is in the function whose head the line has, too.
        let end = place.line_end(at);
        let passed = parameters(line, (&place, end), mapped.array, sources);
        let names = OtherNames::at(&place, end, mapped.array, passed);
        let mut left = names.left_in(new, mapped, &defined);
        // A line that its pointers alone change gives the array away, and does not access it so.
        left.retain(|name| !by_pointers || name != mapped.array);
        if !left.is_empty() {
            (line.call, line.changed_text, line.declared) = (None, None, None);
            line.also_through = left.into_iter().filter(|n| n != mapped.array).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "#define LOW (s + 4)
#define AT(i) s[i]
#define LENGTH 64
void k(const float *in, float *out) {
    __shared__ float s[64];
    float *p = s, *later;
    const float *g = in + int(s[3]), x = *p;
    auto &e = s[t], &rest = x;
    float (*rows)[8] = (float (*)[8])s;
    later = c ? in : p + 1;
    o.q = later;
    View view{s, 64}, *none{}; Pair pair(s + 1, 2);
    float (&all)[8][8] = *reinterpret_cast<float (*)[8][8]>(s);
    auto row = [&](int r) { return &s[8 * r]; }; out[3] = sum(s);
    HERE
}";

    /// The names through which `statement` accesses `s` without the function.
    fn left(statement: &str) -> Vec<String> {
        let place = Text::new(SOURCE.replace("HERE", statement));
        let at = place.start_of_line(15).unwrap();
        let names = OtherNames::at(&place, at, "s", Vec::new());
        names.left_in(statement, Mapped::words("s", "f"), &[])
    }

    #[test]
    fn every_name_of_the_array_is_mapped_or_left() {
        for (statement, names) in [
            ("x = s[f(t)] + p[t];", "p"),
            ("x = s[f(t)] + *later;", "later"),
            ("x = s[f(t)] + o.q[1];", "q"),
            ("x = s[f(t)] * e;", "e"),
            ("x = rows[t][1] + (&s[0])[f(t)];", "rows"),
            ("x = LOW[t] + AT(3);", "LOW AT"),
            ("x = s[t] + s[f(t)];", "s"),
            ("out[t] = s[f(t)] - view(j, x);", "view"),
            ("out[t] = s[f(t)] - view.at(j);", "view"),
            ("out[t] = s[f(t)] - pair.z[j];", "pair"),
            ("out[t] = s[f(t)] - all[j][x];", "all"),
            ("out[t] = s[f(t)] - row(j)[x];", "row"),
        ] {
            assert_eq!(left(statement).join(" "), names, "{statement}");
        }
    }

    #[test]
    fn a_row_of_the_array_leads_there() {
        let source = "void k() {\n__shared__ int s[4][4];\nconst int *row = s[x];\n\
                      const int *other = in + s[0][1];\nHERE\n}";
        let statement = "x = row[y] + other[y] + (&s[0][0])[f(x)];";
        let place = Text::new(source.replace("HERE", statement));
        let at = place.start_of_line(5).unwrap();
        let names = OtherNames::at(&place, at, "s", Vec::new());
        assert_eq!(
            names.left_in(statement, Mapped::words("s", "f"), &[]),
            ["row"]
        );
    }

    #[test]
    fn other_pointers_and_mapped_accesses_are_none() {
        for statement in [
            "x = s[f(t)] + g[t] + in[t] * rest;",
            "x = (*f_at(s, &p[t])) + s[f(255 - t)];",
            "x = *f_at(s, later) + sizeof(p[0]) + LENGTH;",
            "f_at(s, &rows[t][0])->y = s[f(e_of(p))];",
        ] {
            assert_eq!(left(statement), [""; 0], "{statement}");
        }
    }

    /// A function gets the array under another name, or an array of its own.
    #[test]
    fn parameters_lead_to_what_the_call_gives() {
        let source = "extern __shared__ float s[];
__device__ float pick(const float *a, const float *b) {
    return a[0] + b[0] + s[1];
}
__global__ void k(const float *in) {
    float *p = s + 4;
    x = pick(p, in);
}";
        let mut text = crate::suggest::source::files::given(source);
        let line = |calls: &[&str]| LineChange {
            source: Some("k.cu:3".to_owned()),
            inlined_at: calls.iter().map(|c| (*c).to_owned()).collect(),
            ..LineChange::default()
        };
        let place = text.text("k.cu");
        let at = place.start_of_line(3).unwrap();
        let mut of = |calls: &[&str]| parameters(&line(calls), (&place, at), "s", &mut text);
        assert_eq!(of(&["k.cu:7"]), ["a"]);
        assert_eq!(of(&[]), [""; 0]);
        // A kernel's come from elsewhere, whatever its head is called.
        for head in ["#define K __global__ void\nK", "__global__ void", "KERNEL"] {
            let source = format!("{head} k(const float *a) {{\nx = a[0] + s[0];\n}}");
            let place = Text::new(source.clone());
            let at = place.text.find("x =").unwrap();
            let mut text = crate::suggest::source::files::given(&source);
            assert_eq!(
                parameters(&line(&[]), (&place, at), "s", &mut text),
                [""; 0]
            );
        }
    }
}
