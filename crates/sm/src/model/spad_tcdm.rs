//! `spad_tcdm`: the banks behind a request/grant/valid port per lane
//! (microarchitecture/bus.md).

mod requests;

pub use requests::{TcdmAnswers, TcdmInputs, TcdmRequests};

use super::lane_hash::LaneHash;
use super::lanes::{LaneMask, MAX_LANES, lanes_of};
use super::spad_atomic_bank::{AtomicBank, BankOperation, Unwritten, amo};
use crate::config::{Config, TcdmOptions};
use requests::{NO_ANSWERS, Request, What};
use std::collections::VecDeque;

/// A request on its way to its word.
#[derive(Clone, Copy, Debug)]
struct Placed {
    lane: usize,
    request: Request,
    bank: usize,
    row: usize,
}

/// The events of a cycle: accesses in the banks, and refused lanes.
struct Cycle {
    /// The lanes that each used bank serves, the one whose turn it is first.
    served: Vec<Vec<Placed>>,
    beyond: Vec<Placed>,
}

/// The lanes' requests that wait, the banks, and the answers that nobody has taken. Each bank
/// chooses among the lanes on its own, in turn.
#[derive(Clone, Debug)]
pub struct Tcdm {
    hash: LaneHash,
    options: TcdmOptions,
    lanes: usize,
    /// Lanes on one word are served together: those that read, those that write.
    joins: [bool; 2],
    /// Requests in the request register, if there is one: per lane, at most two.
    waiting: Vec<VecDeque<Request>>,
    /// Per bank, the lane that it was last chosen for.
    last: Vec<usize>,
    banks: Vec<AtomicBank>,
    /// Bank and row that each lane has reserved.
    reserved: Vec<Option<(usize, usize)>>,
    /// Accesses that a reset undoes, with atomic operations.
    unwritten: Unwritten,
    answers: TcdmAnswers,
    /// Answers that enter the response register, if there is one.
    coming: TcdmAnswers,
}

impl Tcdm {
    /// The unit of `config` after reset, all words zero.
    pub fn new(config: &Config) -> Self {
        let (banks, lanes) = (config.geometry.banks(), config.lanes as usize);
        let broadcast = config.path.broadcast;
        Tcdm {
            hash: LaneHash::new(config),
            options: config.path.tcdm,
            lanes,
            joins: [broadcast, broadcast && config.path.merge_bytes],
            waiting: vec![VecDeque::new(); lanes],
            last: vec![lanes - 1; banks],
            banks: vec![
                AtomicBank::new(config.capacity_words as usize / banks, config.word_bits);
                banks
            ],
            reserved: vec![None; lanes],
            unwritten: Unwritten::default(),
            answers: NO_ANSWERS,
            coming: NO_ANSWERS,
        }
    }

    /// The TCDM with a reset that is asynchronous or not.
    pub fn reset_at_any_time(mut self, asynchronous: bool) -> Self {
        self.unwritten = Unwritten::new(asynchronous);
        self
    }

    /// The lanes that are granted in this cycle.
    pub fn grants(&self, requests: &TcdmRequests) -> LaneMask {
        if self.options.request_register {
            let room = |lane: &usize| self.waiting[*lane].len() < 2;
            return mask_of((0..self.lanes).filter(room));
        }
        let cycle = self.cycle(requests);
        mask_of(cycle.placed().map(|placed| placed.lane))
    }

    /// The answers of this cycle; independent of the inputs.
    pub fn answers(&self) -> &TcdmAnswers {
        &self.answers
    }

    /// Nothing is inside; independent of the inputs.
    pub fn idle(&self) -> bool {
        let empty = self.waiting.iter().all(VecDeque::is_empty);
        let landed = !self.options.posted || self.unwritten.is_landed();
        empty && landed && self.answers.valid == 0 && self.coming.valid == 0
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &TcdmInputs) {
        if inputs.rst {
            self.reset();
            return;
        }
        self.unwritten.next_cycle();
        let cycle = self.cycle(&inputs.requests);
        let granted = self.grants(&inputs.requests) & inputs.requests.req;
        let answers = self.perform(&cycle);
        if self.options.request_register {
            for placed in cycle.placed() {
                self.waiting[placed.lane].pop_front();
            }
            for lane in lanes_of(granted) {
                self.waiting[lane].extend(inputs.requests.of(lane));
            }
        }
        if self.options.response_register {
            self.answers = std::mem::replace(&mut self.coming, answers);
        } else {
            self.answers = answers;
        }
        self.hash.commit(inputs.hash_wr, inputs.row_wr);
    }

