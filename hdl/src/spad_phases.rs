//! Wide accesses in phases: those of 8 and 16 bytes a lane become accesses of one
//! word a lane, as `spad_stream` takes them.

mod answer;
mod list;

use crate::codes::op;
use crate::module::{HdlError, Module, Result, UnitDoc};
use crate::params::{Params, Sizes};
use crate::ports::ports;
use crate::property::offer_is_held;
use crate::signal::{Bits, Signal, concat, number, or_all, when};
use crate::size::Size;
use crate::spad_queue;
use crate::unit::{Index, UnitBuilder};

ports! {
    /// The ports, by their names.
    Io(s) clocked {
        req_valid: input(1, "an access is offered"),
        req_ready: output(1, "a request would be accepted at the end of this cycle"),
        req_op: input(op::FIELD.width, "operation"),
        req_size: input(2, "log2 of the words of a lane; 3 as 2"),
        req_mask: input(s.L, "active lanes"),
        req_addr: input(s.L * s.n, "word address of the first word, n bits per lane"),
        req_data: input(s.L * 4 * s.D, "data, four words per lane"),
        req_be: input(s.L * s.DB, "byte enables of a store of one word, DB bits per lane"),
        req_tag: input(s.STG, "comes back with the answer"),
        mem_valid: output(1, "a phase is offered"),
        mem_ready: input(1, "it would be taken"),
        mem_op: output(op::FIELD.width, "operation"),
        mem_mask: output(s.L, "active lanes of the phase"),
        mem_addr: output(s.L * s.n, "word address, n bits per lane"),
        mem_data: output(s.L * s.D, "data, D bits per lane"),
        mem_be: output(s.L * s.DB, "byte enables of a store, DB bits per lane"),
        mem_tag: output(s.STG, "the tag of the access"),
        ans_valid: input(1, "the oldest phase is answered"),
        ans_ready: output(1, "an answer would be taken"),
        ans_op: input(op::FIELD.width, "operation of the phase"),
        ans_tag: input(s.STG, "its tag"),
        ans_data: input(s.L * s.D, "words read, D bits per lane"),
        ans_success: input(s.L, "lanes that took their lock"),
        ans_error: input(1, "it was refused"),
        ans_degree: input(s.DG, "its conflict degree"),
        rsp_valid: output(1, "an answer is offered; the rest is 0 if not"),
        rsp_ready: input(1, "a response would be accepted"),
        rsp_op: output(op::FIELD.width, "operation of the access"),
        rsp_mask: output(s.L, "active lanes of the access"),
        rsp_tag: output(s.STG, "tag of the response"),
        rsp_data: output(s.L * 4 * s.D, "words read, four per lane; else 0"),
        rsp_success: output(s.L, "lanes that took their lock"),
        rsp_error: output(1, "a phase was refused"),
        rsp_degree: output(s.DG + 2, "the sum of the phases' degrees: without a window the wavefronts"),
        idle: output(1, "no access is inside"),
    }
}

ports! {
    /// Ports for atomic operations, of one word a lane.
    Atomics(s) {
        req_amo: input(1, "an atomic operation; req_op and req_size do not count"),
        req_aop: input(4, "which one"),
        req_cmp: input(s.L * s.D, "what a compare-and-swap expects, D bits per lane"),
        req_warp: input(s.WW, "the warp"),
        mem_amo: output(1, "an atomic operation"),
        mem_aop: output(4, "which one"),
        mem_cmp: output(s.L * s.D, "what a compare-and-swap expects, D bits per lane"),
        mem_warp: output(s.WW, "the warp"),
    }
}

/// Shared by the parts of the description.
struct Phases<'a> {
    u: &'a UnitBuilder,
    s: &'a Sizes,
    io: Io,
    atomics: Option<Atomics>,
    /// Accesses that are not answered, at most.
    depth: Size,
    /// Half and a quarter of the lanes.
    half: Size,
    quarter: Size,
    indices: [Index; 2],
}

/// The words of a lane: two or four, else one.
#[derive(Clone, Copy)]
struct Words {
    two: Signal,
    four: Signal,
}

/// Whether an entry of the list stands for one lane, or for which pair of lanes.
#[derive(Clone, Copy)]
struct Pairs {
    /// Lanes l and l ^ 1.
    near: Signal,
    /// Lanes l and l ^ 2.
    far: Signal,
}

/// The entries of an access, L bits and L addresses.
#[derive(Clone, Copy)]
struct List {
    mask: Signal,
    addr: Signal,
}

/// An accepted access.
struct Entry {
    words: Words,
    pairs: Option<Pairs>,
    list: List,
    phases: Signal,
}

