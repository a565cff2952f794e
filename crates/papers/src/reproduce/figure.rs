//! A figure or table of a paper as data: what runs, what is published, how the
//! two are compared. One file each, `reproduce/PAPER/NAME.toml`.

use super::data::{parse, parse_with};
use super::evidence::Evidence;
use super::order::Order;
use super::quantity::{NotModelled, Quantity};
use super::table5::Row;
use serde::{Deserialize, Serialize};
use spadkit_base::error::Result;
use spadkit_compiler::sharing::Placement;
use spadkit_mapping::hash::HashKind;
use spadkit_mapping::search::tune::Method;
use spadkit_sm::config::Overlay;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A figure or table, as its file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// `PAPER.NAME`.
    pub id: String,
    /// Subject of the figure.
    pub title: String,
    /// Page or section in the paper.
    pub source: String,
    /// The evidence of its values, unless a quantity states its own.
    pub evidence: Option<Evidence>,
    /// A machine file in the same folder, or a preset; none if nothing is simulated.
    pub machine: Option<String>,
    /// How the machine was chosen to fit the paper's numbers. All timed values of the
    /// figure are inferred.
    pub machine_inferred: Option<String>,
    /// The workloads: benchmarks, access patterns, block sizes.
    #[serde(default)]
    pub workload: BTreeMap<String, Workload>,
    /// A file in the same folder with `[workload]` for several figures.
    pub workloads: Option<String>,
    /// The configurations of the workloads.
    #[serde(default)]
    pub configuration: BTreeMap<String, Configuration>,
    /// The quantities, and the published values.
    #[serde(default)]
    pub quantity: Vec<Quantity>,
    /// Orderings that the paper states.
    #[serde(default)]
    pub order: Vec<Order>,
    /// Ranges of claims that depend on an input which the paper does not publish.
    #[serde(default)]
    pub range: Vec<Range>,
    /// Published values that no model gives.
    #[serde(default)]
    pub not_modelled: Vec<NotModelled>,
    /// The reason for differences, as text for the page.
    #[serde(default)]
    pub notes: String,
    /// The folder of the file.
    #[serde(skip)]
    pub folder: PathBuf,
    /// The name of the file, without its folder.
    #[serde(skip)]
    pub file_name: PathBuf,
}

/// The `workloads` file of several figures.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Workloads {
    /// The machine that they run on, as in a figure.
    machine_inferred: Option<String>,
    #[serde(default)]
    workload: BTreeMap<String, Workload>,
    /// The benchmarks of the hash paper's Table 5.
    #[serde(default)]
    row: Vec<Row>,
}

/// The values of a claim over an input that the paper does not publish.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The claim.
    pub claim: String,
    /// The varied input, and its range.
    pub input: String,
    /// Quantities, or sums of them, whose values these are.
    pub over: Vec<String>,
    /// Workloads of the quantities; all if empty.
    #[serde(default)]
    pub only: Vec<String>,
}

/// A workload: a kernel, an access of the RAP paper, or the size of a block.
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
    /// A formula of `crates/papers/src/reproduce/analytic`, as `elastic.bound`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// Numbers of the formula; a configuration's number of the same name overrides one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub numbers: BTreeMap<String, f64>,
    /// Inputs of the formula that are text: a mapping, a file.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub words: BTreeMap<String, String>,
    /// How the input was chosen to fit the paper's numbers about it. All values
    /// of the workload, and all sums that include it, are inferred.
    #[serde(skip_serializing)]
    pub inferred: Option<String>,
}

