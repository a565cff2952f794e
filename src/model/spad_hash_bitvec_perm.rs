//! `spad_hash_bitvec_perm`: m consecutive address bits (hash paper, section 4.1).

use crate::geometry::Geometry;

/// Bank = addr[k..k+m).
#[derive(Clone, Debug)]
pub struct HashBitvecPerm {
    /// Address and bank bits.
    pub geometry: Geometry,
    /// First address bit, 0..=n-m.
    pub k: u32,
}

impl HashBitvecPerm {
    /// The bank of word address `addr`.
    pub fn step(&self, addr: u32) -> u32 {
        (addr >> self.k) & self.geometry.bank_mask()
    }
}
