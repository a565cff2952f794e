//! The conflict history cache.

use crate::module::{Module, Result, UnitDoc};
use crate::params::{Params, Sizes, TABLE_ENTRIES, TABLE_TAGS};
use crate::ports::ports;
use crate::property::one_at_most;
use crate::signal::{Bits, Operand, Signal, concat, when};
use crate::size::Size;
use crate::spad_table_ram;
use crate::unit::UnitBuilder;

/// Emits `spad_conflict_history` after its memories.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let entries = spad_table_ram::emit_helper(TABLE_ENTRIES, p)?;
    let tags = spad_table_ram::emit_helper(TABLE_TAGS, p)?;
    let u = UnitBuilder::new(doc(p));
    let io = Ports::declared(&u, p);
    let history = History {
        of_tag: u.size("TAG", p.PCW - p.SETW),
        ways: Ways::new(&u, io.s),
        update: Update::new(&u, io.s),
        write: Write::new(&u, io.s),
        u: &u,
        io,
    };
    u.paragraph();
    let [write, update, up, lk] = history.addresses(p.SETW);
    // Per way: it is being written.
    let write_in = history.in_way("write", history.write.valid);
    history.take_update([&write, &update, &up], &write_in);
    let tag_read = history.read_tags(&tags, &write, &up, &write_in);
    let update_way = history.way_of_update(&update, tag_read);
    history.write_way(&write, &write_in, update_way);
    let found = history.look_up(&entries, &write, &lk, &write_in);
    let looked = history.note_updates([&write, &update, &lk], &write_in);
    history.answer(&looked, found);
    let module = u.emit()?;
    Ok(vec![entries, tags, module])
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_conflict_history".into(),
        summary: "remembers the excess conflict degree of memory instructions by program \
                  counter: 2 ways, SETS sets, the way not updated last is replaced; a miss \
                  predicts 0. Tags and values are in synchronous memories."
            .into(),
        parameters: p.text(&["SETS", "PCW", "EX"]),
        timing: "look-up: one cycle; an update is seen from the next cycle on".into(),
        paper: "elastic paper, section 5.2; microarchitecture/conflict-history.md".into(),
        latency_cycles: 1,
    }
}

/// A name per way.
fn ways(name: &str) -> [String; 2] {
    [0, 1].map(|way| format!("{name}{way}"))
}

/// Shared by the parts of the description.
struct History<'a> {
    u: &'a UnitBuilder,
    io: Ports,
    /// Bits of a tag.
    of_tag: Size,
    ways: Ways,
    update: Update,
    write: Write,
}

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        clear: input(1, "kernel launch: clears all entries; has priority over an update"),
        lk_valid: input(1, "look-up"),
        lk_pc: input(s.PCW, "program counter of the look-up"),
        lk_done: output(1, "the look-up of the previous cycle is answered"),
        lk_hit: output(1, "the look-up hits"),
        lk_excess: output(s.EX, "the value; 0 on a miss"),
        up_valid: input(1, "update"),
        up_pc: input(s.PCW, "program counter of the update"),
        up_excess: input(s.EX, "the value"),
    }
}

/// The state of the sets apart from tags and values.
struct Ways {
    valid: [Signal; 2],
    lru: Signal,
}

impl Ways {
    fn new(u: &UnitBuilder, s: Sizes) -> Self {
        u.section("Per way and set: valid; per set: the way to be replaced next.");
        Ways {
            valid: ways("valid").map(|name| u.register(&name, s.SETS).reset(0)),
            lru: u.register("lru", s.SETS).reset(0),
        }
    }
}

/// The update that finds its way.
struct Update {
    valid: Signal,
    pc: Signal,
    excess: Signal,
    /// Per way: the update before the previous one went to this set and way.
    beside: [Signal; 2],
    /// The update before the previous one was for the same tag.
    twice: Signal,
    /// The previous update went to this set; it was for the same tag.
    behind: Signal,
    same: Signal,
    valid1: Signal,
    lru: Signal,
}

impl Update {
    fn new(u: &UnitBuilder, s: Sizes) -> Self {
        u.section(
            "The update that was offered in the previous cycle: its set was read in that cycle; \
             its way is chosen in this one.",
        );
        let valid = u.register("update_valid", 1).reset(0);
        let covered = |name: &str, width| u.register(name, width).covered_by(valid);
        let bit = |name: &str| covered(&format!("update_{name}"), 1.into());
        Update {
            valid,
            pc: covered("update_pc", s.PCW),
            excess: covered("update_excess", s.EX),
            beside: ways("beside").map(|name| bit(&name)),
            twice: bit("twice"),
            behind: bit("behind"),
            same: bit("same"),
            valid1: bit("valid1"),
            lru: bit("lru"),
        }
    }
}

