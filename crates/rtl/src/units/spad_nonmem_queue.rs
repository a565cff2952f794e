//! The queue of the instructions that do not access memory.

use super::bench::{Bench, Setup};
use super::queue::{Queue, QueueInputs, queue};
use crate::model::{NonmemInputs, NonmemQueue};

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let model = NonmemQueue::new(setup.config.parameters().NQ);
    queue(model, "cfg_elastic", "stage_valid", setup)
}

impl Queue for NonmemQueue<u64> {
    fn step(&mut self, inputs: QueueInputs) -> (bool, Option<u64>, u32) {
        let out = NonmemQueue::step(
            self,
            &NonmemInputs {
                rst: inputs.rst,
                cfg_elastic: inputs.on,
                input: inputs.input,
                out_ready: inputs.out_ready,
            },
        );
        (out.in_ready, out.output, out.stage_valid)
    }
}
