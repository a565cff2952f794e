//! Any text as a cell library: refused, or with cells that can be asked.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spadkit::synth::liberty::Liberty;
use std::path::Path;

fuzz_target!(|text: &str| {
    if let Ok(library) = Liberty::parse(text.to_owned(), Path::new("x.lib")) {
        for cell in library.cells.values() {
            cell.truth_table();
            cell.input_capacitance_ff();
        }
    }
});
