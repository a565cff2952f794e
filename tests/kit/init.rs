//! `spadkit init`: launch files to fill in, and their use.

use crate::common::in_one_line;
use std::path::Path;
use std::process::{Command, Output};

fn spadkit(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spadkit"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args);
    command.output().expect("spadkit runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn a_launch_file_that_is_filled_in_runs() {
    let dir = tempfile::tempdir().unwrap();
    let launch = dir.path().join("transpose.toml");
    let launch = launch.to_str().unwrap();
    let ptx = "kernels/transpose/transpose.ptx";
    let sizes = ["--grid", "4,4", "--block", "16,16"];
    let args = ["0=zeros:f32:4096", "1=iota:f32:4096", "2=64", "3=64"];
    let mut command = vec!["init", ptx, "--entry", "transpose", "-o", launch];
    command.extend(sizes);
    command.extend(args.iter().flat_map(|arg| ["--arg", *arg]));
    let out = spadkit(&command);
    assert!(out.status.success(), "{}", text(&out.stderr));
    assert!(
        text(&out.stdout).contains("run it with") && text(&out.stdout).contains("-Xcicc -O0"),
        "{}",
        text(&out.stdout)
    );
    let moved = dir.path().join("out.npy");
    let dump = format!("param_0={}", moved.display());
    let out = spadkit(&["run", launch, "--dump", &dump]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    // Element (1, 0) of the transposed matrix is element (0, 1).
    let bytes = std::fs::read(moved).unwrap();
    let data = &bytes[bytes.len() - 4 * 4096..];
    let element = |at: usize| f32::from_le_bytes(data[4 * at..][..4].try_into().unwrap());
    assert_eq!((element(64), element(1)), (1.0, 64.0));
}

#[test]
fn a_launch_file_that_is_there_stays() {
    let dir = tempfile::tempdir().unwrap();
    let launch = dir.path().join("mine.toml");
    std::fs::write(&launch, "mine").unwrap();
    let ptx = "kernels/transpose/transpose.ptx";
    let path = launch.to_str().unwrap();
    let out = spadkit(&["init", ptx, "--entry", "transpose", "-o", path]);
    assert_eq!(out.status.code(), Some(2));
    assert!(
        text(&out.stderr).contains("--force"),
        "{}",
        text(&out.stderr)
    );
    assert_eq!(std::fs::read_to_string(&launch).unwrap(), "mine");
}

#[test]
fn several_entries_are_named_and_wrong_arguments_leave_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let launch = dir.path().join("k.toml");
    let path = launch.to_str().unwrap();
    let ptx = "kernels/transpose/transpose.ptx";
    let no_entry = spadkit(&["init", ptx, "-o", path]);
    let no_argument = spadkit(&[
        "init",
        ptx,
        "--entry",
        "transpose",
        "--arg",
        "width=3",
        "-o",
        path,
    ]);
    let no_value = spadkit(&[
        "init",
        ptx,
        "--entry",
        "transpose",
        "--arg",
        "0=wide",
        "-o",
        path,
    ]);
    for (out, expected) in [
        (no_entry, "--entry"),
        (no_argument, "no parameter 'width'"),
        (no_value, "NAME=INIT:TYPE:COUNT"),
    ] {
        assert_eq!(out.status.code(), Some(2));
        assert!(
            text(&out.stderr).contains(expected),
            "{}",
            text(&out.stderr)
        );
    }
    assert!(!Path::new(path).exists());
}

/// An entry is what the PTX calls it, or its signature in the source, wherever an entry
/// is named.
#[test]
fn an_entry_is_named_by_its_signature() {
    let dir = tempfile::tempdir().unwrap();
    let launch = dir.path().join("k.toml");
    let path = launch.to_str().unwrap();
    let ptx = "tests/fixtures/cuda/mang.ptx";
    for (wanted, entry) in [
        ("_Z4corePfi", "_Z4corePfi"),
        ("core(int *, int)", "_Z4corePii"),
        ("ns::core<float>", "_ZN2ns4coreIfEEvPT_i"),
        ("scale", "_Z5scalePii"),
    ] {
        let out = spadkit(&["init", ptx, "--kernel", wanted, "-o", path, "--force"]);
        assert!(out.status.success(), "{}", text(&out.stderr));
        let written = std::fs::read_to_string(path).unwrap();
        assert!(
            written.contains(&format!("entry = \"{entry}\"")),
            "{written}"
        );
    }
    let written = std::fs::read_to_string(path).unwrap();
    let named = written.replace("_Z5scalePii", "scale(int*, int)");
    std::fs::write(path, named).unwrap();
    let out = spadkit(&["conflicts", &format!("{path}:scale(int *, int)")]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let out = spadkit(&["init", ptx, "--entry", "scael", "-o", path, "--force"]);
    let error = in_one_line(text(&out.stderr));
    assert!(error.contains("did you mean 'scale'?"), "{error}");
    assert!(error.contains("_Z4corePfi (core(float*, int))"), "{error}");
}
