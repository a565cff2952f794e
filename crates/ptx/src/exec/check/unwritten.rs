//! Registers and local memory that a thread reads and has not written, and
//! whole accesses to them: looked for with races.

use crate::exec::api::FindingKind;
use crate::exec::image::{LocalVariable, MemoryOp, Part};
use crate::exec::machine::Machine;
use crate::exec::machine::written::Missing;
use crate::exec::registers::Mask;
use crate::names::Space;

/// An instruction that does something with registers of which it is not clear that they are
/// written before they are read.
pub fn registers(m: &mut Machine, at: u32, (active, exec): (u32, u32)) {
    let image = m.image;
    let unsure = &image.unsure[at as usize];
    let Some(written) = &mut m.written_by.get_mut(m.warp as usize) else {
        return;
    };
    let missing = |r: u32, bytes: u8, lanes: u32| written.registers[r as usize].lanes(lanes, bytes);
    // All lanes that come to it read the guard.
    let of_guard = unsure.guard.map(|r| (r, missing(r, u8::MAX, active)));
    let adds = unsure
        .adds
        .map_or(exec, |adds| exec & m.registers.lanes(Mask::of(adds)));
    let missing_of = |&(r, bytes): &(u32, u8)| {
        let lanes = if unsure.writes.contains(&r) {
            adds
        } else {
            exec
        };
        (r, missing(r, bytes, lanes))
    };
    let reads = unsure.reads.iter().map(missing_of);
    let found = of_guard.into_iter().chain(reads.clone());
    let found = found.into_iter().find(|(_, lanes)| *lanes != 0);
    let stored = unsure
        .stored
        .iter()
        .map(|&r| (r, missing(r, u8::MAX, exec)));
    let unknown = reads.chain(stored).fold(0, |all, (_, lanes)| all | lanes);
    m.unknown = (m.pc, unknown);
    for &register in &unsure.writes {
        written.registers[register as usize].fill(exec);
    }
    for carried in &unsure.carried {
        written.carry(carried, m.registers, exec);
    }
    if let Some((register, lanes)) = found {
        tell(m, register, lanes);
    }
}

/// Lanes read a register that they have not written; it is told of the first.
fn tell(m: &mut Machine, register: u32, lanes: u32) {
    let followed = &m.image.followed[register as usize];
    let what = if followed.is_copy {
        "which holds what the thread has not written"
    } else {
        "which the thread has not written"
    };
    let text = format!("reads the register {}, {what}", followed.name);
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
            let moves = &image.moves[at as usize];
            let loads = (!info.transfer.writes()).then_some(moves.signed);
            is_known(&moves.parts, &mut written.registers, lane, bytes, loads)
        }
        None => bytes.iter().all(|&b| b),
    };
    if moves.is_none() || !known {
        bytes.fill(true);
    }
    if !known && !info.transfer.replaces() {
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
/// goes with them. `loads` says of a load whether its elements have signs. Whether all
/// others are written.
fn is_known(
    parts: &[Option<Part>],
    registers: &mut [Missing],
    lane: u32,
    bytes: &mut [bool],
    loads: Option<bool>,
) -> bool {
    let size = bytes.len() / parts.len();
    let mut known = true;
    for (part, bytes) in parts.iter().zip(bytes.chunks_mut(size)) {
        match *part {
            Some(Part::Copied(register)) => {
                let register = &mut registers[register as usize];
                let bit = |at: usize| 1u8 << (at % 8);
                if let Some(signed) = loads {
                    let unwritten = bytes.iter().enumerate().filter(|(_, b)| !**b);
                    let missing = unwritten.fold(0, |all, (at, _)| all | bit(at));
                    let above = u8::MAX.checked_shl(size as u32).unwrap_or(0);
                    let spreads = signed && bytes.last() == Some(&false);
                    register.set(lane, if spreads { missing | above } else { missing });
                } else {
                    let missing = register.of(lane);
                    let all = bytes.iter_mut().enumerate();
                    all.for_each(|(at, b)| *b = missing & bit(at) == 0);
                }
            }
            Some(Part::Masked) if loads.is_some() => {}
            Some(Part::Nothing) => {}
            _ if loads.is_some() => known &= bytes.iter().all(|&b| b),
            _ => bytes.fill(true),
        }
    }
    known
}

/// Whether the bits that the instruction loads are those of which a mask keeps some while
/// others are set, as in a bit-field.
pub fn is_masked(m: &Machine) -> bool {
    let moves = m.image.moves_at.get(m.pc as usize).copied().flatten();
    let moves = moves.map(|at| &m.image.moves[at as usize]);
    let is_mask = |part: &Option<Part>| matches!(part, Some(Part::Masked));
    moves.is_some_and(|moves| moves.loads && moves.parts.iter().all(is_mask))
}

/// A load or store of elements some of which are only moved, by lanes that are about to
/// make it: what is stored where all may read it has to be written.
pub fn moved(m: &mut Machine, at: u32, info: &MemoryOp, space: Space, exec: u32) {
    let image = m.image;
    let moves = &image.moves[at as usize];
    let Some(written) = m.written_by.get(m.warp as usize) else {
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
            Part::Copied(_) if moves.loads => continue,
            Part::Copied(register) => {
                let missing = &written.registers[register as usize];
                let followed = &image.followed[register as usize];
                // Where some bytes are written, the others may be padding.
                let all = u8::MAX >> (8 - size.min(8));
                let lane = lanes.find(|&lane| missing.of(lane) & all == all);
                let shared =
                    matches!(space, Space::Shared | Space::SharedCta) && followed.by_registers;
                let text = if followed.is_copy {
                    "stores a copy of what the thread has not written"
                } else {
                    "stores a register, which the thread has not written"
                };
                (lane.filter(|_| space == Space::Global || shared), text)
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
    let shuffled = at.and_then(|at| m.image.unsure[at as usize].shuffled);
    let written = m.written_by.get(m.warp as usize);
    let (Some(register), Some(written)) = (shuffled, written) else {
        return;
    };
    let missing = written.registers[register as usize].lanes(from, u8::MAX);
    if missing != 0 {
        tell(m, register, missing);
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
