//! The whole flow: with the real tools where they are, with scripts that
//! crash, hang or print nonsense.

use super::*;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::tool::{Cache, ToolKind, Toolbox, fake, required};
use std::path::Path;

const TINY: &str = include_str!("../../../../tests/fixtures/tiny.lib");
const GATES: &str = include_str!("../../../../tests/fixtures/synth_gates.v");

fn job(top: &str) -> SynthJob {
    SynthJob {
        unit: top.to_owned(),
        top: top.to_owned(),
        geometry: Geometry::new(14, 5).unwrap(),
        sources: vec![("gates.v".to_owned(), GATES.to_owned())],
        memories: Vec::new(),
        ports: Vec::new(),
        keep_hierarchy: false,
    }
}

fn tiny() -> Technology {
    Technology::of(liberty::Liberty::parse(TINY.to_owned(), Path::new("tiny.lib")).unwrap())
        .unwrap()
}

/// The tools and osu018; `None` where the test is skipped.
fn real(needed: &[ToolKind]) -> Option<(Toolbox, Technology)> {
    let tools = required::toolbox(needed)?;
    let technology = required::found(Technology::named(DEFAULT_TECHNOLOGY))?;
    Some((tools, technology))
}

fn flow<'a>(tools: &'a Toolbox, cache: &'a Cache, technology: &'a Technology) -> Flow<'a> {
    Flow {
        tools,
        cache,
        technology,
        effort: Effort::Area,
        paths: false,
    }
}

fn run(tools: &Toolbox, technology: &Technology, top: &str) -> crate::error::Result<SynthReport> {
    let cache = Cache::temporary().unwrap();
    flow(tools, &cache, technology).run(&[job(top)], &[1000], &|_, _| {})
}

#[test]
fn known_units_have_their_cells() {
    let Some((tools, osu)) = real(&[ToolKind::Yosys, ToolKind::Sta]) else {
        return;
    };
    let only = |top| run(&tools, &osu, top).unwrap().results.remove(0);
    let nand = only("fixture_nand");
    assert_eq!(nand.cells_by_type.get("NAND2X1"), Some(&1));
    assert_eq!((nand.cells, nand.flops, nand.area_um2), (1, 0, 24.0));
    assert_eq!(nand.nand2_equivalents, Some(1.0));
    assert!(nand.delay_ps > 10.0 && nand.delay_ps < 500.0, "{nand:?}");
    let power = nand.power_mw.unwrap();
    assert!(power > 1e-5 && power < 1.0, "{nand:?}");
    let sta = nand.sta_delay_ps.unwrap();
    assert!(
        (sta - nand.delay_ps).abs() < 0.3 * nand.delay_ps,
        "{nand:?}"
    );

    let shift = only("fixture_shift");
    assert_eq!((shift.cells, shift.flops), (4, 4));
    assert_eq!((shift.area_um2, shift.delay_ps), (4.0 * 96.0, 0.0));
    assert!(
        shift.sta_delay_ps.unwrap() > 100.0,
        "clock to output: {shift:?}"
    );

    let wires = only("fixture_wires");
    assert_eq!((wires.cells, wires.area_um2, wires.delay_ps), (0, 0.0, 0.0));
    assert_eq!(wires.power_mw, Some(0.0));
}

