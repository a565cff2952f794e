//! `discard`: a store of a value that nobody knows.

use super::raced;
use crate::exec::image::MemoryOp;
use crate::exec::machine::Machine;
use crate::exec::race::lanes;
use crate::names::Space;

/// Lanes discard bytes of global memory: these stay as they are, but a read of them is a
/// finding until they are written.
pub fn run(m: &mut Machine, info: &MemoryOp, exec: u32) {
    let addresses = m.addresses(info);
    let unaligned = u64::from(info.bytes) - 1;
    let is_good = |&lane: &u32| {
        let address = addresses[lane as usize];
        address & unaligned == 0 && m.global_place(address, info.bytes).is_some()
    };
    let good = lanes(exec).filter(is_good);
    let good = good.fold(0, |all, lane| all | 1 << lane);
    if m.races.is_some() && good != 0 {
        raced::access(m, info, Space::Global, good, &addresses);
    }
    m.resolve(info, exec);
    for lane in lanes(good) {
        let address = addresses[lane as usize];
        match m.common.heap.filter(|heap| heap.has(address)) {
            Some(heap) => heap.forget(address, info.bytes.into()),
            None => {
                let memory = m.races.as_mut().and_then(|races| races.global.as_mut());
                if let Some(memory) = memory {
                    memory.discard(address, info.bytes);
                }
            }
        }
    }
}
