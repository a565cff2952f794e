//! What follows from an issue: to the path, or to a private pipe where the
//! SM has several schedulers (microarchitecture/sm-model.md).

use super::Sm;
use crate::error::Result;
use crate::model::spad_sm_path::SmPathOutputs;
use crate::model::{SchedulerInputs, WarpClasses};
use crate::sm::instr::{Instr, InstrKind};
use crate::sm::warp::{NEVER, Pending, State};

impl Sm<'_> {
    /// Takes over what was issued in this cycle; returns the schedulers that
    /// issued to their private pipes.
    #[inline(always)]
    pub(super) fn issue(&mut self, outputs: &SmPathOutputs) -> Result<u128> {
        let mut in_path = None;
        match outputs.iss {
            Some(issue) => {
                in_path = Some(issue.warp);
                if issue.pass == 0 {
                    let active = self.active(issue.warp);
                    self.enter_exe(issue, active);
                    self.offers.set(issue.warp, None);
                    self.warps[issue.warp].in_path += 1;
                    self.issued(issue.warp, active, false)?;
                } else {
                    self.go_on_in_exe(issue);
                }
            }
            None if !outputs.ex_hold => self.operands.exe.leave(),
            None => {}
        }
        if self.schedulers.private.is_empty() {
            Ok(0)
        } else {
            self.issue_private(in_path, outputs.owner)
        }
    }

    fn active(&self, w: usize) -> u64 {
        let warp = &self.warps[w];
        warp.next().map_or(0, |instr| warp.active(instr))
    }

    /// Each scheduler that has not issued to the path may issue to its pipe.
    fn issue_private(&mut self, in_path: Option<usize>, owners: u32) -> Result<u128> {
        let count = self.schedulers.private.len();
        let mut issued = 0;
        for k in 0..count {
            let own = |w: &usize| w % count == k;
            if in_path.as_ref().is_some_and(own) {
                continue;
            }
            let ready = self.schedulers.ready & self.schedulers.own[k];
            if ready == 0 {
                continue;
            }
            let inputs = SchedulerInputs {
                policy: self.path_config.policy,
                ready,
                cls: self.classes(owners),
                take: true,
                age: &self.schedulers.ages,
                active: self.schedulers.two_level.active,
                ..SchedulerInputs::default()
            };
            if let Some(w) = self.schedulers.private[k].step(&inputs).sel {
                issued |= 1 << k;
                self.schedulers.ready &= !(1 << w);
                let active = self.active(w);
                self.issued(w, active, true)?;
            }
        }
        Ok(issued)
    }

    /// Scheduling classes (microarchitecture/access-unit.md) by the owners that
    /// the path shows.
    fn classes(&self, owners: u32) -> WarpClasses {
        let mut cls = WarpClasses::default();
        for (w, warp) in self.warps.iter().enumerate().filter(|w| w.1.is_resident()) {
            let shares = self.path_config.sharing && self.layout.is_shared(warp.slot);
            let owner = owners >> (warp.slot / 2) & 1 == warp.slot as u32 % 2;
            match (shares, owner) {
                (false, _) => cls.low |= 1 << w,
                (true, true) => {}
                (true, false) => cls.high |= 1 << w,
            }
        }
        cls
    }

    /// The warp's next instruction has been issued.
    fn issued(&mut self, w: usize, active: u64, private: bool) -> Result<()> {
        let (cycle, strict) = (self.cycle, self.is_strict());
        let subwarps = u64::from(self.config.subwarps());
        let front_end = u64::from(self.config.sm.frontend_stages);
        self.statistics.warp_instructions += 1;
        self.statistics.thread_instructions += u64::from(active.count_ones());
        let Some(instr) = self.warps[w].next() else {
            return Ok(());
        };
        let &Instr {
            kind, pc, dst, sub, ..
        } = instr;
        let words = self.words(instr);
        let passes = subwarps * u64::from(self.passes(instr, active));
        let occupied = self.occupied(w, instr)?;
        let latency = occupied + u64::from(self.latency(kind));
        let segments = if kind.is_global() {
            self.global.coalesce(instr, active)
        } else {
            Box::default()
        };
        if kind.is_shared() {
            self.note_access(w, active)?;
        } else if kind == InstrKind::RelSsp {
            self.warps[w].released |= active;
            self.note_release(self.warps[w].slot);
        }
        if kind.is_asynchronous() {
            self.begin_asynchronous(w, active)?;
        } else if kind == InstrKind::Mma {
            self.begin_product(w, occupied);
        }
        let warp = &mut self.warps[w];
        warp.issued_pc = pc;
        warp.offered = false;
        let by_latency = kind.path_kind() == crate::model::spad_sm_path::kind::ALU;
        let done = match (by_latency, strict, private) {
            (true, false, _) => Some(cycle + latency - 1 + (subwarps - 1)),
            // The private pipe is as long as the path is without conflicts.
            (true, true, true) => Some(cycle + u64::from(self.config.path.mem_stages) + 2),
            _ => None,
        };
        if kind == InstrKind::AtomShared {
            self.atomics += 1;
        }
        warp.ready_at = match (done, strict) {
            (None, true) => NEVER,
            (None, false) => cycle + passes,
            (Some(done), true) => done + 1 + front_end,
            (Some(done), false) if kind == InstrKind::Branch => done + 1 + front_end,
            (Some(_), false) => cycle + passes,
        };
        warp.set_register(dst, done.map_or(NEVER, |d| d + 1));
        match done {
            Some(done) => warp.done_at = warp.done_at.max(done),
            None => {
                let tag = warp.take_tag();
                warp.pending.push(Pending {
                    tag,
                    kind,
                    pc,
                    dst,
                    mask: active,
                    words,
                    sub,
                    success: 0,
                    segments,
                });
            }
        }
        warp.use_tag();
        warp.advance()?;
        if kind == InstrKind::Bar {
            let (number, arrived) = (sub, done.unwrap_or(NEVER));
            warp.state = State::Barrier { number, arrived };
            let slot = warp.slot;
            self.meet(slot);
        } else {
            let at = self.warps[w].ready_at;
            self.check_before(w, at);
        }
        if let Some(done) = done {
            self.completed_in(done);
        }
        Ok(())
    }

    fn latency(&self, kind: InstrKind) -> u32 {
        let latencies = &self.config.sm.latencies;
        match kind {
            InstrKind::Sfu => latencies.sfu,
            InstrKind::Branch => latencies.branch,
            InstrKind::Mma => self.config.sm.tensor.latency,
            // An object lies in shared memory.
            InstrKind::Mbarrier => self.config.shared_latency(),
            _ => latencies.alu,
        }
    }
}
