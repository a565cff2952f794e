//! The requests of the lanes, and the answers to them.

use crate::model::lane_hash::RegisterWrite;
use crate::model::lanes::{LaneMask, MAX_LANES};

/// The requests of the lanes in one cycle.
#[derive(Clone, Debug)]
pub struct TcdmRequests {
    /// Lanes that request.
    pub req: LaneMask,
    /// The requesting lanes that read.
    pub wen: LaneMask,
    /// Word address of each lane.
    pub addr: [u16; MAX_LANES],
    /// Write data of each lane.
    pub data: [u64; MAX_LANES],
    /// Byte enables of each lane.
    pub be: [u8; MAX_LANES],
    /// The requesting lanes with an atomic operation.
    pub amo: LaneMask,
    /// Code of each lane's atomic operation.
    pub aop: [u8; MAX_LANES],
    /// The expected value of each lane's compare-and-swap.
    pub expected: [u64; MAX_LANES],
    /// Identifier of each lane's request.
    pub id: [u32; MAX_LANES],
}

impl TcdmRequests {
    /// No lane requests.
    pub const NONE: TcdmRequests = TcdmRequests {
        req: 0,
        wen: 0,
        addr: [0; MAX_LANES],
        data: [0; MAX_LANES],
        be: [0; MAX_LANES],
        amo: 0,
        aop: [0; MAX_LANES],
        expected: [0; MAX_LANES],
        id: [0; MAX_LANES],
    };

    /// The request of one lane.
    pub(super) fn of(&self, lane: usize) -> Option<Request> {
        (self.req >> lane & 1 == 1).then(|| Request {
            what: if self.amo >> lane & 1 == 1 {
                What::Atomic(self.aop[lane], self.expected[lane])
            } else if self.wen >> lane & 1 == 1 {
                What::Read
            } else {
                What::Write(self.be[lane])
            },
            addr: self.addr[lane],
            data: self.data[lane],
            id: self.id[lane],
        })
    }
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
    /// The requests of the lanes.
    pub requests: TcdmRequests,
}

/// Answers to lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcdmAnswers {
    /// Lanes whose oldest request is answered.
    pub valid: LaneMask,
    /// The answered lanes that requested a word beyond the capacity, or an
    /// unknown atomic operation.
    pub failed: LaneMask,
    /// Words read, also by atomic operations, and whether a store-conditional
    /// failed; else 0.
    pub data: [u64; MAX_LANES],
    /// Identifiers of the requests; else 0.
    pub id: [u32; MAX_LANES],
}

pub(super) const NO_ANSWERS: TcdmAnswers = TcdmAnswers {
    valid: 0,
    failed: 0,
    data: [0; MAX_LANES],
    id: [0; MAX_LANES],
};

/// The operation on a word.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Read,
    /// The bytes that are enabled.
    Write(u8),
    /// An atomic operation: its code and expected value.
    Atomic(u8, u64),
}

/// The request of one lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub what: What,
    pub addr: u16,
    pub data: u64,
    pub id: u32,
}
