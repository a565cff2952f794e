//! Small kernels in both kinds of trace.

mod together;

use super::*;
use spadkit_mapping::trace::AccessTrace;
use spadkit_ptx::exec::BarrierOp;
use spadkit_ptx::tensor::Work;
use spadkit_sm::sm::{Addresses, Detail, Instr, InstrKind, TraceFile, Workload};
use std::path::{Path, PathBuf};

/// A launch file of a kernel with the body `body`, and 256 bytes of shared
/// memory from `tile` on.
struct Files {
    dir: tempfile::TempDir,
}

impl Files {
    fn new(launch: &str, body: &str) -> Self {
        Files::with("", launch, body)
    }

    /// With parameters of the entry.
    fn with(params: &str, launch: &str, body: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ptx = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 16 .b8 tile[512];\n\
             .visible .entry k({params}) {{\n.reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .pred %p<9>;\n\
             mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.u32 %r4, %r3, %r2;\n\
             {body}\nret;\n}}\n"
        );
        std::fs::write(dir.path().join("k.ptx"), ptx).unwrap();
        let launch = format!("ptx = \"k.ptx\"\n{launch}\n");
        std::fs::write(dir.path().join("k.toml"), launch).unwrap();
        Files { dir }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("k.toml")
    }

    fn access(&self) -> AccessTrace {
        LaunchInput::at(&self.path())
            .access_trace(RunOptions::default())
            .unwrap()
    }

    /// The program of a warp of block 0.
    fn warp(&self, warp: u32) -> Vec<Instr> {
        let path = self.dir.path().join("k.spt");
        LaunchInput::at(&self.path())
            .full_trace(RunOptions::default(), &path)
            .unwrap();
        let file = TraceFile::open(&path).unwrap();
        let mut stream = file.open(0, warp).unwrap();
        let mut program = Vec::new();
        while let Some(part) = stream.next_part().unwrap() {
            program.extend(part.iter().cloned());
        }
        program
    }
}

fn active(trace: &AccessTrace, i: usize) -> Vec<u32> {
    trace.accesses[i].addrs.iter().copied().flatten().collect()
}

fn kinds(program: &[Instr]) -> Vec<InstrKind> {
    program.iter().map(|i| i.kind).collect()
}

#[test]
fn guards_branches_and_widths() {
    let files = Files::new(
        "grid = [1]\nblock = [40]",
        "setp.lt.u32 %p1, %r1, 4;\n\
         @%p1 st.shared.u32 [%r4], %r1;\n\
         @%p1 bra L;\n\
         st.shared.u16 [%r4], %r1;\n\
         L: bar.sync 0;\n\
         and.b32 %r5, %r4, 0xfffffff0; ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r5];",
    );
    let trace = files.access();
    // Warp 1 has eight threads, none of them below 4.
    let shape: Vec<_> = trace
        .accesses
        .iter()
        .map(|a| (a.warp, a.pc, a.bytes))
        .collect();
    assert_eq!(
        shape,
        [(0, 0, 4), (0, 1, 2), (1, 1, 2), (0, 2, 16), (1, 2, 16)]
    );
    assert_eq!(active(&trace, 0), [0, 1, 2, 3]);
    assert_eq!(active(&trace, 1), (4..32).collect::<Vec<_>>());
    assert_eq!(active(&trace, 4), [32, 32, 32, 32, 36, 36, 36, 36]);
    assert_eq!((trace.barriers.clone(), trace.shared_bytes), (vec![3], 512));
    assert_eq!(trace.places().of(0).ptx_line, Some(9));
    let one = files.warp(1);
    use InstrKind::{Alu, Bar, Branch, Exit, LdShared, Mov, StShared};
    let body = [Alu, Alu, Branch, StShared, Bar, Alu, LdShared, Exit];
    assert_eq!(kinds(&one), [&[Mov, Alu, Mov, Alu][..], &body].concat());
    let load = &one[10];
    assert_eq!((load.bytes, load.mask), (16, 0xff));
    assert!(load.srcs.as_slice().contains(&one[9].dst.unwrap()));
    // The guard of the store in warp 0 is a source.
    let store = &files.warp(0)[5];
    assert_eq!((store.kind, store.mask), (StShared, 0xf));
    assert_eq!(store.srcs.as_slice().len(), 3);
}

