//! The release instruction: which threads have released.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, Signal};
use crate::unit::Unit;
use crate::{spad_lowest, spad_relssp_block, spad_relssp_warp};

/// Emits `spad_relssp` behind its slices.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let warp = spad_relssp_warp::emit_kernel(p)?;
    let block = spad_relssp_block::emit_kernel(p)?;
    let lowest = spad_lowest::emit_helper()?;
    let u = Unit::new(UnitDoc {
        name: "spad_relssp".into(),
        summary:
            "tracks which active threads have executed relssp, and says when all of a block have."
                .into(),
        parameters: p.text(&["W", "WS", "L", "S", "T", "TW"]),
        timing: "rel_done, live and unlock include this cycle's events; launches show in the next"
            .into(),
        paper: "sharing paper, section 5; microarchitecture/relssp.md".into(),
        latency_cycles: 0,
    });
    let s = u.all_sizes(p);
    let [w_count, ws, l, s_count, t, tw] = u.sizes(p, ["W", "WS", "L", "S", "T", "TW"]);
    u.clocked();
    let launch_valid = u.input("launch_valid", 1, "a block starts");
    let launch_block = u.input("launch_block", s.TW, "slot of the block that starts");
    let launch_wmask = u.input("launch_wmask", w_count, "warps of the block that starts");
    let about = "threads of the highest of them; the others are full";
    let launch_last = u.input("launch_last", ws, about);
    let rel_valid = u.input("rel_valid", 1, "lanes of a subwarp execute relssp");
    let rel_warp = u.input("rel_warp", s.WW, "their warp");
    let rel_sub = u.input("rel_sub", s.SUBW, "their subwarp");
    let rel_mask = u.input("rel_mask", l, "the lanes");
    let exit_valid = u.input("exit_valid", 1, "threads exit");
    let exit_warp = u.input("exit_warp", s.WW, "their warp");
    let exit_mask = u.input("exit_mask", ws, "the threads");
    let about = "block slot of each warp, TW bits, before this launch";
    let warp_blk = u.input("warp_blk", w_count * tw, about);
    let about = "every active thread of the block has released";
    let rel_done = u.output("rel_done", t, about);
    let live = u.output("live", t, "the block has an active thread");
    let unlock = u.output("unlock", t, "rel_done rises");
    u.unused(true, launch_block, "the path keeps it in warp_blk");
    u.unused(p.S == 1, rel_sub, "a warp is one subwarp");

    u.section("Per thread: active, has released.");
    let active = u.register("active", w_count * ws).reset(0);
    let released = u.register("released", w_count * ws).covered_by(active);
    let [active_next, released_next] = [active, released].map(|r| u.next_state_wire(r));
    u.section("Per warp, before and with this cycle's events.");
    let of_warp = ["was_done", "was_live", "done", "done_if", "has_live"];
    let [was_done, was_live, done, done_if, has_live] = u.wires(of_warp, w_count);
    u.section("The highest warp of a launch: the lowest, seen from the other end.");
    let [from_top, highest] = u.wires(["from_top", "highest"], w_count);
    let found = u.wire_in_part("found", w_count, "the warp itself is what counts");
    spad_lowest::instance(&u, &lowest, "search", from_top, [found, highest]);

    u.paragraph();
    let [i, j, b] = u.indices(["i", "j", "b"]);
    u.generate(|| {
        u.each("warp", i, (0, w_count), |i| {
            let starts = u.named("starts", 1, launch_valid & launch_wmask.at(i));
            u.assign(from_top.at(i), launch_wmask.at(w_count - 1 - i));
            let exits = u.named("exits", 1, exit_valid & exit_warp.is(i));
            let in_ex = u.named("in_ex", 1, rel_warp.is(i));
            let releases = u.named("releases", 1, rel_valid & in_ex);
            let marks = u.wire("marks", ws);
            u.each("subwarp", j, (0, s_count), |j| {
                let stands = match p.S {
                    1 => in_ex.into(),
                    _ => in_ex & rel_sub.is(j),
                };
                u.assign(marks.part(j * l, l), rel_mask & stands.copies(l));
            });
            let of_warp = |all: Signal| all.part(i * ws, ws);
            let next = [active_next, released_next].map(of_warp);
            let (active, released) = (of_warp(active), of_warp(released));
            u.instance(&warp, "slice")
                .port("starts", starts)
                .port("highest", highest.at(w_count - 1 - i))
                .port("launch_last", launch_last)
                .port("exits", exits)
                .port("exit_mask", exit_mask)
                .port("marks", marks)
                .port("active", active.clone())
                .port("released", released.clone())
                .port("active_next", next[0].clone())
                .port("released_next", next[1].clone())
                .port("was_done", was_done.at(i))
                .port("was_live", was_live.at(i))
                .port("done", done.at(i))
                .port("done_if", done_if.at(i))
                .port("live", has_live.at(i))
                .done();
            u.about("Written only when something happens to the warp. Releases need no reset: only those of active threads count.");
            u.at_clock().when(starts | exits).next(active, next[0].clone());
            u.at_clock().when(starts | releases).next(released, next[1].clone());
        });
        u.each("block", b, (0, t), |b| {
            let mine = u.wire("mine", w_count);
            u.each("of_warp", i, (0, w_count), |i| {
                u.assign(mine.at(i), warp_blk.part(i * tw, tw).is(b));
            });
            u.instance(&block, "slice")
                .port("mine", mine)
                .port("was_done", was_done)
                .port("was_live", was_live)
                .port("done", done)
                .port("done_if", done_if)
                .port("releases", rel_valid)
                .port("live", has_live)
                .port("rel_done", rel_done.at(b))
                .port("rel_live", live.at(b))
                .port("unlock", unlock.at(b))
                .done();
        });
    });
    let module = u.emit()?;
    Ok(vec![warp, block, lowest, module])
}