/// The configuration of a workload.
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
    /// The bank mapping of that table (named as in `published`) in the kernel's own
    /// index arithmetic, without hardware.
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
    /// Placement of relssp, with the variables reordered; without it, the kernel is
    /// as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relssp: Option<Placement>,
    /// Address mapping of the RAP paper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// Count the conflicts of one block's accesses; nothing is simulated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub counted: bool,
    /// A mapping of related work, whose conflicts are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related: Option<String>,
    /// A formula that replaces the workload's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// Numbers of the formula.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub numbers: BTreeMap<String, f64>,
    /// Inputs of the formula that are text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub words: BTreeMap<String, String>,
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
    pub unit: HashKind,
    /// Method.
    pub method: Method,
    /// The paper's way of searching: heuristics may choose dependent bits, so
    /// that the result may be no mapping; of equal bit vectors, the smallest
    /// mask wins.
    #[serde(default)]
    pub as_published: bool,
    /// One set of addresses per access instruction, as in an analysis of source
    /// text; otherwise one per warp access. Follows from the table's `method`
    /// if `compare` is given.
    #[serde(skip_deserializing, skip_serializing_if = "std::ops::Not::not")]
    pub per_instruction: bool,
}

impl Figure {
    /// Reads a file; `validate` checks its content.
    pub fn load(path: &Path) -> Result<Self> {
        let mut figure: Figure = parse_with(path, Figure::resolve)?;
        figure.folder = path.parent().unwrap_or(Path::new("")).to_owned();
        figure.file_name = path.file_name().unwrap_or_default().into();
        if let Some(file) = &figure.workloads {
            let shared: Workloads = parse(&figure.folder.join(file))?;
            let simulated = figure.machine.as_ref().and(shared.machine_inferred);
            figure.machine_inferred = figure.machine_inferred.or(simulated);
            let rows = shared.row.into_iter().map(|row| {
                let input = Some(row.launch);
                (
                    row.benchmark,
                    Workload {
                        input,
                        inferred: row.inferred,
                        ..Workload::default()
                    },
                )
            });
            for (name, workload) in rows.chain(shared.workload) {
                figure.workload.entry(name).or_insert(workload);
            }
        }
        Ok(figure)
    }

    /// Takes the printed decimals of published values from the file's text.
    pub(super) fn resolve(&mut self, text: &str) {
        self.quantity.iter_mut().for_each(|q| q.resolve(text));
        let counts = self.order.iter_mut().map(|o| o.published_count.as_mut());
        let without = self.not_modelled.iter_mut().map(|n| n.published.as_mut());
        let values = counts.chain(without).flatten();
        values.for_each(|p| p.resolve(text, None));
    }

    /// Data file of the figure.
    pub fn file(&self) -> PathBuf {
        self.folder.join(&self.file_name)
    }

    /// The folder of its file: the paper.
    pub fn paper(&self) -> &str {
        let name = self.folder.file_name().and_then(|n| n.to_str());
        name.unwrap_or_default()
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

    /// The workloads of a quantity, or those of `only` among all.
    pub fn workloads_of<'a>(&'a self, only: &'a [String]) -> impl Iterator<Item = &'a str> {
        let listed = |name: &&str| only.is_empty() || only.iter().any(|o| o == name);
        self.workload.keys().map(String::as_str).filter(listed)
    }

    /// The configurations that some quantity or order is about, for a workload.
    pub fn configurations_of<'a>(&'a self, workload: &'a str) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for quantity in &self.quantity {
            if self.workloads_of(&quantity.only).any(|w| w == workload) {
                names.extend(quantity.configurations());
            }
            if let Some(ending) = &quantity.over_without {
                let beside = |w: &str| w.strip_suffix(ending.as_str()) == Some(workload);
                if quantity.only.iter().any(|w| beside(w)) {
                    names.extend(quantity.over.as_deref());
                }
            }
        }
        for order in &self.order {
            match &order.of {
                Some(of) if order.names().contains(&workload) => names.push(of),
                Some(_) => continue,
                None if self.workloads_of(&order.only).any(|w| w == workload) => {
                    names.extend(order.names());
                }
                None => continue,
            }
            names.extend(order.over.as_deref());
        }
        names.sort_unstable();
        names.dedup();
        names
    }
}
