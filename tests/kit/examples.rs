//! The programs in `examples/` work.

use crate::common::tools::{self, missing};
use crate::common::with_commas;
use serde_json::Value;
use spadkit::config::Config;
use spadkit::geometry::Geometry;
use spadkit::hash::{HashSpec, Mapping};
use std::path::Path;
use std::process::{Command, Output};

#[allow(dead_code)] // its `main`
#[path = "../../examples/tune_kernel.rs"]
mod tune_kernel;

#[allow(dead_code)] // its `main`
#[path = "../../examples/compare_local_memories.rs"]
mod compare_local_memories;

#[allow(dead_code)] // its `main`
#[path = "../../examples/on_gpu/main.rs"]
mod on_gpu;

#[allow(dead_code)] // its `main`
#[path = "../../examples/stage_cost.rs"]
mod stage_cost;

#[allow(dead_code)] // its `main`
#[path = "../../examples/compare_atomics.rs"]
mod compare_atomics;

fn spadkit(args: &[&str]) -> Output {
    let mut command = assert_cmd::Command::cargo_bin("spadkit").unwrap();
    let output = command.args(args).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}

/// Runs a tool in `dir`; it must succeed and print nothing.
fn silent(dir: &Path, program: &str, args: &[&str]) {
    tools::silent(Command::new(program).args(args).current_dir(dir));
}

/// The tables of histograms in the contract are what the example prints.
#[test]
fn the_contract_has_the_cycles_of_histograms() {
    use compare_atomics::{PRESETS, alone, machine, rows};
    let contract = include_str!("../../docs/reference/microarchitecture/atomic-bank.md");
    for preset in PRESETS {
        let config = machine(preset).unwrap();
        for row in rows(&config) {
            let cells = row.map(with_commas).join(" | ");
            assert!(
                contract.contains(&format!("| {cells} |")),
                "{preset}: {cells}"
            );
        }
        let [bank, stream, lock, sequenced, waiting] = alone(&config);
        let text = format!("| `{preset}` | {bank} | {stream} | {lock} | {sequenced} | {waiting} |");
        assert!(contract.contains(&text), "{text}");
        // It waits for nothing but its scratchpad.
        assert!(sequenced < 12);
    }
}

/// microarchitecture/bus.md: 1 + 1 + MS + max(1, degree), with the cycle
/// of the request.
#[test]
fn the_comparison_counts_cycles_as_the_contract_does() {
    use compare_local_memories::{cycles, free_cycles, free_machine, machine};
    for stages in [2, 4] {
        let machine = machine(stages).unwrap();
        for (unit, before) in [("spad_stream", 2 + stages), ("spad_tcdm", 1)] {
            assert_eq!(cycles(unit, &machine, |_| 5), before + 1);
            assert_eq!(cycles(unit, &machine, |lane| lane), before + 1);
            assert_eq!(cycles(unit, &machine, |lane| 32 * lane), before + 32);
        }
    }
    // Free lanes that begin on one bank spread once; on one word they do not wait.
    for (lanes, bank_bits) in [(8, 4), (32, 5)] {
        for (registered, latency) in [(false, 1), (true, 3)] {
            let machine = free_machine(lanes, bank_bits, registered).unwrap();
            let spread = free_cycles(&machine, 256, |lane, k| (lane << bank_bits) + k);
            assert_eq!(spread, 256 + u32::from(lanes) - 1 + latency);
            assert_eq!(free_cycles(&machine, 256, |_, k| k), 256 + latency);
        }
    }
}

