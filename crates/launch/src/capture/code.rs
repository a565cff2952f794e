//! Code of an entry, as the instructions of a trace.

use super::aggregated::{self, Aggregated};
use super::copies::CopyControl;
use super::registers::{NUMBERS, Numbers};
use super::units;
use spadkit_base::error::Result;
use spadkit_mapping::trace::{Op, Place};
use spadkit_ptx::ast::{
    Function, Immediate, Instruction, Module, Operand, Register, Statement, StatementKind,
};
use spadkit_ptx::exec::{InstructionInfo, InstructionKind, Program};
use spadkit_ptx::names::{Type, Word};
use spadkit_ptx::opcodes::Opcode;
use spadkit_ptx::shared::is_shared;
use spadkit_ptx::tensor::Work;
use spadkit_sm::sm::{
    BulkGroupOp, Detail, INCREMENT, Instr, InstrKind, MAX_SOURCES, Sources, Unit,
};
use std::collections::{HashMap, HashSet};

/// The instructions of an entry with all functions that it calls, by the
/// program counter of the executor.
pub(super) struct Code {
    pub rows: Vec<Row>,
    /// Bytes of the static shared variables.
    pub static_shared: u32,
    /// Registers whose number another live one has, too.
    pub crowded: u32,
    /// Numbers that no register has.
    pub free: std::ops::Range<usize>,
}

/// An instruction.
pub(super) struct Row {
    pub role: Role,
    /// 1-based line of the PTX.
    pub line: u32,
    /// The file of the PTX, where several are linked.
    pub file: Option<String>,
    /// `file:line` of the source.
    pub source: Option<String>,
    /// The calls that were inlined around it, the innermost first.
    pub inlined_at: Vec<String>,
    /// Shared memory is named in the text: not by a generic address.
    pub names_shared: bool,
    /// Lanes whose addresses count.
    pub lanes: u32,
    /// Condition under which one lane does it for all.
    pub aggregated: Aggregated,
    pub dst: Option<u8>,
    pub srcs: Sources,
    /// The unit of arithmetic that is not that of its kind.
    pub unit: Option<Unit>,
    /// Its loads of global memory go past the L1.
    pub past_l1: bool,
    /// The threads that reach it release the shared scratchpad first.
    pub releases_before: bool,
    /// The threads that go on after it release the shared scratchpad.
    pub releases_after: bool,
}

/// The effect of an instruction on its warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Computes.
    Plain(InstrKind),
    /// Branches, calls, returns.
    Branch,
    /// Leaves the kernel.
    End,
    /// Waits at a barrier of the block, or only arrives.
    Barrier,
    /// Accesses memory; `operation` is that of an atomic.
    Memory { op: Op, operation: u8 },
    /// Multiplies matrices.
    Product(Work),
    /// Closes a group of products of warpgroups.
    ProductCommit,
    /// Waits for all of these groups.
    ProductWait,
    /// Closes a group of asynchronous copies, or waits for some.
    Copies(CopyControl),
    /// Closes a bulk group, or waits for all but this many.
    BulkGroup(BulkGroupOp, u32),
    /// Known only when it has been executed: bulk copies, and operations on
    /// `mbarrier` objects.
    Asynchronous,
}

impl Row {
    /// Place of the instruction.
    pub fn place(&self) -> Place {
        Place {
            ptx_line: Some(self.line),
            ptx_file: self.file.clone(),
            source: self.source.clone(),
            inlined_at: self.inlined_at.clone(),
        }
    }

    /// The instruction that a warp executes at `pc`, with its registers.
    pub fn instr(&self, pc: u32, kind: InstrKind, mask: u32) -> Instr {
        let mut instr = Instr::new(kind, pc, mask.into());
        (instr.dst, instr.srcs) = (self.dst, self.srcs);
        if let (InstrKind::Alu | InstrKind::Sfu, Some(unit)) = (kind, self.unit) {
            instr.detail = Detail::Unit(unit);
        }
        instr
    }
}

