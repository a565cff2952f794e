//! Loops that only wait for something that other threads write.
//!
//! A load, or an atomic, is waited on where a branch out of a loop around it
//! depends on what it gives. A loop with such loads, no stores, and no
//! barriers only waits: its rounds but the first depend on how long the others
//! take, and are not what the kernel does.

use super::awaited::{decides, is_access, is_harmless, may_wait};
use super::callees::Callees;
use super::info::accessed;
use super::{guesses, ignored};
use crate::ast::{Base, Function, Instruction, Operand, Register};
use crate::cfg::{Cfg, Flow, flow};
use crate::exec::image::Spin;
use crate::opcodes::Class;
use std::collections::BTreeSet;

/// Loops and blocks beyond which there is no search.
const LIMIT: usize = 1 << 24;

/// Loops of a function that wait.
#[derive(Default)]
pub(super) struct Waits {
    /// By instruction, its part in a loop that waits.
    pub spins: Vec<Spin>,
    /// Loads whose value a loop waits for.
    pub awaited: Vec<bool>,
    /// Waits for an `mbarrier` whose result decides nothing, and loads of flags whose value
    /// nothing reads.
    pub ignored: Vec<bool>,
    /// Loads of what a compare-and-swap is tried with.
    pub guessed: Vec<bool>,
}

/// Looks at all of a function.
pub(super) fn find(callees: &Callees, body: &Function, cfg: &Cfg) -> Waits {
    let count = body.instructions.len();
    let mut waits = Waits {
        spins: vec![Spin::No; count],
        awaited: vec![false; count],
        ignored: vec![false; count],
        guessed: vec![false; count],
    };
    ignored::find(callees, body, cfg, &mut waits.ignored);
    guesses::find(callees, body, cfg, &mut waits.guessed);
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
    let harmless = || places.iter().all(|&p| is_harmless(&body.instructions[p]));
    if any && harmless() && !goes_on(body, &places) {
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

/// Whether a round of a loop accesses another place than the one before: a search, or the
/// insertion into a table. Such a loop works, whatever it waits for.
fn goes_on(body: &Function, places: &[usize]) -> bool {
    let instructions = || places.iter().map(|&at| &body.instructions[at]);
    let mut changing = carried(instructions());
    for i in instructions().filter(|i| i.opcode.class() == Class::Atomic) {
        changing.extend(accessed(i).1);
    }
    let mut before = 0;
    while changing.len() != before {
        before = changing.len();
        for (reads, writes) in instructions().filter(|i| !is_access(i)).map(accessed) {
            if reads.iter().any(|r| changing.contains(r)) {
                changing.extend(writes);
            }
        }
    }
    let mut addresses = instructions()
        .filter(|i| is_access(i))
        .flat_map(|i| &i.operands);
    addresses.any(|operand| match operand {
        Operand::Address(Base::Register(r), _) => changing.contains(r),
        _ => false,
    })
}

/// Registers that a round of a loop has from the one before.
fn carried<'i>(instructions: impl Iterator<Item = &'i Instruction>) -> BTreeSet<Register> {
    let (mut first_read, mut written) = (BTreeSet::new(), BTreeSet::new());
    for (reads, writes) in instructions.map(accessed) {
        first_read.extend(reads.into_iter().filter(|r| !written.contains(r)));
        written.extend(writes);
    }
    first_read.intersection(&written).copied().collect()
}
