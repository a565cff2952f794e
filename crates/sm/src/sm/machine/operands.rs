//! The pass in EX and its operands.

use super::Sm;
use super::phases::LaneWords;
use super::values::Values;
use crate::config::Config;
use crate::model::spad_sm_path::{Issue, NO_OPERANDS, Operands as PortOperands};
use crate::sm::instr::{Addresses, Detail, INCREMENT, Instr, InstrKind, full_mask};
use crate::sm::layout::SlotWords;
use spadkit_mapping::hash::Mapping;
use std::sync::Arc;

/// The path's operand port, and the source of its operands.
pub(super) struct Operands {
    /// The pass in EX.
    pub exe: PassInExe,
    /// Data of programs that carry addresses alone.
    pub values: Values,
    lane_words: LaneWords,
}

impl Operands {
    /// For a machine with the bank mapping `mapping`; EX is empty.
    pub fn new(config: &Config, mapping: Mapping) -> Self {
        Operands {
            exe: PassInExe::default(),
            values: Values::default(),
            lane_words: LaneWords::new(config, mapping),
        }
    }

    /// Changes the bank mapping.
    pub fn set_mapping(&mut self, config: &Config, mapping: Mapping) {
        self.lane_words = LaneWords::new(config, mapping);
    }

    /// The operands as the path takes them.
    pub fn shown(&self) -> PortOperands<'_> {
        self.exe.operands(&self.values)
    }

    /// A pass of `instr` enters EX.
    fn enter(&mut self, config: &Config, instr: &Instr, pass: u32) {
        self.values.enter_ex();
        self.exe.form(config, instr, pass);
        self.lane_words
            .separate(instr, self.exe.mask, &mut self.exe.addr);
    }
}

/// The pass in EX, with its operands.
pub(super) struct PassInExe {
    /// The program and the index of the instruction in it, if more passes follow.
    instr: Option<(Arc<[Instr]>, usize)>,
    pc: u32,
    /// Active lanes of the pass.
    active: u64,
    /// The word that all lanes load, of what is no access.
    claim: Option<u32>,
    /// The physical words of its block.
    words_of_block: SlotWords,
    /// Words per lane.
    words: u32,
    /// Passes of a subwarp: as many as words, or half of them.
    passes: u32,
    occupied: bool,
    mask: u64,
    aop: u8,
    atomic: bool,
    /// Byte addresses of its lanes.
    bytes: [u64; 64],
    addr: [u16; 64],
    be: [u8; 64],
}

impl Default for PassInExe {
    fn default() -> Self {
        PassInExe {
            instr: None,
            pc: 0,
            active: 0,
            claim: None,
            words_of_block: SlotWords::default(),
            words: 1,
            passes: 1,
            occupied: false,
            mask: 0,
            aop: 0,
            atomic: false,
            bytes: [0; 64],
            addr: [0; 64],
            be: [0; 64],
        }
    }
}

impl PassInExe {
    /// The operands as the path takes them.
    fn operands<'a>(&'a self, values: &'a Values) -> PortOperands<'a> {
        if !self.occupied {
            return NO_OPERANDS;
        }
        PortOperands {
            mask: self.mask,
            addr: &self.addr,
            data: values.in_ex(self.atomic),
            be: &self.be,
            aop: self.aop,
        }
    }

    /// Program counter of the instruction that entered EX last.
    pub(super) fn pc(&self) -> u32 {
        self.pc
    }

    /// EX is empty in the next cycle.
    pub(super) fn leave(&mut self) {
        self.occupied = false;
    }
}

impl Sm<'_> {
    /// The warp's next instruction enters EX with its first pass.
    pub(super) fn enter_ex(&mut self, issue: Issue, active: u64) {
        let warp = &self.warps[issue.warp];
        let Some(instr) = warp.next() else {
            return;
        };
        let (words, passes) = (self.words(instr), self.passes(instr, active));
        let claim = self.claim(issue.warp, instr);
        let exe = &mut self.operands.exe;
        (exe.pc, exe.active, exe.claim) = (instr.pc, active, claim);
        exe.words_of_block = self.layout.words_of(warp.slot);
        (exe.words, exe.passes) = (words, passes);
        self.operands.enter(&self.config, instr, 0);
        self.operands.exe.instr = if issue.last { None } else { warp.place() };
    }

    /// A later pass of the instruction enters EX.
    pub(super) fn go_on_in_ex(&mut self, issue: Issue) {
        let Some((part, at)) = self.operands.exe.instr.take() else {
            return;
        };
        self.operands
            .enter(&self.config, &part[at], issue.pass.into());
        if !issue.last {
            self.operands.exe.instr = Some((part, at));
        }
    }
}

impl PassInExe {
    /// The operands of a pass.
    fn form(&mut self, config: &Config, instr: &Instr, pass: u32) {
        self.occupied = true;
        self.atomic = instr.kind == InstrKind::AtomShared;
        self.aop = match instr.detail {
            Detail::Atomic(operation) if operation < INCREMENT => operation,
            _ => 0,
        };
        let phases = config.wide.in_phases();
        if phases && instr.kind.is_shared() && self.words > 1 {
            self.phase(config, instr, pass)
        } else {
            self.one_word_each(config, instr, pass)
        }
    }

