//! `spad_stream` and `spad_tcdm`: neighbours that keep the rules of
//! microarchitecture/bus.md. What is offered stands until it is
//! taken, and the mapping changes only while nothing is inside.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::hash::{RegisterWrites, register_writes};
use super::pattern::{LaneAccess, Patterns};
use super::support::{Rhythm, ports, reset};
use super::write_port::HashRegisters;
use crate::config::Config;
use crate::model::{MAX_LANES, Stream, StreamInputs, StreamRequest, Tcdm, TcdmBatch, TcdmInputs};

/// Once in so many cycles the mapping is to change.
const MAPPING_CYCLES: u32 = 256;

/// What both neighbours do: accesses, rhythm, mappings.
struct Neighbour {
    config: Config,
    registers: HashRegisters,
    patterns: Patterns,
    offer: Rhythm,
    /// The writes of the next mapping; nothing new is offered until they are done.
    writes: RegisterWrites,
}

impl Neighbour {
    fn new(setup: &Setup) -> Self {
        Neighbour {
            config: setup.config.clone(),
            registers: HashRegisters::new(setup.layout),
            patterns: Patterns::new(setup.config, setup.trace),
            offer: Rhythm::with_silence(),
            writes: Vec::new(),
        }
    }

    /// Drives the write ports; `idle`: nothing is inside or offered.
    fn configure(&mut self, stimulus: &mut Stimulus, frame: &mut Frame, idle: bool) {
        if self.writes.is_empty() && stimulus.one_in(MAPPING_CYCLES) {
            self.writes = register_writes(&self.config, stimulus);
        }
        let writes = if idle {
            self.writes.pop().unwrap_or_default()
        } else {
            (None, None)
        };
        self.registers.drive(writes, frame);
        self.registers.disturb(stimulus, frame);
    }

    /// Word addresses of a new access, and which lanes it has.
    fn access(&mut self, stimulus: &mut Stimulus) -> Option<(u64, Vec<u16>)> {
        if !self.writes.is_empty() || !self.offer.beat(stimulus) {
            return None;
        }
        let LaneAccess {
            mask, bank, row, ..
        } = self.patterns.next(stimulus, true);
        let m = self.config.geometry.bank_bits();
        let word = |(row, bank): (&u16, &u8)| row << m | u16::from(*bank);
        let words = row.iter().zip(&bank).map(word);
        Some((mask, words.take(self.config.lanes as usize).collect()))
    }

    fn data(&self, stimulus: &mut Stimulus) -> u64 {
        stimulus.word(self.config.word_bits as usize)
    }

    fn enables(&self, stimulus: &mut Stimulus) -> u8 {
        stimulus.word(self.config.word_bits as usize / 8) as u8
    }
}

ports!(StreamPorts {
    in rst cfg_lock_hash req_valid req_op req_mask req_addr req_data req_be req_tag rsp_ready;
    out req_ready rsp_valid rsp_op rsp_mask rsp_tag rsp_data rsp_success rsp_error rsp_degree idle;
});

#[derive(Clone)]
struct GoldenStream {
    ports: StreamPorts,
    registers: HashRegisters,
    model: Stream,
    word_bits: usize,
    addr_bits: usize,
}

impl Golden for GoldenStream {
    fn respond(&mut self, frame: &mut Frame) {
        let (p, bits) = (&self.ports, self.word_bits);
        let answer = self.model.answer();
        let control = answer.map(|a| a.control).unwrap_or_default();
        frame.expect(&p.req_ready, self.model.req_ready().into());
        frame.expect(&p.rsp_valid, answer.is_some().into());
        frame.expect(&p.rsp_op, control.op.into());
        frame.expect_bits(&p.rsp_mask, control.mask.into());
        frame.expect_bits(&p.rsp_tag, control.tag.into());
        let words = answer.map_or(&[][..], |a| &a.data);
        frame.expect_fields(&p.rsp_data, bits, words.iter().copied());
        frame.expect_bits(&p.rsp_success, control.success.into());
        frame.expect(&p.rsp_error, control.error.into());
        frame.expect(&p.rsp_degree, control.degree);
        frame.expect(&p.idle, self.model.idle().into());
        let (hash_wr, row_wr) = self.registers.read(frame);
        let request = frame.is_high(&p.req_valid).then(|| StreamRequest {
            op: frame.driven(&p.req_op) as u8,
            mask: frame.driven_mask(&p.req_mask),
            addr: frame.driven_array(&p.req_addr, self.addr_bits),
            data: frame.driven_array(&p.req_data, bits),
            be: frame.driven_array(&p.req_be, bits / 8),
            tag: frame.driven_mask(&p.req_tag),
        });
        self.model.commit(StreamInputs {
            rst: frame.is_high(&p.rst),
            hash_wr,
            row_wr,
            lock_hash: frame.driven(&p.cfg_lock_hash) as u8,
            request,
            rsp_ready: frame.is_high(&p.rsp_ready),
        });
    }
}

