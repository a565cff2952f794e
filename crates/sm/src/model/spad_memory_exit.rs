//! `spad_memory_exit`: from the scratchpad's response through MEM4 .. MEM(M-1)
//! to the writeback mux (microarchitecture/pipelines.md,
//! microarchitecture/memory-entry.md and microarchitecture/memory-exit.md).

use super::kind;
use super::pass::{AccessTag, PassResult};
use super::spad_degree_accumulator::ResolvedPass;
use super::spad_scratchpad::ResponseControl;
use crate::config::Config;

/// Stages after the scratchpad that the model has room for: MEM4 .. MEM7.
const MAX_STAGES: usize = 4;

/// Inputs of one clock cycle. Data of the passes are in a pool.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExitInputs {
    /// Synchronous reset.
    pub rst: bool,
    /// The scratchpad's response.
    pub resp: ResponseControl<AccessTag>,
    /// The writeback mux takes the result.
    pub out_ready: bool,
}

/// Outputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExitOutputs {
    /// The response is taken; comb(resp, out_ready).
    pub resp_ready: bool,
    /// The response is the sequencer's; comb(resp).
    pub sr_valid: bool,
    /// `resolved_*`: a pass of a predicted kind is resolved; comb(resp, out_ready).
    pub resolved: Option<ResolvedPass>,
    /// The result; registered with M > 4, else comb(resp).
    pub out: Option<PassResult>,
    /// Occupied stages, MEM4 in bit 0; registered.
    pub mem_valid: u32,
    /// Slot of the result whose data the scratchpad shows, if it leaves; no
    /// port.
    pub(super) leaving: Option<u8>,
}

/// The stages.
#[derive(Clone, Debug)]
pub struct MemoryExit {
    /// MEM4 first.
    stages: [Option<PassResult>; MAX_STAGES],
    /// Number of stages.
    depth: usize,
    /// Cycles of MEM0 per degree of an LDLK or STUL.
    lock_cycles: u32,
}

impl MemoryExit {
    /// The stages of `config`, empty.
    pub fn new(config: &Config) -> Self {
        let path = &config.path;
        MemoryExit {
            stages: [None; MAX_STAGES],
            depth: (path.mem_stages as usize).saturating_sub(4),
            lock_cycles: match path.locks {
                0 => 1,
                _ => path.lock_group_cycles,
            },
        }
    }

    /// The outputs of this cycle.
    #[inline(always)]
    pub fn eval(&self, inputs: &ExitInputs) -> ExitOutputs {
        let resp = &inputs.resp;
        let stages = &self.stages[..self.depth];
        let free = inputs.out_ready || stages.iter().any(Option::is_none);
        let sr_valid = resp.valid && resp.tag.sequencer;
        let result = (resp.valid && !sr_valid).then(|| result(resp));
        let leaving = result.as_ref().filter(|_| free);
        let valid = stages.iter().rev();
        ExitOutputs {
            resp_ready: resp.tag.sequencer || free,
            sr_valid,
            resolved: leaving.and_then(|result| self.resolved(result, resp.degree)),
            out: match stages.last() {
                Some(last) => *last,
                None => result,
            },
            mem_valid: valid.fold(0, |m, stage| m << 1 | u32::from(stage.is_some())),
            leaving: leaving.map(|result| result.slot),
        }
    }

    /// The clock edge, with the outputs of this cycle.
    #[inline(always)]
    pub fn commit(&mut self, inputs: &ExitInputs, outputs: &ExitOutputs) {
        if self.depth == 0 {
            return;
        }
        let stages = &mut self.stages[..self.depth];
        if inputs.rst {
            stages.fill(None);
            return;
        }
        if let Some(last) = stages.last_mut().filter(|_| inputs.out_ready) {
            *last = None;
        }
        for k in (1..stages.len()).rev() {
            if stages[k].is_none() {
                stages[k] = stages[k - 1].take();
            }
        }
        if let Some(first) = stages.first_mut().filter(|first| first.is_none()) {
            *first = outputs.leaving.map(|_| result(&inputs.resp));
        }
    }

    /// One clock cycle.
    #[inline(always)]
    pub fn step(&mut self, inputs: &ExitInputs) -> ExitOutputs {
        let outputs = self.eval(inputs);
        self.commit(inputs, &outputs);
        outputs
    }

