//! Speed of the golden model of the SM path and of the whole SM.
//!
//! `cargo bench -p spadkit-benches --bench sm_path` prints three tables, each measured in this
//! one run:
//!
//! 1. the model against the Verilated `spad_sm_path`, both driven by the same
//!    recorded inputs of a kernel, on one core. The RTL gets its inputs as
//!    words and nobody looks at its outputs; the model is stepped every cycle
//!    (`path`), or is the whole `Sm`, which brings warps, blocks and global
//!    memory on top and passes over quiet cycles (`sm`);
//! 2. a million warp instructions of a conflict-heavy full trace;
//! 3. a sweep of 100 points on one and on two threads.
//!
//! Times are processor times, which other load on the machine hardly changes.
//! The sweep also shows the wall-clock time: on idle cores it is the processor
//! time divided by the threads.

mod timing;

use spadkit::config::Config;
use spadkit::cosim::{Compiled, VerilatedUnit, record_inputs};
use spadkit::model::{
    Exit, IcnData, NO_OPERANDS, Offer, Offers, Operands, PathLaunch, SmPath, SmPathInputs,
};
use spadkit::rtl::Design;
use spadkit::sm::{Setup, Sm, TraceFile, WarpText, Workload, record};
use spadkit::tool::{Cache, Toolbox};
use spadkit::units::{Layout, Stimulus, replay_for};
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use timing::{median, timed};

type Failure = Box<dyn std::error::Error>;

/// Cycles on which model and RTL are compared.
const CYCLES: usize = 20_000;
const ROUNDS: usize = 3;

/// Loads and stores without conflicts, one behind the other, and additions
/// between them.
const STREAM: &str = ".block 256\n.grid 64\n.shared 4096\nrepeat 40\n\
    st.shared [4*t], r1\nld.shared r2, [4*t]\nalu r3, r4\nend\n";

/// Loads and stores alone.
const ACCESSES: &str = ".block 256\n.grid 64\n.shared 4096\nrepeat 60\n\
    st.shared [4*t], r1\nld.shared r2, [4*t]\nend\n";

/// Loads and stores of 64 bits: two passes each, of degree 2.
const WIDE: &str = ".block 256\n.grid 64\n.shared 4096\nrepeat 60\n\
    st.shared.64 [8*t], r1\nld.shared.64 r2, [8*t]\nend\n";

/// No access at all.
const ADDITIONS: &str = ".block 256\n.grid 64\n.shared 4096\nrepeat 120\nalu r1, r4\nend\n";

/// A tile written by rows and read by columns: degrees 1, 32 and 2.
const CONFLICTS: &str = ".block 256\n.grid GRID\n.shared 4096\nrepeat 295\n\
    ld.global r1, [4096*b + 4*t]\nst.shared [4*t], r1\nbar\n\
    ld.shared r2, [(128*t) % 4096]\nalu r3, r2\n\
    ld.shared r4, [(8*t) % 4096]\nalu r5, r4\nbar\nend\n";

/// Atomics of conflicting lanes among other accesses.
const ATOMICS: &str = ".block 256\n.grid 8\n.shared 4096\nrepeat 8\n\
    ld.shared r1, [(128*t) % 4096]\nalu r2, r1\n\
    atom.shared.add r3, [(1024*t) % 4096], r2\nst.shared [4*t], r2\nend\n";

fn program(text: &str) -> Result<WarpText, Failure> {
    Ok(WarpText::parse(text, Path::new("bench.warp"))?)
}

/// The conflict-heavy kernel: 18,880 warp instructions per block.
fn conflicts(blocks: u32) -> String {
    CONFLICTS.replace("GRID", &blocks.to_string())
}

fn main() -> Result<(), Failure> {
    // `cargo test --benches` wants to know whether it builds.
    if std::env::args().any(|a| a == "--test") {
        return Ok(());
    }
    let only = std::env::args().skip(1).find(|a| !a.starts_with("--"));
    let wanted = |name: &str| only.as_deref().is_none_or(|o| o == name);
    let folder = tempfile::tempdir()?;
    let trace = folder.path().join("conflicts.spt");
    let summary = record(&program(&conflicts(53))?, &trace)?;
    if wanted("million") {
        million(&trace, summary.instructions)?;
    }
    if wanted("sweep") {
        sweep(folder.path())?;
    }
    if wanted("rtl") {
        against_rtl(folder.path())?;
    }
    Ok(())
}

/// Everything that drives the path in one cycle, as changes of the last one's.
struct Cycle {
    offers: Vec<(usize, Option<Offer>)>,
    launch: Option<PathLaunch>,
    exit: Option<Exit>,
    kernel_clear: bool,
    /// Index of the operands among the recorded ones; none if EX is empty.
    op: Option<usize>,
    icn: Option<(usize, u8, u16, bool, u64)>,
}

