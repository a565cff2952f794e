//! The generated traces against recorded ones, where `SPADKIT_TRACES` names their folder.

use super::generate;
use crate::geometry::Geometry;
use crate::hash::{HashSpec, Mapping};
use crate::trace::{Access, AccessTrace, ConflictProfile, Op};
use std::collections::HashMap;
use std::path::PathBuf;

/// The recorded trace, or `None` with a note where no folder is named.
fn recorded(name: &str) -> Option<AccessTrace> {
    let Some(folder) = std::env::var_os("SPADKIT_TRACES").map(PathBuf::from) else {
        println!("skipped: SPADKIT_TRACES does not name a folder of recorded traces");
        return None;
    };
    Some(AccessTrace::load(&folder.join(format!("{name}.json"))).unwrap())
}

/// Access for access the same; access sites may be numbered differently, but
/// one to one.
fn assert_same_accesses(generated: &[Access], recorded: &[Access]) {
    assert_eq!(generated.len(), recorded.len());
    let mut sites: HashMap<u32, u32> = HashMap::new();
    for (i, (g, r)) in generated.iter().zip(recorded).enumerate() {
        let what = |a: &Access| (a.warp, a.op, a.bytes, a.addrs.clone());
        assert_eq!(what(g), what(r), "accesses[{i}]");
        assert_eq!(*sites.entry(r.pc).or_insert(g.pc), g.pc, "accesses[{i}]");
    }
    let mut ours: Vec<_> = sites.values().collect();
    ours.sort_unstable();
    ours.dedup();
    assert_eq!(ours.len(), sites.len(), "two sites share a number");
}

fn assert_same_trace(spec: &str, name: &str) {
    let Some(recorded) = recorded(name) else {
        return;
    };
    let generated = generate(spec).unwrap();
    assert_eq!(generated.block_dim, recorded.block_dim);
    assert_eq!(generated.shared_bytes, recorded.shared_bytes);
    assert_eq!(generated.barriers, recorded.barriers);
    assert_same_accesses(&generated.accesses, &recorded.accesses);
    assert_same_conflicts(&generated, &recorded);
}

fn assert_same_conflicts(generated: &AccessTrace, recorded: &AccessTrace) {
    let fermi = Geometry::new(14, 5).unwrap();
    for spec in [
        "mod",
        "xor",
        "add",
        "bitvec-xor:k1=0,k2=5,mask=7",
        "rap:seed=3",
    ] {
        let mapping = Mapping::new(&spec.parse::<HashSpec>().unwrap(), fermi).unwrap();
        for lanes in [8, 32] {
            let count = |t| ConflictProfile::new(t, lanes).count(|a| mapping.bank(a));
            assert_eq!(count(generated), count(recorded), "{spec}, {lanes} lanes");
        }
    }
}

#[test]
fn transpose() {
    assert_same_trace("transpose:tile=16", "transpose");
}

#[test]
fn reduction() {
    assert_same_trace("reduction:threads=256", "reduction");
}

#[test]
fn fast_walsh_transform() {
    assert_same_trace("fwt:log2n=11", "FWT");
}

#[test]
fn convolution() {
    assert_same_trace("conv-rows:radius=8,steps=8,rows=4", "conv-1");
}

#[test]
fn dct() {
    assert_same_trace("dct8x8", "dct8x8-1-cse");
}

#[test]
fn needleman_wunsch() {
    assert_same_trace("nw:block=16", "NW-1");
}

#[test]
fn backprop() {
    assert_same_trace("backprop", "backprop");
}

#[test]
fn lavamd() {
    let Some(recorded) = recorded("lavaMD") else {
        return;
    };
    // The recording has warps 0 and 3 of 4 only.
    let mut generated = generate("lavamd:particles=100").unwrap();
    generated.accesses.retain(|a| [0, 3].contains(&a.warp));
    assert_eq!(generated.shared_bytes, recorded.shared_bytes);
    assert_same_accesses(&generated.accesses, &recorded.accesses);
    assert_same_conflicts(&generated, &recorded);
}

#[test]
fn histogram_apart_from_the_pixels() {
    let Some(recorded) = recorded("hist256") else {
        return;
    };
    let generated = generate("hist256").unwrap();
    assert_eq!(generated.barriers, recorded.barriers);
    // The images differ: of an atomic only its site and warp can agree.
    let fixed = |t: &AccessTrace| -> Vec<Access> {
        let mut accesses = t.accesses.clone();
        for a in accesses.iter_mut().filter(|a| a.op == Op::Atomic) {
            a.addrs = vec![Some(a.warp); 32];
        }
        accesses
    };
    assert_same_accesses(&fixed(&generated), &fixed(&recorded));
}

#[test]
fn scan_inside_the_radix_sort() {
    let Some(recorded) = recorded("MRI-grid-splitSort") else {
        return;
    };
    // The first of the sort's prefix sums; its atomics (sites 1 to 4) before it.
    let first_scan: Vec<Access> = recorded.accesses[1..396]
        .iter()
        .filter(|a| a.pc >= 5)
        .cloned()
        .collect();
    let generated = generate("scan:threads=256").unwrap();
    assert_same_accesses(&generated.accesses, &first_scan);
}
