//! `spadkit rewrite` on the command line.

use super::{kernel, path_of as path, spadkit};
use crate::kernels::files::kernels_folder;
use serde_json::Value;

#[test]
fn a_launch_file_is_rewritten_and_measured() {
    let folder = tempfile::tempdir().unwrap();
    let (out, launch) = (folder.path().join("t.ptx"), kernel("transpose/transpose"));
    let spec = "bitvec-xor:k1=0,k2=3,mask=30";
    let run = spadkit(&[
        path(&launch),
        "--hash",
        spec,
        "-o",
        path(&out),
        "--format",
        "json",
    ]);
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(json["format_version"], 1);
    assert_eq!(json["entry"], "transpose");
    assert_eq!(
        (&json["accesses"], &json["rewritten"]),
        (&2.into(), &2.into())
    );
    assert_eq!(json["refused"], Value::Null);
    assert_eq!(json["left"], serde_json::json!([]));
    assert_eq!(
        json["shared_bytes"],
        serde_json::json!({"before": 1024, "after": 1024})
    );
    assert_eq!(
        (&json["conflicts_before"], &json["conflicts_after"]),
        (&56.into(), &0.into())
    );
    assert_eq!(json["outputs_equal"], true);
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.contains("lop3.b32") && text.contains(".loc\t1 20 9"));
}

/// A kernel whose conflicts a mapping removes, and one that has none.
#[test]
fn a_rewriting_that_removes_no_conflict_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.ptx");
    for (name, vain) in [("transpose/transpose", false), ("gemm/sgemm_nt", true)] {
        let (launch, spec) = (kernel(name), "swizzle:3,2,3");
        let options = ["--hash", spec, "--no-machine-code", "-o", path(&out)];
        let run = spadkit(&[&[path(&launch)][..], &options].concat());
        let text = String::from_utf8(run.stdout).unwrap().replace('\n', " ");
        let said = text.contains("but nothing is gained: conflicts 0 -> 0, 1.12 instructions");
        assert!(run.status.success() && said == vain, "{name}: {text}");
    }
}

/// Two kernels whose conflicts no mapping removes, and one without conflicts:
/// nothing is advised, and the reason is given.
#[test]
fn where_no_mapping_leaves_fewer_conflicts_none_is_proposed() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.ptx");
    for (name, conflicts, bound, reason) in [
        (
            "fft/fft_columns_grid",
            160,
            160,
            "every mapping that keeps groups of 2 words together leaves its 160 conflicts, \
             64 of them at fft.cu:100",
        ),
        (
            "gemm/hgemm_swizzled",
            0,
            0,
            "the kernel has no conflicts as it is",
        ),
    ] {
        let launch = kernel(name);
        let arguments = [path(&launch), "--hash", "xor", "-o", path(&out)];
        let run = spadkit(&[&arguments[..], &["--format", "json"]].concat());
        assert_eq!(run.status.code(), Some(1), "{name}");
        let json: Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!(
            (&json["proposal"], &json["proposed"]),
            (&Value::Null, &Value::Null)
        );
        let none = &json["nothing_helps"];
        assert_eq!(
            (&none["conflicts"], &none["lower_bound"]),
            (&conflicts.into(), &bound.into())
        );
        assert_eq!(none["reason"], reason);
        let run = spadkit(&arguments);
        let text = [run.stdout, run.stderr].concat();
        let text = String::from_utf8_lossy(&text).replace(['\n', '│'], " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&format!("nothing helps: {reason}")), "{text}");
        assert!(!text.contains("swizzle:0,0,0") && !out.exists(), "{text}");
    }
}

/// NVIDIA's `SharedMemory<T>` declares an array for every type, and an entry
/// uses one. All begin at one address; the others do not matter to this entry.
#[test]
fn an_extern_array_that_the_entry_does_not_use_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let ptx = ".version 7.0\n.target sm_70\n.address_size 64\n\
        .extern .shared .align 16 .b8 ints[];\n.extern .shared .align 16 .b8 doubles[];\n\
        .visible .entry a(.param .u64 p)\n{\n.reg .b32 %r<6>; .reg .b64 %rd<4>;\n\
        ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 7;\n\
        mov.u32 %r3, ints;\nadd.s32 %r4, %r3, %r2;\nst.shared.u32 [%r4], %r1;\n\
        bar.sync 0;\nld.shared.u32 %r5, [%r4];\nmul.wide.u32 %rd2, %r1, 4;\n\
        add.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r5;\nret;\n}\n\
        .visible .entry b()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, doubles;\n\
        st.shared.u32 [%r1], %r1;\nret;\n}\n";
    let launch = "ptx = \"k.ptx\"\nentry = \"a\"\ngrid = [1]\nblock = [32]\n\
        dynamic_shared = 4096\n[[arg]]\nname = \"p\"\ntype = \"u32\"\ncount = 32\n";
    std::fs::write(file("k.ptx"), ptx).unwrap();
    std::fs::write(file("k.toml"), launch).unwrap();
    let (toml, out) = (file("k.toml"), file("out.ptx"));
    let run = spadkit(&[
        path(&toml),
        "--hash",
        "xor",
        "-o",
        path(&out),
        "--format",
        "json",
    ]);
    let error = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{error}");
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    let number = |key: &str| json[key].as_u64().unwrap();
    assert_eq!((number("accesses"), number("rewritten")), (2, 2));
    assert_eq!(
        (number("conflicts_before"), number("conflicts_after")),
        (62, 0)
    );
    assert_eq!(json["outputs_equal"], true);
}

