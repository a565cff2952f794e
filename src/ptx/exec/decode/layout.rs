//! What an entry reaches, and where its variables lie.

use super::{Decoder, Problem};
use crate::ptx::ast::{
    Base, Function, LabelKind, Linkage, Module, Operand, Parameter, Symbol, Target, Variable,
};
use crate::ptx::exec::image::SharedVariable;
use crate::ptx::names::{Opcode, Space};

impl Decoder<'_> {
    /// The entry and all functions that calls may reach, and those whose
    /// address is taken.
    pub(super) fn reached(&mut self, entry: u32) -> Vec<u32> {
        let mut list = vec![entry];
        let mut at = 0;
        while at < list.len() {
            let function = &self.module.functions[list[at] as usize];
            for callee in named_functions(self.module, function) {
                if !list.contains(&callee) && self.module.functions[callee as usize].defined {
                    list.push(callee);
                }
            }
            at += 1;
        }
        for &function in &list {
            for i in &self.module.functions[function as usize].instructions {
                for operand in i
                    .operands
                    .iter()
                    .enumerate()
                    .filter(|(n, _)| !(i.opcode == Opcode::Call && *n == 1))
                {
                    if let Operand::Function(f) = operand.1 {
                        self.pointed.push(*f);
                    }
                }
            }
        }
        for variable in &self.module.variables {
            for relocation in variable.initial.iter().flat_map(|i| &i.relocations) {
                if let Target::Function(f) = relocation.target {
                    self.pointed.push(f);
                    if !list.contains(&f) && self.module.functions[f as usize].defined {
                        list.push(f);
                    }
                }
            }
        }
        self.pointed.sort_unstable();
        self.pointed.dedup();
        list
    }

    /// Depth-first over direct calls: a way back to a function on the way.
    pub(super) fn check_recursion(&self, entry: u32) -> Result<(), Problem> {
        let functions = &self.module.functions;
        let mut done = vec![false; functions.len()];
        let mut way: Vec<(u32, Vec<(u32, u32)>)> =
            vec![(entry, direct_calls(&functions[entry as usize]))];
        while let Some((function, calls)) = way.last_mut() {
            let Some((callee, line)) = calls.pop() else {
                done[*function as usize] = true;
                way.pop();
                continue;
            };
            if way.iter().any(|(f, _)| *f == callee) {
                let name = &functions[callee as usize].name;
                return Err(Problem {
                    line,
                    text: format!("call {name}"),
                    reason: format!("recursion: {name} comes to call itself"),
                });
            }
            if !done[callee as usize] {
                way.push((callee, direct_calls(&functions[callee as usize])));
            }
        }
        Ok(())
    }

    /// Shared variables of the functions one after the other; those of
    /// unknown size, the dynamic ones, all at the end.
    pub(super) fn place_shared(&mut self, functions: &[u32]) {
        let used = self.used_globals(functions);
        let module = self.module;
        let of_module = module.variables.iter().enumerate();
        let mut variables: Vec<(Option<u32>, u32, &Variable)> = of_module
            .filter(|(at, v)| is_shared(v.space) && used.contains(&(*at as u32)))
            .map(|(at, v)| (None, at as u32, v))
            .collect();
        for &function in functions {
            let own = module.functions[function as usize]
                .variables
                .iter()
                .enumerate();
            variables.extend(
                own.filter(|(_, v)| is_shared(v.space))
                    .map(|(at, v)| (Some(function), at as u32, v)),
            );
        }
        let mut next = 0u64;
        let is_dynamic = |v: &Variable| v.bytes == 0 || v.linkage == Linkage::Extern;
        let fixed = variables.iter().filter(|(_, _, v)| !is_dynamic(v));
        let dynamic = variables.iter().filter(|(_, _, v)| is_dynamic(v));
        let start = dynamic.clone().map(|(_, _, v)| v.align).max().unwrap_or(1);
        for (place, (function, at, v)) in
            fixed.map(|v| (true, v)).chain(dynamic.map(|v| (false, v)))
        {
            next = next.next_multiple_of(u64::from(if place { v.align } else { start }));
            self.shared.insert((*function, *at), next as u32);
            self.image.shared.push(SharedVariable {
                name: v.name.clone(),
                offset: next as u32,
                bytes: if place { v.bytes as u32 } else { 0 },
            });
            if place {
                next += v.bytes;
            }
            if next > 1 << 24 {
                self.problems.push(Problem {
                    line: v.span.line,
                    text: v.name.clone(),
                    reason: "more shared memory than any machine has".to_owned(),
                });
                return;
            }
        }
        self.image.shared_bytes = next as u32;
    }

    /// Variables of the module that the functions name.
    fn used_globals(&self, functions: &[u32]) -> Vec<u32> {
        let mut used = Vec::new();
        for &function in functions {
            for i in &self.module.functions[function as usize].instructions {
                i.operands
                    .iter()
                    .for_each(|o| module_variables(o, &mut used));
            }
        }
        used.sort_unstable();
        used.dedup();
        used
    }

    /// Variables of functions in local memory, and the parameters.
    pub(super) fn place_locals(&mut self, functions: &[u32], entry: u32) {
        let mut next = 0u64;
        for &function in functions {
            let body = &self.module.functions[function as usize];
            let mut params = 0u64;
            for (at, v) in body.variables.iter().enumerate() {
                let parameter = body.params.contains(&Parameter::Variable(at as u32));
                if function == entry && parameter {
                    params = params.next_multiple_of(u64::from(v.align));
                    self.locals.insert((function, at as u32), params as u32);
                    params += v.bytes;
                    self.image.param_bytes = params as u32;
                } else if matches!(v.space, Space::Local | Space::Param) {
                    next = next.next_multiple_of(u64::from(v.align));
                    self.locals.insert((function, at as u32), next as u32);
                    next += v.bytes;
                }
            }
        }
        if next > 1 << 24 {
            self.problems.push(Problem {
                line: 1,
                text: ".local".to_owned(),
                reason: "more than 16 MB of local memory a thread".to_owned(),
            });
        }
        self.image.local_bytes = next.next_multiple_of(32).min(1 << 24) as u32;
    }
}

fn is_shared(space: Space) -> bool {
    matches!(space, Space::Shared | Space::SharedCta)
}

fn module_variables(operand: &Operand, used: &mut Vec<u32>) {
    match operand {
        Operand::Variable(Symbol::Module(at), _)
        | Operand::Address(Base::Variable(Symbol::Module(at)), _) => used.push(*at),
        Operand::Vector(items) | Operand::List(items) => {
            items.iter().for_each(|o| module_variables(o, used));
        }
        _ => {}
    }
}

/// Functions that a function names: called, pointed to, in lists of targets.
fn named_functions(module: &Module, function: &Function) -> Vec<u32> {
    let mut list = Vec::new();
    for i in &function.instructions {
        list.extend(i.operands.iter().filter_map(|o| match o {
            Operand::Function(f) => Some(*f),
            _ => None,
        }));
    }
    for label in &function.labels {
        if let LabelKind::Calls(calls) = &label.kind {
            list.extend(calls);
        }
    }
    list.retain(|&f| (f as usize) < module.functions.len());
    list
}

/// Callees and lines of the direct calls of a function.
fn direct_calls(function: &Function) -> Vec<(u32, u32)> {
    let calls = function
        .instructions
        .iter()
        .filter(|i| i.opcode == Opcode::Call);
    calls
        .filter_map(|i| match i.operands.get(1) {
            Some(Operand::Function(f)) => Some((*f, i.span.line)),
            _ => None,
        })
        .collect()
}
