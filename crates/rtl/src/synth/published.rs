//! Published figures of the hash paper about its units.
//!
//! G.-J. van den Braak, J. Gómez-Luna, J. M. González-Linares, H. Corporaal, N. Guil:
//! Configurable XOR hash functions for banked scratchpad memories in GPUs, IEEE
//! Transactions on Computers, 2016. A 40 nm standard cell library, Cadence Encounter
//! RTL Compiler 11.20.

use serde::Serialize;

/// The target clocks of Fig. 4 in GHz.
pub const TARGET_CLOCKS_GHZ: [f64; 8] = [1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0];

/// Target periods in ps, as Fig. 4 rounds them.
pub const TARGET_PERIODS_PS: [u32; 8] = [667, 500, 400, 333, 286, 250, 222, 200];

/// The hash units of Table 4: 32 banks on each of 16 multiprocessors.
const INSTANCES: f64 = 32.0 * 16.0;

/// The published figures of one unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Published {
    /// The kit's unit that is compared with them.
    pub unit: &'static str,
    /// Fig. 4: the latency reached at each of the target clocks, in ps.
    pub latency_ps: [u32; 8],
    /// Table 4: area of all instances in mm², with one digit.
    pub total_area_mm2: f64,
    /// Table 4: power of all instances in W, with one digit.
    pub total_power_w: f64,
}

/// The four units of Fig. 4 and Table 4.
pub const PUBLISHED: [Published; 4] = [
    Published {
        unit: "spad_hash_bitvec_perm",
        latency_ps: [269, 269, 269, 269, 269, 248, 221, 200],
        total_area_mm2: 0.2,
        total_power_w: 0.1,
    },
    Published {
        unit: "spad_hash_bitvec_xor",
        latency_ps: [468, 430, 398, 333, 286, 250, 243, 246],
        total_area_mm2: 0.3,
        total_power_w: 0.2,
    },
    Published {
        unit: "spad_hash_bitwise_perm",
        latency_ps: [348, 348, 348, 326, 286, 250, 222, 200],
        total_area_mm2: 0.5,
        total_power_w: 0.3,
    },
    Published {
        unit: "spad_hash_bitwise_xor",
        latency_ps: [521, 496, 400, 333, 286, 250, 227, 221],
        total_area_mm2: 1.1,
        total_power_w: 0.5,
    },
];

impl Published {
    /// The figures of a unit of the kit, if the paper has them.
    pub fn of(unit: &str) -> Option<&'static Published> {
        PUBLISHED.iter().find(|p| p.unit == unit)
    }

    /// Area of one instance in µm² (Table 4 divided by its instances).
    pub fn area_um2(&self) -> f64 {
        self.total_area_mm2 * 1e6 / INSTANCES
    }

    /// Power of one instance in mW (Table 4 divided by its instances).
    pub fn power_mw(&self) -> f64 {
        self.total_power_w * 1e3 / INSTANCES
    }

    /// The latency reached at a target period of Fig. 4, in ps.
    pub fn latency_at(&self, period_ps: u32) -> Option<u32> {
        let index = TARGET_PERIODS_PS.iter().position(|p| *p == period_ps)?;
        Some(self.latency_ps[index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_instance_of_table_4() {
        let areas = PUBLISHED.map(|p| p.area_um2().round());
        assert_eq!(areas, [391.0, 586.0, 977.0, 2148.0]);
        assert_eq!(
            PUBLISHED.map(|p| (p.power_mw() * 10.0).round()),
            [2.0, 4.0, 6.0, 10.0]
        );
    }

    #[test]
    fn periods_are_those_of_the_clocks() {
        for (ghz, ps) in TARGET_CLOCKS_GHZ.iter().zip(TARGET_PERIODS_PS) {
            assert_eq!((1000.0 / ghz).round() as u32, ps);
        }
        let xor = Published::of("spad_hash_bitvec_xor").unwrap();
        assert_eq!(xor.latency_at(400), Some(398));
        assert_eq!(xor.latency_at(401), None);
        assert!(Published::of("spad_rap").is_none());
    }
}
