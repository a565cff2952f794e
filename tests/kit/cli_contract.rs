//! The contract with scripts: the JSON of each command, exit statuses, what
//! goes to which stream, and a few tables and messages word for word.

use crate::common::{json, json_of, spadkit, tools::missing};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Checks `field:type` for each word of `contract`.
fn assert_fields(value: &Value, contract: &str) {
    for word in contract.split_whitespace() {
        let (field, kind) = word.split_once(':').unwrap();
        let field = &value[field];
        let fits = match kind {
            "int" => field.is_u64(),
            "num" => field.is_number(),
            "bool" => field.is_boolean(),
            "str" => field.is_string(),
            "list" => field.as_array().is_some_and(|l| !l.is_empty()),
            "obj" => field.is_object(),
            "any" => !field.is_null(),
            other => panic!("no kind {other}"),
        };
        assert!(fits, "{word} in {value}");
    }
}

fn assert_each(list: &Value, contract: &str) {
    let items = list.as_array().expect("a list");
    assert!(!items.is_empty());
    items.iter().for_each(|item| assert_fields(item, contract));
}

#[test]
fn the_json_of_each_command_has_the_agreed_fields() {
    let kernel = "kernel:transpose";
    let conflicts = json(&["conflicts", kernel, "--hash", "mod", "xor", "--per-pc"]);
    assert_fields(
        &conflicts,
        "accesses:int rule:str rule_text:str results:list",
    );
    let fields = "hash:str conflicts:int max_degree:int wavefronts:int ideal_wavefronts:int \
                  removed_pct:num fits:bool per_pc:list";
    assert_each(&conflicts["results"], fields);
    assert_eq!(conflicts["results"][0]["conflicts"], 56);

    let tune = json(&["tune", kernel, "--preset", "small", "--budget", "1"]);
    let fields = "hash:str kind:str method:str conflicts:int baseline_conflicts:int \
                  evaluated:int optimal:bool fits:bool seconds:num wavefronts:int \
                  ideal_wavefronts:int configuration:obj";
    assert_fields(&tune, "rule:str rule_text:str hash_stage:str");
    for result in tune["results"].as_array().unwrap() {
        let configuration = &result["configuration"];
        let fields = "unit:str ports:obj config_unit:str registers:list row_map:obj";
        assert_fields(configuration, fields);
        let fields = "unit:str ports:obj config_unit:str registers:list";
        assert_fields(&configuration["row_map"], fields);
    }
    assert_each(&tune["results"], fields);
    assert_eq!(tune["results"].as_array().unwrap().len(), 5);

    let encode = json(&["encode", "bitvec-xor:k1=0,k2=5,mask=7"]);
    assert_fields(&encode, "unit:str ports:obj fits:bool row_map:obj path:obj");
    assert_eq!(encode["path"]["config_unit"], "spad_hash_config_matrix");
    // That path has no registers.
    let fixed = json(&["encode", "bitvec-xor:k1=0,k2=5,mask=7", "--preset", "gt200"]);
    assert!(fixed["path"].is_null(), "{fixed}");
    for (port, value) in encode["ports"].as_object().unwrap() {
        assert!(port.starts_with("cfg_"), "{port}");
        let digits = value.as_str().unwrap().strip_prefix("0x").unwrap();
        assert!(u128::from_str_radix(digits, 16).is_ok(), "{value}");
    }

    let classify = json(&["classify", kernel]);
    assert_each(
        &classify["instructions"],
        "pc:int op:str accesses:int class:str conflicts:int wavefronts:int ideal_wavefronts:int",
    );
    assert_each(&classify["strides"], "stride:int s0:int k:int");

    let args = ["--mapping", "rap", "--access", "random", "--samples", "50"];
    let congestion = json(&[&["congestion"], &args[..]].concat());
    assert_fields(&congestion, "mean:num max:int samples:int seed:int");

    let doctor = json(&["doctor"]);
    assert_each(
        &doctor["tools"],
        "tool:str found:bool needed_for:str how_to_get:str",
    );

    let list = json(&["trace", "--list"]);
    assert_each(&list["kernels"], "name:str about:str");
}

