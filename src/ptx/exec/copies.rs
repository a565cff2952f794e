//! Groups of asynchronous copies, which matter to the search for races only:
//! the copies themselves are done at once.

use super::machine::Machine;

/// `cp.async.commit_group`
pub(super) fn commit(m: &mut Machine, exec: u32) {
    each(m, exec, |races, thread| races.flights.commit(thread));
}

/// `cp.async.wait_group N`, or without a number `.wait_all`.
pub(super) fn wait(m: &mut Machine, left: Option<u32>, exec: u32) {
    each(m, exec, |races, thread| races.flights.wait(thread, left));
}

fn each(m: &mut Machine, exec: u32, act: impl Fn(&mut super::race::Races, u32)) {
    let first = m.thread(0);
    if let Some(races) = &mut m.races {
        for lane in (0..32).filter(|lane| exec >> lane & 1 != 0) {
            act(races, first + lane);
        }
    }
}
