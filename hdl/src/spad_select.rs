//! Word multiplexer, by number.

use crate::module::{Module, Result, UnitDoc};
use crate::params::{Params, index_bits};
use crate::shell::Shell;
use serde::Serialize;

/// A level of a binary tree over words.
#[derive(Serialize)]
pub(crate) struct Level {
    number: usize,
    /// Words that come out of it.
    words: usize,
    /// Signal with the words that go in.
    from: String,
}

/// The levels of a tree over `count` words, a power of two.
pub(crate) fn levels(count: usize, words: &str, signal: &str) -> Vec<Level> {
    let from = |number: usize| match number {
        0 => words.to_owned(),
        k => format!("{signal}{}", k - 1),
    };
    (0..index_bits(count))
        .map(|number| Level {
            number,
            words: count >> (number + 1),
            from: from(number),
        })
        .collect()
}

#[derive(Serialize)]
struct Extra {
    width: usize,
    /// The index is one bit.
    single: bool,
    levels: Vec<Level>,
}

/// Emits the multiplexer of `count` words (a power of two from 2) of `width` bits.
pub(crate) fn emit_helper(p: &Params, count: usize, width: usize) -> Result<Module> {
    let extra = Extra {
        width,
        single: count == 2,
        levels: levels(count, "words", "level"),
    };
    let doc = UnitDoc {
        name: format!("spad_select_{count}x{width}"),
        summary: "one word of many, by its number: a tree of two-input multiplexers.".into(),
        parameters: format!("{count} words of {width} bits"),
        timing: "combinational".into(),
        paper: "docs/microarchitecture.md, section 6".into(),
        latency_cycles: 0,
    };
    Shell::new(doc)
        .input("index", index_bits(count), "number of the word")
        .input(
            "words",
            count * width,
            "the words, number 0 in the low bits",
        )
        .output("word", width, "the word selected")
        .emit_with("spad_select.v.tera", p, &extra)
}
