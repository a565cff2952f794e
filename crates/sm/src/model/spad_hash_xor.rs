//! `spad_hash_xor`: the fixed XOR hash (atomics paper, section 4).

use spadkit_mapping::geometry::Geometry;

/// Bank = addr[0..m) ^ addr[m..2m).
#[derive(Clone, Debug)]
pub struct HashXor {
    /// Address and bank bits.
    pub geometry: Geometry,
}

impl HashXor {
    /// The bank of word address `addr`.
    pub fn step(&self, addr: u32) -> u32 {
        let m = self.geometry.bank_bits();
        let addr = addr % (1 << self.geometry.addr_bits());
        (addr ^ (addr >> m)) % (1 << m)
    }
}
