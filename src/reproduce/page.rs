//! The results as text: `docs/reproduction.md`.

use super::figure::Figure;
use super::number::number;
use super::results::{Result, Verdict};
use super::sensitivity::Headline;
use std::fmt::Write;

/// A figure with its results and, where it was analysed, its sensitivity.
pub struct Section<'a> {
    /// The figure.
    pub figure: &'a Figure,
    /// Its results.
    pub results: Vec<Result>,
    /// What follows from all results of the figure, as Markdown.
    pub remarks: String,
    /// Text about the sensitivity of its headline numbers.
    pub sensitivity: Vec<Headline>,
}

const HEAD: &str = "# Reproduction\n\n\
    Every table and figure of the five papers that a model can give, measured here, beside the \
    published value. `spadkit reproduce` prints it, `make reproduction` writes this page; the data \
    are in `reproduce/`, a file per figure, with the machines and where each of their parameters \
    comes from. No parameter is tuned per kernel.\n\n\
    A published value comes from the text of the paper, is derived from it, or stands in a \
    sentence (prose). Bars that stand in no text are not invented: such rows have no published \
    value and no verdict.\n";

/// The whole page. Charts are beside it in the folder `charts`.
pub fn markdown(sections: &[Section], charts: &str) -> String {
    let mut page = HEAD.to_owned();
    page += "\n| ID | what | reproduced | differ | without a published value |\n|---|---|---|---|---|\n";
    for section in sections {
        let count = |v| section.results.iter().filter(|r| r.verdict == v).count();
        let figure = section.figure;
        let _ = writeln!(
            page,
            "| [{}](#{}) | {} | {} | {} | {} |",
            figure.id,
            anchor(figure),
            figure.title,
            count(Verdict::Reproduced),
            count(Verdict::Differs),
            count(Verdict::NotReproducible),
        );
    }
    for section in sections {
        page += &section.markdown(charts);
    }
    page
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
        super::chart::svg(self.figure, &self.results)
    }

    fn markdown(&self, charts: &str) -> String {
        let figure = self.figure;
        let mut text = format!("\n## {}\n\n{}.", heading(figure), figure.source);
        if let Some(reason) = &figure.not_reproducible {
            let _ = writeln!(text, " Not reproducible: {}", reason.trim());
            return text;
        }
        let machine = self.results.iter().find_map(|r| r.machine.as_deref());
        let machine = machine.map_or(String::new(), |m| format!(", machine {m}"));
        let _ = writeln!(text, " `spadkit reproduce {}`{machine}.\n", figure.id);
        if self.chart().is_some() {
            let _ = writeln!(
                text,
                "![{}]({charts}/{})\n",
                figure.title,
                chart_file(figure)
            );
        }
        text += "| quantity | workload | published | measured | tolerance | verdict |\n|---|---|---|---|---|---|\n";
        for result in &self.results {
            text += &row(result);
        }
        let reasons = self
            .results
            .iter()
            .filter(|r| r.verdict == Verdict::Differs);
        for result in reasons {
            if let Some(reason) = &result.reason {
                let of = result.workload.as_deref().unwrap_or("mean");
                let _ = write!(text, "\n- **{}, {of}**: {}", result.quantity, reason.trim());
            }
        }
        if !figure.notes.trim().is_empty() {
            let _ = write!(text, "\n{}\n", figure.notes.trim());
        }
        if !self.remarks.is_empty() {
            let _ = write!(text, "\n{}", self.remarks);
        }
        for (i, headline) in self.sensitivity.iter().enumerate() {
            let chart = format!("{charts}/{}", sensitivity_file(figure, i));
            let _ = write!(
                text,
                "\n{}\n![{}]({chart})\n",
                headline.markdown(),
                headline.name
            );
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }
}

fn row(result: &Result) -> String {
    let value = |v: Option<f64>| {
        v.map_or("–".to_owned(), |v| {
            format!("{} {}", number(v), result.unit).trim().to_owned()
        })
    };
    let verdict = match (result.verdict, result.measured) {
        (Verdict::Reproduced, _) => "reproduced",
        (Verdict::Differs, _) => "**differs**",
        (Verdict::NotReproducible, Some(_)) => "–",
        (Verdict::NotReproducible, None) => "not reproducible",
    };
    format!(
        "| {} | {} | {} | {} | {} | {verdict} |\n",
        result.quantity,
        result.workload.as_deref().unwrap_or(""),
        value(result.published),
        value(result.measured),
        result.tolerance.map_or(String::new(), number),
    )
}
