//! Structs by value with tensor maps in them.

use super::super::*;
use super::{in_folder, parse};

/// Copies a tile by each of two maps in a struct, and adds a number of the struct.
const PTX: &str = ".version 8.6\n.target sm_90a\n.address_size 64\n
.visible .entry k(.param .u64 more, .param .align 64 .b8 p[384]) {
    .reg .b64 %out, %map, %a; .reg .b32 %t, %n, %r<4>; .reg .pred %p<3>;
    .shared .align 128 .b8 tile[256]; .shared .align 8 .b64 bar;
    mov.b64 %a, p; ld.param.u32 %n, [%a]; ld.param.u64 %out, [%a+8]; mov.u32 %t, %tid.x;
    mov.u32 %r1, tile; mov.u32 %r2, bar; setp.ne.u32 %p0, %t, 0; @%p0 bra S;
    mbarrier.init.shared::cta.b64 [%r2], 1; fence.proxy.async;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 256;
    add.u64 %map, %a, 64; cvta.param.u64 %map, %map; prefetch.tensormap [%map];
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
      [%r1], [%map, {4, 1}], [%r2];
    add.u64 %map, %a, 256; cvta.param.u64 %map, %map;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
      [%r1+128], [%map, {-4, 3}], [%r2];
    S: bar.sync 0;
    W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0; @!%p1 bra W;
    shl.b32 %r3, %t, 2; add.u32 %r1, %r1, %r3; ld.shared.u32 %r0, [%r1]; add.u32 %r0, %r0, %n;
    cvt.u64.u32 %a, %r3; add.u64 %out, %out, %a; st.global.u32 [%out], %r0; ret;
}";

fn launch() -> String {
    let value = "ff".repeat(384).replacen("ffffffff", "e8030000", 1);
    format!(
        r#"ptx = "k.ptx"
grid = [1]
block = [64]

[[arg]]
name = "more"
null = true

[[arg]]
name = "p"
type = "bytes"
value = "{value}"
pointers = [{{ at = 8, to = "out" }}]
maps = [{{ at = 256, to = "whole" }}, {{ at = 64, to = "part" }}]

[[arg]]
name = "out"
type = "u32"
count = 64

[[arg]]
name = "part"
tensor_map = {{ buffer = "in", offset = 64, type = "u32", extent = [8, 3], box = [8, 4] }}

[[arg]]
name = "whole"
tensor_map = {{ buffer = "in", type = "u32", extent = [8, 5], box = [8, 4] }}

[[arg]]
name = "in"
type = "u32"
count = 40
init = "iota"
"#
    )
}

/// What the kernel writes, without a finding.
fn written(ptx: &str, launch: &str) -> Vec<u32> {
    let (_folder, file) = in_folder(ptx, launch);
    let mut prepared = file.prepare(&file.module().unwrap()).unwrap();
    let options = Options {
        races: true,
        global_races: true,
        ..Options::default()
    };
    assert_eq!(prepared.run(&options).unwrap().findings, []);
    let out = prepared.outputs().find(|o| o.0 == "out").unwrap().1;
    let word = |c: &[u8]| u32::from_le_bytes(c.try_into().unwrap());
    out.chunks(4).map(word).collect()
}

#[test]
fn kernels_load_tiles_by_maps_in_a_struct() {
    let wanted = (0..64u32).map(|n| {
        let (x, y) = (n % 8, n / 8 % 4);
        1000 + match n {
            // From row 2 of the buffer, 16 words into the tensor at byte 64.
            0..32 if x < 4 && y < 2 => 16 + 8 * (y + 1) + 4 + x,
            32.. if x >= 4 && y < 2 => 8 * (y + 3) + x - 4,
            _ => 0,
        }
    });
    let wanted: Vec<u32> = wanted.collect();
    assert_eq!(written(PTX, &launch()), wanted);
    // An address in a struct leads to a map, too.
    let inside = "add.u64 %map, %a, 256; cvta.param.u64 %map, %map;";
    let ptx = PTX.replace(inside, "ld.param.u64 %map, [%a+16];");
    let by_address = launch()
        .replace("\"out\" }]", "\"out\" }, { at = 16, to = \"whole\" }]")
        .replace("{ at = 256, to = \"whole\" }, ", "");
    assert_eq!(written(&ptx, &by_address), wanted);
}

#[test]
fn mistakes_are_named_with_their_place() {
    let mut wrong = Vec::new();
    let text = launch();
    let maps = "[{ at = 256, to = \"whole\" }, { at = 64, to = \"part\" }]";
    for (from, to, column, wanted) in [
        (
            "at = 64",
            "at = 96",
            44,
            "a multiple of 64, the alignment of CUtensorMap",
        ),
        (
            "at = 64",
            "at = 320",
            44,
            "expected an integer from 0 to 256",
        ),
        (
            "at = 64",
            "at = 192",
            16,
            "the tensor maps at bytes 192 and 256 overlap",
        ),
        (
            "at = 64",
            "at = 0",
            20,
            "the address at byte 8 overlaps the tensor map at byte 0",
        ),
        ("at = 64, ", "", 37, "maps has no 'at'"),
        (
            "\"part\" }",
            "\"prat\" }",
            53,
            "no argument 'prat'; did you mean 'part'?",
        ),
        (
            "\"part\" }",
            "\"in\" }",
            53,
            "'in' is no tensor map | expected one of part, whole",
        ),
        (
            "\"part\" }",
            "\"part\", offset = 3 }",
            61,
            "unknown key 'offset' in maps",
        ),
        (maps, "\"part\"", 8, "'maps' is a string"),
    ] {
        let text = text.replacen(from, to, 1);
        let report = parse(&text).unwrap_err();
        let report = format!("{:?}", miette::Report::new(report));
        let flat: Vec<&str> = report.split_whitespace().filter(|w| *w != "│").collect();
        let flat = flat.join(" ");
        let line = if from == "at = 64" && to == "at = 0" {
            13
        } else {
            14
        };
        let (what, help) = wanted.split_once(" | ").unwrap_or((wanted, ""));
        let placed = flat.contains(&format!("a.toml:{line}:{column}"));
        if !flat.contains(what) || !flat.contains(help) || !placed {
            wrong.push(format!("{to}, {line}:{column}: {report}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_struct_without_room_for_a_map_is_refused() {
    let short = launch().replace(&"ff".repeat(300), "");
    let error = parse(&short).unwrap_err().to_string();
    assert!(
        error.contains("a struct of 84 bytes has no room for a tensor map"),
        "{error}"
    );
    let number = launch().replacen("type = \"bytes\"", "type = \"u32\"", 1);
    let error = parse(&number.replacen("pointers", "#", 1)).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("'maps' does not fit here"), "{error}");
}