/// With a PTX alone nothing is known of a launch; --launch measures with one.
#[test]
fn a_ptx_is_rewritten_for_any_block() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("t.ptx");
    let ptx = kernels_folder().join("fwt/fwt.ptx");
    let run = spadkit(&[path(&ptx), "--hash", "swizzle:3,1,5", "-o", path(&out)]);
    assert_eq!(run.status.code(), Some(2));
    let error = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(error.contains("--dynamic-shared"), "{error}");
    assert!(!out.exists());
    let sized = ["--dynamic-shared", "8192", "--format", "json"];
    let mut args = vec![path(&ptx), "--hash", "swizzle:3,1,5", "-o", path(&out)];
    args.extend(sized);
    let run = spadkit(&args);
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let json: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(json["dynamic_shared"], 8192);
    assert_eq!(json["block"], Value::Null);
    assert!(json.get("outputs_equal").is_none());
}

#[test]
fn what_cannot_be_rewritten_is_said_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.ptx");
    let check = |args: &[&str], status: i32, reason: &str| {
        let mut all = args.to_vec();
        all.extend(["-o", path(&out)]);
        let run = spadkit(&all);
        let error = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(status), "{args:?}: {error}");
        assert!(error.contains(reason), "{args:?}: {error}");
        assert!(!out.exists(), "{args:?}");
    };
    let (transpose, wide) = (kernel("transpose/transpose"), kernel("matmul/matmul_wide"));
    let ptx = kernels_folder().join("transpose/transpose.ptx");
    let none = kernel("backprop/adjust_weights");
    check(&[path(&none), "--hash", "xor"], 2, "no shared memory");
    check(&[path(&ptx), "--hash", "xor"], 2, "name one with --entry");
    check(
        &[path(&ptx), "--entry", "nope", "--hash", "xor"],
        2,
        "no entry 'nope'",
    );
    check(
        &[path(&transpose), "--entry", "nope", "--hash", "xor"],
        2,
        "no entry 'nope'",
    );
    check(
        &[path(&wide), "--hash", "xor"],
        1,
        "splits 128-bit accesses",
    );
    check(
        &[path(&transpose), "--hash", "pad:every=1,by=60"],
        2,
        "bytes of shared memory",
    );
    check(
        &[path(&transpose), "--hash", "nope=xor"],
        2,
        "no shared variable nope",
    );
    check(
        &[path(&transpose), "--hash", "xor", "--hash", "a=add"],
        2,
        "given together with another --hash",
    );
    check(
        &[path(&transpose), "--hash", "swizzle:9"],
        2,
        "three numbers",
    );
    check(
        &[path(&transpose), "--hash", "xor", "--block", "0"],
        2,
        "expected X",
    );
    let broken = folder.path().join("broken.ptx");
    std::fs::write(
        &broken,
        ".version 7.0\n.target sm_80\n.entry k() { nonsense",
    )
    .unwrap();
    check(&[path(&broken), "--hash", "xor"], 2, "broken.ptx:3");
}

/// The command for a launch file of what was written names the entry where there are several.
#[test]
fn the_launch_file_of_one_entry_of_several_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("t.ptx");
    let ptx = kernels_folder().join("transpose/transpose.ptx");
    let of_entry = [
        "--entry",
        "transpose",
        "--hash",
        "swizzle:3,1,4",
        "-o",
        path(&out),
    ];
    let run = spadkit(&[&[path(&ptx)], &of_entry[..]].concat());
    let text = String::from_utf8(run.stdout).unwrap().replace("\\\n", " ");
    let at = text
        .find("spadkit init")
        .unwrap_or_else(|| panic!("{text}"));
    assert!(text[at..].contains("--entry transpose"), "{text}");
}
