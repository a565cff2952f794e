//! Bulk copies and operations on `mbarrier` objects, as instructions of a trace.

use super::code::Row;
use spadkit_ptx::exec::{BarrierEvent, BarrierLane, BarrierOp, CopyEvent, PeerEvent};
use spadkit_sm::sm::{Addresses, Detail, Incoming, Instr, InstrKind, MbarrierOp, Transfer};

/// An operation: an instruction for each object and number that its lanes
/// have, mostly one. A wait that ends before its phase is one that computes. The
/// number of an arrival after copies is the registers of `copies`. What has no lanes and
/// is no wait is done to objects of other blocks.
pub(super) fn barrier(row: &Row, event: &BarrierEvent, copies: Option<[u8; 4]>) -> Vec<Instr> {
    let copies = copies.map(u32::from_le_bytes);
    let key = |lane: &BarrierLane| (lane.offset, copies.unwrap_or(lane.number));
    let mut keys: Vec<(u64, u32)> = Vec::new();
    for lane in event.lanes {
        if !keys.contains(&key(lane)) {
            keys.push(key(lane));
        }
    }
    if keys.is_empty() {
        let kind = match event.op {
            BarrierOp::Wait => InstrKind::Alu,
            _ => InstrKind::Remote,
        };
        return vec![row.instr(event.pc, kind, 0)];
    }
    let instr = |of: (u64, u32)| {
        let own = event.lanes.iter().filter(|lane| key(lane) == of);
        let mask = own.fold(0, |mask, lane| mask | 1 << lane.lane);
        let mut instr = row.instr(event.pc, InstrKind::Mbarrier, mask);
        instr.detail = Detail::Mbarrier(event.op, of.1);
        instr.addrs = Addresses::Affine {
            base: of.0,
            stride: 0,
        };
        instr
    };
    keys.into_iter().map(instr).collect()
}

/// The copy of a lane.
pub(super) fn copy(row: &Row, event: &CopyEvent) -> Instr {
    let mut instr = row.instr(event.pc, InstrKind::BulkCopy, 1 << event.lane);
    let pieces = |pieces: &[(u64, u64)]| {
        let some = pieces.iter().filter(|(_, bytes)| *bytes > 0);
        some.copied().collect()
    };
    instr.addrs = Addresses::Copy(Box::new(Transfer {
        stores: event.stores,
        shared: pieces(event.shared),
        global: pieces(event.global),
        arrives: event.arrives,
        others: event.others,
    }));
    instr
}

/// What another block has done.
pub(super) fn incoming(event: &PeerEvent) -> Incoming {
    Incoming {
        object: event.object,
        phase: event.phase,
        op: MbarrierOp::new(event.op, event.number),
        copy: event.copy.map(|copy| (copy.shared, copy.from_global)),
    }
}
