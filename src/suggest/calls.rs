//! Accesses inside functions of one `asm` statement, as kernels have them for
//! `ldmatrix` and `cp.async`: the argument of a caller that becomes the address.

use super::SourceLine;
use super::files::split;
use super::scan::{Text, arguments, is_word, word};
use serde::Serialize;

/// Lines above a line that are read for the function around it.
const ABOVE: u32 = 600;
/// Lines after a line that are read for the end of its statement.
const BELOW: u32 = 12;
/// Assignments that are followed from an operand to a parameter.
const MOST_STEPS: usize = 3;
/// How the statement begins.
const ASM: [&str; 3] = ["asm", "__asm__", "__asm"];
/// Words of a cast: what they enclose is the same address.
const CASTS: [&str; 16] = [
    "static_cast",
    "reinterpret_cast",
    "const_cast",
    "__cvta_generic_to_shared",
    "__nvvm_get_smem_pointer",
    "const",
    "volatile",
    "void",
    "char",
    "unsigned",
    "int",
    "long",
    "uint32_t",
    "uint64_t",
    "size_t",
    "uintptr_t",
];

/// A statement that passes an address of the array to a function which
/// accesses it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallChange {
    /// `file:line`
    pub source: String,
    /// The statement, on one line.
    pub text: String,
    /// The same with the address mapped.
    pub changed_text: String,
}

/// The call that decides which address an `asm` statement at `source` accesses,
/// with that address under `function`. `inlined_at` are the calls around the
/// statement, the innermost first. `None` if the callers pass the address in a
/// way that is not understood, or where `array` is not declared.
pub(super) fn call_change(
    source: &str,
    inlined_at: &[String],
    array: &str,
    function: &str,
    text: &mut SourceLine,
) -> Option<CallChange> {
    let (place, line) = window(source, text)?;
    let asm = ASM.iter().find_map(|name| place.statement(name, line))?;
    let operand = address_operand(&place, asm)?;
    let mut passed = parameter(&place, asm.0, &operand)?;
    for call in inlined_at {
        let (place, line) = window(call, text)?;
        let (start, open) = place.call(&passed.function, line)?;
        let all = arguments(&place, open)?;
        let &(from, to) = all.get(passed.number)?;
        let argument = place.text[from..to].trim();
        let declared = place.visible_before(start);
        let declares = |s: &str| s.contains("__shared__") && word(s, array).is_some();
        if declared.split(';').any(declares) {
            let end = place.statement_end(to);
            let begin = place.line_start(start);
            let joined = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
            let at = from + place.text[from..].len() - place.text[from..].trim_start().len();
            let (before, after) = (
                &place.text[begin..at],
                &place.text[at + argument.len()..end],
            );
            return Some(CallChange {
                source: call.clone(),
                text: joined(&place.text[begin..end]),
                changed_text: joined(&format!(
                    "{before}{function}_at({array}, {argument}){after}"
                )),
            });
        }
        // The caller passes on what it got.
        passed = parameter(&place, start, argument)?;
    }
    None
}

/// The text around `file:line`, and where the line begins in it.
fn window(place: &str, text: &mut SourceLine) -> Option<(Text, usize)> {
    let (file, line) = split(place)?;
    let first = line.saturating_sub(ABOVE).max(1);
    let mut all = String::new();
    let mut at = None;
    for number in first..=line + BELOW {
        let Some(line_text) = text(&format!("{file}:{number}")) else {
            break;
        };
        if number == line {
            at = Some(all.len());
        }
        all += &line_text;
        all.push('\n');
    }
    Some((Text::new(all), at?))
}

