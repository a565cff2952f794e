//! The sharing paper's Table III, its examples and its storage.

use super::drawn::{A, B, C, edges, figure_7};
use spadkit::config::Config;
use spadkit::sharing::{
    Edge, FlowGraph, Placement, ProgramPoint, Ranges, release_points, storage_bits,
};

#[test]
fn table_3_is_reproduced() {
    let (_, ranges) = figure_7();
    let sets = [A, B, C, A | B, B | C, C | A];
    // Per block IN and OUT of A, B, C, AB, BC, CA.
    let expected = [
        ("Entry", "ffffff", "ffffff"),
        ("BB1", "ffffff", "tfftft"),
        ("BB2", "ttfttt", "ttfttt"),
        ("BB3", "ttfttt", "ttfttt"),
        ("BB4", "tffttt", "fffftt"),
        ("BB5", "fffftt", "fftftt"),
        ("BB6", "fftftt", "ffffff"),
        ("Exit", "ffffff", "ffffff"),
    ];
    for (n, (name, into, out)) in expected.into_iter().enumerate() {
        let row = |at: &dyn Fn(u128) -> bool| -> String {
            sets.iter()
                .map(|&s| if at(s) { 't' } else { 'f' })
                .collect()
        };
        let n = n as u32;
        assert_eq!(row(&|s| ranges.range_in(n, s)), into, "IN({name})");
        assert_eq!(row(&|s| ranges.range_out(n, s)), out, "OUT({name})");
    }
}

/// Example 6.3: with equal blocks, A and B together have the smallest range.
#[test]
fn a_and_b_are_shared() {
    let (graph, ranges) = figure_7();
    let costs = ranges.costs(&graph);
    assert_eq!([A | B, B | C, C | A].map(|s| costs.of(s)), [4, 5, 6]);
    let each = |s: u128| (0..7).filter(|&n| ranges.in_range(n, s)).count() as u64;
    assert!((0..8).all(|s| costs.of(s) == each(s)));
}

fn places(kind: Placement, graph: &FlowGraph, accesses: &[u128]) -> Vec<ProgramPoint> {
    release_points(kind, graph, &Ranges::new(graph, accesses), A)
}

/// Fig. 11: up to the last access in its block, and into the sibling block.
#[test]
fn releases_move_up_to_the_last_access() {
    let graph = FlowGraph::new(4, edges(&[(0, 1), (1, 2), (2, 3), (3, 4)]));
    let straight = places(Placement::Optimal, &graph, &[0, A, 0, 0]);
    assert_eq!(straight, [ProgramPoint::After(1)]);
    // BB1 to BB2 and BB3, both to BB4.
    let list = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)];
    let graph = FlowGraph::new(4, edges(&list));
    let accesses = [0, A, 0, 0];
    let optimal = places(Placement::Optimal, &graph, &accesses);
    assert_eq!(optimal, [ProgramPoint::Before(2), ProgramPoint::After(1)]);
    let post = places(Placement::PostDom, &graph, &accesses);
    assert_eq!(post, [ProgramPoint::Before(3)]);
}

/// As in Fig. 10: paths with a last access early, late, or none at all; what
/// post-dominates them is the end of all.
#[test]
fn a_common_post_dominator_is_later() {
    // 0: 1 or 3. 1 accesses, then 2 (no access) or 3; 3: 4 accesses, or 5; all end in 6.
    let list = [
        (0, 1),
        (0, 3),
        (1, 2),
        (1, 3),
        (2, 6),
        (3, 4),
        (3, 5),
        (4, 6),
        (5, 6),
        (6, 7),
    ];
    let graph = FlowGraph::new(7, edges(&list));
    let accesses = [0, A, 0, 0, A, 0, 0];
    let optimal = places(Placement::Optimal, &graph, &accesses);
    assert_eq!(
        optimal,
        [
            ProgramPoint::Before(2),
            ProgramPoint::Before(5),
            ProgramPoint::After(4)
        ]
    );
    let post = places(Placement::PostDom, &graph, &accesses);
    assert_eq!(post, [ProgramPoint::Before(6)]);
    assert_eq!(places(Placement::None, &graph, &accesses), []);
}

/// An edge out of a loop to a node with other predecessors is split.
#[test]
fn a_critical_edge_has_a_place_of_its_own() {
    // 1 and 2 are a loop with the access; 0 may go past it to 3.
    let list = [(0, 1), (0, 3), (1, 2), (2, 1), (2, 3), (3, 4)];
    let graph = FlowGraph::new(4, edges(&list));
    let accesses = [0, A, 0, 0];
    assert_eq!(
        places(Placement::Optimal, &graph, &accesses),
        [ProgramPoint::Before(3)]
    );
    // With another access on 0's other edge, which also leads to 3, the edge
    // out of the loop needs its own marker: 3 has other predecessors.
    let list = [(0, 1), (0, 4), (1, 2), (2, 1), (2, 3), (3, 5), (4, 3)];
    let graph = FlowGraph::new(5, edges(&list));
    let with = [0, A, 0, 0, A];
    let out = ProgramPoint::On(Edge {
        from: 2,
        to: 3,
        taken: false,
    });
    assert_eq!(
        places(Placement::Optimal, &graph, &with),
        [ProgramPoint::After(4), out]
    );
}

/// No shared variable, no release: the paper's equations insert none.
#[test]
fn without_an_access_there_is_no_release() {
    let graph = FlowGraph::new(2, edges(&[(0, 1), (1, 0), (1, 2)]));
    for kind in [Placement::Optimal, Placement::PostDom] {
        assert_eq!(places(kind, &graph, &[0, 0]), []);
        assert_eq!(places(kind, &graph, &[B, B]), []);
    }
}

#[test]
fn the_paper_s_storage_is_209_bits() {
    assert_eq!(storage_bits(&Config::preset("gpgpusim-16k").unwrap()), 209);
}
