//! Histograms by three kinds of atomic additions: banks that perform them, for lanes
//! that go on one by one (`spad_tcdm` with `[tcdm] atomics`) or all together
//! (`spad_stream` with `[stream] atomics`), and the lock unit of the atomics paper
//! (`spad_retry_sequencer` in front of `spad_scratchpad`).
//!
//! ```text
//! cargo run --example compare_atomics
//! ```
//!
//! Each lane adds 1 to 256 bins, drawn evenly from 1 to 1,024 in consecutive
//! words, plain interleaving. Cycles are those of the golden models, which the
//! Verilog equals in every cycle, from the first request to the last answer, both
//! included; the sums are compared with a count in software. The lanes of
//! `spad_tcdm` go on as soon as they are granted; they add by ADD, or by COUNT, which
//! serves lanes on one word together. `spad_stream` takes an addition of all lanes,
//! of which four overlap; the sequencer takes one, and the next when it is done. *At
//! least* is what the busiest lane or the busiest bank needs at one addition a cycle.
//! The sequencer waits no longer than
//! its scratchpad, as hardware does; in the last column as `[retry]` of the preset
//! says. A lone addition is in the sequencer for some of its cycles, and then on its
//! way through the scratchpad's stages.

use spadkit::config::{Config, LockHash};
use spadkit::error::Result;
use spadkit::model::spad_atomic_bank::amo;
use spadkit::model::spad_retry_sequencer::aop;
use spadkit::model::{
    AtomicPass, MAX_LANES, RetrySequencer, Scratchpad, ScratchpadInputs, SequencerInputs,
    SequencerResponse, Stream, StreamAnswer, StreamInputs, StreamRequest, Tcdm, TcdmInputs,
    TcdmRequests, WindowOperation,
};
use std::path::Path;
use std::process::ExitCode;

/// Additions of a lane.
const SAMPLES: usize = 256;
const BINS: [u16; 11] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(error.exit_status())
        }
    }
}

fn run() -> Result<()> {
    for preset in PRESETS {
        let config = machine(preset)?;
        let banks = config.geometry.banks();
        println!("{preset}: {} lanes, {banks} banks", config.lanes);
        println!(
            "{:>30}{:>20}{:>20}",
            "spad_tcdm", "spad_stream", "lock unit"
        );
        println!(
            "{:>6}{:>10}{:>7}{:>7}{:>13}{:>7}{:>12}{:>14}",
            "bins", "at least", "ADD", "COUNT", "ADD", "COUNT", "alone", "with [retry]"
        );
        for [
            bins,
            at_least,
            adds,
            counts,
            stream,
            together,
            locks,
            waiting,
        ] in rows(&config)
        {
            println!(
                "{bins:>6}{at_least:>10}{adds:>7}{counts:>7}{stream:>13}{together:>7}\
                 {locks:>12}{waiting:>14}"
            );
        }
        let [bank, stream, lock, sequenced, waiting] = alone(&config);
        println!(
            "one addition: spad_tcdm {bank}, spad_stream {stream}, lock unit {lock}, of these \
             {sequenced} in the sequencer; with [retry] {waiting}\n"
        );
    }
    Ok(())
}

/// The machines.
pub const PRESETS: [&str; 2] = ["small", "fermi"];

/// One of them, with plain interleaving of banks and locks.
pub fn machine(preset: &str) -> Result<Config> {
    let text = format!(
        "base = '{preset}'\n[hash]\npath = 'mod'\n[path]\nlock_hash = 'none'\n\
         [tcdm]\natomics = true\n[stream]\natomics = true\nwindow = 4\n"
    );
    Config::from_toml(&text, Path::new(preset))
}

/// For each number of bins: bins, the lower bound, cycles of `spad_tcdm` with ADD and
/// with COUNT, of `spad_stream` with both, of the lock unit, and of the lock unit
/// with the waiting times of the preset.
pub fn rows(config: &Config) -> Vec<[u64; 8]> {
    let hardware = config.clone().for_hardware();
    let row = |bins| {
        let histogram = Histogram::drawn(config.lanes as usize, bins);
        [
            bins.into(),
            histogram.at_least(config.geometry.banks()),
            histogram.in_banks(&hardware, amo::ADD),
            histogram.in_banks(&hardware, amo::COUNT),
            histogram.in_window(&hardware, amo::ADD),
            histogram.in_window(&hardware, amo::COUNT),
            histogram.by_locks(&hardware).0,
            histogram.by_locks(config).0,
        ]
    };
    BINS.map(row).into()
}

