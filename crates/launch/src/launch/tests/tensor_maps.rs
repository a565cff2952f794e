//! Tensor maps of a launch file.

use super::super::*;
use super::{in_folder, parse};

const PTX: &str = ".version 8.6\n.target sm_90a\n.address_size 64\n
.visible .entry k(.param .u64 out, .param .align 64 .b8 map[128], .param .u64 again) {
    .reg .b64 %out, %map, %a; .reg .b32 %t, %r<4>; .reg .pred %p<3>;
    .shared .align 128 .b8 tile[256]; .shared .align 8 .b64 bar;
    ld.param.u64 %out, [out]; mov.b64 %map, map; cvta.param.u64 %map, %map; mov.u32 %t, %tid.x;
    mov.u32 %r1, tile; mov.u32 %r2, bar; setp.ne.u32 %p0, %t, 0; @%p0 bra S;
    mbarrier.init.shared::cta.b64 [%r2], 1; fence.proxy.async;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 256;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
      [%r1], [%map, {4, 1}], [%r2];
    ld.param.u64 %map, [again];
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
      [%r1+128], [%map, {-4, 3}], [%r2];
    S: bar.sync 0;
    W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0; @!%p1 bra W;
    shl.b32 %r3, %t, 2; add.u32 %r1, %r1, %r3; ld.shared.u32 %r0, [%r1];
    cvt.u64.u32 %a, %r3; add.u64 %out, %out, %a; st.global.u32 [%out], %r0; ret;
}";

const LAUNCH: &str = r#"ptx = "k.ptx"
grid = [1]
block = [64]

[[arg]]
name = "out"
type = "u32"
count = 64

[[arg]]
name = "map"
tensor_map = { buffer = "in", offset = 64, type = "f32", extent = [8, 3], box = [8, 4], fill = "nan" }

[[arg]]
name = "map_again"
[arg.tensor_map]
buffer = "in"
type = "u32"
extent = [8, 5]
strides = [32]
box = [8, 4]
element_strides = [1, 1]
interleave = "none"
swizzle = "none"

[[arg]]
name = "in"
type = "u32"
count = 40
init = "iota"
"#;

/// One map as 128 bytes of a parameter, one by a pointer to it.
#[test]
fn kernels_load_tiles_by_both_ways_of_passing_a_map() {
    let (_folder, file) = in_folder(PTX, LAUNCH);
    let mut prepared = file.prepare(&file.module().unwrap()).unwrap();
    assert_eq!(prepared.run(&Options::default()).unwrap().findings, []);
    let out = prepared.outputs().find(|o| o.0 == "out").unwrap().1;
    let out = out
        .chunks(4)
        .map(|c| u32::from_le_bytes(c.try_into().unwrap()));
    let wanted = (0..64u32).map(|n| {
        let (x, y) = (n % 8, n / 8 % 4);
        match n {
            // From row 2 of the buffer, 16 words into the tensor at byte 64.
            0..32 if x < 4 && y < 2 => 16 + 8 * (y + 1) + 4 + x,
            0..32 => 0x7ff7_7ff7,
            _ if x >= 4 && y < 2 => 8 * (y + 3) + x - 4,
            _ => 0,
        }
    });
    assert_eq!(out.collect::<Vec<u32>>(), wanted.collect::<Vec<u32>>());
}

#[test]
fn mistakes_are_named_with_their_place() {
    let mut wrong = Vec::new();
    for (from, to, line, wanted) in [
        (
            "extent = [8, 5]",
            "extent = [8, 6]",
            16,
            "ends at byte 192 of a buffer of 160 bytes",
        ),
        (
            "extent = [8, 5]\nstrides = [32]\nbox = [8, 4]\nelement_strides = [1, 1]",
            "extent = []\nbox = []",
            19,
            "0 dimensions",
        ),
        (
            "extent = [8, 5]",
            "extent = 8",
            19,
            "expected an array of integers",
        ),
        (
            "extent = [8, 5]",
            "extent = [8, 0]",
            19,
            "'extent' is out of range",
        ),
        (
            "strides = [32]",
            "strides = [40]",
            20,
            "a stride of 40 bytes in dimension 1",
        ),
        (
            "strides = [32]",
            "strides = [32, 32]",
            20,
            "'strides' has 2 numbers",
        ),
        (
            "box = [8, 4]\n",
            "box = [8]\n",
            21,
            "expected 2, by the dimensions of 'extent'",
        ),
        (
            "box = [8, 4]\n",
            "box = [300, 4]\n",
            21,
            "a box of 300 in dimension 0",
        ),
        ("box = [8, 4]\n", "box = [7, 4]\n", 21, "rows of 28 bytes"),
        ("box = [8, 4]\n", "\n", 16, "tensor_map has no 'box'"),
        (
            "box = [8, 4]\n",
            "box = [8, 4]\npixels = 3\n",
            22,
            "only allowed without 'box'",
        ),
        (
            "element_strides = [1, 1]",
            "element_strides = [1, 9]",
            22,
            "expected 1 to 8",
        ),
        (
            "interleave = \"none\"",
            "interleave = \"16\"",
            23,
            "'interleave' is '16'",
        ),
        (
            "swizzle = \"none\"",
            "swizzle = \"16\"",
            24,
            "expected none or 32 or 64 or 128",
        ),
        (
            "swizzle = \"none\"",
            "fill = \"nan\"",
            24,
            "elements of u32 have no NaN",
        ),
        (
            "type = \"u32\"\nextent",
            "type = \"s16\"\nextent",
            18,
            "cannot have this type",
        ),
        (
            "buffer = \"in\"\n",
            "buffer = \"none\"\n",
            17,
            "there is no argument 'none'",
        ),
        (
            "buffer = \"in\"\n",
            "buffer = \"map\"\n",
            16,
            "not a buffer",
        ),
        ("offset = 64", "offset = 72", 12, "a multiple of 16"),
        (
            "name = \"map\"",
            "name = \"map\"\ntype = \"f32\"",
            12,
            "nothing besides name and",
        ),
        ("swizzle = ", "swizle = ", 24, "did you mean 'swizzle'"),
    ] {
        let text = LAUNCH.replacen(from, to, 1);
        assert_ne!(text, LAUNCH, "{from}");
        let report = format!("{:?}", miette::Report::new(parse(&text).unwrap_err()));
        let flat: Vec<&str> = report.split_whitespace().filter(|w| *w != "│").collect();
        let flat = flat.join(" ");
        if !flat.contains(wanted) || !flat.contains(&format!("a.toml:{line}:")) {
            wrong.push(format!("{to}, line {line}: {report}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_map_needs_a_parameter_of_its_size() {
    let (folder, file) = in_folder(PTX, LAUNCH);
    let short = PTX.replace("map[128]", "map[64]");
    std::fs::write(folder.path().join("k.ptx"), short).unwrap();
    let error = file.prepare(&file.module().unwrap()).map(drop).unwrap_err();
    let text = format!("{:?}", miette::Report::new(error));
    assert!(
        text.contains("argument 'map', a tensor map, has 128 bytes"),
        "{text}"
    );
    assert!(text.contains("expected 64"), "{text}");
}
