//! Decides where addresses are mapped: once for the accesses that share an
//! address, and outside of loops that do not change it. If the known bits of an
//! address are sufficient, it is derived from another mapped address instead.
//!
//! Addresses that differ by a constant are a *group*. One of them, the
//! *leader*, is mapped in full. Another one is often the leader's position plus
//! a constant, which goes into the offset of the access. Or it is the position
//! XOR a constant: h(a + c) = h(a) ^ h(c) if no relevant carry occurs. Both are
//! proved by checking every offset of the region that the known bits of the
//! address allow. If a loop advances an address by an amount that the map does
//! not read, the mapped address advances with it.

mod carry;
mod emit;
mod group;
mod narrow;
mod point;
mod relation;

use super::access::Access;
use super::region::Region;
use emit::Emitter;
use point::Points;
use spadkit_ptx::analysis::{Affines, BitFacts, Context, Loops, Term, ValueId, Values};
use spadkit_ptx::ast::{Base, Function, Module, Operand, Register};
use spadkit_ptx::cfg::Cfg;
use spadkit_ptx::edit::Edits;
use std::collections::{BTreeMap, HashMap};

/// An access that is to be mapped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    pub access: &'a Access,
    /// Index of the region that it accesses.
    pub region: usize,
}

/// Assumptions about the launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assume {
    /// Threads of a block.
    pub block: Option<[u32; 3]>,
    /// Whether mapped addresses are shared at all.
    pub optimise: bool,
}

/// The text of `module`, in which the regions are installed, with the accesses
/// of `targets` mapped.
pub(super) fn apply(
    module: &Module,
    regions: &[Region],
    targets: &[Target],
    assume: Assume,
) -> String {
    let mut edits = Edits::new();
    // They are listed function by function.
    for own in targets.chunk_by(|a, b| a.access.function == b.access.function) {
        let function = own[0].access.function;
        plan_function(module, function, regions, own, assume, &mut edits);
    }
    edits.apply(&module.text)
}

/// An access by a register.
#[derive(Clone, Copy, Debug)]
struct Site {
    /// The instruction.
    at: u32,
    operand: usize,
    register: Register,
    value: ValueId,
    offset: i64,
    region: usize,
    bytes: u32,
}

/// A mapped address in a register.
#[derive(Clone, Debug)]
struct Node {
    region: usize,
    from: From,
    /// The point at which it is computed.
    point: point::Point,
}

/// The computation of a mapped address.
#[derive(Clone, Debug)]
enum From {
    /// Computed in full, from a register's value plus a constant.
    Address {
        register: Register,
        value: ValueId,
        add: i64,
    },
    /// Before a loop, and carried through it.
    Carried {
        register: Register,
        add: i64,
        carry: carry::Carry,
    },
    /// Derived from another mapped address, an earlier node.
    Xor { parent: usize, mask: u32 },
}

/// The address of an access in the rewritten text.
#[derive(Clone, Debug)]
enum NewAddress {
    /// A node's register, plus a constant.
    Node(usize, i64),
    /// The register as it was, with another offset.
    Same(Register, i64),
}

/// The known facts of a function.
struct Facts<'a> {
    facts: &'a BitFacts,
    affines: &'a Affines<'a>,
}

fn plan_function(
    module: &Module,
    f: u32,
    regions: &[Region],
    targets: &[Target],
    assume: Assume,
    edits: &mut Edits,
) {
    let function = &module.functions[f as usize];
    let context = Context {
        block: assume.block.or(function.tuning.reqntid),
        ..Context::default()
    };
    let cfg = Cfg::new(function);
    let values = Values::new(function, &cfg);
    let loops = Loops::new(&cfg, values.dominators());
    let bits = BitFacts::new(module, function, &cfg, &values, &context);
    let affines = Affines::new(module, function, &cfg, &values, &loops, &bits, &context);
    let facts = Facts {
        facts: &bits,
        affines: &affines,
    };
    let points = Points::new(function, &cfg, &values, &loops);
    let mut emitter = Emitter::new(module, f, regions);
    let sites = sites(function, &values, targets, &mut emitter, edits);
    let mut nodes: Vec<Node> = Vec::new();
    let mut addresses: Vec<(Site, NewAddress)> = Vec::new();
    let whole: Vec<Vec<Site>> = if assume.optimise {
        groups(&facts, &points, &sites)
    } else {
        sites.iter().map(|s| vec![*s]).collect()
    };
    for sites in &whole {
        let region = &regions[sites[0].region];
        if assume.optimise && points.reaches(sites[0].at) {
            group::plan(&facts, &points, region, sites, &mut nodes, &mut addresses)
        } else {
            group::plain(&points, sites, &mut nodes, &mut addresses)
        }
    }
    let narrow = if assume.optimise && module.address_size == 64 {
        narrow::Job {
            module,
            function,
            values: &values,
            accesses: &address_registers(function, &addresses),
        }
        .run(|| emitter.fresh(), edits)
    } else {
        narrow::Narrow::none()
    };
    emitter.nodes(&points, &nodes, &narrow, assume.optimise, edits);
    for (site, address) in &addresses {
        emitter.access(site, address, &narrow, edits);
    }
    emitter.declare(edits);
}

/// The accesses whose addresses are in registers, with their values; accesses
/// with constant addresses are rewritten at once.
fn sites(
    function: &Function,
    values: &Values,
    targets: &[Target],
    emitter: &mut Emitter,
    edits: &mut Edits,
) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::new();
    for target in targets {
        let access = target.access;
        let i = &function.instructions[access.at as usize];
        let Operand::Address(base, offset) = i.operands[access.operand] else {
            continue;
        };
        match base {
            Base::Register(_) if access.generic => {
                emitter.generic(access, target.region, edits);
            }
            Base::Register(register) => sites.push(Site {
                at: access.at,
                operand: access.operand,
                register,
                value: values.read(access.at, register),
                offset,
                region: target.region,
                bytes: access.bytes,
            }),
            _ => emitter.constant(access, target.region, offset, edits),
        }
    }
    sites
}

/// The accesses that read their register as the address alone.
fn address_registers(
    function: &Function,
    addresses: &[(Site, NewAddress)],
) -> HashMap<u32, Register> {
    let once = |site: &Site| {
        let i = &function.instructions[site.at as usize];
        let named = spadkit_ptx::analysis::reads(i);
        named.iter().filter(|r| **r == site.register).count() == 1
    };
    let sites = addresses.iter().map(|(site, _)| site);
    sites
        .filter(|s| once(s))
        .map(|s| (s.at, s.register))
        .collect()
}

/// Accesses of one region whose addresses differ by constants, by their terms.
fn groups(facts: &Facts, points: &Points, sites: &[Site]) -> Vec<Vec<Site>> {
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    enum Key {
        Terms(Vec<(Term, i64)>),
        Value(ValueId),
        Access(u32),
    }
    let mut groups: BTreeMap<(usize, Key), Vec<Site>> = BTreeMap::new();
    for site in sites {
        let expression = facts.affines.expression(site.value);
        let key = if !points.reaches(site.at) {
            Key::Access(site.at)
        } else if expression.bits >= 32 {
            Key::Terms(expression.truncate(32).terms)
        } else {
            Key::Value(site.value)
        };
        groups.entry((site.region, key)).or_default().push(*site);
    }
    let mut all: Vec<Vec<Site>> = groups.into_values().collect();
    all.sort_by_key(|g| g[0].at);
    all
}
