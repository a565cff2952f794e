//! Wide accesses in phases: those of 8 and 16 bytes a lane become accesses of one
//! word a lane, as `spad_stream` takes them.

use crate::codes::op;
use crate::module::{Module, Result, UnitDoc};
use crate::params::{Params, Sizes};
use crate::ports::ports;
use crate::property::offer_is_held;
use crate::signal::{Bits, Expr, Signal, code, concat, number, or_all, when};
use crate::size::Size;
use crate::spad_queue;
use crate::unit::{Index, Unit};

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
        rsp_degree: output(s.DG + 2, "wavefronts: the sum of the phases' degrees"),
        idle: output(1, "no access is inside"),
    }
}

ports! {
    /// Those of atomic operations, of one word a lane.
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

/// What the unit is described with.
struct Phases<'a> {
    u: &'a Unit,
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

/// Which pairs of lanes an entry of the list stands for, else one lane.
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

/// An access as it is taken.
struct Entry {
    words: Words,
    pairs: Option<Pairs>,
    list: List,
    phases: Signal,
}

/// An access that waits for answers.
#[derive(Clone, Copy)]
struct Waiting {
    valid: Signal,
    phases: Signal,
    words: Words,
    pairs: Option<Pairs>,
    mask: Signal,
}

impl Waiting {
    /// All but whether it is valid, the phases in the low bits.
    fn fields(self) -> impl Iterator<Item = Signal> {
        let pairs = self.pairs.into_iter().flat_map(|p| [p.far, p.near]);
        let fields = [self.mask].into_iter().chain(pairs);
        fields.chain([self.words.four, self.words.two, self.phases])
    }

    fn joined(self) -> Expr {
        concat(self.fields().map(Expr::from))
    }
}

/// Emits `spad_phases`, its queue first.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let queue = spad_queue::emit_helper()?;
    let u = Unit::new(doc(p));
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
    /// Words, list and phases of the access that is offered.
    fn entry(&self, merges: bool) -> Entry {
        let (u, io) = (self.u, self.io);
        u.section("The access that is offered: the words of a lane, the list of its lanes.");
        let is = |kind| io.req_op.is(code(&op::FIELD, kind));
        let of_words = is(op::LOAD) | is(op::STORE);
        let of_words = match &self.atomics {
            Some(atomics) => of_words & !atomics.req_amo,
            None => of_words,
        };
        let wide = u.name("wide", of_words & io.req_size.any());
        let words = Words {
            two: u.name("two", wide & !io.req_size.at(1)),
            four: u.name("four", wide & io.req_size.at(1)),
        };
        let (list, pairs) = if merges {
            let (list, pairs) = self.merged(wide & is(op::LOAD));
            (list, Some(pairs))
        } else {
            let list = List {
                mask: io.req_mask,
                addr: io.req_addr,
            };
            (list, None)
        };
        let phases = self.phases_of(words, list.mask);
        Entry {
            words,
            pairs,
            list,
            phases,
        }
    }

    /// The list where loads of equal pairs take half the phases.
    fn merged(&self, load: Expr) -> (List, Pairs) {
        let (u, s, half) = (self.u, self.s, self.half);
        u.paragraph();
        u.note("Pairs of lanes: l and l ^ 1, or l and l ^ 2.");
        let load = u.name("wide_load", load);
        let [near_mask, far_mask] = u.wires(["near_mask", "far_mask"], half);
        let [near_addr, far_addr] = u.wires(["near_addr", "far_addr"], half * s.n);
        let [near_apart, far_apart] = u.wires(["near_apart", "far_apart"], half);
        let near_list = [near_mask, near_addr, near_apart];
        let far_list = [far_mask, far_addr, far_apart];
        let [i, j] = self.indices;
        u.generate(|| {
            u.each("near_pair", i, (0, half), |i| {
                self.pair(near_list, i, [i * 2, i * 2 + 1]);
            });
            u.each("far_pairs", i, (0, self.quarter), |i| {
                u.each("far_pair", j, (0, 2), |j| {
                    self.pair(far_list, i * 2 + j, [i * 4 + j, i * 4 + j + 2]);
                });
            });
        });
        let near = u.name("near", load & !near_apart.any());
        let far = u.name("far", load & !near & !far_apart.any());
        let pairs = Pairs { near, far };
        let mask = self.low_half("list_mask", self.io.req_mask, pairs, [near_mask, far_mask]);
        let addr = self.low_half("list_addr", self.io.req_addr, pairs, [near_addr, far_addr]);
        (List { mask, addr }, pairs)
    }

    /// Entry `k` of a list of pairs: active lanes, address, whether they differ.
    fn pair(&self, [mask, addr, apart]: [Signal; 3], k: Size, [low, high]: [Size; 2]) {
        let (u, n, io) = (self.u, self.s.n, self.io);
        let active = |lane| io.req_mask.at(lane);
        let place = |lane: Size| io.req_addr.part(lane * n, n);
        u.assign(mask.at(k), active(low) | active(high));
        let lower = when(active(low), place(low)).otherwise(place(high));
        u.assign(addr.part(k * n, n), lower);
        let differ = !place(low).is(place(high));
        u.assign(apart.at(k), active(low) & active(high) & differ);
    }

    /// A list: that of the lanes, or of pairs, which take its low half alone.
    fn low_half(
        &self,
        name: &str,
        lanes: Signal,
        pairs: Pairs,
        [near, far]: [Signal; 2],
    ) -> Signal {
        let (u, width) = (self.u, near.width);
        let list = u.wire(name, lanes.width);
        let low = when(pairs.near, near)
            .when(pairs.far, far)
            .otherwise(lanes.part(0, width));
        u.assign(list.part(0, width), low);
        let single = (!(pairs.near | pairs.far)).copies(width);
        u.assign(list.part(width, width), lanes.part(width, width) & single);
        list
    }

    /// The phases with an active entry; the first, if there would be none.
    fn phases_of(&self, words: Words, mask: Signal) -> Signal {
        let (u, quarter) = (self.u, self.quarter);
        u.paragraph();
        let quarters = u.wire("quarters", 4);
        for k in 0..4 {
            let entries = mask.part(quarter * k, quarter);
            u.assign(quarters.at(k), entries.any());
        }
        let second = quarters.at(2) | quarters.at(3);
        let halves = concat([number(2, 0), second, quarters.at(0) | quarters.at(1)]);
        let some = when(words.four, quarters)
            .when(words.two, halves)
            .otherwise(0);
        let some = u.named("some", 4, some);
        u.named("wanted", 4, some | concat([number(3, 0), !some.any()]))
    }

    /// The access whose phases go in; whether the one that is offered is taken.
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
        self.operation(valid, taken);
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
    fn operation(&self, valid: Signal, taken: Signal) {
        let Some(io) = &self.atomics else { return };
        let u = self.u;
        let fields = [
            ("amo", io.req_amo, io.mem_amo),
            ("aop", io.req_aop, io.mem_aop),
            ("cmp", io.req_cmp, io.mem_cmp),
            ("warp", io.req_warp, io.mem_warp),
        ];
        for (name, from, to) in fields {
            let reason = "`left` covers it";
            let register = u.register(name, from.width).without_reset(reason);
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

    /// The accesses that are not answered, and the answer of the oldest of them.
    fn order(&self, queue: &Module, entry: &Entry, [open, taken, leaves]: [Signal; 3]) {
        let (u, s, io) = (self.u, self.s, self.io);
        u.section("The accesses that are not answered, the oldest first.");
        let taken = Waiting {
            valid: taken,
            phases: entry.phases,
            words: entry.words,
            pairs: entry.pairs,
            mask: io.req_mask,
        };
        let next = Waiting {
            valid: u.wire("next_valid", 1),
            phases: u.wire("next_phases", 4),
            words: Words {
                two: u.wire("next_two", 1),
                four: u.wire("next_four", 1),
            },
            pairs: entry.pairs.map(|_| Pairs {
                near: u.wire("next_near", 1),
                far: u.wire("next_far", 1),
            }),
            mask: u.wire("next_mask", s.L),
        };
        let load = u.wire("load", 1);
        let data = taken.joined();
        u.instance(queue, "order")
            .parameter("WIDTH", u.size("WAITING", data.width))
            .parameter("DEPTH", self.depth)
            .same([io.clk, io.rst])
            .port("in_valid", taken.valid)
            .port("in_data", data)
            .port("in_ready", open)
            .port("out_valid", next.valid)
            .port("out_data", next.joined())
            .port("out_ready", load)
            .done();
        let oldest = self.oldest(next, [load, leaves]);
        self.answer(oldest, next, [load, leaves]);
    }

    /// The oldest of them: `phases` are those that are not answered.
    fn oldest(&self, next: Waiting, [load, leaves]: [Signal; 2]) -> Waiting {
        let (u, s, io) = (self.u, self.s, self.io);
        u.paragraph();
        u.about("The oldest is in registers, because much depends on it.");
        let valid = u.register("oldest_valid", 1).reset(0);
        let covered = |name, width: Size| u.register(name, width).covered_by(valid);
        let oldest = Waiting {
            valid,
            phases: covered("oldest_phases", 4.into()),
            words: Words {
                two: covered("oldest_two", 1.into()),
                four: covered("oldest_four", 1.into()),
            },
            pairs: next.pairs.map(|_| Pairs {
                near: covered("oldest_near", 1.into()),
                far: covered("oldest_far", 1.into()),
            }),
            mask: covered("oldest_mask", s.L),
        };
        u.assign(load, !valid | leaves);
        u.at_clock().when(load).next(valid, next.valid);
        let others = oldest.fields().zip(next.fields());
        let others = others.filter(|(register, _)| register.id != oldest.phases.id);
        others.fold(u.at_clock().when(load), |clocked, (register, value)| {
            clocked.next(register, value)
        });
        u.assign(io.idle, !valid & !next.valid);
        oldest
    }
    /// What the oldest access is answered with, once its last phase is.
    fn answer(&self, oldest: Waiting, next: Waiting, [load, leaves]: [Signal; 2]) {
        let (u, s, io) = (self.u, self.s, self.io);
        u.section("Its phases that are answered, and with what.");
        let more = u.register("more", 1).covered_by(oldest.valid);
        let failed = u.register("failed", 1).reset(0);
        let degree = u.register("degree", s.DG + 2).reset(0);
        let turn = lowest(u, "turn", oldest.phases);
        u.assign(io.ans_ready, oldest.valid & (more | io.rsp_ready));
        let answered = u.name("answered", oldest.valid & io.ans_valid & !more);
        u.assign(leaves, answered & io.rsp_ready);
        let part = u.name("part", oldest.valid & io.ans_valid & more);
        let error = u.name("error", failed | io.ans_error);
        let sum = concat([number(2, 0), io.ans_degree.into()]);
        let sum = u.name("sum", degree + sum);
        u.at_clock()
            .clear(leaves)
            .when(part)
            .next(failed, error)
            .next(degree, sum);
        u.paragraph();
        let rest = u.name("rest", oldest.phases & !turn);
        let several = |name: &str, bits: Signal| (bits & !lowest(u, name, bits)).any();
        let more_next =
            when(load, several("first", next.phases)).when(part, several("second", rest));
        let phases_next = when(load, next.phases).when(part, rest);
        u.at_clock().next(more, more_next);
        u.at_clock().next(oldest.phases, phases_next);
        let got = self.words_got(turn, part);
        u.paragraph();
        u.assign(io.rsp_valid, answered);
        u.assign(io.rsp_op, io.ans_op.gated(answered));
        u.assign(io.rsp_mask, oldest.mask.gated(answered));
        u.assign(io.rsp_tag, io.ans_tag.gated(answered));
        let one = u.name("one", answered & !oldest.words.two & !oldest.words.four);
        u.assign(io.rsp_success, io.ans_success.gated(one));
        u.assign(io.rsp_error, error & answered);
        u.assign(io.rsp_degree, sum.gated(answered));
        self.words(oldest, got, answered);
    }

    /// The words of all phases: of those before, and of the one that is answered.
    fn words_got(&self, turn: Signal, part: Signal) -> Signal {
        let (u, s, io) = (self.u, self.s, self.io);
        u.paragraph();
        let all = s.L * s.D;
        let got = u.wire("got", all * 4);
        for k in 0..3 {
            let name = format!("word{k}");
            let word = u
                .register(&name, all)
                .without_reset("lanes of phases that are not answered show 0");
            u.at_clock().when(part & turn.at(k)).next(word, io.ans_data);
            let now = when(turn.at(k), io.ans_data).otherwise(word);
            u.assign(got.part(all * k, all), now);
        }
        u.about("No phase follows the fourth.");
        u.assign(got.part(all * 3, all), io.ans_data);
        got
    }

    /// The words of each lane: those of its entry.
    fn words(&self, oldest: Waiting, got: Signal, valid: Signal) {
        let (u, s, io) = (self.u, self.s, self.io);
        let (d, lane_bits) = (s.D, s.D * 4);
        let (two, four) = (oldest.words.two, oldest.words.four);
        let entry = u.wire("entry_words", s.L * lane_bits);
        let [i, _] = self.indices;
        let lanes = |name| u.wire(name, s.L * lane_bits);
        let paired = oldest
            .pairs
            .map(|p| (p, lanes("near_words"), lanes("far_words")));
        u.generate(|| {
            u.each("entry", i, (0, s.L), |i| {
                let word = |k: Size| got.part(k * d, d);
                for w in 0..4 {
                    let wide = when(four, word(i * 4 + w));
                    let value = match w {
                        0 => wide.when(two, word(i * 2)).otherwise(word(i)),
                        1 => wide.when(two, word(i * 2 + 1)).otherwise(0),
                        _ => wide.otherwise(0),
                    };
                    u.assign(entry.part((i * 4 + w) * d, d), value);
                }
            });
            if let Some((_, near, far)) = paired {
                let of = |k: Size| entry.part(k * lane_bits, lane_bits);
                u.each("near_entry", i, (0, self.half), |i| {
                    u.assign(
                        near.part(i * 2 * lane_bits, lane_bits * 2),
                        concat([of(i), of(i)]),
                    );
                });
                u.each("far_entries", i, (0, self.quarter), |i| {
                    let lower = u.named("lower", lane_bits * 2, concat([of(i * 2 + 1), of(i * 2)]));
                    let both = concat([lower.into(), lower.into()]);
                    u.assign(far.part(i * 4 * lane_bits, lane_bits * 4), both);
                });
            }
        });
        let all = match paired {
            Some((pairs, near, far)) => {
                let lane = when(pairs.near, near).when(pairs.far, far).otherwise(entry);
                u.name("lane_words", lane)
            }
            None => entry,
        };
        u.paragraph();
        u.generate(|| {
            u.each("lane", i, (0, s.L), |i| {
                let words = all.part(i * lane_bits, lane_bits);
                let shown = words.gated(valid & oldest.mask.at(i));
                u.assign(io.rsp_data.part(i * lane_bits, lane_bits), shown);
            });
        });
    }

    /// What a neighbour has to keep.
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
fn lowest(u: &Unit, name: &str, bits: Signal) -> Signal {
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
