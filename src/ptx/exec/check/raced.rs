//! Race detection: compares accesses with earlier ones to their bytes.

use crate::ptx::exec::api::FindingKind;
use crate::ptx::exec::image::form::{Form, Step};
use crate::ptx::exec::image::{MemoryOp, Transfer};
use crate::ptx::exec::machine::Machine;
use crate::ptx::exec::machine::pairs::{Side, Why};
use crate::ptx::exec::memory::Object;
use crate::ptx::exec::race::clock::{Fence, Word};
use crate::ptx::exec::race::global::Reach;
use crate::ptx::exec::race::mark::How;
use crate::ptx::exec::race::shadow::{Hit, Touch};
use crate::ptx::exec::race::{AGENTS, FLYING, Strength, lanes};
use crate::ptx::names::Space;

/// `fence` and `membar`.
pub fn fence(m: &mut Machine, fence: Fence, exec: u32) {
    let warp = m.warp;
    if let Some(races) = &mut m.races {
        races.order.fence(warp, exec, fence);
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
    // A volatile load orders what follows, but not itself.
    let late = info.order.strength == Strength::Volatile && !info.transfer.writes();
    if orders && info.transfer.is_atomic() {
        lanes(exec).for_each(|lane| order(m, info, 1 << lane, global, addresses));
    } else if orders && !info.transfer.writes() && !late {
        order(m, info, exec, global, addresses);
    }
    if shared {
        if info.transfer.writes() && !m.mbarriers.objects.is_empty() {
            over_barriers(m, (info.bytes, exec), addresses);
        }
        touch_shared(m, info, exec, addresses);
    } else if touched {
        touch_global(m, info, exec, addresses);
    }
    if orders && (info.transfer.only_writes() || late) {
        order(m, info, exec, global, addresses);
    }
    if touched && info.transfer.only_writes() {
        collide(m, info, shared, exec, addresses);
    }
}

/// The lanes whose access stays in its variable: what leaves it is not done.
fn inside(m: &Machine, info: &MemoryOp, exec: u32, addresses: &[u64; 32]) -> u32 {
    let (low, high) = info.region.within(Space::Shared, m.shared_len);
    let end = high.saturating_sub(info.bytes.into());
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

/// Lanes read or write words that may order.
fn order(m: &mut Machine, info: &MemoryOp, mut mask: u32, global: bool, addresses: &[u64; 32]) {
    let (warp, update) = (m.warp, info.transfer.is_atomic());
    let Some(races) = &mut m.races else {
        return;
    };
    while mask != 0 {
        let address = addresses[mask.trailing_zeros() as usize];
        let same = lanes(mask).filter(|&l| addresses[l as usize] == address);
        let same = same.fold(0, |all, l| all | 1 << l);
        mask &= !same;
        let word = |orders| Word {
            // Shared memory is no part of global memory.
            address: address | u64::from(!global) << 63,
            global,
            scope: info.order.scope,
            orders,
            update,
        };
        if !info.transfer.only_writes() {
            races.order.read(warp, same, word(info.order.acquire));
        }
        if info.transfer.writes() {
            races.order.write(warp, same, word(info.order.release));
        }
    }
}

/// How an access is made.
pub fn how(info: &MemoryOp) -> How {
    let size = match &info.transfer {
        Transfer::Load { element, .. } | Transfer::Store { element, .. } => element.bytes(),
        Transfer::Atomic(updates) => info.bytes / updates.len() as u32,
        _ => info.bytes,
    };
    How {
        strength: info.order.strength,
        scope: info.order.scope,
        size: size as u8,
    }
}

/// An access that a warp is about to make.
pub fn touch(m: &Machine, info: &MemoryOp, seq: u32) -> Touch {
    Touch {
        warp: m.warp,
        lanes: 0,
        seq,
        pc: m.pc,
        how: how(info),
        write: info.transfer.writes(),
        update: info.transfer.is_atomic(),
        silent: false,
        passing: info.transfer.is_copy(),
    }
}

fn touch_shared(m: &mut Machine, info: &MemoryOp, exec: u32, addresses: &[u64; 32]) {
    let silent = silent_lanes(m, info, exec, addresses);
    let Some(races) = &mut m.races else {
        return;
    };
    let seq = races.order.tick();
    let mut one = touch(m, info, seq);
    let Some(races) = &mut m.races else {
        return;
    };
    let mut left = exec;
    while left != 0 {
        let lane = left.trailing_zeros();
        let address = addresses[lane as usize];
        let mut mask = 1u32 << lane;
        left &= left - 1;
        while left != 0 && addresses[left.trailing_zeros() as usize] == address {
            mask |= left & left.wrapping_neg();
            left &= left - 1;
        }
        (one.lanes, one.silent) = (mask, silent & mask != 0);
        let (first, count) = races.places(address, info.bytes);
        races.shadow.touch(&races.order, first, count, &one);
        if one.write && races.reads.any() {
            in_flight(races, (address, info.bytes), first, &one);
        }
    }
    if !races.shadow.hits.is_empty() {
        report(m, one.write);
    }
    if info.transfer.is_copy() {
        let Some(races) = &mut m.races else {
            return;
        };
        for lane in lanes(exec) {
            one.lanes = 1 << lane;
            races.fly((addresses[lane as usize], info.bytes), &one, None);
        }
    }
}

/// A write of what something asynchronous still reads.
pub fn in_flight(
    races: &mut crate::ptx::exec::race::Races,
    (address, bytes): (u64, u32),
    first: u32,
    touch: &Touch,
) {
    let unit = u64::from(races.shadow.unit());
    for byte in (address..address + u64::from(bytes)).step_by(unit as usize) {
        if let Some(mark) = races.reads.at(byte) {
            races.shadow.hits.push(Hit {
                place: first + ((byte - address) / unit) as u32,
                lane: touch.lanes.trailing_zeros(),
                earlier: *mark,
                wrote: false,
                harmless: false,
            });
        }
    }
}

/// Lanes that store what is there already.
fn silent_lanes(m: &Machine, info: &MemoryOp, exec: u32, addresses: &[u64; 32]) -> u32 {
    let Transfer::Store { element, from } = &info.transfer else {
        return 0;
    };
    let size = element.bytes();
    let mut mask = exec;
    for (at, slot) in (0..).zip(from) {
        let values = m.registers.read(*slot);
        for lane in lanes(mask) {
            let address = addresses[lane as usize] + u64::from(at * size);
            if !address.is_multiple_of(u64::from(size)) {
                return 0;
            }
            let there = m.shared_element(address, size.into());
            let new = values[lane as usize] & (u64::MAX >> (64 - 8 * size));
            mask &= !(u32::from(there != new) << lane);
        }
        if mask == 0 {
            break;
        }
    }
    mask
}

/// Notes what was hit on shared memory.
pub fn report(m: &mut Machine, wrote: bool) {
    let Some(races) = &mut m.races else {
        return;
    };
    let hits = std::mem::take(&mut races.shadow.hits);
    let unit = u64::from(races.shadow.unit());
    for hit in &hits {
        let Some(races) = &m.races else {
            return;
        };
        let thread = races.thread_of(&hit.earlier, 32 * m.warp + hit.lane);
        let address = u64::from(hit.place) * unit;
        let e = &hit.earlier;
        let pending = e.seq == FLYING || e.warp >= AGENTS;
        let why = match form(m, e.pc) {
            _ if uses_barrier(m, e.pc) || uses_barrier(m, m.pc) => Why::Barrier,
            Some(Form::Step(Step::Group { .. })) if pending => Why::Product,
            _ if pending && !hit.wrote => Why::Bulk,
            _ if pending => Why::Copy,
            _ => Why::Order,
        };
        let earlier = Side {
            pc: hit.earlier.pc,
            thread,
            wrote: hit.wrote,
            block: None,
        };
        let own = Side {
            pc: m.pc,
            thread: m.thread(hit.lane),
            wrote,
            block: None,
        };
        let (variable, offset) = m.shared_place(address);
        m.pair(
            (why, hit.harmless),
            [own, earlier],
            (address, variable, offset),
        );
    }
    if let Some(races) = &mut m.races {
        races.shadow.hits = hits;
        races.shadow.hits.clear();
    }
}

fn form<'i>(m: &Machine<'i>, pc: u32) -> Option<&'i Form> {
    m.image.ops.get(pc as usize).map(|op| &op.form)
}

