//! Bad input of every kind: one clear error, the right exit status, nothing
//! half-written; and random damage never panics.

mod damage;
mod files;
mod messages;

use assert_cmd::Command;

fn spadkit(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("spadkit").unwrap();
    command.args(args);
    command
}

/// Standard error of a command that must fail with `status`, print nothing
/// else, say one error, and not panic.
fn refused(args: &[&str], status: i32) -> String {
    let output = spadkit(args).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{args:?}: {text}");
    assert!(output.stdout.is_empty(), "{args:?} printed a result");
    assert!(!text.contains("panicked"), "{text}");
    let errors = text.lines().filter(|l| l.starts_with("error:")).count();
    assert_eq!(errors, 1, "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    // Frames and line breaks of the report aside.
    let words = text.split(|c: char| c.is_whitespace() || "│×╭╰─┬".contains(c));
    words
        .filter(|w| !w.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// One access of 32 lanes.
fn good_trace() -> String {
    let addrs: Vec<String> = (0..32).map(|i| (i * 32).to_string()).collect();
    format!(
        "{{\"name\":\"t\",\"source\":\"s\",\"block_dim\":[32,1,1],\"shared_bytes\":4096,\
         \"warp_size\":32,\"note\":1,\n\"accesses\":[\n{{\"warp\":0,\"pc\":1,\"op\":\"load\",\
         \"addrs\":[{}]}}]}}",
        addrs.join(",")
    )
}

/// Replaces the last occurrence of a text.
trait MapLast {
    fn map_last(self, from: &str, to: &str) -> Vec<u8>;
}

impl MapLast for Vec<u8> {
    fn map_last(self, from: &str, to: &str) -> Vec<u8> {
        let text = String::from_utf8(self).unwrap();
        let at = text.rfind(from).unwrap();
        (text[..at].to_owned() + to + &text[at + from.len()..]).into_bytes()
    }
}

/// A scratch folder with one file.
fn with_file(name: &str, content: &[u8]) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, content).unwrap();
    let path = path.to_str().unwrap().to_owned();
    (dir, path)
}

#[test]
fn bad_traces() {
    let good = good_trace();
    let edit = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replacen(from, to, 1).into_bytes()
    };
    let nested = |open: &str, close: &str| {
        let deep = open.repeat(100_000) + "1" + &close.repeat(100_000);
        edit("\"note\":1", &format!("\"note\":{deep}"))
    };
    let table: Vec<(Vec<u8>, &str)> = vec![
        (vec![], "the file is empty"),
        (good[..good.len() / 2].into(), "the file is truncated"),
        (
            edit("\"note\":1", "\"version\":2"),
            "version 2 is not supported",
        ),
        (
            edit("size\":32", "size\":31"),
            "accesses[0] has 32 addrs in a warp of 31",
        ),
        (
            edit("size\":32", "size\":64"),
            "accesses[0] has 32 addrs in a warp of 64",
        ),
        (
            edit("size\":32", "size\":0"),
            "warp_size 0 is not supported",
        ),
        (
            edit("size\":32", "size\":65"),
            "warp_size 65 is not supported",
        ),
        (edit(",992]", ",1024]"), "addrs[31] = 1024 is out of range"),
        (
            edit("\"warp\":0", "\"warp\":1"),
            "accesses[0] is of warp 1, but a block of 32 threads has 1 warps",
        ),
        (
            edit("[32,1,1]", "[31,1,1]"),
            "addrs[31] = 992 is of a thread that the block does not have",
        ),
        (
            edit("[32,1,1]", "[4294967295,4294967295,4294967295]"),
            "threads is not supported",
        ),
        (
            edit("\"pc\":1", "\"pc\":1,\"bytes\":8").map_last("992", "991"),
            "addrs[31] = 991 is not aligned to 8 bytes",
        ),
        (
            edit("\"pc\":1", "\"pc\":1,\"bytes\":16").map_last("992", "1023"),
            "addrs[31] = 1023 is out of range",
        ),
        (edit("[0,", "[-1,"), "integer `-1`, expected u32"),
        (edit("[0,", "[0.5,"), "floating point `0.5`, expected u32"),
        (edit("[0,", "[\"0\","), "string \"0\", expected u32"),
        (edit("[0,", "[NaN,"), "expected JSON (which has no NaN"),
        (edit("[0,", "[1e999,"), "number out of range"),
        (
            edit("[0,", "[123456789012345678901234567890,"),
            "expected u32",
        ),
        (
            edit("\"note\":1", "\"name\":\"u\""),
            "duplicate field `name`",
        ),
        (edit("\"note\":1", "\"n\":1,\"n\":1"), "duplicate field `n`"),
        (
            edit("\"note\":1", "\"n\":{\"a\":1,\"a\":2}"),
            "duplicate field `a`",
        ),
        (
            edit("\"pc\":1", "\"pc\":1,\"x\":1,\"x\":1"),
            "duplicate field `x`",
        ),
        (edit("\"pc\":1", "\"pc\":4294967296"), "4294967296"),
        (edit("\"load\"", "\"read\""), "unknown variant `read`"),
        (edit("\"name\":\"t\",", ""), "missing field `name`"),
        (edit("[32,1,1]", "[32,1]"), "expected an array of length 3"),
        (nested("[", "]"), "recursion limit"),
        (nested("{\"a\":", "}"), "recursion limit"),
        (
            "[".repeat(100_000).into_bytes(),
            "expected struct AccessTrace",
        ),
        (b"null".to_vec(), "expected struct AccessTrace"),
        (b"{}x".to_vec(), "missing field"),
        (b"{\x1b[2J\xff\xfe".to_vec(), "not UTF-8 text"),
        (b"\x1b[2J\x1b]0;title\x07".to_vec(), "expected value at"),
        (vec![0; 5000], "expected value at"),
    ];
    for (content, expected) in table {
        let (_dir, path) = with_file("bad.json", &content);
        for command in [
            &["conflicts", &path, "--hash", "xor"][..],
            &["classify", &path],
            &["sim", &path],
        ] {
            let text = refused(command, 2);
            assert!(text.contains(expected), "expected {expected:?} in {text}");
            assert!(text.contains("bad.json:"), "no place in {text}");
        }
    }
}

