//! The instructions of one chunk, as bytes.
//!
//! Numbers are varints (7 bits a byte, low bits first, the top bit says that
//! more follow); signed ones are zigzag-coded. Program counter, mask and
//! addresses are written against those of the instruction before, so that
//! straight-line code with strided accesses takes a few bytes a line.

mod detail;
mod incoming;
mod transfer;

pub(super) use incoming::{put as put_incoming, read as read_incoming};

use crate::sm::instr::{Addresses, Instr, InstrKind, MAX_SOURCES, Sources};

/// Kinds from this one on have a byte of their own after the first.
const FURTHER: usize = 15;
/// Flags in an instruction's first byte, next to the kind.
const PC_NEXT: u8 = 1 << 4;
const MASK_SAME: u8 = 1 << 5;
const HAS_DST: u8 = 1 << 6;
const AFFINE: u8 = 1 << 7;

/// The state that the next instruction is encoded against; reset at each chunk.
struct Context {
    pc: u32,
    mask: u64,
    /// Last base of shared and of global addresses.
    base: [u64; 2],
}

impl Context {
    fn new(full: u64) -> Self {
        Context {
            pc: u32::MAX, // the first instruction is expected at 0
            mask: full,
            base: [0; 2],
        }
    }
}

pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_signed(out: &mut Vec<u8>, value: i64) {
    put_varint(out, (value << 1 ^ value >> 63) as u64);
}

/// Encodes instructions of one warp, one after the other.
pub(super) struct Encoder {
    context: Context,
    full: u64,
    pub bytes: Vec<u8>,
    pub count: u32,
}

impl Encoder {
    /// `full` is the mask of a whole warp.
    pub fn new(full: u64) -> Self {
        Encoder {
            context: Context::new(full),
            full,
            bytes: Vec::new(),
            count: 0,
        }
    }

    /// Empties the encoder for the next chunk.
    pub fn clear(&mut self) {
        self.context = Context::new(self.full);
        self.bytes.clear();
        self.count = 0;
    }

    pub fn push(&mut self, instr: &Instr) {
        let (context, out) = (&mut self.context, &mut self.bytes);
        let code = InstrKind::ALL.iter().position(|&k| k == instr.kind);
        let code = code.unwrap_or(0);
        let mut first = code.min(FURTHER) as u8;
        let pc_next = instr.pc == context.pc.wrapping_add(1);
        let mask_same = instr.mask == context.mask;
        let affine = matches!(instr.addrs, Addresses::Affine { .. });
        for (flag, set) in [
            (PC_NEXT, pc_next),
            (MASK_SAME, mask_same),
            (HAS_DST, instr.dst.is_some()),
            (AFFINE, affine),
        ] {
            first |= if set { flag } else { 0 };
        }
        out.push(first);
        if code >= FURTHER {
            out.push(code as u8);
        }
        if !pc_next {
            put_signed(out, i64::from(instr.pc) - i64::from(context.pc));
        }
        if !mask_same {
            put_varint(out, instr.mask);
        }
        out.extend(instr.dst);
        let srcs = instr.srcs.as_slice();
        out.push(srcs.len() as u8 | detail::shape(instr) << 4);
        out.extend(srcs);
        detail::put(out, instr.detail);
        if let Addresses::Copy(copy) = &instr.addrs {
            transfer::put(out, copy, &mut context.base);
        } else if instr.kind.has_address() {
            let base = &mut context.base[usize::from(instr.kind.is_global())];
            put_addresses(out, &instr.addrs, instr.mask, base);
        }
        (context.pc, context.mask) = (instr.pc, instr.mask);
        self.count += 1;
    }
}

fn put_addresses(out: &mut Vec<u8>, addrs: &Addresses, mask: u64, base: &mut u64) {
    let mut delta = |address: u64| {
        put_signed(out, address.wrapping_sub(*base) as i64);
        *base = address;
    };
    match addrs {
        Addresses::Affine { base, stride } => {
            delta(*base);
            put_signed(out, *stride);
        }
        _ => {
            let active = (0..64).filter(|l| mask >> l & 1 == 1);
            active.for_each(|lane| delta(addrs.of(lane)));
        }
    }
}

/// The error in a chunk, and its byte.
pub(super) struct Corrupt {
    pub at: usize,
    pub what: String,
}

