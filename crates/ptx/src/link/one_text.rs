//! A linked module as one text that stands for it: for what changes a text,
//! and for assemblers.
//!
//! The texts follow one another. The first has the head. A declaration gets
//! the linkage of its definition. A function that another one stands for
//! becomes a declaration. Names that several texts have for themselves are
//! renamed in all but the first. Source files are numbered consecutively. No
//! line is added or removed, so lines are still those of their texts.

use super::{Item, Place, chosen, each_span};
use crate::ast::{Function, Linkage, Module, Span, StatementKind, Unit, Variable};
use crate::edit::Edits;
use crate::token::{Token, TokenKind, tokens};
use spadkit_base::error::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::path::Path;

impl Module {
    /// The module as one that a single text stands for: itself where nothing
    /// is linked. Places are those of the texts ([`Module::file_of`]). Errors:
    /// declarations of several variables in one statement that would have to
    /// be taken apart.
    pub fn one_text(self) -> Result<Module> {
        if self.is_one_text() {
            return Ok(self);
        }
        let modules = self.unit_modules()?;
        let parts = Merge::new(&modules, &self)?.parts()?;
        let mut whole = Module::parse(&parts.concat(), &self.name)?;
        let mut start = 0;
        for (module, part) in modules.iter().zip(&parts) {
            whole.units.push(Unit {
                name: module.name.clone(),
                start,
            });
            start += part.len() as u32;
        }
        whole.count_lines_in_units();
        Ok(whole)
    }

    /// Whether its text is PTX as it is: that of texts one after the other has
    /// several heads.
    fn is_one_text(&self) -> bool {
        let directives = self.statements.iter();
        let heads = directives.filter(|s| self.text_of(s.span).starts_with(".version"));
        heads.count() < 2
    }

    /// Refuses several linked texts, for what changes the text of a module.
    pub fn require_one_text(&self, command: &str) -> Result<()> {
        if self.is_one_text() {
            return Ok(());
        }
        Err(Error::usage(
            format!("{command} takes one PTX, and {} are linked", self.name),
            "expected a kernel in one text (Module::one_text)",
        ))
    }

    /// The texts, parsed alone.
    fn unit_modules(&self) -> Result<Vec<Module>> {
        let ends = self.units.iter().skip(1).map(|u| u.start as usize);
        let ends = ends.chain([self.text.len()]);
        // The line break that linking has added stays out.
        let text = |unit: &Unit, end: usize| &self.text[unit.start as usize..end - 1];
        let units = self.units.iter().zip(ends);
        units
            .map(|(unit, end)| Module::parse(text(unit, end), &unit.name))
            .collect()
    }

    /// Lines of all places count from the start of their units.
    fn count_lines_in_units(&mut self) {
        let count = |unit: &Unit| self.text[..unit.start as usize].matches('\n').count() as u32;
        let before: Vec<(u32, u32)> = self.units.iter().map(|u| (u.start, count(u))).collect();
        each_span(self, &mut |span: &mut Span| {
            let at = before.partition_point(|(start, _)| *start <= span.start);
            span.line -= before[at.saturating_sub(1)].1;
        });
    }
}

/// The modules of the texts, and what was chosen for each name.
struct Merge<'m> {
    modules: &'m [Module],
    whole: &'m Module,
    functions: HashMap<Place, Place>,
    variables: HashMap<Place, Place>,
    /// Debug information cannot be joined: it stays where one text has it.
    debug: bool,
}

impl<'m> Merge<'m> {
    fn new(modules: &'m [Module], whole: &'m Module) -> Result<Self> {
        let with_debug = modules.iter().filter(|m| has_sections(m));
        Ok(Merge {
            modules,
            whole,
            functions: chosen(modules, |m| &m.functions[..])?,
            variables: chosen(modules, |m| &m.variables[..])?,
            debug: with_debug.count() < 2,
        })
    }

    /// The part of each text.
    fn parts(&self) -> Result<Vec<String>> {
        let renamed = self.renamed();
        let mut files = 0;
        let part = |(m, module): (usize, &Module)| {
            let mut unit = Part {
                module,
                tokens: tokens(&module.text, Path::new(&module.name))?,
                edits: Edits::new(),
                replaced: Vec::new(),
            };
            self.head(m, &mut unit);
            for (at, function) in module.functions.iter().enumerate() {
                self.function((m, at), function, &mut unit);
            }
            for (at, variable) in module.variables.iter().enumerate() {
                self.variable((m, at), variable, &mut unit)?;
            }
            unit.number_files(&mut files, self.debug);
            unit.rename(&renamed[m]);
            Ok(unit.edits.apply(&module.text) + "\n")
        };
        self.modules.iter().enumerate().map(part).collect()
    }

