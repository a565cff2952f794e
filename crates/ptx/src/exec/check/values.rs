//! What lanes of one instruction store: the value that is there, one value, or
//! different values to one place.

use crate::exec::image::{MemoryOp, Transfer};
use crate::exec::machine::Machine;
use crate::exec::machine::pairs::{Side, Why};
use crate::exec::race::lanes;

/// Lanes that store what is there already: what nobody has written may be anything.
pub fn silent_lanes(m: &Machine, info: &MemoryOp, exec: u32, addresses: &[u64; 32]) -> u32 {
    let Transfer::Store { element, from } = &info.transfer else {
        return 0;
    };
    let size = element.bytes();
    let mut mask = exec & !m.unknown_lanes();
    for (at, slot) in (0..).zip(from) {
        let values = m.registers.read(*slot);
        for lane in lanes(mask) {
            let address = addresses[lane as usize] + u64::from(at * size);
            if !address.is_multiple_of(u64::from(size)) {
                return 0;
            }
            let there = m.shared_element(address, size.into());
            let new = values[lane as usize] & (u64::MAX >> (64 - 8 * size));
            let same = there == new && is_written(m, address, size);
            mask &= !(u32::from(!same) << lane);
        }
        if mask == 0 {
            break;
        }
    }
    mask
}

/// Whether somebody has written all of some bytes of shared memory.
fn is_written(m: &Machine, address: u64, bytes: u32) -> bool {
    let bytes = address as usize..address as usize + bytes as usize;
    m.complete || m.written.get(bytes).is_some_and(|w| !w.contains(&0))
}

/// What a store writes to a byte of a lane's access; unknown of copies and
/// matrices.
pub fn stored(m: &Machine, info: &MemoryOp, lane: u32, at: u32) -> Option<u8> {
    let Transfer::Store { element, from } = &info.transfer else {
        return None;
    };
    // A division would be most of what this costs.
    let bytes = element.bytes();
    let slot = from[(at >> bytes.trailing_zeros()) as usize];
    Some((m.registers.read_lane(slot, lane) >> (8 * (at & (bytes - 1)))) as u8)
}

/// Whether the lanes that store to one place store one value there.
pub fn is_alike(m: &Machine, info: &MemoryOp, exec: u32, addresses: &[u64; 32]) -> bool {
    if !matches!(info.transfer, Transfer::Store { .. }) {
        return false;
    }
    let Some(order) = in_order(exec, addresses) else {
        return true;
    };
    order.windows(2).all(|pair| {
        let same = |at: u32| stored(m, info, pair[0], at) == stored(m, info, pair[1], at);
        let known = m.unknown_lanes() & (1 << pair[0] | 1 << pair[1]) == 0;
        let apart = addresses[pair[0] as usize] != addresses[pair[1] as usize];
        apart || known && (0..info.bytes).all(same)
    })
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

/// Lanes that write to one place: different values, or one.
pub fn collide(m: &mut Machine, info: &MemoryOp, shared: bool, exec: u32, addresses: &[u64; 32]) {
    if let Some(order) = in_order(exec, addresses) {
        collide_sorted(m, info, shared, &order, addresses);
    }
}

#[inline(never)]
fn collide_sorted(
    m: &mut Machine,
    info: &MemoryOp,
    shared: bool,
    order: &[u32],
    addresses: &[u64; 32],
) {
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
        m.pair((Why::Lanes, different.is_none()), sides, place);
    }
}
