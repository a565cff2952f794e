//! Knowledge that threads and agents release into a phase of an `mbarrier` or of the
//! barrier of a cluster, and that waiters acquire from it.

use super::Order;
use crate::exec::race::seen::Knowledge;

impl Order {
    /// Adds the knowledge of lanes to a phase.
    pub fn bring(&mut self, warp: u32, mask: u32, phase: u64) {
        let all = self.snapshot(warp, mask);
        self.phases.entry(phase).or_default().join(&all);
    }

    /// Adds the accesses of an agent until now to a phase.
    pub fn bring_agent(&mut self, agent: u8, lane: u32, phase: u64) {
        self.used = true;
        let moment = self.now;
        let phase = self.phases.entry(phase).or_default();
        phase.seen.raise(agent, 1 << lane, moment);
    }

    /// Adds to a phase of the cluster's barrier what lanes that arrive by `.relaxed` did
    /// before their last fence for other blocks. The arrival itself also travels with the
    /// phase, for a waiter that needs no data.
    pub fn bring_fenced(&mut self, warp: u32, mask: u32, phase: u64) {
        let all = self.fenced(warp, mask, true);
        self.phases.entry(phase).or_default().join(&all);
    }

    /// Adds to a phase of an `mbarrier` of the block what lanes that arrive by `.relaxed`
    /// did before their last fence of any kind.
    pub fn bring_relaxed(&mut self, warp: u32, mask: u32, phase: u64) {
        let all = self.fenced(warp, mask, false);
        self.phases.entry(phase).or_default().join(&all);
    }

    /// Knowledge that lanes release by an arrival with `.relaxed`: what they did before
    /// their last fence for the cluster (`near`), or for the block.
    pub fn fenced(&mut self, warp: u32, mask: u32, near: bool) -> Knowledge {
        let all = self.snapshot(warp, mask);
        let (mut seen, common) = if near {
            (all.near, &self.common.near)
        } else {
            (all.fenced, &self.common.fenced)
        };
        seen.join(common);
        let mut loose = all.loose;
        loose.join(&all.seen);
        Knowledge {
            seen,
            loose,
            proxied: all.proxied,
            ..Knowledge::default()
        }
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

    /// Lanes have waited for a phase by `.relaxed`. They see what it carries after their
    /// next fence; what other blocks did, after their next fence for the cluster.
    pub fn take_relaxed(&mut self, warp: u32, mask: u32, phase: u64) {
        if let Some(brought) = self.phases.get(&phase).cloned() {
            let mut loose = brought.loose;
            loose.join(&brought.seen);
            let mut pending = brought.seen;
            let new = Knowledge {
                pending_near: pending.take_blocks(),
                pending,
                proxied: brought.proxied,
                loose,
                ..Knowledge::default()
            };
            self.learn(warp, mask, &new);
        }
    }

    /// Lanes have waited for a phase by `.cta`: they see only what their own block did, and
    /// the bytes that have arrived. Asynchronous copies and stores complete at the scope of
    /// the cluster, however the wait is written.
    pub fn take_of_block(&mut self, warp: u32, mask: u32, phase: u64) {
        if let Some(mut brought) = self.phases.get(&phase).cloned() {
            brought.seen.forget_blocks();
            if let Some(landed) = self.landed.get(&phase) {
                brought.seen.join(landed);
            }
            self.learn(warp, mask, &brought);
        }
    }

    /// A phase that carries nothing any more.
    pub fn forget(&mut self, phase: u64) {
        self.phases.remove(&phase);
        self.landed.remove(&phase);
    }
}
