//! Numbers and faults of an earlier run.

use super::limits::Metric;
use super::measure::Measured;
use crate::capture::Selected;
use crate::error::{Error, Result};
use crate::input::Limit;
use crate::paths::from_folder;
use crate::quote::shown_path;
use crate::workload::Input;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use strum::VariantArray;

const SIZE: Limit = Limit {
    bytes: 64 << 20,
    expected: "a baseline of spadkit gate: JSON in UTF-8",
};

/// The form of the file.
const VERSION: u32 = 2;

/// All kernels of a run.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Baseline {
    format_version: u32,
    /// The mapping that conflicts were counted under.
    hash: String,
    /// Kernels by file, as it is named from the folder of the baseline.
    kernels: BTreeMap<String, Known>,
    #[serde(skip)]
    path: PathBuf,
}

/// A kernel of the baseline.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Known {
    machine: String,
    /// Numbers by metric.
    numbers: BTreeMap<String, u64>,
    /// Lines with their conflicts, faults and wrong outputs, by what tells them apart
    /// while lines move.
    results: BTreeMap<String, u64>,
}

/// The version of a file whose other fields may be those of another version.
#[derive(Deserialize)]
struct Version {
    format_version: u32,
}

impl Baseline {
    /// Reads one that `--write-baseline` wrote under the mapping `hash`.
    pub fn load(path: &Path, hash: &str) -> Result<Self> {
        let text = SIZE.read_text(path)?;
        let version: Version = parsed(path, &text)?;
        if version.format_version != VERSION {
            return Err(Error::usage(
                format!(
                    "{}: format_version {}",
                    shown_path(path),
                    version.format_version
                ),
                format!("expected {VERSION}; write it again with --write-baseline"),
            ));
        }
        let read: Baseline = parsed(path, &text)?;
        if read.hash != hash {
            return Err(Error::usage(
                format!(
                    "{} has conflicts under {}, and this run counts them under {hash}",
                    shown_path(path),
                    read.hash
                ),
                format!(
                    "give --hash {}, or write it again with --write-baseline",
                    read.hash
                ),
            ));
        }
        Ok(Baseline {
            path: path.to_owned(),
            ..read
        })
    }

    /// One without kernels, for the file `path`.
    pub fn new(path: &Path, hash: String) -> Self {
        Baseline {
            format_version: VERSION,
            hash,
            kernels: BTreeMap::new(),
            path: path.to_owned(),
        }
    }

    /// Adds what a run found in the kernel of `input`.
    pub fn add(&mut self, input: &str, machine: &str, measured: &Measured) {
        let numbers = Metric::VARIANTS
            .iter()
            .filter_map(|m| Some((m.to_string(), measured.value(*m)?)));
        let known = Known {
            machine: machine.to_owned(),
            numbers: numbers.collect(),
            results: measured.results().collect(),
        };
        self.kernels
            .insert(key(&self.path, &Input::from(input)), known);
    }

    /// The kernel of `input`, if it is there.
    ///
    /// # Errors
    ///
    /// If its numbers are of another machine.
    pub fn of(&self, input: &Input, machine: &str) -> Result<Option<&Known>> {
        let known = self.kernels.get(&key(&self.path, input));
        match known {
            Some(known) if known.machine != machine => Err(Error::usage(
                format!(
                    "{} has the numbers of {input} on {}, and this run is on {machine}",
                    shown_path(&self.path),
                    known.machine
                ),
                format!(
                    "give --preset {}, or write it again with --write-baseline",
                    known.machine
                ),
            )),
            known => Ok(known),
        }
    }

    /// Notes on `missing`, kernels that the baseline does not have, and on its files
    /// that are gone.
    pub fn notes(&self, missing: Vec<String>) -> Vec<String> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let is_gone = |name: &&String| {
            !name.starts_with("kernel:") && !folder.join(Selected::file_of(name)).exists()
        };
        let gone = self.kernels.keys().filter(is_gone).cloned();
        let path = shown_path(&self.path);
        let missing = listed(missing)
            .map(|names| format!("not in {path}, so that only their limits count: {names}"));
        let gone = listed(gone.collect()).map(|names| {
            format!("{path} has kernels whose files are gone: {names}; write it again")
        });
        missing.into_iter().chain(gone).collect()
    }

    /// The baseline as text for a file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("a JSON value") + "\n"
    }
}

impl Known {
    pub fn get(&self, metric: Metric) -> Option<u64> {
        self.numbers.get(&metric.to_string()).copied()
    }

    /// Conflicts of lines, and 1 for each fault, by what tells them apart.
    pub fn results(&self) -> &BTreeMap<String, u64> {
        &self.results
    }
}

fn parsed<T: serde::de::DeserializeOwned>(path: &Path, text: &str) -> Result<T> {
    let help = "expected a file that spadkit gate --write-baseline wrote";
    serde_json::from_str(text).map_err(|e| {
        let what = format!("no baseline: {e}");
        let place = (e.line(), e.column());
        Error::input_at(what, Some(help.to_owned()), path, text, place)
    })
}

/// The name of a kernel in the baseline `path`: a file as it is named from its
/// folder.
fn key(path: &Path, input: &Input) -> String {
    match input {
        Input::Generated(name) => name.clone(),
        Input::Stdin => input.to_string(),
        _ => {
            let folder = path.parent().unwrap_or(Path::new(""));
            from_folder(folder, input.name()).display().to_string()
        }
    }
}

/// Up to five names; none if there are none.
fn listed(names: Vec<String>) -> Option<String> {
    const MOST: usize = 5;
    match names.len() {
        0 => None,
        n if n <= MOST => Some(names.join(", ")),
        n => Some(format!(
            "{} and {} more",
            names[..MOST].join(", "),
            n - MOST
        )),
    }
}
