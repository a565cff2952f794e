//! Numbers of an earlier run.

use super::Kernel;
use super::limits::Metric;
use crate::error::{Error, Result};
use crate::input::Limit;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use strum::VariantArray;

const SIZE: Limit = Limit {
    bytes: 64 << 20,
    expected: "a baseline of spadkit gate: JSON in UTF-8",
};

/// All kernels of a run.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Baseline {
    format_version: u32,
    /// By input, as the command line named it.
    kernels: BTreeMap<String, Numbers>,
}

/// A kernel's numbers, by metric.
#[derive(Deserialize, Serialize)]
#[serde(transparent)]
pub(super) struct Numbers(BTreeMap<String, u64>);

impl Baseline {
    /// Reads one that `--write-baseline` wrote.
    pub fn load(path: &Path) -> Result<Self> {
        let text = SIZE.read_text(path)?;
        let help = "expected a file that spadkit gate --write-baseline wrote";
        let read: Baseline = serde_json::from_str(&text).map_err(|e| {
            let before = text.split_inclusive('\n').take(e.line().saturating_sub(1));
            let offset = before.map(str::len).sum::<usize>() + e.column().saturating_sub(1);
            let what = format!("no baseline: {e}");
            Error::input(
                what,
                Some(help.to_owned()),
                path,
                &text,
                offset.min(text.len()),
            )
        })?;
        match read.format_version {
            1 => Ok(read),
            other => Err(Error::usage(
                format!("{}: format_version {other}", path.display()),
                "expected 1: a newer spadkit wrote it",
            )),
        }
    }

    /// The numbers of a run.
    pub fn of_run(kernels: &[Kernel]) -> Self {
        let numbers = |kernel: &Kernel| {
            let known = Metric::VARIANTS
                .iter()
                .filter_map(|m| Some((m.to_string(), kernel.measured.value(*m)?)));
            (kernel.input.clone(), Numbers(known.collect()))
        };
        Baseline {
            format_version: 1,
            kernels: kernels.iter().map(numbers).collect(),
        }
    }

    /// Those of a kernel, where it was there.
    pub fn of(&self, input: &str) -> Option<&Numbers> {
        self.kernels.get(input)
    }

    /// For a file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("a JSON value") + "\n"
    }
}

impl Numbers {
    pub fn get(&self, metric: Metric) -> Option<u64> {
        self.0.get(&metric.to_string()).copied()
    }
}
