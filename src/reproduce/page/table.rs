//! A figure's table: a line per workload, a column per number; verdicts and
//! means come first.

use super::super::number::number;
use super::super::results::{Check, Result};
use super::columns::{Column, columns};
use super::grid::{Grid, Head, cell};
use super::{Section, overview};

/// Begin of the line that only a run with `--sensitivity` has.
pub(super) const RANGE: &str = "| *range* |";

/// The table; its corner says what all columns are of.
pub(super) fn markdown(section: &Section) -> String {
    let columns = columns(section.figure, &section.results);
    let stem = common_stem(&columns);
    let grid = Grid::new(section.figure, &columns);
    let mut text = head(&grid, stem);
    text += &line("*verdict*", grid.heads.iter().map(verdict));
    for word in words(&columns) {
        let cells = grid.heads.iter().map(|h| summary(h.column, word));
        text += &line(&format!("**{word}**"), cells);
    }
    text += &ranges(section, &grid);
    for (label, cells) in grid.lines() {
        text += &line(&label, cells.into_iter().map(Option::unwrap_or_default));
    }
    text
}

fn line(label: &str, cells: impl Iterator<Item = impl AsRef<str>>) -> String {
    let cells: Vec<String> = cells.map(|c| c.as_ref().to_owned()).collect();
    format!("| {label} | {} |\n", cells.join(" | "))
}

/// What stands before the comma in all columns' names.
fn common_stem<'a>(columns: &[Column<'a>]) -> Option<&'a str> {
    let (stem, _) = columns.first()?.name.rsplit_once(", ")?;
    let same = |c: &Column| {
        c.unit == columns[0].unit && c.name.rsplit_once(", ").is_some_and(|n| n.0 == stem)
    };
    (columns.len() > 1 && columns.iter().all(same)).then_some(stem)
}

fn unit(unit: &str) -> String {
    match unit {
        "" => String::new(),
        unit => format!(" ({unit})"),
    }
}

fn head(grid: &Grid, stem: Option<&str>) -> String {
    let name = |h: &Head| {
        let series = match stem {
            Some(stem) => h.column.name[stem.len() + 2..].to_owned(),
            None => format!("{}{}", h.column.name, unit(h.column.unit)),
        };
        let of = h.of.map_or(String::new(), |of| format!("{of}: "));
        format!("{of}{series}{}", tolerance_of(h))
    };
    let rule = "---|".repeat(grid.heads.len() + 1);
    let corner = match (stem, grid.heads.first()) {
        (Some(stem), Some(first)) => format!("{stem}{}", unit(first.column.unit)),
        _ => String::new(),
    };
    format!("{}|{rule}\n", line(&corner, grid.heads.iter().map(name)))
}

/// How far the workloads' values may be from the published ones.
fn tolerance_of(head: &Head) -> String {
    let judged = head.values().find(|r| r.verdict.is_judged());
    match judged {
        Some(result) => tolerance(result).map_or(String::new(), |t| format!(", {t}")),
        None => String::new(),
    }
}

fn tolerance(result: &Result) -> Option<String> {
    match result.check {
        Check::Exact | Check::Mean => Some(format!("±{}", number(result.tolerance?))),
        _ => None,
    }
}

fn verdict(head: &Head) -> String {
    let summaries = head.column.summaries.iter().map(|s| s.1);
    let results: Vec<&Result> = head.values().chain(summaries).collect();
    overview::verdict(&results)
}

/// The kinds of sums that there are.
fn words(columns: &[Column]) -> Vec<&'static str> {
    let mut words: Vec<&'static str> = Vec::new();
    for (word, _) in columns.iter().flat_map(|c| &c.summaries) {
        if !words.contains(word) {
            words.push(word);
        }
    }
    words
}

fn summary(column: &Column, word: &str) -> String {
    let Some((_, result)) = column.summaries.iter().find(|s| s.0 == word) else {
        return String::new();
    };
    let mut text = cell(result);
    if result.verdict.is_judged() {
        text += &tolerance(result).map_or(String::new(), |t| format!(", {t}"));
    }
    text
}

/// Median, least and largest value of each headline number.
fn ranges(section: &Section, grid: &Grid) -> String {
    if section.sensitivity.is_empty() {
        return String::new();
    }
    let range = |h: &Head| {
        let of = |name: &str| section.sensitivity.iter().find(|s| s.name == name);
        let headline = h.column.summaries.iter().find_map(|s| of(&s.1.quantity));
        headline.map_or(String::new(), |headline| {
            let (median, least, most) = headline.range();
            format!("{} [{}, {}]", number(median), number(least), number(most))
        })
    };
    let label = RANGE.trim_matches(['|', ' ']);
    line(label, grid.heads.iter().map(range))
}