    /// Puts the head into the first text alone, for all of them.
    fn head(&self, m: usize, unit: &mut Part) {
        let (major, minor) = self.whole.version;
        let module = unit.module;
        for statement in &module.statements {
            let text = module.text_of(statement.span);
            let new = match text.split_whitespace().next() {
                Some(".version") => format!(".version {major}.{minor}"),
                Some(".target") => format!(".target {}", self.whole.target.join(", ")),
                Some(".address_size") => text.to_owned(),
                _ => continue,
            };
            let new = if m == 0 { new } else { String::new() };
            unit.replace(statement.span, &new);
        }
    }

    /// New names, by text, for those that stand for something else in another.
    fn renamed(&self) -> Vec<HashMap<&'m str, String>> {
        let names = |m: &'m Module, known: bool| {
            let functions = m.functions.iter().filter(move |f| f.is_known() == known);
            let variables = m.variables.iter().filter(move |v| v.is_known() == known);
            let functions = functions.map(|f| f.name.as_str());
            functions.chain(variables.map(|v| v.name.as_str()))
        };
        let mut taken: HashSet<&str> = self.modules.iter().flat_map(|m| names(m, true)).collect();
        let mut all = Vec::new();
        for (m, module) in self.modules.iter().enumerate() {
            let mut renamed = HashMap::new();
            for name in names(module, false) {
                if !taken.insert(name) {
                    renamed.insert(name, self.free(&format!("{name}_{}", m + 1)));
                }
            }
            all.push(renamed);
        }
        all
    }

    /// `wanted`, with underscores after it until no text has it.
    fn free(&self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while self.modules.iter().any(|m| m.text.contains(&name)) {
            name.push('_');
        }
        name
    }

    /// A declaration says what its definition says, and comes before it; a
    /// definition that another one stands for declares it.
    fn function(&self, own: Place, function: &Function, unit: &mut Part) {
        let one = self.functions[&own];
        let definition = &self.modules[one.0].functions[one.1];
        let follows = own.0 > one.0;
        for (head, body) in unit.definitions(own.1 as u32) {
            if own == one && body.is_some() {
                continue;
            }
            if follows || function.is_entry {
                let end = body.unwrap_or(head).end;
                unit.replace(Span { end, ..head }, "");
                continue;
            }
            if definition.defined {
                unit.linkage(head, definition.linkage);
            }
            if let Some(body) = body {
                unit.replace(body, ";");
            }
        }
    }

    /// A variable that another one stands for: declared before it, left out
    /// after it.
    fn variable(&self, own: Place, variable: &Variable, unit: &mut Part) -> Result<()> {
        let one = self.variables[&own];
        if own == one {
            return Ok(());
        }
        let Some(span) = unit.alone(variable.span) else {
            let what = format!(
                "{} is declared together with other variables",
                variable.name
            );
            let help = "expected a statement of its own, to make one text of linked PTX";
            return Err(unit
                .module
                .error_at(variable.span, what, Some(help.to_owned())));
        };
        let definition = &self.modules[one.0].variables[one.1];
        if !definition.is_defined() {
            // It is declared everywhere.
            return Ok(());
        }
        if own.0 > one.0 {
            unit.replace(span, "");
        } else if variable.is_defined() {
            unit.linkage(span, Linkage::Extern);
            unit.drop_value(span);
        }
        Ok(())
    }
}

fn has_sections(module: &Module) -> bool {
    let mut statements = module.statements.iter();
    statements.any(|s| module.text_of(s.span).starts_with(".section"))
}

/// A text that is changed.
struct Part<'m> {
    module: &'m Module,
    tokens: Vec<Token>,
    edits: Edits,
    /// Spans that have been replaced as a whole.
    replaced: Vec<Span>,
}