/// The update that is being written.
struct Write {
    valid: Signal,
    pc: Signal,
    excess: Signal,
    way: Signal,
}

impl Write {
    fn new(u: &UnitBuilder, s: Sizes) -> Self {
        u.section("The one before it: it is being written.");
        let valid = u.register("write_valid", 1).reset(0);
        Write {
            valid,
            pc: u.register("write_pc", s.PCW).covered_by(valid),
            excess: u.register("write_excess", s.EX).covered_by(valid),
            way: u.register("write_way", 1).covered_by(valid),
        }
    }
}

/// A program counter, taken apart.
struct Address {
    set: Signal,
    tag: Signal,
}

/// A look-up, and its comparison with the updates in flight.
struct LookedUp {
    done: Signal,
    /// Per way: it holds an entry that is not being replaced.
    there: [Signal; 2],
    /// The update that was being written is for the same program counter.
    written: Signal,
    /// The one after it goes to the same set; it is for the same tag.
    after: Signal,
    again: Signal,
    tag: Signal,
    excess: Signal,
}

impl History<'_> {
    fn addresses(&self, set_bits: usize) -> [Address; 4] {
        let of = [
            ("write", self.write.pc),
            ("update", self.update.pc),
            ("up", self.io.up_pc),
            ("lk", self.io.lk_pc),
        ];
        of.map(|(of, pc)| {
            let name = |part| format!("{of}_{part}");
            Address {
                set: self.u.name(&name("set"), pc.part(0, set_bits)),
                tag: self
                    .u
                    .name(&name("tag"), pc.part(set_bits, self.of_tag.plain())),
            }
        })
    }

    /// Per way: the bit is set, and the update in progress writes this way.
    fn in_way(&self, name: &str, bit: Signal) -> [Signal; 2] {
        let [zero, one] = ways(name);
        let way = self.write.way;
        [self.u.name(&zero, bit & !way), self.u.name(&one, bit & way)]
    }

    /// The update that comes in.
    fn take_update(&self, [write, update, up]: [&Address; 3], write_in: &[Signal; 2]) {
        let (u, io, held) = (self.u, &self.io, &self.update);
        u.section(
            "After an update of the same set: whether it was for the same program counter, and \
             of the one that is being written the way.",
        );
        let up_beside = u.name("up_beside", write.set.is(up.set));
        let newest_way = when(self.write.valid & up_beside, !self.write.way);
        let lru_next = newest_way.otherwise(self.ways.lru.select(up.set));
        let lru_next = u.next_state(held.lru, lru_next);
        let beside = write_in.map(|write| write & up_beside);
        let valid1_next = self.ways.valid[1].select(up.set) | beside[1].clone();
        u.at_clock()
            .next(held.valid, io.up_valid & !io.clear)
            .next(self.write.valid, held.valid & !io.clear);
        let [beside0, beside1] = beside;
        u.at_clock()
            .when(io.up_valid)
            .next(held.pc, io.up_pc)
            .next(held.excess, io.up_excess)
            .next(held.beside[0], beside0)
            .next(held.beside[1], beside1)
            .next(held.twice, write.tag.is(up.tag))
            .next(held.behind, held.valid & update.set.is(up.set))
            .next(held.same, update.tag.is(up.tag))
            .next(held.valid1, valid1_next)
            .next(held.lru, lru_next);
    }

    fn read_tags(
        &self,
        tags: &Module,
        write: &Address,
        up: &Address,
        write_in: &[Signal; 2],
    ) -> [Signal; 2] {
        let (u, io) = (self.u, &self.io);
        u.section("The tags for updates: a copy, with a port of its own.");
        let tag_read = ways("tag").map(|name| u.wire(&name, self.of_tag));
        for (way, name) in ["tags0", "tags1"].into_iter().enumerate() {
            u.instance(tags, name)
                .same([io.clk])
                .port("rd_en", io.up_valid)
                .port("rd_row", up.set)
                .port("rd_data", tag_read[way])
                .port("wr_en", write_in[way])
                .port("wr_row", write.set)
                .port("wr_data", write.tag)
                .done();
        }
        tag_read
    }

    fn way_of_update(&self, update: &Address, tag_read: [Signal; 2]) -> Signal {
        let (u, held) = (self.u, &self.update);
        u.section("The way of the update: the one that matches, else the one not used last.");
        let behind = self.in_way("behind", held.behind);
        let matches = [0, 1].map(|way| {
            let known = when(behind[way], held.same).when(held.beside[way], held.twice);
            let matches = known.otherwise(tag_read[way].is(update.tag));
            u.name(&format!("update_match{way}"), matches)
        });
        let hit1 = (held.valid1 | behind[1]) & matches[1];
        let hit1 = u.name("update_hit1", hit1);
        u.note(
            "`lru_q` starts at way 0 and points to the free way until both are taken: so way 0 \
             needs no valid bit here. While it is free, way 1 is free too, and both its match \
             and `lru_q` choose way 0.",
        );
        let way = when(matches[0], 0).when(hit1, 1);
        let way = way.when(held.behind, !self.write.way).otherwise(held.lru);
        u.name("update_way", way)
    }

    /// The update with its way, and the bits of the sets.
    fn write_way(&self, write: &Address, write_in: &[Signal; 2], update_way: Signal) {
        let (u, held, written) = (self.u, &self.update, &self.write);
        u.at_clock()
            .when(held.valid)
            .next(written.pc, held.pc)
            .next(written.excess, held.excess)
            .next(written.way, update_way);
        let bit = |when: Signal, of: Signal, value: Operand| {
            u.at_clock()
                .clear(self.io.clear)
                .when(when)
                .next_bit(of, write.set, value);
        };
        bit(write_in[0], self.ways.valid[0], 1.into());
        bit(write_in[1], self.ways.valid[1], 1.into());
        bit(written.valid, self.ways.lru, (!written.way).into());
    }

    fn look_up(
        &self,
        entries: &Module,
        write: &Address,
        lk: &Address,
        write_in: &[Signal; 2],
    ) -> [Signal; 2] {
        let (u, io) = (self.u, &self.io);
        u.section("Look-up: tags and values of both ways.");
        let found = ways("found").map(|name| u.wire(&name, self.of_tag + io.s.EX));
        for (way, name) in ["entries0", "entries1"].into_iter().enumerate() {
            let entry = concat([write.tag.into(), self.write.excess.into()]);
            u.instance(entries, name)
                .same([io.clk])
                .port("rd_en", io.lk_valid)
                .port("rd_row", lk.set)
                .port("rd_data", found[way])
                .port("wr_en", write_in[way])
                .port("wr_row", write.set)
                .port("wr_data", entry)
                .done();
        }
        found
    }

    /// The updates that a look-up finds on their way.
    fn note_updates(&self, [write, update, lk]: [&Address; 3], write_in: &[Signal; 2]) -> LookedUp {
        let (u, io) = (self.u, &self.io);
        u.section(
            "It sees the update that is being written and the one after it: these answer in \
             place of the ways that they go to, which hold something else now.",
        );
        let done = u.register("done", 1).reset(0);
        let covered = |name: &str, width| u.register(name, width).covered_by(done);
        let there = ways("there").map(|name| covered(&name, 1.into()));
        let [written, after, again] =
            ["written", "after", "again"].map(|name| covered(name, 1.into()));
        let tag = covered("tag", self.of_tag);
        let excess = covered("excess", io.s.EX);
        let lk_beside = u.name("lk_beside", write.set.is(lk.set));
        let is_there =
            |way: usize| self.ways.valid[way].select(lk.set) & !(lk_beside & write_in[way]);
        u.at_clock().next(done, io.lk_valid);
        u.at_clock()
            .next(there[0], is_there(0))
            .next(there[1], is_there(1))
            .next(written, self.write.valid & lk_beside & write.tag.is(lk.tag))
            .next(after, self.update.valid & update.set.is(lk.set))
            .next(again, update.tag.is(lk.tag))
            .next(tag, lk.tag)
            .next(excess, self.write.excess);
        LookedUp {
            done,
            there,
            written,
            after,
            again,
            tag,
            excess,
        }
    }

    fn answer(&self, looked: &LookedUp, found: [Signal; 2]) {
        let (u, io, ex) = (self.u, &self.io, self.io.s.EX);
        let LookedUp { done, after, .. } = *looked;
        u.section(
            "The answer: the newest update of the program counter, or what a way has. An update \
             replaces what the one before it wrote only if both are for one program counter.",
        );
        let hit_update = u.name("hit_update", done & after & looked.again);
        let hit_written = done & looked.written & !hit_update;
        let hit_written = u.name("hit_written", hit_written);
        let replaced = [!self.write.way, self.write.way.into()];
        let hit = [0, 1].map(|way| {
            let kept = !(after & replaced[way].clone());
            let own = found[way].part(ex, self.of_tag);
            let hit = done & looked.there[way] & kept & own.is(looked.tag);
            u.name(&format!("hit{way}"), hit)
        });
        u.assign(io.lk_done, done);
        u.assign(io.lk_hit, hit_update | hit_written | hit[0] | hit[1]);
        let of_way = |way: usize| found[way].low(ex).gated(hit[way]);
        let newest = self.write.excess.gated(hit_update) | looked.excess.gated(hit_written);
        u.assign(io.lk_excess, newest | of_way(0) | of_way(1));
        u.assertions(|| {
            let answers = [hit_update, hit_written, hit[0], hit[1]];
            let message = "a look-up finds two values of one program counter";
            u.property("one_answers", done, one_at_most(answers), message);
        });
    }
}