#[test]
fn fixed_rows_have_an_earlier_spelling() {
    let hash = |options: &[&str]| {
        let tune = ["tune", "kernel:transpose", "--hash", "bitvec-perm"];
        json(&[&tune[..], options].concat())["results"][0]["hash"].clone()
    };
    assert_eq!(hash(&[]), "bitvec-perm:k=2");
    assert_eq!(hash(&["--fixed-rows"]), "bitvec-perm:k=0");
    assert_eq!(hash(&["--row", "fixed"]), "bitvec-perm:k=0");
}

#[test]
fn emit_prints_what_its_manifest_says() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("rtl");
    let printed = json(&["emit", "-o", out.to_str().unwrap()]);
    let manifest = std::fs::read(out.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(printed["units"], manifest["units"]);
    assert_each(
        &manifest["units"],
        "name:str top:str files:list latency_cycles:int ports:list",
    );
    for unit in manifest["units"].as_array().unwrap() {
        assert_each(&unit["ports"], "name:str dir:str width:int doc:str");
        for file in unit["files"].as_array().unwrap() {
            assert!(out.join(file.as_str().unwrap()).is_file(), "{file}");
        }
    }
}

/// Every command takes a machine, also where the result depends on none.
#[test]
fn a_machine_that_has_no_effect_is_told() {
    let launch = "kernels/transpose/transpose.toml";
    for args in [
        ["run", launch, "--preset", "sm80"],
        ["--preset", "sm80", "run", launch],
    ] {
        let output = spadkit(&args).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert!(told.contains("--preset has no effect on run"), "{told}");
        let plain = spadkit(&["run", launch]).output().unwrap();
        assert!(
            !String::from_utf8(plain.stderr)
                .unwrap()
                .contains("no effect")
        );
    }
}

#[test]
fn quiet_is_silent_and_logs_never_reach_standard_output() {
    for args in [
        &["conflicts", "kernel:nw", "--hash", "xor"][..],
        &["tune", "kernel:nw", "--preset", "small", "--budget", "1"],
        &["encode", "xor"],
        &["classify", "kernel:nw"],
    ] {
        let output = spadkit(args).arg("-q").output().unwrap();
        assert!(output.status.success(), "{args:?}");
        assert!(output.stderr.is_empty(), "{args:?}");
        assert!(!output.stdout.is_empty(), "{args:?}");
        assert!(!output.stdout.contains(&0x1b), "{args:?}");
    }
}

/// The exit status with these standard output and standard error.
fn status(args: &[&str], stdout: Stdio, stderr: Stdio) -> Option<i32> {
    let mut command = std::process::Command::new(spadkit(&[]).get_program());
    let child = command.args(args).stdout(stdout).stderr(stderr).spawn();
    child.unwrap().wait().unwrap().code()
}

/// A pipe whose reader is gone.
fn closed_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn closed_and_full_streams() {
    let good = ["trace", "--list"];
    let bad = ["conflicts", "no.json", "--hash", "mod"];
    let warns = ["encode", "bitwise-perm:0,5,6,7,13"];
    assert_eq!(status(&good, closed_pipe(), Stdio::null()), Some(0));
    assert_eq!(status(&bad, Stdio::null(), closed_pipe()), Some(2));
    assert_eq!(status(&warns, Stdio::null(), closed_pipe()), Some(0));
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full");
    if full().is_err() {
        println!("skipped: there is no /dev/full");
        return;
    }
    let full = || Stdio::from(full().unwrap());
    assert_eq!(status(&good, full(), Stdio::null()), Some(2));
    assert_eq!(status(&bad, Stdio::null(), full()), Some(2));
    assert_eq!(status(&warns, Stdio::null(), full()), Some(0));
}

