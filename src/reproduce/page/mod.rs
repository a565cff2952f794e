//! The results as text: `docs/reproduction.md`.

mod causes;
mod columns;
mod grid;
mod overview;
mod table;

use super::compose::{self, Composed};
use super::figure::Figure;
use super::results::Result;
use super::sensitivity::Headline;
use std::fmt::Write;

/// A figure with its results and, where it was analysed, its sensitivity.
pub struct Section<'a> {
    /// The figure.
    pub figure: &'a Figure,
    /// Its results.
    pub results: Vec<Result>,
    /// Its headline numbers under perturbations.
    pub sensitivity: Vec<Headline>,
    /// Of the composition: its kernels, which stand in place of table and chart.
    pub composed: Option<Vec<Composed>>,
}

/// The whole page. Charts are beside it in the folder `charts`.
pub fn markdown(sections: &[Section], charts: &str) -> String {
    let mut page = overview::HEAD.to_owned();
    page += &overview::table(sections);
    for section in sections {
        page += &section.markdown(charts);
    }
    page
}

/// The rows of the tables below the heading of a figure in a page: what does
/// not depend on a run with `--sensitivity`.
pub fn rows<'p>(page: &'p str, figure: &Figure) -> Vec<&'p str> {
    let title = format!("## {}", heading(figure));
    let below = page.lines().skip_while(|l| *l != title).skip(1);
    let section = below.take_while(|l| !l.starts_with("## "));
    section
        .filter(|l| l.starts_with("| ") && !l.starts_with(table::RANGE))
        .collect()
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

/// Name of a figure's chart.
pub fn chart_file(figure: &Figure) -> String {
    format!("{}.svg", figure.id)
}

/// Name of the tornado chart of a figure's i-th headline number.
pub fn sensitivity_file(figure: &Figure, i: usize) -> String {
    format!("{}.sensitivity{}.svg", figure.id, i + 1)
}

impl Section<'_> {
    /// The chart, where there is one.
    pub fn chart(&self) -> Option<String> {
        match &self.composed {
            Some(kernels) => Some(compose::chart(kernels)),
            None => super::chart::svg(self.figure, &self.results),
        }
    }

    fn markdown(&self, charts: &str) -> String {
        let figure = self.figure;
        let mut text = format!("\n## {}\n\n{}.", heading(figure), figure.source);
        text += &self.links(charts);
        text += &match &self.composed {
            Some(kernels) => {
                compose::markdown(kernels, &format!("{charts}/{}", chart_file(figure)))
            }
            None => table::markdown(self),
        };
        let causes = causes::list(&self.results);
        if !causes.is_empty() {
            let _ = write!(text, "\n{causes}");
        }
        if !figure.notes.trim().is_empty() {
            let _ = write!(text, "\n{}\n", figure.notes.trim());
        }
        text
    }

    /// Command, machine and charts.
    fn links(&self, charts: &str) -> String {
        let machine = self.results.iter().find_map(|r| r.machine.as_deref());
        let machine = machine.map_or(String::new(), |m| format!(", machine {m}"));
        let mut text = format!(" `spadkit reproduce {}`{machine}.", self.figure.id);
        if self.chart().is_some() {
            let _ = write!(text, " [Chart]({charts}/{}).", chart_file(self.figure));
        }
        let tornado = |(i, headline): (usize, &Headline)| {
            let file = sensitivity_file(self.figure, i);
            format!("[{}]({charts}/{file})", headline.name)
        };
        let tornados: Vec<String> = self.sensitivity.iter().enumerate().map(tornado).collect();
        if !tornados.is_empty() {
            let _ = write!(text, " What moves it: {}.", tornados.join(", "));
        }
        text + "\n\n"
    }
}
