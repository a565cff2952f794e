//! The combinational outputs of a cycle (docs/microarchitecture.md, section
//! 18.9, steps 1 to 10).

use super::ahead::{Decision, Seen, Selection};
use super::kind;
use super::pool::{Control, Pass};
use super::{Issue, Multi, SmPath, SmPathInputs, SmPathOutputs, Tag, Writeback};
use crate::model::lanes::WarpMask;
use crate::model::spad_access_unit::{AccessInputs, AccessOutputs};
use crate::model::spad_conflict_history::HistoryOutputs;
use crate::model::spad_relssp::{Release, RelsspInputs, RelsspOutputs};
use crate::model::spad_scratchpad::ResponseControl;
use crate::model::spad_warp_scheduler::SchedulerInputs;
use spadkit_hdl::codes::{barrel, pipeline, stall};

/// What the units' handshakes come to in one cycle.
#[derive(Clone, Copy)]
pub(super) struct Wires {
    pub(super) out: SmPathOutputs,
    pub(super) elastic: bool,
    pub(super) mem_ready: bool,
    pub(super) nm_ready: bool,
    pub(super) resp: ResponseControl<Tag>,
    /// A response with source bit 0 leaves the scratchpad.
    pub(super) resp_leaves: bool,
    pub(super) resp_ready: bool,
    /// The context of the retry loop that the request port belongs to.
    pub(super) requester: Option<usize>,
    pub(super) spad_ready: bool,
    /// An entry is at the head of the memory path.
    pub(super) head_waits: bool,
    pub(super) pre_out_ready: bool,
    /// The entry at the head of the memory path is an ATOMIC for the sequencer.
    pub(super) head_atomic: bool,
    pub(super) hx_free: bool,
    pub(super) m_path: bool,
    pub(super) ex_fire: bool,
    pub(super) release: Option<Release>,
    /// What the history says to the mask.
    pub(super) answer: HistoryOutputs,
    pub(super) decision: Decision,
}

