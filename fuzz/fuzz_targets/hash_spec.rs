//! Any text as a hash spec: refused, or a mapping whose banks exist.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spadkit::geometry::Geometry;
use spadkit::hash::{HashSpec, Mapping};

fuzz_target!(|text: &str| {
    let Ok(spec) = text.parse::<HashSpec>() else {
        return;
    };
    let again = spec.to_string().parse::<HashSpec>();
    assert_eq!(again.expect("what is shown can be parsed"), spec);
    for geometry in Geometry::all() {
        if let Ok(mapping) = Mapping::new(&spec, geometry) {
            assert!((mapping.bank(u32::MAX) as usize) < geometry.banks());
        }
    }
});
