//! The AXI port: what a master has to keep, and a master that somebody else wrote.

use super::missing;
use super::public::public_master;
use super::rules::Case;
use spadkit::config::Config;
use std::path::Path;
use std::process::Command;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testbenches/axi");

#[test]
#[ignore = "builds the unit once more; part of make campaign"]
fn a_master_that_changes_an_offer_is_noticed() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let file = Path::new(FOLDER).join("machine.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let case = Case::new("spad_axi", &Config::from_toml(&text, &file).unwrap());
    for (channel, port) in [("aw", "axi_awlen"), ("w", "axi_wstrb"), ("ar", "axi_arid")] {
        let [valid, ready] = ["valid", "ready"].map(|end| format!("axi_{channel}{end}"));
        let waits = |t| case.input(t, &valid) == 1 && case.output(t, &ready) == 0;
        let rule = format!("{channel}_held");
        let cycle = case.cycle(&rule, |t| waits(t - 1));
        let other = case.input(cycle, port) ^ 1;
        case.expect(&rule, cycle, &[(port, other)]);
        case.expect(&rule, cycle, &[(&valid, 0)]);
    }
}

/// Two lanes of 64 bits, the fewest address bits possible, two beats in flight; in
/// the machine of `make campaign-axi`, the port replaces one lane.
#[test]
fn the_axi_port_agrees_with_its_model() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("machine.toml");
    let text = "base = 'small'\n[geometry]\naddr_bits = 9\nword_bits = 64\n\
                capacity_words = 512\n[axi]\naddr_bits = 12\nlanes = 2\n\
                id_bits = 1\nin_flight = 2\n";
    std::fs::write(&file, text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_spadkit"))
        .args(["cosim", "spad_axi", "--cycles", "40000", "--config"])
        .arg(&file)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let agrees = "spad_axi agrees with its model, 40000 cycles.\n";
    assert!(said.starts_with(agrees), "{said}");
}

/// A few of its bursts; `make campaign-axi` has many.
#[test]
fn the_port_answers_a_master_of_cocotbext_axi() {
    if missing(&["iverilog", "vvp"]) {
        return;
    }
    public_master("axi", "import cocotb, cocotbext.axi", "4", 3);
}
