//! `spad_memory_entry`: passes and atomics as the stages before it send
//! them, and a scratchpad that answers the sequencer as it likes.

use super::access_tag::TagLayout;
use super::answers::{Answers, ResponseReader, drive_some_words};
use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::layout::PortSlot;
use super::pattern::{Patterns, PlacePorts};
use super::support::{Rhythm, ports, reset};
use crate::model::kind;
use crate::model::{
    AccessTag, EntryInputs, MAX_LANES, MemoryEntry, MemoryRequest, Pass, PassControl, PassPool,
    RequestLanes, ScratchpadInputs,
};

ports!(EntryPorts {
    in rst cfg_elastic take_atomic in_valid in_ctl in_mask in_bank in_row in_lock in_data in_be
        in_aop req_ready;
    out in_ready req_valid req_op req_mask req_bank req_row req_lock req_data req_be req_tag
        seq_busy seq_state atom_infl pre_count;
});

/// Kinds of passes that are not atomics.
const KINDS: [u8; 12] = [1, 1, 2, 2, 3, 3, 4, 4, 0, 6, 7, 15];

/// An ATOMIC instruction on its way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Atomic {
    /// There is none.
    None,
    /// The instruction was taken; this many of its passes have arrived, out of this
    /// many.
    Passes(u32, u32),
    /// All its passes have arrived.
    Ends,
}

struct EntryDriver {
    ports: EntryPorts,
    tags: TagLayout,
    patterns: Patterns,
    answers: Answers,
    lanes: usize,
    word_bits: usize,
    /// Passes of an atomic.
    passes: u32,
    /// The machine has locks, and so atomics.
    locks: bool,
    atomic: Atomic,
    /// Nothing was in PREMEM, and nothing came.
    empty: bool,
    offer: Rhythm,
    ready: Rhythm,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    Box::new(entry_bench(setup))
}

type EntryBench = DrivenBench<EntryDriver, GoldenEntry>;

fn entry_bench(setup: &Setup) -> EntryBench {
    let config = setup.config.clone();
    let (lanes, word_bits) = (config.lanes as usize, config.word_bits as usize);
    let driver = EntryDriver {
        ports: EntryPorts::new(setup.layout),
        tags: TagLayout::of(&config),
        patterns: Patterns::new(&config, setup.trace),
        answers: Answers::new(setup),
        lanes,
        word_bits,
        passes: config.subwarps(),
        locks: config.path.locks > 0,
        atomic: Atomic::None,
        empty: true,
        offer: Rhythm::with_silence(),
        ready: Rhythm::with_silence(),
    };
    let (ports, responses) = (driver.ports.clone(), ResponseReader::new(setup));
    let power_up = move || {
        let mut pool = PassPool::default();
        GoldenEntry {
            ports: ports.clone(),
            responses: responses.clone(),
            tags: TagLayout::of(&config),
            model: MemoryEntry::new(&config),
            lanes,
            word_bits,
            slot: pool.take(),
            pool,
            words: Vec::new(),
        }
    };
    DrivenBench::new(setup, driver, power_up)
}

impl EntryDriver {
    /// The control of the next pass: of the atomic that is on its way, or of
    /// any other instruction.
    fn control(&self, stimulus: &mut Stimulus) -> PassControl {
        let mut control = self.tags.control(stimulus.word(self.ports.in_ctl.width));
        control.kind = KINDS[stimulus.below(KINDS.len() as u32) as usize];
        match self.atomic {
            Atomic::Passes(come, all) if stimulus.one_in(2) => {
                control.kind = kind::ATOMIC;
                control.pass = come as u16;
                control.last = come + 1 == all;
            }
            _ if !self.locks && stimulus.one_in(8) => control.kind = kind::ATOMIC,
            _ => {}
        }
        control
    }

    fn offer_pass(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let control = self.control(stimulus);
        // The unit passes bank and row of the lanes on. A pass with its own now
        // and then distinguishes it from its neighbours.
        if stimulus.one_in(4) {
            self.draw_places(stimulus, frame);
        }
        let p = &self.ports;
        frame.drive(&p.in_valid, self.offer.beat(stimulus).into());
        frame.drive_bits(&p.in_ctl, self.tags.control_bits(&control).into());
        drive_some_words(&p.in_data, self.word_bits, stimulus, frame);
        frame.drive_some(&p.in_be, stimulus);
        frame.drive(&p.in_aop, stimulus.below(11));
    }

    fn draw_places(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let access = self.patterns.next(stimulus, true);
        let p = &self.ports;
        let places = PlacePorts {
            mask: &p.in_mask,
            bank: &p.in_bank,
            row: &p.in_row,
            lock: &p.in_lock,
        };
        places.drive(&access, self.lanes, stimulus, frame);
    }
}

