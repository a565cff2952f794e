//! One-hot word selector: the crossbar's building block.

use crate::allowed::Allowed;
use crate::module::{Module, Result, UnitDoc};
use crate::signal::{Bits, Expr};
use crate::unit::UnitBuilder;

/// Emits `spad_pick`.
pub(crate) fn emit_helper() -> Result<Module> {
    let u = UnitBuilder::new(UnitDoc {
        name: "spad_pick".into(),
        summary: "one word of many, by a one-hot vector: an AND-OR plane, in cells about half of \
                  a tree of multiplexers."
            .into(),
        parameters: "COUNT, a power of two from 2 to 128; WIDTH, bits of a word".into(),
        timing: "combinational".into(),
        paper: "microarchitecture/crossbar.md".into(),
        latency_cycles: 0,
    });
    let count = u.parameter("COUNT", 2, Allowed::PowerOfTwo(2, 128));
    let width = u.parameter("WIDTH", 8, 1..=4096);
    let pick = u.input("pick", count, "the word: at most one of COUNT bits is set");
    let about = "the words of WIDTH bits, number 0 in the low bits";
    let words = u.input("words", count * width, about);
    let word = u.output("word", width, "the word selected; 0 if none is");

    let levels = u.size("LEVELS", count.index_bits());
    u.section("The words are gated, then joined in pairs, level by level.");
    let [k, j] = u.indices(["k", "j"]);
    let joined = u.generate(|| {
        u.each("level", k, (0, levels), |k| {
            let from = u.wire("from", (count >> k) * width);
            let joined = u.wire("joined", (count >> (k + 1)) * width);
            let first = |_| {
                u.each("gate", j, (0, count), |j| {
                    let word = words.part(j * width, width).gated(pick.at(j));
                    u.assign(from.part(j * width, width), word);
                });
            };
            let next = |k| u.assign(from, u.of_iteration(joined, k - 1).of_width(from.width));
            u.first(k, ("first", first), ("next", next));
            u.each("pair", j, (0, count >> (k + 1)), |j| {
                let even = from.part(2 * j * width, width);
                let odd = from.part((2 * j + 1) * width, width);
                u.assign(joined.part(j * width, width), even | odd);
            });
            joined
        })
    });
    u.paragraph();
    u.assign(word, u.of_iteration(joined, levels - 1).of_width(width));
    u.emit()
}

/// An instance: `word` is the one of `words` that `pick` has.
#[track_caller]
pub(crate) fn instance(
    u: &UnitBuilder,
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
        .parameter("COUNT", pick.width)
        .parameter("WIDTH", word.width)
        .port("pick", pick)
        .port("words", words)
        .port("word", word)
        .done();
}
