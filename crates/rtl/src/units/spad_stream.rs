//! The scratchpad on one port: what is offered stays until it is taken.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::neighbour::Neighbour;
use super::stream_atomics::{Offer, OperationNeighbour, OperationPorts};
use super::support::{Resets, Rhythm, ports};
use super::write_port::HashRegisters;
use crate::model::spad_scratchpad::op;
use crate::model::{Stream, StreamInputs, StreamRequest};

ports!(StreamPorts {
    in rst cfg_lock_hash req_valid req_op req_mask req_addr req_data req_be req_tag rsp_ready;
    out req_ready rsp_valid rsp_op rsp_mask rsp_tag rsp_data rsp_success rsp_error rsp_degree idle;
});

#[derive(Clone)]
struct GoldenStream {
    ports: StreamPorts,
    operations: Option<OperationPorts>,
    registers: HashRegisters,
    model: Stream,
    word_bits: usize,
    addr_bits: usize,
}

impl GoldenStream {
    /// The access that is offered.
    fn request(&self, frame: &Frame) -> Option<StreamRequest> {
        let (p, bits) = (&self.ports, self.word_bits);
        frame.is_high(&p.req_valid).then(|| StreamRequest {
            op: frame.driven(&p.req_op) as u8,
            atomic: self.operations.as_ref().and_then(|p| p.operation(frame)),
            mask: frame.driven_mask(&p.req_mask),
            addr: frame.driven_array(&p.req_addr, self.addr_bits),
            data: frame.driven_array(&p.req_data, bits),
            be: frame.driven_array(&p.req_be, bits / 8),
            tag: frame.driven_mask(&p.req_tag),
        })
    }
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
        let request = self.request(frame);
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
    resets: Resets,
    ports: StreamPorts,
    neighbour: Neighbour,
    operations: Option<OperationNeighbour>,
    /// Stores are not answered.
    posted: bool,
    ready: Rhythm,
    /// An access is offered.
    offered: bool,
    /// The unit was empty, and nothing was offered.
    idle: bool,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    Box::new(stream_bench(setup))
}

type StreamBench = DrivenBench<StreamDriver, GoldenStream>;

fn stream_bench(setup: &Setup) -> StreamBench {
    let ports = StreamPorts::new(setup.layout);
    let word_bits = setup.config.word_bits as usize;
    let operations = OperationPorts::find(setup.layout, word_bits);
    let driver = StreamDriver {
        resets: Resets::default(),
        ports: ports.clone(),
        neighbour: Neighbour::new(setup),
        operations: operations.clone().map(OperationNeighbour::new),
        posted: setup.config.path.stream.posted,
        ready: Rhythm::with_silence(),
        offered: false,
        idle: true,
    };
    let golden = GoldenStream {
        ports,
        operations,
        registers: HashRegisters::new(setup.layout),
        model: Stream::new(setup.config).reset_at_any_time(setup.reset.is_async()),
        word_bits,
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
        let data = (0..lanes).map(|_| neighbour.data(stimulus)).collect();
        let be: Vec<u8> = (0..lanes).map(|_| neighbour.enables(stimulus)).collect();
        let op = [0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7][stimulus.below(14) as usize];
        let posted = self.posted && op == u32::from(op::STORE);
        let mut offer = Offer { addr, data, posted };
        if let Some(operations) = &mut self.operations {
            operations.offer(stimulus, frame, &mut offer);
        }
        let Offer { addr, data, .. } = offer;
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
        let rst = self.resets.drive(stimulus, frame, &self.ports.rst);
        self.neighbour.configure(stimulus, frame, (self.idle, rst));
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
        if let Some(operations) = &mut self.operations {
            if frame.shows(&p.rsp_valid) && frame.is_high(&p.rsp_ready) {
                operations.answered(frame, &p.rsp_data);
            }
            if frame.is_high(&p.rst) {
                operations.reset();
            }
        }
        self.idle = frame.shows(&p.idle) && !self.offered;
        self.offered &= !frame.shows(&p.req_ready) && !frame.is_high(&p.rst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::model::StreamAnswer;
    use crate::model::spad_atomic_bank::amo;
    use crate::rtl::Design;
    use crate::units::bench::Words;
    use crate::units::layout::Layout;
    use std::collections::{BTreeMap, BTreeSet, VecDeque};

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
        let mut bench = stream_bench(&Setup::new(&config, &layout));
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
                bench.driver.neighbour.pending_writes() != 0,
            );
        }
        assert_eq!(missed(seen), [""; 0]);
    }

    /// Counts the operations of active lanes, by code and by whether they stored.
    fn outcomes(
        (request, answer): (&StreamRequest, &StreamAnswer),
        mut count: impl FnMut(&'static str, bool),
    ) {
        let Some(operation) = &request.atomic else {
            return;
        };
        let (code, error) = (operation.code, answer.control.error);
        let lanes = || (0..8).filter(|lane| request.mask >> lane & 1 == 1);
        let any = |holds: &dyn Fn(usize) -> bool| !error && lanes().any(holds);
        let word = |lane: usize| answer.data[lane];
        let expects = |lane: usize| operation.expected[lane];
        let (swap, conditional) = (code == amo::CAS, code == amo::SC);
        let swaps = |lane| word(lane) == expects(lane) && word(lane) != 0;
        count("a compare-and-swap swaps", swap && any(&swaps));
        let fails = |lane| word(lane) != expects(lane);
        count("a compare-and-swap fails", swap && any(&fails));
        let (zero, one) = (|lane| word(lane) == 0, |lane| word(lane) == 1);
        count("a store-conditional stores", conditional && any(&zero));
        count("a store-conditional fails", conditional && any(&one));
        let words: BTreeSet<u16> = lanes().map(|lane| request.addr[lane]).collect();
        let meets = !error && words.len() < lanes().count();
        count("lanes are counted together", code == amo::COUNT && meets);
        count("lanes operate on one word", code == amo::ADD && meets);
        count("an operation is refused", code > amo::COUNT && error);
        count("a row beyond is refused", code <= amo::COUNT && error);
    }

    #[test]
    fn the_neighbour_of_a_stream_with_atomics_reaches_what_is_rare() {
        let mut config = machine();
        config.path.stream.window = 2;
        config.path.stream.atomics = true;
        let layout = layout("spad_stream", &config);
        let mut bench = stream_bench(&Setup::new(&config, &layout));
        let (mut stimulus, mut words) = (Stimulus::new(1), Words::new(&layout));
        let mut seen = BTreeMap::new();
        let mut waiting = VecDeque::new();
        for _ in 0..20_000 {
            let (answer, ready) = {
                let model = &bench.golden.model;
                (model.answer().cloned(), model.req_ready())
            };
            let mut frame = words.frame();
            bench.cycle(&mut stimulus, &mut frame);
            stimulus.cycle += 1;
            let p = &bench.driver.ports;
            if frame.is_high(&p.rst) {
                waiting.clear();
                continue;
            }
            let mut count = |name, happened: bool| {
                *seen.entry(name).or_default() += u64::from(happened);
            };
            let taken = answer.filter(|_| frame.is_high(&p.rsp_ready));
            if let Some(answer) = taken {
                let request = waiting.pop_front().unwrap();
                outcomes((&request, &answer), &mut count);
            }
            if ready && frame.is_high(&p.req_valid) {
                waiting.extend(bench.golden.request(&frame));
            }
        }
        assert_eq!(missed(seen), [""; 0]);
    }
}
