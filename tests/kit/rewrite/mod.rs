//! The compiler pass that puts a mapping into a kernel: what the kernel
//! computes stays the same, and its conflicts are those of the hardware hash.

mod cli;
mod cost;
mod engines;
mod impossible;
mod mixed;
mod random;
mod resources;

use crate::kernels::files::{files, kernels_folder};
use spadkit::capture::{LaunchInput, RunOptions};
use spadkit::config::Config;
use spadkit::launch::LaunchFile;
use spadkit::rewrite::{Hashes, Measured, Request, Rewritten, Verdict, measure, rewrite};
use spadkit::software::{Layout, LayoutSpec};
use spadkit::trace::ConflictProfile;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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

    /// For the first launch of an entry.
    fn request(&self, spec: &str, optimise: bool, entry: &str) -> Request {
        let prepared = self.file.prepare(&self.file.module().unwrap()).unwrap();
        let own = prepared.launches().iter().filter(|l| l.entry == entry);
        let first = own.clone().next().unwrap().clone();
        Request {
            hashes: Hashes::All(spec.parse().unwrap()),
            geometry: self.machine.geometry,
            block_words: self.machine.block_words,
            dynamic_shared: Some(first.dynamic_shared),
            parts: Vec::new(),
            block: own
                .clone()
                .all(|l| l.block == first.block)
                .then_some(first.block),
            optimise,
            entry: first.entry,
        }
    }

    /// The entries that have shared memory.
    fn entries(&self) -> Vec<String> {
        let module = self.file.module().unwrap();
        let has_shared = |entry: &String| {
            let reached = module.reached(module.function(entry).unwrap());
            !module
                .declared_shared(&reached)
                .unwrap()
                .variables
                .is_empty()
        };
        let prepared = self.file.prepare(&self.file.module().unwrap()).unwrap();
        let mut entries: Vec<String> = Vec::new();
        for launch in prepared.launches() {
            if !entries.contains(&launch.entry) && has_shared(&launch.entry) {
                entries.push(launch.entry.clone());
            }
        }
        entries
    }

    fn run(&self, request: &Request) -> (Rewritten, Option<Measured>) {
        let name = || format!("{} {:?}", self.file.source.path.display(), request.hashes);
        let module = self.file.module().unwrap();
        let rewritten = rewrite(&module, request).unwrap_or_else(|e| panic!("{}: {e}", name()));
        let rule = self.machine.conflict_rule();
        let measured = |rewritten: &Rewritten| {
            let text = rewritten.text()?;
            let measured = measure(&self.file, &module, request, rewritten, rule);
            Some(measured.unwrap_or_else(|e| panic!("{}: {e}\n{text}", name())))
        };
        let at_start = measured(&rewritten);
        let further = measured(&one_kilobyte_further(&rewritten));
        let results = |m: &Option<Measured>| {
            let of = |m: &Measured| (m.outputs_equal, m.conflicts_after);
            m.as_ref().map(of)
        };
        let (here, there) = (results(&at_start), results(&further));
        assert_eq!(here, there, "{} depends on its place", name());
        (rewritten, at_start)
    }

    /// Conflicts of the kernel as given on hardware with that hash.
    fn hardware(&self, spec: &str, entry: &str) -> u64 {
        let spec: LayoutSpec = spec.parse().unwrap();
        let layout = Layout::new(&spec, self.machine.geometry).unwrap();
        let input = format!("{}:{entry}", self.file.source.path.display());
        let trace = LaunchInput::at(Path::new(&input))
            .access_trace(RunOptions::default())
            .unwrap();
        let profile = ConflictProfile::new(&trace, self.machine.conflict_rule());
        profile.count(|word| layout.bank(word)).conflicts
    }

    /// Rewrites, runs, compares; how many entries were rewritten.
    fn check(&self, spec: &str, optimise: bool) -> usize {
        let entries = self.entries();
        let checked = entries
            .iter()
            .filter(|e| self.check_entry(spec, optimise, e));
        checked.count()
    }

    fn check_entry(&self, spec: &str, optimise: bool, entry: &str) -> bool {
        let name = format!("{}:{entry} {spec}", self.file.source.path.display());
        let request = self.request(spec, optimise, entry);
        let (rewritten, measured) = self.run(&request);
        let Some(measured) = measured else {
            let reason = rewritten.refused().unwrap();
            assert!(reason.contains("splits"), "{name}: {reason}");
            assert!(rewritten.left.len() >= rewritten.accesses.min(2));
            assert!(rewritten.together.is_some());
            return false;
        };
        let text = rewritten.text().unwrap();
        assert!(measured.outputs_equal, "{name}: other outputs\n{text}");
        assert_eq!(rewritten.rewritten, rewritten.accesses, "{name}");
        let hardware = self.hardware(spec, entry);
        assert_eq!(measured.conflicts_after, hardware, "{name}\n{text}");
        true
    }
}

