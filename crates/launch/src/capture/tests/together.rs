//! Barriers of a part of the block, and what blocks of a cluster do to each other.

use super::*;
use spadkit_sm::config::Config;
use spadkit_sm::sm::{MbarrierOp, Meeting, Setup, Share, Statistics, Unit};

/// The kernel of a launch on a machine.
fn run(files: &Files, setup: &Setup, preset: &str) -> Result<Statistics> {
    let path = files.dir.path().join("k.spt");
    LaunchInput::at(&files.path()).full_trace(RunOptions::default(), &path)?;
    let machine = Config::preset(preset)?;
    setup.run(&machine, &TraceFile::open(&path)?)
}

fn barriers(program: &[Instr]) -> Vec<Meeting> {
    let of = |i: &Instr| match i.detail {
        Detail::Barrier(meeting) => Some(meeting),
        _ => None,
    };
    program.iter().filter_map(of).collect()
}

#[test]
fn a_barrier_of_a_part_of_the_block_has_its_threads() {
    let files = Files::new(
        "grid = [1]\nblock = [96]",
        "setp.lt.u32 %p1, %r1, 64;\n@!%p1 bra L;\nst.shared.u32 [%r4], %r1; bar.sync 1, 64;\n\
         ld.shared.u32 %r5, [%r4];\nL: bar.sync 0; ld.shared.u32 %r6, [%r3];",
    );
    let trace = files.access();
    assert_eq!((trace.accesses.len(), trace.barriers), (7, vec![4]));
    let part = Meeting {
        threads: 64,
        ..Meeting::of_block(1)
    };
    let all = Meeting::of_block(0);
    assert_eq!(barriers(&files.warp(0)), [part, all]);
    assert_eq!(barriers(&files.warp(2)), [all]);
}

/// The number and the count may be in registers, and two barriers open at a time.
#[test]
fn barriers_are_known_by_their_registers() {
    let files = Files::new(
        "grid = [1]\nblock = [128]",
        "shr.u32 %r5, %r1, 6; add.u32 %r5, %r5, 1; mov.u32 %r6, 64;\n\
         setp.lt.u32 %p1, %r1, 96; @!%p1 bra A; bar.sync %r5, %r6; bra E;\n\
         A: bar.arrive %r5, %r6; E:",
    );
    let part = |number, arrives| Meeting {
        threads: 64,
        arrives,
        ..Meeting::of_block(number)
    };
    let of = |warp| barriers(&files.warp(warp));
    assert_eq!((of(0), of(1)), (vec![part(1, false)], vec![part(1, false)]));
    assert_eq!((of(2), of(3)), (vec![part(2, false)], vec![part(2, true)]));
}

/// Two warps load and store, two wait for them and compute, the others only compute. Whether
/// these end first in the functional run, and whether all meet at the end, changes nothing.
#[test]
fn a_consumer_waits_for_its_producer_alone() {
    let chain = |n: usize| "mad.lo.u32 %r9, %r9, %r9, 1;\n".repeat(n);
    let kernel = |beside: usize, end: &str| {
        let body = format!(
            "ld.param.u64 %rd1, [p]; setp.ge.u32 %p2, %r1, 128; @%p2 bra OUT;\n\
             setp.ge.u32 %p1, %r1, 64; @%p1 bra CONS;\n\
             ld.global.u32 %r5, [%rd1]; st.shared.u32 [%r4], %r5; bar.arrive 1, 128; bra END;\n\
             CONS: bar.sync 1, 128; ld.shared.u32 %r9, [%r4+-256];\n{}bra END;\n\
             OUT:\n{}END: {end}",
            chain(60),
            chain(beside)
        );
        let launch = "grid = [1]\nblock = [192]\n[[arg]]\nname = \"p\"\ntype = \"u32\"\ncount = 1";
        Files::with(".param .u64 p", launch, &body)
    };
    let cycles = |beside, end| {
        let files = kernel(beside, end);
        run(&files, &Setup::default(), "sm80").unwrap().cycles
    };
    let alone = cycles(1, "");
    assert!((650..750).contains(&alone), "{alone}");
    // The chain beside takes 600 cycles, and had held up the consumers.
    let beside = cycles(150, "");
    assert!(beside.abs_diff(alone) < 20, "{alone} {beside}");
    // With a barrier at the end they had not waited at all.
    let met = cycles(150, "bar.sync 0;");
    assert!((alone..alone + 40).contains(&met), "{alone} {met}");
}

