//! `emit` and `flow` never lose a user's files in their folder.

use std::fs;
use std::path::Path;

/// Runs the program; exit status and what it said on standard error.
fn spadkit(args: &[&str], dir: &Path) -> (i32, String) {
    let mut command = assert_cmd::Command::cargo_bin("spadkit").unwrap();
    let output = command.args(args).arg("-q").current_dir(dir).output();
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap(), text)
}

#[test]
fn emit_names_and_keeps_what_is_in_the_way() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let rtl = |name: &str| dir.join("rtl").join(name);
    let emit = |args: &[&str]| spadkit(&[&["emit", "-o", "rtl"], args].concat(), dir);
    let both = ["spad_hash_xor", "spad_rap"];
    assert_eq!(emit(&both).0, 0);
    // Another machine, other units, no benches: nothing old stays.
    let fermi = fs::read(rtl("spad_rap.v")).unwrap();
    let other = ["spad_rap", "--preset", "small", "--bench-cycles", "0"];
    assert_eq!(emit(&other).0, 0);
    assert_ne!(fs::read(rtl("spad_rap.v")).unwrap(), fermi);
    for gone in ["spad_hash_xor.v", "sdc/spad_hash_xor.sdc", "tb"] {
        assert!(!rtl(gone).exists(), "{gone}");
    }
    // A prefix is another emission, too.
    assert_eq!(emit(&["spad_rap", "--prefix", "a_"]).0, 0);
    assert!(rtl("a_spad_rap.v").exists() && !rtl("spad_rap.v").exists());
    assert_eq!(emit(&both).0, 0);

    fs::write(rtl("filelist.f"), "mine.v\n").unwrap();
    fs::write(rtl("spad_rap.v"), "// mine").unwrap();
    fs::write(rtl("notes"), "mine").unwrap();
    fs::write(rtl("spad_hash_add.v"), "// mine").unwrap();
    let (status, text) = emit(&["spad_hash_add"]);
    assert_eq!(status, 2);
    for expected in [
        "nothing was written",
        "filelist.f has changed since spadkit wrote it",
        "spad_rap.v has changed since spadkit wrote it",
        "spad_hash_add.v was not written by spadkit",
        "--force",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("notes"), "{text}");
    assert_eq!(fs::read(rtl("filelist.f")).unwrap(), b"mine.v\n");
    assert!(rtl("spad_hash_xor.v").exists());
    assert_eq!(emit(&["spad_hash_add", "--force"]).0, 0);
    assert_eq!(fs::read(rtl("notes")).unwrap(), b"mine");
    assert!(!rtl("spad_rap.v").exists());
    assert_eq!(emit(&["spad_hash_add"]).0, 0);
}

/// A prefix that makes no name is refused before anything is written.
#[test]
fn a_bad_prefix_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let args = ["emit", "spad_rap", "--prefix", "../x", "-o", "rtl"];
    let (status, text) = spadkit(&args, scratch.path());
    assert_eq!(status, 2);
    assert!(text.contains("\"../x\"") && text.contains("big_"), "{text}");
    assert!(!scratch.path().join("rtl").exists());
}

/// The report, the summary and the Verilog of `flow`, before its long work.
#[test]
fn flow_names_and_keeps_what_is_in_the_way() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("out");
    let others = "out contains files that spadkit did not write, such as rtl";
    for (name, expected) in [
        ("report.html", "report.html was not written by spadkit"),
        ("summary.json", "summary.json was not written by spadkit"),
        ("rtl/spad_rap.v", others),
        ("rtl/tb/spad_rap_tb.v", others),
    ] {
        let mine = out.join(name);
        fs::create_dir_all(mine.parent().unwrap()).unwrap();
        fs::write(&mine, "mine").unwrap();
        let args = ["flow", "kernel:transpose", "-o", "out", "--preset", "small"];
        let (status, text) = spadkit(&args, scratch.path());
        assert_eq!(status, 2, "{text}");
        assert!(text.contains(expected), "{text}");
        assert_eq!(fs::read(&mine).unwrap(), b"mine");
        assert!(!out.join("spadkit.sha256").exists());
        fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn roots_homes_and_folders_of_others_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    fs::create_dir(dir.join("home")).unwrap();
    fs::create_dir(dir.join("thesis")).unwrap();
    fs::write(dir.join("thesis/thesis.tex"), "mine").unwrap();
    let emit = |args: &[&str]| {
        let mut command = assert_cmd::Command::cargo_bin("spadkit").unwrap();
        command.args(["emit", "spad_hash_xor", "-q"]).args(args);
        command.env("HOME", dir.join("home")).current_dir(dir);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap(), text)
    };
    for (out, reason) in [
        ("/", "is the root of the file system"),
        ("home", "is a home folder"),
        (
            "thesis",
            "contains files that spadkit did not write, such as thesis.tex",
        ),
        ("-", "'-' is not an output"),
    ] {
        let (status, text) = emit(&["-o", out]);
        assert_eq!(status, 2, "{out}: {text}");
        assert!(text.contains(reason), "{out}: {text}");
    }
    assert_eq!(fs::read_dir(dir.join("thesis")).unwrap().count(), 1);
    assert_eq!(emit(&["-o", "thesis", "--force"]).0, 0);
    // From now on it is an emission.
    assert_eq!(emit(&["-o", "thesis"]).0, 0);
    assert_eq!(fs::read(dir.join("thesis/thesis.tex")).unwrap(), b"mine");
    let (status, text) = emit(&["-o", "new", "--io-budget", "0.9,0.9"]);
    assert!(status == 2 && text.contains("leaves no time"), "{text}");
    assert!(!dir.join("new").exists());
}

#[test]
fn a_folder_may_have_a_name_that_is_no_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = tempfile::tempdir().unwrap();
    let out = std::ffi::OsStr::from_bytes(b"rtl\xff");
    for format in ["text", "json"] {
        let mut command = assert_cmd::Command::cargo_bin("spadkit").unwrap();
        command.args(["emit", "spad_hash_xor", "--format", format, "-o"]);
        command.arg(out).current_dir(scratch.path());
        command.assert().success();
    }
    assert!(scratch.path().join(out).join("spad_hash_xor.v").exists());
}
