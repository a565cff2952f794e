//! What threads and agents bring to the phases of an `mbarrier` and of the barrier of a
//! cluster, and who takes it.

use super::Order;
use crate::exec::race::seen::Knowledge;

impl Order {
    /// What lanes did goes with the phase of an `mbarrier`.
    pub fn bring(&mut self, warp: u32, mask: u32, phase: u64) {
        let all = self.snapshot(warp, mask);
        self.phases.entry(phase).or_default().join(&all);
    }

    /// So does what an agent did.
    pub fn bring_agent(&mut self, agent: u8, lane: u32, phase: u64) {
        self.used = true;
        let moment = self.now;
        let phase = self.phases.entry(phase).or_default();
        phase.seen.raise(agent, 1 << lane, moment);
    }

    /// What lanes did before their last fence for other blocks goes with a phase: they
    /// arrive by `.relaxed`.
    pub fn bring_fenced(&mut self, warp: u32, mask: u32, phase: u64) {
        let all = self.snapshot(warp, mask);
        let mut seen = all.near.clone();
        seen.join(&self.common.near);
        if seen.is_empty() {
            return;
        }
        let fenced = Knowledge {
            seen,
            proxied: all.proxied,
            ..Knowledge::default()
        };
        self.phases.entry(phase).or_default().join(&fenced);
    }

    /// A thread sees what an agent did until a moment.
    pub fn see(&mut self, warp: u32, lane: u32, (agent, place): (u8, u32), moment: u32) {
        let mut new = Knowledge::default();
        new.seen.raise(agent, 1 << place, moment + 1);
        self.learn(warp, 1 << lane, &new);
    }

    /// Lanes have waited for a phase.
    pub fn take(&mut self, warp: u32, mask: u32, phase: u64) {
        if let Some(brought) = self.phases.get(&phase).cloned() {
            self.learn(warp, mask, &brought);
        }
    }

    /// A phase that carries nothing any more.
    pub fn forget(&mut self, phase: u64) {
        self.phases.remove(&phase);
    }
}