/// The operand in the brackets of the shared address of an `asm` statement,
/// between the parentheses `asm`.
fn address_operand(place: &Text, asm: (usize, usize)) -> Option<String> {
    let sections = place.split(asm.0 + 1, asm.1, ':');
    let (&template, operands) = sections.split_first()?;
    let template = place.strings(template);
    let mut addresses = template.match_indices("[%").filter_map(|(at, _)| {
        let digits = template[at + 2..].split(|c: char| !c.is_ascii_digit());
        digits.into_iter().next()?.parse::<usize>().ok()
    });
    // A bulk store names its global address first.
    let skipped = usize::from(template.contains(".global.shared"));
    let number = addresses.nth(skipped)?;
    let mut listed = operands.iter().take(2).flat_map(|&(from, to)| {
        let all = place.split(from, to, ',');
        all.into_iter()
            .filter(|&(from, to)| !place.text[from..to].trim().is_empty())
    });
    let (from, to) = listed.nth(number)?;
    let open = from + place.masked[from..to].find('(')?;
    let close = place.closing(open)?;
    Some(place.text[open + 1..close].trim().to_owned())
}

/// A parameter of a function.
struct Passed {
    function: String,
    number: usize,
}

/// The parameter that `expression` is, at `at` in its function.
fn parameter(place: &Text, at: usize, expression: &str) -> Option<Passed> {
    let function = place.function_around(at)?;
    let names: Vec<String> = (place.split(function.open + 1, function.close, ',').iter())
        .map(|&(from, to)| parameter_name(&place.text[from..to]))
        .collect();
    let mut expression = expression.to_owned();
    for _ in 0..MOST_STEPS {
        let name = only_name(&expression)?;
        if let Some(number) = names.iter().position(|n| *n == name) {
            let function = function.name;
            return Some(Passed { function, number });
        }
        let body = &place.text[function.body..at];
        expression = assigned(body, &name)?;
    }
    None
}

/// `row` of `unsigned row`, `to` of `unsigned (&to)[4]`.
fn parameter_name(declared: &str) -> String {
    let declared = declared.split('=').next().unwrap_or(declared);
    let declared = match declared.split_once("(&").or(declared.split_once("(*")) {
        Some((_, name)) => name.split(')').next().unwrap_or(name),
        None => declared.split('[').next().unwrap_or(declared),
    };
    let declared = declared.trim_end();
    let start = declared.rfind(|c| !is_word(c)).map_or(0, |at| at + 1);
    declared[start..].to_owned()
}

/// The name that an address is, casts apart; `None` where it is computed.
fn only_name(expression: &str) -> Option<String> {
    if expression.contains(['+', '-', '[', '/', '%', '?', '.']) {
        return None;
    }
    let words = expression.split(|c: char| !is_word(c));
    let mut names = words.filter(|w| !w.is_empty() && !CASTS.contains(w));
    let name = names.next()?;
    names.all(|other| other == name).then(|| name.to_owned())
}

/// What `name` is set to last in `body`.
fn assigned(body: &str, name: &str) -> Option<String> {
    let mut found = None;
    for statement in body.split([';', '{', '}']) {
        let Some(at) = word(statement, name) else {
            continue;
        };
        let value = statement[at + name.len()..].trim_start().strip_prefix('=');
        if let Some(value) = value.filter(|v| !v.starts_with('=')) {
            found = Some(value.trim().to_owned());
        }
    }
    found
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
"#;

    /// The change for the `asm` statement at a line and the lines of its calls.
    fn change(asm: u32, calls: &[u32]) -> Option<CallChange> {
        let line = |place: &str| {
            let (_, line) = split(place)?;
            let text = SOURCE.lines().nth(line as usize - 1)?;
            Some(text.trim().to_owned())
        };
        let calls: Vec<String> = calls.iter().map(|l| format!("k.cu:{l}")).collect();
        call_change(&format!("k.cu:{asm}"), &calls, "tile", "place", &mut {
            line
        })
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
    fn where_the_array_is_not_declared_nothing_is_said() {
        assert_eq!(change(6, &[34]), None);
        assert_eq!(change(6, &[]), None);
        assert_eq!(change(21, &[29]), None);
    }
}
