//! The pass in EXE and its operands.

use super::Sm;
use super::values::Values;
use crate::config::Config;
use crate::model::spad_sm_path::{Issue, NO_OPERANDS, Operands};
use crate::sm::instr::{Instr, InstrKind};
use crate::sm::layout::Layout;
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
        self.values.enter_exe();
        let phases = self.has_phases();
        let forming = Forming {
            config: &self.config,
            layout: &self.layout,
        };
        let exe = &mut self.exe;
        let Some((part, at)) = exe.instr.take() else {
            return;
        };
        let instr = &part[at];
        let pass = u32::from(issue.pass);
        match phases && instr.kind.is_shared() && exe.words > 1 {
            true => forming.phase(exe, instr, pass),
            false => forming.words(exe, instr, pass),
        }
        self.lane_words.separate(instr, exe.mask, &mut exe.addr);
        exe.instr = Some((part, at));
    }
}

/// What the operands of a pass follow from, beside the instruction.
struct Forming<'a> {
    config: &'a Config,
    layout: &'a Layout,
}

impl Forming<'_> {
    /// One word of each lane of a subwarp.
    fn words(&self, exe: &mut PassInExe, instr: &Instr, pass: u32) {
        let lanes = self.config.lanes;
        let (sub, word) = (pass / exe.words, pass % exe.words);
        let first = sub * lanes;
        exe.occupied = true;
        exe.mask = exe.active >> first & crate::sm::instr::full_mask(lanes);
        exe.atomic = instr.kind == InstrKind::AtomShared;
        exe.aop = if exe.atomic { instr.sub } else { 0 };
        if !instr.kind.is_shared() {
            return;
        }
        let mut rest = exe.mask;
        while rest != 0 {
            let lane = rest.trailing_zeros();
            rest &= rest - 1;
            self.place(exe, instr, lane, (first + lane, word));
        }
    }

    /// All words of the lanes of a phase.
    fn phase(&self, exe: &mut PassInExe, instr: &Instr, pass: u32) {
        exe.occupied = true;
        exe.mask = 0;
        (exe.atomic, exe.aop) = (false, 0);
        let first = pass * (self.config.lanes / exe.words);
        for place in 0..self.config.lanes {
            let (lane, word) = (first + place / exe.words, place % exe.words);
            if exe.active >> lane & 1 == 1 {
                exe.mask |= 1 << place;
                self.place(exe, instr, place, (lane, word));
            }
        }
    }

    /// Address and byte enables at `place` of the pass: of word `word` of lane
    /// `lane` of the warp.
    fn place(&self, exe: &mut PassInExe, instr: &Instr, place: u32, (lane, word): (u32, u32)) {
        let word_bytes = u64::from(self.config.word_bytes());
        // Words have 4 or 8 bytes.
        let word_shift = word_bytes.trailing_zeros();
        let narrow = u64::from(instr.bytes) < word_bytes;
        let enables = ((1u32 << u64::from(instr.bytes).min(word_bytes)) - 1) as u8;
        let byte = instr.addrs.of(lane as usize);
        let relative = (byte >> word_shift) as u32 + word;
        exe.addr[place as usize] = self.layout.physical(exe.slot, relative) as u16;
        let shift = if narrow { byte & (word_bytes - 1) } else { 0 };
        exe.be[place as usize] = enables << shift;
    }
}
