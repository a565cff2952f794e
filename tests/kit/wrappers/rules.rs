//! The rules for the neighbours of a module, as its assertions: the environments
//! of the co-simulation keep them all, and each notices a neighbour that does not.

use super::missing;
use super::rtl::{machine, put, take};
use spadkit::config::Config;
use spadkit::cosim::{Compiled, Instance, VerilatedUnit, record_inputs};
use spadkit::rtl::{Design, SourceFile, SystemVerilog};
use spadkit::tool::{Cache, Toolbox};
use spadkit::units::{Layout, Setup, Stimulus, bench_for};
use std::sync::Arc;

const CYCLES: usize = 12_000;

/// A unit with its rules, and what the co-simulation does to it.
pub struct Case {
    unit: Arc<VerilatedUnit>,
    layout: Layout,
    files: Vec<SourceFile>,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
}

impl Case {
    pub fn new(unit: &str, config: &Config) -> Self {
        let case = Self::run(unit, config, |_| ());
        case.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The unit after `edit` in the random stimulus of its neighbours, who keep
    /// the rules.
    pub fn run(
        unit: &str,
        config: &Config,
        edit: impl Fn(&mut SourceFile),
    ) -> Result<Self, spadkit::error::Error> {
        let (design, mut files) = asserted(unit, config);
        files.iter_mut().for_each(edit);
        let layout = Layout::new(&design.units[0]);
        let (tools, cache) = (Toolbox::new(), Cache::user().unwrap());
        let built = VerilatedUnit::build(
            unit,
            &files,
            layout.clone(),
            Compiled::Quickly,
            &tools,
            &cache,
        );
        let setup = Setup::new(config, &layout);
        let mut bench = bench_for(unit, &setup).unwrap();
        let inputs = record_inputs(&layout, &mut *bench, &mut Stimulus::new(1), CYCLES);
        let mut case = Case {
            unit: built.unwrap(),
            outputs: vec![0; CYCLES * layout.output_words],
            files,
            layout,
            inputs,
        };
        let mut outputs = std::mem::take(&mut case.outputs);
        let mut instance: Instance = case.unit.instance();
        // Whoever keeps the rules trips none of them.
        instance.run(&case.inputs, &mut outputs)?;
        case.outputs = outputs;
        Ok(case)
    }

    pub fn input(&self, cycle: usize, port: &str) -> u64 {
        let slot = self.layout.input(port);
        let words = &self.inputs[cycle * self.layout.input_words..];
        take(words, slot, slot.width.min(64))[0]
    }

    pub fn output(&self, cycle: usize, port: &str) -> u64 {
        let slot = self.layout.output(port);
        let words = &self.outputs[cycle * self.layout.output_words..];
        take(words, slot, slot.width.min(64))[0]
    }

    /// No reset in the cycle nor before it.
    fn calm(&self, cycle: usize) -> bool {
        (cycle - 1..=cycle).all(|t| self.input(t, "rst") == 0)
    }

    /// The first cycle after the first resets for which `when` holds.
    pub fn cycle(&self, what: &str, when: impl Fn(usize) -> bool) -> usize {
        let found = (3..CYCLES - 1).find(|&t| self.calm(t) && when(t));
        found.unwrap_or_else(|| panic!("no cycle for {what}"))
    }

    /// The rule that does not hold when `ports` have other values in `cycle`.
    fn tripped(&self, cycle: usize, ports: &[(&str, u64)]) -> String {
        self.tripped_until(cycle + 2, cycle, ports)
    }

    /// The same in the first cycles, this many.
    fn tripped_until(&self, cycles: usize, cycle: usize, ports: &[(&str, u64)]) -> String {
        let (ins, outs) = (self.layout.input_words, self.layout.output_words);
        let mut inputs = self.inputs[..cycles * ins].to_vec();
        for (port, value) in ports {
            let slot = self.layout.input(port);
            put(&mut inputs[cycle * ins..], slot, slot.width, &[*value]);
        }
        let mut outputs = vec![0; cycles * outs];
        let error = match self.unit.instance().run(&inputs, &mut outputs) {
            Ok(()) => return "none".to_owned(),
            Err(error) => error.to_string(),
        };
        tripped(&self.files, &error)
    }

    pub fn expect(&self, rule: &str, cycle: usize, ports: &[(&str, u64)]) {
        let label = format!(" {rule}: assert property");
        assert!(self.files.iter().any(|file| file.text.contains(&label)));
        assert_eq!(self.tripped(cycle, ports), rule, "cycle {cycle}");
    }
}

/// A unit, and its files with assertions.
pub fn asserted(unit: &str, config: &Config) -> (Design, Vec<SourceFile>) {
    let design = Design::emit(&[unit.to_owned()], config).unwrap();
    let wanted = SystemVerilog {
        wrappers: false,
        assertions: true,
    };
    let design = design.with_system_verilog(wanted, config).unwrap();
    let files = design.in_system_verilog(&design.files_of(&design.units[0]));
    (design, files)
}

/// The assertion that ended a simulation with this error.
pub fn tripped(files: &[SourceFile], error: &str) -> String {
    // "...: FILE.sv:LINE: $stop ends the simulation"
    let (before, line) = error.split_once(".sv:").unwrap();
    let name = before
        .rsplit(|c: char| c.is_whitespace() || c == '/')
        .next()
        .unwrap();
    let line: usize = line.split(':').next().unwrap().parse().unwrap();
    let file = files.iter().find(|f| f.name == format!("{name}.sv"));
    let above = file.unwrap().text.lines().take(line).collect::<Vec<_>>();
    let label = |text: &&str| text.contains(": assert property");
    let rule = above.into_iter().rev().find(label).unwrap();
    rule.trim().split(':').next().unwrap().to_owned()
}

/// A row mask of zero: the banks have a rank too low.
fn expect_illegal_mapping(case: &Case, in_use: impl Fn(usize) -> bool) {
    let quiet = |t| case.input(t, "rst") == 0 && case.input(t, "hash_wr_en") == 0;
    let used = |t: usize| {
        (t + 1..CYCLES - 1)
            .take_while(|&t| quiet(t))
            .find(|&t| in_use(t))
    };
    let last_write = |t: usize| case.input(t, "hash_wr_en") == 1 && used(t).is_some();
    let t = case.cycle("a mapping that is used", last_write);
    let until = used(t).unwrap() + 2;
    assert_eq!(case.tripped_until(until, t, &[]), "none");
    assert_eq!(
        case.tripped_until(until, t, &[("hash_wr_data", 0)]),
        "mapping_legal"
    );
}

#[test]
fn a_mapping_that_is_no_bijection_is_noticed() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let mut config = machine(2, 0);
    config.path.hash = spadkit::config::PathHash::Configurable;
    // Without addresses beyond it no kernel of the co-simulation folds rows.
    config.capacity_words = 1 << config.geometry.addr_bits();
    let path = Case::new("spad_sm_path", &config);
    expect_illegal_mapping(&path, |t| path.output(t, "iss_valid") == 1);
    let stream = Case::new("spad_stream", &config);
    expect_illegal_mapping(&stream, |t| stream.output(t, "idle") == 0);
}

