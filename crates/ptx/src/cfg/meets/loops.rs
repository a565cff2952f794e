//! The loops of a graph that have one entry.

use super::{Cfg, immediate_dominators};

struct Loop {
    header: u32,
    parent: Option<usize>,
    depth: u8,
}

/// The loops, the inner ones first. Those with several entries are none.
pub(super) struct Loops {
    all: Vec<Loop>,
    /// The innermost loop of each block.
    inside: Vec<Option<usize>>,
}

impl Loops {
    /// The loops of edges back to a block that dominates them.
    pub fn new(cfg: &Cfg) -> Self {
        let mut loops = Loops {
            all: Vec::new(),
            inside: vec![None; cfg.blocks.len()],
        };
        let order: Vec<u32> = cfg.reverse_postorder.iter().rev().copied().collect();
        let dominator = immediate_dominators(&order, cfg.blocks.len(), |block| {
            cfg.blocks[block as usize].predecessors.iter().copied()
        });
        let dominates = |header: u32, mut block: u32| loop {
            match dominator[block as usize] {
                _ if block == header => return true,
                Some(above) if above != block => block = above,
                _ => return false,
            }
        };
        for &header in &order {
            let predecessors = cfg.blocks[header as usize].predecessors.iter().copied();
            let back = |p: &u32| dominator[*p as usize].is_some() && dominates(header, *p);
            let back: Vec<u32> = predecessors.filter(back).collect();
            if !back.is_empty() {
                loops.add(cfg, header, back);
            }
        }
        for at in (0..loops.all.len()).rev() {
            let above = loops.all[at].parent.map_or(0, |p| loops.all[p].depth);
            loops.all[at].depth = above.saturating_add(1);
        }
        loops
    }

    fn add(&mut self, cfg: &Cfg, header: u32, mut open: Vec<u32>) {
        let number = self.all.len();
        self.all.push(Loop {
            header,
            parent: None,
            depth: 0,
        });
        self.inside[header as usize].get_or_insert(number);
        if let Some(inner) = self.outermost(header).filter(|inner| *inner != number) {
            self.all[inner].parent = Some(number);
        }
        while let Some(block) = open.pop() {
            let head = match self.outermost(block) {
                Some(known) if known == number => continue,
                Some(inner) => {
                    self.all[inner].parent = Some(number);
                    self.all[inner].header
                }
                None => {
                    self.inside[block as usize] = Some(number);
                    block
                }
            };
            open.extend(&cfg.blocks[head as usize].predecessors);
        }
    }

    /// The outermost loop around a block that is known so far.
    fn outermost(&self, block: u32) -> Option<usize> {
        let mut at = self.of(block)?;
        while let Some(parent) = self.all[at].parent {
            at = parent;
        }
        Some(at)
    }

    fn of(&self, block: u32) -> Option<usize> {
        self.inside.get(block as usize).copied().flatten()
    }

    pub fn header(&self, at: usize) -> u32 {
        self.all[at].header
    }

    /// How many loops a loop is in, itself counted.
    pub fn depth(&self, at: usize) -> u8 {
        self.all[at].depth
    }

    /// The loop around a block that is in so many, itself counted.
    pub fn at_depth(&self, block: u32, depth: u8) -> Option<usize> {
        let mut at = self.of(block);
        while let Some(inner) = at.filter(|at| self.all[*at].depth > depth) {
            at = self.all[inner].parent;
        }
        at
    }

    /// Whether a block is in a loop, or in the function.
    pub fn has(&self, around: Option<usize>, block: u32) -> bool {
        let Some(around) = around else {
            return (block as usize) < self.inside.len();
        };
        self.at_depth(block, self.all[around].depth) == Some(around)
    }

    /// The innermost loop around a block and all of others.
    pub fn around_all(&self, block: u32, others: &[u32]) -> Option<usize> {
        let mut at = self.of(block);
        while let Some(inner) = at {
            if others.iter().all(|&other| self.has(at, other)) {
                return at;
            }
            at = self.all[inner].parent;
        }
        None
    }
}
