//! Origins of the values of a function that may be addresses.

use super::super::context::{is_any_shared, parameter_of};
use super::super::{Definition, ValueId, Values};
use super::{SharedVariable, index_of, is_dynamic};
use crate::ast::{Base, Function, Instruction, Module, Operand, Register, Symbol};
use crate::cfg::Cfg;
use crate::names::{Space, Type};
use crate::opcodes::{Address, Class};
use std::collections::{BTreeSet, HashMap};

/// The variables that a value may be an address of; none for a plain number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    /// Shared variables.
    pub variables: BTreeSet<SharedVariable>,
    /// Whatever the caller passes as one of these parameters.
    pub parameters: BTreeSet<u32>,
    /// Memory that is not shared.
    pub other: bool,
    /// Unknown, since this instruction, which does that.
    pub unknown: Option<(u32, &'static str)>,
}

impl Origin {
    /// Adds another value's origin: the address may be of either.
    pub fn add(&mut self, other: &Origin) {
        self.variables.extend(&other.variables);
        self.parameters.extend(&other.parameters);
        self.other |= other.other;
        self.unknown = self.unknown.or(other.unknown);
    }
}

/// Index of an origin in a table; 0 is a number.
pub(super) type OriginId = u32;

/// The origins of a function's values.
pub(super) struct Origins<'a> {
    module: &'a Module,
    function: &'a Function,
    index: u32,
    values: &'a Values,
    table: Vec<Origin>,
    ids: HashMap<Origin, OriginId>,
    sums: HashMap<(OriginId, OriginId, bool), OriginId>,
    of: Vec<OriginId>,
    /// By variable in `.param` space, the origin of what is stored into it.
    passed: HashMap<u32, OriginId>,
    dynamic: BTreeSet<SharedVariable>,
}

impl<'a> Origins<'a> {
    pub fn new(module: &'a Module, function: &'a Function, cfg: &Cfg, values: &'a Values) -> Self {
        let number = Origin::default();
        let index = index_of(module, function);
        let mut origins = Origins {
            module,
            function,
            index,
            values,
            ids: HashMap::from([(number.clone(), 0)]),
            table: vec![number],
            sums: HashMap::new(),
            of: vec![0; values.count()],
            passed: HashMap::new(),
            dynamic: dynamic_variables(module),
        };
        while origins.pass(cfg) {}
        origins
    }

    /// Walks over the function once, and returns whether anything was new.
    fn pass(&mut self, cfg: &Cfg) -> bool {
        let mut changed = false;
        let mut loops = false;
        for &block in &cfg.reverse_postorder {
            for &phi in self.values.phis(block) {
                let Definition::Phi { inputs, .. } = self.values.definition(phi) else {
                    continue;
                };
                let all = inputs.iter().map(|i| i.1);
                let new = all.fold(self.of[phi.0 as usize], |sum, value| {
                    self.combine(sum, self.of[value.0 as usize], true)
                });
                loops |= std::mem::replace(&mut self.of[phi.0 as usize], new) != new;
            }
            let range = &cfg.blocks[block as usize];
            for at in range.start..range.end {
                changed |= self.instruction(at);
            }
        }
        changed || loops
    }

    fn instruction(&mut self, at: u32) -> bool {
        let i = &self.function.instructions[at as usize];
        let mut changed = false;
        if i.opcode.class() == Class::Store
            && let Some(Operand::Address(Base::Variable(Symbol::Local(variable)), _)) =
                i.operands.first()
            && matches!(i.space(), Some(Space::Param | Space::ParamFunc))
        {
            let stored = self.all_of(at, i, 1);
            let old = self.passed.get(variable).copied().unwrap_or(0);
            let new = self.combine(old, stored, true);
            changed = new != old;
            self.passed.insert(*variable, new);
        }
        if self.values.writes(at).is_empty() {
            return changed;
        }
        let result = self.result(at, i);
        for &(register, value) in self.values.writes(at) {
            let mut new = match self.function.registers[register.0 as usize].ty.bits() {
                32 | 64 => result,
                _ => 0,
            };
            if let Definition::Guarded { old, .. } = self.values.definition(value) {
                new = self.combine(new, self.of[old.0 as usize], true);
            }
            changed |= std::mem::replace(&mut self.of[value.0 as usize], new) != new;
        }
        changed
    }

    fn result(&mut self, at: u32, i: &Instruction) -> OriginId {
        let unknown = |reason| Origin {
            unknown: Some((at, reason)),
            ..Origin::default()
        };
        match i.opcode.row().address {
            _ if i.ty(0).is_some_and(Type::is_float) => 0,
            Address::Loaded => self.loaded(at, i),
            Address::Memory => self.intern(unknown("a value from memory")),
            Address::Returned => self.intern(unknown("the result of a call")),
            Address::Choice => self.alternatives(at, i),
            Address::Converted if !i.space().is_some_and(is_any_shared) => self.intern(Origin {
                other: true,
                ..Origin::default()
            }),
            Address::Number => 0,
            Address::Sum | Address::Converted => self.all_of(at, i, 1),
        }
    }

    /// The origin of an instruction whose result is one of its sources.
    fn alternatives(&mut self, at: u32, i: &Instruction) -> OriginId {
        let sources = i.operands.iter().skip(1).take(2);
        sources.fold(0, |sum, operand| {
            let one = self.operand(at, operand);
            self.combine(sum, one, true)
        })
    }

