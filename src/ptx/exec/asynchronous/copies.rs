//! Groups of asynchronous copies and of products of warpgroups, which matter
//! to the search for races only: the copies and products themselves are done at
//! once.

use crate::ptx::exec::machine::Machine;
use crate::ptx::exec::race::Races;

/// `cp.async.commit_group`
pub fn commit(m: &mut Machine, exec: u32) {
    each(m, exec, |races, thread| races.flights.commit(thread));
}

/// `cp.async.wait_group N`, or without a number `.wait_all`.
pub fn wait(m: &mut Machine, left: Option<u32>, exec: u32) {
    each(m, exec, |races, thread| races.flights.wait(thread, left));
}

/// `wgmma.commit_group`
pub fn commit_group(m: &mut Machine) {
    if let Some(races) = &mut m.races {
        races.reads.commit(m.warp);
        races.accumulators.commit(m.warp);
    }
}

/// `wgmma.wait_group N`
pub fn wait_group(m: &mut Machine, left: u32) {
    if let Some(races) = &mut m.races {
        races.reads.wait(m.warp, left);
        races.accumulators.wait(m.warp, left);
    }
}

fn each(m: &mut Machine, exec: u32, act: impl Fn(&mut Races, u32)) {
    let first = m.thread(0);
    if let Some(races) = &mut m.races {
        for lane in (0..32).filter(|lane| exec >> lane & 1 != 0) {
            act(races, first + lane);
        }
    }
}
