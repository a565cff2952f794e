//! The occurrences of an access in a warp that are one execution of its code: lanes that have
//! parted come to an instruction one group after another.

use spadkit_mapping::trace::Access;

/// The turns of one access, counted.
#[derive(Default)]
pub(super) struct Turns {
    /// Lanes that have had the last turn.
    lanes: Vec<bool>,
    turns: usize,
}

impl Turns {
    /// The number of the turn that the next occurrence is in: that of the last one, where none of
    /// its lanes has had it.
    pub fn take(&mut self, access: &Access) -> usize {
        let own = |lane: usize| access.addrs[lane].is_some();
        self.lanes.resize(access.addrs.len(), false);
        let again = (0..access.addrs.len()).any(|lane| own(lane) && self.lanes[lane]);
        if again || self.turns == 0 {
            self.lanes.fill(false);
            self.turns += 1;
        }
        for (lane, had) in self.lanes.iter_mut().enumerate() {
            *had |= own(lane);
        }
        self.turns - 1
    }
}
