//! `spad_stream` and `spad_tcdm`: neighbours that keep the rules of
//! docs/microarchitecture.md, section 18a. What is offered stands until it is
//! taken, and the mapping changes only while nothing is inside.

use super::hash::{RegisterWrites, register_writes};
use super::pattern::{LaneAccess, Patterns};
use super::sm_path::WritePort;
use super::support::{Rhythm, drive_reset, ports, reset};
use crate::config::Config;
use crate::cosim::bench::{Bench, Frame, Golden, Stimulus};
use crate::cosim::layout::{Layout, PortSlot};
use crate::model::{MAX_LANES, Stream, StreamInputs, StreamRequest, Tcdm, TcdmBatch, TcdmInputs};
use crate::trace::AccessTrace;

/// Once in so many cycles the mapping is to change.
const MAPPING_CYCLES: u32 = 1024;

/// The write ports of the hash, where it has any.
#[derive(Clone)]
struct Registers {
    hash: Option<WritePort>,
    row: Option<WritePort>,
}

impl Registers {
    fn new(layout: &Layout) -> Self {
        Registers {
            hash: WritePort::find(layout, "hash"),
            row: WritePort::find(layout, "row"),
        }
    }
}

/// What both neighbours do: accesses, rhythm, mappings.
struct Neighbour {
    config: Config,
    registers: Registers,
    patterns: Patterns,
    offer: Rhythm,
    /// The writes of the next mapping; nothing new is offered until they are done.
    writes: RegisterWrites,
}

impl Neighbour {
    fn new(config: &Config, layout: &Layout, trace: Option<&AccessTrace>) -> Self {
        Neighbour {
            config: config.clone(),
            registers: Registers::new(layout),
            patterns: Patterns::new(config, trace),
            offer: Rhythm::with_silence(),
            writes: Vec::new(),
        }
    }

    /// Drives the write ports; `idle`: nothing is inside or offered.
    fn configure(&mut self, stimulus: &mut Stimulus, frame: &mut Frame, idle: bool) {
        if self.writes.is_empty() && stimulus.one_in(MAPPING_CYCLES) {
            self.writes = register_writes(&self.config, stimulus);
        }
        let (hash, row) = match idle {
            true => self.writes.pop().unwrap_or_default(),
            false => (None, None),
        };
        for (port, write) in [(&self.registers.hash, hash), (&self.registers.row, row)] {
            if let Some(port) = port {
                port.drive(write, frame);
            }
        }
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
        Some((mask, row.iter().zip(&bank).map(word).collect()))
    }

    fn data(&self, stimulus: &mut Stimulus) -> u64 {
        stimulus.wide(self.config.word_bits as usize) as u64
    }

    fn enables(&self, stimulus: &mut Stimulus) -> u8 {
        stimulus.wide(self.config.word_bits as usize / 8) as u8
    }
}

/// The fields of a port, in an array of the model.
fn lanes<V: TryFrom<u64> + Default + Copy, const N: usize>(
    frame: &Frame,
    port: &PortSlot,
    width: usize,
) -> [V; N] {
    let mut out = [V::default(); N];
    for (slot, value) in out.iter_mut().zip(frame.driven_list(port, width)) {
        *slot = value;
    }
    out
}

ports!(StreamPorts {
    in rst cfg_lock_hash req_valid req_op req_mask req_addr req_data req_be req_tag rsp_ready;
    out req_ready rsp_valid rsp_op rsp_mask rsp_tag rsp_data rsp_success rsp_error rsp_degree idle;
});

#[derive(Clone)]
struct GoldenStream {
    ports: StreamPorts,
    registers: Registers,
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
        let write = |port: &Option<WritePort>| port.as_ref().and_then(|port| port.read(frame));
        let request = frame.is_high(&p.req_valid).then(|| StreamRequest {
            op: frame.driven(&p.req_op) as u8,
            mask: frame.driven_mask(&p.req_mask),
            addr: lanes(frame, &p.req_addr, self.addr_bits),
            data: lanes(frame, &p.req_data, bits),
            be: lanes(frame, &p.req_be, bits / 8),
            tag: frame.driven_mask(&p.req_tag),
        });
        self.model.commit(StreamInputs {
            rst: frame.is_high(&p.rst),
            hash_wr: write(&self.registers.hash),
            row_wr: write(&self.registers.row),
            lock_hash: frame.driven(&p.cfg_lock_hash) as u8,
            request,
            rsp_ready: frame.is_high(&p.rsp_ready),
        });
    }
}

