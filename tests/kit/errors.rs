//! Errors on a screen: within its width, and with what to do.

use crate::common::{self, spadkit};
use std::path::Path;

/// Errors keep to the width as well, and a command in them can be pasted whole.
#[test]
fn errors_fit_and_their_commands_stay_whole() {
    let dir = tempfile::tempdir().unwrap();
    let fast = dir.path().join("fast.ptx");
    let fast = fast.to_str().unwrap();
    let errors = [
        &["gate", "--fail-on", "foo > 0", "kernels/fwt/fwt.toml"][..],
        &["prove", "spad_skid"],
        &[
            "rewrite",
            "kernels/fwt/fwt.toml",
            "--hash",
            "swizzle:5,0,5",
            "-o",
            fast,
        ],
    ];
    for args in errors {
        let output = spadkit(args).env("COLUMNS", "80").output().unwrap();
        assert!(!output.status.success());
        let text = String::from_utf8(output.stderr).unwrap();
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{args:?}: {line}");
        }
        let joined = text.replace("\\\n", "");
        let commands = joined
            .lines()
            .map(str::trim)
            .filter_map(|l| l.strip_prefix("spadkit "));
        for command in commands {
            let args: Vec<&str> = command.split_whitespace().collect();
            spadkit(&args).assert().success();
        }
    }
}

#[test]
fn source_and_ptx_say_what_to_do_with_them() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("k.cu"), "__global__ void k() {}\n").unwrap();
    let ptx = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/transpose/transpose.ptx");
    std::fs::copy(ptx, at("k.ptx")).unwrap();
    for command in ["conflicts", "run", "sim", "tune", "init", "classify"] {
        let message = common::refused(&[command, &at("k.cu")]);
        assert!(
            message.contains("nvcc -ptx -lineinfo"),
            "{command}: {message}"
        );
    }
    for command in ["conflicts", "run", "sim", "tune"] {
        let message = common::refused(&[command, &at("k.ptx")]);
        assert!(message.contains("spadkit init"), "{command}: {message}");
    }
}
