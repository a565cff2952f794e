//! `cp.async.bulk`: copies of many bytes by one thread. They are done at
//! once; what may see them is up to the `mbarrier` that their bytes arrive at.

use super::mbarrier;
use crate::exec::access;
use crate::exec::api::FindingKind;
use crate::exec::api::reported::{CopyEvent, PeerCopy, Piece};
use crate::exec::check::asynchronous::{self as raced, Way};
use crate::exec::check::early;
use crate::exec::image::{BulkEnd, BulkOp, WINDOW};
use crate::exec::machine::Machine;
use crate::exec::machine::peers::Reached;
use crate::exec::machine::written;
use crate::exec::memory::Object;
use crate::exec::registers::{Slot, active};
use crate::scalar::sources;

/// Addresses and sizes are multiples of it.
const UNIT: u64 = 16;

/// One side of a copy, which has been found valid.
struct Side {
    data: *mut u8,
    /// Offset in shared memory, where it is there.
    shared: Option<u64>,
    /// The rank of another block of the cluster and the offset there, where it is there.
    peer: Option<(u32, u64)>,
    /// Address in global memory, where it is there.
    global: Option<u64>,
}

/// Copies for each lane.
pub fn copy(m: &mut Machine, info: &BulkOp, exec: u32) {
    m.effects += 1;
    let sizes = m.registers.read(info.size);
    for lane in active(stored_once(m, info, exec)) {
        let bytes = u64::from(sizes[lane as usize] as u32);
        if bytes % UNIT != 0 {
            let text =
                format!("a bulk copy of {bytes} bytes: the size must be a multiple of {UNIT}");
            m.found(FindingKind::Misaligned, lane, None, None, text);
            continue;
        }
        for block in blocks(m, info.blocks, lane) {
            one(m, info, lane, (bytes, block));
        }
    }
}

/// The first of the lanes that have equal operands. `ptxas` makes one instruction for the
/// warp of a bulk store that all lanes execute so, as code without `elect.sync` does.
pub fn once(exec: u32, operands: impl Fn(u32) -> Vec<u64>) -> u32 {
    if exec.is_power_of_two() {
        return exec;
    }
    let mut seen = Vec::new();
    active(exec).fold(0, |all, lane| {
        let own = operands(lane);
        if seen.contains(&own) {
            return all;
        }
        seen.push(own);
        all | 1 << lane
    })
}

/// The lanes that copy: of stores with equal operands, the first lane's.
fn stored_once(m: &Machine, info: &BulkOp, exec: u32) -> u32 {
    let stores = info.from.shared && !info.to.shared && info.combine.is_none();
    if !stores {
        return exec;
    }
    once(exec, |lane| {
        let address = |end: &BulkEnd| m.address_from(end.from, end.offset, lane);
        let bytes = m.registers.read_lane(info.size, lane);
        vec![address(&info.to), address(&info.from), bytes]
    })
}

/// A copy to the shared memory of `block`, or to where the lane's address says;
/// none where something is wrong.
fn one(
    m: &mut Machine,
    info: &BulkOp,
    lane: u32,
    (bytes, block): (u64, Option<u32>),
) -> Option<()> {
    let to = side(m, &info.to, lane, (bytes, block), true);
    let from = side(m, &info.from, lane, (bytes, None), false);
    let (to, from) = (to?, from?);
    let updates = info.combine.as_ref().map(|(_, size)| *size);
    if let Some(change) = &info.arrives {
        let barrier = mbarrier::offset(m, &change.place, lane);
        if let Some(at) = from.shared {
            raced::begin_send(m, lane, (at, bytes), (to.peer.map(|p| p.0), barrier));
        }
        if let Some((rank, at)) = to.peer {
            raced::sent(m, lane, (rank, at, bytes), (barrier, updates));
        }
    }
    let phase = match &info.arrives {
        Some(change) => Some(mbarrier::bytes_come(
            m,
            change,
            lane,
            (bytes as u32, block),
            to.peer.map(|(_, at)| PeerCopy {
                shared: (at, bytes),
                from_global: from.global.is_some(),
            }),
        )?),
        None => None,
    };
    let loads = phase.filter(|_| to.peer.is_none());
    if let Some((barrier, _)) = loads {
        raced::begin_load(m, barrier);
    }
    let reads = if phase.is_some() {
        Way::Sends
    } else {
        Way::Reads
    };
    raced::bulk(m, lane, (from.shared, from.global), bytes, reads);
    if let Some(phase) = loads {
        raced::end_load(m, lane, phase);
    }
    let way = Way::to(phase, updates);
    raced::bulk(m, lane, (to.shared, to.global), bytes, way);
    transfer(info, to.data, from.data, bytes);
    if block.is_none_or(|rank| rank == m.cluster.rank) {
        report(m, info, lane, [&to, &from], bytes);
    }
    Some(())
}

