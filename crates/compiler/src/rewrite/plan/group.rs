//! One group of addresses that differ by constants: selects those to map in
//! full, and derives the others.

use super::super::region::Region;
use super::carry::carry;
use super::point::{Point, Points};
use super::relation::{Offsets, Relation, relation};
use super::{Facts, From, NewAddress, Node, Site};
use spadkit_ptx::analysis::ValueId;
use spadkit_ptx::ast::Register;
use std::cmp::Reverse;

/// Number of members beyond which they are not compared with each other, but with
/// some.
const MOST_LEADERS: usize = 24;

/// Every access maps its own address.
pub(super) fn plain(
    points: &Points,
    sites: &[Site],
    nodes: &mut Vec<Node>,
    addresses: &mut Vec<(Site, NewAddress)>,
) {
    for site in sites {
        let node = nodes.len();
        nodes.push(Node {
            region: site.region,
            from: From::Address {
                register: site.register,
                value: site.value,
                add: site.offset,
            },
            point: points.before(site.at),
        });
        addresses.push((*site, NewAddress::Node(node, 0)));
    }
}

/// Accesses of one address by one value.
struct Member {
    /// The address less what all members have in common.
    constant: i64,
    offsets: Offsets,
    sites: Vec<Site>,
}

/// The computation of a member's mapped address.
#[derive(Clone, Copy)]
enum Made {
    /// The mapped address of this leader, plus a constant.
    Sum(usize, i64),
    /// The mapped address of this leader XOR a mask.
    Xor(usize, u32),
}

struct Group<'a> {
    facts: &'a Facts<'a>,
    points: &'a Points<'a>,
    region: &'a Region,
    members: Vec<Member>,
    /// Registers that hold an address of the group, and its constant.
    sources: Vec<(Register, ValueId, i64)>,
}

/// Plans the accesses `sites` of a group.
pub(super) fn plan(
    facts: &Facts,
    points: &Points,
    region: &Region,
    sites: &[Site],
    nodes: &mut Vec<Node>,
    addresses: &mut Vec<(Site, NewAddress)>,
) {
    let mut group = Group {
        facts,
        points,
        region,
        members: Vec::new(),
        sources: Vec::new(),
    };
    for site in sites {
        match group.same(site) {
            Some(offset) => addresses.push((*site, NewAddress::Same(site.register, offset))),
            None => group.add(*site),
        }
    }
    let constants = group.leaders();
    let made = group.assign(&constants);
    for (leader, &constant) in constants.iter().enumerate() {
        let is_own = |m: &Made| matches!(m, Made::Sum(l, _) | Made::Xor(l, _) if *l == leader);
        let own: Vec<(usize, Made)> = made
            .iter()
            .enumerate()
            .filter_map(|(member, made)| Some((member, made.filter(is_own)?)))
            .collect();
        if !own.is_empty() && !group.add_leader(constant, &own, nodes, addresses) {
            for (member, _) in own {
                plain(points, &group.members[member].sites, nodes, addresses);
            }
        }
    }
    let alone = made.iter().enumerate().filter(|(_, m)| m.is_none());
    for (member, _) in alone {
        plain(points, &group.members[member].sites, nodes, addresses);
    }
}