/// Whether an instruction is one of `mbarrier`.
fn uses_barrier(m: &Machine, pc: u32) -> bool {
    let form = form(m, pc);
    form.is_some_and(|f| matches!(f, Form::Step(Step::Mbarrier { .. }) | Form::Wait { .. }))
}

/// Lanes that store over an `mbarrier` object which is in use.
fn over_barriers(m: &mut Machine, (bytes, exec): (u32, u32), addresses: &[u64; 32]) {
    const BYTES: u64 = 8;
    let objects = &m.mbarriers.objects;
    let (Some((first, _)), Some((last, _))) = (objects.first_key_value(), objects.last_key_value())
    else {
        return;
    };
    let (first, last) = (*first, *last + BYTES);
    for lane in lanes(exec) {
        let address = addresses[lane as usize];
        let end = address + u64::from(bytes);
        if end <= first || address >= last {
            continue;
        }
        let start = address.saturating_sub(BYTES - 1);
        if let Some((&at, _)) = m.mbarriers.objects.range(start..end).next() {
            let name = m.shared_variable(at);
            let text = format!(
                "a store to the mbarrier at byte {at} of shared memory, which is in use: \
                 mbarrier.inval ends that"
            );
            return m.found(FindingKind::InvalidBarrier, lane, Some(at), name, text);
        }
    }
}