impl Code {
    pub fn new(program: &Program, entry: &str) -> Result<Self> {
        let module = program.module();
        let infos = program.instructions(entry)?;
        let entry_index = module.function(entry);
        let mut code = Code {
            rows: Vec::with_capacity(infos.len()),
            static_shared: program.static_shared(entry)?,
            crowded: 0,
            free: 0..0,
        };
        let statements = statements_of(module);
        let (mut first, mut most) = (0, 0);
        for infos in infos.chunk_by(|a, b| a.function == b.function) {
            let index = infos[0].function;
            let function = &module.functions[index as usize];
            let numbers = Numbers::new(function, infos, first);
            first = numbers.end;
            most = numbers.end.max(most);
            code.crowded += numbers.crowded;
            let start = code.rows.len();
            code.function(
                module,
                function,
                infos,
                &numbers,
                entry_index == Some(index),
            );
            code.releases(module, index, &statements[index as usize], start);
        }
        code.free = most..NUMBERS;
        Ok(code)
    }

    fn function(
        &mut self,
        module: &Module,
        function: &Function,
        infos: &[InstructionInfo],
        numbers: &Numbers,
        is_entry: bool,
    ) {
        let read: HashSet<u32> = infos.iter().flat_map(|i| &i.reads).map(|r| r.0).collect();
        let aggregated = aggregated::of_function(module, function, &read);
        // Where each register was written last, going by the text.
        let mut written: HashMap<u32, usize> = HashMap::new();
        for (at, info) in infos.iter().enumerate() {
            let instruction = function.instructions.get(info.instruction as usize);
            let role = role(info, instruction, is_entry, &read);
            // Products of a warpgroup do not wait for the accumulator: the
            // tensor units take them in order.
            let in_order = matches!(role, Role::Product(work) if work.group);
            let waits_for = |r: &&Register| !(in_order && info.writes.contains(*r));
            let reads = info.reads.iter().filter(waits_for);
            let sources = sources(reads, &written, numbers);
            written.extend(info.writes.iter().map(|r| (r.0, at)));
            self.rows.push(Row {
                role,
                line: info.line,
                file: module.file_of(function.span).map(str::to_owned),
                source: instruction.and_then(|i| module.source(function, i)),
                inlined_at: instruction.map_or_else(Vec::new, |i| module.inlined_at(function, i)),
                names_shared: instruction.is_some_and(|i| i.space().is_some_and(is_shared)),
                lanes: instruction.map_or(u32::MAX, lanes),
                aggregated: (aggregated.get(info.instruction as usize))
                    .copied()
                    .unwrap_or_default(),
                dst: info.writes.first().map(|r| numbers.of(r.0)),
                srcs: Sources::new(&sources).unwrap_or_default(),
                unit: units::of(info, instruction),
                past_l1: instruction.is_some_and(units::goes_past_l1),
                releases_before: false,
                releases_after: false,
            });
        }
    }

    /// Finds the markers of releases in a function whose first row is `start`.
    fn releases(&mut self, module: &Module, function: u32, own: &[&Statement], start: usize) {
        let body = &module.functions[function as usize].instructions;
        // Behind a barrier and a call other instructions come first.
        let goes_straight_on = |row: usize| {
            let waits = [Opcode::Bar, Opcode::Barrier, Opcode::Call];
            !waits.contains(&body[row].opcode)
        };
        let (mut previous, mut label, mut marked) = (None, false, false);
        for statement in own {
            match statement.kind {
                StatementKind::Directive if module.is_release(statement) => {
                    // Whoever jumps to a label after it does not pass it.
                    match previous.filter(|row| !label && goes_straight_on(*row)) {
                        Some(row) => self.rows[start + row].releases_after = true,
                        None => marked = true,
                    }
                }
                StatementKind::Label(_) => label = true,
                StatementKind::Instruction(index) => {
                    self.rows[start + index as usize].releases_before = marked;
                    (previous, label, marked) = (Some(index as usize), false, false);
                }
                _ => {}
            }
        }
    }