struct Pass {
    mask: u64,
    addr: Vec<u16>,
    data: Vec<u64>,
    be: Vec<u8>,
    aop: u8,
}

/// The inputs of a kernel's path, to be replayed without the kernel.
struct Recorded {
    cycles: Vec<Cycle>,
    passes: Vec<Pass>,
    instructions: u64,
}

fn record_path(
    config: &Config,
    workload: &dyn Workload,
    cycles: usize,
) -> Result<Recorded, Failure> {
    let warps = config.path.warps as usize;
    let mut sm = Sm::new(config, workload)?.with_values(1);
    let mut before = Offers::none(warps);
    let mut recorded = Recorded {
        cycles: Vec::new(),
        passes: Vec::new(),
        instructions: 0,
    };
    let mut on = true;
    while on && recorded.cycles.len() < cycles {
        on = sm.step_observed(&mut |_, inputs, out| {
            let changes: Vec<_> = (0..warps)
                .map(|w| (w, inputs.offers.get(w)))
                .filter(|&(w, offer)| offer != before.get(w))
                .collect();
            for &(w, offer) in &changes {
                before.set(w, offer);
            }
            let passes = &mut recorded.passes;
            let op = (inputs.op.mask != 0).then(|| {
                let lanes = config.lanes as usize;
                let op = &inputs.op;
                let alike = |p: &Pass| {
                    (p.mask, &p.addr[..], &p.data[..])
                        == (op.mask, &op.addr[..lanes], &op.data[..lanes])
                };
                if !passes.last().is_some_and(alike) {
                    passes.push(Pass {
                        mask: op.mask,
                        addr: op.addr[..lanes].to_vec(),
                        data: op.data[..lanes].to_vec(),
                        be: op.be[..lanes].to_vec(),
                        aop: op.aop,
                    });
                }
                passes.len() - 1
            });
            recorded.cycles.push(Cycle {
                offers: changes,
                launch: inputs.launch,
                exit: inputs.exit,
                kernel_clear: inputs.kernel_clear,
                op,
                icn: inputs.icn.map(|i| (i.warp, i.tag, i.pass, i.last, i.mask)),
            });
            let issued = out.iss.is_some_and(|i| i.pass == 0);
            recorded.instructions += u64::from(issued);
        })?;
    }
    Ok(recorded)
}

/// Steps a path through the recorded cycles.
fn replay_model(config: &Config, sm: &Sm, recorded: &Recorded) {
    let words = [7; 64];
    let mut path = SmPath::new(config);
    let mut offers = Offers::none(config.path.warps as usize);
    let cfg = sm.path_config();
    for cycle in &recorded.cycles {
        for &(w, offer) in &cycle.offers {
            offers.set(w, offer);
        }
        let op = cycle.op.map_or(NO_OPERANDS, |i| {
            let p = &recorded.passes[i];
            Operands {
                mask: p.mask,
                addr: &p.addr,
                data: &p.data,
                be: &p.be,
                aop: p.aop,
            }
        });
        let inputs = SmPathInputs {
            kernel_clear: cycle.kernel_clear,
            launch: cycle.launch,
            exit: cycle.exit,
            icn: cycle.icn.map(|(warp, tag, pass, last, mask)| IcnData {
                warp,
                tag,
                pass,
                last,
                mask,
                data: &words,
            }),
            ..SmPathInputs::undisturbed(cfg, &offers, op)
        };
        black_box(path.step(&inputs));
    }
}

fn rtl_heads() {
    println!(
        "{:10} {:>8} {:>7} {:>11} {:>11} {:>11} {:>10} {:>10} {:>6} {:>6}",
        "trace",
        "cycles",
        "instr",
        "RTL cyc/s",
        "path cyc/s",
        "sm cyc/s",
        "RTL ins/s",
        "sm ins/s",
        "path/",
        "sm/"
    );
}

