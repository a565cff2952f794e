//! One-hot word selector: the crossbar's building block.

use crate::helper;
use crate::module::{Dir, Module, Port, Result, UnitDoc};

/// Emits `spad_pick`.
pub(crate) fn emit_helper() -> Result<Module> {
    let words = "the words of WIDTH bits, number 0 in the low bits";
    let ports = vec![
        Port::new(
            "pick",
            Dir::In,
            0,
            "the word: at most one of WORDS bits is set",
        ),
        Port::new("words", Dir::In, 0, words),
        Port::new("word", Dir::Out, 0, "the word selected; 0 if none is"),
    ];
    let doc = UnitDoc {
        name: "spad_pick".into(),
        summary: "one word of many, by a one-hot vector: an AND-OR plane, in cells about half of \
                  a tree of multiplexers."
            .into(),
        parameters: "WORDS, a power of two from 2 to 128; WIDTH, bits of a word".into(),
        timing: "combinational".into(),
        paper: "microarchitecture/crossbar.md".into(),
        latency_cycles: 0,
    };
    helper::emit("spad_pick.v.tera", doc, ports)
}
