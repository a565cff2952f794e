//! `spad_scratchpad`: arbiter (MEM0), banks, crossbars, locks and the response
//! stage (MEM1) (docs/microarchitecture.md, section 7).

use super::lanes::{LaneMask, MAX_LANES, lanes_of};
use super::spad_bank_ram::{BankInputs, BankRam};
use super::spad_conflict_arbiter::{ArbiterInputs, ConflictArbiter};
use super::spad_crossbar::{BankRequests, Crossbar, RequestInputs};
use super::spad_lock_unit::{LockBits, LockInputs, LockUnit};
use crate::config::Config;

pub use spadkit_hdl::codes::op;

/// Inputs of one clock cycle. `T` is the tag, any payload.
#[derive(Clone, Copy, Debug)]
pub struct ScratchpadInputs<'a, T> {
    /// Synchronous reset.
    pub rst: bool,
    /// An access is offered.
    pub req_valid: bool,
    /// Its operation.
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
    /// Its data.
    pub resp_data: [u64; MAX_LANES],
    /// An access stands in MEM0 and this is not its last cycle there; registered.
    pub busy_more: bool,
    /// MEM1 cannot leave; comb(resp_ready).
    pub blocked: bool,
}

/// The access in MEM0.
#[derive(Clone, Debug)]
struct Request<T> {
    access: bool,
    op: u8,
    mask: LaneMask,
    lock: [u16; MAX_LANES],
    data: [u64; MAX_LANES],
    be: [u8; MAX_LANES],
    tag: T,
    error: bool,
    success: LaneMask,
}

/// MEM1: a group whose data the banks have read.
#[derive(Clone, Debug)]
struct Response<T> {
    /// A group is here; not every one is the last of its access.
    valid: bool,
    last: bool,
    served: LaneMask,
    bank: [u8; MAX_LANES],
    control: ResponseControl<T>,
}

/// The scratchpad.
#[derive(Clone, Debug)]
pub struct Scratchpad<T> {
    arbiter: ConflictArbiter,
    locks: LockUnit,
    banks: Vec<BankRam>,
    crossbar: Crossbar,
    /// What the request crossbar drives; of use in banks that a group uses.
    to_banks: Box<BankRequests>,
    /// Window of the lock group.
    window: u32,
    q: Request<T>,
    p: Response<T>,
    /// Words that earlier groups of the access brought.
    acc: [u64; MAX_LANES],
    lanes: usize,
    rows: u32,
    has_locks: bool,
    windows: u32,
}

impl<T: Copy + Default> Scratchpad<T> {
    /// The scratchpad of `config`, after reset, all words zero.
    pub fn new(config: &Config) -> Self {
        let lanes = config.lanes as usize;
        let rows = config.rows();
        Scratchpad {
            arbiter: ConflictArbiter::new(lanes, config.path.broadcast),
            locks: LockUnit::new(config.lanes, config.path.lock_group_cycles),
            banks: vec![BankRam::new(rows as usize); config.geometry.banks()],
            crossbar: Crossbar {
                word_bytes: config.word_bytes(),
                merge: config.path.merge_bytes,
            },
            to_banks: Box::new(BankRequests::NONE),
            window: 0,
            q: Request::reset(),
            p: Response::reset(),
            acc: [0; MAX_LANES],
            lanes,
            rows,
            has_locks: config.path.locks != 0,
            windows: config.path.lock_group_cycles,
        }
    }

    /// Whether the response stage takes a group in this cycle.
    pub fn advances(&self, resp_ready: bool) -> bool {
        resp_ready || !(self.p.valid && self.p.last)
    }

    /// Whether an access is taken in this cycle.
    pub fn req_ready(&self, resp_ready: bool) -> bool {
        self.arbiter.req_ready(self.arbiter_adv(resp_ready))
    }

    /// An access stands in MEM0.
    pub fn mem0_valid(&self) -> bool {
        self.arbiter.valid()
    }

    /// The response but for its data; registered.
    pub fn response(&self) -> ResponseControl<T> {
        match self.p.valid && self.p.last {
            true => self.p.control,
            false => ResponseControl::default(),
        }
    }

