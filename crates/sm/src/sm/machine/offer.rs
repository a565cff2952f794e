//! The offers of the warps: the next instruction, once its dependences and the
//! front end allow it (microarchitecture/sm-model.md).

use super::Sm;
use crate::model::spad_sm_path::{Offer, kind};
use crate::model::{lanes_of, warp_bit, warps_of};
use crate::sm::instr::{AGGREGATED, Addresses, Detail, Instr, InstrKind};
use crate::sm::warp::{NEVER, State};
use spadkit_base::error::{Error, Result};

/// Bytes of an `mbarrier`.
const OBJECT_BYTES: u64 = 8;
/// Pending instructions of a warp; more wait.
const MAX_PENDING: usize = 64;

impl InstrKind {
    /// The kind at the path's issue port (microarchitecture/parameters.md).
    pub(in crate::sm) fn path_kind(self) -> u8 {
        match self {
            InstrKind::LdShared => kind::LOAD,
            InstrKind::StShared => kind::STORE,
            InstrKind::AtomShared => kind::ATOMIC,
            InstrKind::LdLock => kind::LDLK,
            InstrKind::StUnlock => kind::STUL,
            InstrKind::LdGlobal | InstrKind::StGlobal | InstrKind::Texture => kind::GLOBAL,
            InstrKind::RelSsp => kind::RELSSP,
            _ => kind::ALU,
        }
    }
}

