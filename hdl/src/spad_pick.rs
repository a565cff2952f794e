//! One-hot word selector: the crossbar's building block.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::spad_select::{Level, levels};
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    width: usize,
    levels: Vec<Level>,
}

/// Emits the selector of `count` words (a power of two from 2) of `width` bits.
pub(crate) fn emit_helper(p: &Params, count: usize, width: usize) -> Result<Module> {
    let extra = Extra {
        width,
        levels: levels(count, "words", "level"),
    };
    let doc = UnitDoc {
        name: format!("spad_pick_{count}x{width}"),
        summary: "one word of many, by a one-hot vector: an AND-OR plane, in cells about half of \
                  a tree of multiplexers."
            .into(),
        parameters: format!("{count} words of {width} bits"),
        timing: "combinational".into(),
        paper: "docs/microarchitecture.md, section 4".into(),
        latency_cycles: 0,
    };
    Shell::new(doc)
        .input("pick", count, "the word: at most one bit is set")
        .input(
            "words",
            count * width,
            "the words, number 0 in the low bits",
        )
        .output("word", width, "the word selected; 0 if none is")
        .emit_with("spad_pick.v.tera", p, &extra)
}
