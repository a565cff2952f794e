//! The accesses that all local memories are given, and ours under them. First
//! all words are stored, then the accesses are made and counted, then all words
//! are loaded; every loaded word is compared.

use super::window::ACCESSES;
use spadkit::config::Config;
use spadkit::error::{Error, Result};
use spadkit::model::{
    MAX_LANES, Stream, StreamInputs, StreamRequest, Tcdm, TcdmInputs, TcdmRequests,
    spad_scratchpad::op,
};

/// Words of each memory.
pub const WORDS: usize = 1 << 14;

/// An address by lane and number of the access.
pub type Pattern = fn(u16, u16) -> u16;

/// The access patterns, in the order of the tables.
pub const PATTERNS: [(&str, Pattern); 9] = [
    ("stride 1", |lane, k| lane + k),
    ("stride 2", |lane, k| 2 * lane + k),
    ("stride 4", |lane, k| 4 * lane + k),
    ("stride 8", |lane, k| 8 * lane + k),
    ("stride 16", |lane, k| 16 * lane + k),
    ("stride 32", |lane, k| 32 * lane + k),
    ("one word", |_, k| k),
    ("always word 0", |_, _| 0),
    ("random", |lane, k| super::random(lane, k) & 0x3fff),
];

/// How the accesses are made.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    /// Stores, not loads.
    pub store: bool,
    /// Accesses that may be incomplete at once.
    pub flight: usize,
    /// A lane begins an access when all lanes' requests of the one before are taken.
    pub together: bool,
    /// Addresses.
    pub pattern: Pattern,
}

/// Accesses of one kind.
struct Phase {
    store: bool,
    flight: usize,
    together: bool,
    /// Words of each access, by lane.
    accesses: Vec<[u16; MAX_LANES]>,
    /// Makes the stored words differ from those of another phase.
    salt: u32,
}

impl Phase {
    /// All words, one after the other.
    fn of_all_words(lanes: usize, store: bool) -> Self {
        let word = |k: usize, lane: usize| (k * lanes + lane) as u16;
        let accesses = (0..WORDS / lanes).map(|k| std::array::from_fn(|lane| word(k, lane)));
        Phase {
            store,
            flight: usize::MAX,
            together: false,
            accesses: accesses.collect(),
            salt: 0x5a5a_5a5a,
        }
    }

    fn of(traffic: &Traffic) -> Self {
        let word = |k: u16, lane: usize| (traffic.pattern)(lane as u16, k);
        let accesses = (0..ACCESSES).map(|k| std::array::from_fn(|lane| word(k, lane)));
        Phase {
            store: traffic.store,
            flight: traffic.flight,
            together: traffic.together,
            accesses: accesses.collect(),
            salt: 0x0bad_cafe,
        }
    }

    /// The stored value depends only on the word, so the order of lanes does not matter.
    fn value(&self, word: u16) -> u64 {
        u64::from(
            u32::from(word)
                .wrapping_mul(0x9e37_79b9)
                .wrapping_add(self.salt),
        )
    }
}

/// A local memory in which lanes access words.
trait Memory {
    /// Makes the accesses, and returns the cycles from the first request to the last
    /// answer, both included. `words` are compared with, and stored to.
    fn run(&mut self, phase: &Phase, words: &mut [u64]) -> Result<u32>;
}

/// Cycles of `traffic` in the model of `unit`, which the Verilog equals in every cycle.
pub fn cycles(unit: &str, machine: &Config, traffic: &Traffic) -> Result<u32> {
    let lanes = machine.lanes as usize;
    let mut memory: Box<dyn Memory> = match unit {
        "spad_tcdm" => Box::new(Lanes(Tcdm::new(machine), lanes)),
        _ => Box::new(Accesses(Stream::new(machine), lanes)),
    };
    let mut words = vec![0; WORDS];
    memory.run(&Phase::of_all_words(lanes, true), &mut words)?;
    let cycles = memory.run(&Phase::of(traffic), &mut words)?;
    memory.run(&Phase::of_all_words(lanes, false), &mut words)?;
    Ok(cycles)
}

