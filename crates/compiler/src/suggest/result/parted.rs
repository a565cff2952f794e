//! Wide accesses of the source that are taken apart into its elements: `FLOAT4(s[i]) = v`
//! stores four floats, each where the mapping puts it. That pays where vectors that stay
//! whole keep their conflicts.

use super::function_names::FunctionNames;
use super::torn;
use crate::suggest::array::target;
use crate::suggest::array::target::Target;
use crate::suggest::lines::change::{LineChange, Parts};
use crate::suggest::source::macros::Macros;
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::{first_name, is_word, last_name, word};
use crate::suggest::{InMachineCode, SourceFiles, Suggestion, Tuned, split};
use serde::Serialize;
use spadkit_mapping::software::Layout;
use spadkit_mapping::software::choice::{MappingKind, Narrower};
use spadkit_mapping::trace::ConflictProfile;
use std::collections::{BTreeMap, BTreeSet};

/// The new form of a suggestion's accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Parted {
    /// Bytes of the widest access then.
    pub bytes: u32,
    /// Wavefronts of all accesses without a change.
    pub wavefronts_before: u64,
    /// Wavefronts of the narrower accesses under the mapping.
    pub wavefronts: u64,
}

/// The accesses that are wider than the parts into which they are taken.
pub(in crate::suggest) struct Wide {
    pub sites: BTreeSet<u32>,
    pub bytes: u32,
}

/// The change for the width that takes the fewest wavefronts, where no mapping of whole
/// vectors gains. The machine code, where it is known, has to gain, too: its accesses are
/// those that the parts of `tuned` become.
pub(in crate::suggest) fn suggestion(
    tuned: &Tuned,
    narrower: &[Narrower],
    names: &mut FunctionNames,
    sources: &mut SourceFiles,
) -> Option<Suggestion> {
    let (_, whole) = tuned.whole;
    let as_it_is = whole.best();
    let apart = tuned
        .apart
        .map_or(as_it_is.conflicts, |a| a.count.conflicts);
    if as_it_is.kind != MappingKind::Mod || apart < as_it_is.conflicts {
        return None;
    }
    let best = narrower
        .iter()
        .min_by_key(|n| n.choices.best().wavefronts)?;
    let parted = Parted {
        bytes: best.bytes,
        wavefronts_before: as_it_is.wavefronts,
        wavefronts: best.choices.best().wavefronts,
    };
    (parted.wavefronts < parted.wavefronts_before).then_some(())?;
    let trace = tuned.trace.narrowed(best.bytes);
    let own = tuned.trace.accesses.iter();
    let wide = Wide {
        sites: own.filter(|a| a.bytes > best.bytes).map(|a| a.pc).collect(),
        bytes: best.bytes,
    };
    let original = tuned;
    let tuned = Tuned {
        trace: &trace,
        whole: (&best.array, &best.choices),
        apart: None,
        // No line takes more of them apart.
        machine_code: None,
        ..*tuned
    };
    let targets = target::targets(&tuned);
    let names = crate::suggest::function_names(&targets, tuned.trace, names, sources);
    let target = targets.first()?;
    let mut found =
        crate::suggest::suggestion(target, &tuned, names.first()?, Some(&wide), sources);
    count_as_it_is(&mut found.lines, original);
    let gains = found.conflicts < as_it_is.conflicts;
    let layout = Layout::new(&found.hash, original.geometry).ok()?;
    gains.then_some(Suggestion {
        conflicts_before: as_it_is.conflicts,
        parted: Some(parted),
        machine_code: original.machine_code.map(|made| {
            let parts = made.narrowed(best.bytes).accesses;
            InMachineCode::of(&made.accesses, &parts, original, &layout)
        }),
        ..found
    })
}

/// Gives the lines the conflicts of their accesses as these are.
fn count_as_it_is(lines: &mut [LineChange], tuned: &Tuned) {
    let mask = tuned.geometry.bank_mask();
    let profiles = ConflictProfile::per_pc(tuned.trace, tuned.rule);
    let profiles: BTreeMap<u32, ConflictProfile> = profiles.into_iter().collect();
    let of = |pc: u32| {
        profiles
            .get(&pc)
            .map_or(0, |p| p.count(|word| word & mask).conflicts)
    };
    for line in lines.iter_mut() {
        for access in &mut line.accesses {
            access.conflicts = of(access.pc);
        }
        let sites: BTreeSet<u32> = line.accesses.iter().map(|a| a.pc).collect();
        line.conflicts = sites.into_iter().map(of).sum();
    }
    lines.sort_by_key(|line| std::cmp::Reverse(line.conflicts));
}

