//! Compares every address of a block with the expression of its instruction.
//! Loop counters are counted per lane while the block runs.

use super::super::code::Code;
use super::{Analysed, Graph, of_launch};
use serde::Serialize;
use spadkit_ptx::analysis::{Affine, Term};
use spadkit_ptx::exec::{BlockSink, Event, Launch, Sink};
use spadkit_ptx::opcodes::Opcode;
use spadkit_ptx::shared::is_shared;
use std::collections::HashMap;
use std::sync::Mutex;

/// Comparison of a site's expression with a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Addresses that were compared: one per lane of an access.
    pub addresses: u64,
    /// Addresses that were not as the expression says.
    pub disagreements: u64,
    /// First of the disagreements.
    pub first: Option<Disagreement>,
}

/// An address that is not as the expression says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// Thread index.
    pub thread: [u32; 3],
    /// The byte address that the expression gives, modulo 2^32.
    pub expected: u64,
    /// The byte address of the run.
    pub traced: u64,
}

/// A factor that differs between threads or in time.
#[derive(Clone, Copy, Debug)]
enum Factor {
    Tid(usize),
    Lane,
    Warp,
    /// Index among the counters.
    Trips(usize),
}

/// An expression with everything known of the launch put in.
struct Expression {
    constant: u64,
    terms: Vec<(u64, Vec<Factor>)>,
    mask: u64,
    /// Something is missing that all lanes of an access share.
    offset: bool,
}

/// A block of the control flow that starts at some pc.
#[derive(Clone, Copy)]
struct Start {
    /// Index among the functions that are followed.
    function: usize,
    block: u32,
}

/// A loop that is counted.
struct Counter {
    header: u32,
    /// Whether each block is inside.
    inside: Vec<bool>,
}

/// Observes a run.
pub(super) struct Checker<'a> {
    code: &'a Code,
    block: [u32; 3],
    shared_bytes: u64,
    /// Site of each pc.
    sites: HashMap<u32, usize>,
    expressions: Vec<Option<Expression>>,
    /// Blocks of functions with counters, by pc.
    starts: HashMap<u32, Start>,
    /// By pc, the function that lanes leave there.
    leaves: HashMap<u32, usize>,
    /// Counters by function.
    counters: Vec<Vec<(usize, Counter)>>,
    slots: usize,
    results: Mutex<(Vec<bool>, Vec<Checked>)>,
}

impl<'a> Checker<'a> {
    pub fn new(analysed: &Analysed, code: &'a Code, launch: &Launch, block: u64) -> Self {
        let mut checker = Checker {
            code,
            block: launch.block,
            shared_bytes: u64::from(code.static_shared) + u64::from(launch.dynamic_shared),
            sites: HashMap::new(),
            expressions: Vec::new(),
            starts: HashMap::new(),
            leaves: HashMap::new(),
            counters: Vec::new(),
            slots: 0,
            results: Mutex::new((
                vec![false; code.rows.len()],
                vec![Checked::default(); analysed.sites.len()],
            )),
        };
        let functions = analysed.module.reached(analysed.entry);
        let placed = analysed.module.placed_shared(analysed.entry, &functions);
        let mut slots: HashMap<(u32, u32), usize> = HashMap::new();
        for (at, site) in analysed.sites.iter().enumerate() {
            checker.sites.insert(site.pc, at);
            let base = |symbol| {
                let own = spadkit_ptx::analysis::SharedVariable::new(site.function, symbol);
                let all = placed.as_ref().ok()?.variables.iter();
                let mut found =
                    all.filter(|v| (v.function, v.index) == (own.function, own.variable));
                found.next().map(|v| u64::from(v.offset))
            };
            let number = |term: &Term| match term {
                Term::Base(symbol) => base(*symbol),
                term => of_launch(term, launch, block),
            };
            let expression = site.lanes.as_ref().and_then(|affine| {
                compile(affine, number, |header| {
                    let next = slots.len();
                    *slots.entry((site.function, header)).or_insert(next)
                })
            });
            checker.expressions.push(expression);
        }
        checker.slots = slots.len();
        checker.follow(analysed, &slots);
        checker
    }

