//! Memory limits: long kernels are traced and run as they stream, and large PTX
//! is read.
#![cfg(target_os = "linux")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// The program with at most `kib` KiB of address space and 60 seconds of
/// processor time, which do not depend on what else runs. `timeout` ends one
/// that waits for ever.
fn limited(kib: u32, args: &[&str]) -> Output {
    let limits = "ulimit -v \"$1\" && ulimit -t 60 && shift && exec timeout 600 \"$@\"";
    let program = assert_cmd::cargo::cargo_bin("spadkit");
    Command::new("sh")
        .args(["-c", limits, "sh"])
        .arg(kib.to_string())
        .arg(program)
        .args(args)
        // Threads reserve room, too, on machines with many cores more.
        .env("RAYON_NUM_THREADS", "2")
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .unwrap()
}

/// A launch file of blocks of 64 threads that go round a loop of eight
/// instructions with an access to shared memory.
fn looping(folder: &Path, blocks: u32, rounds: u32) -> String {
    let ptx = format!(
        ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{{\n\
         .reg .b32 %r<9>; .reg .pred %p; .shared .align 4 .b8 s[256];\n\
         mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r2, %r2, %r3;\n\
         mov.u32 %r4, 0; st.shared.u32 [%r2], %r1;\n\
         L: ld.shared.u32 %r5, [%r2]; mad.lo.u32 %r6, %r5, 3, %r4; xor.b32 %r6, %r6, %r1;\n\
         st.shared.u32 [%r2], %r6; add.u32 %r4, %r4, 1; setp.lt.u32 %p, %r4, {rounds};\n\
         @%p bra L; ret;\n}}\n"
    );
    std::fs::write(folder.join("k.ptx"), ptx).unwrap();
    let launch = folder.join("k.toml");
    let text = format!("ptx = \"k.ptx\"\ngrid = [{blocks}]\nblock = [64]\n");
    std::fs::write(&launch, text).unwrap();
    launch.to_str().unwrap().to_owned()
}

#[test]
fn half_a_million_warp_instructions_are_traced_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    // As instructions of 80 bytes they would be 40 MB, and their addresses as much again.
    let launch = looping(folder.path(), 12, 3000);
    let file = folder.path().join("k.spt");
    let file = file.to_str().unwrap();
    let output = limited(60_000, &["trace", &launch, "-o", file, "--format", "json"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let per_warp = 6 + 7 * 3000 + 1;
    assert_eq!(json["instructions"], 12 * 2 * per_warp, "{json}");
    // The bound is one: with a tenth of it the program does not even start.
    let output = limited(4_000, &["trace", &launch, "-o", file]);
    assert!(!output.status.success());
    // Read again as it was written, a chunk at a time.
    let args = ["sim", file, "--preset", "sm80", "--format", "json"];
    let output = limited(60_000, &args);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["blocks"], 12, "{json}");
}

/// Functions like those that compilers write, until there are this many bytes.
fn large(bytes: usize) -> String {
    let mut text = String::from(
        ".version 7.0\n.target sm_70\n.address_size 64\n\
         .visible .entry k() {\nret;\n}\n",
    );
    for n in 0.. {
        if text.len() >= bytes {
            break;
        }
        text += &format!(
            "\n.visible .entry kernel_{n}(\n\t.param .u64 kernel_{n}_param_0\n)\n{{\n\
             \t.reg .pred \t%p<3>;\n\t.reg .b32 \t%r<40>;\n\t.reg .b64 \t%rd<9>;\n\
             \tld.param.u64 \t%rd1, [kernel_{n}_param_0];\n\tmov.u32 \t%r1, %tid.x;\n\
             $L__BB{n}_1:\n"
        );
        for i in 2..38 {
            text += &format!("\tmad.lo.s32 \t%r{i}, %r{}, 5, %r1;\n", i - 1);
        }
        text += &format!(
            "\tsetp.lt.s32 \t%p1, %r37, 100;\n\t@%p1 bra \t$L__BB{n}_1;\n\
             \tst.global.u32 \t[%rd1], %r37;\n\tret;\n}}\n"
        );
    }
    text
}

#[test]
fn ten_megabytes_of_ptx_are_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ptx"), large(10_000_000)).unwrap();
    let launch = folder.path().join("k.toml");
    let text = "ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [32]\n";
    std::fs::write(&launch, text).unwrap();
    let output = limited(
        500_000,
        &["run", launch.to_str().unwrap(), "--threads", "1"],
    );
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{error}");
}

/// The error of the program, which must end with status 2.
fn refused(args: &[&str]) -> String {
    let output = limited(500_000, args);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
    let words = text.split(|c: char| c.is_whitespace() || "│×╭╰─┬".contains(c));
    let words: Vec<&str> = words.filter(|w| !w.is_empty()).collect();
    words.join(" ")
}

