//! The queues of the elastic pipeline and the writeback port: any payload, all
//! rhythms of offer and demand.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::layout::PortSlot;
use super::support::{Rhythm, ports, reset};
use crate::model::{
    NonmemInputs, NonmemQueue, PrememInputs, PrememQueue, WritebackInputs, WritebackMux,
};

/// Payloads that are under way: models move their numbers. A number is used
/// again after more of them have been taken than a queue holds.
#[derive(Clone)]
struct Payloads {
    ring: Vec<Vec<u32>>,
    next: usize,
    /// The last number of a payload that was taken.
    taken: usize,
}

impl Payloads {
    fn new() -> Self {
        Payloads {
            ring: vec![Vec::new(); 256],
            next: 0,
            taken: 0,
        }
    }

    /// The number of a payload that is offered.
    fn number(&mut self) -> u64 {
        self.next = (self.next + 1) % self.ring.len();
        self.next as u64
    }

    /// The payload of that number, which is driven on `port`, is taken.
    fn keep(&mut self, number: u64, frame: &Frame, port: &PortSlot) {
        let payload = &mut self.ring[number as usize];
        payload.clear();
        payload.extend_from_slice(frame.driven_words(port));
    }

    /// Ends a cycle: forgets the payloads that nobody has taken.
    fn end_cycle(&mut self, taken: bool) {
        if taken {
            self.taken = self.next
        } else {
            self.next = self.taken
        }
    }

    fn expect(&self, frame: &mut Frame, port: &PortSlot, number: Option<u64>) {
        match number {
            Some(number) => frame.expect_words(port, &self.ring[number as usize]),
            None => frame.expect_zeros(port),
        }
    }
}

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
trait Queue {
    /// One cycle: whether the input is taken, the output, and the stages in use.
    fn step(&mut self, inputs: QueueInputs) -> (bool, Option<u64>, u32);
}

struct QueueInputs {
    rst: bool,
    on: bool,
    input: Option<u64>,
    out_ready: bool,
}

impl Queue for PrememQueue<u64> {
    fn step(&mut self, inputs: QueueInputs) -> (bool, Option<u64>, u32) {
        let out = PrememQueue::step(
            self,
            &PrememInputs {
                rst: inputs.rst,
                cfg_on: inputs.on,
                input: inputs.input,
                out_ready: inputs.out_ready,
            },
        );
        (out.in_ready, out.output, out.count as u32)
    }
}

impl Queue for NonmemQueue<u64> {
    fn step(&mut self, inputs: QueueInputs) -> (bool, Option<u64>, u32) {
        let out = NonmemQueue::step(
            self,
            &NonmemInputs {
                rst: inputs.rst,
                cfg_elastic: inputs.on,
                input: inputs.input,
                out_ready: inputs.out_ready,
            },
        );
        (out.in_ready, out.output, out.stage_valid)
    }
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

pub(super) fn premem(setup: &Setup) -> Box<dyn Bench> {
    let model = PrememQueue::new(setup.config.parameters().PQ);
    queue(model, "cfg_on", "count", setup)
}

pub(super) fn nonmem(setup: &Setup) -> Box<dyn Bench> {
    let model = NonmemQueue::new(setup.config.parameters().NQ);
    queue(model, "cfg_elastic", "stage_valid", setup)
}

fn queue<Q>(model: Q, on: &str, stages: &str, setup: &Setup) -> Box<dyn Bench>
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

ports!(WritebackPorts {
    in rst icn_valid icn_data mem_valid mem_data nm_valid nm_data wb_ready;
    out icn_ready mem_ready nm_ready wb_valid wb_src wb_data;
});

#[derive(Clone)]
struct GoldenMux {
    ports: WritebackPorts,
    model: WritebackMux<u64>,
    payloads: Payloads,
}

struct WritebackDriver {
    ports: WritebackPorts,
    /// Rhythms of the three sources and of the port.
    offers: [Rhythm; 3],
    ready: Rhythm,
}

pub(super) fn writeback(setup: &Setup) -> Box<dyn Bench> {
    let ports = WritebackPorts::new(setup.layout);
    let golden = GoldenMux {
        ports: ports.clone(),
        model: WritebackMux::new(setup.config.path.ahead),
        payloads: Payloads::new(),
    };
    let driver = WritebackDriver {
        ports,
        offers: Default::default(),
        ready: Rhythm::default(),
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl WritebackPorts {
    /// Valid and data of the three sources.
    fn sources(&self) -> [(&PortSlot, &PortSlot); 3] {
        [
            (&self.icn_valid, &self.icn_data),
            (&self.mem_valid, &self.mem_data),
            (&self.nm_valid, &self.nm_data),
        ]
    }
}

impl Driver for WritebackDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        reset(stimulus, frame, &p.rst);
        for ((valid, data), offer) in p.sources().into_iter().zip(&mut self.offers) {
            frame.drive_some(data, stimulus);
            frame.drive(valid, offer.beat(stimulus).into());
        }
        frame.drive(&p.wb_ready, self.ready.beat(stimulus).into());
    }
}

impl Golden for GoldenMux {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let payloads = &mut self.payloads;
        let [icn, mem, nm] = p.sources().map(|(valid, data)| {
            let offered = frame.is_high(valid);
            offered.then(|| (payloads.number(), data))
        });
        let out = self.model.step(&WritebackInputs {
            rst: frame.is_high(&p.rst),
            icn: icn.map(|(number, _)| number),
            mem: mem.map(|(number, _)| number),
            nm: nm.map(|(number, _)| number),
            wb_ready: frame.is_high(&p.wb_ready),
        });
        frame.expect(&p.icn_ready, out.icn_ready.into());
        frame.expect(&p.mem_ready, out.mem_ready.into());
        frame.expect(&p.nm_ready, out.nm_ready.into());
        frame.expect(&p.wb_valid, out.wb.is_some().into());
        frame.expect(&p.wb_src, out.wb.map_or(0, |(source, _)| source as u32));
        payloads.expect(frame, &p.wb_data, out.wb.map(|(_, number)| number));
        let ready = [out.icn_ready, out.mem_ready, out.nm_ready];
        let offers = [icn, mem, nm].into_iter().zip(ready);
        let taken = offers.filter_map(|(offer, ready)| offer.filter(|_| ready));
        let mut any = false;
        for (number, data) in taken {
            payloads.keep(number, frame, data);
            any = true;
        }
        payloads.end_cycle(any);
    }
}
