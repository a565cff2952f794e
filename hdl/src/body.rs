//! Prints a module: its items as text, in the one template of modules.

mod clocked;

use crate::adapter;
use crate::codes;
use crate::error::Result;
use crate::header::{UnitDoc, header};
use crate::item::{Declaration, Instance, Item, Loop, Memory, Property, RAM_ZEROS, Written};
use crate::lines::{CODE_WIDTH, Lines, wrap};
use crate::names::Names;
use crate::number::{Number, Spaces};
use crate::origin::Origin;
use crate::parameter::Parameter;
use crate::port::Port;
use crate::print::{self, Line, Printed};
use crate::size::{Size, interned};
use crate::statement;
use crate::style::Style;
use crate::template::render_body;
use crate::tree::{Statement, Tree};
use crate::vector::Vector;
use serde::Serialize;

/// Columns up to which an instance is written in one line.
const INSTANCE_WIDTH: usize = 88;

/// A module before it is printed.
#[derive(Debug)]
pub(crate) struct Description {
    pub(crate) doc: UnitDoc,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) vectors: Vec<Vector>,
    pub(crate) ports: Vec<Port>,
    pub(crate) sizes: Vec<(&'static str, Size)>,
    pub(crate) items: Vec<Written>,
}

/// The values of the template.
#[derive(Serialize)]
struct Values {
    header: String,
    lines: Vec<String>,
}

/// The whole file, with the assertions or without them, and the names in it.
pub(crate) fn module(
    description: &Description,
    style: &Style,
    assertions: bool,
) -> Result<(Printed, Names)> {
    let ports = style.ports(&description.ports);
    let mut body = Body {
        assertions,
        style: style.clone(),
        ..Body::default()
    };
    let names = ports.iter().map(|port| interned(&port.name));
    names.for_each(|name| body.names.add(name));
    let parameters = description.parameters.iter();
    parameters.for_each(|parameter| body.names.add(parameter.name));
    let vectors = description.vectors.iter();
    vectors.for_each(|vector| body.names.add(interned(&vector.name)));
    body.items(&description.items, 1);
    // A size may need one that stands in front of it.
    let mut sizes: Vec<_> = Vec::new();
    for (name, value) in description.sizes.iter().rev() {
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
    let doc = description.doc.in_style(style);
    let vectors = &description.vectors;
    let parameters = (&*description.parameters, &**vectors);
    let mut lines = print::opening(&doc.name, parameters, &ports);
    lines.extend(codes.chain(sizes).map(|text| (text, None)));
    lines.append(&mut body.lines);
    let header = header(&doc, vectors, &ports);
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

/// `localparam name = value;`, in several lines if it is long. It has no type: Verilator
/// warns that an `integer` is too wide for the bits that it is compared with.
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
    style: Style,
}

impl Body {
    /// The text of an expression.
    fn text(&mut self, tree: &Tree) -> String {
        self.names.add_tree(tree);
        adapter::text(tree, self.style.reset)
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
        let text = statement::text(opening, statement, self.style.reset);
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
            Item::Comment(text, columns) => self.comment(text, *columns, depth),
            Item::Declaration(declaration) => self.declaration(declaration, depth),
            Item::Attributes(list) => self.line(depth, &format!("(* {list} *)")),
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
            Item::Either(condition, sides) => self.either(condition, sides, depth),
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

    fn comment(&mut self, text: &str, columns: usize, depth: usize) {
        let width = columns - 4 * depth - 3;
        let text = self.style.prose(text);
        let lines = text.lines().flat_map(|line| wrap(line, width));
        lines.for_each(|line| self.line(depth, &format!("// {line}")));
    }

    fn either(
        &mut self,
        condition: &Number,
        sides: &[(&'static str, Vec<Written>); 2],
        depth: usize,
    ) {
        let [(first, one), (second, other)] = sides;
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
        let edge = format!("@(posedge clk) disable iff ({})", self.style.reset.active());
        self.line(depth, &format!("{name}: assert property ({edge}"));
        let opening = format!("{:1$}", "", 4 * (depth + 1));
        self.names.add(name);
        let [when, then] = [&property.when, &property.then].map(|value| {
            self.names.add_tree(&value.tree);
            adapter::expression(&value.tree, self.style.reset)
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
        let module = self.style.module(&instance.module);
        let opening = format!("{module} {parameters}{} (", instance.name);
        let connections = instance.connections.iter();
        let connections: Vec<_> = connections
            .map(|(port, to)| match self.reset_port(port, to) {
                Some(reset) => format!(".{reset}({reset})"),
                None => format!(".{port}({})", self.text(to)),
            })
            .collect();
        let short = format!("{opening}{});", connections.join(", "));
        if 4 * depth + short.len() <= INSTANCE_WIDTH {
            return self.line(depth, &short);
        }
        self.line(depth, &opening);
        for (i, (port, to)) in instance.connections.iter().enumerate() {
            let comma = if i + 1 < connections.len() { "," } else { "" };
            let line = match self.reset_port(port, to) {
                Some(reset) => format!("{:1$}.{reset}({reset}){comma}", "", 4 * (depth + 1)),
                None => {
                    let to = adapter::expression(to, self.style.reset);
                    print::connection(depth + 1, port, &to, comma)
                }
            };
            self.push(line);
        }
        self.line(depth, ");");
    }

    /// The reset of a module that goes to that of an instance.
    fn reset_port(&self, port: &str, to: &Tree) -> Option<&'static str> {
        (port == "rst" && to.is_reset()).then_some(self.style.reset.port())
    }
}
