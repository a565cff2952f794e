//! Loads that ptxas has moved behind a branch, an exit or a guard of the PTX: other
//! instructions that execute for the same lanes tell which warps and lanes execute them.

use super::Made;
use crate::assembler::sass::{BesideKind, MachineAccess};
use spadkit_mapping::trace::{AccessTrace, Execution, Op, Places};
use spadkit_ptx::cfg::Cfg;
use spadkit_ptx::shared::is_shared;
use spadkit_ptx::{Function, Instruction, Module, Opcode};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The parts of accesses that the machine code executes: lanes, and the number of the
/// execution.
type Parts = HashMap<usize, Vec<(u32, usize)>>;

/// The moved loads of a trace.
#[derive(Default)]
pub(super) struct Moved {
    /// Sites whose accesses are known.
    pub sites: HashSet<u32>,
    parts: Parts,
}

impl Moved {
    pub fn new(
        trace: &AccessTrace,
        places: &Places,
        module: &Module,
        code: &[MachineAccess],
    ) -> Self {
        let mut moved = Moved::default();
        if trace.executed.is_empty() {
            return moved;
        }
        let loads = trace.accesses.iter().filter(|a| a.op == Op::Load);
        let sites: BTreeMap<u32, u32> = loads
            .filter_map(|a| Some((a.pc, places.of(a.pc).ptx_line?)))
            .collect();
        for function in &module.functions {
            let graph = Graph::new(function);
            for (&pc, &line) in &sites {
                if let Some(witnesses) = graph.witnesses(line, code) {
                    let executions = executions(trace, pc, (line, &witnesses));
                    moved.parts.extend(executions);
                    moved.sites.insert(pc);
                }
            }
        }
        moved
    }

    /// Whether no lane executes an access of the trace.
    pub fn leaves_out(&self, at: usize, pc: u32) -> bool {
        self.sites.contains(&pc) && !self.parts.contains_key(&at)
    }

    /// The accesses for the lanes that execute them.
    pub fn applied(&self, made: Vec<Made>) -> Vec<Made> {
        let mut kept = Vec::with_capacity(made.len());
        let mut parts: BTreeMap<(u32, usize, usize), Made> = BTreeMap::new();
        let mut pieces: HashMap<usize, usize> = HashMap::new();
        for one in made {
            if !self.sites.contains(&one.access.pc) {
                kept.push(one);
                continue;
            }
            let piece = pieces.entry(one.at).or_default();
            for &(lanes, number) in self.parts.get(&one.at).into_iter().flatten() {
                let mut access = one.access.clone();
                for (lane, word) in access.addrs.iter_mut().enumerate() {
                    *word = word.filter(|_| lanes >> lane & 1 == 1);
                }
                let key = (access.pc, number, *piece);
                match parts.get_mut(&key) {
                    Some(whole) => {
                        for (word, own) in whole.access.addrs.iter_mut().zip(access.addrs) {
                            *word = word.or(own);
                        }
                    }
                    None => {
                        let part = Made { at: one.at, access };
                        parts.insert(key, part);
                    }
                }
            }
            *piece += 1;
        }
        kept.extend(parts.into_values());
        kept
    }
}

/// The control flow of a function, by lines.
struct Graph<'a> {
    cfg: Cfg,
    lines: HashMap<u32, (u32, &'a Instruction)>,
    /// Lines of stores, by block.
    stores: Vec<(u32, u32)>,
}

