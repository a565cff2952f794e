//! The list of lanes of an access, and its phases: each lane by itself, or equal
//! pairs of lanes as one.

use super::{Entry, List, Pairs, Phases, Words};
use crate::codes::op;
use crate::signal::{Bits, Expr, Signal, code, concat, number, when};
use crate::size::Size;

impl Phases<'_> {
    /// Words, list and phases of the access that is offered.
    pub(super) fn entry(&self, merges: bool) -> Entry {
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

    /// Selects the list of the lanes, or its low half for pairs.
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
}
