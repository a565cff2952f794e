//! `spad_hash_add`: the fixed ADD hash (atomics paper, section 4).

use spadkit_mapping::geometry::Geometry;

/// Bank = (addr[0..m) + addr[m..2m)) mod 2^m.
#[derive(Clone, Debug)]
pub struct HashAdd {
    /// Address and bank bits.
    pub geometry: Geometry,
}

impl HashAdd {
    /// The bank of word address `addr`.
    pub fn step(&self, addr: u32) -> u32 {
        let m = self.geometry.bank_bits();
        let low = addr % (1 << m);
        let next = (addr % (1 << self.geometry.addr_bits())) >> m;
        (low + next) % (1 << m)
    }
}
