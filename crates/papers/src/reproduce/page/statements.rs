//! Counts, places of extremes and orders that a paper states and that do not hold here.

use super::super::figure::Figure;
use super::super::results::{Check, Comparison};
use super::table::{Statement, marked, measured, table};
use super::{Section, anchor, papers};

const HEADING: &str = "Statements that do not hold here";
const ANCHOR: &str = "statements-that-do-not-hold-here";

/// The section of a paper's page; empty where all statements hold.
pub(super) fn section(sections: &[&Section]) -> String {
    let rows = failing(sections);
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "## {HEADING}\n\nCounts, places of extremes and orders:\n\n{}",
        table(&["statement", "published", "measured"], &rows)
    )
}

/// Number of statements that do not hold in each paper, for the overview; empty where
/// all hold.
pub(super) fn by_paper(sections: &[Section]) -> String {
    let of = |(paper, sections): (&str, Vec<&Section>)| {
        let link = format!("[{paper}](reproduction/{paper}.md#{ANCHOR})");
        (failing(&sections).len(), link)
    };
    let found = papers(sections).into_iter().map(of);
    summed(found).map_or(String::new(), |(all, list)| {
        format!(
            "Of the counts, places of extremes and orders that the papers state, {all} do not \
             hold here: {list}.\n\n"
        )
    })
}

/// The sum of counts and what they are in, as a list; those of 0 left out, and none if all are.
pub(super) fn summed(counts: impl Iterator<Item = (usize, String)>) -> Option<(usize, String)> {
    let found: Vec<(usize, String)> = counts.filter(|(n, _)| *n > 0).collect();
    let list: Vec<String> = found
        .iter()
        .map(|(n, link)| format!("{n} in {link}"))
        .collect();
    let all = found.iter().map(|(n, _)| n).sum();
    (all > 0).then(|| (all, list.join(", ")))
}

fn failing(sections: &[&Section]) -> Vec<Vec<String>> {
    let mut rows = failing_counts(sections);
    rows.extend(failing_orders(sections));
    rows
}

/// Differing counts, and differing workloads of an extreme.
fn failing_counts(sections: &[&Section]) -> Vec<Vec<String>> {
    let is_order = |f: &Figure, r: &Comparison| {
        f.order
            .iter()
            .any(|o| r.quantity.strip_prefix("count ") == Some(&o.name))
    };
    let line =
        |figure: &Figure, r: &Comparison| vec![linked(figure, &r.quantity), marked(r), measured(r)];
    let of = |section: &&Section| -> Vec<Vec<String>> {
        let figure = section.figure;
        let counts = section.results.iter().filter(|r| {
            r.verdict.is_missed() && r.counts && r.check != Check::Order && !is_order(figure, r)
        });
        counts.map(|r| line(figure, r)).collect()
    };
    sections.iter().flat_map(of).collect()
}

/// Orders that do not hold, in the words of their figure's table.
fn failing_orders(sections: &[&Section]) -> Vec<Vec<String>> {
    let of = |section: &&Section| -> Vec<Vec<String>> {
        let figure = section.figure;
        let statements = figure.order.iter();
        let statements = statements.filter_map(|o| Statement::of(o, &section.results));
        let line = |s: Statement| vec![linked(figure, s.name), s.published, s.measured];
        statements.filter(|s| s.is_missed).map(line).collect()
    };
    sections.iter().flat_map(of).collect()
}

/// A statement beside its figure on the same page.
fn linked(figure: &Figure, statement: &str) -> String {
    format!("[{}](#{}): {statement}", figure.id, anchor(figure))
}
