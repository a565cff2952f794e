//! `spad_retry_sequencer`: one atomic pass as rounds of load-and-lock, update,
//! store-and-unlock and branch (atomics paper, sections II and III;
//! microarchitecture/retry-sequencer.md).

use super::lanes::{LaneMask, MAX_LANES, lanes_of};
use super::spad_scratchpad::op;
use crate::config::{Config, RetryLatencies};
pub use spadkit_hdl::codes::aop;
use spadkit_hdl::codes::seq;

/// Most rounds that the counter shows.
const MAX_ROUNDS: u32 = u16::MAX as u32;
/// The state counter saturates at 13 bits: the longest target is 63 * 64. The
/// RTL has as many bits as its machine needs (CTW), which cannot be seen.
pub(crate) const MAX_COUNT: u32 = (1 << 13) - 1;

/// The states, with their codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Takes a pass.
    #[default]
    Idle = seq::IDLE as isize,
    /// Load and lock.
    Read = seq::READ as isize,
    /// Computes.
    Update = seq::UPDATE as isize,
    /// Store and unlock.
    Write = seq::WRITE as isize,
    /// Branches back for the lanes without a lock.
    Branch = seq::BRANCH as isize,
    /// Hands over the old values.
    Done = seq::DONE as isize,
}

/// An atomic pass.
#[derive(Clone, Copy, Debug)]
pub struct AtomicPass<'a, T> {
    /// Atomic operation (microarchitecture/parameters.md).
    pub aop: u8,
    /// Active lanes.
    pub mask: LaneMask,
    /// Bank of each lane.
    pub bank: &'a [u8],
    /// Row of each lane.
    pub row: &'a [u16],
    /// Lock of each lane.
    pub lock: &'a [u16],
    /// Operand of each lane.
    pub data: &'a [u64],
    /// Comes back with the final PASS.
    pub tag: T,
}

/// A response to one of the sequencer's own requests.
#[derive(Clone, Copy, Debug)]
pub struct SequencerResponse<'a> {
    /// Lanes of the request.
    pub mask: LaneMask,
    /// Words read.
    pub data: &'a [u64],
    /// Lanes that took their lock.
    pub success: LaneMask,
    /// The request was refused.
    pub error: bool,
    /// Conflict degree of the request.
    pub degree: u32,
}

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug)]
pub struct SequencerInputs<'a, T> {
    /// Synchronous reset.
    pub rst: bool,
    /// A pass is offered.
    pub at: Option<AtomicPass<'a, T>>,
    /// The scratchpad takes the request.
    pub sp_ready: bool,
    /// A response; always taken.
    pub sr: Option<SequencerResponse<'a>>,
}

/// A request to the scratchpad; all byte enables are one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequencerRequest<T> {
    /// LDLK, STUL or the final PASS.
    pub op: u8,
    /// Active lanes.
    pub mask: LaneMask,
    /// Bank of the active lanes; 0 for PASS.
    pub bank: [u8; MAX_LANES],
    /// Row of the active lanes; 0 for PASS.
    pub row: [u16; MAX_LANES],
    /// Lock of the active lanes; 0 for PASS.
    pub lock: [u16; MAX_LANES],
    /// Data of the active lanes for STUL and PASS.
    pub data: [u64; MAX_LANES],
    /// Tag of the pass.
    pub tag: T,
    /// PASS: the pass failed.
    pub error: bool,
    /// PASS: conflict degree of the first read.
    pub degree: u32,
}

/// Outputs of one clock cycle; all registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequencerOutputs<T> {
    /// A pass is taken.
    pub at_ready: bool,
    /// The request, if any.
    pub sp: Option<SequencerRequest<T>>,
    /// The state.
    pub state: State,
    /// Rounds begun in this pass, saturated; 0 in `Idle`.
    pub rounds: u32,
}

