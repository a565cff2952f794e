//! Values of 128 bits: against Rust's `u128`.

use super::*;

/// Words 8 and 9 of the 16 of each thread are two values; the rest is for results.
const WORDS: usize = 32;

fn values(run: &Run, thread: usize, at: usize) -> u128 {
    let words = &run.words[WORDS * thread + at..][..4];
    words
        .iter()
        .rev()
        .fold(0, |all, w| all << 32 | u128::from(*w))
}

fn with_values(threads: usize) -> Vec<u32> {
    let mut state = 7u32;
    let mut random = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        state
    };
    (0..threads * WORDS).map(|_| random()).collect()
}

fn run_pairs(body: &str, threads: u32) -> (Run, Vec<u32>) {
    let words = with_values(threads as usize);
    let text = kernel(&format!(
        ".reg .b128 %q<8>; .local .align 16 .b8 own[32]; .shared .align 16 .b8 all[1024];
         mad.wide.u32 %out, %t, {}, %base; {body} ret;",
        4 * WORDS
    ));
    let run = run_with(&text, [threads, 1, 1], [1, 1, 1], &words, |_, _| {});
    (run, words)
}

#[test]
fn they_are_loaded_moved_and_stored() {
    let (run, words) = run_pairs(
        "ld.global.b128 %q1, [%out]; ld.b128 %q2, [%out+16];
         st.global.b128 [%out+32], %q2; st.b128 [%out+48], %q1;
         mov.b128 {%rd1, %rd2}, %q1; mov.b128 {%rd3, _}, %q2;
         add.u64 %rd1, %rd1, 1;
         mov.b128 %q3, {%rd2, %rd1}; mov.b128 %q4, %q3;
         mov.u64 %rd9, own; cvta.local.u64 %rd10, %rd9;
         st.local.b128 [own+16], %q4; ld.b128 %q5, [%rd10+16];
         shl.b32 %r1, %t, 4; mov.u32 %r2, all; add.u32 %r2, %r2, %r1;
         st.shared.b128 [%r2], %q5; ld.volatile.shared.b128 %q6, [%r2];
         st.global.b128 [%out+64], %q6; st.global.u64 [%out+80], %rd3;
         setp.lt.u32 %p1, %t, 3; @%p1 mov.b128 %q6, {%rd3, 5};
         st.global.b128 [%out+96], %q6;",
        40,
    );
    assert_eq!(run.outcome.findings, []);
    let before = Run {
        outcome: Outcome::default(),
        words,
    };
    for t in 0..40 {
        let (a, b) = (values(&before, t, 0), values(&before, t, 4));
        assert_eq!((values(&run, t, 8), values(&run, t, 12)), (b, a));
        let lower = (a as u64).wrapping_add(1);
        let swapped = a >> 64 | u128::from(lower) << 64;
        assert_eq!(values(&run, t, 16), swapped);
        assert_eq!(values(&run, t, 20) as u64, b as u64);
        let last = if t < 3 {
            5 << 64 | u128::from(b as u64)
        } else {
            swapped
        };
        assert_eq!(values(&run, t, 24), last);
    }
}

#[test]
fn atomics_exchange_whole_values() {
    // All threads of the block exchange with one place, then each compares
    // with what it had there before.
    for space in ["global", "shared"] {
        let place = match space {
            "global" => "mov.u64 %rd1, %base;",
            _ => {
                "mov.u64 %rd1, all; setp.eq.u32 %p2, %t, 0;
                  @%p2 ld.global.b128 %q0, [%base]; @%p2 st.shared.b128 [%rd1], %q0; bar.sync 0;"
            }
        };
        let (run, words) = run_pairs(
            &format!(
                "{place} ld.global.b128 %q1, [%out+16];
                 atom.{space}.exch.b128 %q2, [%rd1], %q1; st.global.b128 [%out+32], %q2;
                 bar.sync 0;
                 ld.global.b128 %q3, [%out+64];
                 atom.{space}.relaxed.gpu.cas.b128 %q4, [%rd1], %q1, %q3;
                 st.global.b128 [%out+48], %q4;
                 bar.sync 0; ld.{space}.b128 %q5, [%rd1]; st.global.b128 [%out+80], %q5;"
            ),
            40,
        );
        assert_eq!(run.outcome.findings, []);
        let before = Run {
            outcome: Outcome::default(),
            words,
        };
        let mut there = values(&before, 0, 0);
        for t in 0..40 {
            assert_eq!(values(&run, t, 8), there, "{space}, thread {t}");
            there = values(&before, t, 4);
        }
        for t in 0..40 {
            assert_eq!(values(&run, t, 12), there, "{space}, thread {t}");
            if there == values(&before, t, 4) {
                there = values(&before, t, 16);
            }
        }
        assert_eq!(there, values(&before, 39, 16));
        assert!((0..40).all(|t| values(&run, t, 20) == there));
    }
}

#[test]
fn misuse_is_refused_or_found() {
    let (run, _) = run_pairs("ld.global.b128 %q1, [%out+8];", 1);
    assert_eq!(kinds(&run), [FindingKind::Misaligned]);
    for (line, reason) in [
        (
            "mov.b128 %q1, %rd1;",
            "a register of .b64 where .b128 is expected",
        ),
        (
            "mov.b128 %q1, {%r1, %r2};",
            "a register of .b32 where .b64 is expected",
        ),
        (
            "mov.b128 %q1, {%rd1, %rd2, %rd3, %rd4};",
            "parts that do not make up the whole",
        ),
        (
            "atom.global.or.b128 %q1, [%out], %q2;",
            "values of 128 bits have .exch and .cas only",
        ),
        ("st.global.b128 [%out], 7;", "a register of .b128 expected"),
        (
            "ld.global.v2.b128 {%q1, %q2}, [%out];",
            "vectors of .b128 are not supported",
        ),
    ] {
        let text = kernel(&format!(".reg .b128 %q<4>; {line} ret;"));
        let text = format!(".version 8.5\n.target sm_90\n.address_size 64\n{text}");
        let module = Module::parse(&text, "t.ptx").unwrap();
        let error = Program::new(&module).unwrap().check("k").unwrap_err();
        let help = error.advice().unwrap();
        assert!(help.contains(reason), "{line}: {help}");
    }
}