/// Conflicts in different banks overlap, up to what the busiest bank can serve.
#[test]
fn a_window_of_accesses_takes_few_cycles_more_than_the_busiest_bank() {
    use compare_local_memories::window::{PATTERNS, at_least, cycles, machine};
    let of = |bank_bits, window, name| {
        let machine = machine(bank_bits, window).unwrap();
        let pattern = PATTERNS.iter().find(|(pattern, _)| *pattern == name);
        let addr = pattern.unwrap().1;
        let cycles = cycles(&machine, 2, u16::MAX, addr);
        (f64::from(cycles), at_least(&machine, addr) as f64)
    };
    for name in ["stride 8", "stride 16", "stride 32"] {
        assert_eq!(of(3, 0, name).0, 256.0 * 8.0 + 4.0);
        assert!(of(3, 4, name).0 <= 851.0, "{name}");
    }
    // What the preset for blocks behind a bus has.
    let (bus, four) = (Config::preset("bus").unwrap(), machine(3, 4).unwrap());
    for (name, addr) in PATTERNS {
        let [bus, four] = [&bus, &four].map(|machine| cycles(machine, 2, u16::MAX, addr));
        assert_eq!(bus, four, "{name}");
    }
    let (cycles, bound) = of(5, 16, "random");
    assert!(bound / cycles > 0.9, "{cycles} cycles");
    let (cycles, bound) = of(5, 0, "random");
    assert!(bound / cycles < 0.5, "{cycles} cycles");
}

/// Why `spad_stream` answers in order: nothing is lost where all lanes access, or few
/// of them at random. Much is lost only behind conflicts that others keep away from.
#[test]
fn answers_in_order_cost_little() {
    use compare_local_memories::order::{WINDOWS, both, names};
    for (bank_bits, window) in [3, 5].into_iter().flat_map(|m| WINDOWS.map(|w| (m, w))) {
        for (pattern, name) in names().enumerate() {
            let [order, any] = both(bank_bits, window, pattern)
                .unwrap()
                .map(|run| run.cycles);
            let most = match name {
                "one bank in an access of L" => 2 * any,
                name if name.starts_with("random") => any + any / 50,
                _ => any,
            };
            assert!(
                (any..=most).contains(&order),
                "{name}, {window}: {order} {any}"
            );
        }
    }
    let [order, any] = both(5, 4, names().count() - 1).unwrap();
    assert_eq!([order.cycles, any.cycles], [494, 261]);
}

/// A folder as `make compare VORTEX=` takes it, with a memory of our own in which every
/// lane has a port. With +flight=13 it loads one word wrong.
fn checkout_of_another_memory() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let memory = include_str!("../fixtures/vortex_memory.sv");
    let (bus, memory) = memory.split_once("// VX_local_mem\n").unwrap();
    for (file, text) in [
        ("VX_define.vh", ""),
        ("VX_platform.vh", ""),
        ("VX_config.vh", ""),
        ("VX_types.vh", ""),
        ("VX_gpu_pkg.sv", "package VX_gpu_pkg;\nendpackage\n"),
        ("mem/VX_mem_bus_if.sv", bus),
        ("mem/VX_local_mem.sv", memory),
        ("libs/none.sv", ""),
    ] {
        let file = folder.path().join("hw/rtl").join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    folder
}

#[test]
fn a_checkout_of_vortex_that_lacks_something_is_refused() {
    use compare_local_memories::vortex::Vortex;
    let refused = |folder: &Path| Vortex::at(folder).err().unwrap().to_string();
    assert!(refused(Path::new("/nowhere")).ends_with("this is not a folder"));
    let folder = checkout_of_another_memory();
    let vortex = Vortex::at(folder.path()).unwrap();
    assert_eq!(vortex.commit(), "no Git checkout, commit unknown");
    let memory = folder.path().join("hw/rtl/mem/VX_local_mem.sv");
    std::fs::write(&memory, "module VX_local_mem;\nendmodule\n").unwrap();
    assert!(refused(folder.path()).ends_with("the ports for lanes have no known name"));
    std::fs::remove_file(&memory).unwrap();
    assert!(refused(folder.path()).ends_with("there is no hw/rtl/mem/VX_local_mem.sv"));
}

/// The bench counts as the models are counted, and sees a wrong word.
#[test]
fn the_bench_around_vortex_compares_all_words() {
    use compare_local_memories::traffic::Traffic;
    use compare_local_memories::vortex::Vortex;
    if missing(&["verilator", "c++", "make"]) {
        return;
    }
    let folder = checkout_of_another_memory();
    let bench = Vortex::at(folder.path())
        .unwrap()
        .bench(2, 256, false)
        .unwrap();
    let cycles = |store, flight| {
        let traffic = Traffic {
            store,
            flight,
            together: true,
            pattern: |lane, k| 8 * lane + k,
        };
        bench.cycles(2, &traffic)
    };
    // A load is answered in the next cycle, and a store is taken at once.
    assert_eq!(cycles(false, 1).unwrap(), 257);
    assert_eq!(cycles(true, 1).unwrap(), 256);
    let wrong = cycles(false, 13).unwrap_err().to_string();
    assert!(
        wrong.contains("wrong: lane 0, access 5: word 5 has"),
        "{wrong}"
    );
}

