//! Bulk copies: against the bytes that they have to copy, and misuse.

use super::*;

fn run(body: &str) -> Run {
    let words: Vec<u32> = (0..256).collect();
    run_with(&kernel(body), [64, 1, 1], [1, 1, 1], &words, |o, _| {
        o.races = true
    })
}

/// One thread brings 256 bytes in, all double them, one sends them out.
const ROUND: &str = ".shared .align 8 .b64 bar; .shared .align 16 .b8 tile[256];
    mov.u32 %r1, tile; mov.u32 %r2, bar; setp.ne.u32 %p1, %t, 0; @%p1 bra S;
    mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], EXPECTED;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%base], 256, [%r2];
    S: bar.sync 0;
    WAIT
    shl.b32 %r3, %t, 2; add.u32 %r3, %r3, %r1; ld.shared.u32 %r4, [%r3]; add.u32 %r4, %r4, %r4;
    st.shared.u32 [%r3], %r4; fence.proxy.async.shared::cta; bar.sync 0; @%p1 bra E;
    OUT
    cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; E: ret;";
const WAIT: &str = "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0; @!%p2 bra W;";
const OUT: &str = "cp.async.bulk.global.shared::cta.bulk_group [%base+512], [%r1], 256;";

fn round(expected: &str, wait: &str, out: &str) -> Run {
    run(&ROUND
        .replace("EXPECTED", expected)
        .replace("WAIT", wait)
        .replace("OUT", out))
}

#[test]
fn bytes_go_in_and_out() {
    let done = round("256", WAIT, OUT);
    assert_eq!(done.outcome.findings, []);
    let expected: Vec<u32> = (0..64).map(|n| 2 * n).collect();
    assert_eq!(done.words[128..192], expected);
    assert!((0..256).all(|n| (128..192).contains(&n) || done.words[n] == n as u32));
    let sum = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%base+512], [%r1], 256;";
    let done = round("256", WAIT, sum);
    let expected: Vec<u32> = (0..64).map(|n| 2 * n + 128 + n).collect();
    assert_eq!(
        (&done.words[128..192], done.outcome.findings),
        (&expected[..], vec![])
    );
    // Within shared memory, and smaller numbers stay.
    let least = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 128;
        cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.min.u32
          [%r1], [%r1+128], 128, [%r2];
        mbarrier.arrive.shared::cta.b64 _, [%r2]; ";
    let done = round("256", WAIT, &format!("{least}{OUT}"));
    let expected: Vec<u32> = (0..64).map(|n| 2 * n).collect();
    assert_eq!(done.words[128..192], expected);
}

#[test]
fn misuse_of_bulk_copies_is_found() {
    let found = |run: Run, kind, text: &str| {
        let hit = |f: &Finding| f.kind == kind && f.message.contains(text);
        assert!(
            run.outcome.findings.iter().any(hit),
            "{text}: {:?}",
            run.outcome.findings
        );
    };
    // Nobody waits.
    found(round("256", "", OUT), FindingKind::Race, "waited");
    // More is expected than comes.
    let short = round("272", WAIT, OUT);
    found(short, FindingKind::BarrierNotReached, "16 bytes");
    for (out, kind, text) in [
        (
            OUT.replace("256;", "250;"),
            FindingKind::Misaligned,
            "250 bytes",
        ),
        (
            OUT.replace("[%r1]", "[%r1+16]"),
            FindingKind::OutOfBounds,
            "the block has",
        ),
        (
            OUT.replace("[%r1]", "[%r1+8]"),
            FindingKind::Misaligned,
            "shared memory",
        ),
        (
            OUT.replace("+512", "+516"),
            FindingKind::Misaligned,
            "of out",
        ),
        (
            OUT.replace("+512", "+896"),
            FindingKind::OutOfBounds,
            "inside one",
        ),
    ] {
        found(round("256", WAIT, &out), kind, text);
    }
}

#[test]
fn what_is_missing_is_named() {
    let refused = |instruction: &str| {
        let text = format!(
            ".version 8.6\n.target sm_100a\n.address_size 64\n.entry k() {{ .reg .b64 %d; .reg .b32 \
             %r; {instruction} ret; }}"
        );
        let module = Module::parse(&text, "t.ptx").unwrap();
        match module.check_supported("k") {
            Err(crate::error::Error::Input(e)) => e.help.clone().unwrap(),
            other => panic!("{other:?}"),
        }
    };
    let help = refused("tcgen05.wait::ld.sync.aligned;");
    assert!(help.contains("tensor memory"), "{help}");
}
