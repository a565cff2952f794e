//! `spad_hash_bitwise_xor`: one address bit or the XOR of two per bank bit
//! (hash paper, section 4.4).

/// Bank bit i = `addr[a] ^ addr[b]`, or `addr[a]` alone.
#[derive(Clone, Debug)]
pub struct HashBitwiseXor {
    /// The one or two address bits of each bank bit, bank bit 0 first.
    pub pairs: Vec<(u32, Option<u32>)>,
}

impl HashBitwiseXor {
    /// The bank of word address `addr`.
    pub fn step(&self, addr: u32) -> u32 {
        let mut bank = 0;
        for &(a, b) in self.pairs.iter().rev() {
            let second = b.map_or(0, |b| addr >> b);
            bank = (bank << 1) | ((addr >> a ^ second) & 1);
        }
        bank
    }
}
