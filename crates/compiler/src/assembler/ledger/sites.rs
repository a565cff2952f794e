//! The access sites of a trace, each with its instructions.

use super::copies;
use super::site::{Site, Unrolled, distance, orphans, partner};
use super::spare;
use super::turns::Turns;
use super::versions;
use crate::assembler::sass::MachineAccess;
use spadkit_mapping::trace::{AccessTrace, Op, Places};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The sites of a trace, by number.
pub(super) struct Sites<'a>(BTreeMap<u32, Site<'a>>);

impl<'a> Sites<'a> {
    pub fn new(trace: &'a AccessTrace, places: &Places, code: &'a [MachineAccess]) -> Self {
        let mut sites: BTreeMap<u32, Site> = BTreeMap::new();
        let mut counts: HashMap<(u32, u32), usize> = HashMap::new();
        let mut turns: HashMap<(u32, u32), Turns> = HashMap::new();
        for (at, access) in trace.accesses.iter().enumerate() {
            let count = counts.entry((access.pc, access.warp)).or_default();
            *count += 1;
            let site = sites.entry(access.pc).or_insert_with(|| {
                let line = places.of(access.pc).ptx_line.unwrap_or(0);
                let interval = trace.barriers.partition_point(|&b| b as usize <= at);
                Site::new(access, line, interval)
            });
            site.most = site.most.max(*count);
            let turn = turns.entry((access.pc, access.warp)).or_default();
            site.most_turns = site.most_turns.max(turn.take(access) + 1);
            if *count == 2 && access.warp == site.first.warp {
                site.step = distance(site.first, access);
            }
        }
        let loads: HashSet<u32> = code
            .iter()
            .filter(|m| m.op == Op::Load)
            .map(|m| m.line)
            .collect();
        for site in sites.values_mut() {
            // Products keep their number and order, and often have the line of what
            // makes their descriptors.
            let is_product = site.first.is_by_descriptor();
            let is_own = |m: &&MachineAccess| {
                let of_line = m.line == site.line && m.op == site.op;
                m.is_product() == is_product && (is_product || of_line)
            };
            site.code = code.iter().filter(is_own).collect();
            if site.op == Op::Atomic {
                site.is_loop = loads.contains(&site.line);
                leave_out_other_spaces(&mut site.code);
            }
            let base = site.code.first().map(|m| m.base.clone());
            if site.code.iter().all(|m| Some(&m.base) == base.as_ref()) {
                site.code.sort_by_key(|m| m.offset);
            }
        }
        versions::give_swaps(&mut sites, code);
        let mut sites = Sites(sites);
        spare::give(&mut sites.0);
        spare::give_parts(&mut sites.0);
        versions::leave_out_others(&mut sites.0);
        for site in sites.0.values_mut() {
            site.copies = copies::of(&site.code, site.bytes);
        }
        sites.find_partners();
        sites.find_rounds();
        sites.doubt(code);
        sites
    }

    pub fn of(&self, pc: u32) -> &Site<'a> {
        &self.0[&pc]
    }

    /// A loop that takes several rounds of the PTX at once has as many copies of a
    /// load, at different offsets from one register. It has fewer copies of a load
    /// whose words it has already loaded for another line in the round before. Of several
    /// loops, the one that takes most rounds counts: what is before and after it runs for
    /// those that are left over.
    fn find_rounds(&mut self) {
        let loops = |site: &Site<'a>| {
            let rounds = |(place, code): (Unrolled<'a>, Vec<&'a MachineAccess>)| {
                Some((place, site.rounds_of(&code)?, code))
            };
            let all = site.unrolled().into_iter().filter_map(rounds);
            all.collect::<Vec<_>>()
        };
        let mut most: HashMap<Unrolled, usize> = HashMap::new();
        for (place, rounds, _) in self.0.values().flat_map(loops) {
            let all = most.entry(place).or_default();
            *all = rounds.max(*all);
        }
        for site in self.0.values_mut() {
            let taken = loops(site)
                .into_iter()
                .max_by_key(|(place, ..)| most[place]);
            let Some((place, rounds, code)) = taken else {
                continue;
            };
            let all = most[&place];
            if all > 1 && all <= site.most {
                site.copies = copies::of(&code, site.bytes);
                site.rounds = (all > rounds).then_some((all, rounds));
            }
        }
    }

    /// Finds wider instructions of other lines that also access a site's words.
    fn find_partners(&mut self) {
        for orphan in orphans(&self.0) {
            let partner = partner(&self.0, orphan);
            if let Some(site) = self.0.get_mut(&orphan) {
                site.partner = partner;
            }
        }
    }

    /// An instruction without a line may be that of any site that has none.
    fn doubt(&mut self, code: &[MachineAccess]) {
        let shared = |m: &&MachineAccess| m.name.starts_with("LDS") || m.name.starts_with("STS");
        let lost = code.iter().filter(shared).filter(|m| m.line == 0);
        let lost: HashSet<Op> = lost.map(|m| m.op).collect();
        for site in self.0.values_mut() {
            site.doubtful = site.line == 0 || lost.contains(&site.op) || site.is_doubted;
        }
    }

    /// The instructions of a site: names with their number.
    pub fn names(&self, pc: u32) -> Vec<String> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for machine in &self.of(pc).code {
            *counts.entry(&machine.name).or_default() += 1;
        }
        let name = |(name, count): (&str, usize)| match count {
            1 => name.to_owned(),
            _ => format!("{count} {name}"),
        };
        counts.into_iter().map(name).collect()
    }

    /// The lines whose instructions do the work of a site.
    pub fn partner_lines(&self, pc: u32) -> Vec<u32> {
        let partner = self.of(pc).partner;
        partner.map(|p| self.of(p).line).into_iter().collect()
    }
}

/// An atomic at a generic address has code for each address space, one of them for
/// shared memory alone where a generic instruction cannot do it there.
fn leave_out_other_spaces(code: &mut Vec<&MachineAccess>) {
    if code.iter().any(|m| !m.is_generic_atomic()) {
        code.retain(|m| !m.is_generic_atomic());
    }
}
