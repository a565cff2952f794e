//! Blocks that run together: those of a cluster, which share a barrier and
//! access each other's shared memory, and all of a cooperative launch.
//!
//! They take turns in the order of their ranks, or in one that the seed of a run
//! draws, so that a run is the same every time. While a block runs, the windows of
//! the others of its cluster are lent to it.

use super::api::Options;
use super::block::{BlockOutcome, Endless, Worker, release};
use super::check::departures;
use super::machine::Common;
use super::machine::draw::{seeded, shuffle};
use super::race;
use super::race::global::GlobalRaces;
use super::warp::stalled::stalled;

/// The blocks of some clusters of one size.
pub(super) struct Together<'a> {
    workers: Vec<Worker<'a>>,
    /// The order in which they take turns.
    order: Vec<usize>,
    /// State of the numbers that draw the order anew for each turn, if they do.
    draws: Option<u64>,
    /// Blocks of a cluster.
    size: usize,
    /// State of the race detector that goes from the block whose turn it was to the next.
    races: Option<race::Common>,
}

impl<'a> Together<'a> {
    /// The blocks of clusters of `size`, `blocks` in all.
    pub fn new(
        common: &'a Common<'a>,
        options: &Options<'a>,
        (blocks, size): (usize, usize),
    ) -> Self {
        let workers = (0..blocks).map(|_| Worker::new(common, options));
        let mut workers: Vec<Worker> = workers.collect();
        for (at, worker) in workers.iter_mut().enumerate() {
            let cluster = &mut worker.machine.cluster;
            cluster.rank = (at % size) as u32;
            cluster.number = (at / size) as u32;
            if size > 1 {
                cluster.peers.resize_with(size, Default::default);
            }
            if let Some(races) = &mut worker.machine.races {
                races.order.turns = true;
                races.global = None;
            }
        }
        let looks = options.races || options.global_races;
        let global = options.global_races.then(GlobalRaces::default);
        let races = looks.then(|| race::Common {
            global,
            ..race::Common::default()
        });
        Together {
            order: (0..workers.len()).collect(),
            draws: None,
            workers,
            size,
            races,
        }
    }

    /// Runs the blocks of those linear indices, cluster after cluster in the
    /// order of their ranks; their outcomes in the same order.
    pub fn run(&mut self, blocks: &[u64], options: &Options<'a>) -> Vec<BlockOutcome> {
        self.begin_races();
        for (at, &block) in blocks.iter().enumerate() {
            self.hand_races_to(at);
            let first = blocks[at - at % self.size];
            let several = (self.size > 1).then_some(first);
            if let Some(races) = &mut self.workers[at].machine.races {
                races.order.cluster = several;
            }
            self.workers[at].begin(block, options);
            self.take_races_from(at);
        }
        self.order.sort_unstable();
        self.draws = options.warp_order.map(|seed| seeded(seed, blocks[0]));
        let mut endless = Endless::default();
        while self.turn() && !endless.turn(&mut self.workers) {}
        self.note_departures();
        let all = 0..self.workers.len();
        all.map(|at| self.finish(at)).collect()
    }

    /// Ends a block and returns its outcome. Its turn tells whose the moments are.
    fn finish(&mut self, at: usize) -> BlockOutcome {
        self.hand_races_to(at);
        let outcome = self.workers[at].finish();
        self.take_races_from(at);
        outcome
    }

    /// Tells of accesses to blocks of a cluster that may have ended before.
    fn note_departures(&mut self) {
        let ended = self.workers.iter().all(|w| w.has_ended());
        if self.size < 2 || !ended || self.races.is_none() {
            return;
        }
        for at in 0..self.workers.len() {
            self.hand_races_to(at);
            let first = at - at % self.size;
            let others = (first..first + self.size).filter(|&other| other != at);
            let mut late = Vec::new();
            if let Some(own) = &self.workers[at].machine.races {
                for other in others {
                    let visits = self.workers[other].machine.races.as_ref();
                    let unseen = visits.map(|r| r.visits.unseen((at - first) as u32, &own.order));
                    late.extend(unseen.into_iter().flatten().map(|visit| (other, visit)));
                }
            }
            self.take_races_from(at);
            for (other, visit) in late {
                departures::tell(&mut self.workers[other].machine, &visit);
            }
        }
    }

