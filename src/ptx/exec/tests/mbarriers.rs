//! `mbarrier` in kernels: pipelines, order, and what is wrong with their use.

use super::*;

/// Warp 0 fills two buffers in turn, the others read them: `full` and `empty`
/// barriers of each.
const PIPELINE: &str = ".shared .align 8 .b64 bars[4]; .shared .align 4 .b8 data[256];
    mov.u32 %r1, bars; mov.u32 %r2, data; setp.ne.u32 %p1, %t, 0; @%p1 bra S;
    mbarrier.init.shared::cta.b64 [%r1], 32; mbarrier.init.shared::cta.b64 [%r1+8], 32;
    mbarrier.init.shared::cta.b64 [%r1+16], 64; mbarrier.init.shared::cta.b64 [%r1+24], 64;
    S: bar.sync 0; mov.u32 %r3, 0; mov.u32 %r10, 0; and.b32 %r11, %t, 31; shl.b32 %r12, %r11, 2;
    LOOP: and.b32 %r4, %r3, 1; shl.b32 %r5, %r4, 3; add.u32 %r5, %r5, %r1;
    shl.b32 %r6, %r4, 7; add.u32 %r6, %r6, %r2; add.u32 %r6, %r6, %r12;
    shr.u32 %r7, %r3, 1; and.b32 %r7, %r7, 1; setp.lt.u32 %p2, %t, 32; @!%p2 bra CONSUME;
    xor.b32 %r8, %r7, 1;
    W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5+16], %r8; @!%p3 bra W;
    add.u32 %r9, %r3, %r11; st.shared.u32 [%r6], %r9; ARRIVE
    bra NEXT;
    CONSUME:
    V: mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r5], %r7; @!%p3 bra V;
    ld.shared.u32 %r9, [%r6]; add.u32 %r10, %r10, %r9;
    mbarrier.arrive.shared::cta.b64 _, [%r5+16];
    NEXT: add.u32 %r3, %r3, 1; setp.lt.u32 %p4, %r3, 10; @%p4 bra LOOP;
    st.global.u32 [%out], %r10; ret;";

#[test]
fn a_pipeline_runs_and_its_waits_order_memory() {
    let arrive = "mbarrier.arrive.shared::cta.b64 %rd9, [%r5];";
    let run = races(&PIPELINE.replace("ARRIVE", arrive), 96);
    let expected = |t: u32| if t < 32 { 0 } else { 45 + 10 * (t % 32) };
    assert_eq!(run.outcome.findings, []);
    assert_eq!(run.words, (0..96).map(expected).collect::<Vec<u32>>());
    // An arrival that does not release orders nothing.
    let relaxed = "mbarrier.arrive.relaxed.cta.shared::cta.b64 %rd9, [%r5];";
    let run = races(&PIPELINE.replace("ARRIVE", relaxed), 96);
    assert!(kinds(&run).contains(&FindingKind::Race));
}

#[test]
fn a_phase_that_never_completes_is_a_deadlock_with_its_barrier() {
    let run = races(&PIPELINE.replace("ARRIVE", ""), 96);
    let finding = &run.outcome.findings[0];
    assert_eq!(finding.kind, FindingKind::BarrierNotReached);
    assert_eq!(
        (finding.variable.as_deref(), finding.address),
        (Some("bars"), Some(16))
    );
    for part in [
        "64 threads wait for phase 0 of the mbarrier at byte 0",
        "32 of 32 arrivals",
        "byte 16",
    ] {
        assert!(finding.message.contains(part), "{}", finding.message);
    }
}

const INIT: &str = ".shared .align 8 .b64 bar; setp.ne.u32 %p1, %t, 0;
    @!%p1 mbarrier.init.shared.b64 [bar], 32; bar.sync 0;";

