//! `spad_scratchpad`: arbiter (MEM0), banks, crossbars, locks and the response
//! stage (MEM1 to MEM3) (microarchitecture/scratchpad.md).

mod memory;
mod stages;

use super::lanes::{LaneMask, MAX_LANES, copy_active, lanes_of};
use super::spad_conflict_arbiter::{ArbiterInputs, ConflictArbiter};
use super::spad_lock_unit::LockBits;
use crate::config::Config;
use memory::Memory;
use stages::{DataStage, Grant, Group, Request, RequestStage};

pub use spadkit_hdl::codes::op;

/// Inputs of one clock cycle. `T` is the tag, any payload.
#[derive(Clone, Copy, Debug)]
pub struct ScratchpadInputs<'a, T> {
    /// Synchronous reset.
    pub rst: bool,
    /// An access is offered.
    pub req_valid: bool,
    /// Operation of the access.
    pub req_op: u8,
    /// Active lanes.
    pub req_mask: LaneMask,
    /// Bank of each lane.
    pub req_bank: &'a [u8],
    /// Row of each lane.
    pub req_row: &'a [u16],
    /// Lock index of each lane.
    pub req_lock: &'a [u16],
    /// Store data of each lane.
    pub req_data: &'a [u64],
    /// Byte enables of each lane.
    pub req_be: &'a [u8],
    /// Comes back with the response.
    pub req_tag: T,
    /// The response is taken.
    pub resp_ready: bool,
}

/// A response but for its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResponseControl<T> {
    /// There is a response; all else is zero if not.
    pub valid: bool,
    /// Operation of the request.
    pub op: u8,
    /// Active lanes of the request.
    pub mask: LaneMask,
    /// Tag of the request.
    pub tag: T,
    /// Lanes that took their lock.
    pub success: LaneMask,
    /// Unsupported operation, or a row outside the capacity.
    pub error: bool,
    /// Conflict degree.
    pub degree: u32,
}

/// Outputs of one clock cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchpadOutputs<T> {
    /// comb(resp_ready).
    pub req_ready: bool,
    /// The response; registered.
    pub resp: ResponseControl<T>,
    /// Data of the response.
    pub resp_data: [u64; MAX_LANES],
    /// Stages after MEM0 that hold the last group of an access, MEM1 in bit 0;
    /// the highest is the response's. Registered.
    pub stages: u32,
    /// An access is in MEM0 and this is not its last cycle there; registered.
    pub busy_more: bool,
    /// The response cannot leave; comb(resp_ready).
    pub blocked: bool,
}

/// The scratchpad.
#[derive(Clone, Debug)]
pub struct Scratchpad<T> {
    arbiter: ConflictArbiter,
    memory: Memory,
    /// Window of the lock group in MEM0.
    window: u32,
    /// The access in MEM0 and, where MEM1 comes before the banks and has
    /// a group of the one before, that.
    requests: Box<[Request<T>; 2]>,
    /// Index of the request that is in MEM0.
    in_mem0: usize,
    /// The register before banks and locks, with three stages or more.
    mem1: Option<RequestStage>,
    /// The stage in which the banks show their words, with four.
    mem2: Option<Box<DataStage<T>>>,
    /// The response stage: MEM1, MEM2 or MEM3.
    response: Group<T>,
    /// Words of the access in the response stage, as far as its groups have come.
    words: [u64; MAX_LANES],
    lanes: usize,
    rows: u32,
    has_locks: bool,
    windows: u32,
}

impl<T: Copy + Default> Scratchpad<T> {
    /// The scratchpad of `config`, after reset, all words zero.
    pub fn new(config: &Config) -> Self {
        let stages = config.path.mem_stages;
        Scratchpad {
            arbiter: ConflictArbiter::of(config),
            memory: Memory::new(config),
            window: 0,
            requests: Box::new([Request::reset(), Request::reset()]),
            in_mem0: 0,
            mem1: (stages > 2).then(RequestStage::default),
            mem2: (stages > 3).then(|| Box::new(DataStage::reset())),
            response: Group::reset(),
            words: [0; MAX_LANES],
            lanes: config.lanes as usize,
            rows: config.parameters().ROWS as u32,
            has_locks: config.path.locks != 0,
            windows: config.path.lock_group_cycles,
        }
    }

