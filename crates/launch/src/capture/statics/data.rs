//! Addresses that depend on values from memory, which another input changes.

use spadkit_ptx::Function;
use spadkit_ptx::analysis::{Affine, Definition, Term, ValueId, Values};
use spadkit_ptx::names::Space;
use spadkit_ptx::opcodes::Opcode;
use std::collections::BTreeSet;

/// The spaces of parameters: what they have is no data of an array.
const PARAMETERS: [Space; 3] = [Space::Param, Space::ParamEntry, Space::ParamFunc];

/// The values of a function.
pub(super) struct Data<'a> {
    function: &'a Function,
    values: &'a Values,
}

impl<'a> Data<'a> {
    pub fn new(function: &'a Function, values: &'a Values) -> Self {
        Data { function, values }
    }

    /// Whether a term of an address comes from memory.
    pub fn gives(&self, address: &Affine) -> bool {
        let mut factors = address.terms.iter().flat_map(|(t, _)| t.factors());
        factors.any(|factor| match factor {
            Term::Opaque(value) => self.comes_from_memory(*value),
            _ => false,
        })
    }

    /// Whether the operands of a value lead to a load or an atomic operation.
    fn comes_from_memory(&self, value: ValueId) -> bool {
        let (mut open, mut seen) = (vec![value], BTreeSet::new());
        while let Some(value) = open.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.values.definition(value) {
                Definition::Undefined(_) => {}
                Definition::Phi { inputs, .. } => open.extend(inputs.iter().map(|(_, v)| *v)),
                Definition::Instruction { at, .. } | Definition::Guarded { at, .. } => {
                    let i = &self.function.instructions[*at as usize];
                    match i.opcode {
                        Opcode::Ld if i.space().is_some_and(|s| PARAMETERS.contains(&s)) => {}
                        Opcode::Ld | Opcode::Ldu | Opcode::Ldmatrix | Opcode::Atom => return true,
                        _ => open.extend(self.values.reads(*at).iter().map(|(_, v)| *v)),
                    }
                }
            }
        }
        false
    }
}
