//! The headline numbers of all figures, and the rows that are furthest off.

use super::super::evidence::Evidence;
use super::super::figure::Figure;
use super::super::nulls::overall;
use super::super::number::number;
use super::super::quantity::Quantity;
use super::super::results::{Comparison, Verdict};
use super::grid::derived_mark;
use super::table::{marked, measured, published, table, tolerance, verdict};
use super::{Section, page_of, papers, title};

/// The mark before the results' table in README.md.
pub const README_BEGIN: &str = "<!-- results: written by `make reproduction` -->";
/// The mark after it.
pub const README_END: &str = "<!-- end of results -->";

/// Headline numbers of one kind of a figure.
pub(super) struct Claim<'a> {
    pub figure: &'a Figure,
    /// The part of their names before the comma.
    pub name: &'a str,
    /// The text after it, with the numbers.
    pub rows: Vec<(Option<&'a str>, &'a Comparison)>,
}

/// The published headline numbers, in the order of the figures: the sums of a quantity,
/// or its values where it is not summed up.
pub(super) fn claims<'a>(sections: &'a [Section]) -> Vec<Claim<'a>> {
    let mut claims: Vec<Claim> = Vec::new();
    for section in sections {
        let headlines = section.figure.quantity.iter().filter(|q| q.headline);
        for row in headlines.flat_map(|q| rows_of(q, &section.results)) {
            let (name, series) = match (&row.workload, row.quantity.rsplit_once(", ")) {
                (Some(workload), _) => (row.quantity.as_str(), Some(workload.as_str())),
                (None, Some((name, series))) => (name, Some(series)),
                (None, None) => (row.quantity.as_str(), None),
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

fn rows_of<'a>(quantity: &Quantity, results: &'a [Comparison]) -> Vec<&'a Comparison> {
    let names: Vec<String> = quantity
        .summaries()
        .iter()
        .map(|s| quantity.name_of(s))
        .collect();
    let is_published = |r: &&Comparison| r.published.is_some();
    let of = |r: &&Comparison| r.workload.is_none() && names.contains(&r.quantity);
    let sums: Vec<&Comparison> = results.iter().filter(is_published).filter(of).collect();
    if !sums.is_empty() {
        return sums;
    }
    let of = |r: &&Comparison| r.workload.is_some() && r.quantity == quantity.name;
    results.iter().filter(is_published).filter(of).collect()
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

    /// The evidence of all: `timed`, or `1 timed, 5 inferred`.
    pub fn evidence(&self) -> String {
        let of = |e: Evidence| self.rows.iter().filter(|r| r.1.evidence == e).count();
        let words = Evidence::ALL.into_iter().filter_map(|e| match of(e) {
            0 => None,
            n if n == self.rows.len() => Some(e.word().to_owned()),
            n => Some(format!("{n} {}", e.word())),
        });
        words.collect::<Vec<_>>().join(", ")
    }

    /// The tolerances of the rows, each width once.
    pub fn tolerance(&self) -> String {
        let mut widths: Vec<String> = self.rows.iter().map(|r| tolerance(r.1)).collect();
        widths.dedup();
        widths.join(", ")
    }

    /// The numbers of all, with the unit once.
    pub fn cells(&self) -> [String; 3] {
        let unit = &self.rows[0].1.unit;
        let joined = |of: &dyn Fn(&Comparison) -> String| {
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
            let of: Vec<&&Comparison> = self
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
            with(joined(&|r| bare(published(r)) + derived_mark(r))),
            with(joined(&|r| bare(measured(r)))),
            verdicts.join(", "),
        ]
    }
}

/// The distance of a differing row, in tolerances of a timed value of its kind,
/// whatever its own evidence. A tolerance that is a part of the value is a factor
/// here, so that half is as far as twice. A published direction counts from no change.
/// Counts and orders have no distance.
pub(super) fn distance(result: &Comparison) -> Option<f64> {
    if !result.verdict.is_missed() || result.counts {
        return None;
    }
    let measured = result.measured?;
    let neutral = result.neutral.unwrap_or(0.0);
    let published = result.published.as_ref()?.number().unwrap_or(neutral);
    if let Some(width) = result.yardstick {
        return Some((measured - published).abs() / width);
    }
    let factor = match measured / published {
        factor if factor > 0.0 && factor.is_finite() => factor,
        // From zero to non-zero, or back: no factor can express the distance.
        _ => std::f64::consts::E,
    };
    Some(factor.ln().abs() / ONE_PART.ln())
}

/// The factor that a value may be off by once, where that is a part of it.
const ONE_PART: f64 = 1.1;

/// Rows that differ, the furthest first, one of each quantity.
pub(super) fn worst<'a>(
    sections: &'a [Section],
    which: impl Fn(&Comparison) -> bool,
) -> Vec<(&'a Figure, &'a Comparison)> {
    let all = sections
        .iter()
        .flat_map(|s| s.results.iter().map(|r| (s.figure, r)));
    let mut rows: Vec<(&Figure, &Comparison, f64)> = all
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
fn named(figure: &Figure, result: &Comparison) -> String {
    let workload = result.workload.as_deref();
    let of = workload.map_or(String::new(), |w| format!(" of {w}"));
    format!("{}{of}", result.quantity) + &format!(" (`{}`)", figure.id)
}

/// Lines of a table of rows that differ.
pub(super) fn lines(rows: &[(&Figure, &Comparison)], links: bool) -> Vec<Vec<String>> {
    let line = |(figure, result): &(&Figure, &Comparison)| {
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
            marked(result),
            measured(result),
            result.evidence.word().to_owned(),
            verdict(result),
        ]
    };
    rows.iter().map(line).collect()
}

