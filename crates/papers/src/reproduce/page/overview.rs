//! The first page: how far the results carry, what is not reproduced, and what is.

use super::super::evidence::Evidence;
use super::super::nulls::{Null, overall};
use super::super::number::number;
use super::super::results::{Comparison, Verdict};
use super::claims::{Claim, claims, lines, split, worst};
use super::table::table;
use super::{Minutes, Section, page_of, papers, scatter, statements, title};

/// Rows of the lists of what differs.
const SUMS: usize = 10;
const VALUES: usize = 8;

/// The page; the others are in `reproduction`, charts in `charts`.
pub(super) fn markdown(sections: &[Section], minutes: &Minutes) -> String {
    let results: Vec<&Comparison> = sections.iter().flat_map(|s| &s.results).collect();
    let mut text = head(sections);
    text += "## What we do not reproduce\n\n";
    text += &differing(sections);
    text += &not_modelled(sections);
    text += "## Headline numbers\n\n";
    text += &claimed(sections, minutes);
    text += "## All rows\n\n";
    text += &counts(&results);
    text += &split(results.iter().copied());
    text += &by_paper(sections);
    text + FOOT
}

fn head(sections: &[Section]) -> String {
    let left_out = match scatter::left_out(sections) {
        0 => String::new(),
        n => format!(" The chart leaves out {n} values that are zero or negative."),
    };
    let pages: Vec<String> = papers(sections)
        .iter()
        .map(|(paper, _)| format!("[{}](reproduction/{paper}.md)", title(paper)))
        .collect();
    format!(
        "# Reproduction\n\n\
         This page compares the numbers, figures and stated directions of the \
         [five papers](reference/glossary.md#papers) with what our models compute. The column \
         *evidence* says how far to trust a row: *formula* and *counted* rows involve no clock; \
         *timed* rows come from simulated cycles. Two kinds prove nothing: the inputs of \
         *inferred* rows were chosen to fit what the paper publishes, and the published value of \
         an *identity* is itself an input of the kit.\n\n\
         ![Measured over published values, by evidence](charts/overview.svg)\n\n\
         Values on the line agree.{left_out} Pages: {}.\n\n",
        pages.join("; ")
    )
}

fn differing(sections: &[Section]) -> String {
    let sums = worst(sections, |r| r.workload.is_none());
    let values = worst(sections, |r| r.workload.is_some());
    let statements = statements::by_paper(sections);
    let (all_sums, all_values) = (sums.len(), values.len());
    let sums: Vec<_> = sums.into_iter().take(SUMS).collect();
    let values: Vec<_> = values.into_iter().take(VALUES).collect();
    if sums.is_empty() && values.is_empty() && statements.is_empty() {
        return "No row differs.\n\n".to_owned();
    }
    let missed: Vec<&Comparison> = (sections.iter().flat_map(|s| &s.results))
        .filter(|r| r.verdict.is_missed())
        .collect();
    let explained = missed.iter().filter(|r| r.reason.is_some()).count();
    let head = ["row", "published", "measured", "evidence", "verdict"];
    let mut text = format!(
        "{} values and statements differ. The pages of the papers show all of them, and the cause \
         of {explained}; for the others it is not known. The table has the {} furthest of \
         {all_sums} means and sums, then the {} furthest values of single workloads, one of each \
         of {all_values} quantities. *Furthest* means the largest ratio of the difference to the \
         tolerance of a timed value of the same kind; where this tolerance is 10 % of the value, \
         each factor of 1.1 counts as one tolerance.\n\n",
        missed.len(),
        sums.len(),
        values.len()
    );
    text += &table(&head, &[lines(&sums, true), lines(&values, true)].concat());
    text + &statements
}

fn not_modelled(sections: &[Section]) -> String {
    let of = |s: &Section| {
        let rows = s
            .results
            .iter()
            .filter(|r| r.verdict == Verdict::NotModelled && r.published.is_some());
        (
            rows.count(),
            format!("[{}]({})", s.figure.id, page_of(s.figure)),
        )
    };
    statements::summed(sections.iter().map(of)).map_or(String::new(), |(all, list)| {
        format!("For {all} published values the kit has no model; the pages say why: {list}.\n\n")
    })
}

fn claimed(sections: &[Section], minutes: &Minutes) -> String {
    let line = |c: &Claim| {
        let [published, measured, verdict] = c.cells();
        let id = &c.figure.id;
        vec![
            c.text(),
            format!("`spadkit reproduce {id}`"),
            published,
            measured,
            c.evidence(),
            c.tolerance(),
            verdict,
            minutes.get(id).map_or("–".to_owned(), |m| number(*m)),
        ]
    };
    let lines: Vec<Vec<String>> = claims(sections).iter().map(line).collect();
    let head = [
        "claim",
        "command",
        "expected",
        "measured",
        "evidence",
        "may be off by",
        "verdict",
        "minutes",
    ];
    table(&head, &lines)
}

