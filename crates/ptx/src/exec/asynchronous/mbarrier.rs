//! `mbarrier`: what its instructions do to the objects of a block, who waits
//! for them, and what that orders.
//!
//! The state of an object is not in the bytes of shared memory but beside
//! them: so a barrier that nobody has initialised is known as such.

use crate::exec::api::FindingKind;
use crate::exec::api::reported::{BarrierEvent, BarrierLane, BarrierOp, PeerCopy, PeerEvent};
use crate::exec::check::clusters;
use crate::exec::check::{asynchronous, early};
use crate::exec::image::{Action, Change, SHARED_WINDOW, SharedPlace, WINDOW, Wait, offset_in};
use crate::exec::machine::Machine;
use crate::exec::machine::peers::{Reached, Told};
use crate::exec::machine::phase::{Arrival, Awaited, BarrierObject};
use crate::exec::machine::written::WRITTEN;
use crate::exec::race::shadow::{OBJECT_BYTES, ObjectUse};
use crate::exec::registers::active;

/// The word that carries the order of a phase, for the search for races: no
/// address of memory.
fn word(offset: u64, phase: u64) -> u64 {
    1 << 62 | offset << 1 | phase & 1
}

/// Offset of a lane's object, which has to be one of the block's own.
pub fn locate(m: &mut Machine, place: &SharedPlace, lane: u32, what: &str) -> Option<u64> {
    let (block, at) = locate_any(m, place, lane, what)?;
    let Some(rank) = block else {
        return Some(at);
    };
    let text = format!("{what} of block {rank} of the cluster: only its own threads may do this");
    misuse(m, lane, at, text);
    None
}

/// Place of a lane's object: the rank of another block of the cluster, and the offset. An
/// error becomes a finding.
fn locate_any(
    m: &mut Machine,
    place: &SharedPlace,
    lane: u32,
    what: &str,
) -> Option<(Option<u32>, u64)> {
    let address = m.address_from(place.from, place.offset, lane);
    let inside = if place.generic {
        offset_in(SHARED_WINDOW, address)
    } else {
        Some(address & !WINDOW)
    };
    let (block, inside) = match inside.map(|address| m.reached(address)) {
        None => (None, None),
        Some(Reached::Own(at)) => (None, Some(at)),
        Some(Reached::Peer(rank, at)) => (Some(rank), Some(at)),
        Some(Reached::Nobody(rank)) => {
            let blocks = m.cluster.peers.len();
            let text = format!("{what} in block {rank} of the cluster, which has {blocks} blocks");
            m.found(FindingKind::OutOfBounds, lane, None, None, text);
            return None;
        }
    };
    let wrong = match inside {
        None => {
            let text = format!("{what} at a generic address that is not in shared memory");
            (FindingKind::OutOfBounds, text)
        }
        Some(at) if at % OBJECT_BYTES != 0 => {
            let text = format!(
                "{what} at byte {at} of shared memory, which is not a multiple of {OBJECT_BYTES}"
            );
            (FindingKind::Misaligned, text)
        }
        Some(at)
            if at
                .checked_add(OBJECT_BYTES)
                .is_none_or(|end| end > m.shared_len) =>
        {
            let text = format!(
                "{what} at byte {at} of shared memory, of which the block has {}",
                m.shared_len
            );
            (FindingKind::OutOfBounds, text)
        }
        Some(at) => return Some((block, at)),
    };
    let name = inside.and_then(|at| m.shared_variable(at));
    m.found(wrong.0, lane, inside, name, wrong.1);
    None
}

fn misuse(m: &mut Machine, lane: u32, at: u64, text: String) {
    let name = m.shared_variable(at);
    m.found(FindingKind::InvalidBarrier, lane, Some(at), name, text);
}

fn uninitialised(m: &mut Machine, lane: u32, at: u64) {
    let text = format!("the mbarrier at byte {at} of shared memory has not been initialised");
    // Who has ended it knows that.
    if m.mbarriers.ended.get(&at) == Some(&m.thread(lane)) {
        return misuse(m, lane, at, text);
    }
    early::note(m, FindingKind::InvalidBarrier, lane, (at, at), text);
}

