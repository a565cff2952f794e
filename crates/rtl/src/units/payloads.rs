//! Payloads of a queue, by numbers.

use super::bench::Frame;
use super::layout::PortSlot;

/// Payloads that are under way: models move their numbers. A number is used
/// again after more of them have been taken than a queue holds.
#[derive(Clone)]
pub(super) struct Payloads {
    ring: Vec<Vec<u32>>,
    next: usize,
    /// The last number of a payload that was taken.
    taken: usize,
}

impl Payloads {
    pub fn new() -> Self {
        Payloads {
            ring: vec![Vec::new(); 256],
            next: 0,
            taken: 0,
        }
    }

    /// The number of a payload that is offered.
    pub fn number(&mut self) -> u64 {
        self.next = (self.next + 1) % self.ring.len();
        self.next as u64
    }

    /// The payload of that number, which is driven on `port`, is taken.
    pub fn keep(&mut self, number: u64, frame: &Frame, port: &PortSlot) {
        let payload = &mut self.ring[number as usize];
        payload.clear();
        payload.extend_from_slice(frame.driven_words(port));
    }

    /// Ends a cycle: forgets the payloads that nobody has taken.
    pub fn end_cycle(&mut self, taken: bool) {
        if taken {
            self.taken = self.next
        } else {
            self.next = self.taken
        }
    }

    pub fn expect(&self, frame: &mut Frame, port: &PortSlot, number: Option<u64>) {
        match number {
            Some(number) => frame.expect_words(port, &self.ring[number as usize]),
            None => frame.expect_zeros(port),
        }
    }
}
