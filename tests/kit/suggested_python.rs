//! `tune --software` for kernels of Python: in Numba, CuTe DSL and Gluon the author lays out
//! arrays, in Triton the compiler.

use crate::common::suggested::{Launch, QUICKLY};
use crate::common::{json, text};
use serde_json::Value;

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
fn kernel(declaration: &str, store: &str, load: &str) -> Launch {
    named_kernel(PTX, declaration, [store, load])
}

/// The same with an array of that name in the PTX, and these lines of Python.
fn of_generator(variable: &str, declaration: &str) -> Launch {
    let ptx = PTX.replace("smem_3", variable);
    named_kernel(
        &ptx,
        declaration,
        ["tile[ty, tx] = a[y, x]", "out[y, x] = tile[tx, ty]"],
    )
}

fn named_kernel(ptx: &str, declaration: &str, [store, load]: [&str; 2]) -> Launch {
    let launch = "ptx = \"k.ptx\"\ngrid = [1]\nblock = [32, 32]\n[[arg]]\nname = \"out\"\n\
                  type = \"u32\"\ncount = 1024\n";
    let mut lines = vec![String::new(); 30];
    lines[13] = format!("    {declaration}");
    lines[17] = format!("    {store}");
    lines[22] = format!("    {load}");
    let source = lines.join("\n");
    Launch::of(&[("k.ptx", ptx), ("k.toml", launch), ("k.py", &source)])
}

#[test]
fn rows_of_an_array_of_numba_become_longer_where_it_is_declared() {
    let launch = kernel(
        "other = cuda.shared.array((32, 32), f4); tile = cuda.shared.array((32, 32), f4)",
        "tile[ty, tx] = a[y, x]",
        "out[y, x] = tile[tx, ty]",
    );
    let found = launch.tuned(QUICKLY);
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
    let shown = text(&["tune", &launch.file, "--software", "--budget", "1"]);
    assert!(shown.contains("the declaration alone changes"), "{shown}");
    assert!(!shown.contains("__device__"), "{shown}");
}

