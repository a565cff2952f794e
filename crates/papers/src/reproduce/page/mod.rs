//! The results as pages: an overview, a page per paper, charts, and the table
//! of README.md.

mod causes;
mod chart;
mod claims;
mod columns;
mod grid;
mod html;
mod method;
mod overview;
mod paper;
mod scatter;
mod statements;
mod table;

pub use claims::{README_BEGIN, README_END};
pub use html::{Made, report, verdict};

use super::compose::{self, Composed};
use super::figure::Figure;
use super::nulls::{Null, nulls};
use super::results::Comparison;
use super::sensitivity::Headline;
use std::collections::BTreeMap;

/// A figure with its results and, where it was analysed, its sensitivity.
pub struct Section<'a> {
    /// The figure.
    pub figure: &'a Figure,
    /// Results of the figure.
    pub results: Vec<Comparison>,
    /// Headline numbers of the figure under perturbations.
    pub sensitivity: Vec<Headline>,
    /// The kernels of a composition, which replace table and chart.
    pub composed: Option<Vec<Composed>>,
}

/// The table between the marks of README.md, among the files of [`files`].
pub const README_TABLE: &str = "README-results.md";

/// Minutes that the figures take, by ID.
pub type Minutes = BTreeMap<String, f64>;

/// Generated files by their path: `reproduction.md`, `reproduction/PAPER.md`,
/// `reproduction/method.md`, `charts/FIGURE.svg`, and the table of README.md.
pub fn files(sections: &[Section], minutes: &Minutes) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut add = |path: String, text: String| files.insert(path, text);
    add(
        "reproduction.md".to_owned(),
        overview::markdown(sections, minutes),
    );
    add("reproduction/method.md".to_owned(), method::markdown());
    add("charts/overview.svg".to_owned(), scatter::svg(sections));
    add(README_TABLE.to_owned(), claims::readme(sections));
    for (paper, sections) in papers(sections) {
        add(
            format!("reproduction/{paper}.md"),
            paper::markdown(paper, &sections),
        );
    }
    for section in sections {
        if let Some(svg) = section.chart() {
            add(format!("charts/{}.svg", section.figure.id), svg);
        }
        for (i, headline) in section.sensitivity.iter().enumerate() {
            add(
                format!("charts/{}", sensitivity_file(section.figure, i)),
                headline.chart(),
            );
        }
    }
    files
}

/// The sections of each paper, in the order of the papers.
fn papers<'s, 'a>(sections: &'s [Section<'a>]) -> Vec<(&'a str, Vec<&'s Section<'a>>)> {
    let mut papers: Vec<(&str, Vec<&Section>)> = Vec::new();
    for section in sections {
        let paper = section.figure.paper();
        match papers.iter_mut().find(|p| p.0 == paper) {
            Some(known) => known.1.push(section),
            None => papers.push((paper, vec![section])),
        }
    }
    papers
}

/// Name and authors of a paper.
fn title(paper: &str) -> &str {
    match paper {
        "hash" => "Configurable XOR hash functions (van den Braak et al.)",
        "rap" => "Random address permute-shift (Nakano et al.)",
        "sharing" => "Scratchpad sharing (Jatala et al.)",
        "elastic" => "The elastic pipeline (Gou and Gaydadjiev)",
        "atomics" => "Hashed locks for atomics (van den Braak et al.)",
        "compose" => "All mechanisms on one SM",
        other => other,
    }
}

/// The page that has a figure, from the overview.
fn page_of(figure: &Figure) -> String {
    format!("reproduction/{}.md#{}", figure.paper(), anchor(figure))
}

fn heading(figure: &Figure) -> String {
    format!("{}: {}", figure.id, figure.title)
}

/// The anchor that GitHub gives a heading.
fn anchor(figure: &Figure) -> String {
    let kept = |c: char| c.is_alphanumeric() || c == ' ' || c == '-' || c == '_';
    let heading = heading(figure).to_lowercase();
    heading
        .chars()
        .filter(|&c| kept(c))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

/// Name of the tornado chart of a figure's i-th headline number.
fn sensitivity_file(figure: &Figure, i: usize) -> String {
    format!("{}.sensitivity{}.svg", figure.id, i + 1)
}

impl Section<'_> {
    /// The chart, if any.
    fn chart(&self) -> Option<String> {
        match &self.composed {
            Some(kernels) => Some(compose::chart(kernels)),
            None => chart::svg(self.figure, &self.results),
        }
    }

    /// The errors of its means, compared with null models.
    pub fn nulls(&self) -> Vec<Null> {
        nulls(self.figure, &self.results)
    }
}
