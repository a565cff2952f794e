//! The clock edge of the path (docs/microarchitecture.md, section 18.9,
//! step 11).

use super::contexts::ContextInputs;
use super::kind;
use super::pool::{Pass, Slot};
use super::{Control, Multi, SmPath, SmPathInputs, Tag, Wires};
use crate::model::spad_access_unit::SharingLaunch;
use crate::model::spad_conflict_history::HistoryInputs;
use crate::model::spad_degree_accumulator::{AccumulatorInputs, ResolvedPass};
use crate::model::spad_nonmem_queue::NonmemInputs;
use crate::model::spad_premem_queue::PrememInputs;
use crate::model::spad_relssp::{RelsspInputs, RelsspOutputs, ThreadLaunch};
use crate::model::spad_retry_sequencer::{SequencerRequest, SequencerResponse};
use crate::model::spad_scratchpad::{ScratchpadInputs, op};
use crate::model::spad_warp_mask::MaskInputs;
use crate::model::spad_writeback_mux::{Source, WritebackInputs};

/// Byte enables of the sequencer's requests: all.
static ALL_BYTES: [u8; 64] = [0xff; 64];

impl SmPath {
    pub(super) fn commit_wires(&mut self, inputs: &SmPathInputs, w: &Wires) {
        if inputs.rst {
            self.reset();
            return;
        }
        self.update_in_flight(inputs, w);
        self.update_prediction(inputs, w);
        // Results first: what leaves frees its place in the pool.
        if inputs.wb_ready
            && let Some((_, pass)) = self.wb.wb()
        {
            self.pool.give(pass.slot);
        }
        let leaving = match self.ex {
            Some(control) if w.ex_fire => Some(self.take_operands(control, inputs, w.m_path)),
            _ => None,
        };
        let to_mem = leaving.filter(|_| w.m_path);
        let to_nonmem = leaving.filter(|_| !w.m_path);
        let answers = w.resp.valid && w.resp.tag.sequencer;
        let result = self.advance_memory_stages(w);
        self.write_back(inputs, w, result, to_nonmem);
        if answers {
            self.spad.response_data(&mut self.scratch.data);
        }
        let head = self.advance_entry(w, to_mem);
        self.enter_mem0(w, head);
        self.commit_sharing(inputs, w);
        self.commit_issue(inputs, w);
        self.hash
            .commit(self.config.hash_unit, inputs.hash_wr, inputs.row_wr);
    }

    /// Everything but the banks' contents.
    fn reset(&mut self) {
        let mut fresh = SmPath::new(&self.config);
        std::mem::swap(&mut fresh.spad, &mut self.spad);
        let mut nothing = offer(None, &self.scratch);
        nothing.rst = true;
        fresh.spad.commit(&nothing);
        *self = fresh;
    }

    fn update_in_flight(&mut self, inputs: &SmPathInputs, w: &Wires) {
        if let Some((source, Pass { control, .. })) = self.wb.wb()
            && inputs.wb_ready
            && control.last
            && source != Source::Icn
        {
            self.in_flight(control.kind).remove(control.warp.into());
        }
        if let Some(c) = w.decision.taken.map(|t| t.control) {
            self.in_flight(c.kind).add(c.warp.into());
            if c.kind == kind::ATOMIC && self.has_locks() {
                self.atomics.issue();
            }
        }
    }

    fn in_flight(&mut self, kind: u8) -> &mut super::Counters {
        match kind::is_mem(kind) {
            true => &mut self.mem_in_flight,
            false => &mut self.nonmem_in_flight,
        }
    }

    /// Mask, history and accumulator (sections 12 to 14, 18.6).
    fn update_prediction(&mut self, inputs: &SmPathInputs, w: &Wires) {
        let clear = inputs.kernel_clear;
        let taken = w
            .decision
            .taken
            .filter(|t| kind::is_predicted(t.control.kind));
        self.mask.commit(&MaskInputs {
            rst: false,
            clear,
            set: taken.map(|t| t.last_pass.into()),
            history: w.answer,
            hold: w.out.ex_hold,
        });
        self.history.commit(&HistoryInputs {
            rst: false,
            clear,
            lookup: taken.map(|t| t.control.pc),
            update: self.accumulator.eval(),
        });
        let control = w.resp.tag.control;
        let pass = (w.resp_leaves && kind::is_predicted(control.kind)).then(|| {
            let windows = match control.kind {
                kind::LDLK | kind::STUL if self.has_locks() => self.config.path.lock_group_cycles,
                _ => 1,
            };
            ResolvedPass {
                occupancy: w.resp.degree.max(1) * windows,
                last: control.last,
                pc: control.pc,
            }
        });
        self.accumulator.commit(&AccumulatorInputs {
            rst: false,
            clear,
            pass,
        });
    }

