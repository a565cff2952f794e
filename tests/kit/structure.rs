//! What Yosys makes of the RTL: memories in FPGAs, and gates in a row between
//! registers, with a bound for each unit so that timing does not creep back.

use crate::common::tools::missing;
use spadkit::config::Config;
use spadkit::model::spad_conflict_history::flops;
use spadkit::output::OwnedFolder;
use spadkit::rtl::{Design, write_design};
use spadkit::synth::{Gates, Structure, SynthJob};
use spadkit::tool::{Cache, Tool, ToolKind, Toolbox};
use spadkit::trace::Wide;
use spadkit::units::UNITS;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn emit(units: &[&str], config: &Config) -> Design {
    let units: Vec<String> = units.iter().map(|u| u.to_string()).collect();
    Design::emit(&units, config).unwrap()
}

/// Cells of `unit` behind `flow`, a `synth_*` command of Yosys: how many there
/// are of types that start with each of `kinds`.
fn fpga_cells(unit: &str, flow: &str, kinds: &[&str]) -> Vec<u64> {
    let design = emit(&[unit], &Config::preset("fermi").unwrap());
    fpga_cells_of(&design, unit, flow, kinds)
}

/// Those of a module of the design.
fn fpga_cells_of(design: &Design, top: &str, flow: &str, kinds: &[&str]) -> Vec<u64> {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    write_design(design, &OwnedFolder::new(&dir, false)).unwrap();
    let flatten = if flow == "synth_xilinx" {
        "-flatten"
    } else {
        ""
    };
    let files = design.units[0].files.join(" ");
    let script =
        format!("read_verilog {files}; {flow} {flatten} -top {top}; write_json netlist.json");
    let mut yosys = Command::new("yosys");
    yosys.args(["-q", "-p", &script]).current_dir(&dir);
    let output = yosys.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{flow} {top}: {text}");
    let json = std::fs::read(dir.join("netlist.json")).unwrap();
    let netlist: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let cells = netlist["modules"][top]["cells"].as_object().unwrap();
    let count = |kind: &&str| {
        let is_kind = |c: &&serde_json::Value| c["type"].as_str().unwrap().starts_with(*kind);
        cells.values().filter(is_kind).count() as u64
    };
    kinds.iter().map(count).collect()
}

/// A bank of 384 words is one block RAM, and nothing of it is anything else.
#[test]
fn a_bank_is_one_block_ram() {
    if missing(&["yosys"]) {
        return;
    }
    let xilinx = fpga_cells(
        "spad_bank_ram",
        "synth_xilinx",
        &["RAMB", "RAM1", "RAM6", "FD"],
    );
    assert_eq!(xilinx, [1, 0, 0, 0]);
    let ecp5 = fpga_cells("spad_bank_ram", "synth_ecp5", &["DP16KD", "TRELLIS_"]);
    assert_eq!(ecp5, [1, 0]);
}

/// Nothing beside the block RAMs keeps an old word for a read that collides with a write:
/// nothing relies on it.
#[test]
fn a_memory_of_two_ports_is_block_ram_alone() {
    if missing(&["yosys"]) {
        return;
    }
    let text = "base = 'bus'\n[tcdm]\natomics = true\n";
    let machine = Config::from_toml(text, Path::new("atomics")).unwrap();
    let design = emit(&["spad_atomic_bank"], &machine);
    let kinds = ["DP16KD", "LUT", "CCU", "TRELLIS_"];
    let cells = fpga_cells_of(&design, "spad_two_port_ram", "synth_ecp5", &kinds);
    assert!(cells[0] > 0 && cells[1..] == [0, 0, 0], "{cells:?}");
}

/// The tables of the conflict history are in memories: its flip-flops are only
/// the valid and LRU bits, and the registers around the memories.
fn history_in_memories(target: &str, cells: [&str; 3], memories: [u64; 2]) {
    if missing(&["yosys"]) {
        return;
    }
    let flops = u64::from(flops(256, 14, 5));
    let found = fpga_cells("spad_conflict_history", target, &cells);
    assert_eq!(found[..2], memories, "{target}");
    assert!(
        (flops..flops + 20).contains(&found[2]),
        "{target}: {found:?}"
    );
}