#[test]
fn products_of_matrices_have_their_size() {
    let files = Files::new(
        "grid = [1]\nblock = [32]",
        "mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, 0; mov.u32 %r8, 0; mov.u32 %r9, 0;\n\
         setp.lt.u32 %p1, %r1, 99; setp.ge.u32 %p2, %r1, 99;\n\
         @%p1 mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r5, %r6, %r7, %r8}, \
         {%r5, %r6, %r7, %r8}, {%r9, %r9}, {%r5, %r6, %r7, %r8};\n\
         @%p2 mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r5, %r6}, {%r7}, {%r8}, \
         {%r5, %r6};",
    );
    let program = files.warp(0);
    let product = &program[11];
    let work = Work {
        bits: 8,
        macs: 16 * 8 * 32,
        group: false,
    };
    assert_eq!(
        (product.kind, product.detail),
        (InstrKind::Mma, work.into())
    );
    assert_eq!(
        (product.mask, product.dst.is_some()),
        (u32::MAX.into(), true)
    );
    // No lane takes part.
    assert_eq!((program[12].kind, program[12].mask), (InstrKind::Alu, 0));
}

#[test]
fn threads_that_exit_are_gone() {
    let files = Files::new(
        "grid = [1]\nblock = [64]",
        "setp.ge.u32 %p1, %r1, 40;\nst.shared.u32 [%r4], %r1; bar.sync 0;\n@%p1 exit;\n\
         ld.shared.u32 %r5, [%r3];",
    );
    let trace = files.access();
    assert_eq!((trace.accesses.len(), trace.barriers), (4, vec![2]));
    let one = files.warp(1);
    assert_eq!((one[7].kind, one[7].mask), (InstrKind::Exit, 0xffff_ff00));
    let load = &one[8];
    assert_eq!((load.kind, load.mask), (InstrKind::LdShared, 0xff));
    assert_eq!(one[9].mask, 0xff);
}

#[test]
fn threads_that_exit_before_a_barrier_are_not_waited_for() {
    // Warp 2 leaves, and the upper lanes of warp 1, before the barrier.
    let files = Files::new(
        "grid = [2]\nblock = [96]",
        "setp.ge.u32 %p1, %r1, 40;\n@%p1 bra END;\nst.shared.u32 [%r4], %r1; bar.sync 0;\n\
         ld.shared.u32 %r5, [%r3];\nEND:",
    );
    let trace = files.access();
    assert_eq!((trace.accesses.len(), trace.barriers), (4, vec![2]));
    assert_eq!(active(&files.access(), 1), (32..40).collect::<Vec<_>>());
    let bars = |warp| {
        let program = files.warp(warp);
        let bars = program.iter().filter(|i| i.kind == InstrKind::Bar);
        bars.map(|i| i.mask).collect::<Vec<_>>()
    };
    assert_eq!((bars(0), bars(1)), (vec![u32::MAX.into()], vec![0xff]));
    assert!(bars(2).is_empty());
    // The SM does not wait for them either.
    let workload = crate::workload::LaunchWorkload::open(
        &LaunchInput::at(&files.path())
            .run(RunOptions::default())
            .unwrap(),
    )
    .unwrap();
    for preset in ["fermi", "sm80"] {
        let machine = spadkit_sm::config::Config::preset(preset).unwrap();
        let s = spadkit_sm::sm::Setup::default()
            .run(&machine, &workload)
            .unwrap();
        assert_eq!((s.blocks, s.bank_conflicts), (2, 0), "{preset}");
    }
}

#[test]
fn matrices_count_the_lanes_that_give_rows() {
    let files = Files::new(
        "grid = [1]\nblock = [32]",
        "st.shared.u32 [%r4], %r1; and.b32 %r5, %r1, 15; shl.b32 %r5, %r5, 4;\n\
         add.u32 %r5, %r5, %r3; bar.sync 0;\n\
         ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r6, %r7}, [%r5];",
    );
    let trace = files.access();
    assert_eq!(
        active(&trace, 1),
        (0..16).map(|row| 4 * row).collect::<Vec<_>>()
    );
    assert_eq!(trace.accesses[1].bytes, 16);
}

