//! Which warp goes, and which may touch the shared part.

use crate::waves::wave::{Value, Wave};
use spadkit::model::{
    AccessInputs, AccessUnit, Policy, Release, Relssp, RelsspInputs, SchedulerInputs,
    SharingLaunch, ThreadLaunch, WarpClasses, WarpScheduler,
};

fn warp(number: Option<usize>) -> Value {
    number.map_or("".into(), |warp| format!("w{warp}").into())
}

pub fn warp_scheduler() -> Wave {
    let mut wave = Wave::new("spad_warp_scheduler, LRR, aware: w0 and w2 are memory warps");
    let mut scheduler = WarpScheduler::new(4);
    for cycle in 1..=10 {
        let inputs = SchedulerInputs {
            rst: false,
            policy: Policy::Lrr,
            aware: true,
            violate: false,
            ready: if cycle == 6 { 0b0101 } else { 0b1111 },
            is_mem: 0b0101,
            mask: (4..=7).contains(&cycle),
            put_off: 0,
            cls: WarpClasses::default(),
            take: cycle != 9,
            age: &[],
            active: 0,
        };
        let out = scheduler.step(&inputs);
        wave.cycle();
        for warp in 0..4 {
            let name = format!("ready[{warp}]");
            wave.input(&name, inputs.ready >> warp & 1 == 1);
        }
        wave.input("mask", inputs.mask);
        wave.input("take", inputs.take);
        wave.output("sel_valid", out.sel.is_some());
        wave.output("sel_warp", warp(out.sel));
        wave.output("masked", out.masked);
    }
    wave
}

pub fn access_unit() -> Wave {
    let mut wave =
        Wave::new("spad_relssp and spad_access_unit, AHEAD = 0: w0 releases, w1 goes on");
    let blocks = [0, 1];
    let mut relssp = Relssp::new(2, 2, 4, 4);
    let mut unit = AccessUnit::new(2);
    for cycle in 1..=9 {
        let launch = (cycle <= 2).then(|| cycle - 1);
        let release = (cycle == 6).then_some(Release {
            warp: 0,
            sub: 0,
            mask: 0b1111,
        });
        let released = relssp.step(&RelsspInputs {
            rst: false,
            launch: launch.map(|block| ThreadLaunch {
                warps: 1 << block,
                last: 0b1111,
            }),
            release,
            exit: None,
            warp_blk: &blocks,
        });
        // Both warps want the shared part; the first until its block releases.
        let wants: u128 = match cycle {
            1 | 2 | 9.. => 0,
            3..=5 => 0b11,
            _ => 0b10,
        };
        let mut inputs = AccessInputs {
            rst: false,
            cfg_sharing: true,
            cfg_limit: 100,
            launch: launch.map(|block| SharingLaunch {
                block,
                shared: true,
            }),
            rel_done: released.rel_done,
            live: released.live,
            warp_blk: &blocks,
            off_shmem: wants,
            off_hi: &[100, 100],
            acquire: None,
        };
        let out = unit.eval(&inputs);
        let may = out.allow & wants;
        inputs.acquire = (may != 0).then(|| may.trailing_zeros() as usize);
        unit.commit(&inputs);
        let bit = |mask: u128, at: usize| mask >> at & 1 == 1;
        wave.cycle();
        wave.input("launch_valid", launch.is_some());
        wave.input("rel_valid", release.is_some());
        wave.input("rel_warp", warp(release.map(|release| release.warp)));
        wave.output("live[0]", released.live & 1 == 1);
        wave.output("live[1]", released.live >> 1 & 1 == 1);
        wave.output("rel_done[0]", released.rel_done & 1 == 1);
        wave.output("unlock[0]", released.unlock & 1 == 1);
        wave.input("off_shmem[0]", bit(wants, 0));
        wave.input("off_shmem[1]", bit(wants, 1));
        wave.output("allow[0]", bit(out.allow, 0));
        wave.output("allow[1]", bit(out.allow, 1));
        wave.output("wait_sh[1]", bit(out.wait_sh, 1));
        wave.input("acq_warp", warp(inputs.acquire));
        wave.output("locked", out.locked & 1 == 1);
        wave.output("owner", u64::from(out.owner & 1));
    }
    wave
}
