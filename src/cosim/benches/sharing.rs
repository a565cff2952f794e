//! Scheduling and sharing: warp scheduler, access unit, relssp.

use super::support::{drive_reset, ports, reset};
use crate::config::Config;
use crate::cosim::bench::{Bench, Frame, Golden, Stimulus};
use crate::cosim::layout::Layout;
use crate::model::{
    AccessInputs, AccessUnit, Exit, Policy, Release, Relssp, RelsspInputs, SchedulerInputs,
    SharingLaunch, ThreadLaunch, WarpClasses, WarpScheduler,
};

/// A vector with few, half, or nearly all bits set.
fn sparse(stimulus: &mut Stimulus, width: usize) -> u128 {
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

/// The two bit planes of classes as a vector of two bits per warp.
fn class_codes(cls: WarpClasses, warps: usize) -> impl Iterator<Item = u8> {
    (0..warps).map(move |w| cls.of(w))
}

ports!(SchedulerPorts {
    in rst cfg_policy cfg_aware cfg_violate ready is_mem mask cls take;
    out sel_valid sel sel_warp masked;
});

/// Policies by their value on `cfg_policy`.
const POLICIES: [Policy; 4] = [
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

pub(super) struct SchedulerBench {
    golden: GoldenScheduler,
    power_up: GoldenScheduler,
    warps: usize,
    policy: u32,
}

impl SchedulerBench {
    pub(super) fn new(config: &Config, layout: &Layout) -> Self {
        let warps = config.path.warps as usize;
        let golden = GoldenScheduler {
            ports: SchedulerPorts::new(layout),
            model: WarpScheduler::new(warps),
        };
        SchedulerBench {
            power_up: golden.clone(),
            golden,
            warps,
            policy: 0,
        }
    }
}

impl Bench for SchedulerBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let (p, warps) = (&self.golden.ports, self.warps);
        let rst = reset(stimulus);
        if stimulus.one_in(64) {
            self.policy = stimulus.below(4);
        }
        // Class 3, which no access unit gives, counts as the lowest one.
        let cls = WarpClasses {
            low: stimulus.wide(warps),
            high: stimulus.wide(warps),
        };
        frame.drive(&p.cfg_policy, self.policy);
        frame.drive(&p.cfg_aware, stimulus.one_in(2).into());
        frame.drive(&p.cfg_violate, stimulus.one_in(2).into());
        frame.drive_bits(&p.ready, sparse(stimulus, warps));
        frame.drive_bits(&p.is_mem, sparse(stimulus, warps));
        frame.drive(&p.mask, stimulus.one_in(2).into());
        frame.drive_fields(&p.cls, 2, class_codes(cls, warps));
        frame.drive(&p.take, (!stimulus.one_in(4)).into());
        drive_reset(stimulus, frame, &p.rst, rst);
        self.golden.respond(frame);
    }

    fn golden(&self) -> Option<Box<dyn Golden>> {
        Some(Box::new(self.power_up.clone()))
    }
}