    /// The sum of the operands from the `first` on.
    fn all_of(&mut self, at: u32, i: &Instruction, first: usize) -> OriginId {
        i.operands.iter().skip(first).fold(0, |sum, operand| {
            let one = self.operand(at, operand);
            self.combine(sum, one, false)
        })
    }

    fn loaded(&mut self, at: u32, i: &Instruction) -> OriginId {
        let space = i.space();
        let address = i.operands.get(1);
        if let Some(Operand::Address(Base::Variable(symbol), _)) = address
            && self.module.variable(self.function, *symbol).space == Space::Param
        {
            let wide = i.ty(0).is_some_and(|t| t.bits() >= 32);
            return match parameter_of(self.function, *symbol) {
                _ if !wide => 0,
                Some(_) if self.function.is_entry => self.intern(Origin {
                    other: i.ty(0).is_some_and(|t| t.bits() == 64),
                    ..Origin::default()
                }),
                Some((index, _)) => self.intern(Origin {
                    parameters: BTreeSet::from([index]),
                    ..Origin::default()
                }),
                None => self.intern(Origin {
                    unknown: Some((at, "the result of a call")),
                    ..Origin::default()
                }),
            };
        }
        let narrow = i.ty(0).is_some_and(|t| t.bits() < 32);
        let reason = match space {
            Some(Space::Param | Space::ParamEntry) if self.function.is_entry => return 0,
            _ if narrow => return 0,
            _ => "an address that was in memory",
        };
        self.intern(Origin {
            unknown: Some((at, reason)),
            ..Origin::default()
        })
    }

    /// The origin of an operand of instruction `at`.
    pub fn operand(&mut self, at: u32, operand: &Operand) -> OriginId {
        match operand {
            Operand::Register(r) => self.register(at, *r),
            Operand::Address(Base::Register(r), _) => self.register(at, *r),
            Operand::Variable(symbol, _) | Operand::Address(Base::Variable(symbol), _) => {
                self.variable(*symbol)
            }
            Operand::Vector(items) => items.iter().fold(0, |sum, item| {
                let one = self.operand(at, item);
                self.combine(sum, one, false)
            }),
            _ => 0,
        }
    }

    fn register(&self, at: u32, register: Register) -> OriginId {
        let ValueId(value) = self.values.read(at, register);
        self.of[value as usize]
    }

    /// The address of a variable.
    pub fn variable(&mut self, symbol: Symbol) -> OriginId {
        let variable = self.module.variable(self.function, symbol);
        let own = SharedVariable::new(self.index, symbol);
        let origin = match is_any_shared(variable.space) {
            true if is_dynamic(variable) => Origin {
                variables: &self.dynamic | &BTreeSet::from([own]),
                ..Origin::default()
            },
            true => Origin {
                variables: BTreeSet::from([own]),
                ..Origin::default()
            },
            false => Origin {
                other: true,
                ..Origin::default()
            },
        };
        self.intern(origin)
    }

    /// The origin of an argument that a call passes.
    pub fn argument(&mut self, at: u32, operand: &Operand) -> OriginId {
        match operand {
            Operand::Variable(Symbol::Local(variable), _) => {
                self.passed.get(variable).copied().unwrap_or(0)
            }
            other => self.operand(at, other),
        }
    }

    /// The function that the origins are of.
    pub fn function(&self) -> &'a Function {
        self.function
    }

    pub fn get(&self, id: OriginId) -> &Origin {
        &self.table[id as usize]
    }

    fn intern(&mut self, origin: Origin) -> OriginId {
        if let Some(id) = self.ids.get(&origin) {
            return *id;
        }
        let id = self.table.len() as OriginId;
        self.table.push(origin.clone());
        self.ids.insert(origin, id);
        id
    }

    /// The origin of one of two values (`either`), or of their sum.
    fn combine(&mut self, a: OriginId, b: OriginId, either: bool) -> OriginId {
        if a == b || b == 0 {
            return a;
        }
        if a == 0 {
            return b;
        }
        if let Some(id) = self.sums.get(&(a, b, either)) {
            return *id;
        }
        let (x, y) = (self.get(a), self.get(b));
        let mut sum = Origin {
            variables: &x.variables | &y.variables,
            parameters: &x.parameters | &y.parameters,
            other: x.other || y.other,
            unknown: x.unknown.or(y.unknown),
        };
        if !either {
            // Next to an address the other one is an index.
            let named = !sum.variables.is_empty();
            if named {
                sum.parameters.clear();
            }
            sum.other &= !named && sum.parameters.is_empty();
            if named || sum.other || !sum.parameters.is_empty() {
                sum.unknown = None;
            }
        }
        let id = self.intern(sum);
        self.sums.insert((a, b, either), id);
        id
    }
}

/// The shared variables of unknown size.
fn dynamic_variables(module: &Module) -> BTreeSet<SharedVariable> {
    let list = module.variables.iter().enumerate();
    let dynamic = list.filter(|(_, v)| is_any_shared(v.space) && is_dynamic(v));
    dynamic
        .map(|(at, _)| SharedVariable {
            function: None,
            variable: at as u32,
        })
        .collect()
}
