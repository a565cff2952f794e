//! `spad_retry_sequencer` against a scratchpad that answers as it likes: any
//! degree, any winners among those asked for, errors, long delays.

use super::pattern::{LaneAccess, Patterns};
use super::support::{Rhythm, drive_reset, ports, reset};
use crate::config::Config;
use crate::cosim::bench::{Bench, Frame, Stimulus};
use crate::cosim::layout::Layout;
use crate::model::{AtomicPass, RetrySequencer, SequencerInputs, SequencerResponse};
use crate::trace::AccessTrace;
use std::ops::Range;

ports!(Ports {
    in rst at_valid at_aop at_mask at_bank at_row at_lock at_data at_tag sp_ready sr_valid sr_mask
        sr_data sr_success sr_error sr_degree;
    out at_ready sp_valid sp_op sp_mask sp_bank sp_row sp_lock sp_data sp_tag sp_error sp_degree
        state rounds;
});

/// Cycles in which no lock is granted, so that the count of rounds fills up;
/// only long runs get there.
const FAMINE: Range<u64> = 20_480..620_480;

pub(super) struct SequencerBench {
    ports: Ports,
    model: RetrySequencer<u64>,
    patterns: Patterns,
    lanes: usize,
    word_bits: usize,
    offer: Rhythm,
    ready: Rhythm,
    /// Spells without any response, in which the count of cycles fills up.
    silent: Silence,
    /// The request that waits for its response: operation and lanes.
    asked: Option<(u8, u64)>,
}

/// Now and then 1 to 511 cycles, every length as often as another: what a full
/// count does shows only if the spell ends soon after it is full.
#[derive(Default)]
struct Silence {
    left: u32,
}

impl Silence {
    fn next(&mut self, stimulus: &mut Stimulus) -> bool {
        match self.left {
            0 if stimulus.one_in(512) => self.left = stimulus.below(512),
            left => self.left = left.saturating_sub(1),
        }
        self.left > 0
    }
}

impl SequencerBench {
    pub(super) fn new(config: &Config, layout: &Layout, trace: Option<&AccessTrace>) -> Self {
        SequencerBench {
            ports: Ports::new(layout),
            model: RetrySequencer::new(config),
            patterns: Patterns::new(config, trace),
            lanes: config.lanes as usize,
            word_bits: config.word_bits as usize,
            offer: Rhythm::default(),
            ready: Rhythm::default(),
            silent: Silence::default(),
            asked: None,
        }
    }

    /// A word; extreme values make the minima and maxima differ, small ones
    /// differ in their low bits alone.
    fn word(&self, stimulus: &mut Stimulus) -> u64 {
        let ones = u64::MAX >> (64 - self.word_bits);
        match stimulus.below(8) {
            0 => 0,
            1 => ones,
            2 => ones >> 1,
            3 => (ones >> 1) + 1,
            4 => stimulus.below(4).into(),
            _ => stimulus.wide(self.word_bits) as u64,
        }
    }
}

