//! The heap of device-side `malloc`.

use super::parse;
use crate::launch::{LaunchFile, Options};
use spadkit_ptx::Module;
use spadkit_ptx::exec::FindingKind;

/// Allocates 64 bytes, and writes whether there was room.
const PTX: &str = ".version 7.0\n.target sm_80\n.address_size 64\n\
    .extern .func (.param .b64 r) malloc(.param .b64 a);\n\
    .visible .entry k(.param .u64 out) {\n\
      .reg .b32 %r<2>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n\
      ld.param.u64 %rd1, [out];\n\
      { .param .b64 a; .param .b64 r; st.param.b64 [a], 64;\n\
        call (r), malloc, (a); ld.param.b64 %rd2, [r]; }\n\
      setp.ne.u64 %p1, %rd2, 0; selp.u32 %r1, 1, 0, %p1;\n\
      st.global.u32 [%rd1], %r1;\n\
      ret;\n}\n";

fn file(keys: &str) -> Result<LaunchFile, spadkit_base::error::Error> {
    parse(&format!(
        "ptx = \"k.ptx\"\n{keys}\ngrid = [1]\nblock = [1]\n\
         [[arg]]\nname = \"out\"\ntype = \"u32\"\ncount = 1\n"
    ))
}

#[test]
fn its_size_is_that_of_the_file_and_what_is_left_is_a_warning() {
    let module = Module::parse(PTX, "k.ptx").unwrap();
    for (keys, room) in [
        ("", true),
        ("heap = 64", true),
        ("heap = 63", false),
        ("heap = 0", false),
    ] {
        let file = file(keys).unwrap();
        let mut prepared = file.prepare(&module).unwrap();
        let outcome = prepared.run(&Options::default()).unwrap();
        let out = prepared.outputs().next().unwrap();
        assert_eq!(out.1, u32::from(room).to_le_bytes(), "{keys}");
        let kinds: Vec<_> = outcome
            .findings
            .iter()
            .map(|f| (f.kind, f.warning))
            .collect();
        let leak = [(FindingKind::Leak, true)];
        assert_eq!(kinds, leak[..usize::from(room)], "{keys}");
    }
}

#[test]
fn a_size_that_is_none_is_refused() {
    for keys in ["heap = -1", "heap = 2000000000", "heap = \"8 MB\""] {
        let error = file(keys).unwrap_err().to_string();
        assert!(error.contains("'heap' is"), "{keys}: {error}");
    }
}
