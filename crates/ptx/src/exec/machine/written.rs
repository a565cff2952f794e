//! Which private registers and local-memory bytes the threads of a warp have written.

/// What a warp has written, where that is not clear from the code.
#[derive(Debug, Default)]
pub struct Written {
    /// Lanes that have written each of the image's unsure registers.
    pub registers: Vec<u32>,
    /// Bytes of local memory, lanes one after the other.
    pub local: Vec<bool>,
}

impl Written {
    pub fn new(registers: usize, local: usize) -> Self {
        Written {
            registers: vec![0; registers],
            local: vec![false; 32 * local],
        }
    }

    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        self.registers.fill(0);
        self.local.fill(false);
    }
}
