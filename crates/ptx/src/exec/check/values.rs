//! Values that lanes of one instruction store: the value that is there, one value, or
//! different values to one place.

use crate::exec::image::{MemoryOp, Transfer};
use crate::exec::machine::Machine;
use crate::exec::machine::pairs::{Place, Race, Side, Why};
use crate::exec::machine::written::WRITTEN;
use crate::exec::memory::Object;
use crate::exec::race::lanes;
use crate::exec::race::stored::Stored;
use crate::exec::registers::Slot;

/// The values that lanes store which have one address. `there` gives the element at a byte
/// of the access, of a size, and the bytes of it that somebody has written, as bits: what
/// nobody has written may be anything.
#[inline(always)]
pub fn stored_by(
    m: &Machine,
    info: &MemoryOp,
    mask: u32,
    there: impl Fn(u32, u32) -> (u64, u32),
) -> Stored {
    let (element, from) = match &info.transfer {
        Transfer::Store { element, from } => (element, from),
        Transfer::StoreMatrix { .. } => return row_stored_by(m, info, mask, there),
        _ => return Stored::default(),
    };
    if mask & m.unknown_lanes() != 0 {
        return Stored::default();
    }
    let size = element.bytes();
    let low = u64::MAX >> (64 - 8 * size);
    let (lane, others) = (mask.trailing_zeros(), mask & mask.wrapping_sub(1));
    let mut all = Stored::of(info.bytes);
    for (at, slot) in (0..).step_by(size as usize).zip(from) {
        let value = m.registers.read_lane(*slot, lane) & low;
        if lanes(others).any(|l| m.registers.read_lane(*slot, l) & low != value) {
            return Stored::default();
        }
        let (old, written) = there(at, size);
        let change = value ^ old;
        let same = (0..size).fold(0, |same, n| {
            same | u32::from(change >> (8 * n) & 0xFF == 0) << n
        });
        all.put(at, size, value, same & written);
    }
    all
}

/// Bytes of a row of `stmatrix`.
const ROW: u32 = 16;

/// The row that `stmatrix` stores at the address of the lanes of `mask`: they give the
/// addresses, all lanes of the warp the elements.
#[inline(never)]
fn row_stored_by(
    m: &Machine,
    info: &MemoryOp,
    mask: u32,
    there: impl Fn(u32, u32) -> (u64, u32),
) -> Stored {
    if m.unknown_lanes() != 0 {
        return Stored::default();
    }
    let mut all = Stored::of_row(ROW);
    for at in 0..ROW {
        let mut values = lanes(mask).map(|lane| stored(m, info, lane, at));
        let first = values.next().flatten();
        let Some(value) = first.filter(|_| values.all(|v| v == first)) else {
            return Stored::default();
        };
        let (old, written) = there(at, 1);
        let same = u32::from(u64::from(value) == old & 0xFF);
        all.put(at, 1, value.into(), same & written);
    }
    all
}

/// Byte `at` of row `row` of a matrix that `stmatrix` stores from `slot`: lane `l` has
/// elements `2 (l % 4)` and the next of row `l / 4`, or with `.trans` of that column.
fn byte_of_row(m: &Machine, slot: Slot, transposed: bool, row: u32, at: u32) -> u8 {
    let (row, column) = if transposed {
        (at / 2, row)
    } else {
        (row, at / 2)
    };
    let value = m.registers.read_lane(slot, 4 * row + column / 2);
    (value >> (16 * (column % 2) + 8 * (at % 2))) as u8
}

/// The values that lanes store to shared memory.
#[inline(always)]
pub fn stored_shared(m: &Machine, info: &MemoryOp, mask: u32, address: u64) -> Stored {
    stored_by(m, info, mask, |at, size| {
        let address = address + u64::from(at);
        let bytes = address as usize..(address + u64::from(size)) as usize;
        if !address.is_multiple_of(size.into()) {
            return (0, 0);
        }
        let written = if m.complete {
            u32::MAX
        } else {
            let bytes = m.written.get(bytes).unwrap_or_default();
            let bits = bytes.iter().enumerate();
            bits.fold(0, |all, (n, w)| all | u32::from(*w == WRITTEN) << n)
        };
        (m.shared_element(address, size.into()), written)
    })
}

