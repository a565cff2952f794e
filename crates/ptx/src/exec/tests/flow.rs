//! Random control flow: 64 threads in two warps against each thread alone in
//! a block of its own, where nothing can diverge.

use super::{Run, kernel, run_with};
use crate::Module;
use std::fmt::Write;

/// A generator of bits.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// Blocks that change the state of the thread and go anywhere, for at most
/// 40 blocks a thread; also into a function that does so, and through a table
/// of functions.
fn program(random: &mut Random) -> String {
    let blocks = 2 + random.below(8);
    let mut text = "
        .func (.param .b32 r) walk(.param .b32 a) {
          .reg .b32 %r<9>; .reg .pred %p; ld.param.u32 %r1, [a]; mov.u32 %r2, 0;
          W: and.b32 %r3, %r1, 5; add.u32 %r2, %r2, 1; setp.gt.u32 %p, %r2, %r3; @%p bra E;
          mad.lo.u32 %r1, %r1, 69069, %r2; and.b32 %r4, %r1, 64; setp.eq.u32 %p, %r4, 0;
          @%p bra W; st.param.u32 [r], %r1; ret;
          E: add.u32 %r1, %r1, 17; st.param.u32 [r], %r1; ret; }
        .func (.param .b32 r) turn(.param .b32 a) {
          .reg .b32 %r<9>; ld.param.u32 %r1, [a]; not.b32 %r1, %r1; st.param.u32 [r], %r1; ret; }
        .global .u64 table[2] = {walk, turn};
        .visible .entry k(.param .u64 p) {
        .reg .b64 %rd<9>; .reg .b32 %r<20>; .reg .pred %p, %q;
        ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
        mad.lo.u32 %r4, %r2, %r3, %r1; mad.wide.u32 %rd2, %r4, 4, %rd1;
        mad.lo.u32 %r5, %r4, 2654435, 12345; mov.u32 %r6, 0;\n"
        .to_owned();
    for block in 0..blocks {
        let (shift, multiplier) = (8 + random.below(16), 1664525 + 2 * random.below(1000));
        let mut any = || random.below(blocks);
        let (a, b, c) = (any(), any(), any());
        let _ = write!(
            text,
            "B{block}: add.u32 %r6, %r6, 1; setp.gt.u32 %q, %r6, 40; @%q bra END;
             mad.lo.u32 %r5, %r5, {multiplier}, {block}; shr.u32 %r7, %r5, {shift}; and.b32 %r8, %r7, 3;
             setp.eq.u32 %p, %r8, 0;\n"
        );
        let _ = match random.below(8) {
            0 => writeln!(
                text,
                "T{block}: .branchtargets B{a}, B{b}, B{c}, END; brx.idx %r8, T{block};"
            ),
            1 => writeln!(text, "@%p st.global.u32 [%rd2], %r5; @%p exit; bra B{a};"),
            2 => writeln!(
                text,
                "@!%p bra B{a}; {{ .param .b32 x; .param .b32 y; st.param.u32 [x], %r5;
                 call.uni (y), walk, (x); ld.param.u32 %r5, [y]; }}"
            ),
            3 => writeln!(
                text,
                "and.b32 %r9, %r7, 1; mov.u64 %rd3, table; mad.wide.u32 %rd4, %r9, 8, %rd3;
                 ld.global.u64 %rd5, [%rd4]; {{ .param .b32 x; .param .b32 y; st.param.u32 [x], %r5;
                 P{block}: .callprototype (.param .b32 _) _ (.param .b32 _);
                 call (y), %rd5, (x), P{block}; ld.param.u32 %r5, [y]; }}"
            ),
            4 => writeln!(text, "@%p bra B{a}; bra B{b};"),
            _ => writeln!(text, "@%p bra B{a};"),
        };
    }
    text + "END: st.global.u32 [%rd2], %r5; ret; }"
}

#[test]
fn threads_compute_the_same_together_and_alone() {
    let mut random = Random(7);
    let mut different = 0;
    for _ in 0..300 {
        let text = program(&mut random);
        let run = |block: u32, grid: u32| -> Run {
            run_with(&text, [block, 1, 1], [grid, 1, 1], &[0; 64], |_, _| {})
        };
        let (together, alone) = (run(64, 1), run(1, 64));
        assert_eq!(together.words, alone.words, "{text}");
        assert_eq!(together.outcome.findings, []);
        let (a, b) = (together.outcome, alone.outcome);
        assert_eq!(a.thread_instructions, b.thread_instructions, "{text}");
        different += usize::from(a.warp_instructions * 32 > a.thread_instructions);
    }
    // Most of them do diverge.
    assert!(different > 200, "{different}");
}

/// As nvcc writes the two constructors of a class that are the same.
#[test]
fn an_alias_is_the_function_it_stands_for() {
    let text = format!(
        ".weak .func (.param .b32 r) first(.param .b32 a);
         .func (.param .b32 r) second(.param .b32 a);
         .alias second, first;
         .func (.param .b32 r) third(.param .b32 a);
         .alias third, second;
         .global .u64 table[2] = {{second, first}};
         .weak .func (.param .b32 r) first(.param .b32 a) {{ .reg .b32 %r<3>;
           ld.param.u32 %r1, [a]; mul.lo.u32 %r2, %r1, 3; st.param.b32 [r], %r2; ret; }}
         {}",
        kernel(
            "{{ .param .b32 a; .param .b32 z; st.param.b32 [a], %t;
                call (z), third, (a); ld.param.b32 %r1, [z]; }}
             {{ .param .b32 a; .param .b32 z; st.param.b32 [a], %r1;
                ld.global.u64 %rd1, [table];
                P: .callprototype (.param .b32 _) _ (.param .b32 _);
                call (z), %rd1, (a), P; ld.param.b32 %r2, [z]; }}
             ld.global.u64 %rd2, [table+8]; setp.eq.u64 %p1, %rd1, %rd2;
             @!%p1 mov.u32 %r2, 0; st.global.u32 [%out], %r2; ret;"
        )
        .replace("{{", "{")
        .replace("}}", "}")
    );
    let run = run_with(&text, [40, 1, 1], [1, 1, 1], &[0; 40], |_, _| {});
    assert_eq!(run.outcome.findings, []);
    assert_eq!(run.words, (0..40).map(|t| 9 * t).collect::<Vec<u32>>());
    for (line, wrong) in [
        (".alias a, nobody;", "unknown function nobody"),
        (".alias a, a;", "an alias of itself"),
        (".alias a;", "unexpected `;`"),
    ] {
        let text = format!(".version 8.5\n.target sm_80\n.address_size 64\n.func a();\n{line}\n");
        let error = Module::parse(&text, "t.ptx").unwrap_err().to_string();
        assert!(error.contains(wrong), "{line}: {error}");
    }
}
