//! Launch files, good and bad.

mod addresses;
mod fields;
mod heap;
mod rounds;
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

fn parse(text: &str) -> crate::error::Result<LaunchFile> {
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

/// The error of GOOD with the first `from` replaced: what and help as they are
/// shown, and line and column.
fn refused(from: &str, to: &str) -> (String, usize, usize) {
    assert!(GOOD.contains(from), "{from}");
    let error = parse(&GOOD.replacen(from, to, 1)).unwrap_err();
    assert_eq!(error.exit_status(), 2);
    match error {
        crate::error::Error::Input(e) => {
            let help = e.help.clone().expect("what was expected");
            (format!("{}; {help}", e.what), e.line, e.column)
        }
        other => panic!("{other}"),
    }
}

#[test]
fn every_error_has_its_place_and_what_was_expected() {
    // (what is replaced, by what, a part of the message, line, column)
    let cases = [
        ("ptx = \"k.ptx\"", "", "has no 'ptx'; expected ptx =", 1, 1),
        (
            "\"k.ptx\"",
            "7",
            "'ptx' is an integer; expected \"FILE.ptx\"",
            1,
            7,
        ),
        ("\"k.ptx\"", "\"\"", "'ptx' is empty", 1, 7),
        ("\"k.ptx\"", "\"k.ptx", "", 1, 13),
        (
            "grid = [16, 2]",
            "",
            "has no 'grid'; expected grid = [x]",
            1,
            1,
        ),
        ("[16, 2]", "16", "'grid' is an integer; expected [x]", 3, 8),
        ("[16, 2]", "[]", "'grid' has 0 dimensions", 3, 8),
        ("[16, 2]", "[1, 1, 1, 1]", "'grid' has 4 dimensions", 3, 8),
        (
            "[16, 2]",
            "[16, 0]",
            "'grid' is out of range; expected an integer from 1 to 65535",
            3,
            13,
        ),
        ("[16, 2]", "[2147483648]", "from 1 to 2147483647", 3, 9),
        ("[16, 2]", "[1, 65536]", "from 1 to 65535", 3, 12),
        (
            "[16, 2]",
            "[1.0]",
            "'grid' is a floating-point number",
            3,
            9,
        ),
        ("block = [16, 16, 1]", "", "has no 'block'", 1, 1),
        ("[16, 16, 1]", "[1025]", "from 1 to 1024", 4, 10),
        ("[16, 16, 1]", "[1, 1, 65]", "from 1 to 64", 4, 16),
        (
            "[16, 16, 1]",
            "[32, 33]",
            "'block' has 1056 threads; expected at most 1024",
            4,
            9,
        ),
        (
            "= 64",
            "= -1",
            "'dynamic_shared' is out of range; expected an integer from 0 to 232448",
            5,
            18,
        ),
        (
            "= 64",
            "= 999999999999999999999999999999999999999999",
            "'dynamic_shared'",
            5,
            18,
        ),
        ("registers = 32", "registers = 256", "from 1 to 255", 6, 13),
        (
            "= 31",
            "= 32",
            "'trace_block' is out of range; expected an integer from 0 to 31",
            7,
            15,
        ),
        ("10_000_000_000", "0", "'limit' is out of range", 8, 9),
        ("10_000_000_000", "true", "'limit' is a boolean", 8, 9),
        (
            "limit",
            "limits",
            "unknown key 'limits' in the launch file; did you mean 'limit'?; expected ptx, entry",
            8,
            1,
        ),
        ("[[arg]]", "[arg]", "", 17, 3),
        ("name = \"out\"", "", "[[arg]] has no 'name'", 10, 1),
        (
            "name = \"n\"",
            "name = \"out\"",
            "the name 'out' is used twice",
            18,
            8,
        ),
        (
            "name = \"n\"",
            "name = \"a=b\"",
            "cannot be used in --dump",
            18,
            8,
        ),
        (
            "type = \"f32\"",
            "",
            "[[arg]] has no 'type'; expected type = one of s8, u8",
            10,
            1,
        ),
        (
            "\"f32\"",
            "\"float\"",
            "there is no type 'float'; expected one of s8",
            12,
            8,
        ),
        (
            "= 256",
            "= 0",
            "'count' is out of range; expected an integer from 1 to",
            13,
            9,
        ),
        ("= 256", "= 1073741825", "from 1 to 1073741824", 13, 9),
        ("= 256", "= \"many\"", "'count' is a string", 13, 9),
        (
            "count = 256",
            "cont = 256",
            "unknown key 'cont' in [[arg]]",
            13,
            1,
        ),
        (
            "count = 256",
            "init = \"iota\"",
            "'init' does not fit here; only allowed for a buffer",
            13,
            8,
        ),
        (
            "count = 256",
            "count = 256\nseed = 1",
            "'seed' does not fit here; only allowed with init = \"random\" or",
            14,
            8,
        ),
        (
            "count = 256",
            "count = 256\nvalue = 1",
            "'value' does not fit here; only allowed with init = \"fill\"",
            14,
            9,
        ),
        (
            "count = 256",
            "count = 256\ninit = \"fill\"",
            "[[arg]] has no 'value'",
            10,
            1,
        ),
        (
            "count = 256",
            "count = 256\ninit = \"ones\"",
            "there is no init 'ones'; expected zeros",
            14,
            8,
        ),
        (
            "count = 256",
            "count = 256\ninit = \"image\"",
            "image pixels cannot have this type; expected an integer type",
            12,
            8,
        ),
        (
            "count = 256",
            "count = 256\nlevels = 4",
            "'levels' does not fit here; only allowed with init = \"image\"",
            14,
            10,
        ),
        (
            "\"sub/out.npy\"",
            "\"out.txt\"",
            "'out.txt' is not a data file",
            14,
            10,
        ),
        (
            "expect = \"sub/out.npy\"",
            "",
            "'tolerance' does not fit here; only allowed together with 'expect'",
            15,
            13,
        ),
        ("1e-3", "-1", "'tolerance' is not a tolerance", 15, 13),
        ("1e-3", "nan", "'tolerance' is not a tolerance", 15, 13),
        (
            "1e-3",
            "[]",
            "'tolerance' is an array; expected a number",
            15,
            13,
        ),
        (
            "\"0xffffffffffffffff\"",
            "\"0x1ffffffffffffffff\"",
            "'value' is out of range of u64; expected an integer from 0",
            20,
            9,
        ),
        (
            "\"0xffffffffffffffff\"",
            "1.5",
            "'value' is not an integer",
            20,
            9,
        ),
        (
            "value = \"0xffffffffffffffff\"",
            "",
            "[[arg]] has no 'value'; expected value = the scalar",
            17,
            1,
        ),
        (
            "\"0000803f\"",
            "\"0000803\"",
            "'value' is not hexadecimal",
            25,
            9,
        ),
        (
            "\"0000803f\"",
            "\"0000803g\"",
            "'value' is not hexadecimal",
            25,
            9,
        ),
        (
            "same_as = \"out\"",
            "same_as = \"put\"",
            "there is no argument 'put'; expected one of out, n",
            29,
            11,
        ),
        (
            "same_as = \"out\"",
            "same_as = \"n\"",
            "names an argument that is not a buffer",
            29,
            11,
        ),
        (
            "same_as = \"out\"",
            "same_as = \"out\"\ntype = \"u8\"",
            "'type' does not fit here",
            30,
            8,
        ),
        (
            "offset = 16",
            "offset = 1025",
            "'offset' is past the end of the buffer (1024 bytes)",
            30,
            10,
        ),
        (
            "same_as = \"out\"",
            "type = \"u8\"\nvalue = 1",
            "'offset' does not fit here; only allowed together with same_as",
            31,
            10,
        ),
        (
            "null = true",
            "null = false",
            "null = false has no effect",
            34,
            8,
        ),
        (
            "null = true",
            "null = true\ncount = 3",
            "'count' does not fit here",
            35,
            9,
        ),
        (
            "min = -5",
            "min = 6",
            "the range from 'min' to 'max' is empty",
            42,
            7,
        ),
        (
            "max = 5",
            "max = 32768",
            "'max' is out of range of s16",
            43,
            7,
        ),
        ("name = \"table\"", "", "[[symbol]] has no 'name'", 45, 1),
        (
            "name = \"table\"",
            "name = \"table\"\nnull = true",
            "unknown key 'null' in [[symbol]]",
            47,
            1,
        ),
        ("\"nan\"", "\"not\"", "'value' is not a number", 50, 9),
        ("entry = \"second\"", "", "[[then]] has no 'entry'", 52, 1),
        ("grid = [8]", "", "[[then]] has no 'grid'", 52, 1),
        (
            "args = [\"in\", \"n\"]",
            "",
            "[[then]] has no 'args'",
            52,
            1,
        ),
        (
            "[\"in\", \"n\"]",
            "[\"in\", 1]",
            "'args' is an integer",
            56,
            15,
        ),
        (
            "[\"in\", \"n\"]",
            "[\"in\", \"m\"]",
            "there is no argument 'm'; expected one of out",
            56,
            15,
        ),
    ];
    for (from, to, message, line, column) in cases {
        let (text, l, c) = refused(from, to);
        assert!(text.contains(message), "{from} -> {to}: {text}");
        assert_eq!((l, c), (line, column), "{from} -> {to}: {text}");
    }
    let twice = format!("{GOOD}[[symbol]]\nname = \"table\"\ntype = \"u8\"\ncount = 1\n");
    assert!(
        parse(&twice)
            .unwrap_err()
            .to_string()
            .contains("defined twice at dir/a.toml:58:8")
    );
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

#[test]
fn image_keys_are_checked() {
    let file = |keys: &str| {
        format!(
            "ptx = \"k.ptx\"\ngrid = [1]\nblock = [1]\n[[arg]]\nname = \"a\"\ntype = \"u16\"\ncount = 6\ninit = \"image\"\n{keys}\n"
        )
    };
    let whole = "width = 3\nheight = 2\nkind = ";
    for (keys, message, line) in [
        ("kind = \"smooth\"", "[[arg]] has no 'width'", 2),
        ("width = 2\nkind = \"smooth\"", "[[arg]] has no 'height'", 2),
        (
            "width = 2\nheight = 2\nkind = \"smooth\"",
            "'count' is not width times height",
            5,
        ),
        ("width = 3\nheight = 2", "[[arg]] has no 'kind'", 2),
        (&format!("{whole}\"dots\""), "there is no kind 'dots'", 9),
        (
            &format!("{whole}\"noise\"\nlevels = 4097"),
            "'levels' is out of range",
            10,
        ),
        (
            &format!("{whole}\"noise\"\nbits = 17"),
            "'bits' is out of range",
            10,
        ),
        (&format!("{whole}\"share\""), "[[arg]] has no 'share'", 2),
        (
            &format!("{whole}\"smooth\"\nshare = 3"),
            "'share' does not fit here",
            10,
        ),
        (
            &format!("{whole}\"smooth\"\nlevels = 3"),
            "'levels' does not fit here",
            10,
        ),
        (
            &format!("{whole}\"points\""),
            "this type is too narrow for a point",
            4,
        ),
    ] {
        let error = parse(&file(keys)).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert!(
            error.contains(&format!(":{}:", line + 2)),
            "{line}: {error}"
        );
    }
    assert!(parse(&file(&format!("{whole}\"uniform\""))).is_ok());
}