/// Stimulus of `spad_stream`.
struct StreamDriver {
    ports: StreamPorts,
    neighbour: Neighbour,
    ready: Rhythm,
    /// An access stands at the port.
    offered: bool,
    /// The unit was empty, and nothing was offered.
    idle: bool,
}

pub(super) fn stream(setup: &Setup) -> Box<dyn Bench> {
    Box::new(stream_bench(setup))
}

type StreamBench = DrivenBench<StreamDriver, GoldenStream>;

fn stream_bench(setup: &Setup) -> StreamBench {
    let ports = StreamPorts::new(setup.layout);
    let driver = StreamDriver {
        ports: ports.clone(),
        neighbour: Neighbour::new(setup),
        ready: Rhythm::with_silence(),
        offered: false,
        idle: true,
    };
    let golden = GoldenStream {
        ports,
        registers: HashRegisters::new(setup.layout),
        model: Stream::new(setup.config),
        word_bits: setup.config.word_bits as usize,
        addr_bits: setup.config.geometry.addr_bits() as usize,
    };
    DrivenBench::new(setup, driver, move || golden.clone())
}

impl StreamDriver {
    fn offer(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let Some((mask, addr)) = self.neighbour.access(stimulus) else {
            return;
        };
        let (p, neighbour) = (&self.ports, &self.neighbour);
        let lanes = addr.len();
        let data: Vec<u64> = (0..lanes).map(|_| neighbour.data(stimulus)).collect();
        let be: Vec<u8> = (0..lanes).map(|_| neighbour.enables(stimulus)).collect();
        let op = [0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7][stimulus.below(14) as usize];
        frame.drive(&p.req_op, op);
        frame.drive_bits(&p.req_mask, mask.into());
        frame.drive_fields(&p.req_addr, p.req_addr.width / lanes, addr);
        frame.drive_fields(&p.req_data, p.req_data.width / lanes, data);
        frame.drive_fields(&p.req_be, p.req_be.width / lanes, be);
        frame.drive_bits(&p.req_tag, stimulus.wide(p.req_tag.width));
        self.offered = true;
    }
}

impl Driver for StreamDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let rst = reset(stimulus, frame, &self.ports.rst);
        self.neighbour.configure(stimulus, frame, self.idle);
        if rst {
            // What was written is gone, and the rest alone would be no mapping.
            self.neighbour.writes.clear();
        }
        if self.idle && stimulus.one_in(64) {
            frame.drive(&self.ports.cfg_lock_hash, stimulus.below(4));
        }
        if !self.offered {
            self.offer(stimulus, frame);
        }
        let p = &self.ports;
        frame.drive(&p.req_valid, self.offered.into());
        frame.drive(&p.rsp_ready, self.ready.beat(stimulus).into());
    }

    fn follow(&mut self, _stimulus: &mut Stimulus, frame: &Frame) {
        let p = &self.ports;
        self.idle = frame.shows(&p.idle) && !self.offered;
        self.offered &= !frame.shows(&p.req_ready) && !frame.is_high(&p.rst);
    }
}

ports!(TcdmPorts {
    in rst tcdm_req tcdm_add tcdm_wen tcdm_wdata tcdm_be;
    out tcdm_gnt tcdm_r_valid tcdm_r_rdata tcdm_r_opc idle;
});

