//! Asynchronous operations use the shared part until somebody has waited for them.

use spadkit::config::Config;
use spadkit::ptx::Module;
use spadkit::sharing::{AnalysedEntry, LayoutKind, Needs, Placement, Plan};

/// A kernel with private variables `mb`, an `mbarrier`, and `a`; `b` and `c` are shared at
/// t = 0.5 as declared.
fn kernel(body: &str) -> String {
    let body = body.replace("; ", ";\n\t").replace(": ", ":\n\t");
    format!(
        ".version 8.3\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .u64 p, .param .u32 q)\n{{\n\
         .shared .align 128 .b8 mb[8];\n.shared .align 128 .b8 a[1024];\n\
         .shared .align 128 .b8 b[128];\n.shared .align 128 .b8 c[1024];\n\
         .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n\
         ld.param.u64 %rd1, [p]; ld.param.u32 %r9, [q]; mov.u32 %r1, %tid.x;\n\
         setp.gt.s32 %p1, %r9, 3; mov.u32 %r3, c; mov.u32 %r8, mb;\n\t{body}\n}}\n"
    )
}

/// The lines before and behind each marker, and the size of the access range.
fn markers(body: &str, placement: Placement) -> (Vec<[String; 2]>, u64) {
    let text = kernel(body);
    let module = Module::parse(&text, "k.ptx").unwrap();
    let entry = AnalysedEntry::new(&module, None, 0).unwrap();
    let machine = Config::preset("gpgpusim-16k").unwrap();
    let needs = Needs {
        threads: 128,
        registers: None,
    };
    let choice = (LayoutKind::Declared, placement);
    let plan = Plan::new(&entry, &machine, needs, 0.5, choice).unwrap();
    let after = plan.annotate().unwrap().text;
    let lines: Vec<&str> = after.lines().map(str::trim).collect();
    let at = (0..lines.len()).filter(|&i| lines[i] == ".pragma \"spadkit.relssp\";");
    let around = at.map(|i| [lines[i - 1].to_owned(), lines[i + 1].to_owned()]);
    (around.collect(), plan.layout.cost)
}

/// What comes before the marker; none without one.
fn before(body: &str) -> Option<String> {
    let (found, _) = markers(body, Placement::Optimal);
    assert!(found.len() <= 1, "{found:?}");
    found.into_iter().next().map(|[before, _]| before)
}

const STORE: &str = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 1024;";
const REDUCE: &str =
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r3], 1024;";
const TENSOR: &str =
    "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {%r9}], [%r3];";
const COMMIT: &str = "cp.async.bulk.commit_group;";
const REST: &str = "ld.shared.u32 %r4, [a]; add.s32 %r4, %r4, 1;";

#[test]
fn what_an_operation_reads_is_in_use_until_its_wait() {
    for operation in [STORE, REDUCE, TENSOR] {
        for wait in [
            "cp.async.bulk.wait_group.read 0;",
            "cp.async.bulk.wait_group 0;",
        ] {
            let body = format!("st.shared.u32 [c], %r1; {operation} {COMMIT} {REST} {wait} ret;");
            assert_eq!(before(&body).as_deref(), Some(wait), "{operation}");
            // The store, the operation, its commit, two more and the wait.
            assert_eq!(markers(&body, Placement::Optimal).1, 6);
        }
        // Without a wait, without one for all, or without a commit: until the end.
        let wait = "cp.async.bulk.wait_group.read 0;";
        for rest in [
            format!("{COMMIT} {REST} ret;"),
            format!("{COMMIT} {REST} cp.async.bulk.wait_group.read 1; ret;"),
            format!("{REST} {wait} ret;"),
            format!("{COMMIT} {REST} @%p1 {wait} ret;"),
        ] {
            for placement in [Placement::Optimal, Placement::PostDom] {
                let body = format!("{operation} {rest}");
                assert_eq!(
                    markers(&body, placement).0,
                    Vec::<[String; 2]>::new(),
                    "{body}"
                );
            }
        }
    }
}

#[test]
fn factors_of_a_warpgroup_are_in_use_until_its_wait() {
    let body = "st.shared.u32 [c], %r1; shr.u32 %r5, %r3, 4; cvt.u64.u32 %rd3, %r5; \
         or.b64 %rd4, %rd3, 0x4000004000010000; wgmma.fence.sync.aligned; \
         wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd4, %rd4, \
         1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; ld.shared.u32 %r4, [a]; \
         wgmma.wait_group.sync.aligned 0; add.s32 %r4, %r4, 1; ret;";
    assert_eq!(
        before(body).as_deref(),
        Some("wgmma.wait_group.sync.aligned 0;")
    );
}

