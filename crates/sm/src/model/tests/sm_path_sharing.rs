//! Scratchpad sharing on the path: ownership, release, the fence.

use super::machine::{Machine, instruction, load_up_to};
use crate::model::Exit;
use crate::model::spad_sm_path::kind;

fn machine() -> Machine {
    Machine::sharing_pair("[pipeline]\nkind = \"unified\"\n[hash]\npath = \"mod\"\n")
}

#[test]
fn the_partner_waits_for_relssp_which_waits_for_the_accesses() {
    let mut machine = machine();
    let start = machine.cycle;
    let mut relssp = instruction(kind::RELSSP, |_| 0);
    relssp.mask = u64::from(u32::MAX);
    machine.program(0, [load_up_to(150), relssp]);
    machine.program(1, [load_up_to(99), load_up_to(150)]);
    machine.drain(100);
    let issued: Vec<(usize, usize)> = machine
        .issued
        .iter()
        .map(|(cycle, warp, _)| (cycle - start, *warp))
        .collect();
    // The load is written back in s + 4; the release issues when that is
    // seen, and acts in EX, one cycle later: the partner issues in that cycle.
    assert_eq!(issued, [(0, 0), (1, 1), (5, 0), (6, 1)]);
}

#[test]
fn an_exit_passes_the_lock_and_an_access_after_release_is_a_violation() {
    let mut machine = machine();
    machine.program(0, [load_up_to(150)]);
    machine.program(1, [load_up_to(150)]);
    for _ in 0..10 {
        machine.step();
    }
    let waiting = machine.step().out;
    assert_eq!(
        (waiting.wait_sh, waiting.locked, waiting.owner),
        (0b10, 1, 0)
    );
    machine.exit = Some(Exit {
        warp: 0,
        mask: u64::MAX,
    });
    let out = machine.step().out;
    assert_eq!((out.unlock, out.live, out.owner), (0b01, 0b10, 1));
    assert_eq!(out.iss.map(|i| i.warp), Some(1), "in the cycle of the exit");
    machine.drain(100);
    // Block 1 releases, then touches the shared part again.
    let relssp = instruction(kind::RELSSP, |_| 0);
    machine.program(1, [relssp, load_up_to(150)]);
    for _ in 0..10 {
        machine.step();
    }
    let out = machine.step().out;
    assert_eq!((out.viol, out.locked, out.iss), (0b10, 0, None));
}