/// Copies of the tags are distributed RAM on Xilinx.
#[test]
#[ignore = "the bank stands for it in make test; part of make campaign"]
fn the_history_is_in_memories() {
    let cells = ["RAMB18", "RAM64M", "FD"];
    history_in_memories("synth_xilinx", cells, [2, 16]);
}

#[test]
#[ignore = "the same on another FPGA; part of make campaign"]
fn the_history_is_in_memories_of_another_fpga() {
    let cells = ["DP16KD", "TRELLIS_DPR", "TRELLIS_FF"];
    history_in_memories("synth_ecp5", cells, [4, 0]);
}

/// A small machine with every feature, and no stage that shortens a cycle.
const MACHINE: &str = "base = 'small'
[geometry]
addr_bits = 9
lanes = 4
warp_size = 8
capacity_words = 128
[hash]
path = 'xor'
stage = 0
[path]
ahead = 0
mem_stages = 2
warps = 4
locks = 32
lock_group_cycles = 2
history_sets = 4
[axi]
addr_bits = 32
";

/// Units that take Yosys long to map. The stages of the path have bounds of their own.
const LARGE: [&str; 3] = ["spad_sm_path", "spad_tcdm", "spad_stream"];

/// Those that the cycle of the path depends on most.
const STAGES: [&str; 5] = [
    "spad_conflict_arbiter",
    "spad_crossbar",
    "spad_hash_matrix",
    "spad_issue_select",
    "spad_lock_unit",
];

#[test]
fn units_of_the_stages_have_no_more_gates_in_a_row_than_they_had() {
    assert_levels(|unit| STAGES.contains(&unit));
}

#[test]
#[ignore = "part of make campaign"]
fn no_unit_has_more_gates_in_a_row_than_it_had() {
    assert_levels(|unit| !LARGE.contains(&unit) && !STAGES.contains(&unit));
}

#[test]
#[ignore = "takes a minute; part of make campaign"]
fn no_large_unit_has_more_gates_in_a_row_than_it_had() {
    assert_levels(|unit| LARGE.contains(&unit));
}

/// The bounds stand in the table of units, in Yosys 0.23's own gates: a unit may
/// have a tenth more, since other releases map otherwise.
fn assert_levels(chosen: impl Fn(&str) -> bool) {
    let Some((yosys, cache)) = yosys() else {
        return;
    };
    let (plain, atomics) = (
        machine(MACHINE),
        machine(&format!("{MACHINE}[tcdm]\natomics = true\n")),
    );
    let (mut over, mut seen) = (Vec::new(), 0);
    let bounds = UNITS.iter().filter_map(|u| Some((u.name, u.levels?)));
    for (unit, bound) in bounds.filter(|(unit, _)| chosen(unit)) {
        let config = match unit {
            "spad_atomic_bank" => &atomics,
            _ => &plain,
        };
        let design = emit(&[unit], config);
        let job = SynthJob::of(&design, &design.units[0], config);
        let levels = Structure::measure(&job, &yosys, &cache).unwrap().levels;
        println!("{unit} {levels}");
        seen += 1;
        if levels > bound + bound.div_ceil(10) {
            over.push(format!("{unit}: {levels} levels, it had {bound}"));
        }
    }
    assert!(seen >= 3 && over.is_empty(), "{seen}: {over:#?}");
}

/// Yosys, and where its results are kept; none where the test is to be skipped.
fn yosys() -> Option<(Tool, Cache)> {
    let there = !missing(&["yosys"]);
    there.then(|| {
        let yosys = Toolbox::new().get(ToolKind::Yosys).unwrap();
        (yosys, Cache::user().unwrap())
    })
}

