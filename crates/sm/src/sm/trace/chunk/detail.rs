//! Details of instructions beyond kind, registers and addresses: a byte, and for some a number.
//! Of some kinds they are a part of the shape.

use super::{Corrupt, Cursor, put_varint};
use crate::sm::instr::{BulkGroupOp, Detail, Instr, InstrKind, Meeting, Unit};
use spadkit_ptx::exec::BarrierOp;

/// In the shape of a barrier: more follows its number. Versions before 5 have the bytes of a
/// word there, or of nothing.
const NAMED: u8 = 1;
/// In the shape of a load of global memory, beside its width: it goes past the L1, and
/// twice, that it also writes.
const PAST_L1: u8 = 5;

/// The upper half of an instruction's shape. Bytes of an access are a power of two: 0 to 4
/// as its logarithm.
pub(super) fn shape(instr: &Instr) -> u8 {
    let width = instr.bytes.max(1).trailing_zeros() as u8;
    match (instr.kind, instr.detail) {
        (InstrKind::Bar, detail) => u8::from(is_named(detail)) * NAMED,
        (InstrKind::LdGlobal, Detail::PastL1 { writes }) => {
            width + if writes { 2 * PAST_L1 } else { PAST_L1 }
        }
        (InstrKind::Alu | InstrKind::Sfu, Detail::Unit(unit)) => {
            let at = Unit::ALL.iter().position(|u| *u == unit);
            at.map_or(0, |at| at as u8 + 1)
        }
        _ => width,
    }
}

/// The largest upper half of the shape of an instruction of `kind`.
pub(super) fn most(kind: InstrKind) -> u8 {
    match kind {
        InstrKind::LdGlobal => 3 * PAST_L1 - 1,
        _ => PAST_L1 - 1,
    }
}

/// Beside the bits of a product: the part of a warp in one of a warpgroup.
const OF_GROUP: u8 = 0x80;

/// Flags of a barrier.
const ARRIVES: u8 = 1;
const CLUSTER: u8 = 2;

pub(super) fn put(out: &mut Vec<u8>, detail: Detail) {
    let (byte, number) = match detail {
        Detail::None | Detail::LaneByLane | Detail::PastL1 { .. } | Detail::Unit(_) => return,
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

/// Reads the detail of an instruction of a kind, and the bytes of its lanes; `shape` is the
/// upper half of its shape.
#[inline(always)]
pub(super) fn read(cursor: &mut Cursor, instr: &mut Instr, shape: u8) -> Result<(), Corrupt> {
    let kind = instr.kind;
    if kind.is_memory() {
        instr.bytes = 1 << (shape % PAST_L1);
    }
    instr.detail = match instr.detail {
        _ if kind == InstrKind::LdGlobal && shape >= PAST_L1 => Detail::PastL1 {
            writes: shape >= 2 * PAST_L1,
        },
        _ if matches!(kind, InstrKind::Alu | InstrKind::Sfu) && shape > 0 => {
            Detail::Unit(Unit::ALL[usize::from(shape) - 1])
        }
        Detail::Atomic(_) => Detail::Atomic(cursor.byte()?),
        Detail::Barrier(_) => Detail::Barrier(barrier(cursor, shape == NAMED)?),
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
        other => other,
    };
    Ok(())
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

pub(super) fn operation<Op: Copy>(
    cursor: &mut Cursor,
    all: &[Op],
    of: &str,
) -> Result<Op, Corrupt> {
    let byte = cursor.byte()?;
    match all.get(usize::from(byte)) {
        Some(op) => Ok(*op),
        None => cursor.corrupt(format!("there is no operation {byte} of {of}")),
    }
}

pub(super) fn number(cursor: &mut Cursor) -> Result<u32, Corrupt> {
    match u32::try_from(cursor.varint()?) {
        Ok(number) => Ok(number),
        Err(_) => cursor.corrupt("an amount has more than 32 bits"),
    }
}
