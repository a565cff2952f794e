//! What must stay within bounds of memory: long kernels are traced and run as
//! they stream, and large PTX is read.
#![cfg(target_os = "linux")]

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// The program with at most `kib` KiB of address space.
fn limited(kib: u32, args: &[&str]) -> Output {
    let program = assert_cmd::cargo::cargo_bin("spadkit");
    Command::new("sh")
        .args(["-c", "ulimit -v \"$1\" && shift && exec \"$@\"", "sh"])
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

/// Functions like those that compilers write, until there are so many bytes.
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