/// Reads numbers from bytes.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, at: 0 }
    }

    fn corrupt<T>(&self, what: impl Into<String>) -> Result<T, Corrupt> {
        Err(Corrupt {
            at: self.at,
            what: what.into(),
        })
    }

    fn byte(&mut self) -> Result<u8, Corrupt> {
        let Some(&byte) = self.bytes.get(self.at) else {
            return self.corrupt("an instruction is truncated");
        };
        self.at += 1;
        Ok(byte)
    }

    pub fn varint(&mut self) -> Result<u64, Corrupt> {
        // Most have one byte.
        if let Some(&byte) = self.bytes.get(self.at).filter(|&&byte| byte < 0x80) {
            self.at += 1;
            return Ok(byte.into());
        }
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part {
                break;
            }
            value |= part << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        self.corrupt("a number has more than 64 bits")
    }

    fn signed(&mut self) -> Result<i64, Corrupt> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}

/// Decodes the `count` instructions of a chunk of a warp with `lanes` lanes.
pub(super) fn decode(bytes: &[u8], count: u32, lanes: u32) -> Result<Vec<Instr>, Corrupt> {
    let full = crate::sm::instr::full_mask(lanes);
    let mut cursor = Cursor::new(bytes);
    let mut context = Context::new(full);
    let mut instrs = Vec::with_capacity(count as usize);
    for _ in 0..count {
        instrs.push(decode_one(&mut cursor, &mut context, full, lanes)?);
    }
    if cursor.at != bytes.len() {
        return cursor.corrupt("bytes remain after the last instruction");
    }
    Ok(instrs)
}

#[inline(always)]
fn decode_one(
    cursor: &mut Cursor,
    context: &mut Context,
    full: u64,
    lanes: u32,
) -> Result<Instr, Corrupt> {
    let first = cursor.byte()?;
    let has = |flag: u8| first & flag != 0;
    let code = match usize::from(first & 0xf) {
        FURTHER => usize::from(cursor.byte()?).max(FURTHER),
        code => code,
    };
    let Some(&kind) = InstrKind::ALL.get(code) else {
        return cursor.corrupt(format!("there is no instruction kind {code}"));
    };
    if !has(PC_NEXT) {
        let pc = i64::from(context.pc).checked_add(cursor.signed()?);
        let Some(pc) = pc.and_then(|pc| u32::try_from(pc).ok()) else {
            return cursor.corrupt("a program counter is out of range");
        };
        context.pc = pc;
    } else {
        context.pc = context.pc.wrapping_add(1);
    }
    if !has(MASK_SAME) {
        context.mask = cursor.varint()?;
    }
    if context.mask & !full != 0 {
        return cursor.corrupt(format!("a mask has lanes beyond {lanes}"));
    }
    let mut instr = Instr::new(kind, context.pc, context.mask);
    if has(HAS_DST) {
        instr.dst = Some(cursor.byte()?);
    }
    let shape = cursor.byte()?;
    let mut registers = [0; MAX_SOURCES];
    let srcs = usize::from(shape & 0xf);
    if srcs > MAX_SOURCES || shape >> 4 > detail::most(kind) {
        return cursor.corrupt("an instruction has too many sources or bytes");
    }
    for register in &mut registers[..srcs] {
        *register = cursor.byte()?;
    }
    instr.srcs = Sources::new(&registers[..srcs]).unwrap_or_default();
    detail::read(cursor, &mut instr, shape >> 4)?;
    if kind == InstrKind::BulkCopy {
        let copy = transfer::read(cursor, &mut context.base)?;
        instr.addrs = Addresses::Copy(Box::new(copy));
    } else if kind.has_address() {
        let base = &mut context.base[usize::from(kind.is_global())];
        instr.addrs = addresses(cursor, has(AFFINE), context.mask, base, lanes)?;
    }
    Ok(instr)
}

fn addresses(
    cursor: &mut Cursor,
    affine: bool,
    mask: u64,
    base: &mut u64,
    lanes: u32,
) -> Result<Addresses, Corrupt> {
    let mut next = |cursor: &mut Cursor| -> Result<u64, Corrupt> {
        *base = base.wrapping_add(cursor.signed()? as u64);
        Ok(*base)
    };
    if affine {
        let base = next(cursor)?;
        let stride = cursor.signed()?;
        return Ok(Addresses::Affine { base, stride });
    }
    let mut list = vec![0; lanes as usize];
    for (lane, address) in list.iter_mut().enumerate() {
        if mask >> lane & 1 == 1 {
            *address = next(cursor)?;
        }
    }
    Ok(Addresses::List(list.into()))
}
