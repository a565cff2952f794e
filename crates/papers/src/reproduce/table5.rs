//! Table 5 of the hash paper: its benchmarks, and the bank mappings that it
//! publishes.

use super::data::parse;
use serde::Deserialize;
use spadkit_base::error::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// A benchmark of the table.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Row {
    /// Name of the benchmark.
    pub benchmark: String,
    /// The launch file that is used for it.
    pub launch: String,
    /// How the stand-in was fitted to the table, if it was.
    pub inferred: Option<String>,
    /// Further columns of the table.
    #[serde(flatten)]
    columns: BTreeMap<String, toml::Value>,
}

#[derive(Deserialize)]
struct Table {
    row: Vec<Row>,
}

const TABLE: &str = "reproduce/hash/table5.toml";

/// The hash unit that a column of the table configures.
const UNITS: [(&str, &str); 5] = [
    ("bitvec-xor", "bitvec-xor"),
    ("givargis-perm", "bitwise-perm"),
    ("mih-perm", "bitwise-perm"),
    ("givargis-xor", "bitwise-xor"),
    ("mih-xor", "bitwise-xor"),
];

/// The mapping of `column` for benchmark `workload`, as `--hash` takes it.
pub(super) fn mapping(root: &Path, workload: &str, column: &str) -> Result<String> {
    let unit = UNITS.iter().find(|u| u.0 == column);
    match unit {
        Some((_, unit)) => Ok(format!("{unit}:{}", cell(root, workload, column)?)),
        None => Err(missing(workload, column)),
    }
}

/// Whether the paper took the accesses of benchmark `workload` from its source
/// text; the others are traced.
pub(super) fn is_analysed(root: &Path, workload: &str) -> Result<bool> {
    Ok(cell(root, workload, "method")? == "analysis")
}

fn cell(root: &Path, workload: &str, column: &str) -> Result<String> {
    let table: Table = parse(&root.join(TABLE))?;
    let row = table.row.iter().find(|r| r.benchmark == workload);
    let cell = row.and_then(|row| row.columns.get(column)?.as_str());
    cell.map(str::to_owned)
        .ok_or_else(|| missing(workload, column))
}

fn missing(workload: &str, column: &str) -> Error {
    Error::usage(
        format!("{TABLE}: no {column} of {workload}"),
        "expected a [[row]] of the benchmark with this column",
    )
}
