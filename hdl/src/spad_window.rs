//! The banks behind a window of accesses: each bank serves the oldest access of
//! the window that still wants it.

mod atomics;
mod banks;
mod entry;

use crate::codes::op;
use crate::module::{Module, Result, UnitDoc};
use crate::params::{Params, Sizes, TAG};
use crate::ports::ports;
use crate::signal::{Bits, Expr, Signal, all_bits, code, one_hot, when};
use crate::size::Size;
use crate::unit::{Index, UnitBuilder};
use crate::{spad_atomic_bank, spad_bank_ram, spad_lowest, spad_number, spad_pick, spad_select};
use atomics::{AtomicPorts, Atomics};

ports! {
    /// The ports, by their names.
    Ports(s) {
        req_valid: input(1, "an access is offered"),
        req_ready: output(1, "a request would be accepted at the end of this cycle"),
        req_op: input(op::FIELD.width, "operation"),
        req_mask: input(s.L, "active lanes"),
        req_addr: input(s.L * s.n, "word address, n bits per lane: equal where the word is"),
        req_bank: input(s.L * s.m, "bank, m bits per lane"),
        req_row: input(s.L * s.R, "row, R bits per lane"),
        req_data: input(s.L * s.D, "data, D bits per lane"),
        req_be: input(s.L * s.DB, "byte enables of a store, DB bits per lane"),
        req_tag: input(s.STG, "comes back with the response"),
        resp_valid: output(1, "a response is offered"),
        resp_ready: input(1, "a response would be accepted"),
        resp_op: output(op::FIELD.width, "operation of the request"),
        resp_mask: output(s.L, "active lanes of the request"),
        resp_tag: output(s.STG, "tag of the request"),
        resp_data: output(s.L * s.D, "words read, or the data of a pass; else 0"),
        resp_error: output(1, "unsupported operation, or a row beyond the capacity"),
        resp_degree: output(s.DG, "cycles in which some of its words were served"),
    }
}

/// The modules that it instantiates.
struct Parts {
    ram: Vec<Module>,
    lowest: Module,
    number: Module,
    pick: Module,
    select: Module,
}

/// The accesses of the window, the oldest in the low bits.
struct Slots {
    valid: Signal,
    op: Signal,
    mask: Signal,
    tag: Signal,
    error: Signal,
    degree: Signal,
    bank: Signal,
    row: Signal,
    data: Signal,
    be: Signal,
    /// The lowest lane on each lane's word.
    lead: Signal,
    /// Lanes that wait for their bank.
    waits: Signal,
    /// Lanes whose word the banks show.
    comes: Signal,
}

/// The fields of an access that enters the window.
struct Entry {
    error: Signal,
    lead: Signal,
    waits: Signal,
    data: Signal,
    be: Signal,
}

/// Shared by the parts of the description.
struct Window<'a> {
    u: &'a UnitBuilder,
    p: &'a Params,
    s: &'a Sizes,
    parts: &'a Parts,
    clock: [Signal; 2],
    io: Ports,
    slots: Slots,
    /// State of atomic operations, where the banks perform them.
    atomics: Option<Atomics>,
    /// Present if stores must be told from atomic operations.
    resp_amo: Option<Signal>,
    /// Indices of lanes, other lanes, bytes, slots, and banks.
    i: Index,
    j: Index,
    k: Index,
    q: Index,
    g: Index,
}

