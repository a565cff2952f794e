//! Issue: from the offers of the warps to passes in EX.

use super::Path;
use crate::codes::source;
use crate::module::{Module, Result, top};
use crate::signal::{Bits, Signal, code};
use crate::{spad_eligibility, spad_issue_select, spad_pass_issue};

impl Path<'_> {
    /// Eligibility and selection of warps, and their passes into EX.
    pub(super) fn issue(&self) -> Result<Vec<Module>> {
        let (u, s) = (self.u, self.s);
        u.section("Q: who may go.");
        let [ready, is_mem, is_atomic] = u.wires(["ready", "is_mem", "is_atomic"], s.W);
        let [busy, picked] = u.wires(["busy", "picked"], s.W);
        let room = u.wire("room", 1);
        let may_go = [ready, is_mem, is_atomic];
        let parts = [
            self.eligibility(busy, may_go)?,
            self.selection(may_go, room, picked)?,
            self.passes(picked, room, busy)?,
        ];
        Ok(parts.concat())
    }

    /// The eligible warps: `may_go` are the ready ones, and those whose
    /// instruction is an access or an atomic.
    fn eligibility(&self, busy: Signal, may_go: [Signal; 3]) -> Result<Vec<Module>> {
        let (u, p, clock) = (self.u, self.p, self.clock);
        let (cfg, io, w, ex, ex_relssp) = (self.cfg, self.io, self.w, self.ex, self.ex_relssp);
        let eligibility = spad_eligibility::emit_unit(p)?;
        let from_path = !io.wb_src.is(code(&source::FIELD, source::ICN));
        u.instance(top(&eligibility), "eligibility")
            .same(clock)
            .same([
                cfg.cfg_barrel,
                io.off_valid,
                io.off_kind,
                w.allow,
                busy,
                w.atom_infl,
            ])
            .same([ex_relssp, ex.warp, w.take, w.take_sel, w.take_kind])
            .port("retire", io.wb_valid & io.wb_ready & io.wb_last & from_path)
            .port("retire_warp", io.wb_warp)
            .port("retire_kind", io.wb_kind)
            .same(may_go)
            .same([w.shares])
            .done();
        Ok(eligibility)
    }

    /// The selected warp.
    fn selection(&self, may_go: [Signal; 3], room: Signal, picked: Signal) -> Result<Vec<Module>> {
        let (u, p, clock) = (self.u, self.p, self.clock);
        let (cfg, io, w) = (self.cfg, self.io, self.w);
        u.section("P and S: who goes.");
        let issue_select = spad_issue_select::emit_unit(p)?;
        let releases = w.ex_fire & self.ex_relssp;
        u.instance(top(&issue_select), "issue_select")
            .same(clock)
            .same([cfg.cfg_policy, cfg.cfg_aware, cfg.cfg_violate])
            .same(may_go)
            .same([w.shares])
            .same([w.cls, w.allowed_wait, w.allowed_viol, io.locked, io.owner])
            .port("changes", io.launch_valid | io.exit_valid | releases)
            .same([w.mask, w.mask_lasts, w.mask_likely, w.atom_infl, room])
            .same([w.take, w.take_sel, w.take_warp, picked])
            .same([io.masked, io.wait_sh, io.viol])
            .done();
        Ok(issue_select)
    }

    /// The passes of what goes, into EX.
    fn passes(&self, picked: Signal, room: Signal, busy: Signal) -> Result<Vec<Module>> {
        let (u, p, s, clock) = (self.u, self.p, self.s, self.clock);
        let (io, w, ex) = (self.io, self.w, self.ex);
        u.section("I and EX: its passes.");
        let pass_issue = spad_pass_issue::emit_unit(p)?;
        u.instance(top(&pass_issue), "pass_issue")
            .same(clock)
            .same([io.off_kind, io.off_words, io.off_tag, io.off_pc])
            .same([
                w.take,
                w.take_sel,
                w.take_warp,
                picked,
                w.ex_fire,
                room,
                busy,
            ])
            .same([w.take_kind, w.take_pc, w.take_np])
            .same([
                io.iss_valid,
                io.iss_warp,
                io.iss_pass,
                io.iss_last,
                w.ex_valid,
            ])
            .bundle("ex", ex.values(s))
            .done();
        Ok(pass_issue)
    }
}
