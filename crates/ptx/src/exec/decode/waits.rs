//! Loops that only wait for something that other threads write, and waits
//! whose result nobody looks at.
//!
//! A load, or an atomic, is waited on where a branch out of a loop around it
//! depends on what it gives. A loop with such loads, no stores, and no
//! barriers only waits: its rounds but the first depend on how long the others
//! take, and are not what the kernel does.

use super::info::accessed;
use crate::ast::{Function, Instruction, Register};
use crate::cfg::{Cfg, Flow, flow};
use crate::exec::image::Spin;
use crate::names::{Space, Word};
use crate::opcodes::Class;

/// Loops and blocks beyond which there is no search.
const LIMIT: usize = 1 << 24;

/// What was found in a function.
#[derive(Default)]
pub(super) struct Waits {
    /// Of each instruction.
    pub spins: Vec<Spin>,
    /// Loads whose value a loop waits for.
    pub awaited: Vec<bool>,
    /// Waits for an `mbarrier` whose result decides nothing, and loads of flags whose value
    /// nothing reads.
    pub ignored: Vec<bool>,
}

/// Accesses that see what others write meanwhile.
pub(in crate::exec) fn may_wait(i: &Instruction) -> bool {
    let strong = [Word::Volatile, Word::Relaxed, Word::Acquire, Word::Mmio];
    match i.opcode.class() {
        Class::Atomic => true,
        Class::Load => i.one_of(&strong).is_some(),
        _ => false,
    }
}

fn tests_barrier(i: &Instruction) -> bool {
    i.opcode.class() == Class::Mbarrier && i.one_of(&[Word::TestWait, Word::TryWait]).is_some()
}

/// Looks at all of a function.
pub(super) fn find(body: &Function, cfg: &Cfg) -> Waits {
    let count = body.instructions.len();
    let mut waits = Waits {
        spins: vec![Spin::No; count],
        awaited: vec![false; count],
        ignored: vec![false; count],
    };
    find_ignored(body, cfg, &mut waits.ignored);
    if !body.instructions.iter().any(may_wait) {
        return waits;
    }
    for (from, to) in back_edges(cfg) {
        if cfg.blocks.len() * (from as usize + 1) > LIMIT {
            continue;
        }
        look(body, cfg, (from, to), &mut waits);
    }
    waits
}

/// Marks the waits and loads of flags that order nothing.
fn find_ignored(body: &Function, cfg: &Cfg, ignored: &mut [bool]) {
    let guards = |at: usize| {
        let i = &body.instructions[at];
        i.guard.is_some() || leads_away(i)
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

/// Whether a wait is tried once: a branch on its result leaves something out where the
/// phase is complete, and comes to the same place without another wait where it is not.
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
    complete == meets && reaches_without_wait(body, cfg, (other, meets), ignored)
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
    let mut known = vec![false; cfg.blocks.len()];
    let mut open = own.successors.clone();
    while let Some(block) = open.pop() {
        let Some(known) = known.get_mut(block as usize) else {
            continue;
        };
        if !std::mem::replace(known, true) {
            open.extend(&cfg.blocks[block as usize].successors);
        }
    }
    let rest = at + 1..own.end as usize;
    let others = (cfg.blocks.iter().zip(known)).filter(|(_, reached)| *reached);
    let mut places: Vec<usize> = others
        .flat_map(|(block, _)| block.start as usize..block.end as usize)
        .chain(rest)
        .collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// Edges to a block at or before that they come from, in the text.
fn back_edges(cfg: &Cfg) -> Vec<(u32, u32)> {
    let blocks = (0..).zip(&cfg.blocks);
    let of = |(at, b): (u32, &crate::cfg::Block)| {
        let back = b.successors.iter().filter(move |&&s| s <= at);
        back.map(move |&s| (at, s)).collect::<Vec<_>>()
    };
    blocks.flat_map(of).collect()
}

/// Looks at the loop of an edge back.
fn look(body: &Function, cfg: &Cfg, (from, to): (u32, u32), waits: &mut Waits) {
    let mut inside = vec![false; cfg.blocks.len()];
    inside[to as usize] = true;
    let mut open = vec![from];
    while let Some(block) = open.pop() {
        if !std::mem::replace(&mut inside[block as usize], true) {
            open.extend(&cfg.blocks[block as usize].predecessors);
        }
    }
    // Whoever comes in not by the head would make it more than a loop.
    if inside[0] && to != 0 {
        return;
    }
    let blocks = || (0..cfg.blocks.len()).filter(|b| inside[*b]);
    let places: Vec<usize> = blocks()
        .flat_map(|b| cfg.blocks[b].start as usize..cfg.blocks[b].end as usize)
        .collect();
    let exits: Vec<bool> = blocks().fold(vec![false; body.instructions.len()], |mut all, b| {
        let block = &cfg.blocks[b];
        let is_out = |s: &u32| inside.get(*s as usize) != Some(&true);
        all[block.end as usize - 1] = block.successors.iter().any(is_out);
        all
    });
    let mut any = false;
    for &at in places
        .iter()
        .filter(|&&at| may_wait(&body.instructions[at]))
    {
        let leaves = |at: usize| exits[at] && flow(body, &body.instructions[at]) != Flow::Next;
        if decides(body, &places, at, leaves) {
            (waits.awaited[at], any) = (true, true);
        }
    }
    if any && places.iter().all(|&p| is_harmless(&body.instructions[p])) {
        let last = cfg.blocks[from as usize].end as usize - 1;
        for &place in &places {
            let spin = &mut waits.spins[place];
            if *spin == Spin::No {
                *spin = Spin::Inside;
            }
        }
        if flow(body, &body.instructions[last]) != Flow::Next {
            waits.spins[last] = Spin::Again;
        }
    }
}

/// Whether a loop of such instructions does nothing but wait.
fn is_harmless(i: &Instruction) -> bool {
    !matches!(
        i.opcode.class(),
        Class::Store
            | Class::StoreMatrix
            | Class::Copy
            | Class::Barrier
            | Class::Call
            | Class::Return
            | Class::Exit
            | Class::Trap
            | Class::Tensor
            | Class::Mbarrier
            | Class::TensorMap
            | Class::Texture
            | Class::Warp
            | Class::IndexedBranch
    )
}

/// Whether an instruction that `ends` accepts depends on what that at `from`
/// gives, by the instructions of `places`.
fn decides(body: &Function, places: &[usize], from: usize, ends: impl Fn(usize) -> bool) -> bool {
    let mut known: Vec<u32> = accessed(&body.instructions[from])
        .1
        .iter()
        .map(|r| r.0)
        .collect();
    let mut before = 0;
    while known.len() != before {
        before = known.len();
        for &place in places.iter().filter(|&&p| p != from) {
            let i = &body.instructions[place];
            let (reads, writes) = accessed(i);
            if !reads.iter().any(|r| known.contains(&r.0)) {
                continue;
            }
            if ends(place) {
                return true;
            }
            let new = writes.iter().map(|w| w.0);
            let new: Vec<u32> = new.filter(|w| !known.contains(w)).collect();
            known.extend(new);
        }
    }
    false
}
