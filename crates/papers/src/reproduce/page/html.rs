//! The results as one self-contained HTML file.

use super::super::compose::{self, Composed};
use super::super::evidence::Evidence;
use super::super::nulls::{Null, overall};
use super::super::number::number;
use super::super::results::{Comparison, Verdict};
use super::super::rules::{RULES, Rule};
use super::claims::{claims, distance, worst};
use super::table::{measured, published, tolerance, with_unit};
use super::{Section, causes, paper, papers, scatter, title};
use spadkit_report::pages::{
    Basis, FigureLine, MeanError, Outcome, PaperLine, ReproductionReport, TextTable, ValueLine,
    reproduction_verdict,
};
use std::cmp::Reverse;

/// Rows of the list of what is furthest off.
const FURTHEST: usize = 10;
/// The number of values from which all are drawn in one picture.
const DRAWN: usize = 12;

/// The origin of a report.
pub struct Made {
    /// The papers or figures, as the command line names them; empty: all.
    pub ids: Vec<String>,
    /// The commands that make it again.
    pub commands: Vec<String>,
    /// SHA-256 by file.
    pub digests: Vec<(String, String)>,
}

/// The report of figures with their results.
pub fn report(sections: &[Section], made: Made) -> ReproductionReport {
    let nulls: Vec<Null> = sections.iter().flat_map(Section::nulls).collect();
    let errors = overall(&nulls);
    let furthest = worst(sections, |_| true);
    let values = sections.iter().flat_map(|s| values(&s.results)).count();
    let papers = papers(sections);
    let errors_of = |(paper, sections): &(&str, Vec<&Section>)| {
        let nulls: Vec<Null> = sections.iter().flat_map(|s| s.nulls()).collect();
        errors_line(paper, &nulls)
    };
    let rows = papers.iter().filter_map(errors_of).collect();
    ReproductionReport {
        subject: match &made.ids[..] {
            [] => "all papers".to_owned(),
            ids => ids.join(", "),
        },
        overview: (values >= DRAWN).then(|| scatter::svg(sections)),
        all_furthest: furthest.len(),
        furthest: furthest
            .iter()
            .take(FURTHEST)
            .map(|(_, r)| line(r))
            .collect(),
        error: (errors.values > 0).then_some(MeanError {
            here: errors.error,
            no_mechanism: errors.no_mechanism,
        }),
        tables: [errors_table(rows), rules_table()]
            .into_iter()
            .flatten()
            .collect(),
        papers: papers
            .iter()
            .map(|(id, figures)| paper_line(id, figures, sections))
            .collect(),
        digests: made.digests,
        commands: made.commands,
    }
}

/// The answer of the report in a sentence.
pub fn verdict(sections: &[Section]) -> String {
    let all = sections.iter().flat_map(|s| values(&s.results));
    let lines: Vec<ValueLine> = all.map(line).collect();
    reproduction_verdict(lines.iter())
}

fn paper_line(id: &str, figures: &[&Section], all: &[Section]) -> PaperLine {
    let own = claims(all).into_iter().filter(|c| c.figure.paper() == id);
    let headlines = own.flat_map(|c| c.rows).map(|(_, r)| line(r));
    PaperLine {
        id: id.to_owned(),
        title: title(id).to_owned(),
        headlines: headlines.collect(),
        figures: figures.iter().map(|s| figure_line(s)).collect(),
    }
}

fn figure_line(section: &Section) -> FigureLine {
    let figure = section.figure;
    let mut values: Vec<&Comparison> = values(&section.results).collect();
    // The sort keeps the figure's order where nothing tells two values apart.
    values.sort_by_key(|r| {
        let far = distance(r).unwrap_or(0.0);
        (place(r.verdict), Reverse((far * 1e6) as u64))
    });
    let machine = section.results.iter().find_map(|r| r.machine.clone());
    let sensitivity = section.sensitivity.iter().map(|headline| headline.chart());
    FigureLine {
        id: figure.id.clone(),
        title: figure.title.clone(),
        source: figure.source.clone(),
        machine,
        charts: section.chart().into_iter().chain(sensitivity).collect(),
        values: values.into_iter().map(line).collect(),
        notes: notes(section),
        tables: section.composed.iter().flatten().map(subsets).collect(),
    }
}

