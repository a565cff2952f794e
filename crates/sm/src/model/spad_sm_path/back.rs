//! Back of the path, from EX to the writeback port (microarchitecture/pipelines.md).
//! The ready signals are resolved from the end: `eval` asks the units in that order,
//! `commit` moves the passes in the order in which they go.

use super::SmPathInputs;
use super::banks::PathBanks;
use super::ports::{IcnData, Writeback};
use crate::config::Config;
use crate::model::kind;
use crate::model::lanes::MAX_LANES;
use crate::model::pass::{Pass, PassControl, PassPool, PassResult};
use crate::model::spad_hash_stage::{HashStage, HashStageInputs};
use crate::model::spad_memory_entry::{EntryInputs, EntryOutputs, MemoryEntry, RequestLanes};
use crate::model::spad_memory_exit::{ExitInputs, ExitOutputs, MemoryExit};
use crate::model::spad_nonmem_queue::{NonmemInputs, NonmemQueue};
use crate::model::spad_retry_sequencer::SequencerResponse;
use crate::model::spad_scratchpad::ScratchpadInputs;
use crate::model::spad_writeback_mux::{WritebackInputs, WritebackMux};
use spadkit_hdl::codes::{pipeline, stall};

#[derive(Clone, Debug)]
pub(crate) struct Back {
    pub(super) hash: HashStage,
    pub(crate) entry: MemoryEntry,
    pub(crate) spad: PathBanks,
    exit: MemoryExit,
    pub(crate) nonmem: NonmemQueue<PassResult>,
    pub(crate) wb: WritebackMux<PassResult>,
    pub(crate) pool: PassPool,
    /// Slot of the pass in EX, or of the next one.
    ex_slot: u8,
    shown: Shown,
    /// Data of a response to the sequencer.
    answer: Box<[u64; MAX_LANES]>,
    lanes: usize,
    hash_stages: u32,
    mem_stages: u32,
    /// A copy engine has a row for the banks, which goes before accesses. The
    /// RTL has no such port: there it is false.
    pub(crate) row: bool,
}

/// Slot of the result that the writeback port showed in the last cycle, and
/// whether it has left. It is kept until the next one.
#[derive(Clone, Copy, Debug, Default)]
struct Shown {
    slot: Option<u8>,
    left: bool,
}

/// The outputs of the units in one cycle; ready signals, from the end.
pub(crate) struct BackSignals {
    pub(crate) elastic: bool,
    nm_ready: bool,
    exit_inputs: ExitInputs,
    pub(crate) exit: ExitOutputs,
    pub(crate) req_ready: bool,
    /// The copy engine has the banks.
    pub(crate) row_taken: bool,
    pub(crate) entry: EntryOutputs,
    /// The pass that leaves the hash stage, if it is taken.
    pub(crate) hashed: Option<Pass>,
    /// The pass in EX, if it goes to the memory.
    to_mem: Option<Pass>,
    /// The pass in EX, if it goes to the NONMEM queue.
    to_nonmem: Option<Pass>,
    pub(crate) ex_fire: bool,
    pub(super) stall: u8,
}

impl Back {
    pub(super) fn new(config: &Config) -> Self {
        let mut pool = PassPool::default();
        Back {
            hash: HashStage::new(config),
            entry: MemoryEntry::new(config),
            spad: PathBanks::new(config),
            exit: MemoryExit::new(config),
            nonmem: NonmemQueue::new(config.parameters().NQ),
            wb: WritebackMux::new(config.path.ahead),
            ex_slot: pool.take(),
            pool,
            shown: Shown::default(),
            answer: Box::new([0; MAX_LANES]),
            lanes: config.lanes as usize,
            hash_stages: config.path.hash_stage,
            mem_stages: config.path.mem_stages,
            row: false,
        }
    }

    /// Data of the writeback port in the last cycle.
    pub(super) fn wb_data(&self) -> Option<&[u64]> {
        let data = &self.pool.at(self.shown.slot?).data;
        Some(&data[..self.lanes])
    }

