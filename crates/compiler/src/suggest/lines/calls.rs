//! Accesses inside functions of one `asm` statement, as kernels have them for
//! `ldmatrix` and `cp.async`: the argument of a caller that becomes the address.

use crate::suggest::SourceFiles;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::asm::{ASM, Passed, address_operand, parameter};
use crate::suggest::source::edits::{self, CallChange, Edit, Maps};
use crate::suggest::source::files::split;
use crate::suggest::source::macros::Macro;
use crate::suggest::source::pointers::{CASTS, is_operand, pointer};
use crate::suggest::source::scan::{Text, arguments};
use crate::suggest::source::words::{last_name, word};

/// Lines above a line that are read for the function around it.
const ABOVE: u32 = 600;
/// Lines after a line that are read for the end of its statement.
const BELOW: u32 = 12;

/// The statement that decides which address an `asm` statement at `source` accesses,
/// with that address under `function`: a call, the use of a macro, or the `asm`
/// statement itself. `inlined_at` are the calls around it, the innermost first.
/// `None` if the address comes in a way that is not understood, or where `array` is
/// not declared.
pub(in crate::suggest) fn call_change(
    source: &str,
    inlined_at: &[String],
    mapped: Mapped,
    sources: &mut SourceFiles,
) -> Option<CallChange> {
    let array = mapped.array;
    let (place, line) = window(source, sources)?;
    let mut at = operand(&place, line)
        .or_else(|| of_macro(source, &place, line, sources))
        .or_else(|| only_pointed(&place, line, array))?;
    let mut place = place;
    let mut calls = inlined_at.iter();
    let mut source = source;
    loop {
        if declares(&place, at.statement.0, array) {
            return at.changed(&place, source, mapped);
        }
        // The caller passes on its own argument.
        let passed = parameter(&place, at.statement.0, at.text(&place))?;
        source = calls.next()?;
        let line;
        (place, line) = window(source, sources)?;
        at = place.argument(&passed, line)?;
    }
}

/// The text around a line that sees a declaration of the shared array, and where the
/// line begins in it; `None` of a line that sees none.
pub(in crate::suggest) fn window_with(
    source: &str,
    array: &str,
    sources: &mut SourceFiles,
) -> Option<(Text, usize)> {
    window(source, sources).filter(|(place, line)| declares(place, *line, array))
}

/// Whether a line at `at` sees a declaration of the shared array.
pub(in crate::suggest) fn declares(place: &Text, at: usize, array: &str) -> bool {
    declaration_at(place, at, array).is_some()
}

/// The last declaration of the shared array that a line at `at` sees.
pub(in crate::suggest) fn declaration_at(place: &Text, at: usize, array: &str) -> Option<String> {
    let seen = place.visible_before(at);
    let parts: Vec<&str> = seen.split(';').collect();
    (0..parts.len()).rev().find_map(|n| {
        let own = word(parts[n], array).map(|_| parts[n])?;
        if own.contains("__shared__") {
            return Some(own.to_owned());
        }
        // Members, a block of their own, are between the type and the name.
        let head = parts[n.checked_sub(1)?];
        is_open_type(head).then(|| format!("{head} {own}"))
    })
}

/// Whether a declaration ends with a type whose members follow: `__shared__ union All`.
fn is_open_type(head: &str) -> bool {
    let kinds = ["struct", "union", "class"];
    let mut last = head.split_whitespace().rev();
    let is_kind = |word: Option<&str>| word.is_some_and(|word| kinds.contains(&word));
    word(head, "__shared__").is_some() && (is_kind(last.next()) || is_kind(last.next()))
}

/// Whether the shared variable is one object and no array, by the declaration that line
/// `source` sees.
pub(in crate::suggest) fn is_one_object(
    source: &str,
    variable: &str,
    sources: &mut SourceFiles,
) -> bool {
    let declaration = window(source, sources).and_then(|(p, at)| declaration_at(&p, at, variable));
    declaration.is_some_and(|declaration| {
        let after = word(&declaration, variable).map(|at| at + variable.len());
        after.is_some_and(|at| !declaration[at..].trim_start().starts_with('['))
    })
}

/// An address in a statement, or the element there.
pub(in crate::suggest) struct Address {
    pub statement: (usize, usize),
    /// The start of the replaced span.
    pub from: usize,
    pub to: usize,
    /// The address, where an element is replaced.
    pub of_element: Option<String>,
}

impl Address {
    pub fn new(place: &Text, statement: (usize, usize), (from, to): (usize, usize)) -> Self {
        let text = &place.text[from..to];
        let (front, back) = (text.len() - text.trim_start().len(), text.trim_end().len());
        Address {
            statement,
            from: from + front.min(back),
            to: from + back,
            of_element: None,
        }
    }

