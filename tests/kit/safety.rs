//! Security: odd names, endless inputs, Verilog and caches from others. And
//! what stands for each exit status.

use crate::common::in_one_line;
use crate::common::tools::{OSU018, missing};
use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Everything that a shell, Tcl, Yosys or make makes something of.
const ODD: &str = "a b;touch hit $(touch hit)`touch hit`[exec touch hit]\"'\\{#\n\u{1b}[31m";

fn spadkit(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spadkit"));
    command.args(args).stdin(Stdio::null());
    command
}

fn with_stdin(args: &[&str], input: &[u8]) -> Output {
    let mut command = spadkit(args);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that has seen enough closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// The error of a command that has to end with this status.
fn error(output: &Output, status: i32) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(status), "{text}");
    assert!(
        output.stdout.is_empty() && !text.contains("panicked"),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "{text}");
    text
}

fn success(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn program(path: PathBuf, text: &str) -> PathBuf {
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn inputs_without_end_are_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let zero = Path::new("/dev/zero");
    if !zero.exists() || !Path::new("/dev/urandom").exists() {
        println!("skipped: there are no such devices");
        return;
    }
    let warp = dir.path().join("x.warp");
    let spt = dir.path().join("x.spt");
    for link in [&warp, &spt] {
        std::os::unix::fs::symlink(zero, link).unwrap();
    }
    let (warp, spt) = (warp.to_str().unwrap(), spt.to_str().unwrap());
    let start = Instant::now();
    for args in [
        &["conflicts", "/dev/urandom", "--hash", "mod"][..],
        &["encode", "mod", "--config", "/dev/zero"],
        &["synth", "spad_hash_xor", "--liberty", "/dev/urandom"],
        &["sim", warp],
        &["sim", spt],
        &["sim", "/dev/urandom"],
    ] {
        let text = error(&spadkit(args).output().unwrap(), 2);
        assert!(
            text.contains("is a device") || text.contains("truncated"),
            "{text}"
        );
    }
    // A pipe that never ends is not text after its first bytes.
    for args in [
        &["classify", "-"][..],
        &["synth", "spad_hash_xor", "--liberty", "-"],
        &["sim", "-"],
    ] {
        let text = error(&with_stdin(args, &vec![0; 1 << 20]), 2);
        assert!(text.contains("standard input is not text"), "{text}");
    }
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn standard_input_is_read_where_an_input_is_taken() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    let seed = |name: &str| std::fs::read(seeds.join(name)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("t.json");
    let command = ["trace", "kernel:transpose", "-o", file.to_str().unwrap()];
    success(&spadkit(&command).output().unwrap());
    let trace = std::fs::read(&file).unwrap();
    let conflicts = success(&with_stdin(&["conflicts", "-", "--hash", "mod"], &trace));
    assert!(conflicts.contains("56"), "{conflicts}");
    let config = ["encode", "xor", "--format", "json", "--config", "-"];
    let encoded = success(&with_stdin(&config, b"base = \"small\"\n"));
    assert!(encoded.contains("spad_hash_xor"), "{encoded}");
    let sim = ["sim", "-", "--preset", "small"];
    for input in ["warp/doc.warp", "spt/all.spt"] {
        success(&with_stdin(&["sim", "-"], &seed(input)));
    }
    success(&with_stdin(&sim, &trace));
    let text = error(&with_stdin(&["classify", "-"], b"{\n x"), 2);
    assert!(text.contains("standard input:2:2"), "{text}");
    let text = error(&with_stdin(&["synth", "--liberty", "-"], b"x"), 2);
    assert!(text.contains("standard input:1:"), "{text}");
}

/// Names from inputs, in messages, tables, JSON and files.
#[test]
fn names_do_not_steer_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join(format!("{ODD}.json"));
    let path = file.to_str().unwrap();
    let text = error(&spadkit(&["classify", path]).output().unwrap(), 2);
    assert!(text.contains("\\n\\x1b[31m.json: No such file"), "{text}");
    let trace = "{\"name\":\"n\\u001b[2K\\nerror: x\\u202e\",\"source\":\"s\\u0007\",\"block_dim\":[2,1,1],\
                 \"shared_bytes\":16,\"warp_size\":2,\
                 \"accesses\":[{\"warp\":0,\"pc\":0,\"op\":\"load\",\"addrs\":[0,1]}]}";
    std::fs::write(&file, trace).unwrap();
    for args in [
        &["classify", path][..],
        &["conflicts", path, "--hash", "mod"],
        &["tune", path, "--hash", "bitvec-perm", "--preset", "small"],
    ] {
        let output = spadkit(args).output().unwrap();
        let text = success(&output) + &String::from_utf8(output.stderr).unwrap();
        let steers = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!text.contains(steers), "{args:?} {text:?}");
    }
}

