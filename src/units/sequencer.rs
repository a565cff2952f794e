//! `spad_retry_sequencer` against a scratchpad that answers as it likes.

use super::answers::{Answers, ResponseReader, words};
use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::pattern::{LaneAccess, Patterns};
use super::support::{Rhythm, ports, reset};
use crate::model::spad_scratchpad::op;
use crate::model::{AtomicPass, RetrySequencer, SequencerInputs};
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
}

pub(super) fn sequencer(setup: &Setup) -> Box<dyn Bench> {
    let (lanes, word_bits) = (setup.config.lanes as usize, setup.config.word_bits as usize);
    let driver = SequencerDriver {
        ports: Ports::new(setup.layout),
        patterns: Patterns::new(setup.config, setup.trace),
        lanes,
        word_bits,
        offer: Rhythm::default(),
        ready: Rhythm::default(),
        answers: Answers::new(setup),
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
        let LaneAccess {
            mask,
            bank,
            mut row,
            lock,
        } = self.patterns.next(stimulus, false);
        let (p, lanes) = (&self.ports, self.lanes);
        // The unit hands rows on, whether a bank has them or not.
        let row_bits = p.at_row.width / lanes;
        if stimulus.one_in(4) {
            row.fill_with(|| stimulus.wide(row_bits) as u16);
        }
        let data = words(lanes, self.word_bits, stimulus);
        frame.drive(&p.at_valid, self.offer.beat(stimulus).into());
        frame.drive(&p.at_aop, stimulus.below(11));
        frame.drive_bits(&p.at_mask, mask.into());
        frame.drive_fields(&p.at_bank, p.at_bank.width / lanes, bank);
        frame.drive_fields(&p.at_row, row_bits, row);
        frame.drive_fields(&p.at_lock, p.at_lock.width / lanes, lock);
        frame.drive_fields(&p.at_data, self.word_bits, data);
        frame.drive_bits(&p.at_tag, stimulus.wide(p.at_tag.width));
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

impl Golden for GoldenSequencer {
    fn respond(&mut self, frame: &mut Frame) {
        let (p, lanes, bits) = (&self.ports, self.lanes, self.word_bits);
        let widths = [&p.at_bank, &p.at_row, &p.at_lock].map(|port| port.width / lanes);
        let [bank_bits, row_bits, lock_bits] = widths;
        let bank: Vec<u8> = frame.driven_list(&p.at_bank, bank_bits);
        let row: Vec<u16> = frame.driven_list(&p.at_row, row_bits);
        let lock: Vec<u16> = frame.driven_list(&p.at_lock, lock_bits);
        let data: Vec<u64> = frame.driven_list(&p.at_data, bits);
        let read = self.responses.words(frame);
        let pass = AtomicPass {
            aop: frame.driven(&p.at_aop) as u8,
            mask: frame.driven_mask(&p.at_mask),
            bank: &bank,
            row: &row,
            lock: &lock,
            data: &data,
            tag: frame.driven_mask(&p.at_tag),
        };
        let response = self.responses.response(frame, &read);
        let out = self.model.step(&SequencerInputs {
            rst: frame.is_high(&p.rst),
            at: frame.is_high(&p.at_valid).then_some(pass),
            sp_ready: frame.is_high(&p.sp_ready),
            sr: response,
        });
        let sp = out.sp.as_ref();
        frame.expect(&p.at_ready, out.at_ready.into());
        frame.expect(&p.sp_valid, sp.is_some().into());
        frame.expect(&p.sp_op, sp.map_or(0, |r| r.op).into());
        frame.expect_bits(&p.sp_mask, sp.map_or(0, |r| r.mask).into());
        let none = [0u16; 0];
        let banks = sp.map_or(&[][..], |r| &r.bank[..]);
        frame.expect_fields(&p.sp_bank, bank_bits, banks.iter().copied());
        let rows = sp.map_or(&none[..], |r| &r.row[..]);
        frame.expect_fields(&p.sp_row, row_bits, rows.iter().copied());
        let locks = sp.map_or(&none[..], |r| &r.lock[..]);
        frame.expect_fields(&p.sp_lock, lock_bits, locks.iter().copied());
        let words = sp.map_or(&[][..], |r| &r.data[..]);
        frame.expect_fields(&p.sp_data, bits, words.iter().copied());
        frame.expect_bits(&p.sp_tag, sp.map_or(0, |r| r.tag).into());
        frame.expect(&p.sp_error, sp.is_some_and(|r| r.error).into());
        frame.expect(&p.sp_degree, sp.map_or(0, |r| r.degree));
        frame.expect(&p.state, out.state as u32);
        frame.expect(&p.rounds, out.rounds);
    }
}
