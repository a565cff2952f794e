//! The kit's own kernels: markers where the checker wants them, the same
//! outputs, each thread releases once, and the SM never lets a block touch
//! what its partner has.

use crate::kernels::files::files;
use crate::sharing::checker::{Walk, only_adds};
use spadkit::capture::{LaunchRun, RunOptions, Selected};
use spadkit::config::{Config, Scheduler};
use spadkit::launch::{LaunchFile, Options};
use spadkit::ptx::Module;
use spadkit::sharing::{AnalysedEntry, LayoutKind, Needs, Placement, Plan};
use spadkit::sm::{InstrKind, Setup, Share, TraceFile, Workload};
use spadkit::workload::LaunchWorkload;
use std::path::Path;

fn plan<'k>(
    kernel: &'k AnalysedEntry<'k>,
    threads: u64,
    sharing: f64,
    placement: Placement,
) -> Plan<'k> {
    let machine = Config::preset("sharing-64k").unwrap();
    let needs = Needs {
        threads,
        registers: None,
    };
    let choice = (LayoutKind::Optimal, placement);
    Plan::new(kernel, &machine, needs, sharing, choice).unwrap()
}

/// The accesses of the annotated kernel, by the analysis of the text without
/// its markers: shared variables by their names.
fn check(text: &str, entry: &str, shared: &[String], dynamic: u32, earliest: bool) -> bool {
    let mut bare = text.to_owned();
    while let Some(at) = bare.find(".pragma \"spadkit.") {
        let end = at + bare[at..].find(';').unwrap() + 1;
        bare.replace_range(at..end, "");
    }
    let module = Module::parse(&bare, "bare.ptx").unwrap();
    let kernel = AnalysedEntry::new(&module, Some(entry), dynamic).unwrap();
    let variables = kernel.variables.iter().enumerate();
    let set = variables
        .filter(|(_, v)| shared.contains(&v.name))
        .fold(0, |set, (i, _)| set | 1u128 << i);
    // What nobody waits for is released with the end of the block.
    let mut instructions = 0..kernel.graph.exit();
    if instructions.any(|n| kernel.ranges.used_at_end(n) & set != 0) {
        assert!(!text.contains("spadkit.relssp"), "{entry}");
        return false;
    }
    let walk = Walk::new(text, entry, &|_, n| {
        kernel.ranges.in_use(n as u32) & set != 0
    });
    walk.check(earliest)
        .unwrap_or_else(|e| panic!("{entry}: {e}\n{text}"));
    for (releases, late) in walk.paths(100) {
        assert_eq!(
            (releases, late),
            (usize::from(walk.needs_release()), false),
            "{entry}"
        );
    }
    walk.needs_release()
}

fn as_selected<'a>(
    file: &'a LaunchFile,
    module: &'a Module,
    selected: &'a Selected,
) -> LaunchRun<'a> {
    LaunchRun {
        file,
        module,
        selected,
        options: RunOptions::default(),
    }
}

