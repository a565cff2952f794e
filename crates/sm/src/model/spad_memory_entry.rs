//! `spad_memory_entry`: PREMEM, and the choice of what enters MEM0: its head or the retry
//! sequencer (microarchitecture/memory-entry.md).

mod contexts;
mod request;

use super::kind;
use super::pass::{Pass, PassPool};
use super::spad_premem_queue::{PrememInputs, PrememQueue};
use super::spad_retry_sequencer::{SequencerResponse, State};
use crate::config::Config;
use contexts::ContextInputs;
pub(crate) use contexts::Contexts;
pub use request::{MemoryRequest, RequestLanes};

/// Inputs of one clock cycle. Operands of the passes are in a pool.
#[derive(Clone, Copy, Debug, Default)]
pub struct EntryInputs<'a> {
    /// Synchronous reset.
    pub rst: bool,
    /// The pipeline is elastic: PREMEM is on.
    pub elastic: bool,
    /// The pass that leaves the hash stage.
    pub input: Option<Pass>,
    /// The scratchpad takes a request.
    pub req_ready: bool,
    /// A response to an LDLK or STUL of the sequencer of that context.
    pub response: Option<(usize, SequencerResponse<'a>)>,
    /// An ATOMIC is issued in this cycle.
    pub take_atomic: bool,
}

/// Outputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryOutputs {
    /// The pass is taken; comb(input, req_ready).
    pub in_ready: bool,
    /// The request to the scratchpad; comb(input).
    pub request: Option<MemoryRequest>,
    /// The request port belongs to the sequencer; registered with one context.
    pub seq_busy: bool,
    /// State of the sequencer, the first one; registered.
    pub seq_state: State,
    /// No further ATOMIC may be issued; registered.
    pub atom_infl: bool,
    /// Entries in PREMEM; registered.
    pub pre_count: usize,
    /// The head of the memory path, which `req_*` shows where the sequencer does
    /// not ask; comb(input).
    pub head: Option<Pass>,
    /// Whether the head leaves; no port.
    pub(crate) head_leaves: bool,
    /// Whether the head is an ATOMIC, for a sequencer; no port.
    head_is_atomic: bool,
}

/// The passes in PREMEM, and the atomics that the retry sequencer repeats. A repeated pass goes
/// before the head of PREMEM.
#[derive(Clone, Debug)]
pub struct MemoryEntry {
    pre: PrememQueue<Pass>,
    pub(crate) atomics: Contexts,
    has_locks: bool,
}

impl MemoryEntry {
    /// The unit of `config`, after reset.
    pub fn new(config: &Config) -> Self {
        MemoryEntry {
            pre: PrememQueue::new(config.parameters().PQ),
            atomics: Contexts::new(config),
            has_locks: config.path.locks != 0,
        }
    }

    /// Rounds of the pass in the first context; 0 if none.
    pub fn rounds(&self) -> u32 {
        self.atomics.rounds_of_first()
    }

    /// Rounds of all passes since reset.
    pub fn all_rounds(&self) -> u64 {
        self.atomics.all_rounds()
    }

    /// No further ATOMIC may be issued.
    pub fn atom_infl(&self) -> bool {
        self.has_locks && self.atomics.full()
    }

    /// The outputs of this cycle.
    #[inline(always)]
    pub fn eval(&self, inputs: &EntryInputs) -> EntryOutputs {
        let head = self.pre.output(inputs.input);
        let atomic = head.as_ref().filter(|pass| self.is_for_sequencer(pass));
        let requester = self.atomics.requester(head.is_some());
        let out_ready = requester.is_none()
            && match atomic {
                Some(pass) => self.atomics.in_ready(pass),
                None => inputs.req_ready,
            };
        let head_is_atomic = atomic.is_some();
        EntryOutputs {
            in_ready: self.pre.in_ready(inputs.elastic, out_ready),
            request: match (requester, head) {
                (Some(context), _) => Some(MemoryRequest::Sequencer(context)),
                (None, Some(pass)) if !head_is_atomic => Some(MemoryRequest::Pass(pass)),
                _ => None,
            },
            seq_busy: requester.is_some(),
            seq_state: self.atomics.state(),
            atom_infl: self.atom_infl(),
            pre_count: self.pre.count(),
            head,
            head_leaves: head.is_some() && out_ready,
            head_is_atomic,
        }
    }

