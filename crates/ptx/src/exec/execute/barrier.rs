//! Operands of a barrier instruction: number and count.

use crate::exec::api::FindingKind;
use crate::exec::image::BarrierOp;
use crate::exec::machine::{BarrierArrival, Machine};
use crate::exec::registers::{Slot, Width};

/// Barriers of a block.
const BARRIERS: u32 = 16;

/// The number of `barrier.cluster`: far beyond those of `bar`.
pub const CLUSTER: u32 = 0x434c_5553;

/// The word that carries the order of a phase of the cluster's barrier, for the
/// search for races: no address of memory.
pub fn word(phase: u64) -> u64 {
    1 << 61 | phase & 1
}

/// Number and count that the lanes name; what is wrong with them becomes a
/// finding, and the first lane's hold.
pub fn named(m: &mut Machine, info: &BarrierOp, exec: u32) -> (u32, Option<u32>) {
    let number = of_all(m, info.number, exec, "numbers");
    let mut wrong = |text| {
        let lane = exec.trailing_zeros();
        m.found(FindingKind::InvalidBarrier, lane, None, None, text);
    };
    if number >= BARRIERS && number != CLUSTER {
        wrong(format!("barrier {number}, of 0 to {}", BARRIERS - 1));
    }
    let count = info.count.map(|slot| of_all(m, slot, exec, "counts"));
    if let Some(count) = count
        && (count == 0 || count % 32 != 0)
    {
        let text = format!("a barrier of {count} threads: the count must be a multiple of 32");
        let lane = exec.trailing_zeros();
        m.found(FindingKind::InvalidBarrier, lane, None, None, text);
    }
    (number, count)
}

/// The value of the lanes, which have to agree on it.
fn of_all(m: &mut Machine, slot: Slot, exec: u32, what: &str) -> u32 {
    // Nearly always a constant.
    if slot.width == Width::Word {
        let first = m.registers.word(slot.at, exec.trailing_zeros() % 32);
        if (0..32).all(|lane| m.registers.word(slot.at, lane) == first) {
            return first;
        }
    }
    let values = m.registers.read(slot).map(|v| v as u32);
    let first = values[exec.trailing_zeros() as usize % 32];
    let other = (0..32).find(|&l| exec >> l & 1 != 0 && values[l as usize] != first);
    if let Some(lane) = other {
        let text = format!(
            "lanes of one warp name different {what} of a barrier: {first} and {}",
            values[lane as usize]
        );
        m.found(FindingKind::InvalidBarrier, lane, None, None, text);
    }
    first
}

/// Lanes arrive and go on: what they do from now on, the others do not wait
/// for.
pub fn arrive(m: &mut Machine, (number, count): (u32, Option<u32>), exec: u32, alive: u32) {
    // A warp counts as one of 32, whatever lanes have exited or never were there.
    let threads = if exec == alive { 32 } else { exec.count_ones() };
    m.arrivals.push(BarrierArrival {
        number,
        threads,
        count,
    });
    if let Some(races) = &mut m.races {
        races.order.arrive(number, m.warp, exec);
    }
}