impl SmPath {
    /// Section 18.9, steps 1 to 10.
    pub(super) fn wires(&self, inputs: &SmPathInputs) -> Wires {
        let cfg = &inputs.cfg;
        let (unified, elastic) = (
            cfg.pipeline == pipeline::UNIFIED,
            cfg.pipeline >= pipeline::ELASTIC,
        );
        let m = self.config.path.mem_stages as usize;
        // Writeback and memory stages, from the end.
        let mem_ready = self.wb.mem_ready(inputs.icn.is_some());
        let mut stage_ready = mem_ready;
        for stage in (4..m).rev() {
            stage_ready |= self.mem[stage].is_none();
        }
        let resp = self.spad.response();
        let for_sequencer = resp.valid && resp.tag.sequencer;
        let resp_ready = for_sequencer || stage_ready;
        let resp_result = resp.valid && !for_sequencer;
        let mem_valid = match m {
            ..=4 => resp_result,
            _ => self.mem[m - 1].is_some(),
        };
        let nm_ready = mem_ready && !mem_valid;
        // Entry to MEM0.
        let spad_ready = self.spad.req_ready(resp_ready);
        let m_path = self.ex.is_some_and(|c| unified || kind::is_mem(c.kind));
        let entering = match self.config.path.hash_stage {
            0 => self
                .ex
                .filter(|_| m_path)
                .map(|control| Pass { control, slot: 0 }),
            _ => self.hx,
        };
        let head = self.pre.output(entering);
        let atomic = head.filter(|p| self.has_locks() && p.control.kind == kind::ATOMIC);
        let requester = self.atomics.requester(head.is_some());
        let pre_out_ready = requester.is_none()
            && match &atomic {
                Some(pass) => self.atomics.in_ready(pass),
                None => spad_ready,
            };
        let pre_in_ready = self.pre.in_ready(elastic, pre_out_ready);
        let hx_free = self.hx.is_none() || pre_in_ready;
        // EX.
        let mem_free = match self.config.path.hash_stage {
            0 => pre_in_ready,
            _ => hx_free,
        };
        let ex_fire = self.ex.is_some()
            && match m_path {
                true => mem_free,
                false => self.nonmem.in_ready(elastic, nm_ready),
            };
        let stall = match (self.ex.is_some() && !ex_fire, m_path) {
            (false, _) => stall::NONE,
            (true, false) => stall::WRITEBACK,
            (true, true) if requester.is_some() => stall::LOCK_RETRY,
            (true, true) if !self.spad.advances(resp_ready) => stall::WRITEBACK,
            (true, true) => stall::BANK_CONFLICT,
        };
        let release = self
            .ex
            .filter(|c| ex_fire && c.kind == kind::RELSSP)
            .map(|c| Release {
                warp: c.warp.into(),
                sub: c.pass.into(),
                mask: inputs.op.mask,
            });
        // Sharing, eligibility, selection.
        let rel = self
            .relssp
            .eval_from(self.block_state, &self.relssp_inputs(inputs, release));
        // With AHEAD a register is behind relssp, and one behind the history.
        let shown = self.ahead.as_ref().map_or(rel, |a| a.release);
        let answer = self.answer();
        let access = self
            .access
            .eval(&Self::access_inputs(inputs, &self.warp_blk, &shown, None));
        let seen = Seen {
            release: rel,
            access,
            mask: self.mask.eval(&answer).mask,
            ex_free: self.ex.is_none() || ex_fire,
            releases: release.is_some(),
        };
        let (decision, waits) = match &self.ahead {
            None => (self.issue(inputs, &seen), (access.wait_sh, access.viol)),
            Some(now) => (
                self.look_ahead(now, inputs, &seen),
                (now.qualified.wait, now.qualified.viol),
            ),
        };
        let out = self.outputs(Observed {
            rel: shown,
            access,
            waits,
            masked: decision.masked,
            issue: decision.issue,
            ex_hold: self.ex.is_some() && !ex_fire,
            stall,
        });
        Wires {
            out,
            elastic,
            mem_ready,
            nm_ready,
            resp,
            resp_leaves: resp_result && stage_ready,
            resp_ready,
            requester,
            spad_ready,
            head_waits: head.is_some(),
            pre_out_ready,
            head_atomic: atomic.is_some(),
            hx_free,
            m_path,
            ex_fire,
            release,
            answer,
            decision,
        }
    }

    /// What the history says to the mask in this cycle.
    pub(super) fn answer(&self) -> HistoryOutputs {
        match &self.ahead {
            None => self.history.eval(),
            Some(ahead) => ahead.answer,
        }
    }

