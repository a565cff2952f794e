//! Prints a module: its items as text, in the one template of modules.

use crate::adapter;
use crate::codes;
use crate::item::{
    Declaration, Instance, Item, Loop, Memory, Next, Property, RAM_ZEROS, Update, Written,
};
use crate::lines::{CODE_WIDTH, Lines, wrap};
use crate::module::{Printed, Result, UnitDoc, header};
use crate::names::Names;
use crate::number::Spaces;
use crate::origin::Origin;
use crate::port::Port;
use crate::print::{self, Line};
use crate::signal::{Expr, Signal, Statement, Tree};
use crate::size::{Size, interned};
use crate::template::render_body;
use serde::Serialize;

/// Columns up to which an instance is written in one line.
const INSTANCE_WIDTH: usize = 88;

/// What stands in front of a body.
pub(crate) struct Opening<'a> {
    pub(crate) parameters: &'a [(&'static str, usize)],
    pub(crate) ports: &'a [Port],
    pub(crate) port_origins: &'a [Origin],
    pub(crate) unused: &'a [(String, String)],
    pub(crate) sizes: &'a [(&'static str, Size)],
}

/// What the template gets.
#[derive(Serialize)]
struct Values {
    header: String,
    lines: Vec<String>,
}

/// The whole file, with the assertions or without them, and the names in it.
pub(crate) fn module(
    doc: &UnitDoc,
    opening: &Opening,
    items: &[Written],
    assertions: bool,
) -> Result<(Printed, Names)> {
    let mut body = Body {
        assertions,
        ..Body::default()
    };
    let ports = opening.ports.iter();
    ports.for_each(|port| body.names.add(interned(&port.name)));
    let parameters = opening.parameters.iter();
    parameters.for_each(|(name, _)| body.names.add(name));
    body.items(items, 1);
    // A size may need one that stands in front of it.
    let mut sizes: Vec<_> = Vec::new();
    for (name, value) in opening.sizes.iter().rev() {
        if body.names.have(name) {
            body.names.add_number(value.number());
            sizes.insert(0, declared(name, *value));
        }
    }
    for (at, names) in body.indices.iter().rev() {
        let names = names.iter().filter(|name| body.names.have(name));
        let names: Vec<_> = names.copied().collect();
        if names.is_empty() {
            body.lines.remove(*at);
        } else {
            body.lines[*at].0 = format!("    genvar {};", names.join(", "));
        }
    }
    let codes = codes::declarations(body.names.all()).into_iter();
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
    Ok((Printed { text, origins }, body.names))
}

/// `localparam name = value;`, in several lines where it is long.
fn declared(name: &str, value: Size) -> String {
    let mut cases = value.number().cases().into_iter();
    let first = cases.next().unwrap_or_default();
    let mut lines = Lines::new(CODE_WIDTH, format!("    localparam {name} = {first}"));
    cases.for_each(|case| lines.append(8, &format!(": {case}")));
    lines.join() + ";"
}

/// The lines of a body.
#[derive(Default)]
struct Body {
    lines: Vec<Line>,
    /// The names in them.
    names: Names,
    /// The line of the description of what is printed now.
    at: Option<Origin>,
    /// Lines that are kept for the declarations of indices.
    indices: Vec<(usize, Vec<&'static str>)>,
    /// Whether assertions are printed.
    assertions: bool,
}

impl Body {
    /// The text of an expression.
    fn text(&mut self, tree: &Tree) -> String {
        self.names.add_tree(tree);
        adapter::text(tree)
    }

    /// The text of a size.
    fn size(&mut self, size: Size) -> String {
        self.names.add_number(size.number());
        size.text()
    }

    /// `[width-1:0] `, or nothing for one bit.
    fn range(&mut self, width: Size) -> String {
        self.names.add_number(width.number());
        print::range(width)
    }

