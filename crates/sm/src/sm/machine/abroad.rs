//! What other blocks of a cluster do to the `mbarrier` objects of a block, and `st.async`
//! (microarchitecture/sm-model.md).

use super::Sm;
use crate::sm::MbarrierOp;
use crate::sm::copy_engine::{Completion, Owner};
use crate::sm::incoming::Incoming;
use spadkit_base::error::{Error, Result};
use std::collections::{BTreeMap, VecDeque};

/// What other blocks do to the objects of a block, by the object's byte address and in order.
pub(super) type Abroad = BTreeMap<u64, VecDeque<Incoming>>;

/// An operation that is on its way to an object.
pub(super) struct Landing {
    /// The cycle in which it is there.
    pub cycle: u64,
    pub slot: usize,
    /// Byte address of the object.
    at: u64,
    op: MbarrierOp,
    /// The warp of the block that has sent it; none if another block has.
    by: Option<usize>,
}

impl Sm<'_> {
    /// What other blocks do to the block that starts.
    pub(super) fn incoming(&self, block: u32) -> Result<Vec<Incoming>> {
        let incoming = self.workload.incoming(block)?;
        let size = u64::from(self.workload.info().shared_bytes);
        let outside = |one: &&Incoming| {
            let copy = one.copy.map(|(piece, _)| piece);
            copy.is_some_and(|(at, bytes)| at.saturating_add(bytes) > size)
        };
        match incoming.iter().find(outside) {
            None => Ok(incoming),
            Some(_) => Err(Error::usage(
                format!("another block copies beyond the shared memory of block {block}"),
                format!("a block has {size} bytes"),
            )),
        }
    }

    /// The block uses an object: what others do to its phase is on its way from now on.
    pub(super) fn summon(&mut self, slot: usize, at: u64) {
        let copies = &mut self.copies;
        let (Some(queue), Some(object)) = (
            copies.abroad[slot].get_mut(&at),
            copies.barriers[slot].get_mut(&at),
        ) else {
            return;
        };
        let phase = object.phase();
        let due = queue.iter().take_while(|one| one.phase <= phase).count();
        let due: Vec<Incoming> = queue.drain(..due).collect();
        for one in due {
            let (expected, op) = expectation(one.op);
            // The phase may not end before its bytes are expected. More than an object counts
            // were refused where they came from.
            if let Some(object) = self.copies.barriers[slot].get_mut(&at) {
                object.expect(expected).unwrap_or_default();
            }
            if let Some(op) = op {
                self.start_landing((slot, at), Incoming { op, ..one });
            }
        }
    }

    /// Begins what another block does to an object.
    fn start_landing(&mut self, (slot, at): (usize, u64), one: Incoming) {
        let remote = self.config.sm.latencies.remote;
        let (Some((piece, from_global)), MbarrierOp::Complete { bytes }) = (one.copy, one.op)
        else {
            self.copies.landing.push(Landing {
                cycle: self.cycle + u64::from(remote),
                slot,
                at,
                op: one.op,
                by: None,
            });
            return;
        };
        let owner = Owner {
            warp: self.layout.warps(slot).start,
            slot,
            completion: Completion::Incoming(at, bytes),
        };
        let latency = if from_global {
            self.config.sm.global.latency
        } else {
            remote
        };
        let cycle = self.cycle + 1 + u64::from(latency);
        let copies = &mut self.copies;
        copies.under_way[slot] += 1;
        copies.engine.land(owner, piece, &copies.rows, cycle);
    }

    /// Bytes that warp `w` sends to an object of its own block are on their way.
    pub(super) fn send(&mut self, w: usize, (slot, at): (usize, u64), bytes: u32) {
        self.copies.under_way[slot] += 1;
        self.copies.landing.push(Landing {
            cycle: self.cycle + u64::from(self.config.sm.latencies.remote),
            slot,
            at,
            op: MbarrierOp::Complete { bytes },
            by: Some(w),
        });
    }

    /// What is there in this cycle acts.
    pub(super) fn land(&mut self) -> Result<()> {
        let now = self.cycle;
        if self
            .copies
            .landing
            .iter()
            .all(|landing| landing.cycle > now)
        {
            return Ok(());
        }
        let all = std::mem::take(&mut self.copies.landing);
        let (due, rest) = all.into_iter().partition(|landing| landing.cycle <= now);
        self.copies.landing = rest;
        let due: Vec<Landing> = due;
        for landing in due {
            let Landing { slot, at, op, .. } = landing;
            match landing.by {
                None => self.done_by_other(slot, at, op)?,
                Some(warp) => {
                    self.completed_in(now);
                    self.barrier_op(warp, (slot, at), (op, 1))?;
                    self.ends_in(slot);
                }
            }
        }
        Ok(())
    }

    /// An operation of another block. The object is gone where the block has ended, or has
    /// invalidated it after a barrier of the cluster, which waits for no other block here.
    pub(super) fn done_by_other(&mut self, slot: usize, at: u64, op: MbarrierOp) -> Result<()> {
        if !self.copies.barriers[slot].contains_key(&at) {
            return Ok(());
        }
        self.barrier_op(self.layout.warps(slot).start, (slot, at), (op, 1))
    }

    /// What is on its way to an object does not belong to the one that takes its place.
    pub(super) fn forget_landing(&mut self, slot: usize, at: u64) {
        let is_other = |landing: &Landing| (landing.slot, landing.at) != (slot, at);
        let landing = &mut self.copies.landing;
        landing.retain(|landing| landing.by.is_some() || is_other(landing));
    }
}

/// The bytes that an operation expects, and the rest of it.
fn expectation(op: MbarrierOp) -> (u32, Option<MbarrierOp>) {
    match op {
        MbarrierOp::Expect { bytes } => (bytes, None),
        MbarrierOp::ArriveExpect { bytes } => (bytes, Some(MbarrierOp::Arrive { arrivals: 1 })),
        MbarrierOp::DropExpect { bytes } => (bytes, Some(MbarrierOp::Drop { arrivals: 1 })),
        op => (0, Some(op)),
    }
}
