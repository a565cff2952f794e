//! Accesses of asynchronous copies and of tensor cores, and who waits for them.

use super::proxies::{unfenced, unfenced_global};
use super::{clusters, raced, report};
use crate::exec::machine::Machine;
use crate::exec::ordering::Strength;
use crate::exec::race::flights::PIECE;
use crate::exec::race::global::Reach;
use crate::exec::race::mark::{How, Mark};
use crate::exec::race::shadow::{OBJECT_BYTES, ObjectUse, Touch};
use crate::exec::race::{FLYING, Races, lanes};

/// A weak access of some lanes of the warp, by something else.
fn by_other(m: &Machine, mask: u32, moment: u32, write: bool) -> Touch {
    Touch {
        write,
        ..Touch::weak(m.warp, mask, moment, m.pc)
    }
}

/// Lanes use the `mbarrier` object at an offset.
pub fn object(m: &mut Machine, mask: u32, at: u64, kind: ObjectUse) {
    let Some(races) = &mut m.races else {
        return;
    };
    races.order.act(m.warp, mask);
    let moment = races.order.tick();
    let touch = Touch::of_object(m.warp, mask, moment, m.pc, kind);
    let (first, count) = races.places(at, OBJECT_BYTES as u32);
    races.shadow.touch(&races.order, first, count, &touch);
    report::shared(m, touch.write);
    clusters::object(m, mask, (m.cluster.rank, at), kind);
}

/// The end of a bulk copy, in shared or in global memory.
pub type End = (Option<u64>, Option<u64>);

/// The way in which a bulk copy accesses one of its ends.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    /// The copy reads, and its thread waits for it by a bulk group.
    Reads,
    /// The copy reads, and arrives at an `mbarrier`.
    Sends,
    /// The copy writes. Those who wait for a phase of an `mbarrier` (given with the word of
    /// the phase) see what it writes to shared memory.
    Writes(Option<(u64, u64)>),
    /// The copy combines elements of so many bytes with what is there, each by an atomic.
    Updates(Option<(u64, u64)>, u32),
}

impl Way {
    /// The way in which the written end is accessed, given the size of the elements if they
    /// are combined.
    pub fn to(phase: Option<(u64, u64)>, updates: Option<u32>) -> Way {
        updates.map_or(Way::Writes(phase), |size| Way::Updates(phase, size))
    }

    fn writes(self) -> bool {
        !matches!(self, Way::Reads | Way::Sends)
    }

    fn phase(self) -> Option<(u64, u64)> {
        match self {
            Way::Reads | Way::Sends => None,
            Way::Writes(phase) | Way::Updates(phase, _) => phase,
        }
    }

    fn how(self) -> How {
        match self {
            Way::Updates(_, size) => atomic(size),
            _ => How::default(),
        }
    }
}

/// The manner in which an atomic for all blocks accesses elements.
fn atomic(size: u32) -> How {
    How {
        strength: Strength::Strong,
        size: size as u8,
        ..How::default()
    }
}

/// A lane begins a bulk copy that reads, or writes, bytes of global memory: the thread
/// sees what is written when it has waited for the bulk group.
pub fn bulk_global(m: &mut Machine, lane: u32, (address, bytes): (u64, u64), way: Way) {
    let thread = 32 * m.warp + lane;
    let Some(races) = &mut m.races else {
        return;
    };
    let moment = races.order.tick();
    let agent = if way.writes() {
        races.stores.begin(thread, moment);
        Some(races.store_agent(thread))
    } else {
        races.loading
    };
    let touch = Touch {
        passing: false,
        how: way.how(),
        ..by_other(m, 1 << lane, moment, way.writes())
    };
    let reach = Reach {
        address,
        bytes: bytes as u32,
        fixed: false,
        agent,
    };
    // What it overwrites is forgotten then.
    unfenced_global(m, reach, &touch);
    raced::global(m, reach, None, touch);
}

/// Lets what a lane reads of global memory from now on come in the phase of an `mbarrier`,
/// given with its word: who waits for that knows that it was read.
pub fn begin_load(m: &mut Machine, barrier: u64) {
    if let Some(races) = &mut m.races {
        races.loading = Some(races.agent(barrier));
    }
}

/// The copy's read of global memory has begun.
pub fn end_load(m: &mut Machine, lane: u32, phase: (u64, u64)) {
    let warp = m.warp;
    if let Some(races) = &mut m.races {
        races.loading = None;
        races.come(warp, lane, phase);
    }
}

