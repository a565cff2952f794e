//! The markers of a kernel's placement, put into its PTX.
//!
//! A marker before or after an instruction is a line of its own. One on a taken
//! branch needs a point that no other path passes. So the branch is inverted
//! and jumps over the marker, and the marker is followed by the branch to the
//! old target. A guarded exit becomes a branch around a marker and an exit in
//! the same way. Everything else stays byte for byte.

use super::graph::{Edge, FlowGraph, label_of_edge};
use super::placement::ProgramPoint;
use spadkit_base::error::{Error, Result};
use spadkit_ptx::edit::Edits;
use spadkit_ptx::marker::{LayoutMarker, RELSSP};
use spadkit_ptx::{
    Function, Instruction, LabelKind, Module, Opcode, Operand, Statement, StatementKind,
};

/// A marker in the annotated PTX.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Marker {
    /// 1-based line of the marker in the annotated text.
    pub line: u32,
    /// The edge that it is on, as positions in the PTX as it was, where it is on
    /// one alone.
    pub edge: Option<[String; 2]>,
}

/// Annotated PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotated {
    /// The whole text.
    pub text: String,
    /// The markers of releases, in the order of the text.
    pub markers: Vec<Marker>,
}

/// Puts markers at `points` of function `entry`, `layout` into its body, and before it the
/// block size `block` that it has to have.
pub fn annotate(
    module: &Module,
    entry: u32,
    graph: &FlowGraph,
    points: &[ProgramPoint],
    (layout, block): (Option<&LayoutMarker>, Option<[u32; 3]>),
) -> Result<Annotated> {
    let mut pass = Pass {
        module,
        entry,
        function: &module.functions[entry as usize],
        graph,
        edits: Edits::new(),
        marks: Vec::new(),
        prefix: unused_prefix(&module.text),
        labels: 0,
    };
    if let Some(block) = block {
        pass.block_size(block);
    }
    if let Some(layout) = layout {
        pass.layout(&layout.text());
    }
    for point in points {
        match *point {
            ProgramPoint::Before(n) => pass.before(n),
            ProgramPoint::After(n) => pass.after(n, None),
            ProgramPoint::On(edge) if !edge.taken && !pass.splits(points, edge.from) => {
                pass.after(edge.from, Some(edge));
            }
            ProgramPoint::On(_) => {}
        }
    }
    let taken = |p: &ProgramPoint| match p {
        ProgramPoint::On(edge) if edge.taken => Some(edge.from),
        _ => None,
    };
    let mut sources: Vec<u32> = points.iter().filter_map(taken).collect();
    sources.dedup();
    for source in sources {
        let on = points.iter().filter_map(|p| match p {
            ProgramPoint::On(edge) if edge.from == source => Some(*edge),
            _ => None,
        });
        let edges: Vec<Edge> = on.collect();
        pass.split(source, &edges);
    }
    pass.finish()
}

/// A prefix for new labels that does not occur in the text.
fn unused_prefix(text: &str) -> String {
    let mut prefix = "$spadkit_".to_owned();
    while text.contains(&prefix) {
        prefix.push('_');
    }
    prefix
}

struct Pass<'a> {
    module: &'a Module,
    entry: u32,
    function: &'a Function,
    graph: &'a FlowGraph,
    edits: Edits,
    /// Byte of the text as it was at which each marker goes in, and its edge.
    marks: Vec<(u32, Option<[String; 2]>)>,
    prefix: String,
    labels: u32,
}