#[test]
fn area_is_what_yosys_says_and_the_cache_gives_the_same_again() {
    let Some((tools, osu)) = real(&[ToolKind::Yosys]) else {
        return;
    };
    let cache = Cache::temporary().unwrap();
    let yosys = tools.get(ToolKind::Yosys).unwrap();
    let map = |yosys| {
        job("fixture_select")
            .map(&osu, Effort::Area, 400, yosys, &cache)
            .unwrap()
    };
    let netlist = map(&yosys);
    let log = std::fs::read_to_string(netlist.directory.join("yosys.log")).unwrap();
    let area = log
        .lines()
        .find_map(|l| l.split_once("Chip area for module"));
    let area: f64 = area.unwrap().1.rsplit(' ').next().unwrap().parse().unwrap();
    assert_eq!(netlist.area_um2, area);
    assert!(netlist.warnings.is_empty(), "{:?}", netlist.warnings);
    assert!(!netlist.directory.join("cells.lib").exists());

    let dir = tempfile::tempdir().unwrap();
    let version = format!("[ \"$1\" = -V ] && printf %s '{}' || exit 1", yosys.build);
    let broken = fake::script(dir.path(), "yosys", &version);
    let broken = Toolbox::new().with(ToolKind::Yosys, broken);
    let again = map(&broken.get(ToolKind::Yosys).unwrap());
    assert_eq!(again.cells_by_type, netlist.cells_by_type);
    assert_eq!(again.delay_ps, netlist.delay_ps);
    // Another period is another netlist.
    let broken = broken.get(ToolKind::Yosys).unwrap();
    let other = job("fixture_select").map(&osu, Effort::Area, 401, &broken, &cache);
    assert!(other.is_err());
}

#[test]
fn what_the_library_has_no_cell_for_is_an_error() {
    let Some((tools, _)) = real(&[ToolKind::Yosys]) else {
        return;
    };
    let error = run(&tools, &tiny(), "fixture_latch").unwrap_err();
    assert_eq!(error.exit_status(), 3);
    assert!(
        error.to_string().contains("no cell for $_DLATCH_P_"),
        "{error}"
    );
}

#[test]
fn without_opensta_all_but_power_is_there() {
    let Some((tools, osu)) = real(&[ToolKind::Yosys]) else {
        return;
    };
    let tools = tools.with(ToolKind::Sta, "/nowhere/sta");
    let report = run(&tools, &osu, "fixture_nand").unwrap();
    let nand = &report.results[0];
    assert_eq!(nand.area_um2, 24.0);
    assert_eq!((nand.power_mw, nand.sta_delay_ps), (None, None));
    let warning = &report.warnings[0];
    assert!(warning.contains("OpenSTA was not found"), "{warning}");
    assert!(warning.contains("apt install opensta"), "{warning}");
    assert!(!report.tools.contains_key("sta"));
}

#[test]
fn an_opensta_that_fails_is_an_error_not_a_missing_number() {
    let Some((tools, osu)) = real(&[ToolKind::Yosys]) else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let version = "[ \"$1\" = -version ] && { echo 2.0.17; exit 0; }\n";
    let sta = fake::script(
        dir.path(),
        "sta",
        &format!("{version}echo Error: no license"),
    );
    let error = run(&tools.with(ToolKind::Sta, sta), &osu, "fixture_nand").unwrap_err();
    assert_eq!(error.exit_status(), 3);
    assert!(
        error.to_string().contains("OpenSTA reported an error"),
        "{error}"
    );
}

#[test]
fn an_opensta_that_crashes_over_the_power_still_gives_the_timing() {
    let Some((tools, osu)) = real(&[ToolKind::Yosys]) else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let version = "[ \"$1\" = -version ] && { echo 2.0.17; exit 0; }\n";
    let crash = "grep -q report_power sta.tcl && kill -SEGV $$\necho spadkit slack_ps 250\necho spadkit slack_no_wires_ps 300";
    let sta = fake::script(dir.path(), "sta", &format!("{version}{crash}"));
    let report = run(&tools.with(ToolKind::Sta, sta), &osu, "fixture_nand").unwrap();
    let nand = &report.results[0];
    assert_eq!((nand.power_mw, nand.sta_delay_ps), (None, Some(750.0)));
    let warned = report.warnings.iter().any(|w| w.contains("no power"));
    assert!(warned, "{:?}", report.warnings);
}

