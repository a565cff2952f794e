//! Prints a module: its items as text, in the one template of modules.

use crate::adapter;
use crate::codes;
use crate::item::{
    Declaration, Instance, Item, Memory, Next, Property, RAM_ZEROS, Update, Written,
};
use crate::lines::{CODE_WIDTH, Lines, words, wrap};
use crate::module::{Printed, Result, UnitDoc, header};
use crate::origin::Origin;
use crate::port::Port;
use crate::print::{self, Line};
use crate::signal::{Expr, Signal};
use crate::size::Size;
use crate::template::render_body;
use serde::Serialize;
use std::collections::HashSet;

/// Columns up to which an instance is written in one line.
const INSTANCE_WIDTH: usize = 88;

/// What stands in front of a body.
pub(crate) struct Opening<'a> {
    pub(crate) parameters: &'a [(&'static str, usize)],
    pub(crate) ports: &'a [Port],
    pub(crate) port_origins: &'a [Origin],
    pub(crate) unused: &'a [(String, String)],
    pub(crate) sizes: &'a [(Size, String)],
}

/// What the template gets.
#[derive(Serialize)]
struct Values {
    header: String,
    lines: Vec<String>,
}

/// The whole file, with the assertions or without them.
pub(crate) fn module(
    doc: &UnitDoc,
    opening: &Opening,
    items: &[Written],
    assertions: bool,
) -> Result<Printed> {
    let mut used = HashSet::new();
    let mut body = Body {
        assertions,
        ..Body::default()
    };
    body.items(items, 1);
    body.lines
        .iter()
        .for_each(|(line, _)| note_names(line, &mut used));
    // A size may need one that stands in front of it.
    let mut sizes: Vec<_> = Vec::new();
    for (size, value) in opening.sizes.iter().rev() {
        if used.contains(size.text()) {
            note_names(value, &mut used);
            sizes.insert(0, declared(size.text(), value));
        }
    }
    for (at, names) in body.indices.iter().rev() {
        let names: Vec<_> = names
            .iter()
            .filter(|name| used.contains(**name))
            .copied()
            .collect();
        if names.is_empty() {
            body.lines.remove(*at);
        } else {
            body.lines[*at].0 = format!("    genvar {};", names.join(", "));
        }
    }
    let texts: Vec<_> = body.lines.iter().map(|(text, _)| text.as_str()).collect();
    let codes = codes::declarations(&texts.join("\n"));
    let codes = codes.lines().map(str::to_owned);
    let ports = (opening.ports, opening.port_origins);
    let mut lines = print::opening(&doc.name, opening.parameters, ports, opening.unused);
    lines.extend(codes.chain(sizes).map(|text| (text, None)));
    lines.append(&mut body.lines);
    let header = header(doc, opening.ports);
    // After it, a directive and an empty line.
    let mut origins = vec![None; header.lines().count() + 2];
    for (text, origin) in &lines {
        origins.extend(
            text.lines()
                .map(|_| *origin)
                .chain(text.is_empty().then_some(None)),
        );
    }
    let lines = lines.into_iter().map(|(text, _)| text).collect();
    let text = render_body("module.v.tera", &Values { header, lines })? + "\n";
    origins.resize(text.lines().count(), None);
    Ok(Printed { text, origins })
}

/// `localparam name = value;`, in several lines where it is long.
fn declared(name: &str, value: &str) -> String {
    let mut cases = value.split(" : ");
    let first = cases.next().unwrap_or_default();
    let mut lines = Lines::new(CODE_WIDTH, format!("    localparam {name} = {first}"));
    cases.for_each(|case| lines.append(8, &format!(": {case}")));
    lines.join() + ";"
}

/// Adds the names in a line of code, without its comment.
fn note_names(line: &str, names: &mut HashSet<String>) {
    let code = line.split("//").next().unwrap_or_default();
    names.extend(words(code).map(str::to_owned));
}

/// The lines of a body.
#[derive(Default)]
struct Body {
    lines: Vec<Line>,
    /// The line of the description of what is printed now.
    at: Option<Origin>,
    /// Lines that are kept for the declarations of indices.
    indices: Vec<(usize, Vec<&'static str>)>,
    /// Whether assertions are printed.
    assertions: bool,
}

impl Body {
    fn line(&mut self, depth: usize, text: &str) {
        let indent = if text.is_empty() { 0 } else { 4 * depth };
        self.push(format!("{:indent$}{text}", ""));
    }

    /// A line, or several that belong together.
    fn push(&mut self, text: String) {
        self.lines.push((text, self.at));
    }

    fn items(&mut self, items: &[Written], depth: usize) {
        let (outer, mut waived) = (self.at, None);
        for Written { item, at } in items {
            self.at = Some(*at);
            self.waive(&mut waived, item.waiver(), depth);
            self.item(item, depth);
        }
        self.waive(&mut waived, None, depth);
        self.at = outer;
    }

