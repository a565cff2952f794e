//! The stages parallel to the memory stages: elastic queue or fixed pipeline.

use crate::module::{Module, Result, UnitDoc};
use crate::params::{PAYLOAD, Params};
use crate::ports::ports;
use crate::property::{one_at_most, stable};
use crate::signal::{Bits, Expr, Signal, one_hot, or_all};
use crate::size::Size;
use crate::unit::UnitBuilder;

/// Emits `spad_nonmem_queue`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let u = UnitBuilder::new(doc(p));
    u.machine_parameter(p, "NMW", PAYLOAD);
    let io = Ports::declared(&u, p);
    let stages = Stages::new(&u, &io);
    u.paragraph();
    let bypass = u.name("bypass", io.cfg_elastic & !stages.valid.any());
    u.note("The oldest entry is offered; the fixed pipeline offers that of its last stage.");
    let exits = io.cfg_elastic.copies(io.s.NQ) | one_hot(io.s.NQ, p.NQ - 1);
    let offer = u.named("offer", io.s.NQ, stages.valid & !stages.older & exits);
    let moves = stages.moves(&u, p, &io, bypass, offer);
    show(&u, p, &io, &stages, bypass, offer);
    u.paragraph();
    u.at_clock().next(stages.valid, moves.valid_next);
    u.paragraph();
    let [k] = u.indices(["k"]);
    u.generate(|| {
        u.each("stage", k, (0, io.s.NQ), |k| {
            stages.each_stage(&u, &io, &moves, k);
        });
    });
    u.assertions(|| {
        let occupied = stages.valid.any();
        let message = "two stages offer their entries";
        u.property(
            "one_is_offered",
            occupied.clone(),
            one_at_most([offer]),
            message,
        );
        let message = "elastic or fixed changes with an entry inside";
        u.property("cfg_static", occupied, stable([io.cfg_elastic]), message);
    });
    Ok(vec![u.emit()?])
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_nonmem_queue".into(),
        summary: "NQ stages beside the memory stages. Elastic: a first-in first-out queue with \
                  taps on every stage and on EX; fixed: a pipeline. Bubbles close up in both."
            .into(),
        parameters: p.text(&["M", "H", "NQ", "NMW"]),
        timing: "elastic: 0 cycles when empty and out_ready; fixed: at least NQ cycles".into(),
        paper: "elastic paper, section 4 and Eq. 4; microarchitecture/elastic-queues.md".into(),
        latency_cycles: 0,
    }
}

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        cfg_elastic: input(1, "1 elastic queue, 0 fixed pipeline; static while not empty"),
        in_valid: input(1, "an entry is offered"),
        in_data: input(s.NMW, "the entry"),
        in_ready: output(1, "an input would be accepted"),
        out_valid: output(1, "the oldest entry is offered"),
        out_data: output(s.NMW, "the entry; 0 if none"),
        out_ready: input(1, "an output would be accepted"),
        stage_valid: output(s.NQ, "occupied stages, stage 0 is the youngest"),
    }
}

struct Stages {
    valid: Signal,
    data: Signal,
    /// Per stage: a later one holds an entry; it or a later one has room.
    older: Signal,
    free: Signal,
}

/// The moves at the end of the cycle.
struct Moves {
    room: Signal,
    /// Stages that take an entry.
    enter: Signal,
    valid_next: Signal,
}

impl Stages {
    fn new(u: &UnitBuilder, io: &Ports) -> Self {
        u.section("Stage 0 is the youngest.");
        let valid = u.register("valid", io.s.NQ).reset(0);
        let data = u.register("data", io.s.NQ * io.s.NMW).covered_by(valid);
        u.section("Per stage: a later one holds an entry; it or a later one has room.");
        let [older, free] = u.wires(["older", "free"], io.s.NQ);
        Stages {
            valid,
            data,
            older,
            free,
        }
    }

    fn moves(
        &self,
        u: &UnitBuilder,
        p: &Params,
        io: &Ports,
        bypass: Signal,
        offer: Signal,
    ) -> Moves {
        let (nq, valid) = (io.s.NQ, self.valid);
        let give = u.named("give", nq, offer & io.out_ready.copies(nq));
        let room = u.named("room", nq, !valid | give);

        u.paragraph();
        u.assign(io.in_ready, self.free.at(0));
        let passes = bypass & io.out_ready;
        let push = u.name("push", io.in_valid & io.in_ready & !passes);
        let stay = u.named("stay", nq, valid & !give);
        let moves = u.named("move", nq, stay & self.free.down(1));
        let enter = u.named("enter", nq, moves.up(1) | push.extended(p.NQ));
        Moves {
            room,
            enter,
            valid_next: u.next_state(valid, enter | (stay & !moves)),
        }
    }

    fn each_stage(&self, u: &UnitBuilder, io: &Ports, moves: &Moves, k: Size) {
        let word = |k: Size| self.data.part(k * io.s.NMW, io.s.NMW);
        let older = self.older.at(k);
        u.assign(self.free.at(k), moves.room.high(k).any());
        u.last(
            (k, io.s.NQ),
            ("inner", |k| {
                u.assign(older.clone(), self.valid.high(k + 1).any());
            }),
            ("last", |_| u.assign(older.clone(), 0)),
        );
        let enters = |k, value: Expr| {
            u.at_clock().when(moves.enter.at(k)).next(word(k), value);
        };
        u.first(
            k,
            ("entrance", |k| enters(k, io.in_data.into())),
            ("behind", |k| enters(k, word(k - 1))),
        );
    }
}

/// The entry that is offered.
fn show(u: &UnitBuilder, p: &Params, io: &Ports, stages: &Stages, bypass: Signal, offer: Signal) {
    let nmw = io.s.NMW;
    u.paragraph();
    u.assign(io.out_valid, offer.any() | (bypass & io.in_valid));
    let straight = io.in_data & (bypass & io.in_valid).copies(nmw);
    let stage = |k: usize| stages.data.part(k * nmw, nmw) & offer.at(k).copies(nmw);
    let offered = or_all([straight].into_iter().chain((0..p.NQ).map(stage)));
    u.assign(io.out_data, offered);
    u.assign(io.stage_valid, stages.valid);
}
