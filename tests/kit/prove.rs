//! The command `prove`: correct RTL is proved, and broken RTL is not.

mod faults;
mod refusals;
mod small;

use crate::common::tools::missing;
use assert_cmd::Command;
use faults::{
    AROUND_ATOMIC, ATOMIC, FIGURES, Mutant, PAIR, POSTED, POSTED_ATOMIC, hash_faults, path_faults,
};
use rayon::prelude::*;
use serde_json::Value;
use spadkit::config::Config;
use spadkit::rtl::Design;
use spadkit::units::{UNITS, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A busy machine must not turn a proof into `unknown`.
const TIMEOUT: [&str; 2] = ["--timeout", "3000"];

fn spadkit(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("spadkit").unwrap();
    command.args(args).args(["--format", "json", "-q"]);
    let has_machine = args.iter().any(|a| ["--preset", "--config"].contains(a));
    if !has_machine {
        command.args(["--preset", "small"]);
    }
    command
}

/// Exit status and results of `prove`.
fn prove(args: &[&str]) -> (i32, Vec<Value>) {
    let output = spadkit(&[&["prove"], args].concat()).output().unwrap();
    let status = output.status.code().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{error}"));
    (status, json["results"].as_array().unwrap().clone())
}

/// The emitted Verilog of a machine (`small` if none), with its edits.
struct Rtl {
    dir: TempDir,
    out: PathBuf,
    machine: Vec<String>,
}

impl Rtl {
    fn emit(machine: Option<&str>, units: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let machine = match machine {
            None => Vec::new(),
            Some(text) => {
                let path = dir.path().join("machine.toml");
                std::fs::write(&path, text).unwrap();
                vec!["--config".to_owned(), path.to_str().unwrap().to_owned()]
            }
        };
        let out = dir.path().join("rtl");
        let rtl = Rtl { dir, out, machine };
        let args = rtl.args(&[&["emit"], units, &["-o", rtl.path()]].concat());
        spadkit(&args).assert().success();
        rtl
    }

    fn path(&self) -> &str {
        self.out.to_str().unwrap()
    }

    fn args<'a>(&'a self, args: &[&'a str]) -> Vec<&'a str> {
        let machine = self.machine.iter().map(String::as_str);
        args.iter().copied().chain(machine).collect()
    }

    /// Replaces the first occurrence of each text by another.
    fn edit(self, file: &str, edits: &[(impl AsRef<str>, impl AsRef<str>)]) -> Self {
        let path = self.out.join(file);
        let mut text = std::fs::read_to_string(&path).unwrap();
        for (from, to) in edits {
            let (from, to) = (from.as_ref(), to.as_ref());
            assert!(text.contains(from), "{file} has no '{from}'");
            text = text.replacen(from, to, 1);
        }
        std::fs::write(path, text).unwrap();
        self
    }

    /// Exit status, and the result of each property that is not about the
    /// software.
    fn results(&self, unit: &str) -> (i32, Vec<(String, Value)>) {
        self.results_about(unit, &[])
    }

    /// The same of some properties alone.
    fn results_about(&self, unit: &str, properties: &[String]) -> (i32, Vec<(String, Value)>) {
        let options = properties.iter().flat_map(|p| ["--property", p]);
        let args = [unit, "--rtl", self.path()].into_iter().chain(TIMEOUT);
        let args: Vec<&str> = args.chain(options).collect();
        let (status, results) = prove(&self.args(&args));
        let rtl = results.into_iter().filter(|r| r["method"] != "exhaustive");
        let named = rtl.map(|r| (r["property"].as_str().unwrap().to_owned(), r));
        (status, named.collect())
    }
}

fn has_circuits(unit: &Unit) -> Option<&'static str> {
    (!unit.circuits.is_empty()).then_some(unit.name)
}

/// The units that are proved around their definitions, and the units of the
/// path.
fn hash_and_path_units() -> (Vec<String>, Vec<String>) {
    let unknown = spadkit(&["prove", "spad_nothing"]).output().unwrap();
    let error = String::from_utf8_lossy(&unknown.stderr).into_owned();
    let known = Design::all_units()
        .into_iter()
        .filter(|u| error.contains(u.as_str()));
    let of_path: BTreeSet<&str> = UNITS.iter().filter_map(has_circuits).collect();
    known.partition(|u| !of_path.contains(u.as_str()))
}

fn number(text: &Value) -> u32 {
    let text = text
        .as_str()
        .unwrap_or_else(|| panic!("{text} is not a number"));
    u32::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap()
}

#[test]
fn every_hash_unit_is_proved() {
    if missing(&["yosys"]) {
        return;
    }
    let rtl = Rtl::emit(None, &[]);
    let (units, _) = hash_and_path_units();
    let units = units.iter().map(String::as_str);
    // From a directory: the machine's own geometry only.
    let args = units.chain(["--rtl", rtl.path()]).chain(TIMEOUT);
    let args: Vec<&str> = args.collect();
    let (status, results) = prove(&args);
    assert_eq!(status, 0);
    for result in &results {
        assert_eq!(result["result"], "proved", "{result}");
        assert_eq!(result["geometry"]["addr_bits"], 10);
    }
    let count = |property| results.iter().filter(|r| r["property"] == property).count();
    assert_eq!(count("function"), 9);
    assert_eq!(count("bijection"), 9 + 4, "9 by SAT, 4 by exhaustion, too");
    assert_eq!(count("registers"), 8);
    assert_eq!(count("reset"), 8);
}

/// Units of which a proof takes more than a few seconds.
const LONG: [&str; 16] = [
    "spad_atomic_bank",
    "spad_axi",
    "spad_pass_issue",
    "spad_phases",
    "spad_warp_mask",
    "spad_writeback_mux",
    "spad_crossbar",
    "spad_counters",
    "spad_issue_select",
    "spad_memory_entry",
    "spad_access_unit",
    "spad_retry_sequencer",
    "spad_scratchpad",
    "spad_sm_path",
    "spad_stream",
    "spad_tcdm",
];

/// All that is asked of `units` is proved, by induction.
fn proved_by_induction(units: &[&str], options: &[&str]) {
    let (status, results) = prove(&[units, options, &TIMEOUT].concat());
    for result in &results {
        assert_eq!(result["result"], "proved", "{result}");
        assert_eq!(result["method"], "induction");
    }
    assert_eq!(status, 0);
    for unit in units {
        assert!(results.iter().any(|r| r["unit"] == *unit), "{unit}");
    }
}

#[test]
fn units_of_the_path_are_proved() {
    if missing(&["yosys"]) {
        return;
    }
    let (_, units) = hash_and_path_units();
    let units = units.iter().map(String::as_str);
    let short: Vec<&str> = units.filter(|u| !LONG.contains(u)).collect();
    proved_by_induction(&short, &[]);
}

/// As [`proved_by_induction`], of the Verilog of this machine.
fn proved_on(machine: &str, unit: &str) {
    let rtl = Rtl::emit(Some(machine), &[unit]);
    proved_by_induction(&[unit], &rtl.args(&["--rtl", rtl.path()]));
}

#[test]
#[ignore = "takes minutes; part of make campaign"]
fn the_other_units_of_the_path_are_proved() {
    if !missing(&["yosys"]) {
        proved_by_induction(&LONG, &[]);
        proved_on(PAIR, "spad_stream");
        proved_on(AROUND_ATOMIC, "spad_stream");
        proved_on(POSTED, "spad_stream");
        proved_on(POSTED_ATOMIC, "spad_stream");
        proved_on(ATOMIC, "spad_retry_sequencer");
        proved_on(FIGURES, "spad_sm_path");
    }
}

#[test]
fn the_usual_geometries_are_proved_of_a_fixed_hash() {
    if missing(&["yosys"]) {
        return;
    }
    let (status, results) = prove(&[&["spad_hash_add"], &TIMEOUT[..]].concat());
    assert_eq!(status, 0);
    assert_eq!(results.len(), 2 * 6);
}

#[test]
fn a_wrong_address_bit_gives_a_counterexample_that_is_one() {
    if missing(&["yosys"]) {
        return;
    }
    let rtl = Rtl::emit(None, &[]).edit("spad_hash_bitvec_perm.v", &[("addr[4]", "addr[5]")]);
    let (status, results) = rtl.results("spad_hash_bitvec_perm");
    assert_eq!(status, 1);
    let (_, function) = &results[0];
    assert_eq!(function["result"], "disproved");
    let values = &function["counterexample"]["values"];
    let (k, addr) = (number(&values["k"]), number(&values["addr"]));
    assert!(k <= 7, "the configuration is legal");
    assert_eq!(number(&values["expected"]), addr >> k & 7);
    assert_ne!(number(&values["bank"]), addr >> k & 7);
}

/// Exactly the broken properties are disproved.
#[test]
fn hash_mutants_are_disproved() {
    if missing(&["yosys"]) {
        return;
    }
    for fault in hash_faults() {
        let (unit, file) = (&fault.unit, &fault.file);
        let rtl = Rtl::emit(fault.machine(), &[]).edit(file, &fault.edits);
        let (status, results) = rtl.results(unit);
        assert_eq!(status, 1, "{unit}");
        for (property, result) in results {
            let disproved = fault.broken.contains(&property);
            let expected = if disproved { "disproved" } else { "proved" };
            assert_eq!(result["result"], expected, "{unit}, {file}: {result}");
            assert_eq!(result["counterexample"].is_object(), disproved);
        }
    }
}

/// Those of `faults` that are not caught.
fn missed(faults: &[Mutant]) -> Vec<String> {
    faults.par_iter().filter_map(Mutant::missed).collect()
}

/// The names in a Verilog text; of numbers, `'b10` has none.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'';
    text.split(move |c| !is_name(c))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// A fault whose text is gone would be none.
#[test]
fn every_fault_is_in_the_text() {
    let faults = path_faults();
    let machine = |fault: &Mutant| fault.machine().unwrap_or("base = 'small'").to_owned();
    let mut units: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for fault in &faults {
        let units = units.entry(machine(fault)).or_default();
        units.extend(fault.units().map(str::to_owned));
    }
    let emitted = units.into_iter().map(|(machine, units)| {
        let config = Config::from_toml(&machine, Path::new("machine.toml")).unwrap();
        let units: Vec<String> = units.into_iter().collect();
        let files = Design::emit(&units, &config).unwrap().files.into_iter();
        let files: BTreeMap<String, String> = files.map(|f| (f.name, f.text)).collect();
        (machine, files)
    });
    let texts: BTreeMap<_, _> = emitted.collect();
    let mut unknown: Vec<String> = Vec::new();
    for fault in &faults {
        let mut text = texts[&machine(fault)][&fault.file].clone();
        for (from, to) in &fault.edits {
            assert!(text.contains(from), "{} has no '{from}'", fault.file);
            // An unknown name would be a net that nobody drives.
            for name in names(to) {
                let known = names(&text).any(|n| n == name);
                if !known {
                    unknown.push(format!("{}: {name}", fault.file));
                }
            }
            text = text.replacen(from, to, 1);
        }
    }
    assert_eq!(
        unknown, [""; 0],
        "names of faults that their file does not have"
    );
}

/// The first fault of every other unit that is proved in seconds; all of them in the
/// campaign.
#[test]
fn the_first_fault_of_each_unit_is_disproved() {
    if missing(&["yosys"]) {
        return;
    }
    let mut units = BTreeSet::new();
    let mut faults = path_faults();
    faults.retain(|f| !LONG.contains(&f.unit.as_str()) && units.insert(f.unit.clone()));
    let faults: Vec<Mutant> = faults.into_iter().step_by(2).collect();
    assert_eq!(missed(&faults), [""; 0]);
}

#[test]
#[ignore = "takes minutes; part of make campaign"]
fn all_faults_of_the_path_are_disproved() {
    if !missing(&["yosys"]) {
        assert_eq!(missed(&path_faults()), [""; 0]);
    }
}

impl Mutant {
    /// Its unit, and those that are emitted with it.
    fn units(&self) -> impl Iterator<Item = &'static str> {
        let unit = UNITS.iter().find(|u| u.name == self.unit).unwrap();
        let beside = unit.circuits.iter().flat_map(|c| c.beside);
        beside.copied().chain([unit.name])
    }

    /// What is wrong if the fault does not disprove its properties by a run
    /// from reset.
    fn missed(&self) -> Option<String> {
        let units: Vec<&str> = self.units().collect();
        let rtl = Rtl::emit(self.machine(), &units).edit(&self.file, &self.edits);
        // Each by itself: together with a disproved one, it may not be checked.
        let one_by_one = |property| rtl.results_about(&self.unit, std::slice::from_ref(property));
        let runs: Vec<_> = self.broken.iter().map(one_by_one).collect();
        let results: Vec<_> = runs.iter().flat_map(|(_, results)| results).collect();
        // The crossbar has no state, so no reset.
        let combinational = self.unit == "spad_crossbar";
        let from_reset =
            |example: &Value| combinational || example["values"]["rst (cycle 1)"] == "0x1";
        let disproved = results.iter().filter(|(_, r)| r["result"] == "disproved");
        let disproved = disproved.filter(|(_, r)| from_reset(&r["counterexample"]));
        let disproved: Vec<&str> = disproved.map(|(name, _)| name.as_str()).collect();
        let failed = runs.iter().all(|(status, _)| *status == 1);
        let caught = failed && self.broken.iter().all(|p| disproved.contains(&p.as_str()));
        let (unit, edits, broken) = (&self.unit, &self.edits, &self.broken);
        (!caught).then(|| format!("{unit} {edits:?}: {broken:?}, not {disproved:?}"))
    }
}
