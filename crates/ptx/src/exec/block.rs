//! A thread block: its warps in turn.

mod barriers;
mod cluster;
mod endless;
mod turns;

use super::api::{FindingKind, Options};
use super::check::{early, groups, unwaited};
use super::machine::draw::seeded;
use super::machine::handover::Handover;
use super::machine::pairs::Pairs;
use super::machine::written::{self, Written};
use super::machine::{Common, Machine, RawFinding};
use super::race::Races;
use super::race::global::GlobalRaces;
use super::warp::stalled::stalled;
use super::warp::{Together, Warp};
use std::sync::atomic::Ordering::Relaxed;

pub(super) use cluster::release;
pub(super) use endless::Endless;

/// The outcome of a block.
#[derive(Debug, Default)]
pub(super) struct BlockOutcome {
    pub warp_instructions: u64,
    pub thread_instructions: u64,
    pub shared_accesses: u64,
    pub findings: Vec<RawFinding>,
    pub pairs: Pairs,
    pub output: Vec<u8>,
}

/// Runs blocks one after the other; its memory is used again.
pub(super) struct Worker<'a> {
    pub machine: Machine<'a>,
    pub warps: Vec<Warp>,
    /// Whether somebody is told what is executed.
    observed: bool,
    /// Turns so far.
    turns: u32,
}

impl<'a> Worker<'a> {
    pub fn new(common: &'a Common<'a>, options: &Options<'a>) -> Self {
        let threads: u32 = common.block.iter().product();
        let mut machine = Machine::new(common);
        if options.races || options.global_races {
            let (image, warps) = (machine.image, threads.div_ceil(32));
            let (bytes, volatile) = (machine.shared_len, image.volatile);
            let mut races = Races::new(bytes, warps, (volatile, image.has_shared_bytes()));
            races.global = options.global_races.then(GlobalRaces::default);
            machine.races = Some(races);
            machine.handover = Handover::new(image.awaited.contains(&true));
            let (registers, local) = (image.followed.len(), image.local_bytes as usize);
            let written = || Written::new(registers, local);
            machine.written_by = (0..warps).map(|_| written()).collect();
        }
        Worker {
            machine,
            warps: (0..threads.div_ceil(32))
                .map(|_| Warp::new(common.image))
                .collect(),
            observed: false,
            turns: 0,
        }
    }

    /// Runs the block of that linear index.
    pub fn run(&mut self, linear: u64, options: &Options<'a>) -> BlockOutcome {
        self.begin(linear, options);
        let mut endless = Endless::default();
        while !self.machine.stop && self.turn() {
            endless.turn(std::slice::from_mut(self));
        }
        self.finish()
    }

    /// Begins the block of that linear index.
    pub fn begin(&mut self, linear: u64, options: &Options<'a>) {
        let m = &mut self.machine;
        let [gx, gy, _] = m.common.grid.map(u64::from);
        m.block_index = [linear % gx, linear / gx % gy, linear / (gx * gy)].map(|i| i as u32);
        m.shared.fill(0);
        m.written.fill(written::NEVER);
        // What CUDA keeps for itself it has set to zeros.
        let reserved = (m.image.reserved_shared as usize).min(m.written.len());
        m.written[..reserved].fill(written::WRITTEN);
        m.complete = m.written.len() == reserved;
        m.known.clear();
        m.arrivals.clear();
        m.mbarriers.clear();
        m.draws = options.warp_order.map(|seed| seeded(seed, linear));
        m.handover.begin();
        m.groups.clear();
        (m.stop, m.reported, m.limit_reached) = (false, 0, false);
        (
            m.warp_instructions,
            m.thread_instructions,
            m.shared_accesses,
        ) = (0, 0, 0);
        if let Some(races) = &mut m.races {
            races.begin(linear);
        }
        m.pairs.clear();
        m.written_by.iter_mut().for_each(Written::clear);
        let index = m.block_index;
        let wanted = options.only_block.is_none_or(|only| only == linear);
        let sink = options.sink.filter(|_| wanted);
        m.observer = sink.and_then(|sink| sink.block(index));
        (m.cluster.arrived, m.cluster.phase, self.turns) = (false, 0, 0);
        let threads: u32 = m.common.block.iter().product();
        for (index, warp) in self.warps.iter_mut().enumerate() {
            let lanes = (threads - 32 * index as u32).min(32);
            warp.start(m, index as u32, u32::MAX >> (32 - lanes));
        }
        self.machine.common.begun.fetch_add(1, Relaxed);
        self.observe(false);
        self.machine.over_limit();
    }

    /// Tells of what is executed, where somebody wants to know.
    fn observe(&mut self, watched: bool) {
        let m = &self.machine;
        self.observed = watched || m.observer.is_some() || m.races.is_some();
    }

    /// Ends the block and returns its outcome.
    pub fn finish(&mut self) -> BlockOutcome {
        let ended = self.has_ended();
        let m = &mut self.machine;
        m.over_limit();
        early::settle(m);
        if m.limit_reached {
            Self::note_limit(m, &self.warps);
        } else if !m.stop {
            groups::finish(m);
            if ended {
                unwaited::tell(m);
            }
        }
        if let Some(observer) = m.observer.take() {
            observer.finish();
        }
        BlockOutcome {
            warp_instructions: m.warp_instructions,
            thread_instructions: m.thread_instructions,
            shared_accesses: m.shared_accesses,
            findings: std::mem::take(&mut m.findings),
            pairs: std::mem::take(&mut m.pairs),
            output: std::mem::take(&mut m.output),
        }
    }

    /// Every warp once, then the barriers: whether there is more to do.
    fn turn(&mut self) -> bool {
        let mut running = self.advance();
        if self.machine.stop {
            return false;
        }
        if std::mem::take(&mut self.machine.cluster.arrived) {
            running |= cluster::release(std::slice::from_mut(self), None);
        }
        running || self.release()
    }

    /// Nothing can run: barriers that all have reached let them go.
    fn release(&mut self) -> bool {
        if self.release_barriers() || cluster::release(std::slice::from_mut(self), None) {
            return true;
        }
        if let Some(more) = stalled(&mut self.machine, &mut self.warps) {
            return more;
        }
        if self.run_together() {
            return true;
        }
        self.report_waiting();
        false
    }

    /// Runs what the lanes of a warp execute together though some of them wait
    /// elsewhere: whether some can.
    pub fn run_together(&mut self) -> bool {
        let m = &mut self.machine;
        let mut warps = self.warps.iter_mut().enumerate();
        warps.any(|(index, warp)| warp.run_together(m, index as u32, Together::Any))
    }

    fn note_limit(m: &mut Machine, warps: &[Warp]) {
        let entries = warps
            .iter()
            .flat_map(|w| w.paths.iter().filter_map(|p| p.stack.last()));
        let line = |pc: u32| m.image.infos.get(pc as usize).map_or(0, |i| i.line);
        let mut lines: Vec<u32> = entries.map(|e| line(e.pc)).collect();
        lines.sort_unstable();
        lines.dedup();
        let shown: Vec<String> = lines.iter().take(8).map(u32::to_string).collect();
        let mut text = format!("stopped after {} thread instructions", m.common.limit);
        if !shown.is_empty() {
            text += &format!("; warps were at PTX lines {}", shown.join(", "));
        }
        m.found(
            FindingKind::Limit,
            m.active.trailing_zeros() % 32,
            None,
            None,
            text,
        );
    }
}
