//! The release instruction: which threads have released.

use crate::module::{Module, Result, UnitDoc};
use crate::params::{Params, Sizes};
use crate::ports::ports;
use crate::signal::{Bits, Signal};
use crate::size::Size;
use crate::unit::{Index, UnitBuilder};
use crate::{spad_lowest, spad_relssp_block, spad_relssp_warp};

/// Emits `spad_relssp`, its slices first.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let warp = spad_relssp_warp::emit_kernel(p)?;
    let block = spad_relssp_block::emit_kernel(p)?;
    let lowest = spad_lowest::emit_helper()?;
    let u = UnitBuilder::new(doc(p));
    let io = Ports::new(&u, p);
    let state = State::new(&u, io.s, &lowest);
    u.paragraph();
    let [i, j, b] = u.indices(["i", "j", "b"]);
    u.generate(|| {
        u.each("warp", i, (0, io.s.W), |i| {
            each_warp(&u, p, &io, &state, &warp, (i, j));
        });
        u.each("block", b, (0, io.s.T), |b| {
            each_block(&u, &io, &state, &block, (b, i));
        });
    });
    u.assertions(|| released_once(&u, &io, b));
    let module = u.emit()?;
    Ok(vec![warp, block, lowest, module])
}

fn doc(p: &Params) -> UnitDoc {
    UnitDoc {
        name: "spad_relssp".into(),
        summary: "tracks which active threads have executed relssp, and says when all of a block \
                  have."
            .into(),
        parameters: p.text(&["W", "WS", "L", "S", "T", "TW"]),
        timing: "rel_done, live and unlock include this cycle's events; launches show in the next"
            .into(),
        paper: "sharing paper, section 5; microarchitecture/relssp.md".into(),
        latency_cycles: 0,
    }
}

ports! {
    /// The ports, by their names.
    Ports(s) clocked {
        launch_valid: input(1, "a block starts"),
        launch_block: input(s.TW, "slot of the block that starts"),
        launch_wmask: input(s.W, "warps of the block that starts"),
        launch_last: input(s.WS, "threads of the highest of them; the others are full"),
        rel_valid: input(1, "lanes of a subwarp execute relssp"),
        rel_warp: input(s.WW, "their warp"),
        rel_sub: input(s.SUBW, "their subwarp"),
        rel_mask: input(s.L, "the lanes"),
        exit_valid: input(1, "threads exit"),
        exit_warp: input(s.WW, "their warp"),
        exit_mask: input(s.WS, "the threads"),
        warp_blk: input(s.W * s.TW, "block slot of each warp, TW bits, before this launch"),
        rel_done: output(s.T, "every active thread of the block has released"),
        live: output(s.T, "the block has an active thread"),
        unlock: output(s.T, "rel_done rises"),
    }
}

impl Ports {
    fn new(u: &UnitBuilder, p: &Params) -> Self {
        let io = Ports::declared(u, p);
        u.unused(true, io.launch_block, "the path keeps it in warp_blk");
        u.unused(p.S == 1, io.rel_sub, "a warp is one subwarp");
        io
    }
}

/// The releases of the threads, and their effect on the warps.
struct State {
    active: Signal,
    released: Signal,
    active_next: Signal,
    released_next: Signal,
    was_done: Signal,
    was_live: Signal,
    done: Signal,
    done_if: Signal,
    has_live: Signal,
    /// The warps of a launch from the highest down, and the first of them.
    from_top: Signal,
    highest: Signal,
}

impl State {
    fn new(u: &UnitBuilder, s: Sizes, lowest: &Module) -> Self {
        u.section("Per thread: active, has released.");
        let active = u.register("active", s.W * s.WS).reset(0);
        let released = u.register("released", s.W * s.WS).covered_by(active);
        let [active_next, released_next] = [active, released].map(|r| u.next_state_wire(r));
        u.section("Per warp, before and with this cycle's events.");
        let of_warp = ["was_done", "was_live", "done", "done_if", "has_live"];
        let [was_done, was_live, done, done_if, has_live] = u.wires(of_warp, s.W);
        u.section("The highest warp of a launch: the lowest, seen from the other end.");
        let [from_top, highest] = u.wires(["from_top", "highest"], s.W);
        let found = u.wire_in_part("found", s.W, "the warp itself is what counts");
        spad_lowest::instance(u, lowest, "search", from_top, [found, highest]);
        State {
            active,
            released,
            active_next,
            released_next,
            was_done,
            was_live,
            done,
            done_if,
            has_live,
            from_top,
            highest,
        }
    }
}

