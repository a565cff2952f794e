//! `spad_hash_bitwise_perm`: one address bit per bank bit (hash paper, section 4.3).

/// Bank bit i = `addr[bits[i]]`.
#[derive(Clone, Debug)]
pub struct HashBitwisePerm {
    /// Address bit of each bank bit, bank bit 0 first.
    pub bits: Vec<u32>,
}

impl HashBitwisePerm {
    /// The bank of word address `addr`.
    pub fn step(&self, addr: u32) -> u32 {
        let mut bank = 0;
        for &bit in self.bits.iter().rev() {
            bank = (bank << 1) | (addr >> bit & 1);
        }
        bank
    }
}
