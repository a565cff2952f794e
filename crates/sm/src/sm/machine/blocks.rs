//! Thread blocks: launch and ends (microarchitecture/sm-model.md).

use super::Sm;
use super::barriers::Arrival;
use super::pairs::Pairs;
use crate::model::spad_sm_path::PathLaunch;
use crate::model::{BlockMask, Exit, WarpMask};
use crate::sm::layout::Layout;
use crate::sm::warp::State;
use crate::sm::workload::AtomicsAsLoads;
use spadkit_base::error::{Error, Result};

/// A block slot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockSlot {
    /// Whether the slot has a block that was not cleared away.
    occupied: bool,
    /// Warps that have not ended.
    running: u32,
}

/// The blocks of the grid, and the slots that hold them.
pub(super) struct Grid {
    /// Blocks of the grid.
    pub blocks: u32,
    /// The block that starts next.
    pub next: u32,
    slots: Vec<BlockSlot>,
    /// Block slots in the order in which they are filled.
    fill_order: Vec<usize>,
    /// Slots that have a block.
    pub occupied: usize,
    /// Occupied slots whose warps have all ended.
    pub ending: u32,
    /// Slots that the path has shown to have an active thread.
    pub live: BlockMask,
    /// Warps that have started: the age of the next.
    launches: u64,
    /// First cycle in which no warp waits at a barrier that has been met.
    pub barriers_until: u64,
    /// By slot: threads that have arrived at barriers, and do not wait.
    pub arrivals: Vec<Vec<Arrival>>,
    pub pairs: Pairs,
}

impl Grid {
    /// A grid of `blocks`, none of which has started.
    pub fn new(blocks: u32, layout: &Layout) -> Self {
        Grid {
            blocks,
            next: 0,
            slots: vec![BlockSlot::default(); layout.slots()],
            fill_order: layout.fill_order(),
            occupied: 0,
            ending: 0,
            live: 0,
            launches: 0,
            barriers_until: 0,
            arrivals: vec![Vec::new(); layout.slots()],
            pairs: Pairs::new(layout.slots()),
        }
    }

    /// Fills the slots in `order`, which must name every slot once.
    pub fn set_fill_order(&mut self, order: &[usize]) -> Result<()> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if sorted != (0..self.slots.len()).collect::<Vec<_>>() {
            return Err(Error::usage(
                format!(
                    "{order:?} is not a permutation of the {} slots",
                    self.slots.len()
                ),
                "expected every slot once",
            ));
        }
        self.fill_order = order.to_vec();
        Ok(())
    }

    /// Every block has started, and none is left in a slot.
    pub fn has_ended(&self) -> bool {
        self.next == self.blocks && self.occupied == 0
    }

    /// Blocks that have ended.
    pub fn ended(&self) -> u32 {
        self.next - self.occupied as u32
    }

    /// The slot for the next block, if there is one of either.
    fn free_slot(&self) -> Option<usize> {
        if self.next == self.blocks || self.occupied == self.slots.len() {
            return None;
        }
        let mut order = self.fill_order.iter().copied();
        order.find(|&slot| self.slots[slot].is_free())
    }
}

impl BlockSlot {
    fn is_free(&self) -> bool {
        !self.occupied
    }
}

impl Sm<'_> {
    /// Clears away blocks that have ended with nothing in flight, when the path
    /// has shown it: it takes the next block in the cycle after.
    pub(super) fn free_slots(&mut self) {
        if self.grid.ending == 0 {
            return;
        }
        for slot in 0..self.grid.slots.len() {
            let BlockSlot { occupied, running } = self.grid.slots[slot];
            let warps = self.layout.warps(slot);
            let ended = occupied && running == 0 && self.grid.live >> slot & 1 == 0;
            let through = self.copies.has_left(slot);
            if ended && through && self.warps[warps].iter().all(|w| w.in_path == 0) {
                self.grid.slots[slot].occupied = false;
                self.grid.occupied -= 1;
                self.grid.ending -= 1;
                self.block_ends(slot);
            }
        }
    }

    /// Starts the next block of the grid if a slot is free.
    pub(super) fn launch(&mut self) -> Result<Option<PathLaunch>> {
        let Some(slot) = self.grid.free_slot() else {
            return Ok(None);
        };
        let info = self.workload.info();
        let block = self.grid.next;
        self.grid.next += 1;
        self.statistics.blocks += 1;
        self.progress.last = self.cycle;
        let ready_at = self.cycle + 1 + u64::from(self.config.sm.frontend_stages);
        let mut mask: WarpMask = 0;
        let mut last = 0;
        let workload = self.workload;
        for (index, w) in self.layout.warps(slot).enumerate() {
            mask |= 1 << w;
            last = info.warp_mask(index as u32);
            let warp = &mut self.warps[w];
            (warp.slot, warp.block, warp.index) = (slot, block, index as u32);
            warp.live = last;
            warp.age = self.grid.launches;
            self.schedulers.ages[w] = self.grid.launches;
            self.grid.launches += 1;
            let program = workload.open(block, index as u32)?;
            let program = if self.config.sm.atomics_as_loads {
                AtomicsAsLoads::of(program)
            } else {
                program
            };
            warp.start(program, ready_at)?;
            self.checks.clear(w);
            self.check_before(w, ready_at);
            self.schedulers.two_level.enter(w);
        }
        let incoming = self.incoming(block)?;
        self.copies.start(slot, self.layout.warps(slot), incoming);
        self.grid.arrivals[slot].clear();
        self.sets.resident |= mask;
        self.block_starts(slot);
        self.grid.occupied += 1;
        self.grid.slots[slot] = BlockSlot {
            occupied: true,
            running: info.warps(),
        };
        Ok(Some(PathLaunch {
            block: slot,
            shared: self.layout.is_shared(slot),
            warps: mask,
            last,
        }))
    }

    /// Threads exit, those of one warp in a cycle, the lowest slot first.
    pub(super) fn exit(&mut self) -> Result<Option<Exit>> {
        if self.sets.exits == 0 {
            return Ok(None);
        }
        let w = self.sets.exits.trailing_zeros() as usize;
        self.sets.exits &= self.sets.exits - 1;
        let warp = &mut self.warps[w];
        let mask = match warp.next() {
            Some(exit) => exit.mask & warp.live,
            None => warp.live,
        };
        warp.live &= !mask;
        let (slot, ended) = (warp.slot, warp.live == 0);
        self.note_release(slot);
        let warp = &mut self.warps[w];
        if ended {
            warp.state = State::Ended;
            self.sets.resident &= !(1 << w);
            self.grid.slots[slot].running -= 1;
            if self.grid.slots[slot].running == 0 {
                self.grid.ending += 1;
                self.statistics.phases.block_ended(slot, self.cycle);
            }
            self.meet(slot);
        } else {
            warp.advance()?;
            let next = self.cycle + 1;
            self.check(w, next);
        }
        Ok(Some(Exit { warp: w, mask }))
    }
}