#[test]
fn fo4_agrees_with_static_timing() {
    let Some((tools, osu)) = real(&[ToolKind::Sta]) else {
        return;
    };
    // Ten stages; every stage has three inverters more as a load.
    let mut verilog = String::from("module chain (n0, n10);\ninput n0;\noutput n10;\n");
    for i in 0..10 {
        verilog += &format!("INVX1 s{i} (.A(n{i}), .Y(n{}));\n", i + 1);
        for j in 0..3 {
            verilog += &format!("INVX1 l{i}_{j} (.A(n{i}), .Y(x{i}_{j}));\n");
        }
    }
    verilog += "endmodule\n";
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("chain.v"), verilog).unwrap();
    let script = format!(
        "read_liberty {}\nread_verilog chain.v\nlink_design chain\nset_cmd_units -time ps\n\
         create_clock -name clk -period 1000\nset_input_delay 0 -clock clk n0\n\
         set_output_delay 0 -clock clk n10\nreport_checks -digits 4\n",
        osu.liberty.path.display()
    );
    std::fs::write(dir.path().join("t.tcl"), script).unwrap();
    let sta = tools.get(ToolKind::Sta).unwrap().command();
    let output = sta.args(["-exit", "t.tcl"]).cwd(dir.path()).run().unwrap();
    // Lines: delay, time, edge, pin. One falling and one rising stage.
    let delay = |stage: &str| -> f64 {
        let line = output
            .stdout
            .lines()
            .find(|l| l.contains(&format!(" {stage}/Y")));
        let line = line.unwrap_or_else(|| panic!("{stage}: {}", output.log()));
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    let mean = (delay("s6") + delay("s7")) / 2.0;
    let fo4 = osu.liberty.fo4_ps.unwrap();
    assert!((mean - fo4).abs() < 0.02 * fo4, "{mean} against {fo4}");
}

/// The library's own wire load is in one figure and not in the other; without
/// one they are equal.
#[test]
fn figures_are_with_the_wire_load_and_without() {
    let Some((tools, osu)) = real(&[ToolKind::Yosys, ToolKind::Sta]) else {
        return;
    };
    let plain = run(&tools, &osu, "fixture_select")
        .unwrap()
        .results
        .remove(0);
    assert_eq!(plain.wire_load, None);
    assert_eq!(plain.sta_delay_ps, plain.sta_delay_no_wires_ps);
    let wires = "wire_load (\"some\") { resistance : 0; capacitance : 0.1; slope : 1; \
                 fanout_length (1, 1); }\ndefault_wire_load : \"some\";\ncell (AND2X1)";
    let text = osu.liberty.text.replacen("cell (AND2X1)", wires, 1);
    let loaded = liberty::Liberty::parse(text, Path::new("osu.lib")).unwrap();
    let loaded = Technology::of(loaded).unwrap();
    let report = run(&tools, &loaded, "fixture_select").unwrap();
    assert_eq!(report.technology.wire_load.as_deref(), Some("some"));
    let result = &report.results[0];
    assert_eq!(result.wire_load.as_deref(), Some("some"));
    assert_eq!(result.sta_delay_no_wires_ps, plain.sta_delay_ps);
    assert!(result.sta_delay_ps > result.sta_delay_no_wires_ps);
}

#[test]
fn power_follows_the_clock() {
    let Some((tools, osu)) = real(&[ToolKind::Yosys, ToolKind::Sta]) else {
        return;
    };
    let cache = Cache::temporary().unwrap();
    let (yosys, sta) = (
        tools.get(ToolKind::Yosys).unwrap(),
        tools.get(ToolKind::Sta).unwrap(),
    );
    for top in ["fixture_select", "fixture_shift"] {
        let netlist = job(top)
            .map(&osu, Effort::Area, 1000, &yosys, &cache)
            .unwrap();
        let analysis = Analysis {
            netlist: &netlist,
            top,
            technology: &osu,
            sta: &sta,
            cache: &cache,
        };
        let at = |period| Timing::measure_at(period, &analysis).unwrap();
        let (fast, slow) = (at(1000.0), at(4000.0));
        let power = |timing: &Timing, period| timing.power_mw(period).unwrap();
        assert!(power(&fast, 1000.0) > 3.0 * power(&slow, 4000.0), "{top}");
        for period in [1000.0, 4000.0] {
            let (a, b) = (power(&fast, period), power(&slow, period));
            assert!((a - b).abs() < 1e-3 * a, "{top}: {a} {b}");
        }
        assert!((fast.delay_ps - slow.delay_ps).abs() < 0.1, "{top}");
    }
}