/// Executes an instruction that changes objects, lane after lane.
pub fn change(m: &mut Machine, info: &Change, exec: u32) {
    m.mbarriers.progress();
    let numbers = info.number.map(|slot| m.registers.read(slot));
    if m.races.is_some() {
        touch(m, info, exec);
    }
    let mut changed = Vec::new();
    for lane in active(exec) {
        let number = numbers.map_or(1, |n| n[lane as usize] as u32);
        let Some((block, at)) = locate_any(m, &info.place, lane, "an mbarrier") else {
            continue;
        };
        if let Some(rank) = block {
            change_other(m, info, lane, (rank, at, number), None);
            continue;
        }
        if m.observer.is_some() {
            changed.push(BarrierLane {
                lane,
                offset: at,
                number,
            });
        }
        if let Some(state) = change_one(m, info, lane, (at, number))
            && let Some(slot) = info.state
        {
            m.registers.write_lane(slot, lane, state);
        }
    }
    report(m, reported(info.action), &changed);
}

/// Changes an object of another block: those of its threads that wait for the
/// phase see what the lane did before.
fn change_other(
    m: &mut Machine,
    info: &Change,
    lane: u32,
    (rank, at, number): (u32, u64, u32),
    copy: Option<PeerCopy>,
) {
    if matches!(
        info.action,
        Action::Init | Action::Invalidate | Action::Copies { .. }
    ) {
        let text = format!(
            "the mbarrier at byte {at} of block {rank} of the cluster: only its own threads may \
             initialise or invalidate it, or join it to copies"
        );
        return misuse(m, lane, at, text);
    }
    let arrives = matches!(info.action, Action::Arrive { .. });
    let sent = info.action == Action::CompleteBytes;
    clusters::object(m, 1 << lane, (rank, at), ObjectUse::Changed);
    let warp = m.warp;
    let brought = m.races.as_mut().map(|races| {
        if arrives && (!info.releases || info.narrow) {
            return (races.order.fenced_abroad(warp, 1 << lane), None);
        }
        // Bytes that come bring what was sent with them.
        let agent = sent.then(|| races.sender(rank, at));
        let landed = agent.map(|agent| races.order.landing_abroad(agent));
        (races.order.shown_abroad(warp, 1 << lane, agent), landed)
    });
    let (before, after) = m.visit(rank, |m| {
        m.mbarriers.progress();
        let phase = |m: &Machine| m.mbarriers.objects.get(&at).map(BarrierObject::phase);
        let before = phase(m);
        change_one(m, info, lane, (at, number));
        (before, phase(m))
    });
    let observed = m.observer.is_some();
    let told = &mut m.cluster.peers[rank as usize].told;
    if let Some(phase) = before.filter(|_| observed) {
        told.push(Told::Changed(PeerEvent {
            object: at,
            phase,
            op: reported(info.action),
            number,
            copy,
        }));
    }
    if let (Some(phase), Some((brought, landed))) = (before, brought) {
        told.push(Told::Brought(word(at, phase), Box::new(brought)));
        let landed = landed.map(|sent| Told::Landed(word(at, phase), Box::new(sent)));
        told.extend(landed);
    }
    if let Some(phase) = after.filter(|_| after != before) {
        told.push(Told::Over(word(at, phase)));
    }
}

/// `fence.mbarrier_init`
pub fn fence_init(m: &mut Machine, exec: u32) {
    if let Some(races) = &mut m.races {
        races.fence_init(m.warp, exec);
    }
}

/// The operation that observers are told of.
fn reported(action: Action) -> BarrierOp {
    match action {
        Action::Init => BarrierOp::Init,
        Action::Invalidate => BarrierOp::Invalidate,
        Action::ExpectBytes => BarrierOp::Expect,
        Action::CompleteBytes => BarrierOp::Complete,
        Action::Arrive { drops, expects, .. } => match (drops, expects) {
            (false, false) => BarrierOp::Arrive,
            (false, true) => BarrierOp::ArriveExpect,
            (true, false) => BarrierOp::Drop,
            (true, true) => BarrierOp::DropExpect,
        },
        Action::Copies { counts: true } => BarrierOp::CopiesArrive,
        Action::Copies { counts: false } => BarrierOp::CopiesJoin,
    }
}

/// Tells the observer of an operation of lanes.
pub fn report(m: &mut Machine, op: BarrierOp, lanes: &[BarrierLane]) {
    let (warp, pc) = (m.warp, m.pc);
    if let Some(observer) = &mut m.observer {
        observer.mbarrier(&BarrierEvent {
            warp,
            pc,
            op,
            lanes,
        });
    }
}

