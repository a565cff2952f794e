//! Annotated kernels, executed: the same results, and one release a thread
//! where the markers say so.

use crate::sharing::checker::Walk;
use crate::sharing::kernels::releases_per_thread;
use crate::sharing::random::{accesses, annotated, random_kernel};
use spadkit::capture::{LaunchInput, RunOptions};
use spadkit::launch::{LaunchFile, Options};
use spadkit::sharing::Placement;
use std::path::Path;

const LAUNCH: &str = "ptx = \"k.ptx\"\ngrid = [2]\nblock = [48]\n\
                      [[arg]]\nname = \"p\"\ntype = \"u32\"\ncount = 64\n";

/// The buffer after a run.
fn result(folder: &Path, text: &str) -> Vec<u8> {
    std::fs::write(folder.join("k.ptx"), text).unwrap();
    let file = LaunchFile::load(&folder.join("k.toml")).unwrap();
    let mut prepared = file.prepare(&file.module().unwrap()).unwrap();
    prepared.run(&Options::default()).unwrap();
    let (_, bytes) = prepared.outputs().next().unwrap();
    bytes.to_vec()
}

#[test]
fn random_kernels_run_as_before_and_each_thread_releases_once() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.toml"), LAUNCH).unwrap();
    let spt = folder.path().join("k.spt");
    let mut released = 0;
    for seed in 5000..5120 {
        let text = random_kernel(seed);
        let placement = [Placement::Optimal, Placement::PostDom][seed as usize % 2];
        let (shared, after) = annotated(&text, 0.34, placement);
        let before = result(folder.path(), &text);
        assert_eq!(
            before,
            result(folder.path(), &after),
            "seed {seed}\n{after}"
        );
        LaunchInput::at(&folder.path().join("k.toml"))
            .full_trace(RunOptions::default(), &spt)
            .unwrap();
        let walk = Walk::new(&after, "k", &accesses(&shared));
        let wanted = u32::from(walk.needs_release());
        let releases = releases_per_thread(&spt);
        assert!(
            releases.iter().all(|&n| n == wanted),
            "seed {seed}: {releases:?}\n{after}"
        );
        released += wanted;
    }
    assert!(released > 15, "{released}");
}

/// A copy may be on its way until somebody waits for it.
#[test]
fn copies_are_waited_for() {
    let text = "\t.reg .b32 %r; .reg .b64 %rd;\n\tld.param.u64 %rd, [p];\n\tmov.u32 %r, A;\n\
                \tcp.async.ca.shared.global [%r], [%rd], 4;\n\tcp.async.commit_group;\n\
                \tmov.u32 %r, 1;\n\tcp.async.wait_group 0;\n\tmov.u32 %r, 2;\n\tret;\n";
    let kernel = format!(
        ".version 8.5\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 A[64];\n\
         .visible .entry k(.param .u64 p)\n{{\n{text}}}\n"
    );
    let (shared, after) = annotated(&kernel, 0.0, Placement::Optimal);
    assert_eq!(shared, ["A"]);
    let lines: Vec<&str> = after.lines().map(str::trim).collect();
    let marker = lines
        .iter()
        .position(|l| *l == ".pragma \"spadkit.relssp\";")
        .unwrap();
    assert_eq!(lines[marker - 1], "cp.async.wait_group 0;");
}
