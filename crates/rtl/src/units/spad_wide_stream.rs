//! The scratchpad on a port for accesses of 4, 8 and 16 bytes a lane.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::neighbour::Neighbour;
use super::stream_atomics::OperationPorts;
use super::support::{ports, reset};
use super::wide_accesses::{WideNeighbour, WidePorts};
use super::write_port::HashRegisters;
use crate::model::{WideStream, WideStreamInputs};

ports!(Others {
    in rst cfg_lock_hash;
    out;
});

#[derive(Clone)]
struct GoldenWideStream {
    ports: WidePorts,
    others: Others,
    operations: Option<OperationPorts>,
    registers: HashRegisters,
    model: WideStream,
}

impl Golden for GoldenWideStream {
    fn respond(&mut self, frame: &mut Frame) {
        let (p, model) = (&self.ports, &mut self.model);
        let ready_and_idle = [model.req_ready(), model.idle()];
        p.expect(frame, model.answer().as_ref(), ready_and_idle);
        let (hash_wr, row_wr) = self.registers.read(frame);
        model.commit(WideStreamInputs {
            rst: frame.is_high(&self.others.rst),
            hash_wr,
            row_wr,
            lock_hash: frame.driven(&self.others.cfg_lock_hash) as u8,
            request: p.request(frame, self.operations.as_ref()),
            rsp_ready: frame.is_high(&p.rsp_ready),
        });
    }
}

/// Stimulus of `spad_wide_stream`.
struct WideStreamDriver {
    others: Others,
    accesses: Neighbour,
    neighbour: WideNeighbour,
    /// The unit was empty, and nothing was offered.
    idle: bool,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let (layout, config) = (setup.layout, setup.config);
    let driver = WideStreamDriver {
        others: Others::new(layout),
        accesses: Neighbour::new(setup),
        neighbour: WideNeighbour::new(layout),
        idle: true,
    };
    let golden = GoldenWideStream {
        ports: WidePorts::new(layout),
        others: Others::new(layout),
        operations: OperationPorts::find(layout, 32),
        registers: HashRegisters::new(layout),
        model: WideStream::new(config),
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for WideStreamDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let rst = reset(stimulus, frame, &self.others.rst);
        self.accesses.configure(stimulus, frame, (self.idle, rst));
        if self.idle && stimulus.one_in(64) {
            frame.drive(&self.others.cfg_lock_hash, stimulus.below(4));
        }
        if !self.neighbour.offered
            && let Some(access) = self.accesses.access(stimulus)
        {
            self.neighbour.offer(stimulus, frame, access);
        }
        self.neighbour.shake_hands(stimulus, frame);
    }

    fn follow(&mut self, _stimulus: &mut Stimulus, frame: &Frame) {
        self.idle = frame.shows(&self.neighbour.ports.idle) && !self.neighbour.offered;
        self.neighbour.follow(frame, &self.others.rst);
    }
}
