//! Options for running a launch file that are not in the file.

use super::parse;
use crate::launch::Options;
use spadkit_ptx::Module;

/// Reads the word after a buffer of one word.
const PTX: &str = ".version 7.0\n.target sm_80\n.address_size 64\n\
    .visible .entry k(.param .u64 out) {\n\
      .reg .b32 %r<2>; .reg .b64 %rd<2>;\n\
      ld.param.u64 %rd1, [out];\n\
      ld.global.u32 %r1, [%rd1+4];\n\
      st.global.u32 [%rd1], %r1;\n\
      ret;\n}\n";

/// A launch that reads outside its buffer, and another one like it.
const TWICE: &str = "ptx = \"k.ptx\"\ngrid = [1]\nblock = [1]\n\
    [[arg]]\nname = \"out\"\ntype = \"u32\"\ncount = 1\n[[then]]\nentry = \"k\"\nargs = [\"out\"]\ngrid = [1]\nblock = [1]\n";

#[test]
fn options_count_for_the_launches_before_the_one_that_is_wanted() {
    let module = Module::parse(PTX, "k.ptx").unwrap();
    let file = parse(TWICE).unwrap();
    let has_faults = |zeros_beyond| {
        let options = Options {
            zeros_beyond,
            ..Options::default()
        };
        let mut prepared = file.prepare(&module).unwrap();
        prepared.run_one(1, &options).unwrap().has_faults()
    };
    assert!(!has_faults(true));
    assert!(has_faults(false));
}

/// Static arrays have a limit of their own; a launch with dynamic memory may have all.
#[test]
fn only_kernels_with_dynamic_memory_may_take_all_of_a_block() {
    let room = |text: &str| parse(text).unwrap().shared_room(41_728);
    assert_eq!(room(TWICE), 12_288);
    assert_eq!(room(&format!("{TWICE}dynamic_shared = 64\n")), 41_728);
    assert_eq!(parse(TWICE).unwrap().shared_room(4_096), 4_096);
}