    /// Prepares the counters of `slots`: function and header of each loop.
    fn follow(&mut self, analysed: &Analysed, slots: &HashMap<(u32, u32), usize>) {
        let mut start = 0;
        for Graph {
            function: index,
            cfg,
            loops,
        } in &analysed.graphs
        {
            let function = &analysed.module.functions[*index as usize];
            let own = slots.iter().filter(|((f, _), _)| f == index);
            let counters: Vec<(usize, Counter)> = own
                .filter_map(|((_, header), slot)| {
                    let natural = loops.of_header(*header)?;
                    let mut inside = vec![false; cfg.blocks.len()];
                    natural
                        .blocks
                        .iter()
                        .for_each(|&b| inside[b as usize] = true);
                    let header = *header;
                    Some((*slot, Counter { header, inside }))
                })
                .collect();
            if !counters.is_empty() {
                let number = self.counters.len();
                for (block, range) in cfg.blocks.iter().enumerate() {
                    let block = block as u32;
                    let function = number;
                    self.starts
                        .insert(start + range.start, Start { function, block });
                }
                for (at, i) in function.instructions.iter().enumerate() {
                    if matches!(i.opcode, Opcode::Ret | Opcode::Exit) {
                        self.leaves.insert(start + at as u32, number);
                    }
                }
                self.counters.push(counters);
            }
            // One row more, for control that runs off the end.
            start += function.instructions.len() as u32 + 1;
        }
    }

    /// Returns which pcs came to shared memory, and the result of each site.
    pub fn finish(self) -> (Vec<bool>, Vec<Checked>) {
        let results = self.results.into_inner();
        results.unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// An expression whose terms are either numbers or known lane by lane.
fn compile(
    affine: &Affine,
    number: impl Fn(&Term) -> Option<u64>,
    mut slot: impl FnMut(u32) -> usize,
) -> Option<Expression> {
    let mut expression = Expression {
        constant: affine.constant as u64,
        terms: Vec::new(),
        mask: u64::MAX >> (64 - affine.bits.clamp(1, 32)),
        offset: false,
    };
    for (term, coefficient) in &affine.terms {
        if term.opaque().is_some() {
            expression.offset = true;
            continue;
        }
        let (mut product, mut factors) = (*coefficient as u64, Vec::new());
        for factor in term.factors() {
            factors.push(match factor {
                Term::Tid(axis) => Factor::Tid(usize::from(*axis)),
                Term::Laneid => Factor::Lane,
                Term::Warpid => Factor::Warp,
                Term::Trips(header) => Factor::Trips(slot(*header)),
                other => {
                    product = product.wrapping_mul(number(other)?);
                    continue;
                }
            });
        }
        if factors.is_empty() {
            expression.constant = expression.constant.wrapping_add(product)
        } else {
            expression.terms.push((product, factors))
        }
    }
    Some(expression)
}

impl Sink for Checker<'_> {
    fn block(&self, _block: [u32; 3]) -> Option<Box<dyn BlockSink + '_>> {
        let warps = self.block.iter().product::<u32>().div_ceil(32) as usize;
        Some(Box::new(OneBlock {
            checker: self,
            last: vec![[u32::MAX; 32]; warps * self.counters.len()],
            trips: vec![[0; 32]; warps * self.slots],
            touched: vec![false; self.code.rows.len()],
            checked: vec![Checked::default(); self.expressions.len()],
        }))
    }
}

struct OneBlock<'a> {
    checker: &'a Checker<'a>,
    /// By warp and function, the block that each lane was in last.
    last: Vec<[u32; 32]>,
    /// By warp and counter, the trips of each lane.
    trips: Vec<[u64; 32]>,
    touched: Vec<bool>,
    checked: Vec<Checked>,
}

fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |lane| mask >> lane & 1 == 1)
}

