//! Address arithmetic of 64 bits that only shared accesses need, done in 32.
//!
//! Addresses in shared memory have 24 bits. If a 64-bit value is used only for
//! mapped addresses (or values like it), its low half is computed instead, from
//! the low halves of its operands. Sums, products and masks do not need the
//! upper ones. Extracting the low half of the address is then unnecessary, and
//! a product that only goes into a sum becomes part of it (`mad`).

use super::super::text;
use spadkit_ptx::analysis::{Definition, Use, ValueId, Values};
use spadkit_ptx::ast::{Function, Immediate, Instruction, Module, Operand, Register};
use spadkit_ptx::edit::Edits;
use spadkit_ptx::names::{Type, Word};
use spadkit_ptx::opcodes::Opcode;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The values that are computed in 32 bits, and the registers for them.
pub(super) struct Narrow {
    values: BTreeSet<ValueId>,
    names: BTreeMap<Register, String>,
}

impl Narrow {
    /// Nothing is narrowed.
    pub fn none() -> Self {
        Narrow {
            values: BTreeSet::new(),
            names: BTreeMap::new(),
        }
    }

    /// The register of 32 bits that holds the low half of a value, where one
    /// does.
    pub fn name(&self, register: Register, value: ValueId) -> Option<&str> {
        let known = self.values.contains(&value);
        self.names
            .get(&register)
            .map(String::as_str)
            .filter(|_| known)
    }
}

/// The inputs of the analysis.
pub(super) struct Job<'a> {
    pub module: &'a Module,
    pub function: &'a Function,
    pub values: &'a Values,
    /// Accesses that read their register, and that one only as an address.
    pub accesses: &'a HashMap<u32, Register>,
}

