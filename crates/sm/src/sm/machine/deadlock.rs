//! Deadlocks: nothing moves and nothing will
//! (microarchitecture/sm-model.md).

use super::{PATIENCE, Sm};
use crate::model::WarpMask;
use crate::model::spad_sm_path::SmPathOutputs;
use crate::sm::instr::{Detail, Meeting};
use crate::sm::warp::{NEVER, State, Warp};
use spadkit_base::error::{Error, Result};
use spadkit_ptx::exec::BarrierOp;

/// Cycles without any event after which there will be none.
const SETTLED: u64 = 4;
/// Warps that a report names.
const MAX_LINES: usize = 16;

/// Cycles since the last progress.
#[derive(Default)]
pub(super) struct Progress {
    /// Last cycle in which an instruction completed or a block started.
    pub last: u64,
    /// Cycles in which nothing has moved.
    idle_cycles: u64,
}

impl Sm<'_> {
    /// Ends a run that cannot go on. `cycles` cycles were alike.
    #[inline(always)]
    pub(super) fn watch(
        &mut self,
        outputs: &SmPathOutputs,
        private: u128,
        cycles: u64,
    ) -> Result<()> {
        if self.cycle > self.progress.last.saturating_add(PATIENCE) {
            return Err(Error::usage(
                format!("no instruction has completed for {PATIENCE} cycles"),
                format!(
                    "possibly a lock that is never released: {}",
                    self.waiting(outputs.wait_sh).join("; ")
                ),
            ));
        }
        let idle = outputs.iss.is_none()
            && private == 0
            && self.sets.exits == 0
            && self.schedulers.ready == 0
            && self.checks.next(self.cycle) == NEVER
            && self.global.is_idle(self.cycle)
            && self.copies.is_idle()
            && self.offers.valid() & !outputs.wait_sh == 0
            && self.warps.iter().all(|w| w.in_path == 0);
        let before = if idle { self.progress.idle_cycles } else { 0 };
        self.progress.idle_cycles = if idle { before + cycles } else { 0 };
        // Completions and returns of a cycle take effect some cycles later.
        if self.progress.idle_cycles < SETTLED || self.is_done() {
            return Ok(());
        }
        let mut waiting = self.waiting(outputs.wait_sh);
        if let Some(together) = &self.workload.info().together {
            let not_here =
                "a trace before version 6 does not have what other blocks do in this one";
            waiting.push(format!("of the blocks, {together}: {not_here}"));
        }
        Err(Error::usage(
            format!("deadlock in cycle {}", self.cycle + SETTLED - before - 1),
            waiting.join("; "),
        ))
    }

    /// Lists what each waiting warp waits for.
    fn waiting(&self, wait_sh: WarpMask) -> Vec<String> {
        let resident = || (0..self.warps.len()).filter(|&w| self.warps[w].is_resident());
        let mut lines: Vec<String> = resident()
            .take(MAX_LINES)
            .map(|w| {
                let warp = &self.warps[w];
                let who = format!("warp {} of block {}", warp.index, warp.block);
                format!("{who} waits {}", self.wait(w, warp, wait_sh))
            })
            .collect();
        let more = resident().count().saturating_sub(MAX_LINES);
        if more > 0 {
            lines.push(format!("and {more} more warps"));
        }
        lines
    }

    fn wait(&self, w: usize, warp: &Warp, wait_sh: WarpMask) -> String {
        if let State::Barrier { at, .. } = warp.state {
            let of = match at.threads {
                0 => String::new(),
                threads => format!(" of {threads} threads"),
            };
            return format!(
                "at barrier {}{of} for {}",
                at.number,
                self.missing(warp, at)
            );
        }
        let next = warp.next().map_or_else(
            || "its end".to_owned(),
            |i| format!("{} at pc {}", i.kind.name(), i.pc),
        );
        if wait_sh >> w & 1 == 1 {
            let partner = self.warps[self.layout.warps(warp.slot ^ 1)].first();
            let owner = partner.map_or(0, |p| p.block);
            return format!("with {next} for the shared scratchpad, which block {owner} holds");
        }
        if self.copies.barrier_waits >> w & 1 == 1
            && let Some(i) = warp.next()
            && let Detail::Mbarrier(BarrierOp::Wait, phase) = i.detail
        {
            let at = i.addrs.of(0);
            return format!(
                "at pc {} for phase {phase} of the mbarrier at byte {at}",
                i.pc
            );
        }
        match warp.blocked_by(self.is_strict()) {
            Some(p) => format!("with {next} for {} at pc {}", p.kind.name(), p.pc),
            None => format!("with {next}"),
        }
    }

    /// The warps that have not reached a barrier.
    fn missing(&self, warp: &Warp, barrier: Meeting) -> String {
        let elsewhere = |other: &&Warp| match other.state {
            State::Barrier { at, .. } => at != barrier,
            State::Running => true,
            State::Absent | State::Ended => false,
        };
        let warps = &self.warps[self.layout.warps(warp.slot)];
        let names: Vec<String> = warps
            .iter()
            .filter(elsewhere)
            .map(|w| format!("warp {}", w.index))
            .collect();
        names.join(", ")
    }
}