/// Writes a shell script that stands in for a tool.
fn script(directory: &Path, name: &str, body: &str) -> PathBuf {
    let path = directory.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A Verilator that tells a good version, and otherwise does `body`.
fn verilator(dir: &Path, body: &str) -> PathBuf {
    let version = "[ \"$1\" = --version ] && { echo 'Verilator 5.006 (fake)'; exit 0; }";
    script(dir, "verilator", &format!("{version}\n{body}"))
}

#[test]
fn a_verilator_that_is_missing_crashes_or_hangs_is_one_clear_error() {
    let dir = tempfile::tempdir().unwrap();
    let fails = |program: &Path| {
        let mut command = spadkit(&["cosim", "spad_hash_xor", "--format", "json"]);
        command.env("SPADKIT_CACHE", dir.path().join("cache"));
        command.env("SPADKIT_VERILATOR", program);
        command.env("SPADKIT_TIMEOUT", "2");
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(3), "{text}");
        assert!(output.stdout.is_empty());
        assert_eq!(text.matches("error:").count(), 1, "{text}");
        text
    };
    let missing = fails(Path::new("/nowhere/verilator"));
    assert!(missing.contains("apt install verilator"), "{missing}");
    let crash = fails(&verilator(dir.path(), "echo last words; kill -SEGV $$"));
    assert!(crash.contains("signal 11"), "{crash}");
    let hang = fails(&verilator(dir.path(), "sleep 100"));
    assert!(hang.contains("did not finish in 2 s"), "{hang}");
    let old = fails(&script(dir.path(), "old", "echo 'Verilator 4.038'"));
    assert!(old.contains("5.006"), "{old}");
    let other = fails(&script(dir.path(), "other", "echo 'I am a shell script'"));
    assert!(other.contains("Verilator"), "{other}");
}

#[test]
fn flow_does_what_can_be_done_without_tools() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let mut command = spadkit(&["flow", "kernel:transpose", "--preset", "small"]);
    command
        .args(["--budget", "1", "-q", "--format", "json", "-o"])
        .arg(&out);
    for tool in ["VERILATOR", "YOSYS", "STA"] {
        command.env(format!("SPADKIT_{tool}"), "/nowhere/tool");
    }
    let output = command
        .env("SPADKIT_CACHE", dir.path().join("cache"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert_eq!(text.matches("error:").count(), 1, "{text}");
    let json = json_of(&output.stdout);
    assert_each(
        &json["mappings"],
        "hash:str conflicts:int removed_pct:num recommended:bool wavefronts:int \
         ideal_wavefronts:int unit:str registers:any row_map:obj",
    );
    assert_eq!(json["mappings"].as_array().unwrap().len(), 8);
    assert!(json["synthesis"].is_null());
    let skipped = json["skipped"].as_array().unwrap();
    assert!(skipped.len() >= 2, "{skipped:?}");
    let html = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(html.contains("transpose") && html.contains("not found"));
    assert!(out.join("rtl/spad_hash_xor.v").is_file());
    let summary: Value =
        serde_json::from_slice(&std::fs::read(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["mappings"], json["mappings"]);
}

/// Hand-edited Verilog that no simulation survives, and that prints.
#[test]
fn hostile_verilog_is_an_error_and_not_an_abort() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let run = |body: &str| {
        let ports = "input wire [13:0] addr, output wire [4:0] bank";
        let text = match body.strip_prefix("module") {
            Some(_) => body.to_owned(),
            None => format!("module spad_hash_xor({ports}); {body} endmodule\n"),
        };
        std::fs::write(dir.path().join("spad_hash_xor.v"), text).unwrap();
        let mut command = spadkit(&["cosim", "spad_hash_xor", "--cycles", "100"]);
        command.args(["--format", "json", "--rtl"]).arg(dir.path());
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), output.stdout, text)
    };
    let right = "assign bank = addr[4:0] ^ addr[9:5];";
    let (status, stdout, text) = run(&format!("{right} initial $display(\"hello\");"));
    assert_eq!(status, Some(0), "{text}");
    let result = json_of(&stdout);
    assert_each(
        &result["results"],
        "unit:str cycles:int checks:int mismatches:int seconds:num",
    );
    let (status, stdout, _) = run("assign bank = addr[4:0];");
    assert_eq!(status, Some(1));
    assert!(
        json_of(&stdout)["results"][0]["mismatches"]
            .as_u64()
            .unwrap()
            > 0
    );
    for (body, expected_status, expected) in [
        (
            "wire [4:0] x = ~bank ^ addr[4:0]; assign bank = x;",
            1,
            "did not converge",
        ),
        ("assign bank = 0; initial $finish;", 1, "$finish"),
        ("assign bank = 0; initial $stop;", 1, "$stop"),
        (
            "module spad_hash_xor(input [13:0] a, output [4:0] bank); assign bank = a[4:0]; endmodule",
            2,
            "has no input addr",
        ),
        (
            "module spad_hash_xor(input [13:0] addr, output [7:0] bank); assign bank = addr[7:0]; endmodule",
            2,
            "output bank of spad_hash_xor has 8 bits",
        ),
        ("assign bank = ;", 3, "syntax error"),
    ] {
        let (status, stdout, text) = run(body);
        assert_eq!(status, Some(expected_status), "{body}: {text}");
        assert!(text.contains(expected), "{body}: {text}");
        assert!(stdout.is_empty(), "{body}");
    }
}

