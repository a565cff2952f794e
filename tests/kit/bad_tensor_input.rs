//! Misuse of tensor maps, barriers of copies, matrix descriptors and fragments
//! on the command line: one error with its position. Launch files and PTX that
//! cannot run end with status 2, faults of a kernel with status 1.

use assert_cmd::Command;
use serde_json::Value;

/// Loads a tile by a tensor map, multiplies it with a part of itself, and reads
/// a part of it as a fragment.
const PTX: &str = r#".version 8.6
.target sm_90a
.address_size 64

.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)
{
	.reg .pred %p<3>;
	.reg .b32 %t, %tile, %bar, %row, %r<8>;
	.reg .b64 %map, %out, %at, %d;
	.reg .f32 %f<8>;
	.shared .align 1024 .b8 tile[2048];
	.shared .align 8 .b64 bar;
	mov.b64 %map, map;
	cvta.param.u64 %map, %map;
	ld.param.u64 %out, [out];
	mov.u32 %t, %tid.x;
	mov.u32 %tile, tile;
	mov.u32 %bar, bar;
	setp.ne.u32 %p0, %t, 0;
	@%p0 bra SYNC;
	mbarrier.init.shared::cta.b64 [%bar], 1;
	fence.proxy.async;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 2048;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%map, {0, 0}], [%bar];
SYNC:
	bar.sync 0;
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %p1, [%bar], 0;
	@!%p1 bra WAIT;
	mov.b64 %d, 0x1000080000;
	mov.b32 %f0, 0;
	mov.b32 %f1, 0;
	mov.b32 %f2, 0;
	mov.b32 %f3, 0;
	wgmma.fence.sync.aligned;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %d, %d, 0, 1, 1, 0, 0;
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	and.b32 %row, %t, 7;
	shl.b32 %row, %row, 4;
	add.u32 %row, %row, %tile;
	ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%row];
	wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%tile], 16;
	mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f4, %f5, %f6, %f7}, {%r0, %r1}, {%r2}, {%f0, %f1, %f2, %f3};
	mul.wide.u32 %at, %t, 4;
	add.u64 %at, %at, %out;
	st.global.f32 [%at], %f4;
	ret;
}
"#;

const LAUNCH: &str = r#"ptx = "k.ptx"
grid = [1]
block = [128]

[[arg]]
name = "map"
[arg.tensor_map]
buffer = "in"
type = "f16"
extent = [16, 64]
strides = [32]
box = [16, 64]
swizzle = "none"

[[arg]]
name = "out"
type = "f32"
count = 128

[[arg]]
name = "in"
type = "f16"
count = 1024
"#;

/// Exit status, the findings, and the words of standard error.
fn run(launch: &str, ptx: &str) -> (i32, Vec<Value>, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.toml"), launch).unwrap();
    std::fs::write(folder.path().join("k.ptx"), ptx).unwrap();
    let mut command = Command::cargo_bin("spadkit").unwrap();
    command.current_dir(folder.path());
    let output = command
        .args(["run", "k.toml", "--races", "--format", "json"])
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!errors.contains("panicked"), "{errors}");
    let status = output.status.code().unwrap();
    let count = errors.lines().filter(|l| l.starts_with("error:")).count();
    assert_eq!(count, usize::from(status != 0), "{errors}");
    let words = errors.split(|c: char| c.is_whitespace() || "│×╭╰─┬".contains(c));
    let words: Vec<&str> = words.filter(|w| !w.is_empty()).collect();
    let json: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    let findings = json.map(|j| j["findings"].as_array().unwrap().clone());
    (status, findings.unwrap_or_default(), words.join(" "))
}

/// The text with a part replaced, and the line where the new part begins.
fn changed(text: &str, from: &str, to: &str) -> (String, usize) {
    let at = text.find(from).unwrap_or_else(|| panic!("{from}"));
    let line = text[..at].matches('\n').count() + 1;
    (text.replacen(from, to, 1), line)
}

#[test]
fn what_is_right_runs() {
    let (status, findings, errors) = run(LAUNCH, PTX);
    assert_eq!((status, findings.len()), (0, 0), "{findings:?} {errors}");
}

#[test]
fn wrong_maps_are_named_in_the_launch_file() {
    for (from, to, below, message) in [
        ("box = [16, 64]", "box = [12, 64]", 0, "rows of 24 bytes"),
        (
            "box = [16, 64]",
            "box = [16, 257]",
            0,
            "a box of 257 in dimension 1",
        ),
        ("box = [16, 64]", "box = [16]", 0, "'box' has 1 numbers"),
        (
            "strides = [32]",
            "strides = [40]",
            0,
            "expected a multiple of 16 below 2^40",
        ),
        (
            "swizzle = \"none\"",
            "swizzle = \"64b\"",
            0,
            "'swizzle' is '64b'",
        ),
        (
            "extent = [16, 64]",
            "extent = [16, 65]",
            -3,
            "the tensor ends at byte 2080 of a buffer of 2048",
        ),
        (
            "buffer = \"in\"",
            "buffer = \"on\"",
            0,
            "there is no argument 'on'",
        ),
        // Rows are wider than what is swizzled.
        (
            "box = [16, 64]\nswizzle = \"none\"",
            "box = [32, 64]\nswizzle = \"32\"",
            0,
            "at most 32, the span of the swizzle",
        ),
    ] {
        let (launch, line) = changed(LAUNCH, from, to);
        let (status, _, errors) = run(&launch, PTX);
        assert_eq!(status, 2, "{to}: {errors}");
        assert!(errors.contains(message), "{to}: {errors}");
        let place = format!("k.toml:{}:", line as i64 + below);
        assert!(errors.contains(&place), "{to}, {place} {errors}");
    }
    let (ptx, _) = changed(PTX, "map[128]", "map[64]");
    let (status, _, errors) = run(LAUNCH, &ptx);
    assert_eq!(status, 2, "{errors}");
    assert!(
        errors.contains("argument 'map', a tensor map, has 128 bytes"),
        "{errors}"
    );
    assert!(errors.contains("k.toml:5:"), "{errors}");
}

