//! Registers and local memory that a thread reads and has not written, and
//! whole accesses to them: looked for with races.

use crate::exec::api::FindingKind;
use crate::exec::image::{LocalVariable, MemoryOp, Part, Unsure};
use crate::exec::machine::Machine;
use crate::exec::registers::Mask;
use crate::names::Space;

/// An instruction that reads or writes registers of which it is not clear
/// that they are written before they are read.
pub fn registers(m: &mut Machine, at: u32, (active, exec): (u32, u32)) {
    let image = m.image;
    let Unsure {
        reads,
        adds,
        writes,
        guard,
        ..
    } = &image.unsure[at as usize];
    let Some(written) = &mut m.written_by.get_mut(m.warp as usize) else {
        return;
    };
    let missing = |r: &(u32, String), lanes: u32| lanes & !written.registers[r.0 as usize];
    // All lanes that come to it read the guard.
    let of_guard = guard.iter().map(|r| (r, missing(r, active)));
    let adds = adds.map_or(exec, |adds| exec & m.registers.lanes(Mask::of(adds)));
    let missing_of = |r: &(u32, String)| {
        let lanes = if writes.contains(&r.0) { adds } else { exec };
        missing(r, lanes)
    };
    let found = of_guard.chain(reads.iter().map(|r| (r, missing_of(r))));
    let found = found.into_iter().find(|(_, lanes)| *lanes != 0);
    let (found, lanes) = (found.map(|f| f.0), found.map(|f| f.1));
    let unknown = reads.iter().map(missing_of);
    m.unknown = (m.pc, unknown.fold(0, |all, lanes| all | lanes));
    for &register in writes {
        written.registers[register as usize] |= exec;
    }
    if let (Some((_, name)), Some(lanes)) = (found, lanes) {
        tell(m, name, lanes);
    }
}

/// Lanes read a register that they have not written; it is told of the first.
fn tell(m: &mut Machine, name: &str, lanes: u32) {
    let text = format!("reads the register {name}, which the thread has not written");
    let lane = lanes.trailing_zeros();
    m.found(FindingKind::Uninitialised, lane, None, None, text);
}

/// An access of a lane to its local memory, which is inside.
pub fn local(m: &mut Machine, info: &MemoryOp, lane: u32, address: u64) {
    let image = m.image;
    let inside = |v: &&LocalVariable| {
        let (start, end) = (
            u64::from(v.offset),
            u64::from(v.offset) + u64::from(v.bytes),
        );
        (start..end).contains(&address)
    };
    // What calls pass is written by the call.
    let Some(variable) = image.locals.iter().find(inside).filter(|v| v.own) else {
        return;
    };
    let Some(written) = m.written_by.get_mut(m.warp as usize) else {
        return;
    };
    let start = lane as usize * image.local_bytes as usize + address as usize;
    let Some(bytes) = written.local.get_mut(start..start + info.bytes as usize) else {
        return;
    };
    let moves = image.moves_at.get(m.pc as usize).copied().flatten();
    let known = match moves {
        Some(at) => {
            let parts = &image.moves[at as usize].parts;
            is_known(
                parts,
                &mut written.copied,
                lane,
                bytes,
                !info.transfer.writes(),
            )
        }
        None => bytes.iter().all(|&b| b),
    };
    if moves.is_none() || !known {
        bytes.fill(true);
    }
    if !known && !info.transfer.only_writes() {
        let (name, offset) = (variable.name.clone(), address - u64::from(variable.offset));
        let what = m.describe(info);
        let text = format!("{what} at byte {offset} of {name}, which the thread has not written");
        m.found(
            FindingKind::Uninitialised,
            lane,
            Some(address),
            Some(name),
            text,
        );
    }
}

