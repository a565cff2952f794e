//! Passes on their way through the SM path. Stages and queues move handles;
//! the lanes' words stay in their slot of a pool from EX to the writeback
//! port (microarchitecture/pipelines.md).

use super::lanes::{LaneMask, MAX_LANES, copy_active};

/// The identity of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassControl {
    /// The warp.
    pub warp: u8,
    /// Kind of the instruction.
    pub kind: u8,
    /// Destination tag.
    pub tag: u8,
    /// Program counter.
    pub pc: u16,
    /// Number of the pass in the instruction.
    pub pass: u16,
    /// The instruction's last pass.
    pub last: bool,
}

/// A pass on its way to the memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// The pass's warp, kind, tag and program counter.
    pub control: PassControl,
    /// Slot of its operands.
    pub slot: u8,
}

/// A pass on its way to the writeback port: the payload of
/// microarchitecture/writeback-mux.md.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassResult {
    /// The pass's warp, kind, tag and program counter.
    pub control: PassControl,
    /// Slot of its data.
    pub slot: u8,
    /// Active lanes.
    pub mask: LaneMask,
    /// LDLK: lanes that took their lock.
    pub success: LaneMask,
    /// Unsupported, or beyond the capacity.
    pub error: bool,
    /// Conflict degree.
    pub degree: u32,
}

impl PassResult {
    /// The result of a pass that writes back its operands.
    pub fn of_operands(pass: Pass, mask: LaneMask) -> Self {
        PassResult {
            control: pass.control,
            slot: pass.slot,
            mask,
            ..PassResult::default()
        }
    }
}

/// The tag that returns with a scratchpad response (microarchitecture/memory-entry.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessTag {
    /// The pass.
    pub pass: Pass,
    /// Source bit: an LDLK or STUL of the retry sequencer.
    pub sequencer: bool,
    /// Context of the pass.
    pub context: u8,
    /// Final PASS of an atomic: it failed.
    pub error: bool,
    /// Final PASS of an atomic: degree of its first read.
    pub degree: u32,
}

/// Operands, later the data, of one pass.
#[derive(Clone, Debug)]
pub struct PassData {
    /// Active lanes.
    pub mask: LaneMask,
    /// Atomic operation.
    pub aop: u8,
    /// Bank of each lane.
    pub bank: [u8; MAX_LANES],
    /// Row of each lane.
    pub row: [u16; MAX_LANES],
    /// Lock index of each lane.
    pub lock: [u16; MAX_LANES],
    /// Byte enables of each lane.
    pub be: [u8; MAX_LANES],
    /// Operand or result of each lane.
    pub data: [u64; MAX_LANES],
}

impl PassData {
    /// Data that are all zero.
    pub const EMPTY: PassData = PassData {
        mask: 0,
        aop: 0,
        bank: [0; MAX_LANES],
        row: [0; MAX_LANES],
        lock: [0; MAX_LANES],
        be: [0; MAX_LANES],
        data: [0; MAX_LANES],
    };

    /// Data of the lanes in `mask`, of `lanes` in all; the others are zero.
    pub fn set_data(&mut self, mask: LaneMask, data: &[u64], lanes: usize) {
        self.mask = mask;
        copy_active(mask, data, &mut self.data, lanes);
    }
}

/// Slots, the free ones in a stack. It grows to as many as are ever in use.
#[derive(Clone, Debug, Default)]
pub struct PassPool {
    slots: Vec<PassData>,
    free: Vec<u8>,
}

impl PassPool {
    /// Takes a slot; its contents are what was left in it.
    pub fn take(&mut self) -> u8 {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(PassData::EMPTY);
            (self.slots.len() - 1) as u8
        })
    }

    /// Gives a slot back.
    pub fn give(&mut self, slot: u8) {
        self.free.push(slot);
    }

    /// Gives all slots back but `kept`.
    pub fn give_all_but(&mut self, kept: Option<u8>) {
        let all = 0..self.slots.len() as u8;
        self.free.clear();
        self.free.extend(all.filter(|&slot| kept != Some(slot)));
    }

    /// A slot in use.
    pub fn at(&self, slot: u8) -> &PassData {
        &self.slots[usize::from(slot)]
    }

    /// A slot in use, to be written.
    pub fn at_mut(&mut self, slot: u8) -> &mut PassData {
        &mut self.slots[usize::from(slot)]
    }

    /// Slots in use.
    #[cfg(test)]
    pub(super) fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