fn stdout(args: &[&str]) -> String {
    String::from_utf8(spadkit(args).output().unwrap().stdout).unwrap()
}

fn stderr(args: &[&str], dir: &Path) -> String {
    let output = spadkit(args).current_dir(dir).env("COLUMNS", "80").output();
    String::from_utf8(output.unwrap().stderr).unwrap()
}

#[test]
fn tables_word_for_word() {
    insta::assert_snapshot!(stdout(&["conflicts", "kernel:transpose", "--hash", "mod", "xor"]), @r#"
    56 of 72 wavefronts of transpose are bank conflicts, up to 8 ways; xor leaves 8.
    machine: fermi, 32 banks (default; --preset overrides)

     hash  conflicts  max degree  wavefronts  ideal  removed  fits
     mod          56           8          72     16    0.0 %  yes
     xor           8           2          24     16   85.7 %  yes

    conflicts by: 32 lanes a pass, the first word of each (of accesses of 8 and 16
    bytes, too); lanes on one word are served together

    what removes them:
      spadkit tune kernel:transpose --software --preset fermi
    "#);
    let args = [
        "--mapping",
        "rap",
        "--access",
        "stride",
        "--width",
        "8",
        "--samples",
        "10",
    ];
    insta::assert_snapshot!(stdout(&[&["congestion"], &args[..]].concat()), @r#"
    stride accesses under rap have a congestion of 1.0000 in the mean, 1 at most, on
    the discrete memory machine with 8 banks.

     mapping  access  width  dims    mean  std error  max
     rap      stride      8     2  1.0000     0.0000    1

    compared with all mappings of the paper:
      spadkit congestion --table 2
    "#);
}

#[test]
fn messages_word_for_word() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    let at = |args: &[&str]| stderr(args, dir.path());
    let trace = "{\"name\":\"t\",\"source\":\"s\",\"block_dim\":[2,1,1],\"shared_bytes\":16,\n\
                 \"warp_size\":2,\"accesses\":[{\"warp\":0,\"pc\":0,\"op\":\"load\",\"addrs\":[0,4]}]}";
    write("t.json", trace);
    insta::assert_snapshot!(at(&["classify", "t.json"]), @r#"
    error:  × accesses[0].addrs[1] = 4 is out of range at t.json:2:67
       ╭─[t.json:2:67]
     2 │ {"warp":0,"pc":0,"op":"load","addrs":[0,4]}]}
       ·                                         ┬
       ·                                         ╰── here
       ╰────
      help: word addresses are below shared_bytes / 4 = 4 (16 bytes)
    "#);
    write("m.toml", "[geometry]\naddr_bitz = 9\n");
    insta::assert_snapshot!(at(&["encode", "mod", "--config", "m.toml"]), @r#"
    error:  × unknown key 'addr_bitz' in [geometry]; did you mean 'addr_bits'? at
      │ m.toml:2:1
       ╭─[m.toml:2:1]
     2 │ addr_bitz = 9
       · ┬
       · ╰── here
       ╰────
      help: expected addr_bits, bank_bits, lanes, warp_size, word_bits,
            capacity_words, block_words, wide, atomics
    "#);
    insta::assert_snapshot!(at(&["encode", "matrix:1,2,4,8,3"]), @r#"
    error:  × hash spec 'matrix:0x1,0x2,0x4,0x8,0x3' has rank 4 for 32 banks: the
      │ XOR of bank bits 0, 1, 4 is always zero
      help: a mapping must reach every bank: its rank must be 5
    "#);
    insta::assert_snapshot!(at(&["classify", "no.json"]), @"error:  × cannot read no.json: No such file or directory (os error 2)");
}
