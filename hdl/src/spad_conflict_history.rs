//! The conflict history cache.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, Signal, concat, when};
use crate::spad_table_ram;
use crate::unit::Unit;

/// A name per way.
fn ways(name: &str) -> [String; 2] {
    [0, 1].map(|way| format!("{name}{way}"))
}

/// Emits `spad_conflict_history` behind its memories.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let tag_bits = p.PCW - p.SETW;
    let entries = spad_table_ram::emit_helper(p.SETS, tag_bits + p.EX)?;
    let tags = spad_table_ram::emit_helper(p.SETS, tag_bits)?;
    let u = Unit::new(UnitDoc {
        name: "spad_conflict_history".into(),
        summary: "remembers the excess conflict degree of memory instructions by program \
                  counter: 2 ways, SETS sets, the way not updated last is replaced; a miss \
                  predicts 0. Tags and values are in synchronous memories."
            .into(),
        parameters: p.text(&["SETS", "PCW", "EX"]),
        timing: "look-up: one cycle; an update is seen from the next cycle on".into(),
        paper: "elastic paper, section 5.2; microarchitecture/conflict-history.md".into(),
        latency_cycles: 1,
    });
    let s = u.all_sizes(p);
    let [sets, pcw, ex] = u.sizes(p, ["SETS", "PCW", "EX"]);
    let of_tag = u.size("TAG", tag_bits);
    let [clk, _] = u.clocked();
    let about = "kernel launch: clears all entries; has priority over an update";
    let clear = u.input("clear", 1, about);
    let lk_valid = u.input("lk_valid", 1, "look-up");
    let lk_pc = u.input("lk_pc", s.PCW, "program counter of the look-up");
    let about = "the look-up of the previous cycle is answered";
    let lk_done = u.output("lk_done", 1, about);
    let lk_hit = u.output("lk_hit", 1, "the look-up hits");
    let lk_excess = u.output("lk_excess", s.EX, "the value; 0 on a miss");
    let up_valid = u.input("up_valid", 1, "update");
    let up_pc = u.input("up_pc", s.PCW, "program counter of the update");
    let up_excess = u.input("up_excess", s.EX, "the value");

    u.section("Per way and set: valid; per set: the way to be replaced next.");
    let valid = ways("valid").map(|name| u.register(&name, sets).reset(0));
    let lru = u.register("lru", sets).reset(0);

    u.section(
        "The update that was offered in the previous cycle: it read then what its set holds, \
         and finds its way now. Not reset: `update_valid_q` covers it.",
    );
    let update_valid = u.register("update_valid", 1).reset(0);
    let of_update = |name: &str| u.register(name, 1).covered_by(update_valid);
    let update_pc = u.register("update_pc", pcw).covered_by(update_valid);
    let update_excess = u.register("update_excess", ex).covered_by(update_valid);
    let update_beside = ways("update_beside").map(|name| of_update(&name));
    let known = ["twice", "behind", "same", "valid1", "lru"].map(|name| format!("update_{name}"));
    let known = known.map(|name| of_update(&name));
    let [
        update_twice,
        update_behind,
        update_same,
        update_valid1,
        update_lru,
    ] = known;

    u.section(
        "The one before it: it is being written. Not reset either: `write_valid_q` covers it.",
    );
    let write_valid = u.register("write_valid", 1).reset(0);
    let write_pc = u.register("write_pc", pcw).covered_by(write_valid);
    let write_excess = u.register("write_excess", ex).covered_by(write_valid);
    let write_way = u.register("write_way", 1).covered_by(write_valid);

    u.paragraph();
    let set_and_tag = |of: &str, pc: Signal| {
        let set = u.name(&format!("{of}_set"), pc.part(0, p.SETW));
        [set, u.name(&format!("{of}_tag"), pc.part(p.SETW, tag_bits))]
    };
    let [write_set, write_tag] = set_and_tag("write", write_pc);
    let [update_set, update_tag] = set_and_tag("update", update_pc);
    let [up_set, up_tag] = set_and_tag("up", up_pc);
    let [lk_set, lk_tag] = set_and_tag("lk", lk_pc);
    // Of each way: the bit is set, clear.
    let in_way = |name, bit: Signal, way: Signal| {
        let [zero, one]: [String; 2] = ways(name);
        [u.name(&zero, bit & !way), u.name(&one, bit & way)]
    };
    let write = in_way("write", write_valid, write_way);

    u.section(
        "Behind an update of the same set: whether it was for the same program counter, and of \
         the one that is being written the way.",
    );
    let up_beside = u.name("up_beside", write_set.is(up_set));
    let newest_way = when(write_valid & up_beside, !write_way);
    let lru_next = newest_way.otherwise(lru.select(up_set));
    let lru_next = u.next_state(update_lru, lru_next);
    let beside = write.map(|write| write & up_beside);
    let valid1_next = valid[1].select(up_set) | beside[1].clone();
    u.at_clock()
        .next(update_valid, up_valid & !clear)
        .next(write_valid, update_valid & !clear);
    u.at_clock()
        .when(up_valid)
        .next(update_pc, up_pc)
        .next(update_excess, up_excess)
        .next(update_beside[0], beside[0].clone())
        .next(update_beside[1], beside[1].clone())
        .next(update_twice, write_tag.is(up_tag))
        .next(update_behind, update_valid & update_set.is(up_set))
        .next(update_same, update_tag.is(up_tag))
        .next(update_valid1, valid1_next)
        .next(update_lru, lru_next);

    u.section("The tags for updates: a copy, with a port of its own.");
    let tag_read = ways("tag").map(|name| u.wire(&name, of_tag));
    for (way, name) in ["tags0", "tags1"].into_iter().enumerate() {
        u.instance(&tags, name)
            .same([clk])
            .port("rd_en", up_valid)
            .port("rd_row", up_set)
            .port("rd_data", tag_read[way])
            .port("wr_en", write[way])
            .port("wr_row", write_set)
            .port("wr_data", write_tag)
            .done();
    }

    u.section("The way of the update: the one that matches, else the one not used last.");
    let behind = in_way("behind", update_behind, write_way);
    let matches = [0, 1].map(|way| {
        let known = when(behind[way], update_same).when(update_beside[way], update_twice);
        let matches = known.otherwise(tag_read[way].is(update_tag));
        u.name(&format!("update_match{way}"), matches)
    });
    let hit1 = (update_valid1 | behind[1]) & matches[1];
    let hit1 = u.name("update_hit1", hit1);
    u.note(
        "`lru_q` starts at way 0 and points to the free way until both are taken: so way 0 needs \
         no valid bit here. While it is free, way 1 is free too, and both its match and `lru_q` \
         choose way 0.",
    );
    let way = when(matches[0], 0).when(hit1, 1);
    let way = way.when(update_behind, !write_way).otherwise(update_lru);
    let update_way = u.name("update_way", way);
    u.at_clock()
        .when(update_valid)
        .next(write_pc, update_pc)
        .next(write_excess, update_excess)
        .next(write_way, update_way);
    u.at_clock()
        .clear(clear)
        .when(write[0])
        .next_bit(valid[0], write_set, 1);
    u.at_clock()
        .clear(clear)
        .when(write[1])
        .next_bit(valid[1], write_set, 1);
    u.at_clock()
        .clear(clear)
        .when(write_valid)
        .next_bit(lru, write_set, !write_way);

    u.section("Look-up: tags and values of both ways.");
    let found = ways("found").map(|name| u.wire(&name, of_tag + ex));
    for (way, name) in ["entries0", "entries1"].into_iter().enumerate() {
        u.instance(&entries, name)
            .same([clk])
            .port("rd_en", lk_valid)
            .port("rd_row", lk_set)
            .port("rd_data", found[way])
            .port("wr_en", write[way])
            .port("wr_row", write_set)
            .port("wr_data", concat([write_tag.into(), write_excess.into()]))
            .done();
    }

    u.section(
        "It sees the update that is being written and the one behind it: these answer in place \
         of the ways that they go to, which hold something else now. `done_q` covers whatever \
         stands at `lk_pc`.",
    );
    let done = u.register("done", 1).reset(0);
    let there = ways("there").map(|name| u.register(&name, 1).covered_by(done));
    let [written, after, again] =
        ["written", "after", "again"].map(|name| u.register(name, 1).covered_by(done));
    let tag = u.register("tag", of_tag).covered_by(done);
    let excess = u.register("excess", ex).covered_by(done);
    let lk_beside = u.name("lk_beside", write_set.is(lk_set));
    let is_there = |way: usize| valid[way].select(lk_set) & !(lk_beside & write[way]);
    u.at_clock().next(done, lk_valid);
    u.at_clock()
        .next(there[0], is_there(0))
        .next(there[1], is_there(1))
        .next(written, write_valid & lk_beside & write_tag.is(lk_tag))
        .next(after, update_valid & update_set.is(lk_set))
        .next(again, update_tag.is(lk_tag))
        .next(tag, lk_tag)
        .next(excess, write_excess);

    u.section(
        "The answer: the newest update of the program counter, or what a way has. An update \
         replaces what the one before it wrote only if both are for one program counter.",
    );
    let hit_update = u.name("hit_update", done & after & again);
    let hit_written = u.name("hit_written", done & written & !hit_update);
    let replaced = [!write_way, write_way.into()];
    let hit = [0, 1].map(|way| {
        let kept = !(after & replaced[way].clone());
        let own = found[way].part(ex, of_tag);
        let hit = done & there[way] & kept & own.is(tag);
        u.name(&format!("hit{way}"), hit)
    });
    u.assign(lk_done, done);
    u.assign(lk_hit, hit_update | hit_written | hit[0] | hit[1]);
    let of_way = |way: usize| found[way].low(ex).gated(hit[way]);
    let newest = write_excess.gated(hit_update) | excess.gated(hit_written);
    u.assign(lk_excess, newest | of_way(0) | of_way(1));
    let module = u.emit()?;
    Ok(vec![entries, tags, module])
}
