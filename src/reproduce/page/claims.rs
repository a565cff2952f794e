//! The headline numbers of all figures, and the rows that are furthest off.

use super::super::figure::Figure;
use super::super::nulls::overall;
use super::super::number::number;
use super::super::quantity::Quantity;
use super::super::results::{Check, Result, Verdict};
use super::super::rules::{Measure, value_measure};
use super::table::{measured, published, table, verdict};
use super::{Section, page_of, papers, title};

/// What stands before the results' table in README.md.
pub const README_BEGIN: &str = "<!-- results: written by `make reproduction` -->";
/// What stands behind it.
pub const README_END: &str = "<!-- end of results -->";

/// Headline numbers of one kind of a figure.
pub(super) struct Claim<'a> {
    pub figure: &'a Figure,
    /// The part of their names before the comma.
    pub name: &'a str,
    /// What stands behind it, with the numbers.
    pub rows: Vec<(Option<&'a str>, &'a Result)>,
}

/// The published headline numbers, in the order of the figures.
pub(super) fn claims<'a>(sections: &'a [Section]) -> Vec<Claim<'a>> {
    let mut claims: Vec<Claim> = Vec::new();
    for section in sections {
        let headlines = section.figure.quantity.iter().filter(|q| q.headline);
        for row in headlines.flat_map(|q| rows_of(q, &section.results)) {
            let (name, series) = match row.quantity.rsplit_once(", ") {
                Some((name, series)) => (name, Some(series)),
                None => (row.quantity.as_str(), None),
            };
            let known = claims.iter_mut().find(|c| {
                c.figure.id == section.figure.id && c.name == name && c.rows[0].1.unit == row.unit
            });
            match known {
                Some(claim) => claim.rows.push((series, row)),
                None => claims.push(Claim {
                    figure: section.figure,
                    name,
                    rows: vec![(series, row)],
                }),
            }
        }
    }
    claims
}

fn rows_of<'a>(quantity: &Quantity, results: &'a [Result]) -> Vec<&'a Result> {
    let names: Vec<String> = quantity
        .summaries()
        .iter()
        .map(|s| quantity.name_of(s))
        .collect();
    let of =
        |r: &&Result| r.workload.is_none() && r.published.is_some() && names.contains(&r.quantity);
    results.iter().filter(of).collect()
}

impl Claim<'_> {
    /// `mean speed-up: xor, bitvec-xor`.
    pub fn text(&self) -> String {
        let series: Vec<&str> = self.rows.iter().filter_map(|r| r.0).collect();
        if series.is_empty() {
            self.name.to_owned()
        } else {
            format!("{}: {}", self.name, series.join(", "))
        }
    }

    /// The numbers of all, with the unit once.
    pub fn cells(&self) -> [String; 3] {
        let unit = &self.rows[0].1.unit;
        let joined = |of: &dyn Fn(&Result) -> String| {
            let each: Vec<String> = self.rows.iter().map(|r| of(r.1)).collect();
            each.join(", ")
        };
        let bare = |text: String| match unit.as_str() {
            "" => text,
            unit => text.trim_end_matches(unit).trim_end().to_owned(),
        };
        let with = |text: String| super::table::with_unit(&text, unit);
        let mut verdicts: Vec<String> = Vec::new();
        for v in Verdict::ALL {
            let of: Vec<&&Result> = self
                .rows
                .iter()
                .map(|r| &r.1)
                .filter(|r| r.verdict == v)
                .collect();
            match of.len() {
                0 => {}
                n if n == self.rows.len() => verdicts.push(verdict(of[0])),
                n => verdicts.push(format!("{n} {}", v.word())),
            }
        }
        [
            with(joined(&|r| bare(published(r)))),
            with(joined(&|r| bare(measured(r)))),
            verdicts.join(", "),
        ]
    }
}

/// How far a row that differs is off: in percentage points of ratios and
/// percents, of other values in percent of the published one.
pub(super) fn distance(result: &Result) -> Option<f64> {
    if !matches!(result.verdict, Verdict::Differs | Verdict::DirectionOnly) {
        return None;
    }
    let (m, p) = (result.measured?, result.published.as_ref()?.number()?);
    Some(match value_measure(result.neutral, &result.unit) {
        _ if result.check == Check::Order => 100.0,
        Measure::Percent => (m - p).abs(),
        Measure::Ratio => 100.0 * (m - p).abs(),
        _ => 100.0 * (m - p).abs() / p.abs().max(1.0),
    })
}

