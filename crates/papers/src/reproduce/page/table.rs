//! A figure's tables: what its workloads are summed up to, and a line per
//! workload with a column per published number.

use super::super::number::number;
use super::super::order::Order;
use super::super::results::{Check, Comparison, Verdict};
use super::Section;
use super::columns::{Column, columns};
use super::grid::{Grid, Head, derived_mark};
use std::collections::BTreeSet;

/// The tables of the figure.
pub(super) fn markdown(section: &Section) -> String {
    let mut text = sums(section);
    text += &statements(section);
    text += &values(section);
    text
}

fn line(cells: impl IntoIterator<Item = String>) -> String {
    let cells: Vec<String> = cells.into_iter().collect();
    format!("| {} |\n", cells.join(" | "))
}

pub(super) fn table(head: &[&str], lines: &[Vec<String>]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut text = line(head.iter().map(|h| (*h).to_owned()));
    text += &format!("|{}\n", "---|".repeat(head.len()));
    for cells in lines {
        text += &line(cells.iter().cloned());
    }
    text + "\n"
}

/// `1.21 x`; the unit once.
pub(super) fn with_unit(value: &str, unit: &str) -> String {
    match unit {
        "" => value.to_owned(),
        unit => format!("{value} {unit}"),
    }
}

/// The paper's value.
pub(super) fn published(result: &Comparison) -> String {
    match (&result.published, result.check) {
        (None, _) => "–".to_owned(),
        (Some(_), Check::Order) => "holds".to_owned(),
        (Some(published), _) if published.number().is_none() => published.text(),
        (Some(published), _) => with_unit(&published.text(), &result.unit),
    }
}

/// The paper's value, with a mark where the paper does not print it.
pub(super) fn marked(result: &Comparison) -> String {
    published(result) + derived_mark(result)
}

/// The models' value.
pub(super) fn measured(result: &Comparison) -> String {
    match (result.measured, result.check) {
        (None, _) => "–".to_owned(),
        (Some(v), Check::Order) if v >= 1.0 => "holds".to_owned(),
        (Some(_), Check::Order) => "does not hold".to_owned(),
        (Some(v), _) => with_unit(&number(v), &result.unit),
    }
}

/// Bold unless the value is reproduced; a mark where no mechanism does as well.
pub(super) fn verdict(result: &Comparison) -> String {
    let mark = if result.no_mechanism_passes { "°" } else { "" };
    match result.verdict {
        Verdict::Differs | Verdict::DirectionOnly => {
            format!("**{}**{mark}", result.verdict.word())
        }
        verdict => format!("{}{mark}", verdict.word()),
    }
}

/// The tolerance.
pub(super) fn tolerance(result: &Comparison) -> String {
    match (result.check, result.tolerance) {
        (Check::Exact | Check::Mean, Some(t)) => format!("±{}", precise(t)),
        (Check::Direction, _) => "direction".to_owned(),
        _ => "–".to_owned(),
    }
}

/// Halves of a small decimal, too.
fn precise(value: f64) -> String {
    let text = format!("{value:.6}");
    match value {
        v if v >= 1.0 => number(v),
        _ => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

/// Means, counts, extremes; with ranges where the figure was analysed.
fn sums(section: &Section) -> String {
    let orders = |r: &&Comparison| section.figure.order.iter().any(|o| o.name == r.quantity);
    let rows = section.results.iter().filter(|r| r.workload.is_none());
    let rows: Vec<&Comparison> = rows
        .filter(|r| !orders(r) && r.verdict != Verdict::NotModelled)
        .collect();
    let ranges = !section.sensitivity.is_empty();
    let of = |r: &&Comparison| {
        let mut cells = vec![
            with_workloads(r),
            marked(r),
            measured(r),
            tolerance(r),
            r.evidence.word().to_owned(),
            verdict(r),
        ];
        if ranges {
            cells.push(range(section, r));
        }
        cells
    };
    let lines: Vec<Vec<String>> = rows.iter().map(of).collect();
    let head = [
        "sum",
        "published",
        "measured",
        "may be off by",
        "evidence",
        "verdict",
    ];
    let more = ["small changes; all changes"];
    if ranges {
        table(&[&head[..], &more[..]].concat(), &lines)
    } else {
        table(&head, &lines)
    }
}

/// The name, and how many of the paper's workloads take part if not all do.
fn with_workloads(result: &Comparison) -> String {
    let name = &result.quantity;
    match result.workloads {
        Some([with, all]) => format!("{name} ({with} of {all} workloads)"),
        None => name.clone(),
    }
}

/// The two ranges of a headline number, those of its chart.
fn range(section: &Section, result: &Comparison) -> String {
    let headline = section
        .sensitivity
        .iter()
        .find(|s| s.name == result.quantity);
    headline.map_or(String::new(), |headline| {
        let (_, least, most) = headline.range();
        let (lowest, highest) = headline.whole();
        let [least, most, lowest, highest] = [least, most, lowest, highest].map(number);
        format!("{least} to {most}; {lowest} to {highest}")
    })
}

/// The orders that the paper states.
fn statements(section: &Section) -> String {
    let line = |s: Statement| {
        let evidence = s.of.evidence.word().to_owned();
        vec![
            s.name.to_owned(),
            s.published,
            s.measured,
            evidence,
            s.verdict,
        ]
    };
    let orders = section.figure.order.iter();
    let found = orders.filter_map(|o| Statement::of(o, &section.results));
    let lines: Vec<Vec<String>> = found.map(line).collect();
    table(
        &["statement", "published", "measured", "evidence", "verdict"],
        &lines,
    )
}

/// An order that a paper states, in words.
pub(super) struct Statement<'a> {
    pub name: &'a str,
    /// `holds`, `for all 12`, `for 14`.
    pub published: String,
    /// `does not hold`, `for 11 of 12, not for NQU`.
    pub measured: String,
    verdict: String,
    /// Row of the statement, or the first of the rows of its workloads.
    of: &'a Comparison,
    pub is_missed: bool,
}

impl<'a> Statement<'a> {
    pub fn of(order: &'a Order, results: &'a [Comparison]) -> Option<Self> {
        let named = |name: &str| -> Vec<&Comparison> {
            results.iter().filter(|r| r.quantity == name).collect()
        };
        let rows = named(&order.name);
        let first = *rows.first()?;
        let whole = |of: &'a Comparison, published: String, measured: String| Statement {
            name: &order.name,
            published,
            measured,
            verdict: verdict(of),
            of,
            is_missed: of.verdict.is_missed(),
        };
        if let Some(count) = named(&format!("count {}", order.name)).first() {
            let published = format!("for {}", self::published(count));
            let measured = format!("for {} of {}", self::measured(count), rows.len());
            return Some(whole(count, published, measured));
        }
        if rows.len() == 1 {
            let over = first.workloads;
            let over = over.map(|[with, all]| format!(", over {with} of {all}"));
            let measured = measured(first) + &over.unwrap_or_default();
            return Some(whole(first, published(first), measured));
        }
        let fails = rows.iter().filter(|r| r.verdict != Verdict::Reproduced);
        let fails: Vec<&str> = fails.filter_map(|r| r.workload.as_deref()).collect();
        let holds = format!("for {} of {}", rows.len() - fails.len(), rows.len());
        let published = format!("for all {}", rows.len());
        Some(if fails.is_empty() {
            Statement {
                verdict: "reproduced".to_owned(),
                ..whole(first, published, holds)
            }
        } else {
            Statement {
                verdict: format!("**differs** in {}", fails.len()),
                is_missed: rows.iter().any(|r| r.verdict.is_missed()),
                ..whole(
                    first,
                    published,
                    format!("{holds}, not for {}", fails.join(", ")),
                )
            }
        })
    }
}