#[test]
fn what_cannot_run_is_named_with_its_line() {
    let mut wrong = Vec::new();
    for (from, to, message) in [
        (
            "[%map, {0, 0}]",
            "[%map, {0, 0, 0}]",
            "3 coordinates where .2d has 2",
        ),
        (
            "tensor.2d.shared::cluster",
            "tensor.shared::cluster",
            "expected .1d, .2d",
        ),
        ("m64n8k16.f32.f16", "m64n9k16.f32.f16", "m64n9k16"),
        ("m16n8k8.row.col", "m16n8k9.row.col", "m16n8k9"),
        ("{%r0, %r1}, {%r2}", "{%r0, %r1}, {%r2, %r3}", "registers"),
        ("m8n8.x1", "m8n8.x2", "2 registers of 32 bits expected"),
        (
            "wmma.load.a.sync.aligned.row.m16n16k16",
            "wmma.load.a.sync.aligned.row.m16n16k4",
            "m16n16k4",
        ),
        (
            "wgmma.fence.sync.aligned;",
            "tcgen05.fence::before_thread_sync;",
            "tcgen05",
        ),
    ] {
        let (ptx, line) = changed(PTX, from, to);
        let (status, _, errors) = run(LAUNCH, &ptx);
        let place = format!("k.ptx:{line}:");
        if status != 2 || !errors.contains(message) || !errors.contains(&place) {
            wrong.push(format!("{to}, {status}, {place} {errors}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn faults_are_named_with_their_line() {
    let mut wrong = Vec::new();
    let wait = "\tmbarrier.try_wait.parity.shared::cta.b64 %p1, [%bar], 0;\n";
    let next = "\tmbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], 16;\n";
    let again = format!("mov.b64 %d, 0x1000080000;\n{next}{wait}");
    for (from, to, line, kind, message) in [
        (
            "[%tile], [%map",
            "[%tile+64], [%map",
            0,
            "misaligned",
            "not a multiple of 128",
        ),
        (
            "[%tile], [%map",
            "[%tile+128], [%map",
            0,
            "out-of-bounds",
            "of which the block has",
        ),
        (
            "[%map, {0, 0}]",
            "[%out, {0, 0}]",
            0,
            "invalid-tensor-map",
            "not a tensor map",
        ),
        (
            "tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%map, {0, 0}]",
            "tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%map, {0}]",
            0,
            "invalid-tensor-map",
            "uses a map of 2",
        ),
        (
            "\tmbarrier.init.shared::cta.b64 [%bar], 1;\n",
            "",
            1,
            "invalid-barrier",
            "has not been initialised",
        ),
        (
            "[%bar], 1;",
            "[%bar], 0;",
            0,
            "invalid-barrier",
            "count of 0",
        ),
        (
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 2048;",
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], 4096;",
            5,
            "barrier-not-reached",
            "phase 0 of the mbarrier",
        ),
        (
            "_, [%bar], 2048;",
            "_, [%bar+4], 2048;",
            0,
            "misaligned",
            "multiple of 8",
        ),
        (
            "mov.b64 %d, 0x1000080000;\n",
            &again,
            2,
            "invalid-barrier",
            "parity not flipped",
        ),
        (
            "mov.b64 %d, 0x1000080000;",
            "mov.b64 %d, 0x1000080001;",
            6,
            "out-of-bounds",
            "load of 16 bytes at byte 2048",
        ),
        (
            "\twgmma.mma_async",
            "\t@%p0 wgmma.mma_async",
            0,
            "invalid-mask",
            "only lanes 0xfffffffe",
        ),
        (
            "\twgmma.wait_group.sync.aligned 0;\n",
            "\tst.shared.u32 [%tile], %t;\n",
            0,
            "race",
            "has not waited for the wgmma",
        ),
        (
            "add.u32 %row, %row, %tile;",
            "add.u32 %row, %row, 8;",
            1,
            "misaligned",
            "is not aligned",
        ),
        (
            "[%tile], 16;",
            "[%tile], 17;",
            0,
            "misaligned",
            "is not aligned",
        ),
        (
            "\tmma.sync",
            "\t@%p0 mma.sync",
            0,
            "invalid-mask",
            "0xfffffffe",
        ),
    ] {
        let (ptx, at) = changed(PTX, from, to);
        let (status, findings, errors) = run(LAUNCH, &ptx);
        let is = |f: &&Value| {
            let text = f["message"].as_str().unwrap();
            f["kind"] == kind && f["ptx_line"] == at + line && text.contains(message)
        };
        // A warning is no error.
        let right = findings
            .iter()
            .find(is)
            .map(|f| i32::from(f["warning"] == false));
        if right != Some(status) {
            wrong.push(format!(
                "{to}, {status}, line {}: {findings:?} {errors}",
                at + line
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let (launch, _) = changed(LAUNCH, "block = [128]", "block = [96]");
    let (status, findings, _) = run(&launch, PTX);
    assert_eq!(
        (status, &findings[0]["kind"]),
        (1, &Value::from("invalid-wgmma"))
    );
    let text = findings[0]["message"].as_str().unwrap();
    assert!(text.contains("the block has 96 threads"), "{text}");
}
