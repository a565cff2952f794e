//! Atomics of vectors, and cache policies.

use super::*;

/// A vector is as its elements one by one.
#[test]
fn atomics_of_vectors_are_those_of_their_elements() {
    for (vector, scalar, register, count) in [
        ("v2.f32.add", "f32.add", "%f", 2),
        ("v4.f32.add", "f32.add", "%f", 4),
        ("v4.bf16x2.add.noftz", "bf16x2.add.noftz", "%r1", 4),
        ("v2.f16x2.max.noftz", "f16x2.max.noftz", "%r1", 2),
    ] {
        let names: Vec<String> = (1..=count).map(|n| format!("{register}{n}")).collect();
        let load: String = names
            .iter()
            .enumerate()
            .map(|(n, name)| format!("ld.global.b32 {name}, [%rd1+{}];\n", 4 * n))
            .collect();
        let list = names.join(", ");
        let one_by_one: String = names
            .iter()
            .enumerate()
            .map(|(n, name)| format!("red.global.{scalar} [%base+{}], {name};\n", 16 + 4 * n))
            .collect();
        // Words 0 to 3 are the vector's, 4 to 7 the scalars'; then numbers.
        let ty = if register == "%f" { "f32" } else { "b32" };
        let body = format!(
            "mad.wide.u32 %rd1, %t, 16, %base; add.u64 %rd1, %rd1, 32; {load}
             red.global.{vector} [%base], {{{list}}}; {one_by_one}
             bar.sync 0; setp.eq.u32 %p1, %t, 0;
             @%p1 atom.global.{vector} {{{list}}}, [%base], {{{list}}};
             @%p1 st.global.v{count}.{ty} [%rd1], {{{list}}}; ret;"
        );
        let number = |n: u32| match register {
            "%f" => ((n + 1) as f32 * 0.37).to_bits(),
            _ => 0x3c00_4000 + n * 0x0011_0007,
        };
        let words: Vec<u32> = (0..8).map(|_| 0).chain((0..160).map(number)).collect();
        let run = run_with(&kernel(&body), [40, 1, 1], [1, 1, 1], &words, |_, _| {});
        assert_eq!(run.outcome.findings, [], "{vector}");
        // Thread 0 got what was there: the sums of the scalars.
        assert_eq!(run.words[8..8 + count], run.words[4..4 + count], "{vector}");
        if register == "%f" {
            assert_ne!(run.words[0], run.words[4], "{vector}");
        }
    }
    let misaligned = kernel("red.global.v2.f32.add [%base+4], {%f1, %f2}; ret;");
    let run = run_with(&misaligned, [1, 1, 1], [1, 1, 1], &[0; 4], |_, _| {});
    assert_eq!(kinds(&run), [FindingKind::Misaligned]);
}

/// A policy may be made, passed and ignored.
#[test]
fn policies_of_caches_change_nothing() {
    let body = kernel(
        "createpolicy.fractional.L2::evict_first.b64 %rd1, 0.5;
         createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %rd2, [%base], 64, 128;
         applypriority.global.L2::evict_normal [%base], 128;
         ld.global.L2::cache_hint.u32 %r1, [%out], %rd1; add.u32 %r1, %r1, %t;
         st.global.L2::cache_hint.u32 [%out], %r1, %rd2; ret;",
    );
    let run = run_with(&body, [40, 1, 1], [1, 1, 1], &[0; 40], |_, _| {});
    assert_eq!(run.outcome.findings, []);
    assert_eq!(run.words, (0..40).collect::<Vec<u32>>());
}
