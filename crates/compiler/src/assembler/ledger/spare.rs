//! Two loads of one address and a constant apart may both have the line of the first:
//! what this has too many is the other's. So are the parts of a wide load that ptxas made
//! of both, and then narrowed to the bytes that are used.

use super::site::{Site, distance, orphans, partner, window};
use crate::assembler::sass::MachineAccess;
use std::collections::BTreeMap;

/// A site, and the bytes from the owner's address to its own.
type Member = (u32, i64);

/// Gives sites without an instruction those of the line that has theirs.
pub(super) fn give(sites: &mut BTreeMap<u32, Site>) {
    let mut takers: BTreeMap<u32, Vec<Member>> = BTreeMap::new();
    for orphan in orphans(sites) {
        if let Some((owner, apart)) = owner(sites, orphan) {
            takers.entry(owner).or_default().push((orphan, apart));
        }
    }
    for (owner, mut members) in takers {
        members.push((owner, 0));
        members.sort_by_key(|(_, apart)| *apart);
        let shared = shares(&sites[&owner], &members);
        for (pc, code) in shared.into_iter().flatten() {
            if let Some(site) = sites.get_mut(&pc) {
                site.code = code;
            }
        }
    }
}

/// Bytes of the widest load.
const WIDEST: i64 = 16;

/// Gives sites without an instruction the parts of a wide load that are in their bytes.
pub(super) fn give_parts(sites: &mut BTreeMap<u32, Site>) {
    for orphan in orphans(sites) {
        let wanted = &sites[&orphan];
        let beside = sites.iter().filter(|(_, site)| site.is_beside(wanted));
        let parted = beside.filter_map(|(pc, site)| Some((*pc, parts(site, wanted)?)));
        let nearest = parted.min_by_key(|(pc, _)| pc.abs_diff(orphan));
        let Some((owner, (own, others))) = nearest else {
            continue;
        };
        for (pc, code) in [(owner, own), (orphan, others)] {
            if let Some(site) = sites.get_mut(&pc) {
                site.code = code;
            }
        }
    }
}

type Code<'a> = Vec<&'a MachineAccess>;

/// The instructions of `site` in its own bytes and in those of `other`, if each has one, all
/// are in either, and `site` has more instructions than occurrences. How far their register is
/// from the aligned window around both is not known: the least distance counts.
fn parts<'a>(site: &Site<'a>, other: &Site) -> Option<(Code<'a>, Code<'a>)> {
    if loops(site) || site.code.len() <= site.most {
        return None;
    }
    let (own, others) = (place(site)?, place(other)?);
    if window(site.first, WIDEST as u32) != window(other.first, WIDEST as u32) {
        return None;
    }
    let base = &site.code.first()?.base;
    if own == others || site.code.iter().any(|m| &m.base != base) {
        return None;
    }
    let is_in = |m: &MachineAccess, distance: i64, place: i64, bytes: u32| {
        let at = (m.offset + distance).rem_euclid(WIDEST);
        let width = i64::from(m.bytes);
        at % width == 0 && (place..=place + i64::from(bytes) - width).contains(&at)
    };
    (0..WIDEST).find_map(|distance| {
        let (own, rest): (Code, Code) =
            (site.code.iter()).partition(|m| is_in(m, distance, own, site.bytes));
        let all = rest.iter().all(|m| is_in(m, distance, others, other.bytes));
        (all && !own.is_empty() && !rest.is_empty()).then_some((own, rest))
    })
}

/// The place of an access in the aligned window of the widest load, if it is the same
/// for all lanes.
fn place(site: &Site) -> Option<i64> {
    let mut lanes = (site.first.addrs.iter().flatten()).map(|word| 4 * i64::from(*word) % WIDEST);
    let first = lanes.next()?;
    lanes.all(|place| place == first).then_some(first)
}

/// The nearest site whose instructions are as far apart as `orphan` is from it, and
/// that distance; none if a wider instruction at most as far away accesses its
/// words.
fn owner(sites: &BTreeMap<u32, Site>, orphan: u32) -> Option<Member> {
    let wanted = &sites[&orphan];
    let alike = |site: &Site| site.is_beside(wanted) && site.bytes == wanted.bytes;
    let owners = sites.iter().filter(|(_, site)| alike(site));
    let owners = owners.filter_map(|(pc, site)| {
        let apart = distance(site.first, wanted.first)?;
        has_pair(site, apart).then_some((*pc, apart))
    });
    let far = |pc: u32| pc.abs_diff(orphan);
    let nearest = owners.min_by_key(|(pc, _)| far(*pc))?;
    let merged = partner(sites, orphan).is_some_and(|pc| far(pc) <= far(nearest.0));
    (!merged).then_some(nearest)
}

/// Whether two instructions of a site are `apart` bytes apart. In a loop it must not be
/// what its rounds are apart: then they may be those of two rounds.
fn has_pair(site: &Site, apart: i64) -> bool {
    let of_rounds = site.step.is_some_and(|step| step != 0 && apart % step == 0);
    let pair = |m: &&MachineAccess| site.code.iter().any(|other| is_at(other, m, apart));
    apart != 0 && !(of_rounds && loops(site)) && site.code.iter().any(pair)
}

/// Whether `one` is `apart` bytes behind `other`, in the same loop.
fn is_at(one: &MachineAccess, other: &MachineAccess, apart: i64) -> bool {
    (&one.base, one.in_loop, one.bytes) == (&other.base, other.in_loop, other.bytes)
        && one.offset - other.offset == apart
}

fn loops(site: &Site) -> bool {
    site.code.iter().any(|m| m.in_loop.is_some())
}

/// The instructions of each member, the lowest first; `None` where the owner has none
/// too many. In a loop it has if each group of members is complete: how often it runs
/// is not known.
fn shares<'a>(
    owner: &Site<'a>,
    members: &[Member],
) -> Option<BTreeMap<u32, Vec<&'a MachineAccess>>> {
    let code = &owner.code;
    let lowest = members.first()?.1;
    let mut left: Vec<usize> = (0..code.len()).collect();
    left.sort_by_key(|&at| code[at].offset);
    let mut taken: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    let mut complete = true;
    while let Some(anchor) = left.first().map(|&at| code[at]) {
        for (pc, apart) in members {
            let own = |&at: &usize| is_at(code[at], anchor, apart - lowest);
            match left.iter().position(own) {
                Some(at) => taken.entry(*pc).or_default().push(left.remove(at)),
                None => complete = false,
            }
        }
    }
    let spare = if loops(owner) {
        complete
    } else {
        code.len() > owner.most
    };
    let in_order = |(pc, mut places): (u32, Vec<usize>)| {
        places.sort_unstable();
        (pc, places.into_iter().map(|at| code[at]).collect())
    };
    spare.then(|| taken.into_iter().map(in_order).collect())
}
