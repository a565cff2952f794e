//! Plan of a launch: which of its blocks run together, and in which order. These are single
//! blocks, the blocks of a cluster, or all blocks of a cooperative launch.

use super::api::{Launch, Options};
use super::block::{BlockOutcome, Worker};
use super::cluster::Together;
use super::image::Image;
use super::machine::Common;
use super::machine::peers::{MOST_BLOCKS, REACH};
use super::sum::Sum;
use rayon::prelude::*;
use spadkit_base::error::{Error, Result};
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// Blocks of a cooperative launch: all are there at once, as on a GPU, and no GPU
/// has room for more.
const MOST_TOGETHER: u64 = 4096;

/// The blocks of a launch, in units that run together.
pub(super) struct Plan {
    grid: [u64; 3],
    /// Blocks of a cluster.
    pub cluster: [u32; 3],
    cooperative: bool,
}

/// Runs units one after the other; its memory is used again.
enum Runner<'a> {
    Alone(Box<Worker<'a>>),
    Together(Box<Together<'a>>),
}

/// Blocks with what they did.
type Done = Vec<(u64, BlockOutcome)>;

impl Plan {
    /// The plan of a launch; fails where its grid and its clusters do not fit.
    pub fn new(image: &Image, launch: &Launch, options: &Options) -> Result<Self> {
        let cluster = match (image.cluster, options.cluster) {
            (Some(own), Some(given)) if own != given => {
                return Err(Error::usage(
                    format!("clusters of {given:?} blocks, where the PTX says {own:?}"),
                    "expected the same (.reqnctapercluster), or no cluster in the launch",
                ));
            }
            (own, given) => own.or(given).unwrap_or([1; 3]),
        };
        let blocks: u64 = cluster.iter().map(|&n| u64::from(n)).product();
        if !(1..=u64::from(MOST_BLOCKS)).contains(&blocks) {
            return Err(Error::usage(
                format!("clusters of {cluster:?} blocks"),
                format!("expected 1 to {MOST_BLOCKS} blocks in all"),
            ));
        }
        if launch
            .grid
            .iter()
            .zip(cluster)
            .any(|(n, size)| n % size != 0)
        {
            return Err(Error::usage(
                format!(
                    "a grid of {:?} in clusters of {cluster:?} blocks",
                    launch.grid
                ),
                "expected a multiple of the cluster in each dimension",
            ));
        }
        let shared = u64::from(image.shared_bytes) + u64::from(launch.dynamic_shared);
        if blocks > 1 && shared > REACH {
            return Err(Error::usage(
                format!("{shared} bytes of shared memory of a block in a cluster"),
                format!("expected at most {REACH}"),
            ));
        }
        let plan = Plan {
            grid: launch.grid.map(u64::from),
            cluster,
            cooperative: options.cooperative,
        };
        if plan.cooperative && plan.blocks() > MOST_TOGETHER {
            return Err(Error::usage(
                format!("a cooperative launch of {} blocks", plan.blocks()),
                format!("expected at most {MOST_TOGETHER}, which run together"),
            ));
        }
        Ok(plan)
    }

    fn blocks(&self) -> u64 {
        self.grid.iter().product()
    }

    /// Blocks of a cluster.
    fn size(&self) -> u64 {
        self.cluster.iter().map(|&n| u64::from(n)).product()
    }

    /// Blocks that run together.
    fn together(&self) -> u64 {
        if self.cooperative {
            self.blocks()
        } else {
            self.size()
        }
    }

    /// Clusters in each dimension.
    fn clusters(&self) -> [u64; 3] {
        std::array::from_fn(|at| self.grid[at] / u64::from(self.cluster[at]))
    }

    /// The units, or the one of a block.
    pub fn units(&self, only: Option<u64>) -> Range<u64> {
        let all = self.blocks() / self.together();
        let Some(block) = only.filter(|_| !self.cooperative) else {
            return 0..all;
        };
        if block >= self.blocks() {
            return 0..0;
        }
        let [x, y, _] = self.grid;
        let index = [block % x, block / x % y, block / (x * y)];
        let [cx, cy, _] = self.clusters();
        let [x, y, z]: [u64; 3] = std::array::from_fn(|at| index[at] / u64::from(self.cluster[at]));
        let unit = x + cx * (y + cy * z);
        unit..unit + 1
    }

    /// The blocks of a unit: cluster after cluster, in the order of their ranks.
    fn of_unit(&self, unit: u64) -> Vec<u64> {
        let clusters = self.together() / self.size();
        let of_cluster = |cluster: u64| {
            let [cx, cy, _] = self.clusters();
            let first = [cluster % cx, cluster / cx % cy, cluster / (cx * cy)];
            let [sx, sy, sz] = self.cluster.map(u64::from);
            (0..self.size()).map(move |rank| {
                let own = [rank % sx, rank / sx % sy, rank / (sx * sy)];
                let index: [u64; 3] =
                    std::array::from_fn(|at| first[at] * [sx, sy, sz][at] + own[at]);
                index[0] + self.grid[0] * (index[1] + self.grid[1] * index[2])
            })
        };
        (unit * clusters..(unit + 1) * clusters)
            .flat_map(of_cluster)
            .collect()
    }

    fn runner<'a>(&self, common: &'a Common<'a>, options: &Options<'a>) -> Runner<'a> {
        match self.together() {
            1 => Runner::Alone(Box::new(Worker::new(common, options))),
            blocks => {
                let size = (blocks as usize, self.size() as usize);
                Runner::Together(Box::new(Together::new(common, options, size)))
            }
        }
    }

    fn run_unit<'a>(&self, runner: &mut Runner<'a>, unit: u64, options: &Options<'a>) -> Done {
        match runner {
            // A unit is a block.
            Runner::Alone(worker) => vec![(unit, worker.run(unit, options))],
            Runner::Together(blocks) => {
                let indices = self.of_unit(unit);
                let outcomes = blocks.run(&indices, options);
                indices.into_iter().zip(outcomes).collect()
            }
        }
    }

    /// Units one after the other, up to the one that reaches the limit.
    pub fn run_in_order(
        &self,
        common: &Common,
        options: &Options,
        range: Range<u64>,
        sum: &mut Sum,
    ) {
        let mut runner = self.runner(common, options);
        for unit in range {
            if common.stop.load(Relaxed) {
                break;
            }
            for (block, outcome) in self.run_unit(&mut runner, unit, options) {
                sum.add(block, outcome);
            }
        }
    }

    /// Units in batches, the results in their order: whether they all ran within
    /// the limit. Where they did not, which of them reached it depends on who was
    /// faster.
    pub fn run_parallel<'a>(
        &self,
        common: &'a Common<'a>,
        options: &Options<'a>,
        range: Range<u64>,
        sum: &mut Sum,
    ) -> bool {
        const BATCH: u64 = 4096;
        let mut start = range.start;
        while start < range.end {
            let end = (start + BATCH).min(range.end);
            // A worker is costly: some units each, but work for all threads.
            let least = (end - start) as usize / (8 * rayon::current_num_threads()) + 1;
            let results: Vec<Done> = (0..(end - start) as usize)
                .into_par_iter()
                .with_min_len(least)
                .map_init(
                    || self.runner(common, options),
                    |runner, at| self.run_unit(runner, start + at as u64, options),
                )
                .collect();
            if common.stop.load(Relaxed) {
                return false;
            }
            for (block, outcome) in results.into_iter().flatten() {
                sum.add(block, outcome);
            }
            start = end;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(grid: [u64; 3], cluster: [u32; 3], cooperative: bool) -> Plan {
        Plan {
            grid,
            cluster,
            cooperative,
        }
    }

    #[test]
    fn units_are_clusters_in_the_order_of_ranks() {
        let plan = plan([4, 4, 1], [2, 2, 1], false);
        assert_eq!(plan.units(None), 0..4);
        assert_eq!(plan.of_unit(0), [0, 1, 4, 5]);
        assert_eq!(plan.of_unit(3), [10, 11, 14, 15]);
        for block in 0..16 {
            let unit = plan.units(Some(block));
            assert!(plan.of_unit(unit.start).contains(&block), "{block}");
        }
        assert_eq!(plan.units(Some(16)), 0..0);
    }

    #[test]
    fn a_cooperative_launch_is_one_unit() {
        let plan = plan([4, 1, 2], [2, 1, 1], true);
        assert_eq!((plan.units(None), plan.units(Some(3))), (0..1, 0..1));
        assert_eq!(plan.of_unit(0), [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