    /// A statement that begins with `opening`.
    fn statement(&mut self, opening: &str, statement: &Statement) {
        statement.trees(|tree| self.names.add_tree(tree));
        let text = print::statement(opening, &adapter::statement(statement));
        self.push(text);
    }

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
                let (range, name) = (self.range(words.width), words.name);
                self.names.add(name);
                self.line(depth, &format!("reg {range}{name} [0:{}];", rows - 1));
            }
            Item::Zeros(memory) => self.zeros(memory, depth),
            Item::Definition(width, statement) => {
                let keyword = match statement {
                    Statement::Choice { .. } => "wire",
                    Statement::Table { .. } => "reg",
                };
                let opening = format!("{indent}{keyword} {}", self.range(*width));
                self.statement(&opening, statement);
            }
            Item::Assignment(statement) => {
                self.statement(&format!("{indent}assign "), statement);
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
            Item::Loop(around, items) => {
                self.opening_of(around, depth);
                self.items(items, depth + 1);
                self.line(depth, "end");
            }
            Item::Either(condition, [(first, one), (second, other)]) => {
                self.names.add_number(condition);
                self.names.add(first);
                self.names.add(second);
                let condition = condition.written(Spaces {
                    sums: true,
                    ..Spaces::default()
                });
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
        self.names.add(signal.name);
        let line = format!("{keyword} {}{};", self.range(signal.width), signal.name);
        match declaration.no_reset {
            None => self.line(depth, &line),
            Some(reason) => self.line(depth, &format!("{line} // no reset: {reason}")),
        }
    }

    /// `for (i = 0; i < L; i = i + 1) begin : label`
    fn opening_of(&mut self, around: &Loop, depth: usize) {
        let Loop {
            label,
            index,
            from,
            to,
        } = *around;
        self.names.add(label);
        self.names.add(index);
        self.names.add_number(to.number());
        let end = to.number().compared(Spaces {
            divisions: true,
            ..Spaces::default()
        });
        let from = self.size(from);
        let head = format!("{index} = {from}; {index} < {end}; {index} = {index} + 1");
        self.line(depth, &format!("for ({head}) begin : {label}"));
    }

    /// Clears a memory in simulations that ask for it.
    fn zeros(&mut self, Memory { rows, words }: &Memory, depth: usize) {
        let (name, zero) = (words.name, self.text(&Tree::all_bits(words.width, false)));
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
        self.names.add(name);
        let [when, then] = [&property.when, &property.then].map(|value| {
            self.names.add_tree(&value.tree);
            adapter::expression(&value.tree)
        });
        self.push(print::implication(&opening, &when, &then) + ")");
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
        self.names.add(instance.name);
        let parameters = instance.parameters.iter();
        let parameters: Vec<_> = parameters
            .map(|(name, value)| format!(".{name}({})", self.size(*value)))
            .collect();
        let parameters = if parameters.is_empty() {
            String::new()
        } else {
            format!("#({}) ", parameters.join(", "))
        };
        let opening = format!("{} {parameters}{} (", instance.module, instance.name);
        let connections = instance.connections.iter();
        let connections: Vec<_> = connections
            .map(|(port, to)| format!(".{port}({})", self.text(to)))
            .collect();
        let short = format!("{opening}{});", connections.join(", "));
        if 4 * depth + short.len() <= INSTANCE_WIDTH {
            return self.line(depth, &short);
        }
        self.line(depth, &opening);
        for (i, (port, to)) in instance.connections.iter().enumerate() {
            let comma = if i + 1 < connections.len() { "," } else { "" };
            let line = print::connection(depth + 1, port, &adapter::expression(to), comma);
            self.push(line);
        }
        self.line(depth, ");");
    }

    /// A clocked block: reset, clear, and what changes otherwise.
    fn update(&mut self, update: &Update, depth: usize) {
        let mut branches = Vec::new();
        let resets = self.resets(update);
        if !resets.is_empty() {
            branches.push((Some(&Tree::Name("rst")), resets.clone()));
        }
        if let Some(clear) = &update.clear {
            branches.push((Some(&clear.tree), resets));
        }
        for next in &update.next {
            let alone = next.cases.is_empty() || update.next.len() == 1 && update.when.is_none();
            assert!(
                alone,
                "a register by cases has a block of its own: {update:?}"
            );
            for (when, to) in &next.cases {
                branches.push((Some(&when.tree), vec![self.write(next, to)]));
            }
        }
        let mut writes = Vec::new();
        for next in &update.next {
            match (&next.value, next.bytes) {
                (None, _) => {}
                (Some(value), None) => writes.push(self.write(next, value)),
                (Some(value), Some(enable)) => writes.extend(self.bytes(next, enable, value)),
            }
        }
        if !writes.is_empty() {
            branches.push((update.when.as_ref().map(|when| &when.tree), writes));
        }
        if update.next.iter().any(|next| next.bytes.is_some()) {
            self.line(depth, "integer k;");
        }
        self.line(depth, "always @(posedge clk) begin");
        self.branches(&branches, depth + 1);
        self.line(depth, "end");
    }

    /// What a reset writes.
    fn resets(&mut self, update: &Update) -> Vec<Line> {
        let mut resets = Vec::new();
        for next in &update.next {
            if let Some((target, value)) = &next.reset {
                let [target, value] = [target, value].map(|tree| self.text(tree));
                resets.push((format!("{target} <= {value};"), Some(next.at)));
            }
        }
        assert!(
            resets.is_empty() || resets.len() == update.next.len(),
            "registers with and without reset in one block: {update:?}"
        );
        resets
    }

    /// `register <= value;`
    fn write(&mut self, next: &Next, value: &Expr) -> Line {
        let [register, value] = [&next.register, value].map(|part| self.text(&part.tree));
        (format!("{register} <= {value};"), Some(next.at))
    }

    /// The bytes of `data` that `enable` has, into the register.
    fn bytes(&mut self, next: &Next, enable: Signal, data: &Expr) -> [Line; 3] {
        let [word, data] = [&next.register, data].map(|part| self.text(&part.tree));
        let (count, enable) = (self.size(enable.width), enable.name);
        [
            format!("for (k = 0; k < {count}; k = k + 1) begin"),
            format!("    if ({enable}[k]) {word}[k*8 +: 8] <= {data}[k*8 +: 8];"),
            "end".to_owned(),
        ]
        .map(|line| (line, Some(next.at)))
    }

    /// `if`, `else if` and `else`; a branch without a condition is the last.
    fn branches(&mut self, branches: &[(Option<&Tree>, Vec<Line>)], depth: usize) {
        let one = branches.iter().all(|(_, writes)| writes.len() == 1);
        for (i, (condition, writes)) in branches.iter().enumerate() {
            let text = condition.map(|condition| self.text(condition));
            let opening = match (i, text) {
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
            let mixed = i == 0 && condition.is_some_and(reads_reset);
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

/// Whether a condition has the reset among other signals. A user who makes the
/// resets asynchronous has it in both roles.
fn reads_reset(condition: &Tree) -> bool {
    let mut reads = false;
    condition.names(&mut |name| reads |= name == "rst");
    reads && !matches!(condition, Tree::Name(_))
}