impl Pass<'_> {
    fn instruction(&self, n: u32) -> &Instruction {
        &self.function.instructions[n as usize]
    }

    fn marker() -> String {
        format!(".pragma \"{RELSSP}\";")
    }

    fn new_label(&mut self) -> String {
        self.labels += 1;
        format!("{}{}", self.prefix, self.labels)
    }

    /// Whether a way that is taken from `n` gets a marker.
    fn splits(&self, points: &[ProgramPoint], n: u32) -> bool {
        let taken = |p: &ProgramPoint| matches!(p, ProgramPoint::On(e) if e.taken && e.from == n);
        points.iter().any(taken)
    }

    fn before(&mut self, n: u32) {
        let at = self.instruction(n).span.start;
        self.marks.push((at, None));
        let lines = [Self::marker()];
        self.edits.insert_lines(&self.module.text, at, &lines);
    }

    /// Behind instruction `n`, where control falls through.
    fn after(&mut self, n: u32, edge: Option<Edge>) {
        let mut lines = vec![Self::marker()];
        let ends = self
            .graph
            .successors(n)
            .iter()
            .any(|e| !e.taken && e.to == self.graph.exit());
        if ends {
            lines.push("ret;".to_owned());
        } else if self.instruction(n).opcode == Opcode::Call
            && let Some(label) = self.label_behind(n)
        {
            // Between a call and a label, it would be unknown which of the
            // following threads have passed the marker.
            lines.push(format!("bra.uni {label};"));
        }
        let edge = edge.map(|e| self.names(e));
        let at = self.insert_behind(self.instruction(n).span.end, &lines, "");
        self.marks.push((at, edge));
    }

    /// The label at which the instruction after `n` begins.
    fn label_behind(&self, n: u32) -> Option<&str> {
        let labels = self.function.labels.iter();
        let mut here = labels.filter(|l| l.kind == LabelKind::Code(n + 1));
        here.next().map(|l| l.name.as_str())
    }

    /// Puts lines after the statement that ends at byte `end`: after the
    /// comment on its line where nothing else follows, else on the same line.
    fn insert_behind(&mut self, end: u32, lines: &[String], indent: &str) -> u32 {
        let text = &self.module.text;
        let line_start = text[..end as usize].rfind('\n').map_or(0, |n| n + 1);
        let line = &text[line_start..end as usize];
        let white = &line[..line.len() - line.trim_start().len()];
        let rest = text[end as usize..].split('\n').next().unwrap_or("");
        let alone = rest.trim().is_empty() || rest.trim_start().starts_with("//");
        let at = if alone { end + rest.len() as u32 } else { end };
        let added: String = if alone {
            lines
                .iter()
                .map(|l| format!("\n{white}{indent}{l}"))
                .collect()
        } else {
            lines.iter().map(|l| format!(" {l}")).collect()
        };
        self.edits.insert(at, added);
        at
    }

    /// The layout, at the beginning of the body.
    fn layout(&mut self, pragma: &str) {
        if let Some(open) = self.open() {
            self.insert_behind(open.span.end, &[pragma.to_owned()], "\t");
        }
    }

    /// The brace before the body.
    fn open(&self) -> Option<&Statement> {
        let own = self.module.statements.iter();
        let mut own = own.filter(|s| s.function == Some(self.entry));
        own.find(|s| s.kind == StatementKind::Open)
    }

    fn block_size(&mut self, [x, y, z]: [u32; 3]) {
        if let Some(at) = self.open().map(|open| open.span.start) {
            self.edits.insert(at, format!(".reqntid {x}, {y}, {z}\n"));
        }
    }

    /// The ends of a way, by label or line.
    fn names(&self, edge: Edge) -> [String; 2] {
        let line = |n: u32| format!("line {}", self.instruction(n).span.line);
        let to = match label_of_edge(self.function, edge) {
            Some(label) if edge.taken => label.to_owned(),
            _ if edge.to == self.graph.exit() => "exit".to_owned(),
            _ => line(edge.to),
        };
        [line(edge.from), to]
    }

    /// Gives the edges `edges` out of `n` labels of their own.
    fn split(&mut self, n: u32, edges: &[Edge]) {
        let span = self.instruction(n).span;
        let mut taken = self.graph.successors(n).iter().filter(|e| e.taken);
        let lines = if taken.all(|e| edges.contains(e)) {
            // Threads that take the branch release, whatever the target.

            let (guard, rest) = self.guard_and_rest(n);
            let over = self.new_label();
            let mut ends = self.names(edges[0]);
            for edge in &edges[1..] {
                ends[1] += &format!(", {}", self.names(*edge)[1]);
            }
            self.marks.push((span.start, Some(ends)));
            vec![
                format!("@{} bra {over};", turned(&guard)),
                Self::marker(),
                rest,
                format!("{over}:"),
            ]
        } else {
            self.split_table(n, edges)
        };
        let text = &self.module.text;
        let line_start = text[..span.start as usize].rfind('\n').map_or(0, |n| n + 1);
        let before = &text[line_start..span.start as usize];
        let separator = if before.chars().all(char::is_whitespace) {
            format!("\n{before}")
        } else {
            " ".to_owned()
        };
        self.edits.replace(span, lines.join(&separator));
    }

    /// The guard without its `@`, and the instruction without its guard.
    fn guard_and_rest(&self, n: u32) -> (String, String) {
        let instruction = self.instruction(n);
        let text = self.module.text_of(instruction.span);
        let Some(guard) = instruction.guard else {
            return (String::new(), text.to_owned());
        };
        let register = &self.function.registers[guard.register.0 as usize].name;
        let end = text
            .find(register.as_str())
            .map_or(0, |at| at + register.len());
        let sign = if guard.negated { "!" } else { "" };
        (
            format!("{sign}{register}"),
            text[end..].trim_start().to_owned(),
        )
    }

    /// A branch by a table gets a table of its own, with new labels for the
    /// ways that have markers; they follow the branch.
    fn split_table(&mut self, n: u32, edges: &[Edge]) -> Vec<String> {
        let at = self.instruction(n).span.start;
        let (guard, rest) = self.guard_and_rest(n);
        let Some(Operand::Label(list)) = self.instruction(n).operands.get(1) else {
            return vec![rest];
        };
        let list = &self.function.labels[*list as usize];
        let LabelKind::Branches(targets) = &list.kind else {
            return vec![rest];
        };
        let (table, over) = (self.new_label(), self.new_label());
        let mut names = Vec::new();
        let mut blocks = Vec::new();
        let mut marks = Vec::new();
        let mut made: Vec<(u32, String)> = Vec::new();
        for target in targets {
            let label = &self.function.labels[*target as usize];
            let edge = edges
                .iter()
                .find(|e| e.taken && label.kind == LabelKind::Code(e.to));
            let Some(edge) = edge else {
                names.push(label.name.clone());
                continue;
            };
            if let Some((_, name)) = made.iter().find(|(to, _)| *to == edge.to) {
                names.push(name.clone());
                continue;
            }
            let name = self.new_label();
            marks.push((at, Some(self.names(*edge))));
            blocks.extend([
                format!("{name}:"),
                Self::marker(),
                format!("bra.uni {};", label.name),
            ]);
            made.push((edge.to, name.clone()));
            names.push(name);
        }
        let mut lines = vec![format!("{table}: .branchtargets {};", names.join(", "))];
        if !guard.is_empty() {
            lines.push(format!("@{} bra {over};", turned(&guard)));
        }
        lines.push(replace_last(&rest, &list.name, &table));
        lines.extend(blocks);
        self.marks.extend(marks);
        if !guard.is_empty() {
            lines.push(format!("{over}:"));
            if let Some(falls) = edges.iter().find(|e| !e.taken) {
                lines.push(Self::marker());
                self.marks.push((at, Some(self.names(*falls))));
            }
        }
        lines
    }

    /// Applies the changes, and finds the lines of the markers.
    fn finish(mut self) -> Result<Annotated> {
        let text = self.edits.apply(&self.module.text);
        let written = Module::parse(&text, &self.module.name)?;
        self.marks.sort_by_key(|m| m.0);
        let releases: Vec<u32> = written.releases(self.entry).map(|s| s.span.line).collect();
        if releases.len() != self.marks.len() {
            let (written, wanted) = (releases.len(), self.marks.len());
            let what = format!("{written} markers of {wanted} were written");
            return Err(Error::defect(what));
        }
        let marks = releases.into_iter().zip(self.marks);
        Ok(Annotated {
            markers: marks
                .map(|(line, (_, edge))| Marker { line, edge })
                .collect(),
            text,
        })
    }
}

/// The opposite of a guard.
fn turned(guard: &str) -> String {
    match guard.strip_prefix('!') {
        Some(register) => register.to_owned(),
        None => format!("!{guard}"),
    }
}

fn replace_last(text: &str, from: &str, to: &str) -> String {
    match text.rfind(from) {
        Some(at) => format!("{}{to}{}", &text[..at], &text[at + from.len()..]),
        None => text.to_owned(),
    }
}
