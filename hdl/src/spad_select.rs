//! Word multiplexer, by number.

use crate::module::{Module, Result, UnitDoc};
use crate::signal::{Bits, Signal, when};
use crate::unit::UnitBuilder;

/// Emits `spad_select`.
pub(crate) fn emit_helper() -> Result<Module> {
    let u = UnitBuilder::new(UnitDoc {
        name: "spad_select".into(),
        summary: "one word of many, by its number: a tree of two-input multiplexers.".into(),
        parameters: "BITS, bits of the number; WIDTH, bits of a word".into(),
        timing: "combinational".into(),
        paper: "microarchitecture/lock-unit.md".into(),
        latency_cycles: 0,
    });
    let bits = u.parameter("BITS", 1, 1..=7);
    let width = u.parameter("WIDTH", 8, 1..=4096);
    let index = u.input("index", bits, "number of the word, BITS bits");
    let about = "the 2**BITS words of WIDTH bits, number 0 in the low bits";
    let words = u.input("words", width << bits, about);
    let word = u.output("word", width, "the word selected");

    u.note("One level per index bit, the lowest first: each halves the words.");
    let [k, j] = u.indices(["k", "j"]);
    let chosen = u.generate(|| {
        u.each("level", k, (0, bits), |k| {
            let from = u.wire("from", width << (bits - k));
            let chosen = u.wire("chosen", width << (bits - k - 1));
            let first = |_| u.assign(from, words.of_width(from.width));
            let next = |k| u.assign(from, u.of_iteration(chosen, k - 1).of_width(from.width));
            u.first(k, ("first", first), ("next", next));
            u.each("pair", j, (0, 1 << (bits - k - 1)), |j| {
                let odd = from.part((2 * j + 1) * width, width);
                let even = from.part(2 * j * width, width);
                let word = when(index.at(k), odd).otherwise(even);
                u.assign(chosen.part(j * width, width), word);
            });
            chosen
        })
    });
    u.paragraph();
    u.assign(word, u.of_iteration(chosen, bits - 1).of_width(width));
    u.emit()
}

/// An instance: `word` is that of `words` whose number is `index`.
pub(crate) fn instance(
    u: &UnitBuilder,
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