/// The published values, with the measured value or the reason for its absence.
fn values(results: &[Comparison]) -> impl Iterator<Item = &Comparison> {
    let is_value = |r: &&Comparison| r.verdict != Verdict::NothingPublished;
    results.iter().filter(is_value)
}

/// The sort key of a verdict: misses come first.
fn place(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Differs | Verdict::DirectionOnly => 0,
        Verdict::NotModelled | Verdict::NothingPublished => 1,
        Verdict::Reproduced => 2,
    }
}

fn line(result: &Comparison) -> ValueLine {
    let number_of = result.published.as_ref().and_then(|p| p.number());
    let tells = result.check != super::super::results::Check::Order;
    let difference = result.measured.zip(number_of).filter(|_| tells);
    ValueLine {
        figure: result.id.clone(),
        quantity: result.quantity.clone(),
        workload: result.workload.clone(),
        published: published(result),
        counts: result.published.is_some(),
        measured: measured(result),
        difference: difference.map(|(m, p)| with_unit(&signed(m - p), &result.unit)),
        tolerance: tolerance(result),
        evidence: result.evidence.word(),
        basis: match result.evidence {
            Evidence::Inferred => Basis::Fitted,
            Evidence::Identity => Basis::Identity,
            Evidence::Formula | Evidence::Counted | Evidence::Timed => Basis::Own,
        },
        no_mechanism_passes: result.no_mechanism_passes,
        outcome: match result.verdict {
            Verdict::Reproduced => Outcome::Reproduced,
            Verdict::DirectionOnly => Outcome::DirectionOnly,
            Verdict::Differs => Outcome::Differs,
            Verdict::NotModelled | Verdict::NothingPublished => Outcome::NotModelled,
        },
        is_open: result.is_not_computed(),
    }
}

/// `+1.2`, `0`, `-3`.
fn signed(value: f64) -> String {
    let text = number(value);
    match text.as_str() {
        "0" | "-0" => "0".to_owned(),
        _ if value > 0.0 => format!("+{text}"),
        _ => text,
    }
}

/// Notes in Markdown: fitted inputs, reasons for differing or missing values, and the
/// notes of the figure's file.
fn notes(section: &Section) -> String {
    let mut text = paper::ranges(section) + &paper::inferred(section);
    let explained: Vec<Comparison> = values(&section.results).cloned().collect();
    let causes = causes::list(&explained);
    if !causes.is_empty() {
        text += &format!("Why values differ or have no model:\n\n{causes}\n");
    }
    text + section.figure.notes.trim()
}

/// Every subset of the mechanisms on a kernel.
fn subsets(kernel: &Composed) -> TextTable {
    let row = |s: &compose::Subset| {
        let numbers = [
            s.cycles,
            s.bank_conflicts,
            s.area_um2,
            s.clock_ps,
            s.time_ns / 1000.0,
            s.speed_up,
        ];
        let front = if s.front { "front" } else { "" };
        let numbers = numbers.map(number).into_iter();
        std::iter::once(s.name().to_owned())
            .chain(numbers)
            .chain([front.to_owned()])
            .collect()
    };
    let head = [
        "subset",
        "cycles",
        "conflicts",
        "µm²",
        "ps",
        "µs",
        "speed-up",
        "",
    ];
    TextTable {
        caption: kernel.composition.sentence.clone(),
        head: head.map(str::to_owned).into(),
        rows: kernel.composition.results.iter().map(row).collect(),
    }
}

