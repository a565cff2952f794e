//! Asynchronous operations that may be under way: until a wait they use the shared
//! variables that they read or write.
//!
//! A thread waits for the groups that it has committed (`cp.async`, bulk groups,
//! `wgmma`), or for an `mbarrier` that counts what a copy writes. A wait for all groups but
//! the last n ends those that are older on each way to it. A wait for an `mbarrier` ends
//! copies where the object is the same for certain, on the side of a branch on which the wait
//! has succeeded. What is never waited for is under way to the end of the block.

use super::graph::{Edge, FlowGraph};
use super::ranges::VariableSet;
use spadkit_ptx::analysis::{Definition, Values};
use spadkit_ptx::{Function, Immediate, Instruction, Opcode, Operand, Register, Type, Word};
use std::collections::HashMap;

/// What groups of a thread are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    /// `cp.async`
    Copies = 0,
    /// `cp.async.bulk` with `.bulk_group`
    Bulk = 1,
    /// `wgmma`
    Products = 2,
}

/// Groups that are told apart, the last ones of a kind; all older ones are one more.
const AGES: usize = 8;
/// Sets of a kind of group: what is not committed, then groups from the last one on.
const OF_KIND: usize = AGES + 2;
/// Where the first index of a set of operations is: for each kind those of its groups, then
/// those that nothing waits for.
const NEVER: usize = 3 * OF_KIND;

/// An `mbarrier`, by a number that the caller gives to it; none where it may be any.
pub(super) type Object = Option<usize>;

/// What an instruction does to the operations that are under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It begins one, for a group.
    Begin(Group),
    /// It begins one that an `mbarrier` counts.
    BeginCounted(Object),
    /// It begins some that nothing is known of.
    BeginUnknown,
    /// It commits the group.
    Commit(Group),
    /// It waits for all groups but so many of the last ones; also for what is not committed
    /// where the flag is set.
    Wait(Group, usize, bool),
    /// Copies arrive at the object when they are complete.
    Arrive(Object),
    /// It asks whether a phase of the object is complete.
    Test(Object),
}

impl Effect {
    /// What `i` does; `object` is the `mbarrier` that it names, if any.
    pub fn of(i: &Instruction, object: Object) -> Option<Self> {
        let left = || match i.operands.first() {
            Some(Operand::Immediate(Immediate::Integer(n))) => usize::try_from(*n).ok(),
            _ => None,
        };
        let group = match i.opcode {
            Opcode::Wgmma => Group::Products,
            Opcode::Cp if i.has(Word::Bulk) => Group::Bulk,
            _ => Group::Copies,
        };
        match i.opcode {
            Opcode::Cp | Opcode::Wgmma if i.has(Word::CommitGroup) => Some(Effect::Commit(group)),
            Opcode::Cp | Opcode::Wgmma if i.has(Word::WaitGroup) => {
                left().map(|left| Effect::Wait(group, left, false))
            }
            Opcode::Cp if i.has(Word::WaitAll) => Some(Effect::Wait(group, 0, true)),
            Opcode::Cp if i.has(Word::Prefetch) => None,
            Opcode::Cp if i.has(Word::Mbarrier) => Some(Effect::Arrive(object)),
            Opcode::Cp if i.has(Word::MbarrierBytes) => Some(Effect::BeginCounted(object)),
            Opcode::Cp if i.has(Word::Async) => Some(Effect::Begin(group)),
            Opcode::Wgmma if i.has(Word::MmaAsync) => Some(Effect::Begin(group)),
            Opcode::St | Opcode::Red if i.has(Word::Async) => Some(Effect::BeginCounted(object)),
            Opcode::Mbarrier if i.one_of(&[Word::TestWait, Word::TryWait]).is_some() => {
                Some(Effect::Test(object))
            }
            _ => None,
        }
    }

    /// Whether an operation begins.
    pub fn begins(self) -> bool {
        use Effect::{Begin, BeginCounted, BeginUnknown};
        matches!(self, Begin(_) | BeginCounted(_) | BeginUnknown)
    }
}

