//! Races between the blocks of a cluster, on shared memory of any of them.
//!
//! Every access is noted by the rank of the block whose memory it is: races of
//! a block's own threads on its own memory are found without, all others here.

use super::departures;
use super::ordered;
use super::overwritten;
use super::report;
use super::values;
use crate::exec::image::MemoryOp;
use crate::exec::machine::Machine;
use crate::exec::machine::peers::Reached;
use crate::exec::machine::written::WRITTEN;
use crate::exec::ordering::Strength;
use crate::exec::race::global::Reach;
use crate::exec::race::lanes;
use crate::exec::race::shadow::{OBJECT_BYTES, ObjectUse, Touch};
use crate::exec::race::stored::Stored;

/// Lanes that access the memory of other blocks: what they do there, and what
/// that orders. The addresses are those of `.shared::cluster`.
#[inline(never)]
pub fn remote(m: &mut Machine, info: &MemoryOp, exec: u32, addresses: &[u64; 32]) {
    let bytes = u64::from(info.bytes);
    let mut cells = [0; 32];
    let mut places = [(0, 0); 32];
    let mut mask = 0;
    for lane in lanes(exec) {
        if let Reached::Peer(rank, at) = m.reached(addresses[lane as usize])
            && at.is_multiple_of(bytes)
            && at + bytes <= m.shared_len
        {
            places[lane as usize] = (rank, at);
            cells[lane as usize] = m.cell(rank, at);
            mask |= 1 << lane;
        }
    }
    if mask == 0 {
        return;
    }
    let writes = |lane: &u32| {
        let (rank, at) = places[*lane as usize];
        overwritten::by_lane(m, *lane, Some(rank), (at, bytes))
    };
    if info.transfer.writes() {
        let _ = lanes(mask).find(writes);
    }
    let keys = cells.map(|cell| 1 << 63 | cell);
    ordered::ordered(m, info, mask, (true, &keys), |m| {
        touch(m, info, mask, &cells, (&places, false));
        departures::note(m, mask, &places);
    });
    // As among the lanes that store in their own block.
    if info.transfer.only_writes() && info.order.strength != Strength::Strong {
        values::collide(m, info, values::By::Cell, mask, &cells);
    }
}

/// Lanes that access memory of their own block.
#[inline(never)]
pub fn own(m: &mut Machine, info: &MemoryOp, exec: u32, offsets: &[u64; 32]) {
    let rank = m.cluster.rank;
    let cells = offsets.map(|at| m.cell(rank, at));
    touch(m, info, exec, &cells, (&offsets.map(|at| (rank, at)), true));
}

/// The values that lanes store at an offset in the block of a rank.
fn stored(m: &Machine, info: &MemoryOp, mask: u32, (rank, at): (u32, u64), own: bool) -> Stored {
    if own {
        return values::stored_shared(m, info, mask, at);
    }
    let window = &m.cluster.peers[rank as usize];
    values::stored_by(m, info, mask, |n, size| {
        let first = at + u64::from(n);
        (0..u64::from(size)).fold((0, 0), |(value, written), n| {
            let byte = first + n;
            let there = window.shared[(byte / 8) as usize] >> (8 * (byte % 8)) & 0xFF;
            let known = window.complete || window.written[byte as usize] == WRITTEN;
            (value | there << (8 * n), written | u32::from(known) << n)
        })
    })
}

fn touch(
    m: &mut Machine,
    info: &MemoryOp,
    exec: u32,
    cells: &[u64; 32],
    (places, own): (&[(u32, u64); 32], bool),
) {
    let Some(races) = &mut m.races else {
        return;
    };
    let moment = races.order.tick();
    let mut one = ordered::touch(m, info, moment);
    one.passing = false;
    let joint = info.transfer.is_joint().then_some(m.active);
    let mut left = exec;
    while left != 0 {
        let cell = cells[left.trailing_zeros() as usize];
        let same = lanes(left).filter(|&l| cells[l as usize] == cell);
        one.lanes = same.fold(0, |all, l| all | 1 << l);
        left &= !one.lanes;
        if one.write {
            let place = places[one.lanes.trailing_zeros() as usize];
            one.stored = stored(m, info, one.lanes, place, own);
        }
        one.lanes = joint.unwrap_or(one.lanes);
        note(m, (cell, info.bytes), &one, (own, None));
    }
}

/// Lanes use the `mbarrier` object at an offset in the block of a rank.
pub fn object(m: &mut Machine, mask: u32, (rank, at): (u32, u64), kind: ObjectUse) {
    if !m.has_peers() {
        return;
    }
    let (warp, pc) = (m.warp, m.pc);
    let Some(races) = &mut m.races else {
        return;
    };
    let touch = Touch::of_object(warp, mask, races.order.tick(), pc, kind);
    let own = rank == m.cluster.rank;
    note(
        m,
        (m.cell(rank, at), OBJECT_BYTES as u32),
        &touch,
        (own, None),
    );
    if !own {
        departures::note(m, mask, &[(rank, at); 32]);
    }
}

/// Bytes come to an offset in the block of a rank, asynchronously: an agent writes
/// them.
pub fn sent(m: &mut Machine, (rank, at): (u32, u64), bytes: u32, touch: &Touch, agent: (u8, u32)) {
    let lane = touch.lanes.trailing_zeros();
    overwritten::by_lane(m, lane, Some(rank), (at, bytes.into()));
    note(m, (m.cell(rank, at), bytes), touch, (false, Some(agent)));
}

/// Something asynchronous, for which an agent stands, reads or writes bytes of the own
/// block: other blocks have to know that it is over.
pub fn by_agent(m: &mut Machine, (at, bytes): (u64, u32), touch: &Touch, agent: (u8, u32)) {
    let touch = Touch {
        passing: false,
        ..*touch
    };
    note(
        m,
        (m.cell(m.cluster.rank, at), bytes),
        &touch,
        (true, Some(agent)),
    );
}

/// Compares an access with earlier ones to its bytes.
fn note(
    m: &mut Machine,
    (address, bytes): (u64, u32),
    touch: &Touch,
    (own, agent): (bool, Option<(u8, u32)>),
) {
    let Some(races) = &mut m.races else {
        return;
    };
    let Some(cells) = &mut races.cells else {
        return;
    };
    let reach = Reach {
        address,
        bytes,
        fixed: false,
        agent,
    };
    // Where there is no room, what is known so far stays.
    let _ = cells.touch(&races.order, reach, touch);
    report::cells(m, address, touch, own);
}