    fn relssp_inputs<'a>(
        &'a self,
        inputs: &SmPathInputs,
        release: Option<Release>,
    ) -> RelsspInputs<'a> {
        RelsspInputs {
            rst: inputs.rst,
            launch: None,
            release,
            exit: inputs.exit,
            warp_blk: &self.warp_blk,
        }
    }

    pub(super) fn access_inputs<'a>(
        inputs: &SmPathInputs<'a>,
        warp_blk: &'a [u8],
        rel: &RelsspOutputs,
        acquire: Option<usize>,
    ) -> AccessInputs<'a> {
        AccessInputs {
            rst: inputs.rst,
            cfg_sharing: inputs.cfg.sharing,
            cfg_limit: inputs.cfg.limit,
            launch: None,
            rel_done: rel.rel_done,
            live: rel.live,
            warp_blk,
            off_shmem: inputs.offers.shared & inputs.offers.valid,
            off_hi: &inputs.offers.hi,
            acquire,
        }
    }

    /// Eligible warps (section 18.2).
    pub(super) fn ready(&self, inputs: &SmPathInputs, allow: WarpMask) -> WarpMask {
        let (m, n) = (&self.mem_in_flight, &self.nonmem_in_flight);
        let offers = inputs.offers;
        let barrel_ok = match inputs.cfg.barrel {
            barrel::STRICT => m.zero & n.zero,
            barrel::RELAXED => WarpMask::MAX,
            _ => (offers.mem & n.zero) | (!offers.mem & m.zero),
        };
        let mut ready = offers.valid & allow & barrel_ok & !m.full & !n.full;
        if self.atomics.full() {
            ready &= !offers.atomic;
        }
        ready &= !(offers.relssp & !m.zero);
        if let Some(c) = self.ex.filter(|c| c.kind == kind::RELSSP) {
            ready &= !(1 << c.warp);
        }
        ready
    }

    /// The pass that enters EXE where the issue is decided in the same cycle
    /// (section 18.3, AHEAD = 0).
    fn issue(&self, inputs: &SmPathInputs, seen: &Seen) -> Decision {
        let cfg = &inputs.cfg;
        let choice = self.scheduler.eval(&SchedulerInputs {
            rst: inputs.rst,
            policy: cfg.policy,
            aware: cfg.aware,
            violate: cfg.violate,
            ready: self.ready(inputs, seen.access.allow),
            is_mem: inputs.offers.mem,
            mask: seen.mask,
            cls: seen.access.cls,
            take: false,
            age: inputs.age,
            active: inputs.active,
        });
        let picked = choice.sel.filter(|_| seen.ex_free && !self.multi.on);
        let taken = picked.map(|warp| self.taken(inputs, warp));
        let issue = match self.multi.on {
            true => Some(self.multi.pass()).filter(|_| seen.ex_free),
            false => taken.map(|t| t.control),
        };
        Decision {
            issue,
            taken,
            picked,
            masked: choice.masked,
            selection: Selection::Nothing,
            next: None,
        }
    }

    fn outputs(&self, seen: Observed) -> SmPathOutputs {
        SmPathOutputs {
            iss: seen.issue.map(|c| Issue {
                warp: c.warp.into(),
                pass: c.pass,
                last: c.last,
            }),
            ex_hold: seen.ex_hold,
            icn_ready: self.wb.icn_ready(),
            wb: self.writeback(),
            wait_sh: seen.waits.0,
            viol: seen.waits.1,
            locked: seen.access.locked,
            owner: seen.access.owner,
            rel_done: seen.rel.rel_done,
            live: seen.rel.live,
            unlock: seen.rel.unlock,
            stall: seen.stall,
            masked: seen.masked,
            seq_state: self.atomics.state(),
            occ: self.occupancy(),
            nm_valid: self.nonmem.stage_valid(),
            pre_count: self.pre.count(),
        }
    }

    fn writeback(&self) -> Option<Writeback> {
        let (src, pass) = self.wb.wb()?;
        let (control, result) = (pass.control, self.pool.at(pass.slot));
        Some(Writeback {
            src,
            warp: control.warp.into(),
            tag: control.tag,
            kind: control.kind,
            pass: control.pass,
            last: control.last,
            mask: result.mask,
            success: result.success,
            error: result.error,
            degree: result.degree,
        })
    }

    fn occupancy(&self) -> u32 {
        let mut occ = u32::from(self.ex.is_some());
        let mut bit = 1;
        let mut stage = |valid: bool| {
            occ |= u32::from(valid) << bit;
            bit += 1;
        };
        if self.config.path.hash_stage == 1 {
            stage(self.hx.is_some());
        }
        stage(self.spad.mem0_valid());
        let m = self.config.path.mem_stages as usize;
        let stages = self.spad.stages();
        for k in 0..m.min(4) - 1 {
            stage(stages >> k & 1 == 1);
        }
        for k in 4..m {
            stage(self.mem[k].is_some());
        }
        stage(self.wb.wb().is_some());
        occ
    }
}

/// What `outputs` shows of the combinational signals.
struct Observed {
    rel: RelsspOutputs,
    access: AccessOutputs,
    /// `wait_sh` and `viol`.
    waits: (WarpMask, WarpMask),
    masked: bool,
    issue: Option<Control>,
    ex_hold: bool,
    stall: u8,
}

impl Multi {
    /// The next pass.
    fn pass(&self) -> Control {
        Control {
            pass: self.next,
            last: self.next == self.last_pass,
            ..self.control
        }
    }
}
