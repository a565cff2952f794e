//! Thread blocks that are resident on an SM at a time, with and without
//! scratchpad sharing (sharing paper, sections 3 and 8.1.1; Fig. 13).
//!
//! A block takes Rtb words of the R that the SM has. Two blocks that share
//! take (1 + t) Rtb together: each t Rtb of its own, and the rest once. Of the
//! pairs S and the blocks U with a scratchpad of their own the paper takes
//! those that maximise 2 S + U, subject to
//!
//! - S (1 + t) Rtb + U Rtb <= R,
//! - S + U >= the blocks that are resident without sharing: as many blocks as
//!   before can always run, whoever waits for a partner,
//! - the limits on threads (warps), blocks and registers for 2 S + U.
//!
//! The first two leave S + U = the blocks without sharing: more would not fit
//! without sharing either. So each pair adds a block for t Rtb words.

use crate::config::Config;
use serde::Serialize;
use spadkit_base::error::{Error, Result};
use std::fmt;

/// The resources of one thread block.
#[derive(Clone, Copy, Debug)]
pub struct BlockNeeds<'a> {
    /// The kernel, for messages.
    pub name: &'a str,
    /// Rtb: bytes of scratchpad.
    pub scratchpad_bytes: u32,
    /// Threads of the block.
    pub threads: u64,
    /// 32-bit registers of a thread; 0 if unknown: they limit nothing.
    pub registers: u32,
}

/// The resource that limits the number of resident blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The capacity of the scratchpad.
    Scratchpad,
    /// Threads, which come in warps.
    Warps,
    /// Thread-block slots.
    Blocks,
    /// Registers.
    Registers,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Scratchpad => "scratchpad",
            Limit::Warps => "warps",
            Limit::Blocks => "block slots",
            Limit::Registers => "registers",
        })
    }
}

/// Refuses to let blocks of the kernel `name` take turns with a part of the scratchpad,
/// for what they do together. The owner of the part must never wait for another block:
/// that may be the one that waits for the part. And what the owner has released may no
/// longer be read by a neighbour.
pub fn cannot_share(name: &str, together: &str) -> Error {
    Error::usage(
        format!("the blocks of {name} cannot share their scratchpad: {together}"),
        "expected blocks that neither wait for each other nor access each other's shared \
         memory; run the kernel without sharing",
    )
}

/// Blocks that are resident at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Blocks without sharing.
    pub unshared: u32,
    /// S: pairs of blocks that share a part of their scratchpad.
    pub pairs: u32,
    /// U: blocks without a partner, each with a whole scratchpad.
    pub alone: u32,
    /// Rtb in words.
    pub words: u32,
    /// First block-relative word of the shared part: t Rtb in bytes, rounded
    /// down to a word.
    pub private_words: u32,
    /// The resource that limits the number of blocks.
    pub limit: Limit,
}

impl Residency {
    /// The resident blocks of `block` on `machine`; `sharing` is t, the part
    /// of a block's scratchpad that stays its own, or `None` where nothing is
    /// shared. A block that the machine cannot run at all is refused.
    pub fn new(machine: &Config, block: &BlockNeeds, sharing: Option<f64>) -> Result<Self> {
        let capacity = machine.capacity_words;
        let words = block.scratchpad_bytes.div_ceil(machine.word_bytes());
        let taken = |bytes: u32| allocated_words(machine, bytes);
        let (most, other) = limit_by_others(machine, block)?;
        let room = machine.block_words;
        if words > room {
            return Err(Error::usage(
                format!(
                    "a block of {} needs {words} words of scratchpad, the machine has {room} for \
                     a block",
                    block.name
                ),
                "use a machine with a larger scratchpad (--preset, --config)",
            ));
        }
        let whole = taken(block.scratchpad_bytes);
        let unshared = capacity.checked_div(whole).unwrap_or(most).min(most);
        let private_words = match sharing {
            Some(t) => private_words(block.scratchpad_bytes, t, machine.word_bytes()),
            None => words,
        };
        let pairs = if private_words < words {
            let left = capacity - unshared * whole;
            let private = taken(private_words * machine.word_bytes());
            let fit = left.checked_div(private).unwrap_or(u32::MAX);
            fit.min(unshared).min(most - unshared)
        } else {
            0
        };
        Ok(Residency {
            unshared,
            pairs,
            alone: unshared - pairs,
            words,
            private_words,
            limit: if unshared + pairs == most {
                other
            } else {
                Limit::Scratchpad
            },
        })
    }

