//! Scheduling and sharing: warp scheduler, access unit, relssp and the register
//! after it.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::layout::PortSlot;
use super::support::{ports, reset};
use crate::model::{
    AccessInputs, AccessUnit, Exit, Policy, Release, ReleaseInputs, ReleaseRegister, Relssp,
    RelsspInputs, RelsspOutputs, SchedulerInputs, SharingLaunch, ThreadLaunch, WarpClasses,
    WarpScheduler, even_bits,
};

/// A vector with few, half, or nearly all bits set.
pub(super) fn sparse(stimulus: &mut Stimulus, width: usize) -> u128 {
    let (a, b) = (stimulus.wide(width), stimulus.wide(width));
    match stimulus.below(6) {
        0 => 0,
        1 => 1 << stimulus.below(width as u32),
        2 => a & b & stimulus.wide(width),
        3 => a | b,
        4 => u128::MAX >> (128 - width),
        _ => a,
    }
}

/// The bit planes of classes that come as two bits per warp.
pub(super) fn classes_of(frame: &Frame, port: &PortSlot) -> WarpClasses {
    let mut cls = WarpClasses::default();
    for (i, &word) in frame.driven_words(port).iter().enumerate() {
        cls.low |= u128::from(even_bits(word.into())) << (16 * i);
        cls.high |= u128::from(even_bits((word >> 1).into())) << (16 * i);
    }
    cls
}

/// The two bit planes of classes as a vector of two bits per warp.
fn class_codes(cls: WarpClasses, warps: usize) -> impl Iterator<Item = u8> {
    (0..warps).map(move |w| cls.of(w))
}

ports!(SchedulerPorts {
    in rst cfg_policy cfg_aware cfg_violate ready is_mem mask put_off cls take;
    out sel_valid sel sel_warp masked;
});

/// Policies by their value on `cfg_policy`.
pub(super) const POLICIES: [Policy; 4] = [
    Policy::Lrr,
    Policy::OwfLrr,
    Policy::OwfSlot,
    Policy::LowestSlot,
];

#[derive(Clone)]
struct GoldenScheduler {
    ports: SchedulerPorts,
    model: WarpScheduler,
}

struct SchedulerDriver {
    ports: SchedulerPorts,
    warps: usize,
    policy: u32,
}

pub(super) fn scheduler(setup: &Setup) -> Box<dyn Bench> {
    let ports = SchedulerPorts::new(setup.layout);
    let warps = setup.config.path.warps as usize;
    let golden = GoldenScheduler {
        ports: ports.clone(),
        model: WarpScheduler::new(warps),
    };
    let driver = SchedulerDriver {
        ports,
        warps,
        policy: 0,
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for SchedulerDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let (p, warps) = (&self.ports, self.warps);
        reset(stimulus, frame, &p.rst);
        if stimulus.one_in(64) {
            self.policy = stimulus.below(4);
        }
        frame.drive(&p.cfg_policy, self.policy);
        frame.drive(&p.cfg_aware, stimulus.one_in(2).into());
        frame.drive(&p.cfg_violate, stimulus.one_in(2).into());
        frame.drive_bits(&p.ready, sparse(stimulus, warps));
        let is_mem = sparse(stimulus, warps);
        frame.drive_bits(&p.is_mem, is_mem);
        frame.drive_bits(&p.put_off, sparse(stimulus, warps) & !is_mem);
        frame.drive(&p.mask, stimulus.one_in(2).into());
        // Class 3, which no access unit gives, counts as the lowest one.
        frame.drive_any(&p.cls, stimulus);
        frame.drive(&p.take, (!stimulus.one_in(4)).into());
    }
}

