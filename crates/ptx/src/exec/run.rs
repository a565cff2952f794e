//! A launch of an entry: its blocks one after the other, or in parallel with
//! the same result.

use super::api::{Launch, Options, Outcome};
use super::image::Image;
use super::machine::{Common, Shared};
use super::memory::heap::Heap;
use super::memory::map::WORKSPACE;
use super::memory::{Memory, Object};
use super::plan::Plan;
use super::program::Program;
use super::sum::{Sum, named};
use super::system::allocation::leak;
use spadkit_base::cuda::{MAX_BLOCK, MAX_GRID, MAX_STATIC_SHARED, MAX_THREADS};
use spadkit_base::error::{Error, Result};

impl Program {
    /// Runs an entry to its end.
    pub fn run(&self, memory: &mut Memory, launch: &Launch, options: &Options) -> Result<Outcome> {
        let image = self.image(&launch.entry, options.vector)?;
        check_size(launch)?;
        check_block(launch, &image)?;
        check_params(launch, &image)?;
        self.load(memory)?;
        if image.allocates && memory.heap.is_none() {
            let help = "expected a smaller heap, or a higher limit of memory (ulimit -v)";
            let none = || Error::usage(format!("no memory for a heap of {}", options.heap), help);
            memory.heap = Some(Heap::new(options.heap).ok_or_else(none)?);
        }
        let params = &Object::of_constants("the parameters", &launch.params);
        let plan = Plan::new(&image, launch, options)?;
        let range = plan.units(options.only_block);
        let alone = image.ordered || options.global_races;
        let parallel = !alone && options.threads != 1 && range.end - range.start > 1;
        let workspace = if options.cooperative {
            workspace(memory)?
        } else {
            0
        };
        let shared = |parallel| Shared {
            cluster: plan.cluster,
            workspace,
            parallel,
        };
        // The same if there is no memory for a copy: a worker of a pool may
        // not be the one that reaches the limit first if they run one after the
        // other, and what it left is taken back.
        let several = parallel.then(|| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads);
            Some((pool.build().ok()?, memory.snapshot()?))
        });
        let mut sum = Sum::default();
        if let Some((pool, before)) = several.flatten() {
            let own = Common::new(&image, memory, params, launch, options, shared(true));
            let whole = pool.install(|| plan.run_parallel(&own, options, range.clone(), &mut sum));
            if whole {
                return Ok(sum.outcome(self.module(), &image, launch));
            }
            own.check_interrupted(&launch.entry)?;
            *memory = before;
            sum = sum.anew();
        }
        let own = Common::new(&image, memory, params, launch, options, shared(false));
        plan.run_in_order(&own, options, range, &mut sum);
        own.check_interrupted(&launch.entry)?;
        if let Some(heap) = own.heap {
            heap.end_run(|site| named(self.module(), &image, launch, site.block, leak(site)));
        }
        Ok(sum.outcome(self.module(), &image, launch))
    }
}

/// Bytes that a barrier of the whole grid counts in.
const WORKSPACE_BYTES: u64 = 64;

/// The address of zeros for a barrier of the whole grid.
fn workspace(memory: &mut Memory) -> Result<u64> {
    let id = memory.at(WORKSPACE).or_else(|| {
        let name = "the workspace of the grid";
        memory.place(name, WORKSPACE, &[], WORKSPACE_BYTES, false)
    });
    let help = "expected a higher limit of memory (ulimit -v)";
    let id = id.ok_or_else(|| Error::usage("no memory for a barrier of the grid", help))?;
    memory.bytes_mut(id).fill(0);
    Ok(WORKSPACE)
}

/// Refuses parameters that the entry has not.
fn check_params(launch: &Launch, image: &Image) -> Result<()> {
    let len = launch.params.len();
    if len == image.param_bytes as usize {
        return Ok(());
    }
    Err(Error::usage(
        format!("{len} bytes of parameters for {}", launch.entry),
        format!("expected {}", image.param_bytes),
    ))
}

/// A GPU refuses to launch an entry with a block other than its directives say; one with
/// too large static arrays is not even assembled.
fn check_block(launch: &Launch, image: &Image) -> Result<()> {
    if let Some(block) = image.block.filter(|&block| block != launch.block) {
        return Err(Error::usage(
            format!(
                "a block of {:?}, where the PTX requires {block:?}",
                launch.block
            ),
            "expected the block of .reqntid: a GPU does not launch another one",
        ));
    }
    let threads: u32 = launch.block.iter().product();
    if let Some(most) = image.most_threads.filter(|&most| threads > most) {
        return Err(Error::usage(
            format!("a block of {threads} threads, where the PTX allows {most}"),
            "expected at most those of .maxntid: a GPU does not launch more",
        ));
    }
    if image.shared_bytes > MAX_STATIC_SHARED {
        return Err(Error::usage(
            format!(
                "{} bytes of static shared memory in {}",
                image.shared_bytes, launch.entry
            ),
            format!(
                "expected at most {MAX_STATIC_SHARED}: ptxas refuses more; dynamic shared memory \
                 (extern __shared__) may be as large as that of a block"
            ),
        ));
    }
    Ok(())
}

fn check_size(launch: &Launch) -> Result<()> {
    let check = |what: &str, size: [u32; 3], most: [u32; 3]| {
        if size.iter().zip(most).all(|(&n, m)| (1..=m).contains(&n)) {
            Ok(())
        } else {
            Err(Error::usage(
                format!("{what} of {size:?}"),
                format!("expected 1 to {most:?}, CUDA's limits"),
            ))
        }
    };
    check("a grid", launch.grid, MAX_GRID)?;
    check("a block", launch.block, MAX_BLOCK)?;
    let threads: u32 = launch.block.iter().product();
    if threads > MAX_THREADS {
        return Err(Error::usage(
            format!("a block of {threads} threads"),
            format!("expected at most {MAX_THREADS}"),
        ));
    }
    if launch.dynamic_shared > 1 << 24 {
        return Err(Error::usage(
            format!("{} bytes of dynamic shared memory", launch.dynamic_shared),
            "expected at most 16 MB; no machine has as much",
        ));
    }
    Ok(())
}