#[test]
fn markers_release_those_that_pass_them() {
    let body = |marker: &str, label: &str| {
        format!(
            "st.shared.u32 [%r4], %r1; setp.lt.u32 %p1, %r1, 8;\n@%p1 bra L;\n{marker}\n\
             {label} mov.u32 %r5, 1;\nL: mov.u32 %r6, 2;"
        )
    };
    let marker = ".pragma \"spadkit.relssp\";";
    let releases = |body: &str| {
        let files = Files::new("grid = [1]\nblock = [32]", body);
        let program = files.warp(0);
        let found = program.iter().filter(|i| i.kind == InstrKind::RelSsp);
        found.map(|i| i.mask).collect::<Vec<_>>()
    };
    // Behind a branch those that have not taken it, whatever comes next.
    assert_eq!(releases(&body(marker, "")), [0xffff_ff00]);
    assert_eq!(releases(&body(marker, "M:")), [0xffff_ff00]);
    // Behind a label all that come there.
    let at_label = body("", "").replace("L:", &format!("L: {marker}"));
    assert_eq!(
        releases(&at_label).iter().fold(0, |all, m| all | m),
        u64::from(u32::MAX)
    );
    assert!(releases(&body("", "")).is_empty());
}

#[test]
fn a_kernel_with_a_fault_has_no_trace() {
    let files = Files::new("grid = [1]\nblock = [32]", "st.shared.u32 [%r4+1000], %r1;");
    let to = files.dir.path().join("k.spt");
    let full = LaunchInput::at(&files.path())
        .full_trace(RunOptions::default(), &to)
        .unwrap_err();
    let access = LaunchInput::at(&files.path())
        .access_trace(RunOptions::default())
        .unwrap_err();
    for error in [full, access] {
        assert!(
            error.to_string().contains("out-of-bounds, line 8"),
            "{error}"
        );
        assert_eq!(error.exit_status(), 1);
    }
    assert!(!to.exists());
}

#[test]
fn blocks_are_chosen_by_their_linear_index() {
    let files = Files::new(
        "grid = [2, 2]\nblock = [32]\ntrace_block = 1",
        "mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ctaid.y; mad.lo.u32 %r5, %r6, 2, %r5;\n\
         shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r3; st.shared.u32 [%r5], %r1;",
    );
    let launch = LaunchInput::at(&files.path());
    let word = |options| active(&launch.access_trace(options).unwrap(), 0)[0];
    assert_eq!(word(RunOptions::default()), 1);
    assert_eq!([0, 3].map(|b| word(RunOptions::of_block(b))), [0, 3]);
    let error = launch.access_trace(RunOptions::of_block(4)).unwrap_err();
    assert!(error.to_string().contains("no block 4"), "{error}");
}

/// Three launches of one kernel, in which word w of the buffer is the place of
/// thread w in shared memory, and is doubled.
fn chain() -> Files {
    let launch = "grid = [1]\nblock = [32]\n[[arg]]\nname = \"p\"\ntype = \"u32\"\ncount = 48\n\
        init = \"fill\"\nvalue = 1\n[[then]]\nentry = \"k\"\ngrid = [1]\nblock = [32]\nargs = [\"p\"]\n\
        [[then]]\nentry = \"k\"\ngrid = [2]\nblock = [48]\nargs = [\"p\"]";
    let body = "ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n\
        ld.global.u32 %r5, [%rd1]; shl.b32 %r6, %r5, 2; add.u32 %r6, %r6, %r3;\n\
        st.shared.u32 [%r6], %r1;\nshl.b32 %r5, %r5, 1; st.global.u32 [%rd1], %r5;";
    Files::with(".param .u64 p", launch, body)
}

