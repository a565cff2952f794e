//! Any text as an access trace: refused, or usable and the same after a round trip.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spadkit::trace::{AccessTrace, ConflictProfile, pattern};
use std::path::Path;

fuzz_target!(|text: &str| {
    let Ok(trace) = AccessTrace::from_json(text, Path::new("t.json")) else {
        return;
    };
    let again = AccessTrace::from_json(&trace.to_json(), Path::new("t.json"));
    assert_eq!(again.expect("what is written can be read"), trace);
    ConflictProfile::new(&trace, 32).count(|addr| addr & 31);
    pattern::classify(&trace);
});