/// Runs the flow with a Yosys that does `body`.
fn with_yosys(body: &str) -> Error {
    let dir = tempfile::tempdir().unwrap();
    let tools = Toolbox::new().with(ToolKind::Yosys, fake::yosys(dir.path(), body));
    let error = run(
        &tools.with(ToolKind::Sta, "/nowhere/sta"),
        &tiny(),
        "fixture_nand",
    )
    .unwrap_err();
    assert_eq!(error.exit_status(), 3, "{error}");
    error
}

#[test]
fn a_yosys_that_crashes_or_prints_nonsense_is_an_error() {
    let crash = with_yosys("kill -SEGV $$");
    assert!(crash.to_string().contains("crashed"), "{crash}");
    let nothing = with_yosys("echo hello").to_string();
    assert!(nothing.contains("did not write prepared.il"), "{nothing}");
    let half = with_yosys("echo 'module \\fixture' > prepared.il").to_string();
    assert!(half.contains("prepared.il, which is cut off"), "{half}");
    let line = "echo end > prepared.il; echo 'ABC: WireLoad = x Delay = 1 ps'";
    let no_netlist = with_yosys(line).to_string();
    assert!(
        no_netlist.contains("did not write netlist.json"),
        "{no_netlist}"
    );
    let no_delay = with_yosys("echo end > prepared.il; echo '{}' > netlist.json");
    assert!(
        no_delay.to_string().contains("printed no delay"),
        "{no_delay}"
    );
    let garbage = with_yosys(&format!("{line}; echo nonsense > netlist.json"));
    assert!(garbage.to_string().contains("cannot be read"), "{garbage}");
    let other = with_yosys(&format!(
        "{line}; echo '{{\"modules\":{{}}}}' > netlist.json"
    ));
    assert!(other.to_string().contains("without module"), "{other}");
}

#[test]
fn names_that_are_no_names_are_refused() {
    let mut bad = job("fixture_nand");
    bad.sources[0].0 = "a b\"; shell rm.v".to_owned();
    let Some(yosys) = required::found(Toolbox::new().get(ToolKind::Yosys)) else {
        return;
    };
    let cache = Cache::temporary().unwrap();
    let error = bad
        .map(&tiny(), Effort::Area, 100, &yosys, &cache)
        .unwrap_err();
    assert_eq!(error.exit_status(), 2);
}

#[test]
fn the_sweep_measures_every_unit_at_every_period() {
    let Some((tools, osu)) = real(&[ToolKind::Yosys, ToolKind::Sta]) else {
        return;
    };
    let cache = Cache::temporary().unwrap();
    let flow = flow(&tools, &cache, &osu);
    let jobs = [job("fixture_select"), job("fixture_nand")];
    let heard = std::sync::Mutex::new(Vec::new());
    let report = flow.run(&jobs, &[400, 2000], &|done, _| {
        heard.lock().unwrap().push(done)
    });
    let report = report.unwrap();
    let mut heard = heard.into_inner().unwrap();
    heard.sort_unstable();
    assert_eq!(heard, [1, 2, 3, 4]);
    let order: Vec<_> = report
        .results
        .iter()
        .map(|r| (r.unit.as_str(), r.period_ps))
        .collect();
    let (select, nand) = ("fixture_select", "fixture_nand");
    assert_eq!(
        order,
        [(select, 400), (select, 2000), (nand, 400), (nand, 2000)]
    );
}

/// Registers around a memory that is left out.
fn stages_job(keep_hierarchy: bool) -> SynthJob {
    SynthJob {
        memories: vec![Memory {
            module: "fixture_memory".to_owned(),
            bits: 16,
        }],
        keep_hierarchy,
        ..job("fixture_stages")
    }
}

