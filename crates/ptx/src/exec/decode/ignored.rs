//! Waits whose result nobody looks at, and loads of flags whose value nobody reads: they order
//! nothing, whatever they saw in this run.

use super::awaited::{decides, is_harmless, may_wait, tests_barrier};
use super::info::accessed;
use crate::ast::{Function, Instruction, Register};
use crate::cfg::{Cfg, Flow, flow};
use crate::names::Space;
use crate::opcodes::Class;

/// Marks the waits and loads of flags that order nothing.
pub(super) fn find(body: &Function, cfg: &Cfg, ignored: &mut [bool]) {
    let guards = |at: usize| {
        let i = &body.instructions[at];
        i.guard.is_some() && !reports(i) || leads_away(i)
    };
    for (at, i) in body.instructions.iter().enumerate() {
        if tests_barrier(i) {
            ignored[at] = !decides(body, &places_after(cfg, at), at, guards);
        } else if i.opcode.class() == Class::Load && may_wait(i) {
            ignored[at] = !is_read(body, cfg, at) && !comes_after_a_flag(body, cfg, at);
        }
    }
    // A wait that is tried once may be what another one goes on by.
    loop {
        let waits = |at: &usize| tests_barrier(&body.instructions[*at]) && !ignored[*at];
        let once = |at: &usize| goes_on_anyway(body, cfg, *at, ignored);
        let Some(at) = (0..ignored.len()).filter(waits).find(once) else {
            return;
        };
        ignored[at] = true;
    }
}

/// Whether anything reads what an instruction gives.
fn is_read(body: &Function, cfg: &Cfg, at: usize) -> bool {
    decides(body, &places_after(cfg, at), at, |_| true)
}

/// Whether a thread may know by a flag that it has read before what this load gives: it spins
/// on relaxed loads, and then acquires.
fn comes_after_a_flag(body: &Function, cfg: &Cfg, load: usize) -> bool {
    let others = body.instructions.iter().enumerate();
    let mut flags = others.filter(|(at, i)| *at != load && may_wait(i) && is_read(body, cfg, *at));
    flags.any(|(at, _)| places_after(cfg, at).contains(&load))
}

/// Whether a wait is tried once: a branch on its result leaves out where the phase is
/// complete, or does there, what needs no order; and where it is not, comes to the same place
/// without another wait.
fn goes_on_anyway(body: &Function, cfg: &Cfg, at: usize, ignored: &[bool]) -> bool {
    let block = cfg.block_of[at];
    let (end, meets) = (
        cfg.blocks[block as usize].end as usize,
        cfg.post_dominator[block as usize],
    );
    let branch = &body.instructions[end - 1];
    let (Some(guard), Flow::Branch(targets, true)) = (branch.guard, flow(body, branch)) else {
        return false;
    };
    let results = accessed(&body.instructions[at]).1;
    let between = &body.instructions[at + 1..end - 1];
    let reads = |i: &Instruction| results.iter().any(|r| accessed(i).0.contains(r));
    let elsewhere = |(n, i): (usize, &Instruction)| {
        let own = (at..end).contains(&n);
        !own && !tests_barrier(i) && reads(i) && !is_of_another_wait(body, cfg, n, &results)
    };
    let only = !between.iter().any(reads) && !body.instructions.iter().enumerate().any(elsewhere);
    let [target] = targets[..] else {
        return false;
    };
    if results.first() != Some(&guard.register) || !only {
        return false;
    }
    let block_at = |place: usize| cfg.block_of.get(place).copied().unwrap_or(cfg.exit());
    let (taken, next) = (block_at(target as usize), block_at(end));
    let (complete, other) = if guard.negated {
        (next, taken)
    } else {
        (taken, next)
    };
    let remembered = [complete, other].map(|side| remembers(body, cfg, (side, meets)));
    needs_no_order(body, cfg, (complete, meets))
        && !remembered.contains(&true)
        && reaches_without_wait(body, cfg, (other, meets), ignored)
}

/// Whether what is between two blocks only computes and reports.
fn needs_no_order(body: &Function, cfg: &Cfg, (from, to): (u32, u32)) -> bool {
    let inside = places_of(cfg, &blocks_from(cfg, vec![from], Some(to)));
    let harmless = |at: usize| {
        let i = &body.instructions[at];
        reports(i) || computes(i)
    };
    from == to || to != cfg.exit() && inside.into_iter().all(harmless)
}

