//! No command overwrites what it reads, writes two results to one file, or
//! leaves a part of a result where a whole one was.

use crate::common::{refused, spadkit};
use serde_json::json;
use std::path::Path;

const PTX: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
    .file 1 \"/gone/k.cu\"\n\
    .visible .entry k(.param .u64 a) {\n.reg .b64 %rd<2>; .reg .b32 %r<3>;\n\
    .shared .align 4 .b8 s[128];\n\
    ld.param.u64 %rd1, [a]; mov.u32 %r1, s; st.shared.u32 [%r1], 7;\n\
    ld.shared.u32 %r2, [%r1]; st.global.u32 [%rd1], %r2; ret;\n}\n";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.put("k.ptx", PTX);
        folder.put("k.cu", "source");
        let launch = "ptx = \"k.ptx\"\ngrid = [1]\nblock = [32]\n[[arg]]\nname = \"a\"\n\
                      type = \"u32\"\ncount = 4\ninit = \"in.npy\"\n";
        folder.put("k.toml", &launch.replace("\ninit = \"in.npy\"", ""));
        let a = format!("a={}", folder.at("in.npy"));
        spadkit(&["run", &folder.at("k.toml"), "--dump", &a])
            .assert()
            .success();
        folder.put("exp.npy", "expected");
        folder.put("k.toml", &format!("{launch}expect = \"exp.npy\"\n"));
        spadkit(&["trace", "kernel:transpose", "-o", &folder.at("t.json")])
            .assert()
            .success();
        spadkit(&["trace", "kernel:transpose", "-o", &folder.at("t.spt")])
            .assert()
            .success();
        std::os::unix::fs::symlink(folder.at("t.spt"), folder.at("link.spt")).unwrap();
        std::fs::hard_link(folder.at("k.ptx"), folder.at("same.ptx")).unwrap();
        folder
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).unwrap();
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.path().join(name)).unwrap()
    }
}

/// Every command that writes files, with one of its inputs as the result: by
/// its name, by another path, through a link; also an input of an input.
#[test]
fn inputs_are_not_overwritten() {
    let folder = Folder::new();
    let names = [
        "k.ptx", "k.toml", "in.npy", "t.json", "t.spt", "k.cu", "exp.npy",
    ];
    let before = names.map(|name| folder.read(name));
    let at = |name: &str| folder.at(name);
    let dump = format!("a={}", at("./in.npy"));
    let cases: Vec<Vec<String>> = [
        vec!["trace", "t.json", "-o", "t.json"],
        vec!["trace", "t.spt", "-o", "./t.spt"],
        vec!["trace", "t.spt", "-o", "link.spt"],
        vec!["trace", "k.toml", "-o", "k.ptx"],
        vec!["trace", "k.toml", "-o", "in.npy"],
        vec!["trace", "k.toml", "-o", "exp.npy"],
        vec!["sim", "k.toml", "--csv", "exp.npy"],
        vec!["sim", "t.spt", "--csv", "t.spt"],
        vec!["sim", "k.toml", "--chart", "k.toml"],
        vec!["rewrite", "k.ptx", "--hash", "xor", "-o", "k.ptx"],
        vec!["rewrite", "k.ptx", "--hash", "xor", "-o", "same.ptx"],
        vec!["rewrite", "k.toml", "--hash", "xor", "-o", "in.npy"],
        vec![
            "rewrite", "k.ptx", "--hash", "xor", "--launch", "k.toml", "-o", "k.toml",
        ],
        vec!["share", "k.ptx", "--block", "32", "-o", "k.ptx"],
        vec!["share", "k.toml", "--dot", "k.toml", "--no-sim"],
        vec!["share", "k.toml", "--report", "k.ptx", "--no-sim"],
        vec!["init", "k.ptx", "--force", "-o", "same.ptx"],
        vec!["rewrite", "k.ptx", "--hash", "xor", "-o", "k.cu"],
        vec!["sim", "k.toml", "--csv", "k.cu"],
        vec!["share", "k.toml", "--report", "k.cu", "--no-sim"],
        vec!["run", "k.toml", "--dump", &dump],
        vec!["gate", "k.toml", "--sarif", "k.ptx"],
        vec!["gate", "k.toml", "--sarif", "k.cu"],
        vec!["gate", "k.toml", "--junit", "k.toml"],
        vec!["gate", "t.json", "k.toml", "--junit", "in.npy"],
        vec!["gate", "k.toml", "t.json", "--sarif", "t.json"],
        vec!["gate", "k.toml", "--write-baseline", "k.ptx"],
    ]
    .into_iter()
    .map(|case| {
        let file = |word: &str| folder.0.path().join(word).exists();
        case.into_iter()
            .map(|word| {
                if file(word) {
                    at(word)
                } else {
                    word.to_owned()
                }
            })
            .collect()
    })
    .collect();
    for case in cases {
        let args: Vec<&str> = case.iter().map(String::as_str).collect();
        let text = refused(&args);
        assert!(
            text.contains("is an input of this command"),
            "{args:?}: {text}"
        );
        for (name, content) in names.iter().zip(&before) {
            assert!(folder.read(name) == *content, "{args:?} changed {name}");
        }
    }
}

