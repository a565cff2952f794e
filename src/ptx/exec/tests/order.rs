//! What orders accesses to shared memory: locks, flags, barriers of atomics.

use super::*;

/// A counter under a lock, once for every sixteenth thread.
const LOCK: &str = ".shared .b32 lock; .shared .b32 n;
    setp.ne.u32 %p1, %t, 0; @%p1 bra S; st.shared.u32 [lock], 0; st.shared.u32 [n], 0;
    S: bar.sync 0; and.b32 %r1, %t, 15; setp.ne.u32 %p1, %r1, 0; @%p1 bra E;
    L: atom.shared.cas.b32 %r1, [lock], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L; FENCE
    ld.shared.u32 %r2, [n]; add.u32 %r2, %r2, 1; st.shared.u32 [n], %r2; FENCE
    UNLOCK
    E: bar.sync 0; ld.shared.u32 %r2, [n]; st.global.u32 [%out], %r2; ret;";

#[test]
fn a_lock_orders_what_is_done_under_it() {
    let unlocks = [
        "atom.shared.exch.b32 %r3, [lock], 0;",
        "st.volatile.shared.u32 [lock], 0;",
        "st.relaxed.cta.shared.u32 [lock], 0;",
    ];
    for fence in ["membar.cta;", "fence.acq_rel.cta;", "fence.sc.cta;"] {
        for unlock in unlocks {
            let body = LOCK.replace("FENCE", fence).replace("UNLOCK", unlock);
            let run = races(&body, 96);
            assert_eq!(run.outcome.findings, [], "{body}");
            assert_eq!(run.words, [6; 96]);
        }
    }
    let body = LOCK.replace("FENCE", "").replace("UNLOCK", unlocks[0]);
    assert!(kinds(&races(&body, 96)).contains(&FindingKind::Race));
    // Without fences, by what the accesses say.
    let body = LOCK
        .replace("FENCE", "")
        .replace("atom.shared.cas", "atom.acquire.cta.shared.cas");
    let body = body.replace("UNLOCK", "st.release.cta.shared.u32 [lock], 0;");
    assert_eq!(races(&body, 96).outcome.findings, []);
}

#[test]
fn flags_and_barriers_of_atomics_order() {
    let flag = |store: &str, load: &str, fence: &str| {
        let body = ".shared .b32 flag; .shared .b32 data;
         setp.ne.u32 %p1, %t, 0; @%p1 bra S; st.shared.u32 [flag], 0;
         S: bar.sync 0; @%p1 bra W; st.shared.u32 [data], 9; FENCE STORE; bra E;
         W: setp.lt.u32 %p2, %t, 32; @%p2 bra E;
         P: LOAD; setp.eq.u32 %p2, %r1, 0; @%p2 bra P; FENCE ld.shared.u32 %r2, [data];
         st.global.u32 [%out], %r2; E: ret;";
        let body = body.replace("FENCE", fence).replace("STORE", store);
        races(&body.replace("LOAD", load), 64)
    };
    let run = flag(
        "st.volatile.shared.u32 [flag], 1",
        "ld.volatile.shared.u32 %r1, [flag]",
        "membar.cta;",
    );
    assert_eq!((&run.outcome.findings[..], run.words[63]), (&[][..], 9));
    let run = flag(
        "st.release.cta.shared.u32 [flag], 1",
        "ld.acquire.cta.shared.u32 %r1, [flag]",
        "",
    );
    assert_eq!(run.outcome.findings, []);
    let run = flag(
        "st.relaxed.cta.shared.u32 [flag], 1",
        "ld.relaxed.cta.shared.u32 %r1, [flag]",
        "",
    );
    assert!(kinds(&run).contains(&FindingKind::Race));
    // As cuda::barrier of sm_75: all arrive by an atomic, and wait for the word.
    let run = races(
        ".shared .b32 n; .shared .b8 s[512]; .shared .b32 zero;
         setp.ne.u32 %p1, %t, 0; @%p1 bra S; st.shared.u32 [n], 0; S: bar.sync 0;
         mov.u32 %r3, s; shl.b32 %r4, %t, 2; add.u32 %r4, %r4, %r3; st.shared.u32 [%r4], %t;
         fence.acq_rel.cta; atom.shared.add.u32 %r1, [n], 1;
         P: ld.relaxed.cta.shared.u32 %r1, [n]; setp.lt.u32 %p2, %r1, 128; @%p2 bra P;
         fence.acq_rel.cta; sub.u32 %r5, 127, %t; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r3;
         ld.shared.u32 %r6, [%r5]; st.global.u32 [%out], %r6; ret;",
        128,
    );
    assert_eq!(run.outcome.findings, []);
    assert_eq!(run.words, (0..128).rev().collect::<Vec<u32>>());
}

#[test]
fn lanes_that_execute_an_instruction_one_after_the_other_are_not_at_once() {
    let turns = |sync: &str| {
        let body = ".shared .b32 last; mov.u32 %r1, 0;
         L: setp.ne.u32 %p1, %r1, %t; @!%p1 st.shared.u32 [last], %t; SYNC
         add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 32; @%p2 bra L; ret;";
        kinds(&races(&body.replace("SYNC", sync), 32))
    };
    assert_eq!(turns(""), [FindingKind::Race; 2]);
    assert_eq!(turns("bar.warp.sync -1;"), []);
}
