//! The SM: warps, blocks and global memory around one scratchpad path, a
//! cycle at a time (microarchitecture/sm-model.md).

mod abroad;
mod attribution;
mod barriers;
mod blocks;
mod calendar;
mod complete;
mod copies;
mod deadlock;
mod issue;
mod offer;
mod operands;
mod pairs;
pub(super) mod phases;
mod schedulers;
mod skip;
mod tensor;
mod texture;
mod values;
mod watch;

use super::fast_path::FastPath;
use super::global::GlobalMemory;
use super::layout::Layout;
use super::profile::Profile;
use super::stats::Statistics;
use super::transfer::Rows;
use super::warp::{NEVER, Warp};
use super::workload::Workload;
use crate::config::{Barrel, Config};
use crate::model::spad_sm_path::{
    IcnData, Offers, PathConfig, PathLaunch, SmPath, SmPathInputs, SmPathOutputs,
};
use crate::model::{Exit, Policy, WarpMask};
use attribution::Tail;
use blocks::Grid;
use calendar::Calendar;
use copies::Copies;
use deadlock::Progress;
use operands::Operands;
use schedulers::Schedulers;
use spadkit_base::error::{Error, Result};
use spadkit_mapping::hash::{HashSpec, Mapping};
use tensor::Tensor;
use texture::Texture;
use values::Values;
pub use watch::RunProgress;

/// Cycles without a completed instruction after which a run is given up.
const PATIENCE: u64 = 10_000_000;

/// A streaming multiprocessor that runs one kernel.
///
/// ```
/// use spadkit_sm::config::Config;
/// use spadkit_sm::sm::{AccessWorkload, Sm};
/// let trace = spadkit_mapping::trace::kernels::generate("transpose:tile=16")?;
/// let workload = AccessWorkload::new(&trace, 1)?;
/// let statistics = Sm::new(&Config::preset("gt200")?, &workload)?.run()?;
/// assert_eq!(statistics.mean_conflict_degree, 4.5);
/// # Ok::<(), spadkit_base::error::Error>(())
/// ```
pub struct Sm<'a> {
    config: Config,
    path_config: PathConfig,
    workload: &'a dyn Workload,
    layout: Layout,
    path: FastPath,
    offers: Offers,
    warps: Vec<Warp<'a>>,
    sets: WarpSets,
    grid: Grid,
    schedulers: Schedulers,
    /// Number of the present cycle; 0 is the first launch's.
    cycle: u64,
    /// Calendar of the cycles in which each warp's offer is to be looked at.
    checks: Calendar,
    operands: Operands,
    global: GlobalMemory,
    tensor: Tensor,
    texture: Texture,
    copies: Copies,
    /// Atomics that have been issued and have not completed.
    atomics: u32,
    progress: Progress,
    statistics: Statistics,
    /// Issue slots since the last completion: they count when another follows.
    tail: Tail,
    /// Both by instruction, in a run that is profiled.
    profile: Profile,
}

/// Warp slots by what their warps do.
#[derive(Default)]
struct WarpSets {
    /// Warps that have a block and have not ended.
    resident: WarpMask,
    /// Warps with threads that exit, which go in the order of the slots.
    exits: WarpMask,
    /// Warps whose next instruction is a global store without a free entry.
    store_waits: WarpMask,
}

