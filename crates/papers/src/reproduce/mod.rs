//! The papers' tables and figures, measured: `spadkit reproduce`.
//!
//! A [`Figure`] is data: workloads, configurations, quantities and published
//! values. A [`Point`] is a workload with a configuration on a machine; its
//! digest names it, so that points are computed once, by whichever shard, and
//! kept in `points.jsonl`. [`results`] reads the quantities off the points and
//! compares them with what is published; [`page`] makes text and charts.

mod analytic;
mod change;
pub mod compose;
mod compute;
mod data;
mod evidence;
mod figure;
#[cfg(test)]
mod fixture;
mod lines;
mod nulls;
mod number;
mod order;
pub mod page;
mod parameters;
mod point;
mod published;
mod quantity;
pub mod related;
mod results;
mod rules;
pub mod sensitivity;
mod simulate;
mod store;
mod sums;
mod table5;
mod validate;
pub mod verify;

pub use change::Change;
pub use compute::{Table, Watch, compute, points, table as table_of};
pub use evidence::Evidence;
pub use figure::{Configuration, Figure, Workload};
pub use nulls::{Null, nulls};
pub use number::number;
pub use order::Order;
pub use point::{Numbers, Point};
pub use published::Published;
pub use quantity::{Condition, Form, Metric, NotModelled, Provenance, Quantity, Summary};
pub use results::{Check, Comparison, Verdict, results};
pub use rules::{Measure, RULES, Rule, Width, rule};
pub use store::Store;

use spadkit_base::error::{Error, Result};
use spadkit_base::quote::did_you_mean;
use std::path::{Path, PathBuf};

/// All figures, in the order of papers and numbers.
pub struct Library {
    /// The folder that has `reproduce/` and `kernels/`.
    pub root: PathBuf,
    /// The figures, by paper and then as the paper has them.
    pub figures: Vec<Figure>,
}

/// The papers in the order of the page.
pub const PAPERS: [&str; 6] = ["hash", "rap", "sharing", "elastic", "atomics", "compose"];

impl Library {
    /// Reads `reproduce/` of the folder that the program runs in, or of the
    /// folder that it was built from.
    pub fn load() -> Result<Self> {
        // The repository, two folders above this crate.
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
        let built = built.unwrap_or(Path::new("/"));
        let has_data = |root: &&Path| root.join("reproduce").is_dir();
        let found = [Path::new(""), built].into_iter().find(has_data);
        let root = found.ok_or_else(|| {
            Error::usage(
                "there is no folder reproduce/ here",
                format!("run spadkit in its repository ({})", built.display()),
            )
        })?;
        let mut figures = Vec::new();
        for paper in PAPERS {
            let folder = root.join("reproduce").join(paper);
            for file in figure_files(&folder)? {
                let figure = Figure::load(&file)?;
                validate::validate(&figure, &file)?;
                figures.push(figure);
            }
        }
        Ok(Library {
            root: root.to_owned(),
            figures,
        })
    }

    /// The figures called `ids`, or of the papers called so; all if there are none.
    pub fn select(&self, ids: &[String]) -> Result<Vec<&Figure>> {
        let figures = || self.figures.iter().map(|f| f.id.as_str());
        // A paper of one figure may have its name.
        let papers = || PAPERS.into_iter().filter(|p| !figures().any(|f| f == *p));
        let known = || figures().chain(papers());
        for id in ids {
            if !known().any(|k| k == id) {
                return Err(Error::usage(
                    format!(
                        "there is no paper or figure '{id}'{}",
                        did_you_mean(id, known())
                    ),
                    format!(
                        "expected one of: {}",
                        known().collect::<Vec<_>>().join(", ")
                    ),
                ));
            }
        }
        let asked = |f: &&Figure| {
            ids.is_empty() || ids.contains(&f.id) || ids.iter().any(|id| id == f.paper())
        };
        Ok(self.figures.iter().filter(asked).collect())
    }
}

/// The figures of a paper, in the order of their names: f4 before f10.
fn figure_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Ok(Vec::new());
    };
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "toml") && is_figure(f));
    files.sort_by_key(|f| place(f));
    Ok(files)
}

/// A figure has an ID; machines and lists of workloads have none.
fn is_figure(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().any(|l| l.starts_with("id = "))
}

/// The sort key of a figure on its page: tables and figures by their numbers, then the others.
fn place(file: &Path) -> (u8, u32, String) {
    let name = file
        .file_stem()
        .and_then(|n| n.to_str())
        .unwrap_or_default();
    let kind = name.bytes().next().filter(|k| matches!(k, b't' | b'f'));
    let number = name.get(1..).and_then(|n| n.parse().ok());
    match (kind, number) {
        (Some(kind), Some(number)) => (kind ^ b't', number, name.to_owned()),
        _ => (u8::MAX, 0, name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_in_the_order_of_their_numbers_and_no_file_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let add = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        for name in ["f10", "t6", "f4", "noconflict", "t5"] {
            add(&format!("{name}.toml"), &format!("id = \"hash.{name}\"\n"));
        }
        add("machine.toml", "name = \"m\"\n");
        add("notes.txt", "id = \"x\"\n");
        let files = figure_files(dir.path()).unwrap();
        let names: Vec<_> = files.iter().map(|f| f.file_stem().unwrap()).collect();
        assert_eq!(names, ["t5", "t6", "f4", "f10", "noconflict"]);
    }
}