    /// Numbers of the static access sites, in the order of the text: the
    /// instructions that name shared memory, and of those with generic
    /// addresses the ones that `touched` has.
    pub fn sites(&self, touched: &[bool]) -> Vec<u32> {
        let is_site = |pc: &usize| {
            let row = &self.rows[*pc];
            let accesses = matches!(row.role, Role::Memory { .. });
            touched[*pc] || accesses && row.names_shared
        };
        let mut order: Vec<usize> = (0..self.rows.len()).filter(is_site).collect();
        order.sort_by_key(|&pc| (self.rows[pc].line, pc));
        let mut sites = vec![0; self.rows.len()];
        for (site, pc) in order.into_iter().enumerate() {
            sites[pc] = site as u32;
        }
        sites
    }
}

/// The registers that an instruction waits for. Where they are too many, those count that are
/// ready last; `written` is where each was written.
fn sources<'r>(
    reads: impl Iterator<Item = &'r Register>,
    written: &HashMap<u32, usize>,
    numbers: &Numbers,
) -> Vec<u8> {
    let ready = |r: &Register| (written.get(&r.0).map_or(0, |w| w + 1), numbers.of(r.0));
    let mut reads: Vec<(usize, u8)> = reads.map(ready).collect();
    reads.sort_unstable_by(|a, b| b.cmp(a));
    let mut sources: Vec<u8> = Vec::new();
    for (_, number) in reads {
        if !sources.contains(&number) && sources.len() < MAX_SOURCES {
            sources.push(number);
        }
    }
    sources
}

/// The statements of each function.
fn statements_of(module: &Module) -> Vec<Vec<&Statement>> {
    let mut of = vec![Vec::new(); module.functions.len()];
    for statement in &module.statements {
        if let Some(function) = statement.function {
            of[function as usize].push(statement);
        }
    }
    of
}

/// The effect of an instruction; `read` has the registers that the function reads.
fn role(
    info: &InstructionInfo,
    instruction: Option<&Instruction>,
    is_entry: bool,
    read: &HashSet<u32>,
) -> Role {
    let Some(i) = instruction else {
        // Control runs off the end of the function.
        return if is_entry { Role::End } else { Role::Branch };
    };
    match (info.kind, i.opcode) {
        (_, Opcode::Exit) => Role::End,
        (_, Opcode::Ret) if is_entry => Role::End,
        (_, Opcode::Tex | Opcode::Tld4 | Opcode::Suld) => Role::Plain(InstrKind::Texture),
        (_, Opcode::Mbarrier) if !i.has(Word::PendingCount) => Role::Asynchronous,
        (_, Opcode::Cp) if i.has(Word::Mbarrier) => Role::Asynchronous,
        (_, Opcode::Cp) if i.has(Word::Bulk) => bulk(i),
        (_, Opcode::Cp) => match copy_control(i) {
            Some(control) => Role::Copies(control),
            None => memory(Op::Store),
        },
        (_, Opcode::Wgmma) if i.has(Word::CommitGroup) => Role::ProductCommit,
        (_, Opcode::Wgmma) if waits_for_all(i) => Role::ProductWait,
        (InstructionKind::Branch, _) => Role::Branch,
        (InstructionKind::Barrier, _) => Role::Barrier,
        (InstructionKind::Load, _) => memory(Op::Load),
        (InstructionKind::Store, _) => memory(Op::Store),
        (InstructionKind::Atomic, _) => Role::Memory {
            op: Op::Atomic,
            operation: operation(i, info.writes.iter().any(|r| read.contains(&r.0))),
        },
        // An exchange takes about as long as a special function (docs/reference/gpu.md).
        (InstructionKind::Warp, Opcode::Shfl | Opcode::Redux | Opcode::Match) => {
            Role::Plain(InstrKind::Sfu)
        }
        (InstructionKind::Sfu, _) => Role::Plain(InstrKind::Sfu),
        (InstructionKind::Alu, Opcode::Mov) => Role::Plain(InstrKind::Mov),
        (InstructionKind::Tensor, _) => match Work::of(i) {
            Some(work) => Role::Product(work),
            None => Role::Plain(InstrKind::Alu),
        },
        (InstructionKind::Alu | InstructionKind::Warp | InstructionKind::Other, _) => {
            Role::Plain(InstrKind::Alu)
        }
    }
}

