//! `spad_hash_bitvec_xor`: two windows of address bits (hash paper, section 4.2).

use super::hash_config::{ConfigRegister, bits_for, none_selected};
use super::hash_unit::{Bank, HashUnit};
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::PortValue;
use spadkit_mapping::hash::kind::{BitvecXor, Kind, Ports};

/// Bank = addr[k1..k1+m) ^ (addr[k2..k2+m) & mask).
#[derive(Clone, Debug)]
pub struct HashBitvecXor {
    /// Address and bank bits.
    pub geometry: Geometry,
    /// First address bit of the first window, 0..=n-m.
    pub k1: u32,
    /// First address bit of the second window, 0..n.
    pub k2: u32,
    /// The bank bits that the second window enters.
    pub mask: u32,
}

impl HashUnit for HashBitvecXor {
    type Spec = BitvecXor;

    fn new(spec: &BitvecXor, geometry: Geometry) -> Self {
        let BitvecXor { k1, k2, mask } = *spec;
        HashBitvecXor {
            geometry,
            k1,
            k2,
            mask,
        }
    }

    fn step(&self, addr: u32) -> u32 {
        let addr = addr & self.geometry.addr_mask();
        ((addr >> self.k1) ^ ((addr >> self.k2) & self.mask)) & self.geometry.bank_mask()
    }

    fn registers(geometry: Geometry) -> Vec<ConfigRegister> {
        vec![
            ConfigRegister::new("k1", bits_for(geometry.row_bits() + 1), 0),
            ConfigRegister::new("k2", bits_for(geometry.addr_bits()), 0),
            ConfigRegister::new("mask", geometry.bank_bits(), 0),
        ]
    }

    fn outputs(registers: &[u64], geometry: Geometry) -> Ports {
        let [k1, k2, mask] = [0, 1, 2].map(|i| registers[i] as u32);
        let (last1, last2) = (geometry.row_bits(), geometry.addr_bits() - 1);
        let legal = BitvecXor {
            k1: k1.min(last1),
            k2: k2.min(last2),
            mask,
        };
        let mut ports = legal.ports(geometry);
        for (name, value) in &mut ports {
            match *name {
                "cfg_coarse1" if k1 > last1 => none_selected(value),
                // Active low: all ones select nothing.
                "cfg_fine1_n" if k1 > last1 => *value = PortValue::from_u64(3, 0b111),
                "cfg_coarse2" | "cfg_fine2" if k2 > last2 => none_selected(value),
                _ => {}
            }
        }
        ports
    }

    fn bank(registers: &[u64], geometry: Geometry) -> Bank {
        let [k1, k2, mask] = [0, 1, 2].map(|i| registers[i] as u32);
        let mask = if k2 < geometry.addr_bits() { mask } else { 0 };
        let unit = move |k1, mask| HashBitvecXor {
            geometry,
            k1,
            k2,
            mask,
        };
        if k1 <= geometry.row_bits() {
            Box::new(move |addr| unit(k1, mask).step(addr))
        } else {
            // The second window alone.

            Box::new(move |addr| unit(0, mask).step(addr) ^ unit(0, 0).step(addr))
        }
    }
}
