//! Decoding: the functions that an entry reaches, to an [`Image`].
//!
//! Whatever cannot be run is collected, so that all of it is reported at
//! once, before anything runs.

mod allocate;
mod atomic;
pub(super) mod awaited;
mod bulk;
mod bulk_tensor;
mod call;
mod callees;
mod carried;
mod cluster;
mod exchange;
mod forms;
mod guesses;
mod handed;
mod ignored;
mod info;
mod instruction;
mod layout;
mod mbarrier;
mod memory;
mod moved;
mod operand;
mod order;
mod outcome;
mod pair;
mod provenance;
mod tensor;
mod tensor_map;
mod texture;
mod video;
mod waits;
mod wgmma;
mod wmma;
mod words;

use super::api::{InstructionInfo, InstructionKind};
use super::image::form::{APART, Form, Meet, Meeting, Op, Overtaken, Step};
use super::image::{Image, NEVER, Spin};
use super::lanes;
use super::registers::{Mask, Pair, Slot, Width};
use crate::analysis::{self, Meets};
use crate::ast::{Function, Instruction, LabelKind, Module, Operand, Register, Span};
use crate::cfg::Cfg;
use crate::exec::ordering::Strength;
use crate::names::Special;
use std::collections::HashMap;

/// Something that the executor does not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    pub place: Span,
    pub text: String,
    pub reason: String,
}

/// Addresses of the variables of the module.
pub(super) type Addresses = HashMap<u32, u64>;

/// Bytes of the file before the registers: the masks with all and no lanes,
/// and a register that takes what nobody wants.
const RESERVED: u32 = 64 + 256;
const SCRATCH: u32 = 64;

struct Decoder<'m> {
    module: &'m Module,
    callees: callees::Callees<'m>,
    addresses: &'m Addresses,
    image: Image,
    problems: Vec<Problem>,
    /// Start of the code of each function.
    starts: HashMap<u32, u32>,
    /// Registers of the function that is being decoded, made on first use.
    slots: HashMap<(u32, u32), Slot>,
    /// Pairs of registers that hold 128 bits.
    pairs: HashMap<(u32, u32), Pair>,
    constants: HashMap<(u64, Width), Slot>,
    specials: HashMap<Special, Slot>,
    /// Offsets of variables of functions in local memory.
    locals: HashMap<(u32, u32), u32>,
    shared: HashMap<(Option<u32>, u32), u32>,
    /// Functions whose address is taken.
    pointed: Vec<u32>,
    function: u32,
    /// The instruction at hand, of the function.
    at: usize,
    /// Loops of the function that wait, and its waits.
    waits: waits::Waits,
    meets: Meets,
    carry: HashMap<u32, Slot>,
    /// The sizes of registers that the instruction at hand takes.
    sizes: forms::Sizes,
    next: u32,
    /// By register of the function, the variables that it may be an address of.
    origins: Vec<provenance::Origin>,
    /// Registers that may hold what nobody has written, of the function that is
    /// being decoded, with their numbers among those of the entry.
    followed: HashMap<u32, u32>,
    /// Registers whose values the function only moves.
    moved: moved::Moved,
    /// Registers of the function that are the accumulator of a product of a warpgroup, with
    /// their numbers among those of the entry.
    accumulators: HashMap<u32, u32>,
}

/// Decodes an entry; `vector` allows vector instructions.
pub(super) fn decode(
    module: &Module,
    entry: u32,
    addresses: &Addresses,
    vector: bool,
) -> Result<Image, Vec<Problem>> {
    let vector = vector && lanes::available();
    let mut decoder = Decoder {
        module,
        callees: callees::Callees::new(module),
        addresses,
        image: Image {
            vector,
            ..Image::default()
        },
        problems: Vec::new(),
        starts: HashMap::new(),
        slots: HashMap::new(),
        pairs: HashMap::new(),
        constants: HashMap::new(),
        specials: HashMap::new(),
        locals: HashMap::new(),
        shared: HashMap::new(),
        pointed: Vec::new(),
        function: entry,
        at: 0,
        waits: waits::Waits::default(),
        meets: Meets::default(),
        carry: HashMap::new(),
        sizes: forms::Sizes::Exact,
        next: RESERVED,
        origins: Vec::new(),
        followed: HashMap::new(),
        moved: moved::Moved::default(),
        accumulators: HashMap::new(),
    };
    decoder.entry(entry);
    if decoder.problems.is_empty() {
        Ok(decoder.image)
    } else {
        Err(decoder.problems)
    }
}