    /// Whether the stages move in this cycle.
    pub fn advances(&self, resp_ready: bool) -> bool {
        resp_ready || !self.response.ends_access()
    }

    /// Whether an access is taken in this cycle.
    pub fn req_ready(&self, resp_ready: bool) -> bool {
        self.arbiter.req_ready(self.arbiter_adv(resp_ready))
    }

    /// The tag of the access in MEM0.
    pub(crate) fn mem0_tag(&self) -> Option<&T> {
        self.mem0_valid().then(|| &self.request().tag)
    }

    /// An access is in MEM0.
    pub fn mem0_valid(&self) -> bool {
        self.arbiter.valid()
    }

    /// Stages after MEM0 that hold the last group of an access, MEM1 in bit 0.
    pub fn stages(&self) -> u32 {
        let mut stages = u32::from(self.response.ends_access());
        if let Some(mem2) = &self.mem2 {
            stages = stages << 1 | u32::from(mem2.group.ends_access());
        }
        if let Some(mem1) = &self.mem1 {
            stages = stages << 1 | u32::from(mem1.grant.ends_access());
        }
        stages
    }

    /// The response but for its data; registered.
    pub fn response(&self) -> ResponseControl<T> {
        if self.response.ends_access() {
            self.response.control
        } else {
            ResponseControl::default()
        }
    }

    /// Writes the response's data over `out`, one word per lane.
    pub fn response_data(&self, out: &mut [u64]) {
        let p = &self.response.control;
        let returns = matches!(p.op, op::PASS | op::LOAD | op::LDLK);
        if self.response.ends_access() && returns && !p.error {
            copy_active(p.mask, &self.words, out, self.lanes)
        } else {
            out[..self.lanes].fill(0)
        }
    }

    /// An access is in MEM0 and this is not its last cycle there.
    pub fn busy_more(&self) -> bool {
        self.arbiter.valid() && !(self.arbiter.last() && self.last_window())
    }

    /// The outputs of this cycle.
    pub fn eval(&self, inputs: &ScratchpadInputs<T>) -> ScratchpadOutputs<T> {
        let mut resp_data = [0; MAX_LANES];
        self.response_data(&mut resp_data);
        ScratchpadOutputs {
            req_ready: self.req_ready(inputs.resp_ready),
            resp: self.response(),
            resp_data,
            stages: self.stages(),
            busy_more: self.busy_more(),
            blocked: !self.advances(inputs.resp_ready),
        }
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &ScratchpadInputs<T>) {
        if inputs.rst {
            self.reset();
            return;
        }
        let takes = inputs.req_valid && self.req_ready(inputs.resp_ready);
        if !takes && self.is_empty() {
            return;
        }
        let arbiter_adv = self.arbiter_adv(inputs.resp_ready);
        if self.advances(inputs.resp_ready) {
            self.advance(arbiter_adv);
        }
        // A new request replaces what the last group has just used.
        let access = takes && self.load(inputs);
        self.arbiter.commit(&ArbiterInputs {
            rst: false,
            req_valid: inputs.req_valid,
            req_mask: inputs.req_mask,
            req_access: access,
            req_bank: inputs.req_bank,
            req_row: inputs.req_row,
            req_be: inputs.req_be,
            adv: arbiter_adv,
        });
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &ScratchpadInputs<T>) -> ScratchpadOutputs<T> {
        let outputs = self.eval(inputs);
        self.commit(inputs);
        outputs
    }

    /// The word in `row` of `bank`.
    pub fn word_at(&self, bank: usize, row: usize) -> u64 {
        self.memory.word(bank, row)
    }

    /// Initial contents: `word` in `row` of `bank`.
    pub fn preload(&mut self, bank: usize, row: usize, word: u64) {
        self.memory.preload(bank, row, word);
    }

