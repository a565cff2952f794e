//! Threads: what each one has, and the blocks that run them.

use super::memory::{GlobalMemory, part};
use spadkit::ptx::{Function, Module, Parameter, Space, Symbol, Target, Variable};
use std::collections::HashMap;

/// Why a program cannot go on, or what the interpreter does not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

/// What to run.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    pub entry: &'a str,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared: u32,
    /// The parameters as they lie in parameter memory.
    pub params: &'a [u8],
    /// Instructions of all threads together.
    pub limit: u64,
}

/// Where a thread's shared and local memory appear among generic addresses.
pub(super) const SHARED_WINDOW: u64 = 1 << 56;
pub(super) const LOCAL_WINDOW: u64 = 2 << 56;

/// What does not change during a run.
pub(super) struct Context<'a> {
    pub(super) module: &'a Module,
    pub(super) launch: &'a Launch<'a>,
    /// Offsets of shared variables in the block's memory.
    pub(super) shared: HashMap<(Option<u32>, Symbol), u64>,
    pub(super) shared_bytes: u64,
    /// Addresses of module variables in global and constant memory.
    pub(super) globals: HashMap<u32, u64>,
}

/// A function at work.
pub(super) struct Frame {
    pub(super) function: u32,
    pub(super) registers: Vec<u64>,
    /// Offsets of the function's own variables in `memory`.
    pub(super) places: Vec<u64>,
    /// Parameters and local variables.
    pub(super) memory: Vec<u8>,
    pub(super) pc: usize,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Runs,
    /// At the barrier of the block.
    Barrier,
    /// At the barrier of these lanes of its warp.
    WarpBarrier(u32),
    Ended,
}

pub(super) struct Thread {
    pub(super) index: [u32; 3],
    pub(super) linear: u32,
    pub(super) block: [u32; 3],
    pub(super) frames: Vec<Frame>,
    pub(super) carry: bool,
    pub(super) state: State,
}

impl<'a> Context<'a> {
    fn new(module: &'a Module, launch: &'a Launch<'a>, memory: &mut GlobalMemory) -> Self {
        let mut context = Context {
            module,
            launch,
            shared: HashMap::new(),
            shared_bytes: 0,
            globals: HashMap::new(),
        };
        let mut dynamic = Vec::new();
        let mut place = |key: (Option<u32>, Symbol), variable: &Variable| {
            if variable.space != Space::Shared {
                return;
            }
            if variable.bytes == 0 {
                dynamic.push((key, variable.align));
                return;
            }
            context.shared_bytes = context.shared_bytes.next_multiple_of(variable.align.into());
            context.shared.insert(key, context.shared_bytes);
            context.shared_bytes += variable.bytes;
        };
        for (i, variable) in module.variables.iter().enumerate() {
            place((None, Symbol::Module(i as u32)), variable);
        }
        for (f, function) in module.functions.iter().enumerate() {
            for (i, variable) in function.variables.iter().enumerate() {
                place((Some(f as u32), Symbol::Local(i as u32)), variable);
            }
        }
        for (key, align) in dynamic {
            let base = context.shared_bytes.next_multiple_of(align.into());
            context.shared.insert(key, base);
        }
        context.shared_bytes += 64 + u64::from(launch.dynamic_shared);
        for (i, variable) in module.variables.iter().enumerate() {
            if matches!(variable.space, Space::Global | Space::Const) {
                let initial = variable.initial.clone().unwrap_or_default();
                let mut bytes = initial.bytes;
                bytes.resize(variable.bytes as usize, 0);
                context.globals.insert(i as u32, memory.add(bytes));
            }
        }
        context.relocate(memory);
        context
    }

    /// Writes the addresses that initialisers ask for.
    fn relocate(&self, memory: &mut GlobalMemory) {
        for (i, variable) in self.module.variables.iter().enumerate() {
            let relocations = variable.initial.iter().flat_map(|i| &i.relocations);
            for relocation in relocations {
                let target = match relocation.target {
                    Target::Variable(v) => self.globals.get(&v).copied().unwrap_or(0),
                    Target::Function(f) => u64::from(f) + 1,
                };
                let value = target.wrapping_add(relocation.addend as u64) & relocation.mask;
                let Some(base) = self.globals.get(&(i as u32)) else {
                    continue;
                };
                let at = base + relocation.offset;
                if let Ok(bytes) = memory.bytes(at, relocation.bytes.into()) {
                    super::memory::write(bytes, value >> relocation.mask.trailing_zeros());
                }
            }
        }
    }

