//! Race detection: compares an access with the earlier accesses to its bytes.

use crate::ptx::exec::api::FindingKind;
use crate::ptx::exec::image::{MemoryOp, Transfer};
use crate::ptx::exec::machine::{Machine, RawFinding};
use crate::ptx::exec::race::{Other, Strength, Touch};
use crate::ptx::names::Space;

fn lanes(exec: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |lane| exec >> lane & 1 != 0)
}

/// `fence` and `membar`.
pub fn fence(m: &mut Machine, wide: bool, exec: u32) {
    let first = m.thread(0);
    // For more than the block.
    if let Some(races) = m.global_races.as_mut().filter(|_| wide) {
        races.fence();
    }
    if let Some(races) = &mut m.races {
        lanes(exec).for_each(|lane| races.order.fence(first + lane));
    }
}

/// The lanes of a warp that are about to access memory.
pub fn access(m: &mut Machine, info: &MemoryOp, space: Space, exec: u32, addresses: &[u64; 32]) {
    let global = space == Space::Global;
    let shared = space == Space::Shared;
    let orders = info.order.strength != Strength::Weak && (shared || global);
    let touched = shared || global && m.global_races.is_some();
    if !touched && !orders {
        return;
    }
    // What leaves its variable is not done.
    let (low, high) = info.region.within(Space::Shared, m.shared_len);
    let inside = |address: u64| {
        let end = address.checked_add(info.bytes.into());
        !shared || address >= low && end.is_some_and(|end| end <= high)
    };
    let exec = lanes(exec)
        .filter(|&lane| inside(addresses[lane as usize]))
        .fold(0, |mask, lane| mask | 1 << lane);
    for lane in lanes(exec) {
        let address = addresses[lane as usize];
        if orders && !info.transfer.only_writes() {
            see(m, info, lane, address);
        }
        if shared {
            touch(m, info, lane, address);
        } else if touched {
            touch_global(m, info, lane, address);
        }
        if orders && info.transfer.writes() {
            show(m, info, lane, address);
        }
    }
    if touched && info.transfer.only_writes() {
        collide(m, info, shared, exec, addresses);
    }
}

/// A lane reads a word that may order.
fn see(m: &mut Machine, info: &MemoryOp, lane: u32, address: u64) {
    let thread = m.thread(lane);
    if let Some(races) = &mut m.races {
        races.order.read(thread, address, info.order.acquire);
    }
    if let Some(races) = &mut m.global_races {
        races.read(address);
    }
}

/// A lane writes a word that may order.
fn show(m: &mut Machine, info: &MemoryOp, lane: u32, address: u64) {
    let thread = m.thread(lane);
    if let Some(races) = &mut m.races {
        races.order.write(thread, address, info.order.release);
    }
    if let Some(races) = &mut m.global_races {
        races.write(address, info.order.release);
    }
}

/// A lane accesses global memory.
fn touch_global(m: &mut Machine, info: &MemoryOp, lane: u32, address: u64) {
    let Some((object, offset)) = m.global_place(address, info.bytes) else {
        return;
    };
    let touch = Touch {
        thread: m.thread(lane),
        pc: m.pc,
        step: m.warp_instructions as u32,
        write: info.transfer.writes(),
        strength: info.order.strength,
        same: false,
    };
    let end = address + u64::from(info.bytes);
    for word in address / 4..end.div_ceil(4) {
        let (first, last) = (
            address.max(4 * word) - 4 * word,
            end.min(4 * word + 4) - 4 * word,
        );
        let bytes = ((1u32 << last) - (1u32 << first)) as u8;
        let (Some(races), Some(global)) = (&m.races, &mut m.global_races) else {
            return;
        };
        let Ok(found) = global.touch(&races.order, word, bytes, touch) else {
            let text = "races on global memory are checked only in the first 64 MB that the \
                        kernel accesses";
            let kind = (FindingKind::Limit, true);
            return m.note(kind, lane, None, None, text.to_owned());
        };
        let Some(earlier) = found else {
            continue;
        };
        let same = (0..info.bytes).all(|at| {
            let there = object.byte(offset + u64::from(at));
            info.transfer.writes() && stored(m, info, lane, at) == Some(there)
        });
        let side = Other {
            thread: earlier.thread,
            pc: earlier.pc,
            wrote: earlier.wrote,
            harmless: same,
        };
        let name = object.name.clone();
        let between = match side_block(m, earlier.block) {
            None => "without a barrier between",
            Some(_) => "and nothing orders the two blocks",
        };
        let harmless = if same {
            ", the value that is there"
        } else {
            ""
        };
        let block = side_block(m, earlier.block);
        let text = |verb: &str| format!("{verb} byte {offset} of {name} {between}{harmless}");
        return note_at(
            m,
            lane,
            (offset, Some(name.clone())),
            info.transfer.writes(),
            (side, block),
            text,
        );
    }
}

/// The block of the other side where it is not this one.
fn side_block(m: &Machine, block: u64) -> Option<u64> {
    let [x, y, _] = m.common.grid.map(u64::from);
    let [bx, by, bz] = m.block_index.map(u64::from);
    (block != bx + x * (by + y * bz)).then_some(block)
}

