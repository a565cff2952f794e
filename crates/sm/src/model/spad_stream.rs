//! `spad_stream`: the scratchpad behind one warp-wide valid/ready port
//! (microarchitecture/bus.md). Composed of the units' models.

use super::lane_hash::{LaneHash, RegisterWrite};
use super::lanes::{LaneMask, MAX_LANES};
use super::spad_scratchpad::{ResponseControl, Scratchpad, ScratchpadInputs, op};
use super::spad_skid::Skid;
use super::spad_window::{Window, WindowOperation, WindowRequest};
use crate::config::Config;

/// An access of all lanes.
#[derive(Clone, Debug)]
pub struct StreamRequest {
    /// Operation ([`op`](super::spad_scratchpad::op)); ignored if the access is atomic.
    pub op: u8,
    /// The atomic operation, if it is one and the machine has them.
    pub atomic: Option<WindowOperation>,
    /// Active lanes.
    pub mask: LaneMask,
    /// Word address of each lane.
    pub addr: [u16; MAX_LANES],
    /// Store data of each lane.
    pub data: [u64; MAX_LANES],
    /// Byte enables of each lane.
    pub be: [u8; MAX_LANES],
    /// Comes back with the answer.
    pub tag: u64,
}

/// The answer to a stream request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamAnswer {
    /// Everything but the data.
    pub control: ResponseControl<u64>,
    /// Words of the lanes.
    pub data: [u64; MAX_LANES],
}

/// Inputs of one clock cycle, with accesses of type `R`.
#[derive(Clone, Debug)]
pub struct StreamInputs<R = StreamRequest> {
    /// Synchronous reset.
    pub rst: bool,
    /// Write to the hash's registers.
    pub hash_wr: Option<RegisterWrite>,
    /// Write to the row map's registers.
    pub row_wr: Option<RegisterWrite>,
    /// `cfg_lock_hash`.
    pub lock_hash: u8,
    /// An access is offered.
    pub request: Option<R>,
    /// The answer is taken.
    pub rsp_ready: bool,
}

impl<R> StreamInputs<R> {
    /// A cycle in which `request` is offered, if there is one, and an answer is taken.
    pub fn offering(request: Option<R>) -> Self {
        StreamInputs {
            rst: false,
            hash_wr: None,
            row_wr: None,
            lock_hash: 0,
            request,
            rsp_ready: true,
        }
    }
}

/// The memory between the buffers.
#[derive(Clone, Debug)]
enum Banks {
    /// One access after the other.
    Scratchpad(Box<Scratchpad<u64>>),
    /// Accesses whose conflicts overlap.
    Window(Box<Window>),
}

/// The accesses on their way through the port: those in the request register, in the banks or
/// their window, and the answers that nobody has taken.
#[derive(Clone, Debug)]
pub struct Stream {
    requests: Skid<StreamRequest>,
    banks: Banks,
    answers: Skid<StreamAnswer>,
    hash: LaneHash,
    /// Accesses inside.
    count: u32,
    config: Config,
}

impl Stream {
    /// The unit of `config` after reset, all words zero.
    pub fn new(config: &Config) -> Self {
        Stream {
            requests: Skid::new(),
            banks: match config.path.stream.window {
                0 => Banks::Scratchpad(Box::new(Scratchpad::new(&with_own_stages(config)))),
                _ => Banks::Window(Box::new(Window::new(config))),
            },
            answers: Skid::new(),
            hash: LaneHash::new(config),
            count: 0,
            config: config.clone(),
        }
    }

    /// The stream with a reset that is asynchronous or not.
    pub fn reset_at_any_time(mut self, asynchronous: bool) -> Self {
        if let Banks::Window(window) = self.banks {
            self.banks = Banks::Window(Box::new(window.reset_at_any_time(asynchronous)));
        }
        self
    }

    /// Whether an access is taken in this cycle; registered.
    pub fn req_ready(&self) -> bool {
        self.requests.in_ready()
    }

    /// The answer that is offered; registered.
    pub fn answer(&self) -> Option<&StreamAnswer> {
        self.answers.output()
    }