/// The kernel with its shared memory 1 KB further on, where GPUs have it from
/// sm_90 on: `.align` of more than that does not count there. An instruction that
/// asks for the memory that CUDA keeps for itself puts it in front.
fn one_kilobyte_further(rewritten: &Rewritten) -> Rewritten {
    let mut moved = rewritten.clone();
    if let Verdict::Text(text) = &mut moved.verdict {
        let entry = format!(".entry {}", rewritten.entry);
        let head = text.find(&entry).expect("the entry is there");
        let body = head + text[head..].find('{').expect("it has a body") + 1;
        text.insert_str(
            body,
            "\n.reg .b32 %further; mov.u32 %further, %reserved_smem_offset_begin;",
        );
    }
    moved
}

fn spadkit(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_spadkit"))
        .env("COLUMNS", "1000")
        .arg("rewrite")
        .args(args)
        .output()
        .unwrap()
}

fn path_of(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn kernel(name: &str) -> PathBuf {
    kernels_folder().join(format!("{name}.toml"))
}

#[test]
#[ignore = "all kernels under all kinds of mappings: a minute"]
fn every_kernel_under_every_kind_of_mapping() {
    let mut rewritten = 0;
    for path in files("toml").iter() {
        let case = Case::load(path, "sm80");
        for spec in SPECS {
            for optimise in [false, true] {
                rewritten += case.check(spec, optimise);
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
            rewritten += case.check(spec, true);
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
        case.file.ptx.value = kernels_folder().join(ptx);
        for spec in ["bitvec-xor:k1=0,k2=5,mask=31", "pad:every=32,by=1"] {
            for optimise in [false, true] {
                let entry = launch.split('/').next_back().unwrap();
                let request = case.request(spec, optimise, entry);
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
                    1 => rewritten += 1,
                    _ => {
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

/// One mapping per variable: those that are named move, the others stay, and
/// an access that may touch either stands in the way.
#[test]
fn variables_can_have_mappings_of_their_own() {
    let case = Case::load(&kernel("transpose/crsw"), "sm80");
    let module = case.file.module().unwrap();
    let reached = module.reached(module.function("crsw").unwrap());
    let variables = module.declared_shared(&reached).unwrap().variables;
    let names: Vec<String> = variables.iter().map(|v| v.name.clone()).collect();
    assert_eq!(names.len(), 2);
    let named = |list: &[(usize, &str)]| {
        let one = |(at, spec): &(usize, &str)| (names[*at].clone(), spec.parse().unwrap());
        let mut request = case.request("mod", true, "crsw");
        request.hashes = Hashes::Named(list.iter().map(one).collect());
        case.run(&request)
    };
    let (both, measured) = named(&[(0, "pad:every=32,by=1"), (1, "xor")]);
    assert!(measured.unwrap().outputs_equal);
    assert_eq!(measured.unwrap().conflicts_after, 0);
    assert_eq!((both.rewritten, both.left.len()), (both.accesses, 0));
    assert!(both.shared_bytes.after > both.shared_bytes.before);
    let (one, measured) = named(&[(1, "xor")]);
    assert!(measured.unwrap().outputs_equal);
    assert!(0 < one.rewritten && one.rewritten < one.accesses);
    assert_eq!(one.left.len(), one.accesses - one.rewritten);
    assert!(one.left.iter().all(|l| l.reason.contains("not mapped")));
}

/// The kernel `k` with a body, on one warp; it has an array `s` of 512 bytes
/// and the parameter `out`.
fn made(name: &str, body: &str) -> (tempfile::TempDir, Case) {
    let folder = tempfile::tempdir().unwrap();
    let ptx = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .shared .align 16 .b8 s[16384];\n.shared .align 16 .b8 t[512];\n\
         .func use(.param .b64 p)\n{{\n.reg .b64 %d;\n.reg .b32 %r;\n\
         ld.param.b64 %d, [p];\nld.u32 %r, [%d];\nadd.u32 %r, %r, 5;\nst.u32 [%d], %r;\nret;\n}}\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .pred %p;\n.reg .b32 %r<20>;\n\
         .reg .b64 %d<20>;\nmov.u32 %r0, %tid.x;\nmov.u64 %d0, s;\nmul.wide.u32 %d1, %r0, 16;\n\
         add.s64 %d2, %d0, %d1;\n{body}\nret;\n}}\n"
    );
    std::fs::write(folder.path().join("k.ptx"), ptx).unwrap();
    let launch = folder.path().join(format!("{name}.toml"));
    let toml = "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [32]\n\
                [[arg]]\nname = \"out\"\ntype = \"u32\"\ncount = 128\n";
    std::fs::write(&launch, toml).unwrap();
    let case = Case::load(&launch, "sm80");
    (folder, case)
}

#[test]
fn what_stands_in_the_way_is_said() {
    let accesses = "st.shared.u32 [%d2], %r0;\n";
    let calls = |pointer: &str| {
        format!("{{.param .b64 a;\nst.param.b64 [a], {pointer};\ncall use, (a);\n}}\n")
    };
    for (what, body) in [
        ("fixed address", "ld.shared.u32 %r1, [16];".to_owned()),
        (
            "may be in shared memory, or elsewhere",
            "cvta.shared.u64 %d3, %d2;\nld.param.u64 %d4, [out];\nsetp.eq.u32 %p, %r0, 3;\n\
             selp.b64 %d5, %d3, %d4, %p;\nld.u32 %r1, [%d5];"
                .to_owned(),
        ),
        (
            "may be in shared memory, or elsewhere",
            format!(
                "cvta.shared.u64 %d3, %d2;\nld.param.u64 %d4, [out];\n{}{}",
                calls("%d3"),
                calls("%d4")
            ),
        ),
        ("mbarrier", "mbarrier.init.shared.b64 [%d2], 1;".to_owned()),
        (
            "that CUDA keeps for itself",
            "mov.u32 %r1, %reserved_smem_offset_1;".to_owned(),
        ),
        (
            "does not know",
            "wondrous.shared.u32 %r1, [%d2];".to_owned(),
        ),
    ] {
        let (_folder, case) = made("k", &format!("{accesses}{body}"));
        let module = case.file.module().unwrap();
        let request = Request {
            entry: "k".to_owned(),
            hashes: Hashes::All("xor".parse().unwrap()),
            geometry: case.machine.geometry,
            block_words: case.machine.block_words,
            dynamic_shared: None,
            parts: Vec::new(),
            block: None,
            optimise: true,
        };
        let rewritten = rewrite(&module, &request).unwrap_or_else(|e| panic!("{body}: {e}"));
        let reason = rewritten.refused().unwrap_or_else(|| panic!("{body}"));
        assert!(reason.contains(what), "{body}: {reason}");
        assert!(rewritten.text().is_none() && rewritten.rewritten == 0);
    }
}

/// A generic address that is handed to a device function is mapped there.
#[test]
fn pointers_are_followed_into_functions() {
    let body = "add.u32 %r0, %r0, 100;\nst.shared.u32 [%d2], %r0;\ncvta.shared.u64 %d3, %d2;\n\
        {.param .b64 a;\nst.param.b64 [a], %d3;\ncall use, (a);\n}\nld.shared.u32 %r1, [%d2];\n\
        ld.param.u64 %d5, [out];\ncvta.to.global.u64 %d5, %d5;\nmov.u32 %r0, %tid.x;\n\
        mul.wide.u32 %d6, %r0, 4;\nadd.s64 %d5, %d5, %d6;\nst.global.u32 [%d5], %r1;";
    let (_folder, case) = made("k", body);
    for optimise in [false, true] {
        assert!(case.check_entry("xor", optimise, "k"));
        assert!(case.check_entry("pad:every=32,by=1", optimise, "k"));
    }
}

/// Rows of 16 bytes that `ldmatrix` reads stay together under a swizzle that
/// keeps them, as those of 128-bit stores do.
#[test]
fn matrices_are_read_by_rows() {
    let body = "st.shared.v4.u32 [%d2], {%r0, %r0, %r0, 7};\nbar.sync 0;\n\
        xor.b32 %r1, %r0, 5;\nand.b32 %r1, %r1, 7;\nshl.b32 %r1, %r1, 6;\nmov.u32 %r2, s;\n\
        add.u32 %r3, %r1, %r2;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];\n\
        ld.param.u64 %d5, [out];\ncvta.to.global.u64 %d5, %d5;\nmul.wide.u32 %d6, %r0, 4;\n\
        add.s64 %d5, %d5, %d6;\nst.global.u32 [%d5], %r4;";
    let (_folder, case) = made("k", body);
    for optimise in [false, true] {
        assert!(case.check_entry("swizzle:3,2,3", optimise, "k"));
        assert!(case.check_entry("pad:every=32,by=4", optimise, "k"));
        assert!(!case.check_entry("xor", optimise, "k"));
    }
}

/// An address that moves through a loop, a value that several accesses share,
/// and one that is computed outside the loop that accesses it.
#[test]
fn mapped_addresses_are_shared_and_hoisted() {
    let (_folder, case) = made(
        "k",
        "mul.wide.u32 %d3, %r0, 4;\nadd.s64 %d4, %d0, %d3;\nmov.u32 %r2, 0;\nmov.u32 %r5, 0;\n\
         st.shared.u32 [%d4], %r0;\nst.shared.u32 [%d4+128], %r0;\n\
         st.shared.u32 [%d4+256], %r0;\nst.shared.u32 [%d4+384], %r0;\nbar.sync 0;\n\
         $L0:\nld.shared.u32 %r3, [%d4];\nadd.u32 %r5, %r5, %r3;\nld.shared.u32 %r3, [%d4+256];\n\
         add.u32 %r5, %r5, %r3;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p, %r2, 10;\n@%p bra $L0;\n\
         ld.param.u64 %d5, [out];\ncvta.to.global.u64 %d5, %d5;\nadd.s64 %d5, %d5, %d3;\n\
         st.global.u32 [%d5], %r5;",
    );
    let (plain, slow) = case.run(&case.request("xor", false, "k"));
    let (better, fast) = case.run(&case.request("xor", true, "k"));
    let (slow, fast) = (slow.unwrap(), fast.unwrap());
    assert!(slow.outputs_equal && fast.outputs_equal);
    assert_eq!((plain.rewritten, better.rewritten), (6, 6));
    // 24 accesses of a warp: every one by itself takes four or five
    // instructions; the base, one address and three XORs are enough.
    assert_eq!(slow.shared_accesses, 24);
    assert!(slow.added_executed >= 24 * 4, "{slow:?}");
    assert!(
        fast.added_executed <= 8,
        "{fast:?}\n{}",
        better.text().unwrap()
    );
    // In any block the row above may carry.
    let any = Request {
        block: None,
        ..case.request("xor", true, "k")
    };
    let (general, measured) = case.run(&any);
    assert_eq!((better.block, general.block), (Some([32, 1, 1]), None));
    assert!(measured.unwrap().outputs_equal);
    assert!(measured.unwrap().added_executed > fast.added_executed);
}

/// A loop that moves an address by what the mapping does not read moves the
/// mapped address along.
#[test]
fn mapped_addresses_are_carried_through_loops() {
    let body = |step: u32, rounds: u32| {
        format!(
            "mul.wide.u32 %d3, %r0, 132;\nadd.s64 %d4, %d0, %d3;\nmov.u32 %r2, 0;\n\
             mov.u32 %r5, 0;\n\
             $L0:\nst.shared.u32 [%d4], %r2;\nbar.sync 0;\nld.shared.u32 %r3, [%d4];\n\
             mad.lo.u32 %r5, %r5, 3, %r3;\nadd.s64 %d4, %d4, {step};\nadd.u32 %r2, %r2, 1;\n\
             setp.lt.u32 %p, %r2, {rounds};\n@%p bra $L0;\n\
             ld.param.u64 %d5, [out];\ncvta.to.global.u64 %d5, %d5;\nmul.wide.u32 %d3, %r0, 4;\n\
             add.s64 %d5, %d5, %d3;\nst.global.u32 [%d5], %r5;"
        )
    };
    let added = |step: u32, rounds: u32| {
        let (_folder, case) = made("k", &body(step, rounds));
        let (rewritten, measured) = case.run(&case.request("xor", true, "k"));
        let measured = measured.unwrap();
        assert!(measured.outputs_equal, "{}", rewritten.text().unwrap());
        assert_eq!(measured.conflicts_after, case.hardware("xor", "k"));
        measured.added_executed
    };
    // Mapped once: the base and five instructions, less one that the sum saves; a
    // sum each round.
    assert!(added(4096, 3) <= 3 + 6, "{}", added(4096, 3));
    // Moved by what is read, it is mapped in each round.
    assert!(added(128, 60) >= 100, "{}", added(128, 60));
}
