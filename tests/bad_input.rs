//! Bad input of every kind: one clear error, the right exit status, nothing
//! half-written; and random damage never panics.

#[path = "bad_input/messages.rs"]
mod messages;

use assert_cmd::Command;
use proptest::prelude::*;
use spadkit::config::Config;
use spadkit::geometry::Geometry;
use spadkit::hash::{HashSpec, Mapping};
use spadkit::synth::liberty::Liberty;
use spadkit::trace::{AccessTrace, ConflictProfile, pattern};
use std::path::{Path, PathBuf};

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
        (b"\x7fELF\0\x01\x1b[2J\xff\xfe".to_vec(), "not UTF-8 text"),
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

#[test]
fn files_that_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().to_str().unwrap();
    let secret = dir.path().join("secret.json");
    std::fs::write(&secret, good_trace()).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o000)).unwrap();
    }
    let mut table = vec![
        ("no/such/file.json".to_owned(), "No such file"),
        (folder.to_owned(), "Is a directory"),
        (String::new(), "INPUT is empty"),
        (format!("{folder}/launch.toml"), "cannot read"),
    ];
    match std::fs::read(&secret) {
        Ok(_) => println!("skipped: root reads files without permission"),
        Err(_) => table.push((secret.display().to_string(), "Permission denied")),
    }
    if Path::new("/proc/self/mem").exists() {
        table.push(("/proc/self/mem".to_owned(), "Input/output error"));
    }
    for (path, expected) in table {
        let text = refused(&["conflicts", &path, "--hash", "mod"], 2);
        assert!(text.contains(expected), "{text}");
    }
    for config in ["no.toml", folder] {
        let text = refused(&["encode", "mod", "--config", config], 2);
        assert!(text.contains("cannot read"), "{text}");
    }
}

