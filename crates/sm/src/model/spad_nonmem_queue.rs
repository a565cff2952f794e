//! `spad_nonmem_queue`: the stages parallel to the memory stages, as a fixed
//! pipeline or as an elastic queue (elastic paper, section 4, Eq. 4;
//! microarchitecture/elastic-queues.md).

/// Most stages that the model has room for.
pub const MAX_STAGES: usize = 16;

/// Inputs of one clock cycle. `P` is the payload.
#[derive(Clone, Copy, Debug)]
pub struct NonmemInputs<P> {
    /// Synchronous reset.
    pub rst: bool,
    /// true: a queue with bypass; false: a pipeline.
    pub cfg_elastic: bool,
    /// An entry is offered.
    pub input: Option<P>,
    /// The output is taken.
    pub out_ready: bool,
}

/// Outputs of one clock cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonmemOutputs<P> {
    /// The offered entry is taken; comb(out_ready).
    pub in_ready: bool,
    /// Elastic: the oldest entry or the offered one; split: the last stage.
    pub output: Option<P>,
    /// Occupied stages, stage 0 the youngest; registered.
    pub stage_valid: u32,
}

/// NQ stages.
#[derive(Clone, Debug)]
pub struct NonmemQueue<P> {
    valid: u32,
    data: [P; MAX_STAGES],
    depth: usize,
}

impl<P: Copy + Default> NonmemQueue<P> {
    /// An empty queue; of depth 0 it is a wire.
    pub fn new(depth: usize) -> Self {
        assert!(depth <= MAX_STAGES, "{depth} stages");
        NonmemQueue {
            valid: 0,
            data: [P::default(); MAX_STAGES],
            depth,
        }
    }

    /// Occupied stages.
    pub fn stage_valid(&self) -> u32 {
        self.valid
    }

    /// The stage whose entry leaves next.
    fn head(&self, elastic: bool) -> Option<usize> {
        match (elastic, self.valid) {
            (_, 0) => None,
            (true, valid) => Some(valid.ilog2() as usize),
            (false, valid) => (valid >> (self.depth - 1) & 1 == 1).then(|| self.depth - 1),
        }
    }

    /// The offer to the writeback mux.
    pub fn output(&self, elastic: bool, input: Option<P>) -> Option<P> {
        match self.head(elastic) {
            Some(k) => Some(self.data[k]),
            None if self.bypasses(elastic) => input,
            None => None,
        }
    }

    fn bypasses(&self, elastic: bool) -> bool {
        self.depth == 0 || (elastic && self.valid == 0)
    }

    /// Stages that can take an entry in this cycle: empty ones, the one whose
    /// entry leaves, and all after a stage that can.
    fn free(&self, elastic: bool, out_ready: bool) -> u32 {
        let leaves = self.head(elastic).filter(|_| out_ready);
        let stays = self.valid & !leaves.map_or(0, |k| 1 << k);
        let stages = (1 << self.depth) - 1;
        match stages & !stays {
            0 => 0,
            empty => u32::MAX >> empty.leading_zeros(),
        }
    }

    /// Whether an entry is taken in this cycle.
    pub fn in_ready(&self, elastic: bool, out_ready: bool) -> bool {
        match self.depth {
            0 => out_ready,
            _ => self.valid == 0 || self.free(elastic, out_ready) & 1 == 1,
        }
    }

    /// The outputs of this cycle.
    pub fn eval(&self, inputs: &NonmemInputs<P>) -> NonmemOutputs<P> {
        NonmemOutputs {
            in_ready: self.in_ready(inputs.cfg_elastic, inputs.out_ready),
            output: self.output(inputs.cfg_elastic, inputs.input),
            stage_valid: self.valid,
        }
    }

    /// The clock edge.
    #[inline(always)]
    pub fn commit(&mut self, inputs: &NonmemInputs<P>) {
        if inputs.rst {
            self.valid = 0;
            return;
        }
        let elastic = inputs.cfg_elastic;
        let bypass = self.bypasses(elastic) && inputs.out_ready;
        if self.valid == 0 && (bypass || inputs.input.is_none()) {
            return;
        }
        let in_ready = self.in_ready(elastic, inputs.out_ready);
        if self.valid != 0 {
            let free = self.free(elastic, inputs.out_ready);
            if let Some(k) = self.head(elastic).filter(|_| inputs.out_ready) {
                self.valid &= !(1 << k);
            }
            let moves = self.valid & free >> 1;
            let mut left = moves;
            while left != 0 {
                let k = left.ilog2() as usize;
                self.data[k + 1] = self.data[k];
                left ^= 1 << k;
            }
            self.valid = self.valid & !moves | moves << 1;
        }
        if let Some(entry) = inputs.input
            && in_ready
            && !bypass
        {
            self.data[0] = entry;
            self.valid |= 1;
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &NonmemInputs<P>) -> NonmemOutputs<P> {
        let outputs = self.eval(inputs);
        self.commit(inputs);
        outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(
        q: &mut NonmemQueue<u32>,
        cfg_elastic: bool,
        input: Option<u32>,
        out_ready: bool,
    ) -> NonmemOutputs<u32> {
        q.step(&NonmemInputs {
            rst: false,
            cfg_elastic,
            input,
            out_ready,
        })
    }

    #[test]
    fn split_takes_as_many_cycles_as_stages_and_closes_bubbles() {
        let mut q = NonmemQueue::new(3);
        assert_eq!(cycle(&mut q, false, Some(1), true).output, None);
        cycle(&mut q, false, None, true);
        assert_eq!(cycle(&mut q, false, Some(2), true).stage_valid, 0b010);
        let last = cycle(&mut q, false, None, false);
        assert_eq!((last.output, last.stage_valid), (Some(1), 0b101));
        // Behind the stalled stage 2, entries move up and new ones come in.
        let stalled = cycle(&mut q, false, Some(3), false);
        assert_eq!((stalled.in_ready, stalled.stage_valid), (true, 0b110));
        let full = cycle(&mut q, false, Some(4), false);
        assert_eq!((full.in_ready, full.stage_valid), (false, 0b111));
        for (entry, expected) in [(Some(4), 1), (None, 2), (None, 3), (None, 4)] {
            let out = cycle(&mut q, false, entry, true);
            assert_eq!((out.in_ready, out.output), (true, Some(expected)));
        }
        assert_eq!(q.stage_valid(), 0);
    }

    #[test]
    fn elastic_bypasses_and_gives_from_any_stage_in_order() {
        let mut q = NonmemQueue::new(3);
        let through = cycle(&mut q, true, Some(1), true);
        assert_eq!((through.in_ready, through.output), (true, Some(1)));
        cycle(&mut q, true, Some(2), false);
        cycle(&mut q, true, Some(3), false);
        let out = cycle(&mut q, true, Some(4), true);
        assert_eq!((out.output, out.stage_valid), (Some(2), 0b011));
        assert_eq!(cycle(&mut q, true, None, true).output, Some(3));
        assert_eq!(cycle(&mut q, true, Some(5), true).output, Some(4));
        assert_eq!(cycle(&mut q, true, None, true).output, Some(5));
        assert_eq!(cycle(&mut q, true, None, true).output, None);
    }

    #[test]
    fn depth_0_is_a_wire() {
        let mut q = NonmemQueue::new(0);
        for (elastic, ready) in [(true, false), (false, true)] {
            let out = cycle(&mut q, elastic, Some(9), ready);
            assert_eq!((out.in_ready, out.output), (ready, Some(9)));
        }
    }
}
