//! Exchanges between the lanes of a warp: shuffles, votes, matches,
//! reductions. Also what else moves whole registers: clocks, and registers
//! that are made of parts.

use crate::exec::api::FindingKind;
use crate::exec::check::unwritten;
use crate::exec::image::{ElementMoves, Repack, WarpOp};
use crate::exec::machine::Machine;
use crate::exec::registers::{Registers, Slot, active};
use crate::names::{Type, Word};
use crate::opcodes::Opcode;
use crate::scalar::sources;

/// Executes an exchange of lanes.
pub fn exchange(m: &mut Machine, info: &WarpOp, exec: u32) {
    let registers = m.registers;
    let source = |n: usize| info.sources.get(n).map_or([0; 32], |&s| registers.read(s));
    let exchanged = exchanged(info, exec, source);
    finish(m, info, exec, &exchanged);
}

/// Executes one exchange for lanes that come to it at several places, each with the
/// registers that it names there: place, exchange, lanes.
pub fn joint(m: &mut Machine, parts: &[(u32, &WarpOp, u32)]) {
    let registers = m.registers;
    let source = |n: usize| {
        let mut all = [0; 32];
        for (_, info, exec) in parts {
            if let Some(&slot) = info.sources.get(n) {
                let values = registers.read(slot);
                lanes(*exec).for_each(|lane| all[lane] = values[lane]);
            }
        }
        all
    };
    let Some(&(_, info, _)) = parts.first() else {
        return;
    };
    let exec = parts.iter().fold(0, |all, part| all | part.2);
    let exchanged = exchanged(info, exec, source);
    for &(pc, info, exec) in parts {
        m.pc = pc;
        finish(m, info, exec, &exchanged);
    }
}

/// The results of an exchange.
struct Exchanged {
    results: Lanes,
    seconds: Lanes,
    /// In a shuffle, the lanes whose value another lane, or all, get.
    read: u32,
    /// A lane that reads from another which does not take part.
    missing: Option<(usize, usize)>,
}

#[inline(always)]
fn exchanged(info: &WarpOp, exec: u32, source: impl Fn(usize) -> Lanes) -> Exchanged {
    let mut shuffled = (0, None);
    let (results, seconds) = match info.opcode {
        Opcode::Shfl => {
            // Old PTX names no lanes.
            let members = match info.sources.len() {
                4 => source(3),
                _ => [u64::MAX; 32],
            };
            let inputs = [&source(0), &source(1), &source(2), &members];
            let (values, inside, missing, read) = shuffle(info, exec, inputs);
            shuffled = (read, missing);
            (values, inside)
        }
        Opcode::Vote => vote(info, exec, &source(0), &source(1)),
        Opcode::Match => matches(info, exec, &source(0), &source(1)),
        Opcode::Redux => redux(info, exec, &source(0), &source(1)),
        Opcode::Elect => elect(exec, &source(0)),
        Opcode::Movmatrix => (transpose(&source(0)), [0; 32]),
        // `activemask`
        _ => ([u64::from(exec); 32], [0; 32]),
    };
    Exchanged {
        results,
        seconds,
        read: shuffled.0,
        missing: shuffled.1,
    }
}

/// Writes the results of the lanes of `exec`.
#[inline(always)]
fn finish(m: &mut Machine, info: &WarpOp, exec: u32, exchanged: &Exchanged) {
    if info.opcode == Opcode::Shfl {
        if !m.written_by.is_empty() {
            unwritten::shuffled(m, exchanged.read & exec);
        }
        if let Some((lane, from)) = exchanged.missing
            && exec >> lane & 1 != 0
        {
            note_missing(m, lane, from);
        }
    }
    m.registers.write(info.result, exec, &exchanged.results);
    if let Some(second) = info.second {
        m.registers.write(second, exec, &exchanged.seconds);
    }
}

/// Clocks: warp instructions of the machine so far.
pub fn clock(m: &Machine, to: Slot, upper: bool, exec: u32) {
    let count = m.warp_instructions;
    let value = if upper { count >> 32 } else { count };
    m.registers.write(to, exec, &[value; 32]);
}

type Lanes = [u64; 32];

fn lanes(exec: u32) -> impl Iterator<Item = usize> {
    active(exec).map(|lane| lane as usize)
}

/// Values, whether their lanes are in the segment, and a lane that reads from
/// another which does not take part: that value is undefined, here 0. Also the lanes
/// whose value another one, or all, get.
fn shuffle(
    info: &WarpOp,
    exec: u32,
    [a, b, c, members]: [&Lanes; 4],
) -> (Lanes, Lanes, Option<(usize, usize)>, u32) {
    let (mut values, mut inside, mut missing) = ([0; 32], [0; 32], None);
    let mut read = 0;
    for lane in lanes(exec) {
        let (by, clamp) = (b[lane] as i32 & 31, c[lane] as i32 & 31);
        let segment = (c[lane] >> 8) as i32 & 31;
        let at = lane as i32;
        let most = at & segment | clamp & !segment;
        let least = at & segment;
        let (from, valid) = match info.word {
            Some(Word::Up) => (at - by, at - by >= most),
            Some(Word::Down) => (at + by, at + by <= most),
            Some(Word::Bfly) => (at ^ by, at ^ by <= most),
            _ => (least | by & !segment, (least | by & !segment) <= most),
        };
        let from = if valid { from } else { at } as usize & 31;
        let takes_part = from == lane || (u64::from(exec) & members[lane]) >> from & 1 != 0;
        values[lane] = if takes_part { a[from] } else { 0 };
        read |= u32::from(takes_part) << from;
        inside[lane] = u64::from(valid);
        if !takes_part {
            missing.get_or_insert((lane, from));
        }
    }
    (values, inside, missing, read)
}