/// A lane sends bytes to an offset in the block of a rank, where they arrive at the
/// `mbarrier` at an offset; `updates` is the size of elements that are combined.
pub fn sent(
    m: &mut Machine,
    lane: u32,
    (rank, at, bytes): (u32, u64, u64),
    (barrier, updates): (u64, Option<u32>),
) {
    let Some(races) = &mut m.races else {
        return;
    };
    let moment = races.order.tick();
    let agent = races.sender(rank, barrier);
    let touch = Touch {
        passing: false,
        how: updates.map_or(How::default(), atomic),
        ..by_other(m, 1 << lane, moment, true)
    };
    clusters::sent(m, (rank, at), bytes as u32, &touch, agent);
}

/// A lane begins a bulk copy that reads, or writes, bytes.
pub fn bulk(m: &mut Machine, lane: u32, end: End, bytes: u64, way: Way) {
    if let (_, Some(address)) = end {
        bulk_global(m, lane, (address, bytes), way);
    }
    let Some(races) = &mut m.races else {
        return;
    };
    let moment = races.order.tick();
    let touch = Touch {
        how: way.how(),
        ..by_other(m, 1 << lane, moment, way.writes())
    };
    let (Some(address), _) = end else {
        return;
    };
    unfenced(m, (address, bytes), &touch);
    touch_bulk(m, (address, bytes), &touch);
    if let (true, Some((barrier, _))) = (m.has_peers(), way.phase()) {
        by_agent(m, (address, bytes as u32), &touch, |races| {
            races.agent(barrier)
        });
    } else if m.has_peers() && matches!(way, Way::Reads) {
        let thread = 32 * m.warp + lane;
        let agent = |races: &mut Races| races.begin_source(thread, moment);
        by_agent(m, (address, bytes as u32), &touch, agent);
    }
    let Some(races) = &mut m.races else {
        return;
    };
    if way.writes() {
        let phase = way.phase();
        races.fly((address, bytes as u32), &touch, phase.map(|p| p.0));
        if let Some(phase) = phase {
            races.come(touch.warp, lane, phase);
        }
    } else if let Way::Reads = way {
        let mark = Mark {
            moment: FLYING,
            ..touch.mark()
        };
        races.reads.begin(address, bytes as u32, mark);
        let thread = 32 * touch.warp + lane;
        races
            .bulk
            .begin(thread, (address, bytes as u32), (touch.pc, touch.moment));
    }
}

/// A lane begins to send bytes of shared memory to the `mbarrier` at an offset in the block
/// of a rank, or in the own block: who learns that the phase is over knows that they were
/// read.
pub fn begin_send(m: &mut Machine, lane: u32, at: (u64, u64), (rank, barrier): (Option<u32>, u64)) {
    let Some(races) = &mut m.races else {
        return;
    };
    let moment = races.order.tick();
    let agent = match rank {
        Some(rank) => races.sender(rank, barrier),
        None => races.agent(barrier),
    };
    let touch = by_other(m, 1 << lane, moment, false);
    if m.has_peers() {
        by_agent(m, (at.0, at.1 as u32), &touch, |_| agent);
    }
    if let Some(races) = &mut m.races {
        races.send(at, &touch, agent);
    }
}

/// The value of a lane's `st.async` or `red.async` is written; those who wait
/// for the phase see it. Such writes need no fence of a proxy.
pub fn delivered(m: &mut Machine, lane: u32, at: (u64, u32), way: Way) {
    let (Some(races), Some(phase)) = (&mut m.races, way.phase()) else {
        return;
    };
    let moment = races.order.tick();
    let touch = Touch {
        how: way.how(),
        ..by_other(m, 1 << lane, moment, true)
    };
    touch_bulk(m, (at.0, at.1.into()), &touch);
    if m.has_peers() {
        by_agent(m, at, &touch, |races| races.agent(phase.0));
    }
    if let Some(races) = &mut m.races {
        races.fly(at, &touch, Some(phase.0));
        races.come(touch.warp, lane, phase);
    }
}

/// Checks an asynchronous access against those of the other blocks of the cluster, for
/// which an agent stands for it.
fn by_agent(
    m: &mut Machine,
    at: (u64, u32),
    touch: &Touch,
    agent: impl FnOnce(&mut Races) -> (u8, u32),
) {
    if let Some(races) = &mut m.races {
        let agent = agent(races);
        clusters::by_agent(m, at, touch, agent);
    }
}

/// Compares it with what was done before.
fn touch_bulk(m: &mut Machine, (address, bytes): (u64, u64), touch: &Touch) {
    let Some(races) = &mut m.races else {
        return;
    };
    let (first, count) = races.places(address, bytes as u32);
    races.shadow.touch(&races.order, first, count, touch);
    if touch.write && races.any_reads() {
        raced::in_flight(races, (address, bytes as u32), first, touch);
    }
    report::shared(m, touch.write);
}

