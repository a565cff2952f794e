//! An agent in front of a device: the messages that it sends, and the answers that
//! they must have.

use super::board::{Board, owner};
use crate::wrappers::rtl::{Dice, inside};
use std::collections::{HashMap, VecDeque};

/// Bits of what an agent drives, of what a device drives, and of a source.
pub const REQUEST: usize = 79;
pub const RESPONSE: usize = 44;
pub const SOURCE: usize = 8;

const PUT_FULL: u64 = 0;
const PUT_PARTIAL: u64 = 1;
const GET: u64 = 4;

/// A message on channel A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message {
    pub opcode: u64,
    pub size: u64,
    pub address: u64,
    pub mask: u64,
    pub data: u64,
    pub corrupt: bool,
    pub source: u64,
}

impl Message {
    /// The word, of 9 bits; the memory does not look at the rest of the address.
    pub fn word(&self) -> u64 {
        self.address >> 2 & 511
    }

    pub fn is_put(&self) -> bool {
        self.opcode == PUT_FULL || self.opcode == PUT_PARTIAL
    }

    /// The byte lanes of a word that are active; chapter 4.6.
    fn lanes(&self) -> u64 {
        let bytes = (1u64 << (1u64 << self.size)) - 1;
        bytes << (self.address % 4) & 15
    }

    /// Whether TL-UL with words of 32 bits has this message; chapter 7.2.
    fn is_legal(&self) -> bool {
        let mask = match self.opcode {
            PUT_PARTIAL => self.mask & !self.lanes() == 0,
            PUT_FULL | GET => self.mask == self.lanes(),
            _ => return false,
        };
        let poisoned = self.is_put() && self.corrupt;
        self.size <= 2 && self.address.is_multiple_of(1 << self.size) && mask && !poisoned
    }

    /// Whether it is performed: it is legal, and the word exists.
    pub fn is_performed(&self) -> bool {
        self.is_legal() && inside(self.word())
    }
}

/// What a device drives in a cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    pub a_ready: bool,
    pub valid: bool,
    opcode: u64,
    param: u64,
    size: u64,
    denied: bool,
    pub data: u64,
    corrupt: bool,
    source: u64,
}

impl Answer {
    /// From the bits of the struct, the lowest first.
    pub fn of(bits: &[u64], source: u64) -> Self {
        let mut rest = bits;
        let mut field = |width: usize| {
            let (low, high) = rest.split_at(width);
            rest = high;
            low.iter().rev().fold(0, |value, bit| value << 1 | bit)
        };
        let (corrupt, data) = (field(1) == 1, field(32));
        let (denied, _sink) = (field(1) == 1, field(1));
        let (size, param, opcode) = (field(2), field(2), field(3));
        let (valid, a_ready) = (field(1) == 1, field(1) == 1);
        Answer {
            a_ready,
            valid,
            opcode,
            param,
            size,
            denied,
            data,
            corrupt,
            source,
        }
    }
}

/// The agent of a lane.
pub struct Agent {
    lane: usize,
    /// Whether it takes an answer in this cycle.
    pub ready: bool,
    asked: Option<Message>,
    /// Messages that are taken and not answered, with the cycle.
    pub waits: VecDeque<(Message, u64)>,
    /// The answer that was there and not taken.
    stays: Option<Answer>,
    answers: u64,
    /// How many were denied, and how many of each opcode were sent.
    denied: u64,
    sent: HashMap<u64, u64>,
    withdrawn: u64,
}

impl Agent {
    pub fn new(lane: usize) -> Self {
        Agent {
            lane,
            ready: false,
            asked: None,
            waits: VecDeque::new(),
            stays: None,
            answers: 0,
            denied: 0,
            sent: HashMap::new(),
            withdrawn: 0,
        }
    }

    /// Asks for a word.
    pub fn get(&mut self, word: u64, source: u64) {
        self.asked = Some(Message {
            opcode: GET,
            size: 2,
            address: word << 2,
            mask: 15,
            data: 0,
            corrupt: false,
            source: source & 255,
        });
    }

    /// Offers a new message now and then, or withdraws one.
    pub fn begin(&mut self, dice: &mut Dice, busy: u64) {
        if self.asked.is_some() && (busy == 0 || dice.below(16) == 0) {
            self.asked = None;
            self.withdrawn += 1;
        }
        if self.asked.is_none() && dice.chance(busy) {
            self.asked = Some(self.message(dice));
        }
    }

    fn free_source(&self, dice: &mut Dice) -> u64 {
        loop {
            let source = dice.bits(SOURCE as u32);
            if self.waits.iter().all(|(m, _)| m.source != source) {
                return source;
            }
        }
    }

