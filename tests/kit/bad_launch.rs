//! Malformed launch files on the command line: one error with its position,
//! exit status 2, nothing written. Faults of kernels are exit status 1.

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

const PTX: &str = r#".version 7.0
.target sm_70
.address_size 64

.const .align 4 .b8 table[8];

.visible .entry k(.param .u64 out, .param .u32 n)
{
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<5>;
	ld.param.u64 	%rd1, [out];
	ld.param.u32 	%r1, [n];
	cvta.to.global.u64 	%rd2, %rd1;
	mov.u32 	%r2, %tid.x;
	mul.wide.u32 	%rd3, %r2, 4;
	add.s64 	%rd4, %rd2, %rd3;
	st.global.u32 	[%rd4], %r1;
	ret;
}

.visible .entry other(.param .u64 out)
{
	ret;
}
"#;

const LAUNCH: &str = r#"ptx = "k.ptx"
entry = "k"
grid = [1]
block = [32]

[[arg]]
name = "out"
type = "u32"
count = 32

[[arg]]
name = "n"
type = "u32"
value = 7
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(launch: &str, ptx: &str) -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        std::fs::write(folder.path("k.toml"), launch).unwrap();
        std::fs::write(folder.path("k.ptx"), ptx).unwrap();
        folder
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    /// Exit status, standard output, and the words of standard error.
    fn run(&self, options: &[&str]) -> (i32, String, String) {
        let mut command = Command::cargo_bin("spadkit").unwrap();
        command.env("COLUMNS", "1000");
        command.arg("run").arg(self.path("k.toml")).args(options);
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let errors = text(&output.stderr);
        assert!(!errors.contains("panicked"), "{errors}");
        let words: Vec<&str> = errors
            .split(|c: char| c.is_whitespace() || "│×╭╰─┬".contains(c))
            .filter(|w| !w.is_empty())
            .collect();
        (
            output.status.code().unwrap(),
            text(&output.stdout),
            words.join(" "),
        )
    }

    /// Refused with status 2 and nothing on standard output.
    fn refused(&self, options: &[&str], message: &str) {
        let (status, out, errors) = self.run(options);
        assert_eq!((status, out.as_str()), (2, ""), "{errors}");
        assert_eq!(errors.matches("error:").count(), 1, "{errors}");
        assert!(errors.contains(message), "expected {message}: {errors}");
    }
}

fn edited(from: &str, to: &str) -> Folder {
    assert!(LAUNCH.contains(from));
    Folder::new(&LAUNCH.replacen(from, to, 1), PTX)
}

