//! Launch files, good and bad.

mod addresses;
mod errors;
mod fields;
mod heap;
mod options;
mod rounds;
mod structs;
mod tensor_maps;
mod textures;

use super::*;
use std::path::Path;

const GOOD: &str = r#"ptx = "k.ptx"
entry = "k"
grid = [16, 2]
block = [16, 16, 1]
dynamic_shared = 64
registers = 32
trace_block = 31
limit = 10_000_000_000

[[arg]]
name = "out"
type = "f32"
count = 256
expect = "sub/out.npy"
tolerance = 1e-3

[[arg]]
name = "n"
type = "u64"
value = "0xffffffffffffffff"

[[arg]]
name = "p"
type = "bytes"
value = "0000803f"

[[arg]]
name = "again"
same_as = "out"
offset = 16

[[arg]]
name = "nothing"
null = true

[[arg]]
name = "in"
type = "s16"
count = 8
init = "random"
seed = 3
min = -5
max = 5

[[symbol]]
name = "table"
type = "f32"
count = 2
init = "fill"
value = "nan"

[[then]]
entry = "second"
grid = [8]
block = [64]
args = ["in", "n"]
"#;

fn parse(text: &str) -> spadkit_base::error::Result<LaunchFile> {
    LaunchFile::parse(text.to_owned(), Path::new("dir/a.toml"))
}

/// The launch file `k.toml` in a folder with its PTX, `k.ptx`.
fn in_folder(ptx: &str, text: &str) -> (tempfile::TempDir, LaunchFile) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ptx"), ptx).unwrap();
    let path = folder.path().join("k.toml");
    let file = LaunchFile::parse(text.to_owned(), &path).unwrap();
    (folder, file)
}

#[test]
fn everything_of_the_format_is_read() {
    let file = parse(GOOD).unwrap();
    assert_eq!(file.ptx.value, Path::new("dir/k.ptx"));
    let first = &file.first;
    assert_eq!(first.entry.as_ref().unwrap().value, "k");
    assert_eq!((first.grid, first.block), ([16, 2, 1], [16, 16, 1]));
    assert_eq!((first.dynamic_shared, file.registers), (64, Some(32)));
    assert_eq!((file.trace_block, file.limit), (31, 10_000_000_000));
    let kinds: Vec<&ArgKind> = file.args.iter().map(|a| &a.kind).collect();
    let ArgKind::Buffer(out) = kinds[0] else {
        panic!("a buffer");
    };
    let expect = out.expect.as_ref().unwrap();
    assert_eq!(expect.file, Path::new("dir/sub/out.npy"));
    assert_eq!((expect.tolerance, &out.init), (1e-3, &Init::Zeros));
    let value = |bytes: &[u8], element| ArgKind::Value(element, bytes.to_vec());
    assert_eq!(*kinds[1], value(&[255; 8], Element::Unsigned(8)));
    assert_eq!(*kinds[2], value(&[0, 0, 0x80, 0x3f], Element::Bytes));
    assert_eq!(*kinds[3], ArgKind::Same { arg: 0, bytes: 16 });
    assert_eq!(*kinds[4], ArgKind::Null);
    let random = Init::Random(Random {
        seed: 3,
        range: Range::Integers(-5, 5),
    });
    assert!(matches!(kinds[5], ArgKind::Buffer(b) if b.init == random && b.bytes() == 16));
    let fill = Init::Fill(f32::NAN.to_le_bytes().to_vec());
    assert!(!file.symbols[0].keep && file.symbols[0].buffer.init == fill);
    let passed = [5, 1].map(Passed::from);
    assert_eq!(file.then[0].args.as_deref(), Some(&passed[..]));
    assert_eq!(
        (file.then[0].grid, file.then[0].dynamic_shared),
        ([8, 1, 1], 0)
    );
}

#[test]
fn what_may_be_left_out_has_its_default() {
    let file = parse("ptx = \"k.ptx\"\ngrid = [1]\nblock = [32]\n").unwrap();
    assert_eq!(file.first.entry, None);
    assert_eq!((file.registers, file.trace_block), (None, 0));
    assert_eq!(file.limit, 10_000_000_000);
    assert!(file.args.is_empty() && file.symbols.is_empty() && file.then.is_empty());
}

#[test]
fn damage_of_any_kind_is_an_error_and_no_panic() {
    for end in 0..GOOD.len() {
        if GOOD.is_char_boundary(end) {
            let _ = parse(&GOOD[..end]);
        }
    }
    for (i, line) in GOOD.lines().enumerate() {
        let kept = GOOD.lines().enumerate().filter(|(j, _)| *j != i);
        let text: String = kept.map(|(_, l)| format!("{l}\n")).collect();
        if let Err(error) = parse(&text) {
            assert_eq!(error.exit_status(), 2, "without {line}");
        }
    }
}