/// A kernel of clusters of two, in which each block reads `loads` words of its neighbour, one
/// after another.
fn clusters(loads: usize, space: &str) -> Files {
    let one = format!("ld.{space}.u32 %r7, [%r6]; and.b32 %r9, %r7, 0; add.u32 %r6, %r6, %r9;\n");
    let dir = tempfile::tempdir().unwrap();
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 tile[512];\n\
         .visible .entry k() .reqnctapercluster 2, 1, 1 {{\n.reg .b32 %r<20>;\n\
         mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.u32 %r4, %r3, %r2;\n\
         st.shared.u32 [%r4], %r1;\n\
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n\
         mov.u32 %r5, %cluster_ctarank; xor.b32 %r5, %r5, 1;\n\
         mapa.shared::cluster.u32 %r6, %r4, %r5;\n{}\n{}\
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\nret;\n}}\n",
        if space == "shared" {
            "mov.u32 %r6, %r4;"
        } else {
            ""
        },
        one.repeat(loads)
    );
    std::fs::write(dir.path().join("k.ptx"), ptx).unwrap();
    let launch = "ptx = \"k.ptx\"\ngrid = [2]\nblock = [32]\n";
    std::fs::write(dir.path().join("k.toml"), launch).unwrap();
    Files { dir }
}

#[test]
fn a_load_from_another_block_takes_longer_than_one_from_the_own() {
    let run = |loads, space| run(&clusters(loads, space), &Setup::default(), "sm90").unwrap();
    let none = run(0, "shared::cluster");
    assert_eq!((none.remote_accesses, none.cluster_barriers), (0, 4));
    let (remote, local) = (run(16, "shared::cluster"), run(16, "shared"));
    assert_eq!((remote.remote_accesses, local.remote_accesses), (32, 0));
    let each = |s: Statistics| (s.cycles - none.cycles) / 16;
    // Both have the two instructions between the loads.
    assert!((180..200).contains(&each(remote)), "{}", each(remote));
    assert!((25..45).contains(&each(local)), "{}", each(local));
    let trace = clusters(16, "shared::cluster").access();
    assert_eq!((trace.accesses.len(), trace.remote_accesses()), (1, 16));
    assert_eq!(clusters(16, "shared").access().remote_accesses(), 0);
    // Each reads what the lanes of the other block have written, all of the first 128 bytes.
    let reached = |trace: AccessTrace| -> Vec<(u32, u32)> {
        let sites = trace.remote_sites().into_iter();
        sites.map(|site| (site.offset, site.bytes)).collect()
    };
    assert_eq!(reached(trace), [(0, 128); 16]);
    assert_eq!(reached(clusters(16, "shared").access()), []);
}

/// What `st.async` and `red.async` write in the other block; the barriers there are no array.
#[test]
fn asynchronous_stores_are_sites_of_other_blocks() {
    for store in ["st.async.weak", "red.async.relaxed.cluster"] {
        let add = if store.starts_with("red") { ".add" } else { "" };
        let dir = tempfile::tempdir().unwrap();
        let ptx = format!(
            ".version 8.6\n.target sm_90\n.address_size 64\n\
             .shared .align 8 .b64 bar; .shared .align 16 .b8 tile[256];\n\
             .visible .entry k() .reqnctapercluster 2, 1, 1 {{\n.reg .b32 %r<9>; .reg .pred %p<3>;\n\
             mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 0; shl.b32 %r1, %r0, 2;\n\
             mov.u32 %r2, tile; add.u32 %r3, %r2, %r1; st.shared.u32 [%r3], 0; mov.u32 %r4, bar;\n\
             @%p1 mbarrier.init.shared::cta.b64 [%r4], 1; fence.mbarrier_init.release.cluster;\n\
             barrier.cluster.arrive; barrier.cluster.wait;\n\
             @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 128;\n\
             mov.u32 %r5, %cluster_ctarank; xor.b32 %r5, %r5, 1;\n\
             mapa.shared::cluster.u32 %r6, %r3, %r5; mapa.shared::cluster.u32 %r7, %r4, %r5;\n\
             {store}.shared::cluster.mbarrier::complete_tx::bytes{add}.u32 [%r6], %r0, [%r7];\n\
             W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r4], 0;\n\
             @!%p2 bra W; barrier.cluster.arrive; barrier.cluster.wait;\nret;\n}}\n"
        );
        std::fs::write(dir.path().join("k.ptx"), ptx).unwrap();
        let launch = "ptx = \"k.ptx\"\ngrid = [2]\nblock = [32]\n";
        std::fs::write(dir.path().join("k.toml"), launch).unwrap();
        let trace = Files { dir }.access();
        assert_eq!(trace.remote_accesses(), 1, "{store}");
        let sites = trace.remote_sites();
        assert_eq!(sites.len(), 1, "{store}: {sites:?}");
        assert_eq!((sites[0].offset, sites[0].bytes), (16, 128), "{store}");
    }
}

