//! Details of instructions beyond kind, registers and addresses: a byte, and for some a number.

use super::{Corrupt, Cursor, put_varint};
use crate::sm::instr::{BulkGroupOp, Detail, Meeting};
use spadkit_ptx::exec::BarrierOp;

/// Beside the bits of a product: the part of a warp in one of a warpgroup.
const OF_GROUP: u8 = 0x80;

/// Flags of a barrier.
const ARRIVES: u8 = 1;
const CLUSTER: u8 = 2;

pub(super) fn put(out: &mut Vec<u8>, detail: Detail) {
    let (byte, number) = match detail {
        Detail::None | Detail::LaneByLane => return,
        Detail::Atomic(byte) => return out.push(byte),
        Detail::Barrier(meeting) => return put_barrier(out, meeting),
        Detail::Product { bits, macs, group } => {
            let group = if group { OF_GROUP } else { 0 };
            (bits | group, macs)
        }
        Detail::Mbarrier(op, number) => (op as u8, number),
        Detail::BulkGroup(op, number) => (op as u8, number),
    };
    out.push(byte);
    put_varint(out, number.into());
}

/// The detail of an instruction whose kind has one like `kind`; of a barrier, whether it is
/// [named](is_named).
#[inline(always)]
pub(super) fn read(cursor: &mut Cursor, kind: Detail, named: bool) -> Result<Detail, Corrupt> {
    Ok(match kind {
        Detail::None | Detail::LaneByLane => kind,
        Detail::Atomic(_) => Detail::Atomic(cursor.byte()?),
        Detail::Barrier(_) => Detail::Barrier(barrier(cursor, named)?),
        Detail::Product { .. } => {
            let byte = cursor.byte()?;
            Detail::Product {
                bits: byte & !OF_GROUP,
                macs: number(cursor)?,
                group: byte & OF_GROUP != 0,
            }
        }
        Detail::Mbarrier(..) => {
            let op = operation(cursor, &BarrierOp::ALL, "an mbarrier")?;
            Detail::Mbarrier(op, number(cursor)?)
        }
        Detail::BulkGroup(..) => {
            let op = operation(cursor, &BulkGroupOp::ALL, "a bulk group")?;
            Detail::BulkGroup(op, number(cursor)?)
        }
    })
}

/// Whether more follows the number of a barrier: flags and threads.
pub(super) fn is_named(detail: Detail) -> bool {
    matches!(detail, Detail::Barrier(meeting) if meeting != Meeting::of_block(meeting.number))
}

/// The number of a barrier, and what follows where it is [named](is_named).
fn put_barrier(out: &mut Vec<u8>, meeting: Meeting) {
    out.push(meeting.number);
    if is_named(Detail::Barrier(meeting)) {
        let flags = [(ARRIVES, meeting.arrives), (CLUSTER, meeting.cluster)];
        let set = flags.into_iter().filter(|(_, set)| *set);
        out.push(set.fold(0, |all, (flag, _)| all | flag));
        put_varint(out, meeting.threads.into());
    }
}

fn barrier(cursor: &mut Cursor, named: bool) -> Result<Meeting, Corrupt> {
    let number = cursor.byte()?;
    if !named {
        return Ok(Meeting::of_block(number));
    }
    let flags = cursor.byte()?;
    if flags & !(ARRIVES | CLUSTER) != 0 {
        return cursor.corrupt(format!("a barrier has the flags {flags:#x}"));
    }
    let Ok(threads) = u16::try_from(cursor.varint()?) else {
        return cursor.corrupt("a barrier is for more than 65535 threads");
    };
    Ok(Meeting {
        threads,
        number,
        arrives: flags & ARRIVES != 0,
        cluster: flags & CLUSTER != 0,
    })
}

fn operation<Op: Copy>(cursor: &mut Cursor, all: &[Op], of: &str) -> Result<Op, Corrupt> {
    let byte = cursor.byte()?;
    match all.get(usize::from(byte)) {
        Some(op) => Ok(*op),
        None => cursor.corrupt(format!("there is no operation {byte} of {of}")),
    }
}

fn number(cursor: &mut Cursor) -> Result<u32, Corrupt> {
    match u32::try_from(cursor.varint()?) {
        Ok(number) => Ok(number),
        Err(_) => cursor.corrupt("an amount has more than 32 bits"),
    }
}
