//! The compiler pass that puts a mapping into a kernel: what the kernel
//! computes stays the same, and its conflicts are those of the hardware hash.

mod cli;
mod cost;
mod random;

use spadkit::capture::access_trace;
use spadkit::config::Config;
use spadkit::launch::LaunchFile;
use spadkit::rewrite::{Hashes, Measured, Request, Rewritten, measure, rewrite};
use spadkit::software::{Layout, LayoutSpec};
use spadkit::trace::ConflictProfile;
use std::path::{Path, PathBuf};

/// A mapping of every kind, for 32 banks.
const SPECS: [&str; 12] = [
    "mod",
    "xor",
    "add",
    "bitvec-perm:k=2",
    "bitvec-xor:k1=0,k2=5,mask=31",
    "bitwise-perm:0,3,2,5,7",
    "bitwise-xor:0^6,1^5,2^7,3,4",
    "matrix:0x21,0x142,0x84,0x208,0x13",
    "pad:every=32,by=1",
    "swizzle:3,1,5",
    "rap:seed=1",
    "ras:seed=2",
];

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels")
}

fn launch_files() -> Vec<PathBuf> {
    let families = std::fs::read_dir(kernels())
        .unwrap()
        .map(|f| f.unwrap().path());
    let mut files: Vec<PathBuf> = families
        .filter(|f| f.is_dir() && !f.ends_with("faults"))
        .flat_map(|f| std::fs::read_dir(f).unwrap().map(|f| f.unwrap().path()))
        .filter(|f| f.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    files
}

/// A launch file with its machine.
struct Case {
    file: LaunchFile,
    machine: Config,
}

impl Case {
    fn load(path: &Path, preset: &str) -> Case {
        Case {
            file: LaunchFile::load(path).unwrap_or_else(|e| panic!("{e}")),
            machine: Config::preset(preset).unwrap(),
        }
    }

    fn request(&self, spec: &str, optimise: bool) -> Request {
        self.request_of(spec, optimise, None)
    }

    /// For the first launch, or the first of an entry.
    fn request_of(&self, spec: &str, optimise: bool, entry: Option<&str>) -> Request {
        let prepared = self.file.prepare().unwrap();
        let wanted = |e: &str| entry.is_none_or(|entry| entry == e);
        let launches = prepared.launches().iter();
        let first = launches.clone().find(|l| wanted(&l.entry)).unwrap().clone();
        let mut own = prepared
            .launches()
            .iter()
            .filter(|l| l.entry == first.entry);
        Request {
            hashes: Hashes::All(spec.parse().unwrap()),
            geometry: self.machine.geometry,
            block_words: self.machine.block_words,
            dynamic_shared: Some(first.dynamic_shared),
            block: own.all(|l| l.block == first.block).then_some(first.block),
            optimise,
            entry: first.entry,
        }
    }

    fn run(&self, request: &Request) -> (Rewritten, Option<Measured>) {
        let name = || format!("{} {:?}", self.file.source.path.display(), request.hashes);
        let module = self.file.module().unwrap();
        let rewritten = rewrite(&module, request).unwrap_or_else(|e| panic!("{}: {e}", name()));
        let rule = self.machine.conflict_rule();
        let measured = rewritten.text.as_ref().map(|text| {
            measure(&self.file, &module, request, &rewritten, rule)
                .unwrap_or_else(|e| panic!("{}: {e}\n{text}", name()))
        });
        (rewritten, measured)
    }

    /// Conflicts of the kernel as given on hardware with that hash.
    fn hardware(&self, spec: &str) -> u64 {
        let spec: LayoutSpec = spec.parse().unwrap();
        let layout = Layout::new(&spec, self.machine.geometry).unwrap();
        let trace = access_trace(&self.file.source.path, None).unwrap();
        let profile = ConflictProfile::new(&trace, self.machine.conflict_rule());
        profile.count(|word| layout.bank(word)).conflicts
    }

    /// Rewrites, runs, compares; whether it was rewritten.
    fn check(&self, spec: &str, optimise: bool) -> bool {
        let name = format!("{} {spec}", self.file.source.path.display());
        let request = self.request(spec, optimise);
        let (rewritten, measured) = self.run(&request);
        let Some(measured) = measured else {
            let reason = rewritten.refused.unwrap();
            assert!(reason.contains("tears"), "{name}: {reason}");
            assert!(!rewritten.left.is_empty());
            return false;
        };
        let text = rewritten.text.unwrap();
        assert!(measured.outputs_equal, "{name}: other outputs\n{text}");
        assert_eq!(rewritten.rewritten, rewritten.accesses, "{name}");
        assert_eq!(
            measured.conflicts_after,
            self.hardware(spec),
            "{name}\n{text}"
        );
        true
    }
}

fn kernel(name: &str) -> PathBuf {
    kernels().join(format!("{name}.toml"))
}

/// Whether the kernel has shared memory at all.
fn has_shared(path: &Path) -> bool {
    let (text, name) = (
        std::fs::read_to_string(path).unwrap(),
        path.display().to_string(),
    );
    assert!(!text.is_empty());
    ![
        "adjust_weights",
        "reduction_warps",
        "lud.toml",
        "lud22.toml",
        "nw/nw.toml",
        "nw32.toml",
        "gridding/gridding.toml",
        "aes/aes.toml",
    ]
    .iter()
    .any(|n| name.contains(n) && !name.contains("lud_"))
}

#[test]
#[ignore = "all kernels under all kinds of mappings: a minute"]
fn every_kernel_under_every_kind_of_mapping() {
    let mut rewritten = 0;
    for path in launch_files().iter().filter(|p| has_shared(p)) {
        let case = Case::load(path, "sm80");
        for spec in SPECS {
            for optimise in [false, true] {
                rewritten += usize::from(case.check(spec, optimise));
            }
        }
    }
    assert!(rewritten > 1000, "{rewritten}");
}

/// Some kernels of each sort of access, under mappings of every form.
#[test]
fn chosen_kernels_compute_the_same() {
    let names = [
        "transpose/transpose",
        "fwt/fwt",
        "histogram/histogram64",
        "fft/fft_radix8",
        "nw/nw_upper",
        "lud/lud_perimeter",
        "matmul/matmul_wide",
    ];
    let mut rewritten = 0;
    for name in names {
        let case = Case::load(&kernel(name), "sm80");
        for spec in ["xor", "add", "rap:seed=1", "pad:every=32,by=1"] {
            rewritten += usize::from(case.check(spec, true));
        }
    }
    assert!(rewritten >= 20, "{rewritten}");
}

/// Device functions, `cp.async`, other compilers.
#[test]
fn other_compilers_and_targets() {
    for (launch, ptx) in [
        ("nw/nw_upper", "nw/nw.clang.ptx"),
        ("nw/nw_lower", "nw/nw.clang.ptx"),
        ("matmul/matmul", "matmul/matmul.sm80.ptx"),
        ("transpose/transpose", "transpose/transpose.clang.ptx"),
        ("histogram/histogram256", "histogram/histogram.sm90.ptx"),
    ] {
        let mut case = Case::load(&kernel(launch), "sm80");
        case.file.ptx.value = kernels().join(ptx);
        for spec in ["bitvec-xor:k1=0,k2=5,mask=31", "pad:every=32,by=1"] {
            for optimise in [false, true] {
                let request = case.request(spec, optimise);
                let (rewritten, measured) = case.run(&request);
                let measured = measured.unwrap_or_else(|| panic!("{ptx}: {:?}", rewritten.left));
                assert!(measured.outputs_equal, "{ptx} {spec}");
                assert_eq!(rewritten.rewritten, rewritten.accesses);
            }
        }
    }
}

fn random_kernels(seeds: std::ops::Range<u64>) {
    let folder = tempfile::tempdir().unwrap();
    let (mut rewritten, mut refused) = (0, 0);
    for seed in seeds {
        let kernel = random::kernel(seed);
        let launch = folder.path().join("made.toml");
        std::fs::write(folder.path().join("made.ptx"), &kernel.ptx).unwrap();
        std::fs::write(&launch, &kernel.toml).unwrap();
        let case = Case::load(&launch, "sm80");
        for spec in [SPECS[seed as usize % SPECS.len()], "xor", "swizzle:3,2,5"] {
            for optimise in [false, true] {
                match case.check(spec, optimise) {
                    true => rewritten += 1,
                    false => {
                        assert!(kernel.widest > 4, "seed {seed}: {}", kernel.ptx);
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(rewritten > refused, "{rewritten} {refused}");
}

#[test]
fn made_up_kernels_compute_the_same() {
    random_kernels(0..40);
}

#[test]
#[ignore = "thousands of kernels: minutes"]
fn many_made_up_kernels_compute_the_same() {
    random_kernels(1000..3000);
}