/// The sequencer: one context.
#[derive(Clone, Debug)]
pub struct RetrySequencer<T> {
    state: State,
    /// Number of the present cycle within the state.
    pub(crate) count: u32,
    sent: bool,
    pub(crate) got: bool,
    /// The answer to a STUL that nobody waits for has not come.
    pub(crate) owed: bool,
    pub(crate) target: u32,
    aop: u8,
    mask: LaneMask,
    wait: LaneMask,
    win: LaneMask,
    bank: [u8; MAX_LANES],
    row: [u16; MAX_LANES],
    lock: [u16; MAX_LANES],
    operand: [u64; MAX_LANES],
    old: [u64; MAX_LANES],
    first_degree: u32,
    first: bool,
    error: bool,
    tag: T,
    rounds: u32,
    pub(crate) latencies: RetryLatencies,
    lanes: usize,
    word_bits: u32,
}

impl<T: Copy + Default> RetrySequencer<T> {
    /// The sequencer of `config`, idle.
    pub fn new(config: &Config) -> Self {
        Self::idle(config.path.retry, config.lanes as usize, config.word_bits)
    }

    fn idle(latencies: RetryLatencies, lanes: usize, word_bits: u32) -> Self {
        RetrySequencer {
            state: State::Idle,
            count: 0,
            sent: false,
            got: false,
            owed: false,
            target: 0,
            aop: 0,
            mask: 0,
            wait: 0,
            win: 0,
            bank: [0; MAX_LANES],
            row: [0; MAX_LANES],
            lock: [0; MAX_LANES],
            operand: [0; MAX_LANES],
            old: [0; MAX_LANES],
            first_degree: 0,
            first: false,
            error: false,
            tag: T::default(),
            rounds: 0,
            latencies,
            lanes,
            word_bits,
        }
    }

    /// The state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Rounds begun in this pass.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// A pass is taken.
    pub fn at_ready(&self) -> bool {
        self.state == State::Idle
    }

    /// A request is offered.
    pub fn sp_valid(&self) -> bool {
        match self.state {
            State::Read | State::Write => !self.sent,
            State::Done => true,
            _ => false,
        }
    }

    /// The request, if any.
    pub fn request(&self) -> Option<SequencerRequest<T>> {
        if !self.sp_valid() {
            return None;
        }
        let (op, mask) = match self.state {
            State::Read => (op::LDLK, self.wait),
            State::Write => (op::STUL, self.win),
            _ => (op::PASS, self.mask),
        };
        let done = self.state == State::Done;
        let mut request = SequencerRequest {
            op,
            mask,
            bank: [0; MAX_LANES],
            row: [0; MAX_LANES],
            lock: [0; MAX_LANES],
            data: [0; MAX_LANES],
            tag: self.tag,
            error: done && self.error,
            degree: if done { self.first_degree } else { 0 },
        };
        for lane in lanes_of(mask) {
            if !done {
                request.bank[lane] = self.bank[lane];
                request.row[lane] = self.row[lane];
                request.lock[lane] = self.lock[lane];
            }
            request.data[lane] = match self.state {
                State::Write => self.updated(lane),
                State::Done if !self.error => self.old[lane],
                _ => 0,
            };
        }
        Some(request)
    }