    /// Operands of the pass that leaves EX, hashed where the kind accesses
    /// the scratchpad.
    fn take_operands(&mut self, control: Control, inputs: &SmPathInputs, m_path: bool) -> Pass {
        let op = &inputs.op;
        let lanes = self.config.lanes as usize;
        let index = self.pool.take();
        let slot = self.pool.at_mut(index);
        slot.set_data(op.mask, op.data, lanes);
        slot.success = 0;
        slot.error = false;
        slot.degree = 0;
        if m_path && kind::is_shared(control.kind) {
            slot.aop = op.aop;
            slot.be[..lanes].copy_from_slice(&op.be[..lanes]);
            // Of all lanes: those that are not active are looked at nowhere.
            let places = (&mut slot.bank[..lanes], &mut slot.row[..lanes]);
            self.hash.places(&op.addr[..lanes], places.0, places.1);
            if matches!(control.kind, kind::LDLK | kind::STUL | kind::ATOMIC) {
                let hash = inputs.cfg.lock_hash;
                self.hash.locks(op.mask, hash, op.addr, &mut slot.lock);
            }
        }
        Pass {
            control,
            slot: index,
        }
    }

    /// Moves results from the scratchpad through MEM4 .. MEM(M-1); what the
    /// writeback mux takes.
    fn advance_memory_stages(&mut self, w: &Wires) -> Option<Pass> {
        let response = w.resp_leaves.then(|| self.take_response(w));
        let m = self.config.path.mem_stages as usize;
        if m <= 4 {
            return response;
        }
        let result = match w.mem_ready {
            true => self.mem[m - 1].take(),
            false => None,
        };
        for k in (5..m).rev() {
            if self.mem[k].is_none() {
                self.mem[k] = self.mem[k - 1].take();
            }
        }
        if self.mem[4].is_none() {
            self.mem[4] = response;
        }
        result
    }

    fn take_response(&mut self, w: &Wires) -> Pass {
        let (resp, tag) = (&w.resp, &w.resp.tag);
        let index = self.pool.take();
        let slot = self.pool.at_mut(index);
        slot.mask = resp.mask;
        slot.success = resp.success;
        slot.error = resp.error || tag.error;
        slot.degree = match tag.control.kind {
            kind::ATOMIC => tag.degree,
            _ => resp.degree,
        };
        self.spad.response_data(&mut slot.data);
        Pass {
            control: tag.control,
            slot: index,
        }
    }

    /// NONMEM queue and writeback register.
    fn write_back(
        &mut self,
        inputs: &SmPathInputs,
        w: &Wires,
        mem: Option<Pass>,
        to_nonmem: Option<Pass>,
    ) {
        let nm = match w.nm_ready {
            true => self.nonmem.output(w.elastic, to_nonmem),
            false => None,
        };
        self.nonmem.commit(&NonmemInputs {
            rst: false,
            cfg_elastic: w.elastic,
            input: to_nonmem,
            out_ready: w.nm_ready,
        });
        let icn_ready = self.wb.icn_ready();
        let icn = inputs.icn.map(|icn| {
            if !icn_ready {
                return Pass::default(); // it is not looked at
            }
            let index = self.pool.take();
            let slot = self.pool.at_mut(index);
            slot.set_data(icn.mask, icn.data, self.config.lanes as usize);
            slot.success = 0;
            slot.error = false;
            slot.degree = 0;
            let control = Control {
                warp: icn.warp as u8,
                kind: kind::GLOBAL,
                tag: icn.tag,
                pc: 0,
                pass: icn.pass,
                last: icn.last,
            };
            Pass {
                control,
                slot: index,
            }
        });
        self.wb.commit(&WritebackInputs {
            rst: false,
            icn,
            mem,
            nm,
            wb_ready: inputs.wb_ready,
        });
    }

    /// HX and PREMEM; what leaves the head of the memory path.
    fn advance_entry(&mut self, w: &Wires, to_mem: Option<Pass>) -> Option<Pass> {
        let staged = self.config.path.hash_stage == 1;
        let entering = if staged { self.hx } else { to_mem };
        let head = match w.pre_out_ready {
            true => self.pre.output(entering),
            false => None,
        };
        self.pre.commit(&PrememInputs {
            rst: false,
            cfg_on: w.elastic,
            input: entering,
            out_ready: w.pre_out_ready,
        });
        if staged && w.hx_free {
            self.hx = to_mem;
        }
        head
    }