#[test]
fn inputs_that_do_not_end_are_refused() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let kernel = ".version 7.0\n.target sm_70\n.address_size 64\n\
                  .visible .entry k(.param .u64 a) { ret; }\n";
    std::fs::write(at("good.ptx"), kernel).unwrap();
    for name in ["d.ptx", "d.npy", "d.raw", "d.traceg", "d.spt", "d.toml"] {
        symlink("/dev/zero", at(name)).unwrap();
    }
    for name in ["p.ptx", "p.npy", "p.traceg", "p.spt"] {
        assert!(
            Command::new("mkfifo")
                .arg(at(name))
                .status()
                .unwrap()
                .success()
        );
    }
    let launch = |ptx: &str, init: &str| {
        let text = format!(
            "ptx = \"{ptx}\"\ngrid = [1]\nblock = [1]\n[[arg]]\nname = \"a\"\ntype = \"u32\"\n\
             count = 4\ninit = \"{init}\"\n"
        );
        std::fs::write(at("k.toml"), text).unwrap();
        refused(&["run", &at("k.toml")])
    };
    for (ptx, init, reason) in [
        ("d.ptx", "zeros", "is a device"),
        ("p.ptx", "zeros", "is a pipe"),
        ("good.ptx", "d.npy", "is a device"),
        ("good.ptx", "d.raw", "is a device"),
        ("good.ptx", "p.npy", "is a pipe"),
    ] {
        let text = launch(ptx, init);
        assert!(text.contains(reason), "{ptx} {init}: {text}");
    }
    let ptx = at("d.ptx");
    for args in [
        vec!["rewrite", &ptx, "--hash", "xor", "-o", "x.ptx"],
        vec!["share", &ptx, "--block", "32"],
        vec!["classify", &ptx, "--block", "32"],
        vec!["run", &at("d.toml")],
        vec!["conflicts", &at("d.traceg"), "--hash", "xor"],
        vec!["sim", &at("d.spt")],
        vec!["conflicts", &at("p.traceg"), "--hash", "xor"],
        vec!["sim", &at("p.spt")],
    ] {
        let text = refused(&args);
        let known = text.contains("is a device") || text.contains("is a pipe");
        assert!(known, "{args:?}: {text}");
    }
}

#[test]
fn launch_files_of_very_many_tables_are_refused_with_the_number() {
    let folder = tempfile::tempdir().unwrap();
    let launch = folder.path().join("k.toml");
    let text = "ptx = \"k.ptx\"\ngrid = [1]\nblock = [1]\n".to_owned();
    std::fs::write(&launch, text.clone() + &"[[arg]]\n".repeat(5000)).unwrap();
    let error = refused(&["run", launch.to_str().unwrap()]);
    assert!(error.contains("there are 5000 [[arg]]"), "{error}");
    std::fs::write(&launch, text + &"[[arg]]\n".repeat(200_000)).unwrap();
    let error = refused(&["run", launch.to_str().unwrap()]);
    assert!(error.contains("larger than 1 MiB"), "{error}");
}

/// An endless kernel ends in every command that executes it, and leaves nothing.
#[test]
fn a_kernel_without_an_end_ends_at_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() {\n\
                .shared .b32 s;\nL: bar.sync 0;\nbra L;\n}\n";
    std::fs::write(folder.path().join("k.ptx"), text).unwrap();
    let launch = folder.path().join("k.toml");
    let text = "ptx = \"k.ptx\"\ngrid = [4]\nblock = [64]\nlimit = 100000\n";
    std::fs::write(&launch, text).unwrap();
    let launch = launch.to_str().unwrap();
    let trace = folder.path().join("x.spt");
    let trace = trace.to_str().unwrap();
    for args in [
        vec!["run", launch],
        vec!["trace", launch, "-o", trace],
        vec!["conflicts", launch, "--hash", "xor"],
        vec!["sim", launch],
        vec!["classify", launch],
        vec!["tune", launch],
    ] {
        let output = limited(500_000, &args);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {text}");
        assert!(text.contains("limit"), "{args:?}: {text}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Near-linear in the text: quadratic ones took minutes, debug builds longer.
#[test]
fn large_control_flow_is_read_in_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let head = ".version 7.8\n.target sm_80\n.address_size 64\n";
    let start = ".shared .b32 s[64]; .reg .b32 %r<5>; .reg .pred %p; mov.u32 %r1, %tid.x;\n\
                 shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r3, %r3, %r2;\n\
                 setp.eq.u32 %p, %r1, 99;\n";
    let mut deep = format!("{head}.func f0() {{ ret; }}\n");
    for n in 1..20_000 {
        deep += &format!(".func f{n}() {{ call f{}; ret; }}\n", n - 1);
    }
    deep += ".visible .entry k() { .shared .b32 s; call f19999; ret; }\n";
    // Blocks in the opposite order of their execution.
    let mut back = format!("{head}.visible .entry k() {{ {start} bra B29999;\n");
    for n in 0..30_000 {
        let next = if n == 0 {
            "E".to_owned()
        } else {
            format!("B{}", n - 1)
        };
        back += &format!("B{n}: st.shared.u32 [%r3], %r1; bra {next};\n");
    }
    back += "E: ret; }\n";
    // Jumps into the middle of loops, from everywhere.
    let mut tangled = format!("{head}.visible .entry k() {{ {start}");
    for n in 0..3000 {
        let to = (n * 7919 + 1) % 3000;
        tangled += &format!("C{n}: st.shared.u32 [%r3], %r1; @%p bra C{to};\n");
    }
    tangled += "ret; }\n";
    for (name, text) in [("deep", deep), ("back", back), ("tangled", tangled)] {
        std::fs::write(folder.path().join(format!("{name}.ptx")), text).unwrap();
        let text = format!("ptx = \"{name}.ptx\"\ngrid = [1]\nblock = [32]\n");
        std::fs::write(folder.path().join(format!("{name}.toml")), text).unwrap();
    }
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let trace = at("d.spt");
    for args in [
        vec!["trace", &at("deep.toml"), "-o", &trace],
        vec!["share", &at("back.ptx"), "--block", "32"],
        vec!["classify", &at("tangled.toml")],
    ] {
        let output = limited(2_000_000, &args);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {text}");
    }
}