impl Wide {
    /// Takes apart the accesses of the lines that are wide in the source; one that is not
    /// understood is left to a person.
    pub fn take_apart(
        &self,
        target: &Target,
        lines: &mut [LineChange],
        function: &str,
        sources: &mut SourceFiles,
    ) {
        let element = target.element_bytes();
        for line in lines {
            if !line.accesses.iter().any(|a| self.sites.contains(&a.pc)) {
                continue;
            }
            let changed = line.changed_text.take().filter(|_| line.call.is_none());
            let declared = line.declared.take().filter(|_| element == self.bytes);
            line.call = None;
            let text = changed.zip(declared).and_then(|(changed, declared)| {
                let macros = Macros::of(split(line.source.as_deref()?)?.0, sources);
                taken_apart(&changed, function, &declared.element, &macros)
            });
            if text.is_none() {
                line.parts = Parts::TornObjects;
            }
            line.changed_text = text;
        }
    }
}

/// A statement that stores to or loads from one element under `function` through a wider
/// type, with a loop over the parts of the object. Heads of control statements before it
/// stay: `if (y < n)`.
fn taken_apart(statement: &str, function: &str, element: &str, macros: &Macros) -> Option<String> {
    let whole = Text::new(statement.to_owned());
    let (heads, statement) = statement.split_at(end_of_heads(&whole)?);
    word(&whole.masked[..heads.len()], function)
        .is_none()
        .then_some(())?;
    one_taken_apart(statement, function, element, macros).map(|changed| heads.to_owned() + &changed)
}

/// The end of the heads that a statement begins with.
fn end_of_heads(code: &Text) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = code.masked[at..].trim_start();
        let begin = code.masked.len() - rest.len();
        let name = first_name(rest);
        match name {
            "else" => at = begin + name.len(),
            "if" | "for" | "while" => {
                let open = begin + rest.find('(')?;
                let between = code.masked[begin + name.len()..open].trim();
                ["", "constexpr"].contains(&between).then_some(())?;
                at = code.closing(open)? + 1;
            }
            _ => return Some(begin),
        }
    }
}

fn one_taken_apart(
    statement: &str,
    function: &str,
    element: &str,
    macros: &Macros,
) -> Option<String> {
    let code = Text::new(statement.to_owned());
    let body = code.masked.trim_end().strip_suffix(';')?;
    (!body.contains([';', '{', '}'])).then_some(())?;
    let equals = assignment(body)?;
    let called = word(body, function)?;
    // A single element.
    word(&body[called + function.len()..], function)
        .is_none()
        .then_some(())?;
    let open = called + function.len();
    let close = code.closing(open)?;
    let index = &statement[open + 1..close];
    let end = close + body[close..].find(']')? + 1;
    let start = body[..called].trim_end().strip_suffix('[')?.len();
    let start = base(body, start)?;
    let array = &statement[start..body[..called].trim_end().len() - 1];
    let (old, value) = (
        statement[..equals].trim(),
        statement[equals + 1..body.len()].trim(),
    );
    let is_wide = |side: &str, changed: &str| {
        let cast = side.replacen(changed, "", 1);
        is_cast(cast.trim()) && macros.any(side, &torn::is_wide) == Some(true)
    };
    let changed = &statement[start..end];
    let part = format!("{array}[{function}({index} + part)]");
    let count = format!("sizeof(all) / sizeof({element})");
    if start < equals {
        is_wide(old, changed).then_some(())?;
        return Some(format!(
            "{{ const auto all = {value}; for (unsigned part = 0; part < {count}; part++) \
             {part} = reinterpret_cast<const {element} *>(&all)[part]; }}"
        ));
    }
    is_wide(value, changed).then_some(())?;
    Some(format!(
        "{old} = [&] {{ auto all = {value}; for (unsigned part = 0; part < {count}; part++) \
         reinterpret_cast<{element} *>(&all)[part] = {part}; return all; }}();"
    ))
}

/// The position of the `=` of an assignment.
fn assignment(body: &str) -> Option<usize> {
    let bytes = body.as_bytes();
    let mut depth = 0;
    for (at, c) in body.char_indices() {
        match c {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth -= 1,
            '=' if depth == 0 => {
                let before = at.checked_sub(1).map(|b| bytes[b]);
                let is_plain = before.is_some_and(|b| !b"=!<>+-*/%&|^".contains(&b));
                return (is_plain && bytes.get(at + 1) != Some(&b'=')).then_some(at);
            }
            _ => {}
        }
    }
    None
}

