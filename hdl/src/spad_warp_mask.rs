//! The countdown that keeps memory warps apart.

use crate::module::{Module, Result, UnitDoc};
use crate::params::{Params, Sizes};
use crate::ports::ports;
use crate::signal::{Bits, Expr, Signal, when};
use crate::unit::UnitBuilder;

/// Emits `spad_warp_mask`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let u = UnitBuilder::new(doc(p));
    let io = Ports::new(&u, p);
    let count = Count::new(&u, p, io.s);
    u.paragraph();
    let left = count.left(&u, p, &io);
    let issuing = show(&u, p, &io, &count, &left);
    count.update(&u, &io, &left, issuing);
    Ok(vec![u.emit()?])
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_warp_mask".into(),
        summary: "counts the cycles in which no memory warp may be scheduled: the predicted \
                  excess of the last one issued, after its passes."
            .into(),
        parameters: p.text(&["PW", "EX", "AHEAD"]),
        timing: "taken in cycle s with P passes, during which nothing is taken, and excess x: \
                 with x > 0 mask is 1 until P-1+x cycles without hold have passed"
            .into(),
        paper: "elastic paper, sections 5.1 and 5.3, Eqs 3 and 7; microarchitecture/warp-mask.md"
            .into(),
        latency_cycles: 1,
    }
}

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        clear: input(1, "kernel launch: same effect as reset"),
        set_valid: input(1, "a predicted instruction was issued in this cycle"),
        set_base: input(s.PW, "number of its passes - 1"),
        lk_hit: input(
            1,
            "the history knows it: in the cycle after set_valid, AHEAD > 0: in the second"
        ),
        lk_excess: input(s.EX, "excess that the look-up found"),
        lk_heavy: input(
            1,
            "AHEAD > 0: it is likely to have an excess, in the cycle after set_valid"
        ),
        lk_heavier: input(1, "AHEAD > 0: and one of more than one cycle"),
        hold: input(1, "EX is held in this cycle: it does not count"),
        mask: output(1, "memory warps are masked"),
        lasts: output(1, "they will be in the next cycle, too, if this one counts"),
    }
}

impl Ports {
    fn new(u: &UnitBuilder, p: &Params) -> Self {
        let io = Ports::declared(u, p);
        for input in [io.lk_heavy, io.lk_heavier] {
            u.unused(p.AHEAD == 0, input, "the answer comes in time");
        }
        io
    }
}

/// The count in progress.
struct Count {
    /// An instruction was set in the cycle before.
    pend: Signal,
    late: Option<Late>,
    /// Passes to issue, and cycles to mask after them.
    base: Signal,
    cnt: Signal,
}

/// AHEAD > 0, of an answer that comes a cycle late.
#[derive(Clone, Copy)]
struct Late {
    /// The late answer comes in this cycle.
    late: Signal,
    /// A cycle was counted for it; a cycle is owed to it.
    counted: Signal,
    owed: Signal,
}

/// The cycles that are left to mask.
struct Left {
    left: Signal,
    /// AHEAD > 0: the answer has come, and there is no excess.
    free: Option<Expr>,
    /// AHEAD > 0: the answer has not come, and is likely to be an excess.
    doubt: Option<Signal>,
}

impl Count {
    fn new(u: &UnitBuilder, p: &Params, s: Sizes) -> Self {
        let answers = if p.AHEAD > 0 {
            "one cycle later"
        } else {
            "then"
        };
        u.about(&format!(
            "A set in the cycle before. The history answers {answers}."
        ));
        let pend = u.register("pend", 1).reset(0);
        let register = |name| u.register(name, 1).reset(0);
        let late = (p.AHEAD > 0).then(|| Late {
            late: register("late"),
            counted: register("counted"),
            owed: register("owed"),
        });
        u.about("Passes to issue, and cycles to mask after them.");
        Count {
            pend,
            late,
            base: u.register("base", s.PW).reset(0),
            cnt: u.register("cnt", s.EX + 1).reset(0),
        }
    }