impl Job<'_> {
    /// Narrows what can be, in the text; `fresh` gives new registers of 32
    /// bits.
    pub fn run(&self, mut fresh: impl FnMut() -> String, edits: &mut Edits) -> Narrow {
        let values = self.values();
        let mut narrow = Narrow {
            names: BTreeMap::new(),
            values,
        };
        for value in &narrow.values {
            let register = self.values.definition(*value).register();
            narrow.names.entry(register).or_insert_with(&mut fresh);
        }
        let fused = self.fused(&narrow);
        for &value in &narrow.values {
            if let Some(at) = self.instruction_of(value) {
                let i = &self.function.instructions[at as usize];
                let new = if fused.gone.contains(&value) {
                    String::new()
                } else {
                    self.text(at, i, &narrow, fused.sums.get(&value))
                };
                edits.replace(i.span, new);
            }
        }
        narrow
    }

    fn instruction_of(&self, value: ValueId) -> Option<u32> {
        match self.values.definition(value) {
            Definition::Instruction { at, .. } | Definition::Guarded { at, .. } => Some(*at),
            _ => None,
        }
    }

    /// The greatest set of values that need no upper half.
    fn values(&self) -> BTreeSet<ValueId> {
        let all = (0..self.values.count() as u32).map(ValueId);
        let mut set: BTreeSet<ValueId> = all.filter(|v| self.is_candidate(*v)).collect();
        loop {
            let keep = |v: &ValueId| self.users_allow(*v, &set) && self.operands_allow(*v, &set);
            let next: BTreeSet<ValueId> = set.iter().copied().filter(keep).collect();
            if next.len() == set.len() {
                return next;
            }
            set = next;
        }
    }

    fn is_candidate(&self, value: ValueId) -> bool {
        let definition = self.values.definition(value);
        let info = &self.function.registers[definition.register().0 as usize];
        if info.ty.bits() != 64 || info.ty.is_float() || self.values.users(value).is_empty() {
            return false;
        }
        match definition {
            Definition::Phi { .. } => true,
            Definition::Undefined(_) => false,
            _ => self.instruction_of(value).is_some_and(|at| {
                let i = &self.function.instructions[at as usize];
                self.values.writes(at).len() == 1 && is_narrowable(i)
            }),
        }
    }

    fn users_allow(&self, value: ValueId, set: &BTreeSet<ValueId>) -> bool {
        let register = self.values.definition(value).register();
        self.values.users(value).iter().all(|user| match user {
            Use::Phi(phi) => set.contains(phi),
            Use::Instruction(at) => {
                let access = self.accesses.get(at) == Some(&register);
                access || self.values.writes(*at).iter().any(|(_, v)| set.contains(v))
            }
        })
    }

    /// Whether the low halves of the operands exist.
    fn operands_allow(&self, value: ValueId, set: &BTreeSet<ValueId>) -> bool {
        let undefined = |v: ValueId| matches!(self.values.definition(v), Definition::Undefined(_));
        match self.values.definition(value) {
            Definition::Phi { inputs, .. } => {
                inputs.iter().all(|(_, v)| set.contains(v) || undefined(*v))
            }
            Definition::Guarded { at, old, .. } => {
                (set.contains(old) || undefined(*old)) && self.sources_allow(*at, set)
            }
            Definition::Instruction { at, .. } => self.sources_allow(*at, set),
            Definition::Undefined(_) => false,
        }
    }

    fn sources_allow(&self, at: u32, set: &BTreeSet<ValueId>) -> bool {
        let i = &self.function.instructions[at as usize];
        let missing: Vec<ValueId> = doubles(self.function, i)
            .into_iter()
            .map(|register| self.values.read(at, register))
            .filter(|v| self.is_missing(at, *v, set))
            .collect();
        match missing[..] {
            [] => true,
            [one] => i.opcode == Opcode::Add && self.product(at, one).is_some(),
            _ => false,
        }
    }

    /// Whether no register has the low half of a value that `at` reads.
    fn is_missing(&self, at: u32, value: ValueId, set: &BTreeSet<ValueId>) -> bool {
        !set.contains(&value) && self.word_of(at, value).is_none()
    }

    /// The 32-bit register that a value was extended from, where it still
    /// holds the same.
    fn word_of(&self, at: u32, value: ValueId) -> Option<Register> {
        let Definition::Instruction { at: from, .. } = self.values.definition(value) else {
            return None;
        };
        let i = &self.function.instructions[*from as usize];
        match (&i.operands[..], i.opcode) {
            ([_, Operand::Register(r)], Opcode::Cvt) if is_narrowable(i) => {
                self.still(at, *from, *r).then_some(*r)
            }
            _ => None,
        }
    }

    /// The product that a value is, where its factors still are the same: the
    /// instruction.
    fn product(&self, at: u32, value: ValueId) -> Option<u32> {
        let Definition::Instruction { at: from, .. } = self.values.definition(value) else {
            return None;
        };
        let i = &self.function.instructions[*from as usize];
        if i.opcode != Opcode::Mul || !i.has(Word::Wide) || !is_narrowable(i) {
            return None;
        }
        let same = i.operands[1..].iter().all(|o| match o {
            Operand::Register(r) => self.still(at, *from, *r),
            _ => true,
        });
        same.then_some(*from)
    }

    /// Whether the register holds before `at` what the instruction `from` read.
    fn still(&self, at: u32, from: u32, register: Register) -> bool {
        self.values.before(at, register) == Some(self.values.read(from, register))
    }

    /// Sums that take a product in, by their value: the operand, and the
    /// multiplication.
    fn fused(&self, narrow: &Narrow) -> Fused {
        let mut fused = Fused::default();
        let mut taken: BTreeMap<ValueId, usize> = BTreeMap::new();
        for &value in &narrow.values {
            let Some(at) = self.instruction_of(value) else {
                continue;
            };
            let i = &self.function.instructions[at as usize];
            if i.opcode != Opcode::Add {
                continue;
            }
            let factor = |n: usize| match i.operands[n] {
                Operand::Register(r) => Some(self.values.read(at, r)),
                _ => None,
            };
            // A factor that exists only in 64 bits comes first.
            let needed =
                |n: &usize| factor(*n).is_some_and(|v| self.is_missing(at, v, &narrow.values));
            let alone = |n: &usize| {
                factor(*n)
                    .is_some_and(|v| narrow.values.contains(&v) && self.values.users(v).len() == 1)
            };
            let twice = i.operands[1] == i.operands[2];
            let first = [2, 1].into_iter().find(needed);
            let chosen = first.or_else(|| {
                [2, 1].into_iter().find(|n| {
                    let product = factor(*n).and_then(|v| self.product(at, v));
                    !twice && alone(n) && product.is_some()
                })
            });
            let product = |n: usize| Some((n, factor(n)?, self.product(at, factor(n)?)?));
            if let Some((operand, factor, from)) = chosen.and_then(product) {
                fused.sums.insert(value, (operand, from));
                *taken.entry(factor).or_default() += 1;
            }
        }
        let gone = |v: &ValueId| taken.contains_key(v) && narrow.values.contains(v);
        fused.gone = narrow.values.iter().copied().filter(gone).collect();
        fused
    }

    /// The instruction in 32 bits.
    fn text(
        &self,
        at: u32,
        i: &Instruction,
        narrow: &Narrow,
        fused: Option<&(usize, u32)>,
    ) -> String {
        let spans = text::operand_spans(self.module, i.span);
        let operand = |n: usize| match &i.operands[n] {
            Operand::Register(r) if self.bits(*r) == 64 => {
                let value = match n {
                    0 => self.values.written(at, *r),
                    _ => Some(self.values.read(at, *r)),
                };
                let own = value.and_then(|v| narrow.name(*r, v));
                let word = || self.word_of(at, value?).map(|w| self.name(w));
                own.or_else(word).unwrap_or_default().to_owned()
            }
            Operand::Register(r) => self.name(*r).to_owned(),
            Operand::Immediate(Immediate::Integer(n)) => (*n as i32).to_string(),
            _ => spans[n].of(&self.module.text).to_owned(),
        };
        let guard = match i.guard {
            None => String::new(),
            Some(g) => format!(
                "@{}{} ",
                if g.negated { "!" } else { "" },
                self.name(g.register)
            ),
        };
        let joined = |form: &str, all: &[String]| format!("{guard}{form} {};", all.join(", "));
        if let Some(&(taken, from)) = fused {
            let product = &self.function.instructions[from as usize];
            let spans = text::operand_spans(self.module, product.span);
            let factor = |n: usize| match &product.operands[n] {
                Operand::Register(r) => self.name(*r).to_owned(),
                _ => spans[n].of(&self.module.text).to_owned(),
            };
            let all = [operand(0), factor(1), factor(2), operand(3 - taken)];
            return joined("mad.lo.s32", &all);
        }
        let all: Vec<String> = (0..i.operands.len()).map(operand).collect();
        joined(form(i), &all)
    }

    fn bits(&self, register: Register) -> u32 {
        self.function.registers[register.0 as usize].ty.bits()
    }

    fn name(&self, register: Register) -> &str {
        &self.function.registers[register.0 as usize].name
    }
}

