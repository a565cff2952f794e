//! Linking: several modules as one (PTX ISA, "Linking Directives").
//!
//! A declaration (`.extern`, or a function without a body) stands for the
//! definition of that name in any of the modules. Of several definitions the
//! `.visible` one counts, else the first `.weak` one, else the largest
//! `.common` one. Names without a linking directive are those of their module.
//! What stays undefined is an error where it is used.

use super::ast::{
    Function, Linkage, Module, Parameter, Span, Statement, StatementKind, Unit, Variable,
};
use super::renumber::Numbers;
use spadkit_base::error::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::path::Path;

mod one_text;

/// Module and index of a function or a variable.
type Place = (usize, usize);

impl Module {
    /// Links modules; places stay those of their texts ([`Module::file_of`]).
    /// The target is the highest one. Errors: a name that is defined twice,
    /// types that differ, modules with addresses of different sizes.
    pub fn link(modules: Vec<Module>) -> Result<Module> {
        let modules = match <[Module; 1]>::try_from(modules) {
            Ok([one]) => return Ok(one),
            Err(several) => several,
        };
        check_sizes(&modules)?;
        let functions = chosen(&modules, |m| &m.functions[..])?;
        let variables = chosen(&modules, |m| &m.variables[..])?;
        check_kinds(&modules)?;
        Ok(joined(modules, &functions, &variables))
    }
}

fn check_sizes(modules: &[Module]) -> Result<()> {
    let Some(first) = modules.first() else {
        return Err(Error::usage("no PTX to link", "expected at least one text"));
    };
    if let Some(other) = modules
        .iter()
        .find(|m| m.address_size != first.address_size)
    {
        let what = format!("{} has a different address size", other.name);
        let help = format!("expected {} bits, as in {}", first.address_size, first.name);
        return Err(Error::usage(what, help));
    }
    if modules.iter().map(|m| m.text.len() + 1).sum::<usize>() > u32::MAX as usize {
        return Err(Error::usage(
            "the linked PTX is too large",
            "expected less than 4 GB in all",
        ));
    }
    Ok(())
}

/// A name is that of a function or of a variable in all modules.
fn check_kinds(modules: &[Module]) -> Result<()> {
    let mut functions = HashMap::new();
    for module in modules {
        let known = module.functions.iter().filter(|f| f.is_known());
        functions.extend(known.map(|f| (f.name.as_str(), (module, f.span))));
    }
    for module in modules {
        for variable in module.variables.iter().filter(|v| v.is_known()) {
            if let Some((other, span)) = functions.get(variable.name.as_str()) {
                let help = format!("it is a function at {}:{}", other.name, span.line);
                return error(
                    module,
                    variable.span,
                    "is a variable here",
                    &variable.name,
                    &help,
                );
            }
        }
    }
    Ok(())
}

/// An item with a name that modules may share.
trait Item {
    fn name(&self) -> &str;
    fn span(&self) -> Span;
    fn linkage(&self) -> Linkage;
    /// Whether it is there, and not only declared.
    fn is_defined(&self) -> bool;
    /// Whether other modules see its name.
    fn is_known(&self) -> bool;
    /// Larger ones win among `.common` ones.
    fn size(&self) -> u64;
    /// The difference from the definition of its name, if there is one.
    fn differs(&self, definition: &Self) -> Option<&'static str>;
}

impl Item for Function {
    fn name(&self) -> &str {
        &self.name
    }

    fn span(&self) -> Span {
        self.span
    }

    fn linkage(&self) -> Linkage {
        self.linkage
    }

    fn is_defined(&self) -> bool {
        self.defined
    }

    fn is_known(&self) -> bool {
        // A launch names entries.
        self.linkage != Linkage::Internal || self.is_entry
    }

    fn size(&self) -> u64 {
        0
    }

    fn differs(&self, other: &Self) -> Option<&'static str> {
        let types = |f: &Function, list: &[Parameter]| -> Vec<(bool, u64)> {
            let ty = |p: &Parameter| match p {
                Parameter::Variable(at) => (true, f.variables[*at as usize].bytes),
                Parameter::Register(r) => (false, f.registers[r.0 as usize].ty.bits().into()),
            };
            list.iter().map(ty).collect()
        };
        if self.is_entry != other.is_entry {
            Some("is an entry in one file and a device function in the other")
        } else if types(self, &self.params) != types(other, &other.params) {
            Some("has other parameters here")
        } else if types(self, &self.returns) != types(other, &other.returns) {
            Some("has other return values here")
        } else {
            None
        }
    }
}

impl Item for Variable {
    fn name(&self) -> &str {
        &self.name
    }

    fn span(&self) -> Span {
        self.span
    }

    fn linkage(&self) -> Linkage {
        self.linkage
    }

    fn is_defined(&self) -> bool {
        self.linkage != Linkage::Extern
    }

    fn is_known(&self) -> bool {
        self.linkage != Linkage::Internal
    }

    fn size(&self) -> u64 {
        self.bytes
    }

    fn differs(&self, definition: &Self) -> Option<&'static str> {
        self.differs_from(definition)
    }
}