#[test]
fn a_later_launch_finds_the_buffers_as_they_are_then() {
    let files = chain();
    let named = |which: &str| PathBuf::from(format!("{}{which}", files.path().display()));
    for (which, word, warps) in [
        ("", 1, 1),
        (":0", 1, 1),
        (":1", 2, 1),
        (":2", 4, 2),
        (":k", 1, 1),
    ] {
        let trace = LaunchInput::at(&named(which))
            .access_trace(RunOptions::default())
            .unwrap();
        assert_eq!(active(&trace, 0), [word; 32], "{which}");
        assert_eq!(trace.accesses.len(), warps, "{which}");
        let to = files.dir.path().join("n.spt");
        let captured = LaunchInput::at(&named(which))
            .full_trace(RunOptions::default(), &to)
            .unwrap();
        let blocks = if which == ":2" { 2 } else { 1 };
        assert_eq!(captured.info.blocks, blocks, "{which}");
        assert_eq!(
            captured.summary.shared_accesses as usize,
            warps * blocks as usize
        );
    }
    // The second block of the third launch comes after the first.
    let last = LaunchInput::at(&named(":2"))
        .access_trace(RunOptions::of_block(1))
        .unwrap();
    assert_eq!((last.block_dim, active(&last, 0)[0]), ([48, 1, 1], 4));
    assert!(
        last.source.ends_with("k.toml, launch 2, block 1"),
        "{}",
        last.source
    );
    for which in [":3", ":other", ":"] {
        let error = LaunchInput::at(&named(which))
            .access_trace(RunOptions::default())
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains(&format!("no launch '{}'", &which[1..])),
            "{text}"
        );
        assert_eq!(error.exit_status(), 2);
    }
    let note = LaunchInput::at(&files.path()).note().unwrap();
    assert!(note.contains("has 3 launches"), "{note}");
    assert_eq!(LaunchInput::at(&named(":1")).note(), None);
}

#[test]
fn asynchronous_copies_load_and_store_and_are_waited_for() {
    let launch = "grid = [1]\nblock = [32]\n[[arg]]\nname = \"p\"\ntype = \"u32\"\ncount = 256";
    let copies = |wait: &str| {
        let body = format!(
            "ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n\
             cp.async.ca.shared.global [%r4], [%rd1], 4; cp.async.commit_group;\n\
             setp.lt.u32 %p1, %r1, 8; selp.u32 %r5, 4, 0, %p1;\n\
             cp.async.ca.shared.global [%r4+128], [%rd1+512], 4, %r5; cp.async.commit_group;\n\
             {wait} ld.shared.u32 %r6, [%r4];"
        );
        Files::with(".param .u64 p", launch, &body)
    };
    let cycles = |files: &Files| {
        let workload = crate::workload::LaunchWorkload::open(
            &LaunchInput::at(&files.path())
                .run(RunOptions::default())
                .unwrap(),
        )
        .unwrap();
        let machine = spadkit_sm::config::Config::preset("sm80").unwrap();
        let s = spadkit_sm::sm::Setup::default()
            .run(&machine, &workload)
            .unwrap();
        // Sectors of 32 bytes: of 32 words, and of 8.
        assert_eq!(s.global_segments, 5, "{s:?}");
        let latency = u64::from(machine.sm.global.latency);
        (s.cycles, s.stalls.async_copy, latency)
    };
    let files = copies("cp.async.wait_group 1; cp.async.wait_all;");
    let program = files.warp(0);
    let place = |kind| -> Vec<usize> {
        let all = 0..program.len();
        all.filter(|&i| program[i].kind == kind).collect()
    };
    let (loads, stores) = (place(InstrKind::LdGlobal), place(InstrKind::StShared));
    assert_eq!(loads.iter().map(|i| i + 1).collect::<Vec<_>>(), stores);
    assert_eq!(program[loads[0]].mask, u64::from(u32::MAX));
    // Of zero bytes nothing is read, but all is written.
    assert_eq!(
        (program[loads[1]].mask, program[stores[1]].mask),
        (0xff, u32::MAX.into())
    );
    // Each wait is for its group alone.
    let waits = &program[program.len() - 4..program.len() - 2];
    for (wait, load) in waits.iter().zip(loads) {
        let number = program[load].dst.unwrap();
        assert_eq!(
            (wait.kind, wait.srcs.as_slice()),
            (InstrKind::CopyWait, &[number][..])
        );
        let written = program.iter().filter(|i| i.dst == Some(number)).count();
        assert_eq!(written, 1, "a number that no register has");
    }
    // Who waits, waits for global memory.
    let (waiting, stalled, latency) = cycles(&files);
    let (going_on, none, _) = cycles(&copies(""));
    assert!(
        waiting > latency && stalled > latency / 2,
        "{waiting} {stalled}"
    );
    assert_eq!(none, 0, "nobody waits for a group");
    assert!(going_on <= waiting, "{going_on} {waiting}");
    let trace = files.access();
    assert_eq!(trace.accesses.len(), 3);
}