#[test]
fn each_rule_of_the_path_notices_who_breaks_it() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let case = Case::new("spad_sm_path", &machine(2, 0));
    let (i, o) = (
        |t, port| case.input(t, port),
        |t, port| case.output(t, port),
    );
    let starts = |t| o(t, "iss_valid") == 1 && o(t, "iss_pass") == 0;

    let t = case.cycle("a live block", |t| {
        o(t - 1, "live") == 1 && i(t, "launch_valid") == 0
    });
    let launch = [
        ("launch_valid", 1),
        ("launch_block", 0),
        ("launch_wmask", 1),
        ("launch_last", 1),
    ];
    case.expect("launch_slot", t, &launch);

    let t = case.cycle("a launch", |t| i(t, "launch_valid") == 1);
    case.expect("launch_threads", t, &[("launch_wmask", 0)]);
    case.expect(
        "launch_threads",
        t,
        &[("launch_wmask", 1), ("launch_last", 0)],
    );

    let memory = |t: usize| {
        let kind = case.layout.input("off_kind");
        let words = &case.inputs[t * case.layout.input_words..];
        starts(t) && take(words, kind, 4)[o(t, "iss_warp") as usize] == 1
    };
    let t = 1 + case.cycle("a load", |t| memory(t) && i(t + 1, "rst") == 0);
    let exit = [
        ("exit_valid", 1),
        ("exit_warp", o(t - 1, "iss_warp")),
        ("exit_mask", 1),
    ];
    case.expect("exit_drained", t, &exit);

    let held = |t| o(t - 1, "ex_hold") == 1;
    let t = case.cycle("an empty EX", |t| o(t - 1, "iss_valid") == 0 && !held(t));
    case.expect("operands_zero", t, &[("op_mask", 1)]);
    case.expect("operands_zero", t, &[("op_be", 1)]);
    let t = case.cycle("a pass that is held", held);
    case.expect("operands_held", t, &[("op_mask", i(t, "op_mask") ^ 1)]);
    case.expect("operands_held", t, &[("op_aop", i(t, "op_aop") ^ 1)]);

    let t = 1 + case.cycle("an issue", |t| starts(t) && i(t + 1, "rst") == 0);
    for port in ["cfg_pipeline", "cfg_policy", "cfg_sharing", "cfg_limit"] {
        case.expect("cfg_static", t, &[(port, i(t, port) ^ 1)]);
    }
    case.expect("writes_idle", t, &[("kernel_clear", 1)]);

    let waits = |t| i(t - 1, "icn_valid") == 1 && o(t - 1, "icn_ready") == 0;
    let t = case.cycle("waiting data", waits);
    case.expect("icn_held", t, &[("icn_valid", 0)]);
    case.expect("icn_held", t, &[("icn_tag", i(t, "icn_tag") ^ 1)]);
}