/// A warning only: an unused result is harmless, and reductions over parts of a
/// warp produce them.
#[inline(never)]
fn note_missing(m: &mut Machine, lane: usize, from: usize) {
    let text = format!(
        "lane {lane} reads from lane {from}, which is not in the mask or has exited: the value is \
         undefined"
    );
    m.note(
        (FindingKind::InvalidMask, true),
        lane as u32,
        None,
        None,
        text,
    );
}

fn vote(info: &WarpOp, exec: u32, predicate: &Lanes, member: &Lanes) -> (Lanes, Lanes) {
    let mut values = [0; 32];
    for lane in lanes(exec) {
        let asked = match info.sources.len() {
            1 => exec,
            _ => exec & member[lane] as u32,
        };
        let ballot = lanes(asked).fold(0u32, |b, l| b | (predicate[l] as u32 & 1) << l);
        values[lane] = u64::from(match info.word {
            Some(Word::All) => u32::from(ballot == asked),
            Some(Word::Any) => u32::from(ballot != 0),
            Some(Word::Uni) => u32::from(ballot == asked || ballot == 0),
            _ => ballot,
        });
    }
    (values, [0; 32])
}

fn matches(info: &WarpOp, exec: u32, a: &Lanes, member: &Lanes) -> (Lanes, Lanes) {
    let (mut values, mut same) = ([0; 32], [0; 32]);
    for lane in lanes(exec) {
        let asked = exec & member[lane] as u32;
        let equal = lanes(asked)
            .filter(|&l| a[l] == a[lane])
            .fold(0u32, |m, l| m | 1 << l);
        let all = equal == asked;
        values[lane] = u64::from(match info.word {
            Some(Word::All) if !all => 0,
            _ => equal,
        });
        same[lane] = u64::from(all);
    }
    (values, same)
}

/// The lowest lane of each mask, and whether a lane is it.
fn elect(exec: u32, member: &Lanes) -> (Lanes, Lanes) {
    let (mut leaders, mut is_leader) = ([0; 32], [0; 32]);
    for lane in lanes(exec) {
        let leader = (exec & member[lane] as u32).trailing_zeros();
        leaders[lane] = u64::from(leader);
        is_leader[lane] = u64::from(leader as usize == lane);
    }
    (leaders, is_leader)
}

fn redux(info: &WarpOp, exec: u32, a: &Lanes, member: &Lanes) -> (Lanes, Lanes) {
    let mut values = [0; 32];
    for lane in lanes(exec) {
        let asked = lanes(exec & member[lane] as u32);
        let signed = info.ty == Type::S32;
        let operands = asked.map(|l| a[l] as u32);
        if let Some(combine) = &info.combine {
            // A value alone is combined with itself: its NaN is canonical.
            let all = operands.map(u64::from);
            let best = all.fold(None, |best, x| {
                Some(combine(&sources([best.unwrap_or(x), x]))[0])
            });
            values[lane] = best.unwrap_or(0);
            continue;
        }
        let combined = operands.reduce(|x, y| match (info.word, signed) {
            (Some(Word::Add), _) => x.wrapping_add(y),
            (Some(Word::Min), true) => (x as i32).min(y as i32) as u32,
            (Some(Word::Max), true) => (x as i32).max(y as i32) as u32,
            (Some(Word::Min), _) => x.min(y),
            (Some(Word::Max), _) => x.max(y),
            (Some(Word::And), _) => x & y,
            (Some(Word::Or), _) => x | y,
            _ => x ^ y,
        });
        values[lane] = u64::from(combined.unwrap_or(0));
    }
    (values, [0; 32])
}

/// The transpose of the 8 x 8 matrix of 16-bit elements that lanes hold as
/// `ldmatrix` gives it.
fn transpose(a: &Lanes) -> Lanes {
    let element =
        |row: usize, column: usize| a[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
    std::array::from_fn(|lane| {
        let (row, column) = (lane / 4, 2 * (lane % 4));
        element(column, row) | element(column + 1, row) << 16
    })
}

/// Splits registers into parts, or joins them.
pub fn repack(registers: Registers, info: &Repack, exec: u32) {
    // A register of 8 bits has a place of 16.
    let mask = |slots: &[Slot]| match slots {
        [_] => u64::MAX,
        _ => u64::MAX >> (64 - info.part),
    };
    let mut whole = [0u64; 32];
    for (at, slot) in (0..).step_by(info.part as usize).zip(&info.sources) {
        let values = registers.read(*slot);
        let parts = whole.iter_mut().zip(values);
        parts.for_each(|(whole, part)| *whole |= (part & mask(&info.sources)) << at);
    }
    for (at, slot) in (0..).step_by(info.part as usize).zip(&info.results) {
        let part = |w: u64| w >> at & mask(&info.results);
        registers.write(*slot, exec, &whole.map(part));
    }
}

/// Moves the elements of a vector; all are read before the first is written.
pub fn move_elements(registers: Registers, info: &ElementMoves, exec: u32) {
    let values: Vec<[u64; 32]> = info.sources.iter().map(|s| registers.read(*s)).collect();
    for (slot, values) in info.results.iter().zip(&values) {
        registers.write(*slot, exec, values);
    }
}
