//! A launch of a launch file: entry, grid, block, and arguments.

use spadkit_base::cuda::{MAX_BLOCK, MAX_GRID, MAX_THREADS};
use spadkit_base::error::Result;
use spadkit_base::input::section::{Placed, Section, Source};
use spadkit_ptx::{Function, Module};

/// The largest cluster, which is not portable: 8 blocks are.
const MAX_CLUSTER: u32 = 16;
/// The largest scratchpad of a block on any GPU so far, in bytes (sm_90).
pub(super) const MAX_SHARED: u64 = 227 * 1024;

/// A launch of one entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The entry; `None` where the PTX has a single one.
    pub entry: Option<Placed<String>>,
    /// Thread blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Blocks of a cluster, where the PTX does not say it.
    pub cluster: Option<[u32; 3]>,
    /// Whether all blocks run together and may wait for each other.
    pub cooperative: bool,
    /// The arguments, in the entry's order; `None`: the first of
    /// [`LaunchFile::args`](super::LaunchFile::args).
    pub args: Option<Vec<Passed>>,
    /// Offset of the launch in the file.
    pub offset: usize,
}

/// An argument of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Passed {
    /// Index into [`LaunchFile::args`](super::LaunchFile::args).
    pub arg: usize,
    /// The value that this launch passes instead of the argument's own.
    pub instead: Option<Instead>,
}

/// The value of a stepped argument in a round.
#[derive(Clone, Debug, PartialEq)]
pub enum Instead {
    /// Value of a scalar that replaces the file's: its bytes.
    Value(Vec<u8>),
    /// The address this many bytes past the start of the buffer of the argument
    /// with that index.
    Address(usize, u64),
}

impl From<usize> for Passed {
    fn from(arg: usize) -> Self {
        Passed { arg, instead: None }
    }
}

/// Entry, grid, block and dynamic shared memory, which the file and its `then`
/// tables have in the same form.
pub(super) fn parse_launch(section: &Section, source: &Source) -> Result<Launch> {
    let grid = section.dimensions("grid", MAX_GRID)?;
    let block = section.dimensions("block", MAX_BLOCK)?;
    let threads: u32 = block.value.iter().product();
    if threads > MAX_THREADS {
        return Err(source.error(
            format!("'block' has {threads} threads"),
            format!("expected at most {MAX_THREADS} in all"),
            block.offset,
        ));
    }
    let dynamic = section.integer("dynamic_shared", 0, MAX_SHARED)?;
    Ok(Launch {
        entry: section.string("entry", "\"NAME\", an entry of the PTX")?,
        grid: grid.value,
        block: block.value,
        dynamic_shared: dynamic.unwrap_or(0) as u32,
        cluster: parse_cluster(section, source, grid.value)?,
        cooperative: section.boolean("cooperative")?.unwrap_or(false),
        args: None,
        offset: section.offset(),
    })
}

impl Launch {
    /// What its blocks do together, in a clause, with the entry of that name.
    pub fn together(&self, module: &Module, entry: &str) -> Option<String> {
        if self.cooperative {
            return Some("the launch is cooperative, and all of them wait for each other".into());
        }
        let is_it = |f: &Function| f.is_entry && f.defined && f.name == entry;
        let entry = module.functions.iter().position(is_it)?;
        module.together(entry as u32, Some(self.cluster.unwrap_or([1; 3])))
    }
}

/// The blocks of a cluster, of which the grid has to have whole ones.
fn parse_cluster(section: &Section, source: &Source, grid: [u32; 3]) -> Result<Option<[u32; 3]>> {
    if !section.has("cluster") {
        return Ok(None);
    }
    let size = section.dimensions("cluster", [MAX_CLUSTER; 3])?;
    let blocks: u32 = size.value.iter().product();
    if blocks > MAX_CLUSTER {
        return Err(source.error(
            format!("'cluster' has {blocks} blocks"),
            format!("expected at most {MAX_CLUSTER} in all"),
            size.offset,
        ));
    }
    if grid
        .iter()
        .zip(size.value)
        .any(|(blocks, size)| blocks % size != 0)
    {
        return Err(source.error(
            "'grid' is not a multiple of 'cluster'",
            "expected whole clusters in each dimension",
            size.offset,
        ));
    }
    Ok(Some(size.value))
}