/// Stimulus of `spad_stream`.
pub(super) struct StreamBench {
    golden: GoldenStream,
    power_up: GoldenStream,
    neighbour: Neighbour,
    ready: Rhythm,
    /// An access stands at the port.
    offered: bool,
}

impl StreamBench {
    pub(super) fn new(config: &Config, layout: &Layout, trace: Option<&AccessTrace>) -> Self {
        let golden = GoldenStream {
            ports: StreamPorts::new(layout),
            registers: Registers::new(layout),
            model: Stream::new(config),
            word_bits: config.word_bits as usize,
            addr_bits: config.geometry.addr_bits() as usize,
        };
        StreamBench {
            power_up: golden.clone(),
            golden,
            neighbour: Neighbour::new(config, layout, trace),
            ready: Rhythm::with_silence(),
            offered: false,
        }
    }

    fn offer(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let Some((mask, addr)) = self.neighbour.access(stimulus) else {
            return;
        };
        let (p, bits) = (&self.golden.ports, self.golden.word_bits);
        let lanes = addr.len();
        let data: Vec<u64> = (0..lanes).map(|_| self.neighbour.data(stimulus)).collect();
        let be: Vec<u8> = (0..lanes)
            .map(|_| self.neighbour.enables(stimulus))
            .collect();
        let op = [0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7][stimulus.below(14) as usize];
        frame.drive(&p.req_op, op);
        frame.drive_bits(&p.req_mask, mask.into());
        frame.drive_fields(&p.req_addr, self.golden.addr_bits, addr);
        frame.drive_fields(&p.req_data, bits, data);
        frame.drive_fields(&p.req_be, bits / 8, be);
        frame.drive_bits(&p.req_tag, stimulus.wide(p.req_tag.width));
        self.offered = true;
    }
}

impl Bench for StreamBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let rst = reset(stimulus);
        let idle = self.golden.model.idle() && !self.offered;
        self.neighbour.configure(stimulus, frame, idle);
        if idle && stimulus.one_in(64) {
            frame.drive(&self.golden.ports.cfg_lock_hash, stimulus.below(4));
        }
        if !self.offered {
            self.offer(stimulus, frame);
        }
        let p = &self.golden.ports;
        frame.drive(&p.req_valid, self.offered.into());
        frame.drive(&p.rsp_ready, self.ready.beat(stimulus).into());
        drive_reset(stimulus, frame, &p.rst, rst);
        self.offered &= !self.golden.model.req_ready() && !rst;
        self.golden.respond(frame);
    }

    fn golden(&self) -> Option<Box<dyn Golden>> {
        Some(Box::new(self.power_up.clone()))
    }
}

ports!(TcdmPorts {
    in rst tcdm_req tcdm_add tcdm_wen tcdm_wdata tcdm_be;
    out tcdm_gnt tcdm_r_valid tcdm_r_rdata tcdm_r_opc idle;
});

#[derive(Clone)]
struct GoldenTcdm {
    ports: TcdmPorts,
    registers: Registers,
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
        let write = |port: &Option<WritePort>| port.as_ref().and_then(|port| port.read(frame));
        let req = frame.driven_mask(&p.tcdm_req);
        let batch = (req != 0).then(|| TcdmBatch {
            req,
            wen: frame.driven_mask(&p.tcdm_wen),
            addr: lanes(frame, &p.tcdm_add, self.addr_bits),
            data: lanes(frame, &p.tcdm_wdata, bits),
            be: lanes(frame, &p.tcdm_be, bits / 8),
        });
        self.model.commit(TcdmInputs {
            rst: frame.is_high(&p.rst),
            hash_wr: write(&self.registers.hash),
            row_wr: write(&self.registers.row),
            batch,
        });
    }
}

