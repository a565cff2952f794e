//! The imports among the children of each module, with their lines.

use super::source::{Crate, How, Module, ModulePath, child};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The name of a module's own text in the graph of its children.
pub const OWN: &str = "(own text)";

/// A child of a module imports from another.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Import {
    pub from: String,
    pub to: String,
    pub file: String,
    pub line: usize,
}

impl fmt::Display for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Import {
            from,
            to,
            file,
            line,
        } = self;
        write!(f, "  {from} -> {to} at {file}:{line}")
    }
}

/// The imports of a crate, by the innermost module that both ends lie in.
pub struct Graph {
    pub levels: BTreeMap<ModulePath, BTreeSet<Import>>,
}

impl Graph {
    /// The imports of `all`. Names of other crates in `others` count as
    /// modules at the root.
    pub fn of(all: &Crate, others: &[&str]) -> Self {
        let names = Names { all, others };
        let mut graph = Graph {
            levels: BTreeMap::new(),
        };
        for (from, module) in &all.modules {
            for mention in &module.mentions {
                let public = match mention.how {
                    How::Path => false,
                    How::Use { public, .. } | How::Glob { public } => public,
                };
                for to in names.targets(from, &mention.path, &mention.how) {
                    // A module that hands out what its children define does
                    // not use it; those who name it are counted there.
                    let hands_out = public && to.len() > from.len() && to.starts_with(from);
                    if !hands_out {
                        graph.add(from, &to, module, mention.line);
                    }
                }
            }
        }
        graph
    }

    fn add(&mut self, from: &ModulePath, to: &ModulePath, module: &Module, line: usize) {
        let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        let name = |path: &ModulePath| path.get(common).map_or(OWN, |n| n).to_owned();
        if from != to {
            self.levels
                .entry(from[..common].to_vec())
                .or_default()
                .insert(Import {
                    from: name(from),
                    to: name(to),
                    file: module.file.clone(),
                    line,
                });
        }
    }

    /// The imports among the children of `module`.
    pub fn level(&self, module: &[String]) -> Vec<&Import> {
        self.levels.get(module).into_iter().flatten().collect()
    }

    /// The imports among the children of `module` that are part of a circle. A
    /// module's own text and its children are one thing.
    pub fn circles(&self, module: &[String]) -> Vec<&Import> {
        let mut imports = self.level(module);
        imports.retain(|i| i.from != OWN && i.to != OWN);
        let edges: BTreeSet<_> = imports.iter().map(|i| (&*i.from, &*i.to)).collect();
        let circular: BTreeSet<_> = edges.iter().filter(|e| reaches(&edges, e.1, e.0)).collect();
        imports.retain(|i| circular.contains(&(&*i.from, &*i.to)));
        imports
    }
}

fn reaches(edges: &BTreeSet<(&str, &str)>, from: &str, to: &str) -> bool {
    let (mut seen, mut open) = (BTreeSet::from([from]), vec![from]);
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        let next = edges.iter().filter(|e| e.0 == at).map(|e| e.1);
        open.extend(next.filter(|name| seen.insert(*name)));
    }
    false
}

/// Finds the modules behind names.
struct Names<'a> {
    all: &'a Crate,
    others: &'a [&'a str],
}

/// Re-exports of re-exports are followed so far.
const HOPS: u32 = 16;

impl Names<'_> {
    /// The modules that `path`, written in `from`, depends on: the one that
    /// defines it, and those outside of `from`'s own parents that re-export it.
    fn targets(&self, from: &ModulePath, path: &[String], how: &How) -> Vec<ModulePath> {
        let Some((start, rest)) = self.start(from, path) else {
            return Vec::new();
        };
        let mut through = Vec::new();
        // A glob names a module; the other imports something in one.
        let end = self.walk(start, &rest, &mut through, HOPS);
        if matches!(how, How::Glob { .. }) && from.starts_with(&end) {
            return Vec::new(); // `use super::*`: what is meant stands elsewhere
        }
        through.retain(|module| !from.starts_with(module));
        through.push(end);
        through
    }

    /// Where a path begins, and what follows. `None` for other crates, for
    /// types and for names that a `use` has brought: it was counted.
    fn start(&self, from: &ModulePath, path: &[String]) -> Option<(ModulePath, Vec<String>)> {
        let mut at = from.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (at, rest) = (Vec::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|s| s == "super") {
                    at.pop()?;
                    rest = &rest[1..];
                }
            }
            name if self.others.contains(&name) => at = Vec::new(),
            name if self.is_module(&child(from, name)) => {}
            _ => return None,
        }
        Some((at, rest.to_vec()))
    }

    fn is_module(&self, path: &ModulePath) -> bool {
        let other = path.first().is_some_and(|n| self.others.contains(&&**n));
        other && path.len() <= 2 || self.all.modules.contains_key(path)
    }

    fn walk(
        &self,
        at: ModulePath,
        rest: &[String],
        through: &mut Vec<ModulePath>,
        hops: u32,
    ) -> ModulePath {
        let Some(name) = rest.first() else { return at };
        let inner = child(&at, name);
        if self.is_module(&inner) {
            return self.walk(inner, &rest[1..], through, hops);
        }
        let Some(module) = self.all.modules.get(&at).filter(|_| hops > 0) else {
            return at;
        };
        let named = |how: &How| matches!(how, How::Use { alias, .. } if alias == name);
        if let Some(brought) = module.mentions.iter().find(|m| named(&m.how)) {
            let Some((start, mut path)) = self.start(&at, &brought.path) else {
                return at; // from another crate
            };
            path.extend_from_slice(&rest[1..]);
            through.push(at);
            return self.walk(start, &path, through, hops - 1);
        }
        if module.items.contains(name) {
            return at;
        }
        for glob in &module.mentions {
            if !matches!(glob.how, How::Glob { .. }) {
                continue;
            }
            let Some((start, path)) = self.start(&at, &glob.path) else {
                continue;
            };
            let source = self.walk(start, &path, &mut Vec::new(), hops - 1);
            let defines = |m: &Module| m.items.contains(name);
            if self.all.modules.get(&source).is_some_and(defines) {
                through.push(at);
                return source;
            }
        }
        at
    }
}