#[derive(Clone)]
struct GoldenTcdm {
    ports: TcdmPorts,
    registers: HashRegisters,
    model: Tcdm,
    word_bits: usize,
    addr_bits: usize,
}

impl Golden for GoldenTcdm {
    fn respond(&mut self, frame: &mut Frame) {
        let (p, bits) = (&self.ports, self.word_bits);
        let all = u64::MAX >> (64 - p.tcdm_gnt.width);
        let answers = self.model.answers();
        let gnt = if self.model.grants() { all } else { 0 };
        frame.expect_bits(&p.tcdm_gnt, gnt.into());
        frame.expect_bits(&p.tcdm_r_valid, answers.valid.into());
        frame.expect_bits(&p.tcdm_r_opc, answers.failed.into());
        frame.expect_fields(&p.tcdm_r_rdata, bits, answers.data);
        frame.expect(&p.idle, self.model.idle().into());
        let (hash_wr, row_wr) = self.registers.read(frame);
        let req = frame.driven_mask(&p.tcdm_req);
        let batch = (req != 0).then(|| TcdmBatch {
            req,
            wen: frame.driven_mask(&p.tcdm_wen),
            addr: frame.driven_array(&p.tcdm_add, self.addr_bits),
            data: frame.driven_array(&p.tcdm_wdata, bits),
            be: frame.driven_array(&p.tcdm_be, bits / 8),
        });
        self.model.commit(TcdmInputs {
            rst: frame.is_high(&p.rst),
            hash_wr,
            row_wr,
            batch,
        });
    }
}

/// Stimulus of `spad_tcdm`.
struct TcdmDriver {
    ports: TcdmPorts,
    neighbour: Neighbour,
    /// The pending request of each lane.
    asked: TcdmBatch,
    /// The unit was empty, and no lane asked.
    idle: bool,
}

pub(super) fn tcdm(setup: &Setup) -> Box<dyn Bench> {
    Box::new(tcdm_bench(setup))
}

type TcdmBench = DrivenBench<TcdmDriver, GoldenTcdm>;

fn tcdm_bench(setup: &Setup) -> TcdmBench {
    let ports = TcdmPorts::new(setup.layout);
    let driver = TcdmDriver {
        ports: ports.clone(),
        neighbour: Neighbour::new(setup),
        asked: TcdmBatch {
            req: 0,
            wen: 0,
            addr: [0; MAX_LANES],
            data: [0; MAX_LANES],
            be: [0; MAX_LANES],
        },
        idle: true,
    };
    let golden = GoldenTcdm {
        ports,
        registers: HashRegisters::new(setup.layout),
        model: Tcdm::new(setup.config),
        word_bits: setup.config.word_bits as usize,
        addr_bits: setup.config.geometry.addr_bits() as usize,
    };
    DrivenBench::new(setup, driver, move || golden.clone())
}

impl TcdmDriver {
    /// Lanes that do not ask yet may begin to.
    fn ask(&mut self, stimulus: &mut Stimulus) {
        let Some((mask, addr)) = self.neighbour.access(stimulus) else {
            return;
        };
        let reads = match stimulus.below(4) {
            0 => 0,
            1 | 2 => u64::MAX,
            _ => stimulus.wide(64) as u64,
        };
        for (lane, addr) in addr.into_iter().enumerate() {
            if (mask & !self.asked.req) >> lane & 1 == 0 {
                continue;
            }
            let bit = 1 << lane;
            self.asked.req |= bit;
            self.asked.wen = (self.asked.wen & !bit) | (reads & bit);
            self.asked.addr[lane] = addr;
            self.asked.data[lane] = self.neighbour.data(stimulus);
            self.asked.be[lane] = self.neighbour.enables(stimulus);
        }
    }
}