/// A wait that leaves the last groups ends the older ones, on every path to it.
#[test]
fn a_wait_that_leaves_groups_ends_the_older_ones() {
    let other = "cp.async.ca.shared.global [a], [%rd1], 16; cp.async.commit_group;";
    let copy = "cp.async.ca.shared.global [%r3], [%rd1], 16; cp.async.commit_group;";
    let wait = |n: u32| format!("cp.async.wait_group {n};");
    let end = "add.s32 %r4, %r4, 1; ret;";
    for (begin, left, ends) in [
        (format!("{copy} {other}"), 1, true),
        (format!("{copy} {other} {other}"), 1, true),
        // It may be among those that are left.
        (format!("{copy} {other}"), 2, false),
        (format!("{other} {copy}"), 1, false),
        (
            format!("{copy} {other} @%p1 cp.async.commit_group;"),
            2,
            false,
        ),
        (format!("{copy} {other} @%p1 bra X; {other} X:"), 2, false),
        (format!("{copy} {other} @%p1 bra X; {other} X:"), 1, true),
        // An empty group is one, too.
        (format!("{copy} cp.async.commit_group;"), 1, true),
        // Groups of other kinds are not counted.
        (format!("{copy} cp.async.bulk.commit_group;"), 1, false),
        (format!("{copy} L: {other} @%p1 bra L;"), 1, true),
        (format!("{other} L: {copy} @%p1 bra L;"), 1, false),
    ] {
        let wait = wait(left);
        let body = format!("{begin} {REST} {wait} {end}");
        assert_eq!(before(&body), ends.then_some(wait), "{body}");
    }
    // Nine groups are not told apart.
    let many = [copy, &[other; 9].concat()].concat();
    for (left, ends) in [(8, true), (9, false)] {
        let body = format!("{many} {REST} {} {end}", wait(left));
        assert_eq!(before(&body) == Some(wait(left)), ends, "{left}");
    }
}

#[test]
fn a_copy_that_some_path_does_not_wait_for_lasts_to_the_end_there() {
    let copy = "cp.async.ca.shared.global [%r3], [%rd1], 16; cp.async.commit_group;";
    let waits =
        format!("{copy} {REST} @%p1 bra X; cp.async.wait_group 0; X: add.s32 %r4, %r4, 1; ret;");
    assert_eq!(before(&waits), None);
    // The path that has waited releases.
    let exits =
        format!("{copy} {REST} @%p1 exit; cp.async.wait_group 0; add.s32 %r4, %r4, 1; ret;");
    assert_eq!(before(&exits).as_deref(), Some("cp.async.wait_group 0;"));
    let all = "cp.async.ca.shared.global [%r3], [%rd1], 16; ld.shared.u32 %r4, [a]; \
               cp.async.wait_all; add.s32 %r4, %r4, 1; ret;";
    assert_eq!(before(all).as_deref(), Some("cp.async.wait_all;"));
}

/// A wait loop, as written by hand, with a jump out of it, and as CUDA's headers have it.
const LOOPS: [&str; 3] = [
    "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], 0; @!%p3 bra W;",
    "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], 0; @%p3 bra D; bra W; D:",
    "W: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], 0; selp.b32 %r7, 1, 0, %p3; \
     setp.eq.s32 %p4, %r7, 0; @%p4 bra W;",
];

#[test]
fn a_wait_for_an_mbarrier_ends_what_it_counts() {
    let init = "mbarrier.init.shared::cta.b64 [%r8], 1;";
    let bulk = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], \
                [%rd1], 1024, [%r8];";
    let copy = "cp.async.ca.shared.global [%r3], [%rd1], 16; \
                cp.async.mbarrier.arrive.noinc.shared.b64 [%r8];";
    for (operation, wait) in [bulk, copy].into_iter().flat_map(|o| LOOPS.map(|w| (o, w))) {
        let body = format!("{init} {operation} {REST} {wait} add.s32 %r5, %r4, 1; ret;");
        let (found, _) = markers(&body, Placement::Optimal);
        let [[_, after]] = &found[..] else {
            panic!("{found:?} of {body}");
        };
        // On the way out of the loop.
        let out = ["add.s32 %r5, %r4, 1;", "bra D;", "bra     D;"];
        assert!(out.contains(&after.as_str()), "{after} of {body}");
        // A test that decides nothing ends nothing.
        let test = "mbarrier.test_wait.parity.shared::cta.b64 %p3, [%r8], 0;";
        assert_eq!(
            before(&format!("{init} {operation} {REST} {test} ret;")),
            None
        );
        // Nor does one of another object.
        let other = wait.replace("[%r8]", "[%r6]");
        let body = format!("{init} {operation} add.u32 %r6, %r8, 16; {REST} {other} ret;");
        assert_eq!(before(&body), None);
    }
    // Another thread may have begun the copy that a thread waits for.
    let one = format!(
        "@%p1 bra T; {init} {bulk} T: {REST} {} add.s32 %r5, %r4, 1; ret;",
        LOOPS[0]
    );
    let (found, _) = markers(&one, Placement::Optimal);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0][1], "add.s32 %r5, %r4, 1;");
}

/// What a function begins, or waits for, is not followed out of it.
#[test]
fn a_function_that_copies_keeps_its_variables_to_the_end() {
    let function = ".func f(.reg .b64 %g)\n{\n.reg .b32 %s;\nmov.u32 %s, c;\n\
         cp.async.ca.shared.global [%s], [%g], 16;\ncp.async.commit_group;\nret;\n}\n";
    let text = kernel("ld.shared.u32 %r4, [a]; call.uni f, (%rd1); cp.async.wait_group 0; ret;")
        .replace(".shared .align 128 .b8 c[1024];\n", "")
        .replace(
            ".visible",
            &format!(".shared .align 128 .b8 c[1024];\n{function}.visible"),
        );
    let module = Module::parse(&text, "k.ptx").unwrap();
    let entry = AnalysedEntry::new(&module, Some("k"), 0).unwrap();
    let machine = Config::preset("gpgpusim-16k").unwrap();
    let needs = Needs {
        threads: 128,
        registers: None,
    };
    let choice = (LayoutKind::Declared, Placement::Optimal);
    let plan = Plan::new(&entry, &machine, needs, 0.0, choice).unwrap();
    assert!(plan.points.is_empty(), "{:?}", plan.points);
}
