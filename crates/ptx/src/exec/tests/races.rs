//! How races are counted.

use super::*;

/// Lanes of one store write to the first byte of a shared variable, others to the first
/// byte of a buffer.
#[test]
fn places_of_shared_and_of_global_memory_are_counted_apart() {
    let text = kernel(
        ".shared .align 4 .b8 s[4];
         mov.u64 %rd1, s; cvta.shared.u64 %rd1, %rd1; setp.lt.u32 %p1, %t, 2;
         selp.b64 %rd2, %rd1, %base, %p1; st.u32 [%rd2], %t; ret;",
    );
    let run = run_with(&text, [4, 1, 1], [1, 1, 1], &[0], |options, _| {
        options.global_races = true;
    });
    let findings = run.outcome.findings;
    let races = findings.iter().filter(|f| f.kind == FindingKind::Race);
    let counts: Vec<Option<u64>> = races.map(|f| f.count).collect();
    assert_eq!(counts, [Some(2), Some(2)]);
}