/// Rows of README.md that differ.
const README_WORST: usize = 8;
const README_HEAD: [&str; 5] = [
    "result",
    "published",
    "measured here",
    "evidence",
    "verdict",
];

/// The results in README.md.
pub(super) fn readme(sections: &[Section]) -> String {
    let claim = |c: &Claim| {
        let [published, measured, verdict] = c.cells();
        let name = format!("{} (`{}`)", c.text(), c.figure.id);
        vec![name, published, measured, c.evidence(), verdict]
    };
    let lines: Vec<Vec<String>> = claims(sections).iter().map(claim).collect();
    let mut text = format!("{README_BEGIN}\n\n");
    text += &table(&README_HEAD, &lines);
    let worst: Vec<_> = worst(sections, |_| true)
        .into_iter()
        .take(README_WORST)
        .collect();
    if !worst.is_empty() {
        text += "These rows are furthest off:\n\n";
        text += &table(&README_HEAD, &self::lines(&worst, false));
    }
    text += &split(sections.iter().flat_map(|s| &s.results));
    text += "The next table counts all rows. *Fitted* rows and *identities* are within the \
             tolerance too, but prove nothing. In a fitted row, an input or the machine was \
             chosen to match the paper. An identity is one of the paper's numbers that the kit \
             takes as an input. *Error* is the mean absolute error in percentage points; *no \
             mechanism* is the error of a model in which the mechanism has no effect:\n\n";
    text += &papers_table(sections);
    text + README_END + "\n"
}

/// The published values of the reproduced rows, by kind.
pub(super) fn split<'a>(results: impl Iterator<Item = &'a Comparison>) -> String {
    let own = |r: &&Comparison| r.verdict == Verdict::Reproduced && r.evidence.is_own();
    let own: Vec<&Comparison> = results.filter(own).collect();
    let derived = own.iter().filter(|r| r.is_derived()).count();
    format!(
        "Of the {} reproduced rows that are neither fitted nor identities, {} have a value or a \
         statement that the paper prints, and {derived} a value (ᵈ) that we derived from printed \
         ones.\n\n",
        own.len(),
        own.len() - derived
    )
}

/// A row per paper: how many of its results are reproduced, and the error.
fn papers_table(sections: &[Section]) -> String {
    let head = [
        "paper",
        "reproduced",
        "fitted",
        "identities",
        "direction only",
        "differ",
        "not modelled",
        "error",
        "no mechanism",
    ];
    let has_published = |sections: &[&Section]| {
        let mut results = sections.iter().flat_map(|s| &s.results);
        results.any(|r| r.published.is_some())
    };
    let papers = papers(sections);
    let papers = papers.iter().filter(|(_, own)| has_published(own));
    let rows: Vec<Vec<String>> = papers.map(|(paper, own)| of_paper(paper, own)).collect();
    table(&head, &rows)
}