    /// No access is inside; registered.
    pub fn idle(&self) -> bool {
        self.count == 0
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: StreamInputs) {
        let enters = inputs.request.is_some() && self.req_ready();
        let leaves = self.answer().is_some() && inputs.rsp_ready;
        let lands = self.posted_store_leaves();
        let resp_ready = self.answers.in_ready() || lands;
        let head = self.requests.output();
        let atomic = head.and_then(|request| request.atomic.as_ref());
        let taken = match &self.banks {
            Banks::Scratchpad(scratchpad) => scratchpad.req_ready(resp_ready),
            Banks::Window(window) => window.req_ready(atomic, resp_ready),
        };
        let answer = self.access(inputs.rst, inputs.lock_hash, resp_ready);
        if inputs.rst {
            (self.requests, self.answers) = (Skid::new(), Skid::new());
            self.hash.reset();
            self.count = 0;
            return;
        }
        let answer = answer.filter(|_| !lands);
        self.answers.commit(answer, inputs.rsp_ready);
        self.requests.commit(inputs.request, taken);
        self.hash.commit(inputs.hash_wr, inputs.row_wr);
        self.count = self.count + u32::from(enters) - u32::from(leaves) - u32::from(lands);
    }

    /// A store is done, and nobody waits for its answer.
    fn posted_store_leaves(&self) -> bool {
        let store = match &self.banks {
            Banks::Scratchpad(scratchpad) => {
                let done = scratchpad.response();
                done.valid && done.op == op::STORE
            }
            Banks::Window(window) => window.answers_store(),
        };
        store && self.config.path.stream.posted
    }

    /// Runs the banks for one cycle; returns their answer before the edge.
    fn access(&mut self, rst: bool, lock_hash: u8, resp_ready: bool) -> Option<StreamAnswer> {
        let lanes = self.config.lanes as usize;
        let (mut bank, mut row) = ([0; MAX_LANES], [0; MAX_LANES]);
        let mut lock = [0; MAX_LANES];
        let idle = NO_REQUEST;
        let head = self.requests.output();
        let request = head.unwrap_or(&idle);
        let addr = &request.addr[..lanes];
        self.hash.places(addr, &mut bank, &mut row);
        self.hash.locks(request.mask, lock_hash, addr, &mut lock);
        let scratchpad = match &mut self.banks {
            Banks::Scratchpad(scratchpad) => scratchpad,
            Banks::Window(window) => {
                let control = window.response();
                let mut data = [0; MAX_LANES];
                window.response_data(&mut data);
                let request = head.map(|request| WindowRequest {
                    op: request.op,
                    atomic: request.atomic.as_ref(),
                    mask: request.mask,
                    bank: &bank[..lanes],
                    row: &row[..lanes],
                    data: &request.data[..lanes],
                    be: &request.be[..lanes],
                    tag: request.tag,
                });
                window.commit(rst, request, resp_ready);
                return control.valid.then_some(StreamAnswer { control, data });
            }
        };
        let out = scratchpad.step(&ScratchpadInputs {
            rst,
            req_valid: head.is_some(),
            req_op: request.op,
            req_mask: request.mask,
            req_bank: &bank[..lanes],
            req_row: &row[..lanes],
            req_lock: &lock[..lanes],
            req_data: &request.data[..lanes],
            req_be: &request.be[..lanes],
            req_tag: request.tag,
            resp_ready,
        });
        out.resp.valid.then_some(StreamAnswer {
            control: out.resp,
            data: out.resp_data,
        })
    }
}

/// The machine with the memory stages that the scratchpad has here.
fn with_own_stages(config: &Config) -> Config {
    let mut config = config.clone();
    config.path.mem_stages = config.path.stream.mem_stages;
    config
}

/// The scratchpad's port without a request.
const NO_REQUEST: StreamRequest = StreamRequest {
    op: 0,
    atomic: None,
    mask: 0,
    addr: [0; MAX_LANES],
    data: [0; MAX_LANES],
    be: [0; MAX_LANES],
    tag: 0,
};
