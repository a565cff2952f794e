//! Accesses to the shared memory of other blocks of the cluster.

use super::clock::Order;
use super::mark::Mark;
use std::collections::BTreeMap;

/// An access of a lane, and the rank of the block whose memory it is of.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    pub rank: u32,
    pub offset: u64,
    pub mark: Mark,
}

/// The last visit of each thread by each instruction, by the rank of the visited block.
#[derive(Debug, Default)]
pub struct Visits(BTreeMap<(u32, u32, u32), Visit>);

impl Visits {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn note(&mut self, visit: Visit) {
        let Mark {
            pc, warp, lanes, ..
        } = visit.mark;
        let thread = 32 * u32::from(warp) + lanes.trailing_zeros();
        self.0.insert((visit.rank, pc, thread), visit);
    }

    /// Visits to the block of `rank` that no thread of it has seen when it exits; `order`
    /// is that of the block.
    pub fn unseen(&self, rank: u32, order: &Order) -> Vec<Visit> {
        let of = self.0.range((rank, 0, 0)..(rank + 1, 0, 0));
        let of = of.map(|(_, visit)| *visit);
        of.filter(|v| !order.is_seen_by_any(&v.mark)).collect()
    }
}