impl Driver for EntryDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        reset(stimulus, frame, &self.ports.rst);
        if self.empty && stimulus.one_in(32) {
            frame.drive(&self.ports.cfg_elastic, (!stimulus.one_in(4)).into());
        }
        let free = self.atomic == Atomic::None || !self.locks;
        let take = free && stimulus.one_in(16);
        frame.drive(&self.ports.take_atomic, take.into());
        self.offer_pass(stimulus, frame);
        self.answers.drive(stimulus, frame, false);
        frame.drive(&self.ports.req_ready, self.ready.beat(stimulus).into());
    }

    fn follow(&mut self, stimulus: &mut Stimulus, frame: &Frame) {
        // Now and then more than there are, which fill the queue for atomics.
        let passes = if stimulus.one_in(8) {
            1 + stimulus.below(4 * self.passes)
        } else {
            self.passes
        };
        let p = &self.ports;
        let rst = frame.is_high(&p.rst);
        let taken = frame.shows(&p.req_valid) && frame.is_high(&p.req_ready);
        let tag = self.tags.tag(frame.shown_bits(&p.req_tag) as u64);
        let request = (
            frame.shown_bits(&p.req_op) as u8,
            frame.shown_bits(&p.req_mask) as u64,
        );
        let asks = taken && tag.sequencer;
        self.answers.follow(frame, rst, asks.then_some(request));
        let came = frame.is_high(&p.in_valid) && frame.shows(&p.in_ready);
        let control = self.tags.control(frame.driven_mask(&p.in_ctl));
        let ends = taken && !asks && frame.shows(&p.seq_busy) && tag.pass.control.last;
        self.atomic = match self.atomic {
            _ if rst => Atomic::None,
            Atomic::None if frame.is_high(&p.take_atomic) => Atomic::Passes(0, passes),
            Atomic::Passes(come, all) if came && control.kind == kind::ATOMIC => {
                if come + 1 == all {
                    Atomic::Ends
                } else {
                    Atomic::Passes(come + 1, all)
                }
            }
            Atomic::Ends if ends => Atomic::None,
            other => other,
        };
        let waits = frame.shown_bits(&p.pre_count) != 0;
        self.empty = rst || !waits && !frame.is_high(&p.in_valid);
    }
}

struct GoldenEntry {
    ports: EntryPorts,
    responses: ResponseReader,
    tags: TagLayout,
    model: MemoryEntry,
    pool: PassPool,
    /// Words of a pass by slot, port by port, as received and to be sent.
    words: Vec<Vec<u32>>,
    lanes: usize,
    word_bits: usize,
    /// The slot for the operands of the pass at the input.
    slot: u8,
}

/// The fields that the unit passes on unchanged.
fn kept(p: &EntryPorts) -> [(&PortSlot, &PortSlot); 6] {
    [
        (&p.in_mask, &p.req_mask),
        (&p.in_bank, &p.req_bank),
        (&p.in_row, &p.req_row),
        (&p.in_lock, &p.req_lock),
        (&p.in_data, &p.req_data),
        (&p.in_be, &p.req_be),
    ]
}

impl GoldenEntry {
    /// The pass at the input, its operands in the slot.
    fn input(&mut self, frame: &Frame) -> Option<Pass> {
        let p = &self.ports;
        if !frame.is_high(&p.in_valid) {
            return None;
        }
        let slot = usize::from(self.slot);
        if slot >= self.words.len() {
            self.words.resize(slot + 1, Vec::new());
        }
        let words = &mut self.words[slot];
        words.clear();
        for (port, _) in kept(p) {
            words.extend_from_slice(frame.driven_words(port));
        }
        let control = self.tags.control(frame.driven_mask(&p.in_ctl));
        // Of other passes, no unit in the model reads the operands.
        if control.kind == kind::ATOMIC {
            self.fill_slot(frame);
        }
        Some(Pass {
            control,
            slot: self.slot,
        })
    }

    /// Puts the operands at the ports into the slot of the pool.
    fn fill_slot(&mut self, frame: &Frame) {
        let (p, lanes) = (&self.ports, self.lanes);
        let data = self.pool.at_mut(self.slot);
        data.mask = frame.driven_mask(&p.in_mask);
        data.aop = frame.driven(&p.in_aop) as u8;
        data.bank = frame.driven_array(&p.in_bank, p.in_bank.width / lanes);
        data.row = frame.driven_array(&p.in_row, p.in_row.width / lanes);
        data.lock = frame.driven_array(&p.in_lock, p.in_lock.width / lanes);
        data.be = frame.driven_array(&p.in_be, self.word_bits / 8);
        data.data = frame.driven_array(&p.in_data, self.word_bits);
    }

    /// Expects the operands of a request, or the defined value of the port without one.
    fn expect_operands(&self, frame: &mut Frame, request: &RequestLanes) {
        let p = &self.ports;
        match request {
            RequestLanes::None => {
                kept(p)
                    .into_iter()
                    .for_each(|(_, port)| frame.expect_zeros(port));
            }
            RequestLanes::Pass(pass, _) => {
                let mut words = &self.words[usize::from(pass.slot)][..];
                for (_, port) in kept(p) {
                    let (own, rest) = words.split_at(port.words);
                    frame.expect_words(port, own);
                    words = rest;
                }
            }
            RequestLanes::Sequencer(..) => self.expect_lanes(frame, &request.inputs(true)),
        }
    }