fn against_rtl(folder: &Path) -> Result<(), Failure> {
    let config = Config::preset("fermi")?;
    let (tools, cache) = (Toolbox::new(), Cache::user()?);
    let design = Design::emit(&["spad_sm_path".to_owned()], &config)?;
    let unit = design.units.iter().find(|u| u.name == "spad_sm_path");
    let unit = unit.ok_or("no spad_sm_path")?;
    let layout = Layout::new(unit);
    let start = Instant::now();
    let rtl = VerilatedUnit::build(
        &unit.name,
        &design.files_of(unit),
        layout.clone(),
        Compiled::Optimised,
        &tools,
        &cache,
    )?;
    println!(
        "spad_sm_path, preset fermi, Verilator -O3, C++ -O1: built or found in {:.0} s",
        start.elapsed().as_secs_f64()
    );
    rtl_heads();
    for (name, text) in [
        ("stream", STREAM.to_owned()),
        ("accesses", ACCESSES.to_owned()),
        ("64-bit", WIDE.to_owned()),
        ("additions", ADDITIONS.to_owned()),
        ("conflicts", conflicts(2)),
        ("atomics", ATOMICS.to_owned()),
    ] {
        let trace = folder.join("rtl.spt");
        record(&program(&text)?, &trace)?;
        let workload = TraceFile::open(&trace)?;
        let recorded = record_path(&config, &workload, CYCLES)?;
        let cycles = recorded.cycles.len();
        let mut bench = replay_for(&config, &layout, &workload, 1)?;
        let words = record_inputs(&layout, &mut *bench, &mut Stimulus::new(1), cycles);
        let (mut rtl_times, mut path_times, mut sm_rates) = (vec![], vec![], vec![]);
        for _ in 0..ROUNDS {
            let mut instance = rtl.instance();
            let ((), seconds) = timed(|| instance.run_empty(cycles as u64, &words));
            rtl_times.push(seconds);
            let sm = Sm::new(&config, &workload)?;
            let ((), seconds) = timed(|| replay_model(&config, &sm, &recorded));
            path_times.push(seconds);
            let (statistics, seconds) = timed(|| sm.run());
            sm_rates.push(statistics?.cycles as f64 / seconds);
        }
        let rate = |times: Vec<f64>| cycles as f64 / median(times);
        let (r, p, s) = (rate(rtl_times), rate(path_times), median(sm_rates));
        let per_cycle = recorded.instructions as f64 / cycles as f64;
        println!(
            "{name:10} {cycles:>8} {:>7} {r:>11.3e} {p:>11.3e} {s:>11.3e} {:>10.2e} {:>10.2e} {:>6.0} {:>6.0}",
            recorded.instructions,
            r * per_cycle,
            s * per_cycle,
            p / r,
            s / r,
        );
    }
    Ok(())
}

fn million(trace: &Path, instructions: u64) -> Result<(), Failure> {
    println!("full trace of {instructions} warp instructions, one core");
    println!(
        "{:8} {:>10} {:>8} {:>12} {:>12} {:>14}",
        "preset", "cycles", "seconds", "instr/s", "cycles/s", "every cycle s"
    );
    for preset in ["fermi", "gt200"] {
        let config = Config::preset(preset)?;
        let open = || TraceFile::open(trace);
        let (statistics, seconds) = timed(|| Setup::default().run(&config, &open()?));
        let (plain, plain_seconds) = timed(|| Sm::new(&config, &open()?)?.run_every_cycle());
        let (statistics, plain) = (statistics?, plain?);
        assert_eq!(statistics, plain);
        println!(
            "{preset:8} {:>10} {seconds:>8.2} {:>12.3e} {:>12.3e} {plain_seconds:>14.2}",
            statistics.cycles,
            statistics.warp_instructions as f64 / seconds,
            statistics.cycles as f64 / seconds,
        );
    }
    Ok(())
}

/// 5 mappings, 5 schedulers and 4 thresholds through the program itself.
fn sweep(folder: &Path) -> Result<(), Failure> {
    let trace = folder.join("small.spt");
    record(&program(&conflicts(2))?, &trace)?;
    let mut args = vec![
        "sim", "--sweep", "--preset", "fermi", "--format", "json", "-q",
    ];
    for hash in [
        "mod",
        "xor",
        "add",
        "bitvec-perm:k=5",
        "bitvec-xor:k1=0,k2=5,mask=31",
    ] {
        args.extend(["--hash", hash]);
    }
    args.extend(["--scheduler", "lrr,gto,conflict-aware,owf,lowest-slot"]);
    args.extend(["--sharing", "0.1,0.3,0.5,0.9"]);
    println!(
        "sim --sweep, 100 points of {} warp instructions",
        2 * 18_880
    );
    // Beside the folder of this program.
    let mut program = std::env::current_exe()?;
    program.pop();
    program.set_file_name("spadkit");
    if !program.exists() {
        return Err("no spadkit to measure: cargo build --release".into());
    }
    let mut one = None;
    for threads in ["1", "2"] {
        let (start, before) = (Instant::now(), children_time());
        let output = Command::new(&program)
            .args(&args)
            .arg(&trace)
            .env("RAYON_NUM_THREADS", threads)
            .output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into());
        }
        let seconds = start.elapsed().as_secs_f64();
        let first = *one.get_or_insert(seconds);
        println!(
            "{threads} threads: {seconds:.2} s, {:.2} times as fast; {:.2} s of processor time",
            first / seconds,
            children_time() - before,
        );
    }
    Ok(())
}

/// Processor time of all programs that have been run and have ended, in
/// seconds (Linux, whose ticks are of 10 ms).
fn children_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default();
    // The remaining fields start at the third; user and system time are the 16th and 17th.
    let ticks = fields.split_whitespace().skip(13).take(2);
    ticks.filter_map(|t| t.parse::<f64>().ok()).sum::<f64>() / 100.0
}
