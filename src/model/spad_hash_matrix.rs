//! `spad_hash_matrix`: any matrix over GF(2).

/// Bank bit i = parity of `addr & rows[i]`.
#[derive(Clone, Debug)]
pub struct HashMatrix {
    /// The mask of address bits of each bank bit, bank bit 0 first.
    pub rows: Vec<u32>,
}

impl HashMatrix {
    /// The bank of word address `addr`.
    pub fn step(&self, addr: u32) -> u32 {
        let mut bank = 0;
        for row in self.rows.iter().rev() {
            bank = (bank << 1) | ((addr & row).count_ones() % 2);
        }
        bank
    }
}