    pub(super) fn function(&self, index: u32) -> &'a Function {
        &self.module.functions[index as usize]
    }

    /// A function that begins.
    pub(super) fn frame(&self, index: u32) -> Frame {
        let function = self.function(index);
        let mut size = 0u64;
        let places = function
            .variables
            .iter()
            .map(|v| {
                size = size.next_multiple_of(u64::from(v.align.max(1)));
                let place = size;
                size += if v.space == Space::Shared { 0 } else { v.bytes };
                place
            })
            .collect();
        Frame {
            function: index,
            registers: vec![0; function.registers.len()],
            places,
            memory: vec![0; size as usize],
            pc: 0,
        }
    }
}

/// Runs a kernel; returns the number of instructions that its threads reached.
/// Buffers of `memory` that exist before the launch are the kernel's.
pub fn run(module: &Module, launch: &Launch, memory: &mut GlobalMemory) -> Result<u64, Fault> {
    let entry = module.function(launch.entry);
    let entry = entry.ok_or_else(|| Fault(format!("no entry {}", launch.entry)))?;
    let context = Context::new(module, launch, memory);
    let mut count = 0;
    let [gx, gy, gz] = launch.grid;
    for z in 0..gz {
        for y in 0..gy {
            for x in 0..gx {
                run_block(&context, entry, [x, y, z], memory, &mut count)?;
            }
        }
    }
    Ok(count)
}

fn run_block(
    context: &Context,
    entry: u32,
    block: [u32; 3],
    memory: &mut GlobalMemory,
    count: &mut u64,
) -> Result<(), Fault> {
    let [bx, by, bz] = context.launch.block;
    let mut shared = vec![0; context.shared_bytes as usize];
    let mut threads = Vec::new();
    for linear in 0..bx * by * bz {
        let index = [linear % bx, linear / bx % by, linear / (bx * by)];
        let mut frame = context.frame(entry);
        load_parameters(context, entry, &mut frame)?;
        threads.push(Thread {
            index,
            linear,
            block,
            frames: vec![frame],
            carry: false,
            state: State::Runs,
        });
    }
    loop {
        for thread in &mut threads {
            while thread.state == State::Runs {
                *count += 1;
                if *count > context.launch.limit {
                    return Err(Fault("the limit of instructions is reached".into()));
                }
                thread.step(context, memory, &mut shared)?;
            }
        }
        if threads.iter().all(|t| t.state == State::Ended) {
            return Ok(());
        }
        release(&mut threads)?;
    }
}

/// Lets those go on for whom nobody is missing.
fn release(threads: &mut [Thread]) -> Result<(), Fault> {
    let waits = |s: State| matches!(s, State::Barrier | State::Ended);
    if threads.iter().all(|t| waits(t.state)) {
        let waiting = threads.iter_mut().filter(|t| t.state == State::Barrier);
        waiting.for_each(|t| t.state = State::Runs);
        return Ok(());
    }
    let mut released = false;
    for warp in threads.chunks_mut(32) {
        let Some(mask) = warp.iter().find_map(|t| match t.state {
            State::WarpBarrier(mask) => Some(mask),
            _ => None,
        }) else {
            continue;
        };
        let there = |t: &Thread| {
            mask >> (t.linear % 32) & 1 == 0
                || t.state == State::WarpBarrier(mask)
                || t.state == State::Ended
        };
        if warp.iter().all(there) {
            let waiting = warp
                .iter_mut()
                .filter(|t| t.state == State::WarpBarrier(mask));
            waiting.for_each(|t| t.state = State::Runs);
            released = true;
        }
    }
    if released {
        Ok(())
    } else {
        Err(Fault("the threads wait for each other".into()))
    }
}

/// The entry's parameters lie one behind the other, each aligned.
fn load_parameters(context: &Context, entry: u32, frame: &mut Frame) -> Result<(), Fault> {
    let function = context.function(entry);
    let mut at = 0u64;
    for parameter in &function.params {
        let &Parameter::Variable(v) = parameter else {
            return Err(Fault("an entry with a parameter in a register".into()));
        };
        let variable = &function.variables[v as usize];
        at = at.next_multiple_of(u64::from(variable.align.max(1)));
        let from = context
            .launch
            .params
            .get(at as usize..(at + variable.bytes) as usize);
        let from = from.ok_or_else(|| Fault("too few parameters".into()))?;
        let place = frame.places[v as usize];
        part(&mut frame.memory, place, variable.bytes)?.copy_from_slice(from);
        at += variable.bytes;
    }
    Ok(())
}
