//! Wavefronts and bank conflicts, compared with those that a GPU counted
//! (`benches/gpu/h100`): the judge of how today's machines serve an access.

use crate::common::tools::{MACHINE_CODE, missing_ptxas};
use crate::kernels::files::kernels_folder;
use spadkit::assembler::Assembler;
use spadkit::assembler::ledger::{Fates, Ledger};
use spadkit::capture::{LaunchRun, RunOptions, Selected, launch_trace};
use spadkit::config::Config;
use spadkit::launch::{ArgKind, LaunchFile};
use spadkit::sm::Setup;
use spadkit::tool::Toolbox;
use spadkit::trace::{Access, AccessTrace, ConflictProfile, Op};
use spadkit::workload::LaunchWorkload;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The GPU's counters have the accesses of all warps and repetitions, and some of
/// the kernel's own.
const REPEATED: u64 = 8 * 64;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/gpu")
}

/// The rows of a table without its head.
fn rows(name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder().join("h100").join(name)).unwrap();
    let cells = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().skip(1).map(cells).collect()
}

/// A launch file of kernels/ whose grid is its first block.
fn one_block(name: &str) -> LaunchFile {
    let path = kernels_folder().join(format!("{name}.toml"));
    let mut file = LaunchFile::load(&path).unwrap_or_else(|e| panic!("{e}"));
    file.first.grid = [1, 1, 1];
    file
}

fn number(cell: &str) -> u64 {
    cell.parse().unwrap_or_else(|e| panic!("{cell}: {e}"))
}

/// The accesses of `benches/gpu/patterns`, as the GPU was given them; names are
/// those of the kernels, `load16` for one.
fn patterns(kernel: &str) -> Vec<AccessTrace> {
    let (op, bytes) = kernel.split_at(kernel.find(char::is_numeric).unwrap());
    let op = match op {
        "load" => Op::Load,
        "store" => Op::Store,
        _ => Op::Atomic,
    };
    let path = folder().join(format!("patterns/{kernel}.toml"));
    let file = LaunchFile::load(&path).unwrap_or_else(|e| panic!("{e}"));
    let table = file.args.iter().find(|a| a.name == "table").unwrap();
    let ArgKind::Buffer(table) = &table.kind else {
        panic!("{} has no table", path.display());
    };
    let table = table.contents().unwrap();
    let word = |b: &[u8]| u32::try_from(i32::from_le_bytes(b.try_into().unwrap())).ok();
    let trace = |row: &[u8]| AccessTrace {
        name: kernel.to_owned(),
        source: path.display().to_string(),
        block_dim: [32, 1, 1],
        shared_bytes: 32768,
        warp_size: 32,
        barriers: Vec::new(),
        accesses: vec![Access {
            warp: 0,
            pc: 0,
            op,
            addrs: row.chunks_exact(4).map(word).collect(),
            bytes: bytes.parse().unwrap(),
            increment: false,
            aggregated: false,
            extra: serde_json::Map::new(),
        }],
        executed: Default::default(),
        extra: serde_json::Map::new(),
    };
    table.chunks_exact(4 * 32).map(trace).collect()
}

/// Loads, stores and atomics of 4, 8 and 16 bytes under strides, broadcasts, idle
/// lanes and random addresses: an H100 takes the wavefronts that the preset counts.
#[test]
fn an_h100_takes_the_wavefronts_of_the_preset() {
    let machine = Config::preset("sm90").unwrap();
    let mask = machine.geometry.bank_mask();
    let mut measured: BTreeMap<String, Vec<(String, u64)>> = BTreeMap::new();
    for row in rows("patterns.csv") {
        let wavefronts = number(&row[row.len() - 3]) / REPEATED;
        let name = row[1..row.len() - 3].join(",");
        measured
            .entry(row[0].clone())
            .or_default()
            .push((name, wavefronts));
    }
    assert_eq!(measured.len(), 8);
    for (kernel, measured) in measured {
        let traces = patterns(&kernel);
        assert_eq!(traces.len(), measured.len());
        for (trace, (name, wavefronts)) in traces.iter().zip(measured) {
            let profile = ConflictProfile::new(trace, machine.conflict_rule());
            let counted = profile.count(|word| word & mask).degree_sum;
            assert_eq!(counted, wavefronts, "{kernel}, {name}");
        }
    }
}