/// Points are added to a file, so it is read before the inputs are.
#[test]
fn points_are_not_added_to_an_input() {
    let folder = Folder::new();
    for name in ["exp.npy", "in.npy", "k.cu"] {
        let before = folder.read(name);
        let text = refused(&["tune", &folder.at("k.toml"), "--points", &folder.at(name)]);
        assert!(text.contains("line 1: no point"), "{name}: {text}");
        assert!(folder.read(name) == before, "{name} is another one");
    }
}

#[test]
fn two_results_do_not_go_to_one_file() {
    let folder = Folder::new();
    let (x, k) = (folder.at("x"), folder.at("k.ptx"));
    let other = folder.at("./x");
    for args in [
        vec!["sim", "kernel:transpose", "--csv", &x, "--chart", &other],
        vec!["share", &k, "--block", "32", "-o", &x, "--dot", &other],
        vec!["share", &k, "--block", "32", "--report", &x, "--dot", &x],
    ] {
        let text = refused(&args);
        assert!(
            text.contains("two results would be written to"),
            "{args:?}: {text}"
        );
        assert!(!Path::new(&x).exists());
    }
    // A device takes whatever comes.
    let both = [
        "sim",
        "kernel:transpose",
        "--csv",
        "/dev/null",
        "--chart",
        "/dev/null",
    ];
    spadkit(&both).assert().success();
}

