//! The pass in EXE and its operands.

use super::Sm;
use super::values::Values;
use crate::model::spad_sm_path::{Issue, NO_OPERANDS, Operands};
use crate::sm::instr::{Instr, InstrKind};
use std::sync::Arc;

/// The pass in EXE, with its operands.
pub(super) struct PassInExe {
    /// The program and the place of the instruction, as long as passes remain.
    instr: Option<(Arc<[Instr]>, usize)>,
    /// Its active lanes.
    active: u64,
    slot: usize,
    words: u32,
    occupied: bool,
    mask: u64,
    aop: u8,
    atomic: bool,
    addr: [u16; 64],
    be: [u8; 64],
}

impl Default for PassInExe {
    fn default() -> Self {
        PassInExe {
            instr: None,
            active: 0,
            slot: 0,
            words: 1,
            occupied: false,
            mask: 0,
            aop: 0,
            atomic: false,
            addr: [0; 64],
            be: [0; 64],
        }
    }
}

impl PassInExe {
    /// The operands as the path takes them.
    pub(super) fn operands<'a>(&'a self, values: &'a Values) -> Operands<'a> {
        if !self.occupied {
            return NO_OPERANDS;
        }
        Operands {
            mask: self.mask,
            addr: &self.addr,
            data: values.in_exe(self.atomic),
            be: &self.be,
            aop: self.aop,
        }
    }

    /// EXE is empty in the next cycle.
    pub(super) fn leave(&mut self) {
        self.occupied = false;
    }
}

impl Sm<'_> {
    /// The warp's next instruction enters EXE with its first pass.
    pub(super) fn enter_exe(&mut self, w: usize, active: u64) {
        let warp = &self.warps[w];
        self.exe.instr = warp.place();
        self.exe.active = active;
        self.exe.slot = warp.slot;
        if let Some(instr) = warp.next() {
            self.exe.words = self.words(instr);
        }
    }

    /// A pass enters EXE: its operands for the next cycle.
    pub(super) fn form_operands(&mut self, issue: &Issue) {
        let lanes = self.config.lanes;
        self.values.enter_exe();
        let word_bytes = u64::from(self.config.word_bytes());
        // Words have 4 or 8 bytes.
        let word_shift = word_bytes.trailing_zeros();
        let exe = &mut self.exe;
        let Some((part, at)) = &exe.instr else {
            return;
        };
        let instr = &part[*at];
        let (sub, word) = (
            u32::from(issue.pass) / exe.words,
            u32::from(issue.pass) % exe.words,
        );
        let first = (sub * lanes) as usize;
        exe.occupied = true;
        exe.mask = exe.active >> first & crate::sm::instr::full_mask(lanes);
        exe.atomic = instr.kind == InstrKind::AtomShared;
        exe.aop = if exe.atomic { instr.sub } else { 0 };
        if !instr.kind.is_shared() {
            return;
        }
        let narrow = u64::from(instr.bytes) < word_bytes;
        let enables = ((1u32 << u64::from(instr.bytes).min(word_bytes)) - 1) as u8;
        let mut rest = exe.mask;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let byte = instr.addrs.of(first + lane);
            let relative = (byte >> word_shift) as u32 + word;
            exe.addr[lane] = self.layout.physical(exe.slot, relative) as u16;
            let shift = if narrow { byte & (word_bytes - 1) } else { 0 };
            exe.be[lane] = enables << shift;
        }
    }
}
