//! Tests of the executor.

mod bulk;
mod bytes;
mod clusters;
mod flow;
mod forms;
mod heap;
mod limits;
mod mbarriers;
mod order;
mod pairs;
mod ptxas;
mod refused;
mod tensor;
mod tensor_map;
mod texture;
mod values;
mod video;

use super::*;
use crate::ptx::Module;

/// Runs the entry `k` of a module with one buffer as its only parameter.
struct Run {
    outcome: Outcome,
    words: Vec<u32>,
}

fn run_with(
    body: &str,
    block: [u32; 3],
    grid: [u32; 3],
    words: &[u32],
    change: impl Fn(&mut Options, &mut Launch),
) -> Run {
    let text = format!(".version 8.5\n.target sm_80\n.address_size 64\n{body}");
    let module = Module::parse(&text, "t.ptx").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = Program::new(&module).unwrap();
    let mut memory = Memory::new();
    let bytes = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let buffer = memory.alloc("out", bytes);
    let mut options = Options {
        threads: 1,
        limit: 50_000_000,
        ..Options::default()
    };
    let mut launch = Launch {
        entry: "k".to_owned(),
        grid,
        block,
        dynamic_shared: 0,
        params: memory.address(buffer).to_le_bytes().to_vec(),
    };
    change(&mut options, &mut launch);
    let outcome = program
        .run(&mut memory, &launch, &options)
        .unwrap_or_else(|e| panic!("{:?}", miette::Report::new(e)));
    let words = memory
        .bytes(buffer)
        .chunks(4)
        .map(|c| u32::from_le_bytes(c.try_into().unwrap()));
    Run {
        outcome,
        words: words.collect(),
    }
}

/// Body of an entry: `%out` is the address of the thread's word, `%t` the
/// thread.
fn threads(body: &str, count: u32, words: usize) -> Run {
    run_with(
        &kernel(body),
        [count, 1, 1],
        [1, 1, 1],
        &vec![0; words],
        |_, _| {},
    )
}

/// One block of `count` threads, with the search for races.
fn races(body: &str, count: u32) -> Run {
    let text = kernel(body);
    run_with(
        &text,
        [count, 1, 1],
        [1, 1, 1],
        &vec![0; count as usize],
        |o, _| o.races = true,
    )
}

fn kernel(body: &str) -> String {
    format!(
        ".visible .entry k(.param .u64 p) {{
         .reg .b64 %out, %base, %rd<20>; .reg .b32 %t, %r<40>; .reg .pred %p<10>;
         .reg .f32 %f<10>; .reg .b16 %h<10>; .reg .f64 %d<10>;
         ld.param.u64 %base, [p]; mov.u32 %t, %tid.x;
         mad.wide.u32 %out, %t, 4, %base;
         {body}
         }}"
    )
}

fn kinds(run: &Run) -> Vec<FindingKind> {
    run.outcome.findings.iter().map(|f| f.kind).collect()
}

#[test]
fn every_thread_writes_its_word() {
    let run = threads(
        "add.u32 %r1, %t, 7; st.global.u32 [%out], %r1; ret;",
        70,
        70,
    );
    assert_eq!(run.words, (7..77).collect::<Vec<u32>>());
    assert_eq!(
        (
            run.outcome.warp_instructions,
            run.outcome.thread_instructions
        ),
        (18, 420)
    );
    assert_eq!(run.outcome.findings, []);
}

#[test]
fn blocks_run_in_parallel_with_the_same_result() {
    let body = kernel(
        "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r3, %r1, %r2, %t;
         mad.wide.u32 %rd1, %r3, 4, %base; mul.lo.u32 %r4, %r3, %r3; st.global.u32 [%rd1], %r4;
         red.global.add.u32 [%base], 1; ret;",
    );
    let run = |n: usize| {
        run_with(&body, [64, 1, 1], [100, 1, 1], &[0; 6400], |o, _| {
            o.threads = n
        })
    };
    let (one, two) = (run(1), run(2));
    assert!(one.words == two.words && one.words[0] == 6400 && one.words[6399] == 6399 * 6399);
    assert_eq!(
        one.outcome.thread_instructions,
        two.outcome.thread_instructions
    );
}