impl Group<'_> {
    fn align(&self) -> u32 {
        self.region.known_align()
    }

    fn constant_of(&self, value: ValueId) -> i64 {
        let expression = self.facts.affines.expression(value);
        if expression.bits >= 32 {
            expression.truncate(32).constant
        } else {
            0
        }
    }

    /// The offset with which the access can use its original register.
    fn same(&self, site: &Site) -> Option<i64> {
        let map = &self.region.map;
        let offsets = Offsets::of(self.facts, self.region, site);
        match relation(map, &offsets, 0, true, self.align()) {
            Some(Relation::Add(more)) => Some(site.offset + more),
            _ => None,
        }
    }

    fn add(&mut self, site: Site) {
        let own = self.constant_of(site.value);
        let source = (site.register, site.value, own);
        if !self.sources.contains(&source) {
            self.sources.push(source);
        }
        let is_same = |m: &&mut Member| {
            let first = m.sites[0];
            (first.value, first.offset, first.bytes) == (site.value, site.offset, site.bytes)
        };
        if let Some(member) = self.members.iter_mut().find(is_same) {
            return member.sites.push(site);
        }
        self.members.push(Member {
            constant: own + site.offset,
            offsets: Offsets::of(self.facts, self.region, &site),
            sites: vec![site],
        });
    }

    /// Instructions that map the address with that constant in full.
    fn cost(&self, constant: i64) -> usize {
        let adds = |s: &(Register, ValueId, i64)| usize::from(s.2 != constant);
        let add = self.sources.iter().map(adds).min().unwrap_or(1);
        self.region.map.cost() + add
    }

    /// The relation of a member to the address with that constant.
    fn follows(&self, constant: i64, member: &Member) -> Option<Relation> {
        let distance = member.constant - constant;
        relation(
            &self.region.map,
            &member.offsets,
            distance,
            false,
            self.align(),
        )
    }

    /// The constants of the addresses that are mapped in full, chosen greedily:
    /// next the one that saves most.
    fn leaders(&self) -> Vec<i64> {
        let own = self.members.iter().map(|m| m.constant);
        let mut candidates: Vec<i64> = own.chain(self.sources.iter().map(|s| s.2)).collect();
        candidates.sort_by_key(|c| (Reverse(c.trailing_zeros()), *c));
        candidates.dedup();
        candidates.truncate(MOST_LEADERS);
        let follows = |c: &i64| self.members.iter().map(|m| self.follows(*c, m)).collect();
        let table: Vec<Vec<Option<Relation>>> = candidates.iter().map(follows).collect();
        let mut left: Vec<usize> = (0..self.members.len()).collect();
        let mut leaders = Vec::new();
        while !left.is_empty() {
            let saved = |candidate: usize| {
                let one = |&m: &usize| match table[candidate][m] {
                    Some(Relation::Add(_)) => self.cost(self.members[m].constant),
                    Some(Relation::Xor(_)) => self.cost(self.members[m].constant) - 1,
                    None => 0,
                };
                let all: usize = left.iter().map(one).sum();
                all as i64 - self.cost(candidates[candidate]) as i64
            };
            let all = (0..candidates.len()).map(|c| (saved(c), Reverse(c)));
            let Some((_, Reverse(leader))) = all.max().filter(|(saved, _)| *saved >= 0) else {
                leaders.extend(left.iter().map(|&m| self.members[m].constant));
                break;
            };
            leaders.push(candidates[leader]);
            left.retain(|&m| table[leader][m].is_none());
        }
        leaders
    }

    /// The computation of each member; none if it follows from no leader.
    fn assign(&self, leaders: &[i64]) -> Vec<Option<Made>> {
        let choose = |m: &Member| {
            let mut xor = None;
            for (at, &leader) in leaders.iter().enumerate() {
                match self.follows(leader, m) {
                    Some(Relation::Add(more)) => return Some(Made::Sum(at, more)),
                    Some(Relation::Xor(mask)) => xor = xor.or(Some(Made::Xor(at, mask))),
                    None => {}
                }
            }
            xor
        };
        self.members.iter().map(choose).collect()
    }

    /// Adds the node of a leader and of those that follow from it; false
    /// where no register holds its address where it is needed.
    fn add_leader(
        &self,
        constant: i64,
        own: &[(usize, Made)],
        nodes: &mut Vec<Node>,
        addresses: &mut Vec<(Site, NewAddress)>,
    ) -> bool {
        let points = self.points;
        let sites = own.iter().flat_map(|(m, _)| &self.members[*m].sites);
        let all = sites.map(|s| points.before(s.at));
        let Some(point) = all.reduce(|a, b| points.meet(a, b)) else {
            return true;
        };
        let mut sources = self.sources.clone();
        sources.sort_by_key(|s| s.2 != constant);
        let held = sources.iter().find(|s| points.holds(point, s.0, s.1));
        let Some(&(register, value, base)) = held else {
            return false;
        };
        let leader = nodes.len();
        let add = constant - base;
        let sites = own.iter().flat_map(|(m, _)| &self.members[*m].sites);
        let uses: Vec<Point> = sites.map(|s| points.before(s.at)).collect();
        let home = (register, value);
        let (from, point) = match carry(self.facts, points, self.region, home, &uses) {
            Some(carry) => {
                let start = carry.start;
                let carried = From::Carried {
                    register,
                    add,
                    carry,
                };
                (carried, start)
            }
            None => {
                let address = From::Address {
                    register,
                    value,
                    add,
                };
                (address, points.hoisted(point, register, value))
            }
        };
        nodes.push(Node {
            region: self.members[own[0].0].sites[0].region,
            from,
            point,
        });
        self.xors(leader, own, nodes, addresses);
        for (member, made) in own {
            if let Made::Sum(_, more) = made {
                let sites = self.members[*member].sites.iter();
                addresses.extend(sites.map(|s| (*s, NewAddress::Node(leader, *more))));
            }
        }
        true
    }

    /// Nodes of those that differ from a leader in some bits: XORs with one
    /// mask are made once.
    fn xors(
        &self,
        leader: usize,
        own: &[(usize, Made)],
        nodes: &mut Vec<Node>,
        addresses: &mut Vec<(Site, NewAddress)>,
    ) {
        let mut masks: Vec<u32> = own
            .iter()
            .filter_map(|(_, made)| match made {
                Made::Xor(_, mask) => Some(*mask),
                Made::Sum(..) => None,
            })
            .collect();
        masks.sort_unstable();
        masks.dedup();
        for mask in masks {
            let with = own
                .iter()
                .filter(|(_, m)| matches!(m, Made::Xor(_, x) if *x == mask));
            let sites: Vec<Site> = with
                .flat_map(|(m, _)| self.members[*m].sites.clone())
                .collect();
            self.xor(leader, mask, &sites, nodes, addresses);
        }
    }

    fn xor(
        &self,
        parent: usize,
        mask: u32,
        sites: &[Site],
        nodes: &mut Vec<Node>,
        addresses: &mut Vec<(Site, NewAddress)>,
    ) {
        let points = self.points;
        let above: Point = nodes[parent].point;
        let all = sites.iter().map(|s| points.before(s.at));
        let Some(point) = all.reduce(|a, b| points.meet(a, b)) else {
            return;
        };
        let node = nodes.len();
        nodes.push(Node {
            region: nodes[parent].region,
            from: From::Xor { parent, mask },
            point: points.hoisted_below(point, above),
        });
        addresses.extend(sites.iter().map(|s| (*s, NewAddress::Node(node, 0))));
    }
}