/// Rows by evidence and verdict.
pub(super) fn counts(results: &[&Comparison]) -> String {
    let count = |of: &dyn Fn(&Comparison) -> bool| {
        let n = results.iter().filter(|r| of(r)).count();
        match n {
            0 => "–".to_owned(),
            n => n.to_string(),
        }
    };
    let line = |name: &str, of: &dyn Fn(&Comparison) -> bool| {
        let mut cells = vec![name.to_owned()];
        cells.push(count(&|r| of(r) && r.verdict == Verdict::Reproduced));
        cells.push(count(&|r| {
            of(r) && r.verdict == Verdict::Reproduced && r.no_mechanism_passes
        }));
        for v in &Verdict::ALL[1..] {
            cells.push(count(&|r| of(r) && r.verdict == *v));
        }
        cells
    };
    let mut lines: Vec<Vec<String>> = Evidence::ALL
        .iter()
        .map(|e| line(e.word(), &|r| r.evidence == *e))
        .collect();
    lines.insert(3, line("*these three*", &|r| r.evidence.is_own()));
    lines.retain(|cells| cells[1..].iter().any(|c| c != "–"));
    let head = [
        "evidence",
        "reproduced",
        "of these also by no mechanism",
        "direction only",
        "differs",
        "not modelled",
        "nothing published",
    ];
    table(&head, &lines)
}

fn by_paper(sections: &[Section]) -> String {
    let line = |(paper, sections): (&str, Vec<&Section>)| {
        let nulls: Vec<Null> = sections.iter().flat_map(|s| s.nulls()).collect();
        let all = overall(&nulls);
        let of_workloads = |v: f64| match all.of_workloads {
            0 => "–".to_owned(),
            _ => number(v),
        };
        (all.values > 0).then(|| {
            vec![
                format!("[{paper}](reproduction/{paper}.md)"),
                all.values.to_string(),
                number(all.error),
                number(all.no_mechanism),
                all.of_workloads.to_string(),
                of_workloads(all.workload_error),
                of_workloads(all.constant_gain),
                all.rank.map_or("–".to_owned(), number),
            ]
        })
    };
    let lines: Vec<Vec<String>> = papers(sections).into_iter().filter_map(line).collect();
    let head = [
        "paper",
        "gains and shares",
        "error here",
        "no mechanism",
        "of single workloads",
        "error here",
        "constant gain",
        "rank correlation",
    ];
    format!(
        "Mean absolute errors of gains, speed-ups and shares in percentage points. *No mechanism* \
         leaves every workload as it is; *constant gain* gives each the published mean.\n\n{}",
        table(&head, &lines)
    )
}

const FOOT: &str = "[Rules and method](reproduction/method.md) says how far each kind of value may \
                    be off, and how these pages are made and checked.\n";

#[cfg(test)]
mod tests {
    use super::super::super::fixture::{figure, table};
    use super::super::super::results::results;
    use super::super::paper;
    use super::*;

    const FIGURE: &str = r#"
        id = "x.f1"
        title = "t"
        source = "s"
        evidence = "timed"
        workload = { a = {}, b = {}, c = {} }
        configuration = { base = {}, new = {} }
        [[quantity]]
        name = "cycles"
        of = "new"
        unit = "cycles"
        only = ["a", "b"]
        published = { a = 100 }
        [[quantity]]
        name = "input"
        evidence = "identity"
        of = "base"
        only = ["a"]
        published = { a = 90 }
        [[quantity]]
        name = "quotient"
        of = "base"
        only = ["b"]
        published = { b = 90 }
        provenance = "derived"
        derivation = "a quotient of printed values"
        [[order]]
        name = "new is slower"
        descending = ["new", "base"]
        [[order]]
        name = "new is faster"
        ascending = ["new", "base"]
        published_count = 3
        [[range]]
        claim = "cycles"
        input = "two images"
        over = ["cycles"]
    "#;

    /// The overview counts the statements that the paper's page lists; what the kit takes
    /// from the paper is counted apart, and what is derived is marked; a range has the least
    /// and the most.
    #[test]
    fn overview_and_page_agree() {
        let mut figure = figure(FIGURE);
        figure.folder = "reproduce/hash".into();
        let mut cells = Vec::new();
        for (workload, base, new) in [("a", 90.0, 100.0), ("b", 90.0, 70.0), ("c", 90.0, 95.0)] {
            cells.extend([(workload, "base", base), (workload, "new", new)]);
        }
        let section = Section {
            figure: &figure,
            results: results(&figure, None, &table(&cells)),
            sensitivity: Vec::new(),
            composed: None,
        };
        let page = paper::markdown("hash", &[&section]);
        let sections = [section];
        let overview = markdown(&sections, &Minutes::new());
        for statement in [
            "new is slower | for all 3 | for 2 of 3, not for b |",
            "new is faster | for 3 | for 1 of 3 |",
        ] {
            let times = page.matches(statement).count();
            assert_eq!(
                times, 2,
                "in its figure and among what does not hold: {page}"
            );
        }
        let link = "2 in [hash](reproduction/hash.md#statements-that-do-not-hold-here)";
        assert!(overview.contains(link), "{overview}");
        for line in ["| identity | 1 |", "| *these three* | 4 |"] {
            assert!(overview.contains(line), "{line}: {overview}");
        }
        let readme = super::super::claims::readme(&sections);
        assert!(readme.contains("| 4 | 0 | 1 |"), "{readme}");
        for text in [&overview, &readme] {
            assert!(text.contains("Of the 4 reproduced rows"), "{text}");
            assert!(text.contains("3 have a value or a statement"), "{text}");
            assert!(text.contains("and 1 a value (ᵈ)"), "{text}");
        }
        assert!(
            page.contains("90 ᵈ / 90") && !page.contains("100 ᵈ"),
            "{page}"
        );
        assert!(page.contains("**cycles**: 70 to 100 cycles over two images (2 values)"));
    }
}