    /// A message that TL-UL has, in most cases, and that stores only what this
    /// lane owns.
    fn message(&self, dice: &mut Dice) -> Message {
        let word = dice.addresses()[self.lane];
        let opcode = [GET, GET, PUT_FULL, PUT_PARTIAL][dice.below(4) as usize];
        let owned: Vec<u64> = (0..4).filter(|b| owner(word, *b) == self.lane).collect();
        // A full put of one byte, where the word is shared.
        let shared = owned.len() == 1 && opcode == PUT_FULL;
        let size = if shared { 0 } else { dice.below(3) };
        let byte = if shared {
            owned[0]
        } else {
            dice.below(4) >> size << size
        };
        let mut message = Message {
            opcode,
            size,
            address: (dice.bits(21) << 11 | word << 2 | byte) & 0xffff_ffff,
            mask: 0,
            data: dice.bits(32),
            corrupt: false,
            source: self.free_source(dice),
        };
        message.mask = message.lanes();
        if opcode == PUT_PARTIAL {
            message.mask &= dice.bits(4);
        }
        if message.is_put() {
            let mine = owned.iter().fold(0, |mask, byte| mask | 1 << byte);
            if message.mask & !mine != 0 {
                message.opcode = PUT_PARTIAL;
                message.mask &= mine;
            }
        }
        if dice.below(8) == 0 {
            message = spoiled(message, dice);
        }
        message
    }

    /// The struct's bits, the lowest first.
    pub fn request(&self) -> Vec<u64> {
        let none = Message {
            opcode: 7,
            size: 1,
            address: 5,
            mask: 9,
            data: 77,
            corrupt: true,
            source: 0,
        };
        let m = self.asked.unwrap_or(none);
        let fields = [
            (1, u64::from(self.ready)),
            (1, u64::from(m.corrupt)),
            (32, m.data),
            (4, m.mask),
            (32, m.address),
            (2, m.size),
            (3, 0),
            (3, m.opcode),
            (1, u64::from(self.asked.is_some())),
        ];
        let bits = |(width, value): (usize, u64)| (0..width).map(move |i| value >> i & 1);
        fields.into_iter().flat_map(bits).collect()
    }

    pub fn source(&self) -> u64 {
        self.asked.map_or(0, |message| message.source)
    }

    /// One cycle of both channels.
    pub fn sees(&mut self, answer: Answer, cycle: u64, board: &mut Board) {
        if let Some(stays) = self.stays.take() {
            let now = Answer {
                a_ready: stays.a_ready,
                ..answer
            };
            assert_eq!(now, stays, "an answer changes in cycle {cycle}");
        }
        if answer.valid && self.ready {
            self.takes(&answer, cycle, board);
        } else if answer.valid {
            assert!(
                !self.waits.is_empty(),
                "an answer to nobody in cycle {cycle}"
            );
            self.stays = Some(answer);
        }
        if let Some(message) = self.asked.take_if(|_| answer.a_ready) {
            self.waits.push_back((message, cycle));
            *self.sent.entry(message.opcode).or_default() += 1;
            board.asks(&message, cycle);
        }
    }

    fn takes(&mut self, answer: &Answer, cycle: u64, board: &mut Board) {
        let at = self
            .waits
            .iter()
            .position(|(m, _)| m.source == answer.source);
        // TL-UL leaves the order open; the contract promises it.
        assert_eq!(at, Some(0), "lane {} in cycle {cycle}", self.lane);
        let (message, asked) = self.waits.pop_front().unwrap();
        assert!(asked < cycle, "lane {} in cycle {cycle}", self.lane);
        let opcode = match message.opcode {
            // Get, and TL-UH's operations that return data.
            2..=4 => 1,
            // TL-UH's hint.
            5 => 2,
            _ => 0,
        };
        let denied = !message.is_performed();
        let got = (answer.opcode, answer.param, answer.size, answer.denied);
        assert_eq!(got, (opcode, 0, message.size, denied), "{message:?}");
        assert_eq!(answer.corrupt, denied && opcode == 1, "{message:?}");
        board.answers(self.lane, &message, answer.data, (asked, cycle));
        self.answers += 1;
        self.denied += u64::from(denied);
    }

    pub fn has_seen_everything(&self, cycles: u64) {
        assert!(self.answers > cycles / 16, "{} answers", self.answers);
        assert!(self.denied > self.answers / 32, "{} denied", self.denied);
        assert!(self.withdrawn > 0);
        assert_eq!(self.sent.len(), 8, "{:?}", self.sent);
    }
}

/// A message that breaks a rule of TL-UL, or only another one.
fn spoiled(message: Message, dice: &mut Dice) -> Message {
    let mut bad = message;
    match dice.below(5) {
        0 => bad.opcode = [2, 3, 5, 6, 7][dice.below(5) as usize],
        1 => bad.size = 3,
        2 => bad.address ^= 1 + dice.below(3),
        3 => bad.mask ^= 1 << dice.below(4),
        _ => bad.corrupt = true,
    }
    // It must not store by chance what another lane owns.
    if bad.is_put() && bad.is_performed() {
        message
    } else {
        bad
    }
}
