//! One-hot word selector: the crossbar's building block.

use crate::helper;
use crate::module::{Dir, Module, Port, Result, UnitDoc};
use crate::signal::Expr;
use crate::unit::Unit;

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

/// An instance: `word` is the one of `words` that `pick` has.
#[track_caller]
pub(crate) fn instance(
    u: &Unit,
    module: &Module,
    name: &'static str,
    pick: impl Into<Expr>,
    words: impl Into<Expr>,
    word: impl Into<Expr>,
) {
    let (pick, words, word) = (pick.into(), words.into(), word.into());
    assert!(
        words.width.same((pick.width * word.width).plain()),
        "{name}: words for {pick:?}"
    );
    u.instance(module, name)
        .parameter("WORDS", pick.width)
        .parameter("WIDTH", word.width)
        .port("pick", pick)
        .port("words", words)
        .port("word", word)
        .done();
}