impl Golden for GoldenScheduler {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let out = self.model.step(&SchedulerInputs {
            rst: frame.is_high(&p.rst),
            policy: POLICIES[frame.driven(&p.cfg_policy) as usize & 3],
            aware: frame.is_high(&p.cfg_aware),
            violate: frame.is_high(&p.cfg_violate),
            ready: frame.driven_bits(&p.ready),
            is_mem: frame.driven_bits(&p.is_mem),
            mask: frame.is_high(&p.mask),
            put_off: frame.driven_bits(&p.put_off),
            cls: classes_of(frame, &p.cls),
            take: frame.is_high(&p.take),
            ..SchedulerInputs::default()
        });
        frame.expect(&p.sel_valid, out.sel.is_some().into());
        frame.expect_bits(&p.sel, out.sel.map_or(0, |warp| 1 << warp));
        frame.expect(&p.sel_warp, out.sel.unwrap_or(0) as u32);
        frame.expect(&p.masked, out.masked.into());
    }
}

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

pub(super) fn access(setup: &Setup) -> Box<dyn Bench> {
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
        // What is not valid has a value all the same.
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

ports!(RelsspPorts {
    in rst launch_valid launch_block launch_wmask launch_last rel_valid rel_warp rel_sub rel_mask
        exit_valid exit_warp exit_mask warp_blk;
    out rel_done live unlock;
});

#[derive(Clone)]
struct GoldenRelssp {
    ports: RelsspPorts,
    model: Relssp,
    warps: usize,
}

struct RelsspDriver {
    ports: RelsspPorts,
    warps: usize,
    warp_size: usize,
    lanes: usize,
    blocks: usize,
    /// Warps with threads, as far as the driver knows: launches go to others.
    resident: u128,
    warp_blk: Vec<u8>,
}

pub(super) fn relssp(setup: &Setup) -> Box<dyn Bench> {
    let config = setup.config;
    let (warps, blocks) = (config.path.warps as usize, config.path.blocks);
    let ports = RelsspPorts::new(setup.layout);
    let golden = GoldenRelssp {
        ports: ports.clone(),
        model: Relssp::new(warps, blocks, config.warp_size, config.lanes),
        warps,
    };
    let driver = RelsspDriver {
        ports,
        warps,
        warp_size: config.warp_size as usize,
        lanes: config.lanes as usize,
        blocks: blocks as usize,
        resident: 0,
        warp_blk: vec![0; warps],
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl RelsspDriver {
    /// A launch: few warps and blocks at a time, so that all of a block get there.
    fn launch(&self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let (p, warps) = (&self.ports, self.warps as u32);
        let few = warps.min(6);
        let low = stimulus.below(warps - few + 1);
        let launched = (stimulus.wide(few as usize) << low) & !self.resident;
        let valid = stimulus.one_in(16) && launched != 0;
        frame.drive(&p.launch_valid, valid.into());
        frame.drive(&p.launch_block, stimulus.below(self.blocks as u32));
        frame.drive_bits(&p.launch_wmask, launched);
        frame.drive_bits(&p.launch_last, sparse(stimulus, self.warp_size) | 1);
    }

    /// A resident warp if the first one drawn is none.
    fn warp(&self, stimulus: &mut Stimulus) -> u32 {
        let start = stimulus.below(self.warps as u32) as usize;
        let mut rotated = (0..self.warps).map(|i| (start + i) % self.warps);
        let found = rotated.find(|&w| self.resident >> w & 1 == 1);
        found.unwrap_or(start) as u32
    }
}

impl Driver for RelsspDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        reset(stimulus, frame, &p.rst);
        self.launch(stimulus, frame);
        frame.drive(&p.rel_valid, (!stimulus.one_in(3)).into());
        frame.drive(&p.rel_warp, self.warp(stimulus));
        let subwarps = (self.warp_size / self.lanes) as u32;
        frame.drive(&p.rel_sub, stimulus.below(subwarps));
        frame.drive_bits(&p.rel_mask, sparse(stimulus, self.lanes));
        frame.drive(&p.exit_valid, stimulus.one_in(3).into());
        frame.drive(&p.exit_warp, self.warp(stimulus));
        frame.drive_bits(&p.exit_mask, sparse(stimulus, self.warp_size));
        let block_bits = p.warp_blk.width / self.warps;
        frame.drive_fields(&p.warp_blk, block_bits, self.warp_blk.iter().copied());
    }

    fn follow(&mut self, _stimulus: &mut Stimulus, frame: &Frame) {
        let p = &self.ports;
        let mut launched = 0;
        if frame.is_high(&p.rst) {
            self.resident = 0;
        } else if frame.is_high(&p.launch_valid) {
            launched = frame.driven_bits(&p.launch_wmask);
        }
        let live = frame.shown_bits(&p.live);
        for w in 0..self.warps {
            if launched >> w & 1 == 1 {
                self.resident |= 1 << w;
                self.warp_blk[w] = frame.driven(&p.launch_block) as u8;
            } else if live >> self.warp_blk[w] & 1 == 0 {
                // Blocks that are gone leave their slots.
                self.resident &= !(1 << w);
            }
        }
    }
}

impl Golden for GoldenRelssp {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let warp_blk: Vec<u8> = frame.driven_list(&p.warp_blk, p.warp_blk.width / self.warps);
        let launch = ThreadLaunch {
            warps: frame.driven_bits(&p.launch_wmask),
            last: frame.driven_mask(&p.launch_last),
        };
        let release = Release {
            warp: frame.driven(&p.rel_warp) as usize,
            sub: frame.driven(&p.rel_sub) as usize,
            mask: frame.driven_mask(&p.rel_mask),
        };
        let exit = Exit {
            warp: frame.driven(&p.exit_warp) as usize,
            mask: frame.driven_mask(&p.exit_mask),
        };
        let launches = frame.is_high(&p.launch_valid) && launch.warps != 0;
        let out = self.model.step(&RelsspInputs {
            rst: frame.is_high(&p.rst),
            launch: launches.then_some(launch),
            release: frame.is_high(&p.rel_valid).then_some(release),
            exit: frame.is_high(&p.exit_valid).then_some(exit),
            warp_blk: &warp_blk,
        });
        frame.expect_bits(&p.rel_done, out.rel_done.into());
        frame.expect_bits(&p.live, out.live.into());
        frame.expect_bits(&p.unlock, out.unlock.into());
    }
}

