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

/// Each side of a race has its own scope, if that is what is too narrow.
#[test]
fn atomics_of_too_narrow_a_scope_name_it() {
    let scopes = |one: &str, other: &str| {
        let text = kernel(&format!(
            "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0;
             @%p1 atom.relaxed.{one}.global.add.u32 %r2, [%base], 1;
             @!%p1 atom.relaxed.{other}.global.add.u32 %r2, [%base], 1; ret;"
        ));
        let run = run_with(&text, [1, 1, 1], [2, 1, 1], &[0], |options, _| {
            options.global_races = true;
        });
        let findings = run.outcome.findings.into_iter();
        findings.map(|f| (f.scope, f.message)).collect::<Vec<_>>()
    };
    let of = |scope: &str| Some(scope.to_owned());
    let found = scopes("cta", "gpu");
    assert_eq!(found[0].0, of(".cta"));
    assert!(
        found[0].1.contains("by an atomic of scope .cta"),
        "{found:?}"
    );
    assert_eq!(found[1].0, None);
    assert!(
        found[1].1.contains("the other side has scope .cta"),
        "{found:?}"
    );
    let found = scopes("cta", "cta");
    assert_eq!([&found[0].0, &found[1].0], [&of(".cta"), &of(".cta")]);
    assert_eq!(scopes("gpu", "sys"), []);
}
