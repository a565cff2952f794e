//! Private registers and bytes of local memory that the threads of a warp have written.

use crate::exec::image::followed::{Carried, CarriedPart};
use crate::exec::registers::{Registers, active};

/// A byte of shared memory that nobody has written.
pub const NEVER: u8 = 0;
/// Written by somebody.
pub const WRITTEN: u8 = 1;
/// Unwritten, read and already reported.
pub const READ: u8 = 2;

/// Whether all bytes of shared memory are written.
pub fn all_written(bytes: &[u8]) -> bool {
    // No branch for each byte: it is asked at each barrier.
    let is_whole = |part: &[u8]| part.iter().fold(0, |all, b| all | (b ^ WRITTEN)) == 0;
    bytes.chunks(64).all(is_whole)
}

/// Bytes of shared memory are accessed: the first one that is read, and that nobody may have
/// written, if that was not told yet, counted from the begin.
pub fn access(bytes: &mut [u8], (reads, writes): (bool, bool)) -> Option<usize> {
    let missing = bytes.iter().position(|&b| b == NEVER).filter(|_| reads);
    if writes {
        bytes.fill(WRITTEN);
    } else if missing.is_some() {
        let never = bytes.iter_mut().filter(|b| **b == NEVER);
        never.for_each(|b| *b = READ);
    }
    missing
}

/// Registers and bytes that a warp has written, where that is not clear from the code.
#[derive(Debug, Default)]
pub struct Written {
    /// By followed register of the image, the bytes that are not written.
    pub registers: Vec<Missing>,
    /// Bytes of local memory, lanes one after the other.
    pub local: Vec<bool>,
}

/// The bytes of a register that nobody has written.
#[derive(Clone, Debug)]
pub struct Missing {
    /// Lanes of which no byte is missing.
    whole: u32,
    /// By other lane, the missing bytes as bits.
    bytes: [u8; 32],
}

impl Missing {
    /// A register that nobody has written.
    const ALL: Missing = Missing {
        whole: 0,
        bytes: [u8::MAX; 32],
    };

    /// The bytes that a lane lacks.
    pub fn of(&self, lane: u32) -> u8 {
        match self.whole >> lane & 1 {
            0 => self.bytes[lane as usize],
            _ => 0,
        }
    }

    /// Sets the bytes that a lane lacks from now on.
    pub fn set(&mut self, lane: u32, bytes: u8) {
        self.bytes[lane as usize] = bytes;
        self.whole = self.whole & !(1 << lane) | u32::from(bytes == 0) << lane;
    }

    /// Lanes write all bytes.
    pub fn fill(&mut self, lanes: u32) {
        self.whole |= lanes;
    }

    /// The lanes that lack one of the bytes.
    pub fn lanes(&self, lanes: u32, bytes: u8) -> u32 {
        let lanes = lanes & !self.whole;
        let lacks = |lane: &u32| self.bytes[*lane as usize] & bytes != 0;
        active(lanes)
            .filter(lacks)
            .fold(0, |all, lane| all | 1 << lane)
    }
}

impl Written {
    pub fn new(registers: usize, local: usize) -> Self {
        Written {
            registers: vec![Missing::ALL; registers],
            local: vec![false; 32 * local],
        }
    }

    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        self.registers.fill(Missing::ALL);
        self.local.fill(false);
    }

    /// Lanes carry into a register what is in others: it lacks what they lack.
    pub fn carry(&mut self, carried: &Carried, file: Registers, exec: u32) {
        let lacking = carried.parts.iter().map(|part| {
            let lanes = exec & file.lanes(part.when);
            self.registers[part.from as usize].lanes(lanes, part.keep)
        });
        let lacking = lacking.fold(0, |all, lanes| all | lanes);
        for lane in active(lacking) {
            let parts = carried.parts.iter();
            let parts = parts.filter(|part| file.lanes(part.when) >> lane & 1 != 0);
            let bytes = parts.map(|p| moved(p, self.registers[p.from as usize].of(lane)));
            let bytes = bytes.fold(0, |all, bytes| all | bytes);
            self.registers[carried.to as usize].set(lane, bytes);
        }
        self.registers[carried.to as usize].fill(exec & !lacking);
    }
}

/// The bytes of the target that are missing if `missing` bytes of the source are.
fn moved(part: &CarriedPart, missing: u8) -> u8 {
    let bytes = missing & part.keep;
    let bytes = if part.up < 0 {
        bytes >> -part.up
    } else {
        bytes << part.up
    };
    let sign = part.keep ^ part.keep >> 1;
    if part.spreads && bytes & sign != 0 {
        bytes | !part.keep
    } else {
        bytes
    }
}
