//! Barriers around calls that the compiler has inlined: their own conditions do not matter.

use super::{Advisor, Place, Remedy};
use crate::ast::Module;

impl Advisor<'_> {
    /// The remedy that orders two instructions, where a barrier stands around the given
    /// calls: how many from the kernel inwards lead to each; none for an instruction that
    /// is no call's.
    pub fn around(&self, remedy: Remedy, pcs: [u32; 2], calls: [Option<usize>; 2]) -> Remedy {
        let moved = |place| self.place_around(place, pcs, calls);
        match remedy {
            Remedy::Block(place) => Remedy::Block(moved(place)),
            Remedy::Warp(place) => Remedy::Warp(moved(place)),
            Remedy::Atomic => Remedy::Atomic,
        }
    }

    fn place_around(&self, place: Place, pcs: [u32; 2], calls: [Option<usize>; 2]) -> Place {
        // Behind the wait for a copy is right before the second.
        let waited = place == Place::AtSecond && self.is_copy(pcs[0]);
        if place == Place::Between || waited {
            return place;
        }
        let free = |at: usize| calls[at].is_some_and(|call| self.has_only_own(pcs[at], call));
        // A line whose condition depends on the first is no place right behind it.
        let behind = || self.condition_of(pcs[0]).is_none();
        match place {
            Place::AtFirst if free(1) => Place::Between,
            Place::AtSecond if free(0) => Place::Between,
            Place::Outside => match (free(0), free(1)) {
                (true, true) => Place::Between,
                (true, false) if behind() => Place::AtFirst,
                (false, true) => Place::AtSecond,
                _ => place,
            },
            _ => place,
        }
    }

    /// Whether an instruction is in a condition, and all its conditions are of a call: the
    /// one to which so many calls from the kernel inwards lead.
    fn has_only_own(&self, pc: u32, call: usize) -> bool {
        let Some((function, at)) = self.instruction(pc) else {
            return false;
        };
        let body = &self.module.functions[function as usize];
        let outer = |at: u32| {
            let calls = Module::calls(body, &body.instructions[at as usize]);
            calls
                .len()
                .checked_sub(call)
                .map(|from| calls[from..].to_vec())
        };
        let flow = &self.flows[&function];
        let own = outer(at);
        let splits = flow.splits_of(flow.cfg.block_of[at as usize]);
        let is_own = |split: &u32| outer(flow.cfg.blocks[*split as usize].end - 1) == own;
        own.is_some() && !splits.is_empty() && splits.iter().all(is_own)
    }
}
