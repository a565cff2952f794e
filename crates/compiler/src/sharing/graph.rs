//! The control flow of a function, instruction by instruction.
//!
//! The sharing paper's analyses work on basic blocks, and its footnote 4 says
//! that they extend to the points inside. Here a node is an instruction; the
//! program points are those before and after it. One more node is
//! the end of the function. Guarded exits are edges to it like any other.

use spadkit_ptx::cfg::{Flow, flow};
use spadkit_ptx::{Function, LabelKind, Operand};
use std::collections::HashSet;

/// A way from an instruction to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    /// The instruction that control leaves.
    pub from: u32,
    /// The target instruction; [`FlowGraph::exit`] if the function ends.
    pub to: u32,
    /// A branch or an exit takes it; otherwise control falls through.
    pub taken: bool,
}

/// The graph. The entry is node 0.
#[derive(Clone, Debug)]
pub struct FlowGraph {
    successors: Vec<Vec<Edge>>,
    predecessors: Vec<Vec<Edge>>,
    reachable: Vec<bool>,
}

impl FlowGraph {
    /// The graph with these edges, and `nodes` instructions.
    pub fn new(nodes: u32, edges: impl IntoIterator<Item = Edge>) -> Self {
        let count = nodes as usize + 1;
        let mut graph = FlowGraph {
            successors: vec![Vec::new(); count],
            predecessors: vec![Vec::new(); count],
            reachable: vec![false; count],
        };
        let mut known = HashSet::new();
        for edge in edges {
            if known.insert(edge) {
                graph.successors[edge.from as usize].push(edge);
                graph.predecessors[edge.to as usize].push(edge);
            }
        }
        let mut stack = vec![0u32];
        graph.reachable[0] = true;
        while let Some(node) = stack.pop() {
            for edge in &graph.successors[node as usize] {
                if !std::mem::replace(&mut graph.reachable[edge.to as usize], true) {
                    stack.push(edge.to);
                }
            }
        }
        graph
    }

    /// The graph of a function's body.
    pub fn of(function: &Function) -> Self {
        let nodes = function.instructions.len() as u32;
        let mut edges = Vec::new();
        for (at, instruction) in function.instructions.iter().enumerate() {
            let from = at as u32;
            let mut edge = |to: u32, taken| edges.push(Edge { from, to, taken });
            match flow(function, instruction) {
                Flow::Next => edge(from + 1, false),
                Flow::Leave(falls) => {
                    edge(nodes, true);
                    if falls {
                        edge(from + 1, false);
                    }
                }
                Flow::Branch(places, falls) => {
                    if falls {
                        edge(from + 1, false);
                    }
                    places.into_iter().for_each(|to| edge(to.min(nodes), true));
                }
            }
        }
        Self::new(nodes, edges)
    }

    /// The node of the end, also the number of instructions.
    pub fn exit(&self) -> u32 {
        self.successors.len() as u32 - 1
    }

    /// The ways out of a node.
    pub fn successors(&self, node: u32) -> &[Edge] {
        &self.successors[node as usize]
    }

    /// The ways into a node.
    pub fn predecessors(&self, node: u32) -> &[Edge] {
        &self.predecessors[node as usize]
    }

    /// Whether control can reach the node.
    pub fn is_reachable(&self, node: u32) -> bool {
        self.reachable[node as usize]
    }

    /// The instructions that control can reach.
    pub fn reachable(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.exit()).filter(|&n| self.is_reachable(n))
    }

    /// Nodes that lie on a cycle, by Tarjan's strongly connected components;
    /// not recursive, as functions may be long.
    pub fn on_cycles(&self) -> Vec<bool> {
        let count = self.successors.len();
        let mut cyclic = vec![false; count];
        let (mut index, mut low) = (vec![u32::MAX; count], vec![0u32; count]);
        let (mut on_stack, mut component) = (vec![false; count], Vec::new());
        let mut next = 0;
        let mut way: Vec<(u32, usize)> = Vec::new();
        if count > 1 {
            way.push((0, 0));
        }
        while let Some((node, at)) = way.last_mut() {
            let n = *node as usize;
            if *at == 0 {
                (index[n], low[n]) = (next, next);
                next += 1;
                component.push(*node);
                on_stack[n] = true;
            }
            let edge = self.successors[n].get(*at).copied();
            *at += 1;
            match edge.map(|e| e.to as usize) {
                Some(to) if index[to] == u32::MAX => way.push((to as u32, 0)),
                Some(to) if on_stack[to] => low[n] = low[n].min(index[to]),
                Some(_) => {}
                None => {
                    way.pop();
                    if let Some((parent, _)) = way.last() {
                        let p = *parent as usize;
                        low[p] = low[p].min(low[n]);
                    }
                    if low[n] == index[n] {
                        let start = component.iter().rposition(|&c| c as usize == n);
                        let members = component.split_off(start.unwrap_or(0));
                        let itself = self.successors[n].iter().any(|e| e.to as usize == n);
                        for &m in &members {
                            on_stack[m as usize] = false;
                            cyclic[m as usize] = members.len() > 1 || itself;
                        }
                    }
                }
            }
        }
        cyclic
    }
}

/// The label of an edge of a branch, as in the text.
pub(super) fn label_of_edge(function: &Function, edge: Edge) -> Option<&str> {
    let instruction = &function.instructions[edge.from as usize];
    let goes_there = |label: &u32| matches!(function.labels[*label as usize].kind, LabelKind::Code(at) if at == edge.to);
    let named = instruction.operands.iter().find_map(|o| match o {
        Operand::Label(label) => match &function.labels[*label as usize].kind {
            LabelKind::Branches(targets) => targets.iter().copied().find(goes_there),
            _ => Some(*label).filter(goes_there),
        },
        _ => None,
    });
    named.map(|label| function.labels[label as usize].name.as_str())
}
