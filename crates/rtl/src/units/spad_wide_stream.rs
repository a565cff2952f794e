//! The scratchpad on a port for accesses of 4, 8 and 16 bytes a lane.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::neighbour::Neighbour;
use super::stream_atomics::OperationPorts;
use super::support::{Resets, ports};
use super::wide_accesses::{WideNeighbour, WidePorts};
use super::write_port::HashRegisters;
use crate::model::{WideStream, WideStreamInputs};

ports!(Others {
    in rst cfg_lock_hash;
    out;
});

#[derive(Clone)]
struct GoldenWideStream {
    ports: WidePorts,
    others: Others,
    operations: Option<OperationPorts>,
    registers: HashRegisters,
    model: WideStream,
}

impl Golden for GoldenWideStream {
    fn respond(&mut self, frame: &mut Frame) {
        let (p, model) = (&self.ports, &mut self.model);
        let ready_and_idle = [model.req_ready(), model.idle()];
        p.expect(frame, model.answer().as_ref(), ready_and_idle);
        let (hash_wr, row_wr) = self.registers.read(frame);
        model.commit(WideStreamInputs {
            rst: frame.is_high(&self.others.rst),
            hash_wr,
            row_wr,
            lock_hash: frame.driven(&self.others.cfg_lock_hash) as u8,
            request: p.request(frame, self.operations.as_ref()),
            rsp_ready: frame.is_high(&p.rsp_ready),
        });
    }
}

/// Stimulus of `spad_wide_stream`.
struct WideStreamDriver {
    resets: Resets,
    others: Others,
    accesses: Neighbour,
    neighbour: WideNeighbour,
    /// The unit was empty, and nothing was offered.
    idle: bool,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    Box::new(wide_bench(setup))
}

fn wide_bench(setup: &Setup) -> DrivenBench<WideStreamDriver, GoldenWideStream> {
    let (layout, config) = (setup.layout, setup.config);
    let driver = WideStreamDriver {
        resets: Resets::default(),
        others: Others::new(layout),
        accesses: Neighbour::new(setup),
        neighbour: WideNeighbour::new(layout),
        idle: true,
    };
    let golden = GoldenWideStream {
        ports: WidePorts::new(layout),
        others: Others::new(layout),
        operations: OperationPorts::find(layout, 32),
        registers: HashRegisters::new(layout),
        model: WideStream::new(config).reset_at_any_time(setup.reset.is_async()),
    };
    DrivenBench::new(setup, driver, move || golden.clone())
}

impl Driver for WideStreamDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let rst = self.resets.drive(stimulus, frame, &self.others.rst);
        self.accesses.configure(stimulus, frame, (self.idle, rst));
        if self.idle && stimulus.one_in(64) {
            frame.drive(&self.others.cfg_lock_hash, stimulus.below(4));
        }
        if !self.neighbour.offered
            && let Some(access) = self.accesses.access(stimulus)
        {
            self.neighbour.offer(stimulus, frame, access);
        }
        self.neighbour.shake_hands(stimulus, frame);
    }

    fn follow(&mut self, _stimulus: &mut Stimulus, frame: &Frame) {
        self.idle = frame.shows(&self.neighbour.ports.idle) && !self.neighbour.offered;
        self.neighbour.follow(frame, &self.others.rst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::model::WideRequest;
    use crate::model::spad_atomic_bank::amo;
    use crate::rtl::Design;
    use crate::units::bench::Words;
    use crate::units::layout::Layout;
    use std::collections::VecDeque;

    /// Number of compare-and-swaps in 20,000 cycles that swap, and that do not.
    fn swaps() -> [u32; 2] {
        let text = include_str!("../../testbenches/bus/wide.toml");
        let config = Config::from_toml(text, std::path::Path::new("wide.toml")).unwrap();
        let design = Design::emit(&["spad_wide_stream".to_owned()], &config).unwrap();
        let layout = Layout::new(&design.units[0]);
        let mut bench = wide_bench(&Setup::new(&config, &layout));
        let (mut stimulus, mut words) = (Stimulus::new(1), Words::new(&layout));
        let mut waiting: VecDeque<WideRequest> = VecDeque::new();
        let mut swaps = [0; 2];
        for _ in 0..20_000 {
            let (answer, ready) = {
                let model = &bench.golden.model;
                (model.answer(), model.req_ready())
            };
            let mut frame = words.frame();
            bench.cycle(&mut stimulus, &mut frame);
            stimulus.cycle += 1;
            if frame.is_high(&bench.driver.others.rst) {
                waiting.clear();
                continue;
            }
            let golden = &bench.golden;
            if let Some(answer) = answer.filter(|_| frame.is_high(&golden.ports.rsp_ready)) {
                let request = waiting.pop_front().unwrap();
                let swap = request.atomic.filter(|o| o.code == amo::CAS);
                if let Some(swap) = swap.filter(|_| !answer.control.error) {
                    let finds = (0..8).any(|lane| {
                        let word = answer.data[lane][0];
                        request.mask >> lane & 1 == 1 && word != 0 && word == swap.expected[lane]
                    });
                    swaps[usize::from(!finds)] += 1;
                }
            }
            if ready {
                waiting.extend(golden.ports.request(&frame, golden.operations.as_ref()));
            }
        }
        swaps
    }

    #[test]
    fn compare_and_swaps_find_what_they_expect_and_miss_it() {
        let [found, missed] = swaps();
        assert!(found > 20 && missed > 20, "{found} found, {missed} not");
    }
}
