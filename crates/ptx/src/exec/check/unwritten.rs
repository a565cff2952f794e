//! Registers and local memory that a thread reads and has not written, and
//! whole accesses to them: looked for with races.

use crate::exec::api::FindingKind;
use crate::exec::image::{LocalVariable, MemoryOp, Unsure};
use crate::exec::machine::Machine;
use crate::names::Space;

/// An instruction that reads or writes registers of which it is not clear
/// that they are written before they are read.
pub fn registers(m: &mut Machine, at: u32, (active, exec): (u32, u32)) {
    let image = m.image;
    let Unsure {
        reads,
        writes,
        guard,
    } = &image.unsure[at as usize];
    let Some(written) = &mut m.written_by.get_mut(m.warp as usize) else {
        return;
    };
    let missing = |r: &(u32, String), lanes: u32| lanes & !written.registers[r.0 as usize];
    // All lanes that come to it read the guard.
    let of_guard = guard.iter().map(|r| (r, missing(r, active)));
    let found = of_guard.chain(reads.iter().map(|r| (r, missing(r, exec))));
    let found = found.into_iter().find(|(_, lanes)| *lanes != 0);
    let (found, lanes) = (found.map(|f| f.0), found.map(|f| f.1));
    let unknown = reads.iter().map(|r| missing(r, exec));
    m.unknown = (m.pc, unknown.fold(0, |all, lanes| all | lanes));
    for &register in writes {
        written.registers[register as usize] |= exec;
    }
    if let (Some((_, name)), Some(lanes)) = (found, lanes) {
        let text = format!("reads the register {name}, which the thread has not written");
        let lane = lanes.trailing_zeros();
        m.found(FindingKind::Uninitialised, lane, None, None, text);
    }
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
    let known = bytes.iter().all(|&b| b);
    bytes.fill(true);
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
