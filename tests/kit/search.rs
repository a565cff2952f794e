//! Search on the recorded traces, which are not in the repository, if they are present.

use crate::common::recorded;
use spadkit::geometry::Geometry;
use spadkit::hash::{HashKind, Mapping};
use spadkit::search::bitvec::all_pairs;
use spadkit::search::reference::{Selection, of_trace};
use spadkit::search::tune::{Method, Tuner};
use spadkit::search::{Control, Problem};
use spadkit::trace::ConflictProfile;
use std::time::Duration;

/// The fewest conflicts of the 4480 bit-vector XOR configurations, counted by
/// an independent program.
const MINIMA: [(&str, u64); 10] = [
    ("transpose", 0),
    ("reduction", 0),
    ("FWT", 128),
    ("conv-1", 0),
    ("hist256", 786),
    ("lavaMD", 0),
    ("NW-1", 3),
    ("backprop", 0),
    ("dct8x8-1-cse", 0),
    ("MRI-grid-splitSort", 406),
];

#[test]
fn recorded_traces_have_their_known_minima() {
    let geometry = Geometry::new(14, 5).unwrap();
    for (name, minimum) in MINIMA {
        let Some(trace) = recorded::trace(name) else {
            return;
        };
        let profile = ConflictProfile::new(&trace, 32);
        let problem = Problem::new(&profile, geometry);
        let tuner = Tuner {
            problem: &problem,
            sets: &of_trace(&trace, 32, geometry),
            pairs: &all_pairs(geometry),
            selection: Selection::Allowed,
        };
        let mut bitvec_xor = u64::MAX;
        for kind in HashKind::ALL {
            for method in [
                Method::Exhaustive,
                Method::Givargis,
                Method::Mih,
                Method::Optimal,
            ] {
                if !method.supports(kind) {
                    continue;
                }
                // The matrix unit's proof takes long on some in unoptimised builds.
                let control = match kind {
                    HashKind::Matrix => Control::none().budget(Duration::from_secs(1)),
                    _ => Control::none(),
                };
                let found = tuner.run(kind, method, &control).unwrap();
                // A mapping is a bijection, and its conflicts are those counted plainly.
                let mapping = Mapping::new(&found.spec, geometry).unwrap();
                let counted = profile.count(|addr| mapping.bank(addr)).conflicts;
                assert_eq!(found.conflicts, counted, "{name} {}", found.spec);
                assert!(found.conflicts >= found.lower_bound);
                let proves = matches!(method, Method::Exhaustive | Method::Optimal);
                if proves && kind != HashKind::Matrix {
                    assert!(found.optimal(), "{name} {kind}");
                }
                if (kind, method) == (HashKind::BitvecXor, Method::Exhaustive) {
                    assert_eq!((found.conflicts, found.evaluated), (minimum, 4480));
                    bitvec_xor = found.conflicts;
                }
                if (kind, method) == (HashKind::BitwiseXor, Method::Optimal) {
                    assert!(found.conflicts <= bitvec_xor, "{name}");
                }
            }
        }
    }
}

/// The hash paper's Table 5: what the Givargis heuristic picked. Its XOR pairs
/// for the reduction have rank 4.
#[test]
fn table_5_of_the_givargis_heuristic_is_reproduced() {
    let geometry = Geometry::new(14, 5).unwrap();
    for (name, perm, xor, rank) in [
        ("transpose", "0,4,1,2,3", "0,0^4,1^4,1^5,2^6", 5),
        ("reduction", "4,3,5,2,1", "2^7,1^6,0^5,0^4,4^5", 4),
        ("dct8x8-1-cse", "3,4,0,1,2", "0^3,0^4,0^5,1^6,2^7", 5),
        ("conv-1", "0,1,2,3,5", "0,0^1,0^2,0^3,0^5", 5),
    ] {
        let Some(trace) = recorded::trace(name) else {
            return;
        };
        let problem = Problem::new(&ConflictProfile::new(&trace, 32), geometry);
        let tuner = Tuner {
            problem: &problem,
            sets: &of_trace(&trace, 32, geometry),
            pairs: &[],
            selection: Selection::AsPublished,
        };
        let run = |kind| tuner.run(kind, Method::Givargis, &Control::none()).unwrap();
        let bits = run(HashKind::BitwisePerm);
        assert_eq!(bits.spec.to_string(), format!("bitwise-perm:{perm}"));
        let pairs = run(HashKind::BitwiseXor);
        assert_eq!(pairs.spec.to_string(), format!("bitwise-xor:{xor}"));
        assert_eq!((pairs.rank, pairs.is_mapping), (rank, rank == 5));
    }
}
