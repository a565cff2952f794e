//! The page of a paper: its figures with tables, charts and causes.

use super::super::compose;
use super::super::evidence::Evidence;
use super::super::figure::Range;
use super::super::nulls::Null;
use super::super::number::number;
use super::super::results::{Comparison, Verdict};
use super::table::{self, table};
use super::{Section, causes, heading, overview, sensitivity_file, statements, title};
use spadkit_report::draw::Swing;
use std::fmt::Write;

const HOW_TO_READ: &str = "How to read this page: [overview](../reproduction.md). Cells show \
    `published / measured`. **Bold**: differs. *Italic*: the change has the published direction, \
    but not its size. ᵢ: an input or the machine was fitted to the paper. ᵈ: the paper does not \
    print this value; we derived it from printed ones. °: a mechanism without effect would agree, \
    too. Charts show measured values as bars or lines and published ones as \
    red marks.\n\n";

/// The page; charts are in `../charts`.
pub(super) fn markdown(paper: &str, sections: &[&Section]) -> String {
    let mut text = format!("# {}\n\n", title(paper));
    let results: Vec<&Comparison> = sections.iter().flat_map(|s| &s.results).collect();
    if results.iter().any(|r| r.published.is_some()) {
        text += HOW_TO_READ;
        text += &overview::counts(&results);
    }
    let nulls: Vec<Null> = sections.iter().flat_map(|s| s.nulls()).collect();
    text += &null_models(&nulls);
    text += &fitted(sections);
    text += &statements::section(sections);
    for section in sections {
        text += &figure(section);
    }
    text
}

fn null_models(nulls: &[Null]) -> String {
    let line = |n: &Null| {
        vec![
            n.id.clone(),
            n.quantity.clone(),
            match n.values {
                0 => "mean".to_owned(),
                values => values.to_string(),
            },
            number(n.error),
            number(n.no_mechanism),
            n.constant_gain.map_or("–".to_owned(), number),
            n.rank.map_or("–".to_owned(), number),
        ]
    };
    let lines: Vec<Vec<String>> = nulls.iter().map(line).collect();
    if lines.is_empty() {
        return String::new();
    }
    let head = [
        "figure",
        "quantity",
        "values",
        "error here",
        "no mechanism",
        "constant gain",
        "rank correlation",
    ];
    format!(
        "Mean absolute errors in percentage points, compared with two trivial models:\n\n{}",
        table(&head, &lines)
    )
}

fn figure(section: &Section) -> String {
    let figure = section.figure;
    let mut text = format!("## {}\n\n{}.", heading(figure), figure.source);
    text += &links(section);
    if !figure.notes.trim().is_empty() {
        let _ = write!(text, "{}\n\n", figure.notes.trim());
    }
    let chart = format!("../charts/{}.svg", figure.id);
    match &section.composed {
        Some(kernels) => text += &compose::markdown(kernels, &chart),
        None => {
            text += &table::markdown(section);
            if section.chart().is_some() {
                let _ = write!(text, "![{}]({chart})\n\n", figure.title);
            }
        }
    }
    text += &ranges(section);
    text += &not_modelled(section);
    let measured: Vec<Comparison> = section
        .results
        .iter()
        .filter(|r| r.check != super::super::results::Check::None || r.published.is_none())
        .filter(|r| r.verdict != Verdict::NotModelled || r.machine.is_some())
        .cloned()
        .collect();
    let causes = causes::list(&measured);
    if !causes.is_empty() {
        let _ = write!(text, "Why values differ, where it is known:\n\n{causes}\n");
    }
    text
}

/// Command, machine and the charts of what moves the headline numbers.
fn links(section: &Section) -> String {
    let machine = section.results.iter().find_map(|r| r.machine.as_deref());
    let machine = machine.map_or(String::new(), |m| format!(", machine {m}"));
    let mut text = format!(" `spadkit reproduce {}`{machine}.", section.figure.id);
    let tornado = |(i, headline): (usize, &super::Headline)| {
        let file = sensitivity_file(section.figure, i);
        let widest = |w: Swing| format!(" ({}: {} to {})", w.name, number(w.least), number(w.most));
        let widest = headline.widest().map_or(String::new(), widest);
        format!("[{}](../charts/{file}){widest}", headline.name)
    };
    let tornados: Vec<String> = section
        .sensitivity
        .iter()
        .enumerate()
        .map(tornado)
        .collect();
    if !tornados.is_empty() {
        let _ = write!(text, " What moves it most: {}.", tornados.join(", "));
    }
    text + "\n\n"
}

/// The claims that depend on inputs which the paper does not publish, and how much
/// they do.
pub(super) fn ranges(section: &Section) -> String {
    let line = |range: &Range| {
        let rows = section.results.iter().filter(|r| {
            let workload = r.workload.as_ref();
            let listed = |w: &String| range.only.is_empty() || range.only.contains(w);
            range.over.contains(&r.quantity) && workload.is_none_or(listed)
        });
        let rows: Vec<&Comparison> = rows.filter(|r| r.measured.is_some()).collect();
        let unit = &rows.first()?.unit;
        let values = rows.iter().filter_map(|r| r.measured);
        let least = number(values.clone().fold(f64::INFINITY, f64::min));
        let most = number(values.fold(f64::NEG_INFINITY, f64::max));
        let most = table::with_unit(&most, unit);
        Some(format!(
            "- **{}**: {least} to {most} over {} ({} values)\n",
            range.claim,
            range.input,
            rows.len()
        ))
    };
    let lines: String = section.figure.range.iter().filter_map(line).collect();
    if lines.is_empty() {
        return lines;
    }
    format!("Claims that depend on an input that is not published:\n\n{lines}\n")
}

/// The inputs that were fitted, of one figure.
pub(super) fn inferred(section: &Section) -> String {
    fitted(&[section])
}

/// The fitted inputs of figures that have values of them, each once.
fn fitted(sections: &[&Section]) -> String {
    let mut lines: Vec<String> = Vec::new();
    for section in sections {
        let figure = section.figure;
        let own = |r: &&Comparison| r.evidence == Evidence::Inferred;
        let values: Vec<&Comparison> = section.results.iter().filter(own).collect();
        let machine = figure
            .machine_inferred
            .as_deref()
            .filter(|_| !values.is_empty());
        let machine = machine.map(|how| ("the machine", how));
        let of = |w: &str| values.iter().any(|r| r.workload.as_deref() == Some(w));
        let workloads = figure.workload.iter().filter(|(name, _)| of(name));
        let workloads = workloads.filter_map(|(name, w)| Some((&name[..], w.inferred.as_deref()?)));
        for (name, how) in machine.into_iter().chain(workloads) {
            let line = format!("- **{name}**: {}\n", how.trim());
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let lines = lines.concat();
    format!(
        "Inputs chosen to fit what the paper publishes; rows with ᵢ depend on them:\n\n{lines}\n"
    )
}

fn not_modelled(section: &Section) -> String {
    let row = |n: &super::super::quantity::NotModelled| {
        let of = n
            .workload
            .as_deref()
            .map_or(String::new(), |w| format!(", {w}"));
        let published = n
            .published
            .as_ref()
            .map_or("–".to_owned(), |p| table::with_unit(&p.text(), &n.unit));
        vec![
            format!("{}{of}", n.quantity),
            published,
            n.reason.trim().replace('\n', " "),
        ]
    };
    let rows: Vec<Vec<String>> = section.figure.not_modelled.iter().map(row).collect();
    table(&["not modelled", "published", "why"], &rows)
}