impl<'a> Graph<'a> {
    fn new(function: &'a Function) -> Self {
        let cfg = Cfg::new(function);
        let place = |(at, i): (usize, &'a Instruction)| (i.span.line, (cfg.block_of[at], i));
        let lines: HashMap<_, _> = function
            .instructions
            .iter()
            .enumerate()
            .map(place)
            .collect();
        let all = lines.iter().filter(|(_, (_, i))| i.opcode == Opcode::St);
        let stores = all.map(|(line, (block, _))| (*line, *block)).collect();
        Graph { cfg, lines, stores }
    }

    /// The lines that tell which lanes execute the load of a line, and whether each is a
    /// branch; none where the load is where it was, or that is not known.
    fn witnesses(&self, line: u32, code: &[MachineAccess]) -> Option<HashMap<u32, bool>> {
        let &(own, load) = self.lines.get(&line)?;
        if load.opcode != Opcode::Ld {
            return None;
        }
        let mut found = HashMap::new();
        for machine in code.iter().filter(|m| m.line == line) {
            let mut is_known = false;
            for beside in &machine.beside {
                let Some(&(block, i)) = self.lines.get(&beside.line) else {
                    continue;
                };
                if !is_kind(beside.kind, i) {
                    continue;
                }
                // A guard of the PTX leaves lanes out as a branch does.
                let is_fixed = beside.kind == BesideKind::Branch || i.guard.is_none();
                let is_there = block == own && (is_fixed || load.guard.is_some());
                if is_there
                    || !self.dominates(own, block)
                    || self.is_shared(block, beside.kind, code)
                {
                    return None;
                }
                is_known = true;
                found.insert(beside.line, beside.kind == BesideKind::Branch);
            }
            if !is_known {
                return None;
            }
        }
        (!found.is_empty()).then_some(found)
    }

    /// Whether a store of another block may have no instruction of its own, because ptxas has
    /// joined it with one of this block.
    fn is_shared(&self, block: u32, kind: BesideKind, code: &[MachineAccess]) -> bool {
        let lines: HashSet<u32> = code.iter().map(|m| m.line).collect();
        let is_lost = |&(line, other): &(u32, u32)| {
            let i = self.lines[&line].1;
            let is_shared = i.space().is_some_and(is_shared);
            other != block && is_shared && !lines.contains(&line)
        };
        kind == BesideKind::Store && self.stores.iter().any(is_lost)
    }

    /// Whether each way to a block goes through another.
    fn dominates(&self, one: u32, block: u32) -> bool {
        let mut open = vec![0];
        let mut seen = HashSet::from([one]);
        while let Some(next) = open.pop() {
            if next == block && next != one {
                return false;
            }
            if seen.insert(next)
                && let Some(at) = self.cfg.blocks.get(next as usize)
            {
                open.extend(&at.successors);
            }
        }
        true
    }
}

/// Whether an instruction of the PTX is of the kind that the machine code has on its line.
fn is_kind(kind: BesideKind, i: &Instruction) -> bool {
    match kind {
        BesideKind::Store => i.opcode == Opcode::St,
        BesideKind::Atomic => matches!(i.opcode, Opcode::Atom | Opcode::Red),
        BesideKind::Barrier => matches!(i.opcode, Opcode::Bar | Opcode::Barrier),
        BesideKind::Branch => matches!(i.opcode, Opcode::Bra | Opcode::Ret | Opcode::Exit),
        BesideKind::Warp => matches!(i.opcode, Opcode::Shfl | Opcode::Vote | Opcode::Match),
        BesideKind::Use => !matches!(i.opcode, Opcode::Selp | Opcode::Setp | Opcode::Bra),
    }
}

/// The parts of the accesses of a site that its witnesses execute.
fn executions(trace: &AccessTrace, pc: u32, lines: (u32, &HashMap<u32, bool>)) -> Parts {
    let mut own: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, access) in trace.accesses.iter().enumerate() {
        own.entry(access.warp).or_default().push(at);
    }
    let mut parts = Parts::new();
    let mut number = 0;
    for (warp, accesses) in own {
        let runs: Vec<Execution> = trace.executed.of(warp).copied().collect();
        let mut pending: BTreeMap<usize, u32> = BTreeMap::new();
        for event in events(trace, pc, lines, &accesses, &runs) {
            match event {
                Event::Load(at, lanes) => {
                    pending.values_mut().for_each(|old| *old &= !lanes);
                    pending.insert(at, lanes);
                }
                Event::Witness(lanes) => {
                    number += 1;
                    for (&at, waiting) in &mut pending {
                        if *waiting & lanes != 0 {
                            parts
                                .entry(at)
                                .or_default()
                                .push((*waiting & lanes, number));
                        }
                        *waiting &= !lanes;
                    }
                }
            }
            pending.retain(|_, lanes| *lanes != 0);
        }
    }
    parts
}

enum Event {
    /// An access of the trace by some lanes.
    Load(usize, u32),
    /// Lanes come to where the load is now.
    Witness(u32),
}

/// What a warp executes of a load and its witnesses, in order.
fn events(
    trace: &AccessTrace,
    pc: u32,
    (line, witnesses): (u32, &HashMap<u32, bool>),
    accesses: &[usize],
    runs: &[Execution],
) -> Vec<Event> {
    let mut events = Vec::new();
    for (index, run) in runs.iter().enumerate().filter(|(_, run)| !run.is_guarded) {
        let behind = &runs[index + 1..];
        let guards = behind.iter().take_while(|g| g.is_guarded);
        let next = behind.iter().find(|next| !next.is_guarded);
        let end = next.map_or(accesses.len(), |next| next.before as usize);
        let is_in = |line: u32| (run.lines.0..=run.lines.1).contains(&line);
        let mut own: Vec<(u32, Event)> = Vec::new();
        for (&at, &is_branch) in witnesses.iter().filter(|(at, _)| is_in(**at)) {
            let mut guard = guards.clone().filter(|g| g.lines.0 == at && !is_branch);
            let lanes = guard.next().map_or(run.lanes, |g| g.lanes);
            own.push((at, Event::Witness(lanes)));
        }
        let range = accesses.get(run.before as usize..end).unwrap_or_default();
        for &at in range
            .iter()
            .filter(|at| is_in(line) && trace.accesses[**at].pc == pc)
        {
            let lanes = trace.accesses[at].addrs.iter().enumerate();
            let mask = lanes.fold(0, |mask, (lane, word)| {
                mask | u32::from(word.is_some()) << lane
            });
            own.push((line, Event::Load(at, mask)));
        }
        own.sort_by_key(|(line, _)| *line);
        events.extend(own.into_iter().map(|(_, event)| event));
    }
    events
}
