//! An access site of a trace, with the instructions that its line has.

use super::copies::Copy;
use crate::assembler::sass::MachineAccess;
use spadkit_mapping::trace::{Access, Op};
use std::collections::{BTreeMap, HashSet};

/// An access site.
pub(super) struct Site<'a> {
    pub op: Op,
    pub bytes: u32,
    /// Line of the PTX; 0 where it is not known.
    pub line: u32,
    /// Most occurrences in a warp.
    pub most: usize,
    /// Most occurrences in a warp, where those of disjoint sets of lanes in turn
    /// count as one.
    pub most_turns: usize,
    /// First access of the site, and the bytes from there to the next of its warp.
    pub first: &'a Access,
    pub step: Option<i64>,
    /// Barriers of the block before that: no instruction does the work of accesses on
    /// both sides of one.
    pub interval: usize,
    /// The instructions of its line, in the order in which a loop that was unrolled
    /// goes through them.
    pub code: Vec<&'a MachineAccess>,
    /// The instructions in `code`, grouped by occurrence: one instruction, or
    /// narrower ones that access its words one by one.
    pub copies: Vec<Copy<'a>>,
    /// An atomic that the scratchpad has no operation for is a loop: a load, and an
    /// instruction that stores where no other thread has changed the word since.
    pub is_loop: bool,
    /// The site whose wider instruction does its work.
    pub partner: Option<u32>,
    /// The rounds that the loop of the machine code takes at once, and those that it has
    /// instructions of this site for if these are fewer: the last are in registers, or in
    /// wider instructions of other sites.
    pub rounds: Option<(usize, usize)>,
    /// Whether other instructions may belong to it.
    pub doubtful: bool,
    /// A part of it is in the code, and the rest is not found.
    pub is_doubted: bool,
}

impl<'a> Site<'a> {
    /// A site of which nothing but its first access is known.
    pub fn new(first: &'a Access, line: u32, interval: usize) -> Self {
        Site {
            op: first.op,
            bytes: first.bytes,
            line,
            most: 0,
            most_turns: 0,
            first,
            step: None,
            interval,
            code: Vec::new(),
            copies: Vec::new(),
            is_loop: false,
            partner: None,
            rounds: None,
            doubtful: false,
            is_doubted: false,
        }
    }

    /// The instructions are executed as often as the PTX: in a loop, or one for
    /// each occurrence.
    pub fn is_complete(&self) -> bool {
        self.copies.len() >= self.needed() || self.code.iter().any(|m| m.in_loop.is_some())
    }

    /// Copies that straight code needs for all occurrences.
    fn needed(&self) -> usize {
        if self.is_in_turns() {
            self.most_turns
        } else {
            self.most
        }
    }

    /// Whether some occurrences are executions of one instruction by some of the lanes each: in
    /// straight code that has fewer instructions than occurrences.
    pub fn is_in_turns(&self) -> bool {
        let is_straight = self.code.iter().all(|m| m.in_loop.is_none());
        is_straight && self.copies.len() < self.most && self.most_turns < self.most
    }

    /// Whether an occurrence is one of those that the code has no copy for.
    pub fn is_beyond(&self, occurrence: usize) -> bool {
        match self.rounds {
            Some((rounds, copies)) => occurrence % rounds >= copies,
            None => occurrence >= self.copies.len() && !self.is_complete(),
        }
    }

    /// Whether wider instructions of several widths do its accesses, in straight code: how many
    /// each of them does differs.
    pub fn is_of_widths(&self) -> bool {
        let first = self.code.first().map(|m| m.bytes);
        let is_wide = |m: &&MachineAccess| m.bytes > self.bytes && m.in_loop.is_none();
        self.op != Op::Atomic
            && self.copies.len() < self.most
            && self.code.iter().all(is_wide)
            && self.code.iter().any(|m| Some(m.bytes) != first)
    }