/// The page has what the models take under the accesses that Vortex is given, which is
/// the same for loads and stores.
#[test]
fn the_page_has_the_cycles_under_the_same_accesses() {
    use compare_local_memories::beside::{WINDOWS, queues};
    use compare_local_memories::traffic::{PATTERNS, Traffic, cycles};
    use compare_local_memories::window::machine;
    let page = include_str!("../../docs/explanation/local-memories.md");
    let machines = WINDOWS.map(|window| machine(3, window).unwrap());
    let queues = queues(&machines[0]);
    for (name, pattern) in PATTERNS {
        let traffic = |store, together| Traffic {
            store,
            flight: 16,
            together,
            pattern,
        };
        let stream = |machine, store| {
            let cycles = cycles("spad_stream", machine, &traffic(store, true));
            u64::from(cycles.unwrap())
        };
        let tcdm = |machine, together| {
            let cycles = cycles("spad_tcdm", machine, &traffic(true, together));
            u64::from(cycles.unwrap())
        };
        let mut row: Vec<u64> = machines.iter().map(|m| stream(m, false)).collect();
        assert_eq!(stream(&machines[0], true), row[0], "{name}");
        assert_eq!(stream(&machines[1], true), row[1], "{name}");
        row.extend([
            tcdm(&machines[0], true),
            tcdm(&queues, true),
            tcdm(&machines[0], false),
        ]);
        let cells = row
            .into_iter()
            .map(with_commas)
            .collect::<Vec<_>>()
            .join(" | ");
        let (begin, end) = (format!("| {name} | "), format!(" | {cells} |"));
        let mut lines = page.lines();
        assert!(
            lines.any(|l| l.starts_with(&begin) && l.ends_with(&end)),
            "{name}{end}"
        );
    }
}

#[test]
fn the_library_example_prints_verilog_for_the_mapping_it_found() {
    let tuned = tune_kernel::run("kernel:transpose").unwrap();
    let found = &tuned.found;
    assert!(found.contains(" 0 conflicts with bitwise-xor:"), "{found}");
    assert!(found.contains("registers for spad_row_map"), "{found}");
    let verilog = &tuned.verilog;
    assert!(verilog.contains("module spad_row_map"));
    if !missing(&["iverilog"]) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("hash.v"), verilog).unwrap();
        let args = [
            "-g2005",
            "-t",
            "null",
            "-s",
            "spad_hash_bitwise_xor",
            "hash.v",
        ];
        silent(dir.path(), "iverilog", &args);
    }
    let missing = tune_kernel::run("/nowhere/trace.json").err();
    assert_eq!(missing.unwrap().exit_status(), 2);
}

