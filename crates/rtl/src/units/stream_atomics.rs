//! Atomic operations at the port of `spad_stream`: what a neighbour offers, so that
//! a store-conditional often finds its reservations, and a compare-and-swap the
//! words that it expects.

use super::bench::{Frame, Stimulus};
use super::layout::{Layout, PortSlot};
use super::tcdm_atomics::DRAWN;
use crate::model::spad_atomic_bank::amo;
use crate::model::{MAX_LANES, WindowOperation};
use std::collections::VecDeque;

/// The ports of the operations.
#[derive(Clone)]
pub(super) struct OperationPorts {
    amo: PortSlot,
    aop: PortSlot,
    cmp: PortSlot,
    warp: PortSlot,
    word_bits: usize,
}

impl OperationPorts {
    /// The ports of a unit that has them, with words of this many bits.
    pub(super) fn find(layout: &Layout, word_bits: usize) -> Option<Self> {
        Self::among(&layout.inputs, "req", word_bits)
    }

    /// The ports that begin with `prefix`, among inputs or outputs.
    pub(super) fn among(ports: &[PortSlot], prefix: &str, word_bits: usize) -> Option<Self> {
        let find = |field: &str| {
            let name = format!("{prefix}_{field}");
            ports.iter().find(|port| port.name == name).cloned()
        };
        Some(OperationPorts {
            amo: find("amo")?,
            aop: find("aop")?,
            cmp: find("cmp")?,
            warp: find("warp")?,
            word_bits,
        })
    }

    /// The operation that is offered.
    pub(super) fn operation(&self, frame: &Frame) -> Option<WindowOperation> {
        frame.is_high(&self.amo).then(|| WindowOperation {
            code: frame.driven(&self.aop) as u8,
            expected: frame.driven_array(&self.cmp, self.word_bits),
            warp: frame.driven(&self.warp) as u8,
        })
    }

    /// The operation that the unit offers; of an access that is none, only that it is
    /// none matters.
    pub(super) fn expect(&self, frame: &mut Frame, operation: Option<&WindowOperation>) {
        frame.expect(&self.amo, operation.is_some().into());
        let Some(operation) = operation else {
            for port in [&self.aop, &self.cmp, &self.warp] {
                frame.ignore(port);
            }
            return;
        };
        let lanes = self.cmp.width / self.word_bits;
        let expected = operation.expected[..lanes].iter();
        frame.expect(&self.aop, operation.code.into());
        frame.expect_fields(&self.cmp, self.word_bits, expected.copied());
        frame.expect(&self.warp, operation.warp.into());
    }
}

/// An offered access.
#[derive(Clone)]
pub(super) struct Offer {
    pub(super) addr: Vec<u16>,
    pub(super) data: Vec<u64>,
    /// Unless it becomes an atomic operation, it is not answered.
    pub(super) posted: bool,
}

/// The state of the neighbour.
pub(super) struct OperationNeighbour {
    ports: OperationPorts,
    /// Addresses and warp of the last load-reserved.
    reserved: (Vec<u16>, u32),
    /// Addresses of the accesses that wait for their answers.
    waiting: VecDeque<Vec<u16>>,
    /// The last words answered, and where they are.
    got: (Vec<u16>, [u64; MAX_LANES]),
}

impl OperationNeighbour {
    pub(super) fn new(ports: OperationPorts) -> Self {
        OperationNeighbour {
            ports,
            reserved: (Vec::new(), 0),
            waiting: VecDeque::new(),
            got: (Vec::new(), [0; MAX_LANES]),
        }
    }

    /// Makes the access an atomic operation, or leaves it.
    pub(super) fn offer(&mut self, stimulus: &mut Stimulus, frame: &mut Frame, offer: &mut Offer) {
        let bits = self.ports.word_bits;
        let code = DRAWN[stimulus.below(32) as usize];
        let atomic = !stimulus.one_in(3);
        let warps = 1 << self.ports.warp.width;
        let mut warp = stimulus.below(warps);
        let mut expected: Vec<u64> = offer.addr.iter().map(|_| stimulus.word(bits)).collect();
        if atomic {
            // Small operands keep the results of operations in few bits.
            if stimulus.one_in(4) {
                offer.data.iter_mut().for_each(|word| *word &= 3);
            }
            match code {
                amo::SC if !stimulus.one_in(4) && !self.reserved.0.is_empty() => {
                    let (addr, owner) = self.reserved.clone();
                    (offer.addr, warp) = (addr, owner);
                }
                amo::CAS if !stimulus.one_in(3) && !self.got.0.is_empty() => {
                    offer.addr.clone_from(&self.got.0);
                    expected
                        .iter_mut()
                        .zip(self.got.1)
                        .for_each(|(to, word)| *to = word);
                }
                amo::LR => {
                    // One reserved word, so that warps compete for it.
                    if stimulus.one_in(2) && !self.reserved.0.is_empty() {
                        offer.addr.clone_from(&self.reserved.0);
                    }
                    self.reserved = (offer.addr.clone(), warp);
                }
                _ if stimulus.one_in(2) => meet(stimulus, &mut offer.addr),
                _ => {}
            }
        }
        if atomic || !offer.posted {
            self.waiting.push_back(offer.addr.clone());
        }
        let p = &self.ports;
        frame.drive(&p.amo, atomic.into());
        frame.drive(&p.aop, code.into());
        frame.drive_fields(&p.cmp, bits, expected);
        frame.drive(&p.warp, warp);
    }

    /// Looks at an answer; of a lane with several words, the first counts.
    pub(super) fn answered(&mut self, frame: &Frame, words: &PortSlot) {
        let Some(addr) = self.waiting.pop_front() else {
            return;
        };
        let of_a_lane = words.width / self.ports.cmp.width;
        let shown = frame.shown_fields(words, self.ports.word_bits);
        let shown = shown.step_by(of_a_lane);
        let mut got = [0; MAX_LANES];
        got.iter_mut().zip(shown).for_each(|(to, word)| *to = word);
        self.got = (addr, got);
    }

    /// Nothing is inside any more.
    pub(super) fn reset(&mut self) {
        self.waiting.clear();
    }
}

/// Some lanes go to the word of another.
fn meet(stimulus: &mut Stimulus, addr: &mut [u16]) {
    let lanes = addr.len() as u32;
    let first = addr[stimulus.below(lanes) as usize];
    for word in addr.iter_mut() {
        if stimulus.one_in(2) {
            *word = first;
        }
    }
}