    fn text<'a>(&self, place: &'a Text) -> &'a str {
        &place.text[self.from..self.to]
    }

    /// The statement with the address mapped.
    pub fn changed(&self, place: &Text, source: &str, mapped: Mapped) -> Option<CallChange> {
        let at = mapped.at();
        let edits = match &self.of_element {
            Some(address) => vec![Edit {
                from: self.from,
                to: self.to,
                new: format!("*{at}{address})"),
            }],
            None => vec![Edit::insert(self.from, at), Edit::insert(self.to, ")")],
        };
        let maps = match self.of_element {
            Some(_) => Maps::Element,
            None => Maps::Address,
        };
        let change = edits::change(source.to_owned(), place, self.statement, &edits)?;
        Some(CallChange { maps, ..change })
    }
}

impl Text {
    /// The argument of a call at `line` that is the parameter `passed`.
    fn argument(&self, passed: &Passed, line: usize) -> Option<Address> {
        let (start, open) = self.call(&passed.function, line)?;
        let argument = *arguments(self, open)?.get(passed.number)?;
        let statement = (self.line_start(start), self.statement_end(argument.1));
        // If the line has two calls, one would stay unchanged.
        let end = self.line_end(statement.1);
        let others = &self.masked[start + passed.function.len()..end];
        let is_only = word(others, &passed.function).is_none();
        is_only.then(|| Address::new(self, statement, argument))
    }
}

/// The address of the `asm` statement at `line`, in its own line.
fn operand(place: &Text, line: usize) -> Option<Address> {
    let asm = ASM.iter().find_map(|name| place.statement(name, line))?;
    let found = address_operand(place, asm)?;
    let own = (place.line_start(found.0), place.line_end(found.1));
    Some(Address::new(place, own, found))
}

/// The parameter that a function at `line`, which does not see the array, uses only to
/// access the target, once: `*p`, `*reinterpret_cast<int4 *>(p)`.
fn only_pointed(place: &Text, line: usize, array: &str) -> Option<Address> {
    if declares(place, line, array) {
        return None;
    }
    let end = place.line_end(line);
    let function = place.function_around(end)?;
    let used = function.body..place.block_end(function.body);
    let parameters = arguments(place, function.open)?;
    let names = parameters
        .iter()
        .map(|&(from, to)| pointer(&place.masked[from..to]));
    names.flatten().find_map(|name| {
        let at = used.start + word(&place.masked[used.clone()], name)?;
        let after = at + name.len();
        let is_only = word(&place.masked[after..used.end], name).is_none();
        let is_here = (line..end).contains(&at) && is_only;
        let is_object = is_here && is_pointed(&place.masked[line..at], &place.masked[after..end]);
        is_object.then(|| Address::new(place, (at, end), (at, after)))
    })
}

/// Whether the pointer between two parts of a line stands for the object that it points to.
fn is_pointed(before: &str, after: &str) -> bool {
    let (mut before, mut after) = (before.trim_end(), after.trim_start());
    if let Some(cast) = before.strip_suffix(">(") {
        let Some(begin) = CASTS.iter().filter_map(|name| cast.rfind(name)).max() else {
            return false;
        };
        let Some(rest) = after.strip_prefix(')') else {
            return false;
        };
        (before, after) = (before[..begin].trim_end(), rest.trim_start());
    }
    let is_element = after.starts_with(['[', '(', '.', '+', '-']);
    before.ends_with('*') && is_operand(before) && !is_element
}

/// The argument of a macro at `line` that is the address of its `asm` statement.
fn of_macro(source: &str, place: &Text, line: usize, sources: &mut SourceFiles) -> Option<Address> {
    let (file, _) = split(source)?;
    let end = place.statement_end(line);
    let statement = &place.masked[line..end];
    let names = statement.match_indices('(').filter_map(|(open, _)| {
        let name = last_name(&statement[..open]);
        (!name.is_empty()).then(|| name.to_owned())
    });
    let names: Vec<String> = names.collect();
    names.iter().find_map(|name| {
        let definition = Macro::named(name, file, sources)?;
        place.argument(&definition.address()?, line)
    })
}