#[test]
fn misuse_of_a_barrier_is_found() {
    let cases = [
        ("mbarrier.arrive.shared.b64 %rd1, [bar], 33;", "33 arrivals"),
        (
            "mbarrier.inval.shared.b64 [bar]; mbarrier.arrive.shared.b64 _, [bar];",
            "initialised",
        ),
        ("mbarrier.arrive.shared.b64 _, [bar+4];", "multiple of 8"),
        (
            "mbarrier.arrive.shared.b64 _, [bar+8];",
            "of which the block has 8",
        ),
        ("mbarrier.arrive.b64 _, [%base];", "not in shared memory"),
        (
            "mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 0x100000;",
            "bytes to come",
        ),
        (
            "mbarrier.arrive.noComplete.shared.b64 %rd1, [bar], 1;",
            "noComplete",
        ),
        ("mbarrier.init.shared.b64 [bar], 0;", "count of 0"),
        ("mbarrier.init.shared.b64 [bar], 1;", "again"),
        (
            "mbarrier.arrive.shared.b64 %rd1, [bar]; mbarrier.arrive.shared.b64 %rd2, [bar];
             mbarrier.test_wait.shared.b64 %p2, [bar], %rd1;",
            "phase 0, and the barrier is in phase 2",
        ),
        (
            "mbarrier.arrive.shared.b64 _, [bar];
             mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0, 1000;
             mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;",
            "parity not flipped",
        ),
    ];
    for (body, message) in cases {
        let run = races(&format!("{INIT} {body} ret;"), 32);
        let found = run
            .outcome
            .findings
            .iter()
            .any(|f| f.message.contains(message));
        assert!(found, "{body}: {:?}", run.outcome.findings);
    }
    let run = races(
        ".shared .align 8 .b64 bar; mbarrier.arrive.shared.b64 _, [bar]; ret;",
        1,
    );
    assert!(
        run.outcome.findings[0]
            .message
            .contains("has not been initialised")
    );
}

#[test]
fn states_counts_and_dropped_threads() {
    // The upper half leaves; the phases after it wait for the others alone.
    let run = races(
        &format!(
            "{INIT} setp.ge.u32 %p2, %t, 16; @%p2 bra DROP;
             mbarrier.arrive.shared.b64 %rd1, [bar]; mbarrier.pending_count.b64 %r1, %rd1;
             W: mbarrier.test_wait.shared.b64 %p3, [bar], %rd1; @!%p3 bra W;
             mbarrier.arrive.shared.b64 %rd1, [bar]; mbarrier.pending_count.b64 %r2, %rd1;
             V: mbarrier.try_wait.shared.b64 %p3, [bar], %rd1; @!%p3 bra V;
             mad.lo.u32 %r1, %r2, 100, %r1; st.global.u32 [%out], %r1; ret;
             DROP: mbarrier.arrive_drop.shared.b64 _, [bar]; ret;"
        ),
        32,
    );
    assert_eq!(run.outcome.findings, []);
    // Which half comes first is open: all counts of the second phase are not.
    let second: Vec<u32> = run.words[..16].iter().map(|w| w / 100).collect();
    assert_eq!(second, (1..17).rev().collect::<Vec<u32>>());
}

#[test]
fn copies_arrive_at_a_barrier() {
    let body = |wait: &str| {
        format!(
            ".shared .align 16 .b8 tile[128]; {INIT} mov.u32 %r1, tile; shl.b32 %r2, %t, 2;
             add.u32 %r1, %r1, %r2; st.global.u32 [%out], %t;
             cp.async.ca.shared.global [%r1], [%out], 4;
             cp.async.mbarrier.arrive.noinc.shared.b64 [bar]; {wait}
             ld.shared.u32 %r3, [%r1]; add.u32 %r3, %r3, 5; st.global.u32 [%out], %r3; ret;"
        )
    };
    let run = races(
        &body("W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W;"),
        32,
    );
    assert_eq!(run.outcome.findings, []);
    assert_eq!(run.words, (5..37).collect::<Vec<u32>>());
    assert!(kinds(&races(&body(""), 32)).contains(&FindingKind::Race));
}
