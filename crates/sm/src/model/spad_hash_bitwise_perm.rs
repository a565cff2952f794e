//! `spad_hash_bitwise_perm`: one address bit per bank bit (hash paper, section 4.3).

use super::hash_config::{ConfigRegister, bits_for};
use super::hash_unit::{Bank, HashUnit};
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::PortValue;
use spadkit_mapping::hash::kind::{BitwisePerm, Ports};

/// Bank bit i = `addr[bits[i]]`.
#[derive(Clone, Debug)]
pub struct HashBitwisePerm {
    /// Address bit of each bank bit, bank bit 0 first.
    pub bits: Vec<u32>,
}

impl HashUnit for HashBitwisePerm {
    type Spec = BitwisePerm;

    fn new(spec: &BitwisePerm, _: Geometry) -> Self {
        HashBitwisePerm {
            bits: spec.bits.clone(),
        }
    }

    fn step(&self, addr: u32) -> u32 {
        let mut bank = 0;
        for &bit in self.bits.iter().rev() {
            bank = (bank << 1) | (addr >> bit & 1);
        }
        bank
    }

    fn registers(geometry: Geometry) -> Vec<ConfigRegister> {
        let bits = bits_for(geometry.addr_bits());
        ConfigRegister::each(geometry.bank_bits(), bits, u64::from)
    }

    fn outputs(registers: &[u64], geometry: Geometry) -> Ports {
        let n = geometry.addr_bits() as usize;
        let mut sel = PortValue::zero(registers.len() * n);
        for (i, &bit) in registers.iter().enumerate() {
            if (bit as usize) < n {
                sel.set_bit(i * n + bit as usize, true);
            }
        }
        vec![("cfg_sel", sel)]
    }

    fn bank(registers: &[u64], _: Geometry) -> Bank {
        let unit = HashBitwisePerm {
            bits: registers.iter().map(|&bit| bit as u32).collect(),
        };
        Box::new(move |addr| unit.step(addr))
    }
}