/// A load or store of elements some of which are only moved, of a lane: what is unwritten
/// goes with them. Whether all others are written.
fn is_known(
    parts: &[Option<Part>],
    copied: &mut [[u8; 32]],
    lane: u32,
    bytes: &mut [bool],
    loads: bool,
) -> bool {
    let size = bytes.len() / parts.len();
    let mut known = true;
    for (part, bytes) in parts.iter().zip(bytes.chunks_mut(size)) {
        match *part {
            Some(Part::Copied(register)) => {
                let missing = &mut copied[register as usize][lane as usize];
                let bit = |at: usize| 1u8 << (at % 8);
                if loads {
                    let unwritten = bytes.iter().enumerate().filter(|(_, b)| !**b);
                    *missing = unwritten.fold(0, |all, (at, _)| all | bit(at));
                } else {
                    let all = bytes.iter_mut().enumerate();
                    all.for_each(|(at, b)| *b = *missing & bit(at) == 0);
                }
            }
            Some(Part::Masked) if loads => {}
            Some(Part::Nothing) => {}
            _ if loads => known &= bytes.iter().all(|&b| b),
            _ => bytes.fill(true),
        }
    }
    known
}

/// A load or store of elements some of which are only moved, by lanes that are about to
/// make it: what a copy brings is not known yet, and what is stored where all may read it
/// has to be written.
pub fn moved(m: &mut Machine, at: u32, info: &MemoryOp, space: Space, exec: u32) {
    let image = m.image;
    let moves = &image.moves[at as usize];
    let Some(written) = m.written_by.get_mut(m.warp as usize) else {
        return;
    };
    let size = info.bytes as usize / moves.parts.len();
    for part in moves.parts.iter().flatten() {
        let mut lanes = crate::exec::race::lanes(exec);
        let (lane, text) = match *part {
            Part::Masked => continue,
            Part::Nothing => (
                (space != Space::Local).then(|| lanes.next()).flatten(),
                "stores a register, which the thread has not written",
            ),
            Part::Copied(register) => {
                let missing = &mut written.copied[register as usize];
                if moves.loads {
                    lanes.for_each(|lane| missing[lane as usize] = 0);
                    continue;
                }
                // Where some bytes are written, the others may be padding.
                let all = u8::MAX >> (8 - size.min(8));
                let lane = lanes.find(|&lane| missing[lane as usize] == all);
                (
                    lane.filter(|_| space == Space::Global),
                    "stores what it has copied from local memory, where the thread has not \
                     written it",
                )
            }
        };
        if let Some(lane) = lane {
            m.found(
                FindingKind::Uninitialised,
                lane,
                None,
                None,
                text.to_owned(),
            );
            return;
        }
    }
}

/// A shuffle has handed on the registers of lanes.
pub fn shuffled(m: &mut Machine, from: u32) {
    let at = m.image.unsure_at.get(m.pc as usize).copied().flatten();
    let shuffled = at.and_then(|at| m.image.unsure[at as usize].shuffled.as_ref());
    let written = m.written_by.get(m.warp as usize);
    let (Some((register, name)), Some(written)) = (shuffled, written) else {
        return;
    };
    let missing = from & !written.registers[*register as usize];
    if missing != 0 {
        tell(m, name, missing);
    }
}

impl Machine<'_> {
    /// Lanes for which the instruction reads a register that they have not written:
    /// what it holds may be anything.
    pub fn unknown_lanes(&self) -> u32 {
        match self.unknown {
            (pc, lanes) if pc == self.pc => lanes,
            _ => 0,
        }
    }

    /// The variables of a space of which there is one for every thread.
    pub fn own_variable(&self, space: Space, offset: u64) -> Option<(&str, u64, u64)> {
        let list = match space {
            Space::Param => &self.image.params,
            _ => &self.image.locals,
        };
        let found = list.iter().find(|v| {
            let start = u64::from(v.offset);
            (start..start + u64::from(v.bytes)).contains(&offset)
        });
        found.map(|v| (v.name.as_str(), u64::from(v.offset), u64::from(v.bytes)))
    }
}
