//! The page of a paper: its figures with tables, charts and causes.

use super::super::compose;
use super::super::nulls::Null;
use super::super::number::number;
use super::super::results::{Result, Verdict};
use super::table::{self, table};
use super::{Section, causes, heading, overview, sensitivity_file, title};
use crate::report::Swing;
use std::fmt::Write;

/// The page; charts are in `../charts`.
pub(super) fn markdown(paper: &str, sections: &[&Section]) -> String {
    let mut text = format!(
        "# {}\n\nHow to read this page: [overview](../reproduction.md). Cells show `published / \
         measured`. **Bold**: differs. *Italic*: the change has the published direction, but \
         not its size. ᵢ: an input or the machine was fitted to the paper. °: a mechanism \
         without effect would agree, too. Charts show measured values as bars or lines and \
         published ones as red marks.\n\n",
        title(paper)
    );
    let results: Vec<&Result> = sections.iter().flat_map(|s| &s.results).collect();
    if results.iter().any(|r| r.published.is_some()) {
        text += &overview::counts(&results);
    }
    let nulls: Vec<Null> = sections.iter().flat_map(|s| s.nulls()).collect();
    text += &null_models(&nulls);
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
        "Mean absolute errors in percentage points, beside two models that know nothing:\n\n{}",
        table(&head, &lines)
    )
}

fn figure(section: &Section) -> String {
    let figure = section.figure;
    let mut text = format!("## {}\n\n{}.", heading(figure), figure.source);
    text += &links(section);
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
    text += &inferred(section);
    text += &not_modelled(section);
    let measured: Vec<Result> = section
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
    if !figure.notes.trim().is_empty() {
        let _ = write!(text, "{}\n\n", figure.notes.trim());
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

/// The inputs that were fitted.
pub(super) fn inferred(section: &Section) -> String {
    let workloads = section.figure.workload.iter();
    let machine = section.figure.machine_inferred.as_deref();
    let machine = machine.map(|how| format!("- **the machine**: {}\n", how.trim()));
    let workloads = workloads
        .filter_map(|(name, w)| Some(format!("- **{name}**: {}\n", w.inferred.as_deref()?.trim())));
    let fitted: Vec<String> = machine.into_iter().chain(workloads).collect();
    if fitted.is_empty() {
        String::new()
    } else {
        format!(
            "Inputs chosen to fit what the paper publishes:\n\n{}\n",
            fitted.concat()
        )
    }
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