#[test]
fn a_bad_trace_leaves_no_output_of_any_command() {
    let (dir, path) = with_file("bad.json", b"{");
    let out = dir.path().join("new/out");
    let out = out.to_str().unwrap();
    for command in [
        &["tune", &path][..],
        &["trace", &path, "-o", out],
        &["flow", &path, "-o", out],
        &["cosim", "spad_hash_xor", "--trace", &path, "--wave", out],
    ] {
        refused(command, 2);
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

/// A full trace has programs, not the accesses of one block.
#[test]
fn a_full_trace_is_no_access_trace() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.spt");
    let file = file.to_str().unwrap();
    spadkit(&["trace", "kernel:nw", "-o", file])
        .assert()
        .success();
    let text = refused(&["conflicts", file, "--hash", "mod"], 2);
    assert!(
        text.contains("is a full trace") && text.contains("spadkit sim"),
        "{text}"
    );
}

#[test]
fn bad_hash_specs() {
    for (spec, expected) in [
        (
            "nothing",
            "'nothing' is not a hash; expected one of mod, xor",
        ),
        ("bitvec-perm:k=10", "k=10 is out of range"),
        (
            "bitvec-perm:k=4294967295",
            "out of range help: k is from 0 to 9",
        ),
        ("bitvec-perm:k=4294967296", "is not a number"),
        ("bitvec-xor:k1=0,k2=5,mask=32", "mask"),
        ("bitvec-xor:k1=0,k2=0,mask=31", "has rank 0"),
        ("bitwise-perm:0,1,2,3,14", "address bit 14 is out of range"),
        (
            "bitwise-perm:0,0,1,2,3",
            "bank bits 0 and 1 are always equal",
        ),
        ("bitwise-perm:0,1,2,3", "4 bank bits are given"),
        ("bitwise-xor:0,1,2,3,4^4", "always zero"),
        ("bitwise-xor:0^1,1^2,0^2,3,4", "has rank 4"),
        (
            "matrix:1,2,4,8,3",
            "the XOR of bank bits 0, 1, 4 is always zero",
        ),
        ("matrix:1,2,4,8,0", "bank bit 4 is always zero"),
        ("matrix:1,2,4,8,0x4000", "beyond the address"),
        ("matrix:0x,2,4,8,16", "'0x' is not a mask"),
        ("rap:0,1,2", "3 shifts given for 32 banks"),
        ("rap:seed=+1", "is not a seed"),
        ("ras:32", "1 shifts given for 32 banks"),
    ] {
        for command in [
            &["encode", spec][..],
            &["conflicts", "kernel:transpose", "--hash", spec],
        ] {
            let text = refused(command, 2);
            assert!(text.contains(expected), "{spec}: {text}");
        }
    }
}

/// Commands that take layouts of software, too, name them.
#[test]
fn a_bad_hash_is_answered_with_all_there_are() {
    let text = refused(&["conflicts", "kernel:fwt", "--hash", "nothing"], 2);
    for form in ["bitvec-xor:k1=0", "pad:every=32,by=1", "swizzle:5,0,5"] {
        assert!(text.contains(form), "{text}");
    }
}

#[test]
fn bad_configurations() {
    let deep = format!("x = {}", "[".repeat(100_000));
    let table: &[(&[u8], &str)] = &[
        (b"[geometry", "unclosed table"),
        (
            b"[geometry]\nbogus = 1",
            "unknown key 'bogus' in [geometry]",
        ),
        (b"[geometry]\naddr_bits = 9\naddr_bits = 9", "duplicate key"),
        (b"[geometry]\naddr_bits = -1", "expected 9 to 16"),
        (b"[geometry]\naddr_bits = 9.5", "is a floating-point number"),
        (b"[geometry]\naddr_bits = nan", "is a floating-point number"),
        (
            b"[geometry]\naddr_bits = 99999999999999999999",
            "expected 9 to 16",
        ),
        (
            b"[geometry]\naddr_bits = 17",
            "geometry.addr_bits 17 is not supported",
        ),
        (
            b"[geometry]\naddr_bits = 8",
            "geometry.addr_bits 8 is not supported",
        ),
        (
            b"[geometry]\nbank_bits = 7",
            "geometry.bank_bits 7 is not supported",
        ),
        (
            b"[geometry]\nlanes = 3",
            "geometry.lanes 3 is not supported",
        ),
        (b"[geometry]\nlanes = 64", "64 lanes do not divide"),
        (b"[geometry]\ncapacity_words = 0", "capacity_words 0"),
        (b"base = \"nope\"", "there is no preset 'nope'"),
        (
            b"name = \"a\\nmodule x;\"",
            "name \"a\\nmodule x;\" is not supported",
        ),
        (
            b"[hash]\nunit = \"md5\"",
            "hash.unit \"md5\" is not supported",
        ),
        (b"\xff\xfe\0", "UTF-8"),
        (deep.as_bytes(), "recursion depth"),
    ];
    for (content, expected) in table {
        let (_dir, path) = with_file("m.toml", content);
        let text = refused(&["encode", "mod", "--config", &path], 2);
        assert!(text.contains(expected), "expected {expected:?} in {text}");
        assert!(text.contains("m.toml"), "no file in {text}");
    }
}

#[test]
fn bad_usage() {
    for (command, expected) in [
        (
            "conflicts kernel:nope --hash mod",
            "there is no kernel 'nope'",
        ),
        (
            "conflicts kernel:nw:block=99999999999 --hash mod",
            "out of range",
        ),
        ("conflicts --hash xor", "INPUT is missing"),
        (
            "classify kernel:nw --preset nope",
            "there is no preset 'nope'",
        ),
        ("doctor --preset nope", "there is no preset 'nope'"),
        ("--preset nope run k.toml", "there is no preset 'nope'"),
        (
            "encode mod --preset small --config x",
            "cannot be used with",
        ),
        (
            "run kernel:nw",
            "is a pattern of accesses, without a program",
        ),
        ("encode mod --unit nope", "kinds are bitvec-perm"),
        ("encode add --unit matrix", "not linear"),
        ("emit spad_nope -o x", "there is no unit 'spad_nope'"),
        ("cosim spad_nope", "there is no unit 'spad_nope'"),
        ("compose missing.toml", "cannot read missing.toml"),
        ("cosim --cycles 0", "0 is not in 1.."),
        ("cosim --cycles -1", "invalid value '-1'"),
        ("cosim --seed x", "expected a whole number"),
        ("flow kernel:nw --budget x", "expected a whole number"),
        ("cosim --cycles 18446744073709551616", "invalid value"),
        ("cosim --wave x.vcd", "name the one unit"),
        ("tune kernel:nw --budget nan", "expected seconds"),
        ("tune kernel:nw --budget -1", "expected seconds"),
        ("tune kernel:nw --hash nope", "kinds are bitvec-perm"),
        ("flow kernel:nw --budget 18446744073709551615", "is not in"),
        ("congestion --mapping nope --access stride", "nope"),
        (
            "congestion --mapping rap --access stride --samples 0",
            "is not in 1..",
        ),
        (
            "congestion --mapping rap --access stride --samples 18446744073709551615",
            "is not in 1..",
        ),
        (
            "congestion --mapping rap --access stride --width 0",
            "expected 2 to 1024",
        ),
        (
            "congestion --mapping rap --access stride --dims 3",
            "expected 2 or 4",
        ),
        ("synth --period 0", "0 is not in 1.."),
        ("nope", "unrecognized subcommand"),
        ("", "Usage"),
    ] {
        let args: Vec<&str> = command.split_whitespace().collect();
        let output = spadkit(&args).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {text}");
        assert!(output.stdout.is_empty(), "{command}");
        assert!(text.contains(expected), "{command}: {text}");
    }
}