/// Stimulus of `spad_tcdm`.
pub(super) struct TcdmBench {
    golden: GoldenTcdm,
    power_up: GoldenTcdm,
    neighbour: Neighbour,
    /// What the lanes stand at the port with.
    asked: TcdmBatch,
}

impl TcdmBench {
    pub(super) fn new(config: &Config, layout: &Layout, trace: Option<&AccessTrace>) -> Self {
        let golden = GoldenTcdm {
            ports: TcdmPorts::new(layout),
            registers: Registers::new(layout),
            model: Tcdm::new(config),
            word_bits: config.word_bits as usize,
            addr_bits: config.geometry.addr_bits() as usize,
        };
        TcdmBench {
            power_up: golden.clone(),
            golden,
            neighbour: Neighbour::new(config, layout, trace),
            asked: TcdmBatch {
                req: 0,
                wen: 0,
                addr: [0; MAX_LANES],
                data: [0; MAX_LANES],
                be: [0; MAX_LANES],
            },
        }
    }

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

impl Bench for TcdmBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let rst = reset(stimulus);
        let idle = self.golden.model.idle() && self.asked.req == 0;
        self.neighbour.configure(stimulus, frame, idle);
        self.ask(stimulus);
        let (p, bits, asked) = (&self.golden.ports, self.golden.word_bits, &self.asked);
        frame.drive_bits(&p.tcdm_req, asked.req.into());
        frame.drive_bits(&p.tcdm_wen, asked.wen.into());
        frame.drive_fields(&p.tcdm_add, self.golden.addr_bits, asked.addr);
        frame.drive_fields(&p.tcdm_wdata, bits, asked.data);
        frame.drive_fields(&p.tcdm_be, bits / 8, asked.be);
        drive_reset(stimulus, frame, &p.rst, rst);
        if rst || self.golden.model.grants() {
            self.asked.req = 0;
        }
        self.golden.respond(frame);
    }

    fn golden(&self) -> Option<Box<dyn Golden>> {
        Some(Box::new(self.power_up.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cosim::record_inputs;
    use crate::rtl::Design;
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

    fn missed(seen: BTreeMap<&'static str, u64>) -> Vec<&'static str> {
        let rare = seen.into_iter().filter(|(_, times)| *times == 0);
        rare.map(|(name, _)| name).collect()
    }

    #[test]
    fn the_neighbour_of_a_stream_reaches_what_is_rare() {
        let config = machine();
        let layout = layout("spad_stream", &config);
        let mut bench = StreamBench::new(&config, &layout, None);
        let mut stimulus = Stimulus::new(1);
        let mut seen = BTreeMap::new();
        for _ in 0..20_000 {
            record_inputs(&layout, &mut bench, &mut stimulus, 1);
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
            count("waits for a mapping", !bench.neighbour.writes.is_empty());
        }
        assert_eq!(missed(seen), [""; 0]);
    }

    #[test]
    fn the_neighbours_of_a_tcdm_reach_what_is_rare() {
        let config = machine();
        let layout = layout("spad_tcdm", &config);
        let mut bench = TcdmBench::new(&config, &layout, None);
        let mut stimulus = Stimulus::new(1);
        let mut seen = BTreeMap::new();
        for _ in 0..20_000 {
            record_inputs(&layout, &mut bench, &mut stimulus, 1);
            let (model, asked) = (&bench.golden.model, &bench.asked);
            let answers = model.answers();
            let mut count = |name, happened: bool| {
                *seen.entry(name).or_default() += u64::from(happened);
            };
            count("full", !model.grants());
            count("idle", model.idle());
            count("a lane waits", asked.req != 0);
            count("read", answers.data.iter().any(|word| *word != 0));
            count("some fail", answers.failed != 0);
            count("waits for a mapping", !bench.neighbour.writes.is_empty());
        }
        assert_eq!(missed(seen), [""; 0]);
    }
}
