//! A scratchpad that answers the retry sequencer as it likes: any degree, any
//! winners among those that asked, errors, long delays.

use super::bench::{Frame, Setup, Stimulus};
use super::frame::some_quarter;
use super::layout::PortSlot;
use super::support::ports;
use crate::config::Config;
use crate::model::MAX_LANES;
use crate::model::SequencerResponse;
use crate::model::spad_scratchpad::op;
use std::collections::VecDeque;

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

    /// The response in this cycle, with its words in `words`.
    pub(super) fn response<'a>(
        &self,
        frame: &Frame,
        words: &'a mut [u64; MAX_LANES],
    ) -> Option<SequencerResponse<'a>> {
        let p = &self.ports;
        frame.is_high(&p.sr_valid).then(|| {
            *words = frame.driven_array(&p.sr_data, self.word_bits);
            SequencerResponse {
                mask: frame.driven_mask(&p.sr_mask),
                data: words,
                success: frame.driven_mask(&p.sr_success),
                error: frame.is_high(&p.sr_error),
                degree: frame.driven(&p.sr_degree),
            }
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
    /// The requests that wait for their responses: operation and lanes.
    asked: VecDeque<(u8, u64)>,
}

impl Answers {
    pub(super) fn new(setup: &Setup) -> Self {
        Answers {
            ports: ResponsePorts::new(setup.layout),
            lanes: setup.config.lanes as usize,
            word_bits: setup.config.word_bits as usize,
            top_degree: top_degree(setup.config),
            silent: Silence::default(),
            asked: VecDeque::new(),
        }
    }

    /// Drives the response of this cycle, if any. In a `famine` it comes at
    /// once, and no lock is granted.
    pub(super) fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame, famine: bool) {
        let soon = famine || stimulus.one_in(4);
        let answers = !self.asked.is_empty() && soon && !self.silent.next(stimulus);
        let asked = self.asked.front().map_or(0, |(_, lanes)| *lanes);
        // Between none and all of those that ask get their lock.
        let chance = stimulus.bits64() & asked;
        let winners = match stimulus.below(4) {
            _ if famine => 0,
            0 => asked & asked.wrapping_neg(),
            1 => asked,
            _ => chance,
        };
        let locking = matches!(self.asked.front(), Some((op::LDLK, _)));
        let error = locking && stimulus.one_in(32) && !famine;
        let degree = match famine {
            true => 0,
            false if stimulus.one_in(8) => stimulus.below(self.top_degree + 1),
            false => stimulus.below(self.lanes as u32 + 1),
        };
        let p = &self.ports;
        frame.drive(&p.sr_valid, answers.into());
        frame.drive_bits(&p.sr_mask, asked.into());
        // Without a response they change now and then, which must not matter.
        if answers || stimulus.one_in(4) {
            drive_some_words(&p.sr_data, self.word_bits, stimulus, frame);
        }
        // The response to a store does not state it.
        let success = if locking { winners } else { chance };
        frame.drive_bits(&p.sr_success, success.into());
        frame.drive(&p.sr_error, error.into());
        frame.drive(&p.sr_degree, degree);
    }

    /// Looks at the cycle: `request`, operation and lanes, was taken.
    pub(super) fn follow(&mut self, frame: &Frame, rst: bool, request: Option<(u8, u64)>) {
        if frame.is_high(&self.ports.sr_valid) {
            self.asked.pop_front();
        }
        self.asked.extend(request);
        if rst {
            self.asked.clear();
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
    let any = (1 << p.DG) - 1;
    full.checked_div(each).map_or(any, |top| top.min(any)) as u32
}

/// Words of a lane: half of them extreme, which makes the minima and maxima
/// differ, or small, which makes them differ in their low bits alone. Which bits
/// of a random word are kept, and which are inverted then, of 64 bits.
const WORDS: [(u64, u64); 8] = [
    (0, 0),
    (0, u64::MAX),
    (0, u64::MAX >> 1),
    (0, 1 << 63),
    (15, 0),
    (u64::MAX, 0),
    (u64::MAX, 0),
    (u64::MAX, 0),
];

/// A word of a lane.
#[inline]
fn word(bits: usize, stimulus: &mut Stimulus) -> u64 {
    let (kept, inverted) = WORDS[stimulus.below(8) as usize];
    stimulus.word(bits) & kept ^ inverted >> (64 - bits)
}

/// Words of all lanes.
pub(super) fn words(lanes: usize, bits: usize, stimulus: &mut Stimulus) -> Vec<u64> {
    (0..lanes).map(|_| word(bits, stimulus)).collect()
}

/// Drives the words, of 32 or 64 bits, of a random quarter of the lanes anew:
/// those of each pass or response differ from the ones before, and none stays
/// for long.
pub(super) fn drive_some_words(
    port: &PortSlot,
    bits: usize,
    stimulus: &mut Stimulus,
    frame: &mut Frame,
) {
    let lanes = some_quarter(port.width / bits, stimulus);
    let each = bits / 32;
    let words = &mut frame.inputs[port.offset..][..port.words];
    for place in words[lanes.start * each..lanes.end * each].chunks_exact_mut(each) {
        let word = word(bits, stimulus);
        place[0] = word as u32;
        if let Some(high) = place.get_mut(1) {
            *high = (word >> 32) as u32;
        }
    }
}