/// Emits `spad_window`, its parts first.
pub(crate) fn emit_helper(p: &Params) -> Result<Vec<Module>> {
    let parts = Parts::emit(p)?;
    let u = UnitBuilder::new(doc(p));
    u.machine_parameter(p, "STG", TAG);
    let s = &u.all_sizes(p);
    let clock = u.clocked();
    let io = Ports::new(&u, s);
    let atomics = p.SATM.then(|| AtomicPorts::new(&u, s));
    let about = "the access is an atomic operation";
    let resp_amo = (p.SATM && p.SPOST).then(|| u.output("resp_amo", 1, about));
    u.outputs_depend_on(|port| match port {
        "req_ready" if p.SATM => vec!["resp_ready", "req_amo", "req_aop"],
        "req_ready" => vec!["resp_ready"],
        _ => Vec::new(),
    });
    u.section("The accesses of the window, the oldest in the low bits.");
    let slots = Slots::new(&u, s);
    let atomics = atomics.map(|io| Atomics::new(&u, s, io, slots.valid));
    let [i, j, k, q, g] = u.indices(["i", "j", "k", "q", "g"]);
    let window = Window {
        u: &u,
        p,
        s,
        parts: &parts,
        clock,
        io,
        slots,
        atomics,
        resp_amo,
        i,
        j,
        k,
        q,
        g,
    };
    let entry = window.entry();
    let (served, words) = window.banks();
    let after = window.after(served, words);
    let waits = window
        .atomics
        .map(|atomics| window.reservations(&atomics, served));
    let pop = window.answer(after.data, waits);
    window.moves(&entry, &after, pop);
    let module = u.emit()?;
    Ok(parts.modules().chain([module]).collect())
}

impl Parts {
    fn emit(p: &Params) -> Result<Self> {
        Ok(Parts {
            ram: if p.SATM {
                spad_atomic_bank::emit_unit(p)?
            } else {
                spad_bank_ram::emit_unit(p)?
            },
            lowest: spad_lowest::emit_helper()?,
            number: spad_number::of_lane(p.L)?,
            pick: spad_pick::emit_helper()?,
            select: spad_select::emit_helper()?,
        })
    }

    fn modules(self) -> impl Iterator<Item = Module> {
        let helpers = [self.lowest, self.number, self.pick, self.select];
        self.ram.into_iter().chain(helpers)
    }
}

impl Slots {
    fn new(u: &UnitBuilder, s: &Sizes) -> Self {
        let q = s.SWIN;
        let valid = u.register("valid", q).reset(0);
        let covered = |name, width: Size| u.register(name, q * width).covered_by(valid);
        Slots {
            valid,
            op: covered("op", op::FIELD.width.into()),
            mask: covered("mask", s.L),
            tag: covered("tag", s.STG),
            error: covered("error", 1.into()),
            degree: covered("degree", s.DG),
            bank: covered("bank", s.L * s.m),
            row: covered("row", s.L * s.R),
            data: covered("data", s.L * s.D),
            be: covered("be", s.L * s.DB),
            lead: covered("lead", s.L * s.LW),
            waits: u.register("waits", q * s.L).reset(0),
            comes: u.register("comes", q * s.L).reset(0),
        }
    }
}

/// The slots after what the banks do in this cycle.
struct After {
    waits: Signal,
    comes: Signal,
    data: Signal,
    degree: Signal,
}

/// A field of the slots as they move: taken from the slot above, or from a new access.
struct MovingField {
    /// The name of the fields of the slots above.
    above: &'static str,
    register: Signal,
    /// The fields after this cycle, before they move.
    after: Signal,
    new: Expr,
    width: Size,
}