/// Cycles of one addition: of `spad_tcdm`, of `spad_stream`, of the lock unit, of
/// these in the sequencer, and with the waiting times.
pub fn alone(config: &Config) -> [u64; 5] {
    let hardware = config.clone().for_hardware();
    let one = Histogram {
        bins: 1,
        steps: vec![vec![0]],
    };
    let (all, sequenced) = one.by_locks(&hardware);
    let waiting = one.by_locks(config).0;
    let banks = one.in_banks(&hardware, amo::ADD);
    let window = one.in_window(&hardware, amo::ADD);
    [banks, window, all, sequenced, waiting]
}

/// The additions.
struct Histogram {
    bins: u16,
    /// The bins of all lanes, step by step.
    steps: Vec<Vec<u16>>,
}

impl Histogram {
    /// Bins drawn evenly; the same in every run.
    fn drawn(lanes: usize, bins: u16) -> Self {
        let mut state = u64::from(bins);
        let mut draw = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((mixed ^ mixed >> 31) >> 40) as u16 % bins
        };
        let steps = (0..SAMPLES).map(|_| (0..lanes).map(|_| draw()).collect());
        Histogram {
            bins,
            steps: steps.collect(),
        }
    }

    /// How often each bin occurs.
    fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; usize::from(self.bins)];
        let all = self.steps.iter().flatten();
        all.for_each(|bin| counts[usize::from(*bin)] += 1);
        counts
    }

    fn at_least(&self, banks: usize) -> u64 {
        let mut of_bank = vec![0; banks];
        for (bin, count) in self.counts().iter().enumerate() {
            of_bank[bin % banks] += count;
        }
        of_bank.into_iter().max().unwrap_or(0).max(SAMPLES as u64)
    }

    /// Cycles of `spad_tcdm`, whose lanes do not wait for each other.
    fn in_banks(&self, config: &Config, operation: u8) -> u64 {
        let mut unit = Tcdm::new(config);
        let lanes = self.steps[0].len();
        let (mut next, mut cycles) = ([0; MAX_LANES], 0);
        let mut left = self.steps.len() * lanes;
        while left > 0 {
            let mut asked = TcdmRequests::NONE;
            for lane in (0..lanes).filter(|&lane| next[lane] < self.steps.len()) {
                asked.req |= 1 << lane;
                asked.addr[lane] = self.steps[next[lane]][lane];
                asked.data[lane] = 1;
                asked.aop[lane] = operation;
            }
            asked.amo = asked.req;
            let (granted, answers) = cycle(&mut unit, asked);
            for (lane, next) in next.iter_mut().enumerate() {
                *next += (granted >> lane & 1) as usize;
            }
            left -= answers.count_ones() as usize;
            cycles += 1;
        }
        for (bin, count) in self.counts().into_iter().enumerate() {
            let mut read = TcdmRequests::NONE;
            (read.req, read.wen, read.addr[0]) = (1, 1, bin as u16);
            cycle(&mut unit, read);
            assert_eq!(unit.answers().data[0], count, "bin {bin}");
        }
        cycles
    }

    /// Cycles of `spad_stream`, whose lanes go on together.
    fn in_window(&self, config: &Config, code: u8) -> u64 {
        let mut unit = Stream::new(config);
        let (mut taken, mut answered, mut cycles) = (0, 0, 0);
        while answered < self.steps.len() {
            let step = self.steps.get(taken);
            let (ready, answer) = offer(&mut unit, step.map(|step| addition(step, code)));
            taken += usize::from(ready && step.is_some());
            answered += usize::from(answer.is_some());
            cycles += 1;
        }
        for (bin, count) in self.counts().into_iter().enumerate() {
            let mut read = Some(addition(&[bin as u16], amo::LR));
            let word = loop {
                let (ready, answer) = offer(&mut unit, read.clone());
                read = read.filter(|_| !ready);
                if let Some(answer) = answer {
                    break answer.data[0];
                }
            };
            assert_eq!(word, count, "bin {bin}");
        }
        cycles
    }

    /// Cycles of the retry sequencer with its scratchpad, pass after pass; of
    /// these, those in which a pass is in the sequencer.
    fn by_locks(&self, config: &Config) -> (u64, u64) {
        let mut machine = Locks::new(config);
        for step in &self.steps {
            machine.add(step);
        }
        while machine.answered < self.steps.len() {
            machine.cycle(None);
        }
        let cycles = machine.cycles;
        let (banks, m) = (config.geometry.banks(), config.geometry.bank_bits());
        for (bin, count) in self.counts().into_iter().enumerate() {
            let word = machine.scratchpad.word_at(bin % banks, bin >> m);
            assert_eq!(word, count, "bin {bin}");
        }
        (cycles, machine.sequenced)
    }
}

