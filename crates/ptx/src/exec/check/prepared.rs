//! Words that a plain store prepares for atomics, such as a lock that one thread sets to zero.
//!
//! Who acquires such a word is ordered after the plain store by the word itself, since its
//! atomics come after it in this run. But nothing else lets the store come first: had the
//! other thread been earlier, it would have read what was there before. So an acquiring
//! access is compared with plain stores before it takes what the word carries.

use super::ordered::touch;
use super::raced;
use super::report;
use crate::exec::image::MemoryOp;
use crate::exec::machine::Machine;
use crate::exec::ordering::Strength;
use crate::exec::race::global::Reach;
use crate::exec::race::lanes;
use crate::exec::race::mark::Mark;
use crate::exec::race::shadow::{Hit, Touch};

/// Lanes are about to acquire words of shared memory, or of global memory.
pub fn check(m: &mut Machine, info: &MemoryOp, exec: u32, (shared, addresses): (bool, &[u64; 32])) {
    let reads = !info.transfer.only_writes() && !info.order.unread;
    if info.order.strength != Strength::Strong || !info.order.acquire || !reads {
        return;
    }
    for lane in lanes(exec) {
        let address = addresses[lane as usize];
        if shared && address + u64::from(info.bytes) <= m.shared_len {
            in_shared(m, info, lane, address);
        } else if !shared {
            in_global(m, info, lane, address);
        }
    }
}

/// A lane that only reads, and is not remembered.
fn reading(m: &Machine, info: &MemoryOp, lane: u32) -> Option<Touch> {
    let moment = m.races.as_ref()?.order.now();
    Some(Touch {
        lanes: 1 << lane,
        write: false,
        update: false,
        passing: true,
        ..touch(m, info, moment)
    })
}

fn is_plain_store(hit: &Hit) -> bool {
    hit.wrote && hit.earlier.how.strength == Strength::Weak
}

fn in_shared(m: &mut Machine, info: &MemoryOp, lane: u32, address: u64) {
    let Some(touch) = reading(m, info, lane) else {
        return;
    };
    let Some(races) = &mut m.races else {
        return;
    };
    let (first, count) = races.places(address, info.bytes);
    races.shadow.touch(&races.order, first, count, &touch);
    races.shadow.hits.retain(is_plain_store);
    if !races.shadow.hits.is_empty() {
        report::shared(m, false);
    }
}

fn in_global(m: &mut Machine, info: &MemoryOp, lane: u32, address: u64) {
    let Some(touch) = reading(m, info, lane) else {
        return;
    };
    let Some(races) = &mut m.races else {
        return;
    };
    let Some(memory) = &races.global else {
        return;
    };
    let warp = touch.warp;
    let open = |mark: &Mark| {
        mark.how.strength == Strength::Weak && races.order.unseen(warp, lane, mark, false) != 0
    };
    if memory
        .written(address, info.bytes)
        .iter()
        .any(|(_, mark)| open(mark))
    {
        let reach = Reach {
            address,
            bytes: info.bytes,
            fixed: false,
            agent: None,
        };
        raced::global(m, reach, None, touch);
    }
}