#[test]
fn blocks_of_a_cluster_do_not_share() {
    let share = Setup {
        sharing: Some(Share::All(0.1)),
        ..Setup::default()
    };
    let refused = |files: &Files, preset| {
        let error = run(files, &share, preset).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        error.to_string()
    };
    let error = refused(&clusters(1, "shared::cluster"), "sm90");
    assert!(error.contains("they run in clusters of 2"), "{error}");
    let launch = "grid = [2]\nblock = [32]\ncooperative = true";
    let body = "st.shared.u32 [%r4], %r1;";
    let error = refused(&Files::new(launch, body), "sm80");
    assert!(error.contains("the launch is cooperative"), "{error}");
    // In clusters of one nobody waits for another block.
    let alone = Files::new("grid = [2]\nblock = [32]", body);
    assert!(run(&alone, &share, "sm80").is_ok());
}

/// A kernel of clusters of two, whose threads do `act` and wait for phase 0 of their block's
/// `mbarrier` of so many arrivals. `%r4` is the thread's word, `%r5` the mbarrier, `%r6` and
/// `%r7` those of the other block, and `%rd1` points to 512 bytes of global memory.
fn waiting(arrivals: u32, act: &str) -> Files {
    let dir = tempfile::tempdir().unwrap();
    let ptx = format!(
        ".version 8.1\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 tile[512];\n\
         .shared .align 8 .b64 bar;\n\
         .visible .entry k(.param .u64 p) .reqnctapercluster 2, 1, 1 {{\n\
         .reg .b16 %h<3>; .reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .pred %p<4>;\n\
         ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile;\n\
         add.u32 %r4, %r3, %r2; mov.u32 %r5, bar; setp.eq.u32 %p1, %r1, 0;\n\
         mov.u32 %r8, %cluster_ctarank; xor.b32 %r9, %r8, 1;\n\
         mapa.shared::cluster.u32 %r6, %r4, %r9; mapa.shared::cluster.u32 %r7, %r5, %r9;\n\
         @%p1 mbarrier.init.shared::cta.b64 [%r5], {arrivals};\n\
         @%p1 fence.mbarrier_init.release.cluster;\n\
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n{act}\n\
         W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], 0; @!%p2 bra W;\n\
         ld.shared.u32 %r10, [%r4];\n\
         barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\nret;\n}}\n"
    );
    std::fs::write(dir.path().join("k.ptx"), ptx).unwrap();
    let launch = "ptx = \"k.ptx\"\ngrid = [2]\nblock = [32]\n\
                  [[arg]]\nname = \"p\"\ntype = \"u32\"\ncount = 128\n";
    std::fs::write(dir.path().join("k.toml"), launch).unwrap();
    Files { dir }
}

