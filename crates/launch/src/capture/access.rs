//! The access trace of one block.

use super::barriers::Barriers;
use super::code::{Code, Role, Row};
use super::executed::Executions;
use crate::launch::{LaunchFile, Prepared};
use serde_json::{Map, Value, json};
use spadkit_base::error::{Error, Result};
use spadkit_mapping::trace::{
    Access, AccessTrace, BLOCK_FIELD, BULK_COPIES_FIELD, BY_DESCRIPTOR_FIELD, BulkCopy, GRID_FIELD,
    Op, REMOTE_FIELD, REMOTE_SITES_FIELD, ROW_BYTES_FIELD, RemoteSite, SharedVariable,
    TARGET_FIELD, TENSOR_COPIES_FIELD, TensorCopy, VARIABLES_FIELD,
};
use spadkit_ptx::exec::{
    Access as MemoryAccess, BlockSink, CopyEvent, Event, Launch, Meeting, Piece, SharedPart, Sink,
};
use spadkit_ptx::shared::is_shared;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// Limit of accesses in the trace of one block.
const MOST: usize = 1 << 21;

/// Refuses a block that a grid does not have.
fn require_block(block: u64, grid: [u32; 3]) -> Result<()> {
    let blocks: u64 = grid.map(u64::from).iter().product();
    if block < blocks {
        return Ok(());
    }
    Err(Error::usage(
        format!("there is no block {block} in a grid of {grid:?}"),
        format!("expected a linear index below {blocks}"),
    ))
}

/// The fields that the trace of a block has beside those of every trace.
fn fields(
    target: Option<&str>,
    (grid, block): ([u32; 3], [u32; 3]),
    variables: &[SharedVariable],
    recorded: &Recorded,
) -> Map<String, Value> {
    let mut extra = Map::new();
    if let Some(target) = target {
        extra.insert(TARGET_FIELD.to_owned(), json!(target));
    }
    extra.insert(GRID_FIELD.to_owned(), json!(grid));
    if !variables.is_empty() {
        extra.insert(VARIABLES_FIELD.to_owned(), json!(variables));
    }
    if !recorded.tensor_copies.is_empty() {
        let copies = &recorded.tensor_copies;
        extra.insert(TENSOR_COPIES_FIELD.to_owned(), json!(copies));
    }
    if !recorded.bulk_copies.is_empty() {
        let copies = BulkCopy::joined(recorded.bulk_copies.iter().cloned());
        extra.insert(BULK_COPIES_FIELD.to_owned(), json!(copies));
    }
    extra.insert(BLOCK_FIELD.to_owned(), json!(block));
    extra
}

fn too_many(block: u64, entry: &str) -> Error {
    Error::usage(
        format!("block {block} of {entry} accesses shared memory more than {MOST} times"),
        "record a full trace (spadkit trace LAUNCH.toml -o FILE.spt), or a smaller problem",
    )
}

/// The variables with their bytes. Dynamic ones all begin at one place and
/// end with shared memory: together they are one, or the parts that the launch
/// file names.
fn named(
    variables: Vec<(String, u32, u32)>,
    shared_bytes: u32,
    parts: &[SharedPart],
) -> Vec<SharedVariable> {
    let (fixed, dynamic): (Vec<_>, Vec<_>) = variables.into_iter().partition(|v| v.2 > 0);
    let variable = |(name, offset, bytes)| SharedVariable {
        name,
        offset,
        bytes,
        part: None,
    };
    let mut named: Vec<SharedVariable> = fixed.into_iter().map(variable).collect();
    let names: Vec<&str> = dynamic.iter().map(|v| v.0.as_str()).collect();
    if let Some(&(_, offset, _)) = dynamic.first()
        && offset < shared_bytes
    {
        let inside = parts
            .iter()
            .filter(|part| offset + part.end() <= shared_bytes);
        let part = |part: &SharedPart| SharedVariable {
            name: part.name.clone(),
            offset: offset + part.offset,
            bytes: part.bytes,
            part: Some(part.offset),
        };
        named.extend(inside.map(part));
        if parts.is_empty() {
            named.push(variable((names.join(", "), offset, shared_bytes - offset)));
        }
    }
    named
}

/// Records the accesses of one block while a launch runs.
pub(super) struct AccessRecorder<'a> {
    code: &'a Code,
    launch: &'a Launch,
    /// The linear index, and the coordinates.
    block: (u64, [u32; 3]),
    recorded: Mutex<Option<Recorded>>,
}

impl<'a> AccessRecorder<'a> {
    pub fn new(code: &'a Code, launch: &'a Launch, block: u64) -> Result<Self> {
        require_block(block, launch.grid)?;
        let [x, y, _] = launch.grid.map(u64::from);
        let at = [block % x, block / x % y, block / (x * y)];
        Ok(AccessRecorder {
            code,
            launch,
            block: (block, at.map(|i| i as u32)),
            recorded: Mutex::new(None),
        })
    }

    fn shared_bytes(&self) -> u32 {
        self.code.static_shared + self.launch.dynamic_shared
    }

