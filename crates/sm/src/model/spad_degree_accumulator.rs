//! `spad_degree_accumulator`: the time that the passes of one warp instruction
//! take (elastic paper, Eq. 6; microarchitecture/conflict-history.md).

/// A resolved pass of a predicted kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResolvedPass {
    /// Cycles that it took in MEM0, at least 1.
    pub occupancy: u32,
    /// The instruction's last pass.
    pub last: bool,
    /// The instruction's program counter.
    pub pc: u16,
}

/// The update of the conflict history for an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExcessUpdate {
    /// Program counter.
    pub pc: u16,
    /// Cycles beyond one per pass, saturated.
    pub excess: u32,
}

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct AccumulatorInputs {
    /// Synchronous reset.
    pub rst: bool,
    /// Kernel launch.
    pub clear: bool,
    /// A pass is resolved.
    pub pass: Option<ResolvedPass>,
}

/// The accumulator.
#[derive(Clone, Debug)]
pub struct DegreeAccumulator {
    sum: u32,
    update: Option<ExcessUpdate>,
    max: u32,
}

impl DegreeAccumulator {
    /// An accumulator of `excess_bits` (EX) bits.
    pub fn new(excess_bits: u32) -> Self {
        DegreeAccumulator {
            sum: 0,
            update: None,
            max: (1 << excess_bits) - 1,
        }
    }

    /// The update, in the cycle after the last pass; registered.
    pub fn eval(&self) -> Option<ExcessUpdate> {
        self.update
    }

    /// The clock edge.
    #[inline(always)]
    pub fn commit(&mut self, inputs: &AccumulatorInputs) {
        self.update = None;
        if inputs.rst || inputs.clear {
            self.sum = 0;
        } else if let Some(pass) = inputs.pass {
            let total = (self.sum + pass.occupancy).saturating_sub(1).min(self.max);
            self.sum = if pass.last { 0 } else { total };
            self.update = pass.last.then_some(ExcessUpdate {
                pc: pass.pc,
                excess: total,
            });
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &AccumulatorInputs) -> Option<ExcessUpdate> {
        let update = self.eval();
        self.commit(inputs);
        update
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excess(occupancies: &[u32]) -> u32 {
        let mut accumulator = DegreeAccumulator::new(5);
        for (i, &occupancy) in occupancies.iter().enumerate() {
            let last = i + 1 == occupancies.len();
            let pass = ResolvedPass {
                occupancy,
                last,
                pc: 77,
            };
            let inputs = AccumulatorInputs {
                pass: Some(pass),
                ..AccumulatorInputs::default()
            };
            assert_eq!(accumulator.step(&inputs), None);
        }
        let update = accumulator.step(&AccumulatorInputs::default()).unwrap();
        assert_eq!(update.pc, 77);
        assert_eq!(accumulator.eval(), None, "one cycle only");
        update.excess
    }

    #[test]
    fn the_sum_of_the_passes_beyond_one_cycle_each_saturates() {
        assert_eq!(excess(&[1, 1, 1, 1]), 0);
        assert_eq!(excess(&[2, 1, 4, 8]), 11);
        assert_eq!(excess(&[8, 8, 8, 8]), 28);
        assert_eq!(excess(&[16, 16, 16]), 31);
    }
}
