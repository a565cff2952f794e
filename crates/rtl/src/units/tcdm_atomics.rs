//! Atomic operations at the ports of `spad_tcdm`: what the lanes request, so that
//! a store-conditional often finds its reservation, and a compare-and-swap the
//! word that it expects.

use super::bench::{Frame, Stimulus};
use super::layout::{Layout, PortSlot};
use crate::model::spad_atomic_bank::amo;
use crate::model::{MAX_LANES, TcdmRequests};

/// The ports of the operations.
#[derive(Clone)]
pub(super) struct AtomicPorts {
    amo: PortSlot,
    aop: PortSlot,
    cmp: PortSlot,
    word_bits: usize,
}

/// Operations by how often they are drawn: all, most often those that depend on
/// earlier ones, now and then one that there is not.
pub(super) const DRAWN: [u8; 32] = [
    0, 0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 9, 9, 9, 9, 10, 10, 10, 10, 10, 11, 11, 11, 11, 11, 12, 12,
    12, 12, 13, 15,
];

/// The state of the lanes.
pub(super) struct AtomicNeighbour {
    ports: AtomicPorts,
    /// Address of the lane's last load-reserved.
    reserved: [u16; MAX_LANES],
    /// Address of the lane's last request, and the last word that it got.
    asked: [u16; MAX_LANES],
    got: [u64; MAX_LANES],
}

impl AtomicPorts {
    /// The ports of a unit that has them; `words` is a port as wide as the words.
    pub(super) fn find(layout: &Layout, words: &PortSlot) -> Option<Self> {
        let find = |name: &str| layout.inputs.iter().find(|p| p.name == name).cloned();
        let amo = find("tcdm_amo")?;
        Some(AtomicPorts {
            word_bits: words.width / amo.width,
            amo,
            aop: find("tcdm_aop")?,
            cmp: find("tcdm_cmp")?,
        })
    }

    /// `plain` with the operations.
    pub(super) fn requests(&self, frame: &Frame, plain: TcdmRequests) -> TcdmRequests {
        TcdmRequests {
            amo: frame.driven_mask(&self.amo),
            aop: frame.driven_array(&self.aop, 4),
            expected: frame.driven_array(&self.cmp, self.word_bits),
            ..plain
        }
    }
}

impl AtomicNeighbour {
    pub(super) fn new(ports: AtomicPorts) -> Self {
        AtomicNeighbour {
            ports,
            reserved: [0; MAX_LANES],
            asked: [0; MAX_LANES],
            got: [0; MAX_LANES],
        }
    }

    /// Makes a new request of `lane` an atomic operation, or leaves it.
    pub(super) fn ask(&mut self, stimulus: &mut Stimulus, lane: usize, asked: &mut TcdmRequests) {
        let bit = 1 << lane;
        asked.amo &= !bit;
        asked.aop[lane] = stimulus.below(16) as u8;
        asked.expected[lane] = stimulus.word(self.ports.word_bits);
        if !stimulus.one_in(3) {
            let code = DRAWN[stimulus.below(32) as usize];
            asked.amo |= bit;
            asked.aop[lane] = code;
            // Small operands keep the results of operations in few bits.
            if stimulus.one_in(4) {
                asked.data[lane] &= 3;
            }
            match code {
                amo::SC if !stimulus.one_in(4) => asked.addr[lane] = self.reserved[lane],
                amo::CAS if !stimulus.one_in(3) => {
                    asked.addr[lane] = self.asked[lane];
                    asked.expected[lane] = self.got[lane];
                }
                amo::LR => self.reserved[lane] = asked.addr[lane],
                // One word, so that lanes compete.
                amo::COUNT if !stimulus.one_in(4) => asked.addr[lane] = self.reserved[0],
                _ => {}
            }
        }
        self.asked[lane] = asked.addr[lane];
    }

    pub(super) fn drive(&self, frame: &mut Frame, asked: &TcdmRequests) {
        let p = &self.ports;
        frame.drive_bits(&p.amo, asked.amo.into());
        frame.drive_fields(&p.aop, 4, asked.aop);
        frame.drive_fields(&p.cmp, p.word_bits, asked.expected);
    }

    /// Looks at the answers.
    pub(super) fn follow(&mut self, frame: &Frame, answered: u64, words: &PortSlot) {
        let words = frame.shown_fields(words, self.ports.word_bits);
        for (lane, word) in words.enumerate() {
            if answered >> lane & 1 == 1 {
                self.got[lane] = word;
            }
        }
    }
}

/// The results of the operations, for tests of the stimulus.
#[cfg(test)]
#[derive(Default)]
pub(super) struct Outcomes {
    /// Per lane, the requests without an answer: the operation's code and expected value.
    waiting: [std::collections::VecDeque<Option<(u8, u64)>>; 32],
}

#[cfg(test)]
impl Outcomes {
    /// One cycle: requests that are granted, answers.
    pub(super) fn follow(
        &mut self,
        granted: TcdmRequests,
        (answered, answers): (u64, &[u64]),
        mut count: impl FnMut(&'static str, bool),
    ) {
        let lanes = || (0..32).filter(|lane| (granted.req & granted.amo) >> lane & 1 == 1);
        let counting = |lane: &usize| granted.aop[*lane] == amo::COUNT;
        let words: std::collections::BTreeSet<u16> = lanes()
            .filter(counting)
            .map(|lane| granted.addr[lane])
            .collect();
        let met = words.len() < lanes().filter(counting).count();
        count("lanes are counted together", met);
        for (lane, waiting) in self.waiting.iter_mut().enumerate() {
            let answered = answered >> lane & 1 == 1;
            let ended = answered.then(|| waiting.pop_front().unwrap()).flatten();
            if let Some((code, expected)) = ended {
                let (swap, conditional) = (code == amo::CAS, code == amo::SC);
                let word = answers[lane];
                count(
                    "a compare-and-swap swaps",
                    swap && word == expected && word != 0,
                );
                count("a compare-and-swap fails", swap && word != expected);
                count("a store-conditional stores", conditional && word == 0);
                count("a store-conditional fails", conditional && word == 1);
                count("a lane is counted", code == amo::COUNT && word != 0);
                count("an operation is refused", code > amo::COUNT);
            }
            if granted.req >> lane & 1 == 1 {
                let atomic = granted.amo >> lane & 1 == 1;
                waiting.push_back(atomic.then(|| (granted.aop[lane], granted.expected[lane])));
            }
        }
    }

    /// Nothing is answered any more.
    pub(super) fn reset(&mut self) {
        self.waiting.iter_mut().for_each(|lane| lane.clear());
    }
}