    /// Cycles of MEM0 that a pass of a predicted kind has taken.
    pub fn occupancy(&self, kind: u8, degree: u32) -> u32 {
        let cycles = match kind {
            kind::LDLK | kind::STUL => self.lock_cycles,
            _ => 1,
        };
        degree.max(1) * cycles
    }

    #[inline(always)]
    fn resolved(&self, result: &PassResult, degree: u32) -> Option<ResolvedPass> {
        let control = &result.control;
        kind::is_predicted(control.kind).then_some(ResolvedPass {
            occupancy: self.occupancy(control.kind, degree),
            last: control.last,
            pc: control.pc,
        })
    }
}

/// The payload of a response that is not the sequencer's.
fn result(resp: &ResponseControl<AccessTag>) -> PassResult {
    let tag = &resp.tag;
    let control = tag.pass.control;
    PassResult {
        control,
        slot: tag.pass.slot,
        mask: resp.mask,
        success: resp.success,
        error: resp.error || tag.error,
        degree: match control.kind {
            kind::ATOMIC => tag.degree,
            _ => resp.degree,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kind::{ALU, ATOMIC, LDLK, LOAD};

    fn exit(mem_stages: u32) -> MemoryExit {
        let mut config = Config::preset("fermi").unwrap();
        config.path.mem_stages = mem_stages;
        config.path.lock_group_cycles = 2;
        MemoryExit::new(&config)
    }

    fn response(kind: u8, slot: u8) -> ResponseControl<AccessTag> {
        let mut tag = AccessTag::default();
        tag.pass.slot = slot;
        tag.pass.control.kind = kind;
        tag.pass.control.last = true;
        ResponseControl {
            valid: true,
            degree: 3,
            tag,
            ..ResponseControl::default()
        }
    }

    fn inputs(resp: ResponseControl<AccessTag>, out_ready: bool) -> ExitInputs {
        ExitInputs {
            rst: false,
            resp,
            out_ready,
        }
    }

    #[test]
    fn four_stages_are_a_wire_and_more_close_their_bubbles() {
        let slot = |out: Option<PassResult>| out.map(|result| result.slot);
        let mut wire = exit(4);
        for ready in [false, true] {
            let out = wire.step(&inputs(response(LOAD, 1), ready));
            assert_eq!((out.resp_ready, slot(out.out)), (ready, Some(1)));
        }
        let mut stages = exit(6);
        let none = ResponseControl::default();
        let mut cycle = |resp, ready| {
            let out = stages.step(&inputs(resp, ready));
            (out.resp_ready, slot(out.out), out.mem_valid)
        };
        assert_eq!(cycle(response(LOAD, 1), false), (true, None, 0b00));
        assert_eq!(cycle(none, false), (true, None, 0b01));
        assert_eq!(cycle(response(LOAD, 2), false), (true, Some(1), 0b10));
        assert_eq!(cycle(response(LOAD, 3), false), (false, Some(1), 0b11));
        assert_eq!(cycle(response(LOAD, 3), true), (true, Some(1), 0b11));
        assert_eq!(cycle(none, true), (true, Some(2), 0b11));
        assert_eq!(cycle(none, true), (true, Some(3), 0b10));
        assert_eq!(cycle(none, true), (true, None, 0b00));
    }

    #[test]
    fn what_the_history_learns() {
        let exit = exit(4);
        let occupancy = |kind, ready| {
            let out = exit.eval(&inputs(response(kind, 0), ready));
            out.resolved.map(|pass| pass.occupancy)
        };
        assert_eq!(occupancy(LOAD, true), Some(3));
        assert_eq!(occupancy(LOAD, false), None);
        assert_eq!(occupancy(LDLK, true), Some(6));
        assert_eq!(occupancy(ALU, true), None);
        assert_eq!(occupancy(ATOMIC, true), None);
    }

    /// The sequencer's responses are always taken; its last one shows the
    /// degree of the first read.
    #[test]
    fn responses_of_the_sequencer() {
        let exit = exit(4);
        let mut resp = response(ATOMIC, 0);
        resp.tag.degree = 7;
        resp.tag.error = true;
        let result = exit.eval(&inputs(resp, true)).out.unwrap();
        assert_eq!((result.degree, result.error), (7, true));
        resp.tag.sequencer = true;
        let out = exit.eval(&inputs(resp, false));
        assert_eq!((out.sr_valid, out.resp_ready), (true, true));
        assert_eq!((out.out, out.resolved), (None, None));
    }
}
