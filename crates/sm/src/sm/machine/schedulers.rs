//! The warp schedulers of an SM (microarchitecture/sm-model.md): one belongs to
//! the path; if there are several, each also has a private pipe.

use crate::config::Config;
use crate::model::{WarpMask, WarpScheduler};
use crate::sm::two_level::TwoLevel;

/// The schedulers, and the state that they decide by.
pub(super) struct Schedulers {
    /// Warp slots of each scheduler.
    pub own: Vec<WarpMask>,
    /// Schedulers with a private pipe; none where the SM has one scheduler.
    pub private: Vec<WarpScheduler>,
    /// Warps that offer an instruction to their private scheduler.
    pub ready: WarpMask,
    /// Age of the warp in each slot, for oldest first.
    pub ages: Vec<u64>,
    pub two_level: TwoLevel,
}

impl Schedulers {
    /// The schedulers of a machine without warps.
    pub fn new(config: &Config) -> Self {
        let (warps, count) = (config.path.warps as usize, config.sm.schedulers as usize);
        let own: Vec<WarpMask> = (0..count).map(|k| slots_of(k, warps, count)).collect();
        let private = if count == 1 { 0 } else { count };
        Schedulers {
            two_level: TwoLevel::new(&own, config.sm.active_warps),
            own,
            private: vec![WarpScheduler::new(warps); private],
            ready: 0,
            ages: vec![u64::MAX; warps],
        }
    }
}

/// Warp slots of scheduler `k` of `count`.
fn slots_of(k: usize, warps: usize, count: usize) -> WarpMask {
    (k..warps).step_by(count).fold(0, |m, w| m | 1 << w)
}