    /// Takes one word of each lane of a subwarp.
    fn one_word_each(&mut self, config: &Config, instr: &Instr, pass: u32) {
        let lanes = config.lanes;
        let (sub, word) = (pass / self.words, pass % self.words);
        let first = sub * lanes;
        self.mask = self.active >> first & full_mask(lanes);
        if let Some(word) = self.claim {
            let word = self.words_of_block.physical(word) as u16;
            self.addr[..lanes as usize].fill(word);
            return;
        }
        if !instr.kind.is_shared() {
            return;
        }
        // Inactive lanes are filled, too, because nothing reads them.
        let lanes = lanes as usize;
        if self.form_line(config, instr, (first, word)) {
            return;
        }
        instr.addrs.write(first as usize, &mut self.bytes[..lanes]);
        let shift = word_shift(config);
        for (addr, byte) in self.addr.iter_mut().zip(&self.bytes[..lanes]) {
            let relative = ((byte >> shift) as u32).wrapping_add(word);
            *addr = self.words_of_block.physical(relative) as u16;
        }
        self.enable_bytes(config, instr);
    }

    /// Fills whole words of consecutive lanes, from lane `first` on; returns whether
    /// the access has that form.
    fn form_line(&mut self, config: &Config, instr: &Instr, (first, word): (u32, u32)) -> bool {
        let (bytes, lanes) = (config.word_bytes(), config.lanes as usize);
        let Addresses::Affine { stride, .. } = instr.addrs else {
            return false;
        };
        let whole = u32::from(instr.bytes) >= bytes && stride % i64::from(bytes) == 0;
        if !whole || !self.words_of_block.is_contiguous() {
            return false;
        }
        let byte = instr.addrs.of(first as usize);
        let relative = ((byte >> word_shift(config)) as u32).wrapping_add(word);
        let mut word = self.words_of_block.physical(relative) as u16;
        for addr in &mut self.addr[..lanes] {
            *addr = word;
            word = word.wrapping_add((stride >> word_shift(config)) as u16);
        }
        self.enable_bytes(config, instr);
        true
    }

    /// Takes all words of the lanes of a phase.
    fn phase(&mut self, config: &Config, instr: &Instr, pass: u32) {
        if self.passes < self.words {
            return self.merged_phase(config, instr, pass);
        }
        let words = self.words as usize;
        let lanes = config.lanes as usize / words;
        let first = pass as usize * lanes;
        instr.addrs.write(first, &mut self.bytes[..lanes]);
        let shift = word_shift(config);
        self.mask = 0;
        for (place, addr) in self.addr[..lanes * words].iter_mut().enumerate() {
            let (lane, word) = (place / words, place % words);
            self.mask |= (self.active >> (first + lane) & 1) << place;
            let relative = ((self.bytes[lane] >> shift) as u32).wrapping_add(word as u32);
            *addr = self.words_of_block.physical(relative) as u16;
        }
        self.enable_bytes(config, instr);
    }

    /// Takes all words of two phases in one, if their lanes agree in pairs: one
    /// lane of each pair represents both.
    fn merged_phase(&mut self, config: &Config, instr: &Instr, pass: u32) {
        let words = self.words as usize;
        let lanes = config.lanes as usize / self.passes as usize;
        let first = pass as usize * lanes;
        let address = |lane: usize| {
            let lane = first + lane;
            (self.active >> lane & 1 == 1).then(|| instr.addrs.of(lane))
        };
        let mut different: Vec<u64> = (0..lanes).filter_map(address).collect();
        different.sort_unstable();
        different.dedup();
        let shift = word_shift(config);
        self.mask = 0;
        let places = different
            .iter()
            .flat_map(|byte| (0..words as u32).map(move |w| (byte, w)));
        for (place, (byte, word)) in places.enumerate() {
            self.mask |= 1 << place;
            let relative = ((byte >> shift) as u32).wrapping_add(word);
            self.addr[place] = self.words_of_block.physical(relative) as u16;
        }
        self.enable_bytes(config, instr);
    }

    /// The bytes that a store writes: of a word, or a part of it.
    fn enable_bytes(&mut self, config: &Config, instr: &Instr) {
        let word_bytes = u64::from(config.word_bytes());
        let bytes = u64::from(instr.bytes).min(word_bytes);
        let enables = ((1u32 << bytes) - 1) as u8;
        let lanes = config.lanes as usize;
        if bytes == word_bytes {
            self.be[..lanes].fill(enables);
            return;
        }
        for (be, byte) in self.be.iter_mut().zip(&self.bytes[..lanes]) {
            *be = enables << (byte & (word_bytes - 1));
        }
    }
}

/// Words have 4 or 8 bytes.
fn word_shift(config: &Config) -> u32 {
    config.word_bytes().trailing_zeros()
}
