//! `spad_premem_queue`: the queue before the memory stages (elastic
//! paper, section 4.3; microarchitecture/elastic-queues.md).

use std::collections::VecDeque;

/// Inputs of one clock cycle. `P` is the payload.
#[derive(Clone, Copy, Debug)]
pub struct PrememInputs<P> {
    /// Synchronous reset.
    pub rst: bool,
    /// false: a wire, as with depth 0.
    pub cfg_on: bool,
    /// An entry is offered.
    pub input: Option<P>,
    /// The output is taken.
    pub out_ready: bool,
}

/// Outputs of one clock cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrememOutputs<P> {
    /// The offered entry is taken; comb(out_ready).
    pub in_ready: bool,
    /// The oldest entry, or the offered one; comb(input).
    pub output: Option<P>,
    /// Entries; registered.
    pub count: usize,
}

/// A queue of `depth` entries with bypass.
#[derive(Clone, Debug)]
pub struct PrememQueue<P> {
    entries: VecDeque<P>,
    depth: usize,
}

impl<P: Copy> PrememQueue<P> {
    /// An empty queue; of depth 0 it is a wire.
    pub fn new(depth: usize) -> Self {
        PrememQueue {
            entries: VecDeque::with_capacity(depth),
            depth,
        }
    }

    /// Entries.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Whether an entry is taken in this cycle.
    pub fn in_ready(&self, cfg_on: bool, out_ready: bool) -> bool {
        out_ready || (cfg_on && self.entries.len() < self.depth)
    }

    /// The oldest entry, or `input`.
    pub fn output(&self, input: Option<P>) -> Option<P> {
        self.entries.front().copied().or(input)
    }

    /// The outputs of this cycle.
    pub fn eval(&self, inputs: &PrememInputs<P>) -> PrememOutputs<P> {
        PrememOutputs {
            in_ready: self.in_ready(inputs.cfg_on, inputs.out_ready),
            output: self.output(inputs.input),
            count: self.count(),
        }
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &PrememInputs<P>) {
        if inputs.rst {
            self.entries.clear();
            return;
        }
        let bypass = self.entries.is_empty() && inputs.out_ready;
        if bypass || (self.entries.is_empty() && inputs.input.is_none()) {
            return;
        }
        let in_ready = self.in_ready(inputs.cfg_on, inputs.out_ready);
        if inputs.out_ready {
            self.entries.pop_front();
        }
        if let Some(entry) = inputs.input.filter(|_| in_ready) {
            self.entries.push_back(entry);
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &PrememInputs<P>) -> PrememOutputs<P> {
        let outputs = self.eval(inputs);
        self.commit(inputs);
        outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(q: &mut PrememQueue<u32>, input: Option<u32>, out_ready: bool) -> PrememOutputs<u32> {
        q.step(&PrememInputs {
            rst: false,
            cfg_on: true,
            input,
            out_ready,
        })
    }

    #[test]
    fn an_empty_queue_is_bypassed_and_a_full_one_takes_as_it_gives() {
        let mut q = PrememQueue::new(2);
        assert_eq!(cycle(&mut q, Some(1), true).output, Some(1));
        for entry in [2, 3] {
            assert!(cycle(&mut q, Some(entry), false).in_ready);
        }
        let full = cycle(&mut q, Some(4), false);
        assert_eq!(
            (full.in_ready, full.output, full.count),
            (false, Some(2), 2)
        );
        let moves = cycle(&mut q, Some(4), true);
        assert_eq!((moves.in_ready, moves.output), (true, Some(2)));
        assert_eq!(cycle(&mut q, None, true).output, Some(3));
        assert_eq!(cycle(&mut q, None, true).output, Some(4));
        assert_eq!(cycle(&mut q, None, true).output, None);
    }

    #[test]
    fn depth_0_and_off_are_wires() {
        for (depth, cfg_on) in [(0, true), (3, false)] {
            let mut q = PrememQueue::new(depth);
            for out_ready in [false, true] {
                let inputs = PrememInputs {
                    rst: false,
                    cfg_on,
                    input: Some(8),
                    out_ready,
                };
                let out = q.step(&inputs);
                assert_eq!(
                    (out.in_ready, out.output, out.count),
                    (out_ready, Some(8), 0)
                );
            }
            assert_eq!(q.count(), 0);
        }
    }
}