/// The text around `file:line`, and where the line begins in it.
pub(in crate::suggest) fn window(place: &str, sources: &mut SourceFiles) -> Option<(Text, usize)> {
    let (file, line) = split(place)?;
    let all = sources.text(file);
    let from = all.start_of_line(line.saturating_sub(ABOVE).max(1))?;
    let at = all.start_of_line(line)?;
    let to = all
        .start_of_line(line + BELOW + 1)
        .unwrap_or(all.text.len());
    let mut text = all.text[from..to].to_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Some((Text::new(text), at - from))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
__device__ void fragment(unsigned (&to)[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(row)
                 : "memory");
}
template <int BYTES>
__device__ void copy(void *to, const void *from)
{
    if (BYTES == 16) { // not 4
        const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(to));
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(from));
    }
}
__device__ void through(const void *from, unsigned char *tile) {
    copy<16>(tile, from);
}
__global__ void kernel(const float *in)
{
    __shared__ __align__(128) unsigned char tile[2][4096];
    unsigned part[4];
    copy<16>(tile[0] + offset<2, 4>(threadIdx.x, 1),
             in + threadIdx.x);
    auto again = [&](int slot) {
        through(in, &tile[slot][16 * threadIdx.x]);
    };
    fragment(part, address_of(tile[1]) + 16 * lane);
    again(1);
}
__global__ void other(const float *in)
{
    fragment(part, base);
}
#define STORE(ADDRESS, VALUE) \
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(ADDRESS), "r"(VALUE))
__global__ void third()
{
    extern __shared__ float tile[];
    unsigned at = address_of(tile) + 4 * threadIdx.x;
    STORE(at, part[0]);
    asm volatile("ld.shared.b32 %0, [%1];"
                 : "=r"(part[1])
                 : "r"(at + 16));
}
__device__ void put(const float &value, float *to) {
    asm volatile("{.reg .pred p; @p st.global.f32 [%0], %1;}" :: "l"(to), "f"(value));
}
__global__ void fourth(float *out)
{
    __shared__ float tile[64];
    put(tile[threadIdx.x], out + threadIdx.x);
}
"#;

    /// The change for the `asm` statement at a line and the lines of its calls.
    fn change(asm: u32, calls: &[u32]) -> Option<CallChange> {
        let calls: Vec<String> = calls.iter().map(|l| format!("k.cu:{l}")).collect();
        let mut sources = crate::suggest::source::files::given(SOURCE);
        call_change(
            &format!("k.cu:{asm}"),
            &calls,
            Mapped::words("tile", "place"),
            &mut sources,
        )
    }

    #[test]
    fn the_argument_that_is_the_address_is_wrapped() {
        let fragment = change(6, &[29]).unwrap();
        assert_eq!(fragment.source, "k.cu:29");
        assert_eq!(
            fragment.text,
            "fragment(part, address_of(tile[1]) + 16 * lane);"
        );
        assert_eq!(
            fragment.changed_text,
            "fragment(part, place_at(tile, address_of(tile[1]) + 16 * lane));"
        );
    }

    #[test]
    fn casts_templates_and_line_ends_are_followed() {
        // The line of a call may be any of its statement.
        let copy = change(14, &[25]).unwrap();
        assert_eq!(
            Some(&copy.changed_text),
            change(14, &[24]).map(|c| c.changed_text).as_ref()
        );
        assert_eq!(
            copy.changed_text,
            "copy<16>(place_at(tile, tile[0] + offset<2, 4>(threadIdx.x, 1)), in + threadIdx.x);"
        );
    }

    #[test]
    fn a_caller_that_passes_on_its_parameter_is_no_end() {
        let copy = change(14, &[18, 27, 30]).unwrap();
        assert_eq!(copy.source, "k.cu:27");
        assert_eq!(
            copy.changed_text,
            "through(in, place_at(tile, &tile[slot][16 * threadIdx.x]));"
        );
    }

    #[test]
    fn macros_and_statements_of_the_kernel_itself_are_changed_in_place() {
        let stored = change(42, &[]).unwrap();
        assert_eq!(stored.changed_text, "STORE(place_at(tile, at), part[0]);");
        let loaded = change(43, &[]).unwrap();
        assert_eq!(loaded.text, ": \"r\"(at + 16));");
        assert_eq!(loaded.changed_text, ": \"r\"(place_at(tile, at + 16)));");
    }

    /// The change of a line of a helper that is called at the last line of the kernel.
    fn pointed(helper: &str, call: &str) -> Option<String> {
        let source = format!(
            "template <class T> __device__ void put(T *to, T v) {{\n{helper}\n}}\n\
             __global__ void k() {{\n__shared__ float tile[64];\n{call}\n}}"
        );
        let number = source.lines().count() - 1;
        let mut text = crate::suggest::source::files::given(&source);
        let at = [format!("k.cu:{number}")];
        call_change("k.cu:2", &at, Mapped::words("tile", "place"), &mut text)
            .map(|c| c.changed_text)
    }

    #[test]
    fn the_address_of_the_only_object_that_a_helper_accesses_is_wrapped() {
        let call = "put(tile + 4 * t, v);";
        let changed = Some("put(place_at(tile, tile + 4 * t), v);".to_owned());
        for helper in [
            "*to = v;",
            "*reinterpret_cast<int4 *>(to) = v.bits();",
            "v = *to;",
        ] {
            assert_eq!(pointed(helper, call), changed, "{helper}");
        }
        for helper in [
            "to[1] = v;",
            "*(to + 1) = v;",
            "*to++ = v;",
            "*to = v; *to = v;",
            "x = v * to;",
            "reinterpret_cast<int4 *>(to)[1] = v;",
        ] {
            assert_eq!(pointed(helper, call), None, "{helper}");
        }
        let twice = "put(tile, v); put(tile + 1, v);";
        assert_eq!(pointed("*to = v;", twice), None);
    }

    /// The load of a reference has the line of a store to global memory.
    #[test]
    fn the_address_of_another_space_is_not_wrapped() {
        assert!(SOURCE.lines().nth(47).unwrap().contains("st.global"));
        assert_eq!(change(48, &[53]), None);
    }

    #[test]
    fn where_the_array_is_not_declared_nothing_is_said() {
        assert_eq!(change(6, &[34]), None);
        assert_eq!(change(6, &[]), None);
        assert_eq!(change(21, &[29]), None);
    }
}
