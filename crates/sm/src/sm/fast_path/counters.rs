//! The clock edges of several cycles in which a unit only counts, in one.

use crate::model::spad_memory_entry::Contexts;
use crate::model::spad_retry_sequencer::{MAX_COUNT, RetrySequencer, State};
use crate::model::spad_warp_mask::{Answer, MemoryWarpMask};
use crate::model::{ConflictPredictor, Pass};

/// Nothing but the mask's count moves, if nothing is set or resolved.
pub(super) fn only_counts(predictor: &ConflictPredictor) -> bool {
    let (known, mask) = (predictor.known(), &predictor.mask);
    !known.history.done
        && !known.heavy
        && !predictor.history.eval().done
        && predictor.accumulator.eval().is_none()
        && mask.answer == Answer::Past
        && mask.passes == 0
}

/// Cycles from this one on in which the mask, which only counts, says the
/// same; unbounded if nothing reads it.
pub(super) fn mask_lasts(mask: &MemoryWarpMask, aware: bool, ex_hold: bool) -> u64 {
    match mask.count {
        _ if ex_hold && mask.counted => 1,
        count if aware && count > 0 && !ex_hold => count.into(),
        _ => u64::MAX,
    }
}

/// `cycles` edges of the mask, which only counts, without hold.
pub(super) fn count_down(mask: &mut MemoryWarpMask, cycles: u64) {
    if cycles == 0 {
        return;
    }
    let cycles = u32::try_from(cycles).unwrap_or(u32::MAX);
    mask.counted = mask.late && cycles <= mask.count;
    mask.count = mask.count.saturating_sub(cycles);
}

/// A pass goes from a context's queue to its sequencer.
pub(super) fn takes_pass(contexts: &Contexts) -> bool {
    let mut contexts = contexts.list.iter();
    contexts.any(|c| c.passes.count() > 0 && c.is_idle())
}

/// Cycles from this one on in which all sequencers stay in their states, if no
/// request is taken and no response comes.
pub(super) fn states_last(contexts: &Contexts) -> u64 {
    let cycles = contexts.list.iter().map(|c| state_lasts(&c.sequencer));
    cycles.min().unwrap_or(u64::MAX)
}

fn state_lasts(sequencer: &RetrySequencer<Pass>) -> u64 {
    let last = match sequencer.state() {
        State::Update => sequencer.latencies.update,
        State::Branch => sequencer.latencies.branch,
        State::Read | State::Write if sequencer.got => sequencer.target,
        _ => return u64::MAX,
    };
    last.saturating_sub(sequencer.count).into()
}

/// `cycles` edges of sequencers that stay in their states.
pub(super) fn count_up(contexts: &mut Contexts, cycles: u64) {
    let cycles = cycles.min(MAX_COUNT.into()) as u32;
    for context in &mut contexts.list {
        let sequencer = &mut context.sequencer;
        if !matches!(sequencer.state(), State::Idle | State::Done) {
            sequencer.count = (sequencer.count + cycles).min(MAX_COUNT);
        }
    }
}
