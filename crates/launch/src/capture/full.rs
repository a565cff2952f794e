//! The full trace of all blocks, streamed.

use super::asynchronous;
use super::barriers::Barriers;
use super::code::{Code, Role, Row};
use super::copies::{Copies, CopyControl};
use super::products::Products;
use super::select::Selected;
use crate::launch::LaunchFile;
use spadkit_base::error::{Error, Result};
use spadkit_mapping::trace::{Op, Places};
use spadkit_ptx::Module;
use spadkit_ptx::exec::{
    Access, BarrierEvent, BarrierOp, BlockSink, CopyEvent, Event, Launch, Meeting, PeerEvent, Sink,
};
use spadkit_ptx::names::Space;
use spadkit_ptx::shared::is_shared;
use spadkit_ptx::tensor::Work;
use spadkit_sm::sm::{
    AGGREGATED, Addresses, Detail, Incoming, Instr, InstrKind, KernelInfo, MAX_SOURCES, Sources,
    TraceSummary, TraceWriter,
};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;

/// Local memory in the address space of global memory, beyond all buffers.
const LOCAL: u64 = 1 << 60;
/// Widest access of a full trace.
const MAX_BYTES: u32 = 16;

/// A summary of the record.
#[derive(Clone, Debug)]
pub struct Captured {
    /// The kernel.
    pub info: KernelInfo,
    /// The file.
    pub summary: TraceSummary,
    /// Registers that share their number with one that is live at the same
    /// time, because more than 255 are: they may wait for each other.
    pub crowded: u32,
    /// Place of each instruction.
    pub places: Places,
}

/// Writes the programs of all warps while a launch runs.
pub(super) struct FullRecorder<'a> {
    code: &'a Code,
    grid: [u32; 3],
    threads: u32,
    info: KernelInfo,
    output: Mutex<Output>,
}

impl<'a> FullRecorder<'a> {
    /// Starts the record of a launch of the module, which has this index in its file,
    /// in the file `to`.
    pub fn new(
        code: &'a Code,
        (launch, module): (&Launch, &Module),
        file: &LaunchFile,
        (selected, index): (&Selected, usize),
        to: &Path,
    ) -> Result<Self> {
        let blocks: u64 = launch.grid.iter().map(|&n| u64::from(n)).product();
        let written = file.launches().nth(index);
        let info = KernelInfo {
            name: launch.entry.clone(),
            source: super::source(&selected.file, index, file),
            block_dim: launch.block,
            blocks: u32::try_from(blocks).map_err(|_| {
                Error::usage(
                    format!("a grid of {blocks} blocks is too large for a full trace"),
                    "expected at most 4294967295",
                )
            })?,
            shared_bytes: code.static_shared + launch.dynamic_shared,
            warp_size: 32,
            registers: file.registers.unwrap_or(0),
            target: module.gpu().map(str::to_owned),
            together: written.and_then(|w| w.together(module, &launch.entry)),
        };
        Ok(FullRecorder {
            code,
            grid: launch.grid,
            threads: launch.block.iter().product(),
            output: Mutex::new(Output {
                writer: TraceWriter::create(to, &info)?,
                failed: None,
            }),
            info,
        })
    }

    /// Ends the file.
    pub fn finish(self) -> Result<Captured> {
        let output = self.output.into_inner();
        let output = output.unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(error) = output.failed {
            return Err(error);
        }
        Ok(Captured {
            summary: output.writer.finish()?,
            crowded: self.code.crowded,
            places: (0..).zip(self.code.rows.iter().map(Row::place)).collect(),
            info: self.info,
        })
    }
}

struct Output {
    writer: TraceWriter,
    /// The first error in writing; nothing is written afterwards.
    failed: Option<Error>,
}

impl FullRecorder<'_> {
    fn write(&self, write: impl FnOnce(&mut TraceWriter) -> Result<()>) {
        let mut output = match self.output.lock() {
            Ok(output) => output,
            Err(poisoned) => poisoned.into_inner(),
        };
        if output.failed.is_none()
            && let Err(error) = write(&mut output.writer)
        {
            output.failed = Some(error);
        }
    }
}

