//! The decisions of `share` about a kernel: residency, layout, placement.

use super::annotate::{Annotated, Marker, annotate};
use super::entry::AnalysedEntry;
use super::layout::{BUDGET, Layout};
use super::placement::{Placement, ProgramPoint, release_points};
use serde::Serialize;
use spadkit_base::error::{Error, Result};
use spadkit_ptx::marker::LayoutMarker;
use spadkit_sm::config::Config;
use spadkit_sm::sm::{BlockNeeds, Residency};

/// The layout of the variables.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, strum::EnumString, strum::VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum LayoutKind {
    /// Layout with the smallest access range of the shared variables.
    #[default]
    Optimal,
    /// Layout as the variables are declared.
    Declared,
}

/// The launch, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// Threads of a block.
    pub threads: u64,
    /// Registers of a thread, where they are known.
    pub registers: Option<u32>,
}

/// A kernel with its layout and the points of `relssp`.
#[derive(Clone, Debug)]
pub struct Plan<'k> {
    /// The kernel.
    pub kernel: &'k AnalysedEntry<'k>,
    /// The launch.
    pub needs: Needs,
    /// t: the part of a block's scratchpad that stays its own.
    pub sharing: f64,
    /// Blocks on the machine.
    pub residency: Residency,
    /// Bits that sharing adds to an SM of the machine.
    pub storage_bits: u64,
    /// The offsets of the variables.
    pub layout: Layout,
    /// The program points of the releases.
    pub points: Vec<ProgramPoint>,
    /// Method by which the releases were placed.
    pub placement: Placement,
}

/// The numbers of a plan.
#[derive(Clone, Debug, Serialize)]
pub struct Planned<'a> {
    entry: &'a str,
    threads: u64,
    scratchpad_bytes: u32,
    registers: Option<u32>,
    blocks: Blocks,
    storage_bits: u64,
    boundary_bytes: u32,
    variables: Vec<PlannedVariable<'a>>,
    /// Static instructions in the access range of the shared variables.
    access_range: u64,
    /// No other layout has a smaller range.
    optimal: bool,
    /// Lines of accesses that may be to any variable.
    unattributed: Vec<u32>,
    relssp: &'a [Marker],
    /// Program points on a single edge of a branch.
    edges_split: usize,
    /// The block size that this holds for, which the annotated PTX requires.
    #[serde(skip_serializing_if = "Option::is_none")]
    required_block: Option<[u32; 3]>,
}

/// Resident blocks.
#[derive(Clone, Debug, Serialize)]
struct Blocks {
    /// Blocks without sharing.
    unshared: u32,
    /// Blocks with sharing.
    shared: u32,
    pairs: u32,
    alone: u32,
}

/// A variable where it is laid out.
#[derive(Clone, Debug, Serialize)]
struct PlannedVariable<'a> {
    name: &'a str,
    bytes: u32,
    offset: u32,
    shared: bool,
    accesses: u32,
}

impl<'k> Plan<'k> {
    /// Decides for `kernel` on `machine` with the threshold `sharing`.
    pub fn new(
        kernel: &'k AnalysedEntry<'k>,
        machine: &Config,
        needs: Needs,
        sharing: f64,
        choice: (LayoutKind, Placement),
    ) -> Result<Self> {
        if !(0.0..=1.0).contains(&sharing) {
            return Err(Error::usage(
                format!("sharing threshold {sharing} is out of range"),
                "expected t, the private fraction of a block's scratchpad, from 0 to 1",
            ));
        }
        let block = BlockNeeds {
            name: &kernel.function().name,
            scratchpad_bytes: kernel.bytes,
            threads: needs.threads,
            registers: needs.registers.unwrap_or(0),
        };
        let residency = Residency::new(machine, &block, Some(sharing))?;
        let boundary = if residency.private_words == residency.words {
            kernel.bytes
        } else {
            residency.private_words * machine.word_bytes()
        };
        let layout = layout(kernel, boundary, choice.0);
        Ok(Plan {
            points: release_points(choice.1, &kernel.graph, &kernel.ranges, layout.shared),
            storage_bits: storage_bits(machine),
            placement: choice.1,
            kernel,
            needs,
            sharing,
            residency,
            layout,
        })
    }

    /// The PTX with the markers of layout and releases.
    pub fn annotate(&self) -> Result<Annotated> {
        let variables = self.kernel.variables.iter().zip(&self.layout.offsets);
        let moved = variables.filter(|(v, _)| self.kernel.fixed.is_none() && !v.dynamic);
        let marker = LayoutMarker {
            boundary: self.layout.boundary,
            offsets: moved.map(|(v, at)| (v.name.clone(), *at)).collect(),
        };
        let kernel = self.kernel;
        annotate(
            kernel.module,
            kernel.entry,
            &kernel.graph,
            &self.points,
            (Some(&marker), kernel.block),
        )
    }

    /// Program points on a single edge of a branch.
    pub fn edges_split(&self) -> usize {
        let on = |p: &&ProgramPoint| matches!(p, ProgramPoint::On(_));
        self.points.iter().filter(on).count()
    }

    /// The plan's numbers, with the releases in the PTX that is `annotated` with
    /// them.
    pub fn numbers<'a>(&'a self, annotated: &'a Annotated) -> Planned<'a> {
        let kernel = self.kernel;
        let variables = kernel.variables.iter().enumerate();
        Planned {
            entry: &kernel.function().name,
            threads: self.needs.threads,
            scratchpad_bytes: kernel.bytes,
            registers: self.needs.registers,
            blocks: Blocks {
                unshared: self.residency.unshared,
                shared: self.residency.blocks(),
                pairs: self.residency.pairs,
                alone: self.residency.alone,
            },
            storage_bits: self.storage_bits,
            boundary_bytes: self.layout.boundary,
            variables: variables
                .map(|(i, v)| PlannedVariable {
                    name: &v.name,
                    bytes: v.bytes,
                    offset: self.layout.offsets[i],
                    shared: self.layout.is_shared(i),
                    accesses: kernel.accesses[i],
                })
                .collect(),
            access_range: self.layout.cost,
            optimal: self.layout.optimal,
            unattributed: kernel.unattributed.iter().map(|u| u.line).collect(),
            relssp: &annotated.markers,
            edges_split: self.edges_split(),
            required_block: kernel.block,
        }
    }
}

/// The layout of a kind; variables that have to stay where they are stay.
fn layout(kernel: &AnalysedEntry, boundary: u32, kind: LayoutKind) -> Layout {
    let costs = kernel.costs();
    let declared = Layout::declared(&kernel.variables, boundary, &costs);
    if kernel.fixed.is_some() {
        // There is no choice.
        return Layout {
            optimal: true,
            ..declared
        };
    }
    let chosen = Layout::choose(&kernel.variables, boundary, &costs, BUDGET);
    match kind {
        LayoutKind::Optimal => chosen,
        LayoutKind::Declared => Layout {
            optimal: chosen.optimal && chosen.cost == declared.cost,
            ..declared
        },
    }
}

/// The sharing paper's storage of an SM (section 7.1): ShSM, ShTB with
/// ceil(log2(T + 1)) bits for each of T blocks, the owner bits of W warps, and
/// a lock variable of ceil(log2 T) bits for each pair.
pub fn storage_bits(machine: &Config) -> u64 {
    let (blocks, warps) = (
        u64::from(machine.path.blocks),
        u64::from(machine.path.warps),
    );
    let log2 = |n: u64| u64::from(n.next_power_of_two().trailing_zeros());
    1 + blocks * log2(blocks + 1) + warps + blocks / 2 * log2(blocks)
}
