//! A kernel that has its tensor map in a struct, as those of CUTLASS: from `init` to its
//! results, races, conflicts and trace.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Loads a tile, and stores its first column times a number.
const PTX: &str = "
.version 8.6
.target sm_90a
.address_size 64

.visible .entry k(.param .align 64 .b8 k_param_0[192])
{
	.reg .pred %p<3>;
	.reg .b32 %r<8>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<8>;
	.shared .align 128 .b8 tile[4096];
	.shared .align 8 .b64 bar;
	mov.b64 %rd1, k_param_0;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, tile;
	mov.u32 %r3, bar;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra SYNC;
	mbarrier.init.shared::cta.b64 [%r3], 1;
	fence.proxy.async.shared::cta;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 4096;
	add.s64 %rd2, %rd1, 64;
	cvta.param.u64 %rd3, %rd2;
	mov.u32 %r4, 0;
	cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd3, {%r4, %r4}], [%r3];
SYNC:
	bar.sync 0;
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], 0;
	@!%p2 bra WAIT;
	mad.lo.u32 %r5, %r1, 128, %r2;
	ld.shared.f32 %f1, [%r5];
	ld.param.f32 %f2, [%rd1+8];
	mul.f32 %f3, %f1, %f2;
	ld.param.u64 %rd4, [%rd1+16];
	cvta.to.global.u64 %rd5, %rd4;
	mul.wide.u32 %rd6, %r1, 4;
	add.s64 %rd7, %rd5, %rd6;
	st.global.f32 [%rd7], %f3;
	ret;
}
";

fn spadkit(dir: &Path, args: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spadkit"));
    let out = command
        .current_dir(dir)
        .args(args)
        .args(["--format", "json"]);
    let out = out.output().expect("spadkit runs");
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{args:?}: {error}");
    serde_json::from_slice(&out.stdout).expect("JSON")
}

#[test]
fn init_writes_what_all_commands_take() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    std::fs::write(path("k.ptx"), PTX).unwrap();
    let sizes = ["--grid", "1", "--block", "32"];
    spadkit(dir.path(), &[&["init", "k.ptx"][..], &sizes].concat());
    // The factor at byte 8 is 2.
    let text = std::fs::read_to_string(path("k.toml")).unwrap();
    let number = format!("value = \"{}00000040", "00".repeat(8));
    let filled = text
        .replace(&format!("value = \"{}", "00".repeat(12)), &number)
        .replace("\"random\"", "\"iota\"");
    assert_ne!(filled, text);
    std::fs::write(path("k.toml"), filled).unwrap();
    let run = [
        "run",
        "k.toml",
        "--races=global",
        "--dump",
        "param_0.16=out.npy",
    ];
    let run = spadkit(dir.path(), &run);
    assert_eq!(run["findings"], serde_json::json!([]));
    let bytes = std::fs::read(path("out.npy")).unwrap();
    let data = &bytes[bytes.len() - 4 * 4096..];
    let words = data
        .chunks(4)
        .map(|c| f32::from_le_bytes(c.try_into().unwrap()));
    let wanted = (0..32).map(|t| 2.0 * 64.0 * t as f32);
    assert!(words.take(32).eq(wanted));
    // All lanes read one bank.
    let conflicts = spadkit(dir.path(), &["conflicts", "k.toml"]);
    assert_eq!(conflicts["results"][0]["conflicts"], 31);
    spadkit(dir.path(), &["trace", "k.toml", "-o", "t.json"]);
    let trace = std::fs::read_to_string(path("t.json")).unwrap();
    let trace: Value = serde_json::from_str(&trace).unwrap();
    assert_eq!(trace["tensor_copies"][0]["bytes"], 4096);
}