/// Where the issue is decided ahead, offers have to stand.
#[test]
fn each_rule_about_offers_notices_who_breaks_it() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let case = Case::new("spad_sm_path", &machine(4, 3));
    let (i, o) = (
        |t, port| case.input(t, port),
        |t, port| case.output(t, port),
    );
    let taken = |t| o(t, "iss_valid") == 1 && o(t, "iss_pass") == 0 && o(t, "iss_warp") == 2;
    let waits = |t| i(t, "off_valid") >> 2 & 1 == 1 && !taken(t);
    let t = 1 + case.cycle("an offer of warp 2", |t| waits(t) && i(t + 1, "rst") == 0);
    case.expect("offer_held", t, &[("off_valid", i(t, "off_valid") & !4)]);
    for (port, bit) in [
        ("off_kind", 8),
        ("off_words", 4),
        ("off_tag", 16),
        ("off_pc", 28),
    ] {
        case.expect("offer_held", t, &[(port, i(t, port) ^ 1 << bit)]);
    }
    // A warp that has done nothing yet offers its first instruction.
    let first = (3..CYCLES).find(|&t| i(t, "off_valid") != 0).unwrap();
    let warp = u64::from(i(first, "off_valid").trailing_zeros());
    let exit = [("exit_valid", 1), ("exit_warp", warp), ("exit_mask", 1)];
    case.expect("exit_no_offer", first, &exit);
    case.expect(
        "cfg_static",
        first + 1,
        &[("cfg_aware", i(first + 1, "cfg_aware") ^ 1)],
    );
}

#[test]
fn each_rule_of_the_bus_units_notices_who_breaks_it() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let mut config = machine(2, 0);
    config.path.hash = spadkit::config::PathHash::Rap;
    config.path.tcdm.atomics = true;
    let stream = Case::new("spad_stream", &config);
    let (i, o) = (
        |t, port| stream.input(t, port),
        |t, port| stream.output(t, port),
    );
    let waits = |t| i(t - 1, "req_valid") == 1 && o(t - 1, "req_ready") == 0;
    let t = stream.cycle("an access that waits", waits);
    stream.expect("request_held", t, &[("req_valid", 0)]);
    for port in [
        "req_op", "req_mask", "req_addr", "req_data", "req_be", "req_tag",
    ] {
        let slot = stream.layout.input(port);
        let word = u64::from(stream.inputs[t * stream.layout.input_words + slot.offset]);
        stream.expect("request_held", t, &[(port, word ^ 1)]);
    }
    let busy = |t| o(t, "idle") == 0;
    let t = stream.cycle("an access inside", busy);
    stream.expect(
        "cfg_static",
        t,
        &[("cfg_lock_hash", i(t, "cfg_lock_hash") ^ 1)],
    );
    stream.expect("writes_idle", t, &[("hash_wr_en", 1)]);

    let tcdm = Case::new("spad_tcdm", &config);
    let (i, o) = (
        |t, port| tcdm.input(t, port),
        |t, port| tcdm.output(t, port),
    );
    let waits = |t| i(t - 1, "tcdm_req") & !o(t - 1, "tcdm_gnt") & 1 == 1;
    let t = tcdm.cycle("a lane that waits", waits);
    for port in [
        "tcdm_req",
        "tcdm_wen",
        "tcdm_add",
        "tcdm_wdata",
        "tcdm_be",
        "tcdm_amo",
        "tcdm_aop",
        "tcdm_cmp",
    ] {
        let slot = tcdm.layout.input(port);
        let word = u64::from(tcdm.inputs[t * tcdm.layout.input_words + slot.offset]);
        tcdm.expect("ask_held", t, &[(port, word ^ 1)]);
    }
    let t = tcdm.cycle("a request inside", |t| o(t, "idle") == 0);
    tcdm.expect("writes_idle", t, &[("hash_wr_en", 1)]);
}
