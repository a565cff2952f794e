//! Word multiplexer, by number.

use crate::helper;
use crate::module::{Dir, Module, Port, Result, UnitDoc};
use crate::signal::Signal;
use crate::unit::Unit;

/// Emits `spad_select`.
pub(crate) fn emit_helper() -> Result<Module> {
    let words = "the 2**BITS words of WIDTH bits, number 0 in the low bits";
    let ports = vec![
        Port::new("index", Dir::In, 0, "number of the word, BITS bits"),
        Port::new("words", Dir::In, 0, words),
        Port::new("word", Dir::Out, 0, "the word selected"),
    ];
    let doc = UnitDoc {
        name: "spad_select".into(),
        summary: "one word of many, by its number: a tree of two-input multiplexers.".into(),
        parameters: "BITS, bits of the number; WIDTH, bits of a word".into(),
        timing: "combinational".into(),
        paper: "microarchitecture/lock-unit.md".into(),
        latency_cycles: 0,
    };
    helper::emit("spad_select.v.tera", doc, ports)
}

/// An instance: `word` is that of `words` whose number is `index`.
pub(crate) fn instance(
    u: &Unit,
    module: &Module,
    name: &'static str,
    index: Signal,
    words: Signal,
    word: Signal,
) {
    u.instance(module, name)
        .parameter("BITS", index.width)
        .parameter("WIDTH", word.width)
        .port("index", index)
        .port("words", words)
        .port("word", word)
        .done();
}
