//! Details of instructions beyond kind, registers and addresses: a byte, and for some a number.

use super::{Corrupt, Cursor, put_varint};
use crate::sm::instr::{BulkGroupOp, Detail};
use spadkit_ptx::exec::BarrierOp;

/// Beside the bits of a product: the part of a warp in one of a warpgroup.
const OF_GROUP: u8 = 0x80;

pub(super) fn put(out: &mut Vec<u8>, detail: Detail) {
    let (byte, number) = match detail {
        Detail::None | Detail::LaneByLane => return,
        Detail::Atomic(byte) | Detail::Barrier(byte) => return out.push(byte),
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

/// The detail of an instruction whose kind has one like `kind`.
#[inline(always)]
pub(super) fn read(cursor: &mut Cursor, kind: Detail) -> Result<Detail, Corrupt> {
    Ok(match kind {
        Detail::None | Detail::LaneByLane => kind,
        Detail::Atomic(_) => Detail::Atomic(cursor.byte()?),
        Detail::Barrier(_) => Detail::Barrier(cursor.byte()?),
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
