//! The choice of private variables against the enumeration of all of them.

use crate::sharing::draw::Draw;
use spadkit::sharing::{BUDGET, Edge, FlowGraph, Layout, Ranges, Variable};

/// Variables of random sizes, declared one after the other.
fn variables(rng: &mut Draw, count: usize) -> Vec<Variable> {
    let mut next = 0;
    let mut variable = |i: usize| {
        let bytes = 4 * rng.of(1..40);
        let offset = next;
        next += bytes;
        Variable {
            name: format!("v{i}"),
            bytes,
            align: 4,
            offset,
            dynamic: false,
        }
    };
    (0..count).map(&mut variable).collect()
}

/// A random path with a loop or two, and accesses along it.
fn ranges(rng: &mut Draw, count: usize) -> (FlowGraph, Ranges) {
    let nodes = 40;
    let edge = |from: u32, to: u32| Edge {
        from,
        to,
        taken: to != from + 1,
    };
    let mut edges: Vec<Edge> = (0..nodes).map(|n| edge(n, n + 1)).collect();
    for _ in 0..rng.of(0..3) {
        let from = rng.of(1..nodes);
        edges.push(edge(from, rng.of(0..from)));
    }
    let graph = FlowGraph::new(nodes, edges);
    let mut accesses = vec![0u128; nodes as usize];
    for v in 0..count {
        for _ in 0..rng.of(0..4) {
            accesses[rng.of(0..nodes as usize)] |= 1 << v;
        }
    }
    let ranges = Ranges::new(&graph, &accesses);
    (graph, ranges)
}

/// The smallest range over all subsets whose bytes fit before the boundary.
fn enumerated(variables: &[Variable], boundary: u32, graph: &FlowGraph, ranges: &Ranges) -> u64 {
    let count = variables.len();
    let private_bytes = |set: u32| -> u32 {
        (0..count)
            .filter(|v| set >> v & 1 == 1)
            .map(|v| variables[v].bytes)
            .sum()
    };
    let fits = (0..1u32 << count).filter(|&set| private_bytes(set) <= boundary);
    let range = |set: u32| {
        let shared = u128::from(!set) & ((1 << count) - 1);
        graph
            .reachable()
            .filter(|&n| ranges.in_range(n, shared))
            .count() as u64
    };
    fits.map(range).min().unwrap()
}

#[test]
fn the_choice_is_as_good_as_any() {
    let mut rng = Draw::new(9);
    for round in 0..200 {
        let count = rng.of(1..9);
        let variables = variables(&mut rng, count);
        let total: u32 = variables.iter().map(|v| v.bytes).sum();
        let boundary = rng.of(0..=total) & !3;
        let (graph, ranges) = ranges(&mut rng, count);
        let costs = ranges.costs(&graph);
        let chosen = Layout::choose(&variables, boundary, &costs, BUDGET);
        let expected = enumerated(&variables, boundary, &graph, &ranges);
        assert_eq!(
            (chosen.cost, chosen.optimal),
            (expected, true),
            "round {round}"
        );
        assert!(chosen.cost <= Layout::declared(&variables, boundary, &costs).cost);
        // The variables lie apart, inside the bytes that they had.
        let mut taken = vec![false; total as usize];
        for (v, &at) in variables.iter().zip(&chosen.offsets) {
            for byte in at..at + v.bytes {
                assert!(!std::mem::replace(&mut taken[byte as usize], true));
            }
        }
        for (i, v) in variables.iter().enumerate() {
            let behind = chosen.offsets[i] + v.bytes > boundary;
            assert_eq!(chosen.is_shared(i), behind);
        }
    }
}

/// Beyond twenty variables the budget may end the search, which then says so;
/// what it has is still a layout.
#[test]
fn beyond_the_budget_nothing_is_proved() {
    let mut rng = Draw::new(4);
    let variables = variables(&mut rng, 30);
    let total: u32 = variables.iter().map(|v| v.bytes).sum();
    let (graph, ranges) = ranges(&mut rng, 30);
    let costs = ranges.costs(&graph);
    let short = Layout::choose(&variables, total / 2, &costs, 40);
    assert!(!short.optimal);
    let long = Layout::choose(&variables, total / 2, &costs, BUDGET);
    assert!(long.cost <= short.cost);
}

/// Alignment costs bytes: a layout that needed more than the declared one is
/// none.
#[test]
fn no_layout_takes_more_bytes_than_the_declared_one() {
    let variable = |name: &str, bytes, align, offset| Variable {
        name: name.to_owned(),
        bytes,
        align,
        offset,
        dynamic: false,
    };
    let variables = [
        variable("wide", 16, 16, 0),
        variable("byte", 1, 1, 16),
        variable("words", 8, 4, 20),
    ];
    let edges = (0..4).map(|n| Edge {
        from: n,
        to: n + 1,
        taken: false,
    });
    let graph = FlowGraph::new(4, edges);
    // 'byte' is accessed first and last: private, it would save all.
    let ranges = Ranges::new(&graph, &[2, 1, 4, 2]);
    let costs = ranges.costs(&graph);
    let layout = Layout::choose(&variables, 4, &costs, BUDGET);
    let end = |v: usize| layout.offsets[v] + variables[v].bytes;
    assert!((0..3).all(|v| end(v) <= 28), "{layout:?}");
    assert_eq!(
        layout.cost, 4,
        "byte in front would push the others to 40 bytes"
    );
    // If there is space, it is moved.
    let roomy = [
        variable("wide", 16, 4, 0),
        variable("byte", 4, 4, 16),
        variable("words", 8, 4, 20),
    ];
    let layout = Layout::choose(&roomy, 4, &costs, BUDGET);
    assert_eq!((layout.offsets[1], layout.cost), (0, 2));
    assert_eq!(layout.shared, 5);
}
