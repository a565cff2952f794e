//! The register file of a warp.
//!
//! It is one run of bytes: a predicate is a mask of 4 bytes, any other register
//! 32 lanes of 2, 4 or 8 bytes. Constants and special registers are registers,
//! too, filled when a warp starts.

use crate::names::Type;

/// Size of a register: log2 of its bytes a lane; predicates are masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Width {
    Mask,
    Half,
    Word,
    Double,
}

impl Width {
    /// The width of registers of a type.
    pub fn of(ty: Type) -> Option<Width> {
        Some(match ty.bits() {
            1 => Width::Mask,
            8 | 16 => Width::Half,
            32 => Width::Word,
            64 => Width::Double,
            _ => return None,
        })
    }

    /// Bytes of the file that a register takes.
    pub fn bytes(self) -> u32 {
        match self {
            Width::Mask => 4,
            Width::Half => 64,
            Width::Word => 128,
            Width::Double => 256,
        }
    }

    /// Bits of a lane.
    pub fn bits(self) -> u32 {
        match self {
            Width::Mask => 1,
            width => width.bytes() / 4,
        }
    }
}

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub at: u32,
    pub width: Width,
    /// `!p`
    pub flip: bool,
}

/// The two halves of a value of 128 bits: the lower one first.
pub(super) type Pair = [Slot; 2];

/// The source of an address: nothing is added to its offset, or a register at that place in
/// the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    Constant,
    Word(u32),
    Double(u32),
}

/// The lanes where a predicate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mask {
    at: u32,
    /// Bits that the mask is xored with: all ones for `!p`.
    flip: u32,
}

impl Mask {
    /// Offset of the mask with all lanes; the one with none follows.
    pub const ALL_AT: u32 = 0;
    /// The mask of all lanes.
    pub const ALL: Mask = Mask::new(Mask::ALL_AT, false);

    /// The mask at an offset, or its complement.
    pub const fn new(at: u32, negated: bool) -> Self {
        let flip = if negated { u32::MAX } else { 0 };
        Mask { at, flip }
    }

    /// The mask of the lanes for which a predicate register is true.
    pub const fn of(slot: Slot) -> Self {
        Mask::new(slot.at, slot.flip)
    }
}

/// The register file of a warp, by its begin. Offsets that decoding gives are inside it,
/// aligned to their width; it outlives the steps of the warp.
#[derive(Clone, Copy)]
pub(super) struct Registers(*mut u8);

/// The lanes of a mask, in order.
pub(super) fn active(exec: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |lane| exec >> lane & 1 != 0)
}

impl Registers {
    /// The registers of no warp.
    pub const NONE: Registers = Registers(std::ptr::null_mut());

    /// The file that begins there.
    pub fn new(start: *mut u8) -> Self {
        Registers(start)
    }

    /// The place of a register.
    #[inline(always)]
    pub fn place<T>(self, at: u32) -> *mut T {
        self.0.wrapping_add(at as usize).cast()
    }

    /// The 32 lanes of a register, zero-extended.
    pub fn read(self, slot: Slot) -> [u64; 32] {
        let at = slot.at;
        // SAFETY: decoding gives offsets inside the file, aligned to the
        // width; the file outlives the step of the warp.
        unsafe {
            match slot.width {
                Width::Mask => {
                    let mask = self.lanes(Mask::of(slot));
                    std::array::from_fn(|lane| u64::from(mask >> lane & 1))
                }
                Width::Half => self.place::<[u16; 32]>(at).read().map(u64::from),
                Width::Word => self.place::<[u32; 32]>(at).read().map(u64::from),
                Width::Double => self.place::<[u64; 32]>(at).read(),
            }
        }
    }

    /// Writes the lanes of `exec`, cut to the width.
    pub fn write(self, slot: Slot, exec: u32, values: &[u64; 32]) {
        let lanes = (0..32).filter(|lane| exec >> lane & 1 != 0);
        // SAFETY: as for `read`.
        unsafe {
            let at = self.place::<u8>(slot.at);
            match slot.width {
                Width::Mask => {
                    let bit = |lane: usize| (values[lane] as u32 & 1) << lane;
                    let mask = (0..32).fold(0, |mask, lane| mask | bit(lane));
                    self.set_mask(slot.at, exec, mask);
                }
                Width::Half => lanes.for_each(|l| at.cast::<u16>().add(l).write(values[l] as u16)),
                Width::Word => lanes.for_each(|l| at.cast::<u32>().add(l).write(values[l] as u32)),
                Width::Double => lanes.for_each(|l| at.cast::<u64>().add(l).write(values[l])),
            }
        }
    }

    /// The value of a register in one lane, zero-extended.
    #[inline]
    pub fn read_lane(self, slot: Slot, lane: u32) -> u64 {
        // SAFETY: as for `read`.
        unsafe {
            let (at, l) = (self.place::<u8>(slot.at), lane as usize);
            match slot.width {
                Width::Mask => u64::from(self.lanes(Mask::of(slot)) >> lane & 1),
                Width::Half => u64::from(at.cast::<u16>().add(l).read()),
                Width::Word => u64::from(at.cast::<u32>().add(l).read()),
                Width::Double => at.cast::<u64>().add(l).read(),
            }
        }
    }

    /// Writes one lane, cut to the width.
    #[inline]
    pub fn write_lane(self, slot: Slot, lane: u32, value: u64) {
        // SAFETY: as for `read`.
        unsafe {
            let (at, l) = (self.place::<u8>(slot.at), lane as usize);
            match slot.width {
                Width::Mask => self.set_mask(slot.at, 1 << lane, (value as u32 & 1) << lane),
                Width::Half => at.cast::<u16>().add(l).write(value as u16),
                Width::Word => at.cast::<u32>().add(l).write(value as u32),
                Width::Double => at.cast::<u64>().add(l).write(value),
            }
        }
    }

    /// The lanes where a predicate holds.
    #[inline(always)]
    pub fn lanes(self, mask: Mask) -> u32 {
        // SAFETY: as for `read`.
        unsafe { self.place::<u32>(mask.at).read() ^ mask.flip }
    }

    /// Writes the lanes of `exec` of a predicate.
    #[inline(always)]
    pub fn set_mask(self, at: u32, exec: u32, value: u32) {
        // SAFETY: as for `read`.
        unsafe {
            let mask = self.place::<u32>(at);
            mask.write(mask.read() & !exec | value & exec);
        }
    }

    /// Whether a word is the same in all lanes.
    #[inline(always)]
    pub fn are_all(self, at: u32, value: u32) -> bool {
        // SAFETY: as for `read`.
        let words = unsafe { self.place::<[u32; 32]>(at).read() };
        words.iter().fold(0, |all, word| all | (word ^ value)) == 0
    }

    /// The word of one lane.
    #[inline(always)]
    pub fn word(self, at: u32, lane: u32) -> u32 {
        // SAFETY: as for `read`.
        unsafe { self.place::<u32>(at).add(lane as usize).read() }
    }
}
