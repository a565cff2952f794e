//! Knowledge that threads hand to other blocks of their cluster.

use super::Order;
use crate::exec::race::seen::{Knowledge, Seen};

impl Order {
    /// Knowledge that a phase carries, as other blocks see it.
    pub fn abroad(&self, phase: u64) -> Option<Knowledge> {
        self.phases.get(&phase).map(|all| self.of_block(all))
    }

    /// Knowledge of lanes and of an agent, if one is given, as other blocks see it.
    pub fn shown_abroad(&mut self, warp: u32, mask: u32, agent: Option<(u8, u32)>) -> Knowledge {
        let mut all = self.snapshot(warp, mask);
        if let Some((agent, lane)) = agent {
            all.seen.raise(agent, 1 << lane, self.now);
        }
        self.of_block(&all)
    }

    /// Knowledge that lanes release to other blocks by an arrival with `.relaxed`.
    pub fn fenced_abroad(&mut self, warp: u32, mask: u32) -> Knowledge {
        let all = self.fenced(warp, mask, true);
        Knowledge {
            seen: all.seen.abroad(self.number),
            loose: all.loose.abroad(self.number),
            proxied: self.proxied_abroad(&all),
            ..Knowledge::default()
        }
    }

    /// Accesses before proxy fences for shared and for global memory, as other blocks see
    /// them.
    pub(super) fn proxied_abroad(&self, all: &Knowledge) -> [Seen; 2] {
        std::array::from_fn(|kind| {
            let mut proxied = all.proxied[kind].clone();
            proxied.join(&self.common.proxied[kind]);
            proxied.abroad(self.number)
        })
    }

    fn of_block(&self, all: &Knowledge) -> Knowledge {
        let mut seen = all.seen.clone();
        seen.join(&self.common.seen);
        let mut loose = all.loose.clone();
        loose.join(&self.common.loose);
        loose.join(&seen);
        Knowledge {
            seen: seen.abroad(self.number),
            loose: loose.abroad(self.number),
            proxied: self.proxied_abroad(all),
            ..Knowledge::default()
        }
    }

    /// An access of an agent now, as other blocks see it.
    pub fn landing_abroad(&self, (agent, lane): (u8, u32)) -> Seen {
        let mut seen = Seen::default();
        seen.raise(agent, 1 << lane, self.now);
        seen.abroad(self.number)
    }

    /// Bytes that another block has sent arrive in a phase.
    pub fn land_from_abroad(&mut self, phase: u64, sent: &Seen) {
        self.used = true;
        self.landed.entry(phase).or_default().join(sent);
    }

    /// Another block brings something to a phase.
    pub fn bring_from_abroad(&mut self, phase: u64, knowledge: &Knowledge) {
        self.used = true;
        self.phases.entry(phase).or_default().join(knowledge);
    }
}
