//! The control flow of a kernel by basic blocks, with access ranges and the
//! points of `relssp`: for Graphviz, and for the report's picture.

use super::placement::ProgramPoint;
use super::plan::Plan;
use spadkit_ptx::{Cfg, LabelKind};
use std::fmt::Write;

/// A basic block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnBlock {
    /// Label of the block, or its first line.
    pub name: String,
    /// First and last line.
    pub lines: (u32, u32),
    /// Instructions.
    pub instructions: u32,
    /// Instructions in the access range of the shared variables.
    pub in_range: u32,
    /// Variables that it may access; shared ones with a star.
    pub accesses: Vec<String>,
    /// Lines at which it releases: before or after the instruction there.
    pub releases: Vec<String>,
}

/// A way from a block to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnEdge {
    /// Block that control leaves.
    pub from: usize,
    /// Target block; the number of blocks means the end.
    pub to: usize,
    /// There is a marker on it.
    pub releases: bool,
}

/// The picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// The entry.
    pub title: String,
    /// Blocks that can be reached, in the order of the text.
    pub blocks: Vec<DrawnBlock>,
    /// The ways between them.
    pub edges: Vec<DrawnEdge>,
}

impl Drawing {
    /// The picture of a plan.
    pub fn of(plan: &Plan) -> Self {
        let kernel = plan.kernel;
        let function = kernel.function();
        let cfg = Cfg::new(function);
        let shown: Vec<usize> = (0..cfg.blocks.len())
            .filter(|&b| kernel.graph.is_reachable(cfg.blocks[b].start))
            .collect();
        let number = |block: u32| shown.iter().position(|&b| b as u32 == block);
        let mut drawing = Drawing {
            title: function.name.clone(),
            ..Drawing::default()
        };
        for (at, &b) in shown.iter().enumerate() {
            let block = &cfg.blocks[b];
            drawing.blocks.push(drawn(plan, block.start..block.end));
            let last = block.end - 1;
            for &to in &block.successors {
                let target = cfg
                    .blocks
                    .get(to as usize)
                    .map_or(kernel.graph.exit(), |t| t.start);
                let on = |p: &ProgramPoint| matches!(p, ProgramPoint::On(e) if e.from == last && e.to == target);
                drawing.edges.push(DrawnEdge {
                    from: at,
                    to: number(to).unwrap_or(shown.len()),
                    releases: plan.points.iter().any(on),
                });
            }
        }
        drawing
    }

    /// The picture in Graphviz's language.
    pub fn dot(&self) -> String {
        let mut dot = format!(
            "digraph \"{}\" {{\n  node [shape=box, fontname=\"monospace\", style=filled, \
             fillcolor=white];\n  edge [fontname=\"monospace\"];\n",
            quoted(&self.title)
        );
        for (at, block) in self.blocks.iter().enumerate() {
            let lines: String = block.text().iter().map(|l| quoted(l) + "\\l").collect();
            let color = match (block.in_range, block.instructions) {
                (0, _) => "white",
                (some, all) if some < all => "#fdf1d8",
                _ => "#f8d9a8",
            };
            // Writing to a string cannot fail.
            let _ = writeln!(dot, "  b{at} [label=\"{lines}\", fillcolor=\"{color}\"];");
        }
        let _ = writeln!(dot, "  b{} [label=\"end\", shape=oval];", self.blocks.len());
        for edge in &self.edges {
            let mark = if edge.releases {
                " [label=\"relssp\", color=\"#1f7a4d\", fontcolor=\"#1f7a4d\", penwidth=2]"
            } else {
                ""
            };
            let _ = writeln!(dot, "  b{} -> b{}{mark};", edge.from, edge.to);
        }
        dot + "}\n"
    }
}

impl DrawnBlock {
    /// The lines of its box.
    pub fn text(&self) -> Vec<String> {
        let (first, last) = self.lines;
        let mut lines = vec![self.name.clone(), format!("lines {first} to {last}")];
        if !self.accesses.is_empty() {
            lines.push(self.accesses.join(", "));
        }
        if self.in_range > 0 {
            lines.push(format!(
                "{} of {} in range",
                self.in_range, self.instructions
            ));
        }
        lines.extend(self.releases.iter().map(|r| format!("relssp {r}")));
        lines
    }
}

fn drawn(plan: &Plan, range: std::ops::Range<u32>) -> DrawnBlock {
    let kernel = plan.kernel;
    let function = kernel.function();
    let line = |n: u32| function.instructions[n as usize].span.line;
    let label = function
        .labels
        .iter()
        .find(|l| l.kind == LabelKind::Code(range.start));
    let set = range
        .clone()
        .fold(0, |set, n| set | kernel.ranges.accesses(n));
    let variables = kernel.variables.iter().enumerate();
    let accesses = variables.filter(|(i, _)| set >> i & 1 == 1).map(|(i, v)| {
        let star = if plan.layout.is_shared(i) { "*" } else { "" };
        format!("{}{star}", short(&v.name))
    });
    let releases = plan.points.iter().filter_map(|p| match *p {
        ProgramPoint::Before(n) if range.contains(&n) => Some(format!("before {}", line(n))),
        ProgramPoint::After(n) if range.contains(&n) => Some(format!("after {}", line(n))),
        _ => None,
    });
    let in_range = |n: &u32| kernel.ranges.in_range(*n, plan.layout.shared);
    DrawnBlock {
        name: label.map_or(format!("line {}", line(range.start)), |l| l.name.clone()),
        lines: (line(range.start), line(range.end - 1)),
        instructions: range.end - range.start,
        in_range: range.clone().filter(in_range).count() as u32,
        accesses: accesses.collect(),
        releases: releases.collect(),
    }
}

/// The part of a mangled name that the source has: `_ZZ4haarE1s` is `s`.
pub fn short(name: &str) -> &str {
    let local = name
        .strip_prefix("_ZZ")
        .and_then(|n| n.rfind('E').map(|at| &n[at + 1..]));
    let bare = local.map(|n| n.trim_start_matches(|c: char| c.is_ascii_digit()));
    bare.filter(|n| !n.is_empty()).unwrap_or(name)
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
