//! The barrier of the blocks of a cluster.

use super::Worker;
use crate::exec::api::FindingKind;
use crate::exec::execute::barrier::{CLUSTER, word};
use crate::exec::machine::written::all_written;
use crate::exec::race::Knowledge;
use crate::exec::race::global::GlobalRaces;
use crate::exec::race::shadow::OBJECT_BYTES;
use crate::exec::warp::{Path, State};

/// Lets the threads of a cluster go that wait at its barrier, if all that have
/// not exited have arrived: whether it does. `cells` is what is known of their
/// accesses to each other's memory.
pub fn release(cluster: &mut [Worker], mut cells: Option<&mut GlobalRaces>) -> bool {
    let warps = || cluster.iter().flat_map(|worker| &worker.warps);
    let all = warps().all(|warp| warp.alive & !warp.arrived == 0);
    if !all || warps().all(|warp| warp.arrived == 0) {
        return false;
    }
    exchange(cluster);
    for worker in cluster {
        let m = &mut worker.machine;
        m.cluster.phase += 1;
        let phase = m.cluster.phase;
        if let Some(races) = &mut m.races {
            races.order.forget(word(phase + 1));
            let made = races.pass_relaxed();
            if let Some(cells) = &mut cells {
                let rank = m.cluster.rank;
                let made = made.into_iter().map(|at| m.cell(rank, at));
                made.for_each(|cell| cells.forget_writes(cell, OBJECT_BYTES));
            }
        }
        m.complete = m.complete || all_written(&m.written);
        m.mbarriers.progress();
        for (at, warp) in worker.warps.iter_mut().enumerate() {
            warp.passed |= std::mem::take(&mut warp.arrived);
            for path in 0..warp.paths.len() {
                if warp.paths[path].state == State::Cluster {
                    warp.enter(m, at as u32);
                    warp.leave_cluster_barrier(m, path);
                    warp.paths[path].state = State::Ready;
                }
            }
            if warp.paths.len() > 1 {
                warp.merge();
            }
        }
        if let Some(observer) = &mut m.observer {
            observer.barrier_passed(CLUSTER);
        }
    }
    true
}

/// Lets other blocks see what came before the arrivals at the barrier.
fn exchange(cluster: &mut [Worker]) {
    let of = |worker: &Worker| {
        let phase = word(worker.machine.cluster.phase + 1);
        worker.machine.races.as_ref()?.order.abroad(phase)
    };
    if cluster.len() < 2 {
        return;
    }
    let all: Vec<Option<Knowledge>> = cluster.iter().map(of).collect();
    for (at, worker) in cluster.iter_mut().enumerate() {
        let phase = word(worker.machine.cluster.phase + 1);
        let Some(races) = &mut worker.machine.races else {
            continue;
        };
        let others = all.iter().enumerate().filter(|(other, _)| *other != at);
        for knowledge in others.filter_map(|(_, all)| all.as_ref()) {
            races.order.bring_from_abroad(phase, knowledge);
        }
    }
}

impl Worker<'_> {
    /// Whether threads wait for a phase of an `mbarrier`.
    pub fn waits_for_phase(&self) -> bool {
        let waits = |path: &Path| path.state == State::Mbarrier;
        self.warps.iter().any(|warp| warp.paths.iter().any(waits))
    }

    /// Notes those who wait at the cluster's barrier for good: whether there are.
    pub(super) fn report_cluster(&mut self) -> bool {
        let waits = |p: &Path| p.state == State::Cluster;
        let mut waiting = self.warps.iter().enumerate();
        let first = waiting.find_map(|(at, warp)| {
            let path = warp.paths.iter().find(|p| waits(p))?;
            Some((at, *path.stack.last()?))
        });
        let Some((at, top)) = first else {
            return false;
        };
        let m = &mut self.machine;
        (m.warp, m.pc) = (at as u32, top.pc - 1);
        let missing: u32 = self
            .warps
            .iter()
            .map(|w| (w.alive & !w.arrived).count_ones())
            .sum();
        let whose = match missing {
            0 => "of other blocks of the cluster".to_owned(),
            n => format!("of the cluster, {n} of them of this block,"),
        };
        let text = format!("threads {whose} never arrive at the cluster's barrier");
        let lane = top.lanes.trailing_zeros();
        m.found(FindingKind::BarrierNotReached, lane, None, None, text);
        true
    }
}
