//! Products that the warps of each warpgroup of a block have executed, for comparison.

use std::collections::VecDeque;

/// Warps of a warpgroup.
const WARPS: usize = 4;

/// Operands of a product other than its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operands {
    /// Descriptors of `a`, 0 if registers hold it, and of `b`.
    pub descriptors: [u64; 2],
    /// Whether the accumulator counts.
    pub adds: bool,
}

/// A product that a warp has executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    pub pc: u32,
    pub operands: Operands,
}

/// The warpgroups of a block.
#[derive(Debug, Default)]
pub struct Groups(Vec<Group>);

/// A warpgroup.
#[derive(Clone, Debug, Default)]
struct Group {
    /// Products that not all of its warps have executed yet.
    open: VecDeque<Made>,
    /// Number of products that were executed by all before.
    closed: u64,
    /// By warp, the number of products that it has executed.
    done: [u64; WARPS],
}

impl Groups {
    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// A warp executes a product: the one that another warp of its group has
    /// executed in the place of it.
    pub fn make(&mut self, warp: u32, made: Made) -> Option<Made> {
        let (group, own) = (warp as usize / WARPS, warp as usize % WARPS);
        if self.0.len() <= group {
            self.0.resize_with(group + 1, Group::default);
        }
        let group = &mut self.0[group];
        let at = (group.done[own] - group.closed) as usize;
        group.done[own] += 1;
        let other = match group.open.get(at) {
            Some(other) => Some(*other).filter(|other| *other != made),
            None => {
                group.open.push_back(made);
                None
            }
        };
        let all = group.done.iter().copied().min().unwrap_or(0);
        group.open.drain(..(all - group.closed) as usize);
        group.closed = all;
        other
    }

    /// A warp that has not executed what another one of its group has, and the
    /// instruction.
    pub fn missing(&self) -> Option<(u32, u32)> {
        (0..).zip(&self.0).find_map(|(at, group)| {
            let made = group.open.front()?;
            let behind = group.done.iter().position(|&n| n == group.closed)?;
            Some(((at * WARPS + behind) as u32, made.pc))
        })
    }
}
