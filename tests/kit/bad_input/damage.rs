//! Random damage never panics.

use super::*;
use proptest::prelude::*;
use spadkit::config::Config;
use spadkit::geometry::Geometry;
use spadkit::hash::{HashSpec, Mapping};
use spadkit::synth::liberty::Liberty;
use spadkit::trace::{AccessTrace, ConflictProfile, pattern};
use std::path::Path;

/// Cuts, doubles or overwrites a piece of `text`.
fn damage(mut text: Vec<u8>, edits: &[(prop::sample::Index, u8, u8)]) -> Vec<u8> {
    for (place, kind, byte) in edits {
        if text.is_empty() {
            break;
        }
        let at = place.index(text.len());
        let end = (at + usize::from(*byte)).min(text.len());
        match kind % 5 {
            0 => text[at] = *byte,
            1 => text[at] ^= 1 << (byte % 8),
            2 => text.truncate(at),
            3 => drop(text.drain(at..end)),
            _ => {
                let piece = text[at..end].to_vec();
                text.splice(at..at, piece);
            }
        }
    }
    text
}

const SPECS: [&str; 8] = [
    "bitvec-perm:k=3",
    "bitvec-xor:k1=0,k2=5,mask=7",
    "bitwise-perm:0,4,5,6,7",
    "bitwise-xor:0,0^4,0^5,1^6,2^7",
    "matrix:0x21,0x42,0x84,0x108,0x210",
    "rap:seed=1",
    "ras:2,0,3,1",
    "add",
];

const CONFIG: &str = "name = \"x\"\nbase = \"gt200\"\n[geometry]\naddr_bits = 12\nbank_bits = 4\n\
    lanes = 16\n[path]\nlocks = 64\n[scheduler]\npolicy = \"gto\"\n[sharing]\nthreshold = 0.5\n";

fn edits() -> impl Strategy<Value = Vec<(prop::sample::Index, u8, u8)>> {
    prop::collection::vec(any::<(prop::sample::Index, u8, u8)>(), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn damaged_traces_never_panic(edits in edits()) {
        let text = damage(good_trace().into_bytes(), &edits);
        if let Ok(trace) = AccessTrace::from_json(&String::from_utf8_lossy(&text), Path::new("t")) {
            // What is accepted can be used.
            let again = AccessTrace::from_json(&trace.to_json(), Path::new("t")).unwrap();
            prop_assert_eq!(&again, &trace);
            let count = ConflictProfile::new(&trace, 32).count(|a| a & 31);
            prop_assert!(count.max_degree <= 32);
            pattern::classify(&trace);
            pattern::strides(&trace);
        }
    }

    #[test]
    fn damaged_specs_never_panic(which in 0..SPECS.len(), edits in edits()) {
        let text = damage(SPECS[which].as_bytes().to_vec(), &edits);
        if let Ok(spec) = String::from_utf8_lossy(&text).parse::<HashSpec>() {
            prop_assert_eq!(&spec.to_string().parse::<HashSpec>().unwrap(), &spec);
            for geometry in Geometry::all() {
                if let Ok(mapping) = Mapping::new(&spec, geometry) {
                    prop_assert!((mapping.bank(u32::MAX) as usize) < geometry.banks());
                }
            }
        }
    }

    #[test]
    fn damaged_configurations_never_panic(edits in edits()) {
        let text = damage(CONFIG.as_bytes().to_vec(), &edits);
        if let Ok(c) = Config::from_toml(&String::from_utf8_lossy(&text), Path::new("m.toml")) {
            prop_assert!(c.capacity_words as usize <= c.geometry.words());
        }
    }

    #[test]
    fn damaged_libraries_never_panic(edits in edits()) {
        let text = damage(include_bytes!("../../fixtures/tiny.lib").to_vec(), &edits);
        let text = String::from_utf8_lossy(&text).into_owned();
        if let Ok(library) = Liberty::parse(text, Path::new("x.lib")) {
            for cell in library.cells.values() {
                cell.truth_table();
            }
        }
    }
}