#[test]
fn bad_hash_specs() {
    for (spec, expected) in [
        ("nothing", "'nothing' is not a hash; expected one of mod, xor"),
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
            b"[geometry]\nbank_bits = 2",
            "geometry.bank_bits 2 is not supported",
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
    let table: &[(&[&str], &str)] = &[
        (
            &["conflicts", "kernel:nope", "--hash", "mod"],
            "there is no kernel 'nope'",
        ),
        (
            &["conflicts", "kernel:nw:block=99999999999", "--hash", "mod"],
            "out of range",
        ),
        (&["conflicts", "--hash", "xor"], "INPUT is missing"),
        (
            &["classify", "kernel:nw", "--preset", "nope"],
            "there is no preset 'nope'",
        ),
        (&["doctor", "--preset", "nope"], "there is no preset 'nope'"),
        (
            &["encode", "mod", "--preset", "small", "--config", "x"],
            "cannot be used with",
        ),
        (
            &["encode", "mod", "--unit", "nope"],
            "kinds are bitvec-perm",
        ),
        (&["encode", "add", "--unit", "matrix"], "not linear"),
        (
            &["emit", "spad_nope", "-o", "x"],
            "there is no unit 'spad_nope'",
        ),
        (&["cosim", "spad_nope"], "there is no unit 'spad_nope'"),
        (&["cosim", "--cycles", "0"], "0 is not in 1.."),
        (&["cosim", "--cycles", "-1"], "invalid value '-1'"),
        (
            &["cosim", "--cycles", "18446744073709551616"],
            "invalid value",
        ),
        (&["cosim", "--wave", "x.vcd"], "name the one unit"),
        (
            &["tune", "kernel:nw", "--budget", "nan"],
            "expected seconds",
        ),
        (&["tune", "kernel:nw", "--budget", "-1"], "expected seconds"),
        (
            &["tune", "kernel:nw", "--hash", "nope"],
            "kinds are bitvec-perm",
        ),
        (
            &["flow", "kernel:nw", "--budget", "18446744073709551615"],
            "is not in",
        ),
        (
            &["congestion", "--mapping", "nope", "--access", "stride"],
            "nope",
        ),
        (
            &[
                "congestion",
                "--mapping",
                "rap",
                "--access",
                "stride",
                "--samples",
                "0",
            ],
            "is not in 1..",
        ),
        (
            &[
                "congestion",
                "--mapping",
                "rap",
                "--access",
                "stride",
                "--samples",
                "18446744073709551615",
            ],
            "is not in 1..",
        ),
        (
            &[
                "congestion",
                "--mapping",
                "rap",
                "--access",
                "stride",
                "--width",
                "0",
            ],
            "expected 2 to 1024",
        ),
        (
            &[
                "congestion",
                "--mapping",
                "rap",
                "--access",
                "stride",
                "--dims",
                "3",
            ],
            "expected 2 or 4",
        ),
        (&["synth", "--period", "0"], "0 is not in 1.."),
        (&["nope"], "unrecognized subcommand"),
        (&[], "Usage"),
    ];
    for (args, expected) in table {
        let output = spadkit(args).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(output.stdout.is_empty(), "{args:?}");
        assert!(text.contains(expected), "{args:?}: {text}");
    }
}

#[test]
fn output_that_cannot_be_written_keeps_what_was_there() {
    let (dir, file) = with_file("file", b"old");
    let below = format!("{file}/x");
    let in_proc = "/proc/no/such";
    for target in [file.as_str(), &below, in_proc] {
        refused(&["emit", "spad_hash_xor", "-o", target], 2);
        refused(&["flow", "kernel:nw", "-o", target], 2);
    }
    let folder = dir.path().to_str().unwrap();
    for target in [folder, &below, in_proc] {
        refused(&["trace", "kernel:nw", "-o", target], 2);
        refused(&["cosim", "spad_hash_xor", "--wave", target], 2);
    }
    let blocked = dir.path().join("blocked/spad_hash_xor.v");
    std::fs::create_dir_all(&blocked).unwrap();
    let text = refused(
        &["emit", "-o", blocked.parent().unwrap().to_str().unwrap()],
        2,
    );
    assert!(text.contains("spad_hash_xor.v: is a directory"), "{text}");
    assert_eq!(
        std::fs::read_dir(blocked.parent().unwrap())
            .unwrap()
            .count(),
        1
    );
    assert_eq!(std::fs::read(&file).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    if Path::new("/dev/full").exists() {
        let text = refused(&["trace", "kernel:nw", "-o", "/dev/full"], 2);
        assert!(text.contains("No space left"), "{text}");
        assert!(
            !std::fs::metadata("/dev/full").unwrap().is_file(),
            "the device is gone"
        );
    }
}

/// A mounted tmpfs of a few pages, unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Option<Self> {
        let mount = |options: &str| {
            let mut command = std::process::Command::new("mount");
            command
                .args(["-t", "tmpfs", "-o", options, "tmpfs"])
                .arg(at);
            command.output().is_ok_and(|o| o.status.success())
        };
        if !mount("size=48k") {
            println!("skipped: a small tmpfs cannot be mounted (needs root)");
            return None;
        }
        Some(SmallDisk(at.to_owned()))
    }

    fn remount_read_only(&self) -> bool {
        let mut command = std::process::Command::new("mount");
        command.args(["-o", "remount,ro"]).arg(&self.0);
        command.output().is_ok_and(|o| o.status.success())
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut paths: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
        paths.sort();
        paths
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).output();
    }
}

#[test]
fn a_full_disk_keeps_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(dir.path()) else {
        return;
    };
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let (trace, rtl) = (path("t.json"), path("rtl"));
    // A mount point is a place to emit into.
    spadkit(&["emit", "spad_hash_xor", "--bench-cycles", "0", "-o", &rtl])
        .assert()
        .success();
    spadkit(&["trace", "kernel:stride", "-o", &trace])
        .assert()
        .success();
    let before = (std::fs::read(&trace).unwrap(), disk.files());
    let rtl_files = std::fs::read_dir(&rtl).unwrap().count();
    for (args, expected) in [
        (vec!["trace", "kernel:fwt", "-o", &trace], "t.json"),
        (
            vec!["trace", "kernel:fwt", "-o", &path("new/t.json")],
            "new/t.json",
        ),
        (vec!["emit", "-o", &rtl], "rtl/"),
        (vec!["emit", "-o", &path("new")], "new/"),
    ] {
        let text = refused(&args, 2);
        assert!(text.contains("No space left"), "{text}");
        assert!(text.contains(expected), "{text}");
        assert_eq!(disk.files(), before.1, "{args:?}");
        assert_eq!(std::fs::read(&trace).unwrap(), before.0);
        assert_eq!(std::fs::read_dir(&rtl).unwrap().count(), rtl_files);
    }
    if disk.remount_read_only() {
        for args in [
            ["trace", "kernel:stride", "-o", &trace],
            ["emit", "spad_hash_xor", "-o", &rtl],
            ["flow", "kernel:stride", "-o", &path("new")],
        ] {
            let text = refused(&args, 2);
            assert!(text.to_lowercase().contains("read-only"), "{text}");
        }
    }
}