/// Emits `spad_phases`, its queue first.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    if !p.PHS {
        return Err(HdlError::NotThere {
            unit: "spad_phases".into(),
            reason: "it serves the first word of each lane; [geometry] wide = \"phases\" serves \
                     wide accesses"
                .into(),
        });
    }
    let queue = spad_queue::emit_helper()?;
    let u = UnitBuilder::new(doc(p));
    let io = Io::declared(&u, p);
    let s = &io.s;
    let atomics = p.SATM.then(|| Atomics::new(&u, s));
    u.outputs_depend_on(within_a_cycle);
    let phases = Phases {
        u: &u,
        s,
        io,
        atomics,
        depth: p.PHQ.into(),
        half: u.size("LH", s.L / 2),
        quarter: u.size("LQ", s.L / 4),
        indices: u.indices(["i", "j"]),
    };
    let entry = phases.entry(p.PHM);
    u.paragraph();
    let [open, leaves] = u.wires(["open", "leaves"], 1);
    let taken = phases.send(&entry, open);
    phases.order(&queue, &entry, [open, taken, leaves]);
    u.assertions(|| phases.rules());
    let module = u.emit()?;
    Ok(vec![queue, module])
}

/// The inputs that an output depends on in the same cycle.
fn within_a_cycle(output: &str) -> Vec<&'static str> {
    match output {
        "req_ready" => vec!["mem_ready"],
        "ans_ready" => vec!["rsp_ready"],
        "rsp_valid" | "rsp_mask" => vec!["ans_valid"],
        "rsp_op" => vec!["ans_op", "ans_valid"],
        "rsp_tag" => vec!["ans_tag", "ans_valid"],
        "rsp_data" => vec!["ans_data", "ans_valid"],
        "rsp_success" => vec!["ans_success", "ans_valid"],
        "rsp_error" => vec!["ans_error", "ans_valid"],
        "rsp_degree" => vec!["ans_degree", "ans_valid"],
        _ => vec![],
    }
}