#[test]
fn a_good_launch_runs_and_is_reported() {
    let folder = Folder::new(LAUNCH, PTX);
    let dump = format!("out={}", folder.path("out.npy").display());
    let (status, out, errors) =
        folder.run(&["--format", "json", "--dump", &dump, "--threads", "1"]);
    assert_eq!((status, errors.as_str()), (0, ""));
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["format_version"], 1);
    assert_eq!((&json["entry"], &json["grid"][0]), (&"k".into(), &1.into()));
    assert_eq!(
        (&json["warp_instructions"], &json["thread_instructions"]),
        (&8.into(), &256.into())
    );
    assert_eq!(json["findings"], Value::Array(Vec::new()));
    let output = &json["outputs"][0];
    assert_eq!(
        (&output["name"], &output["ok"]),
        (&"out".into(), &Value::Null)
    );
    assert_eq!(output["sha256"].as_str().unwrap().len(), 64);
    let npy = std::fs::read(folder.path("out.npy")).unwrap();
    assert_eq!(npy[npy.len() - 128..], [7u8, 0, 0, 0].repeat(32)[..]);

    // What was dumped is what is expected from then on.
    let expecting = LAUNCH.replace("count = 32", "count = 32\nexpect = \"out.npy\"");
    std::fs::write(folder.path("k.toml"), &expecting).unwrap();
    let (status, out, _) = folder.run(&["--format", "json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &json["outputs"][0]["ok"]), (0, &true.into()));
    assert_eq!(json["outputs"][0]["max_error"], 0.0);
    std::fs::write(
        folder.path("k.toml"),
        expecting.replace("value = 7", "value = 8"),
    )
    .unwrap();
    let (status, out, errors) = folder.run(&["--format", "json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &json["outputs"][0]["ok"]), (1, &false.into()));
    assert!(
        errors.contains("'out' is not as expected from element 0 on"),
        "{errors}"
    );
}

#[test]
fn launches_that_do_not_fit_the_ptx() {
    edited("entry = \"k\"\n", "").refused(&[], "has 2 entries and 'entry' is missing");
    edited("\"k\"", "\"m\"").refused(&[], "its entries are k, other");
    edited("type = \"u32\"\nvalue", "type = \"u64\"\nvalue")
        .refused(&[], "argument 'n', u64, has 8 bytes");
    edited("count = 32", "value = 32").refused(&[], "argument 'out', u32, has 4 bytes");
    edited("entry = \"k\"", "entry = \"other\"").refused(&[], "no launch takes the argument 'n'");
    let missing = LAUNCH.split("\n[[arg]]\nname = \"n\"").next().unwrap();
    Folder::new(missing, PTX).refused(&[], "1 argument for k");
    let symbol = |keys: &str| format!("{LAUNCH}\n[[symbol]]\n{keys}");
    let folder = |keys: &str| Folder::new(&symbol(keys), PTX);
    folder("name = \"tables\"\ntype = \"u8\"\ncount = 8").refused(&[], "has no variable 'tables'");
    folder("name = \"table\"\ntype = \"u8\"\ncount = 9").refused(&[], "has 9 bytes");
    let then =
        format!("{LAUNCH}\n[[then]]\nentry = \"other\"\ngrid = [1]\nblock = [1]\nargs = []\n");
    Folder::new(&then, PTX).refused(&[], "0 arguments for other");
}

#[test]
fn files_that_are_missing_or_no_ptx() {
    Folder::new(LAUNCH, "int main() {}").refused(&[], "k.ptx:1:1");
    Folder::new(LAUNCH, &PTX[..PTX.len() / 2]).refused(&[], "k.ptx:");
    edited("k.ptx", "l.ptx").refused(&[], "l.ptx");
    edited("k.ptx", "l.ptx").refused(&[], "k.toml:1:7");
    edited("count = 32", "count = 32\ninit = \"no.npy\"").refused(&[], "no.npy");
    let folder = edited("count = 32", "count = 32\ninit = \"in.npy\"");
    std::fs::write(folder.path("in.npy"), "junk").unwrap();
    folder.refused(&[], "not a .npy file");
    let folder = Folder::new(LAUNCH, PTX);
    std::fs::remove_file(folder.path("k.toml")).unwrap();
    folder.refused(&[], "k.toml");
    std::fs::write(folder.path("k.toml"), [b'#', 0xff]).unwrap();
    folder.refused(&[], "not UTF-8");
}

#[test]
fn bad_options() {
    let folder = Folder::new(LAUNCH, PTX);
    folder.refused(&["--dump", "out"], "expected NAME=FILE.npy");
    let to = |name: &str| format!("{name}={}", folder.path("x.npy").display());
    folder.refused(&["--dump", &to("n")], "no buffer 'n' to dump");
    folder.refused(&["--threads", "0"], "1..=1024");
    assert!(!Path::new(&folder.path("x.npy")).exists());
}

#[test]
fn a_fault_is_a_finding_with_its_place() {
    let folder = edited("block = [32]", "block = [64]");
    let (status, out, errors) = folder.run(&["--format", "json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(status, 1, "{errors}");
    let finding = &json["findings"][0];
    assert_eq!(finding["kind"], "out-of-bounds");
    assert_eq!(finding["warning"], false);
    assert_eq!(
        (&finding["ptx_line"], &finding["address"]),
        (&17.into(), &128.into())
    );
    assert_eq!(
        (&finding["thread"][0], &finding["variable"]),
        (&32.into(), &"out".into())
    );
}

/// Launches behind a fault do not run, and that is said.
#[test]
fn what_a_fault_keeps_from_running_is_said() {
    let then = "[[then]]\nentry = \"other\"\ngrid = [1]\nblock = [32]\nargs = [\"out\"]\n";
    let launches = format!("{LAUNCH}{then}{then}");
    let (status, out, _) = Folder::new(&launches, PTX).run(&["--format", "json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, &json["skipped"]), (0, &serde_json::json!([])));
    let folder = Folder::new(&launches.replacen("[32]", "[64]", 1), PTX);
    let (status, out, _) = folder.run(&["--format", "json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    let both = serde_json::json!([
        {"launch": 1, "entry": "other"},
        {"launch": 2, "entry": "other"},
    ]);
    assert_eq!((status, &json["skipped"]), (1, &both));
    let (_, out, _) = folder.run(&[]);
    let line = "not run because of the preceding fault: launches 1 (other), 2 (other)";
    assert!(out.contains(line), "{out}");
}

/// A variable of the module is an output like a buffer.
#[test]
fn symbols_are_dumped_and_compared() {
    let ptx = PTX.replace(".const .align 4 .b8 table[8];", {
        ".const .align 4 .b8 table[8];\n.global .align 4 .u32 last;"
    });
    let ptx = ptx.replace(
        "\tret;\n}\n\n",
        "\tst.global.u32 [last], %r1;\n\tret;\n}\n\n",
    );
    let symbol = "[[symbol]]\nname = \"last\"\ntype = \"u32\"\ncount = 1\n";
    let folder = Folder::new(&format!("{LAUNCH}{symbol}"), &ptx);
    let dump = format!("last={}", folder.path("last.npy").display());
    let (status, out, errors) = folder.run(&["--format", "json", "--dump", &dump]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, errors.as_str()), (0, ""));
    assert_eq!(json["outputs"][1]["name"], "last");
    let npy = std::fs::read(folder.path("last.npy")).unwrap();
    assert_eq!(npy[npy.len() - 4..], [7, 0, 0, 0]);

    std::fs::write(folder.path("eight.raw"), [8, 0, 0, 0]).unwrap();
    let expecting = format!("{LAUNCH}{symbol}expect = \"eight.raw\"\n");
    std::fs::write(folder.path("k.toml"), expecting).unwrap();
    let (status, _, errors) = folder.run(&[]);
    assert_eq!(status, 1);
    assert!(errors.contains("'last' is not as expected"), "{errors}");
}

/// PTX for today's GPUs is measured on today's machines, unless told.
#[test]
fn the_machine_is_that_of_the_target() {
    let machine = |ptx: &str, more: &[&str]| {
        let launch = LAUNCH.replace("\"k\"\ngrid", "\"foo::read\"\ngrid");
        let folder = Folder::new(&launch, ptx);
        let mut command = Command::cargo_bin("spadkit").unwrap();
        command.arg("conflicts").arg(folder.path("k.toml"));
        let output = command
            .args(more)
            .args(["--format", "json"])
            .output()
            .unwrap();
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        // Without --hash: the machine's own mapping.
        assert_eq!(json["results"][0]["hash"], "mod");
        json["machine"].clone()
    };
    let of = |target: &str| machine(&SHARED.replace("sm_70", target), &[]);
    let sm86 = of("sm_86");
    assert_eq!(sm86["preset"], "sm86");
    assert_eq!(sm86["from"], ".target sm_86 of k.ptx");
    assert_eq!(of("sm_75")["preset"], "sm75");
    assert_eq!(of("sm_72")["preset"], "sm70");
    assert_eq!(of("sm_90a")["preset"], "sm90");
    let fermi = |from: &str| serde_json::json!({"preset": "fermi", "from": from});
    assert_eq!(of("sm_61"), fermi("default"));
    assert_eq!(machine(SHARED, &["--preset", "fermi"]), fermi("--preset"));
}

/// Commands about a kernel take the machine of its target.
#[test]
fn a_kernel_is_for_the_machine_of_its_target() {
    let launch = LAUNCH.replace("\"k\"\ngrid", "\"foo::read\"\ngrid");
    let folder = Folder::new(&launch, &SHARED.replace("sm_70", "sm_86"));
    let run = |command: &str, more: &[&str]| {
        let mut spadkit = Command::cargo_bin("spadkit").unwrap();
        spadkit.arg(command).arg(folder.path("k.toml")).args(more);
        let output = spadkit.args(["--format", "json"]).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{command}: {errors}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        (json, errors)
    };
    for (command, more) in [
        ("classify", &[][..]),
        ("share", &["--no-sim"]),
        ("sim", &[]),
    ] {
        let (json, _) = run(command, more);
        assert_eq!(json["machine"]["preset"], "sm86", "{command}");
    }
    let (json, _) = run("share", &["--no-sim"]);
    assert_eq!(json["preset"], "sm86");
    let out = folder.path("out");
    let fast = ["--fast", "-o", out.to_str().unwrap()];
    let (json, _) = run("flow", &fast);
    assert_eq!(json["machine"], "sm86");
    assert_eq!(json["machine_from"], ".target sm_86 of k.ptx");
    let (json, errors) = run("flow", &[&fast[..], &["--preset", "sm80"]].concat());
    assert_eq!(json["machine"], "sm80");
    assert!(!errors.contains("--preset"), "{errors}");
}

/// A kernel that accesses shared memory, and reads behind its buffer.
const SHARED: &str = r#".version 7.0
.target sm_70
.address_size 64

.visible .entry _ZN3foo4readIfEEvPjj(.param .u64 out, .param .u32 n)
{
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<5>;
	.shared .align 4 .b8 tile[128];
	ld.param.u64 	%rd1, [out];
	mov.u32 	%r2, %tid.x;
	st.shared.u32 	[tile], %r2;
	bar.sync 	0;
	ld.shared.u32 	%r1, [tile];
	ld.global.u32 	%r3, [%rd1+0];
	ret;
}
"#;

/// Reads outside of buffers are faults, or give zeros and a warning.
#[test]
fn reads_outside_of_buffers_can_be_allowed() {
    let reading = SHARED.replace("[%rd1+0]", "[%rd1+4096]");
    let launch = LAUNCH.replace("\"k\"\ngrid", "\"foo::read\"\ngrid");
    let folder = Folder::new(&launch, &reading);
    let allow = ["--allow", "out-of-bounds-read"];
    let status = |command: &str, more: &[&str]| {
        let mut spadkit = Command::cargo_bin("spadkit").unwrap();
        spadkit.arg(command).arg(folder.path("k.toml")).args(more);
        let output = spadkit.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap(), errors)
    };
    for command in ["run", "conflicts", "sim"] {
        let (code, errors) = status(command, &[]);
        assert_eq!(code, 1, "{command}: {errors}");
        let (code, errors) = status(command, &allow);
        assert_eq!(code, 0, "{command}: {errors}");
        assert!(errors.contains("return zeros"), "{command}: {errors}");
    }
    let (_, out, _) = folder.run(&[&allow[..], &["--format", "json"]].concat());
    let json: Value = serde_json::from_str(&out).unwrap();
    let finding = &json["findings"][0];
    assert_eq!(
        (&finding["kind"], &finding["warning"]),
        (&"out-of-bounds".into(), &true.into())
    );
    // Stores stay faults.
    let storing = reading.replace(
        "ld.global.u32 \t%r3, [%rd1+4096]",
        "st.global.u32 [%rd1+4096], %r3",
    );
    std::fs::write(folder.path("k.ptx"), storing).unwrap();
    assert_eq!(status("run", &allow).0, 1);
}

/// What ptxas would not take is refused with line and what is expected.
#[test]
fn operands_fit_the_type_of_the_instruction() {
    let ptx = PTX.replace("\tret;\n}\n\n", "\tadd.b32 \t%r1, %r1, %r2;\n\tret;\n}\n\n");
    let folder = Folder::new(LAUNCH, &ptx);
    folder.refused(
        &[],
        "line 18: add.b32 %r1, %r1, %r2; (`add` has no type .b32",
    );
}

#[test]
fn recursion_is_refused_with_its_line() {
    let recursive = PTX.replace(
        ".visible .entry k(",
        ".func f(.param .u32 a)\n{\n.reg .b32 %r;\nld.param.u32 %r, [a];\n{\n.param .b32 x;\n\
         st.param.b32 [x], %r;\ncall.uni f, (x);\n}\nret;\n}\n.visible .entry k(",
    );
    let calling = recursive.replace(
        "\tst.global.u32",
        "{\n.param .b32 x;\nst.param.b32 [x], %r1;\ncall.uni f, (x);\n}\n\tst.global.u32",
    );
    let folder = Folder::new(LAUNCH, &calling);
    folder.refused(&[], "recursion");
    folder.refused(&[], "line 14: call f (recursion");
    // Recursion that the entry does not reach is nobody's concern.
    let (status, _, errors) = Folder::new(LAUNCH, &recursive).run(&[]);
    assert_eq!(status, 0, "{errors}");
}

/// A .npy file of version 1 with that header.
fn npy(descr: &str, order: bool, shape: &str, bytes: usize) -> Vec<u8> {
    let order = if order { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.bytes());
    file.resize(file.len() + bytes, 0);
    file
}

#[test]
fn data_files_of_another_type_or_shape() {
    let folder = edited("count = 32", "count = 32\ninit = \"in.npy\"");
    let given = |file: Vec<u8>| std::fs::write(folder.path("in.npy"), file).unwrap();
    given(npy("<u4", false, "(4, 8)", 128));
    let (status, _, errors) = folder.run(&[]);
    assert_eq!(status, 0, "{errors}");
    for (file, message) in [
        (npy("<f4", false, "(32,)", 128), "f4"),
        (npy("<i4", false, "(32,)", 128), "i4"),
        (npy(">u4", false, "(32,)", 128), ">u4"),
        (npy("<u4", false, "(31,)", 124), "31"),
        (npy("<u4", false, "(8, 8)", 256), "64"),
        (npy("<u4", true, "(4, 8)", 128), "C order"),
        (npy("<u4", false, "(32,)", 100), ""),
        (npy("<u4", false, "(-1,)", 128), ""),
        (npy("<u4", false, "32", 128), ""),
    ] {
        given(file);
        folder.refused(&[], message);
    }
}

#[test]
fn a_warning_is_no_fault() {
    // Half of the threads leave before the barrier.
    let leaving = PTX.replace(
        "\tst.global.u32",
        ".reg .pred %p; setp.gt.u32 %p, %r2, 15;\n@%p bra END;\nbar.sync 0;\n\tst.global.u32",
    );
    let leaving = leaving.replacen("\tret;", "END:\tret;", 1);
    let folder = Folder::new(LAUNCH, &leaving);
    let (status, out, errors) = folder.run(&["--format", "json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((status, errors.as_str()), (0, ""));
    let finding = &json["findings"][0];
    assert_eq!(
        (&finding["kind"], &finding["warning"], &finding["ptx_line"]),
        (&"barrier-not-reached".into(), &true.into(), &19.into())
    );
    let (_, out, _) = folder.run(&[]);
    assert!(
        out.contains("warning, barrier-not-reached") && out.contains("k.ptx:19"),
        "{out}"
    );
}
