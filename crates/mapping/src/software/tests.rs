use super::*;
use crate::geometry::Geometry;
use crate::hash::Mapping;

fn fermi() -> Geometry {
    Geometry::new(14, 5).unwrap()
}

fn layout(spec: &str) -> Layout {
    Layout::new(&spec.parse().unwrap(), fermi()).unwrap()
}

const SPECS: [&str; 18] = [
    "mod",
    "xor",
    "add",
    "bitvec-perm:k=4",
    "bitvec-xor:k1=0,k2=5,mask=7",
    "bitvec-xor:k1=3,k2=1,mask=21",
    "bitwise-perm:8,0,6,2,11",
    "bitwise-xor:0^1,1^3,1^5,2^4,2^6",
    "bitwise-xor:0^6,2,2^3,2^4,4^5",
    "matrix:0x1ff,0x0f2,0x104,0x2008,0x3ff0",
    "rap:seed=3",
    "ras:seed=9",
    "pad:every=32,by=1",
    "pad:every=33,by=3",
    "pad:every=1,by=1",
    "swizzle:5,0,5",
    "swizzle:3,3,4",
    "swizzle:2,1,-3",
];

#[test]
fn steps_compute_the_place_of_every_word() {
    for spec in SPECS {
        let layout = layout(spec);
        let steps = Steps::of(&layout);
        for index in 0..fermi().words() as u32 {
            assert_eq!(steps.evaluate(index), layout.place(index), "{spec} {index}");
        }
    }
}

#[test]
fn every_layout_is_injective_and_hashes_keep_their_banks() {
    for spec in SPECS {
        let layout = layout(spec);
        let words = fermi().words() as u32;
        let mut seen = vec![false; layout.words_needed(words) as usize];
        for index in 0..words {
            assert!(
                !std::mem::replace(&mut seen[layout.place(index) as usize], true),
                "{spec}"
            );
        }
        if let LayoutSpec::Hash(hash) = layout.spec() {
            let mapping = Mapping::new(hash, fermi()).unwrap();
            assert!(
                (0..words).all(|i| layout.bank(i) == mapping.bank(i)),
                "{spec}"
            );
            assert_eq!(seen.len(), words as usize);
        }
    }
}

#[test]
fn few_operations_are_enough() {
    for (spec, most) in [
        ("mod", 0),
        ("xor", 2),
        ("add", 3),
        ("swizzle:5,0,5", 2),
        ("pad:every=32,by=1", 2),
        ("pad:every=32,by=4", 2),
        ("bitvec-xor:k1=0,k2=5,mask=7", 2),
        // The row's shift out of packed words: nine, and two for the address.
        ("rap:seed=1", 12),
        // (i0^i5) ^ (i1^i6) before i1^i6: two factors instead of three terms.
        ("matrix:0x63,0x42,0x4,0x8,0x10", 4),
    ] {
        let count = Steps::of(&layout(spec)).count();
        assert!(count <= most, "{spec}: {count}");
    }
}

#[test]
fn swizzles_are_known_as_such() {
    assert_eq!(
        swizzle_of(&layout("xor")),
        Some("swizzle:5,0,5".parse().unwrap())
    );
    assert_eq!(swizzle_of(&layout("add")), None);
    assert_eq!(swizzle_of(&layout("bitwise-xor:0^6,2,2^3,2^4,4^5")), None);
    let three = render(&layout("bitvec-xor:k1=0,k2=7,mask=7"), Language::Cute);
    assert!(
        three.exact && three.code.contains("Swizzle<3, 0, 7>"),
        "{}",
        three.code
    );
    let none = render(&layout("bitwise-xor:0^5,1,2^9,3,4"), Language::Triton);
    assert!(!none.exact && none.reason.unwrap().contains("p2 = i2^i9"));
}

/// A tensor map's modes as CUDA's programming guide draws them: rows of 128
/// bytes in eight units of 16, the unit XORed with the row's number.
#[test]
fn tma_modes_are_swizzles() {
    let geometry = Geometry::new(14, 5).unwrap();
    for (text, units) in [("tma:32", 2), ("tma:64", 4), ("tma:128", 8)] {
        let layout = Layout::new(&text.parse().unwrap(), geometry).unwrap();
        for word in 0..4096 {
            let (row, unit, rest) = (word / 32, word / 4 % 8, word % 4);
            let unit = unit ^ (row % units);
            assert_eq!(layout.place(word), 32 * row + 4 * unit + rest, "{text}");
        }
    }
    let wrong = "tma:16".parse::<LayoutSpec>().unwrap_err();
    assert!(wrong.to_string().contains("no swizzle mode"));
}

/// The definition in CuTe's swizzle.hpp, written from its masks.
fn cute_swizzle(bits: u32, base: u32, shift: i32, offset: u32) -> u32 {
    let bit_mask = (1u32 << bits) - 1;
    let source = bit_mask << (base as i32 + shift.max(0));
    if shift >= 0 {
        offset ^ ((offset & source) >> shift)
    } else {
        offset ^ ((offset & source) << -shift)
    }
}

#[test]
fn every_swizzle_is_cutes() {
    let geometry = Geometry::new(9, 3).unwrap();
    let mut count = 0;
    for spec in shared_layouts::swizzles(geometry) {
        let LayoutSpec::Swizzle { bits, base, shift } = spec else {
            panic!("{spec}");
        };
        let layout = Layout::new(&spec, geometry).unwrap();
        for index in 0..geometry.words() as u32 {
            assert_eq!(
                layout.place(index),
                cute_swizzle(bits, base, shift, index),
                "{spec}"
            );
        }
        count += 1;
    }
    assert!(count > 50);
}

#[test]
fn bad_layouts_are_refused_with_the_reason() {
    for (text, reason) in [
        ("pad:every=0,by=1", "out of range"),
        ("pad:every=32", "malformed"),
        ("pad:every=32,by=1,by=2", "malformed"),
        ("pad:every=+32,by=1", "malformed"),
        ("swizzle:5,0", "three numbers"),
        ("swizzle:5,0,4", "overlap"),
        ("swizzle:5,0,x", "not a number"),
        ("nope", "is not a hash"),
    ] {
        let error = text.parse::<LayoutSpec>().unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
    let spec: LayoutSpec = "swizzle:5,5,5".parse().unwrap();
    assert!(Layout::new(&spec, fermi()).is_err());
}

/// What is counted is what the PTX has, but for the move of the result.
#[test]
fn operations_are_the_instructions_of_the_ptx() {
    for spec in SPECS {
        let code = render(&layout(spec), Language::Ptx);
        let body = code.code.split(".func").nth(1).unwrap();
        let is_instruction = |line: &&str| line.ends_with(';') && !line.contains(".reg");
        let lines = body.lines().skip(1).filter(is_instruction).count();
        assert_eq!(code.operations, Some(lines - 2), "{spec}\n{}", code.code);
    }
}