impl Part<'_> {
    /// Puts `new` in the place of `span`, with as many line breaks.
    fn replace(&mut self, span: Span, new: &str) {
        let lines = self.module.text_of(span).matches('\n').count();
        self.edits
            .replace(span, new.to_owned() + &"\n".repeat(lines));
        self.replaced.push(span);
    }

    /// The head of each declaration and definition of a function, its `;`
    /// included, and the body.
    fn definitions(&self, function: u32) -> Vec<(Span, Option<Span>)> {
        let statements = &self.module.statements;
        let own = |kind| kind == StatementKind::FunctionHead(function);
        let heads = statements.iter().enumerate().filter(|(_, s)| own(s.kind));
        let body = |at: usize| {
            let rest = &statements[at + 1..];
            let open = rest.first().filter(|s| s.kind == StatementKind::Open)?;
            let inside = rest.iter().take_while(|s| s.function == Some(function));
            let close = inside.filter(|s| s.kind == StatementKind::Close).last()?;
            Some(Span {
                end: close.span.end,
                ..open.span
            })
        };
        heads.map(|(at, s)| (s.span, body(at))).collect()
    }

    /// The statement that declares a variable alone.
    fn alone(&self, variable: Span) -> Option<Span> {
        let inside =
            |outer: Span, inner: Span| outer.start <= inner.start && inner.end <= outer.end;
        let mut statements = self.module.statements.iter();
        let statement = statements.find(|s| inside(s.span, variable))?.span;
        let variables = self.module.variables.iter();
        let declared = variables.filter(|v| inside(statement, v.span));
        (declared.count() == 1).then_some(statement)
    }

    fn tokens_of(&self, span: Span) -> impl Iterator<Item = Token> + '_ {
        let first = self.tokens.partition_point(|t| t.start < span.start);
        let own = self.tokens[first..].iter().copied();
        own.take_while(move |t| t.end <= span.end && t.kind != TokenKind::End)
    }

    fn text(&self, token: Token) -> &str {
        &self.module.text[token.start as usize..token.end as usize]
    }

    /// Gives a declaration that linkage.
    fn linkage(&mut self, declaration: Span, new: Linkage) {
        let own = self.tokens_of(declaration);
        let old: Vec<Span> = own
            .take_while(|t| Linkage::of_directive(self.text(*t)).is_some())
            .map(span_of)
            .collect();
        if let Some(directive) = new.directive() {
            self.edits
                .insert(declaration.start, format!("{directive} "));
        }
        old.into_iter()
            .for_each(|span| self.edits.replace(span, ""));
    }

    /// Takes the initial value out of a declaration.
    fn drop_value(&mut self, declaration: Span) {
        let mut own = self.tokens_of(declaration);
        if let Some(equals) = own.find(|t| t.kind == TokenKind::Equals) {
            drop(own);
            let end = declaration.end - 1;
            self.replace(
                Span {
                    end,
                    ..span_of(equals)
                },
                "",
            );
        }
    }

    /// Numbers `.file`s on from `count`, and what names them; without `debug`
    /// drops the debug information and what refers to it.
    fn number_files(&mut self, count: &mut u32, debug: bool) {
        let mut new: HashMap<&str, u32> = HashMap::new();
        let text = |t: &Token| &self.module.text[t.start as usize..t.end as usize];
        let mut edits: Vec<(Span, String)> = Vec::new();
        for pair in self.tokens.windows(2) {
            let [word, number] = [pair[0], pair[1]];
            if number.kind != TokenKind::Integer {
                continue;
            }
            match text(&word) {
                ".file" => {
                    *count += 1;
                    new.entry(text(&number)).or_insert(*count);
                    edits.push((span_of(number), count.to_string()));
                }
                ".loc" | "inlined_at" => {
                    if let Some(new) = new.get(text(&number)) {
                        edits.push((span_of(number), new.to_string()));
                    }
                }
                _ => {}
            }
        }
        let module = self.module;
        for statement in module.statements.iter().filter(|_| !debug) {
            let (span, text) = (statement.span, module.text_of(statement.span));
            if text.starts_with(".section") {
                self.replace(span, "");
            } else if let Some(comma) = text.find(',').filter(|_| text.starts_with(".loc")) {
                let start = span.start + comma as u32;
                self.replace_whole(Span { start, ..span });
            }
        }
        for (span, new) in edits {
            self.replace_within(span, &new);
        }
    }

    /// Gives words their new names.
    fn rename(&mut self, renamed: &HashMap<&str, String>) {
        if renamed.is_empty() {
            return;
        }
        let words = self.tokens.iter().filter(|t| t.kind == TokenKind::Word);
        let new = |t: &Token| Some((span_of(*t), renamed.get(self.text(*t))?.clone()));
        let edits: Vec<(Span, String)> = words.filter_map(new).collect();
        for (span, new) in edits {
            self.replace_within(span, &new);
        }
    }

    /// Takes a part of a statement out, unless the statement has been replaced.
    fn replace_whole(&mut self, span: Span) {
        if !self.is_replaced(span) {
            self.replace(span, "");
        }
    }

    fn is_replaced(&self, span: Span) -> bool {
        let within = |outer: &Span| outer.start <= span.start && span.end <= outer.end;
        self.replaced.iter().any(within)
    }

    /// Replaces a word, unless it is in what has been replaced.
    fn replace_within(&mut self, span: Span, new: &str) {
        if !self.is_replaced(span) {
            self.edits.replace(span, new);
        }
    }
}

fn span_of(token: Token) -> Span {
    Span {
        start: token.start,
        end: token.end,
        line: token.line,
    }
}
