//! Descriptors that lead out, warpgroups that are none, factors that are
//! written too early.

use super::*;

/// A kernel around a product of `m64n8k16`, whose factors are zeros.
fn kernel(before: &str, product: &str, behind: &str) -> String {
    format!(
        ".version 8.8\n.target sm_90a\n.address_size 64\n.entry k(.param .u64 p) {{
         .reg .b64 %da, %db; .reg .b32 %t, %u, %w, %s; .reg .f32 %f<4>; .reg .pred %p, %q;
         .shared .align 1024 .b8 s[8192];
         mov.u32 %t, %tid.x; mov.u32 %u, %t; shr.u32 %w, %t, 5; mov.b32 %f0, 0; mov.b32 %f1, 0;
         mov.b32 %f2, 0; mov.b32 %f3, 0; mov.u32 %s, s;
         L: shl.b32 %s, %u, 2; st.shared.b32 [%s], 0; add.u32 %u, %u, %ntid.x;
         setp.lt.u32 %q, %u, 2048; @%q bra L;
         mov.u32 %s, s; fence.proxy.async; bar.sync 0; setp.eq.u32 %p, %w, 0;
         mov.b64 %da, {DESCRIPTOR}; mov.b64 %db, {DESCRIPTOR};
         {before}
         {product}
         {behind}
         ret; }}"
    )
}

/// Start 0, 128 and 256 bytes.
const DESCRIPTOR: u64 = 8 << 16 | 16 << 32;
const PRODUCT: &str = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %da,
     %db, 0, 1, 1, 0, 0;";
const COMMIT: &str = "wgmma.commit_group.sync.aligned;";
const WAIT: &str = "wgmma.wait_group.sync.aligned 0;";

fn run(text: &str, threads: u32) -> Vec<Finding> {
    let (_, outcome) = run_block(text, &[0; 2], threads, |o| o.races = true);
    outcome.findings
}

fn expect(text: &str, threads: u32, kind: FindingKind, message: &str) {
    let found = run(text, threads);
    let hit = |f: &Finding| f.kind == kind && f.message.contains(message);
    assert!(found.iter().any(hit), "{message}: {found:?}");
}

#[test]
fn what_is_right_has_no_findings() {
    let twice = format!("{COMMIT} {PRODUCT} {COMMIT} wgmma.wait_group.sync.aligned 1; {WAIT}");
    assert_eq!(run(&kernel("", PRODUCT, &twice), 256), []);
}

#[test]
fn descriptors_are_checked() {
    let behind = format!("{COMMIT} {WAIT}");
    let with = |before: &str| kernel(before, PRODUCT, &behind);
    let outside = with("add.u64 %db, %db, 511;");
    let text = "load of 16 bytes at byte 8192 of shared memory, of which the block has 8192";
    expect(&outside, 128, FindingKind::OutOfBounds, text);
    let unused = with("add.u64 %da, %da, 0x4000;");
    let text = "the descriptor of a is 0x0000001000084000, which sets unused bits (0x4000)";
    expect(&unused, 128, FindingKind::InvalidWgmma, text);
    assert!(
        run(&unused, 128).iter().all(|f| f.warning),
        "bits that mean nothing"
    );
    let lanes = with("mov.u32 %u, %laneid; cvt.u64.u32 %da, %u;");
    let text = "the descriptor of a is 0x1 in lane 1 and 0x0 in lane 0";
    expect(&lanes, 128, FindingKind::InvalidWgmma, text);
    let warps = with("@%p add.u64 %db, %db, 1;");
    let text = "warp 1 executes it with other operands than the warps before it: descriptors \
                0x1000080000 and 0x1000080000, not 0x1000080000 and 0x1000080001";
    expect(&warps, 128, FindingKind::InvalidWgmma, text);
    // What nobody has written.
    let unwritten = with("")
        .replace("L: shl.b32", "bra.uni M; L: shl.b32")
        .replace("mov.u32 %s, s; fence", "M: mov.u32 %s, s; fence");
    expect(
        &unwritten,
        128,
        FindingKind::Uninitialised,
        "no thread of the block has written",
    );
}

#[test]
fn warpgroups_are_whole() {
    let behind = format!("{COMMIT} {WAIT}");
    let text = "the block has 96 threads, and the warpgroup of warp 0 is warps 0 to 3";
    expect(
        &kernel("", PRODUCT, &behind),
        96,
        FindingKind::InvalidWgmma,
        text,
    );
    let one_warp = kernel("@!%p bra E;", PRODUCT, &format!("{behind} E:"));
    let text = "warp 1 does not execute it, and another warp of its warpgroup does";
    expect(&one_warp, 128, FindingKind::InvalidWgmma, text);
    let branches = format!("@%p bra F; {PRODUCT} bra.uni E; F: {PRODUCT} E:");
    let text = "warp 1 executes it, and another warp of its warpgroup the one at PTX line";
    expect(
        &kernel("", &branches, &behind),
        128,
        FindingKind::InvalidWgmma,
        text,
    );
    let lanes = kernel("setp.ne.u32 %q, %t, 5;", &format!("@%q {PRODUCT}"), &behind);
    expect(
        &lanes,
        128,
        FindingKind::InvalidMask,
        "only lanes 0xffffffdf execute it",
    );
}

/// A factor may be written again when all who read it have waited.
#[test]
fn factors_are_read_until_somebody_has_waited() {
    let store = "st.shared.b32 [%s], 1;";
    let race = |behind: &str, message: &str| {
        let text = kernel("", PRODUCT, behind);
        expect(&text, 128, FindingKind::Race, message);
    };
    let unawaited = "its warp has not waited for the wgmma";
    race(
        &format!("{COMMIT} bar.sync 0; @%p {store} {WAIT}"),
        unawaited,
    );
    // Not committed, so not waited for.
    race(
        &format!("{WAIT} bar.sync 0; @%p {store} {COMMIT}"),
        unawaited,
    );
    race(
        &format!(
            "{COMMIT} {PRODUCT} {COMMIT} wgmma.wait_group.sync.aligned 1; bar.sync 0; @%p {store}"
        ),
        unawaited,
    );
    race(
        &format!("{COMMIT} {WAIT} @%p {store}"),
        "without a barrier between",
    );
    let fine = format!("{COMMIT} {WAIT} bar.sync 0; setp.eq.u32 %q, %t, 0; @%q {store}");
    assert_eq!(run(&kernel("", PRODUCT, &fine), 128), []);
    // Written by another warp, without a barrier.
    let early = kernel(
        &format!("setp.eq.u32 %q, %t, 0; @%q {store}"),
        PRODUCT,
        COMMIT,
    );
    expect(&early, 128, FindingKind::Race, "without a barrier between");
}
