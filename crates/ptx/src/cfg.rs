//! The control-flow graph of a function, with immediate post-dominators.
//!
//! A block is a run of instructions that control flow enters only at the first
//! and leaves only at the last. Calls do not end blocks, because they return. The
//! post-dominators are those of Cooper, Harvey and Kennedy ("A simple, fast
//! dominance algorithm", 2001) on the reversed graph, which may be
//! irreducible; loops without an exit get a pretended one.

use super::ast::{Function, Instruction, LabelKind, Operand};
use super::names::Word;
use super::opcodes::Class;

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// First instruction.
    pub start: u32,
    /// One past the last instruction.
    pub end: u32,
    /// Blocks that may follow; [`Cfg::exit`] where the function ends.
    pub successors: Vec<u32>,
    /// Blocks that this one may follow.
    pub predecessors: Vec<u32>,
}

/// The graph.
#[derive(Clone, Debug)]
pub struct Cfg {
    /// Blocks in the order of the text; the entry is the first.
    pub blocks: Vec<Block>,
    /// Block of each instruction.
    pub block_of: Vec<u32>,
    /// Blocks that can be reached, each before its successors but for back
    /// edges.
    pub reverse_postorder: Vec<u32>,
    /// Immediate post-dominator of each block; [`Cfg::exit`] where only the
    /// end of the function is.
    pub post_dominator: Vec<u32>,
}

/// The ways by which control leaves an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the next one only.
    Next,
    /// To one of these places; also to the next one where the flag is set.
    Branch(Vec<u32>, bool),
    /// Out of the function; to the next one, too, where the flag is set.
    Leave(bool),
}

/// The way by which control leaves `instruction` of `function`.
pub fn flow(function: &Function, instruction: &Instruction) -> Flow {
    let guarded = instruction.guard.is_some();
    let place = |label: u32| match function.labels.get(label as usize).map(|l| &l.kind) {
        Some(LabelKind::Code(at)) => Some(*at),
        _ => None,
    };
    match instruction.opcode.class() {
        Class::Branch => match instruction.operands.first() {
            Some(Operand::Label(label)) => {
                Flow::Branch(place(*label).into_iter().collect(), guarded)
            }
            _ => Flow::Leave(true),
        },
        Class::IndexedBranch if instruction.has(Word::Idx) => {
            let list = instruction.operands.get(1).and_then(|o| match o {
                Operand::Label(label) => Some(&function.labels.get(*label as usize)?.kind),
                _ => None,
            });
            match list {
                Some(LabelKind::Branches(labels)) => {
                    Flow::Branch(labels.iter().filter_map(|&l| place(l)).collect(), guarded)
                }
                _ => Flow::Leave(true),
            }
        }
        Class::Return | Class::Exit | Class::Trap => Flow::Leave(guarded),
        _ => Flow::Next,
    }
}

impl Cfg {
    /// The graph of `function`.
    pub fn new(function: &Function) -> Cfg {
        let count = function.instructions.len();
        let flows: Vec<Flow> = function
            .instructions
            .iter()
            .map(|i| flow(function, i))
            .collect();
        let mut leader = vec![false; count + 1];
        leader[0] = true;
        for label in &function.labels {
            if let LabelKind::Code(at) = label.kind {
                leader[at as usize] = true;
            }
        }
        for (at, flow) in flows.iter().enumerate() {
            leader[at + 1] |= *flow != Flow::Next;
        }
        let starts: Vec<usize> = (0..count).filter(|&at| leader[at]).collect();
        let mut cfg = Cfg {
            blocks: Vec::with_capacity(starts.len()),
            block_of: vec![0; count],
            reverse_postorder: Vec::new(),
            post_dominator: Vec::new(),
        };
        for (index, &start) in starts.iter().enumerate() {
            let end = starts.get(index + 1).copied().unwrap_or(count);
            cfg.block_of[start..end].fill(index as u32);
            cfg.blocks.push(Block {
                start: start as u32,
                end: end as u32,
                ..Block::default()
            });
        }
        cfg.connect(&flows);
        let edges: Vec<&[u32]> = cfg.blocks.iter().map(|b| &b.successors[..]).collect();
        let mut order = postorder(&edges, 0);
        order.reverse();
        order.retain(|&b| b != cfg.exit());
        cfg.reverse_postorder = order;
        cfg.post_dominator = cfg.post_dominators();
        cfg
    }

    /// The index of the end of the function.
    pub fn exit(&self) -> u32 {
        self.blocks.len() as u32
    }