/// The blocks that a copy goes to, by their ranks; one without a rank is where
/// the lane's address says. What is wrong becomes a finding.
pub fn blocks(m: &mut Machine, mask: Option<Slot>, lane: u32) -> Vec<Option<u32>> {
    let Some(mask) = mask else {
        return vec![None];
    };
    let mask = m.registers.read_lane(mask, lane) as u16;
    let there = m.cluster.peers.len().max(1) as u32;
    if mask == 0 || u32::from(mask) >> there != 0 {
        let text = match there {
            1 => format!("a copy to the blocks {mask:#x} of the cluster, which has block 0 only"),
            n => format!("a copy to the blocks {mask:#x} of the cluster, which has {n} blocks"),
        };
        m.found(FindingKind::InvalidMask, lane, None, None, text);
        return Vec::new();
    }
    (0..there)
        .filter(|rank| mask >> rank & 1 != 0)
        .map(Some)
        .collect()
}

/// Whether the blocks that a copy goes to are not only the own one.
pub fn goes_to_others(m: &Machine, mask: Option<Slot>, lane: u32) -> bool {
    let named = mask.map_or(0, |mask| m.registers.read_lane(mask, lane) as u16);
    u32::from(named) & !(1 << m.cluster.rank) != 0
}

/// The block, where it is another than the own, and the offset of the bytes of a
/// copy in its shared memory: those of `block`, or of the lane's address.
pub fn shared_in(
    m: &mut Machine,
    (address, block): (u64, Option<u32>),
    lane: u32,
    size: (u64, u64),
    writes: bool,
) -> Option<(Option<u32>, u64)> {
    let (named, at) = match m.reached(address & !WINDOW) {
        Reached::Own(at) => (None, at),
        Reached::Peer(rank, at) => (Some(rank), at),
        Reached::Nobody(rank) => {
            let there = m.cluster.peers.len();
            let text = format!("a copy in block {rank} of the cluster, which has {there} blocks");
            m.found(FindingKind::OutOfBounds, lane, None, None, text);
            return None;
        }
    };
    let other = block.or(named).filter(|&rank| rank != m.cluster.rank);
    let at = shared_place(m, at, lane, size, writes)?;
    let text = match other {
        Some(rank) if !writes => {
            format!("a bulk copy reads shared memory of block {rank} of the cluster, not its own")
        }
        Some(rank) if m.cluster.peers[rank as usize].ended => {
            format!("a copy to block {rank} of the cluster, whose threads have all exited")
        }
        _ => return Some((other, at)),
    };
    let name = m.shared_variable(at);
    m.found(FindingKind::OutOfBounds, lane, Some(at), name, text);
    None
}

/// Tells the observer of a copy that is done.
fn report(m: &mut Machine, info: &BulkOp, lane: u32, sides: [&Side; 2], bytes: u64) {
    if m.observer.is_none() {
        return;
    }
    let ranges = |at: fn(&Side) -> Option<u64>| -> Vec<Piece> {
        let starts = sides.iter().filter_map(|side| at(side));
        starts.map(|start| (start, bytes)).collect()
    };
    let (shared, global) = (ranges(|s| s.shared), ranges(|s| s.global));
    let arrives = info.arrives.as_ref();
    let arrives = arrives.filter(|_| sides[0].shared.is_some());
    let arrives = arrives.map(|change| (mbarrier::offset(m, &change.place, lane), bytes as u32));
    let stores = sides[0].global.is_some();
    let copy = CopyEvent {
        warp: m.warp,
        pc: m.pc,
        lane,
        shared: &shared,
        global: &global,
        peer: sides[0].peer.map(|(_, at)| (at, bytes)),
        stores,
        reads_shared: sides[1].shared.is_some(),
        tensor: None,
        arrives,
        others: sides[0].peer.is_some() || goes_to_others(m, info.blocks, lane),
    };
    tell(m, &copy);
}

/// Tells the observer, if there is one, of the copy of a lane.
pub fn tell(m: &mut Machine, copy: &CopyEvent) {
    if let Some(observer) = &mut m.observer {
        observer.bulk_copy(copy);
    }
}