    /// Tells the race detector that everything which ran before has ended.
    fn begin_races(&mut self) {
        let Some(races) = &mut self.races else {
            return;
        };
        if races.is_worn() {
            races.moments = race::Moments::default();
            races.global.iter_mut().for_each(GlobalRaces::clear);
            let of = self.workers.iter_mut();
            of.filter_map(|w| w.machine.races.as_mut())
                .for_each(race::Races::renew);
        }
        races.moments.end(races.moments.now());
        races.cells = (self.size > 1).then(GlobalRaces::default);
    }

    fn hand_races_to(&mut self, at: usize) {
        if let Some(races) = &mut self.workers[at].machine.races
            && let Some(common) = self.races.take()
        {
            races.enter(common);
        }
    }

    fn take_races_from(&mut self, at: usize) {
        if let Some(races) = &mut self.workers[at].machine.races {
            self.races = Some(races.leave());
        }
    }

    /// Every block once, then the barriers: whether there is more to do.
    fn turn(&mut self) -> bool {
        let mut running = false;
        // They keep their order while their warps do, for the search for endless waits.
        if let Some(state) = &mut self.draws
            && self.workers[0].machine.draws.is_some()
        {
            shuffle(state, &mut self.order);
        }
        for turn in 0..self.order.len() {
            let at = self.order[turn];
            self.lend_to(at);
            self.hand_races_to(at);
            running |= self.workers[at].advance();
            self.take_races_from(at);
            self.take_back_from(at);
            if self.workers[at].machine.stop {
                self.workers.iter_mut().for_each(|w| w.machine.stop = true);
                return false;
            }
        }
        let mut cells = self.races.as_mut().and_then(|r| r.cells.as_mut());
        for cluster in self.workers.chunks_mut(self.size) {
            let arrived = |w: &mut Worker| std::mem::take(&mut w.machine.cluster.arrived);
            let arrived = cluster
                .iter_mut()
                .map(arrived)
                .fold(false, |all, one| all | one);
            running |= arrived && release(cluster, cells.as_deref_mut());
        }
        running || self.release()
    }

    /// Lends the windows of the others of its cluster to a block.
    fn lend_to(&mut self, at: usize) {
        let first = at - at % self.size;
        for other in (first..first + self.size).filter(|&other| other != at) {
            let worker = &mut self.workers[other];
            let ended = worker.has_ended();
            let window = worker.machine.lend(ended);
            self.workers[at].machine.cluster.peers[other - first] = window;
        }
    }

    fn take_back_from(&mut self, at: usize) {
        let first = at - at % self.size;
        for other in (first..first + self.size).filter(|&other| other != at) {
            let place = &mut self.workers[at].machine.cluster.peers[other - first];
            let window = std::mem::take(place);
            self.workers[other].machine.take_back(window);
        }
    }

    /// Nothing can run: barriers that all have reached let them go.
    fn release(&mut self) -> bool {
        let mut released = false;
        for worker in &mut self.workers {
            released |= worker.release_barriers();
        }
        let mut cells = self.races.as_mut().and_then(|r| r.cells.as_mut());
        for cluster in self.workers.chunks_mut(self.size) {
            released |= release(cluster, cells.as_deref_mut());
        }
        if released {
            return true;
        }
        if let Some(more) = self.send_on() {
            return more;
        }
        for worker in &mut self.workers {
            worker.report_waiting();
        }
        false
    }

    /// Lets the warps that wait for phases look again, each block in its turn. Returns
    /// whether they may go on; `None` if no warp waits.
    fn send_on(&mut self) -> Option<bool> {
        let waits = |at: &usize| self.workers[*at].waits_for_phase();
        let waiting: Vec<usize> = (0..self.workers.len()).filter(waits).collect();
        // Where one of them has seen a change, the others may yet go on.
        let idle = waiting
            .iter()
            .map(|&at| self.workers[at].machine.mbarriers.idle);
        let idle = idle.min().unwrap_or(0);
        let mut sent_on = None;
        for at in waiting {
            self.hand_races_to(at);
            let worker = &mut self.workers[at];
            worker.machine.mbarriers.idle = idle;
            if let Some(more) = stalled(&mut worker.machine, &mut worker.warps) {
                sent_on = Some(sent_on.unwrap_or(true) && more);
            }
            self.take_races_from(at);
        }
        sent_on
    }
}
