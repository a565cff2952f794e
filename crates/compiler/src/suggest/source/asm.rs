//! Operands of an `asm` statement, and the parameters that they are.

use super::scan::Text;
use super::words::{is_word, last_name, word};

/// Assignments that are followed from an operand to a parameter.
const MOST_STEPS: usize = 3;
/// The keywords that begin the statement.
pub(in crate::suggest) const ASM: [&str; 3] = ["asm", "__asm__", "__asm"];
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

/// The operand in the brackets of the shared address of an `asm` statement,
/// between the parentheses `asm`. `None` where no instruction accesses shared
/// memory: the access belongs to an operand then.
pub(in crate::suggest) fn address_operand(
    place: &Text,
    asm: (usize, usize),
) -> Option<(usize, usize)> {
    let sections = place.split(asm.0 + 1, asm.1, ':');
    let (&template, operands) = sections.split_first()?;
    let template = place.strings(template);
    let shared = template.match_indices("[%");
    let shared = shared.filter(|&(at, _)| may_be_shared(&template[..at]));
    let mut addresses = shared.filter_map(|(at, _)| {
        let digits = template[at + 2..].split(|c: char| !c.is_ascii_digit());
        digits.into_iter().next()?.parse::<usize>().ok()
    });
    // A bulk store names its global address first.
    let skipped = usize::from(template.contains(".global.shared"));
    let number = addresses.nth(skipped)?;
    if leads_elsewhere(&template, number) {
        return None;
    }
    let mut listed = operands.iter().take(2).flat_map(|&(from, to)| {
        let all = place.split(from, to, ',');
        all.into_iter()
            .filter(|&(from, to)| !place.text[from..to].trim().is_empty())
    });
    let (from, to) = listed.nth(number)?;
    let open = from + place.masked[from..to].find('(')?;
    Some((open + 1, place.closing(open)?))
}

/// Whether instructions of `template` access other addresses of shared memory than that of an
/// operand, `[%2+4]` or one that they compute: mapping the operand maps none of those.
fn leads_elsewhere(template: &str, number: usize) -> bool {
    let own = format!("%{number}");
    // Copies and barriers have several addresses, each an operand of its own.
    let has_several = ["async", "mbarrier"]
        .iter()
        .any(|name| template.contains(name));
    let shared = template.match_indices('[');
    let mut shared = shared.filter(|(at, _)| may_be_shared(&template[..*at]));
    shared.any(|(at, _)| {
        let inside = template[at + 1..].split([']', ',']).next().unwrap_or("");
        let (name, offset) = inside.split_at(inside.find(['+', '-']).unwrap_or(inside.len()));
        let is_moved = !matches!(offset.trim(), "" | "+0" | "+ 0");
        let is_own = name.trim() == own;
        (is_own && is_moved) || (!is_own && !has_several)
    })
}

/// Whether the instruction that `before` an operand begins may access shared
/// memory: it names that space, or none.
fn may_be_shared(before: &str) -> bool {
    let own = before.rsplit([';', '{']).next().unwrap_or(before);
    let others = [".global", ".local", ".const", ".param"];
    own.contains(".shared") || !others.iter().any(|space| own.contains(space))
}

/// A parameter of a function or a macro.
pub(in crate::suggest) struct Passed {
    pub function: String,
    pub number: usize,
}

/// The parameter that `expression` is, at `at` in its function.
pub(in crate::suggest) fn parameter(place: &Text, at: usize, expression: &str) -> Option<Passed> {
    let function = place.function_around(at)?;
    let names: Vec<String> = (place.split(function.open + 1, function.close, ',').iter())
        .map(|&(from, to)| parameter_name(&place.text[from..to]))
        .collect();
    let number = position(&names, expression, &place.text[function.body..at])?;
    let function = function.name;
    Some(Passed { function, number })
}

/// The one of `names` that `expression` is, through what `body` assigns.
pub(in crate::suggest) fn position(
    names: &[String],
    expression: &str,
    body: &str,
) -> Option<usize> {
    let mut expression = expression.to_owned();
    for _ in 0..MOST_STEPS {
        let name = only_name(&expression)?;
        if let Some(number) = names.iter().position(|n| *n == name) {
            return Some(number);
        }
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
    last_name(declared.trim_end()).to_owned()
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

/// The last value that `body` assigns to `name`.
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

    /// The operand that is the address of a statement.
    fn operand(template: &str) -> Option<String> {
        let text = format!("asm({template} : \"=f\"(v), \"=f\"(w) : \"r\"(a + 1), \"l\"(b));");
        let place = Text::new(text);
        let close = place.closing(3)?;
        address_operand(&place, (3, close)).map(|(from, to)| place.text[from..to].to_owned())
    }

    #[test]
    fn an_operand_with_an_offset_is_not_the_only_address() {
        for template in [
            "\"ld.shared.f32 %0, [%2];\"",
            "\"ld.shared.f32 %0, [%2 + 0];\"",
            "\"ld.global.f32 %1, [%3+4];\" \"ld.shared.f32 %0, [%2];\"",
            "\"cp.async.ca.shared.global [%2], [%3], 16;\"",
        ] {
            assert_eq!(operand(template).as_deref(), Some("a + 1"), "{template}");
        }
        for template in [
            "\"ld.shared.f32 %0, [%2+4];\"",
            "\"ld.shared.f32 %0, [%2];\" \"ld.shared.f32 %1, [%2+4];\"",
            "\"ld.shared.f32 %0, [%2]; add.u32 r, %2, 4; ld.shared.f32 %1, [r];\"",
            "\"ld.shared.f32 %0, [%2]; ld.shared.f32 %1, [%3];\"",
            "\"cp.async.ca.shared.global [%2+16], [%3], 16;\"",
        ] {
            assert_eq!(operand(template), None, "{template}");
        }
    }
}
