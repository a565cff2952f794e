//! The tensor units, one for each scheduler (microarchitecture/sm-model.md).
//!
//! A warp reserves its unit before it offers a product, so that every offered
//! product can issue. Warps that find the unit reserved queue up.

use super::Sm;
use crate::model::{WarpMask, warp_bit};
use crate::sm::instr::{Detail, Instr};
use spadkit_base::error::{Error, Result};
use std::collections::VecDeque;

/// The tensor units of the SM.
#[derive(Default)]
pub(super) struct Tensor {
    units: Vec<TensorUnit>,
    /// Warps in the queues.
    pub waiting: WarpMask,
}

/// A tensor unit.
#[derive(Clone, Default)]
struct TensorUnit {
    /// The warp that offers a product to it.
    taken_by: Option<usize>,
    /// First cycle in which it can begin the next product.
    free_at: u64,
    /// Warps whose product is ready, in the order in which they became so.
    queue: VecDeque<usize>,
}

/// The answer to a warp that asks for its unit.
enum Answer {
    Taken,
    /// The warp has its turn in that cycle.
    From(u64),
    /// Not known yet: another warp's issue decides.
    Later,
}

impl Tensor {
    /// A unit for each of this many schedulers.
    pub fn new(schedulers: u32) -> Self {
        Tensor {
            units: vec![TensorUnit::default(); schedulers as usize],
            waiting: 0,
        }
    }

    fn unit(&mut self, warp: usize) -> &mut TensorUnit {
        let count = self.units.len();
        &mut self.units[warp % count]
    }

    /// Takes the unit of `warp` for a product that issues in `cycle` or later.
    fn take(&mut self, warp: usize, cycle: u64) -> Answer {
        let unit = self.unit(warp);
        let is_next = unit.queue.front().is_none_or(|first| *first == warp);
        if is_next && unit.taken_by.is_none() && unit.free_at <= cycle {
            unit.taken_by = Some(warp);
            unit.queue.pop_front();
            self.waiting &= !warp_bit(warp);
            return Answer::Taken;
        }
        let answer = if is_next && unit.taken_by.is_none() {
            Answer::From(unit.free_at)
        } else {
            Answer::Later
        };
        if self.waiting & warp_bit(warp) == 0 {
            self.unit(warp).queue.push_back(warp);
            self.waiting |= warp_bit(warp);
        }
        answer
    }

    /// The product of `warp` was issued, and the unit can begin another one
    /// from `free_at` on: the warp that is next.
    fn begin(&mut self, warp: usize, free_at: u64) -> Option<usize> {
        let unit = self.unit(warp);
        (unit.taken_by, unit.free_at) = (None, free_at);
        unit.queue.front().copied()
    }
}

impl Sm<'_> {
    /// Whether the next product of warp `w` may be offered; else the warp is
    /// looked at again when it may.
    pub(super) fn takes_tensor_unit(&mut self, w: usize, early: u64) -> bool {
        match self.tensor.take(w, self.cycle + early) {
            Answer::Taken => return true,
            Answer::From(cycle) => self.check(w, cycle - early),
            Answer::Later => {}
        }
        false
    }

    /// A product of warp `w` was issued in this cycle and occupies its unit for
    /// this many.
    pub(super) fn begin_product(&mut self, w: usize, occupied: u64) {
        let free_at = self.cycle + occupied;
        if let Some(next) = self.tensor.begin(w, free_at) {
            self.check_before(next, free_at);
        }
    }

    /// Cycles that a product occupies its unit; 0 for other instructions.
    pub(super) fn occupied(&self, w: usize, instr: &Instr) -> Result<u64> {
        let Detail::Product { bits, macs, group } = instr.detail else {
            return Ok(0);
        };
        let units = &self.config.sm.tensor;
        let occupied = units.occupied(bits, macs, group);
        occupied.ok_or_else(|| {
            let (of, key) = match bits {
                64 if units.macs_per_cycle > 0 => (" for f64", "f64_macs_per_cycle"),
                _ => ("", "macs_per_cycle"),
            };
            Error::usage(
                format!(
                    "{} on a machine without tensor units{of}",
                    self.place(w, instr)
                ),
                format!(
                    "choose a preset that has them, such as sm80, or set {key} in the \
                     configuration's [tensor]"
                ),
            )
        })
    }
}