    fn connect(&mut self, flows: &[Flow]) {
        let exit = self.exit();
        // The last block that had each as a successor: tables have many.
        let mut successor_of = vec![u32::MAX; self.blocks.len() + 1];
        for index in 0..self.blocks.len() {
            let last = self.blocks[index].end as usize - 1;
            let block_at = |at: u32| self.block_of.get(at as usize).copied().unwrap_or(exit);
            let next = block_at(last as u32 + 1);
            let mut successors = match &flows[last] {
                Flow::Next => vec![next],
                Flow::Leave(false) => vec![exit],
                Flow::Leave(true) => vec![next, exit],
                Flow::Branch(places, falls) => {
                    let fall = falls.then_some(next);
                    fall.into_iter()
                        .chain(places.iter().map(|&at| block_at(at)))
                        .collect()
                }
            };
            successors.retain(|&s| {
                let before = std::mem::replace(&mut successor_of[s as usize], index as u32);
                before != index as u32
            });
            for &successor in successors.iter().filter(|&&s| s != exit) {
                self.blocks[successor as usize]
                    .predecessors
                    .push(index as u32);
            }
            self.blocks[index].successors = successors;
        }
    }

    fn post_dominators(&self) -> Vec<u32> {
        let exit = self.exit();
        // The reversed graph, the exit last.
        let mut reversed: Vec<Vec<u32>> = vec![Vec::new(); self.blocks.len() + 1];
        for (index, block) in self.blocks.iter().enumerate() {
            for &successor in &block.successors {
                reversed[successor as usize].push(index as u32);
            }
        }
        // Blocks of endless loops: pretend that the last of them can end.
        let mut reaches = vec![false; self.blocks.len() + 1];
        mark_from(exit, &reversed, &mut reaches);
        for block in (0..exit).rev() {
            if !reaches[block as usize] {
                reversed[exit as usize].push(block);
                mark_from(block, &reversed, &mut reaches);
            }
        }
        let edges: Vec<&[u32]> = reversed.iter().map(|e| &e[..]).collect();
        let order = postorder(&edges, exit);
        let mut pretended = vec![false; self.blocks.len()];
        for &block in &reversed[exit as usize] {
            pretended[block as usize] = true;
        }
        let dominator = immediate_dominators(&order, self.blocks.len() + 1, |block| {
            let own = self.blocks[block as usize].successors.iter().copied();
            own.chain(pretended[block as usize].then_some(exit))
        });
        (0..exit as usize)
            .map(|b| dominator[b].unwrap_or(exit))
            .collect()
    }
}

/// Marks `from` and what its edges lead to, as far as it is not marked.
fn mark_from(from: u32, edges: &[Vec<u32>], marked: &mut [bool]) {
    let mut work = vec![from];
    while let Some(node) = work.pop() {
        if !std::mem::replace(&mut marked[node as usize], true) {
            work.extend(&edges[node as usize]);
        }
    }
}

/// The immediate dominators of a graph of `count` nodes: `postorder` ends with
/// the root, which is its own; nodes that it lacks have none.
pub(super) fn immediate_dominators<I: Iterator<Item = u32>>(
    postorder: &[u32],
    count: usize,
    predecessors: impl Fn(u32) -> I,
) -> Vec<Option<u32>> {
    let mut rank = vec![0usize; count];
    for (at, &node) in postorder.iter().enumerate() {
        rank[node as usize] = at;
    }
    let mut dominator: Vec<Option<u32>> = vec![None; count];
    let Some((&root, others)) = postorder.split_last() else {
        return dominator;
    };
    dominator[root as usize] = Some(root);
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &node in others.iter().rev() {
            let known = predecessors(node).filter(|&p| dominator[p as usize].is_some());
            let new = known.reduce(|a, b| common(&dominator, &rank, a, b));
            if new.is_some() && dominator[node as usize] != new {
                dominator[node as usize] = new;
                changed = true;
            }
        }
    }
    dominator
}

/// The nearest common ancestor in the tree of dominators found so far.
fn common(dominator: &[Option<u32>], rank: &[usize], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        let low = if rank[a as usize] < rank[b as usize] {
            &mut a
        } else {
            &mut b
        };
        *low = dominator[*low as usize].unwrap_or(*low);
    }
    a
}

/// Depth-first postorder from `root`; nodes without an entry in `edges` have
/// no successors. Not recursive: a function may have millions of blocks.
fn postorder(edges: &[&[u32]], root: u32) -> Vec<u32> {
    let mut order = Vec::new();
    let count = edges.len().max(root as usize + 1) + 1;
    let mut seen = vec![false; count];
    if edges.is_empty() {
        return order;
    }
    seen[root as usize] = true;
    let mut stack = vec![(root, 0usize)];
    while let Some((node, at)) = stack.last_mut() {
        let next = edges.get(*node as usize).and_then(|e| e.get(*at));
        *at += 1;
        match next {
            Some(&next) if !seen[next as usize] => {
                seen[next as usize] = true;
                stack.push((next, 0));
            }
            Some(_) => {}
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order
}