#[test]
fn a_mount_point_takes_the_verilog() {
    let dir = tempfile::tempdir().unwrap();
    let Some(_disk) = SmallDisk::mount(dir.path()) else {
        return;
    };
    let rtl = dir.path().to_str().unwrap();
    spadkit(&["emit", "spad_hash_xor", "--bench-cycles", "0", "-o", rtl])
        .assert()
        .success();
    assert!(dir.path().join("spad_hash_xor.v").exists());
    // The Verilog, the list of files, the core, the manifest, the digests, and
    // the folder of the constraints.
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 6);
}

/// Cuts, doubles or overwrites a piece of `text`.
fn damage(mut text: Vec<u8>, edits: &[(prop::sample::Index, u8, u8)]) -> Vec<u8> {
    for (place, kind, byte) in edits {
        if text.is_empty() {
            break;
        }
        let at = place.index(text.len());
        let end = (at + usize::from(*byte)).min(text.len());
        match kind % 5 {
            0 => text[at] = *byte,
            1 => text[at] ^= 1 << (byte % 8),
            2 => text.truncate(at),
            3 => drop(text.drain(at..end)),
            _ => {
                let piece = text[at..end].to_vec();
                text.splice(at..at, piece);
            }
        }
    }
    text
}

const SPECS: [&str; 8] = [
    "bitvec-perm:k=3",
    "bitvec-xor:k1=0,k2=5,mask=7",
    "bitwise-perm:0,4,5,6,7",
    "bitwise-xor:0,0^4,0^5,1^6,2^7",
    "matrix:0x21,0x42,0x84,0x108,0x210",
    "rap:seed=1",
    "ras:2,0,3,1",
    "add",
];

const CONFIG: &str = "name = \"x\"\nbase = \"gt200\"\n[geometry]\naddr_bits = 12\nbank_bits = 4\n\
    lanes = 16\n[path]\nlocks = 64\n[scheduler]\npolicy = \"gto\"\n[sharing]\nthreshold = 0.5\n";

fn edits() -> impl Strategy<Value = Vec<(prop::sample::Index, u8, u8)>> {
    prop::collection::vec(any::<(prop::sample::Index, u8, u8)>(), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn damaged_traces_never_panic(edits in edits()) {
        let text = damage(good_trace().into_bytes(), &edits);
        if let Ok(trace) = AccessTrace::from_json(&String::from_utf8_lossy(&text), Path::new("t")) {
            // What is accepted can be used.
            let again = AccessTrace::from_json(&trace.to_json(), Path::new("t")).unwrap();
            prop_assert_eq!(&again, &trace);
            let count = ConflictProfile::new(&trace, 32).count(|a| a & 31);
            prop_assert!(count.max_degree <= 32);
            pattern::classify(&trace);
            pattern::strides(&trace);
        }
    }

    #[test]
    fn damaged_specs_never_panic(which in 0..SPECS.len(), edits in edits()) {
        let text = damage(SPECS[which].as_bytes().to_vec(), &edits);
        if let Ok(spec) = String::from_utf8_lossy(&text).parse::<HashSpec>() {
            prop_assert_eq!(&spec.to_string().parse::<HashSpec>().unwrap(), &spec);
            for geometry in Geometry::all() {
                if let Ok(mapping) = Mapping::new(&spec, geometry) {
                    prop_assert!((mapping.bank(u32::MAX) as usize) < geometry.banks());
                }
            }
        }
    }

    #[test]
    fn damaged_configurations_never_panic(edits in edits()) {
        let text = damage(CONFIG.as_bytes().to_vec(), &edits);
        if let Ok(c) = Config::from_toml(&String::from_utf8_lossy(&text), Path::new("m.toml")) {
            prop_assert!(c.capacity_words as usize <= c.geometry.words());
        }
    }

    #[test]
    fn damaged_libraries_never_panic(edits in edits()) {
        let text = damage(include_bytes!("fixtures/tiny.lib").to_vec(), &edits);
        let text = String::from_utf8_lossy(&text).into_owned();
        if let Ok(library) = Liberty::parse(text, Path::new("x.lib")) {
            for cell in library.cells.values() {
                cell.truth_table();
            }
        }
    }
}