impl<'a> Sm<'a> {
    /// An SM of `config` that runs `workload`, with the bank mapping that its
    /// path has after reset.
    pub fn new(config: &Config, workload: &'a dyn Workload) -> Result<Self> {
        let layout = Layout::new(config, workload.info())?;
        if layout.limit() > u32::from(u16::MAX) {
            return Err(Error::usage(
                "the shared part begins beyond 65535 words",
                "lower the sharing threshold",
            ));
        }
        let mut path_config = PathConfig::of(config);
        path_config.limit = layout.limit() as u16;
        path_config.sharing = layout.residency().pairs > 0;
        if path_config.policy == Policy::OwfLrr && !path_config.sharing {
            path_config.policy = Policy::Oldest;
        }
        let warps = config.path.warps as usize;
        let mapping = Mapping::new(&config.path.hash_after_reset(), config.geometry)?;
        phases::check_rows(config)?;
        let rows = Rows::new(&mapping, config.word_bytes());
        Ok(Sm {
            path_config,
            workload,
            path: FastPath::new(config),
            offers: Offers::none(warps),
            warps: (0..warps).map(|_| Warp::absent(config.atomics)).collect(),
            sets: WarpSets::default(),
            grid: Grid::new(workload.info().blocks, &layout),
            schedulers: Schedulers::new(config),
            cycle: 0,
            checks: Calendar::new(warps),
            operands: Operands::new(config, mapping),
            global: GlobalMemory::new(&config.sm, layout.residency().allocated_bytes(config)),
            tensor: Tensor::new(config.sm.schedulers),
            texture: Texture::new(config.sm.texture),
            copies: Copies::new(warps, layout.slots(), rows),
            atomics: 0,
            progress: Progress::default(),
            statistics: Statistics::default(),
            tail: Tail::default(),
            profile: Profile::default(),
            layout,
            config: config.clone(),
        })
    }

    /// Sets the bank mapping, which must keep all rows within the capacity.
    pub fn with_hash(mut self, spec: &HashSpec) -> Result<Self> {
        let mapping = Mapping::new(spec, self.config.geometry)?;
        let beyond = mapping.pivots_beyond(self.config.pivot_limit());
        if !beyond.is_empty() {
            return Err(Error::usage(
                format!(
                    "hash spec '{spec}' addresses rows beyond the capacity of {} words",
                    self.config.capacity_words
                ),
                format!(
                    "its pivot bits {beyond:?} must be below {}; \
                     spadkit tune --fits finds mappings that fit",
                    self.config.pivot_limit()
                ),
            ));
        }
        self.path.load_hash(spec)?;
        self.copies.rows = Rows::new(&mapping, self.config.word_bytes());
        self.operands.set_mapping(&self.config, mapping);
        Ok(self)
    }

    /// Fills the block slots in this order; for experiments in which it matters.
    pub fn with_fill_order(mut self, order: &[usize]) -> Result<Self> {
        self.grid.set_fill_order(order)?;
        Ok(self)
    }

    /// The layout of the blocks.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Runs all blocks of the kernel. Cycles in which only counters
    /// change are skipped together; no result depends on this.
    pub fn run(mut self) -> Result<Statistics> {
        while !self.is_done() {
            self.step::<false>(true, &mut nobody)?;
        }
        Ok(self.finish())
    }

    /// Runs all blocks of the kernel, every cycle by itself.
    pub fn run_every_cycle(mut self) -> Result<Statistics> {
        while self.step_observed(&mut |_, _, _| {})? {}
        Ok(self.finish())
    }

    fn finish(mut self) -> Statistics {
        self.global.count(&mut self.statistics);
        self.statistics.atomic_rounds = self.path.model().all_atomic_rounds();
        self.statistics.finish();
        self.statistics
    }

    /// Whether all blocks of the grid have ended, and their stores have left.
    fn is_done(&self) -> bool {
        self.grid.has_ended() && !self.global.has_stores(self.cycle)
    }

    /// Values for programs, which carry addresses alone: drawn from `seed`
    /// instead of zeros (and ones for atomics). No timing depends on them.
    pub fn with_values(mut self, seed: u64) -> Self {
        self.operands.values = Values::drawn(seed);
        self
    }

    /// The values of the path's `cfg_*` ports.
    pub fn path_config(&self) -> PathConfig {
        self.path_config
    }

    /// Simulates one clock cycle unless the kernel has ended; returns whether it is still running.
    /// `observe` gets the path after the clock edge, its inputs, and
    /// its outputs.
    pub fn step_observed(
        &mut self,
        observe: &mut dyn FnMut(&SmPath, &SmPathInputs, &SmPathOutputs),
    ) -> Result<bool> {
        if !self.is_done() {
            self.step::<false>(false, &mut |path, inputs, out, _| {
                observe(path, inputs, out)
            })?;
        }
        Ok(!self.is_done())
    }

