//! Mappings of related work that `spadkit reproduce hash.t6` counts conflicts of.

use spadkit::geometry::Geometry;
use spadkit::hash::{BankFunction, HashSpec, Mapping};
use spadkit::reproduce::related::Related;
use std::str::FromStr;

fn geometry() -> Geometry {
    Geometry::new(14, 5).unwrap()
}

fn of(text: &str) -> Related {
    text.parse().unwrap()
}

/// Each word has a distinct bank and row.
#[test]
fn padding_and_moduli_lose_no_word() {
    for (mapping, banks, words) in [("modulus:31", 31, 8192), ("modulus:33", 33, 8192)] {
        let mut seen = std::collections::BTreeSet::new();
        for a in 0..words {
            let bank = of(mapping).bank(a, geometry());
            assert!(bank < banks);
            assert!(seen.insert((bank, a / banks)), "{mapping} {a}");
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    assert!((0..8192u32).all(|a| {
        let bank = of("padding").bank(a, geometry());
        seen.insert((bank, (a + a / 32) / 32))
    }));
}

#[test]
fn the_linear_ones_are_matrices_with_the_same_banks() {
    for text in ["ipoly", "swizzle:5,0,5", "swizzle:3,2,3", "swizzle:2,0,3"] {
        let spec = of(text).matrix(geometry()).unwrap();
        Mapping::new(&spec, geometry()).unwrap();
        let function = BankFunction::new(&spec, geometry()).unwrap();
        for a in 0..1 << 14 {
            let bank = of(text).bank(a, geometry());
            assert_eq!(bank, function.bank(a, geometry()), "{text} {a}");
        }
    }
    assert_eq!(of("modulus:31").matrix(geometry()), None);
}

/// All strides of a power of two are free of conflicts under IPOLY up to the
/// width of the address, which is what it is for.
#[test]
fn ipoly_spreads_every_power_of_two() {
    for shift in 0..9 {
        let banks: std::collections::BTreeSet<u32> = (0..32)
            .map(|t| of("ipoly").bank(t << shift, geometry()))
            .collect();
        assert_eq!(banks.len(), 32, "stride {}", 1 << shift);
    }
    // x^6 mod x^5 + x^2 + 1 is x^3 + x.
    assert_eq!(of("ipoly").bank(0b100_0000, geometry()), 0b1010);
}

#[test]
fn the_widest_swizzle_is_the_fixed_hash() {
    let fixed = BankFunction::new(&HashSpec::Xor, geometry()).unwrap();
    let swizzle = of("swizzle:5,0,5");
    let equal = |a: u32| swizzle.bank(a, geometry()) == fixed.bank(a, geometry());
    assert!((0..1 << 10).all(equal));
}

#[test]
fn what_is_no_mapping_is_refused() {
    for text in [
        "modulus",
        "modulus:65",
        "modulus:x",
        "swizzle:3",
        "ipoly:24",
        "none",
    ] {
        let error = Related::from_str(text).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}