/// The names of source files in PTX, in messages and pages.
#[test]
fn source_files_do_not_steer_the_terminal_or_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n\
        .file 1 \"/gone/\u{1b}[31m<b>.cu\"\n.visible .entry k() {\n\
        .reg .b32 %r<4>; .shared .align 4 .b8 s[8192];\n.loc 1 7 0\n\
        mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, 128; mov.u32 %r3, s; add.u32 %r2, %r2, %r3;\n\
        st.shared.u32 [%r2], %r1;\nst.shared.u32 [%r3], %r1;\nret;\n}\n";
    std::fs::write(at("k.ptx"), ptx).unwrap();
    std::fs::write(at("k.toml"), "ptx = \"k.ptx\"\ngrid = [1]\nblock = [64]\n").unwrap();
    let output = spadkit(&["run", &at("k.toml"), "--races", "-q"]).output();
    let output = output.unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("help: see line"), "{text}");
    let steers = |c: char| c.is_control() && c != '\n';
    assert!(!text.contains(steers), "{text:?}");
    let page = at("page.html");
    let tune = [
        "tune",
        &at("k.toml"),
        "--software",
        "--budget",
        "1",
        "--report",
        &page,
    ];
    success(&spadkit(&tune).output().unwrap());
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.contains("\\x1b[31m&lt;b&gt;.cu"),
        "the name is not there"
    );
    assert!(!page.contains(|c: char| steers(c) && c != '\t'));
}

