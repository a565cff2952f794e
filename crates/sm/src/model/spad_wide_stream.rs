//! `spad_wide_stream`: `spad_phases` in front of `spad_stream`
//! (microarchitecture/phases.md).

use super::spad_phases::{Phases, WideAnswer, WideRequest};
use super::spad_stream::{Stream, StreamInputs};
use crate::config::Config;

/// Inputs of one clock cycle.
pub type WideStreamInputs = StreamInputs<WideRequest>;

/// The phases of wide accesses, and the stream that serves each as an access of its own.
#[derive(Clone, Debug)]
pub struct WideStream {
    phases: Phases,
    stream: Stream,
}

impl WideStream {
    /// The unit of `config` after reset, all words zero.
    pub fn new(config: &Config) -> Self {
        WideStream {
            phases: Phases::new(config),
            stream: Stream::new(config),
        }
    }

    /// The stream with a reset that is asynchronous or not.
    pub fn reset_at_any_time(mut self, asynchronous: bool) -> Self {
        self.stream = self.stream.reset_at_any_time(asynchronous);
        self
    }

    /// Whether an access is taken in this cycle.
    pub fn req_ready(&self) -> bool {
        self.phases.req_ready(self.stream.req_ready())
    }

    /// The answer that is offered.
    pub fn answer(&self) -> Option<WideAnswer> {
        self.phases.answer(self.stream.answer())
    }

    /// No access is inside.
    pub fn idle(&self) -> bool {
        self.phases.idle()
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: WideStreamInputs) {
        let answer = self.stream.answer().cloned();
        let ready = self.stream.req_ready();
        debug_assert!(
            !self.phases.queue_stops(ready),
            "the queue has room for all that the stream holds"
        );
        let phase = self.phases.phase().cloned();
        let takes = self.phases.ans_ready(inputs.rsp_ready);
        self.stream.commit(StreamInputs {
            rst: inputs.rst,
            hash_wr: inputs.hash_wr,
            row_wr: inputs.row_wr,
            lock_hash: inputs.lock_hash,
            request: phase,
            rsp_ready: takes,
        });
        let request = inputs.request.as_ref();
        self.phases.commit(
            inputs.rst,
            request,
            ready,
            answer.as_ref(),
            inputs.rsp_ready,
        );
    }
}
