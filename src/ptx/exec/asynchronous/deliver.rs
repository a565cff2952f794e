//! `st.async` and `red.async`: the value is there at once, and its bytes arrive at
//! an `mbarrier`, which says who may see it.

use super::mbarrier;
use crate::ptx::exec::access;
use crate::ptx::exec::check::asynchronous;
use crate::ptx::exec::image::{Change, MemoryOp, WINDOW};
use crate::ptx::exec::machine::Machine;
use crate::ptx::exec::machine::peers::Reached;
use crate::ptx::exec::registers::active;

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
    for lane in active(exec) {
        let Some(phase) = mbarrier::bytes_come(m, change, lane, (bytes, None)) else {
            continue;
        };
        let address = m.address_from(info.from, info.offset, lane) & !WINDOW;
        if let Reached::Own(at) = m.reached(address)
            && at + u64::from(bytes) <= m.shared_len
        {
            asynchronous::delivered(m, lane, (at, bytes), phase);
        }
    }
}
