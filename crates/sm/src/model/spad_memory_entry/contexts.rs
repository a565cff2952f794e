//! The retry loop's contexts (microarchitecture/memory-entry.md): each
//! has a sequencer and, before it, a queue for the passes of one ATOMIC
//! instruction. The RTL has one; several are in the model only.

use crate::config::Config;
use crate::model::pass::{Pass, PassPool};
use crate::model::spad_premem_queue::{PrememInputs, PrememQueue};
use crate::model::spad_retry_sequencer::{
    AtomicPass, RetrySequencer, SequencerInputs, SequencerRequest, SequencerResponse, State,
};
use crate::model::spad_scratchpad::op;

#[derive(Clone, Debug)]
pub(crate) struct Context {
    /// Whether the context has an instruction that has not ended.
    taken: bool,
    pub(crate) passes: PrememQueue<Pass>,
    pub(crate) sequencer: RetrySequencer<Pass>,
}

impl Context {
    pub(crate) fn is_idle(&self) -> bool {
        self.sequencer.state() == State::Idle
    }
}

/// The contexts of the machine.
#[derive(Clone, Debug)]
pub(crate) struct Contexts {
    pub(crate) list: Vec<Context>,
    /// ATOMIC instructions from their issue to the end of their last pass.
    in_flight: usize,
    /// The context whose instruction's passes arrive.
    filling: usize,
    /// The context whose request was taken last.
    last: usize,
    /// Whether the head of the memory path goes next, with several contexts.
    heads_turn: bool,
    /// Rounds begun since reset.
    rounds: u64,
}

/// The inputs of the contexts at a clock edge.
pub(super) struct ContextInputs<'a> {
    /// The entry at the head of the memory path, if it is an ATOMIC that leaves it.
    pub(super) atomic: Option<Pass>,
    /// An entry waits at the head of the memory path, and leaves it.
    pub(super) head: (bool, bool),
    /// The context that the scratchpad's port belongs to.
    pub(super) requester: Option<usize>,
    /// The scratchpad takes a request.
    pub(super) ready: bool,
    /// A response, and whose it is.
    pub(super) response: Option<(usize, SequencerResponse<'a>)>,
}

impl Contexts {
    pub(super) fn new(config: &Config) -> Self {
        let context = Context {
            taken: false,
            passes: PrememQueue::new(config.parameters().PQ),
            sequencer: RetrySequencer::new(config),
        };
        Contexts {
            list: vec![context; config.path.retry_contexts as usize],
            in_flight: 0,
            filling: 0,
            last: 0,
            heads_turn: false,
            rounds: 0,
        }
    }

    /// No further ATOMIC may be issued.
    pub(super) fn full(&self) -> bool {
        self.in_flight >= self.list.len()
    }

    /// Everything but the contents of the sequencers' operand registers.
    pub(super) fn reset(&mut self) {
        for context in &mut self.list {
            context.taken = false;
            context.passes.commit(&PrememInputs {
                rst: true,
                cfg_on: true,
                input: None,
                out_ready: false,
            });
            context.sequencer.commit(&SequencerInputs {
                rst: true,
                at: None,
                sp_ready: false,
                sr: None,
            });
        }
        (self.in_flight, self.filling, self.last) = (0, 0, 0);
        (self.heads_turn, self.rounds) = (false, 0);
    }

    /// An ATOMIC is issued; one too many, as no issue does it, is not counted.
    pub(super) fn issue(&mut self) {
        self.in_flight = (self.in_flight + 1).min(self.list.len());
    }

    /// State of the first context.
    pub(super) fn state(&self) -> State {
        self.list
            .first()
            .map_or(State::Idle, |c| c.sequencer.state())
    }

    /// Rounds of the pass in the first context.
    pub(super) fn rounds_of_first(&self) -> u32 {
        self.list.first().map_or(0, |c| c.sequencer.rounds())
    }

    /// Rounds of all passes since reset.
    pub(super) fn all_rounds(&self) -> u64 {
        self.rounds
    }

    /// The context that the scratchpad's request port belongs to in this
    /// cycle. Several take turns, and let an entry at the head of the memory
    /// path go between two of them: it may be the unlocking that they wait for.
    pub(super) fn requester(&self, head_waits: bool) -> Option<usize> {
        if self.heads_turn && head_waits {
            return None;
        }
        let behind = self.last + 1..self.list.len();
        behind
            .chain(0..=self.last)
            .find(|&c| self.list[c].sequencer.sp_valid())
    }

    /// The context that `pass` of an ATOMIC belongs to: the first one takes a
    /// free context, the others follow it.
    fn of(&self, pass: &Pass) -> usize {
        let free = self.list.iter().position(|c| !c.taken);
        match pass.control.pass {
            0 => free.unwrap_or(self.filling),
            _ => self.filling,
        }
    }

    /// Whether an ATOMIC pass at the head of the memory path is taken.
    pub(super) fn in_ready(&self, pass: &Pass) -> bool {
        let context = &self.list[self.of(pass)];
        context.passes.in_ready(true, context.is_idle())
    }

    /// No context has a pass, and the head of the memory path is owed nothing.
    pub(super) fn rests(&self) -> bool {
        let rests = |c: &Context| c.is_idle() && !c.sequencer.owed && c.passes.count() == 0;
        !self.heads_turn && self.list.iter().all(rests)
    }

    /// The request of the context that the port belongs to.
    pub(super) fn request(&self, requester: usize) -> Option<SequencerRequest<Pass>> {
        self.list[requester].sequencer.request()
    }

    /// The clock edge, which changes nothing without `atomic` and `requester`
    /// where the contexts rest; the operands of passes are in `pool`.
    pub(super) fn commit(&mut self, inputs: &ContextInputs, pool: &PassPool) {
        let target = inputs.atomic.as_ref().map(|pass| self.of(pass));
        if let Some(target) = target {
            self.filling = target;
            self.list[target].taken = true;
        }
        let fired = inputs.requester.filter(|_| inputs.ready);
        for (i, context) in self.list.iter_mut().enumerate() {
            let idle = context.is_idle();
            let input = inputs.atomic.filter(|_| target == Some(i));
            let at = if idle {
                context.passes.output(input)
            } else {
                None
            };
            context.passes.commit(&PrememInputs {
                rst: false,
                cfg_on: true,
                input,
                out_ready: idle,
            });
            let response = inputs.response.as_ref().filter(|r| r.0 == i);
            if idle && at.is_none() && response.is_none() {
                continue;
            }
            if fired == Some(i)
                && let Some(request) = context.sequencer.request()
            {
                self.rounds += u64::from(request.op == op::LDLK);
                if request.op == op::PASS && request.tag.control.last {
                    context.taken = false;
                    self.in_flight = self.in_flight.saturating_sub(1);
                }
            }
            context.sequencer.commit(&SequencerInputs {
                rst: false,
                at: at.map(|pass| atomic_pass(pass, pool)),
                sp_ready: fired == Some(i),
                sr: response.map(|r| r.1),
            });
        }
        self.last = fired.unwrap_or(self.last);
        let (waits, leaves) = inputs.head;
        let owed = fired.is_some() || self.heads_turn && waits && !leaves;
        self.heads_turn = owed && self.list.len() > 1;
    }
}

fn atomic_pass(pass: Pass, pool: &PassPool) -> AtomicPass<'_, Pass> {
    let slot = pool.at(pass.slot);
    AtomicPass {
        aop: slot.aop,
        mask: slot.mask,
        bank: &slot.bank,
        row: &slot.row,
        lock: &slot.lock,
        data: &slot.data,
        tag: pass,
    }
}
