//! `spad_retry_sequencer` against a scratchpad that answers as it likes.

use super::answers::{Answers, ResponseReader, drive_some_words};
use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::pattern::{Patterns, PlacePorts};
use super::support::{Rhythm, ports, reset};
use crate::model::spad_scratchpad::op;
use crate::model::{AtomicPass, MAX_LANES, RetrySequencer, SequencerInputs};
use std::ops::Range;

ports!(Ports {
    in rst at_valid at_aop at_mask at_bank at_row at_lock at_data at_tag sp_ready;
    out at_ready sp_valid sp_op sp_mask sp_bank sp_row sp_lock sp_data sp_tag sp_error sp_degree
        state rounds;
});

/// Cycles in which no lock is granted, so that the count of rounds fills up;
/// only long runs get there.
const FAMINE: Range<u64> = 20_480..620_480;

struct SequencerDriver {
    ports: Ports,
    patterns: Patterns,
    lanes: usize,
    word_bits: usize,
    offer: Rhythm,
    ready: Rhythm,
    answers: Answers,
    /// No pass was under way in the cycle before.
    idle: bool,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let (lanes, word_bits) = (setup.config.lanes as usize, setup.config.word_bits as usize);
    let driver = SequencerDriver {
        ports: Ports::new(setup.layout),
        patterns: Patterns::new(setup.config, setup.trace),
        lanes,
        word_bits,
        offer: Rhythm::default(),
        ready: Rhythm::default(),
        answers: Answers::new(setup),
        idle: true,
    };
    let golden = GoldenSequencer {
        ports: Ports::new(setup.layout),
        responses: ResponseReader::new(setup),
        model: RetrySequencer::new(setup.config),
        lanes,
        word_bits,
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl SequencerDriver {
    /// An atomic pass, offered or not.
    fn offer_pass(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        // While a pass is under way nobody looks at the next one, which must
        // not matter: it changes now and then.
        if self.idle || stimulus.one_in(8) {
            self.draw_operands(stimulus, frame);
        }
        let p = &self.ports;
        frame.drive(&p.at_valid, self.offer.beat(stimulus).into());
        frame.drive(&p.at_aop, stimulus.below(11));
        frame.drive_bits(&p.at_tag, stimulus.wide(p.at_tag.width));
    }

    fn draw_operands(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let access = self.patterns.next(stimulus, false);
        let p = &self.ports;
        let places = PlacePorts {
            mask: &p.at_mask,
            bank: &p.at_bank,
            row: &p.at_row,
            lock: &p.at_lock,
        };
        places.drive(&access, self.lanes, stimulus, frame);
        drive_some_words(&p.at_data, self.word_bits, stimulus, frame);
    }
}

impl Driver for SequencerDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let famine = FAMINE.contains(&stimulus.cycle);
        let rst = reset(stimulus, frame, &self.ports.rst) && !famine;
        frame.drive(&self.ports.rst, rst.into());
        self.offer_pass(stimulus, frame);
        self.answers.drive(stimulus, frame, famine);
        let ready = self.ready.beat(stimulus) || famine;
        frame.drive(&self.ports.sp_ready, ready.into());
    }

    fn follow(&mut self, _stimulus: &mut Stimulus, frame: &Frame) {
        let p = &self.ports;
        let shown = frame.shown_bits(&p.sp_op) as u8;
        let taken = frame.shows(&p.sp_valid) && frame.is_high(&p.sp_ready);
        let request = (shown, frame.shown_bits(&p.sp_mask) as u64);
        let request = (taken && shown != op::PASS).then_some(request);
        self.idle = frame.shows(&p.at_ready) && !frame.is_high(&p.at_valid)
            || shown == op::PASS && frame.shows(&p.sp_valid)
            || frame.is_high(&p.rst);
        self.answers.follow(frame, frame.is_high(&p.rst), request);
    }
}

#[derive(Clone)]
struct GoldenSequencer {
    ports: Ports,
    responses: ResponseReader,
    model: RetrySequencer<u64>,
    lanes: usize,
    word_bits: usize,
}

/// The operands of a pass, per lane.
struct Operands {
    bank: [u8; MAX_LANES],
    row: [u16; MAX_LANES],
    lock: [u16; MAX_LANES],
    data: [u64; MAX_LANES],
}

impl GoldenSequencer {
    fn operands(&self, frame: &Frame) -> Operands {
        let (p, lanes) = (&self.ports, self.lanes);
        Operands {
            bank: frame.driven_array(&p.at_bank, p.at_bank.width / lanes),
            row: frame.driven_array(&p.at_row, p.at_row.width / lanes),
            lock: frame.driven_array(&p.at_lock, p.at_lock.width / lanes),
            data: frame.driven_array(&p.at_data, self.word_bits),
        }
    }

    fn expect_request(&self, frame: &mut Frame) {
        let (p, lanes) = (&self.ports, self.lanes);
        let Some(request) = self.model.request() else {
            return; // zeros
        };
        frame.expect(&p.sp_valid, 1);
        frame.expect(&p.sp_op, request.op.into());
        frame.expect_bits(&p.sp_mask, request.mask.into());
        frame.expect_fields(&p.sp_bank, p.at_bank.width / lanes, request.bank);
        frame.expect_fields(&p.sp_row, p.at_row.width / lanes, request.row);
        frame.expect_fields(&p.sp_lock, p.at_lock.width / lanes, request.lock);
        frame.expect_fields(&p.sp_data, self.word_bits, request.data);
        frame.expect_bits(&p.sp_tag, request.tag.into());
        frame.expect(&p.sp_error, request.error.into());
        frame.expect(&p.sp_degree, request.degree);
    }
}

impl Golden for GoldenSequencer {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let at_ready = self.model.at_ready();
        frame.expect_all_zeros();
        frame.expect(&p.at_ready, at_ready.into());
        frame.expect(&p.state, self.model.state() as u32);
        frame.expect(&p.rounds, self.model.rounds());
        self.expect_request(frame);
        let taken = at_ready && frame.is_high(&p.at_valid);
        let operands = taken.then(|| self.operands(frame));
        let pass = operands.as_ref().map(|lanes| AtomicPass {
            aop: frame.driven(&p.at_aop) as u8,
            mask: frame.driven_mask(&p.at_mask),
            bank: &lanes.bank,
            row: &lanes.row,
            lock: &lanes.lock,
            data: &lanes.data,
            tag: frame.driven_mask(&p.at_tag),
        });
        let mut words = [0; MAX_LANES];
        self.model.commit(&SequencerInputs {
            rst: frame.is_high(&p.rst),
            at: pass,
            sp_ready: frame.is_high(&p.sp_ready),
            sr: self.responses.response(frame, &mut words),
        });
    }
}
