//! Dominators: the blocks that lie on every way from the entry to a block.

use crate::cfg::{self, Cfg};

/// The dominator tree of the blocks that can be reached.
#[derive(Clone, Debug)]
pub struct Dominators {
    immediate: Vec<Option<u32>>,
    children: Vec<Vec<u32>>,
    /// Entry and exit times of a walk over the tree; both 0 where a block
    /// cannot be reached.
    times: Vec<(u32, u32)>,
}

impl Dominators {
    /// The dominators of the graph's blocks.
    pub fn new(cfg: &Cfg) -> Self {
        let postorder: Vec<u32> = cfg.reverse_postorder.iter().rev().copied().collect();
        let count = cfg.blocks.len();
        let mut immediate = cfg::immediate_dominators(&postorder, count, |block| {
            cfg.blocks[block as usize].predecessors.iter().copied()
        });
        let mut children = vec![Vec::new(); count];
        for &block in &cfg.reverse_postorder {
            match immediate[block as usize] {
                Some(parent) if parent != block => children[parent as usize].push(block),
                _ => immediate[block as usize] = None,
            }
        }
        let mut dominators = Dominators {
            immediate,
            children,
            times: vec![(0, 0); count],
        };
        dominators.number(cfg.reverse_postorder.first().copied());
        dominators
    }

    fn number(&mut self, root: Option<u32>) {
        let mut time = 0;
        let mut stack: Vec<(u32, usize)> = root.map(|r| (r, 0)).into_iter().collect();
        while let Some((block, at)) = stack.last_mut() {
            let block = *block as usize;
            if *at == 0 {
                time += 1;
                self.times[block].0 = time;
            }
            let child = self.children[block].get(*at).copied();
            *at += 1;
            match child {
                Some(child) => stack.push((child, 0)),
                None => {
                    time += 1;
                    self.times[block].1 = time;
                    stack.pop();
                }
            }
        }
    }

    /// The immediate dominator; none of the entry and of blocks that cannot be
    /// reached.
    pub fn immediate(&self, block: u32) -> Option<u32> {
        self.immediate[block as usize]
    }

    /// The blocks whose immediate dominator `block` is.
    pub fn children(&self, block: u32) -> &[u32] {
        &self.children[block as usize]
    }

    /// Whether the block can be reached from the entry.
    pub fn reaches(&self, block: u32) -> bool {
        self.times[block as usize].0 != 0
    }

    /// Whether every way from the entry to `b` passes `a`; a block dominates
    /// itself. False where one of them cannot be reached.
    pub fn dominates(&self, a: u32, b: u32) -> bool {
        let ((start, end), (inner, _)) = (self.times[a as usize], self.times[b as usize]);
        start != 0 && start <= inner && inner < end
    }

    /// The dominance frontier of every block: where its dominance ends.
    pub(super) fn frontiers(&self, cfg: &Cfg) -> Vec<Vec<u32>> {
        let mut frontiers = vec![Vec::new(); cfg.blocks.len()];
        for &block in &cfg.reverse_postorder {
            let predecessors = &cfg.blocks[block as usize].predecessors;
            let entry = self.immediate(block).is_none();
            if predecessors.len() < 2 && !entry {
                continue;
            }
            for &predecessor in predecessors.iter().filter(|&&p| self.reaches(p)) {
                let mut runner = Some(predecessor);
                while let Some(at) = runner.filter(|&r| Some(r) != self.immediate(block)) {
                    let frontier: &mut Vec<u32> = &mut frontiers[at as usize];
                    if frontier.last() == Some(&block) {
                        break;
                    }
                    frontier.push(block);
                    runner = self.immediate(at);
                }
            }
        }
        frontiers
    }
}
