//! A scratchpad that answers the retry sequencer as it likes: any degree, any
//! winners among those that asked, errors, long delays.

use super::bench::{Frame, Setup, Stimulus};
use super::support::ports;
use crate::config::Config;
use crate::model::SequencerResponse;
use crate::model::spad_scratchpad::op;

ports!(ResponsePorts {
    in sr_valid sr_mask sr_data sr_success sr_error sr_degree;
    out;
});

/// Reads what the scratchpad answers.
#[derive(Clone)]
pub(super) struct ResponseReader {
    ports: ResponsePorts,
    word_bits: usize,
}

impl ResponseReader {
    pub(super) fn new(setup: &Setup) -> Self {
        ResponseReader {
            ports: ResponsePorts::new(setup.layout),
            word_bits: setup.config.word_bits as usize,
        }
    }

    /// The words of a response.
    pub(super) fn words(&self, frame: &Frame) -> Vec<u64> {
        frame.driven_list(&self.ports.sr_data, self.word_bits)
    }

    /// The response in this cycle, with its words.
    pub(super) fn response<'a>(
        &self,
        frame: &Frame,
        words: &'a [u64],
    ) -> Option<SequencerResponse<'a>> {
        let p = &self.ports;
        frame.is_high(&p.sr_valid).then(|| SequencerResponse {
            mask: frame.driven_mask(&p.sr_mask),
            data: words,
            success: frame.driven_mask(&p.sr_success),
            error: frame.is_high(&p.sr_error),
            degree: frame.driven(&p.sr_degree),
        })
    }
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

/// The scratchpad.
pub(super) struct Answers {
    ports: ResponsePorts,
    lanes: usize,
    word_bits: usize,
    /// Degrees above the number of lanes that the sequencer can count, too.
    top_degree: u32,
    /// Spells without any response, in which the count of cycles fills up.
    silent: Silence,
    /// The request that waits for its response: operation and lanes.
    asked: Option<(u8, u64)>,
}

impl Answers {
    pub(super) fn new(setup: &Setup) -> Self {
        Answers {
            ports: ResponsePorts::new(setup.layout),
            lanes: setup.config.lanes as usize,
            word_bits: setup.config.word_bits as usize,
            top_degree: top_degree(setup.config),
            silent: Silence::default(),
            asked: None,
        }
    }

    /// Drives the response of this cycle, if any. In a `famine` it comes at
    /// once, and no lock is granted.
    pub(super) fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame, famine: bool) {
        let soon = famine || stimulus.one_in(4);
        let answers = self.asked.is_some() && soon && !self.silent.next(stimulus);
        let asked = self.asked.map_or(0, |(_, lanes)| lanes);
        // Between none and all of those that ask get their lock.
        let chance = stimulus.wide(64) as u64 & asked;
        let winners = match stimulus.below(4) {
            _ if famine => 0,
            0 => asked & asked.wrapping_neg(),
            1 => asked,
            _ => chance,
        };
        let locking = matches!(self.asked, Some((op::LDLK, _)));
        let error = locking && stimulus.one_in(32) && !famine;
        let degree = match famine {
            true => 0,
            false if stimulus.one_in(8) => stimulus.below(self.top_degree + 1),
            false => stimulus.below(self.lanes as u32 + 1),
        };
        let data = words(self.lanes, self.word_bits, stimulus);
        let p = &self.ports;
        frame.drive(&p.sr_valid, answers.into());
        frame.drive_bits(&p.sr_mask, asked.into());
        frame.drive_fields(&p.sr_data, self.word_bits, data);
        // Of a response to a store it says nothing.
        let success = if locking { winners } else { chance };
        frame.drive_bits(&p.sr_success, success.into());
        frame.drive(&p.sr_error, error.into());
        frame.drive(&p.sr_degree, degree);
    }

    /// Looks at the cycle: `request`, operation and lanes, was taken.
    pub(super) fn follow(&mut self, frame: &Frame, rst: bool, request: Option<(u8, u64)>) {
        if frame.is_high(&self.ports.sr_valid) || rst {
            self.asked = None;
        }
        if !rst {
            self.asked = request.or(self.asked);
        }
    }
}

/// The largest degree whose cycles fit the sequencer's count: no access has it,
/// but it alone tells where the count stops.
fn top_degree(config: &Config) -> u32 {
    let p = config.parameters();
    let each = p.LR.max(p.LWR);
    let longest = (p.L * each).max(p.LU).max(p.LB);
    let full = usize::MAX >> longest.leading_zeros();
    (full / each).min((1 << p.DG) - 1) as u32
}

/// Words of all lanes; extreme values make the minima and maxima differ, small
/// ones differ in their low bits alone.
pub(super) fn words(lanes: usize, bits: usize, stimulus: &mut Stimulus) -> Vec<u64> {
    let ones = u64::MAX >> (64 - bits);
    let mut word = || match stimulus.below(8) {
        0 => 0,
        1 => ones,
        2 => ones >> 1,
        3 => (ones >> 1) + 1,
        4 => stimulus.below(16).into(),
        _ => stimulus.wide(bits) as u64,
    };
    (0..lanes).map(|_| word()).collect()
}
