//! A figure or table of a paper as data: what runs, what is published, how the
//! two are compared. One file each, `reproduce/PAPER/NAME.toml`.

use super::data::parse;
use super::published::Row;
use crate::config::Overlay;
use crate::error::{Error, Result};
use crate::quote::did_you_mean;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A figure or table, as its file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// `PAPER.NAME`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// Where the paper has it.
    pub source: String,
    /// Why no model can give it; such a figure has nothing else.
    pub not_reproducible: Option<String>,
    /// A machine file beside this one, or a preset; none where nothing is simulated.
    pub machine: Option<String>,
    /// What is run: benchmarks, access patterns, block sizes.
    #[serde(default)]
    pub workload: BTreeMap<String, Workload>,
    /// A file beside this one with `[workload]` for several figures.
    pub workloads: Option<String>,
    /// What it is run with.
    #[serde(default)]
    pub configuration: BTreeMap<String, Configuration>,
    /// What is read off, and the published values.
    #[serde(default)]
    pub quantity: Vec<Quantity>,
    /// What separates the two where they differ: text for the page.
    #[serde(default)]
    pub notes: String,
    /// The folder of the file.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// The `workloads` file of several figures.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Workloads {
    #[serde(default)]
    workload: BTreeMap<String, Workload>,
    /// The benchmarks of the hash paper's Table 5.
    #[serde(default)]
    row: Vec<Row>,
}

/// What is run: a kernel, an access of the RAP paper, or a block's size.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Workload {
    /// INPUT of `sim`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Other forms of the kernel, by the name that a configuration has for them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub variant: BTreeMap<String, String>,
    /// Scalars and seeds of the launch that replace those of its file.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub args: BTreeMap<String, i64>,
    /// The launch's grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<[u32; 3]>,
    /// Threads of the launch's blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<[u32; 3]>,
    /// Added to all seeds of the launch: a change of the sensitivity analysis.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Half of the blocks: another one.
    #[serde(skip_deserializing, skip_serializing_if = "std::ops::Not::not")]
    pub half_grid: bool,
    /// An access of the RAP paper, on an array of `dims` dimensions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<String>,
    /// A transpose of the RAP paper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transpose: Option<String>,
    /// Banks of the RAP paper's machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Dimensions of the array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dims: Option<u32>,
    /// Scratchpad bytes of a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_bytes: Option<u32>,
    /// Threads of a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
}

/// What a workload is run with.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Configuration {
    /// Keys of the machine, as `--set` takes them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// Bank mapping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// A bank mapping that is searched for each workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tune: Option<Tune>,
    /// The bank mapping that Table 5 of the hash paper publishes for the
    /// workload: a column of `reproduce/hash/table5.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// The same in the kernel's own index arithmetic, no hardware.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub software: Option<String>,
    /// A column of that table that the mapping is compared with: `equal` is 1
    /// where it is printed the same, `same banks` where it is the same but for
    /// the numbers of the banks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<String>,
    /// A form of the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// Placement of relssp, with the variables reordered; none, the kernel is
    /// as it was: `none`, `postdom`, `optimal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relssp: Option<String>,
    /// Address mapping of the RAP paper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// Count the conflicts of one block's accesses; nothing is simulated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
}

impl Configuration {
    /// Whether it puts a published mapping on a machine or into a kernel, which
    /// may not take it.
    pub fn is_from_table(&self) -> bool {
        self.published.is_some() || self.software.is_some()
    }
}

/// A search of the hash paper.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tune {
    /// Hash unit.
    pub unit: String,
    /// Method.
    pub method: String,
    /// As the paper searched: heuristics take dependent bits, too, so that the
    /// result may be no mapping; of equal bit vectors the smallest mask wins.
    #[serde(default)]
    pub as_published: bool,
    /// One set of addresses per access instruction, as an analysis of source
    /// text has it; otherwise one per warp access. Follows from the table's
    /// `method` where `compare` is given.
    #[serde(skip_deserializing, skip_serializing_if = "std::ops::Not::not")]
    pub per_instruction: bool,
}

/// How a number is formed from the points of one workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The number itself.
    Value,
    /// `over` divided by `of`.
    SpeedUp,
    /// `of` divided by `over`.
    Ratio,
    /// `of` less `over`.
    Difference,
    /// Percent that `of` has less than `over`.
    Removed,
    /// Percent by which `over` is more than `of`: gain in speed.
    Gain,
    /// Percent of `over` that `of` has; 0 where both have none.
    Left,
    /// Percent by which `of` is more than `over`.
    Increase,
}

/// How workloads are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mean {
    /// Sum by number.
    Arithmetic,
    /// Root of the product.
    Geometric,
    /// Of percents: those of the geometric mean of the ratios.
    GeometricGain,
    /// The largest.
    Max,
    /// The sum.
    Sum,
    /// The name of the workload with the smallest, as a number.
    ArgMin,
    /// Spearman's rank correlation of measured and published.
    Rank,
}

impl Mean {
    /// What stands before the quantity's name.
    pub fn word(self) -> &'static str {
        match self {
            Mean::Arithmetic | Mean::Geometric | Mean::GeometricGain => "mean",
            Mean::Max => "maximum",
            Mean::Sum => "total",
            Mean::ArgMin => "least",
            Mean::Rank => "rank correlation",
        }
    }
}

