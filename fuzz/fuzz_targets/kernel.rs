//! Any text as `kernel:...`: refused, or a trace that passes its own check and
//! can be counted.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spadkit::trace::{AccessTrace, ConflictProfile};
use spadkit::workload::load_input;
use std::path::Path;

fuzz_target!(|text: &str| {
    let Ok(trace) = load_input(&format!("kernel:{text}")) else {
        return;
    };
    ConflictProfile::new(&trace, 32).count(|addr| addr & 31);
    if trace.accesses.len() < 100 {
        let again = AccessTrace::from_json(&trace.to_json(), Path::new("t.json"));
        assert_eq!(again.expect("what is generated is legal"), trace);
    }
});
