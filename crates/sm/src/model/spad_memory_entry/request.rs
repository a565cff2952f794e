//! The request port of the scratchpad: whose request it is, and its lanes.

use crate::model::kind;
use crate::model::pass::{AccessTag, Pass, PassData};
use crate::model::spad_retry_sequencer::SequencerRequest;
use crate::model::spad_scratchpad::{ScratchpadInputs, op};

/// The source of the request at the port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryRequest {
    /// The head of the memory path.
    Pass(Pass),
    /// The sequencer of this context.
    Sequencer(usize),
}

/// A request with its lanes: `req_*`.
#[derive(Clone, Debug, Default)]
pub enum RequestLanes<'a> {
    /// There is none.
    #[default]
    None,
    /// Lanes of a pass.
    Pass(Pass, &'a PassData),
    /// Lanes of the request of a context's sequencer.
    Sequencer(usize, Box<SequencerRequest<Pass>>),
}

/// Byte enables of the sequencer's requests: all.
static ALL_BYTES: [u8; 64] = [0xff; 64];
static NO_LANES: PassData = PassData::EMPTY;

impl RequestLanes<'_> {
    /// The scratchpad's inputs.
    pub fn inputs(&self, resp_ready: bool) -> ScratchpadInputs<'_, AccessTag> {
        match self {
            RequestLanes::None => ScratchpadInputs {
                req_valid: false,
                ..of_pass(Pass::default(), &NO_LANES, resp_ready)
            },
            RequestLanes::Pass(pass, data) => of_pass(*pass, data, resp_ready),
            RequestLanes::Sequencer(context, request) => {
                of_sequencer(*context, request, resp_ready)
            }
        }
    }
}

fn of_pass(pass: Pass, data: &PassData, resp_ready: bool) -> ScratchpadInputs<'_, AccessTag> {
    ScratchpadInputs {
        rst: false,
        req_valid: true,
        req_op: kind::operation(pass.control.kind),
        req_mask: data.mask,
        req_bank: &data.bank,
        req_row: &data.row,
        req_lock: &data.lock,
        req_data: &data.data,
        req_be: &data.be,
        req_tag: AccessTag {
            pass,
            ..AccessTag::default()
        },
        resp_ready,
    }
}

fn of_sequencer(
    context: usize,
    request: &SequencerRequest<Pass>,
    resp_ready: bool,
) -> ScratchpadInputs<'_, AccessTag> {
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
        req_tag: AccessTag {
            pass: request.tag,
            sequencer: request.op != op::PASS,
            context: context as u8,
            error: request.error,
            degree: request.degree,
        },
        resp_ready,
    }
}