/// A lane begins a bulk copy that reads or writes bytes of shared memory;
/// those who wait for `phase` see what it writes.
pub fn bulk(
    m: &mut Machine,
    lane: u32,
    (address, bytes): (u64, u64),
    write: bool,
    phase: Option<u64>,
) {
    let (thread, pc) = (m.thread(lane), m.pc);
    let step = m.warp_instructions as u32;
    for byte in address..address + bytes {
        let touch = Touch {
            thread,
            pc,
            step,
            write,
            strength: Strength::Weak,
            same: false,
        };
        let Some(races) = &mut m.races else {
            return;
        };
        let read = races.reads.at(byte).filter(|_| write);
        if let Some(other) = races.touch(byte as usize, touch) {
            let text = |verb: &str| {
                format!("{verb} byte {byte} of shared memory without a barrier between")
            };
            note(m, lane, byte, write, other, text);
        } else if let Some(reader) = read {
            unawaited(m, lane, byte, reader);
        }
    }
    if let (Some(races), Some(phase)) = (&mut m.races, phase) {
        races.order.write(thread, phase, true);
        let bytes = bytes as u32;
        races.flights.begin_at(thread, address, bytes, pc, phase);
    }
}

/// The warp begins to read pieces of shared memory, and goes on.
pub fn begin_reads(m: &mut Machine, exec: u32, addresses: &[u64; 32]) {
    if let Some(races) = &mut m.races {
        for lane in lanes(exec) {
            races.reads.begin(m.warp, m.pc, addresses[lane as usize]);
        }
    }
}

/// A lane writes a byte that a product of a warpgroup still reads.
fn unawaited(m: &mut Machine, lane: u32, byte: u64, (warp, pc): (u32, u32)) {
    let side = Other {
        thread: 32 * warp,
        pc,
        wrote: false,
        harmless: false,
    };
    let text = |verb: &str| {
        format!("{verb} byte {byte} of shared memory; its warp has not waited for the wgmma")
    };
    note(m, lane, byte, true, side, text);
}

fn touch(m: &mut Machine, info: &MemoryOp, lane: u32, address: u64) {
    let thread = m.thread(lane);
    let same = |at| {
        let stored = stored(m, info, lane, at);
        stored.is_some() && stored == m.shared_byte(address.wrapping_add(at.into()))
    };
    let same = (0..info.bytes).all(same);
    for byte in (0..u64::from(info.bytes)).map(|at| address.wrapping_add(at)) {
        let touch = Touch {
            thread,
            pc: m.pc,
            step: m.warp_instructions as u32,
            write: info.transfer.writes(),
            strength: info.order.strength,
            same,
        };
        let Some(races) = &mut m.races else {
            return;
        };
        let copied = races.flights.at(byte).filter(|_| !info.transfer.is_copy());
        let read = races.reads.at(byte).filter(|_| info.transfer.writes());
        let other = races.touch(byte as usize, touch);
        if let Some((thread, pc)) = copied {
            let side = Other {
                thread,
                pc,
                wrote: true,
                harmless: false,
            };
            let text = |verb: &str| {
                format!("{verb} byte {byte} of shared memory; no thread has waited for the copy")
            };
            note(m, lane, byte, info.transfer.writes(), side, text);
        } else if let Some(other) = other {
            let harmless = if other.harmless {
                ", the value that is there"
            } else {
                ""
            };
            let text = |verb: &str| {
                format!("{verb} byte {byte} of shared memory without a barrier between{harmless}")
            };
            note(m, lane, byte, info.transfer.writes(), other, text);
        } else if let Some(reader) = read {
            unawaited(m, lane, byte, reader);
        }
    }
    if info.transfer.is_copy() {
        let (pc, bytes) = (m.pc, info.bytes);
        if let Some(races) = &mut m.races {
            races.flights.begin(thread, address, bytes, pc);
        }
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
    let mut order: Vec<u32> = lanes(exec).collect();
    order.sort_by_key(|&lane| (addresses[lane as usize], lane));
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
        let (byte, variable) = if shared {
            (address, m.shared_variable(address))
        } else {
            match m.global_place(address, info.bytes) {
                Some((object, offset)) => (offset, Some(object.name.clone())),
                None => continue,
            }
        };
        let byte = byte + u64::from(at);
        let side = Other {
            thread: m.thread(one),
            pc: m.pc,
            wrote: true,
            harmless: false,
        };
        let place = match (&variable, shared) {
            (Some(name), false) => name.clone(),
            _ => "shared memory".to_owned(),
        };
        let text = |verb: &str| {
            format!(
                "{verb} byte {byte} of {place}; lanes of this instruction write different values \
                 there"
            )
        };
        return note_at(m, other, (byte, variable), true, (side, None), text);
    }
}

/// Notes both sides of a race on shared memory.
fn note(
    m: &mut Machine,
    lane: u32,
    address: u64,
    write: bool,
    other: Other,
    text: impl Fn(&str) -> String,
) {
    let name = m.shared_variable(address);
    note_at(m, lane, (address, name), write, (other, None), text);
}

/// Notes both sides of a race, the other one perhaps of another block.
fn note_at(
    m: &mut Machine,
    lane: u32,
    (address, variable): (u64, Option<String>),
    write: bool,
    (other, block): (Other, Option<u64>),
    text: impl Fn(&str) -> String,
) {
    let key = u8::from(other.wrote) + 2 * u8::from(other.harmless);
    if !m.known.insert((FindingKind::Race, m.pc, key)) {
        return;
    }
    let finding = |pc, thread, write: bool, second: bool| RawFinding {
        kind: FindingKind::Race,
        warning: other.harmless,
        other: second,
        pc,
        block: block.filter(|_| second),
        thread,
        address: Some(address),
        variable: variable.clone(),
        message: text(if write { "writes" } else { "reads" }),
    };
    let own = finding(m.pc, m.thread(lane), write, false);
    let second = finding(other.pc, other.thread, other.wrote, true);
    m.findings.extend([own, second]);
}