/// An access to a word was answered. A load must find the word that was stored last.
fn answered(phase: &Phase, word: u16, found: u64, words: &mut [u64]) -> Result<()> {
    let last = &mut words[usize::from(word)];
    if phase.store {
        *last = phase.value(word);
    } else if found != *last {
        return Err(Error::defect(format!(
            "word {word} has {found:x}, and {last:x} was stored"
        )));
    }
    Ok(())
}

/// `spad_stream`: one port for an access of all lanes.
struct Accesses(Stream, usize);

impl Memory for Accesses {
    fn run(&mut self, phase: &Phase, words: &mut [u64]) -> Result<u32> {
        let Accesses(stream, lanes) = self;
        let (mut taken, mut done, mut cycles) = (0, 0, 0);
        while done < phase.accesses.len() {
            if let Some(answer) = stream.answer() {
                for lane in 0..*lanes {
                    let word = phase.accesses[done][lane];
                    answered(phase, word, answer.data[lane], words)?;
                }
                done += 1;
            }
            cycles += 1;
            let offers = taken < phase.accesses.len() && taken - done < phase.flight;
            let request = offers.then(|| StreamRequest {
                op: if phase.store { op::STORE } else { op::LOAD },
                atomic: None,
                mask: u64::MAX >> (64 - *lanes),
                addr: phase.accesses[taken],
                data: phase.accesses[taken].map(|word| phase.value(word)),
                be: [u8::MAX; MAX_LANES],
                tag: 0,
            });
            taken += usize::from(offers && stream.req_ready());
            stream.commit(StreamInputs::offering(request));
        }
        Ok(cycles)
    }
}

/// `spad_tcdm`: a port for each lane.
struct Lanes(Tcdm, usize);

impl Memory for Lanes {
    fn run(&mut self, phase: &Phase, words: &mut [u64]) -> Result<u32> {
        let Lanes(unit, lanes) = self;
        let count = phase.accesses.len();
        let (mut next, mut had) = ([0; MAX_LANES], [0; MAX_LANES]);
        let mut left = vec![*lanes; count];
        let (mut complete, mut cycles) = (0, 0);
        while complete < count {
            let answers = unit.answers();
            for lane in (0..*lanes).filter(|lane| answers.valid >> lane & 1 == 1) {
                let access = had[lane];
                let word = phase.accesses[access][lane];
                answered(phase, word, answers.data[lane], words)?;
                had[lane] += 1;
                left[access] -= 1;
                complete += usize::from(left[access] == 0);
            }
            cycles += 1;
            let requests = lane_requests(phase, &next[..*lanes], complete);
            let granted = unit.grants(&requests) & requests.req;
            for (lane, next) in next.iter_mut().enumerate() {
                *next += (granted >> lane & 1) as usize;
            }
            unit.commit(&TcdmInputs {
                rst: false,
                hash_wr: None,
                row_wr: None,
                requests,
            });
        }
        Ok(cycles)
    }
}

/// The requests of the lanes whose next accesses are `next`, after `complete` complete accesses.
fn lane_requests(phase: &Phase, next: &[usize], complete: usize) -> TcdmRequests {
    let slowest = next.iter().min().copied().unwrap_or(0);
    let mut requests = TcdmRequests::NONE;
    for (lane, &access) in next.iter().enumerate() {
        let begins = access < phase.accesses.len()
            && access < complete.saturating_add(phase.flight)
            && (!phase.together || access == slowest);
        if begins {
            let word = phase.accesses[access][lane];
            requests.req |= 1 << lane;
            requests.wen |= u64::from(!phase.store) << lane;
            requests.addr[lane] = word;
            requests.data[lane] = phase.value(word);
            requests.be[lane] = u8::MAX;
        }
    }
    requests
}
