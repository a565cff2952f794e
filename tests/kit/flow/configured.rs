//! The hardware, configured as the report says, in Icarus Verilog.

use crate::common::tools::missing;
use serde_json::Value;
use spadkit::config::Config;
use spadkit::flow::{Options, Silent};
use spadkit::rtl::{Design, write_design};
use spadkit::workload::load_input;
use std::collections::HashSet;
use std::path::Path;
use std::process;

/// The port declarations of `unit` as (direction, width, name), from its Verilog.
fn ports(dir: &Path, unit: &str) -> Vec<(bool, usize, String)> {
    let text = std::fs::read_to_string(dir.join(format!("{unit}.v"))).unwrap();
    let declared = |line: &str| {
        let line = line.trim().trim_end_matches(',');
        let is_input = line.starts_with("input wire");
        let rest = line.strip_prefix(if is_input {
            "input wire"
        } else {
            "output wire"
        })?;
        let rest = rest.trim();
        let (width, name) = match rest.strip_prefix('[') {
            None => (1, rest),
            Some(range) => {
                let (high, name) = range.split_once(":0]")?;
                (high.parse::<usize>().ok()? + 1, name.trim())
            }
        };
        Some((is_input, width, name.to_owned()))
    };
    text.lines().filter_map(declared).collect()
}

/// A configuration file as Verilog: the registers, their wires, and the writes
/// that the summary says.
fn loaded(dir: &Path, setting: &Value, name: &str) -> (String, String, String) {
    let config = setting["config_unit"].as_str().unwrap();
    let mut wires = String::new();
    let mut outputs = String::new();
    // A file of one register needs no index.
    let index = if ports(dir, config).iter().any(|p| p.2 == "wr_index") {
        ".wr_index(index), "
    } else {
        ""
    };
    for (is_input, width, port) in ports(dir, config) {
        if !is_input {
            wires += &format!("wire [{}:0] {name}_{port};\n", width - 1);
            outputs += &format!(", .{port}({name}_{port})");
        }
    }
    let instance = format!(
        "{wires}reg {name}_en; {config} {name}_config(.clk(clk), .rst(rst), .wr_en({name}_en), \
         {index}.wr_data(data){outputs});\n"
    );
    let writes = setting["registers"].as_array().unwrap().iter().enumerate();
    let write = |(i, value): (usize, &Value)| {
        let hex = value.as_str().unwrap().trim_start_matches("0x");
        format!("{name}_en = 1; index = {i}; data = 'h{hex}; @(posedge clk); #1 {name}_en = 0;\n")
    };
    let configured = setting["ports"].as_array().unwrap().iter();
    // The registers must drive the ports to what the summary says, too.
    let check = |pair: &Value| {
        let (port, value) = (pair[0].as_str().unwrap(), pair[1].as_str().unwrap());
        let hex = value.trim_start_matches("0x");
        format!("if ({name}_{port} !== 'h{hex}) $display(\"{port} differs\");\n")
    };
    let after: String = configured.map(check).collect();
    (instance, writes.map(write).collect(), after)
}

/// Connections of a unit's configuration ports to the wires of its registers.
fn connections(setting: &Value, name: &str) -> String {
    let ports = setting["ports"].as_array().unwrap().iter();
    let connect = |pair: &Value| {
        let port = pair[0].as_str().unwrap();
        format!(".{port}({name}_{port}), ")
    };
    ports.map(connect).collect()
}

/// Loads the emitted registers as `mapping` says and reads bank and row of
/// every address; what the simulation prints.
fn simulate(dir: &Path, mapping: &Value, (n, m): (usize, usize)) -> Vec<String> {
    let row_map = &mapping["row_map"];
    let (row_config, row_writes, row_checks) = loaded(dir, row_map, "row");
    let (bank_config, bank_writes, bank_checks, bank) = if mapping["config_unit"].is_null() {
        let bank = match mapping["unit"].as_str().unwrap() {
            "none" => "assign bank = addr;\n".to_owned(),
            unit => format!("{unit} hash(.addr(addr), .bank(bank));\n"),
        };
        (String::new(), String::new(), String::new(), bank)
    } else {
        let (config, writes, checks) = loaded(dir, mapping, "bank");
        let unit = mapping["unit"].as_str().unwrap();
        let connect = connections(mapping, "bank");
        let bank = format!("{unit} hash({connect} .addr(addr), .bank(bank));\n");
        (config, writes, checks, bank)
    };
    let bench = format!(
        "module bench; reg clk = 0; always #5 clk = !clk; reg rst;\n\
         reg [7:0] index; reg [63:0] data; reg [{n}:0] i;\n\
         reg [{}:0] addr; wire [{}:0] bank; wire [{}:0] row;\n\
         {row_config}{bank_config}{bank}\
         spad_row_map map({} .addr(addr), .row(row));\n\
         initial begin row_en = 0; {} rst = 1; @(posedge clk); #1 rst = 0;\n\
         {row_writes}{bank_writes}{row_checks}{bank_checks}\
         for (i = 0; i < {}; i = i + 1) begin addr = i; #1 $display(\"%0d %0d\", bank, row); end\n\
         $finish; end\nendmodule\n",
        n - 1,
        m - 1,
        n - m - 1,
        connections(row_map, "row"),
        if bank_config.is_empty() {
            ""
        } else {
            "bank_en = 0;"
        },
        1usize << n,
    );
    simulated(dir, &bench)
}