impl BlockSink for OneBlock<'_> {
    fn instruction(&mut self, event: &Event) {
        let checker = self.checker;
        let warp = event.warp as usize;
        let functions = checker.counters.len();
        if functions > 0 {
            if let Some(start) = checker.starts.get(&event.pc) {
                self.enter(event, *start);
            }
            if let Some(function) = checker.leaves.get(&event.pc) {
                let last = &mut self.last[warp * functions + function];
                lanes(event.exec).for_each(|lane| last[lane] = u32::MAX);
            }
        }
        self.access(event);
    }

    fn finish(self: Box<Self>) {
        if let Ok(mut results) = self.checker.results.lock() {
            *results = (self.touched, self.checked);
        }
    }
}

impl OneBlock<'_> {
    /// Lanes enter a block: counters of loops that it heads go on, or begin.
    fn enter(&mut self, event: &Event, start: Start) {
        let checker = self.checker;
        let warp = event.warp as usize;
        let last = &mut self.last[warp * checker.counters.len() + start.function];
        for (slot, counter) in &checker.counters[start.function] {
            if counter.header != start.block {
                continue;
            }
            let trips = &mut self.trips[warp * checker.slots + slot];
            for lane in lanes(event.active) {
                let inside = counter.inside.get(last[lane] as usize);
                trips[lane] = match inside {
                    Some(true) => trips[lane] + 1,
                    _ => 0,
                };
            }
        }
        lanes(event.active).for_each(|lane| last[lane] = start.block);
    }

    fn access(&mut self, event: &Event) {
        let checker = self.checker;
        let Some(access) = event.access.filter(|a| is_shared(a.space)) else {
            return;
        };
        let rows = &checker.code.rows;
        let end = checker.shared_bytes;
        let inside = |lane: &usize| access.addresses[*lane] + u64::from(access.bytes) <= end;
        let mask = access.lanes & event.exec & rows[event.pc as usize].lanes;
        let mut here = lanes(mask).filter(inside).peekable();
        self.touched[event.pc as usize] |= here.peek().is_some();
        let Some(&site) = checker.sites.get(&event.pc) else {
            return;
        };
        let Some(expression) = &checker.expressions[site] else {
            return;
        };
        let warp = event.warp as usize;
        let trips = &self.trips[warp * checker.slots..][..checker.slots];
        let checked = &mut self.checked[site];
        let mut offset = (!expression.offset).then_some(0);
        for lane in here {
            let thread = place(checker.block, event.warp, lane);
            let value = expression.evaluate(thread, event.warp, lane, trips);
            let traced = access.addresses[lane];
            // What is missing follows from the first lane.
            let offset = *offset.get_or_insert(traced.wrapping_sub(value));
            let value = value.wrapping_add(offset);
            checked.addresses += 1;
            if (value ^ traced) & expression.mask != 0 {
                checked.disagreements += 1;
                checked.first.get_or_insert(Disagreement {
                    thread,
                    expected: value & expression.mask,
                    traced,
                });
            }
        }
    }
}

impl Expression {
    fn evaluate(&self, thread: [u32; 3], warp: u32, lane: usize, trips: &[[u64; 32]]) -> u64 {
        let factor = |factor: &Factor| match factor {
            Factor::Tid(axis) => thread[*axis].into(),
            Factor::Lane => lane as u64,
            Factor::Warp => warp.into(),
            Factor::Trips(slot) => trips[*slot][lane],
        };
        let term = |(coefficient, factors): &(u64, Vec<Factor>)| {
            let factors = factors.iter().map(factor);
            factors.fold(*coefficient, u64::wrapping_mul)
        };
        let terms = self.terms.iter().map(term);
        terms.fold(self.constant, u64::wrapping_add)
    }
}

/// The index of a thread in its block.
fn place([x, y, _]: [u32; 3], warp: u32, lane: usize) -> [u32; 3] {
    let thread = 32 * warp + lane as u32;
    [thread % x, thread / x % y, thread / (x * y)]
}