#[test]
fn paths_are_told_by_groups_and_memories_take_their_time() {
    let Some((tools, osu)) = real(&[ToolKind::Yosys, ToolKind::Sta]) else {
        return;
    };
    let cache = Cache::temporary().unwrap();
    let flow = Flow {
        paths: true,
        ..flow(&tools, &cache, &osu)
    };
    for keep_hierarchy in [false, true] {
        let jobs = [stages_job(keep_hierarchy)];
        let report = flow.run(&jobs, &[5000], &|_, _| {}).unwrap();
        let result = &report.results[0];
        assert_eq!((result.flops, result.memory_bits), (12, 16));
        let paths = result.paths.as_ref().unwrap();
        let between = |from: &str, to: &str| {
            let is = |p: &&WorstPath| p.from.name() == from && p.to.name() == to;
            paths
                .paths
                .iter()
                .find(is)
                .unwrap_or_else(|| panic!("no {from} to {to}: {paths:#?}"))
        };
        // Out of the memory nothing but wires, then the register's set-up.
        let memory = osu.memory;
        let out = between("ram", "mem3");
        assert_eq!((out.levels, out.stage.as_deref()), (0, Some("MEM2")));
        assert!(out.ps > memory.clock_to_output_ps, "{out:?}");
        assert!(out.ps < 1.5 * memory.clock_to_output_ps, "{out:?}");
        // Into it an inverter, and its set-up, which is that of no flip-flop.
        let into = between("hx", "ram");
        assert_eq!(into.levels, 1);
        let arrives = into.steps.last().unwrap().ps;
        assert!(
            (into.ps - arrives - memory.setup_ps).abs() < 1.0,
            "{into:?}"
        );
        assert_eq!(into.start()[..8], *"hx_data[");
        assert_eq!(into.end(), "ram");
        // The slowest of all is the clock, also as OpenSTA sees it.
        let clock = paths.clock_ps.unwrap();
        assert_eq!(
            clock,
            paths.paths.iter().find(|p| p.is_internal()).unwrap().ps
        );
        assert!(clock <= result.sta_delay_ps.unwrap() + 1.0);
        assert!(clock >= out.ps && clock >= into.ps);
        // The instance is a group; its modules show if there are any.
        let hashed = between("part", "hx");
        assert!(hashed.levels >= 2, "{hashed:?}");
        assert_eq!(hashed.segments().len() > 1, keep_hierarchy, "{hashed:?}");
        // Ports: into registers, out of them, and through.
        assert_eq!(between("req_*", "part").start()[..9], *"req_data[");
        assert_eq!(
            between("mem3", "resp_*").levels,
            between("off_*", "resp_*").levels
        );
        let through = paths.of_ports();
        let through = through
            .iter()
            .filter(|p| !p.from.is_registers() && !p.to.is_registers());
        assert_eq!(through.count(), 1);
    }
}

#[test]
fn a_netlist_that_was_mapped_by_modules_is_counted_whole() {
    let Some((tools, osu)) = real(&[ToolKind::Yosys]) else {
        return;
    };
    let cache = Cache::temporary().unwrap();
    let yosys = tools.get(ToolKind::Yosys).unwrap();
    let netlist = stages_job(true).map(&osu, Effort::Area, 1000, &yosys, &cache);
    let netlist = netlist.unwrap();
    assert_eq!((netlist.flops, netlist.memory_bits), (12, 16));
    let registers = &netlist.registers;
    assert_eq!(registers.len(), 13);
    assert!(
        registers.contains(&"part/inner_q[0]_reg".to_owned()),
        "{registers:?}"
    );
    // Of both modules.
    let log = std::fs::read_to_string(netlist.directory.join("yosys.log")).unwrap();
    let total = log.lines().rfind(|l| l.contains("Chip area for"));
    let total = total.unwrap().rsplit(' ').next().unwrap().parse::<f64>();
    assert_eq!(total.unwrap(), netlist.area_um2);
    assert!(netlist.delay_ps > 0.0);
}