/// Tells the race detector of the uses of objects by lanes.
fn touch(m: &mut Machine, info: &Change, exec: u32) {
    let kind = match info.action {
        Action::Init | Action::Invalidate => ObjectUse::Made,
        _ => ObjectUse::Changed,
    };
    let (warp, mut left) = (m.warp, exec);
    while left != 0 {
        let lane = left.trailing_zeros();
        let at = offset(m, &info.place, lane);
        let same = active(left).filter(|&l| offset(m, &info.place, l) == at);
        let same = same.fold(0, |all, l| all | 1 << l);
        left &= !same;
        if !at.is_multiple_of(OBJECT_BYTES) || at.saturating_add(OBJECT_BYTES) > m.shared_len {
            continue;
        }
        if let Some(races) = m.races.as_mut().filter(|_| info.action == Action::Init) {
            races.initialise(warp, lane, at);
        }
        asynchronous::object(m, same, at, kind);
    }
}

/// The state before an arrival.
fn change_one(m: &mut Machine, info: &Change, lane: u32, (at, number): (u64, u32)) -> Option<u64> {
    if info.action == Action::Init {
        init(m, lane, at, number);
        return None;
    }
    let Some(mut object) = m.mbarriers.objects.get(&at).copied() else {
        uninitialised(m, lane, at);
        return None;
    };
    let phase = object.phase();
    let arrival = match info.action {
        Action::Arrive {
            drops,
            expects,
            stays,
        } => Arrival {
            count: if expects { 1 } else { number },
            bytes: if expects { number } else { 0 },
            drops,
            stays,
        },
        _ => Arrival {
            count: 1,
            ..Arrival::default()
        },
    };
    let result = match info.action {
        Action::Invalidate => {
            m.mbarriers.objects.remove(&at);
            m.mbarriers.ended.insert(at, m.thread(lane));
            m.mbarriers.waited.retain(|(of, _), _| *of != at);
            return None;
        }
        Action::ExpectBytes => object.expect(number).map(|()| (None, false)),
        Action::CompleteBytes => object.complete(number).map(|done| (None, done)),
        // Its own arrival and the one more that it waits for cancel out.
        Action::Copies { counts: false } => Ok((None, false)),
        _ => object
            .arrive(arrival)
            .map(|(state, done)| (Some(state), done)),
    };
    let (state, done) = match result {
        Ok(result) => result,
        Err(text) => {
            misuse(m, lane, at, format!("the mbarrier at byte {at}: {text}"));
            return None;
        }
    };
    m.mbarriers.objects.insert(at, object);
    order_arrival(m, info, lane, (at, phase));
    if done {
        completed(m, at, object.phase());
    }
    state
}

fn init(m: &mut Machine, lane: u32, at: u64, count: u32) {
    if m.mbarriers.objects.contains_key(&at) {
        let text = format!("the mbarrier at byte {at} is initialised again without mbarrier.inval");
        let name = m.shared_variable(at);
        let kind = (FindingKind::InvalidBarrier, true);
        m.note(kind, lane, Some(at), name, text);
    }
    match BarrierObject::new(count) {
        Ok(object) => {
            m.mbarriers.objects.insert(at, object);
            let bytes = at as usize..(at + OBJECT_BYTES) as usize;
            m.written[bytes].fill(WRITTEN);
        }
        Err(text) => misuse(m, lane, at, format!("mbarrier.init with {text}")),
    }
    m.mbarriers.waited.retain(|(of, _), _| *of != at);
    if let Some(races) = &mut m.races {
        (0..2).for_each(|phase| races.order.forget(word(at, phase)));
    }
}

/// Makes visible what the thread did before its arrival, to those who wait for the phase.
fn order_arrival(m: &mut Machine, info: &Change, lane: u32, (at, phase): (u64, u64)) {
    let warp = m.warp;
    let Some(races) = &mut m.races else {
        return;
    };
    match info.action {
        Action::Copies { .. } => {
            races.bind(warp, lane, (at, word(at, phase)));
            races.come(warp, lane, (at, word(at, phase)));
        }
        Action::Arrive { .. } if info.releases => {
            races.order.bring(warp, 1 << lane, word(at, phase));
        }
        Action::Arrive { .. } => races.order.bring_relaxed(warp, 1 << lane, word(at, phase)),
        _ => {}
    }
}

/// A phase has begun: the one with its parity before it is over.
fn completed(m: &mut Machine, at: u64, phase: u64) {
    if let Some(races) = &mut m.races {
        races.order.forget(word(at, phase));
    }
}

/// Byte offset of the object of a lane, which is known to be in place.
pub fn offset(m: &Machine, place: &SharedPlace, lane: u32) -> u64 {
    let address = m.address_from(place.from, place.offset, lane) & !WINDOW;
    match m.reached(address) {
        Reached::Own(at) | Reached::Peer(_, at) => at,
        Reached::Nobody(_) => address,
    }
}

