//! Parsers of values of options.

use crate::cuda::{MAX_BLOCK, MAX_GRID, MAX_THREADS};
use crate::error::Error;
use crate::hash::HashKind;
use crate::input::is_stdin;
use crate::launch::PtxFile;
use crate::workload::Input;
use clap::builder::{PathBufValueParser, TypedValueParser};
use std::borrow::Borrow;

/// A value of the command line, as clap wants it: the error in one text, with
/// what was expected.
pub(super) fn parsed<T: std::str::FromStr<Err = Error>>(
    text: &str,
) -> std::result::Result<T, String> {
    text.parse().map_err(|error: Error| in_one_line(&error))
}

/// A parser of files alone, whatever their names are made of; PTX on standard input.
pub(super) fn file_input() -> impl TypedValueParser<Value = Input> {
    PathBufValueParser::new().map(|path| {
        if is_stdin(&path) {
            Input::Ptx(PtxFile::new(&path).into())
        } else {
            Input::from(path)
        }
    })
}

/// The kinds of hash unit in a sentence: `a, b or c`.
pub(super) fn hash_kinds(conjunction: &str) -> String {
    alternatives(&HashKind::ALL.map(HashKind::name), conjunction)
}

/// Names in a sentence: `a, b or c`.
pub(super) fn alternatives<S: Borrow<str>>(names: &[S], conjunction: &str) -> String {
    let (last, others) = names.split_last().expect("there is a name");
    format!("{} {conjunction} {}", others.join(", "), last.borrow())
}

pub(super) fn in_one_line(error: &Error) -> String {
    match error {
        Error::Usage {
            what,
            help: Some(help),
        } => format!("{what}; {help}"),
        other => other.to_string(),
    }
}

/// `X`, `X,Y` or `X,Y,Z`, within CUDA's limits.
pub(super) fn parse_block(text: &str) -> std::result::Result<[u32; 3], String> {
    let block = parse_dimensions(text, MAX_BLOCK)?;
    match block.iter().product::<u32>() {
        ..=MAX_THREADS => Ok(block),
        _ => Err(format!("expected at most {MAX_THREADS} threads in all")),
    }
}

/// Reads a grid's size, `X[,Y[,Z]]`.
pub(super) fn parse_grid(text: &str) -> std::result::Result<[u32; 3], String> {
    parse_dimensions(text, MAX_GRID)
}

/// Reads one to three dimensions, at least 1 and at most `most` each.
fn parse_dimensions(text: &str, most: [u32; 3]) -> std::result::Result<[u32; 3], String> {
    let [x, y, z] = most;
    let expected = || format!("expected X, X,Y or X,Y,Z, at most {x}, {y} and {z}");
    let sizes: Option<Vec<u32>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    let sizes = sizes.filter(|s| s.len() <= 3).ok_or_else(expected)?;
    let mut all = [1; 3];
    all[..sizes.len()].copy_from_slice(&sizes);
    let fits = |(&n, most): (&u32, u32)| (1..=most).contains(&n);
    if all.iter().zip(most).all(fits) {
        Ok(all)
    } else {
        Err(expected())
    }
}

/// The help of INPUT: access traces, launch files, generated kernels and `others`.
pub(super) fn input_help(others: &[&str]) -> String {
    let mut kinds = vec![
        "Access trace (.json)",
        "launch file (.toml; .toml:N for launch N in execution order, from 0)",
    ];
    kinds.extend(others);
    kinds.push("Accel-Sim trace (.traceg, kernelslist.g)");
    kinds.push("kernel:NAME for a generated one");
    alternatives(&kinds, "or")
}