    /// The lanes of a request that [`eval`](Self::eval) showed in this cycle.
    pub fn lanes<'a>(&self, request: MemoryRequest, pool: &'a PassPool) -> RequestLanes<'a> {
        match request {
            MemoryRequest::Pass(pass) => RequestLanes::Pass(pass, pool.at(pass.slot)),
            MemoryRequest::Sequencer(context) => match self.atomics.request(context) {
                Some(request) => RequestLanes::Sequencer(context, Box::new(request)),
                None => RequestLanes::None,
            },
        }
    }

    /// The clock edge, with the outputs of this cycle.
    #[inline(always)]
    pub fn commit(&mut self, inputs: &EntryInputs, outputs: &EntryOutputs, pool: &PassPool) {
        self.pre.commit(&PrememInputs {
            rst: inputs.rst,
            cfg_on: inputs.elastic,
            input: inputs.input,
            out_ready: outputs.head_leaves,
        });
        if inputs.rst {
            self.atomics.reset();
            return;
        }
        let to_sequencer = outputs.head_is_atomic && outputs.head_leaves;
        if to_sequencer || outputs.seq_busy || !self.atomics.rests() {
            self.commit_contexts(inputs, outputs, to_sequencer, pool);
        }
        if inputs.take_atomic && self.has_locks {
            self.atomics.issue();
        }
    }

    #[inline(always)]
    fn commit_contexts(
        &mut self,
        inputs: &EntryInputs,
        outputs: &EntryOutputs,
        to_sequencer: bool,
        pool: &PassPool,
    ) {
        let requester = match outputs.request {
            Some(MemoryRequest::Sequencer(context)) => Some(context),
            _ => None,
        };
        self.atomics.commit(
            &ContextInputs {
                atomic: outputs.head.filter(|_| to_sequencer),
                head: (outputs.head.is_some(), outputs.head_leaves),
                requester,
                ready: inputs.req_ready,
                response: inputs.response,
            },
            pool,
        );
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &EntryInputs, pool: &PassPool) -> EntryOutputs {
        let outputs = self.eval(inputs);
        self.commit(inputs, &outputs, pool);
        outputs
    }

    fn is_for_sequencer(&self, pass: &Pass) -> bool {
        self.has_locks && pass.control.kind == kind::ATOMIC
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::kind::{ATOMIC, LOAD, STUL};
    use crate::model::pass::PassControl;
    use crate::model::spad_scratchpad::op;

    /// A path with room for one pass in PREMEM, and slots for its operands.
    fn entry(locks: u32) -> (MemoryEntry, PassPool) {
        let mut config = Config::preset("gt200").unwrap();
        config.path.locks = locks;
        let mut pool = PassPool::default();
        for _ in 0..4 {
            let slot = pool.take();
            pool.at_mut(slot).mask = 1;
        }
        (MemoryEntry::new(&config), pool)
    }

    fn offer(kind: u8, slot: u8) -> EntryInputs<'static> {
        let control = PassControl {
            kind,
            last: true,
            ..PassControl::default()
        };
        EntryInputs {
            elastic: true,
            input: Some(Pass { control, slot }),
            req_ready: true,
            ..EntryInputs::default()
        }
    }

    fn slot(request: Option<MemoryRequest>) -> Option<u8> {
        match request? {
            MemoryRequest::Pass(pass) => Some(pass.slot),
            MemoryRequest::Sequencer(_) => None,
        }
    }

    #[test]
    fn passes_go_through_or_wait() {
        let (mut entry, pool) = entry(256);
        let out = entry.step(&offer(LOAD, 1), &pool);
        assert_eq!((out.in_ready, slot(out.request)), (true, Some(1)));
        let blocked = EntryInputs {
            req_ready: false,
            ..offer(LOAD, 2)
        };
        let out = entry.step(&blocked, &pool);
        assert_eq!((out.in_ready, slot(out.request)), (true, Some(2)));
        let out = entry.step(&offer(LOAD, 3), &pool);
        assert_eq!((out.pre_count, slot(out.request)), (1, Some(2)));
        let out = entry.step(&EntryInputs::default(), &pool);
        assert_eq!((out.pre_count, slot(out.request)), (1, Some(3)));
    }

    /// An ATOMIC leaves the memory path at once; its first request takes the
    /// port from whoever is at the head.
    #[test]
    fn an_atomic_goes_to_the_sequencer() {
        let (mut entry, pool) = entry(256);
        assert!(!entry.atom_infl());
        entry.step(
            &EntryInputs {
                take_atomic: true,
                ..EntryInputs::default()
            },
            &pool,
        );
        assert!(entry.atom_infl());
        let busy_port = EntryInputs {
            req_ready: false,
            ..offer(ATOMIC, 1)
        };
        let out = entry.step(&busy_port, &pool);
        assert_eq!((out.in_ready, out.request), (true, None));
        let out = entry.step(&offer(STUL, 2), &pool);
        assert_eq!(out.seq_state, State::Read);
        assert_eq!((out.seq_busy, out.head_leaves), (true, false));
        let out = entry.step(&offer(STUL, 3), &pool);
        assert_eq!((out.seq_busy, slot(out.request)), (false, Some(2)));
        entry.step(
            &EntryInputs {
                rst: true,
                ..EntryInputs::default()
            },
            &pool,
        );
        let out = entry.eval(&EntryInputs::default());
        assert_eq!((out.seq_state, out.request), (State::Idle, None));
        assert!(!out.atom_infl);
    }

    #[test]
    fn without_locks_an_atomic_is_like_any_unsupported_kind() {
        let (mut entry, pool) = entry(0);
        let out = entry.step(
            &EntryInputs {
                take_atomic: true,
                ..offer(ATOMIC, 1)
            },
            &pool,
        );
        let request = out.request.unwrap();
        let lanes = entry.lanes(request, &pool);
        assert_eq!(lanes.inputs(true).req_op, op::UNSUPPORTED);
        assert!(!entry.atom_infl());
    }
}