impl Sink for FullRecorder<'_> {
    fn block(&self, [x, y, z]: [u32; 3]) -> Option<Box<dyn BlockSink + '_>> {
        let [gx, gy, _] = self.grid;
        Some(Box::new(OneBlock {
            recorder: self,
            block: x + gx * (y + gy * z),
            barriers: Barriers::new(self.threads),
            copies: Vec::new(),
            products: HashMap::new(),
            incoming: Vec::new(),
        }))
    }
}

struct OneBlock<'a> {
    recorder: &'a FullRecorder<'a>,
    block: u32,
    barriers: Barriers,
    /// Copies by warp, for warps that have made one.
    copies: Vec<Copies>,
    /// Products by warp.
    products: HashMap<u32, Products>,
    /// What other blocks of the cluster have done to the block's `mbarrier`s.
    incoming: Vec<Incoming>,
}

impl BlockSink for OneBlock<'_> {
    fn instruction(&mut self, event: &Event) {
        let row = &self.recorder.code.rows[event.pc as usize];
        if row.releases_before {
            self.release(event, event.active);
        }
        match row.role {
            // It is written when the number is known, or when the barrier lets go.
            Role::Barrier if event.exec != 0 => {}
            Role::Copies(control) => self.control_copies(row, event, control),
            // It is written when it has been executed.
            Role::Asynchronous if event.exec != 0 => {}
            _ => self.execute(row, event),
        }
        if row.releases_after {
            let leave = matches!(row.role, Role::Branch | Role::End);
            let on = event.active & !if leave { event.exec } else { 0 };
            self.release(event, on);
        }
    }

    fn mbarrier(&mut self, event: &BarrierEvent) {
        let row = &self.recorder.code.rows[event.pc as usize];
        let copies = match event.op {
            BarrierOp::CopiesArrive | BarrierOp::CopiesJoin => {
                Some(self.copies_of(event.warp).youngest())
            }
            _ => None,
        };
        for instr in asynchronous::barrier(row, event, copies) {
            self.push(event.warp, &instr);
        }
    }

    fn bulk_copy(&mut self, event: &CopyEvent) {
        let row = &self.recorder.code.rows[event.pc as usize];
        self.push(event.warp, &asynchronous::copy(row, event));
    }

    fn changed_by_peer(&mut self, event: &PeerEvent) {
        self.incoming.push(asynchronous::incoming(event));
    }

    fn barrier_reached(&mut self, meeting: &Meeting) {
        if meeting.waits {
            return self.barriers.arrive(meeting);
        }
        // The arrival at a barrier of all threads is a part of none that is modelled, and
        // that at the cluster's does not wait.
        let row = &self.recorder.code.rows[meeting.pc as usize];
        let mut instr = row.instr(meeting.pc, InstrKind::Alu, meeting.lanes);
        if let Some(of_threads) = named(meeting) {
            (instr.kind, instr.detail) = (InstrKind::Bar, of_threads);
        }
        self.push(meeting.warp, &instr);
    }

    /// Writes one instruction for each warp that was there.
    fn barrier_passed(&mut self, barrier: u32) {
        let passed = self.barriers.pass(barrier);
        for arrival in passed.arrivals {
            let row = &self.recorder.code.rows[arrival.pc as usize];
            let mut instr = row.instr(arrival.pc, InstrKind::Bar, arrival.lanes);
            // That of the cluster is taken for one of the whole block.
            let whole = Detail::Barrier(spadkit_sm::sm::Meeting {
                cluster: arrival.cluster,
                ..spadkit_sm::sm::Meeting::of_block((barrier % 16) as u8)
            });
            let of_threads = named(&arrival).filter(|_| !passed.whole);
            instr.detail = of_threads.unwrap_or(whole);
            self.push(arrival.warp, &instr);
        }
    }

    fn finish(self: Box<Self>) {
        for warp in 0..self.recorder.threads.div_ceil(32) {
            self.recorder.write(|w| w.end_warp(self.block, warp));
        }
        let recorder = self.recorder;
        recorder.write(|w| w.incoming(self.block, &self.incoming));
    }
}

