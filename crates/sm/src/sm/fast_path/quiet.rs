//! Quiet cycles: no pass moves from a stage to another, no warp through the
//! stages of the issue, and no event happens. Only the scratchpad, which
//! serves the groups of a conflict, and the counters of mask and sequencers
//! change, and as long as these say what they said, so does the path.

use super::counters;
use crate::model::spad_sm_path::{Signals, SmPathInputs};
use crate::model::{RequestLanes, SmPath};

/// Cycles from this one on that are quiet and have the same outputs, as far as
/// mask and sequencers go; 1 if this one is not quiet.
#[inline(always)]
pub(super) fn quiet_cycles(path: &SmPath, inputs: &SmPathInputs, s: &Signals) -> u64 {
    // Mostly a pass moves, which is seen at once.
    if passes_move(path, s) || warps_move(path, s) || has_event(inputs) {
        1
    } else {
        let mask = &path.front.predictor.mask;
        let masked = counters::mask_lasts(mask, inputs.cfg.aware, s.feedback.ex_hold);
        masked.min(counters::states_last(&path.back.entry.atomics))
    }
}

/// A pass goes to another stage.
#[inline(always)]
fn passes_move(path: &SmPath, s: &Signals) -> bool {
    let (back, entry) = (&path.back, &s.back.entry);
    s.back.ex_fire
        || s.front.issue.iss.is_some()
        || (s.back.hashed.is_some() && entry.in_ready)
        || back.spad.stages() != 0
        || s.back.exit.mem_valid != 0
        || back.nonmem.stage_valid() != 0
        || back.wb.wb().is_some()
        // It is off-chip data's turn, which goes unused.
        || !back.wb.mem_ready(false)
        || entry.head_leaves
        || (entry.seq_busy && s.back.req_ready)
        || counters::takes_pass(&back.entry.atomics)
}

/// A warp is selected, or what the issue looks at still settles.
#[inline(always)]
fn warps_move(path: &SmPath, s: &Signals) -> bool {
    let front = &path.front;
    s.front.select.choice.is_some()
        || !s.sharing.is_settled()
        || front.select.moves(&s.front.select_inputs, &s.front.select)
        || !counters::only_counts(&front.predictor)
}

/// Something is driven that is more than another cycle.
#[inline(always)]
fn has_event(inputs: &SmPathInputs) -> bool {
    inputs.rst
        || inputs.kernel_clear
        || inputs.hash_wr.is_some()
        || inputs.row_wr.is_some()
        || inputs.launch.is_some()
        || inputs.exit.is_some()
        || inputs.icn.is_some()
}

/// At most `limit` clock edges of quiet cycles that have the same outputs, as
/// far as the access in MEM0 allows; how many. `ex_hold` as in all of them.
#[inline(never)]
pub(super) fn pass_over(path: &mut SmPath, ex_hold: bool, limit: u64) -> u64 {
    let spad = &mut path.back.spad;
    let mut cycles = 0;
    if spad.mem0_valid() {
        while cycles < limit && spad.busy_more() {
            spad.commit(&RequestLanes::None.inputs(true));
            cycles += 1;
        }
    } else if spad.stages() == 0 {
        cycles = limit;
    }
    counters::count_up(&mut path.back.entry.atomics, cycles);
    if !ex_hold {
        counters::count_down(&mut path.front.predictor.mask, cycles);
    }
    cycles
}