#[test]
fn loops_of_different_length_meet_again() {
    // Every lane counts down from its own number; all sum in a vote at the end.
    let run = threads(
        "mov.u32 %r1, %t; mov.u32 %r2, 0;
         L: setp.eq.u32 %p1, %r1, 0; @%p1 bra D;
         add.u32 %r2, %r2, %r1; sub.u32 %r1, %r1, 1; bra L;
         D: vote.sync.ballot.b32 %r3, 1, 0xffffffff;
         setp.ne.u32 %p2, %r3, -1; @%p2 mov.u32 %r2, 99;
         st.global.u32 [%out], %r2; ret;",
        32,
        32,
    );
    assert_eq!(
        run.words,
        (0..32).map(|n| n * (n + 1) / 2).collect::<Vec<u32>>()
    );
}

#[test]
fn lanes_exit_early_and_others_go_on() {
    let run = threads(
        "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 5;
         @%p1 st.global.u32 [%out], %r2; @%p1 exit;
         setp.gt.u32 %p2, %t, 16; @%p2 bra B; st.global.u32 [%out], 6; ret;
         B: st.global.u32 [%out], 7; ret;",
        32,
        32,
    );
    let expected = |t: u32| {
        if t.is_multiple_of(2) {
            5
        } else if t > 16 {
            7
        } else {
            6
        }
    };
    assert_eq!(run.words, (0..32).map(expected).collect::<Vec<u32>>());
}

#[test]
fn irreducible_flow_and_branch_tables() {
    let run = threads(
        "and.b32 %r1, %t, 3; mov.u32 %r5, 0;
         ts: .branchtargets A, B, C, A;
         brx.idx %r1, ts;
         A: add.u32 %r5, %r5, 1; setp.gt.u32 %p1, %r5, 20; @%p1 bra E;
         B: add.u32 %r5, %r5, 2; setp.gt.u32 %p1, %r5, 20; @%p1 bra E; bra.uni A;
         C: add.u32 %r5, %r5, 10; bra.uni B;
         E: st.global.u32 [%out], %r5; ret;",
        32,
        32,
    );
    let expected = |t: u32| {
        let (mut x, mut at) = (0, ["a", "b", "c", "a"][t as usize & 3]);
        loop {
            match at {
                "a" => {
                    x += 1;
                    at = "b";
                    if x > 20 {
                        return x;
                    }
                }
                "b" => {
                    x += 2;
                    at = "a";
                    if x > 20 {
                        return x;
                    }
                }
                _ => {
                    x += 10;
                    at = "b";
                }
            }
        }
    };
    assert_eq!(run.words, (0..32).map(expected).collect::<Vec<u32>>());
}

const REDUCTION: &str = "
    .shared .align 4 .b8 tile[512];
    .visible .entry k(.param .u64 p) {
    .reg .b64 %rd<5>; .reg .b32 %r<20>; .reg .pred %p<5>;
    ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, tile;
    shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %r1;
    mov.u32 %r5, 64;
    L: BARRIER
    setp.ge.u32 %p1, %r1, %r5; @%p1 bra N;
    shl.b32 %r6, %r5, 2; add.u32 %r7, %r4, %r6; ld.shared.u32 %r8, [%r7];
    ld.shared.u32 %r9, [%r4]; add.u32 %r9, %r9, %r8; st.shared.u32 [%r4], %r9;
    N: shr.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra L;
    setp.ne.u32 %p3, %r1, 0; @%p3 ret;
    ld.shared.u32 %r9, [tile]; st.global.u32 [%rd1], %r9; ret; }";

#[test]
fn barriers_order_shared_memory_and_races_are_found() {
    let good = REDUCTION.replace("BARRIER", "bar.sync 0;");
    let run = run_with(&good, [128, 1, 1], [1, 1, 1], &[0], |o, _| o.races = true);
    assert_eq!((run.words[0], run.outcome.findings), (127 * 64, vec![]));
    let bad = REDUCTION.replace("BARRIER", "");
    let run = run_with(&bad, [128, 1, 1], [1, 1, 1], &[0], |o, _| o.races = true);
    let race = run
        .outcome
        .findings
        .iter()
        .find(|f| f.kind == FindingKind::Race)
        .unwrap();
    assert_eq!(
        (race.ptx_line, race.variable.as_deref()),
        (13, Some("tile")),
        "{race:?}"
    );
    assert!(run.outcome.findings.iter().any(|f| f.other));
}

