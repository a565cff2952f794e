//! Places `relssp`, with which threads release the shared scratchpad (sharing paper, section 6.3).
//!
//! [`optimal`] puts `relssp` where "no access to a shared variable is possible
//! any more" becomes true. Every path from the entry to the end has one such
//! point, after the last access. No earlier point is safe on all the paths
//! that pass it. The paper assumes that there are no critical edges; here a
//! placement may be such an edge, which then has to be split. Where the end is reached
//! while an asynchronous operation may be under way, the block releases as it ends.
//!
//! [`post_dominator`] is the simpler scheme: one point that all paths pass.

use super::graph::{Edge, FlowGraph};
use super::ranges::{Ranges, VariableSet};

/// A program point for `relssp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ProgramPoint {
    /// Before an instruction, on any path to it.
    Before(u32),
    /// After an instruction, on any path from it.
    After(u32),
    /// On the edge from one instruction to another.
    On(Edge),
}

/// The placement of `relssp`.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    serde::Deserialize,
    serde::Serialize,
    strum::EnumString,
    strum::VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Placement {
    /// Releases as early as possible on each path.
    #[default]
    Optimal,
    /// At a common post-dominator of the last accesses.
    PostDom,
    /// Nowhere: a block releases when it ends.
    None,
}

/// The points of `relssp` for accesses to the variables `shared`; none where
/// no shared variable can be accessed.
pub fn release_points(
    kind: Placement,
    graph: &FlowGraph,
    ranges: &Ranges,
    shared: VariableSet,
) -> Vec<ProgramPoint> {
    let nothing_ahead = ranges.after_in(0) & shared == 0;
    match kind {
        _ if graph.exit() == 0 || nothing_ahead => Vec::new(),
        Placement::Optimal => optimal(graph, ranges, shared),
        Placement::PostDom => post_dominator(graph, ranges, shared),
        Placement::None => Vec::new(),
    }
}

fn optimal(graph: &FlowGraph, ranges: &Ranges, shared: VariableSet) -> Vec<ProgramPoint> {
    let ahead_in = |n: u32| ranges.after_in(n) & shared != 0;
    let ahead_out = |n: u32| ranges.after_out(n) & shared != 0;
    let ends_in_use = |n: u32| ranges.used_at_end(n) & shared != 0;
    let mut points = Vec::new();
    for n in (0..=graph.exit()).filter(|&n| graph.is_reachable(n)) {
        if ahead_in(n) {
            // The last access, whatever comes next.
            if !ahead_out(n) && !ends_in_use(n) {
                points.push(ProgramPoint::After(n));
            }
            continue;
        }
        // Safe here. It was not on the ways whose sources have an access ahead
        // on another way.
        let into = graph.predecessors(n).iter();
        let into: Vec<Edge> = into
            .copied()
            .filter(|e| graph.is_reachable(e.from))
            .collect();
        let turns = |e: &&Edge| ahead_out(e.from);
        let turning: Vec<Edge> = into.iter().filter(turns).copied().collect();
        if turning.len() == into.len() && n != graph.exit() {
            points.push(ProgramPoint::Before(n))
        } else {
            let stays = |e: &Edge| n == graph.exit() && ends_in_use(e.from);
            let released = turning.into_iter().filter(|e| !stays(e));
            points.extend(released.map(ProgramPoint::On))
        }
    }
    points.sort_unstable();
    points
}

/// The first point that every path passes exactly once, after all accesses: a
/// node that post-dominates the entry and every last access, outside loops. If
/// there is none before the end of the function, every exit.
fn post_dominator(graph: &FlowGraph, ranges: &Ranges, shared: VariableSet) -> Vec<ProgramPoint> {
    let ahead_in = |n: u32| ranges.after_in(n) & shared != 0;
    let ahead_out = |n: u32| ranges.after_out(n) & shared != 0;
    let cyclic = graph.on_cycles();
    let candidate = post_dominators_of_entry(graph)
        .into_iter()
        .find(|&n| !cyclic[n as usize] && !ahead_out(n));
    let ends_in_use = |n: u32| ranges.used_at_end(n) & shared != 0;
    match candidate {
        Some(n) if ends_in_use(n) => Vec::new(),
        Some(n) if ahead_in(n) => vec![ProgramPoint::After(n)],
        Some(n) => vec![ProgramPoint::Before(n)],
        None => {
            let out = graph.predecessors(graph.exit()).iter();
            let out = out.filter(|e| graph.is_reachable(e.from) && !ends_in_use(e.from));
            let point = |e: &Edge| match graph.successors(e.from).len() {
                1 if e.taken => ProgramPoint::Before(e.from),
                1 => ProgramPoint::After(e.from),
                _ => ProgramPoint::On(*e),
            };
            out.map(point).collect()
        }
    }
}

/// The instructions that lie on every path from the entry to the end, in order.
/// On any one path, they are those whose removal disconnects the end. They are
/// found in one pass over a shortest path, while a search explores the edges
/// that leave it and come back.
fn post_dominators_of_entry(graph: &FlowGraph) -> Vec<u32> {
    let Some(path) = a_path(graph) else {
        return Vec::new();
    };
    let exit = graph.exit();
    let mut position = vec![usize::MAX; exit as usize + 1];
    path.iter()
        .enumerate()
        .for_each(|(i, &n)| position[n as usize] = i);
    let mut seen = vec![false; exit as usize + 1];
    let mut found = Vec::new();
    // The furthest node of the path that the explored detours reach.
    let mut furthest = 0;
    for (i, &n) in path.iter().enumerate() {
        if furthest <= i && n != exit {
            found.push(n);
        }
        // Ways that leave the path here and come back to it later on.
        let mut stack = vec![n];
        while let Some(m) = stack.pop() {
            for e in graph.successors(m) {
                match position[e.to as usize] {
                    usize::MAX if !std::mem::replace(&mut seen[e.to as usize], true) => {
                        stack.push(e.to);
                    }
                    usize::MAX => {}
                    at => furthest = furthest.max(at),
                }
            }
        }
    }
    found
}

/// A path without cycles from the entry to the end, the shortest.
fn a_path(graph: &FlowGraph) -> Option<Vec<u32>> {
    let exit = graph.exit();
    let mut from = vec![u32::MAX; exit as usize + 1];
    let mut queue = std::collections::VecDeque::from([0u32]);
    while let Some(n) = queue.pop_front() {
        for e in graph.successors(n) {
            if e.to != 0 && from[e.to as usize] == u32::MAX {
                from[e.to as usize] = n;
                queue.push_back(e.to);
            }
        }
    }
    (from[exit as usize] != u32::MAX).then(|| {
        let mut path = vec![exit];
        while let Some(&last) = path.last().filter(|&&n| n != 0) {
            path.push(from[last as usize]);
        }
        path.reverse();
        path
    })
}
