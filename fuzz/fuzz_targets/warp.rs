//! Any text as a program text: refused, or programs that can be walked.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spadkit::sm::{WarpText, Workload};
use std::path::Path;

fuzz_target!(|text: &str| {
    let Ok(program) = WarpText::parse(text, Path::new("x.warp")) else {
        return;
    };
    for block in [0, program.info().blocks - 1] {
        let mut stream = program.open(block, 0).expect("a warp of the kernel");
        for _ in 0..4 {
            match stream.next_part() {
                Ok(Some(part)) => assert!(!part.is_empty()),
                _ => break,
            }
        }
    }
});