#[test]
fn bad_accesses_are_found_with_their_place() {
    let run = threads("st.global.u32 [%out], 1; ret;", 32, 20);
    let finding = &run.outcome.findings[0];
    assert_eq!(
        (finding.kind, finding.address, finding.thread),
        (FindingKind::OutOfBounds, Some(80), [20, 0, 0])
    );
    assert_eq!(
        (finding.variable.as_deref(), run.outcome.findings.len()),
        (Some("out"), 1)
    );
    assert_eq!(run.words, [1; 20]);
    let run = threads("st.global.u32 [%out+2], 1; ret;", 2, 20);
    assert_eq!(kinds(&run), [FindingKind::Misaligned]);
    let run = threads(
        "ld.global.u32 %r1, [8]; st.global.u32 [%base+-4], %r1; ret;",
        2,
        20,
    );
    assert_eq!(kinds(&run), [FindingKind::Null, FindingKind::OutOfBounds]);
    let run = threads(
        ".shared .b32 s[4]; ld.shared.u32 %r1, [s+4]; ld.shared.u32 %r1, [s+16]; ret;",
        2,
        20,
    );
    assert_eq!(
        kinds(&run),
        [FindingKind::Uninitialised, FindingKind::OutOfBounds]
    );
}

#[test]
fn bad_barriers_and_endless_loops_are_found() {
    let run = threads(
        "setp.lt.u32 %p1, %t, 5; @%p1 bra A; bar.sync 0; A: bar.sync 0; ret;",
        32,
        1,
    );
    assert!(
        kinds(&run).contains(&FindingKind::DivergentBarrier),
        "{:?}",
        run.outcome.findings
    );
    let run = threads("L: add.u32 %r1, %r1, 1; bra L; ret;", 32, 1);
    assert_eq!(kinds(&run), [FindingKind::Limit]);
    assert!(
        run.outcome.findings[0].message.contains("running"),
        "{:?}",
        run.outcome.findings
    );
    let run = threads("setp.eq.u32 %p1, %t, 3; @%p1 trap; ret;", 32, 1);
    assert_eq!(
        (kinds(&run), run.outcome.findings[0].thread),
        (vec![FindingKind::Trap], [3, 0, 0])
    );
}

/// Kinds of the findings, and whether they are warnings.
fn warned(run: &Run) -> Vec<(FindingKind, bool)> {
    let findings = run.outcome.findings.iter();
    findings.map(|f| (f.kind, f.warning)).collect()
}

#[test]
fn threads_that_have_exited_hold_no_barrier_up() {
    // A warp, and a part of one: by a guard, and by a branch to the last
    // instruction, as compilers write `if (t >= 40) return;`.
    for leave in ["@%p1 ret;", "@%p1 exit;", "@%p1 bra END;"] {
        let body = format!(
            ".shared .b32 s[64]; mov.u32 %r2, s; mad.lo.u32 %r3, %t, 4, %r2;
             setp.ge.u32 %p1, %t, 40; {leave} st.shared.u32 [%r3], %t; mov.u32 %r5, 0;
             L: bar.sync 0; xor.b32 %r4, %r3, 4; add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 3;
             @%p2 bra L; ld.shared.u32 %r1, [%r4]; st.global.u32 [%out], %r1;
             END: ret;"
        );
        let run = threads(&body, 96, 96);
        let found = [(FindingKind::BarrierNotReached, true)];
        assert_eq!(warned(&run), found, "{leave}");
        let message = &run.outcome.findings[0].message;
        assert!(message.starts_with("56 threads"), "{message}");
        let expected: Vec<u32> = (0..40).map(|t| t ^ 1).collect();
        assert_eq!((&run.words[..40], run.words[40]), (&expected[..], 0));
    }
}

