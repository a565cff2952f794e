//! Device functions that other kernels call, too: the kernel that is
//! rewritten gets its own copies.

use super::failure::{Impossible, Result};
use super::{access, text};
use spadkit_ptx::ast::{Module, Operand, Span, StatementKind};
use spadkit_ptx::edit::Edits;
use spadkit_ptx::opcodes::Opcode;

/// The module with copies of the device functions of `reached` (the entry
/// first) for the entry alone, where one of those in `changed` is called from
/// elsewhere; `None` where no copy is needed.
pub(super) fn isolated(
    module: &Module,
    reached: &[u32],
    changed: &[u32],
) -> Result<Option<Module>> {
    let named = |f: u32| {
        let calls = module.functions[f as usize].instructions.iter();
        calls
            .flat_map(|i| &i.operands)
            .filter_map(|o| match o {
                Operand::Function(callee) => Some(*callee),
                _ => None,
            })
            .collect::<Vec<u32>>()
    };
    let others = (0..module.functions.len() as u32).filter(|f| !reached.contains(f));
    let elsewhere: Vec<u32> = others.flat_map(named).collect();
    let shared = |f: &u32| *f != reached[0] && elsewhere.contains(f);
    if !changed.iter().any(shared) {
        return Ok(None);
    }
    let entry = &module.functions[reached[0] as usize].name;
    if access::address_taken(module, reached) {
        return Err(Impossible::new(
            format!("{entry} calls functions by pointers that other kernels call, too"),
            "use a module that contains only this kernel",
        )
        .into());
    }
    let mut callees: Vec<u32> = reached[1..].to_vec();
    callees.sort_by_key(|&f| text::head_start(module, f));
    let own_name = |&f: &u32| {
        let wanted = format!("{}_{entry}", module.functions[f as usize].name);
        (f, text::free_name(module, &wanted))
    };
    let names: Vec<(u32, String)> = callees.iter().map(own_name).collect();
    let copies: String = callees.iter().map(|&f| copy(module, f, &names)).collect();
    let mut edits = Edits::new();
    edits.insert(text::head_start(module, reached[0]), copies);
    rename(module, reached[0], &names, &mut edits);
    Ok(Some(text::written(&edits.apply(&module.text), module)?))
}

/// The text of a function under its new name, with calls of the copies.
fn copy(module: &Module, f: u32, names: &[(u32, String)]) -> String {
    let (start, end) = (text::head_start(module, f), body_end(module, f));
    let mut edits = Edits::new();
    rename(module, f, names, &mut edits);
    let head = Span {
        start,
        end: text::body_start(module, f).unwrap_or(end),
        line: 1,
    };
    let old = module.functions[f as usize].name.as_str();
    let new = names.iter().find(|(at, _)| *at == f).map_or(old, |n| &n.1);
    rename_word(module, head, old, new, &mut edits);
    let whole = edits.apply(&module.text);
    // After the function nothing has changed.
    let after = module.text.len() - end as usize;
    format!("{}\n", &whole[start as usize..whole.len() - after])
}

/// The byte after the body of a function.
fn body_end(module: &Module, f: u32) -> u32 {
    let mut statements = module.statements.iter();
    let close = statements.rfind(|s| s.function == Some(f) && s.kind == StatementKind::Close);
    close.map_or(module.text.len() as u32, |s| s.span.end)
}

/// Calls in a function go to the copies.
fn rename(module: &Module, f: u32, names: &[(u32, String)], edits: &mut Edits) {
    let calls = module.functions[f as usize].instructions.iter();
    for call in calls.filter(|i| i.opcode == Opcode::Call) {
        if let Some(Operand::Function(callee)) = call.operands.get(1)
            && let Some((_, new)) = names.iter().find(|(f, _)| f == callee)
        {
            let old = &module.functions[*callee as usize].name;
            rename_word(module, call.span, old, new, edits);
        }
    }
}

/// The first word `old` in `span` becomes `new`.
fn rename_word(module: &Module, span: Span, old: &str, new: &str, edits: &mut Edits) {
    let text = span.of(&module.text);
    let part = |c: char| c.is_ascii_alphanumeric() || "_$%.".contains(c);
    let whole = |at: &usize| {
        let before = text[..*at].chars().next_back();
        let after = text[at + old.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    };
    let found = text.match_indices(old).map(|(at, _)| at).find(whole);
    if let Some(at) = found {
        let start = span.start + at as u32;
        let end = start + old.len() as u32;
        edits.replace(Span { start, end, ..span }, new);
    }
}
