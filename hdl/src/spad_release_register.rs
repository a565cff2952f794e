//! The release signals, one cycle later: where the issue is decided ahead.

use crate::module::{HdlError, Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::Bits;
use crate::unit::UnitBuilder;

/// Emits `spad_release_register`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    if p.AHEAD == 0 {
        return Err(HdlError::NotThere {
            unit: "spad_release_register".into(),
            reason: "the issue is decided in one cycle ([path] ahead = 0)".into(),
        });
    }
    let u = UnitBuilder::new(UnitDoc {
        name: "spad_release_register".into(),
        summary: "what relssp says of each block, one cycle later; a block that starts is alive \
                  and not done."
            .into(),
        parameters: p.text(&["T"]),
        timing: "one cycle".into(),
        paper: "sharing paper, section 4; microarchitecture/relssp.md".into(),
        latency_cycles: 1,
    });
    let s = u.all_sizes(p);
    let [t] = u.sizes(p, ["T"]);
    u.clocked();
    let launch_valid = u.input("launch_valid", 1, "a block starts");
    let launch_block = u.input("launch_block", s.TW, "slot of the block that starts");
    let now_done = u.input(
        "now_done",
        t,
        "every active thread of the block has released",
    );
    let now_live = u.input("now_live", t, "the block has an active thread");
    let now_unlock = u.input("now_unlock", t, "now_done rises");
    let about = "now_done of the cycle before; 0 for a block that started";
    let rel_done = u.output_register("rel_done", t, about).reset_to_ones();
    let about = "now_live of the cycle before; 1 for a block that started";
    let live = u.output_register("live", t, about).reset(0);
    let unlock = u
        .output_register("unlock", t, "now_unlock of the cycle before")
        .reset(0);

    u.section("A block that starts is alive and not done, whatever its slot was before.");
    let starts = u.wire("starts", t);
    let [b] = u.indices(["b"]);
    u.generate(|| {
        u.each("slot", b, (0, t), |b| {
            u.assign(starts.at(b), launch_valid & launch_block.is(b));
        });
    });

    u.paragraph();
    u.at_clock()
        .next(rel_done, now_done & !starts)
        .next(live, now_live | starts)
        .next(unlock, now_unlock);
    Ok(vec![u.emit()?])
}
