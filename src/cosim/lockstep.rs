//! The lockstep loop: model ahead, RTL behind, every output bit compared.

use super::bench::{Bench, Frame, Stimulus};
use super::layout::Layout;
use super::verilated::Instance;
use crate::error::Result;
use crate::hash::PortValue;

/// Cycles that the model runs ahead of the RTL.
const CHUNK_CYCLES: usize = 2048;

/// The first difference between RTL and model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Clock cycle, from 0.
    pub cycle: u64,
    /// Output port.
    pub signal: String,
    /// The model's value.
    pub expected: PortValue,
    /// The RTL's value.
    pub got: PortValue,
}

/// Totals of a run. It stops at the first chunk with a mismatch, and where the
/// stimulus ends.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Cycles compared.
    pub cycles: u64,
    /// Output ports compared, summed over cycles.
    pub checks: u64,
    /// Output ports that differed, summed over cycles.
    pub mismatches: u64,
    /// The first difference.
    pub first: Option<Mismatch>,
    /// The stimulus came to its end.
    pub ended: bool,
}

/// The words of consecutive cycles, for a waveform.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The cycle of the first frame.
    pub first_cycle: usize,
    /// Inputs, frame after frame.
    pub inputs: Vec<u32>,
    /// The model's outputs.
    pub expected: Vec<u32>,
    /// The RTL's outputs.
    pub got: Vec<u32>,
    /// Which output bits are defined.
    pub care: Vec<u32>,
}

/// The inputs of `cycles` cycles of a bench, frame after frame, without RTL.
pub fn record_inputs(
    layout: &Layout,
    bench: &mut dyn Bench,
    stimulus: &mut Stimulus,
    cycles: usize,
) -> Vec<u32> {
    let mut last = vec![0; layout.input_words];
    let mut inputs = Vec::with_capacity(cycles * layout.input_words);
    let (mut expected, mut care) = (vec![0; layout.output_words], vec![0; layout.output_words]);
    for _ in 0..cycles {
        let mut frame = Frame {
            inputs: &mut last,
            expected: &mut expected,
            care: &mut care,
        };
        bench.cycle(stimulus, &mut frame);
        stimulus.cycle += 1;
        inputs.extend_from_slice(&last);
    }
    inputs
}

impl Recording {
    /// Forgets all but the last `cycles` cycles, whose frames have `ins` and
    /// `outs` words: a long run must not fill the memory.
    fn keep_last(&mut self, cycles: usize, ins: usize, outs: usize) {
        let there = self.got.len() / outs.max(1);
        let old = there.saturating_sub(cycles);
        self.inputs.drain(..old * ins);
        for words in [&mut self.expected, &mut self.got, &mut self.care] {
            words.drain(..old * outs);
        }
        self.first_cycle += old;
    }
}

/// One run of a unit against its bench.
pub struct Lockstep<'a> {
    layout: &'a Layout,
    bench: &'a mut dyn Bench,
    rtl: Instance,
    stimulus: Stimulus,
    last_inputs: Vec<u32>,
    recording: Option<Recording>,
    outcome: Outcome,
}

impl<'a> Lockstep<'a> {
    /// A run from power-up; `record` keeps all cycles for a waveform.
    pub fn new(
        layout: &'a Layout,
        bench: &'a mut dyn Bench,
        rtl: Instance,
        seed: u64,
        record: bool,
    ) -> Self {
        Lockstep {
            layout,
            bench,
            rtl,
            stimulus: Stimulus::new(seed),
            last_inputs: vec![0; layout.input_words],
            recording: record.then(Recording::default),
            outcome: Outcome::default(),
        }
    }

    /// Runs `cycles` cycles, or up to the first chunk with a mismatch.
    pub fn run(
        mut self,
        cycles: u64,
        progress: &dyn Fn(u64),
    ) -> Result<(Outcome, Option<Recording>)> {
        while self.outcome.cycles < cycles && self.outcome.mismatches == 0 && !self.outcome.ended {
            let chunk = (cycles - self.outcome.cycles).min(CHUNK_CYCLES as u64);
            self.chunk(chunk as usize)?;
            progress(self.outcome.cycles);
        }
        Ok((self.outcome, self.recording))
    }

    fn chunk(&mut self, cycles: usize) -> Result<()> {
        let (ins, outs) = (self.layout.input_words, self.layout.output_words);
        let mut inputs = vec![0; cycles * ins];
        let mut expected = vec![0; cycles * outs];
        let mut care = vec![u32::MAX; cycles * outs];
        let mut end = Ok(());
        let mut there = 0;
        for i in 0..cycles {
            // Inputs keep their value until a bench drives another.
            match i {
                0 => inputs[..ins].copy_from_slice(&self.last_inputs),
                _ => inputs.copy_within((i - 1) * ins..i * ins, i * ins),
            }
            let mut frame = Frame {
                inputs: &mut inputs[i * ins..(i + 1) * ins],
                expected: &mut expected[i * outs..(i + 1) * outs],
                care: &mut care[i * outs..(i + 1) * outs],
            };
            self.bench.cycle(&mut self.stimulus, &mut frame);
            self.stimulus.cycle += 1;
            there = i + 1;
            match self.bench.ended() {
                Ok(false) => continue,
                Ok(true) => self.outcome.ended = true,
                Err(error) => end = Err(error),
            }
            break;
        }
        let cycles = there;
        inputs.truncate(cycles * ins);
        for words in [&mut expected, &mut care] {
            words.truncate(cycles * outs);
        }
        self.last_inputs
            .copy_from_slice(&inputs[(cycles - 1) * ins..]);
        let mut got = vec![0; cycles * outs];
        self.rtl.run(&inputs, &mut got)?;
        let bad = |i: usize| (got[i] ^ expected[i]) & care[i] != 0;
        if (0..got.len()).any(bad) {
            self.count_mismatches(&expected, &got, &care);
        }
        self.outcome.cycles += cycles as u64;
        self.outcome.checks += (cycles * self.layout.outputs.len()) as u64;
        if let Some(recording) = &mut self.recording {
            recording.keep_last(CHUNK_CYCLES, ins, outs);
            recording.inputs.extend(inputs);
            recording.expected.extend(expected);
            recording.got.extend(got);
            recording.care.extend(care);
        }
        // What cannot go on is an error, a difference before it the greater one.
        match self.outcome.mismatches {
            0 => end,
            _ => Ok(()),
        }
    }

    fn count_mismatches(&mut self, expected: &[u32], got: &[u32], care: &[u32]) {
        let outs = self.layout.output_words;
        for (i, frame) in got.chunks(outs).enumerate() {
            let range = i * outs..(i + 1) * outs;
            let (expected, care) = (&expected[range.clone()], &care[range]);
            for port in &self.layout.outputs {
                let words = port.offset..port.offset + port.words;
                if words
                    .clone()
                    .all(|w| (frame[w] ^ expected[w]) & care[w] == 0)
                {
                    continue;
                }
                self.outcome.mismatches += 1;
                self.outcome.first.get_or_insert_with(|| Mismatch {
                    cycle: self.outcome.cycles + i as u64,
                    signal: port.name.clone(),
                    expected: port.value(expected),
                    got: port.value(frame),
                });
            }
        }
    }
}
