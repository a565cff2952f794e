//! The discrete memory machine, DMM (RAP paper, section II): w banks, a
//! memory pipeline of l stages, warps that are dispatched in turn.

use spadkit_base::error::{Error, Result};

/// The addresses that a warp asks for at once, one entry per thread; `None`
/// for a thread that does not take part.
pub type Request = Vec<Option<u64>>;

/// Largest width; each bank takes a counter.
const MAX_WIDTH: u64 = 1 << 16;
/// Largest latency: far beyond any memory, and times stay in 64 bits.
const MAX_LATENCY: u64 = 1 << 32;

/// A discrete memory machine of width w and latency l.
///
/// Address a is in bank a mod w. Requests for one address are merged. A bank
/// serves one of the others in a time unit. So a warp of congestion k occupies
/// k pipeline stages, and is complete after k + l - 1 time units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dmm {
    width: u64,
    latency: u64,
}

/// A request on its way through the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// The warp.
    pub warp: usize,
    /// Time unit in which its first stage enters the pipeline, from 0.
    pub start: u64,
    /// Pipeline stages that it occupies: its congestion.
    pub stages: u64,
}

/// A run of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Time units until the last request is complete.
    pub time: u64,
    /// Each dispatch with its time.
    pub dispatches: Vec<Dispatch>,
}

impl Dmm {
    /// A machine of `width` banks and `latency` time units per request.
    pub fn new(width: u64, latency: u64) -> Result<Self> {
        if !(1..=MAX_WIDTH).contains(&width) || !(1..=MAX_LATENCY).contains(&latency) {
            return Err(Error::usage(
                format!("a memory machine of width {width} and latency {latency} is not supported"),
                format!("expected a width of 1 to {MAX_WIDTH} and a latency of 1 to {MAX_LATENCY}"),
            ));
        }
        Ok(Dmm { width, latency })
    }

    /// The largest number of distinct addresses in one bank; 0 without any.
    pub fn congestion(&self, request: &[Option<u64>]) -> u64 {
        let mut addrs: Vec<u64> = request.iter().copied().flatten().collect();
        addrs.sort_unstable();
        addrs.dedup();
        let mut load = vec![0u32; self.width as usize];
        for addr in addrs {
            load[(addr % self.width) as usize] += 1;
        }
        load.into_iter().max().map_or(0, u64::from)
    }

    /// Runs one program of requests per warp.
    ///
    /// Warps are dispatched round-robin, beginning with warp 0. A warp sends a
    /// request only after its previous one is complete; until then, and for a
    /// request without any active thread, it is passed over.
    pub fn run(&self, warps: &[Vec<Request>]) -> Run {
        let mut pending: Vec<Warp> = warps.iter().map(|p| self.warp(p)).collect();
        let mut dispatches = Vec::new();
        let (mut now, mut time, mut turn) = (0, 0, 0);
        while let Some(earliest) = pending.iter().filter_map(Warp::ready_at).min() {
            now = now.max(earliest);
            let order = (turn..pending.len()).chain(0..turn);
            let ready = |&w: &usize| pending[w].ready_at().is_some_and(|t| t <= now);
            // A ready warp exists: time has just moved to the earliest.
            let Some(index) = order.into_iter().find(ready) else {
                break;
            };
            let stages = pending[index].dispatch(now, self.latency);
            dispatches.push(Dispatch {
                warp: index,
                start: now,
                stages,
            });
            now += stages;
            time = time.max(pending[index].free_at);
            turn = (index + 1) % pending.len();
        }
        Run { time, dispatches }
    }

    fn warp(&self, program: &[Request]) -> Warp {
        let stages = program.iter().map(|r| self.congestion(r));
        let mut stages: Vec<u64> = stages.filter(|&k| k > 0).collect();
        stages.reverse();
        Warp { stages, free_at: 0 }
    }
}

/// The requests that a warp has left.
struct Warp {
    /// Congestion of the requests, the next one last.
    stages: Vec<u64>,
    /// Time at which its previous request is complete.
    free_at: u64,
}

impl Warp {
    fn ready_at(&self) -> Option<u64> {
        self.stages.last().map(|_| self.free_at)
    }

    /// Sends the next request at time `now`; its stages.
    fn dispatch(&mut self, now: u64, latency: u64) -> u64 {
        let stages = self.stages.pop().unwrap_or(0);
        self.free_at = now + stages + latency - 1;
        stages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(addrs: &[u64]) -> Request {
        addrs.iter().copied().map(Some).collect()
    }

    #[test]
    fn figure_2_congestions() {
        let dmm = Dmm::new(4, 1).unwrap();
        assert_eq!(dmm.congestion(&request(&[5, 10, 15, 0])), 1);
        assert_eq!(dmm.congestion(&request(&[1, 5, 9, 13])), 4);
        assert_eq!(dmm.congestion(&request(&[5, 5, 5, 5])), 1);
        assert_eq!(dmm.congestion(&[None, None]), 0);
    }

    #[test]
    fn figure_3_takes_7_time_units() {
        let dmm = Dmm::new(4, 5).unwrap();
        let run = dmm.run(&[
            vec![request(&[7, 5, 15, 0])],
            vec![request(&[10, 11, 12, 9])],
        ]);
        assert_eq!(run.time, 7);
        let starts: Vec<_> = run.dispatches.iter().map(|d| (d.start, d.stages)).collect();
        assert_eq!(starts, [(0, 2), (2, 1)]);
    }

    #[test]
    fn contiguous_stride_and_diagonal_times() {
        for (w, l) in [(4, 5), (8, 1), (32, 20)] {
            let dmm = Dmm::new(w, l).unwrap();
            let time = |addr: &dyn Fn(u64, u64) -> u64| {
                let warp = |i| vec![(0..w).map(|j| Some(addr(i, j))).collect()];
                dmm.run(&(0..w).map(warp).collect::<Vec<_>>()).time
            };
            assert_eq!(time(&|i, j| i * w + j), w + l - 1);
            assert_eq!(time(&|i, j| j * w + i), w * w + l - 1);
            assert_eq!(time(&|i, j| j * w + (i + j) % w), w + l - 1);
        }
    }

    #[test]
    fn a_thread_waits_for_its_previous_request() {
        let dmm = Dmm::new(4, 5).unwrap();
        let twice = vec![request(&[0, 1]), request(&[2, 3])];
        // Alone: 5 + 5. The second warp's requests hide in the wait.
        assert_eq!(dmm.run(std::slice::from_ref(&twice)).time, 10);
        let run = dmm.run(&[twice.clone(), twice]);
        assert_eq!(run.time, 11);
        let order: Vec<_> = run.dispatches.iter().map(|d| (d.warp, d.start)).collect();
        assert_eq!(order, [(0, 0), (1, 1), (0, 5), (1, 6)]);
    }

    #[test]
    fn idle_warps_are_not_dispatched() {
        let dmm = Dmm::new(2, 3).unwrap();
        let run = dmm.run(&[vec![], vec![vec![None, None]], vec![request(&[0, 2])]]);
        assert_eq!((run.time, run.dispatches.len()), (4, 1));
        assert_eq!(dmm.run(&[]).time, 0);
        assert!(Dmm::new(0, 1).is_err() && Dmm::new(1, 0).is_err());
        assert!(Dmm::new(u64::MAX, 1).is_err() && Dmm::new(1, u64::MAX).is_err());
    }
}
