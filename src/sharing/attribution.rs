//! Which shared variables each instruction of an entry may access, with those
//! of the device functions that it calls.

use super::ranges::VariableSet;
use crate::ptx::shared::{SharedMemory, is_shared};
use crate::ptx::{Base, Function, LabelKind, Module, Opcode, Operand, Symbol};

/// The accesses of an entry and of what it calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Attribution {
    /// Variables that each instruction of the entry may access; of a call,
    /// what is accessed until it comes back.
    pub accesses: Vec<VariableSet>,
    /// Static instructions that may access each variable, in all functions.
    pub counts: Vec<u32>,
    /// Lines of accesses that may be to any variable, and why.
    pub unattributed: Vec<(u32, String)>,
}

/// What an instruction may access.
enum Touch {
    Set(VariableSet),
    All(String),
}

impl Attribution {
    /// Looks at `functions`, of which the first is the entry; `memory` has the
    /// variables, and their order that of the bits.
    pub fn new(module: &Module, functions: &[u32], memory: &SharedMemory) -> Self {
        let all = match memory.variables.len() {
            128 => VariableSet::MAX,
            count => (1 << count) - 1,
        };
        let mut attribution = Attribution {
            counts: vec![0; memory.variables.len()],
            ..Attribution::default()
        };
        let mut own: Vec<Vec<VariableSet>> = Vec::new();
        for &index in functions {
            let function = &module.functions[index as usize];
            let mut sets = vec![0; function.instructions.len()];
            for (at, touch) in touches(module, index, memory) {
                let set = match touch {
                    Touch::Set(set) => set,
                    Touch::All(reason) => {
                        let line = function.instructions[at as usize].span.line;
                        attribution.unattributed.push((line, reason));
                        all
                    }
                };
                sets[at as usize] |= set;
                let counts = attribution.counts.iter_mut().enumerate();
                counts.for_each(|(v, n)| *n += (set >> v & 1) as u32);
            }
            own.push(sets);
        }
        attribution.unattributed.sort_unstable();
        attribution.unattributed.dedup();
        attribution.accesses = with_calls(module, functions, own);
        attribution
    }
}

/// The accesses of the entry, those of a call's functions at the call.
fn with_calls(module: &Module, functions: &[u32], own: Vec<Vec<VariableSet>>) -> Vec<VariableSet> {
    let mut total: Vec<VariableSet> = own.iter().map(|s| s.iter().fold(0, |a, b| a | b)).collect();
    let calls: Vec<Vec<(usize, Vec<usize>)>> = functions
        .iter()
        .map(|&f| calls(&module.functions[f as usize], functions))
        .collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for caller in 0..functions.len() {
            for &callee in calls[caller].iter().flat_map(|c| &c.1) {
                let more = total[caller] | total[callee];
                changed |= more != total[caller];
                total[caller] = more;
            }
        }
    }
    let mut accesses = own.into_iter().next().unwrap_or_default();
    for (at, callees) in &calls[0] {
        accesses[*at] |= callees.iter().fold(0, |set, &c| set | total[c]);
    }
    accesses
}

/// The calls of a function: instruction, and which of `functions` it may come
/// to; without a list of targets, any but the entry.
fn calls(function: &Function, functions: &[u32]) -> Vec<(usize, Vec<usize>)> {
    let number = |f: &u32| functions.iter().position(|g| g == f);
    let instructions = function.instructions.iter().enumerate();
    let calls = instructions.filter(|(_, i)| i.opcode == Opcode::Call);
    calls
        .map(|(at, i)| {
            let list = i.operands.iter().find_map(|o| match o {
                Operand::Label(l) => match &function.labels[*l as usize].kind {
                    LabelKind::Calls(list) => Some(list),
                    _ => None,
                },
                _ => None,
            });
            let callees = match (i.operands.get(1), list) {
                (Some(Operand::Function(f)), _) => number(f).into_iter().collect(),
                (_, Some(list)) => list.iter().filter_map(number).collect(),
                _ => (1..functions.len()).collect(),
            };
            (at, callees)
        })
        .collect()
}

/// The shared accesses of a function.
fn touches(module: &Module, index: u32, memory: &SharedMemory) -> Vec<(u32, Touch)> {
    let function = &module.functions[index as usize];
    let bit = |symbol: Symbol| {
        let key = match symbol {
            Symbol::Module(at) => (None, at),
            Symbol::Local(at) => (Some(index), at),
        };
        let found = memory
            .variables
            .iter()
            .position(|v| (v.function, v.index) == key);
        found.map_or(0, |v| 1 << v)
    };
    let mut list = Vec::new();
    for (at, i) in function.instructions.iter().enumerate() {
        if !i.space().is_some_and(is_shared)
            || matches!(i.opcode, Opcode::Cvta | Opcode::Isspacep | Opcode::Mov)
        {
            continue;
        }
        let address = i.operands.iter().find_map(|o| match o {
            Operand::Address(base, _) => Some(*base),
            _ => None,
        });
        let touch = match address {
            Some(Base::Variable(symbol)) => Touch::Set(bit(symbol)),
            Some(_) => Touch::All("its address is computed".to_owned()),
            None => continue,
        };
        list.push((at as u32, touch));
    }
    list
}
