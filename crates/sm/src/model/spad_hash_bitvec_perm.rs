//! `spad_hash_bitvec_perm`: m consecutive address bits (hash paper, section 4.1).

use super::hash_config::{ConfigRegister, bits_for, none_selected};
use super::hash_unit::{Bank, HashUnit};
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::kind::{BitvecPerm, Kind, Ports};

/// Bank = addr[k..k+m).
#[derive(Clone, Debug)]
pub struct HashBitvecPerm {
    /// Address and bank bits.
    pub geometry: Geometry,
    /// First address bit, 0..=n-m.
    pub k: u32,
}

impl HashUnit for HashBitvecPerm {
    type Spec = BitvecPerm;

    fn new(spec: &BitvecPerm, geometry: Geometry) -> Self {
        HashBitvecPerm {
            geometry,
            k: spec.k,
        }
    }

    fn step(&self, addr: u32) -> u32 {
        (addr >> self.k) & self.geometry.bank_mask()
    }

    fn registers(geometry: Geometry) -> Vec<ConfigRegister> {
        vec![ConfigRegister::new(
            "k",
            bits_for(geometry.row_bits() + 1),
            0,
        )]
    }

    fn outputs(registers: &[u64], geometry: Geometry) -> Ports {
        let k = registers[0] as u32;
        let last = geometry.row_bits();
        let mut ports = BitvecPerm { k: k.min(last) }.ports(geometry);
        if k > last {
            ports.iter_mut().for_each(|(_, value)| none_selected(value));
        }
        ports
    }

    fn bank(registers: &[u64], geometry: Geometry) -> Bank {
        let k = registers[0] as u32;
        if k > geometry.row_bits() {
            return Box::new(|_| 0);
        }
        let unit = HashBitvecPerm { geometry, k };
        Box::new(move |addr| unit.step(addr))
    }
}