    /// Bytes of scratchpad that the resident blocks of `machine` take.
    pub(super) fn allocated_bytes(&self, machine: &Config) -> u64 {
        let taken = |words: u32| {
            u64::from(allocated_words(machine, words * machine.word_bytes()))
                * u64::from(machine.word_bytes())
        };
        let private = match self.pairs {
            0 => 0,
            pairs => u64::from(pairs) * taken(self.private_words),
        };
        u64::from(self.unshared) * taken(self.words) + private
    }

    /// Resident blocks: 2 S + U.
    pub fn blocks(&self) -> u32 {
        2 * self.pairs + self.alone
    }
}

/// t Rtb in whole words. A decimal t has no exact binary form: what is short of
/// a byte by less than any t could mean is that byte.
fn private_words(bytes: u32, t: f64, word_bytes: u32) -> u32 {
    let private = (f64::from(bytes) * t + 1e-6).floor() as u32;
    private.min(bytes) / word_bytes
}

/// Words that a block with so many bytes takes from the SM; one without scratchpad takes
/// what the system reserves.
fn allocated_words(machine: &Config, bytes: u32) -> u32 {
    let allocation = machine.sm.allocation;
    let bytes = bytes.saturating_add(allocation.reserved_bytes);
    let bytes = bytes.div_ceil(allocation.shared_unit) * allocation.shared_unit;
    bytes.div_ceil(machine.word_bytes())
}

/// Registers that a block needs, and the blocks for which the SM has enough.
fn by_registers(machine: &Config, block: &BlockNeeds, warps: u64) -> (u64, u64) {
    let (all, allocation) = (u64::from(machine.sm.registers), machine.sm.allocation);
    let per_thread = u64::from(block.registers);
    let most = |each: u64| all.checked_div(each).unwrap_or(u64::MAX);
    if allocation.register_unit == 0 {
        let each = per_thread * block.threads;
        return (each, most(each));
    }
    let unit = u64::from(allocation.register_unit);
    let files = u64::from(allocation.register_files);
    let per_warp = (per_thread * u64::from(machine.warp_size)).next_multiple_of(unit);
    // The hardware checks a block as if it had warps in all files.
    let checked = per_warp * warps.next_multiple_of(files);
    let fit = (all / files)
        .checked_div(per_warp)
        .map(|n| n * files / warps);
    let fit = fit
        .filter(|_| checked <= all)
        .or((per_warp > 0).then_some(0));
    (checked, fit.unwrap_or(u64::MAX))
}

/// Blocks that warps, block slots and registers allow, and which of them.
fn limit_by_others(machine: &Config, block: &BlockNeeds) -> Result<(u32, Limit)> {
    let warps = block.threads.div_ceil(machine.warp_size.into());
    let (registers, by_registers) = by_registers(machine, block, warps);
    let has = |what: u32, each: u64| u64::from(what).checked_div(each).unwrap_or(u64::MAX);
    let by_warps = has(machine.path.warps, warps);
    let (name, slots) = (block.name, machine.path.warps);
    if by_warps == 0 {
        return Err(Error::usage(
            format!("a block of {name} has {warps} warps, the machine {slots} warp slots"),
            "use a machine with more warps (--preset, --config)",
        ));
    }
    if by_registers == 0 {
        return Err(Error::usage(
            format!(
                "a block of {name} needs {registers} registers, the machine has {}",
                machine.sm.registers
            ),
            "use a machine with more registers (--preset, --config)",
        ));
    }
    let blocks = u64::from(machine.path.blocks);
    let (most, limit) = [
        (by_warps, Limit::Warps),
        (blocks, Limit::Blocks),
        (by_registers, Limit::Registers),
    ]
    .into_iter()
    .min_by_key(|l| l.0)
    .unwrap_or((blocks, Limit::Blocks));
    Ok((most as u32, limit))
}

#[cfg(test)]
mod tests;
