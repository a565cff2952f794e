//! What other blocks do to a block, as bytes.

use super::detail::{number, operation};
use super::{Corrupt, Cursor, put_varint};
use crate::sm::incoming::Incoming;
use crate::sm::mbarrier::MbarrierOp;
use spadkit_ptx::exec::BarrierOp;

/// Flags of what comes by a copy, and of one from global memory.
const COPY: u8 = 1;
const GLOBAL: u8 = 2;

/// Writes an operation of another block.
pub(in crate::sm::trace) fn put(out: &mut Vec<u8>, incoming: &Incoming) {
    let (op, amount) = incoming.op.parts();
    let flags = match incoming.copy {
        None => 0,
        Some((_, false)) => COPY,
        Some((_, true)) => COPY | GLOBAL,
    };
    out.extend([op as u8, flags]);
    put_varint(out, incoming.object);
    put_varint(out, incoming.phase);
    put_varint(out, amount.into());
    if let Some(((start, bytes), _)) = incoming.copy {
        put_varint(out, start);
        put_varint(out, bytes);
    }
}

/// Reads `count` of them, which are all of the bytes.
pub(in crate::sm::trace) fn read(bytes: &[u8], count: u32) -> Result<Vec<Incoming>, Corrupt> {
    let mut cursor = Cursor::new(bytes);
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(one(&mut cursor)?);
    }
    if cursor.at != bytes.len() {
        return cursor.corrupt("bytes remain after what other blocks do");
    }
    Ok(all)
}

fn one(cursor: &mut Cursor) -> Result<Incoming, Corrupt> {
    let op = operation(cursor, &BarrierOp::ALL, "an mbarrier")?;
    let flags = cursor.byte()?;
    if flags > COPY | GLOBAL || flags == GLOBAL {
        return cursor.corrupt(format!("what another block does has the flags {flags:#x}"));
    }
    let (object, phase) = (cursor.varint()?, cursor.varint()?);
    let op = MbarrierOp::new(op, number(cursor)?);
    let copy = match flags & COPY {
        0 => None,
        _ => Some(((cursor.varint()?, cursor.varint()?), flags & GLOBAL != 0)),
    };
    Ok(Incoming {
        object,
        phase,
        op,
        copy,
    })
}
