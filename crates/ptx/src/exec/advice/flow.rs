//! Flow of a block's threads: the places where all of them pass, and equally often.

use crate::analysis::{Loops, Uniformity, Values};
use crate::ast::{Function, Immediate, Instruction, Module, Operand};
use crate::cfg::Cfg;
use crate::names::Word;
use crate::opcodes::Class;

/// Blocks times branches beyond which every block may be in a condition.
const LIMIT: usize = 1 << 24;

/// A function, and the blocks that not all threads execute equally often.
pub(super) struct Flow {
    pub cfg: Cfg,
    pub values: Values,
    pub conditional: Vec<bool>,
    /// Blocks at whose end threads part.
    splits: Vec<u32>,
}

impl Flow {
    pub fn new(module: &Module, function: &Function) -> Self {
        let cfg = Cfg::new(function);
        let values = Values::new(function, &cfg);
        let loops = Loops::new(&cfg, values.dominators());
        let uniformity = Uniformity::new(module, function, &cfg, &values, &loops);
        let splits = |block: &u32| uniformity.is_split(*block);
        let splits: Vec<u32> = (0..cfg.blocks.len() as u32).filter(splits).collect();
        let mut conditional = conditional(&cfg, &splits);
        beside_barriers(&mut conditional, function, (&cfg, &values, &loops));
        Flow {
            cfg,
            values,
            conditional,
            splits,
        }
    }

    /// The blocks at whose end threads part, and of which only some come to a block.
    pub fn splits_of(&self, block: u32) -> Vec<u32> {
        let parts = |split: &u32| parted(&self.cfg, *split)[block as usize];
        self.splits.iter().copied().filter(parts).collect()
    }
}

/// Blocks that threads which part at some others execute unequally often: those up to
/// where all meet again.
fn conditional(cfg: &Cfg, splits: &[u32]) -> Vec<bool> {
    let count = cfg.blocks.len();
    if count * splits.len() > LIMIT {
        return vec![true; count];
    }
    let mut all = vec![false; count];
    for &split in splits {
        let parted = parted(cfg, split);
        all.iter_mut().zip(parted).for_each(|(all, is)| *all |= is);
    }
    all
}

/// Blocks between the end of block `split` and the place where all paths that part there
/// meet again.
fn parted(cfg: &Cfg, split: u32) -> Vec<bool> {
    let end = cfg.post_dominator[split as usize];
    let mut known = vec![false; cfg.blocks.len()];
    let mut open = cfg.blocks[split as usize].successors.clone();
    while let Some(block) = open.pop() {
        if block == end || block >= cfg.exit() {
            continue;
        }
        if !std::mem::replace(&mut known[block as usize], true) {
            open.extend(&cfg.blocks[block as usize].successors);
        }
    }
    known
}

/// Takes out the blocks in which a barrier is as safe as one of the block's that is there:
/// those that all threads pass which pass that one, and as often.
fn beside_barriers(
    conditional: &mut [bool],
    function: &Function,
    (cfg, values, loops): (&Cfg, &Values, &Loops),
) {
    let count = cfg.blocks.len() as u32;
    let has_barrier = |block: &u32| {
        let own = &cfg.blocks[*block as usize];
        let all = &function.instructions[own.start as usize..own.end as usize];
        all.iter().any(is_for_all)
    };
    let barriers: Vec<u32> = (0..count).filter(has_barrier).collect();
    if barriers.len() * count as usize > LIMIT {
        return;
    }
    let dominators = values.dominators();
    let comes_behind = |block: u32, other: u32| {
        let next = |at: &u32| cfg.post_dominator.get(*at as usize).copied();
        std::iter::successors(Some(block), next)
            .take(count as usize)
            .any(|at| at == other)
    };
    for block in (0..count).filter(|b| dominators.reaches(*b)) {
        let is_beside = |other: &u32| {
            let equal = loops.innermost(block) == loops.innermost(*other)
                && ![block, *other].iter().any(|b| loops.is_irreducible(*b));
            let before = dominators.dominates(block, *other) && comes_behind(block, *other);
            let behind = dominators.dominates(*other, block) && comes_behind(*other, block);
            equal && (before || behind)
        };
        if conditional[block as usize] && barriers.iter().any(is_beside) {
            conditional[block as usize] = false;
        }
    }
}

/// Whether an instruction is a barrier of the whole block: `bar.sync 0;`.
fn is_for_all(instruction: &Instruction) -> bool {
    let zero = Operand::Immediate(Immediate::Integer(0));
    instruction.opcode.class() == Class::Barrier
        && instruction.has(Word::Sync)
        && !instruction.has(Word::Cluster)
        && instruction.guard.is_none()
        && instruction.operands[..] == [zero]
}
