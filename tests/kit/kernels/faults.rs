//! The kernels with a fault: it is found, at its line of the source.

use crate::kernels::files::kernels_folder;
use crate::kernels::harness::TestKernel;
use spadkit::launch::Options;
use spadkit::ptx::exec::{Finding, FindingKind};

fn findings(name: &str) -> Vec<Finding> {
    let kernel = TestKernel::load("faults", name);
    let mut prepared = kernel.file.prepare(&kernel.file.module().unwrap()).unwrap();
    let options = Options {
        races: true,
        threads: 1,
        ..Options::default()
    };
    prepared.run(&options).unwrap().findings
}

/// `file:line` of the line of the source with that comment.
fn marked(comment: &str) -> Option<String> {
    let text = std::fs::read_to_string(kernels_folder().join("faults/faults.cu")).unwrap();
    let line = text
        .lines()
        .position(|l| l.ends_with(&format!("// {comment}")));
    Some(format!("faults.cu:{}", line.expect(comment) + 1))
}

fn assert_found(name: &str, kind: FindingKind, comment: &str, thread: u32) -> Finding {
    let findings = findings(name);
    let found = findings.iter().find(|f| f.kind == kind);
    let found = found.unwrap_or_else(|| panic!("{name}: {findings:?}"));
    assert_eq!(found.source, marked(comment), "{name}: {found:?}");
    assert_eq!(
        (found.block, found.thread),
        ([0; 3], [thread, 0, 0]),
        "{name}: {found:?}"
    );
    // Its PTX line is an instruction of the entry.
    let ptx = std::fs::read_to_string(kernels_folder().join("faults/faults.ptx")).unwrap();
    let lines: Vec<&str> = ptx.lines().take(found.ptx_line as usize).collect();
    let entry = lines.iter().rfind(|l| l.contains(".entry")).unwrap();
    assert!(entry.contains(&format!(" {name}(")), "{entry}");
    assert!(
        lines.last().unwrap().trim_end().ends_with(';'),
        "{:?}",
        lines.last()
    );
    assert!(!found.message.is_empty());
    found.clone()
}

#[test]
fn accesses() {
    let found = assert_found(
        "out_of_bounds",
        FindingKind::OutOfBounds,
        "out-of-bounds",
        60,
    );
    assert_eq!(
        (found.address, found.variable.as_deref()),
        (Some(256), Some("out"))
    );
    let found = assert_found(
        "out_of_shared",
        FindingKind::OutOfBounds,
        "out-of-bounds, shared",
        63,
    );
    assert_eq!(found.address, Some(256));
    let found = assert_found("misaligned", FindingKind::Misaligned, "misaligned", 0);
    assert_eq!(found.address, Some(2));
    assert_found("null_pointer", FindingKind::Null, "null", 0);
    assert_found("trapped", FindingKind::Trap, "trap", 7);
}

#[test]
fn races() {
    let all = findings("race");
    let races: Vec<&Finding> = all.iter().filter(|f| f.kind == FindingKind::Race).collect();
    assert!(!races.is_empty(), "{all:?}");
    // Sides come in pairs: one writes and one reads.
    for pair in races.chunks(2) {
        assert_eq!((pair[0].other, pair[1].other), (false, true), "{all:?}");
        let mut lines = [pair[0].source.clone(), pair[1].source.clone()];
        lines.sort();
        assert_eq!(
            lines,
            [marked("race, one side"), marked("race, other side")]
        );
    }
}

#[test]
fn barriers() {
    let all = findings("divergent_barrier");
    assert!(
        all.iter().any(|f| f.kind == FindingKind::DivergentBarrier),
        "{all:?}"
    );
    assert_eq!(all[0].source, marked("divergent-barrier"), "{all:?}");
    let all = findings("barrier_not_reached");
    assert!(
        all.iter().any(|f| f.kind == FindingKind::BarrierNotReached),
        "{all:?}"
    );
    let lines = [
        marked("barrier-not-reached"),
        marked("barrier-not-reached, too"),
    ];
    assert!(lines.contains(&all[0].source), "{all:?}");
}

#[test]
fn a_wait_for_what_nobody_writes_ends() {
    let all = findings("endless");
    assert_eq!(all[0].kind, FindingKind::EndlessWait, "{all:?}");
    assert_eq!(all[0].source, marked("endless-wait"), "{all:?}");
}

#[test]
fn reading_what_nobody_wrote_is_a_warning() {
    let found = assert_found(
        "uninitialised",
        FindingKind::Uninitialised,
        "uninitialised",
        32,
    );
    assert_eq!(found.address, Some(128));
    assert!(found.warning);
}
