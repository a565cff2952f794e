//! Shared memory that functions touch when they are called.

use super::origin::{Origin, Origins};
use super::sites::{descriptors, sites, touches};
use super::{SharedVariable, Touches};
use crate::analysis::Values;
use crate::ast::{Instruction, LabelKind, Module, Operand, Target};
use crate::cfg::Cfg;
use crate::opcodes::Opcode;
use std::collections::{BTreeMap, BTreeSet};

/// Functions of the system that touch no shared variable.
const HARMLESS: [&str; 6] = [
    "vprintf",
    "__assertfail",
    "malloc",
    "free",
    "memcpy",
    "memset",
];

/// The shared memory that a function may touch, the functions that it calls included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Summary {
    variables: BTreeSet<SharedVariable>,
    /// Parameters that point to memory which it may touch.
    parameters: BTreeSet<u32>,
    /// Anything, since the function does that.
    all: Option<&'static str>,
}

impl Summary {
    fn is_nothing(&self) -> bool {
        *self == Summary::default()
    }
}

/// The summaries of a module's device functions.
#[derive(Clone, Debug)]
pub struct Summaries {
    /// Summaries by function; entries have none, because they are never called.
    of: Vec<Summary>,
    /// Functions whose address is taken.
    pointed: Vec<u32>,
    /// Origins that the calls of the module pass, by function and parameter.
    passed: Vec<BTreeMap<u32, Origin>>,
}

