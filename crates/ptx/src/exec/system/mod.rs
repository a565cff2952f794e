//! Functions of the system that kernels call: what they are passed, and what
//! they give back.

pub(super) mod allocation;
mod format;
pub(super) mod print;

use super::image::ValuePlace;
use super::machine::Machine;
use super::registers::active;

/// The first 8 bytes of an argument of a lane.
pub(super) fn argument(m: &Machine, place: ValuePlace, lane: u32) -> u64 {
    match place {
        ValuePlace::Slot(slot) => m.registers.read(slot)[lane as usize],
        // SAFETY: parameters lie inside the local memory of the lane, with
        // 8 bytes or more later, which its size is a multiple of.
        ValuePlace::Local(at) => unsafe {
            m.lane_local(lane)
                .add(at as usize)
                .cast::<u64>()
                .read_unaligned()
        },
    }
}

/// Gives the lanes of `exec` a result of 4 or 8 bytes.
pub(super) fn give(
    m: &Machine,
    results: &[ValuePlace],
    exec: u32,
    values: &[u64; 32],
    bytes: usize,
) {
    for &result in results {
        match result {
            ValuePlace::Slot(slot) => m.registers.write(slot, exec, values),
            ValuePlace::Local(at) => {
                for lane in active(exec) {
                    let value = values[lane as usize].to_le_bytes();
                    // SAFETY: as for `argument`.
                    unsafe {
                        m.lane_local(lane)
                            .add(at as usize)
                            .copy_from_nonoverlapping(value.as_ptr(), bytes)
                    };
                }
            }
        }
    }
}
