//! Assigns variables to the private or the shared part of a block's scratchpad
//! (sharing paper, section 6.1).
//!
//! Private variables come first. A variable is shared if any of its bytes is at
//! or after the boundary, which a single one may straddle. Of all choices of
//! private variables that fit before the boundary the one is taken that leaves
//! the fewest instructions in the access range of the shared ones. Variables of
//! a part are packed by falling alignment, or as declared where that needs
//! fewer bytes; the block never needs more than it does as declared.

use super::ranges::{Costs, VariableSet};

/// Variables up to which the search always ends with a proof.
pub const EXACT: usize = 20;
/// Steps of the search beyond that.
pub const BUDGET: u64 = 4 << 20;

/// A shared variable of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Name of the variable.
    pub name: String,
    /// Size in bytes; of a dynamic variable, the size in the launch.
    pub bytes: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Declared offset of the variable.
    pub offset: u32,
    /// Whether the launch gives its size; it stays after the others.
    pub dynamic: bool,
}

/// The offsets of the variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// First byte that two blocks share.
    pub boundary: u32,
    /// Byte offset of each variable.
    pub offsets: Vec<u32>,
    /// The shared variables.
    pub shared: VariableSet,
    /// Static instructions in the access range of the shared ones.
    pub cost: u64,
    /// No other layout has a smaller range.
    pub optimal: bool,
}

impl Layout {
    fn of(variables: &[Variable], offsets: Vec<u32>, boundary: u32, costs: &Costs) -> Self {
        let placed = variables.iter().zip(&offsets).enumerate();
        let shared = placed
            .filter(|(_, (v, at))| v.bytes > 0 && *at + v.bytes > boundary)
            .fold(0, |set, (i, _)| set | 1 << i);
        Layout {
            boundary,
            offsets,
            shared,
            cost: costs.of(shared),
            optimal: false,
        }
    }

    /// The declared layout of the variables.
    pub fn declared(variables: &[Variable], boundary: u32, costs: &Costs) -> Self {
        let offsets = variables.iter().map(|v| v.offset).collect();
        let mut layout = Self::of(variables, offsets, boundary, costs);
        // Nothing can be smaller than nothing, or than the only choice.
        layout.optimal = layout.cost == 0 || variables.len() <= 1;
        layout
    }

    /// The layout with the smallest access range; the declared one where no
    /// other has a smaller. `budget` is the number of steps for more than
    /// [`EXACT`] variables.
    pub fn choose(variables: &[Variable], boundary: u32, costs: &Costs, budget: u64) -> Self {
        let declared = Self::declared(variables, boundary, costs);
        let mut order: Vec<usize> = (0..variables.len()).collect();
        order.retain(|&i| !variables[i].dynamic && variables[i].bytes > 0);
        order.sort_by_key(|&i| std::cmp::Reverse(variables[i].bytes));
        let mut search = Search {
            variables,
            costs,
            boundary,
            budget: if order.len() <= EXACT {
                u64::MAX
            } else {
                budget
            },
            steps: 0,
            private: 0,
            best: declared.clone(),
            order,
        };
        let fixed = variables.iter().enumerate();
        let fixed =
            fixed.filter(|(_, v)| v.dynamic && v.bytes > 0 && v.offset + v.bytes > boundary);
        let fixed = fixed.fold(0, |set, (i, _)| set | 1 << i);
        search.decide(0, 0, fixed);
        let optimal = search.steps <= search.budget;
        Layout {
            optimal,
            ..search.best
        }
    }

    /// Whether the variable of that index is shared.
    pub fn is_shared(&self, variable: usize) -> bool {
        self.shared >> variable & 1 == 1
    }
}

/// Branch and bound: a variable after the other becomes private or shared.
struct Search<'a> {
    variables: &'a [Variable],
    costs: &'a Costs,
    boundary: u32,
    order: Vec<usize>,
    budget: u64,
    steps: u64,
    private: VariableSet,
    best: Layout,
}

impl Search<'_> {
    /// Decides the variable at `depth`; `bytes` are taken by private ones.
    fn decide(&mut self, depth: usize, bytes: u64, shared: VariableSet) {
        self.steps += 1;
        // More shared variables never have a smaller range.
        if self.steps > self.budget || self.costs.of(shared) >= self.best.cost {
            return;
        }
        let Some(&i) = self.order.get(depth) else {
            return self.leaf();
        };
        let with = bytes + u64::from(self.variables[i].bytes);
        if with <= u64::from(self.boundary) {
            self.private |= 1 << i;
            self.decide(depth + 1, with, shared);
            self.private &= !(1 << i);
        }
        self.decide(depth + 1, bytes, shared | 1 << i);
    }

    fn leaf(&mut self) {
        for offsets in packings(self.variables, self.private) {
            let layout = Layout::of(self.variables, offsets, self.boundary, self.costs);
            if layout.cost < self.best.cost && layout.shared & self.private == 0 {
                self.best = layout;
            }
        }
    }
}

/// The ways to pack the variables of known size, `private` ones first, that
/// need no more bytes than as declared.
fn packings(variables: &[Variable], private: VariableSet) -> impl Iterator<Item = Vec<u32>> + '_ {
    let end = |offsets: &[u32]| {
        let ends = variables.iter().zip(offsets).filter(|(v, _)| !v.dynamic);
        ends.map(|(v, at)| at + v.bytes).max().unwrap_or(0)
    };
    let declared: Vec<u32> = variables.iter().map(|v| v.offset).collect();
    let most = end(&declared);
    [true, false].into_iter().filter_map(move |by_alignment| {
        let mut order: Vec<usize> = (0..variables.len())
            .filter(|&i| !variables[i].dynamic)
            .collect();
        order.sort_by_key(|&i| {
            let align = if by_alignment { variables[i].align } else { 0 };
            (
                private >> i & 1 == 0,
                std::cmp::Reverse(align),
                variables[i].offset,
            )
        });
        let mut offsets = declared.clone();
        let mut next = 0u32;
        for i in order {
            offsets[i] = next.next_multiple_of(variables[i].align);
            next = offsets[i] + variables[i].bytes;
        }
        (end(&offsets) <= most).then_some(offsets)
    })
}
