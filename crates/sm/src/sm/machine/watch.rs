//! A run that is looked at from outside now and then, and may be ended.

use super::{Sm, nobody};
use crate::sm::profile::Profile;
use crate::sm::stats::Statistics;
use spadkit_base::error::Result;

/// Steps between two looks: well below a second apart.
const STEPS: u32 = 1 << 14;

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunProgress {
    /// The present cycle.
    pub cycle: u64,
    /// Blocks that have ended.
    pub blocks: u32,
}

impl Sm<'_> {
    /// Runs like [`run`](Sm::run); `watch` is called from time to time with the
    /// progress, and ends the run by returning false. The statistics are those
    /// up to the end; the second value is whether all blocks have ended.
    pub fn run_watched(
        mut self,
        watch: &mut dyn FnMut(RunProgress) -> bool,
    ) -> Result<(Statistics, bool)> {
        let ended = self.run_steps::<false>(watch)?;
        Ok((self.finish(), ended))
    }

    /// Runs like [`run_watched`](Sm::run_watched), and also returns the issue slots
    /// of each instruction.
    pub fn run_profiled(
        mut self,
        watch: &mut dyn FnMut(RunProgress) -> bool,
    ) -> Result<(Statistics, Profile, bool)> {
        let ended = self.run_steps::<true>(watch)?;
        let profile = std::mem::take(&mut self.profile);
        Ok((self.finish(), profile, ended))
    }

    /// Whether all blocks have ended.
    fn run_steps<const PROFILED: bool>(
        &mut self,
        watch: &mut dyn FnMut(RunProgress) -> bool,
    ) -> Result<bool> {
        let mut steps = 0;
        while !self.is_done() {
            steps += 1;
            if steps == STEPS {
                steps = 0;
                if !watch(self.progress()) {
                    return Ok(false);
                }
            }
            self.step::<PROFILED>(true, &mut nobody)?;
        }
        Ok(true)
    }

    fn progress(&self) -> RunProgress {
        RunProgress {
            cycle: self.cycle,
            blocks: self.grid.ended(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::sm::AccessWorkload;
    use spadkit_mapping::trace::kernels::generate;

    #[test]
    fn a_watched_run_is_the_same_and_ends_when_told() {
        let small = Config::preset("small").unwrap();
        let trace = generate("transpose:tile=16").unwrap();
        let workload = AccessWorkload::new(&trace, 600).unwrap();
        let sm = || Sm::new(&small, &workload).unwrap();
        let mut seen = Vec::new();
        let (all, ended) = sm()
            .run_watched(&mut |progress| {
                seen.push(progress);
                true
            })
            .unwrap();
        assert!(ended && all == sm().run().unwrap());
        assert!(seen.len() > 1, "{seen:?}");
        assert!(
            seen.windows(2)
                .all(|p| p[0].cycle < p[1].cycle && p[0].blocks <= p[1].blocks)
        );
        let last = seen.last().unwrap();
        assert!(last.blocks > 0 && last.blocks < 600 && last.cycle <= all.cycles);
        let (part, ended) = sm().run_watched(&mut |_| false).unwrap();
        assert!(!ended && part.cycles < all.cycles && part.cycles > 0);
        let slots = part.issued + part.stalls.total();
        assert_eq!(slots, part.cycles, "counted up to the last completion");
    }
}