/// A lane reads or writes bytes of shared memory at once.
pub fn whole(m: &mut Machine, lane: u32, (address, bytes): (u64, u32), write: bool) {
    let Some(races) = &mut m.races else {
        return;
    };
    races.order.act(m.warp, 1 << lane);
    let moment = races.order.tick();
    let touch = Touch {
        passing: false,
        ..by_other(m, 1 << lane, moment, write)
    };
    touch_bulk(m, (address, bytes.into()), &touch);
}

/// The warp begins to read pieces of shared memory, and goes on.
pub fn begin_reads(m: &mut Machine, exec: u32, addresses: &[u64; 32]) {
    let Some(races) = &mut m.races else {
        return;
    };
    let moment = races.order.tick();
    let bytes = PIECE as u32;
    for lane in lanes(exec) {
        let address = addresses[lane as usize];
        if address + PIECE > m.shared_len {
            continue;
        }
        // All lanes execute it: none of them alone reads.
        let touch = by_other(m, 1, moment, false);
        unfenced(m, (address, PIECE), &touch);
        let Some(races) = &mut m.races else {
            return;
        };
        let (first, count) = races.places(address, bytes);
        races.shadow.touch(&races.order, first, count, &touch);
        if m.has_peers() {
            let warp = m.warp;
            by_agent(m, (address, bytes), &touch, |races| {
                races.begin_product(warp, moment)
            });
        }
        let Some(races) = &mut m.races else {
            return;
        };
        let mark = Mark {
            moment: FLYING,
            lanes: u32::MAX,
            ..touch.mark()
        };
        races.reads.begin(address, bytes, mark);
        races
            .factors
            .begin(m.warp, (address, bytes), (m.pc, touch.moment));
    }
    report::shared(m, false);
}

/// `wgmma.fence`
pub fn fence(m: &mut Machine) {
    if let Some(races) = &mut m.races {
        races.accumulators.fence(m.warp);
    }
}

/// `wgmma.commit_group`
pub fn commit_group(m: &mut Machine) {
    if let Some(races) = &mut m.races {
        races.factors.commit(m.warp);
        races.accumulators.commit(m.warp);
        races.products.commit(m.warp);
    }
}

/// `wgmma.wait_group N`
pub fn wait_group(m: &mut Machine, left: u32) {
    let Some(races) = &mut m.races else {
        return;
    };
    races.accumulators.wait(m.warp, left);
    races.see_products(m.warp, left);
    let landed = races.factors.wait(m.warp, Some(left));
    read(m, u32::MAX, landed);
}

/// Notes that the lanes which have waited have read what was read asynchronously.
fn read(m: &mut Machine, mask: u32, landed: Vec<crate::exec::race::flights::Flight>) {
    let Some(races) = &mut m.races else {
        return;
    };
    races.order.act(m.warp, mask);
    let moment = races.order.tick();
    for flight in landed {
        let touch = Touch {
            passing: false,
            ..Touch::weak(m.warp, mask, moment, flight.pc)
        };
        races.reads.end(flight.address, flight.bytes);
        let (first, count) = races.places(flight.address, flight.bytes);
        races.shadow.remember(&races.order, first, count, &touch);
    }
}

/// `cp.async.commit_group`
pub fn commit(m: &mut Machine, exec: u32) {
    let first = m.thread(0);
    if let Some(races) = &mut m.races {
        for lane in lanes(exec) {
            races.copies.commit(first + lane);
            races.loads.commit(first + lane);
        }
    }
}

/// `cp.async.wait_group N`, or without a number `.wait_all`.
pub fn wait(m: &mut Machine, left: Option<u32>, exec: u32) {
    let warp = m.warp;
    if let Some(races) = &mut m.races {
        lanes(exec).for_each(|lane| races.landed(warp, lane, left));
    }
}

/// `cp.async.bulk.commit_group`
pub fn bulk_commit(m: &mut Machine, exec: u32) {
    let first = m.thread(0);
    if let Some(races) = &mut m.races {
        for lane in lanes(exec) {
            races.bulk.commit(first + lane);
            races.stores.commit(first + lane);
            races.sources.commit(first + lane);
        }
    }
}

/// `cp.async.bulk.wait_group N`: what was read may be written again, and without
/// `.read` what was written to global memory is there.
pub fn bulk_wait(m: &mut Machine, (left, reads): (u32, bool), exec: u32) {
    let first = m.thread(0);
    for lane in lanes(exec) {
        let Some(races) = &mut m.races else {
            return;
        };
        if !reads {
            races.see_stores(first + lane, left);
        }
        races.see_sources(first + lane, left);
        let landed = races.bulk.wait(first + lane, Some(left));
        read(m, 1 << lane, landed);
    }
}
