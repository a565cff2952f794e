//! `spad_hash_bitvec_xor`: two windows of address bits (hash paper, section 4.2).

use crate::geometry::Geometry;

/// Bank = addr[k1..k1+m) ^ (addr[k2..k2+m) & mask).
#[derive(Clone, Debug)]
pub struct HashBitvecXor {
    /// Address and bank bits.
    pub geometry: Geometry,
    /// First address bit of the first window, 0..=n-m.
    pub k1: u32,
    /// First address bit of the second window, 0..n.
    pub k2: u32,
    /// Which bank bits the second window enters.
    pub mask: u32,
}

impl HashBitvecXor {
    /// The bank of word address `addr`.
    pub fn step(&self, addr: u32) -> u32 {
        let addr = addr & self.geometry.addr_mask();
        ((addr >> self.k1) ^ ((addr >> self.k2) & self.mask)) & self.geometry.bank_mask()
    }
}
