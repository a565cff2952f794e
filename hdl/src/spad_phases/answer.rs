//! The accesses that are not answered, and how the answers of their phases become
//! theirs.

use super::{Entry, Pairs, Phases, Words, lowest};
use crate::module::Module;
use crate::signal::{Bits, Expr, Signal, concat, number, when};
use crate::size::Size;

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
    /// All fields but the valid bit, the phases in the low bits.
    fn fields(self) -> impl Iterator<Item = Signal> {
        let pairs = self.pairs.into_iter().flat_map(|p| [p.far, p.near]);
        let fields = [self.mask].into_iter().chain(pairs);
        fields.chain([self.words.four, self.words.two, self.phases])
    }

    fn joined(self) -> Expr {
        concat(self.fields().map(Expr::from))
    }
}

impl Phases<'_> {
    /// The accesses that are not answered, and the answer of the oldest of them.
    pub(super) fn order(&self, queue: &Module, entry: &Entry, [open, taken, leaves]: [Signal; 3]) {
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

    /// The answer to the oldest access, once its last phase is answered.
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

    /// The words of all phases: those of earlier phases, and of the phase that is answered now.
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
}
