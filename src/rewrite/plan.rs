//! Where addresses are mapped.

use super::access::Access;
use super::code::Arg;
use super::region::Region;
use super::{Request, text};
use crate::error::Result;
use crate::ptx::ast::{Base, Module, Operand};
use crate::ptx::edit::Edits;

/// An access that is to be mapped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    pub access: &'a Access,
    /// Index of the region that it accesses.
    pub region: usize,
}

/// The text with mapped accesses.
pub(super) struct Planned {
    pub text: String,
    /// Threads of a block that it counts on.
    pub block: Option<[u32; 3]>,
}

pub(super) fn apply(
    module: &Module,
    regions: &[Region],
    targets: &[Target],
    _request: &Request,
) -> Result<Planned> {
    let mut edits = Edits::new();
    let prefix = text::free_name(module, "%spad");
    let mut functions: Vec<u32> = targets.iter().map(|t| t.access.function).collect();
    functions.dedup();
    for f in functions {
        let function = &module.functions[f as usize];
        let mut count = 0;
        let mut fresh = || {
            count += 1;
            format!("{prefix}{}", count - 1)
        };
        for target in targets.iter().filter(|t| t.access.function == f) {
            let access = target.access;
            let region = &regions[target.region];
            let i = &function.instructions[access.at as usize];
            let Operand::Address(base, offset) = &i.operands[access.operand] else {
                continue;
            };
            let mut lines = Vec::new();
            let operand = match base {
                Base::Register(r) => {
                    let info = &function.registers[r.0 as usize];
                    let mut input = info.name.clone();
                    if access.generic {
                        let to = fresh();
                        lines.push(format!("cvta.to.shared.u64 {to}, {input};"));
                        input = to;
                    }
                    if info.ty.bits() == 64 {
                        let to = fresh();
                        lines.push(format!("cvt.u32.u64 {to}, {input};"));
                        input = to;
                    }
                    if *offset != 0 {
                        let to = fresh();
                        lines.push(format!("add.s32 {to}, {input}, {offset};"));
                        input = to;
                    }
                    let mut extra = [None, None];
                    for op in region.map.ops() {
                        for (arg, name) in [(Arg::Base, &region.name), (Arg::Table, &region.table)] {
                            let slot = usize::from(arg == Arg::Table);
                            let mut used = false;
                            op.ptx("", |a| { used |= a == arg; String::new() });
                            if used && extra[slot].is_none() {
                                let to = fresh();
                                lines.push(format!("mov.u32 {to}, {name};"));
                                extra[slot] = Some(to);
                            }
                        }
                    }
                    let mut results: Vec<String> = Vec::new();
                    for op in region.map.ops() {
                        let to = fresh();
                        lines.push(op.ptx(&to, |a| match a {
                            Arg::Input => input.clone(),
                            Arg::Base => extra[0].clone().unwrap_or_default(),
                            Arg::Table => extra[1].clone().unwrap_or_default(),
                            Arg::Op(at) => results[at].clone(),
                        }));
                        results.push(to);
                    }
                    format!("[{}]", results.last().unwrap_or(&input))
                }
                _ => {
                    let place = region.map.place(*offset).unwrap_or(*offset);
                    format!("[{}{place:+}]", region.name)
                }
            };
            edits.insert_lines(&module.text, i.span.start, &lines);
            let span = text::operand_spans(module, i.span)[access.operand];
            edits.replace(span, operand);
        }
        if count > 0 && let Some(at) = text::body_start(module, f) {
            edits.insert(at, format!("\n\t.reg .b32 {prefix}<{count}>;"));
        }
    }
    Ok(Planned { text: edits.apply(&module.text), block: None })
}