#[test]
fn threads_that_never_come_are_a_fault() {
    let cases = [
        // At another barrier.
        "setp.lt.u32 %p1, %t, 32; @%p1 bra A; bar.sync 0; bra E; A: bar.sync 1; E: ret;",
        // The barrier names more threads than are left.
        "setp.lt.u32 %p1, %t, 32; @%p1 ret; bar.sync 0, 96; ret;",
        // Some have exited, and the others wait at different barriers: both.
        "setp.lt.u32 %p1, %t, 32; @%p1 ret; bar.sync 0; setp.lt.u32 %p1, %t, 64; @%p1 bra A;
         bar.sync 0; bra E; A: bar.sync 1; E: ret;",
    ];
    for (body, both) in cases.into_iter().zip([false, false, true]) {
        let run = threads(body, 96, 1);
        let warning = [(FindingKind::BarrierNotReached, true)];
        let fault = [(FindingKind::BarrierNotReached, false)];
        let expected = [&warning[..usize::from(both)], &fault].concat();
        assert_eq!(warned(&run), expected, "{:?}", run.outcome.findings);
    }
    // Those that go on are not there, even if they exit afterwards.
    let run = threads(
        "setp.lt.u32 %p1, %t, 5; @%p1 bra A; bar.sync 0; A: st.global.u32 [%out], %t; ret;",
        32,
        32,
    );
    let divergent = (FindingKind::DivergentBarrier, false);
    assert!(warned(&run).contains(&divergent), "{:?}", warned(&run));
    // Nor are those whom no check of bounds turns away.
    let run = threads(
        "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 1; @%p1 bra END; bar.sync 0; END: ret;",
        32,
        1,
    );
    assert!(warned(&run).contains(&divergent), "{:?}", warned(&run));
}

#[test]
fn a_guarded_barrier_holds_only_the_lanes_of_the_guard() {
    let run = threads(
        "setp.lt.u32 %p1, %t, 5; mov.u32 %r1, 1; @%p1 barrier.sync 1, 5; add.u32 %r1, %r1, %t;
         st.global.u32 [%out], %r1; ret;",
        32,
        32,
    );
    let expected = (1..33).collect::<Vec<u32>>();
    assert_eq!(run.words, expected);
    // A GPU takes multiples of 32 for the count.
    assert_eq!(kinds(&run), [FindingKind::InvalidBarrier]);
}

#[test]
fn barriers_reduce_and_count() {
    // Warp 1 only arrives; warp 0 waits for both.
    let run = threads(
        "setp.lt.u32 %p1, %t, 32; and.b32 %r1, %t, 1; setp.eq.u32 %p2, %r1, 0;
         bar.red.popc.u32 %r2, 0, %p2; bar.red.and.pred %p3, 0, %p2; selp.u32 %r3, 100, 200, %p3;
         add.u32 %r2, %r2, %r3; @%p1 bra A; bar.arrive 3, 64; bra E; A: bar.sync 3, 64;
         E: st.global.u32 [%out], %r2; ret;",
        64,
        64,
    );
    assert_eq!((run.words, run.outcome.findings), (vec![232; 64], vec![]));
}

#[test]
fn a_lock_inside_a_warp_makes_progress() {
    let run = threads(
        "L: atom.global.cas.b32 %r1, [%base], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L;
         ld.global.u32 %r2, [%base+4]; add.u32 %r2, %r2, 1; st.global.u32 [%base+4], %r2;
         atom.global.exch.b32 %r3, [%base], 0; bar.sync 0; ret;",
        64,
        4,
    );
    assert_eq!(
        (run.words[..2].to_vec(), run.outcome.findings),
        (vec![0, 64], vec![])
    );
}

#[test]
fn exchanges_inside_the_warp() {
    let run = threads(
        "shfl.sync.down.b32 %r1|%p1, %t, 4, 31, -1; shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
         and.b32 %r3, %t, 3; match.any.sync.b32 %r4, %r3, -1; popc.b32 %r5, %r4;
         redux.sync.add.s32 %r6, %t, -1; selp.u32 %r7, 1, 0, %p1;
         mad.lo.u32 %r8, %r2, 1000, %r6; mad.lo.u32 %r8, %r5, 1000000, %r8;
         mad.lo.u32 %r8, %r7, 10000000, %r8; st.global.u32 [%out], %r8; ret;",
        32,
        32,
    );
    let down = |t: u32| if t + 4 < 32 { t + 4 } else { t };
    let expected =
        |t: u32| u32::from(t + 4 < 32) * 10_000_000 + 8_000_000 + down(t ^ 1) * 1000 + 496;
    assert_eq!(run.words, (0..32).map(expected).collect::<Vec<u32>>());
}

