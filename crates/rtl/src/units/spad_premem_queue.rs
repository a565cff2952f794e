//! The queue in front of the memory stages.

use super::bench::{Bench, Setup};
use super::queue::{Queue, QueueInputs, queue};
use crate::model::{PrememInputs, PrememQueue};

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let model = PrememQueue::new(setup.config.parameters().PQ);
    queue(model, "cfg_on", "count", setup)
}

impl Queue for PrememQueue<u64> {
    fn step(&mut self, inputs: QueueInputs) -> (bool, Option<u64>, u32) {
        let out = PrememQueue::step(
            self,
            &PrememInputs {
                rst: inputs.rst,
                cfg_on: inputs.on,
                input: inputs.input,
                out_ready: inputs.out_ready,
            },
        );
        (out.in_ready, out.output, out.count as u32)
    }
}
