//! Writes over an `mbarrier` object that is in use.

use crate::exec::api::FindingKind;
use crate::exec::machine::Machine;
use crate::exec::machine::phase::Mbarriers;
use crate::exec::race::lanes;
use crate::exec::race::shadow::OBJECT_BYTES;

/// Lanes store bytes of the own block.
pub fn by_lanes(m: &mut Machine, (bytes, exec): (u32, u32), addresses: &[u64; 32]) {
    let objects = &m.mbarriers.objects;
    let (Some((first, _)), Some((last, _))) = (objects.first_key_value(), objects.last_key_value())
    else {
        return;
    };
    let (first, last) = (*first, *last + OBJECT_BYTES);
    for lane in lanes(exec) {
        let address = addresses[lane as usize];
        let end = address + u64::from(bytes);
        if end <= first || address >= last {
            continue;
        }
        if by_lane(m, lane, None, (address, bytes.into())) {
            return;
        }
    }
}

/// A lane writes bytes of the own block, or of that of a rank: whether an object in use is
/// among them.
pub fn by_lane(m: &mut Machine, lane: u32, rank: Option<u32>, to: (u64, u64)) -> bool {
    let window = rank.and_then(|rank| m.cluster.peers.get(rank as usize));
    let barriers = window.map_or(&m.mbarriers, |window| &window.mbarriers);
    let Some(at) = first_in(barriers, to) else {
        return false;
    };
    let place = match rank {
        Some(rank) => {
            format!("byte {at} of the shared memory of block {rank} of the cluster")
        }
        None => format!("byte {at} of shared memory"),
    };
    let text =
        format!("a store to the mbarrier at {place}, which is in use: mbarrier.inval ends that");
    let name = m.shared_variable(at);
    m.found(FindingKind::InvalidBarrier, lane, Some(at), name, text);
    true
}

/// The first object with one of some bytes.
fn first_in(barriers: &Mbarriers, (address, bytes): (u64, u64)) -> Option<u64> {
    let start = address.saturating_sub(OBJECT_BYTES - 1);
    let mut inside = barriers.objects.range(start..address + bytes);
    inside.next().map(|(at, _)| *at)
}
