//! The warp schedulers of an SM (microarchitecture/sm-model.md): one belongs to
//! the path; if there are several, each also has a private pipe.

use crate::config::Config;
use crate::model::{WarpMask, WarpScheduler};
use crate::sm::instr::{Detail, Instr, InstrKind, Unit};
use crate::sm::two_level::TwoLevel;

/// Units that arithmetic goes to: of floating-point numbers, integers, floating-point numbers
/// of 64 bits, special functions, exchanges.
const UNITS: usize = 5;

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
    units: Units,
}

/// Units that do not begin an instruction in every cycle.
struct Units {
    /// Cycles from one instruction to the next.
    intervals: [u64; UNITS],
    /// Of each scheduler: the first cycle in which they begin another.
    free_at: Vec<[u64; UNITS]>,
    /// Warps whose ready instruction goes to them.
    wanted: [WarpMask; UNITS],
}

/// The unit that an instruction goes to.
fn unit_of(instr: &Instr) -> Option<usize> {
    match (instr.kind, instr.detail) {
        (InstrKind::Alu, Detail::Unit(Unit::Integer)) => Some(1),
        (InstrKind::Alu, Detail::Unit(Unit::Double)) => Some(2),
        (_, Detail::Unit(Unit::Exchange)) => Some(4),
        (_, Detail::Unit(_)) => None,
        (InstrKind::Alu, _) => Some(0),
        (InstrKind::Sfu, _) => Some(3),
        _ => None,
    }
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
            units: Units {
                intervals: config.sm.issue.of_units().map(u64::from),
                free_at: vec![[0; UNITS]; count],
                wanted: [0; UNITS],
            },
        }
    }

    /// Warp `w` offers an instruction to its private scheduler.
    pub fn offer(&mut self, w: usize, instr: &Instr) {
        self.ready |= 1 << w;
        if let Some(unit) = unit_of(instr) {
            self.units.wanted[unit] |= 1 << w;
        }
    }

    /// Warps of scheduler `k` that can issue in `cycle`: their unit is free.
    pub fn can_issue(&self, k: usize, cycle: u64) -> WarpMask {
        let units = self.units.free_at[k].iter().zip(self.units.wanted);
        let busy = units.filter(|(free_at, _)| **free_at > cycle);
        self.ready & self.own[k] & !busy.fold(0, |all, (_, warps)| all | warps)
    }

    /// Scheduler `k` has issued what warp `w` offers in `cycle`.
    pub fn take(&mut self, k: usize, w: usize, cycle: u64) {
        self.ready &= !(1 << w);
        for (unit, wanted) in self.units.wanted.iter_mut().enumerate() {
            if *wanted >> w & 1 == 1 {
                *wanted &= !(1 << w);
                self.units.free_at[k][unit] = cycle + self.units.intervals[unit];
            }
        }
    }
}

/// Warp slots of scheduler `k` of `count`.
fn slots_of(k: usize, warps: usize, count: usize) -> WarpMask {
    (k..warps).step_by(count).fold(0, |m, w| m | 1 << w)
}
