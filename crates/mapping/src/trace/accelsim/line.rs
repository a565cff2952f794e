//! One instruction line: `[line] PC mask dests opcode sources width [addresses] [immediate]`.

use super::WARP_SIZE;
use super::header::Header;
use super::opcode::{self, OpClass};
use super::source::{Bad, Words};

/// One instruction of one warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SassInstr {
    /// Source line, where the trace has it.
    pub line: Option<u32>,
    /// Byte offset in the kernel's code.
    pub pc: u32,
    /// Active lanes, bit l for lane l.
    pub mask: u32,
    /// Registers that it writes.
    pub dests: Vec<u8>,
    /// Registers that it reads.
    pub sources: Vec<u8>,
    /// Opcode with modifiers.
    pub opcode: String,
    /// Class of the opcode.
    pub class: OpClass,
    /// Bytes per lane of an access, 0 for others.
    pub bytes: u32,
    /// Address of each lane as traced, 0 where inactive.
    pub addresses: Option<Box<[u64; WARP_SIZE as usize]>>,
}

/// R255 always reads 0 and keeps nothing.
const ZERO_REGISTER: u32 = 255;

impl SassInstr {
    pub(super) fn parse(text: &str, header: &Header) -> Result<Self, Bad> {
        let mut words = Words::new(text);
        let line = if header.line_info {
            Some(words.decimal("a source line")?)
        } else {
            None
        };
        let pc = words.hexadecimal("a PC in hexadecimal")? as u32;
        let mask = words.hexadecimal("a mask of 32 lanes in hexadecimal")?;
        let mask = u32::try_from(mask)
            .map_err(|_| Bad::new("the mask has over 32 lanes", "expected 8 digits", 0))?;
        let dests = registers(&mut words)?;
        let opcode = words.word("an opcode")?.to_owned();
        let sources = registers(&mut words)?;
        let width: u32 = words.decimal("the width in bytes")?;
        let class = OpClass::of(&opcode);
        let mut mask = mask;
        let addresses = match width {
            0 => None,
            _ => Some(addresses(&mut words, mask)?),
        };
        if class.is_memory()
            && addresses.is_some()
            && let Some(lanes) = opcode::matrix_lanes(&opcode)
        {
            mask &= u32::MAX >> (WARP_SIZE - lanes);
        }
        let bytes = match (&addresses, class.is_memory()) {
            (Some(_), true) => opcode::width(&opcode).unwrap_or(4),
            _ => 0,
        };
        Ok(SassInstr {
            line,
            pc,
            mask,
            dests,
            sources,
            opcode,
            class,
            bytes,
            addresses,
        })
    }
}

/// A count, and as many registers `R7`.
fn registers(words: &mut Words) -> Result<Vec<u8>, Bad> {
    let count: usize = words.decimal("a number of registers")?;
    let mut registers = Vec::new();
    for _ in 0..count {
        let word = words.word("a register such as R7")?;
        let number = word.strip_prefix('R').and_then(|n| n.parse::<u32>().ok());
        match number {
            Some(ZERO_REGISTER) => {}
            Some(n) if n < ZERO_REGISTER => registers.push(n as u8),
            // Uniform and predicate registers are not followed.
            _ if word.starts_with("UR") || word.starts_with('P') => {}
            _ => return Err(words.wrong(word, "a register such as R7")),
        }
    }
    Ok(registers)
}

/// The addresses of the lanes in `mask`: 0 a list of all, 1 base and stride, 2
/// base and differences from lane to lane.
fn addresses(words: &mut Words, mask: u32) -> Result<Box<[u64; WARP_SIZE as usize]>, Bad> {
    const MODES: &str = "an address mode: 0 list, 1 stride, 2 differences";
    let mode: u32 = words.decimal(MODES)?;
    let mut lanes = Box::new([0; WARP_SIZE as usize]);
    let mut active = (0..WARP_SIZE as usize).filter(|&l| mask >> l & 1 == 1);
    match mode {
        0 => {
            for lane in active {
                lanes[lane] = words.hexadecimal("an address in hexadecimal")?;
            }
        }
        1 => {
            let base = words.hexadecimal("a base address in hexadecimal")?;
            let stride: i64 = words.decimal("a stride in bytes")?;
            // The lanes that take part are neighbours.
            for (i, lane) in active.enumerate() {
                lanes[lane] = base.wrapping_add((i as i64).wrapping_mul(stride) as u64);
            }
        }
        2 => {
            let mut last = words.hexadecimal("a base address in hexadecimal")?;
            if let Some(first) = active.next() {
                lanes[first] = last;
            }
            for lane in active {
                let delta: i64 = words.decimal("a difference in bytes")?;
                last = last.wrapping_add(delta as u64);
                lanes[lane] = last;
            }
        }
        other => return Err(words.wrong(&other.to_string(), MODES)),
    }
    Ok(lanes)
}
