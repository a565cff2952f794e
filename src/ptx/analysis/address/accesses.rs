//! The accesses of a function to shared memory.

use super::super::{Affine, Affines, NotAffine, Term, Values};
use super::Touches;
use super::calls::Summaries;
use super::origin::Origins;
use super::sites::{AccessKind, DESCRIPTOR, described, descriptors, sites, touches};
use crate::ptx::ast::{Base, Function, Module, Operand};
use crate::ptx::cfg::Cfg;
use crate::ptx::opcodes::Opcode;

/// An instruction that may access shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedAccess {
    /// The instruction.
    pub at: u32,
    /// What it does.
    pub kind: AccessKind,
    /// Which operand is the address, or the descriptor; of a call the function.
    pub operand: usize,
    /// Bytes that a lane accesses; of a call, and of another kind, 0.
    pub bytes: u32,
    /// Whether it has a guard.
    pub guarded: bool,
    /// Whether its address is a generic one: it may go elsewhere.
    pub generic: bool,
    /// Whether the address may be one that is not of shared memory.
    pub elsewhere: bool,
    /// The byte address in shared memory, offset of the instruction included,
    /// or what made it not affine. Of calls always the latter.
    pub address: Result<Affine, NotAffine>,
    /// The address, exact, with a term of its own for each value that is not
    /// affine; none of calls and other kinds.
    pub expression: Option<Affine>,
    /// Which variables it may touch.
    pub touches: Touches,
}

/// The accesses of `function` to shared memory in the order of the text, calls
/// of functions that access it among them. `affines` are those of the
/// function, `summaries` those of the module.
pub fn shared_accesses(
    module: &Module,
    function: &Function,
    cfg: &Cfg,
    values: &Values,
    affines: &Affines,
    summaries: &Summaries,
) -> Vec<SharedAccess> {
    let index = super::index_of(module, function);
    let mut origins = Origins::new(module, function, cfg, values);
    let mut list = Vec::new();
    for (at, i) in function.instructions.iter().enumerate() {
        let at = at as u32;
        if i.opcode == Opcode::Call {
            let touches = summaries.call(module, &mut origins, at, i);
            list.extend(touches.map(|touches| SharedAccess {
                at,
                kind: AccessKind::Call,
                operand: 1,
                bytes: 0,
                guarded: i.guard.is_some(),
                generic: false,
                elsewhere: false,
                address: Err(NotAffine {
                    at,
                    reason: "accesses of the function that is called",
                }),
                expression: None,
                touches,
            }));
            continue;
        }
        for operand in descriptors(function, i) {
            let id = origins.operand(at, &i.operands[operand]);
            let origin = summaries.of_callers(index, at, origins.get(id));
            let reason = DESCRIPTOR;
            list.push(SharedAccess {
                at,
                kind: AccessKind::Other,
                operand,
                bytes: 0,
                guarded: i.guard.is_some(),
                generic: false,
                elsewhere: false,
                address: Err(NotAffine { at, reason }),
                expression: None,
                touches: described(at, &origin),
            });
        }
        for site in sites(i) {
            let id = origins.operand(at, site.operand);
            let origin = summaries.of_callers(index, at, origins.get(id));
            let generic = !site.shared;
            if generic
                && origin.variables.is_empty()
                && origin.unknown.is_none()
                && origin.parameters.is_empty()
            {
                continue;
            }
            let expression = expression(affines, values, at, site.operand);
            let address = match &expression {
                None => Err(NotAffine {
                    at,
                    reason: "an address that is not supported",
                }),
                Some(known) => match known.opaque() {
                    None => Ok(known.clone()),
                    Some(value) => Err(affines.reason(value)),
                },
            };
            let touches = touches(module, function, at, &origin, address.as_ref().ok());
            list.push(SharedAccess {
                at,
                kind: site.kind,
                operand: site.at,
                bytes: site.bytes,
                guarded: i.guard.is_some(),
                generic,
                elsewhere: generic && origin.other,
                address,
                expression,
                touches,
            });
        }
    }
    list
}

/// The byte address of an operand of instruction `at`.
fn expression(affines: &Affines, values: &Values, at: u32, operand: &Operand) -> Option<Affine> {
    let Operand::Address(base, offset) = operand else {
        return None;
    };
    let base = match base {
        Base::Register(register) => affines.expression(values.read(at, *register)),
        Base::Variable(symbol) => Affine::term(Term::Base(*symbol), 64),
        Base::Absolute => Affine::constant(0, 64),
    };
    base.plus(1, &Affine::constant(*offset, 64))
}