impl Window<'_> {
    /// The slots after this cycle, before they move.
    fn after(&self, served: Signal, words: Signal) -> After {
        let (u, s, slots) = (self.u, self.s, &self.slots);
        u.section(
            "What the slots hold after this cycle: lanes that have been served wait no longer, \
             and words that the banks show are kept.",
        );
        let after = After {
            waits: u.name("waits_after", slots.waits & !served),
            comes: u.wire("comes_after", s.SWIN * s.L),
            data: u.wire("data_after", s.SWIN * s.L * s.D),
            degree: u.wire("degree_after", s.SWIN * s.DG),
        };
        u.generate(|| {
            u.each("slot", self.q, (0, s.SWIN), |q| {
                let width = op::FIELD.width;
                let operation = u.name("operation", slots.op.part(q * width, width));
                let loads = operation.is(code(&op::FIELD, op::LOAD));
                let loads = u.name("loads", self.or_atomic(loads, q));
                let here = u.name("served_here", served.part(q * s.L, s.L));
                let more = here.any().extended(self.p.DG);
                let degree = slots.degree.part(q * s.DG, s.DG);
                u.assign(after.degree.part(q * s.DG, s.DG), degree + more);
                u.each("lane", self.i, (0, s.L), |i| {
                    self.lane((q, i), loads, here, words, &after);
                });
            });
        });
        after
    }

    fn lane(&self, (q, i): (Size, Size), loads: Signal, here: Signal, words: Signal, to: &After) {
        let (u, s, parts, slots) = (self.u, self.s, self.parts, &self.slots);
        let at = q * s.L + i;
        let lead = u.name("leader", slots.lead.part(at * s.LW, s.LW));
        let with = u.wire("with_leader", 1);
        spad_select::instance(u, &parts.select, "of_leader", lead, here, with);
        u.assign(to.comes.at(at), loads & slots.mask.at(at) & with);
        let bank = u.name("from", slots.bank.part(at * s.m, s.m));
        let word = u.wire("word", s.D);
        spad_select::instance(u, &parts.select, "word_of", bank, words, word);
        let kept = slots.data.part(at * s.D, s.D);
        let data = when(slots.comes.at(at), word).otherwise(kept);
        u.assign(to.data.part(at * s.D, s.D), data);
    }

    /// `reads`, or slot `q` has an atomic operation.
    fn or_atomic(&self, reads: Expr, q: Size) -> Expr {
        match self.atomics {
            Some(atomics) => reads | atomics.amo.at(q),
            None => reads,
        }
    }

    /// The oldest access answers when nothing of it waits; whether it leaves.
    /// `waits`: the access that is offered may not enter yet.
    fn answer(&self, data: Signal, waits: Option<Signal>) -> Signal {
        let (u, s, io, slots) = (self.u, self.s, self.io, &self.slots);
        u.section("The oldest access answers when none of its words waits any more.");
        let valid = slots.valid.at(0) & !slots.waits.low(s.L).any();
        u.assign(io.resp_valid, valid);
        let pop = u.name("pop", io.resp_valid & io.resp_ready);
        let full = slots.valid.at(s.SWIN - 1);
        let room = !full | pop;
        let ready = match waits {
            Some(waits) => room & !waits,
            None => room,
        };
        u.assign(io.req_ready, ready);
        let operation = u.name("resp_op_of", slots.op.low(op::FIELD.width));
        let is = |value| operation.is(code(&op::FIELD, value));
        let shows = self.or_atomic(is(op::PASS) | is(op::LOAD), 0.into());
        let shows = shows & !slots.error.at(0) & io.resp_valid;
        let shows = u.name("shows", shows);
        u.assign(io.resp_op, operation.gated(io.resp_valid));
        if let Some((atomics, amo)) = self.atomics.zip(self.resp_amo) {
            u.assign(amo, atomics.amo.at(0) & io.resp_valid);
        }
        u.assign(io.resp_mask, slots.mask.low(s.L).gated(io.resp_valid));
        u.assign(io.resp_tag, slots.tag.low(s.STG).gated(io.resp_valid));
        u.assign(io.resp_error, slots.error.at(0) & io.resp_valid);
        u.assign(io.resp_degree, slots.degree.low(s.DG).gated(io.resp_valid));
        u.generate(|| {
            u.each("shown", self.i, (0, s.L), |i| {
                let word = data.part(i * s.D, s.D);
                let word = word.gated(shows & slots.mask.at(i));
                u.assign(io.resp_data.part(i * s.D, s.D), word);
            });
        });
        pop
    }

    /// The slots move down as the oldest leaves; a new access follows the last.
    fn moves(&self, entry: &Entry, after: &After, pop: Signal) {
        let (u, s, io, slots) = (self.u, self.s, self.io, &self.slots);
        u.section("The slots move down as the oldest leaves; a new access follows the last.");
        let enter = u.name("enter", io.req_valid & io.req_ready);
        let stays = when(pop, slots.valid.down(1)).otherwise(slots.valid);
        let stay = u.name("stay", stays);
        let free = u.name("free", (stay.up(1) | one_hot(s.SWIN, 0)) & !stay);
        let load = u.name("load", free & enter.copies(s.SWIN));
        u.at_clock().next(slots.valid, stay | load);
        let moving = self.moving(entry, after).into_iter();
        let moving: Vec<_> = moving
            .map(|field| (u.name(field.above, field.after.down(field.width)), field))
            .collect();
        u.generate(|| {
            u.each("move", self.q, (0, s.SWIN), |q| {
                for (above, field) in moving {
                    let here = |signal: Signal| signal.part(q * field.width, field.width);
                    let value = when(load.at(q), field.new).when(pop, here(above));
                    let value = value.otherwise(here(field.after));
                    u.at_clock().next(here(field.register), value);
                }
            });
        });
    }

    /// The fields of a slot other than its valid bit.
    fn moving(&self, entry: &Entry, after: &After) -> Vec<MovingField> {
        let (s, io, slots) = (self.s, self.io, &self.slots);
        let operation = Size::from(op::FIELD.width);
        let no_lane = || all_bits(s.L, false);
        let none = all_bits(s.DG, false);
        let field = |above, register, after, new, width| MovingField {
            above,
            register,
            after,
            new,
            width,
        };
        let kept = |above, register, new: Signal, width| {
            field(above, register, register, new.into(), width)
        };
        let plain = [
            kept("op_above", slots.op, io.req_op, operation),
            kept("mask_above", slots.mask, io.req_mask, s.L),
            kept("tag_above", slots.tag, io.req_tag, s.STG),
            kept("error_above", slots.error, entry.error, 1.into()),
            kept("bank_above", slots.bank, io.req_bank, s.L * s.m),
            kept("row_above", slots.row, io.req_row, s.L * s.R),
            kept("be_above", slots.be, entry.be, s.L * s.DB),
            kept("lead_above", slots.lead, entry.lead, s.L * s.LW),
            field(
                "data_above",
                slots.data,
                after.data,
                entry.data.into(),
                s.L * s.D,
            ),
            field("degree_above", slots.degree, after.degree, none, s.DG),
            field(
                "waits_above",
                slots.waits,
                after.waits,
                entry.waits.into(),
                s.L,
            ),
            field("comes_above", slots.comes, after.comes, no_lane(), s.L),
        ];
        let atomic = self.atomics.map(|of| {
            [
                kept("amo_above", of.amo, of.io.req_amo, 1.into()),
                kept("aop_above", of.aop, of.io.req_aop, 4.into()),
                kept("cmp_above", of.cmp, of.io.req_cmp, s.L * s.D),
                kept("warp_above", of.warp, of.io.req_warp, s.WW),
            ]
        });
        plain
            .into_iter()
            .chain(atomic.into_iter().flatten())
            .collect()
    }
}

fn doc(p: &Params) -> UnitDoc {
    let plain = ["n", "m", "L", "D", "ROWS", "SWIN", "STG"];
    let atomics = ["SATM"].into_iter().filter(|_| p.SATM);
    let parameters: Vec<&str> = plain.into_iter().chain(atomics).collect();
    UnitDoc {
        name: "spad_window".into(),
        summary: "the banks behind a window of SWIN accesses. In each cycle each bank serves one \
                  word of the oldest access that waits for it, so accesses whose conflicts are \
                  in different banks overlap. Answers come in the order of the requests. \
                  Operations: 0 pass, 1 load, 2 store; others are answered with an error."
            .into(),
        parameters: p.text(&parameters),
        timing: "an access that no older one delays answers max(1, d) + 1 cycles after the cycle \
                 in which it fires, d its conflict degree (1 if it accesses nothing)"
            .into(),
        paper: "microarchitecture/bus.md".into(),
        latency_cycles: 2,
    }
}
