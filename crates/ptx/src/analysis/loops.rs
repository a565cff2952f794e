//! Natural loops and their nesting.
//!
//! A natural loop is a header with all blocks from which an edge back to it
//! can be reached without passing it; the header dominates them. Cycles that
//! no block dominates have more than one way in: their blocks are marked
//! [irreducible](Loops::is_irreducible), and are not reported as loops.

use super::Dominators;
use crate::cfg::Cfg;

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The one block through which it is entered.
    pub header: u32,
    /// Blocks of the loop, inner loops included, in reverse postorder: the header first.
    pub blocks: Vec<u32>,
    /// 1 for an outermost loop.
    pub depth: u32,
    /// The loop around it, as index of [`Loops::list`].
    pub parent: Option<u32>,
    /// Edges into the header from outside. The function's entry is none.
    pub entering: Vec<(u32, u32)>,
    /// Edges back to the header from inside.
    pub back: Vec<(u32, u32)>,
    /// Edges out of it: the block inside, and the one outside or
    /// [`Cfg::exit`].
    pub exits: Vec<(u32, u32)>,
}

/// The loops of a function.
#[derive(Clone, Debug)]
pub struct Loops {
    /// Every natural loop, outer ones before those inside.
    pub list: Vec<Loop>,
    innermost: Vec<Option<u32>>,
    irreducible: Vec<bool>,
}

impl Loops {
    /// The loops of a graph.
    pub fn new(cfg: &Cfg, dominators: &Dominators) -> Self {
        let mut back: Vec<(u32, u32)> = Vec::new();
        for &block in &cfg.reverse_postorder {
            let successors = &cfg.blocks[block as usize].successors;
            let own = successors.iter().filter(|&&s| s != cfg.exit());
            back.extend(
                own.filter(|&&s| dominators.dominates(s, block))
                    .map(|&s| (block, s)),
            );
        }
        let mut order = vec![u32::MAX; cfg.blocks.len()];
        for (at, &block) in cfg.reverse_postorder.iter().enumerate() {
            order[block as usize] = at as u32;
        }
        // Outer headers come first in reverse postorder.
        back.sort_by_key(|&(from, to)| (order[to as usize], order[from as usize]));
        let mut loops = Loops {
            list: Vec::new(),
            innermost: vec![None; cfg.blocks.len()],
            irreducible: irreducible(cfg, dominators),
        };
        let mut mark = vec![u32::MAX; cfg.blocks.len()];
        for edges in back.chunk_by(|a, b| a.1 == b.1) {
            loops.add(cfg, &order, &mut mark, edges);
        }
        loops
    }

    fn add(&mut self, cfg: &Cfg, order: &[u32], mark: &mut [u32], back: &[(u32, u32)]) {
        let index = self.list.len() as u32;
        let header = back[0].1;
        let mut blocks = vec![header];
        mark[header as usize] = index;
        let mut work: Vec<u32> = back.iter().map(|e| e.0).collect();
        while let Some(block) = work.pop() {
            if mark[block as usize] == index || order[block as usize] == u32::MAX {
                continue;
            }
            mark[block as usize] = index;
            blocks.push(block);
            work.extend(&cfg.blocks[block as usize].predecessors);
        }
        blocks.sort_unstable_by_key(|&b| order[b as usize]);
        let inside = |b: u32| b != cfg.exit() && mark[b as usize] == index;
        let into = &cfg.blocks[header as usize].predecessors;
        let reached = into.iter().filter(|&&p| order[p as usize] != u32::MAX);
        let entering = reached.filter(|&&p| !inside(p)).map(|&p| (p, header));
        let out = |&b: &u32| {
            let successors = cfg.blocks[b as usize].successors.iter();
            successors.filter(|&&s| !inside(s)).map(move |&s| (b, s))
        };
        let parent = self.innermost[header as usize];
        let depth = parent.map_or(0, |p| self.list[p as usize].depth) + 1;
        let new = Loop {
            header,
            depth,
            parent,
            entering: entering.collect(),
            back: back.to_vec(),
            exits: blocks.iter().flat_map(out).collect(),
            blocks,
        };
        for &block in &new.blocks {
            self.innermost[block as usize] = Some(index);
        }
        self.list.push(new);
    }

    /// The innermost loop around a block, as index of [`Loops::list`].
    pub fn innermost(&self, block: u32) -> Option<u32> {
        self.innermost[block as usize]
    }

    /// The loop with that header.
    pub fn of_header(&self, header: u32) -> Option<&Loop> {
        let index = self.innermost(header)?;
        Some(&self.list[index as usize]).filter(|l| l.header == header)
    }

    /// Whether the loop with index `outer` is or contains the loop `inner`.
    pub fn contains(&self, outer: u32, inner: u32) -> bool {
        let mut at = Some(inner);
        while let Some(index) = at.filter(|&i| i > outer) {
            at = self.list[index as usize].parent;
        }
        at == Some(outer)
    }

    /// Whether `block` is in the loop with index `index`.
    pub fn is_inside(&self, block: u32, index: u32) -> bool {
        self.innermost(block)
            .is_some_and(|inner| self.contains(index, inner))
    }

    /// Whether the block is on a cycle with several ways in.
    pub fn is_irreducible(&self, block: u32) -> bool {
        self.irreducible[block as usize]
    }
}

/// Blocks on cycles that are left when the edges back to dominators are taken
/// away: Tarjan's strongly connected components, without recursion.
fn irreducible(cfg: &Cfg, dominators: &Dominators) -> Vec<bool> {
    let count = cfg.blocks.len();
    let mut marked = vec![false; count];
    let (mut index, mut low) = (vec![0u32; count], vec![0u32; count]);
    let mut on_stack = vec![false; count];
    let (mut next, mut open) = (1, Vec::new());
    for &root in &cfg.reverse_postorder {
        if index[root as usize] != 0 {
            continue;
        }
        let mut walk = vec![(root, 0usize)];
        while let Some((block, at)) = walk.last_mut() {
            let b = *block as usize;
            if *at == 0 {
                (index[b], low[b]) = (next, next);
                next += 1;
                open.push(*block);
                on_stack[b] = true;
            }
            let successor = cfg.blocks[b].successors.get(*at).copied();
            *at += 1;
            match successor {
                Some(s) if s == cfg.exit() || dominators.dominates(s, b as u32) => {}
                Some(s) if index[s as usize] == 0 => walk.push((s, 0)),
                Some(s) if on_stack[s as usize] => low[b] = low[b].min(index[s as usize]),
                Some(_) => {}
                None => {
                    walk.pop();
                    if let Some((parent, _)) = walk.last() {
                        let p = *parent as usize;
                        low[p] = low[p].min(low[b]);
                    }
                    if low[b] == index[b] {
                        let start = open.iter().rposition(|&o| o as usize == b).unwrap_or(0);
                        let component = open.split_off(start);
                        for &c in &component {
                            on_stack[c as usize] = false;
                            marked[c as usize] = component.len() > 1;
                        }
                    }
                }
            }
        }
    }
    marked
}
