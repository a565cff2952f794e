//! Races as findings: one for each pair of lines, with both sides.

mod lines;
mod remedies;
mod strong;

use super::advice::Advisor;
use super::api::{Finding, FindingKind};
use super::image::form::{Form, Step};
use super::image::{Action, Image};
use super::machine::RawFinding;
use super::machine::pairs::{Key, Pair, PairOverBlocks, Side, WarpCoverage, Why};
use super::machine::peers::place_of;
use crate::ast::Module;
use remedies::{Advice, advice, at};
use spadkit_base::toolkit::Users;
use std::collections::{BTreeMap, HashSet};
use strong::StrongAccess;

/// A line with an access that races.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Line {
    /// Line in the PTX; 0 if the PTX names a source.
    ptx: u32,
    source: Option<String>,
    /// The user's lines that lead to the source.
    calls: Vec<String>,
    wrote: bool,
}

impl Line {
    fn of(side: &Finding, wrote: bool) -> Self {
        let users = side.source.as_ref().map(|source| {
            let users = Users::of(source, &side.inlined_at);
            let own = users.through.map(|_| users.line.to_owned());
            own.into_iter().chain(users.calls.iter().cloned()).collect()
        });
        Line {
            ptx: if side.source.is_some() {
                0
            } else {
                side.ptx_line
            },
            source: side.source.clone(),
            calls: users.unwrap_or_default(),
            wrote,
        }
    }
}

/// The identity of a pair of lines.
type Lines = [Line; 2];

/// A pair of lines.
struct ReportedPair {
    key: Key,
    sides: [Finding; 2],
    count: u64,
    /// The line after which a fence would order them.
    fence: Option<String>,
    /// The side that initialises the `mbarrier` which the other one uses.
    made: Option<usize>,
    /// Instructions of the two lines.
    pcs: Vec<Instructions>,
}

/// Two instructions that race, in the order of the lines.
struct Instructions {
    pcs: [u32; 2],
    warps: WarpCoverage,
}

impl Instructions {
    /// The instructions as they are, or with the second one first (`back`).
    fn in_order(&self, back: bool) -> ([u32; 2], WarpCoverage) {
        match (self.pcs, back) {
            (pcs, false) => (pcs, self.warps),
            ([one, other], true) => ([other, one], self.warps.swapped()),
        }
    }
}

/// The findings of all races: two for each pair of lines, the second with the
/// other side. Pairs of instructions on the same two lines of the source are
/// one; a warning is dropped if a fault has the same lines.
pub(super) fn reported(
    races: BTreeMap<Key, PairOverBlocks>,
    named: &dyn Fn(u64, RawFinding) -> Finding,
    (module, image): (&Module, &Image),
) -> Vec<Finding> {
    let advisor = Advisor::new(module, image, &races);
    let mut all: Vec<(Lines, ReportedPair)> = Vec::new();
    for (key, raced) in races {
        merge(&mut all, pair_of(key, raced, named, image));
    }
    drop_explained(&mut all);
    let unwaited = put_unwaited_first(&mut all);
    let advised = |(lines, told): (Lines, ReportedPair)| {
        let unwaited = unwaited.contains(&lines);
        (advice(&told, unwaited, &advisor), told)
    };
    let mut all: Vec<_> = all.into_iter().map(advised).collect();
    widen(&mut all);
    all.into_iter().flat_map(findings).collect()
}

/// Puts a copy that nobody has waited for before what else is at its lines: without the wait
/// nothing else helps. The lines of such copies.
fn put_unwaited_first(all: &mut [(Lines, ReportedPair)]) -> Vec<Lines> {
    let mut unwaited = Vec::new();
    for at in 0..all.len() {
        if all[at].1.key.why != Why::Copy {
            continue;
        }
        let lines = all[at].0.clone();
        let first = all.iter().position(|(others, _)| *others == lines);
        if let Some(first) = first.filter(|first| *first < at) {
            all[first..=at].rotate_right(1);
        }
        unwaited.push(lines);
    }
    unwaited
}

/// Names the barrier of the block, too, where one of a warp is enough for a pair, if
/// another pair with one of its lines needs that: one barrier is for both.
fn widen(all: &mut [(Option<Advice>, ReportedPair)]) {
    let of_block = |(advice, _): &(Option<Advice>, _)| match advice {
        Some(Advice::Barrier(_, lines)) => Some(lines.clone()),
        _ => None,
    };
    let wide: HashSet<String> = all.iter().filter_map(of_block).flatten().collect();
    for (advice, _) in all {
        if let Some(Advice::WarpBarrier(place, lines)) = advice
            && lines.iter().any(|line| wide.contains(line))
        {
            *advice = Some(Advice::Barrier(*place, lines.clone()));
        }
    }
}