/// What may be under way.
#[derive(Clone, Debug)]
pub(super) struct Flights {
    /// By instruction: the variables of the operations that may be under way before it.
    pub before: Vec<VariableSet>,
    /// By instruction: those of the operations that may be under way where the
    /// function ends behind it.
    pub at_end: Vec<VariableSet>,
}

/// The sets of variables of all operations, by what ends them.
type State = Vec<VariableSet>;

impl Flights {
    /// Follows the operations of `function`, of whose instructions `effects` has what
    /// each does, and `touched` the variables that it may access.
    pub fn new(
        function: &Function,
        graph: &FlowGraph,
        values: &Values,
        effects: &[Option<Effect>],
        touched: &[VariableSet],
    ) -> Self {
        let count = graph.exit() as usize;
        let mut flights = Flights {
            before: vec![0; count],
            at_end: vec![0; count],
        };
        if !effects.iter().flatten().any(|e| e.begins()) {
            return flights;
        }
        let follow = Follow {
            function,
            graph,
            values,
            effects,
            touched,
            objects: objects(effects),
        };
        let ends = follow.successes();
        let mut before = vec![vec![0; counted(follow.objects)]; count];
        let mut work: Vec<u32> = graph.reachable().collect();
        work.reverse();
        while let Some(n) = work.pop() {
            let after = follow.after(n, before[n as usize].clone());
            for edge in graph.successors(n) {
                let mut state = after.clone();
                if let Some(&object) = ends.get(edge) {
                    state[counted(object)] = 0;
                    state[arriving(object)] = 0;
                }
                if edge.to == graph.exit() {
                    flights.at_end[n as usize] |= all(&state);
                } else if join(&mut before[edge.to as usize], &state) {
                    work.push(edge.to);
                }
            }
        }
        for (all_before, state) in flights.before.iter_mut().zip(&before) {
            *all_before = all(state);
        }
        flights
    }
}

/// Objects that are known, which have numbers from 0.
fn objects(effects: &[Option<Effect>]) -> usize {
    let number = |effect: &Effect| match *effect {
        Effect::BeginCounted(o) | Effect::Arrive(o) | Effect::Test(o) => o,
        _ => None,
    };
    let numbers = effects.iter().flatten().filter_map(number);
    numbers.max().map_or(0, |most| most + 1)
}

/// Index of the operations of a kind that are not committed.
fn open(group: Group) -> usize {
    OF_KIND * group as usize
}

/// Index of the operations of the group of a kind behind which so many were committed.
fn committed(group: Group, age: usize) -> usize {
    open(group) + 1 + age.min(AGES)
}

/// Index of the operations whose bytes an object counts.
fn counted(object: usize) -> usize {
    NEVER + 1 + 2 * object
}

/// Index of the copies that arrive at an object.
fn arriving(object: usize) -> usize {
    counted(object) + 1
}

fn all(state: &[VariableSet]) -> VariableSet {
    state.iter().fold(0, |all, set| all | set)
}

/// Adds a state; whether that is new.
fn join(to: &mut State, state: &[VariableSet]) -> bool {
    let mut grown = false;
    for (to, set) in to.iter_mut().zip(state) {
        grown |= set & !*to != 0;
        *to |= set;
    }
    grown
}

/// A function whose operations are followed.
struct Follow<'a> {
    function: &'a Function,
    graph: &'a FlowGraph,
    values: &'a Values,
    effects: &'a [Option<Effect>],
    touched: &'a [VariableSet],
    /// Objects that are known.
    objects: usize,
}