/// Lanes access global memory.
fn touch_global(m: &mut Machine, info: &MemoryOp, exec: u32, addresses: &[u64; 32]) {
    let Some(races) = &mut m.races else {
        return;
    };
    let seq = races.order.tick();
    let mut one = touch(m, info, seq);
    one.passing = false;
    let mut left = exec;
    while left != 0 {
        let address = addresses[left.trailing_zeros() as usize];
        let same = lanes(left).filter(|&l| addresses[l as usize] == address);
        one.lanes = same.fold(0, |all, l| all | 1 << l);
        left &= !one.lanes;
        if !global(m, (address, info.bytes), Some(info), one) {
            return;
        }
    }
}

/// An access to bytes of global memory: whether there was room to remember it.
pub fn global(
    m: &mut Machine,
    (address, bytes): (u64, u32),
    info: Option<&MemoryOp>,
    mut touch: Touch,
) -> bool {
    let Some((object, offset)) = m.global_place(address, bytes) else {
        return true;
    };
    let lane = touch.lanes.trailing_zeros();
    let same = |at: u32| {
        let stored = info.and_then(|info| stored(m, info, lane, at));
        stored == Some(object.byte(offset + u64::from(at)))
    };
    touch.silent = touch.write && info.is_some() && (0..bytes).all(same);
    let fixed = info.is_some_and(|info| info.order.fixed);
    let reach = Reach {
        address,
        bytes,
        fixed,
    };
    let Some(races) = &mut m.races else {
        return false;
    };
    let Some(memory) = &mut races.global else {
        return false;
    };
    if memory.touch(&races.order, reach, &touch).is_err() {
        let text = "races on global memory are checked only in the first 64 MB that the kernel \
                    accesses";
        let kind = (FindingKind::Limit, true);
        m.note(kind, lane, None, None, text.to_owned());
        return false;
    }
    report_global(m, (object, offset), &touch, fixed);
    true
}