#[test]
fn lanes_of_different_paths_wait_for_each_other() {
    // Both sides of the branch name all lanes.
    let run = threads(
        "setp.lt.u32 %p1, %t, 16; @%p1 bra A;
         bar.warp.sync -1; mov.u32 %r1, 1; bra E;
         A: mov.u32 %r1, 2; bar.warp.sync -1;
         E: st.global.u32 [%out], %r1; ret;",
        32,
        32,
    );
    let expected: Vec<u32> = (0..32).map(|t| if t < 16 { 2 } else { 1 }).collect();
    assert_eq!((run.words, run.outcome.findings), (expected, vec![]));
}

const CALLS: &str = "
    .func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %r<3>;
      ld.param.u32 %r1, [a]; add.u32 %r1, %r1, %r1; st.param.u32 [r], %r1; ret; }
    .func (.param .b32 r) odd(.param .b32 a) { .reg .b32 %r<3>; .reg .pred %p;
      ld.param.u32 %r1, [a]; and.b32 %r2, %r1, 4; setp.ne.u32 %p, %r2, 0; @%p bra Q;
      st.param.u32 [r], 1000; ret;
      Q: { .param .b32 x; .param .b32 y; st.param.u32 [x], %r1;
      call.uni (y), twice, (x); ld.param.u32 %r1, [y]; } add.u32 %r1, %r1, 500;
      st.param.u32 [r], %r1; ret; }
    .global .u64 table[2] = {twice, odd};";

#[test]
fn calls_through_pointers_diverge() {
    let body = kernel(
        "and.b32 %r1, %t, 1; mov.u64 %rd1, table; mad.wide.u32 %rd2, %r1, 8, %rd1;
         ld.global.u64 %rd3, [%rd2];
         { .param .b32 x; .param .b32 y; st.param.u32 [x], %t;
         proto: .callprototype (.param .b32 _) _ (.param .b32 _);
         call (y), %rd3, (x), proto; ld.param.u32 %r5, [y]; }
         st.global.u32 [%out], %r5; ret;",
    );
    let run = run_with(
        &format!("{CALLS}{body}"),
        [32, 1, 1],
        [1, 1, 1],
        &[0; 32],
        |_, _| {},
    );
    let expected = |t: u32| match (t % 2, t & 4) {
        (0, _) => 2 * t,
        (_, 0) => 1000,
        _ => 2 * t + 500,
    };
    assert_eq!(run.words, (0..32).map(expected).collect::<Vec<u32>>());
}

#[test]
fn what_is_not_supported_is_listed_before_the_run() {
    let text = ".version 8.5\n.target sm_80\n.address_size 64\n.global .texref a; .entry k() { .reg .b32 %r<9>;\n\
                mma.sync.aligned.m8n8k4.row.col.f32.f32 {%r1}, {%r2};\n\
                tex.2d.v4.f32.f32 {%r1}, [a, {%r2}];\nret; }\n\
                .func f() {\n call f;\n ret; }\n.entry g() {\n call f;\n ret; }";
    let module = Module::parse(text, "t.ptx").unwrap();
    let help = |entry: &str| match module.check_supported(entry) {
        Err(crate::error::Error::Input(e)) => (e.line, e.help.clone().unwrap()),
        other => panic!("{other:?}"),
    };
    let (line, text) = help("k");
    assert_eq!(line, 5);
    assert!(
        text.contains("line 5: mma") && text.contains("line 6: tex"),
        "{text}"
    );
    assert!(help("g").1.contains("recursion"), "{}", help("g").1);
    assert!(
        Program::new(&module)
            .unwrap()
            .run(
                &mut Memory::new(),
                &Launch {
                    entry: "nobody".to_owned(),
                    grid: [1; 3],
                    block: [1; 3],
                    dynamic_shared: 0,
                    params: vec![],
                },
                &Options::default()
            )
            .unwrap_err()
            .to_string()
            .contains("no entry nobody")
    );
}

/// Every entry of the kernels' PTX can be decoded.
#[test]
fn the_kernels_are_supported() {
    for (name, text) in crate::ptx::tests::corpus() {
        let module = Module::parse(&text, &name).unwrap();
        let program = Program::new(&module).unwrap();
        for entry in program.entries() {
            if let Err(error) = program.check(entry) {
                panic!("{name}: {:?}", miette::Report::new(error));
            }
        }
    }
}
