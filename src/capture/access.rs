//! The access trace of one block.

use super::barriers::{Arrival, Barriers};
use super::code::{Code, Role};
use crate::error::{Error, Result};
use crate::launch::{LaunchFile, Prepared};
use crate::ptx::exec::{BlockSink, CopyEvent, Event, Options, Piece, SharedPart, Sink};
use crate::ptx::shared::is_shared;
use crate::trace::{
    Access, AccessTrace, Op, SharedVariable, TENSOR_COPIES_FIELD, TensorCopy, VARIABLES_FIELD,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;

/// Limit of accesses in the trace of one block.
const MOST: usize = 1 << 21;

/// Runs one block of a launch of a launch file, `block` or what the file says
/// for its first launch (the linear index), and records its accesses to shared
/// memory. `launch` is the file, with which launch ([`Selected`]); those
/// before it run first.
///
/// [`Selected`]: super::Selected
pub fn access_trace(launch: &Path, block: Option<u64>) -> Result<AccessTrace> {
    access_trace_with(launch, block, false)
}

/// As [`access_trace`]; with `zeros_beyond`, reads outside buffers are not a
/// fault.
pub fn access_trace_with(
    launch: &Path,
    block: Option<u64>,
    zeros_beyond: bool,
) -> Result<AccessTrace> {
    let (mut file, selected) = super::opened(launch)?;
    file.zeros_beyond = zeros_beyond;
    let mut prepared = file.prepare()?;
    let index = selected.index(prepared.launches())?;
    launch_trace(&mut prepared, &file, index, block)
}

/// The same of the launch `index` of a file that is prepared, with its PTX or
/// with another.
pub fn launch_trace(
    prepared: &mut Prepared,
    file: &LaunchFile,
    index: usize,
    block: Option<u64>,
) -> Result<AccessTrace> {
    let selected = super::Selected {
        file: file.source.path.clone(),
        which: None,
    };
    let first = prepared.launches()[index].clone();
    let block = block.unwrap_or(if index == 0 { file.trace_block } else { 0 });
    require_block(block, first.grid)?;
    let code = Code::new(prepared.program(), &first.entry)?;
    let shared_bytes = code.static_shared + first.dynamic_shared;
    let recorder = Recorder {
        code: &code,
        threads: first.block.iter().product(),
        shared_bytes,
        recorded: Mutex::new(None),
    };
    let options = Options {
        threads: 1,
        sink: Some(&recorder),
        only_block: Some(block),
        ..Options::default()
    };
    let outcome = prepared.run_one(index, &options)?;
    super::refuse_faults(&outcome, &selected.file)?;
    let recorded = recorder.recorded.into_inner().ok().flatten();
    let recorded = recorded.unwrap_or_default();
    if recorded.too_many {
        return Err(too_many(block, &first.entry));
    }
    let variables = prepared.program().shared_variables(&first.entry)?;
    let mut extra = fields(
        (first.grid, block),
        &named(variables, shared_bytes, &file.shared),
        &recorded.tensor_copies,
    );
    if !file.then.is_empty() {
        extra.insert("launch".to_owned(), json!(index));
    }
    let (barriers, accesses) = recorded.in_order(&code);
    let trace = AccessTrace {
        name: first.entry,
        source: format!("{}, block {block}", super::source(&selected, index, file)),
        block_dim: first.block,
        shared_bytes,
        warp_size: 32,
        barriers,
        accesses,
        extra,
    };
    trace.check()?;
    Ok(trace)
}

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

/// What the trace of a block has beside the fields of every trace.
fn fields(
    (grid, block): ([u32; 3], u64),
    variables: &[SharedVariable],
    tensor_copies: &BTreeSet<TensorCopy>,
) -> Map<String, Value> {
    let mut extra = Map::new();
    extra.insert("grid".to_owned(), json!(grid));
    if !variables.is_empty() {
        extra.insert(VARIABLES_FIELD.to_owned(), json!(variables));
    }
    if !tensor_copies.is_empty() {
        extra.insert(TENSOR_COPIES_FIELD.to_owned(), json!(tensor_copies));
    }
    let [x, y, _] = grid.map(u64::from);
    let at = [block % x, block / x % y, block / (x * y)];
    extra.insert("block".to_owned(), json!(at));
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
    };
    let mut named: Vec<SharedVariable> = fixed.into_iter().map(variable).collect();
    let names: Vec<&str> = dynamic.iter().map(|v| v.0.as_str()).collect();
    if let Some(&(_, offset, _)) = dynamic.first()
        && offset < shared_bytes
    {
        let inside = parts
            .iter()
            .filter(|part| offset + part.end() <= shared_bytes);
        let part = |part: &SharedPart| (part.name.clone(), offset + part.offset, part.bytes);
        named.extend(inside.map(part).map(variable));
        if parts.is_empty() {
            named.push(variable((names.join(", "), offset, shared_bytes - offset)));
        }
    }
    named
}