impl Sm<'_> {
    /// Looks at every warp whose time has come.
    pub(super) fn check_warps(&mut self) -> Result<()> {
        warps_of(self.checks.take_due(self.cycle)).try_for_each(|w| self.check_warp(w))
    }

    fn check_warp(&mut self, w: usize) -> Result<()> {
        let (cycle, strict) = (self.cycle, self.is_strict());
        let warp = &self.warps[w];
        if warp.state != State::Running || warp.offered || self.sets.exits >> w & 1 == 1 {
            return Ok(());
        }
        if strict && !warp.pending.is_empty() {
            return Ok(()); // its completion looks again
        }
        let next = warp.next().filter(|i| i.kind != InstrKind::Exit);
        let Some(instr) = next else {
            self.check_exit(w);
            return Ok(());
        };
        if warp.pending.len() >= MAX_PENDING || warp.atomic_before(instr).is_some() {
            return Ok(()); // a completion looks again
        }
        // First cycle in which it may issue.
        let at = warp.ready_at.max(warp.registers_ready(instr));
        let private = self.config.sm.schedulers > 1
            && instr.kind.path_kind() == kind::ALU
            && self.claim(w, instr).is_none();
        let early = if private {
            0
        } else {
            u64::from(self.config.path.ahead)
        };
        if at > cycle + early {
            if at != NEVER {
                self.check(w, at - early);
            } // else a completion looks again
            return Ok(());
        }
        let kind = instr.kind;
        if kind == InstrKind::Mma && !self.takes_tensor_unit(w, early) {
            return Ok(()); // the unit looks again
        }
        if kind.is_asynchronous() && !self.is_through(w) {
            return Ok(()); // what it waits for looks again
        }
        if kind == InstrKind::StGlobal && !self.global.reserve(cycle) {
            self.wait_for_store_entry(w);
            return Ok(());
        }
        self.sets.store_waits &= !warp_bit(w);
        if private {
            if let Some(instr) = self.warps[w].next() {
                self.schedulers.offer(w, instr);
            }
        } else {
            let offer = self.offer(w)?;
            self.offers.set(w, Some(offer));
        }
        self.warps[w].offered = true;
        Ok(())
    }

    /// A part of the lanes ends, or the whole warp, when nothing is pending.
    #[inline]
    fn check_exit(&mut self, w: usize) {
        let warp = &self.warps[w];
        if !warp.pending.is_empty() {
            return; // a completion looks again
        }
        if warp.ends() && self.shares(warp.slot) && !self.copies.has_left(warp.slot) {
            return; // the end of its block's last copy looks again
        }
        let at = warp.exits_at();
        if at <= self.cycle {
            self.sets.exits |= 1 << w;
        } else {
            self.check(w, at);
        }
    }

    /// No entry is free for the warp's store.
    fn wait_for_store_entry(&mut self, w: usize) {
        self.sets.store_waits |= warp_bit(w);
        if let Some(free) = self.global.next_entry() {
            self.check(w, free);
        } // else the store that is sent first looks again
    }

    /// The offer of the warp's next instruction.
    fn offer(&mut self, w: usize) -> Result<Offer> {
        let tag = self.warps[w].take_tag();
        let Some(instr) = self.warps[w].next() else {
            return Ok(Offer::default());
        };
        let words = self.words(instr);
        let (mut kind, mut hi) = (instr.kind.path_kind(), 0);
        let mut passes = words;
        if let Some(word) = self.claim(w, instr) {
            (kind, hi) = (kind::LOAD, word as u16);
            if self.warps[w].released & self.warps[w].active(instr) != 0 {
                return Err(self.touched_after_release(w, instr));
            }
        } else if instr.kind.is_shared() {
            let active = self.warps[w].active(instr);
            passes = self.passes(instr, active);
            hi = self.check_shared(w, instr, active, words)?;
        }
        let pc = (instr.pc & 0x3fff) as u16;
        Ok(Offer {
            kind,
            words: passes.trailing_zeros() as u8,
            tag,
            pc,
            hi,
        })
    }

    /// The highest word of the shared part that a bulk copy or an operation on an
    /// `mbarrier` touches, block-relative: it goes as a load of this word, so that the
    /// access unit is asked for it.
    pub(super) fn claim(&self, w: usize, instr: &Instr) -> Option<u32> {
        let slot = self.warps[w].slot;
        if !self.path_config.sharing || !instr.kind.is_asynchronous() || !self.shares(slot) {
            return None;
        }
        let last = match &instr.addrs {
            Addresses::Copy(transfer) => {
                let object = transfer.arrives.map(|(at, _)| (at, OBJECT_BYTES));
                let pieces = transfer.shared.iter().copied().chain(object);
                pieces
                    .map(|(at, bytes)| at.saturating_add(bytes - 1))
                    .max()?
            }
            _ if instr.kind == InstrKind::Mbarrier => instr.addrs.of(0) + OBJECT_BYTES - 1,
            _ => return None,
        };
        let word = last >> self.config.word_bytes().trailing_zeros();
        // What lies beyond the block is refused when it begins.
        let word = word.min(u64::from(self.layout.words()) - 1) as u32;
        (word >= self.layout.limit()).then_some(word)
    }

    /// Words per lane that move through the scratchpad.
    pub(super) fn words(&self, instr: &Instr) -> u32 {
        let wide = matches!(instr.kind, InstrKind::LdShared | InstrKind::StShared);
        if wide {
            (u32::from(instr.bytes) / self.config.word_bytes()).clamp(1, 4)
        } else {
            1
        }
    }

    /// The highest block-relative word of a shared access, all of whose words
    /// must belong to the block and to threads that have not released them.
    fn check_shared(&self, w: usize, instr: &Instr, active: u64, words: u32) -> Result<u16> {
        if self.config.path.locks == 0 && instr.kind.is_word_only() {
            return Err(Error::usage(
                format!("{} on a machine without lock unit", self.place(w, instr)),
                "set locks in the configuration's [path]",
            ));
        }
        if let Detail::Atomic(operation) = instr.detail
            && operation > AGGREGATED
        {
            return Err(Error::usage(
                format!(
                    "{}: there is no atomic operation {operation}",
                    self.place(w, instr)
                ),
                "expected 0 to 10 (docs/reference/formats.md)",
            ));
        }
        let warp = &self.warps[w];
        // Words have 4 or 8 bytes.
        let word_shift = self.config.word_bytes().trailing_zeros();
        let shares = self.path_config.sharing && self.layout.is_shared(warp.slot);
        let (limit, size) = (
            u64::from(self.layout.limit()),
            u64::from(self.layout.words()),
        );
        if let Some(last) = instr.addrs.highest(active) {
            // Nothing can be wrong with the lanes below.
            let last = (last >> word_shift) + u64::from(words - 1);
            if last < size && !(shares && warp.released != 0) {
                return Ok(last as u16);
            }
        }
        let mut highest = 0;
        for lane in lanes_of(active) {
            let first = instr.addrs.of(lane) >> word_shift;
            let last = first.saturating_add(u64::from(words - 1));
            if last >= size {
                return Err(Error::usage(
                    format!(
                        "{}: lane {lane} accesses byte {} of shared memory",
                        self.place(w, instr),
                        instr.addrs.of(lane)
                    ),
                    format!("a block has {} bytes", self.workload.info().shared_bytes),
                ));
            }
            if shares && last >= limit && warp.released >> lane & 1 == 1 {
                return Err(self.touched_after_release(w, instr));
            }
            highest = highest.max(last);
        }
        Ok(highest as u16)
    }

    /// The instruction and its warp, for messages.
    pub(super) fn place(&self, w: usize, instr: &Instr) -> String {
        let warp = &self.warps[w];
        format!(
            "block {}, warp {}, pc {}: {}",
            warp.block,
            warp.index,
            instr.pc,
            instr.kind.name()
        )
    }

    fn touched_after_release(&self, w: usize, instr: &Instr) -> Error {
        Error::usage(
            format!(
                "{} touches the shared scratchpad after relssp",
                self.place(w, instr)
            ),
            format!(
                "words from {} on may not be accessed after relssp: place relssp after the last access",
                self.layout.limit()
            ),
        )
    }

    /// The path refuses the warp's offer permanently.
    pub(super) fn violation(&self, w: usize) -> Error {
        match self.warps[w].next() {
            Some(instr) => self.touched_after_release(w, instr),
            None => Error::defect(format!("warp slot {w} is refused without an instruction")),
        }
    }
}