    #[inline(always)]
    pub(super) fn writeback(&self) -> Option<Writeback> {
        let (source, result) = self.wb.wb()?;
        Some(Writeback::new(source, &result))
    }

    #[cfg(test)]
    pub(super) fn passes_in_flight(&self) -> usize {
        let of_others = 1 + usize::from(self.shown.left);
        self.pool.in_use() - of_others
    }

    /// The outputs of all units with `ex` in EX.
    #[inline(always)]
    pub(super) fn eval(&self, inputs: &SmPathInputs, ex: Option<PassControl>) -> BackSignals {
        let (rst, kind) = (inputs.rst, inputs.cfg.pipeline);
        let elastic = kind >= pipeline::ELASTIC;
        let mem_ready = self.wb.mem_ready(inputs.icn.is_some());
        let exit_inputs = ExitInputs {
            rst,
            resp: self.spad.response(),
            out_ready: mem_ready,
        };
        let exit = self.exit.eval(&exit_inputs);
        let nm_ready = mem_ready && exit.out.is_none();
        let spad_ready = self.spad.req_ready(exit.resp_ready);
        let row_taken = self.row && spad_ready;
        let req_ready = spad_ready && !self.row;
        let m_path = |c: &PassControl| kind == pipeline::UNIFIED || kind::is_mem(c.kind);
        let pass = |control| Pass {
            control,
            slot: self.ex_slot,
        };
        let to_mem = ex.filter(m_path).map(pass);
        let to_nonmem = ex.filter(|c| !m_path(c)).map(pass);
        let hashed = self.hash.output(to_mem);
        let entry = self.entry.eval(&EntryInputs {
            rst,
            elastic,
            input: hashed,
            req_ready,
            ..EntryInputs::default()
        });
        let mem_fires = to_mem.is_some() && self.hash.in_ready(entry.in_ready);
        let nonmem_fires = to_nonmem.is_some() && self.nonmem.in_ready(elastic, nm_ready);
        let ex_fire = mem_fires || nonmem_fires;
        let stall = match (ex.is_some() && !ex_fire, to_mem.is_some()) {
            (false, _) => stall::NONE,
            (true, false) => stall::WRITEBACK,
            (true, true) if entry.seq_busy => stall::LOCK_RETRY,
            (true, true) if !self.spad.advances(exit.resp_ready) => stall::WRITEBACK,
            (true, true) => stall::BANK_CONFLICT,
        };
        BackSignals {
            elastic,
            nm_ready,
            exit_inputs,
            exit,
            req_ready,
            row_taken,
            hashed,
            entry,
            to_mem,
            to_nonmem,
            ex_fire,
            stall,
        }
    }

    /// The clock edge; `take_atomic`: an ATOMIC is issued.
    #[inline(always)]
    pub(crate) fn commit(&mut self, inputs: &SmPathInputs, s: &BackSignals, take_atomic: bool) {
        self.show(inputs.wb_ready);
        let leaving = s.to_nonmem.filter(|_| s.ex_fire);
        let leaving = leaving.map(|pass| PassResult::of_operands(pass, inputs.op.mask));
        let nm = self.nonmem.output(s.elastic, leaving);
        self.take_response(s);
        self.take_operands(inputs, s);
        self.hash.commit(&HashStageInputs {
            rst: inputs.rst,
            hash_wr: inputs.hash_wr,
            row_wr: inputs.row_wr,
            input: s.to_mem,
            out_ready: s.entry.in_ready,
        });
        self.enter_memory(inputs, s, take_atomic);
        self.exit.commit(&s.exit_inputs, &s.exit);
        self.nonmem.commit(&NonmemInputs {
            rst: inputs.rst,
            cfg_elastic: s.elastic,
            input: leaving,
            out_ready: s.nm_ready,
        });
        let icn = inputs.icn.map(|icn| self.take_far_data(icn));
        self.wb.commit(&WritebackInputs {
            rst: inputs.rst,
            icn,
            mem: s.exit.out,
            nm,
            wb_ready: inputs.wb_ready,
        });
        if inputs.rst {
            self.pool.give_all_but(self.shown.slot);
            self.ex_slot = self.pool.take();
            self.shown.left = self.shown.slot.is_some();
        }
    }

