//! The owners of the shared part of the scratchpad.

use super::Path;
use crate::module::{Module, Result, top};
use crate::signal::Bits;
use crate::{spad_access_unit, spad_release_register, spad_relssp};

impl Path<'_> {
    /// The units that decide the owners of the shared part.
    pub(super) fn sharing(&self) -> Result<Vec<Module>> {
        self.block_slots();
        Ok([self.releases()?, self.access()?].concat())
    }

    /// The block slot of each warp, from the launch on.
    fn block_slots(&self) {
        let (u, s, io, warp_blk) = (self.u, self.s, self.io, self.warp_blk);
        u.section("The block slot of each warp.");
        u.generate(|| {
            u.each("warp", self.index, (0, s.W), |i| {
                let starts = io.launch_valid & io.launch_wmask.at(i);
                let block = warp_blk.part(s.TW * i, s.TW);
                u.at_clock().when(starts).next(block, io.launch_block);
            });
        });
    }

    /// The blocks that have released the shared part.
    fn releases(&self) -> Result<Vec<Module>> {
        let (u, p, s, clock) = (self.u, self.p, self.s, self.clock);
        let (io, w, ex, warp_blk) = (self.io, self.w, self.ex, self.warp_blk);
        u.section("Who has released, and who may touch the shared part.");
        let shown = [io.rel_done, io.live, io.unlock];
        let now = match p.AHEAD {
            0 => shown,
            _ => u.wires(["now_done", "now_live", "now_unlock"], s.T),
        };
        let relssp = spad_relssp::emit_unit(p)?;
        u.instance(top(&relssp), "release_unit")
            .same(clock)
            .same([
                io.launch_valid,
                io.launch_block,
                io.launch_wmask,
                io.launch_last,
            ])
            .port("rel_valid", w.ex_fire & self.ex_relssp)
            .port("rel_warp", ex.warp)
            .port("rel_sub", ex.pass.part(0, p.SUBW))
            .port("rel_mask", io.op_mask)
            .same([io.exit_valid, io.exit_warp, io.exit_mask, warp_blk])
            .port("rel_done", now[0])
            .port("live", now[1])
            .port("unlock", now[2])
            .done();
        let register = match p.AHEAD {
            0 => Vec::new(),
            _ => spad_release_register::emit_unit(p)?,
        };
        if let Some(register) = register.last() {
            u.instance(register, "release_register")
                .same(clock)
                .same([io.launch_valid, io.launch_block])
                .same(now)
                .same(shown)
                .done();
        }
        Ok([relssp, register].concat())
    }

    /// The warps that may access the shared part.
    fn access(&self) -> Result<Vec<Module>> {
        let (u, clock) = (self.u, self.clock);
        let (io, w) = (self.io, self.w);
        let access = spad_access_unit::emit_unit(self.p)?;
        u.instance(top(&access), "access")
            .same(clock)
            .same([self.cfg.cfg_sharing, self.cfg.cfg_limit])
            .same([io.launch_valid, io.launch_block, io.launch_shared])
            .same([io.rel_done, io.live, self.warp_blk])
            .port("off_shmem", w.shares)
            .same([io.off_hi])
            .port("acq_valid", w.take)
            .port("acq_warp", w.take_warp)
            .same([w.allow])
            .port("wait_sh", w.allowed_wait)
            .port("viol", w.allowed_viol)
            .same([w.cls, io.locked, io.owner])
            .done();
        Ok(access)
    }
}