    /// Writes the response's data over `out`, one word per lane.
    pub fn response_data(&self, out: &mut [u64]) {
        out[..self.lanes].fill(0);
        let p = &self.p.control;
        let returns = matches!(p.op, op::PASS | op::LOAD | op::LDLK);
        if !self.p.valid || !self.p.last || !returns || p.error {
            return;
        }
        for lane in lanes_of(p.mask) {
            out[lane] = self.word(lane);
        }
    }

    /// The outputs of this cycle.
    pub fn eval(&self, inputs: &ScratchpadInputs<T>) -> ScratchpadOutputs<T> {
        let mut resp_data = [0; MAX_LANES];
        self.response_data(&mut resp_data);
        let (valid, last) = (self.arbiter.valid(), self.arbiter.last());
        ScratchpadOutputs {
            req_ready: self.req_ready(inputs.resp_ready),
            resp: self.response(),
            resp_data,
            busy_more: valid && !(last && self.last_window()),
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
        let arbiter_adv = self.arbiter_adv(inputs.resp_ready);
        if self.advances(inputs.resp_ready) {
            self.serve(arbiter_adv);
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
            adv: arbiter_adv,
        });
    }

    /// The clock edges of cycles without a request, as long as the access in
    /// MEM0 has more groups or windows after the present one and there is no
    /// response, but `limit` at most; how many. Without an access all of them.
    pub(super) fn commit_while_busy(&mut self, limit: u64) -> u64 {
        if !self.arbiter.valid() {
            return limit;
        }
        let mut cycles = 0;
        while cycles < limit && !(self.arbiter.last() && self.last_window()) {
            let arbiter_adv = self.arbiter_adv(true);
            self.serve(arbiter_adv);
            if arbiter_adv {
                self.arbiter.advance();
            }
            cycles += 1;
        }
        cycles
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &ScratchpadInputs<T>) -> ScratchpadOutputs<T> {
        let outputs = self.eval(inputs);
        self.commit(inputs);
        outputs
    }

    /// The word in `row` of `bank`.
    pub fn word_at(&self, bank: usize, row: usize) -> u64 {
        self.banks[bank].word(row)
    }

    /// Initial contents: `word` in `row` of `bank`.
    pub fn preload(&mut self, bank: usize, row: usize, word: u64) {
        self.banks[bank].preload(row, word);
    }

    /// The lock bits.
    pub fn held_locks(&self) -> &LockBits {
        self.locks.held()
    }

    fn reset(&mut self) {
        self.arbiter.reset();
        self.locks = LockUnit::new(self.lanes as u32, self.windows);
        for bank in &mut self.banks {
            bank.commit(&BankInputs {
                rst: true,
                ..BankInputs::default()
            });
        }
        self.window = 0;
        self.q = Request::reset();
        self.p = Response::reset();
        self.acc = [0; MAX_LANES];
    }

    /// The group in MEM0 is looked at in several windows.
    fn windowed(&self) -> bool {
        self.q.access && self.windows > 1 && matches!(self.q.op, op::LDLK | op::STUL)
    }

    fn last_window(&self) -> bool {
        !self.windowed() || self.window == self.windows - 1
    }

    fn arbiter_adv(&self, resp_ready: bool) -> bool {
        self.advances(resp_ready) && self.last_window()
    }

    /// MEM1's word of `lane`: what its bank read, else what an earlier group
    /// brought.
    fn word(&self, lane: usize) -> u64 {
        match self.p.served >> lane & 1 == 1 {
            true => self.banks[usize::from(self.p.bank[lane])].eval(),
            false => self.acc[lane],
        }
    }

    /// MEM0 and MEM1 move on.
    fn serve(&mut self, arbiter_adv: bool) {
        // A group in MEM1 that is not the last leaves its words in `acc`.
        if self.p.valid && !self.p.last {
            for lane in lanes_of(self.p.served) {
                self.acc[lane] = self.word(lane);
            }
        }
        match self.arbiter.valid() {
            true => self.serve_group(arbiter_adv),
            false => self.p.valid = false,
        }
    }