impl OneBlock<'_> {
    /// Writes what does all that it does at once.
    fn execute(&mut self, row: &Row, event: &Event) {
        if let Some(load) = self.copied(row, event) {
            self.push(event.warp, &load);
        }
        if let Some(remote) = &event.remote {
            let remote = row.instr(event.pc, InstrKind::Remote, remote.lanes);
            self.push(event.warp, &remote);
            if event.access.is_none() {
                return;
            }
        }
        let mut instr = instr(row, event, self.recorder.info.shared_bytes);
        self.follow_products(row.role, event.warp, &mut instr);
        if instr.kind == InstrKind::Exit {
            self.barriers.exit(event.warp, event.exec);
        }
        self.push(event.warp, &instr);
    }

    fn push(&self, warp: u32, instr: &Instr) {
        self.recorder.write(|w| w.push(self.block, warp, instr));
    }

    /// The load of an asynchronous copy, whose store into shared memory
    /// follows without waiting for it.
    fn copied(&mut self, row: &Row, event: &Event) -> Option<Instr> {
        let from = event.copied.filter(|from| from.lanes != 0)?;
        let free = self.recorder.code.free.clone();
        let mut load = row.instr(event.pc, InstrKind::LdGlobal, from.lanes);
        load.dst = self.copies_of(event.warp).issue(free);
        load.bytes = from.bytes as u8;
        if row.past_l1 {
            load.detail = Detail::PastL1 { writes: false };
        }
        load.addrs = Addresses::from_lanes(from.lanes.into(), |lane| address(&from, lane), 32);
        Some(load)
    }

    /// Lets an instruction that waits for copies read the registers that stand for
    /// them.
    fn control_copies(&mut self, row: &Row, event: &Event, control: CopyControl) {
        let mut numbers = match event.exec {
            0 => Vec::new(),
            _ => self.copies_of(event.warp).control(control),
        };
        numbers.truncate(MAX_SOURCES);
        let mut instr = row.instr(event.pc, InstrKind::Alu, event.exec);
        if let Some(sources) = Sources::new(&numbers).filter(|_| !numbers.is_empty()) {
            (instr.kind, instr.srcs) = (InstrKind::CopyWait, sources);
        }
        self.push(event.warp, &instr);
    }

    /// The wait for products of warpgroups reads the accumulator of the last.
    fn follow_products(&mut self, role: Role, warp: u32, instr: &mut Instr) {
        let follows = matches!(role, Role::ProductCommit | Role::ProductWait);
        if !follows && !instr.is_of_group() || instr.mask == 0 {
            return;
        }
        let products = self.products.entry(warp).or_default();
        match role {
            Role::ProductCommit => products.commit(),
            Role::ProductWait => {
                let last = products.wait();
                instr.srcs = Sources::new(last.as_slice()).unwrap_or_default();
            }
            _ => products.begin(instr.dst),
        }
    }

    fn copies_of(&mut self, warp: u32) -> &mut Copies {
        let at = warp as usize;
        if self.copies.len() <= at {
            self.copies.resize_with(at + 1, Copies::default);
        }
        &mut self.copies[at]
    }

    fn release(&self, event: &Event, lanes: u32) {
        if lanes != 0 {
            let release = Instr::new(InstrKind::RelSsp, event.pc, lanes.into());
            self.push(event.warp, &release);
        }
    }
}

/// The instruction that does on the SM path what the event reports.
fn instr(row: &Row, event: &Event, shared_bytes: u32) -> Instr {
    let (kind, mask) = match row.role {
        Role::Plain(InstrKind::Texture) if event.exec == 0 => (InstrKind::Alu, 0),
        Role::Plain(kind) => (kind, event.exec),
        Role::Branch => (InstrKind::Branch, event.active),
        Role::End if event.exec == 0 => (InstrKind::Branch, event.active),
        Role::End => (InstrKind::Exit, event.exec),
        Role::Barrier
        | Role::Copies(_)
        | Role::Asynchronous
        | Role::ProductCommit
        | Role::ProductWait => (InstrKind::Alu, event.exec),
        Role::BulkGroup(..) if event.exec == 0 => (InstrKind::Alu, 0),
        Role::BulkGroup(op, number) => {
            let mut instr = row.instr(event.pc, InstrKind::BulkGroup, event.exec);
            instr.detail = Detail::BulkGroup(op, number);
            return instr;
        }
        Role::Memory { op, operation } => {
            return memory(row, event, (op, operation), shared_bytes);
        }
        // The factors of `wgmma` are read, then multiplied. The tensor unit
        // reads them: no register is written.
        Role::Product(_) if event.access.is_some() => {
            let mut load = memory(row, event, (Op::Load, 0), shared_bytes);
            load.dst = None;
            return load;
        }
        Role::Product(work) => return product(row, event, work),
    };
    row.instr(event.pc, kind, mask)
}

