//! Any text as a launch file: refused, or one with at least one launch.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spadkit::launch::LaunchFile;
use std::path::Path;

fuzz_target!(|text: &str| {
    if let Ok(file) = LaunchFile::parse(text.to_owned(), Path::new("x.toml")) {
        assert!(file.launches().count() > 0);
    }
});
