//! The faults that a sanitizer finds: each kernel of the table in docs/reference/findings.md,
//! at the lines of its PTX that say `here`, and nothing else.

use crate::common;
use crate::kernels::files::kernels_folder;
use crate::kernels::harness::TestKernel;
use spadkit::launch::Options;
use spadkit::ptx::exec::{Finding, FindingKind};

/// Findings of a kernel of kernels/faults, and the marked lines of its entry.
fn run(name: &str, global: bool) -> (Vec<Finding>, Vec<u32>) {
    let kernel = TestKernel::load("faults", name);
    let text = std::fs::read_to_string(&kernel.file.ptx.value).unwrap();
    let begins = |l: &str| l.contains(&format!(".entry {name}("));
    let lines = text.lines().zip(1..).skip_while(|(l, _)| !begins(l));
    let lines = lines.take_while(|(l, _)| *l != "}");
    let marked = lines.filter(|(l, _)| l.ends_with("// here"));
    let marked = marked.map(|(_, n)| n).collect();
    let mut prepared = kernel.file.prepare(&kernel.file.module().unwrap()).unwrap();
    let options = Options {
        races: true,
        global_races: global,
        threads: 1,
        ..Options::default()
    };
    (prepared.run(&options).unwrap().findings, marked)
}

/// Exactly findings of this kind, on exactly the marked lines.
fn assert_found(name: &str, kind: FindingKind, warning: bool) -> Vec<Finding> {
    let (findings, marked) = run(name, name.starts_with("global_"));
    let mut lines: Vec<u32> = findings.iter().map(|f| f.ptx_line).collect();
    lines.sort_unstable();
    lines.dedup();
    assert!(!marked.is_empty(), "{name}");
    assert_eq!(lines, marked, "{name}: {findings:#?}");
    for finding in &findings {
        let is = (finding.kind, finding.warning);
        assert_eq!(is, (kind, warning), "{name}: {findings:#?}");
    }
    findings
}

#[test]
fn what_atomics_do_not_order() {
    for name in ["lock_without_fence", "flag_without_fence"] {
        assert_found(name, FindingKind::Race, false);
    }
    assert_found("same_value", FindingKind::Race, true);
}

#[test]
fn barriers() {
    for name in [
        "barrier_part_of_warp",
        "barrier_sixteen",
        "barrier_per_lane",
        "barrier_counts",
    ] {
        assert_found(name, FindingKind::InvalidBarrier, false);
    }
    for name in ["named_barriers", "store_after_arrive"] {
        assert_found(name, FindingKind::Race, false);
    }
}

#[test]
fn lanes() {
    for name in ["lanes_collide", "shuffle_of_others", "shuffle_between"] {
        assert_found(name, FindingKind::Race, false);
    }
    assert_found("mask_without_self", FindingKind::InvalidMask, false);
    for name in ["mask_of_exited", "shuffle_from_outside"] {
        assert_found(name, FindingKind::InvalidMask, true);
    }
}

#[test]
fn accesses_that_leave_their_variable() {
    let next = assert_found("overrun_next", FindingKind::OutOfBounds, false);
    let text = "store of 4 bytes at byte 128 of a, which has 128";
    assert_eq!(
        (next[0].message.as_str(), next[0].variable.as_deref()),
        (text, Some("a"))
    );
    for name in ["overrun_gap", "overrun_dynamic", "local_overrun"] {
        assert_found(name, FindingKind::OutOfBounds, false);
    }
    let negative = assert_found("local_negative", FindingKind::OutOfBounds, false);
    assert_eq!(
        negative[0].message,
        "store of 4 bytes at byte -4 of a, which has 20"
    );
}

#[test]
fn values_that_are_not_there() {
    assert_found("copy_not_waited", FindingKind::Race, false);
    for name in ["half_word", "local_unwritten", "register_unwritten"] {
        assert_found(name, FindingKind::Uninitialised, true);
    }
}

#[test]
fn constants_and_parameters() {
    for name in [
        "store_to_constant",
        "generic_store_to_constant",
        "parameter_overrun",
        "parameter_pointer_overrun",
    ] {
        assert_found(name, FindingKind::OutOfBounds, false);
    }
    assert_found("parameter_misaligned", FindingKind::Misaligned, false);
}

#[test]
fn global_memory() {
    for name in ["global_blocks", "global_threads", "global_ticket"] {
        let found = assert_found(name, FindingKind::Race, false);
        let blocks = found.iter().any(|f| f.block != found[0].block);
        assert_eq!(blocks, name != "global_threads", "{found:#?}");
        assert_eq!(found[0].variable.as_deref(), Some("out"));
        assert!(run(name, false).0.is_empty(), "{name}");
    }
}

#[test]
fn a_ticket_that_lacks_only_a_fence_says_where_to_put_it() {
    let found = assert_found("global_ticket_unfenced", FindingKind::Race, true);
    let kernel = TestKernel::load("faults", "global_ticket_unfenced");
    let text = std::fs::read_to_string(&kernel.file.ptx.value).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let ticket = lines.iter().rposition(|l| l.contains("atom.")).unwrap() + 1;
    for side in &found {
        assert_eq!(side.fence, Some(format!("after PTX line {ticket}")));
        assert_eq!(side.barrier, None);
    }
    let file = kernels_folder().join("faults/global_ticket_unfenced.toml");
    let text = common::text(&["run", &file.to_string_lossy(), "--races=global"]);
    let expected = format!("__threadfence() after PTX line {ticket} would order them");
    assert!(text.contains(&expected), "{text}");
}
