//! A point, which is one computation: its inputs, its digest, its results.

use super::change::Change;
use super::figure::{Configuration, Figure, Workload};
use super::lines::without_lines;
use super::table5;
use crate::points::MODEL;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use spadkit_base::digest::hex;
use spadkit_base::error::{Error, Result};
use spadkit_launch::workload::Input;
use spadkit_sm::config::{Config, Overlay};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The results of a point, by the names that quantities use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Numbers {
    /// The bank mapping, where one was searched.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hash: Option<String>,
    /// Why there are no values.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// Cycles, conflicts, stalls, ...
    pub values: BTreeMap<String, f64>,
}

/// The files of workloads and machines, each read once for all points that it is an
/// input of.
pub struct Inputs<'a> {
    root: &'a Path,
    /// The contents of a workload's input files, for its digest.
    read: HashMap<String, Vec<Vec<u8>>>,
    /// The machines of figures, by their ids.
    machines: HashMap<String, Option<Overlay>>,
}

impl<'a> Inputs<'a> {
    /// Inputs below `root`, none of which is read yet.
    pub fn of(root: &'a Path) -> Self {
        Inputs {
            root,
            read: HashMap::new(),
            machines: HashMap::new(),
        }
    }

    /// The machine of a figure without any configuration.
    fn machine_of(&mut self, figure: &Figure) -> Result<Option<Overlay>> {
        if let Some(machine) = self.machines.get(&figure.id) {
            return Ok(machine.clone());
        }
        let machine = figure.machine()?;
        self.machines.insert(figure.id.clone(), machine.clone());
        Ok(machine)
    }

    /// The launch file of a workload and the files that it names, without what
    /// changes no number.
    fn of_workload(&mut self, work: &Workload) -> Result<&[Vec<u8>]> {
        let Some(input) = work.input.as_deref().filter(|i| !i.starts_with("kernel:")) else {
            return Ok(&[]);
        };
        if !self.read.contains_key(input) {
            let files = Input::from(self.root.join(input)).files()?;
            let contents = files.iter().map(|f| content(f)).collect::<Result<_>>()?;
            self.read.insert(input.to_owned(), contents);
        }
        Ok(&self.read[input])
    }
}

/// A workload with a configuration on a machine.
#[derive(Clone, Debug)]
pub struct Point {
    /// The first figure that it is for.
    pub figure: String,
    /// Name in that figure.
    pub workload: String,
    /// Name in that figure.
    pub configuration: String,
    /// The workload; its input's path can be opened.
    pub work: Workload,
    /// The configuration.
    pub with: Configuration,
    /// The machine with the configuration's keys, where one is simulated.
    pub machine: Option<Config>,
    /// Digest of the inputs.
    pub digest: String,
}

impl Point {
    /// The point of a figure, with its inputs read, and with a change.
    pub fn new(
        inputs: &mut Inputs,
        figure: &Figure,
        (workload, configuration): (&str, &str),
        change: &Change,
    ) -> Result<Self> {
        let root = inputs.root;
        let mut work = figure.workload[workload].clone();
        let mut with = figure.configuration[configuration].clone();
        if let Some(variant) = with.variant.take() {
            let input = work.variant.get(&variant).cloned();
            work.input = Some(input.ok_or_else(|| {
                Error::usage(
                    format!("{}: {workload} has no form '{variant}'", figure.id),
                    "expected it among the workload's `variant`",
                )
            })?);
        }
        work.variant.clear();
        change.apply(&mut work);
        let column = |column: Option<String>| {
            column
                .map(|c| table5::mapping(root, workload, &c))
                .transpose()
        };
        with.hash = with.hash.or(column(with.published.clone())?);
        with.compare = column(with.compare)?;
        if let (Some(tune), Some(_)) = (&mut with.tune, &with.compare) {
            tune.per_instruction = table5::is_analysed(root, workload)?;
        }
        with.software = column(with.software)?;
        let machine = inputs.machine_of(figure)?;
        let changed = machine.map(|machine| changed(machine, figure, &with, &change.sets));
        let machine = changed.transpose()?;
        let digest = digest(inputs.of_workload(&work)?, &work, &with, machine.as_ref())?;
        let open = |input: String| {
            if input.starts_with("kernel:") {
                input
            } else {
                root.join(input).display().to_string()
            }
        };
        work.input = work.input.map(open);
        Ok(Point {
            figure: figure.id.clone(),
            workload: workload.to_owned(),
            configuration: configuration.to_owned(),
            work,
            with,
            machine,
            digest,
        })
    }

    /// The point's line of `points.jsonl`.
    pub fn json(&self, numbers: &Numbers) -> Value {
        json!({
            "digest": self.digest,
            "workload": self.work_text(),
            "machine": self.machine.as_ref().map(|m| &m.name),
            "configuration": self.with,
            "hash": numbers.hash,
            "reason": numbers.reason,
            "values": numbers.values,
        })
    }

    fn work_text(&self) -> Value {
        let mut work = json!(self.work);
        if let Some(input) = self
            .work
            .input
            .as_deref()
            .filter(|i| !i.starts_with("kernel:"))
        {
            let at = ["kernels/", "reproduce/"]
                .iter()
                .find_map(|f| input.find(f))
                .unwrap_or(0);
            work["input"] = json!(&input[at..]);
        }
        work
    }
}

/// A figure's machine with the configuration's keys.
fn changed(
    mut machine: Overlay,
    figure: &Figure,
    with: &Configuration,
    more: &[String],
) -> Result<Config> {
    for set in with.set.iter().chain(more) {
        let (key, value) = set.split_once('=').ok_or_else(|| {
            Error::usage(
                format!("{}: set '{set}'", figure.id),
                "expected SECTION.KEY=VALUE",
            )
        })?;
        machine.set(key, value)?;
    }
    machine.config()
}

/// SHA-256 of everything that the numbers depend on.
fn digest(
    contents: &[Vec<u8>],
    work: &Workload,
    with: &Configuration,
    machine: Option<&Config>,
) -> Result<String> {
    let mut hash = Sha256::new();
    let inputs = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "model": MODEL,
        "workload": work,
        "configuration": with,
    });
    hash.update(inputs.to_string());
    let keys = machine.map(Config::beyond_blank).transpose()?;
    hash.update(json!(keys).to_string());
    for content in contents {
        hash.update(content.len().to_le_bytes());
        hash.update(content);
    }
    Ok(hex(&hash.finalize()[..16]))
}

/// A file without what changes no number: the line information of PTX.
fn content(file: &Path) -> Result<Vec<u8>> {
    let content = std::fs::read(file).map_err(|e| Error::io("read", file, e))?;
    if file.extension().is_none_or(|e| e != "ptx") {
        return Ok(content);
    }
    Ok(match String::from_utf8(content) {
        Ok(text) => without_lines(&text).into_bytes(),
        Err(other) => other.into_bytes(),
    })
}
