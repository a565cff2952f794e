//! Waits whose result nobody looks at, and loads of flags whose value nobody reads: they order
//! nothing, whatever they saw in this run.

use super::allocate::Live;
use super::awaited::{computes, decides, may_wait, reports, tests_barrier};
use super::callees::Callees;
use super::info::accessed;
use super::outcome::{Follower, Way};
use crate::ast::{Function, Instruction};
use crate::cfg::{Cfg, Flow, flow};
use crate::names::Space;
use crate::opcodes::Class;
use std::cell::LazyCell;
use std::collections::HashSet;

/// Marks the waits and loads of flags that order nothing.
pub(super) fn find(callees: &Callees, body: &Function, cfg: &Cfg, ignored: &mut [bool]) {
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
    if !body.instructions.iter().any(tests_barrier) {
        return;
    }
    let live = LazyCell::new(|| Live::of(body, cfg));
    let may_wait_there = |i: &Instruction| match i.opcode.class() {
        Class::Barrier => true,
        Class::Call => !callees.cannot_wait(i),
        _ => false,
    };
    let waits_there: Vec<bool> = body.instructions.iter().map(may_wait_there).collect();
    // A wait that is tried once may be what another one goes on by.
    loop {
        let waits = |at: &usize| tests_barrier(&body.instructions[*at]) && !ignored[*at];
        let once = |at: &usize| goes_on_anyway(body, cfg, *at, (&waits_there, ignored), &live);
        let Some(at) = (0..ignored.len()).rev().filter(waits).find(once) else {
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

/// Whether a wait is tried once: what only its success reaches needs no order, and threads do
/// not know afterwards what the outcome was.
fn goes_on_anyway(
    body: &Function,
    cfg: &Cfg,
    at: usize,
    (waits_there, ignored): (&[bool], &[bool]),
    live: &LazyCell<Live, impl FnOnce() -> Live>,
) -> bool {
    let is_end = |(n, i): (usize, &Instruction)| waits_there[n] || tests_barrier(i) && !ignored[n];
    let ends: Vec<bool> = body.instructions.iter().enumerate().map(is_end).collect();
    let follower = Follower {
        body,
        cfg,
        wait: at,
        ends: &ends,
    };
    if let (Some(complete), Some(other)) = (follower.way(true), follower.way(false)) {
        return follower.are_alike([&complete, &other], &[]);
    }
    let (Some(complete), Some(other)) = (follower.fate(true, live), follower.fate(false, live))
    else {
        return false;
    };
    let blocks = complete.forgotten.iter();
    let behind: Vec<usize> = blocks
        .filter_map(|block| Some(cfg.blocks.get(*block as usize)?.start as usize))
        .collect();
    !behind.is_empty()
        && complete.forgotten.is_subset(&other.forgotten)
        && follower.are_alike([&complete.way, &other.way], &behind)
}

impl Follower<'_> {
    /// Whether what only success reaches needs no order, and nobody knows the outcome at the
    /// ends that both ways have, nor at some places behind them.
    fn are_alike(&self, ways: [&Way; 2], behind: &[usize]) -> bool {
        let [complete, other] = ways;
        let Follower { body, cfg, .. } = *self;
        let mut alone =
            (0..body.instructions.len()).filter(|&n| complete.reached[n] && !other.reached[n]);
        let needs_no_order = |n: usize| {
            let i = &body.instructions[n];
            reports(i) || computes(i)
        };
        if !alone.all(needs_no_order) {
            return false;
        }
        let Some(mut known) = remembered(body, ways) else {
            return false;
        };
        known.extend(ways.iter().flat_map(|way| &way.kept));
        // Behind a barrier, too, nobody asks for it.
        let common = |&n: &usize| ways.iter().all(|way| way.reached[n]) && self.ends_at(n);
        let ends = (0..body.instructions.len()).filter(common);
        let mut places = ends.chain(behind.iter().copied());
        !places.any(|n| is_read_from(body, cfg, n, &known))
    }
}

/// Whether something reads one of some registers from an instruction on, before all ways
/// have written it.
fn is_read_from(body: &Function, cfg: &Cfg, from: usize, registers: &HashSet<u32>) -> bool {
    let is_read = |register: u32| {
        let mut known = vec![false; cfg.blocks.len()];
        let mut open = vec![(from, cfg.block_of[from])];
        while let Some((start, block)) = open.pop() {
            let of = &cfg.blocks[block as usize];
            let mut written = false;
            for i in &body.instructions[start..of.end as usize] {
                let (reads, writes) = accessed(i);
                if reads.iter().any(|r| r.0 == register) {
                    return true;
                }
                if i.guard.is_none() && writes.iter().any(|r| r.0 == register) {
                    written = true;
                    break;
                }
            }
            for &next in of.successors.iter().filter(|_| !written) {
                if let Some(known) = known.get_mut(next as usize)
                    && !std::mem::replace(known, true)
                {
                    open.push((cfg.blocks[next as usize].start as usize, next));
                }
            }
        }
        false
    };
    registers.iter().any(|&register| is_read(register))
}

/// The registers by which threads may know what the outcome was, where both come together: by
/// what was computed on one side alone, and by the condition by which one side went on.
/// Nothing where a thread asks for it there.
fn remembered(body: &Function, ways: [&Way; 2]) -> Option<HashSet<u32>> {
    let [one, other] = ways;
    let count = body.instructions.len();
    let instruction = |at: usize| &body.instructions[at];
    let places: Vec<usize> = (0..count)
        .filter(|&n| one.reached[n] || other.reached[n])
        .collect();
    let one_sided = |n: usize| one.reached[n] != other.reached[n];
    let turns = |n: usize| flow(body, instruction(n)) != Flow::Next;
    let tells = |n: &usize| turns(*n) && one.open[*n] != other.open[*n];
    let slices: Vec<HashSet<u32>> = places
        .iter()
        .copied()
        .filter(tells)
        .map(|n| condition(body, &places, n))
        .collect();
    let mut known: HashSet<u32> = HashSet::new();
    for slice in slices {
        if !known.is_disjoint(&slice) {
            return None;
        }
        known.extend(slice);
    }
    for &n in places.iter().filter(|&&n| one_sided(n)) {
        known.extend(accessed(instruction(n)).1.iter().map(|r| r.0));
    }
    let mut before = 0;
    while known.len() != before {
        before = known.len();
        for &n in &places {
            let (reads, writes) = accessed(instruction(n));
            if reads.iter().any(|r| known.contains(&r.0)) {
                known.extend(writes.iter().map(|r| r.0));
            }
        }
    }
    let asks = |n: &usize| {
        let i = instruction(*n);
        // A guard that the outcome makes known has been followed.
        let followed = usize::from(i.guard.is_some() && !one.open[*n] && !other.open[*n]);
        let reads = accessed(i).0;
        let mut reads = reads.iter().skip(followed);
        let harmless = reports(i) || computes(i) && !turns(*n);
        !one_sided(*n) && !tells(n) && !harmless && reads.any(|r| known.contains(&r.0))
    };
    (!places.iter().any(asks)).then_some(known)
}

/// The registers that the condition of a branch depends on, of those that are written at
/// some places.
fn condition(body: &Function, places: &[usize], branch: usize) -> HashSet<u32> {
    let guard = body.instructions[branch].guard;
    let mut known: HashSet<u32> = guard.iter().map(|g| g.register.0).collect();
    let written = places
        .iter()
        .flat_map(|&n| accessed(&body.instructions[n]).1);
    let written: HashSet<u32> = written.map(|r| r.0).collect();
    let mut before = 0;
    while known.len() != before {
        before = known.len();
        for &n in places {
            let (reads, writes) = accessed(&body.instructions[n]);
            if writes.iter().any(|r| known.contains(&r.0)) {
                let own = reads.iter().map(|r| r.0);
                known.extend(own.filter(|r| written.contains(r)));
            }
        }
    }
    known
}

/// Whether what it reads may come back by a way that is not followed: by a call, by a
/// variable of the thread, where debug builds keep everything, or by one of the block, which
/// tells its other threads.
fn leads_away(i: &Instruction) -> bool {
    match i.opcode.class() {
        Class::Call | Class::Return => true,
        Class::Store => i.space() != Some(Space::Global),
        _ => false,
    }
}

/// The instructions that may come after one, itself among them where it is in a loop.
pub(super) fn places_after(cfg: &Cfg, at: usize) -> Vec<usize> {
    let own = &cfg.blocks[cfg.block_of[at] as usize];
    let mut places = places_of(cfg, &blocks_from(cfg, own.successors.clone()));
    places.extend(at + 1..own.end as usize);
    places.sort_unstable();
    places.dedup();
    places
}

/// The blocks that are reached from some, these themselves included.
fn blocks_from(cfg: &Cfg, mut open: Vec<u32>) -> Vec<bool> {
    let mut reached = vec![false; cfg.blocks.len()];
    while let Some(block) = open.pop() {
        let Some(known) = reached.get_mut(block as usize) else {
            continue;
        };
        if !std::mem::replace(known, true) {
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
