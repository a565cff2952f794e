//! The accesses of one warp.

use super::copies::Copy;
use super::site::{Site, window};
use super::sites::Sites;
use super::turns::Turns;
use super::{Fates, Made};
use crate::assembler::sass::MachineAccess;
use spadkit_mapping::trace::{Access, Op};
use std::collections::{BTreeMap, HashMap};

/// The accesses of a warp, with their indices in the trace.
pub(super) struct Warp<'a> {
    accesses: Vec<(usize, &'a Access)>,
    sites: &'a Sites<'a>,
    /// Accesses of each site so far.
    seen: HashMap<u32, usize>,
    /// The turns of its groups of lanes.
    turns: HashMap<u32, Turns>,
    /// Wide accesses of each site, in order.
    groups: HashMap<u32, Vec<Group>>,
    /// First of the partner's wide accesses that may do the work of a site without an
    /// instruction, by site.
    next: HashMap<u32, usize>,
}

/// A wide access.
struct Group {
    at: usize,
    bytes: u32,
    window: Vec<Option<u32>>,
    /// The accesses of the PTX that it does: site and first words.
    members: Vec<(u32, Vec<Option<u32>>)>,
}

impl Group {
    /// Whether it does an access of the PTX, whose window is given, and has not done that
    /// one already.
    fn has_room(&self, pc: u32, access: &Access, window: &[Option<u32>]) -> bool {
        let same = self.window == window;
        let known = |m: &(u32, Vec<Option<u32>>)| m.0 == pc && m.1 == access.addrs;
        let room = (self.bytes / access.bytes.max(1)) as usize;
        let own = self.members.iter().filter(|m| m.0 == pc).count();
        same && own < room && !self.members.iter().any(known)
    }

    /// Takes an access of the PTX, if there is room.
    fn takes(&mut self, pc: u32, access: &Access, window: &[Option<u32>]) -> bool {
        let takes = self.has_room(pc, access, window);
        if takes {
            self.members.push((pc, access.addrs.clone()));
        }
        takes
    }
}

/// An access of its own width: an atomic may be of one lane for all, or a loop that loads
/// first.
fn kept(
    at: usize,
    access: &Access,
    site: &Site,
    machine: &MachineAccess,
    fate: &mut Fates,
) -> Vec<Made> {
    let mut kept = access.clone();
    kept.increment = machine.counts_lanes();
    kept.aggregated = false;
    if access.op == Op::Atomic && machine.aggregated && is_one_word(access) {
        fate.aggregated += 1;
        one_lane(&mut kept);
    } else if site.is_loop {
        fate.looped += 1;
    } else {
        fate.kept += 1;
    }
    let load = site.is_loop.then(|| Access {
        op: Op::Load,
        ..kept.clone()
    });
    let all = load.into_iter().chain([kept]);
    all.map(|access| Made { at, access }).collect()
}

