//! Attributes each instruction of an entry to the shared variables that it may access.
//!
//! A call counts as an access to everything that the called functions access. An
//! asynchronous operation uses what it reads or writes until its wait (see
//! [`flights`](super::flights)). A wait for copies counts as an access to all that they
//! write, whichever thread began them. An access that cannot be attributed counts for
//! every variable.

use super::flights::{Effect, Flights, Group};
use super::graph::FlowGraph;
use super::layout::Variable;
use super::ranges::VariableSet;
use spadkit_ptx::analysis::{
    AccessKind, Affines, BitFacts, Context, Loops, SharedAccess, SharedVariable, Summaries, Term,
    Touches, Values, shared_accesses,
};
use spadkit_ptx::ast::Linkage;
use spadkit_ptx::cfg::Cfg;
use spadkit_ptx::shared;
use spadkit_ptx::{Function, Module, Opcode, Operand, Word};
use std::ops::Range;

/// An access that may be to any variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unattributed {
    /// Line of the access.
    pub line: u32,
    /// The line of what makes it impossible to say.
    pub because: u32,
    /// The reason.
    pub reason: &'static str,
}

/// The target of an access: a variable, or a part of the dynamic ones.
#[derive(Clone, Debug)]
pub(super) struct Attributed {
    /// The variable; for a part of dynamic shared memory, all dynamic ones, as they
    /// share one address.
    pub of: Vec<shared::SharedVariable>,
    pub variable: Variable,
    /// Bytes of the part, where it is one.
    pub bytes: Option<Range<u32>>,
}

impl Attributed {
    /// Whether an access that begins at one of these bytes of dynamic memory may be
    /// to it.
    fn may(&self, access: &SharedAccess, begins: Option<(u32, u32)>) -> bool {
        let touched = |v: &shared::SharedVariable| {
            access.touches.may(SharedVariable {
                function: v.function,
                variable: v.index,
            })
        };
        let meets = match (&self.bytes, begins) {
            (Some(own), Some((low, high))) => {
                let end = u64::from(high) + u64::from(access.bytes.max(1));
                low < own.end && end > u64::from(own.start)
            }
            _ => true,
        };
        meets && self.of.iter().any(touched)
    }
}

/// The bytes of dynamic memory at which an access may begin, where that is known.
fn begins(
    module: &Module,
    function: &Function,
    affines: &Affines,
    access: &SharedAccess,
) -> Option<(u32, u32)> {
    let is_dynamic = |symbol| {
        let v = module.variable(function, symbol);
        shared::is_shared(v.space) && (v.bytes == 0 || v.linkage == Linkage::Extern)
    };
    let plain = [AccessKind::Load, AccessKind::Store, AccessKind::Atomic];
    let known = access
        .expression
        .as_ref()
        .filter(|_| plain.contains(&access.kind));
    known.and_then(|address| affines.offset_range(address, is_dynamic))
}

/// The accesses of an entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Attribution {
    /// Variables that each instruction may access.
    pub accesses: Vec<VariableSet>,
    /// Static instructions that may access each variable.
    pub counts: Vec<u32>,
    /// Accesses that may be to any variable.
    pub unattributed: Vec<Unattributed>,
    /// By instruction: variables of asynchronous operations that may be under way before it.
    pub used: Vec<VariableSet>,
    /// By instruction: those of operations under way where the function ends behind it.
    pub used_at_end: Vec<VariableSet>,
}

impl Attribution {
    /// Looks at `entry`, whose control flow is `graph`, in blocks of that size if there is
    /// one; the variables are in the order of the bits.
    pub fn new(
        module: &Module,
        entry: u32,
        (graph, block): (&FlowGraph, Option<[u32; 3]>),
        variables: &[Attributed],
    ) -> Self {
        let function = &module.functions[entry as usize];
        let cfg = Cfg::new(function);
        let values = Values::new(function, &cfg);
        let mut context = Context::of(function);
        context.block = context.block.or(block);
        let loops = Loops::new(&cfg, values.dominators());
        let bits = BitFacts::new(module, function, &cfg, &values, &context);
        let affines = Affines::new(module, function, &cfg, &values, &loops, &bits, &context);
        let summaries = Summaries::new(module);
        let list = shared_accesses(module, function, &cfg, &values, &affines, &summaries);
        let callees = Callees::of(module, entry);
        let effects = effects(module, entry, &list, callees);
        let mut attribution = Attribution {
            accesses: vec![0; function.instructions.len()],
            counts: vec![0; variables.len()],
            ..Attribution::default()
        };
        for access in &list {
            let begins = begins(module, function, &affines, access);
            attribution.add(function, access, begins, variables);
        }
        attribution.unattributed.sort_unstable();
        attribution.unattributed.dedup();
        let touched = attribution.accesses.clone();
        attribution.add_waits(function, &effects, callees);
        let flights = Flights::new(function, graph, &values, &effects, &touched);
        (attribution.used, attribution.used_at_end) = (flights.before, flights.at_end);
        attribution
    }

