//! A buffer of two entries whose ready comes from a flip-flop.

use crate::helper;
use crate::module::{Dir, Module, Port, Result, UnitDoc};

/// Emits `spad_skid`.
pub(crate) fn emit_helper() -> Result<Module> {
    let ports = vec![
        Port::new("clk", Dir::In, 1, "clock"),
        Port::new("rst", Dir::In, 1, "synchronous reset"),
        Port::new("in_valid", Dir::In, 1, "an entry is offered"),
        Port::new("in_data", Dir::In, 0, "the entry, WIDTH bits"),
        Port::new("in_ready", Dir::Out, 1, "it is taken; from a flip-flop"),
        Port::new("out_valid", Dir::Out, 1, "the oldest entry is offered"),
        Port::new(
            "out_data",
            Dir::Out,
            0,
            "the entry, WIDTH bits; without one, what in_data was",
        ),
        Port::new("out_ready", Dir::In, 1, "it is taken"),
    ];
    let doc = UnitDoc {
        name: "spad_skid".into(),
        summary: "a buffer of two entries with registered ready: nothing combinational leads \
                  from one side to the other."
            .into(),
        parameters: "WIDTH, bits of an entry; CLEAR = 1, out_data is 0 from the reset on".into(),
        timing: "one cycle; one entry a cycle".into(),
        paper: "microarchitecture/bus.md".into(),
        latency_cycles: 1,
    };
    helper::emit("spad_skid.v.tera", doc, ports)
}