fn errors_line(paper: &str, nulls: &[Null]) -> Option<Vec<String>> {
    let all = overall(nulls);
    let of_workloads = |v: f64| match all.of_workloads {
        0 => "–".to_owned(),
        _ => number(v),
    };
    (all.values > 0).then(|| {
        vec![
            paper.to_owned(),
            all.values.to_string(),
            number(all.error),
            number(all.no_mechanism),
            of_workloads(all.workload_error),
            of_workloads(all.constant_gain),
            all.rank.map_or("–".to_owned(), number),
        ]
    })
}

fn errors_table(rows: Vec<Vec<String>>) -> Option<TextTable> {
    let head = [
        "paper",
        "gains and shares",
        "error here",
        "no mechanism",
        "error of single workloads",
        "constant gain",
        "rank correlation",
    ];
    (!rows.is_empty()).then(|| TextTable {
        caption: "Mean absolute errors in percentage points, compared with trivial models"
            .to_owned(),
        head: head.map(str::to_owned).into(),
        rows,
    })
}

fn rules_table() -> Option<TextTable> {
    let row = |r: &Rule| {
        let evidence = r.evidence.word().to_owned();
        vec![
            evidence,
            r.what.to_owned(),
            r.width_text(),
            r.reason.to_owned(),
        ]
    };
    Some(TextTable {
        caption: "How far a value may be off, by its evidence alone".to_owned(),
        head: ["evidence", "value", "may be off by", "because"]
            .map(str::to_owned)
            .into(),
        rows: RULES.iter().map(row).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::fixture::{figure, gains};
    use super::super::super::results::results;
    use super::*;

    const FIGURE: &str = r#"
        id = "x.f1"
        title = "A <title>"
        source = "s"
        evidence = "timed"
        notes = "A *note*."
        workload = { a = {}, b = {}, c = {}, d = {} }
        configuration = { base = {}, new = {} }
        [[quantity]]
        name = "gain"
        metric = "gain"
        of = "new"
        over = "base"
        unit = "%"
        published = { a = 10, b = 20, c = 60, d = 1 }
        [[not_modelled]]
        quantity = "power"
        published = 3
        unit = "W"
        reason = "there is no power meter"
    "#;

    fn page() -> String {
        let mut figure = figure(FIGURE);
        figure.folder = "reproduce/hash".into();
        // b goes the published way and too far, c goes the other way.
        let table = gains(&[("a", 112.0), ("b", 190.0), ("c", 95.0), ("d", 101.0)]);
        let section = Section {
            figure: &figure,
            results: results(&figure, None, &table),
            sensitivity: Vec::new(),
            composed: None,
        };
        let made = Made {
            ids: Vec::new(),
            commands: vec!["spadkit reproduce".to_owned()],
            digests: vec![("points.jsonl".to_owned(), "ab12".to_owned())],
        };
        report(&[section], made).render().unwrap()
    }

    #[test]
    fn the_verdict_counts_every_value_and_what_is_missed_comes_first() {
        let page = page();
        let verdict = "2 of 5 published values are reproduced, 2 are missed, 1 has no model.";
        assert!(page.contains(&format!("<h1>{verdict}</h1>")), "{page}");
        // 20 % may be off by 3 points and is off by 70, 60 % by 6 and is off by 65.
        assert!(page.contains("Furthest off: gain of b"), "{page}");
        let figure = &page[page.find("id=\"x.f1\"").unwrap()..];
        let place = |text: &str| figure.find(text).unwrap_or_else(|| panic!("{text}"));
        let order = [
            "<small>b</small>",
            "<small>c</small>",
            "power",
            "<small>a</small>",
        ];
        assert!(order.map(place).is_sorted(), "{figure}");
        for text in ["+70 %", "-65 %", "+2 %", "3 W", "there is no power meter"] {
            assert!(figure.contains(text), "{text}: {figure}");
        }
        assert!(figure.contains("A <em>note</em>.") && page.contains("A &lt;title&gt;"));
        assert!(page.contains("ab12") && page.contains("spadkit reproduce"));
    }

    #[test]
    fn differences_have_a_sign() {
        assert_eq!(
            [1.2, -3.0, 0.0, -0.0001].map(signed),
            ["+1.2", "-3", "0", "0"]
        );
    }
}
