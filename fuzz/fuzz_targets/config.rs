//! Any text as a configuration file: refused, or a machine that can be emitted for.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spadkit::config::Config;
use std::path::Path;

fuzz_target!(|text: &str| {
    if let Ok(machine) = Config::from_toml(text, Path::new("m.toml")) {
        assert!(machine.capacity_words as usize <= machine.geometry.words());
        assert!(machine.lanes <= machine.warp_size);
    }
});