impl<'m> Decoder<'m> {
    fn entry(&mut self, entry: u32) {
        if self.module.address_size != 64 {
            self.problems.push(Problem {
                place: Span::TOP,
                text: ".address_size 32".to_owned(),
                reason: "addresses of 32 bits".to_owned(),
            });
            return;
        }
        let functions = self.reached(entry);
        if let Err(problem) = self
            .check_recursion(entry)
            .and_then(|()| self.check_cluster(entry))
        {
            self.problems.push(problem);
            return;
        }
        let mut start = 0;
        for &function in &functions {
            self.starts.insert(function, start);
            start += self.module.functions[function as usize].instructions.len() as u32 + 1;
        }
        self.place_shared(entry, &functions);
        self.place_locals(&functions, entry);
        for &function in &functions {
            self.function = function;
            self.code(function);
        }
        self.image.register_bytes = self.next.next_multiple_of(64);
    }

    fn body(&self) -> &'m Function {
        &self.module.functions[self.function as usize]
    }

    fn problem(&mut self, i: &Instruction, reason: impl Into<String>) {
        let text = self.module.text_of(i.span);
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self.problems.push(Problem {
            place: i.span,
            text: text.chars().take(80).collect(),
            reason: reason.into(),
        });
    }

    fn code(&mut self, function: u32) {
        let body = self.body();
        let cfg = Cfg::new(body);
        let unsure = self.allocate_registers(&cfg);
        self.number_accumulators(body);
        self.follow_moves(&unsure);
        self.follow_addresses();
        self.waits = waits::find(&self.callees, body, &cfg);
        self.meets = Meets::new(&cfg);
        let start = self.starts[&function];
        for (at, i) in body.instructions.iter().enumerate() {
            let ops = self.image.ops.len();
            self.sizes = forms::Sizes::of(i);
            let form = forms::check(i, self.module);
            self.at = at;
            let decoded = form.and_then(|()| self.instruction(i, at as u32, start, &cfg));
            let decoded = decoded.and_then(|_| words::check(i, self.module, body));
            if let Err(reason) = decoded {
                self.problem(i, reason);
            }
            debug_assert!(self.image.ops.len() <= ops + 1);
            if self.image.ops.len() == ops {
                self.step(Step::Nothing);
            }
            self.guard(i);
            self.note(i, at as u32);
        }
        // Control that runs off the end leaves the function.
        self.push(Form::Return);
        let info = InstructionInfo {
            kind: InstructionKind::Branch,
            function,
            instruction: body.instructions.len() as u32,
            line: body
                .instructions
                .last()
                .map_or(body.span.line, |i| i.span.line),
            reads: Vec::new(),
            writes: Vec::new(),
        };
        self.image.infos.push(info);
        self.image.spins.push(Spin::No);
        self.image.awaited.push(false);
        self.image.aligned.push(false);
        self.image.unsure_at.push(None);
        self.image.moves_at.push(None);
        self.image.sources.push(u32::MAX);
        self.image.access.push(None);
    }

    fn push(&mut self, form: Form) {
        let guard = Mask::ALL;
        self.image.ops.push(Op { guard, form });
    }

    fn step(&mut self, step: Step) {
        self.push(Form::Step(step));
    }

    /// Puts the guard into the operation just made.
    fn guard(&mut self, i: &Instruction) {
        let Some(guard) = i.guard else {
            return;
        };
        let slot = self.register(guard.register);
        if slot.width != Width::Mask {
            self.problem(i, "the guard is not a predicate");
        }
        if let Some(op) = self.image.ops.last_mut() {
            op.guard = Mask::new(slot.at, guard.negated);
        }
    }

    /// Notes facts about an instruction for observers and messages.
    fn note(&mut self, i: &Instruction, at: u32) {
        let body = self.body();
        let source = match self.module.source(body, i) {
            None => u32::MAX,
            Some(name) => match self.image.source_names.last() {
                Some(last) if *last == name => self.image.source_names.len() as u32 - 1,
                _ => {
                    self.image.source_names.push(name);
                    self.image.source_names.len() as u32 - 1
                }
            },
        };
        self.image.sources.push(source);
        let (reads, writes) = info::accessed(i);
        self.note_unsure(i, &reads, &writes);
        self.note_moves(i);
        self.image.spins.push(self.waits.spins[at as usize]);
        self.image.awaited.push(self.waits.awaited[at as usize]);
        if self.waits.spins[at as usize] != Spin::No {
            self.note_spun(&writes);
        }
        self.image.aligned.push(info::is_aligned(i));
        self.note_accumulators(i, &reads, &writes);
        self.image.infos.push(InstructionInfo {
            kind: info::kind(i),
            function: self.function,
            instruction: at,
            line: i.span.line,
            reads,
            writes,
        });
        let access = self.image.ops.last().and_then(|op| op.form.access());
        if let Some(at_memory) = access {
            let order = &mut self.image.memory[at_memory as usize].order;
            if order.strength == Strength::Volatile && self.waits.awaited[at as usize] {
                order.strength = Strength::Waiting;
            }
            if order.strength == Strength::Weak && self.waits.guessed[at as usize] {
                order.strength = Strength::Strong;
            }
            order.unread = self.waits.ignored[at as usize];
            self.image.volatile |= order.strength == Strength::Volatile;
        }
        self.image.access.push(access);
    }

    /// Registers that a loop writes which waits.
    fn note_spun(&mut self, writes: &[Register]) {
        for register in writes {
            let halves = self.pairs.get(&(self.function, register.0)).copied();
            let slots = halves.map_or_else(|| vec![self.register(*register)], Vec::from);
            self.image.spun.extend(slots);
        }
        self.image.spun.sort_unstable_by_key(|s| s.at);
        self.image.spun.dedup();
    }

    /// The place where the lanes of a branch meet.
    fn meeting(&mut self, cfg: &Cfg, at: u32, start: u32) -> Meet {
        let block = cfg.block_of[at as usize];
        let place = |block: u32| match cfg.blocks.get(block as usize) {
            Some(block) => start + block.start,
            None => NEVER,
        };
        let of = |meeting: analysis::Meeting| Meeting {
            pc: place(meeting.block),
            depth: meeting.depth,
            order: meeting.order,
        };
        let apart = || Meeting {
            pc: place(cfg.post_dominator[block as usize]),
            depth: APART,
            order: u32::MAX,
        };
        let past = self.meets.past(block).iter();
        let past = past.map(|past| Overtaken {
            at: of(past.meeting),
            sides: past.sides.iter().map(|side| place(*side)).collect(),
            own: past.own,
            join: past.join.map(of),
        });
        let past: Vec<Overtaken> = past.collect();
        let number = (!past.is_empty()).then_some(self.image.past.len() as u32);
        self.image.past.extend(number.map(|_| past));
        Meet {
            at: self.meets.of(block).map_or_else(apart, of),
            past: number,
        }
    }

    fn label(&self, operand: Option<&Operand>) -> Option<&'m LabelKind> {
        match operand {
            Some(Operand::Label(label)) => Some(&self.body().labels.get(*label as usize)?.kind),
            _ => None,
        }
    }
}