impl Bench for SequencerBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let (lanes, bits) = (self.lanes, self.word_bits);
        let famine = FAMINE.contains(&stimulus.cycle);
        let rst = reset(stimulus) && !famine;
        let LaneAccess {
            mask,
            bank,
            mut row,
            lock,
        } = self.patterns.next(stimulus, false);
        let p = &self.ports;
        // The unit hands rows on, whether a bank has them or not.
        let row_bits = p.at_row.width / lanes;
        if stimulus.one_in(4) {
            row.fill_with(|| stimulus.wide(row_bits) as u16);
        }
        let data: Vec<u64> = (0..lanes).map(|_| self.word(stimulus)).collect();
        let read: Vec<u64> = (0..lanes).map(|_| self.word(stimulus)).collect();
        let at_valid = self.offer.beat(stimulus);
        let soon = famine || stimulus.one_in(4);
        let answers = self.asked.is_some() && soon && !self.silent.next(stimulus);
        let asked_mask = self.asked.map_or(0, |(_, lanes)| lanes);
        // Between none and all of those that ask get their lock.
        let chance = stimulus.wide(64) as u64;
        let success = match stimulus.below(4) {
            _ if famine => 0,
            0 => asked_mask & asked_mask.wrapping_neg(),
            1 => asked_mask,
            _ => asked_mask & chance,
        };
        let locking = matches!(self.asked, Some((3, _)));
        let response = SequencerResponse {
            mask: asked_mask,
            data: &read,
            // Of a response to a store it says nothing.
            success: if locking {
                success
            } else {
                chance & asked_mask
            },
            error: locking && stimulus.one_in(32) && !famine,
            degree: match famine {
                true => 0,
                false => stimulus.below(lanes as u32 + 1),
            },
        };
        let pass = AtomicPass {
            aop: stimulus.below(11).min(15) as u8,
            mask,
            bank: &bank,
            row: &row,
            lock: &lock,
            data: &data,
            tag: stimulus.wide(p.at_tag.width) as u64,
        };
        let inputs = SequencerInputs {
            rst,
            at: at_valid.then_some(pass),
            sp_ready: self.ready.beat(stimulus) || famine,
            sr: answers.then_some(response),
        };
        frame.drive(&p.at_valid, at_valid.into());
        frame.drive(&p.at_aop, pass.aop.into());
        frame.drive_bits(&p.at_mask, mask.into());
        frame.drive_fields(&p.at_bank, p.at_bank.width / lanes, bank.iter().copied());
        frame.drive_fields(&p.at_row, p.at_row.width / lanes, row.iter().copied());
        frame.drive_fields(&p.at_lock, p.at_lock.width / lanes, lock.iter().copied());
        frame.drive_fields(&p.at_data, bits, data.iter().copied());
        frame.drive_bits(&p.at_tag, pass.tag.into());
        frame.drive(&p.sp_ready, inputs.sp_ready.into());
        frame.drive(&p.sr_valid, answers.into());
        frame.drive_bits(&p.sr_mask, response.mask.into());
        frame.drive_fields(&p.sr_data, bits, read.iter().copied());
        frame.drive_bits(&p.sr_success, response.success.into());
        frame.drive(&p.sr_error, response.error.into());
        frame.drive(&p.sr_degree, response.degree);
        let out = self.model.step(&inputs);
        let sp = out.sp.as_ref();
        frame.expect(&p.at_ready, out.at_ready.into());
        frame.expect(&p.sp_valid, sp.is_some().into());
        frame.expect(&p.sp_op, sp.map_or(0, |r| r.op).into());
        frame.expect_bits(&p.sp_mask, sp.map_or(0, |r| r.mask).into());
        let none = [0u16; 0];
        let banks = sp.map_or(&[][..], |r| &r.bank[..]);
        frame.expect_fields(&p.sp_bank, p.sp_bank.width / lanes, banks.iter().copied());
        let rows = sp.map_or(&none[..], |r| &r.row[..]);
        frame.expect_fields(&p.sp_row, p.sp_row.width / lanes, rows.iter().copied());
        let locks = sp.map_or(&none[..], |r| &r.lock[..]);
        frame.expect_fields(&p.sp_lock, p.sp_lock.width / lanes, locks.iter().copied());
        let words = sp.map_or(&[][..], |r| &r.data[..]);
        frame.expect_fields(&p.sp_data, bits, words.iter().copied());
        frame.expect_bits(&p.sp_tag, sp.map_or(0, |r| r.tag).into());
        frame.expect(&p.sp_error, sp.is_some_and(|r| r.error).into());
        frame.expect(&p.sp_degree, sp.map_or(0, |r| r.degree));
        frame.expect(&p.state, out.state as u32);
        frame.expect(&p.rounds, out.rounds);
        drive_reset(stimulus, frame, &p.rst, rst);
        if answers || rst {
            self.asked = None;
        }
        if let Some(request) = sp.filter(|r| inputs.sp_ready && r.op != 0 && !rst) {
            self.asked = Some((request.op, request.mask));
        }
    }
}
