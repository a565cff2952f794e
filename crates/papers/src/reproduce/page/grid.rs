//! Positions the cells of a figure's table.

use super::super::evidence::Evidence;
use super::super::figure::Figure;
use super::super::number::number;
use super::super::results::{Comparison, Verdict};
use super::columns::Column;

/// A column of the table.
pub(super) struct Head<'a> {
    pub column: &'a Column<'a>,
    /// The part before the comma of this column's workloads.
    pub of: Option<&'a str>,
}

/// Columns and lines of a table.
pub(super) struct Grid<'a> {
    pub heads: Vec<Head<'a>>,
    /// Workloads, or what stands after the comma in them.
    labels: Vec<&'a str>,
}

impl<'a> Grid<'a> {
    /// A line per workload. Workloads `A, B` of all A and B have a line per B
    /// and columns per A.
    pub fn new(figure: &'a Figure, columns: &'a [Column<'a>]) -> Self {
        let has = |w: &&str| columns.iter().any(|c| c.of(w).is_some());
        let workloads = figure.workload.keys().map(String::as_str);
        let workloads: Vec<&str> = workloads.filter(has).collect();
        match product(&workloads) {
            Some((first, second)) if first.len() * columns.len() <= 12 => Grid {
                heads: first
                    .iter()
                    .flat_map(|&of| {
                        let of = Some(of);
                        columns.iter().map(move |column| Head { column, of })
                    })
                    .collect(),
                labels: second,
            },
            _ => Grid {
                heads: columns
                    .iter()
                    .map(|column| Head { column, of: None })
                    .collect(),
                labels: in_order(workloads),
            },
        }
    }

    /// Labels and cells; workloads with the same cells share a line.
    pub fn lines(&self) -> Vec<(String, Vec<Option<String>>)> {
        let mut lines: Vec<(String, Vec<Option<String>>)> = Vec::new();
        for label in &self.labels {
            let cells: Vec<Option<String>> = self.heads.iter().map(|h| h.cell(label)).collect();
            if cells.iter().all(Option::is_none) {
                continue;
            }
            match lines.iter_mut().find(|l| l.1 == cells) {
                Some(line) => line.0 += &format!(", {label}"),
                None => lines.push(((*label).to_owned(), cells)),
            }
        }
        lines
    }
}

impl Head<'_> {
    fn cell(&self, label: &str) -> Option<String> {
        let result = match self.of {
            Some(of) => self.column.of(&format!("{of}, {label}")),
            None => self.column.of(label),
        };
        result.map(cell)
    }
}

/// The A and the B of workloads `A, B` that both have a result.
pub(super) fn product<'a>(workloads: &[&'a str]) -> Option<(Vec<&'a str>, Vec<&'a str>)> {
    let pairs: Option<Vec<(&str, &str)>> = workloads.iter().map(|w| w.split_once(", ")).collect();
    let (mut first, mut second): (Vec<&str>, Vec<&str>) = pairs?.into_iter().unzip();
    for names in [&mut first, &mut second] {
        names.sort_unstable();
        names.dedup();
    }
    let all = first.len() > 1 && first.len() * second.len() == workloads.len();
    all.then(|| (in_order(first), in_order(second)))
}

/// The names in natural order: 2 before 12.
pub(super) fn in_order(mut names: Vec<&str>) -> Vec<&str> {
    let digits = |name: &str| -> Option<(String, u64, String)> {
        let start = name.find(|c: char| c.is_ascii_digit())?;
        let rest = &name[start..];
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let value = rest[..end].parse().ok()?;
        Some((name[..start].to_owned(), value, rest[end..].to_owned()))
    };
    names.sort_by_key(|name| digits(name).unwrap_or(((*name).to_owned(), 0, String::new())));
    names
}

/// The mark of a published value that follows from printed ones.
pub(super) fn derived_mark(result: &Comparison) -> &'static str {
    if result.is_derived() { " ᵈ" } else { "" }
}

/// `published / measured`; bold where it differs, italic where only the
/// direction is right.
pub(super) fn cell(result: &Comparison) -> String {
    let measured = result.measured.map_or("–".to_owned(), number);
    let mut text = match &result.published {
        Some(published) => {
            let mark = derived_mark(result);
            format!("{}{mark} / {measured}", published.text())
        }
        None => measured,
    };
    if result.evidence == Evidence::Inferred && result.published.is_some() {
        text += " ᵢ";
    }
    if result.no_mechanism_passes {
        text += "°";
    }
    match result.verdict {
        Verdict::Differs => format!("**{text}**"),
        Verdict::DirectionOnly => format!("*{text}*"),
        _ => text,
    }
}
