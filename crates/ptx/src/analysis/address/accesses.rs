//! The accesses of a function to shared memory.

use super::super::{Affine, Affines, NotAffine, Term, Values};
use super::Touches;
use super::calls::Summaries;
use super::origin::{Origin, Origins};
use super::sites::{AccessKind, DESCRIPTOR, Site, described, descriptors, sites, touches};
use crate::ast::{Base, Function, Instruction, Module, Operand};
use crate::cfg::Cfg;
use crate::opcodes::Opcode;

/// An instruction that may access shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedAccess {
    /// The instruction.
    pub at: u32,
    /// Kind of the access.
    pub kind: AccessKind,
    /// Index of the operand that is the address or descriptor; of a call, the function.
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
    /// The variables that it may touch.
    pub touches: Touches,
}

impl SharedAccess {
    /// An access of which nothing but what it touches is known.
    fn unknown(
        (at, i, operand): (u32, &Instruction, usize),
        kind: AccessKind,
        reason: &'static str,
        touches: Touches,
    ) -> Self {
        SharedAccess {
            at,
            kind,
            operand,
            bytes: 0,
            guarded: i.guard.is_some(),
            generic: false,
            elsewhere: false,
            address: Err(NotAffine { at, reason }),
            expression: None,
            touches,
        }
    }
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
    let mut finder = Finder {
        module,
        function,
        index: super::index_of(module, function),
        values,
        affines,
        summaries,
        origins: Origins::new(module, function, cfg, values),
    };
    let mut list = Vec::new();
    for (at, i) in function.instructions.iter().enumerate() {
        let at = at as u32;
        if i.opcode == Opcode::Call {
            list.extend(finder.of_call(at, i));
            continue;
        }
        let descriptors = descriptors(function, i).into_iter();
        list.extend(descriptors.map(|operand| finder.of_descriptor(at, i, operand)));
        let sites = sites(i).into_iter();
        list.extend(sites.filter_map(|site| finder.of_site(at, i, site)));
    }
    list
}

/// The search for the accesses of a function.
struct Finder<'a> {
    module: &'a Module,
    function: &'a Function,
    /// Index of the function in the module.
    index: u32,
    values: &'a Values,
    affines: &'a Affines<'a>,
    summaries: &'a Summaries,
    origins: Origins<'a>,
}

impl Finder<'_> {
    /// The access of a function that is called.
    fn of_call(&mut self, at: u32, i: &Instruction) -> Option<SharedAccess> {
        let touches = self.summaries.call(self.module, &mut self.origins, at, i)?;
        let reason = "accesses of the function that is called";
        let call = (at, i, 1);
        Some(SharedAccess::unknown(
            call,
            AccessKind::Call,
            reason,
            touches,
        ))
    }

    /// The access by a descriptor.
    fn of_descriptor(&mut self, at: u32, i: &Instruction, operand: usize) -> SharedAccess {
        let touches = described(at, &self.origin(at, &i.operands[operand]));
        let of = (at, i, operand);
        SharedAccess::unknown(of, AccessKind::Other, DESCRIPTOR, touches)
    }

    /// The access by an address; none where it is not of shared memory.
    fn of_site(&mut self, at: u32, i: &Instruction, site: Site) -> Option<SharedAccess> {
        let origin = self.origin(at, site.operand);
        let generic = !site.shared;
        let may_be_shared = !origin.variables.is_empty()
            || origin.unknown.is_some()
            || !origin.parameters.is_empty();
        if generic && !may_be_shared {
            return None;
        }
        let expression = expression(self.affines, self.values, at, site.operand);
        let address = match &expression {
            None => Err(NotAffine {
                at,
                reason: "an address that is not supported",
            }),
            Some(known) => match known.opaque() {
                None => Ok(known.clone()),
                Some(value) => Err(self.affines.reason(value)),
            },
        };
        let known = address.as_ref().ok();
        let touches = touches(self.module, self.function, at, &origin, known);
        Some(SharedAccess {
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
        })
    }

    /// The origin of an operand, through the callers, too.
    fn origin(&mut self, at: u32, operand: &Operand) -> Origin {
        let id = self.origins.operand(at, operand);
        self.summaries
            .of_callers(self.index, at, self.origins.get(id))
    }
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