/// The values that lanes store at an offset in a buffer, whose bytes are at an address.
#[inline(always)]
pub fn stored_global(
    m: &Machine,
    info: &MemoryOp,
    mask: u32,
    (object, offset, address): (&Object, u64, u64),
) -> Stored {
    let heap = m.common.heap.filter(|h| h.has(address));
    stored_by(m, info, mask, |at, size| {
        let (offset, address) = (offset + u64::from(at), address + u64::from(at));
        if !offset.is_multiple_of(size.into()) {
            return (0, 0);
        }
        let written = heap.map_or(u32::MAX, |heap| {
            let has = |n: &u32| heap.missing(address + u64::from(*n), 1).is_none();
            (0..size).filter(has).fold(0, |all, n| all | 1 << n)
        });
        (object.element(offset, size.into()), written)
    })
}

/// The value that a store writes to a byte of a lane's access; unknown for copies and for
/// matrices of `wmma`.
pub fn stored(m: &Machine, info: &MemoryOp, lane: u32, at: u32) -> Option<u8> {
    let (element, from) = match &info.transfer {
        Transfer::Store { element, from } => (element, from),
        Transfer::StoreMatrix { from, transposed } => {
            let slot = *from.get(lane as usize / 8)?;
            return Some(byte_of_row(m, slot, *transposed, lane % 8, at));
        }
        _ => return None,
    };
    // A division would be most of what this costs.
    let bytes = element.bytes();
    let slot = from[(at >> bytes.trailing_zeros()) as usize];
    Some((m.registers.read_lane(slot, lane) >> (8 * (at & (bytes - 1)))) as u8)
}

/// Lanes by their addresses; none where these rise.
fn in_order(exec: u32, addresses: &[u64; 32]) -> Option<Vec<u32>> {
    let mut last = None;
    let rises = lanes(exec).all(|lane| {
        let before = last.replace(addresses[lane as usize]);
        before.is_none_or(|before| before < addresses[lane as usize])
    });
    (!rises).then(|| {
        let mut order: Vec<u32> = lanes(exec).collect();
        order.sort_unstable_by_key(|&lane| (addresses[lane as usize], lane));
        order
    })
}

/// The form in which places are given that lanes write to.
#[derive(Clone, Copy)]
pub enum By {
    /// Offsets in the block's shared memory.
    Offset,
    /// Addresses of global memory.
    Address,
    /// [Cells](Machine::cell) of the cluster's shared memory.
    Cell,
}

/// Lanes that write to one place: different values, or one.
pub fn collide(m: &mut Machine, info: &MemoryOp, by: By, exec: u32, places: &[u64; 32]) {
    if let Some(order) = in_order(exec, places) {
        collide_sorted(m, info, by, &order, places);
    }
}

#[inline(never)]
fn collide_sorted(m: &mut Machine, info: &MemoryOp, by: By, order: &[u32], addresses: &[u64; 32]) {
    for pair in order.windows(2) {
        let [one, other] = [pair[0], pair[1]];
        let address = addresses[one as usize];
        let unknown = m.unknown_lanes() & (1 << one | 1 << other) != 0;
        let differs =
            |at: &u32| unknown || stored(m, info, one, *at) != stored(m, info, other, *at);
        if address != addresses[other as usize] {
            continue;
        }
        let different = (0..info.bytes).find(differs);
        let at = different.unwrap_or(0);
        let place = match by {
            By::Offset => Place::shared(m, address + u64::from(at)),
            By::Cell => Place::cell(m, address + u64::from(at)),
            By::Address => match m.global_place(address, info.bytes) {
                Some((object, offset)) => Place::global(object, offset + u64::from(at)),
                None => continue,
            },
        };
        let why = match by {
            By::Cell => Why::ClusterLanes,
            By::Offset | By::Address => Why::Lanes,
        };
        m.pair(Race {
            why,
            harmless: different.is_none(),
            sides: [one, other].map(|lane| Side::now(m, lane, true)),
            place,
        });
    }
}