    /// The writeback port in this cycle; results that left it before return their slots.
    #[inline(always)]
    fn show(&mut self, wb_ready: bool) {
        if let Some(slot) = self.shown.slot.filter(|_| self.shown.left) {
            self.pool.give(slot);
        }
        let slot = self.wb.wb().map(|(_, result)| result.slot);
        self.shown = Shown {
            slot,
            left: slot.is_some() && wb_ready,
        };
    }

    /// Data of a response go to the slot of its pass or to the sequencer.
    #[inline(always)]
    fn take_response(&mut self, s: &BackSignals) {
        if let Some(slot) = s.exit.leaving {
            let slot = self.pool.at_mut(slot);
            self.spad.response_data(&mut slot.data);
        } else if s.exit.sr_valid {
            self.spad.response_data(&mut self.answer[..]);
        }
    }

    /// Operands of the pass that leaves EX.
    #[inline(always)]
    fn take_operands(&mut self, inputs: &SmPathInputs, s: &BackSignals) {
        if !s.ex_fire {
            return;
        }
        let kind = s
            .to_mem
            .or(s.to_nonmem)
            .map_or(kind::ALU, |pass| pass.control.kind);
        let slot = self.pool.at_mut(self.ex_slot);
        self.hash.fill(kind, &inputs.op, inputs.cfg.lock_hash, slot);
        self.ex_slot = self.pool.take();
    }

    /// The edge of the memory's entry and of the scratchpad after it.
    #[inline(always)]
    fn enter_memory(&mut self, inputs: &SmPathInputs, s: &BackSignals, take_atomic: bool) {
        let request = s.entry.request.filter(|_| s.req_ready);
        let lanes = match request {
            Some(request) => self.entry.lanes(request, &self.pool),
            None => RequestLanes::None,
        };
        let resp = &s.exit_inputs.resp;
        let answer = SequencerResponse {
            mask: resp.mask,
            data: &self.answer[..],
            success: resp.success,
            error: resp.error,
            degree: resp.degree,
        };
        let answers = s.exit.sr_valid;
        let entry = EntryInputs {
            rst: inputs.rst,
            elastic: s.elastic,
            input: s.hashed,
            req_ready: s.req_ready,
            response: answers.then_some((resp.tag.context.into(), answer)),
            take_atomic,
        };
        self.entry.commit(&entry, &s.entry, &self.pool);
        if request.is_some() || inputs.rst || !self.spad.is_empty() {
            self.spad.commit(&ScratchpadInputs {
                rst: inputs.rst,
                ..lanes.inputs(s.exit.resp_ready)
            });
        }
    }

    /// Data from off-chip; where they are not taken, the mux sees that they
    /// are offered.
    fn take_far_data(&mut self, icn: IcnData) -> PassResult {
        if !self.wb.icn_ready() {
            return PassResult::default();
        }
        let slot = self.pool.take();
        let data = self.pool.at_mut(slot);
        data.set_data(icn.mask, icn.data, self.lanes);
        let control = PassControl {
            warp: icn.warp as u8,
            kind: kind::GLOBAL,
            tag: icn.tag,
            pc: 0,
            pass: icn.pass,
            last: icn.last,
        };
        PassResult::of_operands(Pass { control, slot }, icn.mask)
    }

    /// Valid bits of HX (if any), MEM0, MEM1 ... WB from bit 0.
    #[inline(always)]
    pub fn occupancy(&self, s: &BackSignals) -> u32 {
        let mut occ = 0;
        let mut bits = 0;
        let mut stages = |valid: u32, count: u32| {
            occ |= valid << bits;
            bits += count;
        };
        let (depth, in_spad) = (self.mem_stages, self.mem_stages.min(4));
        stages(self.hash.hx_valid().into(), self.hash_stages);
        stages(self.spad.mem0_valid().into(), 1);
        stages(self.spad.stages(), in_spad - 1);
        stages(s.exit.mem_valid, depth - in_spad);
        stages(self.wb.wb().is_some().into(), 1);
        occ
    }
}
