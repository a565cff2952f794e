//! `spad_hash_bitwise_xor`: one address bit or the XOR of two per bank bit
//! (hash paper, section 4.4).

use super::hash_config::{ConfigRegister, bits_for};
use super::hash_unit::{Bank, HashUnit};
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::PortValue;
use spadkit_mapping::hash::kind::{BitwiseXor, Ports, select_lines};

/// Bank bit i = `addr[a] ^ addr[b]`, or `addr[a]` alone.
#[derive(Clone, Debug)]
pub struct HashBitwiseXor {
    /// The one or two address bits of each bank bit, bank bit 0 first.
    pub pairs: Vec<(u32, Option<u32>)>,
}

impl HashUnit for HashBitwiseXor {
    type Spec = BitwiseXor;

    /// Two bits of one group, the lower one second, are not modelled.
    const ANY_REGISTERS: bool = false;

    fn new(spec: &BitwiseXor, _: Geometry) -> Self {
        HashBitwiseXor {
            pairs: spec.pairs.clone(),
        }
    }

    fn step(&self, addr: u32) -> u32 {
        let mut bank = 0;
        for &(a, b) in self.pairs.iter().rev() {
            let second = b.map_or(0, |b| addr >> b);
            bank = (bank << 1) | ((addr >> a ^ second) & 1);
        }
        bank
    }

    fn registers(geometry: Geometry) -> Vec<ConfigRegister> {
        let bits = 2 * bits_for(geometry.addr_bits());
        ConfigRegister::each(geometry.bank_bits(), bits, u64::from)
    }

    /// The first address bit takes the first group that it is in; so does the
    /// second one, unless that group is taken.
    fn outputs(registers: &[u64], geometry: Geometry) -> Ports {
        let lines = select_lines(geometry.addr_bits());
        let index_bits = bits_for(geometry.addr_bits());
        let mut sel = PortValue::zero(registers.len() * lines.len());
        for (i, &register) in registers.iter().enumerate() {
            let first = register as u32 & ((1 << index_bits) - 1);
            let second = register as u32 >> index_bits;
            let line_of = |bit: u32, taken: Option<u32>| {
                let of_bit = || (0..lines.len()).filter(|&l| lines[l].1 == bit);
                let free = of_bit().find(|&l| Some(lines[l].0) != taken);
                free.or_else(|| of_bit().next())
            };
            let first_line = line_of(first, None);
            let taken = first_line.map(|l| lines[l].0);
            let second_line = match second {
                0 => None,
                _ => line_of(second, taken),
            };
            for line in [first_line, second_line].into_iter().flatten() {
                sel.set_bit(i * lines.len() + line, true);
            }
        }
        vec![("cfg_sel", sel)]
    }

    fn bank(registers: &[u64], geometry: Geometry) -> Bank {
        let index_bits = geometry.bit_number_bits();
        let pair = |&register: &u64| {
            let register = register as u32;
            let second = register >> index_bits;
            let first = register & ((1 << index_bits) - 1);
            (first, (second != 0).then_some(second))
        };
        let unit = HashBitwiseXor {
            pairs: registers.iter().map(pair).collect(),
        };
        Box::new(move |addr| unit.step(addr))
    }
}
