//! `st.async` and `red.async`: the value is there at once, and its bytes arrive at
//! an `mbarrier`, which says who may see it.

use super::mbarrier;
use crate::exec::access;
use crate::exec::api::Access;
use crate::exec::api::reported::{BarrierLane, BarrierOp};
use crate::exec::check::asynchronous;
use crate::exec::image::{Change, MemoryOp, WINDOW};
use crate::exec::machine::Machine;
use crate::exec::machine::peers::Reached;
use crate::exec::registers::active;
use crate::names::Space;

/// Executes one for the lanes of `exec`.
pub fn run(m: &mut Machine, info: &MemoryOp, change: &Change, exec: u32) {
    // Not the thread accesses the memory, but who delivers the value.
    let races = m.races.take();
    if info.transfer.is_atomic() {
        access::atomic(m, info, exec);
    } else {
        access::store(m, info, exec);
    }
    m.races = races;
    let bytes = info.bytes;
    let updates = info.transfer.is_atomic().then_some(bytes);
    let mut own = Vec::new();
    let (mut lanes, mut offsets) = (0, [0; 32]);
    for lane in active(exec) {
        let to = m.reached(m.address_from(info.from, info.offset, lane) & !WINDOW);
        if let Reached::Peer(rank, at) = to
            && at + u64::from(bytes) <= m.shared_len
        {
            let barrier = mbarrier::offset(m, &change.place, lane);
            let to = (rank, at, bytes.into());
            asynchronous::sent(m, lane, to, (barrier, updates));
            lanes |= 1 << lane;
            offsets[lane as usize] = at;
        }
        let Some(phase) = mbarrier::bytes_come(m, change, lane, (bytes, None), None) else {
            continue;
        };
        if let Reached::Own(at) = to
            && at + u64::from(bytes) <= m.shared_len
        {
            let way = asynchronous::Way::to(Some(phase), updates);
            asynchronous::delivered(m, lane, (at, bytes), way);
            own.push(BarrierLane {
                lane,
                offset: phase.0,
                number: bytes,
            });
        }
    }
    if !own.is_empty() {
        mbarrier::report(m, BarrierOp::Sent, &own);
    }
    if let Some(observer) = m.observer.as_mut().filter(|_| lanes != 0) {
        let there = Access {
            space: Space::Shared,
            bytes,
            lanes,
            addresses: &offsets,
            row_bytes: None,
        };
        observer.sent(m.pc, &there);
    }
}