    /// The outputs of this cycle.
    pub fn eval(&self) -> SequencerOutputs<T> {
        SequencerOutputs {
            at_ready: self.at_ready(),
            sp: self.request(),
            state: self.state,
            rounds: self.rounds,
        }
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &SequencerInputs<T>) {
        if inputs.rst {
            *self = Self::idle(self.latencies, self.lanes, self.word_bits);
            return;
        }
        // Answers come in the order of the requests.
        let mut inputs = *inputs;
        if self.owed && inputs.sr.take().is_some() {
            self.owed = false;
        }
        let inputs = &inputs;
        match self.state {
            State::Idle => self.idle_edge(inputs.at.as_ref()),
            State::Read => self.read_edge(inputs),
            State::Update => {
                let next = if self.win == 0 {
                    State::Branch
                } else {
                    State::Write
                };
                self.leave_after(self.latencies.update, next);
            }
            State::Write => self.write_edge(inputs),
            State::Branch => {
                let next = if self.wait == 0 {
                    State::Done
                } else {
                    State::Read
                };
                self.leave_after(self.latencies.branch, next);
            }
            State::Done => {
                if inputs.sp_ready {
                    self.enter(State::Idle);
                    self.rounds = 0;
                }
            }
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &SequencerInputs<T>) -> SequencerOutputs<T> {
        let outputs = self.eval();
        self.commit(inputs);
        outputs
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.count = 1;
        self.sent = false;
        self.got = false;
    }

    fn leave_after(&mut self, cycles: u32, next: State) {
        if self.count >= cycles {
            self.enter(next);
        } else {
            self.count += 1;
        }
    }

    fn idle_edge(&mut self, at: Option<&AtomicPass<T>>) {
        let Some(at) = at else { return };
        let lanes = self.lanes;
        self.aop = at.aop;
        self.mask = at.mask;
        self.wait = at.mask;
        self.bank[..lanes].copy_from_slice(&at.bank[..lanes]);
        self.row[..lanes].copy_from_slice(&at.row[..lanes]);
        self.lock[..lanes].copy_from_slice(&at.lock[..lanes]);
        self.operand[..lanes].copy_from_slice(&at.data[..lanes]);
        self.old = [0; MAX_LANES];
        self.tag = at.tag;
        self.first = true;
        self.first_degree = 0;
        self.rounds = 0;
        self.error = at.aop > aop::SMAX;
        let nothing = self.error || at.mask == 0;
        self.enter(if nothing { State::Done } else { State::Read });
    }

    fn read_edge(&mut self, inputs: &SequencerInputs<T>) {
        if !self.sent && inputs.sp_ready {
            self.sent = true;
            self.rounds = (self.rounds + 1).min(MAX_ROUNDS);
        }
        if let Some(sr) = &inputs.sr {
            self.win = sr.success;
            for lane in lanes_of(sr.success) {
                self.old[lane] = sr.data[lane];
            }
            self.got = true;
            self.target = self.latencies.read * sr.degree;
            if self.first {
                self.first_degree = sr.degree;
                self.first = false;
            }
            self.error |= sr.error;
        }
        let next = if self.error {
            State::Done
        } else {
            State::Update
        };
        self.leave_answered(next);
    }

    fn write_edge(&mut self, inputs: &SequencerInputs<T>) {
        if self.latencies.write == 0 {
            if inputs.sp_ready {
                self.owed = true;
                self.wait &= !self.win;
                self.enter(State::Branch);
            }
            return;
        }
        self.sent |= inputs.sp_ready;
        if let Some(sr) = &inputs.sr {
            self.got = true;
            self.target = self.latencies.write * sr.degree;
        }
        if self.leave_answered(State::Branch) {
            self.wait &= !self.win;
        }
    }

    /// Leaves READ or WRITE once the answer has arrived and the state's time is over.
    fn leave_answered(&mut self, next: State) -> bool {
        let leaves = self.got && self.count >= self.target;
        if leaves {
            self.enter(next);
        } else {
            self.count = (self.count + 1).min(MAX_COUNT);
        }
        leaves
    }

    /// The word that STUL writes for `lane`.
    fn updated(&self, lane: usize) -> u64 {
        let mask = u64::MAX >> (u64::BITS - self.word_bits);
        let (old, operand) = (self.old[lane] & mask, self.operand[lane] & mask);
        let signed = |x: u64| {
            let shift = u64::BITS - self.word_bits;
            (x << shift) as i64 >> shift
        };
        let word = match self.aop {
            aop::ADD => old.wrapping_add(operand),
            aop::AND => old & operand,
            aop::OR => old | operand,
            aop::XOR => old ^ operand,
            aop::SWAP => operand,
            aop::UMIN => old.min(operand),
            aop::UMAX => old.max(operand),
            aop::SMIN => signed(old).min(signed(operand)) as u64,
            _ => signed(old).max(signed(operand)) as u64,
        };
        word & mask
    }
}
