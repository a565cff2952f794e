//! Arguments that are tables of addresses, and structs with addresses in them.

use super::parse;
use crate::launch::{ArgKind, LaunchFile, Options};
use spadkit_ptx::Module;

/// Copies a word from the first address of the table to the second.
const PTX: &str = ".version 7.0\n.target sm_80\n.address_size 64\n\
    .visible .entry k(.param .u64 table) {\n\
      .reg .b32 %r<2>; .reg .b64 %rd<4>;\n\
      ld.param.u64 %rd1, [table];\n\
      ld.global.u64 %rd2, [%rd1];\n\
      ld.global.u64 %rd3, [%rd1+8];\n\
      ld.global.u32 %r1, [%rd2];\n\
      st.global.u32 [%rd3], %r1;\n\
      ret;\n}\n";

fn file(addresses: &str) -> String {
    format!(
        "ptx = \"k.ptx\"\ngrid = [1]\nblock = [1]\n\
         [[arg]]\nname = \"table\"\naddresses = {addresses}\n\
         [[arg]]\nname = \"in\"\ntype = \"u32\"\ncount = 4\ninit = \"iota\"\n\
         [[arg]]\nname = \"out\"\ntype = \"u32\"\ncount = 1\n\
         [[arg]]\nname = \"third\"\nsame_as = \"in\"\noffset = 12\n"
    )
}

#[test]
fn a_kernel_follows_the_addresses_of_a_table() {
    let file: LaunchFile = parse(&file(r#"["third", "out"]"#)).unwrap();
    assert_eq!(file.args[0].kind, ArgKind::Addresses(vec![3, 2]));
    let module = Module::parse(PTX, "k.ptx").unwrap();
    let mut prepared = file.prepare(&module).unwrap();
    let outcome = prepared.run(&Options::default()).unwrap();
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
    let out = prepared.outputs().find(|(name, _)| *name == "out").unwrap();
    assert_eq!(out.1, 3u32.to_le_bytes());
}

#[test]
fn an_argument_that_no_table_names_is_refused() {
    let file: LaunchFile = parse(&file(r#"["in", "in"]"#)).unwrap();
    let module = Module::parse(PTX, "k.ptx").unwrap();
    let error = file.prepare(&module).err().unwrap().to_string();
    assert!(
        error.contains("no launch takes the argument 'out'"),
        "{error}"
    );
}

#[test]
fn bad_tables_are_refused_where_they_stand() {
    for (addresses, what) in [
        ("[]", "'addresses' is empty"),
        (r#"["inn", "out"]"#, "there is no argument 'inn'"),
        (
            r#"["table"]"#,
            "'addresses' names an argument that is not a buffer",
        ),
        ("[1]", "'addresses' is an integer"),
        ("[\"in\"]\ntype = \"u8\"", "'type' does not fit here"),
        ("[\"in\"]\nsame_as = \"in\"", "'same_as' does not fit here"),
    ] {
        let error = parse(&file(addresses)).unwrap_err().to_string();
        assert!(error.contains(what), "{addresses}: {error}");
        let line = 6 + addresses.matches('\n').count();
        assert!(error.contains(&format!("a.toml:{line}:")), "{error}");
    }
}

/// Copies a word from the first address in a struct to the second.
const STRUCT: &str = ".version 7.0\n.target sm_80\n.address_size 64\n\
    .visible .entry k(.param .align 8 .b8 view[24]) {\n\
      .reg .b32 %r<3>; .reg .b64 %rd<4>;\n\
      ld.param.u64 %rd2, [view];\n\
      ld.param.u32 %r2, [view+8];\n\
      ld.param.u64 %rd3, [view+16];\n\
      ld.global.u32 %r1, [%rd2];\n\
      add.u32 %r1, %r1, %r2;\n\
      st.global.u32 [%rd3], %r1;\n\
      ret;\n}\n";

fn of_struct(pointers: &str) -> String {
    format!(
        "ptx = \"k.ptx\"\ngrid = [1]\nblock = [1]\n\
         [[arg]]\nname = \"view\"\ntype = \"bytes\"\n\
         value = \"ffffffffffffffff07000000000000000000000000000000\"\n\
         pointers = {pointers}\n\
         [[arg]]\nname = \"in\"\ntype = \"u32\"\ncount = 4\ninit = \"iota\"\n\
         [[arg]]\nname = \"out\"\ntype = \"u32\"\ncount = 1\n"
    )
}

#[test]
fn a_kernel_follows_the_addresses_in_a_struct() {
    let pointers = r#"[{ at = 16, to = "out" }, { at = 0, to = "in", offset = 8 }]"#;
    let file: LaunchFile = parse(&of_struct(pointers)).unwrap();
    let module = Module::parse(STRUCT, "k.ptx").unwrap();
    let mut prepared = file.prepare(&module).unwrap();
    let outcome = prepared.run(&Options::default()).unwrap();
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
    let out = prepared.outputs().find(|(name, _)| *name == "out").unwrap();
    assert_eq!(out.1, (2u32 + 7).to_le_bytes());
}

#[test]
fn bad_addresses_in_structs_are_refused_where_they_stand() {
    for (pointers, what) in [
        (r#"[{ at = 17, to = "out" }]"#, "'at' is out of range"),
        (r#"[{ to = "out" }]"#, "pointers has no 'at'"),
        (r#"[{ at = 0, to = "inn" }]"#, "there is no argument 'inn'"),
        (r#"[{ at = 0, to = "view" }]"#, "not a buffer"),
        (
            r#"[{ at = 0, to = "in", offset = 17 }]"#,
            "past the end of the buffer (16 bytes)",
        ),
        (
            r#"[{ at = 0, to = "in" }, { at = 4, to = "out" }]"#,
            "bytes 0 and 4 overlap",
        ),
        (r#"[{ at = 0, too = "in" }]"#, "unknown key 'too'"),
        ("3", "'pointers' is an integer"),
    ] {
        let error = parse(&of_struct(pointers)).unwrap_err().to_string();
        assert!(error.contains(what), "{pointers}: {error}");
        assert!(error.contains(":8:"), "{pointers}: {error}");
    }
    let scalar = of_struct(r#"[{ at = 0, to = "in" }]"#).replace("\"bytes\"", "\"u64\"");
    let error = parse(&scalar.replace("value = \"f", "value = 3 # \"f")).unwrap_err();
    assert!(
        error.to_string().contains("'pointers' does not fit here"),
        "{error}"
    );
}