fn copy_control(i: &Instruction) -> Option<CopyControl> {
    let word = i.one_of(&[Word::CommitGroup, Word::WaitGroup, Word::WaitAll])?;
    Some(match (word, i.operands.first()) {
        (Word::CommitGroup, _) => CopyControl::Commit,
        (Word::WaitGroup, Some(Operand::Immediate(Immediate::Integer(n)))) => {
            CopyControl::Wait(usize::try_from(*n).unwrap_or(0))
        }
        _ => CopyControl::WaitAll,
    })
}

/// A wait for all groups of products. With others left, the tensor unit has
/// taken the last of them: those waited for are as good as complete.
fn waits_for_all(i: &Instruction) -> bool {
    let all = Operand::Immediate(Immediate::Integer(0));
    i.has(Word::WaitGroup) && i.operands.first() == Some(&all)
}

/// A bulk copy, or what closes its groups and waits for them.
fn bulk(i: &Instruction) -> Role {
    let groups = match i.operands.first() {
        Some(Operand::Immediate(Immediate::Integer(n))) => u32::try_from(*n).unwrap_or(0),
        _ => 0,
    };
    match i.one_of(&[Word::CommitGroup, Word::WaitGroup, Word::Prefetch]) {
        Some(Word::CommitGroup) => Role::BulkGroup(BulkGroupOp::Commit, 0),
        Some(Word::WaitGroup) if i.has(Word::ReadSources) => {
            Role::BulkGroup(BulkGroupOp::WaitRead, groups)
        }
        Some(Word::WaitGroup) => Role::BulkGroup(BulkGroupOp::Wait, groups),
        // What it brings into the L2 is not modelled.
        Some(_) => Role::Plain(InstrKind::Alu),
        None => Role::Asynchronous,
    }
}

fn memory(op: Op) -> Role {
    Role::Memory { op, operation: 0 }
}

/// The operation of an atomic by its number in full traces; `is_read`: somebody
/// reads its result. Those that the lock unit does not support (compare and swap, `inc`)
/// take as long as any other.
fn operation(i: &Instruction, is_read: bool) -> u8 {
    if !is_read && adds_one(i) {
        return INCREMENT;
    }
    let signed = i.ty(0).is_some_and(|t| t.is_signed());
    let words = [
        Word::And,
        Word::Or,
        Word::Xor,
        Word::Exch,
        Word::Min,
        Word::Max,
    ];
    match (i.one_of(&words), signed) {
        (Some(Word::And), _) => 1,
        (Some(Word::Or), _) => 2,
        (Some(Word::Xor), _) => 3,
        (Some(Word::Exch), _) => 4,
        (Some(Word::Min), false) => 5,
        (Some(Word::Max), false) => 6,
        (Some(Word::Min), true) => 7,
        (Some(Word::Max), true) => 8,
        _ => 0,
    }
}

/// Adds one to an unsigned word. If nobody reads the result, ptxas makes this an
/// ATOMS.POPC.INC for sm_80 and later, which counts the lanes of a word first (seen
/// with 12.9 and 13.5; of signed words it makes an ATOMS.ADD).
fn adds_one(i: &Instruction) -> bool {
    let one = Operand::Immediate(Immediate::Integer(1));
    i.has(Word::Add) && i.ty(0) == Some(Type::U32) && i.operands.last() == Some(&one)
}

impl Role {
    /// Whether it adds one to a word of memory and nobody reads the result.
    pub fn is_increment(self) -> bool {
        matches!(
            self,
            Role::Memory {
                operation: INCREMENT,
                ..
            }
        )
    }
}

/// The lanes that give an address: of a matrix of eight rows eight.
fn lanes(i: &Instruction) -> u32 {
    let data = match i.opcode {
        Opcode::Ldmatrix => i.operands.first(),
        Opcode::Stmatrix => i.operands.get(1),
        _ => return u32::MAX,
    };
    match data {
        Some(Operand::Vector(items)) if items.len() >= 4 => u32::MAX,
        Some(Operand::Vector(items)) => (1 << (8 * items.len())) - 1,
        _ => 0xff,
    }
}