/// Bank and row of every address from a text that the report says to paste.
fn simulate_instance(dir: &Path, text: &str, (n, m): (usize, usize)) -> Vec<String> {
    let address = format!("wire [{}:0] addr;", n - 1);
    let driven = format!("reg [{n}:0] i; wire [{}:0] addr = i[{}:0];", n - 1, n - 1);
    assert!(text.contains(&address) && m > 0, "{text}");
    let bench = format!(
        "module bench;\n{}\ninitial begin for (i = 0; i < {}; i = i + 1) begin #1 \
         $display(\"%0d %0d\", bank, row); end $finish; end\nendmodule\n",
        text.replace(&address, &driven),
        1usize << n
    );
    simulated(dir, &bench)
}

/// The lines that `bench` prints, with all Verilog of the folder.
fn simulated(dir: &Path, bench: &str) -> Vec<String> {
    std::fs::write(dir.join("bench.v"), bench).unwrap();
    let sources = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let sources = sources.filter(|p| p.extension().is_some_and(|e| e == "v"));
    let compiled = process::Command::new("iverilog")
        .args(["-g2005", "-s", "bench", "-o", "bench.vvp"])
        .args(sources)
        .current_dir(dir)
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{messages}");
    let run = process::Command::new("vvp")
        .arg("bench.vvp")
        .current_dir(dir)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    text.lines()
        .filter(|l| !l.contains("$finish"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn hardware_told_what_the_report_says_is_a_bijection() {
    if missing(&["iverilog", "vvp"]) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let machine = Config::preset("small").unwrap();
    let (n, m) = (10, 3);
    // The best shifts, permutations and XOR pairs of this one displace row bits.
    let kernel = "kernel:stride:stride=32";
    let trace = load_input(kernel).unwrap();
    let mut options = Options::new(kernel, scratch.path());
    options.fast = true;
    options.budget = std::time::Duration::from_secs(1);
    spadkit::flow::run(&trace, &machine, &options, &Silent).unwrap();
    let read = |name: &str| std::fs::read_to_string(scratch.path().join(name)).unwrap();
    let summary: Value = serde_json::from_str(&read("summary.json")).unwrap();
    let html = read("report.html");
    let dir = scratch.path().join("rtl");
    let family = ["spad_hash", "spad_row_map"];
    let mut units = Design::all_units();
    units.retain(|u| family.iter().any(|f| u.starts_with(f)));
    let design = Design::emit(&units, &machine).unwrap();
    write_design(&design, &spadkit::output::OwnedFolder::new(&dir, false)).unwrap();
    let mappings = summary["mappings"].as_array().unwrap();
    let displaced = |m: &&Value| {
        let registers = m["row_map"]["registers"].as_array().unwrap();
        registers.iter().any(|r| r != "0x0")
    };
    assert!(mappings.iter().filter(displaced).count() >= 2, "{summary}");
    // In the path the matrix unit has them, but for ADD, which is not linear.
    let in_path: Vec<Value> = mappings.iter().filter_map(as_in_path).collect();
    assert_eq!(in_path.len(), mappings.len() - 2, "{summary}");
    // The report shows the ports and registers of the chosen one.
    let chosen = mappings.iter().find(|m| m["recommended"] == true).unwrap();
    for setting in [chosen, &chosen["row_map"]] {
        for port in setting["ports"].as_array().unwrap() {
            let value = port[1].as_str().unwrap().trim_start_matches("0x");
            assert!(html.contains(&format!("&#39;h{value})")), "{port}");
        }
        let registers = setting["registers"].as_array().unwrap();
        let writes: Vec<_> = registers.iter().map(|r| r.as_str().unwrap()).collect();
        assert!(html.contains(&writes.join(", ")), "{setting}");
    }
    // Its instance is Verilog that computes the same bank and row.
    let choices = summary["choices"].as_array().unwrap();
    let best = choices.iter().find(|c| c["chosen"] == true).unwrap();
    assert_eq!(best["hash"], chosen["hash"]);
    let codes = best["code"].as_array().unwrap();
    let verilog = codes.iter().find(|c| c["form"] == "Verilog").unwrap();
    let instance = simulate_instance(&dir, verilog["text"].as_str().unwrap(), (n, m));
    assert_eq!(instance, simulate(&dir, chosen, (n, m)));
    for mapping in mappings.iter().chain(&in_path) {
        let spec = mapping["hash"].as_str().unwrap();
        let places = simulate(&dir, mapping, (n, m));
        assert_eq!(places.len(), 1 << n, "{spec}: {:?}", places.first());
        let different: HashSet<&String> = places.iter().collect();
        assert_eq!(
            different.len(),
            1 << n,
            "{spec}: two addresses map to the same word"
        );
        let spec = spec.parse().unwrap();
        let mapping = spadkit::hash::Mapping::new(&spec, machine.geometry).unwrap();
        for (addr, place) in (0u32..).zip(&places) {
            assert_eq!(
                *place,
                format!("{} {}", mapping.bank(addr), mapping.row(addr))
            );
        }
    }
}

/// The mapping as the path's own bank unit has it, where that is another one.
fn as_in_path(mapping: &Value) -> Option<Value> {
    let path = mapping["path"].as_object()?;
    let mut mapping = mapping.clone();
    for (name, value) in path {
        mapping[name] = value.clone();
    }
    Some(mapping)
}