/// What is shown, in one line.
fn shown(launch: &Launch) -> String {
    let shown = text(&["tune", &launch.file, "--software", "--budget", "1"]);
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of the changed declaration of the only suggestion.
fn declared(found: &Value) -> &str {
    let changes = found["suggestions"].as_array().unwrap();
    assert!(changes.len() == 1, "{found}");
    let declaration = &changes[0]["declarations"][0]["changed_text"];
    declaration.as_str().unwrap_or_else(|| panic!("{found}"))
}

#[test]
fn what_a_compiler_of_python_lays_out_is_no_change_of_the_source() {
    let dot = "acc = tl.dot(a, b)";
    for (variable, by) in [("smem_3", "its Python source"), ("global_smem", "Triton")] {
        let launch = named_kernel(&PTX.replace("smem_3", variable), "", [dot, dot]);
        let found = launch.tuned(QUICKLY);
        assert_eq!(found["suggestions"], serde_json::json!([]), "{found}");
        assert_eq!(found["left_alone"][0]["by_compiler"], true);
        let shown = shown(&launch);
        assert!(
            shown.contains(&format!("compiler of {by} lays it out")),
            "{shown}"
        );
        assert_eq!(shown.contains("num_warps"), by == "Triton", "{shown}");
        assert!(!shown.contains("__device__"), "{shown}");
    }
}

/// Numba numbers its arrays in the order of their declarations.
#[test]
fn an_array_of_numba_is_known_by_its_number() {
    let two = PTX.replace("smem_3", "_cudapy_smem_7").replace(
        ".shared .align 4 .b8",
        ".shared .align 4 .b8 _cudapy_smem_12[4096];\n.shared .align 4 .b8",
    );
    let two = two.replace("ret;", "st.shared.u32 [_cudapy_smem_12], %r1; ret;");
    let line =
        "TILE = 32; a = cuda.shared.array((32, 32), f4); b = cuda.shared.array((32, 32), f4)";
    let both = ["a[ty, tx] = b[y, x]", "out[y, x] = a[tx, ty] + b[tx, ty]"];
    let launch = named_kernel(&two, line, both);
    let found = launch.tuned(QUICKLY);
    assert_eq!(found["suggestions"][0]["array"], "a", "{found}");
    assert_eq!(declared(&found), line.replacen("(32, 32)", "(32, 33)", 1));
}

#[test]
fn an_index_of_numba_goes_through_a_function() {
    let declaration = "tile = cuda.shared.array(1024, f4)";
    let launch = of_generator("_cudapy_smem_1", declaration);
    let found = launch.tuned(QUICKLY);
    let change = &found["suggestions"][0];
    assert_eq!(
        (&change["array"], &change["python"]),
        (&"tile".into(), &"numba".into())
    );
    let function = change["function"].as_str().unwrap();
    assert!(
        function.contains("@cuda.jit(device=True)\ndef spad_place(index):"),
        "{function}"
    );
    let lines = change["lines"].as_array().unwrap();
    let changed: Vec<&str> = lines
        .iter()
        .filter_map(|l| l["changed_text"].as_str())
        .collect();
    assert!(
        changed.contains(&"out[y, x] = tile[spad_place(tx, ty)]"),
        "{found}"
    );
    let shown = shown(&launch);
    assert!(
        !shown.contains("No change of the source") && !shown.contains("__device__"),
        "{shown}"
    );
}

#[test]
fn a_tensor_of_cute_gets_a_longer_stride() {
    let line = "tile = sm.allocate_tensor(f32, cute.make_layout((32, 32), stride=(32, 1)), 16)";
    let launch = of_generator("__dynamic_shmem__0", line);
    let found = launch.tuned(QUICKLY);
    assert_eq!(
        declared(&found),
        line.replace("stride=(32, 1)", "stride=(33, 1)")
    );
    let composed = "cute.make_composed_layout(cute.make_swizzle(5, 0, 5), 0, \
                    cute.make_layout((32, 32), stride=(32, 1)))";
    assert_eq!(found["suggestions"][0]["cute"]["code"], composed);
    // Without numbers, the layout stays what it is under the swizzle.
    let launch = of_generator("__dynamic_shmem__0", "tile = make(layout)");
    let found = launch.tuned(QUICKLY);
    let code = found["suggestions"][0]["function"].as_str().unwrap();
    assert!(
        code.ends_with("cute.make_swizzle(5, 0, 5), 0, LAYOUT)"),
        "{code}"
    );
    let shown = shown(&launch);
    assert!(
        shown.contains("in CuTe DSL, the layout of the array changes alone"),
        "{shown}"
    );
}

/// Its buffer has no numbers: the accesses show its rows.
#[test]
fn a_buffer_of_gluon_gets_another_layout() {
    let lines = |layout: &str, shape: &str| {
        format!(
            "from gluon import gl; tile = gl.allocate_shared_memory(gl.float32, {shape}, {layout})"
        )
    };
    let plain = lines("gl.SwizzledSharedLayout(1, 1, 1, [1, 0])", "[32, 32]");
    let launch = of_generator("global_smem", &plain);
    let found = launch.tuned(QUICKLY);
    assert_eq!(found["suggestions"][0]["array"], "tile", "{found}");
    let expected = lines("gl.SwizzledSharedLayout(1, 1, 32, [1, 0])", "[32, 32]");
    assert_eq!(declared(&found), expected);
    // The words are in another order, which the new layout replaces.
    let swizzled = PTX.replace("smem_3", "global_smem").replace(
        ".loc 1 18 5",
        "and.b32 %r6, %r2, 7; shl.b32 %r6, %r6, 4; xor.b32 %r5, %r5, %r6;\n.loc 1 18 5",
    );
    let swizzled = swizzled.replace(
        ".loc 1 23 5",
        "and.b32 %r6, %r1, 7; shl.b32 %r6, %r6, 4; xor.b32 %r7, %r7, %r6;\n.loc 1 23 5",
    );
    let source = lines("gl.SwizzledSharedLayout(4, 1, 8, [1, 0])", "[M, N]");
    let both = ["tile.store(x)", "y = tile.load(l)"];
    let launch = named_kernel(&swizzled, &source, both);
    let found = launch.tuned(QUICKLY);
    assert_eq!(found["suggestions"][0]["conflicts"], 0, "{found}");
    let expected = lines("gl.SwizzledSharedLayout(1, 1, 32, [1, 0])", "[M, N]");
    assert_eq!(declared(&found), expected);
}

/// The forms of the code that `flow` shows for a kernel, and the text of the one in `form`.
fn in_report(launch: &str, form: &str) -> (Vec<String>, String) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let found = json(&[
        "flow",
        launch,
        "--fast",
        "--budget",
        "1",
        "-o",
        out.to_str().unwrap(),
    ]);
    let choices = found["choices"].as_array().unwrap().iter();
    let code = choices.flat_map(|choice| choice["code"].as_array().cloned().unwrap_or_default());
    let code: Vec<Value> = code.collect();
    let of = |c: &Value| c["form"].as_str().unwrap().to_owned();
    let own = code.iter().find(|c| of(c) == form);
    let text = own.map(|c| c["text"].as_str().unwrap().to_owned());
    let forms = code.iter().map(of).collect();
    (forms, text.unwrap_or_else(|| panic!("{code:#?}")))
}

#[test]
fn a_report_shows_a_change_of_python_under_the_name_of_its_language() {
    for (variable, declaration, form, pasted) in [
        (
            "_cudapy_smem_1",
            "tile = cuda.shared.array(1024, f4)",
            "Numba",
            "def spad_place(index):",
        ),
        (
            "__dynamic_shmem__0",
            "tile = make(layout)",
            "CuTe DSL",
            "cute.make_swizzle(5, 0, 5), 0, LAYOUT)",
        ),
        (
            "global_smem",
            "from gluon import gl; tile = gl.allocate_shared_memory(gl.float32, [32, 32], \
             gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))",
            "Gluon",
            "gl.SwizzledSharedLayout(1, 1, 32, [1, 0])",
        ),
    ] {
        let launch = of_generator(variable, declaration);
        let (forms, text) = in_report(&launch.file, form);
        assert!(!forms.contains(&"CUDA".to_owned()), "{form}: {forms:?}");
        assert!(text.contains(pasted), "{text}");
        assert!(text.starts_with("# "), "{text}");
        assert!(text.contains(": 0 of 992 conflicts are left."), "{text}");
        assert!(!text.contains("//"), "{text}");
    }
}
