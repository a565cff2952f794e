//! Formulas of the sharing paper: access ranges and releases of its drawn
//! control flows, storage, resident blocks, the variables of its kernels, and
//! the schedules of its Fig. 4.

use super::{Formula, Inputs, numbers};
use crate::reproduce::point::Numbers;
use crate::reproduce::simulate::shared_variables;
use spadkit_base::error::{Error, Result};
use spadkit_compiler::sharing::{
    BlockNeeds, Edge, FlowGraph, Placement, Ranges, Residency, VariableSet, release_points,
    storage_bits,
};
use spadkit_sm::config::{Config, Overlay};
use spadkit_sm::model::kind;
use spadkit_sm::sm::{Sm, WarpText};
use std::collections::BTreeMap;
use std::path::Path;

pub(super) const FORMULAS: &[Formula] = &[
    ("sharing.ranges", ranges),
    ("sharing.range-size", range_size),
    ("sharing.releases", releases),
    ("sharing.storage", storage),
    ("sharing.blocks", blocks),
    ("sharing.schedule", schedule),
    ("sharing.variables", variables_of_kernel),
    ("sharing.machine", machine),
];

const A: VariableSet = 1;
const B: VariableSet = 2;
const C: VariableSet = 4;
const D: VariableSet = 8;

/// A control flow that the paper draws or describes: its nodes, the last of
/// which is the exit, its edges, and the variables that each node accesses.
struct Drawn {
    name: &'static str,
    edges: &'static [(u32, u32)],
    accesses: &'static [VariableSet],
}

/// Node 0 is the entry where the drawing has one.
const DRAWN: [Drawn; 4] = [
    // V1 to V4 are A to D; the points P1 to P8 are the nodes.
    Drawn {
        name: "Fig. 6",
        edges: &[
            (0, 1),
            (1, 2),
            (2, 3),
            (3, 4),
            (4, 5),
            (5, 6),
            (6, 7),
            (7, 8),
        ],
        accesses: &[A, 0, B, 0, 0, C, 0, D],
    },
    Drawn {
        name: "Fig. 7",
        edges: &[
            (0, 1),
            (1, 2),
            (2, 3),
            (3, 2),
            (3, 4),
            (4, 5),
            (5, 6),
            (6, 7),
        ],
        accesses: &[0, A, B, B, A, C, C],
    },
    Drawn {
        name: "Fig. 11a",
        edges: &[(0, 1), (1, 2), (2, 3), (3, 4)],
        accesses: &[0, A, 0, 0],
    },
    Drawn {
        name: "Fig. 11b",
        edges: &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)],
        accesses: &[0, A, 0, 0],
    },
];

fn drawn(name: &str) -> Result<(FlowGraph, Ranges)> {
    let found = DRAWN.iter().find(|d| d.name == name).ok_or_else(|| {
        let known: Vec<&str> = DRAWN.iter().map(|d| d.name).collect();
        Error::usage(
            format!("there is no control flow '{name}'"),
            format!("expected one of: {}", known.join(", ")),
        )
    })?;
    let edge = |&(from, to): &(u32, u32)| Edge {
        from,
        to,
        taken: to != from + 1,
    };
    let nodes = found.accesses.len() as u32;
    let graph = FlowGraph::new(nodes, found.edges.iter().map(edge));
    let ranges = Ranges::new(&graph, found.accesses);
    Ok((graph, ranges))
}

/// Variables by their letters, A to D.
fn variables(letters: &str) -> VariableSet {
    let bit = |c: char| 1 << (u32::from(c).saturating_sub(u32::from('A')) % 64);
    letters
        .chars()
        .map(bit)
        .fold(0, |set, v: VariableSet| set | v)
}

/// Table III: whether the points before (`in`) and after (`out`) a block are in
/// the access range of the variables `set`.
fn ranges(inputs: &Inputs) -> Result<Numbers> {
    let (_, ranges) = drawn(inputs.word("flow")?)?;
    let (set, node) = (
        variables(inputs.word("set")?),
        inputs.number("block")? as u32,
    );
    let is = |holds: bool| f64::from(u8::from(holds));
    Ok(numbers([
        ("in", is(ranges.range_in(node, set))),
        ("out", is(ranges.range_out(node, set))),
    ]))
}

/// Instructions in the access range of a set, one to a node.
fn range_size(inputs: &Inputs) -> Result<Numbers> {
    let (graph, ranges) = drawn(inputs.word("flow")?)?;
    let size = ranges.costs(&graph).of(variables(inputs.word("set")?));
    Ok(numbers([("instructions", size as f64)]))
}

/// The number of program points that get a relssp.
fn releases(inputs: &Inputs) -> Result<Numbers> {
    let (graph, ranges) = drawn(inputs.word("flow")?)?;
    let of = |placement| release_points(placement, &graph, &ranges, A).len() as f64;
    Ok(numbers([
        ("optimal", of(Placement::Optimal)),
        ("postdom", of(Placement::PostDom)),
    ]))
}

/// Section 7.1.
fn storage(inputs: &Inputs) -> Result<Numbers> {
    Ok(numbers([("bits", storage_bits(inputs.machine()?) as f64)]))
}

