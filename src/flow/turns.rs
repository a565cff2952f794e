//! Finds the iteration or barrier phase at which an access site changes its pattern.

use crate::config::Config;
use crate::report::{PatternPart, Turn};
use crate::trace::pattern::Pattern;
use crate::trace::{Access, AccessTrace, ConflictProfile};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Parts that are told apart; what follows the last one is a part together.
const MOST: usize = 16;

/// A warp access of a site.
struct Executed<'a> {
    /// Barriers before it.
    phase: u32,
    /// Earlier accesses of its warp at the site, since the last barrier.
    within: u32,
    /// Earlier accesses of its warp at the site, since the block began.
    iteration: u32,
    pattern: Pattern,
    access: &'a Access,
}

/// Counts a warp's accesses at a site.
#[derive(Clone, Copy, Default)]
struct Count {
    phase: u32,
    within: u32,
    iteration: u32,
}

/// Parts of each site whose pattern changes: by barrier phase if the pattern is
/// constant between barriers, else by the loop's iteration.
pub(super) fn parts(trace: &AccessTrace, machine: &Config) -> BTreeMap<u32, Vec<PatternPart>> {
    let mut counts: HashMap<(u32, u32), Count> = HashMap::new();
    let mut sites: BTreeMap<u32, Vec<Executed>> = BTreeMap::new();
    for (at, access) in (0u32..).zip(&trace.accesses) {
        let Some(pattern) = Pattern::of(access, trace.block_dim[0]) else {
            continue;
        };
        let phase = trace.barriers.partition_point(|&b| b <= at) as u32;
        let count = counts.entry((access.pc, access.warp)).or_default();
        if count.phase != phase {
            (count.phase, count.within) = (phase, 0);
        }
        sites.entry(access.pc).or_default().push(Executed {
            phase,
            within: count.within,
            iteration: count.iteration,
            pattern,
            access,
        });
        count.within += 1;
        count.iteration += 1;
    }
    let of_site = |(pc, all): (u32, Vec<Executed>)| {
        let parts = of_site(&all, machine);
        (parts.len() > 1).then_some((pc, parts))
    };
    sites.into_iter().filter_map(of_site).collect()
}

fn of_site(all: &[Executed], machine: &Config) -> Vec<PatternPart> {
    let turn = if is_one_within_phases(all) {
        Turn::Phase
    } else {
        Turn::Iteration
    };
    let mut groups: BTreeMap<u32, Vec<&Executed>> = BTreeMap::new();
    for one in all {
        let at = match turn {
            Turn::Phase => one.phase,
            Turn::Iteration => one.iteration,
        };
        groups.entry(at).or_default().push(one);
    }
    let mut parts: Vec<(u32, u32, Vec<&Executed>)> = Vec::new();
    for (at, group) in groups {
        let full = parts.len() == MOST;
        match parts.last_mut() {
            Some(last) if full || patterns(&last.2) == patterns(&group) => {
                last.1 = at;
                last.2.extend(group);
            }
            _ => parts.push((at, at, group)),
        }
    }
    let part = |(first, last, group): (u32, u32, Vec<&Executed>)| {
        let accesses = group.iter().map(|one| one.access);
        let profile = ConflictProfile::of(accesses, &machine.conflict_rule());
        let mask = machine.geometry.bank_mask();
        let count = profile.count(|word| word & mask);
        PatternPart {
            turn,
            first,
            last,
            pattern: text(&group),
            accesses: group.len() as u64,
            wavefronts: count.wavefronts(),
            ideal_wavefronts: profile.ideal_wavefronts(machine.geometry.banks()),
            conflicts: count.conflicts,
        }
    };
    parts.into_iter().map(part).collect()
}

/// Whether the patterns are the same in all iterations between two barriers.
fn is_one_within_phases(all: &[Executed]) -> bool {
    let mut phases: BTreeMap<u32, BTreeMap<u32, BTreeSet<Pattern>>> = BTreeMap::new();
    for one in all {
        let turns = phases.entry(one.phase).or_default();
        turns.entry(one.within).or_default().insert(one.pattern);
    }
    phases.values().all(|turns| {
        let mut turns = turns.values();
        let first = turns.next();
        turns.all(|patterns| Some(patterns) == first)
    })
}