/// The start of the array whose bracket opens at `end`: a name, or an expression in parentheses.
fn base(body: &str, end: usize) -> Option<usize> {
    let before = body[..end].trim_end();
    if !before.ends_with(')') {
        return Some(before.len() - last_name(before).len()).filter(|start| *start < before.len());
    }
    let mut depth = 0;
    before.char_indices().rev().find_map(|(at, c)| {
        depth += i32::from(c == ')') - i32::from(c == '(');
        (depth == 0).then_some(at)
    })
}

/// Whether what is around an element does nothing but take it as of another type.
fn is_cast(around: &str) -> bool {
    let text: String = around.split_whitespace().collect();
    if let Some(name) = text.strip_suffix("()") {
        return name.chars().all(is_word) && !name.is_empty();
    }
    let pointer = text.strip_prefix('*').or(text.strip_suffix("[0]"));
    let inside = pointer.and_then(|p| p.strip_prefix("reinterpret_cast<")?.strip_suffix("(&)"));
    let named = |t: &str| t.chars().all(is_word);
    inside.is_some_and(|i| i.strip_suffix("*>").is_some_and(named))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::source::files::given;

    /// A statement of a file with the macro `FLOAT4`.
    fn changed(statement: &str) -> Option<String> {
        let text = "#define FLOAT4(value) (reinterpret_cast<float4 *>(&(value))[0])\n";
        let mut sources = given(text);
        let macros = Macros::of("k.cu", &mut sources);
        taken_apart(statement, "at", "float", &macros)
    }

    #[test]
    fn stores_and_loads_of_vectors_are_loops_over_their_elements() {
        let store = "{ const auto all = FLOAT4(v); for (unsigned part = 0; part < sizeof(all) / \
                     sizeof(float); part++) (&s[0][0])[at(i * 8 + j + part)] = \
                     reinterpret_cast<const float *>(&all)[part]; }";
        let both = [
            "FLOAT4((&s[0][0])[at(i * 8 + j)]) = FLOAT4(v);",
            "reinterpret_cast<float4 *>(&(&s[0][0])[at(i * 8 + j)])[0] = FLOAT4(v);",
            "*reinterpret_cast<float4 *>(&(&s[0][0])[at(i * 8 + j)]) = FLOAT4(v);",
        ];
        for statement in both {
            assert_eq!(changed(statement).as_deref(), Some(store), "{statement}");
        }
        let load = "float4 v = [&] { auto all = FLOAT4(s[at(i)]); for (unsigned part = 0; part < \
                    sizeof(all) / sizeof(float); part++) reinterpret_cast<float *>(&all)[part] = \
                    s[at(i + part)]; return all; }();";
        assert_eq!(
            changed("float4 v = FLOAT4(s[at(i)]);").as_deref(),
            Some(load)
        );
    }

    #[test]
    fn heads_of_control_statements_stay_before_a_vector() {
        let store = changed("FLOAT4(s[at(i)]) = v;").unwrap();
        for head in [
            "if (i < 8) ",
            "for (int i = 0; i < 8; i += 4) ",
            "else if constexpr (N > 4) ",
            "for (int i = 0; i < n; i++) if (f(i)) ",
        ] {
            let statement = format!("{head}FLOAT4(s[at(i)]) = v;");
            let whole = head.to_owned() + &store;
            assert_eq!(changed(&statement), Some(whole), "{statement}");
        }
    }

    /// Two elements, two statements, or another use of the vector are left to a person.
    #[test]
    fn what_is_not_one_access_is_not_taken_apart() {
        for statement in [
            "FLOAT4(s[at(i)]) = FLOAT4(s[at(j)]);",
            "v = FLOAT4(s[at(i)]); i++;",
            "v += FLOAT4(s[at(i)]);",
            "sum = FLOAT4(s[at(i)]).x;",
            "s[at(i)] = v;",
            "if (s[at(i)] > 0) FLOAT4(s[at(i)]) = v;",
            "do FLOAT4(s[at(i)]) = v; while (i++ < 8);",
            "f(FLOAT4(s[at(i)]));",
        ] {
            assert_eq!(changed(statement), None, "{statement}");
        }
    }
}
