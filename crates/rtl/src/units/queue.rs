//! The bench of both queues of the elastic pipeline: any payload, all rhythms of
//! offer and demand.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::layout::PortSlot;
use super::payloads::Payloads;
use super::support::{Rhythm, ports, reset};

/// Cycles after which a queue may change its mode, once it is drained.
const MODE_CYCLES: u64 = 512;

/// A mode that is static while the queue is not empty.
#[derive(Default)]
struct Mode {
    on: bool,
    /// Offers stop until the queue is empty and the mode can change.
    draining: bool,
}

impl Mode {
    fn next(&mut self, stimulus: &mut Stimulus, empty: bool) {
        self.draining |= stimulus.cycle.is_multiple_of(MODE_CYCLES);
        if self.draining && empty {
            *self = Mode {
                on: !stimulus.one_in(3),
                draining: false,
            };
        }
    }
}

/// The model of a queue: what both have in common.
pub(super) trait Queue {
    /// One cycle: whether the input is accepted, the output, and the stages in use.
    fn step(&mut self, inputs: QueueInputs) -> (bool, Option<u64>, u32);
}

/// The inputs of a queue in a cycle.
pub(super) struct QueueInputs {
    pub rst: bool,
    /// Mode of the queue: on, or passing through.
    pub on: bool,
    pub input: Option<u64>,
    pub out_ready: bool,
}

ports!(DataPorts {
    in rst in_valid in_data out_ready;
    out in_ready out_valid out_data;
});

#[derive(Clone)]
struct QueuePorts {
    data: DataPorts,
    /// The queue's mode, and the output that shows the stages in use.
    on: PortSlot,
    stages: PortSlot,
}

#[derive(Clone)]
struct GoldenQueue<Q> {
    ports: QueuePorts,
    model: Q,
    payloads: Payloads,
}

impl<Q: Queue> Golden for GoldenQueue<Q> {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports.data;
        let offered = frame.is_high(&p.in_valid);
        let input = offered.then(|| self.payloads.number());
        let out_ready = frame.is_high(&p.out_ready);
        let (in_ready, output, used) = self.model.step(QueueInputs {
            rst: frame.is_high(&p.rst),
            on: frame.is_high(&self.ports.on),
            input,
            out_ready,
        });
        frame.expect(&p.in_ready, in_ready.into());
        frame.expect(&p.out_valid, output.is_some().into());
        let bypassed = offered && output == input;
        if bypassed {
            frame.expect_driven(&p.out_data, &p.in_data)
        } else {
            self.payloads.expect(frame, &p.out_data, output)
        }
        frame.expect(&self.ports.stages, used);
        if let Some(number) = input.filter(|_| in_ready && !(bypassed && out_ready)) {
            self.payloads.keep(number, frame, &p.in_data);
        }
        self.payloads.end_cycle(offered && in_ready);
    }
}

struct QueueDriver {
    ports: QueuePorts,
    mode: Mode,
    offer: Rhythm,
    ready: Rhythm,
    /// Nothing is in the queue.
    empty: bool,
}

/// The bench of a queue whose mode is the input `on`, and whose output `stages` shows
/// the stages in use.
pub(super) fn queue<Q>(model: Q, on: &str, stages: &str, setup: &Setup) -> Box<dyn Bench>
where
    Q: Queue + Clone + 'static,
{
    let ports = QueuePorts {
        data: DataPorts::new(setup.layout),
        on: setup.layout.input(on).clone(),
        stages: setup.layout.output(stages).clone(),
    };
    let golden = GoldenQueue {
        ports: ports.clone(),
        model,
        payloads: Payloads::new(),
    };
    let driver = QueueDriver {
        ports,
        mode: Mode::default(),
        offer: Rhythm::default(),
        ready: Rhythm::default(),
        empty: true,
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for QueueDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports.data;
        reset(stimulus, frame, &p.rst);
        self.mode.next(stimulus, self.empty);
        let offered = self.offer.beat(stimulus) && !self.mode.draining;
        frame.drive(&self.ports.on, self.mode.on.into());
        frame.drive(&p.in_valid, offered.into());
        frame.drive_some(&p.in_data, stimulus);
        frame.drive(&p.out_ready, self.ready.beat(stimulus).into());
    }

    fn follow(&mut self, _stimulus: &mut Stimulus, frame: &Frame) {
        let p = &self.ports;
        self.empty = !frame.shows(&p.stages) && !frame.is_high(&p.data.in_valid);
    }
}
