//! Instruction kinds at the issue port and the offers of the warps
//! (microarchitecture/parameters.md).

use super::lanes::{WarpMask, warp_bit};
use super::spad_scratchpad::op;

pub use spadkit_hdl::codes::kind::{ALU, ATOMIC, GLOBAL, LDLK, LOAD, RELSSP, STORE, STUL};

/// The kind goes through the memory stages in every pipeline.
pub fn is_mem(kind: u8) -> bool {
    kind != ALU && kind != RELSSP
}

/// The kind accesses the scratchpad.
pub fn is_shared(kind: u8) -> bool {
    (LOAD..=ATOMIC).contains(&kind)
}

/// The conflict history predicts the kind.
pub fn is_predicted(kind: u8) -> bool {
    (LOAD..=STUL).contains(&kind)
}

/// The kind takes or clears locks, by itself or through the sequencer.
pub(super) fn locks(kind: u8) -> bool {
    matches!(kind, LDLK | STUL | ATOMIC)
}

/// The scratchpad operation of a kind that the sequencer does not take.
pub(super) fn operation(kind: u8) -> u8 {
    match kind {
        ALU | GLOBAL | RELSSP => op::PASS,
        LOAD..=STUL => kind,
        _ => op::UNSUPPORTED,
    }
}

/// Passes of one instruction of `kind` that moves `words` (0, 1, 2: 1, 2, 4
/// words per lane; 3 is taken as 0).
pub(super) fn passes(kind: u8, words: u8, subwarps: u32) -> u32 {
    match (kind, words) {
        (LOAD | STORE, 1) => 2 * subwarps,
        (LOAD | STORE, 2) => 4 * subwarps,
        _ => subwarps,
    }
}

/// The instruction that a warp offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Kind, 0 to 15.
    pub kind: u8,
    /// 0, 1, 2: 1, 2, 4 words per lane; 3 is taken as 0.
    pub words: u8,
    /// Destination tag.
    pub tag: u8,
    /// Program counter.
    pub pc: u16,
    /// Highest block-relative word address of the access.
    pub hi: u16,
}

/// The offers of all warps, and their kinds as masks. Update only what changes;
/// the rest is kept from cycle to cycle.
#[derive(Clone, Debug)]
pub struct Offers {
    pub(super) valid: WarpMask,
    pub(super) mem: WarpMask,
    pub(super) shared: WarpMask,
    pub(super) atomic: WarpMask,
    pub(super) relssp: WarpMask,
    pub(super) hi: Vec<u16>,
    list: Vec<Offer>,
}

impl Offers {
    /// No warp offers anything.
    pub fn none(warps: usize) -> Self {
        Offers {
            valid: 0,
            mem: 0,
            shared: 0,
            atomic: 0,
            relssp: 0,
            hi: vec![0; warps],
            list: vec![Offer::default(); warps],
        }
    }

    /// Sets the offer of `warp`.
    pub fn set(&mut self, warp: usize, offer: Option<Offer>) {
        let bit = warp_bit(warp);
        if self.valid & bit != 0 {
            self.valid &= !bit;
            self.mem &= !bit;
            self.shared &= !bit;
            self.atomic &= !bit;
            self.relssp &= !bit;
            (self.list[warp], self.hi[warp]) = (Offer::default(), 0);
        }
        let Some(offer) = offer else { return };
        (self.list[warp], self.hi[warp]) = (offer, offer.hi);
        self.valid |= bit;
        if is_mem(offer.kind) {
            self.mem |= bit;
        }
        if is_shared(offer.kind) {
            self.shared |= bit;
        }
        match offer.kind {
            ATOMIC => self.atomic |= bit,
            RELSSP => self.relssp |= bit,
            _ => {}
        }
    }

    /// The offer of `warp`.
    pub fn get(&self, warp: usize) -> Option<Offer> {
        (self.valid & warp_bit(warp) != 0).then(|| self.list[warp])
    }

    /// Warps that offer an instruction.
    pub fn valid(&self) -> WarpMask {
        self.valid
    }

    pub(super) fn at(&self, warp: usize) -> Offer {
        self.list[warp]
    }
}