/// Configured with what `encode` prints, the example top finds every word.
#[test]
fn the_example_top_is_lint_clean_and_finds_every_word() {
    if missing(&["verilator", "iverilog", "vvp"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let rtl = dir.path().join("rtl");
    let units = [
        "spad_hash_bitwise_xor",
        "spad_hash_config_bitwise_xor",
        "spad_row_map",
        "spad_hash_config_row_map",
    ];
    spadkit(&[&["emit", "-q", "-o", rtl.to_str().unwrap()], &units[..]].concat());
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/bank_front_end.v");
    let top = top.to_str().unwrap();
    silent(
        dir.path(),
        "verilator",
        &["--lint-only", "-Wall", "-Irtl", top],
    );
    let lint = ["-g2005", "-Wall", "-t", "null", "-y", "rtl", top];
    silent(dir.path(), "iverilog", &lint);

    // Its row map is not the one after reset: bank bits 1 and 2 have no low bit.
    let spec = "bitwise-xor:0,5^7,6^8,1^9,2";
    let encoding = spadkit(&["encode", spec, "--format", "json"]).stdout;
    let encoding: Value = serde_json::from_slice(&encoding).unwrap();
    let writes = |registers: &Value, row_map: u32| -> String {
        let values = registers.as_array().unwrap().iter().enumerate();
        let write = |(i, v): (usize, &Value)| format!("write({row_map}, {i}, {v});\n");
        values.map(write).collect()
    };
    let row_map = &encoding["row_map"]["registers"];
    assert!(row_map.as_array().unwrap().iter().any(|v| *v != 0));
    let bench = format!(
        "module bench;\n\
         reg clk = 0; reg rst = 1; reg wr = 0; reg row_map; reg [3:0] index; reg [7:0] data;\n\
         reg [27:0] addr; wire [9:0] bank; wire [17:0] row; integer a;\n\
         bank_front_end #(.LANES(2)) dut (.clk(clk), .rst(rst), .cfg_wr(wr),\n\
         .cfg_row_map(row_map), .cfg_index(index), .cfg_data(data), .addr(addr),\n\
         .bank(bank), .row(row));\n\
         task tick; begin #1 clk = 1; #1 clk = 0; end endtask\n\
         task write(input r, input [3:0] i, input [7:0] d);\n\
         begin wr = 1; row_map = r; index = i; data = d; tick; wr = 0; end endtask\n\
         initial begin tick; rst = 0;\n{}{}\
         for (a = 0; a < 16384; a = a + 2) begin addr = {{a[13:0] + 14'd1, a[13:0]}}; tick;\n\
         $display(\"%0d %0d\\n%0d %0d\", bank[4:0], row[8:0], bank[9:5], row[17:9]); end\n\
         end\nendmodule\n",
        writes(&encoding["registers"], 0),
        writes(row_map, 1),
    );
    std::fs::write(dir.path().join("bench.v"), bench).unwrap();
    let build = ["-g2005", "-o", "bench.vvp", "-y", "rtl", "bench.v", top];
    silent(dir.path(), "iverilog", &build);
    let output = Command::new("vvp")
        .arg("bench.vvp")
        .current_dir(dir.path())
        .output();
    let printed = String::from_utf8(output.unwrap().stdout).unwrap();
    let spec: HashSpec = spec.parse().unwrap();
    let mapping = Mapping::new(&spec, Geometry::new(14, 5).unwrap()).unwrap();
    assert_eq!(printed.lines().count(), 16384);
    for (addr, line) in (0..).zip(printed.lines()) {
        let expected = format!("{} {}", mapping.bank(addr), mapping.row(addr));
        assert_eq!(line, expected, "address {addr}");
    }
}

#[test]
fn stages_are_compared_with_the_first_choice() {
    let table = |choices: &[&str]| {
        let arguments = ["fermi", "kernels/scalarprod"].iter().chain(choices);
        stage_cost::run(&arguments.map(|a| a.to_string()).collect::<Vec<_>>())
    };
    let text = table(&["4,0,0=2000", "4,0,0=1000", "4,3,1"]).unwrap();
    // Half the period, twice as fast; the same stages, the same cycles.
    assert!(
        text.lines().nth(3).unwrap().ends_with("1000     2.00"),
        "{text}"
    );
    assert_eq!(
        text.lines().nth(3).unwrap().matches("+0.0 %").count(),
        4,
        "{text}"
    );
    // More stages take more cycles, and without a period there is no speed.
    let more = text.lines().nth(4).unwrap();
    assert!(
        more.ends_with("-        -") && more.matches('+').count() == 4,
        "{text}"
    );
    assert_eq!(more.matches("+0.0 %").count(), 0, "{text}");
    for wrong in ["4,3", "4,3,1=", "4,3,1=-1", "4,4,0", "x,0,0"] {
        assert!(table(&[wrong]).is_err(), "{wrong}");
    }
}

/// Without NVIDIA's driver the example says what is missing.
#[test]
fn the_gpu_example_opens_a_gpu_or_says_what_is_missing() {
    match on_gpu::driver::Gpu::open() {
        Ok(gpu) => assert!(gpu.sm >= 50 && gpu.sms > 0, "{}", gpu.name),
        Err(error) => {
            assert_eq!(error.exit_status(), 3);
            assert!(error.to_string().contains("libcuda.so.1"), "{error}");
        }
    }
}
