//! Race detection: compares accesses with earlier ones to their bytes.

use super::clusters;
use super::ordered::{ordered, touch};
use super::overwritten;
use super::report;
use super::values::{By, collide, stored_global, stored_shared};
use crate::exec::api::FindingKind;
use crate::exec::image::{MemoryOp, Transfer};
use crate::exec::machine::Machine;
use crate::exec::memory::Object;
use crate::exec::ordering::{Fence, Sides, Strength};
use crate::exec::race::global::{MOST_BYTES, Reach};
use crate::exec::race::shadow::{Hit, Touch};
use crate::exec::race::{Races, lanes};
use crate::names::Space;

/// `fence` and `membar`.
pub fn fence(m: &mut Machine, (fence, sides): (Fence, Sides), exec: u32) {
    let warp = m.warp;
    let fence = match fence {
        Fence::Cluster if !m.has_peers() => Fence::Block,
        fence => fence,
    };
    if let Some(races) = &mut m.races {
        races.order.fence(warp, exec, (fence, sides));
    }
}

/// The lanes of a warp that are about to access memory.
pub fn access(m: &mut Machine, info: &MemoryOp, space: Space, exec: u32, addresses: &[u64; 32]) {
    let global = space == Space::Global;
    let shared = space == Space::Shared;
    let orders = info.order.strength != Strength::Weak && (shared || global);
    let touched = shared || global && m.races.as_ref().is_some_and(|r| r.global.is_some());
    if !touched && !orders {
        return;
    }
    let exec = if shared {
        inside(m, info, exec, addresses)
    } else {
        exec
    };
    if exec == 0 {
        return;
    }
    // Shared memory is no part of global memory.
    let rank = m.has_peers().then_some(m.cluster.rank);
    let key = |at: u64| rank.map_or(at, |rank| m.cell(rank, at)) | 1 << 63;
    let wide = global || m.has_peers();
    let carried = || m.races.as_ref().is_some_and(|r| r.order.has_carried(wide));
    let overwrites = || info.transfer.writes() && carried();
    let keys = (shared && (orders || overwrites())).then(|| addresses.map(key));
    ordered(
        m,
        info,
        exec,
        (wide, keys.as_ref().unwrap_or(addresses)),
        |m| {
            if shared {
                if info.transfer.writes() && !m.mbarriers.objects.is_empty() {
                    overwritten::by_lanes(m, (info.bytes, exec), addresses);
                }
                touch_shared(m, info, exec, addresses);
            } else if touched {
                touch_global(m, info, exec, addresses);
            }
        },
    );
    // Strong stores of lanes may come in any order, as those of other threads.
    let strong = info.order.strength == Strength::Strong;
    // Of discards, nobody knows the values: there is nothing to compare.
    let stores = info.transfer.only_writes() && !matches!(info.transfer, Transfer::Discard);
    if touched && stores && !strong {
        let by = if shared { By::Offset } else { By::Address };
        collide(m, info, by, exec, addresses);
    }
}

/// The lanes whose access stays in its variable: what leaves it is not done.
fn inside(m: &Machine, info: &MemoryOp, exec: u32, addresses: &[u64; 32]) -> u32 {
    let (low, high) = info.region.within(Space::Shared, m.shared_len);
    let end = high.saturating_sub(info.bytes.into());
    if let Some(address) = one_address(exec, addresses) {
        let has = address >= low && address <= end && u64::from(info.bytes) <= high;
        return if has { exec } else { 0 };
    }
    let mut mask = 0;
    for (lane, address) in addresses.iter().enumerate() {
        mask |= u32::from(*address >= low && *address <= end) << lane;
    }
    if u64::from(info.bytes) > high {
        0
    } else {
        exec & mask
    }
}

/// The address that all lanes have, as in a broadcast, without a look at each lane.
#[inline(always)]
fn one_address(exec: u32, addresses: &[u64; 32]) -> Option<u64> {
    let first = addresses[exec.trailing_zeros() as usize % 32];
    // No branches: these become vector instructions.
    let all = addresses.iter().fold(0, |all, a| all | (a ^ first));
    let differs = all != 0 && lanes(exec).any(|l| addresses[l as usize] != first);
    (!differs).then_some(first)
}