    /// The trace, of the launch `index` of a file.
    pub fn finish(
        self,
        prepared: &Prepared,
        file: &LaunchFile,
        index: usize,
    ) -> Result<AccessTrace> {
        let shared_bytes = self.shared_bytes();
        let (launch, (block, at)) = (self.launch, self.block);
        let recorded = self.recorded.into_inner().ok().flatten();
        let mut recorded = recorded.unwrap_or_default();
        if recorded.too_many {
            return Err(too_many(block, &launch.entry));
        }
        let variables = prepared.program().shared_variables(&launch.entry)?;
        let mut extra = fields(
            prepared.program().module().gpu(),
            (launch.grid, at),
            &named(variables, shared_bytes, &file.shared),
            &recorded,
        );
        if recorded.remote > 0 {
            extra.insert(REMOTE_FIELD.to_owned(), json!(recorded.remote));
            let sites = recorded.remote_sites(self.code);
            extra.insert(REMOTE_SITES_FIELD.to_owned(), json!(sites));
        }
        if !file.then.is_empty() {
            extra.insert("launch".to_owned(), json!(index));
        }
        let executed = std::mem::take(&mut recorded.executions).finish();
        let (barriers, accesses) = recorded.in_order(self.code);
        let source = super::source(&file.source.path, index, file);
        let trace = AccessTrace {
            name: launch.entry.clone(),
            source: format!("{source}, block {block}"),
            block_dim: launch.block,
            shared_bytes,
            warp_size: 32,
            barriers,
            accesses,
            executed,
            extra,
        };
        trace.check()?;
        Ok(trace)
    }
}

/// The accesses of a block in the order of their execution.
#[derive(Default)]
struct Recorded {
    accesses: Vec<RawAccess>,
    /// Barriers of the block so far.
    intervals: u32,
    touched: Vec<bool>,
    executions: Executions,
    too_many: bool,
    /// Shared memory that tensor copies go through.
    tensor_copies: BTreeSet<TensorCopy>,
    /// Instructions of warps that access shared memory of other blocks.
    remote: u64,
    /// The bytes there that each instruction accesses, as the offsets of the first and behind
    /// the last.
    remote_bytes: BTreeMap<u32, (u64, u64)>,
    /// Shared memory that bulk copies without a tensor map go through.
    bulk_copies: BTreeSet<BulkCopy>,
}

struct RawAccess {
    /// Barriers before it.
    interval: u32,
    warp: u32,
    pc: u32,
    op: Op,
    bytes: u32,
    aggregated: bool,
    addrs: Vec<Option<u32>>,
    row_bytes: Option<u64>,
}

impl Sink for AccessRecorder<'_> {
    fn block(&self, block: [u32; 3]) -> Option<Box<dyn BlockSink + '_>> {
        let of_block = || {
            Box::new(OneBlock {
                recorder: self,
                barriers: Barriers::new(self.launch.block.iter().product()),
                recorded: Recorded {
                    touched: vec![false; self.code.rows.len()],
                    ..Recorded::default()
                },
            })
        };
        (block == self.block.1).then(|| of_block() as Box<dyn BlockSink>)
    }
}

struct OneBlock<'a> {
    recorder: &'a AccessRecorder<'a>,
    barriers: Barriers,
    recorded: Recorded,
}

impl BlockSink for OneBlock<'_> {
    fn instruction(&mut self, event: &Event) {
        let row = &self.recorder.code.rows[event.pc as usize];
        let lanes = (event.active, event.exec);
        let executions = &mut self.recorded.executions;
        executions.instruction(event.warp, (event.pc, row.line), lanes);
        match row.role {
            Role::Memory { op, .. } => self.access(event, op, row.lanes),
            // What the factors of `wgmma` are read by.
            Role::Product(_) => self.access(event, Op::Load, row.lanes),
            Role::End => self.barriers.exit(event.warp, event.exec),
            _ => {}
        }
        if let Some(there) = &event.remote {
            self.remote(event.pc, there);
        }
    }

    fn barrier_reached(&mut self, meeting: &Meeting) {
        if meeting.waits {
            self.barriers.arrive(meeting);
        }
    }

    fn bulk_copy(&mut self, event: &CopyEvent) {
        let row = &self.recorder.code.rows[event.pc as usize];
        self.recorded.remote += u64::from(event.others);
        let Some(tensor) = event.tensor else {
            return self.plain_copy(event);
        };
        let copy = |&(offset, bytes): &Piece| TensorCopy {
            ptx_line: row.line,
            ptx_file: row.file.clone(),
            stores: event.stores,
            offset: offset as u32,
            bytes: bytes as u32,
            swizzle: tensor.swizzle.span() as u32,
            row_bytes: tensor.row_bytes,
        };
        let copies = event.shared.iter().map(copy);
        self.recorded.tensor_copies.extend(copies);
    }

    fn sent(&mut self, pc: u32, there: &MemoryAccess) {
        self.remote(pc, there);
    }

    fn barrier_passed(&mut self, barrier: u32) {
        self.recorded.intervals += u32::from(self.barriers.pass(barrier).all);
    }

    fn finish(self: Box<Self>) {
        if let Ok(mut place) = self.recorder.recorded.lock() {
            *place = Some(self.recorded);
        }
    }
}

