//! Loops of which ptxas makes several versions: one that takes many rounds at once, and others
//! for the rounds that are left over.

use super::site::{Site, window};
use crate::assembler::sass::MachineAccess;
use spadkit_mapping::trace::Op;
use std::collections::{BTreeMap, HashSet};

/// Takes the instructions away from loads that have some in other versions alone: where the main
/// version takes all rounds, no other runs, and a wider instruction in its loop does their work.
pub(super) fn leave_out_others(sites: &mut BTreeMap<u32, Site>) {
    let others: Vec<u32> = sites
        .iter()
        .filter(|(_, site)| sites.values().any(|main| has_main_version(main, site)))
        .map(|(pc, _)| *pc)
        .collect();
    for pc in others {
        if let Some(site) = sites.get_mut(&pc) {
            site.code.clear();
        }
    }
}

/// Whether `main` has a loop that takes all rounds of both, `other` has no instruction in it, and
/// one there is so wide that it also loads what `other` does.
fn has_main_version(main: &Site, other: &Site) -> bool {
    let is_of_rounds = main.is_beside(other)
        && other.op == Op::Load
        && (main.most, main.step) == (other.most, other.step)
        && main.step.is_some_and(|step| step != 0)
        && !other.code.is_empty();
    if !is_of_rounds {
        return false;
    }
    let own: HashSet<Option<u32>> = other.code.iter().map(|m| m.in_loop).collect();
    let loops = main.unrolled().into_iter().filter_map(|((at, ..), code)| {
        let rounds = main.rounds_of(&code)?;
        Some((at, rounds, code))
    });
    let Some((at, rounds, code)) = loops.max_by_key(|(_, rounds, _)| *rounds) else {
        return false;
    };
    let wide = code.iter().map(|m| m.bytes).max().unwrap_or(0);
    rounds > 1
        && main.most.is_multiple_of(rounds)
        && !own.contains(&Some(at))
        && other.code.len() < other.most
        && is_wider(wide, [main, other])
}

fn is_wider(wide: u32, both: [&Site; 2]) -> bool {
    let [own, other] = both.map(|site| window(site.first, wide));
    both.iter().all(|site| wide > site.bytes) && own == other
}

/// The loop of an atomic that the scratchpad has no operation for, whose instructions have the
/// line of a constant in front of it: the first compare-and-swap behind the load that has the
/// atomic's own line.
pub(super) fn give_swaps<'a>(sites: &mut BTreeMap<u32, Site<'a>>, code: &'a [MachineAccess]) {
    let atomics = sites.values().filter(|s| s.op == Op::Atomic);
    let lines: HashSet<u32> = atomics.map(|s| s.line).collect();
    let is_swap = |m: &&MachineAccess| {
        m.op == Op::Atomic && m.name.contains(".CAS") && !lines.contains(&m.line)
    };
    let mut swaps: Vec<&MachineAccess> = code.iter().filter(is_swap).collect();
    swaps.sort_by_key(|m| m.at);
    let mut loads: Vec<(u32, u32)> = Vec::new();
    for (pc, site) in sites.iter() {
        let is_open = site.op == Op::Atomic && site.code.is_empty();
        let own = code
            .iter()
            .filter(|m| m.op == Op::Load && m.line == site.line);
        let first = own.map(|m| m.at).min();
        loads.extend(first.filter(|_| is_open).map(|at| (at, *pc)));
    }
    // The last first: what is behind it is its own.
    loads.sort_unstable();
    for (at, pc) in loads.into_iter().rev() {
        let Some(site) = sites.get_mut(&pc) else {
            continue;
        };
        match swaps.iter().position(|m| m.at > at) {
            Some(first) => {
                site.code = vec![swaps[first]];
                swaps.truncate(first);
            }
            None => site.is_doubted = true,
        }
    }
}
