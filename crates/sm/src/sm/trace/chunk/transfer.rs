//! The two sides of a bulk copy, as bytes.

use super::{Corrupt, Cursor, put_signed, put_varint};
use crate::sm::transfer::Transfer;

/// Flags of the first byte.
const STORES: u8 = 1;
const ARRIVES: u8 = 2;
const OTHERS: u8 = 4;
/// Most bytes of a piece: more than any scratchpad has.
const MOST: u64 = 1 << 24;

/// Writes a copy; addresses are written against those of shared and of global
/// memory before it.
pub(super) fn put(out: &mut Vec<u8>, copy: &Transfer, base: &mut [u64; 2]) {
    let arrives = if copy.arrives.is_some() { ARRIVES } else { 0 };
    let others = if copy.others { OTHERS } else { 0 };
    out.push(u8::from(copy.stores) | arrives | others);
    for (pieces, base) in [&copy.shared, &copy.global].into_iter().zip(base) {
        put_varint(out, pieces.len() as u64);
        for &(address, bytes) in pieces {
            put_signed(out, address.wrapping_sub(*base) as i64);
            put_varint(out, bytes);
            *base = address;
        }
    }
    if let Some((address, bytes)) = copy.arrives {
        put_varint(out, address);
        put_varint(out, bytes.into());
    }
}

/// Reads it.
pub(super) fn read(cursor: &mut Cursor, base: &mut [u64; 2]) -> Result<Transfer, Corrupt> {
    let flags = cursor.byte()?;
    if flags & !(STORES | ARRIVES | OTHERS) != 0 {
        return cursor.corrupt(format!("a copy has the flags {flags:#x}"));
    }
    let mut sides = [Vec::new(), Vec::new()];
    for (pieces, base) in sides.iter_mut().zip(base) {
        for _ in 0..cursor.varint()? {
            *base = base.wrapping_add(cursor.signed()? as u64);
            let bytes = cursor.varint()?;
            if !(1..=MOST).contains(&bytes) {
                return cursor.corrupt(format!("a piece of a copy has {bytes} bytes"));
            }
            pieces.push((*base, bytes));
        }
    }
    let arrives = if flags & ARRIVES == 0 {
        None
    } else {
        let address = cursor.varint()?;
        let Ok(bytes) = u32::try_from(cursor.varint()?) else {
            return cursor.corrupt("the bytes of an mbarrier have more than 32 bits");
        };
        Some((address, bytes))
    };
    let [shared, global] = sides;
    Ok(Transfer {
        stores: flags & STORES != 0,
        shared,
        global,
        arrives,
        others: flags & OTHERS != 0,
    })
}