    /// One clock cycle: the grants, and the answers to earlier requests.
    pub fn step(&mut self, inputs: &TcdmInputs) -> (LaneMask, TcdmAnswers) {
        let outputs = (self.grants(&inputs.requests), self.answers);
        self.commit(inputs);
        outputs
    }

    /// The words survive.
    fn reset(&mut self) {
        self.unwritten.reset(&mut self.banks);
        self.hash.reset();
        self.waiting.iter_mut().for_each(VecDeque::clear);
        self.last.fill(self.lanes - 1);
        self.reserved.fill(None);
        (self.answers, self.coming) = (NO_ANSWERS, NO_ANSWERS);
    }

    /// The events of this cycle.
    fn cycle(&self, requests: &TcdmRequests) -> Cycle {
        let (mut banks, mut rows) = ([0; MAX_LANES], [0; MAX_LANES]);
        let head = |lane: usize| {
            if self.options.request_register {
                self.waiting[lane].front().copied()
            } else {
                requests.of(lane)
            }
        };
        let heads: Vec<Option<Request>> = (0..self.lanes).map(head).collect();
        let addresses = heads.iter().map(|head| head.map_or(0, |h| h.addr));
        let addresses: Vec<u16> = addresses.collect();
        self.hash.places(&addresses, &mut banks, &mut rows);
        let mut wanted = vec![Vec::new(); self.banks.len()];
        let mut beyond = Vec::new();
        for (lane, head) in heads.into_iter().enumerate() {
            let Some(request) = head else { continue };
            let placed = Placed {
                lane,
                request,
                bank: usize::from(banks[lane]),
                row: usize::from(rows[lane]),
            };
            let unknown = matches!(request.what, What::Atomic(code, _) if code > amo::COUNT);
            if placed.row < self.banks[placed.bank].rows() && !unknown {
                wanted[placed.bank].push(placed);
            } else {
                beyond.push(placed);
            }
        }
        let used = wanted.into_iter().filter(|lanes| !lanes.is_empty());
        let served = used.map(|lanes| self.served(lanes)).collect();
        Cycle { served, beyond }
    }

    /// The served ones of the `lanes` that contend for a bank; the lane whose turn
    /// it is comes first.
    fn served(&self, mut lanes: Vec<Placed>) -> Vec<Placed> {
        let last = self.last[lanes[0].bank];
        lanes.sort_by_key(|p| (p.lane + self.lanes - last - 1) % self.lanes);
        let turn = lanes[0];
        let with = |p: &Placed| {
            let joins = match (p.request.what, turn.request.what) {
                (What::Read, What::Read) => self.joins[0],
                (What::Write(_), What::Write(_)) => self.joins[1],
                (What::Atomic(amo::COUNT, _), What::Atomic(amo::COUNT, _)) => self.joins[0],
                _ => false,
            };
            p.lane == turn.lane || joins && p.row == turn.row
        };
        lanes.into_iter().filter(with).collect()
    }

    /// Accesses the banks; the answers.
    fn perform(&mut self, cycle: &Cycle) -> TcdmAnswers {
        let mut answers = NO_ANSWERS;
        for served in &cycle.served {
            let turn = served[0];
            self.last[turn.bank] = turn.lane;
            let mut lanes = served.clone();
            // If several lanes write a byte, the lowest lane writes last.
            lanes.sort_by_key(|p| std::cmp::Reverse(p.lane));
            if let What::Atomic(amo::COUNT, _) = turn.request.what {
                // A single addition; each lane gets the word before it.
                let mut count = turn;
                count.request.data = lanes.len() as u64;
                let old = self.access(&count);
                lanes.iter().for_each(|p| answers.data[p.lane] = old);
                continue;
            }
            for placed in &lanes {
                answers.data[placed.lane] = self.access(placed);
            }
        }
        let posted =
            |placed: &&Placed| self.options.posted && matches!(placed.request.what, What::Write(_));
        for placed in cycle.placed().filter(|placed| !posted(placed)) {
            answers.valid |= 1 << placed.lane;
            if self.options.id_bits > 0 {
                answers.id[placed.lane] = placed.request.id;
            }
        }
        let beyond = mask_of(cycle.beyond.iter().map(|placed| placed.lane));
        answers.failed = beyond & answers.valid;
        answers
    }
}