struct Recorder<'a> {
    code: &'a Code,
    threads: u32,
    shared_bytes: u32,
    recorded: Mutex<Option<Recorded>>,
}

/// The accesses of a block in the order of their execution.
#[derive(Default)]
struct Recorded {
    accesses: Vec<RawAccess>,
    /// Barriers of the block so far.
    intervals: u32,
    touched: Vec<bool>,
    too_many: bool,
    /// Shared memory that tensor copies go through.
    tensor_copies: BTreeSet<TensorCopy>,
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
}

impl Sink for Recorder<'_> {
    fn block(&self, _block: [u32; 3]) -> Option<Box<dyn BlockSink + '_>> {
        Some(Box::new(OneBlock {
            recorder: self,
            barriers: Barriers::new(self.threads),
            recorded: Recorded {
                touched: vec![false; self.code.rows.len()],
                ..Recorded::default()
            },
        }))
    }
}

struct OneBlock<'a> {
    recorder: &'a Recorder<'a>,
    barriers: Barriers,
    recorded: Recorded,
}

impl BlockSink for OneBlock<'_> {
    fn instruction(&mut self, event: &Event) {
        let row = &self.recorder.code.rows[event.pc as usize];
        match row.role {
            Role::Memory { op, .. } => self.access(event, op, row.lanes),
            // What the factors of `wgmma` are read by.
            Role::Product(_) => self.access(event, Op::Load, row.lanes),
            Role::End => self.barriers.exit(event.warp, event.exec),
            Role::Barrier { number, waits } if waits && event.exec != 0 => {
                self.barriers.arrive(Arrival {
                    warp: event.warp,
                    pc: event.pc,
                    lanes: event.exec,
                    number,
                });
            }
            _ => {}
        }
    }

    fn bulk_copy(&mut self, event: &CopyEvent) {
        let row = &self.recorder.code.rows[event.pc as usize];
        let Some(tensor) = event.tensor else {
            return;
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

    fn barrier_passed(&mut self, barrier: u32) {
        self.recorded.intervals += u32::from(self.barriers.pass(barrier).whole);
    }

    fn finish(self: Box<Self>) {
        if let Ok(mut place) = self.recorder.recorded.lock() {
            *place = Some(self.recorded);
        }
    }
}

impl OneBlock<'_> {
    fn access(&mut self, event: &Event, op: Op, lanes: u32) {
        let Some(access) = event.access.filter(|a| is_shared(a.space)) else {
            return;
        };
        let end = u64::from(self.recorder.shared_bytes);
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
        recorded.accesses.push(RawAccess {
            interval: recorded.intervals,
            warp: event.warp,
            pc: event.pc,
            op,
            bytes: access.bytes,
            aggregated: (self.recorder.code.rows[event.pc as usize].aggregated).holds(event.exec),
            addrs,
        });
    }
}

impl Recorded {
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
            Access {
                warp: raw.warp,
                pc: sites[raw.pc as usize],
                op: raw.op,
                addrs: raw.addrs,
                bytes: raw.bytes,
                increment: row.role.is_increment(),
                aggregated: raw.aggregated,
                extra: row.place().fields(),
            }
        };
        (barriers, self.accesses.into_iter().map(access).collect())
    }
}
