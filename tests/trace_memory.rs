//! Long kernels are traced in little memory: `trace -o FILE.spt` and `sim`
//! stream, whatever the length.
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
