//! Makes a failing stimulus short: which of its cycles are needed?
//!
//! The stimulus up to the first difference is cut from the front. Then chunks
//! of cycles are left out as long as the same output differs first (delta
//! debugging). Finally inputs are held at zero. Model and RTL restart for each
//! attempt, so the result is a run of its own. With cycles left out, it need
//! not keep to the protocols of the unit's environment. The result is short,
//! not the shortest there is, and the search ends after a time limit.

use super::lockstep::{Mismatch, Recording, first_mismatch};
use super::verilated::VerilatedUnit;
use crate::error::Result;
use crate::hash::PortValue;
use crate::interrupt;
use crate::units::{Bench, Frame, Golden, Layout};
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time for one search.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Words of stimulus that are kept in memory.
const MAX_WORDS: usize = 1 << 27;

/// Cycles of reset at the start of every stimulus.
const RESET_CYCLES: usize = 2;

/// A short run with the same difference.
#[derive(Clone, Debug, Serialize)]
pub struct Shrunk {
    /// Clock cycles of the run; the last one differs.
    pub cycles: u64,
    /// Output port that differs.
    pub signal: String,
    /// The model's value.
    pub expected: PortValue,
    /// The RTL's value.
    pub got: PortValue,
    /// Inputs and outputs of both sides.
    #[serde(skip)]
    pub recording: Recording,
}

impl Shrunk {
    fn new(last: Mismatch, recording: Recording) -> Self {
        Shrunk {
            cycles: last.cycle + 1,
            signal: last.signal,
            expected: last.expected,
            got: last.got,
            recording,
        }
    }
}

/// Whether a stimulus of this many cycles can be shrunk.
pub(super) fn fits(layout: &Layout, cycles: u64) -> bool {
    (cycles as usize).saturating_mul(layout.input_words) <= MAX_WORDS
}

/// Shrinks the stimulus `inputs` of a clocked unit, whose last cycle shows `wanted` for the first
/// time. `None` where the bench has no model for a changed stimulus.
pub(super) fn shrink(
    layout: &Layout,
    rtl: &Arc<VerilatedUnit>,
    bench: &dyn Bench,
    inputs: &[u32],
    wanted: &Mismatch,
) -> Result<Option<Shrunk>> {
    let frames = inputs.len() / layout.input_words.max(1);
    let mut search = Search {
        layout,
        rtl,
        bench,
        inputs,
        silent: vec![false; layout.inputs.len()],
        signal: &wanted.signal,
        deadline: Instant::now() + TIME_LIMIT,
    };
    let Some(best) = search.attempt(&(0..frames).collect::<Vec<_>>())? else {
        return Ok(None);
    };
    let best = search.cut_front(best)?;
    let best = search.drop_chunks(best)?;
    let best = search.silence_inputs(best)?;
    search.run(&best)
}

/// A unit without state needs no more than the last cycle.
pub(super) fn last_cycle(
    layout: &Layout,
    rtl: &Arc<VerilatedUnit>,
    mut failing: Recording,
) -> Result<Option<Shrunk>> {
    let (ins, outs) = (layout.input_words, layout.output_words);
    failing.inputs.drain(..failing.inputs.len() - ins);
    for words in [&mut failing.expected, &mut failing.care] {
        words.drain(..words.len() - outs);
    }
    failing.got = vec![0; outs];
    rtl.instance().run(&failing.inputs, &mut failing.got)?;
    let found = first_mismatch(layout, &failing);
    Ok(found.map(|mismatch| Shrunk::new(mismatch, failing)))
}

struct Search<'a> {
    layout: &'a Layout,
    rtl: &'a Arc<VerilatedUnit>,
    bench: &'a dyn Bench,
    inputs: &'a [u32],
    /// Inputs that are held at zero.
    silent: Vec<bool>,
    signal: &'a str,
    deadline: Instant,
}