    /// Accesses banks and locks for the group in MEM0 and moves it to MEM1.
    fn serve_group(&mut self, arbiter_adv: bool) {
        let (served, leader) = (self.arbiter.served(), self.arbiter.leader());
        match self.q.op {
            op::LOAD | op::LDLK => self.read_banks(leader),
            op::STORE | op::STUL => self.write_banks(served, leader),
            op::PASS => {
                self.acc = [0; MAX_LANES];
                for lane in lanes_of(self.q.mask) {
                    self.acc[lane] = self.q.data[lane];
                }
            }
            _ => {}
        }
        let q = &mut self.q;
        if q.access && matches!(q.op, op::LDLK | op::STUL) {
            let inputs = LockInputs {
                rst: false,
                valid: true,
                window: self.window,
                op: q.op,
                req: leader,
                addr: &q.lock,
            };
            q.success |= self.locks.success(&inputs);
            self.locks.commit(&inputs);
            self.window = (self.window + 1) % self.windows;
        }
        let p = &mut self.p;
        p.valid = true;
        p.last = self.arbiter.last() && arbiter_adv;
        p.served = match q.op {
            op::LOAD | op::LDLK => served,
            _ => 0,
        };
        p.bank = *self.arbiter.banks();
        p.control = ResponseControl {
            valid: true,
            op: q.op,
            mask: q.mask,
            tag: q.tag,
            success: q.success,
            error: q.error,
            degree: self.arbiter.degree(),
        };
    }

    fn read_banks(&mut self, leader: LaneMask) {
        let (bank, row) = (self.arbiter.banks(), self.arbiter.rows());
        for lane in lanes_of(leader) {
            self.banks[usize::from(bank[lane])].commit(&BankInputs {
                en: true,
                row: row[lane],
                ..BankInputs::default()
            });
        }
    }

    fn write_banks(&mut self, served: LaneMask, leader: LaneMask) {
        let (lane_bank, lane_row) = (self.arbiter.banks(), self.arbiter.rows());
        let requests = RequestInputs {
            served,
            leader,
            lane_bank,
            lane_row,
            lane_data: &self.q.data,
            lane_be: &self.q.be,
        };
        self.crossbar.drive(&requests, &mut self.to_banks);
        for lane in lanes_of(leader) {
            let bank = usize::from(lane_bank[lane]);
            self.banks[bank].commit(&BankInputs {
                rst: false,
                en: true,
                we: true,
                be: self.to_banks.wbe[bank],
                row: self.to_banks.row[bank],
                wdata: self.to_banks.wdata[bank],
            });
        }
    }

    /// Takes the request; returns whether it accesses the banks.
    fn load(&mut self, inputs: &ScratchpadInputs<T>) -> bool {
        let op = inputs.req_op;
        let locks = matches!(op, op::LDLK | op::STUL);
        let stores = matches!(op, op::STORE | op::STUL);
        let unsupported = op > op::STUL || (locks && !self.has_locks);
        let accesses = (op::LOAD..=op::STUL).contains(&op);
        let rows = inputs.req_row[..self.lanes].iter().rev();
        let beyond = rows.fold(0, |m: LaneMask, &row| {
            m << 1 | LaneMask::from(u32::from(row) >= self.rows)
        });
        let range = accesses && beyond & inputs.req_mask != 0;
        let q = &mut self.q;
        q.access = accesses && !unsupported && !range;
        q.op = op;
        q.mask = inputs.req_mask;
        q.tag = inputs.req_tag;
        q.error = unsupported || range;
        q.success = 0;
        // What the operation does not use is not worth copying.
        let lanes = self.lanes;
        if locks {
            q.lock[..lanes].copy_from_slice(&inputs.req_lock[..lanes]);
        }
        if stores {
            q.be[..lanes].copy_from_slice(&inputs.req_be[..lanes]);
        }
        if stores || op == op::PASS {
            q.data[..lanes].copy_from_slice(&inputs.req_data[..lanes]);
        }
        q.access
    }
}

impl<T: Default> Request<T> {
    fn reset() -> Self {
        Request {
            access: false,
            op: op::PASS,
            mask: 0,
            lock: [0; MAX_LANES],
            data: [0; MAX_LANES],
            be: [0; MAX_LANES],
            tag: T::default(),
            error: false,
            success: 0,
        }
    }
}

impl<T: Default> Response<T> {
    fn reset() -> Self {
        Response {
            valid: false,
            last: false,
            served: 0,
            bank: [0; MAX_LANES],
            control: ResponseControl::default(),
        }
    }
}
