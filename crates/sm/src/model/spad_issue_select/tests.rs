//! Selection with and without stages before EX.

use super::*;

fn unit() -> IssueSelect {
    IssueSelect::new(4, 3)
}

fn ready(warps: WarpMask) -> SelectInputs<'static> {
    SelectInputs {
        ready: warps,
        is_mem: 0b0011,
        is_atomic: 0b0001,
        shares: 0b0011,
        room: true,
        ..SelectInputs::default()
    }
}

#[test]
fn at_once_the_choice_is_taken_where_there_is_room() {
    let mut unit = IssueSelect::new(4, 0);
    let mut inputs = ready(0b0110);
    inputs.room = false;
    assert_eq!(unit.step(&inputs).take, None);
    inputs.room = true;
    let taken: Vec<_> = (0..3).map(|_| unit.step(&inputs).take).collect();
    assert_eq!(taken, [Some(1), Some(2), Some(1)]);
    assert_eq!(unit.picked(), None);
}

#[test]
fn ahead_a_warp_is_qualified_picked_and_taken() {
    let mut unit = unit();
    assert_eq!(unit.step(&ready(0b0100)).take, None);
    assert_eq!(unit.step(&ready(0)).picked, None);
    let out = unit.step(&ready(0));
    assert_eq!((out.picked, out.take), (Some(2), Some(2)));
    assert_eq!(unit.step(&ready(0)).picked, None);
}

/// Brings `warp` into S and shows what it does under `inputs`.
fn selected(warp: usize, inputs: SelectInputs) -> (Selection, Option<usize>) {
    let mut unit = unit();
    unit.step(&SelectInputs {
        ready: 1 << warp,
        ..inputs
    });
    let q = SelectInputs {
        mask: false,
        ..ready(0)
    };
    unit.step(&q);
    let out = unit.step(&inputs);
    (out.selection, unit.picked())
}

#[test]
fn a_pick_is_looked_at_again() {
    let now = ready(0);
    let kept = |warp| Some(warp);
    assert_eq!(selected(2, now), (Selection::Taken, None));
    let full = SelectInputs { room: false, ..now };
    assert_eq!(selected(2, full), (Selection::Waits, kept(2)));
    let atomic = SelectInputs {
        atom_infl: true,
        ..now
    };
    assert_eq!(selected(0, atomic), (Selection::Void, None));
    assert_eq!(selected(1, atomic), (Selection::Taken, None));
    let masked = SelectInputs {
        aware: true,
        mask: true,
        ..now
    };
    assert_eq!(selected(2, masked), (Selection::Taken, None));
}

/// A memory warp is in S, the inputs say whether the mask holds it, and warps
/// 2 and 3, which offer none, whether others are ready after it.
fn masked_pick(others: WarpMask, inputs: SelectInputs) -> (Selection, Option<usize>) {
    let mut unit = unit();
    unit.step(&ready(0b0010));
    unit.step(&ready(others));
    let out = unit.step(&SelectInputs {
        aware: true,
        mask: true,
        ..inputs
    });
    (out.selection, unit.picked())
}

#[test]
fn the_mask_holds_a_pick_and_lets_others_go_ahead() {
    let now = ready(0);
    assert_eq!(masked_pick(0, now), (Selection::Held, Some(1)));
    let lasts = SelectInputs {
        mask_lasts: true,
        ..now
    };
    assert_eq!(masked_pick(0, lasts), (Selection::Held, Some(1)));
    assert_eq!(masked_pick(0b0100, now), (Selection::Held, Some(1)), "ends");
    assert_eq!(masked_pick(0b0100, lasts), (Selection::Yields, Some(2)));
    let violate = SelectInputs {
        violate: true,
        ..lasts
    };
    assert_eq!(masked_pick(0, violate), (Selection::Taken, None));
    assert_eq!(masked_pick(0b0100, violate), (Selection::Yields, Some(2)));
}

/// What is picked is taken in the next cycle: where the mask may be on then,
/// others are picked first; else memory warps are, once there were conflicts.
#[test]
fn others_are_picked_first_where_the_mask_may_be_on() {
    let picks_of = |first, then, aware, lasts, likely| {
        let mut unit = unit();
        let of = |warps| SelectInputs {
            aware,
            mask_lasts: lasts,
            mask_likely: likely,
            ..ready(warps)
        };
        unit.step(&of(first));
        unit.step(&of(then));
        unit.step(&of(then));
        unit.picked()
    };
    let picks = |aware, lasts, likely| picks_of(0b0001, 0b0110, aware, lasts, likely);
    assert_eq!(picks(true, false, false), Some(1));
    assert_eq!(picks(true, true, false), Some(2));
    assert_eq!(picks(true, false, true), Some(2), "warp 0 may mask");
    assert_eq!(picks(false, true, true), Some(1));
    let picks = |aware, lasts, likely| picks_of(0b0100, 0b1010, aware, lasts, likely);
    assert_eq!(picks(true, false, false), Some(3));
    assert_eq!(picks(true, false, true), Some(1), "a memory warp");
    assert_eq!(picks(true, true, true), Some(3));
    assert_eq!(picks(false, false, true), Some(3));
}

/// AHEAD = 2: what was qualified goes in the next cycle, and not again though
/// it is still offered; what has just changed is looked at.
#[test]
fn what_was_qualified_is_picked_and_taken_in_one_cycle() {
    let mut unit = IssueSelect::new(4, 2);
    assert_eq!(unit.step(&ready(0b0110)).take, None);
    let full = SelectInputs {
        room: false,
        ..ready(0b0110)
    };
    let out = unit.step(&full);
    assert_eq!((out.selected, out.take, out.picked), (Some(1), None, None));
    assert_eq!(unit.step(&ready(0b0110)).take, Some(1));
    assert_eq!(unit.step(&ready(0b0110)).take, Some(2));
    let moved = SelectInputs {
        owner: 1,
        ..ready(0)
    };
    let out = unit.step(&moved);
    assert_eq!((out.selected, out.selection), (Some(1), Selection::Stale));
    unit.step(&ready(0b0001));
    let second = SelectInputs {
        atom_infl: true,
        ..ready(0)
    };
    assert_eq!(unit.step(&second).selection, Selection::Void);
}

/// AHEAD = 1: at once, but the ports show it a cycle later.
#[test]
fn one_stage_ahead_the_ports_show_registers() {
    let mut unit = IssueSelect::new(4, 1);
    let masked = SelectInputs {
        aware: true,
        mask: true,
        allowed_wait: 0b1000,
        allowed_viol: 0b0100,
        ..ready(0b0010)
    };
    let out = unit.step(&masked);
    assert_eq!((out.take, out.masked, out.wait_sh), (None, false, 0));
    let out = unit.step(&ready(0b0010));
    assert_eq!((out.take, out.masked), (Some(1), true));
    assert_eq!((out.wait_sh, out.viol), (0b1000, 0b0100));
    assert!(!unit.step(&ready(0)).masked);
}

/// What has moved since the stage before counts for one cycle.
#[test]
fn a_stale_pick_waits_for_a_cycle() {
    let mut unit = unit();
    for inputs in [ready(0b0010), ready(0)] {
        unit.step(&inputs);
    }
    let locked = SelectInputs {
        locked: 1,
        ..ready(0)
    };
    let out = unit.step(&locked);
    assert_eq!((out.selection, out.take), (Selection::Stale, None));
    let refused = SelectInputs {
        allowed_wait: 0b0010,
        ..locked
    };
    assert_eq!(unit.step(&refused).take, Some(1));
    assert_eq!(unit.step(&refused).wait_sh, 0b0010);
}