/// A race of two instructions, with what pairs of its lines are told by.
fn pair_of(
    key: Key,
    raced: PairOverBlocks,
    named: &dyn Fn(u64, RawFinding) -> Finding,
    image: &Image,
) -> (Lines, ReportedPair) {
    let fence = ticket(&key, &|raw| named(raced.block, raw));
    let accesses = key.pcs.map(|pc| StrongAccess::at(image, pc));
    let sides = sides(&key, &raced.pair, (fence.as_deref(), &accesses));
    let mut sides = sides.map(|raw| named(raced.block, raw));
    for (side, access) in sides.iter_mut().zip(accesses) {
        side.scope = access.narrow(key.why).map(str::to_owned);
    }
    let mut lines = [
        Line::of(&sides[0], key.wrote[0]),
        Line::of(&sides[1], key.wrote[1]),
    ];
    // Whatever uses an `mbarrier` before it is one shows the same fault.
    let made = made(&key, image);
    if let Some(made) = made {
        lines[1 - made] = lines[made].clone();
        if !initialises(image, key.pcs[1 - made]) {
            tell_use(&mut sides, made, &place_of_pair(&key, &raced.pair).1);
        }
    }
    lines.sort();
    let pcs = Instructions {
        pcs: key.pcs,
        warps: raced.pair.warps,
    };
    let told = ReportedPair {
        key,
        sides,
        fence,
        made,
        count: raced.count,
        pcs: vec![pcs],
    };
    (lines, told)
}

/// Adds a race to the one of the same lines, if there is one.
fn merge(all: &mut Vec<(Lines, ReportedPair)>, (lines, new): (Lines, ReportedPair)) {
    let same = |(l, t): &&mut (Lines, ReportedPair)| {
        let alike =
            t.key.why == new.key.why || !t.key.harmless && are_of_blocks([&t.key, &new.key]);
        *l == lines && alike && t.key.harmless == new.key.harmless
    };
    let Some((_, told)) = all.iter_mut().find(same) else {
        return all.push((lines, new));
    };
    // A fence alone does not help where something else is missing, too.
    if told.key.why != new.key.why && new.key.why == Why::Blocks {
        (told.key, told.sides, told.fence) = (new.key, new.sides, None);
        told.pcs = new.pcs;
        told.count += new.count;
        return;
    }
    told.count += new.count;
    let same = told.key.wrote == new.key.wrote && told.sides[0].source == new.sides[0].source;
    told.pcs.extend(new.pcs.into_iter().map(|mut pcs| {
        if !same {
            pcs.pcs.swap(0, 1);
            pcs.warps = pcs.warps.swapped();
        }
        pcs
    }));
}

/// Whether two races are of different blocks, and only a fence may be missing for one.
fn are_of_blocks(keys: [&Key; 2]) -> bool {
    let whys = keys.map(|key| key.why);
    let ticket = |why: &Why| matches!(why, Why::Ticket(_));
    whys.contains(&Why::Blocks) && whys.iter().any(ticket)
}

/// Drops what another race of the same lines explains: a warning beside a fault, harmless
/// stores of one value by lanes of an instruction, and a copy to another block beside the
/// same copy to the own one.
fn drop_explained(all: &mut Vec<(Lines, ReportedPair)>) {
    let of = |which: &dyn Fn(&ReportedPair) -> bool| -> Vec<(Lines, Why)> {
        let chosen = all.iter().filter(|(_, told)| which(told));
        chosen
            .map(|(lines, t)| (lines.clone(), t.key.why))
            .collect()
    };
    let faults = of(&|t| !t.key.harmless);
    let others = of(&|t| !t.key.why.is_of_lanes());
    let copies = of(&|t| t.key.why == Why::Copy);
    let has = |races: &[(Lines, Why)], lines: &Lines| races.iter().any(|(l, _)| l == lines);
    all.retain(|(lines, t)| {
        let same = |why: Why| why == t.key.why || matches!(t.key.why, Why::Ticket(_));
        let fault = || faults.iter().any(|(l, why)| l == lines && same(*why));
        match t.key.why {
            Why::Cluster if has(&copies, lines) => false,
            why if why.is_of_lanes() && t.key.harmless && has(&others, lines) => false,
            _ => !t.key.harmless || !fault(),
        }
    });
}

/// The two findings of a pair of lines, with what would order them.
fn findings((advice, told): (Option<Advice>, ReportedPair)) -> [Finding; 2] {
    let (mut barrier, mut warp_barrier, mut wait, mut atomic) = (None, None, None, false);
    match advice {
        Some(Advice::Barrier(place, lines)) => barrier = Some(at(place, &lines)),
        Some(Advice::WaitAndBarrier(place, lines)) => wait = Some(at(place, &lines)),
        Some(Advice::WarpBarrier(place, lines)) => warp_barrier = Some(at(place, &lines)),
        Some(Advice::Atomic) => atomic = true,
        None => {}
    }
    let count = Some(told.count);
    told.sides.map(|side| Finding {
        count,
        barrier: barrier.clone(),
        wait: wait.clone(),
        warp_barrier: warp_barrier.clone(),
        atomic,
        fence: told.fence.as_ref().map(|line| format!("after {line}")),
        ..side
    })
}