/// Bytes of a copy have come, at the object of `block` that is where the lane's is
/// in its own block, or at the lane's: that object, and the word that carries the
/// order of the phase. `copy` is what it is to another block.
pub fn bytes_come(
    m: &mut Machine,
    info: &Change,
    lane: u32,
    (bytes, block): (u32, Option<u32>),
    copy: Option<PeerCopy>,
) -> Option<(u64, u64)> {
    m.mbarriers.progress();
    let (named, at) = locate_any(m, &info.place, lane, "an mbarrier")?;
    let other = block.or(named).filter(|&rank| rank != m.cluster.rank);
    if let Some(rank) = other {
        change_other(m, info, lane, (rank, at, bytes), copy);
        return Some((at, word(at, 0)));
    }
    let phase = m.mbarriers.objects.get(&at).map(|o| o.phase());
    change_one(m, info, lane, (at, bytes));
    phase.map(|phase| (at, word(at, phase)))
}

/// Whether the lanes may go on, with the results of their waits; with `now`
/// they do in any case.
pub fn wait(m: &mut Machine, info: &Wait, exec: u32, now: bool) -> bool {
    let by = m.registers.read(info.by);
    let mut done = 0u32;
    let mut seen = Vec::with_capacity(32);
    for lane in active(exec) {
        let Some(at) = locate(m, &info.place, lane, "a wait for an mbarrier") else {
            done |= 1 << lane;
            continue;
        };
        let Some(object) = m.mbarriers.objects.get(&at).copied() else {
            uninitialised(m, lane, at);
            done |= 1 << lane;
            continue;
        };
        let value = by[lane as usize];
        match object.is_complete(awaited(info, value)) {
            Ok(true) => seen.push((lane, at, object.phase())),
            Ok(false) => continue,
            Err(text) => misuse(m, lane, at, format!("the mbarrier at byte {at}: {text}")),
        }
        done |= 1 << lane;
    }
    if done != exec && !now {
        return false;
    }
    take(m, info, &seen);
    seen.iter()
        .for_each(|&(lane, at, phase)| note_wait(m, info, lane, (at, phase)));
    if m.observer.is_some() {
        // Before the first phase there is none to wait for.
        let waited = seen.iter().filter(|(_, _, phase)| *phase > 0);
        let lanes: Vec<BarrierLane> = waited
            .map(|&(lane, offset, phase)| BarrierLane {
                lane,
                offset,
                number: (phase - 1) as u32,
            })
            .collect();
        report(m, BarrierOp::Wait, &lanes);
    }
    let results = std::array::from_fn(|lane| u64::from(done >> lane & 1));
    m.registers.write(info.result, exec, &results);
    true
}

pub fn awaited(info: &Wait, value: u64) -> Awaited {
    if info.parity {
        Awaited::Parity(value)
    } else {
        Awaited::State(value)
    }
}

/// Lanes have seen that the phases before the current ones are complete.
fn take(m: &mut Machine, info: &Wait, seen: &[(u32, u64, u64)]) {
    if m.races.is_none() {
        return;
    }
    let mut places: Vec<(u64, u64)> = Vec::new();
    for &(_, at, phase) in seen {
        if !places.contains(&(at, phase)) {
            places.push((at, phase));
        }
    }
    for (at, phase) in places {
        let same = seen.iter().filter(|s| (s.1, s.2) == (at, phase));
        let mask = same.fold(0, |all, s| all | 1 << s.0);
        asynchronous::object(m, mask, at, ObjectUse::Read);
        let warp = m.warp;
        let word = word(at, phase.wrapping_sub(1));
        match m.races.as_mut().filter(|_| info.decides) {
            Some(races) if !info.acquires => races.order.take_relaxed(warp, mask, word),
            Some(races) if info.narrow => races.order.take_of_block(warp, mask, word),
            Some(races) => races.order.take(warp, mask, word),
            None => {}
        }
    }
}

/// A thread has seen that the phase before the current one is complete.
fn note_wait(m: &mut Machine, info: &Wait, lane: u32, (at, phase): (u64, u64)) {
    let thread = m.thread(lane);
    let before = m.mbarriers.waited.insert((at, thread), phase + 1);
    // A phase may be waited for twice, as long as nobody is in the next one.
    let has_begun = || m.mbarriers.objects.get(&at).is_some_and(|b| b.has_begun());
    if before == Some(phase + 1) && info.parity && phase > 0 && has_begun() {
        let text = format!(
            "waits again for phase {} of the mbarrier at byte {at}, which it has waited for: is \
             the parity not flipped?",
            phase - 1
        );
        let name = m.shared_variable(at);
        let kind = (FindingKind::InvalidBarrier, true);
        m.note(kind, lane, Some(at), name, text);
    }
}