impl Follow<'_> {
    /// The operations behind instruction `n`. One with a guard may do nothing.
    fn after(&self, n: u32, mut state: State) -> State {
        let touched = self.touched[n as usize];
        let always = self.function.instructions[n as usize].guard.is_none();
        let mut hand_over = |from: usize, to: usize| {
            let set = state[from];
            if always {
                state[from] = 0;
            }
            state[to] |= set;
        };
        match self.effects[n as usize] {
            Some(Effect::Begin(group)) => state[open(group)] |= touched,
            Some(Effect::BeginCounted(object)) => {
                state[object.map_or(NEVER, counted)] |= touched;
            }
            Some(Effect::BeginUnknown) => state[NEVER] |= touched,
            Some(Effect::Commit(group)) => {
                for age in (0..=AGES).rev() {
                    hand_over(committed(group, age), committed(group, age + 1));
                }
                hand_over(open(group), committed(group, 0));
            }
            Some(Effect::Arrive(Some(object))) => {
                let from = open(Group::Copies);
                (from..from + OF_KIND).for_each(|from| hand_over(from, arriving(object)));
            }
            // Groups beyond the last ones are not told apart.
            Some(Effect::Wait(group, left, whole)) if always && left <= AGES => {
                state[committed(group, left)..open(group) + OF_KIND].fill(0);
                if whole {
                    state[open(group)] = 0;
                    (0..self.objects).for_each(|object| state[arriving(object)] = 0);
                }
            }
            _ => {}
        }
        state
    }

    /// The edges on which a test of an object has succeeded, and the object.
    fn successes(&self) -> HashMap<Edge, usize> {
        let tests = (0..)
            .zip(self.effects)
            .filter_map(|(n, effect)| match effect {
                Some(Effect::Test(Some(object))) => Some((n, *object)),
                _ => None,
            });
        let edges = tests.filter_map(|(n, object)| Some((self.success(n)?, object)));
        edges.collect()
    }

    /// The edge on which the test at `test` has succeeded: of the next branch, if there is
    /// no other way to it and no operation begins on the way.
    fn success(&self, test: u32) -> Option<Edge> {
        let mut n = test;
        loop {
            let i = &self.function.instructions[n as usize];
            if let (Opcode::Bra, Some(guard)) = (i.opcode, i.guard) {
                let set = self.tells(n, guard.register, test)?;
                let taken = set != guard.negated;
                let mut edges = self.graph.successors(n).iter();
                return edges.find(|e| e.taken == taken).copied();
            }
            let begins = self.effects[n as usize].is_some_and(Effect::begins);
            let [edge] = self.graph.successors(n) else {
                return None;
            };
            let only = edge.to != self.graph.exit() && self.graph.predecessors(edge.to).len() == 1;
            if begins || !only || edge.to == test {
                return None;
            }
            n = edge.to;
        }
    }

    /// Whether the register that instruction `at` reads is set where the test has
    /// succeeded, or where it has not; none where it says neither.
    fn tells(&self, at: u32, register: Register, test: u32) -> Option<bool> {
        let value = self.values.read(at, register);
        let Definition::Instruction { at, .. } = *self.values.definition(value) else {
            return None;
        };
        if at == test {
            return Some(true);
        }
        let i = &self.function.instructions[at as usize];
        let number = |operand: usize| match i.operands.get(operand) {
            Some(Operand::Immediate(Immediate::Integer(n))) => Some(*n),
            _ => None,
        };
        let (operand, turned) = match i.opcode {
            Opcode::Mov => (1, false),
            Opcode::Not if i.ty(0) == Some(Type::Pred) => (1, true),
            Opcode::Selp => match (number(1)?, number(2)?) {
                (0, 0) => return None,
                (_, 0) => (3, false),
                (0, _) => (3, true),
                _ => return None,
            },
            Opcode::Setp if number(2) == Some(0) && i.operands.len() == 3 => {
                match i.one_of(&[Word::Eq, Word::Ne])? {
                    Word::Ne => (1, false),
                    _ => (1, true),
                }
            }
            _ => return None,
        };
        match i.operands.get(operand) {
            Some(Operand::Register(r)) => Some(self.tells(at, *r, test)? != turned),
            _ => None,
        }
    }
}
