//! `spad_tcdm`: the scratchpad behind a request/grant/valid port per lane
//! (microarchitecture/bus.md). Composed of the units' models.

use super::lane_hash::{LaneHash, RegisterWrite};
use super::lanes::{LaneMask, MAX_LANES, lanes_of};
use super::spad_scratchpad::{Scratchpad, ScratchpadInputs, op};
use super::spad_skid::Skid;
use crate::config::Config;

/// What the lanes ask for in one cycle.
#[derive(Clone, Debug)]
pub struct TcdmBatch {
    /// Lanes that ask.
    pub req: LaneMask,
    /// Of these, those that read.
    pub wen: LaneMask,
    /// Word address of each lane.
    pub addr: [u16; MAX_LANES],
    /// Write data of each lane.
    pub data: [u64; MAX_LANES],
    /// Byte enables of each lane.
    pub be: [u8; MAX_LANES],
}

/// Inputs of one clock cycle.
#[derive(Clone, Debug)]
pub struct TcdmInputs {
    /// Synchronous reset.
    pub rst: bool,
    /// Write to the hash's registers.
    pub hash_wr: Option<RegisterWrite>,
    /// Write to the row map's registers.
    pub row_wr: Option<RegisterWrite>,
    /// What the lanes ask for; `None` where none does.
    pub batch: Option<TcdmBatch>,
}

/// Answers to lanes; registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcdmAnswers {
    /// Lanes whose oldest request is answered.
    pub valid: LaneMask,
    /// Of these, those that asked for a word beyond the capacity.
    pub failed: LaneMask,
    /// Words read.
    pub data: [u64; MAX_LANES],
}

const NO_ANSWERS: TcdmAnswers = TcdmAnswers {
    valid: 0,
    failed: 0,
    data: [0; MAX_LANES],
};

/// What of a batch is done next, and which lanes are done then.
struct Part {
    op: u8,
    lanes: LaneMask,
}

/// The unit.
#[derive(Clone, Debug)]
pub struct Tcdm {
    batches: Skid<TcdmBatch>,
    /// Lanes of the oldest batch that have gone.
    gone: LaneMask,
    scratchpad: Scratchpad<()>,
    answers: TcdmAnswers,
    hash: LaneHash,
    /// Accesses inside the scratchpad.
    count: u32,
    config: Config,
    /// Rows of a bank.
    rows: u32,
}

impl Tcdm {
    /// The unit of `config` after reset, all words zero.
    pub fn new(config: &Config) -> Self {
        Tcdm {
            batches: Skid::new(),
            gone: 0,
            scratchpad: Scratchpad::new(config),
            answers: NO_ANSWERS,
            hash: LaneHash::new(config),
            count: 0,
            config: config.clone(),
            rows: config.parameters().ROWS as u32,
        }
    }

    /// Whether the lanes that ask are taken in this cycle; registered.
    pub fn grants(&self) -> bool {
        self.batches.in_ready()
    }

    /// The answers; registered.
    pub fn answers(&self) -> &TcdmAnswers {
        &self.answers
    }

    /// Nothing is inside; registered.
    pub fn idle(&self) -> bool {
        self.batches.output().is_none() && self.count == 0 && self.answers.valid == 0
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: TcdmInputs) {
        let lanes = self.config.lanes as usize;
        let (mut bank, mut row) = ([0; MAX_LANES], [0; MAX_LANES]);
        let head = self.batches.output();
        let part = head.map(|batch| {
            self.hash.places(&batch.addr[..lanes], &mut bank, &mut row);
            self.part(batch, &row)
        });
        let goes = part.is_some() && self.scratchpad.req_ready(true);
        let no_data = ([0; MAX_LANES], [0; MAX_LANES]);
        let (data, be) = head.map_or((&no_data.0, &no_data.1), |b| (&b.data, &b.be));
        let out = self.scratchpad.step(&ScratchpadInputs {
            rst: inputs.rst,
            req_valid: part.is_some(),
            req_op: part.as_ref().map_or(op::PASS, |p| p.op),
            req_mask: part.as_ref().map_or(0, |p| p.lanes),
            req_bank: &bank[..lanes],
            req_row: &row[..lanes],
            req_lock: &[0; MAX_LANES][..lanes],
            req_data: &data[..lanes],
            req_be: &be[..lanes],
            req_tag: (),
            resp_ready: true,
        });
        if inputs.rst {
            let scratchpad = std::mem::replace(&mut self.scratchpad, Scratchpad::new(&self.config));
            *self = Tcdm::new(&self.config);
            self.scratchpad = scratchpad; // its words survive
            return;
        }
        if let Some(part) = part.filter(|_| goes) {
            self.gone |= part.lanes;
        }
        let done = head.is_some_and(|batch| batch.req == self.gone);
        if done {
            self.gone = 0;
        }
        self.batches.commit(inputs.batch, done);
        self.count = self.count + u32::from(goes) - u32::from(out.resp.valid);
        self.answers = TcdmAnswers {
            valid: out.resp.mask,
            failed: if out.resp.error { out.resp.mask } else { 0 },
            data: out.resp_data,
        };
        self.hash.commit(inputs.hash_wr, inputs.row_wr);
    }

    /// The next part of the oldest batch: reads, then writes, then what is
    /// beyond the capacity.
    fn part(&self, batch: &TcdmBatch, row: &[u16]) -> Part {
        let inside = |&lane: &usize| u32::from(row[lane]) < self.rows;
        let left = lanes_of(batch.req & !self.gone);
        let left = left.filter(inside).fold(0, |mask, lane| mask | 1 << lane);
        let (loads, stores) = (left & batch.wen, left & !batch.wen);
        if loads != 0 {
            return Part {
                op: op::LOAD,
                lanes: loads,
            };
        }
        if stores != 0 {
            return Part {
                op: op::STORE,
                lanes: stores,
            };
        }
        Part {
            op: op::UNSUPPORTED,
            lanes: batch.req & !self.gone,
        }
    }
}
