//! The queues of the elastic pipeline and the writeback port: any payload, all
//! rhythms of offer and demand.

use super::support::{Rhythm, drive_reset, payload, ports, reset};
use crate::config::Config;
use crate::cosim::bench::{Bench, Frame, Golden, Stimulus};
use crate::cosim::layout::{Layout, PortSlot};
use crate::model::{
    NonmemInputs, NonmemQueue, PrememInputs, PrememQueue, WritebackInputs, WritebackMux,
};

fn drive_payload(frame: &mut Frame, port: &PortSlot, seed: u64) {
    frame.drive_fields(port, 32, payload(seed));
}

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

    /// The number of what is driven on `port`.
    fn number(&mut self, frame: &Frame, port: &PortSlot) -> u64 {
        self.next = (self.next + 1) % self.ring.len();
        self.ring[self.next].clear();
        self.ring[self.next].extend(frame.driven_fields(port, 32).map(|word| word as u32));
        self.next as u64
    }

    /// Ends a cycle: forgets the payloads that nobody has taken.
    fn end_cycle(&mut self, taken: bool) {
        match taken {
            true => self.taken = self.next,
            false => self.next = self.taken,
        }
    }

    fn expect(&self, frame: &mut Frame, port: &PortSlot, number: Option<u64>) {
        let words = number.map_or(&[][..], |number| &self.ring[number as usize]);
        frame.expect_fields(port, 32, words.iter().copied());
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

    /// Nothing is in the queue.
    fn is_empty(&self) -> bool;
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

    fn is_empty(&self) -> bool {
        self.count() == 0
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

    fn is_empty(&self) -> bool {
        self.stage_valid() == 0
    }
}

ports!(QueuePorts {
    in rst in_valid in_data out_ready;
    out in_ready out_valid out_data;
});

#[derive(Clone)]
struct GoldenQueue<Q> {
    ports: QueuePorts,
    /// The queue's mode, and the output that shows the stages in use.
    on: PortSlot,
    stages: PortSlot,
    model: Q,
    payloads: Payloads,
}

impl<Q: Queue> Golden for GoldenQueue<Q> {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let number = self.payloads.number(frame, &p.in_data);
        let inputs = QueueInputs {
            rst: frame.is_high(&p.rst),
            on: frame.is_high(&self.on),
            input: frame.is_high(&p.in_valid).then_some(number),
            out_ready: frame.is_high(&p.out_ready),
        };
        let offered = inputs.input.is_some();
        let (in_ready, output, used) = self.model.step(inputs);
        frame.expect(&p.in_ready, in_ready.into());
        frame.expect(&p.out_valid, output.is_some().into());
        self.payloads.expect(frame, &p.out_data, output);
        frame.expect(&self.stages, used);
        self.payloads.end_cycle(offered && in_ready);
    }
}

/// Stimulus of a queue.
pub(super) struct QueueBench<Q> {
    golden: GoldenQueue<Q>,
    power_up: GoldenQueue<Q>,
    mode: Mode,
    offer: Rhythm,
    ready: Rhythm,
}

impl QueueBench<PrememQueue<u64>> {
    pub(super) fn premem(config: &Config, layout: &Layout) -> Self {
        let model = PrememQueue::new(config.premem_depth() as usize);
        Self::new(
            model,
            layout.input("cfg_on"),
            layout.output("count"),
            layout,
        )
    }
}

impl QueueBench<NonmemQueue<u64>> {
    pub(super) fn nonmem(config: &Config, layout: &Layout) -> Self {
        let model = NonmemQueue::new(config.nonmem_depth() as usize);
        let stages = layout.output("stage_valid");
        Self::new(model, layout.input("cfg_elastic"), stages, layout)
    }
}

impl<Q: Clone> QueueBench<Q> {
    fn new(model: Q, on: &PortSlot, stages: &PortSlot, layout: &Layout) -> Self {
        let golden = GoldenQueue {
            ports: QueuePorts::new(layout),
            on: on.clone(),
            stages: stages.clone(),
            model,
            payloads: Payloads::new(),
        };
        QueueBench {
            power_up: golden.clone(),
            golden,
            mode: Mode::default(),
            offer: Rhythm::default(),
            ready: Rhythm::default(),
        }
    }
}

impl<Q: Queue + Clone + 'static> Bench for QueueBench<Q> {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.golden.ports;
        let rst = reset(stimulus);
        self.mode.next(stimulus, self.golden.model.is_empty());
        let offered = self.offer.beat(stimulus) && !self.mode.draining;
        frame.drive(&self.golden.on, self.mode.on.into());
        frame.drive(&p.in_valid, offered.into());
        drive_payload(frame, &p.in_data, stimulus.wide(64) as u64);
        frame.drive(&p.out_ready, self.ready.beat(stimulus).into());
        drive_reset(stimulus, frame, &p.rst, rst);
        self.golden.respond(frame);
    }

    fn golden(&self) -> Option<Box<dyn Golden>> {
        Some(Box::new(self.power_up.clone()))
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

pub(super) struct WritebackBench {
    golden: GoldenMux,
    power_up: GoldenMux,
    /// Rhythms of the three sources and of the port.
    offers: [Rhythm; 3],
    ready: Rhythm,
}

impl WritebackBench {
    pub(super) fn new(config: &Config, layout: &Layout) -> Self {
        let golden = GoldenMux {
            ports: WritebackPorts::new(layout),
            model: WritebackMux::new(config.path.ahead),
            payloads: Payloads::new(),
        };
        WritebackBench {
            power_up: golden.clone(),
            golden,
            offers: Default::default(),
            ready: Rhythm::default(),
        }
    }
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

impl Bench for WritebackBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.golden.ports;
        let rst = reset(stimulus);
        for ((valid, data), offer) in p.sources().into_iter().zip(&mut self.offers) {
            drive_payload(frame, data, stimulus.wide(64) as u64);
            frame.drive(valid, offer.beat(stimulus).into());
        }
        frame.drive(&p.wb_ready, self.ready.beat(stimulus).into());
        drive_reset(stimulus, frame, &p.rst, rst);
        self.golden.respond(frame);
    }

    fn golden(&self) -> Option<Box<dyn Golden>> {
        Some(Box::new(self.power_up.clone()))
    }
}

impl Golden for GoldenMux {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let payloads = &mut self.payloads;
        let [icn, mem, nm] = p.sources().map(|(valid, data)| {
            let number = payloads.number(frame, data);
            frame.is_high(valid).then_some(number)
        });
        let out = self.model.step(&WritebackInputs {
            rst: frame.is_high(&p.rst),
            icn,
            mem,
            nm,
            wb_ready: frame.is_high(&p.wb_ready),
        });
        frame.expect(&p.icn_ready, out.icn_ready.into());
        frame.expect(&p.mem_ready, out.mem_ready.into());
        frame.expect(&p.nm_ready, out.nm_ready.into());
        frame.expect(&p.wb_valid, out.wb.is_some().into());
        frame.expect(&p.wb_src, out.wb.map_or(0, |(source, _)| source as u32));
        payloads.expect(frame, &p.wb_data, out.wb.map(|(_, number)| number));
        payloads.end_cycle(
            (icn.is_some() && out.icn_ready)
                || (mem.is_some() && out.mem_ready)
                || (nm.is_some() && out.nm_ready),
        );
    }
}