fn of_paper(paper: &str, sections: &[&Section]) -> Vec<String> {
    let results: Vec<&Comparison> = sections.iter().flat_map(|s| &s.results).collect();
    let of = |v| results.iter().filter(move |r| r.verdict == v);
    let count = |v| of(v).count().to_string();
    let reproduced = |e: &dyn Fn(Evidence) -> bool| {
        of(Verdict::Reproduced)
            .filter(|r| e(r.evidence))
            .count()
            .to_string()
    };
    let without = of(Verdict::NotModelled).filter(|r| r.published.is_some());
    let nulls: Vec<_> = sections.iter().flat_map(|s| s.nulls()).collect();
    let all = overall(&nulls);
    let error = |e: f64| match all.values {
        0 => "–".to_owned(),
        _ => number(e),
    };
    vec![
        title(paper).to_owned(),
        reproduced(&Evidence::is_own),
        reproduced(&|e| e == Evidence::Inferred),
        reproduced(&|e| e == Evidence::Identity),
        count(Verdict::DirectionOnly),
        count(Verdict::Differs),
        without.count().to_string(),
        error(all.error),
        error(all.no_mechanism),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::super::compute::Table;
    use super::super::super::fixture::{self, figure, gains};
    use super::super::super::point::Numbers;
    use super::super::super::results::results;
    use super::*;

    const FIGURE: &str = r#"
        id = "x.f1"
        title = "t"
        source = "s"
        evidence = "timed"
        workload = { a = {}, b = {}, c = {} }
        configuration = { base = {}, new = {} }
        [[quantity]]
    "#;

    /// The distances of the rows of workloads, if `quantity` stands in the figure.
    fn distances<const N: usize>(quantity: &str, table: &Table) -> [Option<f64>; N] {
        let rows = results(&figure(&format!("{FIGURE}{quantity}")), None, table);
        let all: Vec<Option<f64>> = rows.iter().map(distance).collect();
        all.try_into().unwrap()
    }

    fn near<const N: usize>(found: [Option<f64>; N], expected: [f64; N]) {
        for (found, expected) in found.into_iter().zip(expected) {
            assert!(
                (found.unwrap() - expected).abs() < 1e-9,
                "{found:?}, {expected}"
            );
        }
    }

    /// Three points are as far as a tenth of a large change, however it is written; a
    /// direction that is missed has a distance as well.
    #[test]
    fn every_missed_change_is_off_by_points() {
        let gain = "name = 'g'\nmetric = 'gain'\nof = 'new'\nover = 'base'\nunit = '%'\n";
        let published = "published = { a = 10, b = 'up', c = 100 }";
        // 22 and 80 points off: 3 are allowed of 10 %, 10 of 100 %.
        let table = gains(&[("a", 132.0), ("b", 94.0), ("c", 120.0)]);
        near(
            distances(&format!("{gain}{published}"), &table),
            [22.0 / 3.0, 2.0, 8.0],
        );
        // As a ratio the same.
        let ratio = gain.replace("'gain'", "'speed-up'").replace("'%'", "'x'");
        let published = "published = { a = 1.10, b = 'up', c = 2.00 }";
        near(
            distances(&format!("{ratio}{published}"), &table),
            [22.0 / 3.0, 2.0, 8.0],
        );
    }

    /// For shares that go or stay, the evidence does not matter: 21 points are as
    /// far in counted rows as in timed ones.
    #[test]
    fn counted_shares_are_off_by_points() {
        let removed = "name = 'r'\nevidence = 'counted'\nkey = 'bank_conflicts'\n\
                       metric = 'removed'\nof = 'new'\nover = 'base'\nunit = '%'\nonly = ['a']\n\
                       published = { a = 99 }";
        let cells = [("base", 1000.0), ("new", 220.0)];
        let cells = cells.map(|(c, n)| (("a".to_owned(), c.to_owned()), n));
        let table = cells.into_iter().map(|(cell, n)| {
            let values = [("bank_conflicts".to_owned(), n)].into();
            (
                cell,
                Numbers {
                    values,
                    ..Numbers::default()
                },
            )
        });
        near(distances(removed, &table.collect()), [7.0]);
    }

    /// For other values, half is as far as twice.
    #[test]
    fn absolute_values_are_off_by_factors() {
        let cycles = "name = 'c'\nof = 'new'\nunit = 'cycles'\nonly = ['a', 'b']\n";
        let table = fixture::table(&[("a", "new", 200.0), ("b", "new", 50.0)]);
        let twice = 2f64.ln() / 1.1f64.ln();
        let published = "published = { a = 100, b = 100 }";
        near(
            distances(&format!("{cycles}{published}"), &table),
            [twice, twice],
        );
    }
}
