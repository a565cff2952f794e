//! Launch files with an error, and what is said about it: a snapshot, so that
//! whoever changes a message reads all of them. `INSTA_UPDATE=always` rewrites it.

use super::*;

/// What of GOOD is replaced, and by what.
const EDITS: [(&str, &str); 68] = [
    ("ptx = \"k.ptx\"", ""),
    ("\"k.ptx\"", "7"),
    ("\"k.ptx\"", "\"\""),
    ("\"k.ptx\"", "\"k.ptx"),
    ("grid = [16, 2]", ""),
    ("[16, 2]", "16"),
    ("[16, 2]", "[]"),
    ("[16, 2]", "[1, 1, 1, 1]"),
    ("[16, 2]", "[16, 0]"),
    ("[16, 2]", "[2147483648]"),
    ("[16, 2]", "[1, 65536]"),
    ("[16, 2]", "[1.0]"),
    ("block = [16, 16, 1]", ""),
    ("[16, 16, 1]", "[1025]"),
    ("[16, 16, 1]", "[1, 1, 65]"),
    ("[16, 16, 1]", "[32, 33]"),
    ("= 64", "= -1"),
    ("= 64", "= 999999999999999999999999999999999999999999"),
    ("registers = 32", "registers = 256"),
    ("= 31", "= 32"),
    ("10_000_000_000", "0"),
    ("10_000_000_000", "true"),
    ("limit", "limits"),
    ("[[arg]]", "[arg]"),
    ("name = \"out\"", ""),
    ("name = \"n\"", "name = \"out\""),
    ("name = \"n\"", "name = \"a=b\""),
    ("type = \"f32\"", ""),
    ("\"f32\"", "\"float\""),
    ("= 256", "= 0"),
    ("= 256", "= 1073741825"),
    ("= 256", "= \"many\""),
    ("count = 256", "cont = 256"),
    ("count = 256", "init = \"iota\""),
    ("count = 256", "count = 256\nseed = 1"),
    ("count = 256", "count = 256\nvalue = 1"),
    ("count = 256", "count = 256\ninit = \"fill\""),
    ("count = 256", "count = 256\ninit = \"ones\""),
    ("init = \"fill\"\nvalue = \"nan\"", "init = \"none\""),
    ("count = 256", "count = 256\ninit = \"image\""),
    ("count = 256", "count = 256\nlevels = 4"),
    ("\"sub/out.npy\"", "\"out.txt\""),
    ("expect = \"sub/out.npy\"", ""),
    ("1e-3", "-1"),
    ("1e-3", "nan"),
    ("1e-3", "[]"),
    ("\"0xffffffffffffffff\"", "\"0x1ffffffffffffffff\""),
    ("\"0xffffffffffffffff\"", "1.5"),
    ("value = \"0xffffffffffffffff\"", ""),
    ("\"0000803f\"", "\"0000803\""),
    ("\"0000803f\"", "\"0000803g\""),
    ("same_as = \"out\"", "same_as = \"put\""),
    ("same_as = \"out\"", "same_as = \"n\""),
    ("same_as = \"out\"", "same_as = \"out\"\ntype = \"u8\""),
    ("offset = 16", "offset = 1025"),
    ("same_as = \"out\"", "type = \"u8\"\nvalue = 1"),
    ("null = true", "null = false"),
    ("null = true", "null = true\ncount = 3"),
    ("min = -5", "min = 6"),
    ("max = 5", "max = 32768"),
    ("name = \"table\"", ""),
    ("name = \"table\"", "name = \"table\"\nnull = true"),
    ("\"nan\"", "\"not\""),
    ("entry = \"second\"", ""),
    ("grid = [8]", ""),
    ("args = [\"in\", \"n\"]", ""),
    ("[\"in\", \"n\"]", "[\"in\", 1]"),
    ("[\"in\", \"n\"]", "[\"in\", \"m\"]"),
];

/// Position and text of a launch file's error.
fn refused(text: &str) -> String {
    let error = parse(text).unwrap_err();
    assert_eq!(error.exit_status(), 2);
    match error {
        spadkit_base::error::Error::Input(e) => {
            let help = e.help.clone().expect("what was expected");
            format!("{}:{}: {}; {help}", e.line, e.column, e.what)
        }
        other => panic!("{other}"),
    }
}

/// A launch file with each of the edits, and its error.
pub(super) fn of_edits(good: &str, edits: &[(&str, &str)]) -> String {
    let one = |(from, to): &(&str, &str)| {
        assert!(good.contains(from), "{from}");
        let text = refused(&good.replacen(from, to, 1));
        format!("{} -> {}\n    {text}\n", shown(from), shown(to))
    };
    edits.iter().map(one).collect()
}

/// Lines of an edit in one.
fn shown(lines: &str) -> String {
    match lines.trim() {
        "" => "nothing".to_owned(),
        lines => lines.replace('\n', ", "),
    }
}

#[test]
fn every_error_has_its_place_and_what_was_expected() {
    insta::assert_snapshot!(of_edits(GOOD, &EDITS));
}

#[test]
fn a_symbol_that_is_there_twice_is_refused() {
    let twice = format!("{GOOD}[[symbol]]\nname = \"table\"\ntype = \"u8\"\ncount = 1\n");
    let error = parse(&twice).unwrap_err().to_string();
    assert!(
        error.contains("defined twice at dir/a.toml:58:8"),
        "{error}"
    );
}

/// Keys of an image of six pixels, from line 9 on.
const IMAGES: [&str; 11] = [
    "kind = \"smooth\"",
    "width = 2\nkind = \"smooth\"",
    "width = 2\nheight = 2\nkind = \"smooth\"",
    "width = 3\nheight = 2",
    "width = 3\nheight = 2\nkind = \"dots\"",
    "width = 3\nheight = 2\nkind = \"noise\"\nlevels = 4097",
    "width = 3\nheight = 2\nkind = \"noise\"\nbits = 17",
    "width = 3\nheight = 2\nkind = \"share\"",
    "width = 3\nheight = 2\nkind = \"smooth\"\nshare = 3",
    "width = 3\nheight = 2\nkind = \"smooth\"\nlevels = 3",
    "width = 3\nheight = 2\nkind = \"points\"",
];

#[test]
fn image_keys_are_checked() {
    let file = |keys: &str| {
        format!(
            "ptx = \"k.ptx\"\ngrid = [1]\nblock = [1]\n[[arg]]\nname = \"a\"\ntype = \"u16\"\n\
             count = 6\ninit = \"image\"\n{keys}\n"
        )
    };
    let text = |keys: &&str| format!("{}\n    {}\n", shown(keys), refused(&file(keys)));
    insta::assert_snapshot!(IMAGES.iter().map(text).collect::<String>());
    assert!(parse(&file("width = 3\nheight = 2\nkind = \"uniform\"")).is_ok());
}
