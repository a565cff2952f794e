//! Textures, surfaces and samplers of launch files, by handle and by name.

use super::{errors, in_folder};
use crate::launch::Options;

const PTX: &str = ".version 8.0\n.target sm_80, texmode_independent\n.address_size 64\n
.global .texref named;
.global .samplerref back;
.visible .entry k(.param .u64 out, .param .u64 image, .param .u64 canvas) {
    .reg .b64 %out, %image, %canvas; .reg .b32 %t, %r<4>; .reg .f32 %f<12>, %x;
    ld.param.u64 %out, [out]; ld.param.u64 %image, [image]; ld.param.u64 %canvas, [canvas];
    mov.u32 %t, %tid.x; mad.wide.u32 %out, %t, 12, %out; cvt.rn.f32.u32 %x, %t;
    tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%image, {%x}];
    tex.1d.v4.f32.f32 {%f4, %f1, %f2, %f3}, [named, {%x}];
    tex.1d.v4.f32.f32 {%f5, %f1, %f2, %f3}, [named, back, {%x}];
    st.global.f32 [%out], %f0; st.global.f32 [%out+4], %f4; st.global.f32 [%out+8], %f5;
    shl.b32 %r1, %t, 2; sust.b.1d.b32.trap [%canvas, {%r1}], %t; ret;
}";

const LAUNCH: &str = r#"ptx = "k.ptx"
grid = [1]
block = [4]

[[arg]]
name = "out"
type = "f32"
count = 12

[[arg]]
name = "image_handle"
texture = "image"

[[arg]]
name = "canvas_handle"
surface = "canvas"

[[surface]]
name = "canvas"
type = "u32"
extent = [4]

[[texture]]
name = "image"
type = "u8"
extent = [4]
init = "iota"
filter = "linear"
read = "normalized"

[[texture]]
name = "named"
type = "f32"
extent = [2]
init = "iota"
address = "border"

[[sampler]]
name = "back"
address = "clamp"
"#;

#[test]
fn kernels_read_what_the_file_says_by_handle_and_by_name() {
    let (_folder, file) = in_folder(PTX, LAUNCH);
    let mut prepared = file.prepare(&file.module().unwrap()).unwrap();
    let outcome = prepared.run(&Options::default()).unwrap();
    assert_eq!(outcome.findings, []);
    let bytes = |name: &str| prepared.outputs().find(|o| o.0 == name).unwrap().1.to_vec();
    let out: Vec<f32> = bytes("out")
        .chunks(4)
        .map(|c| f32::from_le_bytes(c.try_into().unwrap()))
        .collect();
    // Between two texels; with the border of its own sampler, and with that
    // of the other.
    let part = |v: f32| v / 255.0;
    let wanted = [
        [0.0, 0.0, 0.0],
        [part(0.5), 1.0, 1.0],
        [part(1.5), 0.0, 1.0],
        [part(2.5), 0.0, 1.0],
    ];
    for (found, wanted) in out.iter().zip(wanted.concat()) {
        assert!((found - wanted).abs() < 1e-7, "{out:?}");
    }
    let canvas: Vec<u8> = (0..4u32).flat_map(u32::to_le_bytes).collect();
    assert_eq!(bytes("canvas"), canvas);
}

#[test]
fn a_texture_reads_the_buffer_or_surface_that_it_names() {
    let of = LAUNCH.replace(
        "type = \"f32\"\nextent = [2]\ninit = \"iota\"",
        "type = \"f32\"\nextent = [4]\nof = \"canvas\"",
    );
    let (_folder, file) = in_folder(PTX, &of);
    let mut prepared = file.prepare(&file.module().unwrap()).unwrap();
    assert_eq!(prepared.run(&Options::default()).unwrap().findings, []);
    let out = prepared.outputs().find(|o| o.0 == "out").unwrap().1;
    // Lanes go together: the surface is still zero where it is read.
    assert_eq!(out[4..12], [0; 8]);
    // The texels of the other are listed once.
    let names: Vec<&str> = prepared.outputs().map(|o| o.0).collect();
    assert_eq!(names, ["out", "canvas", "image"]);
}

/// What of LAUNCH is replaced, and by what.
const EDITS: [(&str, &str); 20] = [
    ("filter = \"linear\"", "filter = \"cubic\""),
    ("read = \"normalized\"", "read = \"element\""),
    ("\"border\"", "\"wrap\""),
    ("\"border\"", "\"edge\""),
    ("\"border\"", "[\"clamp\", \"clamp\"]"),
    ("extent = [2]", "extent = [2]\nlayers = 0"),
    ("extent = [2]", "extent = [2, 1, 1]\nlayers = 2"),
    ("extent = [2]", "extent = [2, 3]\ncube = true"),
    ("extent = [2]", "extent = [2]\nchannels = 3"),
    ("extent = [2]", "extent = []"),
    ("extent = [2]", ""),
    ("type = \"u8\"", "type = \"f64\""),
    ("type = \"u8\"", "type = \"u32\""),
    ("texture = \"image\"", "texture = \"canvas\""),
    (
        "surface = \"canvas\"",
        "surface = \"canvas\"\ntype = \"u32\"",
    ),
    ("name = \"image\"", "name = \"named\""),
    ("init = \"iota\"\naddress", "of = \"none\"\naddress"),
    ("init = \"iota\"\naddress", "of = \"out\"\naddress"),
    (
        "init = \"iota\"\naddress",
        "of = \"canvas\"\ninit = \"iota\"\naddress",
    ),
    ("extent = [4]\n\n", "extent = [4]\nfilter = \"point\"\n\n"),
];

#[test]
fn mistakes_are_named_with_their_place() {
    insta::assert_snapshot!(errors::of_edits(LAUNCH, &EDITS));
}

#[test]
fn a_texture_that_nobody_reads_is_a_mistake() {
    let (_folder, file) = in_folder(PTX, &LAUNCH.replace("name = \"back\"", "name = \"bakc\""));
    let error = file
        .prepare(&file.module().unwrap())
        .map(drop)
        .unwrap_err()
        .to_string();
    assert!(error.contains("no argument names 'bakc'"), "{error}");
}
