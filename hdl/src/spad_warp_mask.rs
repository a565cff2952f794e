//! The countdown that keeps memory warps apart.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, when};
use crate::unit::Unit;

/// Emits `spad_warp_mask`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let u = Unit::new(UnitDoc {
        name: "spad_warp_mask".into(),
        summary: "counts the cycles in which no memory warp may be scheduled: the predicted excess of the last one issued, after its passes.".into(),
        parameters: p.text(&["PW", "EX", "AHEAD"]),
        timing: "taken in cycle s with P passes, during which nothing is taken, and excess x: with x > 0 mask is 1 until P-1+x cycles without hold have passed".into(),
        paper: "elastic paper, sections 5.1 and 5.3, Eqs 3 and 7; microarchitecture/warp-mask.md".into(),
        latency_cycles: 1,
    });
    let s = u.all_sizes(p);
    let ahead = p.AHEAD > 0;
    u.clocked();
    let clear = u.input("clear", 1, "kernel launch: same effect as reset");
    let about = "a predicted instruction was issued in this cycle";
    let set_valid = u.input("set_valid", 1, about);
    let set_base = u.input("set_base", s.PW, "number of its passes - 1");
    let about = "the history knows it: in the cycle after set_valid, AHEAD > 0: in the second";
    let lk_hit = u.input("lk_hit", 1, about);
    let lk_excess = u.input("lk_excess", s.EX, "excess that the look-up found");
    let about = "AHEAD > 0: it is likely to have an excess, in the cycle after set_valid";
    let lk_heavy = u.input("lk_heavy", 1, about);
    let lk_heavier = u.input("lk_heavier", 1, "AHEAD > 0: and one of more than one cycle");
    let hold = u.input("hold", 1, "EX is held in this cycle: it does not count");
    let mask = u.output("mask", 1, "memory warps are masked");
    let about = "they will be in the next cycle, too, if this one counts";
    let lasts = u.output("lasts", 1, about);
    u.unused(!ahead, lk_heavy, "the answer comes in time");
    u.unused(!ahead, lk_heavier, "the answer comes in time");

    let answers = if ahead { "one cycle later" } else { "then" };
    u.about(&format!(
        "A set in the cycle before. The history answers {answers}."
    ));
    let pend = u.register("pend", 1).reset(0);
    // Of a late answer: it comes; a cycle was counted for it, a cycle is owed to it.
    let late = ahead.then(|| ["late", "counted", "owed"].map(|n| u.register(n, 1).reset(0)));
    u.about("Passes to issue, and cycles to mask behind them.");
    let base = u.register("base", s.PW).reset(0);
    let cnt = u.register("cnt", s.EX + 1).reset(0);

    u.paragraph();
    let known = lk_excess.gated(lk_hit);
    let (left, free, doubt) = match late {
        None => {
            let left = when(pend, known.extended(p.EX + 1)).otherwise(cnt);
            (u.name("left", left), None, None)
        }
        Some([late, counted, owed]) => {
            let known = u.name("known", known);
            u.note("One cycle of the excess may have passed before the answer.");
            let some = u.name("some", known.any());
            let whole = known.extended(p.EX + 1);
            let answer = when(some & owed & !counted, whole.clone() + 1)
                .when(some & counted & !owed, whole.clone() - 1)
                .otherwise(whole);
            let answer = u.name("answer", answer);
            let left = u.name("left", when(late, answer).otherwise(cnt));
            (
                left,
                Some(late & !some),
                Some(u.name("doubt", pend & lk_heavy)),
            )
        }
    };
    let issuing = u.name("issuing", base.any());
    let (masks, more) = (left.any(), left.part(1, p.EX).any());
    let (masks, more) = match doubt {
        None => (masks, more),
        Some(doubt) => (masks | doubt, more | (doubt & lk_heavier)),
    };
    u.assign(mask, masks);
    let more = u.name("more", more);
    u.assign(lasts, more | (mask & issuing));

    u.paragraph();
    u.note("A cycle counts behind the last pass, and if EX is not held.");
    let counts = u.name("counts", !hold & !issuing);
    let mut cnt_next = when(set_valid, 0).when(counts & left.any(), left - 1);
    let late_next = late.zip(free).map(|([late, counted, owed], free)| {
        u.note("A hold in the next cycle takes it back: EX is a cycle further away.");
        let takes_back = u.name("takes_back", hold & counted & !free);
        let counted_next = u.next_state(counted, counts & (left.any() | pend));
        let kept = owed & pend & !set_valid;
        let owed_next = u.next_state(owed, (takes_back & (set_valid | pend)) | kept);
        let late_next = u.next_state(late, pend & !set_valid);
        cnt_next = cnt_next.clone().when(takes_back & !pend, left + 1);
        [late_next, counted_next, owed_next]
    });
    let cnt_next = u.next_state(cnt, cnt_next.otherwise(left));
    let base_next = when(set_valid, set_base).when(issuing & !hold, base - 1);
    let base_next = u.next_state(base, base_next.otherwise(base));

    u.paragraph();
    let update = u.at_clock().clear(clear).next(pend, set_valid);
    for (late, next) in late
        .into_iter()
        .flatten()
        .zip(late_next.into_iter().flatten())
    {
        update.next(late, next);
    }
    update.next(base, base_next).next(cnt, cnt_next);
    Ok(vec![u.emit()?])
}
