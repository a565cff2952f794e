//! Accesses of which it is not known which variable they touch.

use super::{made, path_of, spadkit};
use serde_json::Value;
use spadkit::rewrite::{Hashes, one_for_all};

/// Odd threads take `t`, the others `s`: rows of 32 words, so that each half
/// of a warp has conflicts.
const EITHER: &str = "and.b32 %r1, %r0, 1;\nsetp.eq.u32 %p, %r1, 1;\nmov.u64 %d3, t;\n\
    selp.b64 %d5, %d3, %d0, %p;\nshr.u32 %r2, %r0, 1;\nand.b32 %r2, %r2, 3;\n\
    mul.wide.u32 %d6, %r2, 128;\nadd.s64 %d7, %d5, %d6;\nst.shared.u32 [%d7], %r2;\n\
    bar.sync 0;\nld.shared.u32 %r3, [%d7];\nld.param.u64 %d8, [out];\n\
    mul.wide.u32 %d9, %r0, 4;\nadd.s64 %d10, %d8, %d9;\nst.global.u32 [%d10], %r3;";

fn named(list: &[(&str, &str)]) -> Hashes {
    let one = |(name, spec): &(&str, &str)| ((*name).to_owned(), spec.parse().unwrap());
    Hashes::Named(list.iter().map(one).collect())
}

/// Equal mappings need no telling apart: both variables, and all others, lie in
/// one array under the one.
#[test]
fn equal_mappings_become_one_for_all_of_shared_memory() {
    let (_folder, case) = made("k", EITHER);
    let plain = case.run(&case.request("mod", true, "k")).1.unwrap();
    assert!(plain.conflicts_before > 0);
    for list in [&[("s", "xor"), ("t", "xor")][..], &[("s", "xor")]] {
        let mut request = case.request("mod", true, "k");
        request.hashes = named(list);
        let (rewritten, measured) = case.run(&request);
        let mixed = rewritten.mixed.expect("it cannot be told which");
        assert!(mixed.reason.contains("different mappings"), "{mixed:?}");
        assert_eq!(
            (rewritten.rewritten, rewritten.left.len()),
            (rewritten.accesses, 0)
        );
        let measured = measured.unwrap();
        assert!(measured.outputs_equal);
        assert_eq!(measured.conflicts_before, plain.conflicts_before);
        assert_eq!(measured.conflicts_after, case.hardware("xor", "k"));
        assert!(measured.conflicts_after < measured.conflicts_before);
    }
}

/// Different ones are refused, and the better of them is what is proposed.
#[test]
fn of_different_mappings_the_best_one_for_all_is_proposed() {
    let (_folder, case) = made("k", EITHER);
    let mut request = case.request("mod", true, "k");
    let list = [("s", "bitvec-perm:k=0"), ("t", "xor")];
    request.hashes = named(&list);
    let (rewritten, _) = case.run(&request);
    assert!(rewritten.text().is_none() && rewritten.mixed.is_some());
    let module = case.file.module().unwrap();
    let candidates = list.map(|(_, spec)| spec.parse().unwrap());
    let rule = case.machine.conflict_rule();
    let launch = Some((&case.file, rule));
    let best = one_for_all(&module, &request, &candidates, launch)
        .unwrap()
        .unwrap();
    assert_eq!(best.spec.to_string(), "xor");
    let measured = best.measured.unwrap();
    assert_eq!(measured.conflicts_after, case.hardware("xor", "k"));
    // Without a launch there is nothing to choose by.
    let first = one_for_all(&module, &request, &candidates, None)
        .unwrap()
        .unwrap();
    assert_eq!(first.spec.to_string(), "bitvec-perm:k=0");
    assert!(first.measured.is_none());
}

/// The command that is proposed does what it is said to do.
#[test]
fn the_command_that_is_proposed_works() {
    let (folder, case) = made("k", EITHER);
    let (launch, out) = (&case.file.source.path, folder.path().join("out.ptx"));
    let to = path_of(&out);
    let hashes = ["--hash", "s=mod", "--hash", "t=xor"];
    let all = [
        &[path_of(launch), "-o", to, "--preset", "sm80"],
        &hashes[..],
    ]
    .concat();
    let run = spadkit(&all);
    let error = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1), "{error}");
    let run = spadkit(&[&all[..], &["--format", "json"]].concat());
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert!(!out.exists());
    let proposed = &json["proposed"];
    let command = proposed["command"].as_str().unwrap();
    assert!(
        error
            .replace(['\n', ' ', '│'], "")
            .contains(&command.replace(' ', "")),
        "{error}"
    );
    let words: Vec<&str> = command.split(' ').collect();
    assert_eq!(words[..2], ["spadkit", "rewrite"]);
    let run = spadkit(&[&words[2..], &["--format", "json"]].concat());
    assert!(run.status.success(), "{command}");
    let done: Value = serde_json::from_slice(&run.stdout).unwrap();
    for key in ["conflicts_before", "conflicts_after", "outputs_equal"] {
        assert_eq!(done[key], proposed[key], "{key}");
    }
    assert!(done["conflicts_after"].as_u64() < done["conflicts_before"].as_u64());
    assert_eq!(done["mixed"], Value::Null);
    assert!(out.exists());
}
