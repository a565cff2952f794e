//! UPDATE: the operands of the winners become the words to store.

use super::{Now, Sequencer, to};
use crate::codes::seq;
use crate::module::{Module, Result};
use crate::signal::{Bits, Signal, when};
use crate::size::Size;
use crate::spad_pick;
use crate::unit::Index;

/// The operands of the ALUs.
struct Sides {
    /// The turn whose results are written.
    late: Signal,
    word: Signal,
    operand: Signal,
    /// Present if there are several turns.
    read: Option<Read>,
}

/// The words of a turn, as they are read.
struct Read {
    pick: Module,
    word_next: Signal,
    operand_next: Signal,
}

impl Sequencer<'_> {
    /// The cycles of UPDATE, ALUS lanes in each; the multiplexer, if they take
    /// more than one.
    pub(super) fn update(
        &self,
        now: &Now,
        next: Signal,
        alu: &Module,
        [lane, turn_index]: [Index; 2],
    ) -> Result<Option<Module>> {
        let (u, io, pass) = (self.u, &self.io, &self.pass);
        let s = io.s;
        // As few as serve all lanes within the cycles of UPDATE.
        let alus = (self.p.L)
            .div_ceil((self.p.LU - 1).max(1))
            .next_power_of_two();
        let turns = u.size("TURNS", self.p.L / alus);
        let alus = u.size("ALUS", alus);
        u.section(
            "In the first cycles of UPDATE, the operands of the winners become the words to \
             store, ALUS lanes in a turn, lowest lanes first.",
        );
        let turn = u.register("turn", turns).reset(0);
        let begins = when(now.reading & next.is(to(seq::UPDATE)), 1).otherwise(turn.up(1));
        u.at_clock().next(turn, begins);
        let sides = match turns.value() {
            Some(1) => Sides {
                late: turn,
                word: pass.old,
                operand: pass.opnd,
                read: None,
            },
            _ => self.read_a_turn(turn, alus)?,
        };
        let word = |words: Signal, lane: Size| words.part(lane * s.D, s.D);
        let result = u.wire("result", alus * s.D);
        u.generate(|| {
            u.each("alu", lane, (0, alus), |i| {
                if let Some(read) = &sides.read {
                    self.pick_lane(read, turn, [turns, alus], i, turn_index);
                }
                u.instance(alu, "slice")
                    .same([pass.aop])
                    .port("word", word(sides.word, i))
                    .port("operand", word(sides.operand, i))
                    .port("result", word(result, i))
                    .done();
            });
            u.each("each_turn", turn_index, (0, turns), |t| {
                u.each("winner", lane, (0, alus), |i| {
                    let lane = t * alus + i;
                    let updates = u.name("updates", sides.late.at(t) & pass.winners.at(lane));
                    let changes =
                        when(now.accept, word(io.at.data, lane)).when(updates, word(result, i));
                    u.at_clock().next(word(pass.opnd, lane), changes);
                });
            });
        });
        Ok(sides.read.map(|read| read.pick))
    }

    /// Registers for the words of one turn.
    fn read_a_turn(&self, turn: Signal, alus: Size) -> Result<Sides> {
        let u = self.u;
        u.about("What is read in one cycle is computed and written in the next.");
        let late = u.register("late", turn.width).reset(0);
        u.at_clock().next(late, turn);
        let [word, operand] = ["word", "operand"].map(|name| {
            let register = u.register(name, alus * self.io.s.D);
            register.without_reset("`late_q` selects what of it is used")
        });
        let [word_next, operand_next] = [word, operand].map(|r| u.next_state_wire(r));
        u.at_clock()
            .next(word, word_next)
            .next(operand, operand_next);
        let read = Some(Read {
            pick: spad_pick::emit_helper()?,
            word_next,
            operand_next,
        });
        Ok(Sides {
            late,
            word,
            operand,
            read,
        })
    }

    /// The old word and the operand that lane `i` of the ALUs reads in this turn.
    fn pick_lane(&self, read: &Read, turn: Signal, [turns, alus]: [Size; 2], i: Size, t: Index) {
        let (u, d) = (self.u, self.io.s.D);
        let word = |words: Signal, lane: Size| words.part(lane * d, d);
        let [olds, opnds] = u.wires(["olds", "opnds"], turns * d);
        u.each("of_turn", t, (0, turns), |t| {
            u.assign(word(olds, t), word(self.pass.old, t * alus + i));
            u.assign(word(opnds, t), word(self.pass.opnd, t * alus + i));
        });
        let pick = &read.pick;
        spad_pick::instance(u, pick, "old_of", turn, olds, word(read.word_next, i));
        spad_pick::instance(u, pick, "opnd_of", turn, opnds, word(read.operand_next, i));
    }
}
