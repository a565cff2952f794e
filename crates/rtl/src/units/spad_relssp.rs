//! `relssp`: threads that release, exit, and are launched.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::support::{ports, reset};
use super::warps::sparse;
use crate::model::{Exit, Release, Relssp, RelsspInputs, ThreadLaunch};

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

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
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
