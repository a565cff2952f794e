//! The papers' tables and figures, measured: `spadkit reproduce`.
//!
//! A [`Figure`] is data: workloads, configurations, quantities and published
//! values. A [`Point`] is a workload with a configuration on a machine; its
//! digest names it, so that points are computed once, by whichever shard, and
//! kept in `points.jsonl`. [`results`] reads the quantities off the points and
//! compares them with what is published; [`page`] makes text and charts.

mod analytic;
mod change;
mod chart;
pub mod compose;
mod compute;
mod data;
mod evidence;
mod figure;
mod number;
mod order;
pub mod page;
mod parameters;
mod point;
mod published;
mod quantity;
pub mod related;
mod results;
pub mod sensitivity;
mod simulate;
mod store;
mod sums;
mod table5;
mod validate;

pub use change::Change;
pub use compute::{Table, Watch, compute, points, table as table_of};
pub use evidence::{Evidence, Measure, RULES, Rule, Width, rule};
pub use figure::{Configuration, Figure, Workload};
pub use number::number;
pub use order::Order;
pub use point::{Numbers, Point};
pub use published::Published;
pub use quantity::{Condition, Form, Metric, NotModelled, Provenance, Quantity, Summary};
pub use results::{Check, Result as Comparison, Verdict, results};
pub use store::Store;

use crate::error::{Error, Result};
use crate::quote::did_you_mean;
use std::path::{Path, PathBuf};

/// All figures, in the order of papers and numbers.
pub struct Library {
    /// The folder that has `reproduce/` and `kernels/`.
    pub root: PathBuf,
    /// The figures, by paper and then as the paper has them.
    pub figures: Vec<Figure>,
}

/// The papers in the order of the page.
const PAPERS: [&str; 6] = ["hash", "rap", "sharing", "elastic", "atomics", "compose"];

impl Library {
    /// Reads `reproduce/` of the folder that the program runs in, or of the
    /// folder that it was built from.
    pub fn load() -> Result<Self> {
        let built = Path::new(env!("CARGO_MANIFEST_DIR"));
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
                figures.push(Figure::load(&file)?);
            }
        }
        Ok(Library {
            root: root.to_owned(),
            figures,
        })
    }

    /// The figures called `ids`; all if there are none.
    pub fn select(&self, ids: &[String]) -> Result<Vec<&Figure>> {
        let known = || self.figures.iter().map(|f| f.id.as_str());
        for id in ids {
            if !known().any(|k| k == id) {
                return Err(Error::usage(
                    format!("there is no figure '{id}'{}", did_you_mean(id, known())),
                    format!(
                        "expected one of: {}",
                        known().collect::<Vec<_>>().join(", ")
                    ),
                ));
            }
        }
        let asked = |f: &&Figure| ids.is_empty() || ids.contains(&f.id);
        Ok(self.figures.iter().filter(asked).collect())
    }
}

/// The figures of a paper, in the order of their names: f4 before f10.
fn figure_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Ok(Vec::new());
    };
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "toml") && place(f).is_some());
    files.sort_by_key(|f| place(f));
    Ok(files)
}

/// Kind and number of `f14.toml`; none for files that are not figures.
fn place(file: &Path) -> Option<(u8, u32, String)> {
    let name = file.file_stem()?.to_str()?;
    match name {
        "fidelity" => return Some((b'a', 0, name.into())),
        "noconflict" => return Some((b'z', 0, name.into())),
        _ => {}
    }
    let kind = *name.as_bytes().first()?;
    let number = name.get(1..)?.parse().ok()?;
    matches!(kind, b't' | b'f').then(|| (kind ^ b't', number, name.into()))
}