    /// The lock bits.
    pub fn held_locks(&self) -> &LockBits {
        self.memory.held_locks()
    }

    fn reset(&mut self) {
        self.arbiter.reset();
        self.memory.reset();
        self.window = 0;
        *self.requests = [Request::reset(), Request::reset()];
        if let Some(stage) = &mut self.mem1 {
            *stage = RequestStage::default();
        }
        if let Some(stage) = &mut self.mem2 {
            **stage = DataStage::reset();
        }
        self.response = Group::reset();
        self.words = [0; MAX_LANES];
    }

    /// No group is anywhere: without a request nothing moves.
    pub(crate) fn is_empty(&self) -> bool {
        let mem1 = self.mem1.is_some_and(|s| s.grant.valid);
        let mem2 = self.mem2.as_ref().is_some_and(|s| s.group.valid);
        !self.arbiter.valid() && !mem1 && !mem2 && !self.response.valid
    }

    /// The access in MEM0.
    fn request(&self) -> &Request<T> {
        &self.requests[self.in_mem0]
    }

    /// The group in MEM0 is looked at in several windows.
    fn windowed(&self) -> bool {
        self.windows > 1 && self.request().locks()
    }

    fn last_window(&self) -> bool {
        !self.windowed() || self.window == self.windows - 1
    }

    fn arbiter_adv(&self, resp_ready: bool) -> bool {
        self.advances(resp_ready) && self.last_window()
    }

    /// The group in MEM0.
    fn grant(&self, arbiter_adv: bool) -> Grant {
        Grant {
            valid: self.arbiter.valid(),
            last: self.arbiter.last() && arbiter_adv,
            served: self.arbiter.served(),
            leader: self.arbiter.leader(),
            window: self.window,
            degree: self.arbiter.degree(),
        }
    }

    /// Moves all stages on, from the end: each finds the next one free.
    fn advance(&mut self, arbiter_adv: bool) {
        let grant = self.grant(arbiter_adv);
        let (group, words) = match &mut self.mem2 {
            None => (&mut self.response, &mut self.words),
            Some(stage) => {
                stage.leave(&mut self.response, &mut self.words, self.lanes);
                (&mut stage.group, &mut stage.words)
            }
        };
        let next = RequestStage {
            grant,
            of: self.in_mem0,
        };
        let at_banks = match &mut self.mem1 {
            None => next,
            Some(mem1) => std::mem::replace(mem1, next),
        };
        let request = &self.requests[at_banks.of];
        *group = self.memory.serve(request, &at_banks.grant, words);
        if grant.valid && self.request().locks() {
            self.window = (self.window + 1) % self.windows;
        }
    }

    /// Whether a lane in `mask` is on a row beyond the capacity.
    fn is_beyond(&self, mask: LaneMask, row: &[u16]) -> bool {
        let beyond = |row: u16| u32::from(row) >= self.rows;
        // Mostly no lane is, be it active or not.
        let highest = row.iter().fold(0, |highest, &row| row.max(highest));
        beyond(highest) && lanes_of(mask).any(|lane| beyond(row[lane]))
    }

    /// Takes the request; returns whether it accesses the banks.
    fn load(&mut self, inputs: &ScratchpadInputs<T>) -> bool {
        let op = inputs.req_op;
        let locks = matches!(op, op::LDLK | op::STUL);
        let unsupported = op > op::STUL || (locks && !self.has_locks);
        let accesses = (op::LOAD..=op::STUL).contains(&op);
        let range = accesses && self.is_beyond(inputs.req_mask, &inputs.req_row[..self.lanes]);
        if self.mem1.is_some() {
            // The last group of the one before may still be in MEM1.
            self.in_mem0 ^= 1;
        }
        let request = &mut self.requests[self.in_mem0];
        request.access = accesses && !unsupported && !range;
        request.op = op;
        request.mask = inputs.req_mask;
        request.tag = inputs.req_tag;
        request.error = unsupported || range;
        request.take_lanes(inputs, self.lanes);
        request.access
    }
}
