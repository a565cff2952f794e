//! `tune --software` for shared arrays of namespaces: their names are those of the source.

use crate::common::suggested::{Launch, QUICKLY};
use serde_json::Value;

/// A tile of 32 x 32 words that is stored by rows, at line 5, and loaded by columns, at line 6.
const PTX: &str = ".version 7.0\n.target sm_80\n.address_size 64\n.file 1 \"k.cu\"\n\
    .visible .entry k(.param .u64 out) {\n.reg .b32 %r<9>; .reg .b64 %rd<5>;\n\
    .shared .align 4 .b8 NAME[4096];\n\
    mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, NAME;\n\
    mad.lo.u32 %r4, %r2, 32, %r1; mad.lo.u32 %r5, %r4, 4, %r3;\n\
    .loc 1 5 5\nst.shared.u32 [%r5], %r4;\nbar.sync 0;\n\
    mad.lo.u32 %r6, %r1, 32, %r2; mad.lo.u32 %r7, %r6, 4, %r3;\n\
    .loc 1 6 5\nld.shared.u32 %r8, [%r7];\n\
    ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2;\n\
    st.global.u32 [%rd3], %r8; ret;\n}\n";

/// The suggestion for an array of the PTX with that name, which these lines declare and name.
fn suggested(variable: &str, declaration: &str, name: &str) -> Value {
    let ptx = PTX.replace("NAME", variable);
    let keys = "ptx = \"k.ptx\"\ngrid = [1]\nblock = [32, 32]\n[[arg]]\nname = \"out\"\n\
                type = \"u32\"\ncount = 1024\n";
    let source = format!(
        "{declaration}\nextern \"C\" __global__ void k(int *out) {{\n\
         const int x = threadIdx.x, y = threadIdx.y;\n{name}[y][x] = y * 32 + x;\n\
         out[y * 32 + x] = {name}[x][y];\n}}\n"
    );
    let launch = Launch::of(&[("k.ptx", &ptx), ("k.toml", keys), ("k.cu", &source)]);
    launch.tuned(QUICKLY)["suggestions"][0].take()
}

#[test]
fn lines_change_with_the_names_of_the_source() {
    let two = "namespace wp { __shared__ int tile[32][32]; }\n\
               namespace ab { __shared__ int tile[16][64]; }";
    let using = "namespace wp { __shared__ int tile[32][32]; }\nusing wp::tile;";
    let anonymous = "namespace {\n__shared__ int tile[32][32]; }";
    for (variable, declaration, name) in [
        ("_ZN2wp4tileE", two, "wp::tile"),
        ("_ZN2wp4tileE", using, "tile"),
        ("_ZN14_INTERNAL_a_cu12_GLOBAL__N_14tileE", anonymous, "tile"),
    ] {
        let found = suggested(variable, declaration, name);
        assert_eq!(found["array"], name, "{found}");
        let lines = found["lines"].as_array().unwrap();
        let changed: Vec<&str> = lines
            .iter()
            .filter_map(|l| l["changed_text"].as_str())
            .collect();
        let store = format!("(&{name}[0][0])[spad_place(y * 32 + x)] = y * 32 + x;");
        let load = format!("out[y * 32 + x] = (&{name}[0][0])[spad_place(x * 32 + y)];");
        assert!(changed.len() == 2, "{found}");
        assert!(
            changed.contains(&&*store) && changed.contains(&&*load),
            "{found}"
        );
    }
}

/// The lines do not show how the array is called.
#[test]
fn an_array_of_a_namespace_that_no_line_names_has_its_full_name() {
    let declaration = "namespace wp { __shared__ int tile[32][32]; }\n#define AT(a, b) at(a, b)";
    let found = suggested("_ZN2wp4tileE", declaration, "AT(0, 0), q");
    assert_eq!(found["array"], "wp::tile", "{found}");
}