impl<'a> Warp<'a> {
    pub fn new(accesses: Vec<(usize, &'a Access)>, sites: &'a Sites<'a>) -> Self {
        Warp {
            accesses,
            sites,
            seen: HashMap::new(),
            turns: HashMap::new(),
            groups: HashMap::new(),
            next: HashMap::new(),
        }
    }

    /// Matches all accesses: counts what became of them, and adds those of the
    /// machine code.
    pub fn match_all(mut self, fates: &mut BTreeMap<u32, Fates>, made: &mut Vec<Made>) {
        let accesses = std::mem::take(&mut self.accesses);
        for &(at, access) in &accesses {
            let site = self.sites.of(access.pc);
            if !site.code.is_empty() {
                let fate = fates.entry(access.pc).or_default();
                self.with_instruction(at, access, site, fate, made);
            }
        }
        for &(_, access) in &accesses {
            let site = self.sites.of(access.pc);
            if site.code.is_empty() {
                let fate = fates.entry(access.pc).or_default();
                if self.joined(access, site.partner) {
                    fate.merged += 1;
                } else if site.doubtful && site.partner.is_none() {
                    fate.not_accounted += 1;
                } else {
                    fate.removed += 1;
                }
            }
        }
        // Accesses that are not accounted for count as in the PTX.
        let unknown = accesses.iter().filter(|(_, a)| {
            let site = self.sites.of(a.pc);
            site.code.is_empty() && site.doubtful && site.partner.is_none()
        });
        made.extend(unknown.map(|&(at, access)| Made {
            at,
            access: access.clone(),
        }));
        for (pc, groups) in self.groups {
            for group in groups {
                let whole = |m: &(u32, Vec<Option<u32>>)| m.0 == pc;
                let alone = group.members.len() == 1 && group.members.iter().all(whole);
                let fate = fates.entry(pc).or_default();
                let own = group.members.iter().filter(|m| whole(m)).count() as u64;
                // An access that no other is merged with is only wider.
                *(if alone {
                    &mut fate.kept
                } else {
                    &mut fate.merged
                }) += own;
                if let Ok(first) = accesses.binary_search_by_key(&group.at, |(at, _)| *at) {
                    let access = Access {
                        bytes: group.bytes,
                        addrs: group.window,
                        ..accesses[first].1.clone()
                    };
                    made.push(Made {
                        at: group.at,
                        access,
                    });
                }
            }
        }
    }

    /// An access whose line has instructions.
    fn with_instruction(
        &mut self,
        at: usize,
        access: &Access,
        site: &Site,
        fate: &mut Fates,
        made: &mut Vec<Made>,
    ) {
        let seen = self.seen.entry(access.pc).or_default();
        let turn = self.turns.entry(access.pc).or_default().take(access);
        let occurrence = if site.is_in_turns() { turn } else { *seen };
        *seen += 1;
        let copy = if site.is_of_widths() {
            self.wide_copy(access, site)
        } else {
            site.copy(occurrence, access)
        };
        let machine = copy.first();
        let wide = machine.bytes > access.bytes && access.op != Op::Atomic;
        let beyond = site.is_beyond(occurrence) && (site.rounds.is_some() || !wide);
        if machine.is_matrix() || site.code.iter().any(|m| m.is_matrix()) {
            fate.kept += 1;
            made.push(Made {
                at,
                access: access.clone(),
            });
        } else if beyond {
            // Straight code runs once, and a loop that was unrolled takes several
            // rounds: the rest is in registers.
            fate.removed += 1;
        } else if wide {
            self.widened(at, access, machine.bytes);
        } else if machine.bytes < access.bytes && access.op != Op::Atomic {
            fate.split += 1;
            made.extend(copy.pieces.iter().map(|&(word, machine)| {
                let mut narrow = access.clone();
                narrow.bytes = machine.bytes;
                narrow.addrs = access.addrs.iter().map(|a| a.map(|w| w + word)).collect();
                Made { at, access: narrow }
            }));
        } else {
            made.extend(kept(at, access, site, machine, fate));
        }
    }

    /// The instruction that does an access, of those of several widths: the last one that was
    /// executed, where it also does this one, or the next.
    fn wide_copy<'s>(&self, access: &Access, site: &'s Site<'a>) -> &'s Copy<'a> {
        let groups = self.groups.get(&access.pc).map_or(&[][..], Vec::as_slice);
        let is_last = |g: &Group| g.has_room(access.pc, access, &window(access, g.bytes));
        let same = usize::from(groups.last().is_some_and(is_last));
        &site.copies[(groups.len() - same) % site.copies.len()]
    }

    /// Adds an access that a wider instruction does: with the last one's, where it is the same
    /// instruction.
    fn widened(&mut self, at: usize, access: &Access, bytes: u32) {
        let groups = self.groups.entry(access.pc).or_default();
        let window = window(access, bytes);
        let last = groups.last_mut().filter(|g| g.bytes == bytes);
        let joined = last.is_some_and(|g| g.takes(access.pc, access, &window));
        if !joined {
            groups.push(Group {
                at,
                bytes,
                window,
                members: vec![(access.pc, access.addrs.clone())],
            });
        }
    }

    /// Whether a wide access of the partner does the work of `access`.
    fn joined(&mut self, access: &Access, partner: Option<u32>) -> bool {
        let Some(groups) = partner.and_then(|pc| self.groups.get_mut(&pc)) else {
            return false;
        };
        let next = self.next.entry(access.pc).or_default();
        let mut windows: BTreeMap<u32, Vec<Option<u32>>> = BTreeMap::new();
        let mut rest = groups.iter_mut().skip(*next);
        let does = |g: &mut Group| {
            let around = windows.entry(g.bytes);
            let around = around.or_insert_with(|| window(access, g.bytes));
            g.takes(access.pc, access, around)
        };
        match rest.position(does) {
            Some(found) => {
                *next += found;
                true
            }
            None => false,
        }
    }
}

fn is_one_word(access: &Access) -> bool {
    let mut words = access.addrs.iter().flatten();
    let first = words.next();
    words.all(|word| Some(word) == first)
}

/// Leaves the first lane alone.
fn one_lane(access: &mut Access) {
    let first = access.addrs.iter().position(Option::is_some);
    for (lane, address) in access.addrs.iter_mut().enumerate() {
        if Some(lane) != first {
            *address = None;
        }
    }
}
