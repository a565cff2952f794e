//! A layout as a function of Numba.

use super::expression::{Dialect, Numbers};
use super::layout::Layout;
use super::operation::Steps;
use std::fmt::Write;

/// The device function `name` of Numba from the index of an element of `bytes` bytes, a power
/// of two, to the element that holds it. The layout must leave the words of an element
/// together. With `columns` it takes a row and a column, and gives a row and a column.
pub fn numba_function(layout: &Layout, name: &str, bytes: u32, columns: Option<&str>) -> String {
    let steps = Steps::of(layout);
    let mut text = format!("# {}: where an element is kept.\n", layout.spec());
    let table = format!("{}_TABLE", name.to_uppercase());
    // Writing to a String cannot fail.
    if !steps.table.is_empty() {
        let words: Vec<String> = steps.table.iter().map(|w| format!("{w:#010x}")).collect();
        let lines: Vec<String> = words.chunks(6).map(|line| line.join(", ")).collect();
        let _ = writeln!(text, "{table} = (\n    {},\n)", lines.join(",\n    "));
    }
    let parameters = if columns.is_some() {
        "row, column"
    } else {
        "index"
    };
    let _ = writeln!(text, "@cuda.jit(device=True)\ndef {name}({parameters}):");
    let mut line = |code: String| {
        let _ = writeln!(text, "    {code}");
    };
    if let Some(columns) = columns {
        line(format!("index = row * {columns} + column"));
    }
    let (to_word, within) = match bytes {
        4 => (None, None),
        0..4 => {
            let n = 4 / bytes;
            let from_word = format!("place * {n} + index % {n}");
            (Some(format!("index // {n}")), Some(from_word))
        }
        _ => {
            let n = bytes / 4;
            (Some(format!("index * {n}")), Some(format!("place // {n}")))
        }
    };
    let word = if to_word.is_some() { "word" } else { "index" };
    if let Some(to_word) = to_word {
        line(format!("word = {to_word}"));
    }
    let python = Dialect {
        index: word,
        table: &table,
        numbers: Numbers::Unbounded,
    };
    for (i, step) in steps.steps.iter().enumerate() {
        line(format!("s{i} = {}", python.expression(step)));
    }
    let mut place = python.value(&steps.result());
    if let Some(within) = within {
        line(format!("place = {place}"));
        place = within;
    }
    match columns {
        Some(columns) => {
            line(format!("place = {place}"));
            line(format!("return place // {columns}, place % {columns}"));
        }
        None => line(format!("return {place}")),
    }
    text
}
