//! Layout of an entry: the functions that it reaches, and the places of its variables.

use super::{Decoder, Problem};
use crate::ast::{Function, Operand, Parameter, Span, Target};
use crate::exec::image::{LocalVariable, SharedVariable};
use crate::names::Space;
use crate::opcodes::Opcode;
use crate::shared::Misplaced;

/// Local memory of a thread: CUDA's limit.
const LOCAL_BYTES: u64 = 512 << 10;

impl Decoder<'_> {
    /// The entry and all functions that calls may reach, and those whose
    /// address is taken.
    pub(super) fn reached(&mut self, entry: u32) -> Vec<u32> {
        let list = self.module.reached(entry);
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
        let targets = self.module.relocations();
        self.pointed.extend(targets.filter_map(|t| match t {
            Target::Function(f) => Some(f),
            Target::Variable(_) => None,
        }));
        self.pointed.sort_unstable();
        self.pointed.dedup();
        list
    }

    /// Depth-first over direct calls: a way back to a function on the way.
    pub(super) fn check_recursion(&self, entry: u32) -> Result<(), Problem> {
        let functions = &self.module.functions;
        let mut done = vec![false; functions.len()];
        let mut on_way = vec![false; functions.len()];
        on_way[entry as usize] = true;
        let mut way: Vec<(u32, Vec<(u32, Span)>)> =
            vec![(entry, direct_calls(&functions[entry as usize]))];
        while let Some((function, calls)) = way.last_mut() {
            let Some((callee, place)) = calls.pop() else {
                done[*function as usize] = true;
                on_way[*function as usize] = false;
                way.pop();
                continue;
            };
            if on_way[callee as usize] {
                let name = &functions[callee as usize].name;
                return Err(Problem {
                    place,
                    text: format!("call {name}"),
                    reason: format!("recursion: {name} calls itself, directly or indirectly"),
                });
            }
            if !done[callee as usize] {
                on_way[callee as usize] = true;
                way.push((callee, direct_calls(&functions[callee as usize])));
            }
        }
        Ok(())
    }

    /// Shared variables where they are declared, or where the entry's layout
    /// marker puts them.
    pub(super) fn place_shared(&mut self, entry: u32, functions: &[u32]) {
        let memory = match self.module.placed_shared(entry, functions) {
            Ok(memory) => memory,
            Err(Misplaced {
                place,
                text,
                reason,
            }) => {
                self.problems.push(Problem {
                    place,
                    text,
                    reason,
                });
                return;
            }
        };
        self.image.shared_bytes = memory.bytes;
        self.image.reserved_shared = memory.reserved;
        for v in memory.variables {
            self.shared.insert((v.function, v.index), v.offset);
            self.image.shared.push(SharedVariable {
                name: v.name,
                offset: v.offset,
                bytes: v.bytes,
            });
        }
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
                    self.image.params.push(LocalVariable {
                        name: v.name.clone(),
                        offset: (params - v.bytes) as u32,
                        bytes: v.bytes as u32,
                        own: false,
                    });
                } else if matches!(v.space, Space::Local | Space::Param) {
                    next = next.next_multiple_of(u64::from(v.align));
                    self.locals.insert((function, at as u32), next as u32);
                    self.image.locals.push(LocalVariable {
                        name: v.name.clone(),
                        offset: next as u32,
                        bytes: v.bytes as u32,
                        own: v.space == Space::Local,
                    });
                    next += v.bytes;
                }
            }
        }
        if next > LOCAL_BYTES {
            self.problems.push(Problem {
                place: Span::TOP,
                text: ".local".to_owned(),
                reason: format!(
                    "{next} bytes of local memory per thread; at most {LOCAL_BYTES} (512 KB, as \
                     on GPUs)"
                ),
            });
        }
        self.image.local_bytes = next.next_multiple_of(32).min(LOCAL_BYTES) as u32;
    }
}

/// Callees and places of the direct calls of a function.
fn direct_calls(function: &Function) -> Vec<(u32, Span)> {
    let calls = function
        .instructions
        .iter()
        .filter(|i| i.opcode == Opcode::Call);
    calls
        .filter_map(|i| match i.operands.get(1) {
            Some(Operand::Function(f)) => Some((*f, i.span)),
            _ => None,
        })
        .collect()
}
