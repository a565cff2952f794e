//! The control flow that the sharing paper draws.

use spadkit::sharing::{Edge, FlowGraph, Ranges};

pub const A: u128 = 1;
pub const B: u128 = 2;
pub const C: u128 = 4;

pub fn edges(list: &[(u32, u32)]) -> Vec<Edge> {
    let edge = |&(from, to): &(u32, u32)| Edge {
        from,
        to,
        taken: to != from + 1,
    };
    list.iter().map(edge).collect()
}

/// Fig. 7: Entry, BB1 to BB6, Exit; a node each.
pub fn figure_7() -> (FlowGraph, Ranges) {
    let list = [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 2),
        (3, 4),
        (4, 5),
        (5, 6),
        (6, 7),
    ];
    let graph = FlowGraph::new(7, edges(&list));
    let ranges = Ranges::new(&graph, &[0, A, B, B, A, C, C]);
    (graph, ranges)
}
