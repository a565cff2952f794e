//! `spad_hash_matrix`: any matrix over GF(2).

use super::hash_config::{ConfigRegister, side_by_side};
use super::hash_unit::{Bank, HashUnit};
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::kind::{Matrix, Ports};

/// Bank bit i = parity of `addr & rows[i]`.
#[derive(Clone, Debug)]
pub struct HashMatrix {
    /// The mask of address bits of each bank bit, bank bit 0 first.
    pub rows: Vec<u32>,
}

impl HashUnit for HashMatrix {
    type Spec = Matrix;

    fn new(spec: &Matrix, _: Geometry) -> Self {
        HashMatrix {
            rows: spec.rows.clone(),
        }
    }

    fn step(&self, addr: u32) -> u32 {
        let mut bank = 0;
        for row in self.rows.iter().rev() {
            bank = (bank << 1) | ((addr & row).count_ones() % 2);
        }
        bank
    }

    fn registers(geometry: Geometry) -> Vec<ConfigRegister> {
        ConfigRegister::each(geometry.bank_bits(), geometry.addr_bits(), |i| 1 << i)
    }

    fn outputs(registers: &[u64], geometry: Geometry) -> Ports {
        vec![("cfg_rows", side_by_side(registers, geometry.addr_bits()))]
    }

    fn bank(registers: &[u64], _: Geometry) -> Bank {
        let unit = HashMatrix {
            rows: registers.iter().map(|&row| row as u32).collect(),
        };
        Box::new(move |addr| unit.step(addr))
    }
}
