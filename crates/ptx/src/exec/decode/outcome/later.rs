//! Outcomes that threads look at later, such as in the next round of a loop.
//!
//! A way ends where nothing tells the outcome any more: each register that depends on it is
//! written before it is read. Of a branch that the outcome decides, the sides are followed up
//! to where they meet.

use super::{Follower, Next, State, Way, either, value_of_guard};
use crate::cfg::{Flow, flow};
use crate::exec::decode::allocate::Live;
use std::collections::{BTreeMap, BTreeSet};

/// Branches in each other that are followed.
const MOST: usize = 8;

/// A block that threads come to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    block: u32,
    /// Where the sides of the branches meet that the outcome has decided, the innermost last.
    meetings: Vec<u32>,
    /// Whether it has decided anything.
    decided: bool,
}

/// Where threads come that know the outcome.
pub(in crate::exec::decode) struct Fate {
    pub way: Way,
    /// The blocks where an outcome that has decided something is forgotten.
    pub forgotten: BTreeSet<u32>,
}

/// What is still to follow.
struct Search<'a> {
    live: &'a Live,
    exit: u32,
    states: BTreeMap<Place, State>,
    open: Vec<Place>,
    forgotten: BTreeSet<u32>,
}

impl Follower<'_> {
    /// Where threads come before they forget that the phase is complete, or is not; nothing
    /// where [`way`](Self::way) has nothing.
    pub fn fate(&self, complete: bool, live: &Live) -> Option<Fate> {
        let mut way = Way::new(complete, self.body.instructions.len());
        let mut search = Search {
            live,
            exit: self.cfg.exit(),
            states: BTreeMap::new(),
            open: Vec::new(),
            forgotten: BTreeSet::new(),
        };
        let first = Place {
            block: self.cfg.block_of[self.wait],
            meetings: Vec::new(),
            decided: false,
        };
        self.run_on(
            self.wait + 1,
            first,
            self.outcome(complete),
            &mut way,
            &mut search,
        )?;
        while let Some(place) = search.open.pop() {
            let state = search.states[&place].clone();
            let start = self.cfg.blocks[place.block as usize].start as usize;
            self.run_on(start, place, state, &mut way, &mut search)?;
        }
        let forgotten = search.forgotten;
        Some(Fate { way, forgotten })
    }

    /// Follows a block from an instruction on.
    fn run_on(
        &self,
        from: usize,
        mut place: Place,
        mut state: State,
        way: &mut Way,
        search: &mut Search,
    ) -> Option<()> {
        let end = self.cfg.blocks[place.block as usize].end as usize;
        for at in from..end {
            let i = &self.body.instructions[at];
            let guard = i.guard.map(|guard| value_of_guard(&state, guard));
            if guard.is_some_and(|g| g.depends && g.known.is_some()) {
                place.decided = true;
                if flow(self.body, i) != Flow::Next {
                    let meeting = self.cfg.post_dominator[place.block as usize];
                    place.meetings.push(meeting);
                }
            }
            match self.step(at, &mut state, way)? {
                Next::Here => {}
                Next::Nowhere => return Some(()),
                Next::To(places) => {
                    for to in places {
                        search.arrive(self.block_at(to as usize), &place, &state)?;
                    }
                    return Some(());
                }
            }
        }
        search.arrive(self.block_at(end), &place, &state)
    }
}

impl Search<'_> {
    /// Threads come to a block from a place; nothing if too many branches are in each other.
    fn arrive(&mut self, block: u32, from: &Place, state: &State) -> Option<()> {
        if block == self.exit {
            return Some(());
        }
        let mut place = Place {
            block,
            ..from.clone()
        };
        while place.meetings.last() == Some(&block) {
            place.meetings.pop();
        }
        if place.meetings.len() > MOST {
            return None;
        }
        let known = state.iter().filter(|(r, _)| self.live.at(block, **r));
        let state: State = known.map(|(r, value)| (*r, *value)).collect();
        if place.meetings.is_empty() && !state.values().any(|value| value.depends) {
            if place.decided {
                self.forgotten.insert(block);
            }
            return Some(());
        }
        let new = match self.states.get(&place) {
            None => state,
            Some(old) => {
                let both = old.keys().chain(state.keys());
                let of = |all: &State, r: &u32| all.get(r).copied().unwrap_or_default();
                let new: State = both
                    .map(|r| (*r, either(of(old, r), of(&state, r))))
                    .collect();
                if new == *old {
                    return Some(());
                }
                new
            }
        };
        self.states.insert(place.clone(), new);
        self.open.push(place);
        Some(())
    }
}