impl OneBlock<'_> {
    /// A copy without a tensor map. Another block of the cluster has its arrays where this one
    /// has them.
    fn plain_copy(&mut self, event: &CopyEvent) {
        let row = &self.recorder.code.rows[event.pc as usize];
        let own = event.shared.iter().map(|piece| (piece, event.reads_shared));
        let there = event.peer.iter().map(|piece| (piece, false));
        let copy = |(&(offset, bytes), stores): (&Piece, bool)| BulkCopy {
            ptx_line: row.line,
            ptx_file: row.file.clone(),
            stores,
            offset: offset as u32,
            bytes: bytes as u32,
        };
        self.recorded.bulk_copies.extend(own.chain(there).map(copy));
    }

    /// An access to the shared memory of other blocks, which have their arrays where this one
    /// has them.
    fn remote(&mut self, pc: u32, there: &MemoryAccess) {
        self.recorded.remote += 1;
        let end = u64::from(self.recorder.shared_bytes());
        let lanes = (0..32).filter(|lane| there.lanes >> lane & 1 == 1);
        let starts = lanes.map(|lane| there.addresses[lane]);
        for start in starts.filter(|start| *start < end) {
            let behind = start + u64::from(there.bytes);
            let known = self.recorded.remote_bytes.entry(pc);
            let (from, to) = known.or_insert((start, behind));
            (*from, *to) = ((*from).min(start), (*to).max(behind));
        }
    }

    fn access(&mut self, event: &Event, op: Op, lanes: u32) {
        let Some(access) = event.access.filter(|a| is_shared(a.space)) else {
            return;
        };
        let end = u64::from(self.recorder.shared_bytes());
        let addr = |lane: usize| {
            let byte = access.addresses[lane];
            // Lanes of a generic access may be elsewhere.
            let here =
                (event.exec & lanes) >> lane & 1 == 1 && byte + u64::from(access.bytes) <= end;
            here.then_some((byte / 4) as u32)
        };
        let addrs: Vec<Option<u32>> = (0..32).map(addr).collect();
        if addrs.iter().all(Option::is_none) {
            return;
        }
        let recorded = &mut self.recorded;
        recorded.touched[event.pc as usize] = true;
        if recorded.accesses.len() == MOST {
            recorded.too_many = true;
            return;
        }
        recorded.executions.access(event.warp);
        recorded.accesses.push(RawAccess {
            interval: recorded.intervals,
            warp: event.warp,
            pc: event.pc,
            op,
            bytes: access.bytes,
            aggregated: (self.recorder.code.rows[event.pc as usize].aggregated).holds(event.exec),
            addrs,
            row_bytes: access.row_bytes,
        });
    }
}

impl Recorded {
    /// The instructions that access shared memory of other blocks. Those of barriers access no
    /// array.
    fn remote_sites(&self, code: &Code) -> Vec<RemoteSite> {
        let rows = self
            .remote_bytes
            .iter()
            .map(|(pc, bytes)| (&code.rows[*pc as usize], bytes));
        let of_memory = rows.filter(|(row, _)| matches!(row.role, Role::Memory { .. }));
        let site = |(row, &(from, to)): (&Row, &(u64, u64))| RemoteSite {
            source: row.place().of_user().0.source,
            ptx_line: row.line,
            ptx_file: row.file.clone(),
            offset: from as u32,
            bytes: (to - from) as u32,
        };
        of_memory.map(site).collect()
    }

    /// Barriers and accesses of the trace: between two barriers warp by warp,
    /// which in turn is up to the machine.
    fn in_order(mut self, code: &Code) -> (Vec<u32>, Vec<Access>) {
        self.accesses.sort_by_key(|a| (a.interval, a.warp));
        let before = |interval: u32| {
            let at = self.accesses.partition_point(|a| a.interval <= interval);
            at as u32
        };
        let barriers = (0..self.intervals).map(before).collect();
        let sites = code.sites(&self.touched);
        let access = |raw: RawAccess| {
            let row = &code.rows[raw.pc as usize];
            let mut extra = row.place().fields();
            if let Some(bytes) = raw.row_bytes {
                extra.insert(ROW_BYTES_FIELD.to_owned(), json!(bytes));
            }
            if matches!(row.role, Role::Product(_)) {
                extra.insert(BY_DESCRIPTOR_FIELD.to_owned(), json!(true));
            }
            Access {
                warp: raw.warp,
                pc: sites[raw.pc as usize],
                op: raw.op,
                addrs: raw.addrs,
                bytes: raw.bytes,
                increment: row.role.is_increment(),
                aggregated: raw.aggregated,
                extra,
            }
        };
        (barriers, self.accesses.into_iter().map(access).collect())
    }
}