impl Golden for GoldenScheduler {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let mut cls = WarpClasses::default();
        for (w, class) in frame.driven_fields(&p.cls, 2).enumerate() {
            cls.low |= u128::from(class & 1) << w;
            cls.high |= u128::from(class >> 1) << w;
        }
        let out = self.model.step(&SchedulerInputs {
            rst: frame.is_high(&p.rst),
            policy: POLICIES[frame.driven(&p.cfg_policy) as usize & 3],
            aware: frame.is_high(&p.cfg_aware),
            violate: frame.is_high(&p.cfg_violate),
            ready: frame.driven_bits(&p.ready),
            is_mem: frame.driven_bits(&p.is_mem),
            mask: frame.is_high(&p.mask),
            cls,
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

pub(super) struct AccessBench {
    golden: GoldenAccess,
    power_up: GoldenAccess,
    warps: usize,
    blocks: usize,
    sharing: bool,
    limit: u16,
    warp_blk: Vec<u8>,
    /// Slots with a block, and blocks that have released.
    live: u64,
    released: u64,
}

impl AccessBench {
    pub(super) fn new(config: &Config, layout: &Layout) -> Self {
        let (warps, blocks) = (config.path.warps as usize, config.path.blocks as usize);
        let golden = GoldenAccess {
            ports: AccessPorts::new(layout),
            model: AccessUnit::new(warps),
            warps,
        };
        AccessBench {
            power_up: golden.clone(),
            golden,
            warps,
            blocks,
            sharing: true,
            limit: 0,
            warp_blk: (0..warps).map(|w| (w % blocks) as u8).collect(),
            live: 0,
            released: 0,
        }
    }
}

impl Bench for AccessBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let (p, warps, blocks) = (&self.golden.ports, self.warps, self.blocks);
        let rst = reset(stimulus);
        let one = 1u64 << stimulus.below(blocks as u32);
        if rst {
            (self.live, self.released) = (0, 0);
        }
        // The events of this cycle show at once: releases, ends of blocks.
        if stimulus.one_in(8) {
            self.released |= one & self.live;
        }
        let another = 1u64 << stimulus.below(blocks as u32);
        if stimulus.one_in(12) {
            self.live &= !another;
        }
        let slots = u64::MAX >> (64 - blocks);
        let rel_done = (self.released | !self.live) & slots;
        let free = 1u64 << stimulus.below(blocks as u32);
        let launch = SharingLaunch {
            block: free.trailing_zeros() as usize,
            shared: !stimulus.one_in(4),
        };
        let launches = stimulus.one_in(4) && self.live & free == 0;
        if stimulus.one_in(256) {
            self.sharing = !stimulus.one_in(4);
            self.limit = match stimulus.below(4) {
                0 => 0,
                1 => ((1u32 << p.cfg_limit.width) - 1) as u16,
                _ => stimulus.wide(p.cfg_limit.width) as u16,
            };
        }
        if stimulus.one_in(64) {
            let warp = stimulus.below(warps as u32) as usize;
            self.warp_blk[warp] = stimulus.below(blocks as u32) as u8;
        }
        let off_hi: Vec<u16> = (0..warps)
            .map(|_| match stimulus.below(4) {
                0 => self.limit,
                1 => self.limit.saturating_sub(1),
                _ => stimulus.wide(p.cfg_limit.width) as u16,
            })
            .collect();
        // What is not valid has a value all the same.
        let taker = stimulus.below(warps as u32);
        frame.drive(&p.cfg_sharing, self.sharing.into());
        frame.drive(&p.cfg_limit, self.limit.into());
        frame.drive(&p.launch_valid, launches.into());
        frame.drive(&p.launch_block, launch.block as u32);
        frame.drive(&p.launch_shared, launch.shared.into());
        frame.drive_bits(&p.rel_done, rel_done.into());
        frame.drive_bits(&p.live, self.live.into());
        let block_bits = p.warp_blk.width / warps;
        frame.drive_fields(&p.warp_blk, block_bits, self.warp_blk.iter().copied());
        frame.drive_bits(&p.off_shmem, sparse(stimulus, warps));
        frame.drive_fields(&p.off_hi, p.cfg_limit.width, off_hi.iter().copied());
        frame.drive(&p.acq_valid, stimulus.one_in(2).into());
        frame.drive(&p.acq_warp, taker);
        drive_reset(stimulus, frame, &p.rst, rst);
        self.golden.respond(frame);
        if launches && !rst {
            self.live |= 1 << launch.block;
            self.released &= !(1 << launch.block);
        }
    }

    fn golden(&self) -> Option<Box<dyn Golden>> {
        Some(Box::new(self.power_up.clone()))
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
    /// Blocks with an active thread in the cycle before.
    live: u64,
}

pub(super) struct RelsspBench {
    golden: GoldenRelssp,
    power_up: GoldenRelssp,
    warps: usize,
    warp_size: usize,
    lanes: usize,
    blocks: usize,
    /// Warps with threads, as far as the bench knows: launches go to others.
    resident: u128,
    warp_blk: Vec<u8>,
}

impl RelsspBench {
    pub(super) fn new(config: &Config, layout: &Layout) -> Self {
        let (warps, blocks) = (config.path.warps, config.path.blocks);
        let golden = GoldenRelssp {
            ports: RelsspPorts::new(layout),
            model: Relssp::new(warps as usize, blocks, config.warp_size, config.lanes),
            warps: warps as usize,
            live: 0,
        };
        RelsspBench {
            power_up: golden.clone(),
            golden,
            warps: warps as usize,
            warp_size: config.warp_size as usize,
            lanes: config.lanes as usize,
            blocks: blocks as usize,
            resident: 0,
            warp_blk: vec![0; warps as usize],
        }
    }
}

impl Bench for RelsspBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let (p, warps) = (&self.golden.ports, self.warps);
        let rst = reset(stimulus);
        // Few warps and blocks at a time, so that all of a block get there.
        let few = (warps as u32).min(6);
        let launch = (stimulus.one_in(16)).then(|| ThreadLaunch {
            warps: (stimulus.wide(few as usize) << stimulus.below(warps as u32 - few + 1))
                & !self.resident,
            last: (sparse(stimulus, self.warp_size) | 1) as u64,
        });
        let launch = launch.filter(|l| l.warps != 0);
        let block = stimulus.below(self.blocks as u32) as u8;
        let warp = |bench: &Self, s: &mut Stimulus| {
            // A resident warp if the first one drawn is none.
            let start = s.below(bench.warps as u32) as usize;
            let rotated = (0..bench.warps).map(|i| (start + i) % bench.warps);
            let found = rotated.into_iter().find(|&w| bench.resident >> w & 1 == 1);
            found.unwrap_or(start)
        };
        let release = (!stimulus.one_in(3)).then(|| Release {
            warp: warp(self, stimulus),
            sub: stimulus.below((self.warp_size / self.lanes) as u32) as usize,
            mask: sparse(stimulus, self.lanes) as u64,
        });
        let exit = stimulus.one_in(3).then(|| Exit {
            warp: warp(self, stimulus),
            mask: sparse(stimulus, self.warp_size) as u64,
        });
        frame.drive(&p.launch_valid, launch.is_some().into());
        frame.drive(&p.launch_block, block.into());
        frame.drive_bits(&p.launch_wmask, launch.map_or(0, |l| l.warps));
        frame.drive_bits(&p.launch_last, launch.map_or(0, |l| l.last).into());
        frame.drive(&p.rel_valid, release.is_some().into());
        frame.drive(&p.rel_warp, release.map_or(0, |r| r.warp) as u32);
        frame.drive(&p.rel_sub, release.map_or(0, |r| r.sub) as u32);
        frame.drive_bits(&p.rel_mask, release.map_or(0, |r| r.mask).into());
        frame.drive(&p.exit_valid, exit.is_some().into());
        frame.drive(&p.exit_warp, exit.map_or(0, |e| e.warp) as u32);
        frame.drive_bits(&p.exit_mask, exit.map_or(0, |e| e.mask).into());
        let block_bits = p.warp_blk.width / warps;
        frame.drive_fields(&p.warp_blk, block_bits, self.warp_blk.iter().copied());
        drive_reset(stimulus, frame, &p.rst, rst);
        self.golden.respond(frame);
        let live = self.golden.live;
        if rst {
            self.resident = 0;
        } else if let Some(launch) = launch {
            self.resident |= launch.warps;
            for w in (0..warps).filter(|w| launch.warps >> w & 1 == 1) {
                self.warp_blk[w] = block;
            }
        }
        // Blocks that are gone leave their slots.
        let gone = |w: usize| live >> self.warp_blk[w] & 1 == 0;
        let launched = launch.map_or(0, |l| l.warps);
        for w in (0..warps).filter(|&w| gone(w) && launched >> w & 1 == 0) {
            self.resident &= !(1 << w);
        }
    }

    fn golden(&self) -> Option<Box<dyn Golden>> {
        Some(Box::new(self.power_up.clone()))
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
        self.live = out.live;
    }
}