/// The threads of a warp.
fn each_warp(
    u: &UnitBuilder,
    p: &Params,
    io: &Ports,
    state: &State,
    warp: &Module,
    (i, j): (Size, Index),
) {
    let s = io.s;
    let starts = u.named("starts", 1, io.launch_valid & io.launch_wmask.at(i));
    u.assign(state.from_top.at(i), io.launch_wmask.at(s.W - 1 - i));
    let exits = u.named("exits", 1, io.exit_valid & io.exit_warp.is(i));
    let in_ex = u.named("in_ex", 1, io.rel_warp.is(i));
    let releases = u.named("releases", 1, io.rel_valid & in_ex);
    let marks = u.wire("marks", s.WS);
    u.each("subwarp", j, (0, s.S), |j| {
        let stands = match p.S {
            1 => in_ex.into(),
            _ => in_ex & io.rel_sub.is(j),
        };
        u.assign(marks.part(j * s.L, s.L), io.rel_mask & stands.copies(s.L));
    });
    let of_warp = |all: Signal| all.part(i * s.WS, s.WS);
    u.instance(warp, "slice")
        .port("starts", starts)
        .port("highest", state.highest.at(s.W - 1 - i))
        .port("launch_last", io.launch_last)
        .port("exits", exits)
        .port("exit_mask", io.exit_mask)
        .port("marks", marks)
        .port("active", of_warp(state.active))
        .port("released", of_warp(state.released))
        .port("active_next", of_warp(state.active_next))
        .port("released_next", of_warp(state.released_next))
        .port("was_done", state.was_done.at(i))
        .port("was_live", state.was_live.at(i))
        .port("done", state.done.at(i))
        .port("done_if", state.done_if.at(i))
        .port("live", state.has_live.at(i))
        .done();
    u.about("Written only when something happens to the warp.");
    u.at_clock()
        .when(starts | exits)
        .next(of_warp(state.active), of_warp(state.active_next));
    u.at_clock()
        .when(starts | releases)
        .next(of_warp(state.released), of_warp(state.released_next));
}

/// The warps of a block.
fn each_block(u: &UnitBuilder, io: &Ports, state: &State, block: &Module, (b, i): (Size, Index)) {
    let (w, tw) = (io.s.W, io.s.TW);
    let mine = u.wire("mine", w);
    u.each("of_warp", i, (0, w), |i| {
        u.assign(mine.at(i), io.warp_blk.part(i * tw, tw).is(b));
    });
    u.instance(block, "slice")
        .port("mine", mine)
        .same([state.was_done, state.was_live, state.done, state.done_if])
        .port("releases", io.rel_valid)
        .port("live", state.has_live)
        .port("rel_done", io.rel_done.at(b))
        .port("rel_live", io.live.at(b))
        .port("unlock", io.unlock.at(b))
        .done();
}

/// Assertions about every block: it releases once.
fn released_once(u: &UnitBuilder, io: &Ports, b: Index) {
    u.about("A block releases once, checked in simulation.");
    u.generate(|| {
        u.each("block_check", b, (0, io.s.T), |b| {
            let had_released = u.register("had_released", 1).reset(0);
            let launched = io.launch_valid & io.launch_block.is(b);
            u.at_clock()
                .next(had_released, io.rel_done.at(b) & !launched);
            u.property(
                "stays_released",
                had_released,
                io.rel_done.at(b),
                "a block that has released has not any more",
            );
            u.property(
                "one_unlock",
                had_released,
                !io.unlock.at(b),
                "a block releases twice",
            );
        });
    });
}