/// Adds 1 to the bin of each lane.
fn addition(step: &[u16], code: u8) -> StreamRequest {
    let mut addr = [0; MAX_LANES];
    addr[..step.len()].copy_from_slice(step);
    StreamRequest {
        op: 0,
        atomic: Some(WindowOperation {
            code,
            expected: [0; MAX_LANES],
            warp: 0,
        }),
        mask: u64::MAX >> (64 - step.len()),
        addr,
        data: [1; MAX_LANES],
        be: [0; MAX_LANES],
        tag: 0,
    }
}

/// One cycle of `spad_stream`: whether it accepts the offer, and its answer.
fn offer(unit: &mut Stream, request: Option<StreamRequest>) -> (bool, Option<StreamAnswer>) {
    let before = (unit.req_ready(), unit.answer().cloned());
    unit.commit(StreamInputs::offering(request));
    before
}

/// One cycle: the lanes that are granted, and those that are answered in it.
fn cycle(unit: &mut Tcdm, requests: TcdmRequests) -> (u64, u64) {
    let (granted, answers) = unit.step(&TcdmInputs {
        rst: false,
        hash_wr: None,
        row_wr: None,
        requests: requests.clone(),
    });
    (granted & requests.req, answers.valid)
}

/// The sequencer and its scratchpad.
struct Locks {
    sequencer: RetrySequencer<u32>,
    scratchpad: Scratchpad<bool>,
    bank_bits: u32,
    locks: u16,
    cycles: u64,
    sequenced: u64,
    /// Passes whose final answer has come.
    answered: usize,
}

/// The passes' lanes: banks, rows, locks, operands.
type Pass = (u64, Vec<u8>, Vec<u16>, Vec<u16>, Vec<u64>);

impl Locks {
    fn new(config: &Config) -> Self {
        assert_eq!(config.settings.lock_hash, LockHash::None);
        Locks {
            sequencer: RetrySequencer::new(config),
            scratchpad: Scratchpad::new(config),
            bank_bits: config.geometry.bank_bits(),
            locks: config.path.locks as u16,
            cycles: 0,
            sequenced: 0,
            answered: 0,
        }
    }

    /// Adds 1 to the bin of each lane.
    fn add(&mut self, step: &[u16]) {
        let m = self.bank_bits;
        let pass: Pass = (
            u64::MAX >> (64 - step.len()),
            step.iter()
                .map(|bin| (bin & ((1 << m) - 1)) as u8)
                .collect(),
            step.iter().map(|bin| bin >> m).collect(),
            step.iter().map(|bin| bin % self.locks).collect(),
            vec![1; MAX_LANES],
        );
        let mut pass = pass;
        pass.1.resize(MAX_LANES, 0);
        pass.2.resize(MAX_LANES, 0);
        pass.3.resize(MAX_LANES, 0);
        self.cycle(Some(&pass));
        while !self.sequencer.at_ready() {
            self.cycle(None);
        }
    }

    /// A cycle, in which a pass is offered, or none.
    fn cycle(&mut self, pass: Option<&Pass>) {
        let (response, mut data) = (self.scratchpad.response(), [0; MAX_LANES]);
        self.scratchpad.response_data(&mut data);
        // The final answers go past the sequencer, to who asked.
        let own = response.tag;
        self.sequenced += u64::from(!self.sequencer.at_ready());
        self.answered += usize::from(response.valid && !own);
        let sr = (response.valid && own).then_some(SequencerResponse {
            mask: response.mask,
            data: &data,
            success: response.success,
            error: response.error,
            degree: response.degree,
        });
        let request = self.sequencer.request();
        let at = pass.map(|(mask, bank, row, lock, data)| AtomicPass {
            aop: aop::ADD,
            mask: *mask,
            bank,
            row,
            lock,
            data,
            tag: 0,
        });
        self.sequencer.commit(&SequencerInputs {
            rst: false,
            at,
            sp_ready: self.scratchpad.req_ready(true),
            sr,
        });
        let no_bytes = [0u8; MAX_LANES];
        let (no_rows, no_words) = ([0u16; MAX_LANES], [0u64; MAX_LANES]);
        let final_pass = request.as_ref().is_some_and(|r| r.op == 0);
        self.scratchpad.commit(&ScratchpadInputs {
            rst: false,
            req_valid: request.is_some(),
            req_op: request.as_ref().map_or(0, |r| r.op),
            req_mask: request.as_ref().map_or(0, |r| r.mask),
            req_bank: request.as_ref().map_or(&no_bytes, |r| &r.bank),
            req_row: request.as_ref().map_or(&no_rows, |r| &r.row),
            req_lock: request.as_ref().map_or(&no_rows, |r| &r.lock),
            req_data: request.as_ref().map_or(&no_words, |r| &r.data),
            req_be: &[0xff; MAX_LANES],
            req_tag: !final_pass,
            resp_ready: true,
        });
        self.cycles += 1;
    }
}
