//! Memory of the reference interpreter.

use super::thread::Fault;

/// A buffer in global memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its address.
    pub base: u64,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Global memory: buffers, anywhere.
#[derive(Clone, Debug, Default)]
pub struct GlobalMemory {
    /// The buffers.
    pub buffers: Vec<Buffer>,
}

impl GlobalMemory {
    /// Adds a buffer; returns its address.
    pub fn add(&mut self, bytes: Vec<u8>) -> u64 {
        let last = self.buffers.last();
        let after = last.map_or(0x1_0000_0000, |b| b.base + b.bytes.len() as u64);
        let base = (after + 0x1_0000) & !0xfff;
        self.buffers.push(Buffer { base, bytes });
        base
    }

    pub(super) fn bytes(&mut self, address: u64, count: u64) -> Result<&mut [u8], Fault> {
        for buffer in &mut self.buffers {
            let size = buffer.bytes.len() as u64;
            if address >= buffer.base && address + count <= buffer.base + size {
                let from = (address - buffer.base) as usize;
                return Ok(&mut buffer.bytes[from..from + count as usize]);
            }
        }
        Err(Fault(format!("no buffer at {address:#x}")))
    }
}

/// Bytes `address..address + count` of an area.
pub(super) fn part(area: &mut [u8], address: u64, count: u64) -> Result<&mut [u8], Fault> {
    let size = area.len();
    let end = address.checked_add(count);
    let end = end.filter(|&end| end <= size as u64);
    let end = end.ok_or_else(|| Fault(format!("byte {address} of {size}")))?;
    Ok(&mut area[address as usize..end as usize])
}

/// A little-endian number.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}

/// The low bytes of a number.
pub(super) fn write(bytes: &mut [u8], value: u64) {
    let count = bytes.len();
    bytes.copy_from_slice(&value.to_le_bytes()[..count]);
}