impl Variable {
    /// The difference of a declaration from the definition of its name, if there is
    /// one.
    pub(super) fn differs_from(&self, other: &Self) -> Option<&'static str> {
        let both_common = self.linkage == Linkage::Common && other.linkage == Linkage::Common;
        if self.space != other.space {
            Some("is in a different state space here")
        } else if self.ty.bits() != other.ty.bits() || self.ty.is_float() != other.ty.is_float() {
            Some("has a different type here")
        } else if !both_common && self.bytes != 0 && self.bytes != other.bytes {
            Some("has a different size here")
        } else {
            None
        }
    }
}

/// By function or variable, the one that it stands for.
fn chosen<'m, T: Item + 'm>(
    modules: &'m [Module],
    items: impl Fn(&'m Module) -> &'m [T],
) -> Result<HashMap<Place, Place>> {
    let all: Vec<&[T]> = modules.iter().map(&items).collect();
    let mut named: HashMap<&str, Vec<Place>> = HashMap::new();
    let mut order = Vec::new();
    let mut chosen = HashMap::new();
    for (m, items) in all.iter().enumerate() {
        for (at, item) in items.iter().enumerate() {
            if item.is_known() {
                let list = named.entry(item.name()).or_default();
                if list.is_empty() {
                    order.push(item.name());
                }
                list.push((m, at));
            } else {
                chosen.insert((m, at), (m, at));
            }
        }
    }
    for name in order {
        let list = &named[name];
        let item = |place: &Place| &all[place.0][place.1];
        let one = definition(modules, list, &item)?;
        for place in list {
            if let Some(what) = item(place).differs(item(&one)) {
                let (other, span) = (&modules[one.0].name, item(&one).span());
                let help = format!("expected it as at {other}:{}", span.line);
                return error(&modules[place.0], item(place).span(), what, name, &help);
            }
            chosen.insert(*place, one);
        }
    }
    Ok(chosen)
}

/// The definition among the places of a name; a declaration if there is none.
fn definition<'m, T: Item + 'm>(
    modules: &[Module],
    list: &[Place],
    item: &impl Fn(&Place) -> &'m T,
) -> Result<Place> {
    let of = |linkage: &[Linkage]| {
        let is =
            |place: &&Place| item(place).is_defined() && linkage.contains(&item(place).linkage());
        list.iter()
            .copied()
            .filter(move |p| is(&p))
            .collect::<Vec<_>>()
    };
    // A definition may repeat `.extern` of its declaration; entries need none.
    let strong = of(&[Linkage::Visible, Linkage::Internal, Linkage::Extern]);
    if let [first, second, ..] = strong[..] {
        let (other, span) = (&modules[first.0].name, item(&first).span());
        let help = format!(
            "it is defined at {other}:{}, too; expected one definition",
            span.line
        );
        let name = item(&second).name();
        return error(
            &modules[second.0],
            item(&second).span(),
            "is defined twice",
            name,
            &help,
        );
    }
    let common = of(&[Linkage::Common]);
    let largest = common.iter().map(|p| item(p).size()).max();
    let common = common.into_iter().find(|p| Some(item(p).size()) == largest);
    let weak = of(&[Linkage::Weak]);
    let found = strong.first().or(weak.first()).copied().or(common);
    Ok(found.unwrap_or(list[0]))
}

fn error<T>(module: &Module, span: Span, what: &str, name: &str, help: &str) -> Result<T> {
    let (path, help) = (Path::new(&module.name), Some(help.to_owned()));
    let at = span.start as usize;
    Err(Error::input(
        format!("{name} {what}"),
        help,
        path,
        &module.text,
        at,
    ))
}

/// A module that joins all modules, with what was chosen for each name.
fn joined(
    modules: Vec<Module>,
    functions: &HashMap<Place, Place>,
    variables: &HashMap<Place, Place>,
) -> Module {
    let numbers_of = |chosen: &HashMap<Place, Place>, counts: &[usize]| -> HashMap<Place, u32> {
        let places = counts.iter().enumerate();
        let places = places.flat_map(|(m, n)| (0..*n).map(move |at| (m, at)));
        let kept: Vec<Place> = places.filter(|p| chosen[p] == *p).collect();
        kept.into_iter().zip(0..).collect()
    };
    let counts =
        |count: &dyn Fn(&Module) -> usize| -> Vec<usize> { modules.iter().map(count).collect() };
    let new_functions = numbers_of(functions, &counts(&|m| m.functions.len()));
    let new_variables = numbers_of(variables, &counts(&|m| m.variables.len()));
    let mut names = Names::new(&modules);
    let mut whole = empty(&modules);
    for (m, mut module) in modules.into_iter().enumerate() {
        let numbers = Numbers {
            functions: (0..module.functions.len())
                .map(|at| new_functions[&functions[&(m, at)]])
                .collect(),
            variables: (0..module.variables.len())
                .map(|at| new_variables[&variables[&(m, at)]])
                .collect(),
        };
        move_text(&mut module, whole.text.len() as u32);
        move_files(&mut module, &mut whole.files);
        whole.units.push(Unit {
            name: module.name.clone(),
            start: whole.text.len() as u32,
        });
        whole.text += &module.text;
        whole.text.push('\n');
        let kept = |at: u32| functions[&(m, at as usize)] == (m, at as usize);
        let statements = std::mem::take(&mut module.statements).into_iter();
        let statements = statements.filter_map(|s| renumbered(s, &kept, &numbers));
        whole.statements.extend(statements);
        for (at, mut function) in module.functions.into_iter().enumerate() {
            if functions[&(m, at)] == (m, at) {
                numbers.in_function(&mut function);
                function.name = names.unique(&function.name, function.is_known(), &module.name);
                whole.functions.push(function);
            }
        }
        for (at, mut variable) in module.variables.into_iter().enumerate() {
            if variables[&(m, at)] == (m, at) {
                variable
                    .initial
                    .iter_mut()
                    .for_each(|i| numbers.in_initial(i));
                variable.name = names.unique(&variable.name, variable.is_known(), &module.name);
                whole.variables.push(variable);
            }
        }
    }
    whole
}

/// A module for the code of `modules`, without any.
fn empty(modules: &[Module]) -> Module {
    let newest = modules.iter().max_by_key(|m| (m.sm(), m.version));
    Module {
        name: names_of(modules),
        text: String::new(),
        version: modules.iter().map(|m| m.version).max().unwrap_or_default(),
        target: newest.map(|m| m.target.clone()).unwrap_or_default(),
        address_size: modules[0].address_size,
        files: Vec::new(),
        variables: Vec::new(),
        functions: Vec::new(),
        statements: Vec::new(),
        units: Vec::new(),
    }
}

/// A statement with the new number of its function; none where another
/// definition stands for the function, which has no code here.
fn renumbered(
    mut statement: Statement,
    kept: &dyn Fn(u32) -> bool,
    numbers: &Numbers,
) -> Option<Statement> {
    let of = match statement.kind {
        StatementKind::FunctionHead(at) => Some(at),
        _ => statement.function,
    };
    if !of.is_none_or(kept) {
        return None;
    }
    let new = of.map(|at| numbers.functions[at as usize]);
    if let (StatementKind::FunctionHead(at), Some(new)) = (&mut statement.kind, new) {
        *at = new;
    }
    statement.function = statement.function.and(new);
    Some(statement)
}

fn names_of(modules: &[Module]) -> String {
    let names: Vec<&str> = modules.iter().map(|m| m.name.as_str()).collect();
    names.join(", ")
}

/// Moves all places of a module by this many bytes; lines stay.
fn move_text(module: &mut Module, by: u32) {
    each_span(module, &mut |span| {
        span.start += by;
        span.end += by;
    });
}

/// Calls `change` with every place of a module.
fn each_span(module: &mut Module, change: &mut dyn FnMut(&mut Span)) {
    let mut all = |span: &mut Span| change(span);
    module.statements.iter_mut().for_each(|s| all(&mut s.span));
    module.variables.iter_mut().for_each(|v| all(&mut v.span));
    for function in &mut module.functions {
        all(&mut function.span);
        function.variables.iter_mut().for_each(|v| all(&mut v.span));
        function.labels.iter_mut().for_each(|l| all(&mut l.span));
        let instructions = function.instructions.iter_mut();
        instructions.for_each(|i| all(&mut i.span));
    }
}

/// Gives the source files of a module numbers that no other module has.
fn move_files(module: &mut Module, all: &mut Vec<(u32, String)>) {
    let mut numbers = HashMap::new();
    for (number, name) in std::mem::take(&mut module.files) {
        // The first of a number counts.
        let new = all.len() as u32 + 1;
        numbers.entry(number).or_insert(new);
        all.push((new, name));
    }
    let new = |number: &mut u32| *number = numbers.get(number).copied().unwrap_or(0);
    for location in module.functions.iter_mut().flat_map(|f| &mut f.locations) {
        new(&mut location.file);
        if let Some([file, ..]) = &mut location.inlined_at {
            new(file);
        }
    }
}

/// Names that are taken. A name of one module alone gets the module's name
/// after it where another one has it, too.
struct Names {
    known: HashSet<String>,
    own: HashSet<String>,
}

impl Names {
    fn new(modules: &[Module]) -> Self {
        let functions = modules.iter().flat_map(|m| &m.functions);
        let variables = modules.iter().flat_map(|m| &m.variables);
        let functions = functions.filter(|f| f.is_known()).map(|f| &f.name);
        let variables = variables.filter(|v| v.is_known()).map(|v| &v.name);
        Names {
            known: functions.chain(variables).cloned().collect(),
            own: HashSet::new(),
        }
    }

    fn unique(&mut self, name: &str, known: bool, module: &str) -> String {
        if known || !self.known.contains(name) && self.own.insert(name.to_owned()) {
            return name.to_owned();
        }
        let file = Path::new(module).file_name().unwrap_or_default();
        format!("{name} ({})", file.to_string_lossy())
    }
}

#[cfg(test)]
mod tests;