/// Rows that differ, the furthest first, one of each quantity.
pub(super) fn worst<'a>(
    sections: &'a [Section],
    which: impl Fn(&Result) -> bool,
) -> Vec<(&'a Figure, &'a Result)> {
    let all = sections
        .iter()
        .flat_map(|s| s.results.iter().map(|r| (s.figure, r)));
    let mut rows: Vec<(&Figure, &Result, f64)> = all
        .filter(|r| which(r.1))
        .filter_map(|(f, r)| Some((f, r, distance(r)?)))
        .collect();
    rows.sort_by(|a, b| b.2.total_cmp(&a.2));
    let mut seen: Vec<(&str, &str)> = Vec::new();
    rows.retain(|(f, r, _)| {
        let key = (f.id.as_str(), r.quantity.as_str());
        let new = !seen.contains(&key);
        seen.push(key);
        new
    });
    rows.into_iter().map(|(f, r, _)| (f, r)).collect()
}

/// `mean speed-up (hash.f9, transpose)`.
fn named(figure: &Figure, result: &Result) -> String {
    let workload = result.workload.as_deref();
    let of = workload.map_or(String::new(), |w| format!(" of {w}"));
    format!("{}{of}", result.quantity) + &format!(" (`{}`)", figure.id)
}

/// Lines of a table of rows that differ.
pub(super) fn lines(rows: &[(&Figure, &Result)], links: bool) -> Vec<Vec<String>> {
    let line = |(figure, result): &(&Figure, &Result)| {
        let name = if links {
            let workload = result.workload.as_deref();
            let of = workload.map_or(String::new(), |w| format!(" of {w}"));
            format!(
                "[{}]({}): {}{of}",
                figure.id,
                page_of(figure),
                result.quantity
            )
        } else {
            named(figure, result)
        };
        vec![
            name,
            published(result),
            measured(result),
            result.evidence.word().to_owned(),
            verdict(result),
        ]
    };
    rows.iter().map(line).collect()
}

/// Rows of README.md that differ.
const README_WORST: usize = 8;

/// The results in README.md.
pub(super) fn readme(sections: &[Section]) -> String {
    let claim = |c: &Claim| {
        let [published, measured, verdict] = c.cells();
        let name = format!("{} (`{}`)", c.text(), c.figure.id);
        vec![name, published, measured, verdict]
    };
    let lines: Vec<Vec<String>> = claims(sections).iter().map(claim).collect();
    let mut text = format!("{README_BEGIN}\n\n");
    text += &table(&["result", "published", "measured here", "verdict"], &lines);
    let worst: Vec<_> = worst(sections, |_| true)
        .into_iter()
        .take(README_WORST)
        .collect();
    if !worst.is_empty() {
        text += "The rows that are furthest off:\n\n";
        let head = [
            "result",
            "published",
            "measured here",
            "evidence",
            "verdict",
        ];
        text += &table(&head, &self::lines(&worst, false));
    }
    let by_paper = |(paper, sections): &(&str, Vec<&Section>)| {
        let results: Vec<&Result> = sections.iter().flat_map(|s| &s.results).collect();
        let count = |v| {
            results
                .iter()
                .filter(|r| r.verdict == v)
                .count()
                .to_string()
        };
        let nulls: Vec<_> = sections.iter().flat_map(|s| s.nulls()).collect();
        let all = overall(&nulls);
        let error = |e: f64| match all.values {
            0 => "–".to_owned(),
            _ => number(e),
        };
        vec![
            title(paper).to_owned(),
            count(Verdict::Reproduced),
            count(Verdict::DirectionOnly),
            count(Verdict::Differs),
            count(Verdict::NotModelled),
            error(all.error),
            error(all.no_mechanism),
        ]
    };
    let papers: Vec<Vec<String>> = papers(sections)
        .iter()
        .filter(|p| {
            p.1.iter()
                .flat_map(|s| &s.results)
                .any(|r| r.published.is_some())
        })
        .map(by_paper)
        .collect();
    text += "All rows. *Error* is the mean absolute error in percentage points; *no mechanism* \
             is the error of a model in which the mechanism has no effect:\n\n";
    let head = [
        "paper",
        "reproduced",
        "direction only",
        "differ",
        "not modelled",
        "error",
        "no mechanism",
    ];
    text += &table(&head, &papers);
    text + README_END + "\n"
}