    /// The scratchpad's and the sequencer's edge (section 18.5).
    fn enter_mem0(&mut self, w: &Wires, head: Option<Pass>) {
        let (atomic, plain) = match w.head_atomic {
            true => (head, None),
            false => (None, head),
        };
        let requester = w.requester.filter(|_| w.spad_ready);
        let request = requester.and_then(|context| self.atomics.request(context));
        let resp = &w.resp;
        let response = SequencerResponse {
            mask: resp.mask,
            data: &self.scratch.data,
            success: resp.success,
            error: resp.error,
            degree: resp.degree,
        };
        let answers = resp.valid && resp.tag.sequencer;
        let contexts = ContextInputs {
            atomic,
            head: (w.head_waits, head.is_some()),
            requester: w.requester,
            ready: w.spad_ready,
            response: answers.then_some((resp.tag.context.into(), response)),
        };
        self.atomics.commit(&contexts, &mut self.pool);
        let mut inputs = match (&request, requester) {
            (Some(request), Some(context)) => from_sequencer(request, context),
            _ => {
                let slot = plain.map_or(&*self.scratch, |pass| self.pool.at(pass.slot));
                offer(plain.map(|pass| pass.control), slot)
            }
        };
        inputs.resp_ready = w.resp_ready;
        self.spad.commit(&inputs);
        if let Some(pass) = plain {
            self.pool.give(pass.slot);
        }
    }

    pub(super) fn commit_sharing(&mut self, inputs: &SmPathInputs, w: &Wires) {
        // As the access unit sees them.
        let rel = RelsspOutputs {
            rel_done: w.out.rel_done,
            live: w.out.live,
            unlock: w.out.unlock,
        };
        let acquire = w.decision.taken.map(|t| t.control.warp.into());
        let mut access = SmPath::access_inputs(inputs, &self.warp_blk, &rel, acquire);
        access.launch = inputs.launch.map(|launch| SharingLaunch {
            block: launch.block,
            shared: launch.shared,
        });
        self.access.commit(&access);
        if inputs.launch.is_none() && inputs.exit.is_none() && w.release.is_none() {
            return;
        }
        self.relssp.commit(&RelsspInputs {
            rst: false,
            launch: inputs.launch.map(|launch| ThreadLaunch {
                warps: launch.warps,
                last: launch.last,
            }),
            release: w.release,
            exit: inputs.exit,
            warp_blk: &self.warp_blk,
        });
        if let Some(launch) = inputs.launch {
            for (warp, block) in self.warp_blk.iter_mut().enumerate() {
                if launch.warps >> warp & 1 == 1 {
                    *block = launch.block as u8;
                }
            }
        }
        self.block_state = self.relssp.registered(&self.warp_blk);
    }

    fn commit_issue(&mut self, inputs: &SmPathInputs, w: &Wires) {
        debug_assert!(!inputs.rst);
        if let Some(control) = w.decision.issue {
            self.ex = Some(control);
        } else if w.ex_fire {
            self.ex = None;
        }
        self.scheduler.commit_selected(false, w.decision.picked);
        self.ahead = w.decision.next;
        if let (None, Some(control)) = (&self.ahead, w.decision.issue) {
            self.multi = Multi {
                on: !control.last,
                control,
                last_pass: w
                    .decision
                    .taken
                    .map_or(self.multi.last_pass, |t| t.last_pass),
                next: control.pass + 1,
            };
        }
    }
}

/// The scratchpad's inputs for a pass, or for none.
fn offer(control: Option<Control>, slot: &Slot) -> ScratchpadInputs<'_, Tag> {
    ScratchpadInputs {
        rst: false,
        req_valid: control.is_some(),
        req_op: control.map_or(op::PASS, |c| kind::operation(c.kind)),
        req_mask: slot.mask,
        req_bank: &slot.bank,
        req_row: &slot.row,
        req_lock: &slot.lock,
        req_data: &slot.data,
        req_be: &slot.be,
        req_tag: Tag {
            control: control.unwrap_or_default(),
            ..Tag::default()
        },
        resp_ready: false,
    }
}

/// The scratchpad's inputs for a request of a context's sequencer.
fn from_sequencer(
    request: &SequencerRequest<Control>,
    context: usize,
) -> ScratchpadInputs<'_, Tag> {
    ScratchpadInputs {
        rst: false,
        req_valid: true,
        req_op: request.op,
        req_mask: request.mask,
        req_bank: &request.bank,
        req_row: &request.row,
        req_lock: &request.lock,
        req_data: &request.data,
        req_be: &ALL_BYTES,
        req_tag: Tag {
            control: request.tag,
            sequencer: request.op != op::PASS,
            context: context as u8,
            error: request.error,
            degree: request.degree,
        },
        resp_ready: false,
    }
}
