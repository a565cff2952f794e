//! Parameters that are addresses of shared memory: `local` pointers of OpenCL, which are
//! bytes from the begin of dynamic shared memory.

use super::super::parts::{Addresses, Part, loaded};
use super::{Origins, origins};
use spadkit_ptx::{Base, Function, Instruction, Module, Opcode, Operand, Register, Space};
use std::collections::BTreeSet;

/// The address of a variable.
const VARIABLE: Part = Part {
    param: u32::MAX,
    byte: 0,
};

/// The parameters, by index, that are the only base of an address at which shared memory is
/// accessed. Where a variable is, or another parameter, they may be offsets.
pub(super) fn shared_pointers(
    module: &Module,
    function: &Function,
    addresses: &Addresses,
) -> BTreeSet<u32> {
    let begins = |i: &Instruction| match names_variable(i) {
        Some(register) => vec![(register, VARIABLE)],
        None => loaded(i, addresses),
    };
    let origins = origins(function, module.address_size, begins);
    let bases = function.instructions.iter().filter_map(shared_base);
    let found = bases.filter_map(|r| only_parameter(&origins, r));
    let is_address = |at: &u32| function.variables[*at as usize].ty.bits() == module.address_size;
    found.filter(is_address).collect()
}

/// The register to which an instruction moves the address of a variable.
fn names_variable(i: &Instruction) -> Option<Register> {
    match (i.opcode, i.operands.first()) {
        (Opcode::Mov | Opcode::Cvta | Opcode::Add, Some(Operand::Register(to))) => {
            let is_variable = |o: &Operand| matches!(o, Operand::Variable(..));
            i.operands.iter().any(is_variable).then_some(*to)
        }
        _ => None,
    }
}

/// The register of an address at which shared memory is accessed.
fn shared_base(i: &Instruction) -> Option<Register> {
    let is_access = matches!(
        i.opcode,
        Opcode::Ld | Opcode::St | Opcode::Atom | Opcode::Red
    );
    let is_shared = matches!(i.space(), Some(Space::Shared | Space::SharedCta));
    let base = i.operands.iter().find_map(|o| match o {
        Operand::Address(Base::Register(base), _) => Some(*base),
        _ => None,
    });
    base.filter(|_| is_access && is_shared)
}

fn only_parameter(origins: &Origins, register: Register) -> Option<u32> {
    let from = origins.get(&register)?;
    let only = from
        .first()
        .filter(|part| from.len() == 1 && **part != VARIABLE)?;
    (only.byte == 0).then_some(only.param)
}