impl Phases<'_> {
    /// The access whose phases are being sent; returns whether the offered access is accepted.
    fn send(&self, entry: &Entry, open: Signal) -> Signal {
        let (u, s, io) = (self.u, self.s, self.io);
        u.section("The access whose phases go in, the lowest first.");
        let left = u.register("left", 4).reset(0);
        let covered = |name, width: Size| u.register(name, width).covered_by(left);
        let op = covered("op", io.req_op.width);
        let words = Words {
            two: covered("by_two", 1.into()),
            four: covered("by_four", 1.into()),
        };
        let list = List {
            mask: covered("mask", s.L),
            addr: covered("addr", s.L * s.n),
        };
        let data = covered("data", s.L * 4 * s.D);
        let be = covered("be", s.L * s.DB);
        let tag = covered("tag", s.STG);
        u.paragraph();
        let now = lowest(u, "now", left);
        let valid = u.name("valid", left.any());
        let last = u.name("last", !(left & !now).any());
        u.assign(io.req_ready, open & (last & io.mem_ready | !valid));
        let taken = u.name("taken", io.req_valid & io.req_ready);
        let next = when(taken, entry.phases).when(io.mem_ready, left & !now);
        u.at_clock().next(left, next);
        let fields = [
            (op, io.req_op),
            (words.two, entry.words.two),
            (words.four, entry.words.four),
            (list.mask, entry.list.mask),
            (list.addr, entry.list.addr),
            (data, io.req_data),
            (be, io.req_be),
            (tag, io.req_tag),
        ];
        fields
            .into_iter()
            .fold(u.at_clock().when(taken), |clocked, (register, value)| {
                clocked.next(register, value)
            });
        self.operation(left, [valid, taken]);
        u.paragraph();
        u.assign(io.mem_valid, valid);
        u.assign(io.mem_op, op.gated(valid));
        u.assign(
            io.mem_be,
            (be | (words.two | words.four).copies(be.width)).gated(valid),
        );
        u.assign(io.mem_tag, tag.gated(valid));
        self.phase([now, valid], words, list, data);
        taken
    }

    /// An atomic operation, which has one phase.
    fn operation(&self, left: Signal, [valid, taken]: [Signal; 2]) {
        let Some(io) = &self.atomics else { return };
        let u = self.u;
        let fields = [
            ("amo", io.req_amo, io.mem_amo),
            ("aop", io.req_aop, io.mem_aop),
            ("cmp", io.req_cmp, io.mem_cmp),
            ("warp", io.req_warp, io.mem_warp),
        ];
        for (name, from, to) in fields {
            let register = u.register(name, from.width).covered_by(left);
            u.at_clock().when(taken).next(register, from);
            u.assign(to, register.gated(valid));
        }
    }

    /// The lanes of phase `now`: the words of its entries.
    fn phase(&self, [now, valid]: [Signal; 2], words: Words, list: List, data: Signal) {
        let (u, s, io) = (self.u, self.s, self.io);
        let by_two = self.lanes_of("pair_of", 2, [now, valid], (list, data));
        let by_four = self.lanes_of("four_of", 4, [now, valid], (list, data));
        let by_one = [
            u.name("one_mask", list.mask.gated(now.at(0))),
            u.name("one_addr", list.addr.gated(now.at(0))),
            u.wire("one_data", s.L * s.D),
        ];
        let [i, _] = self.indices;
        u.generate(|| {
            u.each("one_of", i, (0, s.L), |i| {
                let word = data.part(i * 4 * s.D, s.D).gated(now.at(0));
                u.assign(by_one[2].part(i * s.D, s.D), word);
            });
        });
        for (k, port) in [io.mem_mask, io.mem_addr, io.mem_data]
            .into_iter()
            .enumerate()
        {
            let lanes = when(words.four, by_four[k])
                .when(words.two, by_two[k])
                .otherwise(by_one[k]);
            u.assign(port, lanes);
        }
    }

    /// Mask, addresses and data of the lanes of phase `now`, if an entry has
    /// `count` words.
    fn lanes_of(
        &self,
        label: &'static str,
        count: usize,
        [now, valid]: [Signal; 2],
        (list, data): (List, Signal),
    ) -> [Signal; 3] {
        let (u, s) = (self.u, self.s);
        let (entries, bits) = match count {
            2 => (self.half, 1),
            _ => (self.quarter, 2),
        };
        let of_phase = |name: &str, from: Signal, width: Size, in_part: Option<&'static str>| {
            let part = |k: usize| from.part(width * k, width).gated(now.at(k));
            let name = format!("{label}_{name}");
            let lanes = match in_part {
                Some(reason) => u.wire_in_part(&name, width, reason),
                None => u.wire(&name, width),
            };
            u.assign(lanes, or_all((0..count).map(part)));
            lanes
        };
        u.paragraph();
        let active = of_phase("entries", list.mask, entries, None);
        let low = Some("the number of a word is in the place of the low bits");
        let place = of_phase("places", list.addr, entries * s.n, low);
        let others = (count == 2).then_some("an entry of two words has no others");
        let stored = of_phase("words", data, entries * 4 * s.D, others);
        let mask = u.wire(&format!("{label}_mask"), s.L);
        let addr = u.wire(&format!("{label}_addr"), s.L * s.n);
        let word = u.wire(&format!("{label}_data"), s.L * s.D);
        let [i, _] = self.indices;
        u.generate(|| {
            u.each(label, i, (0, entries), |i| {
                for w in 0..count {
                    let lane = i * count + w;
                    u.assign(mask.at(lane), active.at(i));
                    let high = place.part(i * s.n + bits, s.n - bits);
                    let low = match w {
                        0 => number(bits, 0),
                        w => number(bits, w).gated(valid),
                    };
                    u.assign(addr.part(lane * s.n, s.n), concat([high, low]));
                    let from = stored.part((i * 4 + w) * s.D, s.D);
                    u.assign(word.part(lane * s.D, s.D), from);
                }
            });
        });
        [mask, addr, word]
    }

    /// The rules that a neighbour must keep.
    fn rules(&self) {
        let (u, io) = (self.u, self.io);
        u.about("Rules for the neighbour, checked in simulation.");
        let atomics = self.atomics.iter();
        let operation = atomics.flat_map(|a| [a.req_amo, a.req_aop, a.req_cmp, a.req_warp]);
        offer_is_held(
            u,
            ("request_held", "an access changes before it is taken"),
            "req_valid_waits",
            (io.req_valid, io.req_ready),
            [
                io.req_op,
                io.req_size,
                io.req_mask,
                io.req_addr,
                io.req_data,
                io.req_be,
                io.req_tag,
            ]
            .into_iter()
            .chain(operation),
        );
    }
}

/// The lowest of four bits alone.
fn lowest(u: &UnitBuilder, name: &str, bits: Signal) -> Signal {
    let lowest = u.wire(name, 4);
    for k in 0..4 {
        let bit = bits.at(k);
        u.assign(
            lowest.at(k),
            match k {
                0 => bit,
                _ => bit & !bits.part(0, k).any(),
            },
        );
    }
    lowest
}

fn doc(p: &Params) -> UnitDoc {
    let merged = if p.PHM {
        " Loads whose lanes have one address in pairs (l and l ^ 1, or l and l ^ 2) take half of \
         them."
    } else {
        ""
    };
    UnitDoc {
        name: "spad_phases".into(),
        summary: "wide accesses for spad_stream: one of two words a lane goes in two phases of \
                  half a warp, one of four in four of a quarter, each an access of one word a \
                  lane. Phases without an active lane are left out."
            .to_owned()
            + merged,
        parameters: p.text(&["n", "L", "D", "STG", "PHM", "PHQ"]),
        timing: "an access that is taken in cycle t offers its phases from t+1 on, one per cycle; \
                 it is answered in the cycle in which its last phase is"
            .into(),
        paper: "none; microarchitecture/phases.md".into(),
        latency_cycles: 1,
    }
}