fn touch_shared(m: &mut Machine, info: &MemoryOp, exec: u32, addresses: &[u64; 32]) {
    let Some(races) = &mut m.races else {
        return;
    };
    races.note_part(m.warp, m.active, m.pc);
    let moment = races.order.tick();
    let mut one = touch(m, info, moment);
    let joint = info.transfer.is_joint().then_some(m.active);
    let Some(races) = &m.races else {
        return;
    };
    let pass = races.shadow.pass(&races.order, &one);
    let together = one_address(exec, addresses).is_some();
    let mut left = exec;
    while left != 0 {
        let lane = left.trailing_zeros();
        let address = addresses[lane as usize];
        let mut mask = if together { exec } else { 1u32 << lane };
        left &= !mask;
        while left != 0 && addresses[left.trailing_zeros() as usize] == address {
            mask |= left & left.wrapping_neg();
            left &= left - 1;
        }
        one.lanes = joint.unwrap_or(mask);
        if one.write {
            one.stored = stored_shared(m, info, mask, address);
        }
        let Some(races) = &mut m.races else {
            return;
        };
        let places = races.places(address, info.bytes);
        let first = places.0;
        races.shadow.touch_in(pass, &races.order, places, &one);
        if one.write && races.any_reads() {
            in_flight(races, (address, info.bytes), first, &one);
        }
    }
    if m.races.as_ref().is_some_and(|r| !r.shadow.hits.is_empty()) {
        report::shared(m, one.write);
    }
    if m.has_peers() && !info.transfer.is_copy() {
        clusters::own(m, info, exec, addresses);
    }
    if info.transfer.is_copy() {
        touch_by_copy(m, info.bytes, exec, addresses, one);
    }
}

/// The writes of an asynchronous copy, which are in flight until it is waited for.
fn touch_by_copy(m: &mut Machine, bytes: u32, exec: u32, addresses: &[u64; 32], mut one: Touch) {
    let Some(races) = &mut m.races else {
        return;
    };
    for lane in lanes(exec) {
        one.lanes = 1 << lane;
        races.fly((addresses[lane as usize], bytes), &one, None);
    }
    if !m.has_peers() {
        return;
    }
    let first = 32 * m.warp;
    for lane in lanes(exec) {
        let Some(races) = &mut m.races else {
            return;
        };
        one.lanes = 1 << lane;
        let agent = races.begin_load(first + lane, one.moment);
        clusters::by_agent(m, (addresses[lane as usize], bytes), &one, agent);
    }
}

/// A write of what something asynchronous still reads.
pub fn in_flight(races: &mut Races, (address, bytes): (u64, u32), first: u32, touch: &Touch) {
    let unit = u64::from(races.shadow.unit());
    let mut hits = races.sending((address, bytes), touch);
    for byte in (address..address + u64::from(bytes)).step_by(unit as usize) {
        if let Some(mark) = races.reads.at(byte) {
            hits.push((byte, touch.lanes.trailing_zeros(), *mark));
        }
    }
    let hits = hits.into_iter().map(|(byte, lane, earlier)| {
        let place = first + ((byte - address) / unit) as u32;
        Hit::new(place, lane, (earlier, earlier.lanes), false)
    });
    races.shadow.hits.extend(hits);
}

/// The bytes that the lanes of a `cp.async` read, where it says so.
fn copied(m: &Machine) -> Option<[u64; 32]> {
    let at = m.image.access.get(m.pc as usize).copied().flatten()?;
    match m.image.memory[at as usize].transfer {
        Transfer::CopyTarget { size, .. } => size.map(|size| m.registers.read(size)),
        _ => None,
    }
}