fn report_global(m: &mut Machine, (object, offset): (&Object, u64), touch: &Touch, fixed: bool) {
    let memory = m.races.as_mut().and_then(|r| r.global.as_mut());
    let hits = match memory {
        Some(memory) if !memory.hits.is_empty() => std::mem::take(&mut memory.hits),
        _ => return,
    };
    for hit in hits {
        let Some(races) = &m.races else {
            return;
        };
        let number = races.order.block_at(hit.earlier.seq);
        let block = races.blocks.get(number as usize).copied();
        let block = block.filter(|_| hit.earlier.seq < races.order.start_of_block());
        let at = offset + u64::from(hit.place);
        let earlier = Side {
            pc: hit.earlier.pc,
            thread: 32 * u32::from(hit.earlier.warp) + hit.earlier.lanes.trailing_zeros(),
            wrote: hit.wrote,
            block,
        };
        let own = Side {
            pc: m.pc,
            thread: m.thread(hit.lane),
            wrote: touch.write,
            block: None,
        };
        let constant = |pc: u32| {
            let access = m.image.access.get(pc as usize).copied().flatten();
            access.is_some_and(|a| m.image.memory[a as usize].order.fixed)
        };
        let why = match block {
            _ if fixed && hit.wrote || !hit.wrote && constant(hit.earlier.pc) => Why::Constant,
            Some(_) => Why::Blocks,
            None => Why::Order,
        };
        let place = (at, Some(object.name.clone()), at);
        let harmless = hit.harmless && why != Why::Constant;
        m.pair((why, harmless), [own, earlier], place);
    }
}

/// What a store writes to a byte of a lane's access; unknown of copies and
/// matrices.
fn stored(m: &Machine, info: &MemoryOp, lane: u32, at: u32) -> Option<u8> {
    let Transfer::Store { element, from } = &info.transfer else {
        return None;
    };
    let slot = from[(at / element.bytes()) as usize];
    Some((m.registers.read_lane(slot, lane) >> (8 * (at % element.bytes()))) as u8)
}

/// Lanes that write different values to one place.
fn collide(m: &mut Machine, info: &MemoryOp, shared: bool, exec: u32, addresses: &[u64; 32]) {
    let mut last = None;
    let rises = lanes(exec).all(|lane| {
        let before = last.replace(addresses[lane as usize]);
        before.is_none_or(|before| before < addresses[lane as usize])
    });
    if !rises {
        collide_sorted(m, info, shared, exec, addresses);
    }
}

#[inline(never)]
fn collide_sorted(
    m: &mut Machine,
    info: &MemoryOp,
    shared: bool,
    exec: u32,
    addresses: &[u64; 32],
) {
    let mut order: Vec<u32> = lanes(exec).collect();
    order.sort_unstable_by_key(|&lane| (addresses[lane as usize], lane));
    for pair in order.windows(2) {
        let [one, other] = [pair[0], pair[1]];
        let address = addresses[one as usize];
        let differs = |at: &u32| stored(m, info, one, *at) != stored(m, info, other, *at);
        if address != addresses[other as usize] {
            continue;
        }
        let Some(at) = (0..info.bytes).find(differs) else {
            continue;
        };
        let place = if shared {
            let byte = address + u64::from(at);
            let (variable, offset) = m.shared_place(byte);
            (byte, variable, offset)
        } else {
            match m.global_place(address, info.bytes) {
                Some((object, offset)) => {
                    let byte = offset + u64::from(at);
                    (byte, Some(object.name.clone()), byte)
                }
                None => continue,
            }
        };
        let side = |lane| Side {
            pc: m.pc,
            thread: m.thread(lane),
            wrote: true,
            block: None,
        };
        let sides = [side(one), side(other)];
        m.pair((Why::Lanes, false), sides, place);
    }
}
