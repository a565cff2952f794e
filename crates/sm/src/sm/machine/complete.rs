//! Completion: writebacks and what they set free
//! (microarchitecture/sm-model.md).

use super::Sm;
use crate::model::spad_sm_path::{Writeback, kind};
use crate::model::{Source, warps_of};
use crate::sm::global::Return;
use crate::sm::instr::{Detail, InstrKind};
use crate::sm::warp::Pending;
use spadkit_base::error::{Error, Result};

impl Sm<'_> {
    /// A pass is in the writeback register in this cycle, and leaves it.
    pub(super) fn written_back(&mut self, wb: &Writeback) -> Result<()> {
        let phases = self.has_phases();
        let from_off_chip = wb.src == Source::Icn;
        let warp = &mut self.warps[wb.warp];
        if wb.last && !from_off_chip {
            warp.in_path -= 1;
        }
        // Kinds that complete by their latency have left no entry.
        let kind_of = |p: &Pending| {
            if p.claims {
                kind::LOAD
            } else {
                p.kind.path_kind()
            }
        };
        let expects = |p: &Pending| p.tag == wb.tag && kind_of(p) == wb.kind;
        let Some(i) = warp.pending.iter().position(expects) else {
            return Ok(());
        };
        let pending = &mut warp.pending[i];
        if wb.error {
            let what = format!(
                "block {}, warp {}, pc {}: {} was answered with an error",
                warp.block,
                warp.index,
                pending.pc,
                pending.kind.name()
            );
            return Err(Error::usage(
                what,
                "expected supported operations on words inside the scratchpad",
            ));
        }
        // Elsewhere the first word of each lane counts (docs/guides/conflicts.md).
        if pending.kind.is_shared() && (phases || u32::from(wb.pass) % pending.words == 0) {
            self.statistics.pass(wb.degree);
        }
        if wb.kind == kind::LDLK {
            pending.success |= wb.success << (u32::from(wb.pass) * self.config.lanes);
        }
        if !wb.last {
            return Ok(());
        }
        let is_sent = pending.kind.is_global() || pending.kind == InstrKind::Texture;
        if is_sent && !from_off_chip {
            self.send_global(wb.warp, i);
            return Ok(());
        }
        let done = warp.pending.remove(i);
        self.complete(wb.warp, &done);
        if done.kind == InstrKind::LdGlobal {
            self.loaded(wb.warp, done.tag)?;
        }
        Ok(())
    }

    /// A global access has passed the memory stages: its segments go out.
    fn send_global(&mut self, w: usize, i: usize) {
        let pending = &mut self.warps[w].pending[i];
        let segments = std::mem::take(&mut pending.segments);
        if pending.kind != InstrKind::StGlobal {
            let ready = if pending.kind == InstrKind::Texture {
                self.texture.fetch(pending.mask.count_ones(), self.cycle)
            } else if let Detail::PastL1 { writes } = pending.detail {
                self.global.send_past_l1(&segments, self.cycle, writes)
            } else {
                self.global.send_load(&segments, self.cycle)
            };
            self.global.expect(Return {
                warp: w,
                tag: pending.tag,
                mask: pending.mask,
                ready,
                pass: 0,
            });
        } else {
            let sent = self.global.send_store(&segments, self.cycle);
            let warp = &mut self.warps[w];
            let done = warp.pending.remove(i);
            if let Some(cycle) = sent.acknowledged {
                warp.acknowledged_at = warp.acknowledged_at.max(cycle);
                self.completed_in(cycle);
            }
            // The warp continues; the run ends when the store has left.
            self.complete(w, &done);
            self.completed_in(sent.taken);
            self.entry_is_known(segments.is_empty());
        }
    }

    /// A store was sent: those that wait for an entry know when the next is
    /// free, if none is `at_once`.
    fn entry_is_known(&mut self, at_once: bool) {
        let next = self.cycle + 1;
        let free = match self.global.next_entry() {
            Some(free) if !at_once => free.max(next),
            _ => next,
        };
        for w in warps_of(self.sets.store_waits) {
            self.check(w, free);
        }
    }

    /// An instruction has been written back, and completes: in this cycle, or
    /// where loads take longer than the path, later.
    fn complete(&mut self, w: usize, done: &Pending) {
        let (written, strict) = (self.cycle, self.is_strict());
        // Strict barrel execution has the latency of the pipeline alone.
        let delay = match done.kind {
            InstrKind::LdShared | InstrKind::LdLock if !strict => self.config.shared_delay(),
            _ if done.claims && !strict => self.config.shared_delay(),
            _ => 0,
        };
        let cycle = written + u64::from(delay);
        let front_end = u64::from(self.config.sm.frontend_stages);
        let warp = &mut self.warps[w];
        warp.done_at = warp.done_at.max(cycle);
        warp.set_register(done.dst, cycle + 1);
        if let (InstrKind::LdLock, Some(register)) = (done.kind, done.dst) {
            warp.set_predicate(register, done.success);
        }
        if strict {
            warp.ready_at = cycle + 1 + front_end;
        }
        if done.kind == InstrKind::AtomShared {
            self.atomics -= 1;
        }
        if let Detail::Barrier(at) = done.detail {
            self.come_to(w, at, done.mask, cycle);
        }
        // An offered instruction has no dependences left.
        if !self.warps[w].offered {
            self.check(w, written + 1);
        }
        self.completed_in(cycle);
    }

    /// An instruction completes in `cycle`, now or later.
    pub(super) fn completed_in(&mut self, cycle: u64) {
        self.statistics.cycles = self.statistics.cycles.max(cycle);
        self.progress.last = self.progress.last.max(cycle);
    }
}