/// What blocks of a cluster send to each other arrives: with the latency of a remote access,
/// and a copy with that of global memory.
#[test]
fn what_blocks_of_a_cluster_send_arrives() {
    let cycles = |arrivals, act: &str| {
        let files = waiting(arrivals, act);
        run(&files, &Setup::default(), "sm90").unwrap().cycles
    };
    let expect =
        |bytes: u32| format!("@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], {bytes};\n");
    let send = "async.shared::cluster.mbarrier::complete_tx::bytes";
    let own = "st.shared.u32 [%r4], %r1; mbarrier.arrive.shared::cta.b64 _, [%r5];";
    let own = cycles(32, own);
    let store = |to: &str| cycles(1, &format!("{}st.{send}.u32 {to};", expect(128)));
    let add =
        format!("red.{send}.add.u32 [%r6], %r1, [%r7];").replace("async", "async.relaxed.cluster");
    let zero = "st.shared.u32 [%r4], 0; barrier.cluster.arrive.aligned; \
                barrier.cluster.wait.aligned;\n";
    let all = [
        store("[%r4], %r1, [%r5]"),
        store("[%r6], %r1, [%r7]"),
        cycles(1, &format!("{zero}{}{add}", expect(128))),
        cycles(
            32,
            "st.shared.u32 [%r4], %r1;\n\
             mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r7];",
        ),
    ];
    for took in all {
        assert!(
            (own + 150..own + 300).contains(&took),
            "{took} {own} {all:?}"
        );
    }
    let copy = format!(
        "{}setp.eq.u32 %p3, %r8, 0; and.pred %p3, %p3, %p1; mov.b16 %h1, 3;\n\
         @%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes\
         .multicast::cluster [%r3], [%rd1], 512, [%r5], %h1;",
        expect(512)
    );
    let took = cycles(1, &copy);
    assert!((own + 280..own + 400).contains(&took), "{took} {own}");
    // Each block has 32 bytes of the other's in its trace.
    let files = waiting(
        1,
        &format!("{}st.{send}.u32 [%r6], %r1, [%r7];", expect(128)),
    );
    let path = files.dir.path().join("k.spt");
    LaunchInput::at(&files.path())
        .full_trace(RunOptions::default(), &path)
        .unwrap();
    let file = TraceFile::open(&path).unwrap();
    for block in 0..2 {
        let all = file.incoming(block).unwrap();
        let one = MbarrierOp::Complete { bytes: 4 };
        assert!(
            all.len() == 32
                && all
                    .iter()
                    .all(|i| (i.object, i.phase, i.op) == (512, 0, one))
        );
    }
}

/// Which loads do not take what the L1 has, and to which unit arithmetic goes.
#[test]
fn loads_name_their_cache_and_arithmetic_its_unit() {
    let of = |body: &str| {
        let launch = "grid = [1]\nblock = [32]\n[[arg]]\nname = \"p\"\ntype = \"u32\"\ncount = 32";
        let start = "ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1;\n";
        let files = Files::with(".param .u64 p", launch, &format!("{start}{body}"));
        let program = files.warp(0);
        program[program.len() - 2].detail
    };
    let load = |words: &str| of(&format!("ld{words}.u32 %r5, [%rd2];"));
    for near in [
        "",
        ".global",
        ".global.ca",
        ".global.nc",
        ".relaxed.cta.global",
    ] {
        assert_eq!(load(near), Detail::None, "{near}");
    }
    let past = ".global.cg .global.cv .volatile.global .relaxed.gpu.global .acquire.sys.global \
                .global.L1::no_allocate .volatile";
    for past in past.split_whitespace() {
        assert_eq!(load(past), Detail::PastL1 { writes: false }, "{past}");
    }
    let atom = of("atom.global.add.u32 %r5, [%rd2], 1; st.shared.u32 [%r4], %r5;");
    assert_eq!(atom, Detail::None);
    assert_eq!(
        of("atom.global.add.u32 %r5, [%rd2], 1;"),
        Detail::PastL1 { writes: true }
    );
    let units = [
        ("fma.rn.f32 %r5, %r1, %r1, %r1;", Detail::None),
        ("mad.lo.u32 %r5, %r1, %r1, %r1;", Detail::None),
        ("xor.b32 %r5, %r1, %r2;", Detail::Unit(Unit::Integer)),
        ("setp.lt.f32 %p1, %r1, %r2;", Detail::Unit(Unit::Integer)),
        (
            "fma.rn.f64 %rd3, %rd1, %rd1, %rd1;",
            Detail::Unit(Unit::Double),
        ),
        ("cvt.u64.u32 %rd3, %r1;", Detail::Unit(Unit::Free)),
        (
            "shfl.sync.idx.b32 %r5, %r1, 0, 31, -1;",
            Detail::Unit(Unit::Exchange),
        ),
        ("ex2.approx.f32 %r5, %r1;", Detail::None),
    ];
    for (text, unit) in units {
        assert_eq!(of(text), unit, "{text}");
    }
}
