//! The shared-memory accesses of one thread block as an access trace.

use super::reader::{Event, Reader};
use super::survey::Survey;
use super::{OpClass, SassInstr, WARP_SIZE, is_increment};
use crate::trace::{Access, AccessTrace, Op};
use serde_json::{Map, json};
use spadkit_base::error::{Error, Result};
use spadkit_base::quote::shown_path;

/// Accesses of a block; each takes about a kilobyte.
const MOST: usize = 1 << 19;

/// The accesses of the first traced block, or of block number `block` of the
/// grid. The file has the warps one after the other; here the accesses are in
/// the order of execution, one interval between barriers after the other.
pub fn access_trace(survey: &Survey, block: Option<u64>) -> Result<AccessTrace> {
    let path = &survey.path;
    let position = match block {
        None => 0,
        Some(block) => {
            let position = survey.blocks.iter().position(|&b| b == block);
            position.ok_or_else(|| {
                let what = format!("{}: block {block} was not traced", path.display());
                Error::usage(what, format!("blocks are {}", ranges(&survey.blocks)))
            })?
        }
    };
    if survey.shared_accesses == 0 {
        return Err(Error::usage(
            format!(
                "{}: the kernel does not access shared memory",
                path.display()
            ),
            "expected a kernel with LDS, STS or ATOMS instructions",
        ));
    }
    let intervals = read_block(survey, position)?;
    let header = &survey.header;
    let mut trace = AccessTrace {
        name: header.name.clone(),
        source: format!("{} (Accel-Sim trace)", path.display()),
        block_dim: header.block,
        shared_bytes: header.shared_bytes,
        warp_size: WARP_SIZE,
        barriers: Vec::new(),
        accesses: Vec::new(),
        executed: Default::default(),
        extra: Map::new(),
    };
    for (i, interval) in intervals.into_iter().enumerate() {
        if i > 0 {
            trace.barriers.push(trace.accesses.len() as u32);
        }
        trace.accesses.extend(interval);
    }
    Ok(trace)
}

/// The accesses of the block at `position` of the file, between barriers.
fn read_block(survey: &Survey, position: usize) -> Result<Vec<Vec<Access>>> {
    let mut reader = Reader::open(&survey.path)?;
    let mut intervals: Vec<Vec<Access>> = vec![Vec::new()];
    let (mut block, mut warp, mut interval) = (None::<usize>, 0, 0);
    let mut accesses = 0;
    while let Some(event) = reader.next_event()? {
        match event {
            Event::Block(_) => block = Some(block.map_or(0, |b| b + 1)),
            Event::Warp(w) => (warp, interval) = (w, 0),
            Event::EndBlock if block == Some(position) => break,
            Event::Instr(instr) if block == Some(position) => {
                if instr.class == OpClass::Bar {
                    interval += 1;
                    if interval == intervals.len() {
                        intervals.push(Vec::new());
                    }
                }
                let access = access(survey, warp, &instr);
                accesses += usize::from(access.is_some());
                if accesses > MOST {
                    return Err(too_many(survey, survey.blocks[position]));
                }
                intervals[interval].extend(access);
            }
            Event::Instr(_) | Event::EndBlock => {}
        }
    }
    Ok(intervals)
}

fn too_many(survey: &Survey, block: u64) -> Error {
    Error::usage(
        format!(
            "{}: block {block} accesses shared memory more than {MOST} times",
            shown_path(&survey.path)
        ),
        "expected fewer; sim reads a trace of any length as it streams",
    )
}

fn access(survey: &Survey, warp: u32, instr: &SassInstr) -> Option<Access> {
    let mut addrs = vec![None; WARP_SIZE as usize];
    for (lane, offset) in survey.shared_offsets(instr)? {
        addrs[lane] = Some((offset / 4) as u32);
    }
    let op = match instr.class {
        OpClass::Load(_) => Op::Load,
        OpClass::Store(_) => Op::Store,
        _ => Op::Atomic,
    };
    let mut extra = Map::new();
    extra.insert("sass".into(), json!(instr.opcode));
    if let Some(line) = instr.line {
        extra.insert("line".into(), json!(line));
    }
    Some(Access {
        warp,
        pc: instr.pc,
        op,
        addrs,
        bytes: instr.bytes,
        increment: is_increment(&instr.opcode),
        // The lanes are those that the machine code has.
        aggregated: false,
        extra,
    })
}

/// Numbers as text, neighbours together: `0-3, 7`.
fn ranges(numbers: &[u64]) -> String {
    const MOST: usize = 8;
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for n in sorted {
        match ranges.last_mut() {
            Some((_, end)) if *end + 1 == n => *end = n,
            _ => ranges.push((n, n)),
        }
    }
    let text = |&(from, to): &(u64, u64)| {
        if from == to {
            from.to_string()
        } else {
            format!("{from}-{to}")
        }
    };
    let shown: Vec<String> = ranges.iter().take(MOST).map(text).collect();
    let more = if ranges.len() > MOST { ", ..." } else { "" };
    shown.join(", ") + more
}
