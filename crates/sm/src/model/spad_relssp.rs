//! `spad_relssp`: which threads have released the shared part of the
//! scratchpad (sharing paper, section 6.3; microarchitecture/relssp.md).

use super::lanes::WarpMask;
use super::spad_access_unit::BlockMask;

/// A bit per thread of a warp.
pub type ThreadMask = u64;

/// A block launch, as this unit sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadLaunch {
    /// The block's warp slots.
    pub warps: WarpMask,
    /// Threads of the highest of them; the others are full.
    pub last: ThreadMask,
}

/// Lanes of one subwarp execute relssp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Release {
    /// The warp.
    pub warp: usize,
    /// The subwarp.
    pub sub: usize,
    /// The lanes.
    pub mask: u64,
}

/// Threads of a warp exit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    /// The warp.
    pub warp: usize,
    /// The threads.
    pub mask: ThreadMask,
}

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug)]
pub struct RelsspInputs<'a> {
    /// Synchronous reset.
    pub rst: bool,
    /// A block starts.
    pub launch: Option<ThreadLaunch>,
    /// A release.
    pub release: Option<Release>,
    /// An exit.
    pub exit: Option<Exit>,
    /// Block slot of each warp, before this cycle's launch.
    pub warp_blk: &'a [u8],
}

/// Outputs of one clock cycle; comb(release, exit).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelsspOutputs {
    /// Blocks whose active threads have all released.
    pub rel_done: BlockMask,
    /// Blocks with an active thread.
    pub live: BlockMask,
    /// Live blocks for which `rel_done` rises in this cycle.
    pub unlock: BlockMask,
}

/// Active and release bits of every thread.
#[derive(Clone, Debug)]
pub struct Relssp {
    active: Vec<ThreadMask>,
    released: Vec<ThreadMask>,
    warp_size: u32,
    lanes: u32,
    blocks: u32,
}

impl Relssp {
    /// No thread is active.
    pub fn new(warps: usize, blocks: u32, warp_size: u32, lanes: u32) -> Self {
        Relssp {
            active: vec![0; warps],
            released: vec![0; warps],
            warp_size,
            lanes,
            blocks,
        }
    }

    /// Active and released threads of `warp` with this cycle's events.
    fn after(&self, warp: usize, inputs: &RelsspInputs) -> (ThreadMask, ThreadMask) {
        let (mut active, mut released) = (self.active[warp], self.released[warp]);
        if let Some(r) = inputs.release.filter(|r| r.warp == warp) {
            released |= r.mask << (r.sub as u32 * self.lanes) & active;
        }
        if let Some(exit) = inputs.exit.filter(|e| e.warp == warp) {
            active &= !exit.mask;
        }
        (active, released)
    }

    /// (rel_done, live) from each warp's (active, released).
    fn summary(
        &self,
        warp_blk: &[u8],
        state: impl Fn(usize) -> (ThreadMask, ThreadMask),
    ) -> (BlockMask, BlockMask) {
        let (mut waiting, mut live) = (0, 0);
        for (warp, &block) in warp_blk.iter().enumerate() {
            let (active, released) = state(warp);
            live |= BlockMask::from(active != 0) << block;
            waiting |= BlockMask::from(active & !released != 0) << block;
        }
        let all = BlockMask::MAX >> (BlockMask::BITS - self.blocks);
        (all & !waiting, live)
    }

    /// (rel_done, live) without events: the registered values.
    pub fn registered(&self, warp_blk: &[u8]) -> (BlockMask, BlockMask) {
        self.summary(warp_blk, |w| (self.active[w], self.released[w]))
    }

    /// The outputs of this cycle.
    pub fn eval(&self, inputs: &RelsspInputs) -> RelsspOutputs {
        let (was_done, was_live) = self.registered(inputs.warp_blk);
        let (rel_done, live) = self.summary(inputs.warp_blk, |w| self.after(w, inputs));
        RelsspOutputs {
            rel_done,
            live,
            unlock: rel_done & was_live & !was_done,
        }
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &RelsspInputs) {
        if inputs.rst {
            self.active.fill(0);
            self.released.fill(0);
            return;
        }
        let events = [inputs.release.map(|r| r.warp), inputs.exit.map(|e| e.warp)];
        let changed = events.map(|warp| warp.map(|w| (w, self.after(w, inputs))));
        for (warp, (active, released)) in changed.into_iter().flatten() {
            self.active[warp] = active;
            self.released[warp] = released;
        }
        let Some(launch) = inputs.launch else { return };
        let full = ThreadMask::MAX >> (ThreadMask::BITS - self.warp_size);
        for warp in 0..self.active.len() {
            if launch.warps >> warp & 1 == 0 {
                continue;
            }
            let highest = launch.warps >> warp == 1;
            self.active[warp] = if highest { launch.last & full } else { full };
            self.released[warp] = 0;
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &RelsspInputs) -> RelsspOutputs {
        let outputs = self.eval(inputs);
        self.commit(inputs);
        outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: [u8; 4] = [0, 0, 1, 1];

    fn inputs() -> RelsspInputs<'static> {
        RelsspInputs {
            rst: false,
            launch: None,
            release: None,
            exit: None,
            warp_blk: &BLOCKS,
        }
    }

    /// Blocks 0 (warps 0, 1) and 1 (warps 2, 3); the last warps have 3 threads.
    fn launched() -> Relssp {
        let mut unit = Relssp::new(4, 2, 8, 4);
        for warps in [0b0011, 0b1100] {
            let launch = Some(ThreadLaunch { warps, last: 0b111 });
            unit.step(&RelsspInputs { launch, ..inputs() });
        }
        unit
    }

    fn release(unit: &mut Relssp, warp: usize, sub: usize, mask: u64) -> RelsspOutputs {
        let release = Some(Release { warp, sub, mask });
        unit.step(&RelsspInputs {
            release,
            ..inputs()
        })
    }

    #[test]
    fn the_block_unlocks_with_its_last_thread() {
        let mut unit = launched();
        assert_eq!(unit.eval(&inputs()).rel_done, 0);
        assert_eq!(unit.eval(&inputs()).live, 0b11);
        // Inactive threads of the last warp change nothing.
        release(&mut unit, 1, 0, 0b1111);
        release(&mut unit, 0, 0, 0b1111);
        assert_eq!(release(&mut unit, 0, 1, 0b0111).rel_done, 0);
        let last = release(&mut unit, 0, 1, 0b1000);
        assert_eq!((last.rel_done, last.unlock, last.live), (1, 1, 0b11));
        assert_eq!(unit.eval(&inputs()).unlock, 0, "one cycle only");
        assert_eq!(release(&mut unit, 0, 1, 0b1000).unlock, 0);
    }

    #[test]
    fn an_exit_of_the_last_unreleased_thread_unlocks() {
        let mut unit = launched();
        release(&mut unit, 2, 0, 0b1111);
        release(&mut unit, 2, 1, 0b1111);
        release(&mut unit, 3, 0, 0b011);
        let exit = Some(Exit {
            warp: 3,
            mask: 0b100,
        });
        let out = unit.step(&RelsspInputs { exit, ..inputs() });
        assert_eq!((out.unlock, out.live), (0b10, 0b11));
        for warp in [2, 3] {
            let mask = 0xff;
            let exit = Some(Exit { warp, mask });
            unit.step(&RelsspInputs { exit, ..inputs() });
        }
        let out = unit.eval(&inputs());
        assert_eq!((out.live, out.rel_done), (0b01, 0b10));
    }
}