/// Whether a guard behind two blocks depends on what is computed between them: threads may
/// know by it on which side they were.
fn remembers(body: &Function, cfg: &Cfg, (from, to): (u32, u32)) -> bool {
    let inside = places_of(cfg, &blocks_from(cfg, vec![from], Some(to)));
    let behind = places_of(cfg, &blocks_from(cfg, vec![to], None));
    let deciding = |at: usize| {
        let i = &body.instructions[at];
        (i.guard.is_some() || leads_away(i)) && behind.contains(&at)
    };
    let all: Vec<usize> = (0..body.instructions.len()).collect();
    let writes = |at: &usize| !accessed(&body.instructions[*at]).1.is_empty();
    (inside.into_iter().filter(writes)).any(|at| decides(body, &all, at, deciding))
}

/// A store to global memory, such as of a flag that says whether the phase was complete.
fn reports(i: &Instruction) -> bool {
    i.opcode.class() == Class::Store && i.space() == Some(Space::Global)
}

/// Whether it works on registers alone, or loads what nobody writes.
fn computes(i: &Instruction) -> bool {
    match i.opcode.class() {
        Class::Load => matches!(i.space(), Some(Space::Param | Space::Const)),
        Class::Atomic | Class::LoadMatrix => false,
        _ => is_harmless(i),
    }
}

/// Whether an instruction reads what a wait before it in its block gives.
fn is_of_another_wait(body: &Function, cfg: &Cfg, at: usize, results: &[Register]) -> bool {
    let start = cfg.blocks[cfg.block_of[at] as usize].start as usize;
    let before = body.instructions[start..at].iter();
    before
        .clone()
        .any(|i| accessed(i).1.iter().any(|w| results.contains(w)))
}

/// Whether there is a way from one block to another that waits for no `mbarrier`.
fn reaches_without_wait(
    body: &Function,
    cfg: &Cfg,
    (from, to): (u32, u32),
    ignored: &[bool],
) -> bool {
    let mut known = vec![false; cfg.blocks.len()];
    let mut open = vec![from];
    while let Some(block) = open.pop() {
        if block == to {
            return true;
        }
        let Some(known) = known.get_mut(block as usize) else {
            continue;
        };
        let of = &cfg.blocks[block as usize];
        let own = of.start as usize..of.end as usize;
        let waits = own
            .into_iter()
            .any(|i| tests_barrier(&body.instructions[i]) && !ignored[i]);
        if !std::mem::replace(known, true) && !waits {
            open.extend(&of.successors);
        }
    }
    false
}

/// Whether what it reads may come back by a way that is not followed: by a call, or
/// by a variable of the thread, where debug builds keep everything.
fn leads_away(i: &Instruction) -> bool {
    let shared = matches!(i.space(), Some(Space::Global | Space::Shared));
    match i.opcode.class() {
        Class::Call | Class::Return => true,
        Class::Store => !shared,
        _ => false,
    }
}

/// The instructions that may come after one, itself among them where it is in a loop.
fn places_after(cfg: &Cfg, at: usize) -> Vec<usize> {
    let own = &cfg.blocks[cfg.block_of[at] as usize];
    let mut places = places_of(cfg, &blocks_from(cfg, own.successors.clone(), None));
    places.extend(at + 1..own.end as usize);
    places.sort_unstable();
    places.dedup();
    places
}

/// The blocks that are reached from some, these themselves included, before another one.
fn blocks_from(cfg: &Cfg, mut open: Vec<u32>, before: Option<u32>) -> Vec<bool> {
    let mut reached = vec![false; cfg.blocks.len()];
    while let Some(block) = open.pop() {
        let Some(known) = reached.get_mut(block as usize) else {
            continue;
        };
        if Some(block) != before && !std::mem::replace(known, true) {
            open.extend(&cfg.blocks[block as usize].successors);
        }
    }
    reached
}

/// The instructions of blocks.
fn places_of(cfg: &Cfg, blocks: &[bool]) -> Vec<usize> {
    let own = cfg.blocks.iter().zip(blocks).filter(|(_, own)| **own);
    own.flat_map(|(block, _)| block.start as usize..block.end as usize)
        .collect()
}
