//! `tune --software` for kernels of Python: Numba declares arrays, Triton does not.

use crate::common::{json, text};
use serde_json::Value;
use tempfile::TempDir;

/// A tile of 32 x 32 words that is stored by rows, at line 18, and loaded by columns, at
/// line 23.
const PTX: &str = ".version 7.0\n.target sm_80\n.address_size 64\n.file 1 \"k.py\"\n\
    .visible .entry k(.param .u64 out) {\n.reg .b32 %r<9>; .reg .b64 %rd<5>;\n\
    .shared .align 4 .b8 smem_3[4096];\n\
    mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, smem_3;\n\
    mad.lo.u32 %r4, %r2, 32, %r1; mad.lo.u32 %r5, %r4, 4, %r3;\n\
    .loc 1 18 5\nst.shared.u32 [%r5], %r4;\nbar.sync 0;\n\
    mad.lo.u32 %r6, %r1, 32, %r2; mad.lo.u32 %r7, %r6, 4, %r3;\n\
    .loc 1 23 5\nld.shared.u32 %r8, [%r7];\n\
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2;\n\
    st.global.u32 [%rd3], %r8; ret;\n}\n";

/// The kernel with these lines for the declaration, the store and the load.
fn kernel(declaration: &str, store: &str, load: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    put("k.ptx", PTX);
    let launch = "ptx = \"k.ptx\"\ngrid = [1]\nblock = [32, 32]\n[[arg]]\nname = \"out\"\n\
                  type = \"u32\"\ncount = 1024\n";
    put("k.toml", launch);
    let mut lines = vec![String::new(); 30];
    lines[13] = format!("    {declaration}");
    lines[17] = format!("    {store}");
    lines[22] = format!("    {load}");
    put("k.py", &lines.join("\n"));
    let launch = folder.path().join("k.toml").to_str().unwrap().to_owned();
    (folder, launch)
}

fn tuned(launch: &str) -> Value {
    json(&[
        "tune",
        launch,
        "--software",
        "--budget",
        "1",
        "--no-machine-code",
    ])
}

#[test]
fn rows_of_an_array_of_numba_become_longer_where_it_is_declared() {
    let (_folder, launch) = kernel(
        "other = cuda.shared.array((32, 32), f4); tile = cuda.shared.array((32, 32), f4)",
        "tile[ty, tx] = a[y, x]",
        "out[y, x] = tile[tx, ty]",
    );
    let found = tuned(&launch);
    let changes = found["suggestions"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{found}");
    let change = &changes[0];
    assert_eq!(
        (&change["array"], &change["conflicts"]),
        (&"tile".into(), &0.into())
    );
    assert_eq!(
        (
            &change["function"],
            change["lines"].as_array().map(Vec::len)
        ),
        (&"".into(), Some(0))
    );
    let declaration = &change["declarations"][0];
    let line = "other = cuda.shared.array((32, 32), f4); tile = cuda.shared.array((32, 33), f4)";
    assert_eq!(declaration["changed_text"], line);
    assert!(declaration["source"].as_str().unwrap().ends_with("k.py:14"));
    let shown = text(&["tune", &launch, "--software", "--budget", "1"]);
    assert!(shown.contains("the declaration alone changes"), "{shown}");
    assert!(!shown.contains("__device__"), "{shown}");
}

#[test]
fn what_a_compiler_of_python_lays_out_is_no_change_of_the_source() {
    let dot = "acc = tl.dot(a, b)";
    for declaration in ["", "tile = cuda.shared.array(1024, f4)"] {
        let (_folder, launch) = kernel(declaration, dot, dot);
        let found = tuned(&launch);
        assert_eq!(
            found["suggestions"].as_array().map(Vec::len),
            Some(0),
            "{found}"
        );
        assert_eq!(found["left_alone"][0]["by_compiler"], true);
        let shown = text(&["tune", &launch, "--software", "--budget", "1"]).replace('\n', " ");
        assert!(
            shown.contains("compiler of its Python source lays it out"),
            "{shown}"
        );
        assert!(!shown.contains("__device__"), "{shown}");
    }
}