/// Results of an interrupted gate go beside those of a whole one.
#[test]
fn an_interrupted_gate_keeps_whole_results() {
    let folder = Folder::new();
    // No search ends in the time that it has.
    let mut random = 1u64;
    let mut word = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 40) % 8192
    };
    let mut access = |pc: usize| {
        let addrs: Vec<u64> = (0..32).map(|_| word()).collect();
        json!({"warp": 0, "pc": pc, "op": "load", "addrs": addrs})
    };
    let accesses: Vec<_> = (0..200).map(&mut access).collect();
    let trace = json!({
        "name": "random", "source": "test", "block_dim": [32, 1, 1], "shared_bytes": 32768,
        "warp_size": 32, "accesses": accesses,
    });
    folder.put("random.json", &trace.to_string());
    let results = ["g.sarif", "g.xml"];
    results.iter().for_each(|name| folder.put(name, "whole"));
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_spadkit"))
        .current_dir(folder.0.path())
        .args([
            "gate",
            "random.json",
            "--fail-on",
            "conflicts > 0",
            "--budget",
            "600",
        ])
        .args(["--sarif", "g.sarif", "--junit", "g.xml"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // What comes before the search takes a few milliseconds.
    let id = child.id().to_string();
    let ticks = || {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        let time = stat.rsplit(')').next().unwrap().split_whitespace().nth(11);
        time.unwrap().parse::<u64>().unwrap()
    };
    while ticks() < 100 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let killed = std::process::Command::new("kill")
        .args(["-s", "INT", &id])
        .status();
    assert!(killed.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    for name in results {
        assert_eq!(folder.read(name), b"whole", "{name}");
        let partial = folder.0.path().join(format!("{name}.partial"));
        assert!(partial.exists(), "{name}");
    }
}

/// The report of an interrupted flow goes beside that of a whole one, is no baseline, and goes
/// with the next whole one.
#[test]
fn an_interrupted_flow_keeps_the_whole_report() {
    let folder = Folder::new();
    let out = folder.at("out");
    let fast = [
        "flow",
        "kernel:nw",
        "--preset",
        "small",
        "--budget",
        "1",
        "--fast",
        "-o",
        &out,
    ];
    spadkit(&fast).assert().success();
    let names = ["summary.json", "report.html"].map(|name| format!("out/{name}"));
    let before = names.each_ref().map(|name| folder.read(name));
    let slow = [
        "flow",
        "tests/fixtures/cuda/bins.toml",
        "--preset",
        "sm80",
        "--budget",
        "600",
        "--fast",
        "-o",
        &out,
    ];
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_spadkit"))
        .args(slow)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let id = child.id().to_string();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let killed = std::process::Command::new("kill")
        .args(["-s", "INT", &id])
        .status();
    assert!(killed.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    for (name, before) in names.iter().zip(&before) {
        assert!(folder.read(name) == *before, "{name}");
    }
    let partial = folder.at("out/summary.json.partial");
    let text = refused(&[
        "flow",
        "kernel:nw",
        "--fast",
        "-o",
        &folder.at("other"),
        "--baseline",
        &partial,
    ]);
    assert!(text.contains("interrupted run"), "{text}");
    spadkit(&fast).assert().success();
    assert!(!Path::new(&partial).exists());
}

/// What the program says under a limit of the shell that makes it refuse its work.
fn refused_under(limit: &str, args: &str, file: &str) -> String {
    let script = format!("ulimit {limit}; exec \"$0\" {args} \"$1\"");
    let mut shell = std::process::Command::new("sh");
    let program = env!("CARGO_BIN_EXE_spadkit");
    let output = shell.args(["-c", &script, program, file]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    text
}

/// A limit on the size of files is an error of the write, and leaves nothing.
#[test]
fn a_file_beyond_the_limit_of_the_shell_is_an_error() {
    let folder = Folder::new();
    let out = folder.at("new");
    std::fs::create_dir(&out).unwrap();
    let text = refused_under("-f 8", "trace kernel:nw -o", &folder.at("new/t.json"));
    assert!(
        text.contains("cannot write")
            && text.contains("File too large")
            && !text.contains(".spadkit-"),
        "{text}"
    );
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0);
}

/// The reason is the system's, also where no more files can be opened.
#[test]
fn the_reason_why_a_file_cannot_be_written_is_told() {
    let folder = Folder::new();
    let text = refused_under("-n 5", "sim kernel:nw --sweep --csv", &folder.at("t.csv"));
    assert!(text.contains("oo many open files"), "{text}");
}

/// The limit is one of addresses: a buffer of zeros needs no memory before it
/// is written.
#[test]
fn a_buffer_that_is_too_large_for_the_memory_is_refused_with_its_place() {
    let folder = Folder::new();
    let limited = |keys: &str, limit: u64| {
        let text = format!(
            "ptx = \"k.ptx\"\ngrid = [1]\nblock = [32]\n\n[[arg]]\nname = \"a\"\ntype = \"u8\"\n{keys}\n"
        );
        folder.put("large.toml", &text);
        let shell = format!("ulimit -v {}; exec \"$0\" run \"$1\"", limit >> 10);
        let program = env!("CARGO_BIN_EXE_spadkit");
        let mut command = std::process::Command::new("sh");
        let output = command
            .args(["-c", &shell, program, &folder.at("large.toml")])
            .output();
        let output = output.unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        let words: Vec<&str> = text.split_whitespace().filter(|w| *w != "│").collect();
        (output.status.code(), words.join(" "))
    };
    for init in ["zeros", "iota", "random"] {
        // The contents do not fit, or the buffer in addition to them.
        let limits: &[u64] = if init == "zeros" {
            &[2 << 30, 6 << 30]
        } else {
            &[2 << 30]
        };
        for &limit in limits {
            let keys = format!("count = 4294967296\ninit = \"{init}\"");
            let large = limited(&keys, limit);
            assert_eq!(large.0, Some(2), "{init} {limit}: {}", large.1);
            let place = "no memory for 'a', 4294967296 bytes at";
            assert!(
                large.1.contains(place) && large.1.contains("large.toml:5:1"),
                "{}",
                large.1
            );
        }
    }
    let (status, text) = limited("count = 1024", 2 << 30);
    assert_eq!(status, Some(0), "{text}");
}

/// Kernels print what they like, but do not steer the terminal.
#[test]
fn what_a_kernel_prints_has_its_control_characters_escaped() {
    let folder = Folder::new();
    let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n\
        .extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n\
        .global .align 1 .b8 format[9] = {27, 91, 51, 49, 109, 9, 97, 10, 0};\n\
        .visible .entry k() {\n.reg .b64 %rd<3>; .reg .b32 %r<2>;\n\
        mov.u64 %rd1, format; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, 0;\n\
        { .param .b64 x; .param .b64 y; .param .b32 z; st.param.b64 [x], %rd1;\n\
        st.param.b64 [y], %rd2; call.uni (z), vprintf, (x, y); ld.param.b32 %r1, [z]; }\nret;\n}\n";
    folder.put("k.ptx", ptx);
    folder.put("k.toml", "ptx = \"k.ptx\"\ngrid = [1]\nblock = [1]\n");
    let output = spadkit(&["run", &folder.at("k.toml")]).assert().success();
    let text = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(
        text.contains("\\x1b[31m\ta\n") && !text.contains('\u{1b}'),
        "{text:?}"
    );
}

/// Thousands of variables that the host writes take seconds, not minutes.
#[test]
fn a_launch_file_may_name_thousands_of_symbols() {
    let folder = Folder::new();
    let (mut ptx, mut launch) = (String::new(), String::new());
    for i in 0..4000 {
        ptx += &format!(".global .align 4 .u32 v{i};\n");
        launch +=
            &format!("[[symbol]]\nname = \"v{i}\"\ntype = \"u32\"\ncount = 1\ninit = \"iota\"\n");
    }
    let head = ".version 7.0\n.target sm_70\n.address_size 64\n";
    folder.put(
        "k.ptx",
        &format!("{head}{ptx}.visible .entry k() {{ ret; }}\n"),
    );
    folder.put(
        "k.toml",
        &format!("ptx = \"k.ptx\"\ngrid = [1]\nblock = [1]\n{launch}"),
    );
    let limit = std::time::Duration::from_secs(15);
    spadkit(&["run", &folder.at("k.toml")])
        .timeout(limit)
        .assert()
        .success();
}

/// A tool that ends well without its product has failed, and nothing of it is kept: with a
/// good one, the same command works.
#[test]
fn a_product_that_is_missing_or_cut_is_not_kept() {
    use std::os::unix::fs::PermissionsExt;
    if crate::common::tools::missing(&["yosys", "verilator", "c++"]) {
        return;
    }
    let folder = Folder::new();
    let tool = folder.at("tool");
    let cut = "yosys \"$@\" > log || exit 1; cat log; \
               for f in prepared.il netlist.json mutated.v; do \
               [ -f $f ] && truncate -s -9 $f; done; exit 0";
    let commands: [(&[&str], &str, &str, &str); 4] = [
        (
            &["mutate", "spad_hash_xor", "--cycles", "100"],
            "SPADKIT_YOSYS",
            "Yosys 0.23",
            "exit 0",
        ),
        (
            &["mutate", "spad_hash_xor", "--cycles", "100"],
            "SPADKIT_YOSYS",
            "Yosys 0.23",
            cut,
        ),
        (
            &["synth", "spad_hash_xor"],
            "SPADKIT_YOSYS",
            "Yosys 0.23",
            cut,
        ),
        (
            &["cosim", "spad_hash_xor", "--cycles", "100"],
            "SPADKIT_CXX",
            "c++ 12.2",
            "exit 0",
        ),
    ];
    for (i, (args, variable, version, body)) in commands.into_iter().enumerate() {
        let text = "#!/bin/sh\ncase \"$1\" in -V|--version) echo VERSION; exit 0;; esac\n";
        let text = text.replace("VERSION", &format!("'{version}'")) + body;
        std::fs::write(&tool, text).unwrap();
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
        let cache = folder.at(&format!("cache{i}"));
        let run = || {
            let mut command = spadkit(&[args, &["--preset", "small"]].concat());
            command.env("SPADKIT_CACHE", &cache).env(variable, &tool);
            command
        };
        let failed = run().assert().code(3);
        let text = String::from_utf8(failed.get_output().stderr.clone()).unwrap();
        assert!(
            text.contains("Yosys") || text.contains("C++"),
            "{args:?}: {text}"
        );
        // The same version, so that the key is the same one.
        let good = format!(
            "#!/bin/sh\ncase \"$1\" in -V|--version) echo '{version}'; exit 0;; esac\nexec {} \"$@\"\n",
            if variable == "SPADKIT_CXX" {
                "c++"
            } else {
                "yosys"
            }
        );
        std::fs::write(&tool, good).unwrap();
        run().assert().success();
    }
}

/// A tool that ends well and writes nothing has failed: status 3.
#[test]
fn a_verilator_that_writes_nothing_has_failed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let tool = folder.at("verilator");
    let text = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'Verilator 5.006'\nexit 0\n";
    std::fs::write(&tool, text).unwrap();
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = spadkit(&["cosim", "spad_hash_xor"])
        .env("SPADKIT_VERILATOR", &tool)
        .env("SPADKIT_CACHE", folder.at("cache"))
        .assert()
        .code(3);
    let text = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert!(text.contains("did not write"), "{text}");
}