/// The pointer to all bytes of a side; what is wrong becomes a finding.
fn side(
    m: &mut Machine,
    end: &BulkEnd,
    lane: u32,
    (bytes, block): (u64, Option<u32>),
    writes: bool,
) -> Option<Side> {
    let address = m.address_from(end.from, end.offset, lane);
    if end.shared {
        let (other, at) = shared_in(m, (address, block), lane, (bytes, UNIT), writes)?;
        let data = |m: &mut Machine| {
            track(m, lane, (at, bytes), writes);
            m.shared.as_mut_ptr().cast::<u8>().wrapping_add(at as usize)
        };
        return Some(Side {
            data: match other {
                Some(rank) => m.visit(rank, data),
                None => data(m),
            },
            shared: other.is_none().then_some(at),
            peer: other.map(|rank| (rank, at)),
            global: None,
        });
    }
    let (object, offset) = global_place(m, address, lane, bytes, writes)?;
    if address.is_multiple_of(UNIT) {
        return Some(Side {
            data: object.data().wrapping_add(offset as usize),
            shared: None,
            peer: None,
            global: Some(address),
        });
    }
    let text = format!(
        "a bulk copy {} at byte {offset} of {}, which is not a multiple of {UNIT}",
        verb(writes),
        object.name
    );
    let name = Some(object.name.clone());
    m.found(FindingKind::Misaligned, lane, Some(offset), name, text);
    None
}

fn verb(writes: bool) -> &'static str {
    if writes { "written" } else { "read" }
}

/// Offset in shared memory of the bytes of a copy.
fn shared_place(
    m: &mut Machine,
    address: u64,
    lane: u32,
    (bytes, align): (u64, u64),
    writes: bool,
) -> Option<u64> {
    let at = address & !WINDOW;
    let what = verb(writes);
    let (kind, text) = if !at.is_multiple_of(align) {
        let text = format!(
            "a bulk copy {what} at byte {at} of shared memory, which is not a multiple of {align}"
        );
        (FindingKind::Misaligned, text)
    } else if at.checked_add(bytes).is_none_or(|end| end > m.shared_len) {
        let text = format!(
            "a bulk copy of {bytes} bytes {what} at byte {at} of shared memory, of which the block \
             has {}",
            m.shared_len
        );
        (FindingKind::OutOfBounds, text)
    } else {
        return Some(at);
    };
    let name = m.shared_variable(at);
    m.found(kind, lane, Some(at), name, text);
    None
}

/// Buffer and offset in it of the bytes of a copy.
pub fn global_place<'a>(
    m: &mut Machine<'a>,
    address: u64,
    lane: u32,
    bytes: u64,
    writes: bool,
) -> Option<(&'a Object, u64)> {
    let Some((object, offset)) = m.global_place(address, bytes as u32) else {
        let what = verb(writes);
        let text = format!(
            "a bulk copy of {bytes} bytes {what} at address {address:#x}, which is not inside one \
             buffer"
        );
        m.found(FindingKind::OutOfBounds, lane, None, None, text);
        return None;
    };
    if let Some(heap) = m.common.heap.filter(|h| writes && h.has(address)) {
        heap.write(address, bytes);
    }
    if writes && object.constant {
        let text = format!("a bulk copy to {}, which is constant", object.name);
        let name = Some(object.name.clone());
        m.found(FindingKind::OutOfBounds, lane, Some(offset), name, text);
        return None;
    }
    Some((object, offset))
}

/// Notes which bytes of shared memory are written, and checks that those that are read
/// were.
pub fn track(m: &mut Machine, lane: u32, (at, bytes): (u64, u64), writes: bool) {
    let range = at as usize..(at + bytes) as usize;
    let bytes = &mut m.written[range.clone()];
    if let Some(missing) = written::access(bytes, (!writes, writes)) {
        let byte = (range.start + missing) as u64;
        let text = format!(
            "a bulk copy reads byte {byte} of shared memory, which no thread of the block has \
             written"
        );
        early::note(m, FindingKind::Uninitialised, lane, (at, byte), text);
    }
}

fn transfer(info: &BulkOp, to: *mut u8, from: *mut u8, bytes: u64) {
    let step = info.combine.as_ref().map_or(1, |(_, size)| *size as usize);
    // The two may overlap: what is read is as it was before.
    let source: Vec<u8> = (0..bytes as usize)
        // SAFETY: `side` gives pointers to all bytes, which other blocks
        // access by atomic operations only.
        .map(|at| unsafe { access::get_byte(from.wrapping_add(at)) })
        .collect();
    for at in (0..bytes as usize).step_by(step) {
        let mut new = [0; 8];
        new[..step].copy_from_slice(&source[at..at + step]);
        if let Some((combine, _)) = &info.combine {
            let mut old = [0; 8];
            for (n, byte) in old[..step].iter_mut().enumerate() {
                // SAFETY: `side` gives pointers to all bytes.
                *byte = unsafe { access::get_byte(to.wrapping_add(at + n)) };
            }
            let value = combine(&sources([old, new].map(u64::from_le_bytes)))[0];
            new = value.to_le_bytes();
        }
        for (n, byte) in new[..step].iter().enumerate() {
            // SAFETY: `side` gives pointers to all bytes.
            unsafe { access::put_byte(to.wrapping_add(at + n), *byte) };
        }
    }
}
