//! Loads that ptxas has moved behind a branch, an exit or a guard that the PTX does not
//! have there: what uses their value executes for some warps alone.

use super::LedgerSite;
use crate::assembler::sass::MachineAccess;
use spadkit_mapping::trace::Op;
use spadkit_ptx::cfg::Cfg;
use spadkit_ptx::{Function, Module, Opcode};
use std::collections::HashSet;

/// Marks the sites of loads that a branch or guard of the `code` alone may leave out: in
/// the PTX, the last barrier before is in the same basic block.
pub(super) fn mark(sites: &mut [LedgerSite], module: &Module, code: &[MachineAccess]) {
    let skipped: HashSet<(u32, u32)> = (code.iter())
        .filter_map(|machine| Some((machine.skipped_since?, machine.line)))
        .collect();
    let mut sunk = HashSet::new();
    for function in module.functions.iter().filter(|_| !skipped.is_empty()) {
        let straight = behind_barriers(function);
        sunk.extend(skipped.intersection(&straight).map(|(_, line)| *line));
    }
    for site in sites.iter_mut().filter(|s| s.op == Op::Load) {
        let line = site.place.ptx_line;
        site.may_be_skipped = !site.moved && line.is_some_and(|line| sunk.contains(&line));
    }
}

/// The lines of each barrier and of the instructions without a guard that follow in its
/// basic block.
fn behind_barriers(function: &Function) -> HashSet<(u32, u32)> {
    let mut found = HashSet::new();
    for block in &Cfg::new(function).blocks {
        let mut barrier = None;
        for i in &function.instructions[block.start as usize..block.end as usize] {
            if matches!(i.opcode, Opcode::Bar | Opcode::Barrier) {
                barrier = Some(i.span.line);
            } else if let (Some(barrier), None) = (barrier, i.guard) {
                found.insert((barrier, i.span.line));
            }
        }
    }
    found
}
