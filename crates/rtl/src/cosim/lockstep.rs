//! The lockstep loop: the model runs first, the RTL follows, and every output bit is compared.

use super::verilated::Instance;
use crate::error::Result;
use crate::hash::PortValue;
use crate::interrupt;
use crate::units::{Bench, Chunk, Layout, Stimulus};
use serde::Serialize;
use spadkit_hdl::Origin;

/// Cycles that the model runs ahead of the RTL, at most.
const CHUNK_CYCLES: usize = 2048;

/// Words of a chunk, at most: model, RTL and comparison go over them one after
/// the other, and should find them in the processor's cache.
const CHUNK_WORDS: usize = 1 << 15;

/// Cycles that the model of a unit with these ports runs ahead.
fn chunk_cycles(layout: &Layout) -> u64 {
    // Inputs; outputs as expected, defined and shown.
    let words = layout.input_words + 3 * layout.output_words;
    (CHUNK_WORDS / words.max(1)).clamp(1, CHUNK_CYCLES) as u64
}

/// The first difference between RTL and model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// Clock cycle, from 0.
    pub cycle: u64,
    /// Output port.
    pub signal: String,
    /// The model's value.
    pub expected: PortValue,
    /// The RTL's value.
    pub got: PortValue,
    /// The lines of the hardware's description that drive the port.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub driven_by: Vec<Origin>,
}

/// Totals of a run. It stops at the first chunk with a mismatch, and where the
/// stimulus ends.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// Cycles compared.
    pub cycles: u64,
    /// Output ports compared, summed over cycles.
    pub checks: u64,
    /// Output ports that differed, summed over cycles.
    pub mismatches: u64,
    /// The first difference.
    #[serde(rename = "first_mismatch", skip_serializing_if = "Option::is_none")]
    pub first: Option<Mismatch>,
    /// The stimulus came to its end.
    #[serde(skip)]
    pub ended: bool,
}

impl Outcome {
    /// Counts the differences in the cycles that follow those compared so far.
    fn add(&mut self, differences: impl Iterator<Item = Mismatch>) {
        for mut mismatch in differences {
            self.mismatches += 1;
            mismatch.cycle += self.cycles;
            self.first.get_or_insert(mismatch);
        }
    }
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
    /// Output bits that are defined.
    pub care: Vec<u32>,
}

/// The inputs of `cycles` cycles of a bench, frame after frame, without RTL.
pub fn record_inputs(
    layout: &Layout,
    bench: &mut dyn Bench,
    stimulus: &mut Stimulus,
    cycles: usize,
) -> Vec<u32> {
    record(layout, bench, stimulus, cycles).inputs
}

/// The inputs and the model's outputs of `cycles` cycles, without RTL.
pub(super) fn record(
    layout: &Layout,
    bench: &mut dyn Bench,
    stimulus: &mut Stimulus,
    cycles: usize,
) -> Recording {
    let mut chunk = Chunk::new(layout, cycles);
    // The run before has shown where the stimulus ends, or why.
    let _ = bench.cycles(stimulus, &mut chunk);
    Recording {
        inputs: chunk.inputs,
        expected: chunk.expected,
        care: chunk.care,
        ..Recording::default()
    }
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
    /// The cycles under way, and the RTL's outputs in them. Their memory is
    /// used again: to take and give it back costs as much as some units' cycles.
    chunk: Chunk,
    got: Vec<u32>,
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
            chunk: Chunk::new(layout, 0),
            got: Vec::new(),
            recording: record.then(Recording::default),
            outcome: Outcome::default(),
        }
    }

    /// Runs `cycles` cycles, or up to the first chunk with a mismatch, or up
    /// to an interrupt.
    pub fn run(
        mut self,
        cycles: u64,
        progress: &dyn Fn(u64),
    ) -> Result<(Outcome, Option<Recording>)> {
        let most = chunk_cycles(self.layout);
        while self.outcome.cycles < cycles
            && self.outcome.mismatches == 0
            && !self.outcome.ended
            && !interrupt::requested()
        {
            let chunk = (cycles - self.outcome.cycles).min(most);
            self.chunk(chunk as usize)?;
            progress(self.outcome.cycles);
        }
        Ok((self.outcome, self.recording))
    }

    fn chunk(&mut self, cycles: usize) -> Result<()> {
        let (ins, outs) = (self.layout.input_words, self.layout.output_words);
        self.chunk.next(cycles);
        let end = self.bench.cycles(&mut self.stimulus, &mut self.chunk);
        self.outcome.ended = matches!(end, Ok(true));
        let Chunk {
            inputs,
            expected,
            care,
            cycles,
            ..
        } = &self.chunk;
        self.got.resize(cycles * outs, 0);
        self.rtl.run(inputs, &mut self.got)?;
        // Fast path: usually all bits match, including don't-care bits.
        if self.got != *expected && any_difference(expected, &self.got, care) {
            let found = differences(self.layout, expected, &self.got, care);
            self.outcome.add(found);
        }
        self.outcome.cycles += *cycles as u64;
        self.outcome.checks += (cycles * self.layout.outputs.len()) as u64;
        if let Some(recording) = &mut self.recording {
            recording.keep_last(CHUNK_CYCLES, ins, outs);
            recording.inputs.extend_from_slice(inputs);
            recording.expected.extend_from_slice(expected);
            recording.got.extend_from_slice(&self.got);
            recording.care.extend_from_slice(care);
        }
        // Stimulus that cannot continue is an error, but an earlier difference is reported instead.
        match self.outcome.mismatches {
            0 => end.map(|_| ()),
            _ => Ok(()),
        }
    }
}

/// Whether there is one; looks at all words, several at a time.
fn any_difference(expected: &[u32], got: &[u32], care: &[u32]) -> bool {
    let words = got.iter().zip(expected).zip(care);
    words.fold(0, |all, ((got, expected), care)| {
        all | (got ^ expected) & care
    }) != 0
}

/// The first difference in `recording`, whose frames count from 0.
pub(super) fn first_mismatch(layout: &Layout, recording: &Recording) -> Option<Mismatch> {
    let Recording {
        expected,
        got,
        care,
        ..
    } = recording;
    differences(layout, expected, got, care).next()
}

/// All differences, in the order of cycles and ports.
fn differences<'a>(
    layout: &'a Layout,
    expected: &'a [u32],
    got: &'a [u32],
    care: &'a [u32],
) -> impl Iterator<Item = Mismatch> + 'a {
    let outs = layout.output_words;
    let differs = move |w: usize| (got[w] ^ expected[w]) & care[w] != 0;
    (0..got.len() / outs).flat_map(move |i| {
        let frame = i * outs..(i + 1) * outs;
        let ports = layout.outputs.iter().filter(move |port| {
            let first = i * outs + port.offset;
            (first..first + port.words).any(differs)
        });
        ports.map(move |port| Mismatch {
            cycle: i as u64,
            signal: port.name.clone(),
            expected: port.value(&expected[frame.clone()]),
            got: port.value(&got[frame.clone()]),
            driven_by: Vec::new(),
        })
    })
}