    fn left(&self, u: &UnitBuilder, p: &Params, io: &Ports) -> Left {
        let known = io.lk_excess.gated(io.lk_hit);
        let Some(Late {
            late,
            counted,
            owed,
        }) = self.late
        else {
            let left = when(self.pend, known.extended(p.EX + 1)).otherwise(self.cnt);
            return Left {
                left: u.name("left", left),
                free: None,
                doubt: None,
            };
        };
        let known = u.name("known", known);
        u.note("One cycle of the excess may have passed before the answer.");
        let some = u.name("some", known.any());
        let whole = known.extended(p.EX + 1);
        let answer = when(some & owed & !counted, whole.clone() + 1)
            .when(some & counted & !owed, whole.clone() - 1)
            .otherwise(whole);
        let answer = u.name("answer", answer);
        Left {
            left: u.name("left", when(late, answer).otherwise(self.cnt)),
            free: Some(late & !some),
            doubt: Some(u.name("doubt", self.pend & io.lk_heavy)),
        }
    }

    fn update(&self, u: &UnitBuilder, io: &Ports, left: &Left, issuing: Signal) {
        let (set, hold) = (io.set_valid, io.hold);
        u.paragraph();
        u.note("A cycle counts after the last pass, and if EX is not held.");
        let counts = u.name("counts", !hold & !issuing);
        let counted = left.left - 1;
        let mut cnt_next = when(set, 0).when(counts & left.left.any(), counted);
        let late = self.late.zip(left.free.clone()).map(|(late, free)| {
            let (takes_back, next) = late.next_state(u, io, self.pend, left.left, counts, free);
            cnt_next = cnt_next
                .clone()
                .when(takes_back & !self.pend, left.left + 1);
            next
        });
        let cnt_next = u.next_state(self.cnt, cnt_next.otherwise(left.left));
        let base_next = when(set, io.set_base).when(issuing & !hold, self.base - 1);
        let base_next = u.next_state(self.base, base_next.otherwise(self.base));

        u.paragraph();
        let update = u.at_clock().clear(io.clear).next(self.pend, set);
        for (register, next) in late.into_iter().flatten() {
            update.next(register, next);
        }
        update.next(self.base, base_next).next(self.cnt, cnt_next);
    }
}

impl Late {
    /// Whether a counted cycle is taken back; the registers with their next
    /// states.
    fn next_state(
        self,
        u: &UnitBuilder,
        io: &Ports,
        pend: Signal,
        left: Signal,
        counts: Signal,
        free: Expr,
    ) -> (Signal, [(Signal, Signal); 3]) {
        let Late {
            late,
            counted,
            owed,
        } = self;
        u.note("A hold in the next cycle takes this cycle back, because EX comes one cycle later.");
        let takes_back = u.name("takes_back", io.hold & counted & !free);
        let counted_next = u.next_state(counted, counts & (left.any() | pend));
        let kept = owed & pend & !io.set_valid;
        let owed_next = (takes_back & (io.set_valid | pend)) | kept;
        let owed_next = u.next_state(owed, owed_next);
        let late_next = u.next_state(late, pend & !io.set_valid);
        let next = [
            (late, late_next),
            (counted, counted_next),
            (owed, owed_next),
        ];
        (takes_back, next)
    }
}

/// The mask of this cycle and the next; whether passes are still issued.
fn show(u: &UnitBuilder, p: &Params, io: &Ports, count: &Count, left: &Left) -> Signal {
    let issuing = u.name("issuing", count.base.any());
    let (masks, more) = (left.left.any(), left.left.part(1, p.EX).any());
    let (masks, more) = match left.doubt {
        None => (masks, more),
        Some(doubt) => (masks | doubt, more | (doubt & io.lk_heavier)),
    };
    u.assign(io.mask, masks);
    let more = u.name("more", more);
    u.assign(io.lasts, more | (io.mask & issuing));
    issuing
}
