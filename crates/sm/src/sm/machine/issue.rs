//! The consequences of an issue: on the path, or in a private pipe if the SM
//! has several schedulers (microarchitecture/sm-model.md).

use super::Sm;
use crate::model::spad_sm_path::SmPathOutputs;
use crate::model::{SchedulerInputs, WarpClasses};
use crate::sm::instr::{Detail, Instr, InstrKind};
use crate::sm::warp::{NEVER, Pending};
use spadkit_base::error::Result;

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
                    self.enter_ex(issue, active);
                    self.offers.set(issue.warp, None);
                    self.warps[issue.warp].in_path += 1;
                    self.issued(issue.warp, active, false)?;
                } else {
                    self.go_on_in_ex(issue);
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
            let ready = self.schedulers.can_issue(k, self.cycle);
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
                self.schedulers.take(k, w, self.cycle);
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
        self.statistics.warp_instructions += 1;
        let lanes = u64::from(active.count_ones());
        self.statistics.thread_instructions += lanes;
        let Some(instr) = self.warps[w].next() else {
            return Ok(());
        };
        if instr.kind.is_shared() {
            self.statistics.shared_thread_instructions += lanes;
        }
        let &Instr {
            kind,
            pc,
            dst,
            detail,
            ..
        } = instr;
        let words = self.words(instr);
        let passes = u64::from(self.config.subwarps()) * u64::from(self.passes(instr, active));
        let occupied = self.occupied(w, instr)?;
        let claims = self.claim(w, instr).is_some();
        let done = self.done_at(kind, occupied, private).filter(|_| !claims);
        let ready_at = self.ready_after(kind, passes, done);
        let segments = if kind.is_global() {
            self.global.coalesce(instr, active)
        } else {
            Box::default()
        };
        self.begin(w, kind, (active, occupied), claims)?;
        let warp = &mut self.warps[w];
        warp.issued_pc = pc;
        warp.offered = false;
        warp.ready_at = ready_at;
        warp.set_register(dst, done.map_or(NEVER, |d| d + 1));
        match done {
            Some(done) => warp.done_at = warp.done_at.max(done),
            None => {
                let tag = warp.take_tag();
                warp.pending.push(Pending {
                    tag,
                    kind,
                    claims,
                    pc,
                    dst,
                    mask: active,
                    words,
                    detail,
                    success: 0,
                    segments,
                });
            }
        }
        warp.use_tag();
        warp.advance()?;
        self.go_on(w, detail, active, done);
        Ok(())
    }

    /// The cycle in which an instruction of `kind` that is issued now is done;
    /// `None` where a completion of the path or of a unit reports it.
    #[inline]
    fn done_at(&self, kind: InstrKind, occupied: u64, private: bool) -> Option<u64> {
        if kind.path_kind() != crate::model::spad_sm_path::kind::ALU {
            return None;
        }
        if !self.is_strict() {
            let latency = occupied + u64::from(self.latency(kind));
            let last_pass = u64::from(self.config.subwarps()) - 1;
            return Some(self.cycle + latency - 1 + last_pass);
        }
        // The private pipe is as long as the path is without conflicts.
        let pipe = u64::from(self.config.path.mem_stages) + 2;
        private.then_some(self.cycle + pipe)
    }

    /// The first cycle in which the warp's next instruction may issue, as far as
    /// this one of `kind` decides it.
    #[inline]
    fn ready_after(&self, kind: InstrKind, passes: u64, done: Option<u64>) -> u64 {
        let strict = self.is_strict();
        match done {
            // The next one is fetched when this one is done.
            Some(done) if strict || kind == InstrKind::Branch => {
                done + 1 + u64::from(self.config.sm.frontend_stages)
            }
            None if strict => NEVER,
            _ => self.cycle + passes,
        }
    }

    /// The warp waits at a barrier, or looks at its next instruction in time.
    #[inline]
    fn go_on(&mut self, w: usize, detail: Detail, active: u64, done: Option<u64>) {
        let waits = match detail {
            Detail::Barrier(at) => {
                self.statistics.cluster_barriers += u64::from(at.cluster);
                self.come_to(w, at, active, done.unwrap_or(NEVER));
                !at.arrives
            }
            _ => false,
        };
        if !waits {
            let at = self.warps[w].ready_at;
            self.check_before(w, at);
        }
        if let Some(done) = done {
            self.completed_in(done);
        }
    }

    /// Starts the effects of an instruction outside the path; `occupied` are
    /// the cycles for which a product occupies its tensor unit, and `claims` says that it
    /// asks for the shared part without an access.
    fn begin(
        &mut self,
        w: usize,
        kind: InstrKind,
        (active, occupied): (u64, u64),
        claims: bool,
    ) -> Result<()> {
        if kind.is_shared() {
            self.note_access(w, active)?;
        } else if claims {
            self.note_claim(w)?;
        }
        match kind {
            InstrKind::AtomShared => self.atomics += 1,
            InstrKind::RelSsp => {
                self.warps[w].released |= active;
                self.note_release(self.warps[w].slot);
            }
            InstrKind::Mma => self.begin_product(w, occupied),
            InstrKind::Remote => self.statistics.remote_accesses += 1,
            _ if kind.is_asynchronous() => self.begin_asynchronous(w, active)?,
            _ => {}
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
            InstrKind::Remote => latencies.remote,
            _ => latencies.alu,
        }
    }
}
