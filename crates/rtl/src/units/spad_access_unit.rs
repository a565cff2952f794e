//! The access unit: blocks that share, acquire and release.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::support::{ports, reset};
use super::warps::{class_codes, sparse};
use crate::model::{AccessInputs, AccessUnit, SharingLaunch};

ports!(AccessPorts {
    in rst cfg_sharing cfg_limit launch_valid launch_block launch_shared rel_done live warp_blk
        off_shmem off_hi acq_valid acq_warp;
    out allow wait_sh viol cls locked owner;
});

#[derive(Clone)]
struct GoldenAccess {
    ports: AccessPorts,
    model: AccessUnit,
    warps: usize,
}

struct AccessDriver {
    ports: AccessPorts,
    warps: usize,
    blocks: usize,
    sharing: bool,
    limit: u16,
    warp_blk: Vec<u8>,
    /// Slots with a block, and blocks that have released.
    live: u64,
    released: u64,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let path = &setup.config.path;
    let (warps, blocks) = (path.warps as usize, path.blocks as usize);
    let ports = AccessPorts::new(setup.layout);
    let golden = GoldenAccess {
        ports: ports.clone(),
        model: AccessUnit::new(warps),
        warps,
    };
    let driver = AccessDriver {
        ports,
        warps,
        blocks,
        sharing: true,
        limit: 0,
        warp_blk: (0..warps).map(|w| (w % blocks) as u8).collect(),
        live: 0,
        released: 0,
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl AccessDriver {
    /// The settings change now and then, and so do the warps' blocks.
    fn change_settings(&mut self, stimulus: &mut Stimulus) {
        if stimulus.one_in(256) {
            let bits = self.ports.cfg_limit.width;
            self.sharing = !stimulus.one_in(4);
            self.limit = match stimulus.below(4) {
                0 => 0,
                1 => ((1u32 << bits) - 1) as u16,
                _ => stimulus.wide(bits) as u16,
            };
        }
        if stimulus.one_in(64) {
            let warp = stimulus.below(self.warps as u32) as usize;
            self.warp_blk[warp] = stimulus.below(self.blocks as u32) as u8;
        }
    }

    /// Last words of offers, near the limit as often as not.
    fn offsets(&self, stimulus: &mut Stimulus) -> Vec<u16> {
        let offset = |_| match stimulus.below(4) {
            0 => self.limit,
            1 => self.limit.saturating_sub(1),
            _ => stimulus.wide(self.ports.cfg_limit.width) as u16,
        };
        (0..self.warps).map(offset).collect()
    }

    /// The events of a cycle show at once: releases, ends of blocks. Returns
    /// the blocks that have released.
    fn end_blocks(&mut self, stimulus: &mut Stimulus) -> u64 {
        let mut one = || 1u64 << stimulus.below(self.blocks as u32);
        let (releases, ends) = (one(), one());
        if stimulus.one_in(8) {
            self.released |= releases & self.live;
        }
        if stimulus.one_in(12) {
            self.live &= !ends;
        }
        (self.released | !self.live) & (u64::MAX >> (64 - self.blocks))
    }
}

impl Driver for AccessDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        if reset(stimulus, frame, &self.ports.rst) {
            // Blocks may be live right after it: only then does it show who holds
            // a shared part from the start.
            let all = u64::MAX >> (64 - self.blocks);
            let live = stimulus.wide(self.blocks) as u64 & all;
            (self.live, self.released) = (if stimulus.one_in(2) { live } else { 0 }, 0);
        }
        let rel_done = self.end_blocks(stimulus);
        let free = stimulus.below(self.blocks as u32);
        let launches = stimulus.one_in(4) && self.live >> free & 1 == 0;
        self.change_settings(stimulus);
        let off_hi = self.offsets(stimulus);
        let (p, warps) = (&self.ports, self.warps);
        frame.drive(&p.cfg_sharing, self.sharing.into());
        frame.drive(&p.cfg_limit, self.limit.into());
        // Ports that are not valid are driven all the same.
        frame.drive(&p.launch_valid, launches.into());
        frame.drive(&p.launch_block, free);
        frame.drive(&p.launch_shared, (!stimulus.one_in(4)).into());
        frame.drive_bits(&p.rel_done, rel_done.into());
        frame.drive_bits(&p.live, self.live.into());
        let block_bits = p.warp_blk.width / warps;
        frame.drive_fields(&p.warp_blk, block_bits, self.warp_blk.iter().copied());
        frame.drive_bits(&p.off_shmem, sparse(stimulus, warps));
        frame.drive_fields(&p.off_hi, p.cfg_limit.width, off_hi);
        frame.drive(&p.acq_valid, stimulus.one_in(2).into());
        frame.drive(&p.acq_warp, stimulus.below(warps as u32));
    }

    fn follow(&mut self, _stimulus: &mut Stimulus, frame: &Frame) {
        let p = &self.ports;
        if frame.is_high(&p.launch_valid) && !frame.is_high(&p.rst) {
            let block = 1 << frame.driven(&p.launch_block);
            self.live |= block;
            self.released &= !block;
        }
    }
}

impl Golden for GoldenAccess {
    fn respond(&mut self, frame: &mut Frame) {
        let (p, warps) = (&self.ports, self.warps);
        let warp_blk: Vec<u8> = frame.driven_list(&p.warp_blk, p.warp_blk.width / warps);
        let off_hi: Vec<u16> = frame.driven_list(&p.off_hi, p.cfg_limit.width);
        let launch = SharingLaunch {
            block: frame.driven(&p.launch_block) as usize,
            shared: frame.is_high(&p.launch_shared),
        };
        let acquire = frame.driven(&p.acq_warp) as usize;
        let out = self.model.step(&AccessInputs {
            rst: frame.is_high(&p.rst),
            cfg_sharing: frame.is_high(&p.cfg_sharing),
            cfg_limit: frame.driven(&p.cfg_limit) as u16,
            launch: frame.is_high(&p.launch_valid).then_some(launch),
            rel_done: frame.driven_mask(&p.rel_done),
            live: frame.driven_mask(&p.live),
            warp_blk: &warp_blk,
            off_shmem: frame.driven_bits(&p.off_shmem),
            off_hi: &off_hi,
            acquire: frame.is_high(&p.acq_valid).then_some(acquire),
        });
        frame.expect_bits(&p.allow, out.allow);
        frame.expect_bits(&p.wait_sh, out.wait_sh);
        frame.expect_bits(&p.viol, out.viol);
        frame.expect_fields(&p.cls, 2, class_codes(out.cls, warps));
        frame.expect(&p.locked, out.locked);
        frame.expect(&p.owner, out.owner);
    }
}
