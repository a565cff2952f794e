//! What answers out of order would gain: a window of accesses that answers the
//! oldest access when it is done, as `spad_stream` does, compared with one that
//! answers any access that is done. A study: the second one exists only as a model.

use super::traffic::PATTERNS;
use super::window::{ACCESSES, cycles, machine};
use spadkit::error::{Error, Result};
use spadkit::model::spad_scratchpad::op;
use std::collections::{BTreeSet, VecDeque};

/// Accesses that overlap.
pub const WINDOWS: [u32; 4] = [2, 4, 8, 16];

/// Accesses without an answer, at most.
const INSIDE: u16 = 16;

/// Words of an access.
type Words = Vec<u16>;

/// The cycles of a run.
pub struct Run {
    /// Cycles from the first request to the last answer, both included.
    pub cycles: u32,
    /// Cycles from the request to the answer, of all accesses together.
    pub waited: u32,
}

/// `spad_stream` with a window: a buffer of two accesses, the window, and a buffer
/// whose answers are taken at once.
struct Port {
    banks: u16,
    window: usize,
    any_order: bool,
    requests: VecDeque<(u16, Words)>,
    /// Accesses by age, with the words that wait.
    slots: Vec<(u16, Words)>,
    answer: Option<u16>,
}

impl Port {
    /// The access that answers in this cycle.
    fn done(&self) -> Option<usize> {
        let done = self.slots.iter().position(|(_, waits)| waits.is_empty());
        done.filter(|slot| self.any_order || *slot == 0)
    }

    /// The clock edge.
    fn step(&mut self, request: Option<(u16, Words)>) {
        let done = self.done();
        let enters = self.slots.len() < self.window || done.is_some();
        self.serve();
        self.answer = done.map(|slot| self.slots.remove(slot).0);
        if enters {
            self.slots.extend(self.requests.pop_front());
        }
        self.requests.extend(request);
    }

    /// Each bank serves a word of the oldest access that waits for it.
    fn serve(&mut self) {
        let mut used = BTreeSet::new();
        for (_, waits) in &mut self.slots {
            waits.retain(|word| !used.insert(word % self.banks));
        }
    }
}

/// Makes the accesses, of which access k has the words `words(k)`.
fn run(banks: u16, window: u32, any_order: bool, words: &dyn Fn(u16) -> Words) -> Run {
    let mut port = Port {
        banks,
        window: window as usize,
        any_order,
        requests: VecDeque::new(),
        slots: Vec::new(),
        answer: None,
    };
    let mut began = vec![0; usize::from(ACCESSES)];
    let (mut taken, mut answered, mut cycles, mut waited) = (0, 0, 0, 0);
    while answered < ACCESSES {
        cycles += 1;
        if let Some(k) = port.answer {
            answered += 1;
            waited += cycles - began[usize::from(k)];
        }
        let offers = taken < ACCESSES && taken - answered < INSIDE && port.requests.len() < 2;
        let request = offers.then(|| (taken, words(taken)));
        if offers {
            began[usize::from(taken)] = cycles;
            taken += 1;
        }
        port.step(request);
    }
    Run { cycles, waited }
}

/// Different words, in the order of the lowest lanes.
fn distinct(words: impl Iterator<Item = u16>) -> Words {
    let mut known = BTreeSet::new();
    words.filter(|word| known.insert(*word)).collect()
}

/// The words that the lanes load: for every pattern, all lanes one word each; then
/// few lanes, and accesses with all words in bank 0 between accesses that avoid it.
fn words(pattern: usize, lanes: u16, k: u16) -> Words {
    let random = |lane| super::random(lane, k) & 0x3fff;
    match PATTERNS.get(pattern) {
        Some((_, addr)) => distinct((0..lanes).map(|lane| addr(lane, k) & 0x3fff)),
        None if pattern == PATTERNS.len() => {
            let some = |lane: &u16| super::random(*lane + lanes, k).is_multiple_of(4);
            distinct((0..lanes).filter(some).map(random))
        }
        None if k.is_multiple_of(lanes) => (0..lanes).map(|lane| lane * lanes).collect(),
        None => (1..lanes).collect(),
    }
}

/// The names of the patterns, in the order of [`both`].
pub fn names() -> impl Iterator<Item = &'static str> {
    let more = ["random, a quarter of lanes", "one bank in an access of L"];
    PATTERNS.iter().map(|(name, _)| *name).chain(more)
}

/// Runs `window` overlapping accesses on 2^`bank_bits` banks, with answers in order
/// (which takes the cycles of the golden model) and in any order.
pub fn both(bank_bits: u32, window: u32, pattern: usize) -> Result<[Run; 2]> {
    let lanes = 1 << bank_bits;
    let accesses = |k| words(pattern, lanes, k);
    let runs = [false, true].map(|any_order| run(lanes, window, any_order, &accesses));
    let Some((name, addr)) = PATTERNS.get(pattern) else {
        return Ok(runs);
    };
    let golden = cycles(&machine(bank_bits, window)?, op::LOAD, INSIDE, addr);
    if golden == runs[0].cycles {
        return Ok(runs);
    }
    Err(Error::defect(format!(
        "{name}, window {window}: {} cycles, and {golden} in the golden model",
        runs[0].cycles
    )))
}

/// Prints cycles and mean latencies.
pub fn print() -> Result<()> {
    println!("A window that answers in order / one that would answer any access that is done:");
    println!(
        "cycles of {ACCESSES} loads, {INSIDE} in flight, and (mean cycles from request to answer)"
    );
    for bank_bits in [3, 5] {
        let heads = WINDOWS.map(|window| format!("{:>26}", format!("window = {window}")));
        let lanes = format!("{0} lanes, {0} banks", 1 << bank_bits);
        println!("{lanes:28}{}", heads.concat());
        for (pattern, name) in names().enumerate() {
            let mut line = format!("  {name:26}");
            for window in WINDOWS {
                let [one, other] = both(bank_bits, window, pattern)?;
                let mean = |run: &Run| f64::from(run.waited) / f64::from(ACCESSES);
                let latencies = format!("({:.1}/{:.1})", mean(&one), mean(&other));
                line += &format!("{:>5}/{:<5}{latencies:>15}", one.cycles, other.cycles);
            }
            println!("{line}");
        }
    }
    Ok(())
}