/// A barrier that is for a number of threads.
fn named(meeting: &Meeting) -> Option<Detail> {
    let threads = u16::try_from(meeting.threads?).ok()?;
    Some(Detail::Barrier(spadkit_sm::sm::Meeting {
        threads,
        number: (meeting.number % 16) as u8,
        arrives: !meeting.waits,
        cluster: false,
    }))
}

/// A product of matrices, unless no lane of the warp takes part.
fn product(row: &Row, event: &Event, work: Work) -> Instr {
    if event.exec == 0 {
        return row.instr(event.pc, InstrKind::Alu, 0);
    }
    let mut instr = row.instr(event.pc, InstrKind::Mma, event.exec);
    instr.detail = work.into();
    instr
}

fn memory(row: &Row, event: &Event, (op, operation): (Op, u8), shared_bytes: u32) -> Instr {
    let Some(access) = event.access.filter(|_| event.exec & row.lanes != 0) else {
        // It goes nowhere.
        return row.instr(event.pc, InstrKind::Alu, event.exec);
    };
    let (kind, mask) = match (access.space, op) {
        (space, _) if is_shared(space) => {
            let end = u64::from(shared_bytes);
            // Lanes of a generic access may be elsewhere.
            let inside =
                |lane: &u32| access.addresses[*lane as usize] + u64::from(access.bytes) <= end;
            let lanes = (0..32).filter(inside).fold(0, |m, lane| m | 1 << lane);
            let kind = match op {
                Op::Load => InstrKind::LdShared,
                Op::Store => InstrKind::StShared,
                Op::Atomic => InstrKind::AtomShared,
            };
            (kind, event.exec & row.lanes & lanes)
        }
        // Parameters and constants come from a cache of their own.
        (Space::Param | Space::ParamEntry | Space::ParamFunc | Space::Const, _) => {
            return row.instr(event.pc, InstrKind::Mov, event.exec);
        }
        (_, Op::Load) => (InstrKind::LdGlobal, event.exec),
        (_, Op::Store) => (InstrKind::StGlobal, event.exec),
        // A reduction is sent off, an atomic brings a value back.
        (_, Op::Atomic) if row.dst.is_none() => (InstrKind::StGlobal, event.exec),
        (_, Op::Atomic) => (InstrKind::LdGlobal, event.exec),
    };
    if mask == 0 {
        return row.instr(event.pc, InstrKind::Alu, event.exec);
    }
    let mut instr = row.instr(event.pc, kind, mask);
    let least = if kind.is_word_only() { 4 } else { 1 };
    instr.bytes = access.bytes.clamp(least, MAX_BYTES) as u8;
    if kind == InstrKind::AtomShared {
        let one_lane = row.aggregated.holds(event.exec);
        instr.detail = Detail::Atomic(if one_lane { AGGREGATED } else { operation });
    }
    if kind == InstrKind::LdGlobal && access.space == Space::Global {
        let writes = op == Op::Atomic;
        if writes || row.past_l1 {
            instr.detail = Detail::PastL1 { writes };
        }
    }
    instr.addrs = Addresses::from_lanes(mask.into(), |lane| address(&access, lane), 32);
    instr
}

/// The address of a lane. The words of local memory lie lane beside lane, so
/// that a warp that accesses one variable accesses neighbours.
fn address(access: &Access, lane: usize) -> u64 {
    let address = access.addresses[lane];
    match access.space {
        Space::Local => LOCAL + (address / 4 * 32 + lane as u64) * 4 + address % 4,
        _ => address,
    }
}