impl Tcdm {
    /// Performs an access; returns the answer.
    fn access(&mut self, placed: &Placed) -> u64 {
        let Placed {
            lane,
            request,
            bank,
            row,
        } = *placed;
        let place = Some((bank, row));
        let operation = match request.what {
            What::Read => BankOperation::Read,
            What::Write(be) => BankOperation::Write { be },
            What::Atomic(code, expected) => BankOperation::Atomic {
                code,
                expected,
                reserved: self.reserved[lane] == place,
            },
        };
        if self.options.atomics {
            let word = self.banks[bank].word(row);
            self.unwritten.begin(bank, row, word);
        }
        let answer = self.banks[bank].access(row, operation, request.data);
        match request.what {
            What::Atomic(amo::LR, _) => self.reserved[lane] = place,
            What::Atomic(amo::SC, _) => self.reserved[lane] = None,
            _ => {}
        }
        if answer.written {
            let of_word = |own: &&mut Option<_>| **own == place;
            let ended = self.reserved.iter_mut().filter(of_word);
            ended.for_each(|own| *own = None);
        }
        match request.what {
            What::Write(_) => 0,
            _ => answer.word,
        }
    }
}

impl Cycle {
    /// The lanes whose requests leave.
    fn placed(&self) -> impl Iterator<Item = &Placed> {
        self.served.iter().flatten().chain(&self.beyond)
    }
}

