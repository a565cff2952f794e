//! Where all threads of a block pass, and equally often.

use crate::analysis::{Loops, Uniformity, Values};
use crate::ast::{Function, Module};
use crate::cfg::Cfg;

/// Blocks times branches beyond which every block may be in a condition.
const LIMIT: usize = 1 << 24;

/// A function, and the blocks that not all threads execute equally often.
pub(super) struct Flow {
    pub cfg: Cfg,
    pub values: Values,
    pub conditional: Vec<bool>,
}

impl Flow {
    pub fn new(module: &Module, function: &Function) -> Self {
        let cfg = Cfg::new(function);
        let values = Values::new(function, &cfg);
        let loops = Loops::new(&cfg, values.dominators());
        let uniformity = Uniformity::new(module, function, &cfg, &values, &loops);
        let splits = |block: &u32| uniformity.is_split(*block);
        let splits: Vec<u32> = (0..cfg.blocks.len() as u32).filter(splits).collect();
        let conditional = conditional(&cfg, &splits);
        Flow {
            cfg,
            values,
            conditional,
        }
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
        let end = cfg.post_dominator[split as usize];
        let mut known = vec![false; count];
        let mut open = cfg.blocks[split as usize].successors.clone();
        while let Some(block) = open.pop() {
            if block == end || block >= cfg.exit() {
                continue;
            }
            if !std::mem::replace(&mut known[block as usize], true) {
                all[block as usize] = true;
                open.extend(&cfg.blocks[block as usize].successors);
            }
        }
    }
    all
}