/// How measured and published are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Equal but for `tolerance`, 0 if not given.
    Exact,
    /// A mean within `tolerance`.
    Mean,
    /// At least `tolerance` in rank correlation; or the same order.
    Order,
    /// A point of a curve within the part `tolerance` of the published value.
    Curve,
    /// Nothing to compare.
    None,
}

/// Where a published value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    /// A table or number of the paper.
    Text,
    /// Follows from such numbers.
    Derived,
    /// A sentence of the paper.
    Prose,
    /// Not published as a number.
    None,
}

/// One kind of number of a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantity {
    /// As in `mean NAME`.
    pub name: String,
    /// How it is formed.
    pub metric: Metric,
    /// The number of the points that it is formed from.
    #[serde(default = "cycles")]
    pub key: String,
    /// Configuration.
    pub of: String,
    /// Configuration that it is compared with.
    pub over: Option<String>,
    /// Unit of the value.
    #[serde(default)]
    pub unit: String,
    /// How workloads are summed up, if they are.
    pub mean: Option<Mean>,
    /// Workloads that take part; all if empty.
    #[serde(default)]
    pub only: Vec<String>,
    /// Published values of workloads.
    #[serde(default)]
    pub published: BTreeMap<String, f64>,
    /// Where they come from.
    #[serde(default = "text")]
    pub provenance: Provenance,
    /// How workloads are checked.
    #[serde(default = "none")]
    pub check: Check,
    /// Its tolerance.
    pub tolerance: Option<f64>,
    /// Published mean.
    pub published_mean: Option<f64>,
    /// How the mean is checked.
    #[serde(default = "mean")]
    pub mean_check: Check,
    /// Its tolerance.
    pub mean_tolerance: Option<f64>,
    /// Where the published mean comes from.
    pub mean_provenance: Option<Provenance>,
    /// The sensitivity analysis is about it.
    #[serde(default)]
    pub headline: bool,
    /// Why a workload, or `mean`, differs.
    #[serde(default)]
    pub reason: BTreeMap<String, String>,
}

fn cycles() -> String {
    "cycles".to_owned()
}

fn text() -> Provenance {
    Provenance::Text
}

fn none() -> Check {
    Check::None
}

fn mean() -> Check {
    Check::Mean
}

impl Figure {
    /// Reads and checks a file.
    pub fn load(path: &Path) -> Result<Self> {
        let mut figure: Figure = parse(path)?;
        figure.folder = path.parent().unwrap_or(Path::new("")).to_owned();
        if let Some(file) = &figure.workloads {
            let shared: Workloads = parse(&figure.folder.join(file))?;
            let rows = shared.row.into_iter().map(|row| {
                let input = Some(row.launch);
                (
                    row.benchmark,
                    Workload {
                        input,
                        ..Workload::default()
                    },
                )
            });
            for (name, workload) in rows.chain(shared.workload) {
                figure.workload.entry(name).or_insert(workload);
            }
        }
        figure.check(path)?;
        Ok(figure)
    }

    /// Every name in a quantity must be that of something.
    fn check(&self, path: &Path) -> Result<()> {
        let known: Vec<&str> = self.configuration.keys().map(String::as_str).collect();
        let workloads: Vec<&str> = self.workload.keys().map(String::as_str).collect();
        for quantity in &self.quantity {
            for name in [Some(&quantity.of), quantity.over.as_ref()]
                .into_iter()
                .flatten()
            {
                expect(path, "configuration", name, &known)?;
            }
            let needs_over = quantity.metric != Metric::Value;
            if needs_over != quantity.over.is_some() {
                return Err(Error::usage(
                    format!("{}: quantity '{}'", path.display(), quantity.name),
                    "expected `over` where metric is not value, and only there",
                ));
            }
            for name in quantity.only.iter().chain(quantity.published.keys()) {
                expect(path, "workload", name, &workloads)?;
            }
        }
        Ok(())
    }

    /// The machine without any configuration; none where nothing is simulated.
    pub fn machine(&self) -> Result<Option<Overlay>> {
        match &self.machine {
            None => Ok(None),
            Some(name) if name.ends_with(".toml") => {
                Overlay::load(&self.folder.join(name)).map(Some)
            }
            Some(name) => Overlay::preset(name).map(Some),
        }
    }

    /// The name of the machine, as results have it.
    pub fn machine_name(&self) -> Result<Option<String>> {
        let machine = self.machine()?.map(|m| m.config()).transpose()?;
        Ok(machine.map(|m| m.name))
    }

    /// The workloads of a quantity.
    pub fn workloads_of<'a>(&'a self, quantity: &'a Quantity) -> impl Iterator<Item = &'a str> {
        let listed =
            |name: &&str| quantity.only.is_empty() || quantity.only.iter().any(|o| o == name);
        self.workload.keys().map(String::as_str).filter(listed)
    }

    /// The configurations that some quantity is about, for a workload.
    pub fn configurations_of<'a>(&'a self, workload: &'a str) -> Vec<&'a str> {
        let about = self
            .quantity
            .iter()
            .filter(|q| self.workloads_of(q).any(|w| w == workload));
        let mut names: Vec<&str> = about
            .flat_map(|q| [Some(q.of.as_str()), q.over.as_deref()])
            .flatten()
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

fn expect(path: &Path, what: &str, name: &str, known: &[&str]) -> Result<()> {
    if known.contains(&name) {
        Ok(())
    } else {
        Err(Error::usage(
            format!(
                "{}: there is no {what} '{name}'{}",
                path.display(),
                did_you_mean(name, known.iter().copied())
            ),
            format!("expected one of: {}", known.join(", ")),
        ))
    }
}