/// Lanes access global memory.
fn touch_global<'a>(m: &mut Machine<'a>, info: &MemoryOp, exec: u32, addresses: &[u64; 32]) {
    let Some(races) = &mut m.races else {
        return;
    };
    races.note_part(m.warp, m.active, m.pc);
    let moment = races.order.tick();
    let mut one = touch(m, info, moment);
    one.passing = false;
    let joint = info.transfer.is_joint().then_some(m.active);
    // What `cp.async` reads is read when its thread has waited for it.
    let copies = matches!(info.transfer, Transfer::CopySource);
    let sizes = if copies { copied(m) } else { None };
    // Mostly no two lanes have one address.
    let own = lanes(exec).map(|l| addresses[l as usize]);
    let rises = copies || own.is_sorted_by(|a, b| a < b);
    // And mostly all are in one buffer.
    let mut near: Option<&'a Object> = None;
    let several = m.common.heap.is_some();
    let mut left = exec;
    while left != 0 {
        let address = addresses[left.trailing_zeros() as usize];
        let same = lanes(left).filter(|&l| addresses[l as usize] == address);
        one.lanes = if rises {
            left & left.wrapping_neg()
        } else {
            same.fold(0, |all, l| all | 1 << l)
        };
        left &= !one.lanes;
        one.lanes = joint.unwrap_or(one.lanes);
        let thread = 32 * m.warp + one.lanes.trailing_zeros();
        let begin = |races: &mut Races| {
            one.moment = races.order.tick();
            races.begin_load(thread, one.moment)
        };
        let lane = one.lanes.trailing_zeros() as usize % 32;
        // Bytes beyond the size that the copy gives are zeros, and not read.
        let bytes = sizes.map_or(info.bytes, |s| info.bytes.min(s[lane] as u32));
        let reach = Reach {
            address,
            bytes,
            fixed: info.order.fixed,
            agent: m.races.as_mut().filter(|_| copies).map(begin),
        };
        let inside = |o: &&Object| {
            let end = address.checked_add(bytes.into());
            address >= o.address && end.is_some_and(|end| end <= o.address + o.len)
        };
        let place = match near.filter(|o| !several && inside(o)) {
            Some(object) => Some((object, address - object.address)),
            None => m.global_place(address, bytes),
        };
        let Some(place) = place else {
            continue;
        };
        near = Some(place.0);
        if !global_at(m, (reach, place), Some(info), one) {
            return;
        }
    }
}

/// A lane frees bytes of the heap: whoever accesses them has to have done so before.
pub fn freed(m: &mut Machine, lane: u32, (address, bytes): (u64, u64)) {
    let Some(races) = &mut m.races else {
        return;
    };
    let moment = races.order.tick();
    let touch = Touch {
        write: true,
        ..Touch::weak(m.warp, 1 << lane, moment, m.pc)
    };
    let reach = Reach {
        address,
        bytes: bytes as u32,
        fixed: false,
        agent: None,
    };
    global(m, reach, None, touch);
}

/// An access to bytes of global memory: whether there was room to remember it.
pub fn global(m: &mut Machine, reach: Reach, info: Option<&MemoryOp>, touch: Touch) -> bool {
    let place = m.global_place(reach.address, reach.bytes);
    place.is_none_or(|place| global_at(m, (reach, place), info, touch))
}

/// Checks an access to bytes at an offset in a buffer, as [`global`].
#[inline(always)]
fn global_at(
    m: &mut Machine,
    (reach, (object, offset)): (Reach, (&Object, u64)),
    info: Option<&MemoryOp>,
    mut touch: Touch,
) -> bool {
    let address = reach.address;
    let lane = touch.lanes.trailing_zeros();
    if let Some(info) = info.filter(|_| touch.write) {
        touch.stored = stored_global(m, info, touch.lanes, (object, offset, address));
    }
    let Some(races) = &mut m.races else {
        return false;
    };
    let Some(memory) = &mut races.global else {
        return false;
    };
    let reads = |t: &Transfer| t.is_atomic() && !t.replaces();
    let updates = info.is_some_and(|info| reads(&info.transfer));
    let uses = (!touch.write || updates, touch.write);
    if let Some(byte) = memory.use_discarded(&reach, uses) {
        let why = "was discarded, and no thread has written it since";
        tell_without_value(m, lane, (reach, byte, why), (object, offset));
    }
    let blank = object.written.as_ref();
    if let Some(byte) = blank.and_then(|w| w.touch((offset, reach.bytes), uses)) {
        let why = "was never written";
        tell_without_value(m, lane, (reach, byte, why), (object, offset));
    }
    let Some(races) = &mut m.races else {
        return false;
    };
    let Some(memory) = &mut races.global else {
        return false;
    };
    if memory.touch(&races.order, reach, &touch).is_err() {
        let text = format!(
            "races on global memory are checked only in the first {} MB that the kernel accesses",
            MOST_BYTES >> 20
        );
        m.note((FindingKind::Limit, true), lane, None, None, text);
        return false;
    }
    if memory.hits.is_empty() {
        return true;
    }
    report::global(m, (object, offset), &touch);
    true
}

/// A lane reads a byte of an access which has no value, and why.
fn tell_without_value(
    m: &mut Machine,
    lane: u32,
    (reach, byte, why): (Reach, u64, &str),
    (object, offset): (&Object, u64),
) {
    let text = format!(
        "reads {} bytes at byte {offset} of {}: byte {} {why}",
        reach.bytes,
        object.name,
        offset + byte
    );
    let name = Some(object.name.clone());
    m.found(FindingKind::Uninitialised, lane, Some(offset), name, text);
}