/// The line of the instruction after which a fence is missing, where only that is.
fn ticket(key: &Key, named: &dyn Fn(RawFinding) -> Finding) -> Option<String> {
    let Why::Ticket(pc) = key.why else {
        return None;
    };
    let raw = RawFinding {
        kind: FindingKind::Race,
        warning: true,
        other: false,
        pc,
        block: None,
        thread: 0,
        address: None,
        variable: None,
        message: String::new(),
    };
    Some(lines::users(&named(raw)))
}

/// The side of a pair that initialises an `mbarrier` which the other one uses.
fn made(key: &Key, image: &Image) -> Option<usize> {
    if !matches!(key.why, Why::Barrier | Why::ClusterBarrier) {
        return None;
    }
    key.pcs.iter().position(|pc| initialises(image, *pc))
}

fn initialises(image: &Image, pc: u32) -> bool {
    match image.ops.get(pc as usize).map(|op| &op.form) {
        Some(Form::Step(Step::Mbarrier { change })) => {
            image.changes[*change as usize].action == Action::Init
        }
        _ => false,
    }
}

/// Says of an `mbarrier` which side initialises it and which one uses it.
fn tell_use(sides: &mut [Finding; 2], made: usize, place: &str) {
    let who = |at: usize| {
        let side = &sides[at];
        let of_block = format!(" of block {:?}", side.block);
        let block = if sides[0].block == sides[1].block {
            ""
        } else {
            &of_block
        };
        (
            format!("thread {:?}{block}", side.thread),
            lines::users(side),
        )
    };
    let ((maker, made_at), (user, used_at)) = (who(made), who(1 - made));
    sides[made].message = format!(
        "initialises the mbarrier at {place}, and nothing orders that before {user} uses it at \
         {used_at}"
    );
    sides[1 - made].message = format!(
        "uses the mbarrier at {place}, and nothing orders that behind its initialisation by \
         {maker} at {made_at}"
    );
}

/// The address of a pair, and how it is told.
fn place_of_pair(key: &Key, pair: &Pair) -> (u64, String) {
    let cluster = key.why.is_of_cluster();
    let (rank, address) = if cluster {
        place_of(pair.address)
    } else {
        (0, pair.address)
    };
    let mut place = match &pair.variable {
        Some(name) => format!("byte {} of {name}", pair.offset),
        None => format!("byte {address} of shared memory"),
    };
    if cluster {
        place += &format!(" in block {rank} of the cluster");
    }
    (address, place)
}

/// Both sides of a pair; the line after which a fence is missing, and how they access.
fn sides(
    key: &Key,
    pair: &Pair,
    (fence, accesses): (Option<&str>, &[StrongAccess; 2]),
) -> [RawFinding; 2] {
    let (address, place) = place_of_pair(key, pair);
    let harmless = match key.why {
        _ if !key.harmless => "",
        _ if key.wrote == [true; 2] => ", the same value",
        _ => ", the value that is there",
    };
    let why = match key.why {
        Why::Order => " without a barrier between".to_owned() + harmless,
        Why::Blocks => " and nothing orders the two blocks".to_owned() + harmless,
        Why::Ticket(_) => {
            let cached = if key.harmless {
                ""
            } else {
                "; the reader's block has read the place before, and may read that again"
            };
            let line = fence.unwrap_or_default();
            format!("; only a fence after {line} is missing to order the two blocks{cached}")
        }
        // Each side has its own.
        Why::Scope(_) | Why::ClusterScope => String::new(),
        Why::Lanes | Why::ClusterLanes if key.harmless => {
            "; lanes of this instruction write the same value there".to_owned()
        }
        Why::Lanes | Why::ClusterLanes => {
            "; lanes of this instruction write different values there".to_owned()
        }
        Why::Copy => "; no thread has waited for the copy".to_owned(),
        Why::Product => "; its warp has not waited for the wgmma".to_owned(),
        Why::Bulk => "; its thread has not waited for the bulk copy".to_owned(),
        Why::Constant => "; ld.global.nc is for what no thread writes".to_owned(),
        Why::Texture => "; a texture is for what no thread of the launch writes".to_owned(),
        Why::Proxy => " without a fence.proxy.async between".to_owned(),
        Why::Cluster => " and nothing orders the two".to_owned() + harmless,
        Why::Barrier | Why::ClusterBarrier => {
            ", an mbarrier, and nothing orders it with what made that".to_owned()
        }
    };
    let raw = |at: usize| {
        let side = &pair.sides[at];
        let scopes = StrongAccess::text([&accesses[at], &accesses[1 - at]], key.why);
        raw_side(
            key,
            (side, at == 1),
            (address, pair.variable.clone()),
            format!(
                "{} {place}{why}{scopes}",
                if side.wrote { "writes" } else { "reads" }
            ),
        )
    };
    [raw(0), raw(1)]
}

/// A side of a pair.
fn raw_side(
    key: &Key,
    (side, other): (&Side, bool),
    (address, variable): (u64, Option<String>),
    message: String,
) -> RawFinding {
    RawFinding {
        kind: FindingKind::Race,
        warning: key.harmless,
        other,
        pc: side.pc,
        block: side.block,
        thread: side.thread,
        address: Some(address),
        variable,
        message,
    }
}