/// The columns that have published values, or that the figure's text is about: a table for
/// those that are of the same workloads.
fn values(section: &Section) -> String {
    let mut columns = columns(section.figure, &section.results);
    columns.retain(|c| c.is_published() || c.is_shown());
    let tables = grouped(columns);
    tables.iter().map(|c| of_columns(section, c)).collect()
}

/// Groups columns: one whose workloads are a subset of another's is shown next to it.
fn grouped(columns: Vec<Column>) -> Vec<Vec<Column>> {
    let mut groups: Vec<(BTreeSet<&str>, Vec<Column>)> = Vec::new();
    for column in columns {
        let own = column.workloads();
        let fits =
            |g: &&mut (BTreeSet<&str>, Vec<Column>)| own.is_subset(&g.0) || own.is_superset(&g.0);
        match groups.iter_mut().find(fits) {
            Some((workloads, group)) => {
                workloads.extend(own);
                group.push(column);
            }
            None => groups.push((own, vec![column])),
        }
    }
    groups.into_iter().map(|g| g.1).collect()
}

fn of_columns(section: &Section, columns: &[Column]) -> String {
    let stem = common_stem(columns);
    let evidence = columns.first().and_then(Column::evidence);
    let evidence = evidence.filter(|e| columns.iter().all(|c| c.evidence() == Some(*e)));
    let grid = Grid::new(section.figure, columns);
    let lines: Vec<Vec<String>> = grid
        .lines()
        .into_iter()
        .map(|(label, cells)| {
            let cells = cells.into_iter().map(Option::unwrap_or_default);
            std::iter::once(label).chain(cells).collect()
        })
        .collect();
    let corner = match (stem, columns.first()) {
        (Some(stem), Some(first)) => in_unit(stem, first.unit),
        _ => "published / measured".to_owned(),
    };
    let corner = match evidence {
        Some(evidence) => format!("{corner}, {}", evidence.word()),
        None => corner,
    };
    let heads = grid.heads.iter().map(|h| head(h, stem, evidence.is_none()));
    let heads: Vec<String> = std::iter::once(corner).chain(heads).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    table(&heads, &lines)
}

/// The common part before the comma of all columns' names.
fn common_stem<'a>(columns: &[Column<'a>]) -> Option<&'a str> {
    let first = columns.first()?;
    let same =
        |c: &Column| c.unit == first.unit && c.series().is_some() && c.stem() == first.stem();
    (columns.len() > 1 && columns.iter().all(same)).then(|| first.stem())
}

/// The name with its unit, unless the name says the unit: `resident blocks`.
fn in_unit(name: &str, unit: &str) -> String {
    match unit {
        "" => name.to_owned(),
        word if word.len() > 2 && name.contains(word) => name.to_owned(),
        unit => format!("{name} ({unit})"),
    }
}

fn head(head: &Head, stem: Option<&str>, with_evidence: bool) -> String {
    let column = head.column;
    let series = match (stem, column.series()) {
        (Some(_), Some(series)) => series.to_owned(),
        _ => in_unit(column.name, column.unit),
    };
    let of = head.of.map_or(String::new(), |of| format!("{of}: "));
    match column.evidence().filter(|_| with_evidence) {
        Some(evidence) => format!("{of}{series}, {}", evidence.word()),
        None => format!("{of}{series}"),
    }
}