#[test]
fn every_entry_releases_once_and_at_once() {
    let (mut checked, mut released) = (0, 0);
    for path in files("ptx") {
        let text = std::fs::read_to_string(&path).unwrap();
        let module = Module::parse(&text, &path.display().to_string()).unwrap();
        for entry in module.entries() {
            let dynamic = 1024;
            let Ok(kernel) = AnalysedEntry::new(&module, Some(&entry.name), dynamic) else {
                continue; // no shared memory
            };
            for (sharing, placement) in [
                (0.1, Placement::Optimal),
                (0.1, Placement::PostDom),
                (0.6, Placement::Optimal),
            ] {
                let plan = plan(&kernel, 64, sharing, placement);
                let after = plan.annotate().unwrap();
                only_adds(&text, &after.text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                let variables = kernel.variables.iter().enumerate();
                let shared: Vec<String> = variables
                    .filter(|(i, _)| plan.layout.is_shared(*i))
                    .map(|(_, v)| v.name.clone())
                    .collect();
                let earliest = placement == Placement::Optimal;
                released +=
                    usize::from(check(&after.text, &entry.name, &shared, dynamic, earliest));
                checked += 1;
            }
        }
    }
    assert!(checked > 200 && released > 100, "{checked}, {released}");
}

/// A launch of the first entry with an annotated copy of its PTX.
fn annotated(path: &Path, sharing: f64, folder: &Path) -> Option<LaunchFile> {
    let mut file = LaunchFile::load(path).unwrap();
    let module = file.module().unwrap();
    let entry = file.first.entry.as_ref().map(|e| e.value.as_str());
    let kernel = AnalysedEntry::new(&module, entry, file.first.dynamic_shared).ok()?;
    let threads = file.first.block.iter().map(|&n| u64::from(n)).product();
    let text = plan(&kernel, threads, sharing, Placement::Optimal)
        .annotate()
        .unwrap()
        .text;
    file.ptx.value = folder.join("annotated.ptx");
    std::fs::write(&file.ptx.value, text).unwrap();
    Some(file)
}

fn outputs(file: &LaunchFile) -> Vec<(String, Vec<u8>)> {
    let mut prepared = file.prepare(&file.module().unwrap()).unwrap();
    let outcome = prepared.run(&Options::default()).unwrap();
    assert!(
        outcome.findings.iter().all(|f| f.warning),
        "{:?}",
        outcome.findings
    );
    prepared
        .outputs()
        .map(|(n, b)| (n.to_owned(), b.to_vec()))
        .collect()
}

/// Kernels of a few thousand instructions, so that the test takes seconds.
fn small(path: &Path) -> bool {
    const NAMES: [&str; 11] = [
        "layer_forward",
        "layer_forward48",
        "nqueens",
        "srad1",
        "srad2",
        "dct",
        "fdtd3d",
        "haar",
        "hotspot",
        "reduction",
        "nw",
    ];
    NAMES
        .iter()
        .any(|n| path.file_stem().is_some_and(|s| s == *n))
}

#[test]
fn annotated_kernels_compute_the_same_and_release_once_a_thread() {
    let scratch = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for path in files("toml").iter().filter(|p| small(p)) {
        let Some(file) = annotated(path, 0.1, scratch.path()) else {
            continue;
        };
        seen += 1;
        let original = LaunchFile::load(path).unwrap();
        assert_eq!(outputs(&original), outputs(&file), "{}", path.display());
        let spt = scratch.path().join("t.spt");
        let selected = Selected::of(path).unwrap();
        let module = file.module().unwrap();
        as_selected(&file, &module, &selected)
            .full_trace(&spt)
            .unwrap();
        let releases = releases_per_thread(&spt);
        let wanted = releases[0];
        assert!(
            wanted <= 1 && releases.iter().all(|&n| n == wanted),
            "{}",
            path.display()
        );
    }
    assert!(seen >= 8, "{seen}");
}

/// Releases of each thread of the first blocks.
pub fn releases_per_thread(spt: &Path) -> Vec<u32> {
    let file = TraceFile::open(spt).unwrap();
    let info = file.info();
    let mut all = Vec::new();
    for block in 0..info.blocks.min(4) {
        for warp in 0..info.warps() {
            let mut count = [0; 32];
            let mut stream = file.open(block, warp).unwrap();
            while let Some(part) = stream.next_part().unwrap() {
                for i in part.iter().filter(|i| i.kind == InstrKind::RelSsp) {
                    (0..32).for_each(|lane| count[lane] += (i.mask >> lane & 1) as u32);
                }
            }
            let mask = info.warp_mask(warp);
            all.extend(
                (0..32)
                    .filter(|lane| mask >> lane & 1 == 1)
                    .map(|lane| count[lane]),
            );
        }
    }
    all
}

/// On a machine with room for pairs. A block that touched the shared part
/// while its partner has it, or after its release, would end the run.
#[test]
fn the_sm_runs_them_with_sharing() {
    let scratch = tempfile::tempdir().unwrap();
    let machine = Config::preset("gpgpusim-16k").unwrap();
    let (mut shared, mut released) = (0, 0);
    for path in files("toml").iter().filter(|p| small(p)) {
        let Some(file) = annotated(path, 0.1, scratch.path()) else {
            continue;
        };
        let selected = Selected::of(path).unwrap();
        let module = file.module().unwrap();
        let run = as_selected(&file, &module, &selected);
        let workload = LaunchWorkload::open(&run).unwrap();
        let setup = Setup {
            scheduler: Some(Scheduler::Owf),
            sharing: Some(Share::All(0.1)),
            ..Setup::default()
        };
        let sm = setup.build(&machine, &workload).unwrap();
        shared += u32::from(sm.layout().residency().pairs > 0);
        let statistics = sm
            .run()
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(statistics.blocks, u64::from(workload.info().blocks));
        released += u32::from(statistics.shared_progress.after > 0);
    }
    assert!(shared >= 4 && released >= 3, "{shared}, {released}");
}