    fn item(&mut self, item: &Item, depth: usize) {
        let indent = " ".repeat(4 * depth);
        match item {
            Item::Blank => self.line(0, ""),
            Item::Comment(text, columns) => {
                let width = columns - indent.len() - 3;
                let lines = text.lines().flat_map(|line| wrap(line, width));
                lines.for_each(|line| self.line(depth, &format!("// {line}")));
            }
            Item::Declaration(declaration) => self.declaration(declaration, depth),
            Item::Memory(Memory { rows, words }) => {
                let (range, name) = (range(words.width), words.name);
                self.line(depth, &format!("reg {range}{name} [0:{}];", rows - 1));
            }
            Item::Zeros(memory) => self.zeros(memory, depth),
            Item::Definition(width, statement) => {
                let opening = format!("{indent}wire {}", range(*width));
                self.push(print::statement(&opening, statement));
            }
            Item::Assignment(statement) => {
                let opening = format!("{indent}assign ");
                self.push(print::statement(&opening, statement));
            }
            Item::Update(update) => self.update(update, depth),
            Item::Indices(names) => {
                self.indices.push((self.lines.len(), names.clone()));
                self.push(String::new());
            }
            Item::Generate(items) => {
                self.line(depth, "generate");
                self.items(items, depth + 1);
                self.line(depth, "endgenerate");
            }
            Item::Loop(head, label, items) => {
                self.line(depth, &format!("for ({head}) begin : {label}"));
                self.items(items, depth + 1);
                self.line(depth, "end");
            }
            Item::Either(condition, [(first, one), (second, other)]) => {
                self.line(depth, &format!("if ({condition}) begin : {first}"));
                self.items(one, depth + 1);
                self.line(depth, &format!("end else begin : {second}"));
                self.items(other, depth + 1);
                self.line(depth, "end");
            }
            Item::Instance(instance) => self.instance(instance, depth),
            Item::Assertions(items) if self.assertions => {
                self.line(0, "");
                self.line(0, "`ifndef SYNTHESIS");
                self.items(items, depth);
                self.line(0, "`endif");
            }
            Item::Assertions(_) => {}
            Item::Property(property) => self.property(property, depth),
        }
    }

    /// `reg [W-1:0] name;`, and why it has no reset.
    fn declaration(&mut self, declaration: &Declaration, depth: usize) {
        let Declaration {
            keyword, signal, ..
        } = declaration;
        let line = format!("{keyword} {}{};", range(signal.width), signal.name);
        match declaration.no_reset {
            None => self.line(depth, &line),
            Some(reason) => self.line(depth, &format!("{line} // no reset: {reason}")),
        }
    }

    /// Clears a memory in simulations that ask for it.
    fn zeros(&mut self, Memory { rows, words }: &Memory, depth: usize) {
        let (name, zero) = (words.name, adapter::all_bits(words.width, false));
        self.line(0, &format!("`ifdef {RAM_ZEROS}"));
        self.line(depth, "integer r;");
        let rows = format!("for (r = 0; r < {rows}; r = r + 1)");
        self.line(depth, &format!("initial {rows} {name}[r] = {zero};"));
        self.line(0, "`endif");
    }

    /// `name: assert property (...) else $error("...");`
    fn property(&mut self, property: &Property, depth: usize) {
        let Property { name, message, .. } = property;
        let edge = "@(posedge clk) disable iff (rst)";
        self.line(depth, &format!("{name}: assert property ({edge}"));
        let opening = format!("{:1$}", "", 4 * (depth + 1));
        let (when, then) = (&property.when.tree, &property.then.tree);
        self.push(print::implication(&opening, when, then) + ")");
        self.line(depth + 1, &format!("else $error(\"{name}: {message}\");"));
    }

    /// Goes on to declarations whose unused bits have that reason.
    fn waive<'i>(&mut self, now: &mut Option<&'i str>, reason: Option<&'i str>, depth: usize) {
        if *now == reason {
            return;
        }
        if now.is_some() {
            self.line(depth, "/* verilator lint_on UNUSEDSIGNAL */");
        }
        if let Some(reason) = reason {
            let off = format!("/* verilator lint_off UNUSEDSIGNAL */ // {reason}");
            self.line(depth, &off);
        }
        *now = reason;
    }

    fn instance(&mut self, instance: &Instance, depth: usize) {
        let parameter = |(name, value): &(&str, Size)| format!(".{name}({})", value.text());
        let parameters: Vec<_> = instance.parameters.iter().map(parameter).collect();
        let parameters = if parameters.is_empty() {
            String::new()
        } else {
            format!("#({}) ", parameters.join(", "))
        };
        let opening = format!("{} {parameters}{} (", instance.module, instance.name);
        let connection = |(port, to): &(String, String)| format!(".{port}({to})");
        let connections: Vec<_> = instance.connections.iter().map(connection).collect();
        let short = format!("{opening}{});", connections.join(", "));
        if 4 * depth + short.len() <= INSTANCE_WIDTH {
            return self.line(depth, &short);
        }
        self.line(depth, &opening);
        for (i, (port, to)) in instance.connections.iter().enumerate() {
            let comma = if i + 1 < connections.len() { "," } else { "" };
            let line = print::connection(depth + 1, port, to, comma);
            self.push(line);
        }
        self.line(depth, ");");
    }