    /// The instructions that an occurrence is: of an atomic that has another one for
    /// incomplete warps, that for its lanes.
    pub fn copy(&self, occurrence: usize, access: &Access) -> &Copy<'a> {
        let some = access.addrs.iter().any(Option::is_none);
        let of_lanes = |c: &&Copy| c.first().partial == some;
        if access.op == Op::Atomic
            && self.code.iter().any(|m| m.partial)
            && let Some(one) = self.copies.iter().find(of_lanes)
        {
            return one;
        }
        &self.copies[occurrence % self.copies.len()]
    }

    /// The loops of the machine code with the instructions that each has of a load, at
    /// different offsets from one base.
    pub fn unrolled(&self) -> Vec<(Unrolled<'a>, Vec<&'a MachineAccess>)> {
        let mut loops: BTreeMap<u32, Vec<&'a MachineAccess>> = BTreeMap::new();
        for &machine in self.code.iter().filter(|m| m.op == Op::Load) {
            if let Some(at) = machine.in_loop {
                loops.entry(at).or_default().push(machine);
            }
        }
        let of_one_base = |(at, copies): (u32, Vec<&'a MachineAccess>)| {
            let base = copies.first()?.base.as_str();
            let offsets: HashSet<i64> = copies.iter().map(|m| m.offset).collect();
            let one_base = copies.iter().all(|m| m.base == base);
            let alike = one_base && offsets.len() == copies.len();
            alike.then_some(((at, base, self.most), copies))
        };
        loops.into_iter().filter_map(of_one_base).collect()
    }

    /// The rounds of the PTX that instructions of one loop are: one for each of its own
    /// width. Of wider or narrower ones, which may be several for a round or one for
    /// several, those that lie from the first of their bytes to the last.
    pub fn rounds_of(&self, code: &[&MachineAccess]) -> Option<usize> {
        if code.iter().all(|m| m.bytes == self.bytes) {
            return Some(code.len());
        }
        let step = self.step.filter(|step| *step != 0)?.unsigned_abs();
        let first = code.iter().map(|m| m.offset).min()?;
        let end = code.iter().map(|m| m.offset + i64::from(m.bytes)).max()?;
        usize::try_from((end - first).unsigned_abs().div_ceil(step)).ok()
    }

    /// Whether one instruction may do the work of both.
    pub fn is_beside(&self, other: &Site) -> bool {
        (self.op, self.interval) == (other.op, other.interval)
    }

    /// Bytes of its widest instruction.
    pub fn widest(&self) -> u32 {
        self.code.iter().map(|m| m.bytes).max().unwrap_or(0)
    }
}

/// A loop of the machine code, the register that its loads go by, and how often a warp
/// executes them in the PTX.
pub(super) type Unrolled<'a> = (u32, &'a str, usize);

/// Sites without an instruction.
pub(super) fn orphans(sites: &BTreeMap<u32, Site>) -> Vec<u32> {
    let none = sites.iter().filter(|(_, s)| s.code.is_empty());
    none.map(|(pc, _)| *pc).collect()
}

/// The site whose wider instruction also accesses the words of `orphan`: the nearest in the PTX.
pub(super) fn partner(sites: &BTreeMap<u32, Site>, orphan: u32) -> Option<u32> {
    let wanted = &sites[&orphan];
    let takes = |(_, site): &(&u32, &Site)| {
        let wide = site.widest();
        site.is_beside(wanted)
            && wide > site.bytes
            && wide > wanted.bytes
            && window(site.first, wide) == window(wanted.first, wide)
    };
    let partners = sites.iter().filter(takes).map(|(pc, _)| *pc);
    partners.min_by_key(|pc| pc.abs_diff(orphan))
}

/// Bytes from an access to another, where they are the same for all lanes of both.
pub(super) fn distance(from: &Access, to: &Access) -> Option<i64> {
    let mut found = None;
    for (a, b) in from.addrs.iter().zip(&to.addrs) {
        let apart = match (a, b) {
            (Some(a), Some(b)) => 4 * (i64::from(*b) - i64::from(*a)),
            (None, None) => continue,
            _ => return None,
        };
        if *found.get_or_insert(apart) != apart {
            return None;
        }
    }
    found
}

/// The aligned `bytes` around an access: the first word of each lane.
pub(super) fn window(access: &Access, bytes: u32) -> Vec<Option<u32>> {
    let words = (bytes / 4).max(1);
    let lane = |a: &Option<u32>| a.map(|word| word / words * words);
    access.addrs.iter().map(lane).collect()
}