impl Summaries {
    /// Summarises the device functions of a module. Only those are looked at
    /// that some function calls.
    pub fn new(module: &Module) -> Self {
        let mut summaries = Summaries {
            of: vec![Summary::default(); module.functions.len()],
            pointed: pointed(module),
            passed: vec![BTreeMap::new(); module.functions.len()],
        };
        for (at, function) in module.functions.iter().enumerate() {
            let known = HARMLESS.contains(&function.name.as_str());
            if !function.defined && !function.is_entry && !known {
                let defined = |f: &&crate::ast::Function| f.defined && f.name == function.name;
                if !module.functions.iter().any(|f| defined(&f)) {
                    summaries.of[at].all = Some("a function without a body");
                }
            }
        }
        let device: Vec<usize> = (0..module.functions.len())
            .filter(|&f| !module.functions[f].is_entry && module.functions[f].defined)
            .collect();
        // Callees mostly come first; calls in the other order need another
        // round, recursion a few.
        let mut prepared: Vec<_> = device.iter().map(|&f| in_ssa(module, f)).collect();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (f, cfg, values) in &mut prepared {
                let new = summaries.summarise(module, *f, cfg, values);
                if summaries.of[*f] != new {
                    summaries.of[*f] = new;
                    changed = true;
                }
            }
        }
        drop(prepared);
        if summaries.of.iter().any(|s| !s.parameters.is_empty()) {
            summaries.pass_down(module);
        }
        summaries
    }

    /// Collects what calls pass, from the entries downward.
    fn pass_down(&mut self, module: &Module) {
        let defined = (0..module.functions.len()).filter(|&f| module.functions[f].defined);
        let calls = |f: &usize| {
            let mut all = module.functions[*f].instructions.iter();
            all.any(|i| i.opcode == Opcode::Call)
        };
        let callers: Vec<_> = defined.filter(calls).map(|f| in_ssa(module, f)).collect();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (f, cfg, values) in &callers {
                let function = &module.functions[*f];
                let mut origins = Origins::new(module, function, cfg, values);
                for (at, i) in function.instructions.iter().enumerate() {
                    if i.opcode == Opcode::Call {
                        changed |= self.pass(module, &mut origins, *f as u32, at as u32, i);
                    }
                }
            }
        }
    }

    /// Adds the arguments that one call passes; returns whether any was new.
    fn pass(
        &mut self,
        module: &Module,
        origins: &mut Origins,
        caller: u32,
        at: u32,
        i: &Instruction,
    ) -> bool {
        let Some(Operand::List(arguments)) = i.operands.get(2) else {
            return false;
        };
        let mut changed = false;
        for callee in self.candidates(module, origins, i) {
            for (parameter, argument) in arguments.iter().enumerate() {
                let id = origins.argument(at, argument);
                let origin = self.of_callers(caller, at, origins.get(id));
                let known = self.passed[callee as usize]
                    .entry(parameter as u32)
                    .or_default();
                let before = known.clone();
                known.add(&origin);
                changed |= *known != before;
            }
        }
        changed
    }

    /// The origin with what the calls of the module pass in the place of the
    /// parameters of the function with that index: the module is taken to be
    /// the whole program. `at` is where the function uses the value.
    pub(super) fn of_callers(&self, function: u32, at: u32, origin: &Origin) -> Origin {
        let mut all = Origin {
            parameters: BTreeSet::new(),
            ..origin.clone()
        };
        for parameter in &origin.parameters {
            match self.passed[function as usize].get(parameter) {
                Some(passed) => all.add(passed),
                None => {
                    all.parameters.insert(*parameter);
                }
            }
        }
        if origin.unknown.is_none() {
            all.unknown = all.unknown.map(|(_, reason)| (at, reason));
        }
        all
    }

    fn summarise(&self, module: &Module, f: usize, cfg: &Cfg, values: &Values) -> Summary {
        let function = &module.functions[f];
        let mut origins = Origins::new(module, function, cfg, values);
        let mut summary = self.of[f].clone();
        let mut add = |origin: &Origin, at: u32| {
            summary.variables.extend(&origin.variables);
            summary.parameters.extend(&origin.parameters);
            let pointer = !origin.parameters.is_empty() && origin.unknown.is_none();
            if let Touches::All { reason, .. } = touches(module, function, at, origin, None)
                && !pointer
            {
                summary.all.get_or_insert(reason);
            }
        };
        for (at, i) in function.instructions.iter().enumerate() {
            let at = at as u32;
            if i.opcode == Opcode::Call {
                for (origin, all) in self.called(module, &mut origins, at, i) {
                    if let Some(reason) = all {
                        let unknown = Some((at, reason));
                        add(&Origin { unknown, ..origin }, at);
                    } else if origin != Origin::default() {
                        add(&origin, at);
                    }
                }
                continue;
            }
            for operand in descriptors(function, i) {
                let id = origins.operand(at, &i.operands[operand]);
                add(origins.get(id), at);
            }
            for site in sites(i) {
                let id = origins.operand(at, site.operand);
                let origin = origins.get(id);
                let number = origin.variables.is_empty()
                    && origin.parameters.is_empty()
                    && origin.unknown.is_none();
                if site.shared || !number {
                    add(origin, at);
                }
            }
        }
        summary
    }

    /// The memory that each function which a call may reach touches: addresses, and why
    /// it may be anything.
    fn called(
        &self,
        module: &Module,
        origins: &mut Origins,
        at: u32,
        i: &Instruction,
    ) -> Vec<(Origin, Option<&'static str>)> {
        let candidates = self.candidates(module, origins, i);
        let mut list = Vec::new();
        for callee in candidates {
            let summary = &self.of[callee as usize];
            if summary.is_nothing() {
                continue;
            }
            let mut origin = Origin {
                variables: summary.variables.clone(),
                ..Origin::default()
            };
            for &parameter in &summary.parameters {
                let passed = match i.operands.get(2) {
                    Some(Operand::List(items)) => items.get(parameter as usize),
                    _ => None,
                };
                let Some(passed) = passed else {
                    continue;
                };
                let id = origins.argument(at, passed);
                let passed = origins.get(id);
                origin.add(passed);
            }
            list.push((origin, summary.all));
        }
        list
    }

    fn candidates(&self, module: &Module, origins: &Origins, i: &Instruction) -> Vec<u32> {
        let function = origins.function();
        match i.operands.get(1) {
            Some(Operand::Function(f)) => vec![defined(module, *f)],
            _ => match i.operands.get(3) {
                Some(Operand::Label(label)) => match &function.labels[*label as usize].kind {
                    LabelKind::Calls(list) => list.iter().map(|&f| defined(module, f)).collect(),
                    _ => self.pointed.clone(),
                },
                _ => self.pointed.clone(),
            },
        }
    }

    /// The memory that a call may touch; none where it touches no shared memory.
    pub(super) fn call(
        &self,
        module: &Module,
        origins: &mut Origins,
        at: u32,
        i: &Instruction,
    ) -> Option<Touches> {
        let mut set = BTreeSet::new();
        for (origin, all) in self.called(module, origins, at, i) {
            if let Some(reason) = all {
                return Some(Touches::All { at, reason });
            }
            if let Some((at, reason)) = origin.unknown {
                return Some(Touches::All { at, reason });
            }
            if !origin.parameters.is_empty() {
                let reason = "an address that the caller passes";
                return Some(Touches::All { at, reason });
            }
            set.extend(origin.variables);
        }
        (!set.is_empty()).then_some(Touches::Variables(set))
    }
}

/// The function of that name with a body, where the one named has none.
fn defined(module: &Module, f: u32) -> u32 {
    let named = &module.functions[f as usize];
    let body = || {
        let mut all = module.functions.iter();
        all.position(|g| g.defined && g.name == named.name)
    };
    if named.defined {
        f
    } else {
        body().map_or(f, |at| at as u32)
    }
}

/// Functions whose address is taken, in code or in initialisers.
fn pointed(module: &Module) -> Vec<u32> {
    let mut list = Vec::new();
    for function in &module.functions {
        for i in &function.instructions {
            let call = i.opcode == Opcode::Call;
            for (n, operand) in i.operands.iter().enumerate() {
                if let Operand::Function(f) = operand
                    && !(call && n == 1)
                {
                    list.push(defined(module, *f));
                }
            }
        }
    }
    for variable in &module.variables {
        for relocation in variable.initial.iter().flat_map(|i| &i.relocations) {
            if let Target::Function(f) = relocation.target {
                list.push(defined(module, f));
            }
        }
    }
    list.sort_unstable();
    list.dedup();
    list
}

/// Function `f` of a module, its control flow and its values.
fn in_ssa(module: &Module, f: usize) -> (usize, Cfg, Values) {
    let function = &module.functions[f];
    let cfg = Cfg::new(function);
    let values = Values::new(function, &cfg);
    (f, cfg, values)
}
