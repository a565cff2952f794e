//! Any text as a listing of `nvdisasm`: without the code that is asked for, or with
//! accesses of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spadkit::assembler::listed_accesses;

fuzz_target!(|text: &str| {
    for access in listed_accesses(text, "k").into_iter().flatten() {
        assert!(access.bytes <= 16 && !access.name.is_empty());
        assert!(access.in_loop.is_none_or(|start| start <= access.at));
    }
});
