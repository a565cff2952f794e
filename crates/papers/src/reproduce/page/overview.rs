//! The first page: how far the results carry, what is not reproduced, and what
//! is.

use super::super::evidence::Evidence;
use super::super::figure::Figure;
use super::super::nulls::{Null, overall};
use super::super::number::number;
use super::super::results::{Check, Comparison, Verdict};
use super::super::rules::{RULES, Rule};
use super::claims::{Claim, claims, lines, split, worst};
use super::table::{Statement, marked, measured, table};
use super::{Minutes, Section, page_of, papers, scatter, title};

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
    text += "## What we claim\n\n";
    text += &claimed(sections, minutes);
    text += "## All rows\n\n";
    text += &counts(&results);
    text += &split(results.iter().copied());
    text += &by_paper(sections);
    text += "## Rules\n\n";
    text += &rules();
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
         The numbers, figures and stated directions of the \
         [five papers](reference/glossary.md#papers), compared with what the models here \
         compute. Each row says what it is worth: *formula* and *counted* rows involve no \
         clock; *timed* rows come from simulated cycles. Two kinds are no evidence of their own: \
         the inputs of *inferred* rows were chosen to fit what the paper publishes, and the \
         published value of an *identity* is itself an input of the kit.\n\n\
         ![Measured over published values, by evidence](charts/overview.svg)\n\n\
         Values on the line agree.{left_out} Pages: {}.\n\n",
        pages.join("; ")
    )
}

fn differing(sections: &[Section]) -> String {
    let sums = worst(sections, |r| r.workload.is_none());
    let values = worst(sections, |r| r.workload.is_some());
    let mut uncounted = failing_counts(sections);
    uncounted.extend(failing_orders(sections));
    let (all_sums, all_values) = (sums.len(), values.len());
    let sums: Vec<_> = sums.into_iter().take(SUMS).collect();
    let values: Vec<_> = values.into_iter().take(VALUES).collect();
    if sums.is_empty() && values.is_empty() && uncounted.is_empty() {
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
         of {all_values} quantities. The furthest is the one that is off by the most times what a \
         timed value of its kind may be off by; where that is 10 % of the value, each factor of \
         1.1 counts once.\n\n",
        missed.len(),
        sums.len(),
        values.len()
    );
    text += &table(&head, &[lines(&sums, true), lines(&values, true)].concat());
    if !uncounted.is_empty() {
        text += "Counts, places of extremes and orders that a paper states and that do not hold \
                 here:\n\n";
        text += &table(&["statement", "published", "measured"], &uncounted);
    }
    text
}

/// Differing counts, and differing workloads of an extreme.
fn failing_counts(sections: &[Section]) -> Vec<Vec<String>> {
    let all = sections
        .iter()
        .flat_map(|s| s.results.iter().map(move |r| (s.figure, r)));
    let is_order = |f: &Figure, r: &Comparison| {
        f.order
            .iter()
            .any(|o| r.quantity.strip_prefix("count ") == Some(&o.name))
    };
    let counts = all
        .filter(|(_, r)| r.verdict.is_missed() && r.counts && r.check != Check::Order)
        .filter(|(f, r)| !is_order(f, r));
    let line = |(figure, r)| {
        let name = lines(&[(figure, r)], true).remove(0).remove(0);
        vec![name, marked(r), measured(r)]
    };
    counts.map(line).collect()
}

/// Orders that do not hold, in the words of the papers' pages.
fn failing_orders(sections: &[Section]) -> Vec<Vec<String>> {
    let of = |section: &Section| -> Vec<Vec<String>> {
        let figure = section.figure;
        let statements = figure.order.iter();
        let statements = statements.filter_map(|o| Statement::of(o, &section.results));
        let line = |s: Statement| {
            let name = format!("[{}]({}): {}", figure.id, page_of(figure), s.name);
            vec![name, s.published, s.measured]
        };
        statements.filter(|s| s.is_missed).map(line).collect()
    };
    sections.iter().flat_map(of).collect()
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
    let found: Vec<(usize, String)> = sections.iter().map(of).filter(|f| f.0 > 0).collect();
    if found.is_empty() {
        return String::new();
    }
    let list: Vec<String> = found
        .iter()
        .map(|(n, link)| format!("{n} in {link}"))
        .collect();
    let all: usize = found.iter().map(|f| f.0).sum();
    format!(
        "For {all} published values the kit has no model; the pages say why: {}.\n\n",
        list.join(", ")
    )
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

fn rules() -> String {
    let line = |r: &Rule| {
        vec![
            r.evidence.word().to_owned(),
            r.what.to_owned(),
            r.width_text(),
            r.reason.to_owned(),
        ]
    };
    let lines: Vec<Vec<String>> = RULES.iter().map(line).collect();
    format!(
        "How far a value may be off depends on its evidence alone; no figure can change it. \
         Inferred values have the rule that they would have without the fitted input. A timed \
         change must also go the published way; if it does and is off by more, the verdict is \
         *direction only*. ° marks rows that a mechanism without effect would pass, too.\n\n{}",
        table(&["evidence", "value", "may be off by", "because"], &lines)
    )
}

const FOOT: &str = "## How this is made and checked

```
spadkit reproduce                        # all of it; an ID for one figure
spadkit reproduce --check docs           # these pages against the tree
spadkit reproduce rap --report rap.html  # a paper as one HTML page; without rap, all
spadkit compose kernels/fwt/fwt.toml     # all mechanisms on a kernel of your own
make reproduction                        # computes all and writes these pages
```

`reproduce/` has a file per figure with workloads, machines and published values. \
`docs/reproduction/points.jsonl` has every computed point under the digest of its inputs: kernel, \
launch file, data, machine, configuration. `--check` fails if a point of the tree is not there, if \
one there is of no use, or if pages, charts or the table of README.md differ in a byte from what \
the points give. A digest covers inputs, not the program. To catch a changed program, `--check ID` \
computes the points of these figures again, and `--recompute N` a sample of the others. \
`make test` does both for the quick figures, `make campaign` for all.
";

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

    /// The overview and the paper's page say of an order the same; what the kit takes from
    /// the paper is counted apart, and what is derived is marked; a range has the least and
    /// the most.
    #[test]
    fn overview_and_page_have_one_wording() {
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
            assert!(overview.contains(statement), "{overview}");
            assert!(page.contains(statement), "{page}");
        }
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