/// Kernels whose machine code has not the accesses of their PTX: ptxas merges
/// loads, keeps values in registers, or reads a table of constants by lanes.
const OTHER_ACCESSES: [&str; 21] = [
    "convolution/conv_columns",
    "convolution/conv_columns_grid",
    "convolution/conv_columns_halo4",
    "convolution/conv_columns_padded",
    "convolution/conv_rows",
    "convolution/conv_rows_grid",
    "gridding/scan_down",
    "gridding/scan_up",
    "gridding/split_sort",
    "lavamd/lavamd",
    "lavamd/lavamd_grid",
    "lud/lud_diagonal",
    "lud/lud_perimeter",
    "lud/lud_perimeter_grid",
    "reduction/reduction",
    "reduction/reduction_grid",
    "scan/scan_rows",
    "sort/bitonic",
    "transpose/crsw_rap",
    "transpose/drdw_rap",
    "transpose/srcw_rap",
];

/// The GPU also counts conflicts between accesses of several warps: some.
const MARGIN: u64 = 4;

/// The first block of the kernels: an H100 counts the conflicts of their traces.
#[test]
fn an_h100_counts_the_conflicts_of_the_kernels() {
    let machine = Config::preset("sm90").unwrap();
    let mask = machine.geometry.bank_mask();
    let (mut same, mut others) = (0, Vec::new());
    for row in rows("one_block.csv") {
        let (name, conflicts, instructions) = (&row[0], number(&row[2]), number(&row[4]));
        // The test takes seconds.
        if instructions > 20_000 || OTHER_ACCESSES.contains(&name.as_str()) {
            continue;
        }
        let file = one_block(name);
        let trace = launch_trace(
            &mut file.prepare(&file.module().unwrap()).unwrap(),
            &file,
            0,
            RunOptions::of_block(0),
        )
        .unwrap();
        let profile = ConflictProfile::new(&trace, machine.conflict_rule());
        let counted = profile.count(|word| word & mask).conflicts;
        same += usize::from(counted == conflicts);
        if counted.abs_diff(conflicts) > MARGIN {
            others.push(format!("{name}: {counted}, the GPU {conflicts}"));
        }
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
    println!("{same} kernels have the GPU's conflicts exactly");
    assert!(same > 90, "{same}");
}

/// The conflicts of the first block of a kernel in the PTX, and by the ledger in the
/// machine code.
fn ledger(name: &str, tools: &Toolbox) -> (u64, u64, Fates) {
    let machine = Config::preset("sm90").unwrap();
    let mask = machine.geometry.bank_mask();
    let file = one_block(name);
    let module = file.module().unwrap();
    let trace = launch_trace(
        &mut file.prepare(&file.module().unwrap()).unwrap(),
        &file,
        0,
        RunOptions::of_block(0),
    )
    .unwrap();
    let assembler = Assembler::required(tools, &module, Some(90)).unwrap();
    let code = assembler.accesses(tools, &module.text, &trace.name);
    let code = code.unwrap_or_else(|e| panic!("{name}: {e}"));
    let ledger = Ledger::of(&trace, &module, &code);
    let count = |trace: &AccessTrace| {
        let profile = ConflictProfile::new(trace, machine.conflict_rule());
        profile.count(|word| word & mask).conflicts
    };
    (count(&trace), count(&ledger.trace), ledger.fates())
}

/// `ledger.csv`: conflicts that the GPU counted, of the PTX, and of the machine code
/// by the ledger.
fn ledger_rows() -> Vec<(String, [u64; 3])> {
    let row = |row: Vec<String>| (row[0].clone(), [1, 2, 3].map(|at| number(&row[at])));
    rows("ledger.csv").into_iter().map(row).collect()
}

/// Kernels whose PTX has not the GPU's conflicts: most of those that are in the table
/// have them by the ledger.
#[test]
fn the_ledger_has_the_conflicts_of_an_h100() {
    let measured: BTreeMap<String, u64> = (rows("one_block.csv").iter())
        .map(|row| (row[0].clone(), number(&row[2])))
        .collect();
    let table = ledger_rows();
    let mut same = 0;
    for (name, [gpu, ptx, machine]) in &table {
        assert_eq!(measured[name], *gpu, "{name}");
        assert_ne!(gpu, ptx, "{name}");
        same += usize::from(gpu == machine);
    }
    println!("{same} of {} kernels by the machine code", table.len());
    assert!(3 * same >= 2 * table.len(), "{same} of {}", table.len());
}

/// The table is what the ledger says.
#[test]
fn the_table_is_the_ledger() {
    if missing_ptxas(MACHINE_CODE) {
        return;
    }
    let tools = Toolbox::new();
    let mut others = Vec::new();
    for (name, [gpu, ptx, machine]) in ledger_rows() {
        let (of_ptx, of_machine, fates) = ledger(&name, &tools);
        assert_eq!(of_ptx, ptx, "{name}");
        assert_eq!(fates.not_accounted, 0, "{name}");
        // Versions of ptxas differ in what they merge, a little.
        if of_machine != machine && of_machine != gpu {
            others.push(format!("{name}: {of_machine}, the table {machine}"));
        }
    }
    assert!(others.len() < 3, "{}", others.join("\n"));
}

/// The ledger of every kernel.
#[test]
#[ignore = "a table, for docs/reference/gpu.md"]
fn the_ledger_of_every_kernel() {
    if missing_ptxas(MACHINE_CODE) {
        return;
    }
    let tools = Toolbox::new();
    println!("launch_file,h100,ptx,machine_code");
    let (mut same, mut count) = ([0, 0], 0);
    for row in rows("one_block.csv") {
        if number(&row[1]) == 0 {
            continue;
        }
        let (name, gpu) = (&row[0], number(&row[2]));
        let (ptx, machine, fates) = ledger(name, &tools);
        // The wavefronts of some are of global memory alone.
        if fates.total() == 0 {
            continue;
        }
        println!("{name},{gpu},{ptx},{machine} {fates:?}");
        count += 1;
        same[0] += usize::from(ptx == gpu);
        same[1] += usize::from(machine == gpu);
    }
    println!(
        "of {count} kernels {} by the PTX, {} by the machine code",
        same[0], same[1]
    );
}

/// Cycles of the first block in `sim`, compared with those of an H100: the table of
/// docs/reference/gpu.md.
#[test]
#[ignore = "a table, for docs/reference/gpu.md"]
fn cycles_of_the_kernels() {
    let machine = Config::preset("sm90").unwrap();
    let mut ratios = Vec::new();
    println!("| launch file | H100 | sim | ratio |\n|---|---|---|---|");
    for row in rows("one_block.csv") {
        let (name, measured) = (&row[0], number(&row[3]));
        if number(&row[4]) > 100_000 {
            continue;
        }
        let file = one_block(name);
        let first = Selected {
            file: file.source.path.clone(),
            which: None,
        };
        let run = LaunchRun {
            file: &file,
            module: &file.module().unwrap(),
            selected: &first,
            options: RunOptions::default(),
        };
        let workload = LaunchWorkload::open(&run).unwrap();
        let cycles = Setup::default().run(&machine, &workload).unwrap().cycles;
        let ratio = cycles as f64 / measured as f64;
        println!("| {name} | {measured} | {cycles} | {ratio:.2} |");
        ratios.push(ratio);
    }
    let count = ratios.len() as f64;
    let mean = (ratios.iter().map(|r| r.ln()).sum::<f64>() / count).exp();
    let off = ratios.iter().map(|r| r.ln().abs()).sum::<f64>() / count;
    let near = ratios.iter().filter(|r| (0.67..1.5).contains(*r)).count();
    println!(
        "\n{} kernels, geometric mean {mean:.2}, off by a factor of {:.2} on the mean; {near} \
         within a factor of 1.5",
        ratios.len(),
        off.exp()
    );
}