/// Yosys, ABC, OpenSTA, Verilator and the compiler in folders whose names would
/// be commands to a shell or to Tcl: they work, or are refused by the kit.
#[test]
fn folders_of_any_name_are_no_commands() {
    if missing(&["yosys", "sta", "verilator", "c++", OSU018]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let odd = dir.path().join(ODD.replace(['\n', '\u{1b}'], "_"));
    std::fs::create_dir(&odd).unwrap();
    let (rtl, liberty) = (odd.join("rtl"), odd.join("l b.lib"));
    std::fs::copy(OSU018, &liberty).unwrap();
    let spaces = dir.path().join("with a space");
    std::fs::create_dir(&spaces).unwrap();
    let at = |folder: &Path, args: &[&str], more: &[(&str, &Path)]| {
        let mut command = spadkit(args);
        for (option, path) in more {
            command.arg(option).arg(path);
        }
        let cache = folder.join("cache");
        command
            .env("SPADKIT_CACHE", cache)
            .env("TMPDIR", folder)
            .current_dir(&odd);
        command.output().unwrap()
    };
    let unit = |command| [command, "spad_hash_xor", "--preset", "small"];
    // What the proof that it is a bijection is about.
    let units = ["spad_hash_xor", "spad_row_map", "spad_hash_config_row_map"];
    let emit = [&["emit", "--preset", "small"][..], &units].concat();
    success(&at(&odd, &emit, &[("-o", &rtl)]));
    let cycles: (&str, &Path) = ("--cycles", Path::new("100"));
    success(&at(&odd, &unit("cosim"), &[("--rtl", &rtl), cycles]));
    let synth: &[(&str, &Path)] = &[("--liberty", &liberty), ("--period", Path::new("900"))];
    let prove: &[(&str, &Path)] = &[("--rtl", &rtl)];
    for (command, more) in [("synth", synth), ("prove", prove)] {
        success(&at(&spaces, &unit(command), more));
        let text = error(&at(&odd, &unit(command), more), 2);
        assert!(text.contains("Yosys cannot work in a folder"), "{text}");
    }
    for folder in [dir.path(), &odd, &rtl] {
        assert!(!folder.join("hit").exists(), "{}", folder.display());
    }
}

#[test]
fn a_command_that_is_printed_can_be_pasted() {
    if missing(&["verilator", "c++", "sh"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let rtl = dir.path().join("it's; touch hit");
    std::fs::create_dir(&rtl).unwrap();
    let wrong =
        "module spad_hash_xor(input [9:0] addr, output [2:0] bank); assign bank = 0; endmodule";
    std::fs::write(rtl.join("spad_hash_xor.v"), wrong).unwrap();
    let args = [
        "cosim",
        "spad_hash_xor",
        "--preset",
        "small",
        "--cycles",
        "50",
        "--rtl",
    ];
    let output = spadkit(&args)
        .arg(&rtl)
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    let text = in_one_line(&text);
    let command = text.split_once("with: ").unwrap().1.trim().to_owned();
    assert!(
        command.contains("--rtl '") && command.contains("it'\\''s; touch hit'"),
        "{command}"
    );
}

#[test]
fn verilog_of_others_is_run_only_if_it_is_trusted() {
    let dir = tempfile::tempdir().unwrap();
    let hit = dir.path().join("hit");
    let put = |body: &str| {
        let text = format!(
            "module spad_hash_xor(input [9:0] addr, output [2:0] bank);\n\
             assign bank = addr[2:0] ^ addr[5:3];\n{body}\nendmodule\n"
        );
        std::fs::write(dir.path().join("spad_hash_xor.v"), text).unwrap();
    };
    let run = |command: &str, more: &[&str]| {
        let mut command = spadkit(&[command, "spad_hash_xor", "--preset", "small"]);
        command.args(more).arg("--rtl").arg(dir.path());
        command.output().unwrap()
    };
    let system = format!("initial $system(\"touch '{}'\");", hit.display());
    for (body, what) in [
        (&system[..], "$system"),
        ("initial $c(\"abort();\");", "$c"),
        (
            "import \"DPI-C\" function int system(input string s);",
            "import",
        ),
        ("`include \"/etc/passwd\"", "`include"),
    ] {
        put(body);
        for command in ["cosim", "prove"] {
            if command == "prove" && missing(&["yosys"]) {
                continue;
            }
            let text = error(&run(command, &[]), 2);
            assert!(
                text.contains(what) && text.contains("spad_hash_xor.v:3:"),
                "{text}"
            );
            assert!(text.contains("--trust"), "{text}");
        }
    }
    assert!(!hit.exists());
    std::fs::write(dir.path().join("a;b.v"), "").unwrap();
    let text = error(&run("prove", &[]), 2);
    assert!(text.contains("'a;b.v' cannot go into the script"), "{text}");
    std::fs::remove_file(dir.path().join("a;b.v")).unwrap();
    let alone = spadkit(&["cosim", "--trust"]).output().unwrap();
    assert_eq!(alone.status.code(), Some(2), "--trust is about --rtl");
    if missing(&["verilator", "c++"]) {
        return;
    }
    put(&system);
    success(&run("cosim", &["--trust", "--cycles", "10"]));
    assert!(hit.exists(), "that is what the check is for");
}

#[test]
fn a_cache_of_others_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let yosys = program(
        dir.path().join("yosys"),
        "[ \"$1\" = -V ] && { echo 'Yosys 0.23'; exit 0; }; exit 1",
    );
    let run = || {
        let mut command = spadkit(&["mutate", "spad_hash_xor", "--preset", "small"]);
        command
            .env("SPADKIT_CACHE", &cache)
            .env("SPADKIT_YOSYS", &yosys)
            .output()
            .unwrap()
    };
    error(&run(), 3);
    assert_eq!(
        cache.metadata().unwrap().permissions().mode() & 0o777,
        0o700
    );
    std::fs::set_permissions(&cache, Permissions::from_mode(0o777)).unwrap();
    let text = in_one_line(&error(&run(), 2));
    assert!(text.contains("is writable by others (mode 777)"), "{text}");
    assert!(
        text.contains("chmod -R go-w") && text.contains("SPADKIT_CACHE"),
        "{text}"
    );
    std::fs::set_permissions(&cache, Permissions::from_mode(0o700)).unwrap();
    error(&run(), 3);
}

/// 130 and 143 are in `signals.rs`.
#[test]
fn each_kind_of_outcome_has_its_exit_status() {
    let dir = tempfile::tempdir().unwrap();
    let failing = program(
        dir.path().join("tool"),
        "[ \"$1\" = -V ] && { echo 'Yosys 0.23'; exit 0; }; echo no; exit 9",
    );
    let disproof = program(
        dir.path().join("disproof"),
        "[ \"$1\" = -V ] && { echo 'Yosys 0.23'; exit 0; }\n\
         grep -o 'log spadkit-step [0-9]*' prove.ys | while read -r log step; do echo \"$step\"; \
         echo 'SAT proof finished - model found: FAIL!'; done",
    );
    let status = |args: &[&str], yosys: &Path| {
        let mut command = spadkit(args);
        command
            .env("SPADKIT_YOSYS", yosys)
            .env("SPADKIT_CACHE", dir.path().join("cache"));
        command.output().unwrap().status.code()
    };
    let prove = ["prove", "spad_hash_xor", "--preset", "small"];
    assert_eq!(status(&["classify", "kernel:transpose"], &failing), Some(0));
    assert_eq!(status(&["--version"], &failing), Some(0));
    assert_eq!(status(&prove, &disproof), Some(1), "a check failed");
    assert_eq!(
        status(&["classify", "kernel:none"], &failing),
        Some(2),
        "bad input"
    );
    assert_eq!(status(&["classify"], &failing), Some(2), "bad usage");
    let missing = dir.path().join("none/k.json");
    let folder = dir.path().to_str().unwrap();
    for file in [missing.to_str().unwrap(), folder] {
        let args = ["classify", file];
        assert_eq!(status(&args, &failing), Some(2), "not read: {file}");
        let args = ["synth", "spad_hash_xor", "--liberty", file];
        assert_eq!(status(&args, &failing), Some(2), "not read: {file}");
    }
    let csv = ["sim", "kernel:transpose", "--csv", folder];
    assert_eq!(status(&csv, &failing), Some(2), "not written");
    let emit = ["emit", "spad_hash_xor", "-o", "/dev/null/rtl"];
    assert_eq!(status(&emit, &failing), Some(2), "not written");
    assert_eq!(status(&prove, &failing), Some(3), "a tool failed");
    assert_eq!(
        status(&prove, Path::new("/none")),
        Some(3),
        "a tool is missing"
    );
}

/// What the fuzzer starts from is what its readers accept.
#[test]
fn the_seeds_of_the_fuzzer_are_good_inputs() {
    use spadkit::assembler::listed_accesses;
    use spadkit::launch::LaunchFile;
    use spadkit::{config::Config, hash::HashSpec, ptx, synth::liberty::Liberty, trace, workload};
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds");
    let mut seen = 0;
    for kind in std::fs::read_dir(seeds).unwrap() {
        let kind = kind.unwrap();
        for seed in std::fs::read_dir(kind.path()).unwrap() {
            let path = seed.unwrap().path();
            let text = || std::fs::read_to_string(&path).unwrap();
            let read = match kind.file_name().to_str().unwrap() {
                "trace" => trace::AccessTrace::load(&path).map(drop),
                "hash_spec" => text().parse::<HashSpec>().map(drop),
                "config" => Config::load(&path).map(drop),
                "liberty" => Liberty::load(&path).map(drop),
                "spt" | "warp" => workload::Input::from(path.clone())
                    .programs(&workload::AccessOptions::default())
                    .and_then(|w| {
                        let mut program = w.open(0, 0)?;
                        while program.next_part()?.is_some() {}
                        Ok(())
                    }),
                "nvdisasm" => {
                    assert!(listed_accesses(&text(), "k").is_some(), "no code of k");
                    Ok(())
                }
                "ptx" => ptx::Module::parse(&text(), "seed.ptx").map(drop),
                "launch" => LaunchFile::load(&path).map(drop),
                "accelsim" => trace::accelsim::Survey::read(&path).map(drop),
                "kernel" => workload::load_input(&format!("kernel:{}", text())).map(drop),
                other => panic!("no reader for {other}"),
            };
            read.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen} seeds");
}
