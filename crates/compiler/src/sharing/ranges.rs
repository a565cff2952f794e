//! Access ranges of shared variables (sharing paper, section 6.1).
//!
//! Two data-flow analyses: forward, which variables may have been accessed on
//! some path to a point, and backward, which may still be accessed on some
//! path from it. A point is in the access range of a set of variables where
//! one of them is among the former and one, perhaps another, among the latter.

use super::graph::FlowGraph;
use std::collections::HashMap;

/// Variables of a kernel, a bit each.
pub type VariableSet = u128;

/// Most variables of a kernel.
pub(super) const MOST_VARIABLES: usize = 128;

/// The results of the analyses before and after each instruction.
#[derive(Clone, Debug)]
pub struct Ranges {
    accesses: Vec<VariableSet>,
    /// In use before each instruction, by operations that are under way.
    used: Vec<VariableSet>,
    /// In use where the function ends behind each instruction.
    used_at_end: Vec<VariableSet>,
    before: Vec<VariableSet>,
    after: Vec<VariableSet>,
}

impl Ranges {
    /// Analyses `graph`; `accesses` has the variables that each instruction
    /// may access.
    pub fn new(graph: &FlowGraph, accesses: &[VariableSet]) -> Self {
        Self::with_flights(graph, accesses, [&[], &[]])
    }

    /// Analyses `graph` as [`new`](Self::new) does. `flights` has the variables of the
    /// asynchronous operations that may be under way before each instruction, and where the
    /// function ends behind it: an instruction counts as an access to the former.
    pub fn with_flights(
        graph: &FlowGraph,
        accesses: &[VariableSet],
        flights: [&[VariableSet]; 2],
    ) -> Self {
        let nodes = graph.exit() as usize;
        let [accesses, used, used_at_end] = [accesses, flights[0], flights[1]].map(|sets| {
            let mut sets = sets.to_vec();
            sets.resize(nodes + 1, 0);
            sets
        });
        let mut ranges = Ranges {
            before: vec![0; nodes + 1],
            after: vec![0; nodes + 1],
            accesses,
            used,
            used_at_end,
        };
        let forward: Vec<u32> = (0..=nodes as u32)
            .filter(|&n| graph.is_reachable(n))
            .collect();
        ranges.forward(graph, &forward);
        ranges.backward(graph, &forward);
        ranges
    }

    /// PreIN(n) is the union of PreOUT over the predecessors. A node comes
    /// again only if a predecessor's set has grown: as often as there are
    /// variables, in whatever order the text has the blocks.
    fn forward(&mut self, graph: &FlowGraph, nodes: &[u32]) {
        let mut work: Vec<u32> = nodes.iter().rev().copied().collect();
        let mut waits = vec![true; self.before.len()];
        while let Some(n) = work.pop() {
            waits[n as usize] = false;
            let into = graph.predecessors(n).iter();
            let into = into.filter(|e| graph.is_reachable(e.from));
            let new = into.fold(0, |set, e| set | self.before_out(e.from));
            if std::mem::replace(&mut self.before[n as usize], new) != new {
                for e in graph.successors(n) {
                    if !std::mem::replace(&mut waits[e.to as usize], true) {
                        work.push(e.to);
                    }
                }
            }
        }
    }

    /// PostOUT(n) is the union of PostIN over the successors.
    fn backward(&mut self, graph: &FlowGraph, nodes: &[u32]) {
        let mut work = nodes.to_vec();
        let mut waits = vec![true; self.after.len()];
        while let Some(n) = work.pop() {
            waits[n as usize] = false;
            let out = graph.successors(n).iter();
            let new = out.fold(0, |set, e| set | self.after_in(e.to));
            if std::mem::replace(&mut self.after[n as usize], new) != new {
                let into = graph.predecessors(n).iter();
                for e in into.filter(|e| graph.is_reachable(e.from)) {
                    if !std::mem::replace(&mut waits[e.from as usize], true) {
                        work.push(e.from);
                    }
                }
            }
        }
    }

    /// Variables that instruction `n` may access.
    pub fn accesses(&self, n: u32) -> VariableSet {
        self.accesses[n as usize]
    }

    /// PreIN: accessed on some path to the point before `n`.
    pub fn before_in(&self, n: u32) -> VariableSet {
        self.before[n as usize]
    }

    /// PreOUT: accessed on some path to the point after `n`.
    pub fn before_out(&self, n: u32) -> VariableSet {
        self.before[n as usize] | self.accesses[n as usize]
    }

    /// PostIN: accessed on some path from the point before `n`.
    pub fn after_in(&self, n: u32) -> VariableSet {
        self.after[n as usize] | self.accesses[n as usize] | self.used[n as usize]
    }

    /// Variables that instruction `n` may access, or an operation that may be under way
    /// before it.
    pub fn in_use(&self, n: u32) -> VariableSet {
        self.accesses(n) | self.used[n as usize]
    }

    /// Variables of asynchronous operations that may be under way where the function
    /// ends behind `n`: a block that releases there does so as it ends.
    pub fn used_at_end(&self, n: u32) -> VariableSet {
        self.used_at_end[n as usize]
    }

    /// PostOUT: accessed on some path from the point after `n`.
    pub fn after_out(&self, n: u32) -> VariableSet {
        self.after[n as usize]
    }

    /// AccIN: the point before `n` is in the access range of `set`.
    pub fn range_in(&self, n: u32, set: VariableSet) -> bool {
        self.before_in(n) & set != 0 && self.after_in(n) & set != 0
    }

    /// AccOUT: the point after `n` is in the access range of `set`.
    pub fn range_out(&self, n: u32, set: VariableSet) -> bool {
        self.before_out(n) & set != 0 && self.after_out(n) & set != 0
    }

    /// Whether instruction `n` is in the access range of `set`: an access is
    /// possible both before and after, its own included.
    pub fn in_range(&self, n: u32, set: VariableSet) -> bool {
        self.before_out(n) & set != 0 && self.after_in(n) & set != 0
    }

    /// The size of each access range in instructions, for many sets.
    pub fn costs(&self, graph: &FlowGraph) -> Costs {
        let mut classes: HashMap<(VariableSet, VariableSet), u64> = HashMap::new();
        for n in graph.reachable() {
            *classes
                .entry((self.before_out(n), self.after_in(n)))
                .or_default() += 1;
        }
        let mut classes: Vec<_> = classes.into_iter().map(|((b, a), n)| (b, a, n)).collect();
        classes.retain(|(before, after, _)| *before != 0 && *after != 0);
        classes.sort_unstable();
        Costs { classes }
    }
}

/// The size of the access range of any set of variables: instructions that
/// the analyses cannot tell apart are counted together.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    classes: Vec<(VariableSet, VariableSet, u64)>,
}

impl Costs {
    /// Static instructions in the access range of `set`. A larger set never
    /// has a smaller range.
    pub fn of(&self, set: VariableSet) -> u64 {
        let inside = self
            .classes
            .iter()
            .filter(|(b, a, _)| b & set != 0 && a & set != 0);
        inside.map(|class| class.2).sum()
    }
}
