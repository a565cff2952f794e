//! Any bytes as an Accel-Sim trace: refused, or events to the end or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spadkit::trace::accelsim::Reader;
use std::path::Path;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(mut reader) = Reader::of_text(bytes.to_vec(), Path::new("x.traceg")) {
        while let Ok(Some(_)) = reader.next_event() {}
    }
});