impl Driver for TcdmDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let rst = reset(stimulus, frame, &self.ports.rst);
        self.neighbour.configure(stimulus, frame, self.idle);
        if rst {
            // What was written is gone, and the rest alone would be no mapping.
            self.neighbour.writes.clear();
        }
        self.ask(stimulus);
        let (p, asked) = (&self.ports, &self.asked);
        let lanes = p.tcdm_req.width;
        frame.drive_bits(&p.tcdm_req, asked.req.into());
        frame.drive_bits(&p.tcdm_wen, asked.wen.into());
        frame.drive_fields(&p.tcdm_add, p.tcdm_add.width / lanes, asked.addr);
        frame.drive_fields(&p.tcdm_wdata, p.tcdm_wdata.width / lanes, asked.data);
        frame.drive_fields(&p.tcdm_be, p.tcdm_be.width / lanes, asked.be);
    }

    fn follow(&mut self, _stimulus: &mut Stimulus, frame: &Frame) {
        let p = &self.ports;
        self.idle = frame.shows(&p.idle) && self.asked.req == 0;
        if frame.is_high(&p.rst) || frame.shows(&p.tcdm_gnt) {
            self.asked.req = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtl::Design;
    use crate::units::bench::Words;
    use crate::units::layout::Layout;
    use std::collections::BTreeMap;

    fn layout(unit: &str, config: &Config) -> Layout {
        let design = Design::emit(&[unit.to_owned()], config).unwrap();
        Layout::new(&design.units[0])
    }

    /// A machine with registers to write and addresses beyond the capacity.
    fn machine() -> Config {
        let text = "base = 'small'\n[geometry]\ncapacity_words = 768\n\
                    [hash]\npath = 'configurable'\n";
        Config::from_toml(text, std::path::Path::new("t.toml")).unwrap()
    }

    fn setup<'a>(config: &'a Config, layout: &'a Layout) -> Setup<'a> {
        Setup {
            config,
            layout,
            trace: None,
        }
    }

    fn missed(seen: BTreeMap<&'static str, u64>) -> Vec<&'static str> {
        let rare = seen.into_iter().filter(|(_, times)| *times == 0);
        rare.map(|(name, _)| name).collect()
    }

    #[test]
    fn the_neighbour_of_a_stream_reaches_what_is_rare() {
        let config = machine();
        let layout = layout("spad_stream", &config);
        let mut bench = stream_bench(&setup(&config, &layout));
        let (mut stimulus, mut words) = (Stimulus::new(1), Words::new(&layout));
        let mut seen = BTreeMap::new();
        for _ in 0..20_000 {
            bench.cycle(&mut stimulus, &mut words.frame());
            stimulus.cycle += 1;
            let model = &bench.golden.model;
            let control = model.answer().map(|a| a.control).unwrap_or_default();
            let mut count = |name, happened: bool| {
                *seen.entry(name).or_default() += u64::from(happened);
            };
            count("full", !model.req_ready());
            count("idle", model.idle());
            count("locks taken", control.success != 0);
            count("error", control.error);
            count("conflict", control.degree > 3);
            count(
                "waits for a mapping",
                !bench.driver.neighbour.writes.is_empty(),
            );
        }
        assert_eq!(missed(seen), [""; 0]);
    }

    #[test]
    fn the_neighbours_of_a_tcdm_reach_what_is_rare() {
        let config = machine();
        let layout = layout("spad_tcdm", &config);
        let mut bench = tcdm_bench(&setup(&config, &layout));
        let (mut stimulus, mut words) = (Stimulus::new(1), Words::new(&layout));
        let mut seen = BTreeMap::new();
        for _ in 0..20_000 {
            bench.cycle(&mut stimulus, &mut words.frame());
            stimulus.cycle += 1;
            let (model, asked) = (&bench.golden.model, &bench.driver.asked);
            let answers = model.answers();
            let mut count = |name, happened: bool| {
                *seen.entry(name).or_default() += u64::from(happened);
            };
            count("full", !model.grants());
            count("idle", model.idle());
            count("a lane waits", asked.req != 0);
            count("read", answers.data.iter().any(|word| *word != 0));
            count("some fail", answers.failed != 0);
            count(
                "waits for a mapping",
                !bench.driver.neighbour.writes.is_empty(),
            );
        }
        assert_eq!(missed(seen), [""; 0]);
    }
}