    /// Simulates one clock cycle; with `skip` also the following ones in which only
    /// counters change. `observe` also gets the number of identical cycles. If
    /// `PROFILED`, issue slots are counted by instruction, too.
    fn step<const PROFILED: bool>(
        &mut self,
        skip: bool,
        observe: &mut impl FnMut(&SmPath, &SmPathInputs, &SmPathOutputs, u64),
    ) -> Result<()> {
        self.free_slots();
        let launch = self.launch()?;
        if self.checks.next(self.cycle) <= self.cycle {
            self.check_warps()?;
        }
        let exit = self.exit()?;
        let copying = self.begin_copy_cycle()?;
        let most = if skip { self.most_quiet_cycles() } else { 1 };
        let (outputs, cycles) = self.step_path(launch, exit, most, observe);
        self.grid.live = outputs.live;
        if copying {
            self.end_copy_cycle()?;
        }
        if let Some(wb) = outputs.wb {
            self.written_back(&wb)?;
        }
        if outputs.viol != 0 {
            return Err(self.violation(outputs.viol.trailing_zeros() as usize));
        }
        let private = self.issue(&outputs)?;
        if self.cycle > 0 {
            self.attribute::<PROFILED>(&outputs, private, cycles);
        }
        if self.path_config.policy == Policy::TwoLevel {
            self.update_two_level(outputs.wait_sh);
        }
        self.watch(&outputs, private, cycles)?;
        self.cycle += cycles;
        Ok(())
    }

    #[inline(always)]
    fn step_path(
        &mut self,
        launch: Option<PathLaunch>,
        exit: Option<Exit>,
        most: u64,
        observe: &mut impl FnMut(&SmPath, &SmPathInputs, &SmPathOutputs, u64),
    ) -> (SmPathOutputs, u64) {
        let lanes = self.config.lanes;
        let passes = self.config.subwarps();
        let lane_mask = super::instr::full_mask(lanes);
        let arrived = self.global.arrived(self.cycle);
        if let Some(load) = &arrived {
            self.operands.values.arrive(load.warp, load.tag, load.pass);
        }
        let icn = arrived.map(|load| IcnData {
            warp: load.warp,
            tag: load.tag,
            pass: load.pass as u16,
            last: load.pass + 1 == passes,
            mask: load.mask >> (load.pass * lanes) & lane_mask,
            data: &self.operands.values.arriving()[..lanes as usize],
        });
        let has_arrived = icn.is_some();
        let inputs = SmPathInputs {
            rst: false,
            kernel_clear: self.cycle == 0,
            cfg: self.path_config,
            hash_wr: None,
            row_wr: None,
            launch,
            exit,
            offers: &self.offers,
            op: self.operands.shown(),
            icn,
            wb_ready: true,
            age: &self.schedulers.ages,
            active: self.schedulers.two_level.active,
        };
        let (outputs, cycles) = self.path.step(&inputs, most);
        observe(self.path.model(), &inputs, &outputs, cycles);
        if has_arrived && outputs.icn_ready {
            self.global.taken(passes);
        }
        (outputs, cycles)
    }

    fn is_strict(&self) -> bool {
        self.config.settings.barrel == Barrel::Strict
    }

    /// Cycles from an offer to its issue, at least: an offer to the path may
    /// come that many cycles before the instruction may issue.
    fn ahead(&self) -> u64 {
        self.config.path.ahead.into()
    }

    /// `warp`, which may issue in `cycle`, is to be looked at when it may
    /// offer, in the next cycle at the earliest.
    fn check_before(&mut self, warp: usize, cycle: u64) {
        if cycle != NEVER {
            let offers = cycle.saturating_sub(self.ahead()).max(self.cycle + 1);
            self.check(warp, offers);
        }
    }

    /// `warp` is to be looked at in `cycle`.
    fn check(&mut self, warp: usize, cycle: u64) {
        self.checks.set(warp, cycle, self.cycle);
    }

    fn update_two_level(&mut self, wait_sh: WarpMask) {
        let mut set = std::mem::take(&mut self.schedulers.two_level);
        set.update(|w| self.long_wait(w, wait_sh));
        self.schedulers.two_level = set;
    }
}

/// A no-op observer, shared so that `step` is instantiated only once.
fn nobody(_: &SmPath, _: &SmPathInputs, _: &SmPathOutputs, _: u64) {}