fn mask_of(lanes: impl Iterator<Item = usize>) -> LaneMask {
    lanes.fold(0, |mask, lane| mask | 1 << lane)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn unit(text: &str) -> Tcdm {
        let text = format!("base = 'small'\n{text}");
        Tcdm::new(&Config::from_toml(&text, Path::new("t.toml")).unwrap())
    }

    /// Lane i requests the word `addr(i)`.
    fn requests(req: LaneMask, reads: bool, addr: impl Fn(u16) -> u16) -> TcdmRequests {
        TcdmRequests {
            req,
            wen: if reads { u64::MAX } else { 0 },
            addr: std::array::from_fn(|lane| addr(lane as u16)),
            data: std::array::from_fn(|lane| 0x0101_0101 * (lane as u64 + 1)),
            be: [0b1111; MAX_LANES],
            ..TcdmRequests::NONE
        }
    }

    fn cycle(unit: &mut Tcdm, requests: TcdmRequests) -> (LaneMask, TcdmAnswers) {
        let (hash_wr, row_wr) = (None, None);
        unit.step(&TcdmInputs {
            rst: false,
            hash_wr,
            row_wr,
            requests,
        })
    }

    /// Cycles until each lane has been granted `count` requests, of which the
    /// k-th is for the word `addr(lane, k)`.
    fn cycles(unit: &mut Tcdm, count: u16, addr: impl Fn(u16, u16) -> u16) -> u32 {
        let mut next = [0; 8];
        let mut cycles = 0;
        while next.iter().any(|&k| k < count) {
            let req = mask_of((0..8).filter(|&lane| next[lane] < count));
            let asked = requests(req, true, |lane| {
                let lane = usize::from(lane) % 8;
                addr(lane as u16, next[lane])
            });
            let (granted, _) = cycle(unit, asked);
            lanes_of(granted & req).for_each(|lane| next[lane] += 1);
            cycles += 1;
        }
        cycles
    }

    const PLAIN: &str = "[hash]\npath = 'mod'\n";

    /// Lanes that begin on one bank and go on to the next spread after a round.
    #[test]
    fn free_lanes_spread_over_the_banks() {
        let mut unit = unit(PLAIN);
        assert_eq!(cycles(&mut unit, 64, |lane, k| 8 * lane + k), 64 + 7);
        assert_eq!(cycles(&mut unit, 64, |_, k| k), 64, "one word");
        assert_eq!(
            cycles(&mut unit, 64, |lane, _| 8 * lane),
            64 * 8,
            "one bank"
        );
    }

    #[test]
    fn a_lane_waits_for_each_other_lane_once() {
        let mut unit = unit(PLAIN);
        // Lane 7 requests once; the others go on.
        let mut order = Vec::new();
        for _ in 0..16 {
            let (granted, _) = cycle(&mut unit, requests(0xff, true, |lane| 8 * lane));
            order.extend(lanes_of(granted));
        }
        let lanes: Vec<usize> = (0..8).collect();
        assert_eq!(order, [&lanes[..], &lanes[..]].concat());
    }

    #[test]
    fn writes_of_one_word_merge_and_reads_come_before_or_after() {
        let mut unit = unit(PLAIN);
        let mut writes = requests(0b0111, false, |_| 8);
        (writes.be[0], writes.be[1], writes.be[2]) = (0b0010, 0b0110, 0b1100);
        let (granted, _) = cycle(&mut unit, writes.clone());
        assert_eq!(granted, 0b0111);
        let (granted, answers) = cycle(&mut unit, requests(0b1001, true, |_| 8));
        assert_eq!(
            (granted, answers.valid, answers.data[0]),
            (0b1001, 0b0111, 0)
        );
        // The lowest lane wrote byte 1; each other byte is from the lane that enables it.
        let (_, answers) = cycle(&mut unit, TcdmRequests::NONE);
        assert_eq!(
            (answers.data[0], answers.data[3]),
            (0x0302_0100, 0x0302_0100)
        );
        // A read and a write are one after the other.
        let mut both = requests(0b11, true, |_| 8);
        both.wen = 0b10;
        let (granted, _) = cycle(&mut unit, both);
        assert_eq!(granted, 0b01, "after lane 3 comes lane 0");
    }

    #[test]
    fn without_merging_each_write_takes_a_cycle() {
        for (text, reads, writes) in [
            ("[path]\nmerge_bytes = false\n", 1, 8),
            ("[path]\nbroadcast = false\n", 8, 8),
            ("", 1, 1),
        ] {
            for (kind, expected) in [(true, reads), (false, writes)] {
                let mut unit = unit(&format!("{PLAIN}{text}"));
                let mut left = 0xff;
                let mut cycles = 0;
                while left != 0 {
                    left &= !cycle(&mut unit, requests(left, kind, |_| 5)).0;
                    cycles += 1;
                }
                assert_eq!(cycles, expected, "{text}, reads: {kind}");
            }
        }
    }

    #[test]
    fn each_register_is_a_cycle_and_takes_none_of_the_throughput() {
        for (text, latency) in [
            ("", 1),
            ("[tcdm]\nrequest_register = true\n", 2),
            ("[tcdm]\nresponse_register = true\nid_bits = 4\n", 2),
            (
                "[tcdm]\nrequest_register = true\nresponse_register = true\n",
                3,
            ),
        ] {
            let mut unit = unit(&format!("{PLAIN}{text}"));
            let mut asked = requests(1, true, |_| 3);
            asked.id[0] = 9;
            assert_eq!(cycle(&mut unit, asked).0 & 1, 1);
            for _ in 1..latency {
                assert!(!unit.idle());
                assert_eq!(cycle(&mut unit, TcdmRequests::NONE).1.valid, 0);
            }
            let answers = *unit.answers();
            assert_eq!(answers.valid, 1, "{text}");
            assert_eq!(answers.id[0], if text.contains("id_bits") { 9 } else { 0 });
            cycle(&mut unit, TcdmRequests::NONE);
            assert!(unit.idle());
            assert_eq!(cycles(&mut unit, 32, |lane, k| lane + k), 32, "{text}");
        }
    }

    #[test]
    fn what_is_beyond_the_capacity_is_refused_at_once() {
        let mut unit = unit(&format!("{PLAIN}[geometry]\ncapacity_words = 768\n"));
        let (granted, _) = cycle(&mut unit, requests(0b11, false, |lane| 760 + 8 * lane));
        assert_eq!(granted, 0b11);
        let answers = *unit.answers();
        assert_eq!((answers.valid, answers.failed), (0b11, 0b10));
    }
}