fn patterns(group: &[&Executed]) -> BTreeSet<Pattern> {
    group.iter().map(|one| one.pattern).collect()
}

/// The patterns of a part, the most frequent first.
fn text(group: &[&Executed]) -> String {
    let mut counts: BTreeMap<Pattern, usize> = BTreeMap::new();
    for one in group {
        *counts.entry(one.pattern).or_default() += 1;
    }
    let mut counts: Vec<(Pattern, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let (first, rest) = counts.split_at(counts.len().min(2));
    let first: Vec<String> = first.iter().map(|(p, _)| p.to_string()).collect();
    match rest.len() {
        0 => first.join(" or "),
        n => format!("{}, {n} more", first.join(" or ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// A block of two warps that goes through strides, with barriers before some
    /// of the accesses.
    fn trace(strides: &[u32], barriers: &[u32]) -> AccessTrace {
        let access = |(at, stride): (usize, &u32)| {
            let lanes = (0..32).map(|l| (l * stride).to_string());
            let lanes = lanes.collect::<Vec<_>>().join(",");
            let warp = at % 2;
            format!(r#"{{"warp":{warp},"pc":4,"op":"load","addrs":[{lanes}]}}"#)
        };
        let twice: Vec<u32> = strides.iter().flat_map(|s| [*s, *s]).collect();
        let accesses: Vec<String> = twice.iter().enumerate().map(access).collect();
        let text = format!(
            r#"{{"name":"t","source":"s","block_dim":[64,1,1],"shared_bytes":8192,"warp_size":32,
"barriers":{barriers:?},"accesses":[{}]}}"#,
            accesses.join(",")
        );
        AccessTrace::from_json(&text, Path::new("t.json")).unwrap()
    }

    fn of(strides: &[u32], barriers: &[u32]) -> Vec<(String, String, u64)> {
        let machine = Config::preset("fermi").unwrap();
        let all = parts(&trace(strides, barriers), &machine);
        let parts = all.get(&4).into_iter().flatten();
        let part = |p: &PatternPart| (p.when(), p.pattern.clone(), p.conflicts);
        parts.map(part).collect()
    }

    fn expected(parts: &[(&str, &str, u64)]) -> Vec<(String, String, u64)> {
        let own = |(when, pattern, n): &(&str, &str, u64)| ((*when).into(), (*pattern).into(), *n);
        parts.iter().map(own).collect()
    }

    #[test]
    fn a_loop_without_barriers_is_split_by_iteration() {
        assert_eq!(
            of(&[1, 1, 2, 4], &[]),
            expected(&[
                ("iterations 0 to 1", "tx", 0),
                ("iteration 2", "2·tx", 2),
                ("iteration 3", "4·tx", 6),
            ])
        );
        assert!(of(&[2, 2, 2], &[]).is_empty(), "nothing changes");
    }

    #[test]
    fn a_loop_with_barriers_is_split_by_phase() {
        assert_eq!(
            of(&[1, 1, 2, 4], &[4, 6]),
            expected(&[
                ("phase 0", "tx", 0),
                ("phase 1", "2·tx", 2),
                ("phase 2", "4·tx", 6)
            ])
        );
        // Between two barriers it changes as well.
        assert_eq!(
            of(&[1, 2, 2, 4], &[4]),
            expected(&[
                ("iteration 0", "tx", 0),
                ("iterations 1 to 2", "2·tx", 4),
                ("iteration 3", "4·tx", 6),
            ])
        );
    }

    #[test]
    fn what_changes_too_often_is_one_part_at_the_end() {
        let strides: Vec<u32> = (0..40).map(|i| 1 + i % 2).collect();
        let parts = of(&strides, &[]);
        assert_eq!(parts.len(), MOST);
        assert_eq!(
            parts.last().unwrap(),
            &(
                "iterations 15 to 39".to_owned(),
                "2·tx or tx".to_owned(),
                26
            )
        );
    }
}