    fn expect_lanes(&self, frame: &mut Frame, req: &ScratchpadInputs<AccessTag>) {
        let (p, lanes) = (&self.ports, self.lanes);
        frame.expect_bits(&p.req_mask, req.req_mask.into());
        let banks = req.req_bank.iter().copied();
        frame.expect_fields(&p.req_bank, p.req_bank.width / lanes, banks);
        let rows = req.req_row.iter().copied();
        frame.expect_fields(&p.req_row, p.req_row.width / lanes, rows);
        let locks = req.req_lock.iter().copied();
        frame.expect_fields(&p.req_lock, p.req_lock.width / lanes, locks);
        let data = req.req_data.iter().copied();
        frame.expect_fields(&p.req_data, self.word_bits, data);
        let enables = req.req_be.iter().copied();
        frame.expect_fields(&p.req_be, self.word_bits / 8, enables);
    }
}

impl Golden for GoldenEntry {
    fn respond(&mut self, frame: &mut Frame) {
        let input = self.input(frame);
        let p = &self.ports;
        let mut words = [0; MAX_LANES];
        let response = self.responses.response(frame, &mut words);
        let inputs = EntryInputs {
            rst: frame.is_high(&p.rst),
            elastic: frame.is_high(&p.cfg_elastic),
            input,
            req_ready: frame.is_high(&p.req_ready),
            response: response.map(|r| (0, r)),
            take_atomic: frame.is_high(&p.take_atomic),
        };
        let out = self.model.eval(&inputs);
        // Without a request the head stands there: an ATOMIC, or nothing.
        let shown = out.request.or(out.head.map(MemoryRequest::Pass));
        let lanes = shown.map_or(RequestLanes::None, |r| self.model.lanes(r, &self.pool));
        self.expect_operands(frame, &lanes);
        let req = lanes.inputs(true);
        frame.expect(&p.req_op, req.req_op.into());
        frame.expect_bits(&p.req_tag, self.tags.tag_bits(&req.req_tag).into());
        frame.expect(&p.in_ready, out.in_ready.into());
        frame.expect(&p.req_valid, out.request.is_some().into());
        frame.expect(&p.seq_busy, out.seq_busy.into());
        frame.expect(&p.seq_state, out.seq_state as u32);
        frame.expect(&p.atom_infl, out.atom_infl.into());
        frame.expect(&p.pre_count, out.pre_count as u32);
        let gone = (!req.req_tag.sequencer).then_some(req.req_tag.pass.slot);
        self.model.commit(&inputs, &out, &self.pool);
        if inputs.input.is_some() && out.in_ready {
            self.slot = self.pool.take();
        }
        match gone.filter(|_| out.request.is_some() && inputs.req_ready) {
            _ if inputs.rst => self.pool.give_all_but(Some(self.slot)),
            Some(slot) => self.pool.give(slot),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::model::spad_retry_sequencer::State;
    use crate::rtl::Design;
    use crate::units::bench::Words;
    use crate::units::layout::Layout;
    use std::collections::BTreeMap;

    #[test]
    fn the_stimulus_reaches_what_is_rare() {
        let config = Config::preset("small").unwrap();
        let design = Design::emit(&["spad_memory_entry".to_owned()], &config).unwrap();
        let layout = Layout::new(&design.units[0]);
        let mut bench = entry_bench(&Setup::new(&config, &layout));
        let (mut stimulus, mut words) = (Stimulus::new(1), Words::new(&layout));
        let mut seen = BTreeMap::new();
        for _ in 0..40_000 {
            bench.cycle(&mut stimulus, &mut words.frame());
            stimulus.cycle += 1;
            let (frame, p) = (words.frame(), &bench.driver.ports);
            let count_is = |n: usize| frame.shown_bits(&p.pre_count) == n as u128;
            let (busy, ready) = (frame.shows(&p.seq_busy), frame.is_high(&p.req_ready));
            let done = frame.shown_bits(&p.seq_state) == State::Done as u128;
            let tag = bench.driver.tags.tag(frame.shown_bits(&p.req_tag) as u64);
            let mut count = |name, happened: bool| {
                *seen.entry(name).or_insert(0) += u64::from(happened);
            };
            count("PREMEM full", count_is(config.parameters().PQ));
            count("not elastic", !frame.is_high(&p.cfg_elastic));
            count("sequencer before PREMEM", busy && !count_is(0));
            count("atomic refused", done && tag.error);
            count("atomic done", done && ready && !tag.error);
            count("a third round", bench.golden.model.rounds() == 3);
            let passes_by = frame.shown_bits(&p.seq_state) != 0 && !busy;
            count(
                "a pass between its rounds",
                passes_by && frame.shows(&p.req_valid),
            );
            let atomic = tag.pass.control.kind == kind::ATOMIC;
            count("atomic at the head", atomic && !frame.shows(&p.req_valid));
        }
        let rare: Vec<_> = seen.iter().filter(|e| *e.1 == 0).collect();
        assert!(rare.is_empty(), "{seen:?}");
    }
}