    /// Adds an access, which begins at these bytes of dynamic memory if that is known.
    fn add(
        &mut self,
        function: &Function,
        access: &SharedAccess,
        begins: Option<(u32, u32)>,
        variables: &[Attributed],
    ) {
        let line = |at: u32| function.instructions[at as usize].span.line;
        for (bit, v) in variables.iter().enumerate() {
            if v.may(access, begins) {
                self.accesses[access.at as usize] |= 1 << bit;
                self.counts[bit] += 1;
            }
        }
        if let Touches::All { at, reason } = access.touches {
            self.unattributed.push(Unattributed {
                line: line(access.at),
                because: line(at),
                reason,
            });
        }
    }

    /// Waits count as accesses to what the copies write that they may wait for.
    fn add_waits(&mut self, function: &Function, effects: &[Option<Effect>], callees: Callees) {
        let arrive = |e: &Option<Effect>| matches!(e, Some(Effect::Arrive(_)));
        let arrives = callees.arrive || effects.iter().any(arrive);
        let (mut copied, mut counted): (VariableSet, VariableSet) = (0, 0);
        for (set, effect) in self.accesses.iter().zip(effects) {
            match effect {
                Some(Effect::Begin(Group::Copies)) => copied |= set,
                Some(Effect::BeginCounted(_)) => counted |= set,
                Some(Effect::BeginUnknown) => (copied, counted) = (copied | set, counted | set),
                _ => {}
            }
        }
        if arrives {
            counted |= copied;
        }
        let instructions = function.instructions.iter().zip(effects);
        for (set, (i, effect)) in self.accesses.iter_mut().zip(instructions) {
            let of_groups = i.opcode == Opcode::Cp
                && i.one_of(&[Word::WaitGroup, Word::WaitAll]).is_some()
                && !i.has(Word::Bulk);
            let called = i.opcode == Opcode::Call;
            if of_groups || called && callees.wait {
                *set |= copied;
            }
            if matches!(effect, Some(Effect::Test(_))) || called && callees.wait {
                *set |= counted;
            }
        }
    }
}

/// What the functions do that an entry may call.
#[derive(Clone, Copy, Debug, Default)]
struct Callees {
    /// They begin asynchronous operations.
    begin: bool,
    /// They wait for some.
    wait: bool,
    /// They make copies arrive at an `mbarrier`.
    arrive: bool,
}

impl Callees {
    fn of(module: &Module, entry: u32) -> Self {
        let mut callees = Callees::default();
        let reached = module.reached(entry).into_iter().filter(|&f| f != entry);
        for i in reached.flat_map(|f| &module.functions[f as usize].instructions) {
            match Effect::of(i, None) {
                Some(effect) if effect.begins() => callees.begin = true,
                Some(Effect::Arrive(_)) => callees.arrive = true,
                Some(Effect::Wait(..) | Effect::Test(_)) => callees.wait = true,
                _ => callees.wait |= i.one_of(&[Word::WaitGroup]).is_some(),
            }
        }
        callees
    }
}

/// What each instruction of `entry` does to asynchronous operations, with a number for
/// each `mbarrier` that is known.
fn effects(
    module: &Module,
    entry: u32,
    accesses: &[SharedAccess],
    callees: Callees,
) -> Vec<Option<Effect>> {
    let function = &module.functions[entry as usize];
    let mut objects: Vec<Object> = Vec::new();
    let mut number = |access: &SharedAccess| {
        let object = object(module, entry, access)?;
        let known = objects.iter().position(|o| *o == object);
        Some(known.unwrap_or_else(|| {
            objects.push(object);
            objects.len() - 1
        }))
    };
    let mut effects = Vec::with_capacity(function.instructions.len());
    for (at, i) in (0..).zip(&function.instructions) {
        if i.opcode == Opcode::Call {
            effects.push(callees.begin.then_some(Effect::BeginUnknown));
            continue;
        }
        let named = Effect::of(i, None).and_then(|_| {
            // The object is the last address that the instruction names.
            let address = |o: &Operand| matches!(o, Operand::Address(..));
            let operand = i.operands.iter().rposition(address)?;
            let first = accesses.partition_point(|a| a.at < at);
            let mut own = accesses[first..].iter().take_while(|a| a.at == at);
            own.find(|a| a.operand == operand)
        });
        effects.push(Effect::of(i, named.and_then(&mut number)));
    }
    effects
}

/// A place in shared memory: a variable and a byte of it.
type Object = (SharedVariable, i64);

/// The `mbarrier` that an access is to, where it is one for certain.
fn object(module: &Module, entry: u32, access: &SharedAccess) -> Option<Object> {
    if let Ok(address) = &access.address
        && let [(Term::Base(symbol), 1)] = address.terms[..]
    {
        return Some((SharedVariable::new(entry, symbol), address.constant));
    }
    let only = access.touches.only()?;
    let bytes = only.of(module).bytes;
    (1..=8).contains(&bytes).then_some((only, 0))
}
