//! Places of registers in the file: those that never live at the same time
//! share one.
//!
//! PTX names thousands of registers where dozens live; without sharing, the
//! files of the warps of a block would not fit the caches. Liveness is that
//! of one thread: instructions write the lanes of their mask only, so that a
//! lane's values stay where others run through code that uses the place for
//! something else. A guarded write keeps what was there.

use super::Decoder;
use super::info::accessed;
use crate::ast::{Function, Instruction, Parameter};
use crate::cfg::Cfg;
use crate::exec::registers::{Slot, Width};

/// Sets of this many registers and blocks are not worth the time.
const LIMIT: usize = 1 << 28;

/// First and last position at which a register lives.
type Interval = (u32, u32);

impl Decoder<'_> {
    /// Places the registers of the current function. The registers that may be read before
    /// they are written, in order.
    pub(super) fn allocate_registers(&mut self, cfg: &Cfg) -> Vec<u32> {
        let body = self.body();
        if body.registers.len() * cfg.blocks.len() > LIMIT {
            return Vec::new();
        }
        // Callers and callees know the places of these.
        let passed = body
            .params
            .iter()
            .chain(&body.returns)
            .filter_map(|p| match p {
                Parameter::Register(register) => Some(register.0),
                Parameter::Variable(_) => None,
            });
        let passed: Vec<u32> = passed.collect();
        let (intervals, unsure) = intervals(body, cfg);
        let unsure = unsure.into_iter().filter(|r| !passed.contains(r)).collect();
        let mut order: Vec<(Interval, u32)> = intervals
            .into_iter()
            .enumerate()
            .filter_map(|(register, interval)| Some((interval?, register as u32)))
            .filter(|(_, register)| !passed.contains(register))
            .collect();
        order.sort_unstable();
        for width in [Width::Double, Width::Word, Width::Half] {
            // Ends of the intervals in the places so far, soonest last.
            let mut busy: Vec<(u32, u32)> = Vec::new();
            let mut free: Vec<u32> = Vec::new();
            for &((start, end), register) in &order {
                if Width::of(body.registers[register as usize].ty) != Some(width) {
                    continue;
                }
                while let Some(&(until, at)) = busy.last()
                    && until < start
                {
                    free.push(at);
                    busy.pop();
                }
                let at = free.pop().unwrap_or_else(|| self.allocate(width).at);
                let slot = Slot {
                    at,
                    width,
                    flip: false,
                };
                self.slots.insert((self.function, register), slot);
                let place = busy.partition_point(|b| b.0 > end);
                busy.insert(place, (end, at));
            }
        }
        unsure
    }
}

/// The interval in which each register lives, in half instructions: reads at `2 i`, writes
/// at `2 i + 1`. It reaches from the first to the last place where the register does, so
/// that loops are covered. Also the registers that may live before the function begins:
/// nobody has written them there.
fn intervals(body: &Function, cfg: &Cfg) -> (Vec<Option<Interval>>, Vec<u32>) {
    let count = body.registers.len();
    let words = count.div_ceil(64);
    let access = accesses(body);
    let (live_in, live_out) = liveness(cfg, &access, words);
    let mut intervals: Vec<Option<Interval>> = vec![None; count];
    let mut at = |register: u32, position: u32| {
        let interval = intervals[register as usize].get_or_insert((position, position));
        *interval = (interval.0.min(position), interval.1.max(position));
    };
    for (index, block) in cfg.blocks.iter().enumerate() {
        for (set, position) in [(&live_in, 2 * block.start), (&live_out, 2 * block.end - 1)] {
            for (word, &bits) in set[index * words..][..words].iter().enumerate() {
                let mut left = bits;
                while left != 0 {
                    at((64 * word) as u32 + left.trailing_zeros(), position);
                    left &= left - 1;
                }
            }
        }
        for position in block.start..block.end {
            let (reads, writes, _) = &access[position as usize];
            reads.iter().for_each(|&r| at(r, 2 * position));
            writes.iter().for_each(|&r| at(r, 2 * position + 1));
        }
    }
    let at_start = |r: &u32| !live_in.is_empty() && live_in[*r as usize / 64] >> (r % 64) & 1 != 0;
    let unsure = (0..count as u32).filter(at_start).collect();
    (intervals, unsure)
}

/// By instruction: the registers that it reads and writes, and whether it has a guard.
fn accesses(body: &Function) -> Vec<(Vec<u32>, Vec<u32>, bool)> {
    let of = |i: &Instruction| {
        let (reads, writes) = accessed(i);
        let plain = |list: Vec<crate::ast::Register>| list.iter().map(|r| r.0).collect();
        (plain(reads), plain(writes), i.guard.is_some())
    };
    body.instructions.iter().map(of).collect()
}

/// The registers that live at the start of blocks.
pub(super) struct Live {
    sets: Vec<u64>,
    words: usize,
}

impl Live {
    pub fn of(body: &Function, cfg: &Cfg) -> Self {
        let words = body.registers.len().div_ceil(64);
        let sets = if body.registers.len() * cfg.blocks.len() > LIMIT {
            Vec::new()
        } else {
            liveness(cfg, &accesses(body), words).0
        };
        Live { sets, words }
    }

    /// Whether a register may live at the start of a block.
    pub fn at(&self, block: u32, register: u32) -> bool {
        let place = block as usize * self.words + register as usize / 64;
        let word = self.sets.get(place);
        word.is_none_or(|word| word >> (register % 64) & 1 != 0)
    }
}

/// Registers that live at the start and at the end of each block, as sets of
/// `words` words.
fn liveness(
    cfg: &Cfg,
    access: &[(Vec<u32>, Vec<u32>, bool)],
    words: usize,
) -> (Vec<u64>, Vec<u64>) {
    let blocks = cfg.blocks.len();
    // Read before written, and surely written.
    let (mut used, mut defined) = (vec![0u64; blocks * words], vec![0u64; blocks * words]);
    for (index, block) in cfg.blocks.iter().enumerate() {
        let (used, defined) = (&mut used[index * words..], &mut defined[index * words..]);
        for (reads, writes, guarded) in &access[block.start as usize..block.end as usize] {
            let kept = if *guarded { &writes[..] } else { &[] };
            for &r in reads.iter().chain(kept) {
                used[r as usize / 64] |= 1 << (r % 64) & !defined[r as usize / 64];
            }
            for &r in writes.iter().filter(|_| !guarded) {
                defined[r as usize / 64] |= 1 << (r % 64);
            }
        }
    }
    let (mut live_in, mut live_out) = (used.clone(), vec![0u64; blocks * words]);
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for index in cfg.reverse_postorder.iter().rev().map(|&b| b as usize) {
            for word in 0..words {
                let inside = cfg.blocks[index]
                    .successors
                    .iter()
                    .filter(|&&s| s != cfg.exit());
                let out = inside.fold(0, |all, &s| all | live_in[s as usize * words + word]);
                let at = index * words + word;
                let new = used[at] | out & !defined[at];
                changed |= new != live_in[at];
                (live_in[at], live_out[at]) = (new, out);
            }
        }
    }
    (live_in, live_out)
}
