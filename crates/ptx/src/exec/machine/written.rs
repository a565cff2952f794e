//! Which private registers and local-memory bytes the threads of a warp have written.

/// What a warp has written, where that is not clear from the code.
#[derive(Debug, Default)]
pub struct Written {
    /// Lanes that have written each of the image's unsure registers.
    pub registers: Vec<u32>,
    /// Bytes of local memory, lanes one after the other.
    pub local: Vec<bool>,
    /// Of each copied register and lane the bytes that came from local memory unwritten, as
    /// bits.
    pub copied: Vec<[u8; 32]>,
}

impl Written {
    pub fn new(registers: usize, local: usize, copied: usize) -> Self {
        Written {
            registers: vec![0; registers],
            local: vec![false; 32 * local],
            copied: vec![[0; 32]; copied],
        }
    }

    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        self.registers.fill(0);
        self.local.fill(false);
        self.copied.fill([0; 32]);
    }
}