impl Search<'_> {
    /// Runs the cycles `kept`; the difference that they show, if any.
    fn run(&self, kept: &[usize]) -> Result<Option<Shrunk>> {
        let Some(mut golden) = self.bench.golden() else {
            return Ok(None);
        };
        let (ins, outs) = (self.layout.input_words, self.layout.output_words);
        let mut recording = Recording {
            inputs: vec![0; kept.len() * ins],
            expected: vec![0; kept.len() * outs],
            care: vec![u32::MAX; kept.len() * outs],
            got: vec![0; kept.len() * outs],
            ..Recording::default()
        };
        for (i, &cycle) in kept.iter().enumerate() {
            let words = &mut recording.inputs[i * ins..(i + 1) * ins];
            words.copy_from_slice(&self.inputs[cycle * ins..(cycle + 1) * ins]);
            self.silence(words);
            self.respond(&mut *golden, &mut recording, i);
        }
        let mut instance = self.rtl.instance();
        instance.run(&recording.inputs, &mut recording.got)?;
        let found = first_mismatch(self.layout, &recording);
        Ok(found.map(|mismatch| {
            let cycles = mismatch.cycle as usize + 1;
            recording.inputs.truncate(cycles * ins);
            for words in [
                &mut recording.expected,
                &mut recording.care,
                &mut recording.got,
            ] {
                words.truncate(cycles * outs);
            }
            Shrunk::new(mismatch, recording)
        }))
    }

    fn respond(&self, golden: &mut dyn Golden, recording: &mut Recording, i: usize) {
        let (ins, outs) = (self.layout.input_words, self.layout.output_words);
        let mut ignores = false;
        let mut frame = Frame {
            ignores: &mut ignores,
            inputs: &mut recording.inputs[i * ins..(i + 1) * ins],
            expected: &mut recording.expected[i * outs..(i + 1) * outs],
            care: &mut recording.care[i * outs..(i + 1) * outs],
        };
        golden.respond(&mut frame);
        if i == 0 {
            frame.ignore_all(); // before the first reset
        }
    }

    fn silence(&self, words: &mut [u32]) {
        for (port, _) in self.layout.inputs.iter().zip(&self.silent).filter(|p| *p.1) {
            words[port.offset..port.offset + port.words].fill(0);
        }
    }

    /// The cycles up to the wanted difference, if `kept` show it.
    fn attempt(&self, kept: &[usize]) -> Result<Option<Vec<usize>>> {
        let same = self.run(kept)?.filter(|s| s.signal == self.signal);
        Ok(same.map(|shrunk| kept[..shrunk.cycles as usize].to_vec()))
    }

    fn is_late(&self) -> bool {
        interrupt::requested() || Instant::now() > self.deadline
    }

    /// The reset and the last 1, 2, 4, ... cycles: the first that fail.
    fn cut_front(&self, best: Vec<usize>) -> Result<Vec<usize>> {
        let head = RESET_CYCLES.min(best.len());
        let mut tail = 1;
        while head + tail < best.len() && !self.is_late() {
            let kept = [&best[..head], &best[best.len() - tail..]].concat();
            if let Some(shorter) = self.attempt(&kept)? {
                return Ok(shorter);
            }
            tail *= 2;
        }
        Ok(best)
    }

    /// Leaves out chunks of cycles, first large ones.
    fn drop_chunks(&self, mut best: Vec<usize>) -> Result<Vec<usize>> {
        let head = RESET_CYCLES;
        let mut chunk = best.len().saturating_sub(head) / 2;
        while chunk > 0 {
            let before = best.len();
            let mut start = head;
            while start + chunk < best.len() && !self.is_late() {
                let kept = [&best[..start], &best[start + chunk..]].concat();
                match self.attempt(&kept)? {
                    Some(shorter) => best = shorter,
                    None => start += chunk,
                }
            }
            // Single cycles go on until none can be left out any more.
            if chunk > 1 || best.len() == before || self.is_late() {
                chunk /= 2;
            }
        }
        Ok(best)
    }

    /// Holds inputs at zero that the difference does not need.
    fn silence_inputs(&mut self, mut best: Vec<usize>) -> Result<Vec<usize>> {
        for i in 0..self.layout.inputs.len() {
            if self.layout.inputs[i].name == "rst" || self.is_late() {
                continue;
            }
            self.silent[i] = true;
            match self.attempt(&best)? {
                Some(shorter) => best = shorter,
                None => self.silent[i] = false,
            }
        }
        Ok(best)
    }
}