    /// A clocked block: reset, clear, and what changes otherwise.
    fn update(&mut self, update: &Update, depth: usize) {
        let value = |value: &Expr| adapter::text(&value.tree);
        let write = |next: &Next, value: &str| {
            let register = adapter::text(&next.register.tree);
            (format!("{register} <= {value};"), Some(next.at))
        };
        let reset = |next: &Next| {
            let (target, value) = next.reset.as_ref()?;
            Some((format!("{target} <= {value};"), Some(next.at)))
        };
        let resets: Vec<_> = update.next.iter().filter_map(reset).collect();
        let count = resets.len();
        assert!(
            count == 0 || count == update.next.len(),
            "registers with and without reset in one block: {update:?}"
        );
        let mut branches = Vec::new();
        if count > 0 {
            branches.push((Some("rst".to_owned()), resets.clone()));
        }
        if let Some(clear) = &update.clear {
            branches.push((Some(value(clear)), resets));
        }
        for next in &update.next {
            let alone = next.cases.is_empty() || update.next.len() == 1 && update.when.is_none();
            assert!(
                alone,
                "a register by cases has a block of its own: {update:?}"
            );
            let case =
                |(when, to): &(Expr, Expr)| (Some(value(when)), vec![write(next, &value(to))]);
            branches.extend(next.cases.iter().map(case));
        }
        let whole = |next: &Next| {
            let value = value(next.value.as_ref()?);
            Some(match next.bytes {
                None => vec![write(next, &value)],
                Some(enable) => {
                    let word = adapter::text(&next.register.tree);
                    let lines = bytes(&word, enable, &value).into_iter();
                    lines.map(|line| (line, Some(next.at))).collect()
                }
            })
        };
        let writes: Vec<_> = update.next.iter().filter_map(whole).flatten().collect();
        if !writes.is_empty() {
            branches.push((update.when.as_ref().map(value), writes));
        }
        if update.next.iter().any(|next| next.bytes.is_some()) {
            self.line(depth, "integer k;");
        }
        self.line(depth, "always @(posedge clk) begin");
        self.branches(&branches, depth + 1);
        self.line(depth, "end");
    }

    /// `if`, `else if` and `else`; a branch without a condition is the last.
    fn branches(&mut self, branches: &[(Option<String>, Vec<Line>)], depth: usize) {
        let one = branches.iter().all(|(_, writes)| writes.len() == 1);
        for (i, (condition, writes)) in branches.iter().enumerate() {
            let opening = match (i, condition) {
                (0, None) => return self.writes(writes, "", depth),
                (0, Some(condition)) => format!("if ({condition})"),
                (_, Some(condition)) => format!("else if ({condition})"),
                (_, None) => "else".to_owned(),
            };
            if one {
                self.writes(writes, &format!("{opening} "), depth);
                continue;
            }
            let end = if i == 0 { "" } else { "end " };
            let mixed = i == 0 && reads_reset(&opening);
            if mixed {
                let off = "/* verilator lint_off SYNCASYNCNET */";
                let reason = "// no write beside a reset, of any style";
                self.line(depth, &format!("{off} {reason}"));
            }
            self.line(depth, &format!("{end}{opening} begin"));
            if mixed {
                self.line(depth, "/* verilator lint_on SYNCASYNCNET */");
            }
            self.writes(writes, "", depth + 1);
        }
        if !one {
            self.line(depth, "end");
        }
    }

    /// The statements of a branch, which come from lines of their own.
    fn writes(&mut self, writes: &[Line], opening: &str, depth: usize) {
        let block = self.at;
        for (write, origin) in writes {
            self.at = *origin;
            self.line(depth, &format!("{opening}{write}"));
        }
        self.at = block;
    }
}

/// The bytes of `data` that `enable` has, into `word`.
fn bytes(word: &str, enable: Signal, data: &str) -> [String; 3] {
    let (count, enable) = (enable.width.text(), enable.name);
    [
        format!("for (k = 0; k < {count}; k = k + 1) begin"),
        format!("    if ({enable}[k]) {word}[k*8 +: 8] <= {data}[k*8 +: 8];"),
        "end".to_owned(),
    ]
}

/// Whether a condition has the reset among its signals. A user who makes the
/// resets asynchronous has it in both roles.
fn reads_reset(condition: &str) -> bool {
    condition != "if (rst)" && words(condition).any(|word| word == "rst")
}

/// `[width-1:0] `, or nothing for one bit.
fn range(width: Size) -> String {
    match (width.is_number(), width.value()) {
        (true, Some(1)) => String::new(),
        (true, Some(bits)) => format!("[{}:0] ", bits - 1),
        _ => format!("[{}:0] ", width.top()),
    }
}
