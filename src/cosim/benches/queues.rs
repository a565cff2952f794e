//! The queues of the elastic pipeline and the writeback port: numbered
//! payloads, all rhythms of offer and demand.

use super::support::{Rhythm, drive_reset, payload, ports, reset};
use crate::config::Config;
use crate::cosim::bench::{Bench, Frame, Stimulus};
use crate::cosim::layout::{Layout, PortSlot};
use crate::model::{
    NonmemInputs, NonmemQueue, PrememInputs, PrememQueue, WritebackInputs, WritebackMux,
};

fn drive_payload(frame: &mut Frame, port: &PortSlot, seed: u64) {
    frame.drive_fields(port, 32, payload(seed));
}

fn expect_payload(frame: &mut Frame, port: &PortSlot, seed: Option<u64>) {
    let words = seed.into_iter().flat_map(payload);
    frame.expect_fields(port, 32, words);
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

ports!(PrememPorts {
    in rst cfg_on in_valid in_data out_ready;
    out in_ready out_valid out_data count;
});

pub(super) struct PrememBench {
    ports: PrememPorts,
    model: PrememQueue<u64>,
    mode: Mode,
    offer: Rhythm,
    ready: Rhythm,
}

impl PrememBench {
    pub(super) fn new(config: &Config, layout: &Layout) -> Self {
        let depth = config.warp_size / config.lanes - 1;
        PrememBench {
            ports: PrememPorts::new(layout),
            model: PrememQueue::new(depth as usize),
            mode: Mode::default(),
            offer: Rhythm::default(),
            ready: Rhythm::default(),
        }
    }
}

impl Bench for PrememBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        let rst = reset(stimulus);
        self.mode.next(stimulus, self.model.count() == 0);
        let offered = self.offer.beat(stimulus) && !self.mode.draining;
        let seed = stimulus.wide(64) as u64;
        let inputs = PrememInputs {
            rst,
            cfg_on: self.mode.on,
            input: offered.then_some(seed),
            out_ready: self.ready.beat(stimulus),
        };
        frame.drive(&p.cfg_on, inputs.cfg_on.into());
        frame.drive(&p.in_valid, offered.into());
        drive_payload(frame, &p.in_data, seed);
        frame.drive(&p.out_ready, inputs.out_ready.into());
        let out = self.model.step(&inputs);
        frame.expect(&p.in_ready, out.in_ready.into());
        frame.expect(&p.out_valid, out.output.is_some().into());
        expect_payload(frame, &p.out_data, out.output);
        frame.expect(&p.count, out.count as u32);
        drive_reset(stimulus, frame, &p.rst, rst);
    }
}

ports!(NonmemPorts {
    in rst cfg_elastic in_valid in_data out_ready;
    out in_ready out_valid out_data stage_valid;
});

pub(super) struct NonmemBench {
    ports: NonmemPorts,
    model: NonmemQueue<u64>,
    mode: Mode,
    offer: Rhythm,
    ready: Rhythm,
}

impl NonmemBench {
    pub(super) fn new(config: &Config, layout: &Layout) -> Self {
        let depth = config.path.mem_stages + config.path.hash_stage;
        NonmemBench {
            ports: NonmemPorts::new(layout),
            model: NonmemQueue::new(depth as usize),
            mode: Mode::default(),
            offer: Rhythm::default(),
            ready: Rhythm::default(),
        }
    }
}

impl Bench for NonmemBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        let rst = reset(stimulus);
        self.mode.next(stimulus, self.model.stage_valid() == 0);
        let offered = self.offer.beat(stimulus) && !self.mode.draining;
        let seed = stimulus.wide(64) as u64;
        let inputs = NonmemInputs {
            rst,
            cfg_elastic: self.mode.on,
            input: offered.then_some(seed),
            out_ready: self.ready.beat(stimulus),
        };
        frame.drive(&p.cfg_elastic, inputs.cfg_elastic.into());
        frame.drive(&p.in_valid, offered.into());
        drive_payload(frame, &p.in_data, seed);
        frame.drive(&p.out_ready, inputs.out_ready.into());
        let out = self.model.step(&inputs);
        frame.expect(&p.in_ready, out.in_ready.into());
        frame.expect(&p.out_valid, out.output.is_some().into());
        expect_payload(frame, &p.out_data, out.output);
        frame.expect(&p.stage_valid, out.stage_valid);
        drive_reset(stimulus, frame, &p.rst, rst);
    }
}

ports!(WritebackPorts {
    in rst icn_valid icn_data mem_valid mem_data nm_valid nm_data wb_ready;
    out icn_ready mem_ready nm_ready wb_valid wb_src wb_data;
});

pub(super) struct WritebackBench {
    ports: WritebackPorts,
    model: WritebackMux<u64>,
    /// Rhythms of the three sources and of the port.
    offers: [Rhythm; 3],
    ready: Rhythm,
}

impl WritebackBench {
    pub(super) fn new(layout: &Layout) -> Self {
        WritebackBench {
            ports: WritebackPorts::new(layout),
            model: WritebackMux::default(),
            offers: Default::default(),
            ready: Rhythm::default(),
        }
    }
}

impl Bench for WritebackBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        let rst = reset(stimulus);
        let seeds = [(); 3].map(|()| stimulus.wide(64) as u64);
        let mut offers = [None; 3];
        for (i, offer) in self.offers.iter_mut().enumerate() {
            offers[i] = offer.beat(stimulus).then_some(seeds[i]);
        }
        let inputs = WritebackInputs {
            rst,
            icn: offers[0],
            mem: offers[1],
            nm: offers[2],
            wb_ready: self.ready.beat(stimulus),
        };
        let sources = [
            (&p.icn_valid, &p.icn_data),
            (&p.mem_valid, &p.mem_data),
            (&p.nm_valid, &p.nm_data),
        ];
        for (i, (valid, data)) in sources.into_iter().enumerate() {
            frame.drive(valid, offers[i].is_some().into());
            drive_payload(frame, data, seeds[i]);
        }
        frame.drive(&p.wb_ready, inputs.wb_ready.into());
        let out = self.model.step(&inputs);
        frame.expect(&p.icn_ready, out.icn_ready.into());
        frame.expect(&p.mem_ready, out.mem_ready.into());
        frame.expect(&p.nm_ready, out.nm_ready.into());
        frame.expect(&p.wb_valid, out.wb.is_some().into());
        frame.expect(&p.wb_src, out.wb.map_or(0, |(source, _)| source as u32));
        expect_payload(frame, &p.wb_data, out.wb.map(|(_, seed)| seed));
        drive_reset(stimulus, frame, &p.rst, rst);
    }
}