ports!(ReleasePorts {
    in rst launch_valid launch_block now_done now_live now_unlock;
    out rel_done live unlock;
});

#[derive(Clone)]
struct GoldenRelease {
    ports: ReleasePorts,
    model: ReleaseRegister,
}

struct ReleaseDriver {
    ports: ReleasePorts,
    blocks: u32,
}

pub(super) fn release(setup: &Setup) -> Box<dyn Bench> {
    let ports = ReleasePorts::new(setup.layout);
    let blocks = setup.config.path.blocks;
    let golden = GoldenRelease {
        ports: ports.clone(),
        model: ReleaseRegister::new(blocks),
    };
    let driver = ReleaseDriver { ports, blocks };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for ReleaseDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        reset(stimulus, frame, &p.rst);
        frame.drive(&p.launch_valid, stimulus.one_in(2).into());
        frame.drive(&p.launch_block, stimulus.below(self.blocks));
        for port in [&p.now_done, &p.now_live, &p.now_unlock] {
            frame.drive_any(port, stimulus);
        }
    }
}

impl Golden for GoldenRelease {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let block = frame.driven(&p.launch_block) as usize;
        let out = self.model.step(&ReleaseInputs {
            rst: frame.is_high(&p.rst),
            launch: frame.is_high(&p.launch_valid).then_some(block),
            now: RelsspOutputs {
                rel_done: frame.driven_mask(&p.now_done),
                live: frame.driven_mask(&p.now_live),
                unlock: frame.driven_mask(&p.now_unlock),
            },
        });
        frame.expect_bits(&p.rel_done, out.rel_done.into());
        frame.expect_bits(&p.live, out.live.into());
        frame.expect_bits(&p.unlock, out.unlock.into());
    }
}