#[derive(Default)]
struct Fused {
    sums: BTreeMap<ValueId, (usize, u32)>,
    /// Products that are no longer read.
    gone: BTreeSet<ValueId>,
}

/// 64-bit registers that an instruction reads as sources.
fn doubles(function: &Function, i: &Instruction) -> Vec<Register> {
    let sources = i.operands.iter().skip(1).filter_map(|o| match o {
        Operand::Register(r) => Some(*r),
        _ => None,
    });
    let is_double = |r: &Register| function.registers[r.0 as usize].ty.bits() == 64;
    sources.filter(is_double).collect()
}

/// Whether the low half of the result depends on the low halves of the
/// operands alone.
fn is_narrowable(i: &Instruction) -> bool {
    let plain = |o: &Operand| {
        matches!(
            o,
            Operand::Register(_) | Operand::Immediate(Immediate::Integer(_))
        )
    };
    let sources = i.operands.get(1..).unwrap_or_default();
    let simple = !sources.is_empty() && sources.iter().all(plain);
    let ty = i.ty(0);
    let double = matches!(ty, Some(Type::B64 | Type::U64 | Type::S64));
    let word = matches!(ty, Some(Type::U32 | Type::S32));
    let carries = i.has(Word::Cc) || i.has(Word::Sat);
    match i.opcode {
        Opcode::Mov => {
            let address = matches!(sources, [Operand::Variable(..)]);
            double && (simple || address)
        }
        Opcode::Add | Opcode::Sub => double && simple && !carries,
        Opcode::Mul | Opcode::Mad if i.has(Word::Wide) => word && simple && !carries,
        Opcode::Mul | Opcode::Mad => double && simple && i.has(Word::Lo) && !carries,
        Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Selp => double && simple,
        // A shift by 32 or more leaves nothing of either half.
        Opcode::Shl => {
            let small = matches!(
                sources.get(1),
                Some(Operand::Immediate(Immediate::Integer(0..32)))
            );
            double && small && matches!(sources[0], Operand::Register(_))
        }
        Opcode::Cvt => {
            let from = matches!(i.ty(1), Some(Type::U32 | Type::S32));
            let wide = matches!(ty, Some(Type::U64 | Type::S64));
            wide && from && !carries && matches!(sources, [Operand::Register(_)])
        }
        _ => false,
    }
}

/// The instruction in 32 bits, without its operands.
fn form(i: &Instruction) -> &'static str {
    match (i.opcode, &i.operands[1]) {
        // The address of a variable is not a bit pattern.
        (_, Operand::Variable(..)) => "mov.u32",
        (Opcode::Mov | Opcode::Cvt, _) => "mov.b32",
        (Opcode::Add, _) => "add.s32",
        (Opcode::Sub, _) => "sub.s32",
        (Opcode::Mul, _) => "mul.lo.s32",
        (Opcode::Mad, _) => "mad.lo.s32",
        (Opcode::Shl, _) => "shl.b32",
        (Opcode::And, _) => "and.b32",
        (Opcode::Or, _) => "or.b32",
        (Opcode::Xor, _) => "xor.b32",
        _ => "selp.b32",
    }
}