/// The tensor copies of a kernel of the kit move every byte of both matrices
/// once; its warps wait for them.
#[test]
fn bulk_copies_are_copies_of_the_trace() {
    let launch = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kernels/tma/tma_transpose.toml");
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("k.spt");
    let info = LaunchInput::at(&launch)
        .full_trace(RunOptions::default(), &to)
        .unwrap()
        .info;
    let file = TraceFile::open(&to).unwrap();
    let mut moved = [0, 0];
    let mut waits = 0;
    for (block, warp) in (0..info.blocks).flat_map(|b| (0..info.warps()).map(move |w| (b, w))) {
        let mut stream = file.open(block, warp).unwrap();
        while let Some(part) = stream.next_part().unwrap() {
            for instr in part.iter() {
                let waits_here = matches!(instr.detail, Detail::Mbarrier(BarrierOp::Wait, _));
                waits += u32::from(waits_here);
                if let Addresses::Copy(copy) = &instr.addrs {
                    let bytes = copy.global.iter().map(|(_, bytes)| bytes);
                    moved[usize::from(copy.stores)] += bytes.sum::<u64>();
                    assert_eq!(copy.shared[0].1, 32 * 32 * 4);
                    assert_eq!(copy.arrives.is_some(), !copy.stores);
                }
            }
        }
    }
    assert_eq!(moved, [40 * 52 * 4; 2]);
    assert_eq!(waits, info.blocks * info.warps());
    let machine = spadkit_sm::config::Config::preset("sm90").unwrap();
    let s = spadkit_sm::sm::Setup::default()
        .run(&machine, &file)
        .unwrap();
    // Every block waits for its loads at least.
    assert!(
        s.stalls.mbarrier > u64::from(machine.sm.global.latency),
        "{s:?}"
    );
}

/// The accesses of one block and the programs of all, from one run, are those of two.
#[test]
fn one_run_records_both() {
    let launch = |options: &str| {
        format!(
            "grid = [2]\nblock = [48]\n{options}\n[[arg]]\nname = \"p\"\ntype = \"u32\"\ncount = 1"
        )
    };
    // The second block stores where the first one counted to.
    let body = "ld.param.u64 %rd1, [p]; atom.global.add.u32 %r5, [%rd1], 1; shl.b32 %r6, %r5, 2;\n\
        and.b32 %r6, %r6, 252; add.u32 %r6, %r6, %r3; st.shared.u32 [%r6], %r1; bar.sync 0;";
    for (options, together) in [("", true), ("trace_block = 1", false)] {
        let files = Files::with(".param .u64 p", &launch(options), body);
        let input = LaunchInput::at(&files.path());
        let [both, alone] = ["both.spt", "alone.spt"].map(|name| files.dir.path().join(name));
        let run = input.run(RunOptions::default()).unwrap();
        let (trace, captured) = run.both(&both).unwrap();
        assert_eq!(captured.is_some(), together, "{options}");
        assert_eq!(trace.to_json(), run.access_trace().unwrap().to_json());
        run.full_trace(&alone).unwrap();
        if together {
            assert_eq!(std::fs::read(both).unwrap(), std::fs::read(alone).unwrap());
        }
    }
    // Only the second block is wrong: the accesses of the first are not.
    let body = "mov.u32 %r5, %ctaid.x; shl.b32 %r5, %r5, 12; add.u32 %r5, %r5, %r4;\n\
        st.shared.u32 [%r5], %r1;";
    let files = Files::new("grid = [2]\nblock = [32]", body);
    let input = LaunchInput::at(&files.path());
    let run = input.run(RunOptions::default()).unwrap();
    let (trace, captured) = run.both(&files.dir.path().join("k.spt")).unwrap();
    assert_eq!(trace.accesses.len(), 1);
    assert!(captured.is_none());
}