fn machine(text: &str) -> Config {
    Config::from_toml(text, Path::new("test.toml")).unwrap()
}

/// The same machine with wide accesses, whose loads of equal pairs merge.
fn in_phases(config: &Config) -> Config {
    Config {
        warp_size: config.lanes,
        wide: Wide::PhasesMerged,
        ..config.clone()
    }
}

/// The same machine with every stage that shortens a cycle, and this many that
/// decide the issue.
fn cut_machine(ahead: u32) -> Config {
    let stages = [
        ("\nstage = 0", "\nstage = 1"),
        ("ahead = 0", &format!("ahead = {ahead}")),
        ("mem_stages = 2", "mem_stages = 4"),
    ];
    let cut = |text: String, (from, to): (&str, &str)| text.replace(from, to);
    machine(&stages.into_iter().fold(MACHINE.to_owned(), cut))
}

fn gates(unit: &str, config: &Config, tools: (&Tool, &Cache)) -> (Design, Gates) {
    let design = emit(&[unit], config);
    let job = SynthJob::of(&design, &design.units[0], config);
    let gates = Gates::of(&job, tools.0, tools.1).unwrap();
    (design, gates)
}

/// What the manifest says of an output is what the netlist has: no more and
/// no less. Static inputs are aside.
fn assert_declared(unit: &str, config: &Config, tools: (&Tool, &Cache)) -> usize {
    let (design, gates) = gates(unit, config, tools);
    let mut dependent = 0;
    let is_static = |input: &String| input.starts_with("cfg_") || input == "rst";
    for (output, inputs) in gates.dependencies() {
        let mut ports = design.units[0].ports.iter();
        let port = ports.find(|p| p.name == output).unwrap();
        let declared = port.depends_on.clone().unwrap_or_else(|| {
            panic!("{unit}: {output} does not say what it depends on");
        });
        let declared: BTreeSet<String> = declared.into_iter().collect();
        let found: BTreeSet<_> = inputs.into_iter().filter(|i| !is_static(i)).collect();
        assert_eq!(found, declared, "{unit}: {output}");
        dependent += usize::from(!found.is_empty());
    }
    dependent
}

#[test]
fn outputs_depend_on_the_inputs_that_are_declared() {
    let Some((yosys, cache)) = yosys() else {
        return;
    };
    let tools = (&yosys, &cache);
    let plain = machine(MACHINE);
    assert_eq!(assert_declared("spad_scratchpad", &plain, tools), 2);
    // The grant of spad_tcdm, if no register is before it.
    assert_eq!(assert_declared("spad_tcdm", &plain, tools), 1);
    assert_no_path_through("spad_stream", &plain, tools);
    assert_eq!(assert_declared("spad_axi", &plain, tools), 0);
    // Ready of accesses and of answers, and the answer of an access.
    assert_eq!(
        assert_declared("spad_phases", &in_phases(&plain), tools),
        10
    );
}

/// The same on machines with more stages and registers, and of the whole path.
#[test]
#[ignore = "takes a minute; part of make campaign"]
fn outputs_of_other_machines_depend_on_the_inputs_that_are_declared() {
    let Some((yosys, cache)) = yosys() else {
        return;
    };
    let tools = (&yosys, &cache);
    let plain = machine(MACHINE);
    assert_eq!(
        assert_declared("spad_scratchpad", &cut_machine(3), tools),
        2
    );
    assert!(assert_declared("spad_sm_path", &plain, tools) > 0);
    let mut posted = plain.clone();
    (posted.path.stream.window, posted.path.stream.posted) = (2, true);
    assert_no_path_through("spad_stream", &posted, tools);
    assert_no_path_through("spad_wide_stream", &in_phases(&plain), tools);
    let mut atomic = plain.clone();
    atomic.path.tcdm.atomics = true;
    assert_eq!(assert_declared("spad_tcdm", &atomic, tools), 1);
    atomic.path.tcdm.request_register = true;
    assert_no_path_through("spad_tcdm", &atomic, tools);
}

