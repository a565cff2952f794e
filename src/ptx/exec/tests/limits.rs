//! The limit of a launch: what counts, and that it is the same for any number
//! of threads.

use super::*;

const LIMIT: u64 = 100_000;

/// Runs a module with a limit of `LIMIT` on 8 blocks of 64 threads.
fn limited(module: &str, threads: usize) -> Run {
    run_with(
        module,
        [64, 1, 1],
        [8, 1, 1],
        &[0; 512],
        |options, launch| {
            options.limit = LIMIT;
            options.threads = threads;
            if launch.entry == "k" && !module.contains(".param") {
                launch.params.clear();
            }
        },
    )
}

fn stops(module: &str) {
    let run = limited(module, 1);
    let kinds: Vec<_> = run.outcome.findings.iter().map(|f| f.kind).collect();
    assert_eq!(kinds, [FindingKind::Limit], "{module}");
    let most = LIMIT + 32 * 100;
    let executed = run.outcome.thread_instructions;
    assert!((LIMIT..most).contains(&executed), "{executed}: {module}");
}

#[test]
fn barriers_calls_and_every_loop_count() {
    stops(".visible .entry k() { L: bar.sync 0; bra L; }");
    stops(".visible .entry k() { L: bra L; }");
    stops(".visible .entry k() { L: bar.warp.sync 0xffffffff; bra L; }");
    stops(
        ".visible .entry k() { .reg .pred %p; .reg .b32 %r; mov.u32 %r, %tid.x; \
         setp.lt.u32 %p, %r, 16; L: @%p bra M; add.u32 %r, %r, 0; M: bar.sync 0; bra L; }",
    );
    stops(
        ".visible .entry k() { .reg .b32 %r; mov.u32 %r, 0; t: .branchtargets L; \
         L: brx.idx %r, t; }",
    );
}

#[test]
fn calls_that_call_twice_end_at_the_limit() {
    let mut module = String::from(".func f0() { ret; }\n");
    for n in 1..60 {
        let below = n - 1;
        module += &format!(".func f{n}() {{ call f{below}; call f{below}; ret; }}\n");
    }
    module += ".visible .entry k() { call f59; ret; }";
    stops(&module);
}

/// Blocks of unequal length store into words of their own; all of it fits
/// after no block, the limit lies in one in the middle.
#[test]
fn threads_change_nothing_in_what_a_limit_leaves() {
    let module = ".visible .entry k(.param .u64 p) { .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %q;\n\
         ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;\n\
         mad.lo.u32 %r3, %r1, 64, %r2; mul.wide.u32 %d2, %r3, 4; add.u64 %d1, %d1, %d2;\n\
         shl.b32 %r4, %r1, 7; mov.u32 %r5, 0;\n\
         L: add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5; bar.sync 0;\n\
         setp.le.u32 %q, %r5, %r4; @%q bra L; ret; }";
    let one = limited(module, 1);
    assert_eq!(one.outcome.findings.len(), 1);
    assert_eq!(one.outcome.findings[0].kind, FindingKind::Limit);
    assert!(one.words[64 * 7] == 0 && one.words[64] != 0);
    for threads in [2, 4, 0] {
        let many = limited(module, threads);
        assert_eq!(many.words, one.words, "{threads} threads");
        assert_eq!(many.outcome.findings, one.outcome.findings);
        let executed = |run: &Run| run.outcome.thread_instructions;
        assert_eq!(executed(&many), executed(&one));
    }
}

#[test]
fn local_memory_and_module_variables_are_bounded() {
    let head = ".version 8.5\n.target sm_80\n.address_size 64\n";
    let check = |body: &str| {
        let module = Module::parse(&format!("{head}{body}"), "t.ptx").unwrap();
        let refused = Program::new(&module).and_then(|p| p.check("k"));
        refused.map_err(|e| format!("{:?}", miette::Report::new(e)))
    };
    check(".visible .entry k() { .local .b8 l[524288]; ret; }").unwrap();
    let error = check(".visible .entry k() { .local .b8 l[524289]; ret; }").unwrap_err();
    assert!(error.contains("524289 bytes of local memory"), "{error}");
    let two = ".global .b8 g[536870912]; .global .b8 h[536870913];";
    let error = check(&format!("{two} .visible .entry k() {{ ret; }}")).unwrap_err();
    assert!(error.contains("h has 536870913 bytes"), "{error}");
}