/// Figs 1, 2, 13 and 25: resident blocks, and the bytes that blocks without
/// sharing leave unused.
fn blocks(inputs: &Inputs) -> Result<Numbers> {
    let machine = inputs.machine()?;
    let bytes = inputs.number("bytes")? as u32;
    let needs = BlockNeeds {
        name: "the block",
        scratchpad_bytes: bytes,
        threads: inputs.number("threads")? as u64,
        registers: 0,
    };
    let sharing = Some(machine.sm.sharing.threshold);
    let residency = Residency::new(machine, &needs, sharing)?;
    let capacity = machine.capacity_words * machine.word_bytes();
    let unused = capacity - residency.unshared * bytes;
    Ok(numbers([
        ("unshared", f64::from(residency.unshared)),
        ("shared", f64::from(residency.blocks())),
        ("added", f64::from(residency.pairs)),
        ("pairs", f64::from(residency.pairs)),
        ("alone", f64::from(residency.alone)),
        ("unused bytes", f64::from(unused)),
        // Example 3.2: two blocks in all of the scratchpad.
        ("common bytes", f64::from(2 * bytes) - f64::from(capacity)),
    ]))
}

/// An unshared, an owner's and a non-owner's warp with an Add, a Load from the
/// shared part and a Mov: a block each, of one warp.
const FIGURE_4: &str = ".warp_size 8\n.block 8\n.grid 3\n.shared 1920\n\
    alu r1\nld.shared r2, [1024 + 4*l], r1\nalu r3, r2\n";

/// The warps of Fig. 4 as the text names them, by the slots of their blocks.
const WARPS: [&str; 3] = ["O", "N", "U"];

/// Cycles of Fig. 4 with a `policy`, and the cycle of an `event`, as `O ends I2`;
/// slots are filled in the order of the digits of `order`: 0 is the owner's, 1 the
/// non-owner's, 2 the unshared block's.
fn schedule(inputs: &Inputs) -> Result<Numbers> {
    let program = WarpText::parse(FIGURE_4, Path::new("figure 4"))?;
    let order: Vec<usize> = inputs
        .word("order")?
        .chars()
        .filter_map(|c| c.to_digit(10))
        .map(|digit| digit as usize)
        .collect();
    let machine = figure_4(inputs.word("policy")?)?;
    let sm = || Sm::new(&machine, &program)?.with_fill_order(&order);
    let mut numbers = numbers([("cycles", sm()?.run()?.cycles as f64)]);
    if let Ok(event) = inputs.word("event") {
        let events = events(sm()?)?;
        let cycle = events.get(event).ok_or_else(|| {
            let known: Vec<&str> = events.keys().map(String::as_str).collect();
            Error::usage(
                format!("there is no event '{event}'"),
                format!("expected one of: {}", known.join(", ")),
            )
        })?;
        numbers.values.insert("cycle".to_owned(), *cycle as f64);
    }
    Ok(numbers)
}

/// The cycles in which the warps of Fig. 4 issue and end I1 to I3, from 1. Add and
/// Mov end in the cycle in which they are issued, the Load in that of its writeback.
fn events(mut sm: Sm) -> Result<BTreeMap<String, u64>> {
    let mut found = BTreeMap::new();
    let (mut issued, mut cycle) = ([0; WARPS.len()], 0);
    loop {
        let goes_on = sm.step_observed(&mut |_, _, out| {
            if let Some(wb) = out.wb.filter(|wb| wb.kind == kind::LOAD && wb.last) {
                found.insert(format!("{} ends I2", WARPS[wb.warp]), cycle);
            }
            if let Some(issue) = out.iss {
                let warp = WARPS[issue.warp];
                issued[issue.warp] += 1;
                let n = issued[issue.warp];
                found.insert(format!("{warp} issues I{n}"), cycle);
                if n != 2 {
                    found.insert(format!("{warp} ends I{n}"), cycle);
                }
            }
        })?;
        if !goes_on {
            break;
        }
        cycle += 1;
    }
    let first = found.values().min().copied().unwrap_or(0);
    Ok(found.into_iter().map(|(k, c)| (k, c - first + 1)).collect())
}

/// Table I: the variables that the kernel declares in shared memory.
fn variables_of_kernel(inputs: &Inputs) -> Result<Numbers> {
    let count = shared_variables(&inputs.point.work)?;
    Ok(numbers([("variables", count as f64)]))
}

/// Numbers of Tables II and VIII, as the machine of the figure has them.
fn machine(inputs: &Inputs) -> Result<Numbers> {
    let machine = inputs.machine()?;
    let p = machine.parameters();
    let kib = |bytes: u32| f64::from(bytes) / 1024.0;
    let global = f64::from(machine.sm.global.latency);
    let scratchpad = f64::from(machine.shared_latency());
    Ok(numbers([
        (
            "scratchpad",
            kib(machine.capacity_words * machine.word_bytes()),
        ),
        ("registers", f64::from(machine.sm.registers)),
        ("blocks", p.T as f64),
        ("threads", (p.W * p.WS) as f64),
        ("schedulers", f64::from(machine.sm.schedulers)),
        ("L1", kib(machine.sm.l1.size_bytes)),
        ("threads a warp", p.WS as f64),
        ("global latency", global),
        ("global over scratchpad", global / scratchpad),
        ("threshold", machine.sm.sharing.threshold),
    ]))
}

/// Latencies 1 and 5, a block's scratchpad half of the SM's and more.
fn figure_4(policy: &str) -> Result<Config> {
    let mut machine = Overlay::preset("small")?;
    for (key, value) in [
        ("geometry.lanes", "8"),
        ("geometry.warp_size", "8"),
        ("path.ahead", "0"),
        ("path.mem_stages", "2"),
        ("sharing.on", "true"),
        ("scheduler.policy", policy),
    ] {
        machine.set(key, value)?;
    }
    machine.config()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_control_flow_is_refused_with_those_there_are() {
        let error = drawn("Fig. 5").err().unwrap().to_string();
        assert!(error.contains("'Fig. 5'"), "{error}");
    }

    #[test]
    fn variables_are_letters() {
        assert_eq!(variables("CA"), C | A);
        assert_eq!(variables("D"), D);
    }
}