/// No output depends on an input in the same cycle, not even on `cfg_*`.
fn assert_no_path_through(unit: &str, config: &Config, tools: (&Tool, &Cache)) {
    assert_eq!(assert_declared(unit, config, tools), 0);
    let through = gates(unit, config, tools).1.dependencies();
    let none = through.values().all(|inputs| inputs.is_empty());
    assert!(none, "{through:?}");
}

/// Flip-flops of a unit as described, and those that remain when Yosys has
/// removed constant, duplicate and unread ones.
fn flip_flops(unit: &str, config: &Config) -> [usize; 2] {
    let design = emit(&[unit], config);
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    write_design(&design, &OwnedFolder::new(&dir, false)).unwrap();
    let list = |file: &str| format!("tee -q -o {file} select -list t:$_*DFF*");
    let script = format!(
        "read_verilog {}; blackbox spad_bank_ram; hierarchy -top {unit}; proc; flatten; \
         simplemap t:$*dff*; {}; opt -full; opt_clean; {}",
        design.units[0].files.join(" "),
        list("written"),
        list("left"),
    );
    let mut yosys = Command::new("yosys");
    let output = yosys.args(["-q", "-p", &script]).current_dir(&dir).output();
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{unit}: {text}");
    ["written", "left"].map(|file| {
        let list = std::fs::read_to_string(dir.join(file)).unwrap();
        list.lines().count()
    })
}

/// The tag of the path's scratchpad is wider than that of a stream, and what a
/// stream does not use is not there.
#[test]
fn a_stream_has_no_register_that_nobody_needs() {
    if missing(&["yosys"]) {
        return;
    }
    let [written, left] = flip_flops("spad_stream", &machine(MACHINE));
    assert!(left > 500, "{left}");
    // A lane that no lower one can stand for leads its own group.
    assert!(written - left <= 1, "{written}, {left} are left");
}

/// Gates in a row from registers into those that a stage writes
/// (microarchitecture/sm-path.md), as those of
/// units.
const STAGE_LEVELS: [(&str, usize); 13] = [
    ("release", 18),
    ("Q", 15),
    ("P", 20),
    ("S", 25),
    ("EX", 14),
    ("HX", 25),
    ("MEM0", 6),
    ("MEM1", 13),
    ("MEM2", 5),
    ("MEM3", 15),
    // Of the predictor: what is likely.
    ("heavy", 7),
    ("heavier", 7),
    ("learned", 3),
];

#[test]
#[ignore = "part of make campaign"]
fn the_path_that_is_cut_has_short_stages_and_registered_outputs() {
    let Some((yosys, cache)) = yosys() else {
        return;
    };
    let tools = (&yosys, &cache);
    let config = cut_machine(3);
    assert_eq!(assert_declared("spad_sm_path", &config, tools), 0);
    let (_, gates) = gates("spad_sm_path", &config, tools);
    let stages = gates.levels_by_stage();
    println!("{stages:?}");
    for (stage, bound) in STAGE_LEVELS {
        let levels = stages[stage];
        assert!(
            levels <= bound + bound.div_ceil(10),
            "stage {stage}: {levels} levels, it had {bound}"
        );
    }
    // What is no stage of the path is configuration.
    let known = |s: &&String| STAGE_LEVELS.iter().any(|(stage, _)| stage == s);
    let others = stages.keys().filter(|s| !known(s));
    let others: Vec<_> = others.filter(|s| !s.ends_with("_config")).collect();
    assert!(others.is_empty(), "registers of no stage: {others:?}");
}

#[test]
#[ignore = "takes a minute; part of make campaign"]
fn the_path_that_is_cut_less_has_registered_outputs() {
    let Some((yosys, cache)) = yosys() else {
        return;
    };
    for ahead in 1..=2 {
        let config = cut_machine(ahead);
        assert_eq!(
            assert_declared("spad_sm_path", &config, (&yosys, &cache)),
            0
        );
    }
}
