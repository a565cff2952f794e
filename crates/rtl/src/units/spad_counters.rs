//! Performance counters.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::support::{ports, reset};
use crate::model::{CounterInputs, Counters};
use spadkit_hdl::codes::{kind, seq, source};

ports!(CounterPorts {
    in rst clear iss_valid stall masked seq_state wb_valid wb_ready wb_src wb_kind wb_degree
       wr_en wr_index wr_data rd_index;
    out rd_count;
});

#[derive(Clone)]
struct GoldenCounters {
    ports: CounterPorts,
    model: Counters,
}

struct CounterDriver {
    ports: CounterPorts,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let ports = CounterPorts::new(setup.layout);
    let golden = GoldenCounters {
        ports: ports.clone(),
        model: Counters::default(),
    };
    let driver = CounterDriver { ports };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for CounterDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        reset(stimulus, frame, &p.rst);
        // Rarely, so that counters get far enough to carry.
        frame.drive(&p.clear, stimulus.one_in(4096).into());
        frame.drive(&p.iss_valid, (!stimulus.one_in(4)).into());
        frame.drive(&p.stall, stimulus.below(4));
        frame.drive(&p.masked, stimulus.one_in(2).into());
        let state = if stimulus.one_in(2) {
            seq::READ.into()
        } else {
            stimulus.below(1 << p.seq_state.width)
        };
        frame.drive(&p.seq_state, state);
        frame.drive(&p.wb_valid, (!stimulus.one_in(4)).into());
        frame.drive(&p.wb_ready, (!stimulus.one_in(4)).into());
        let src = if stimulus.one_in(4) {
            stimulus.below(1 << p.wb_src.width)
        } else {
            source::MEM.into()
        };
        frame.drive(&p.wb_src, src);
        let kind = if stimulus.one_in(4) {
            stimulus.below(1 << p.wb_kind.width)
        } else {
            stimulus.below(u32::from(kind::ATOMIC) + 1)
        };
        frame.drive(&p.wb_kind, kind);
        frame.drive(&p.wb_degree, stimulus.below(1 << p.wb_degree.width));
        // High bits are out of reach of counting alone.
        frame.drive(&p.wr_en, stimulus.one_in(16).into());
        frame.drive(&p.wr_index, stimulus.below(1 << p.wr_index.width));
        frame.drive(&p.wr_data, stimulus.bits());
        frame.drive(&p.rd_index, stimulus.below(1 << p.rd_index.width));
    }
}

impl Golden for GoldenCounters {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let taken = frame.is_high(&p.wb_valid) && frame.is_high(&p.wb_ready);
        let result = (
            frame.driven(&p.wb_src) as u8,
            frame.driven(&p.wb_kind) as u8,
            frame.driven(&p.wb_degree),
        );
        let write = (frame.driven(&p.wr_index) as u8, frame.driven(&p.wr_data));
        let count = self.model.step(&CounterInputs {
            rst: frame.is_high(&p.rst),
            clear: frame.is_high(&p.clear),
            iss_valid: frame.is_high(&p.iss_valid),
            stall: frame.driven(&p.stall) as u8,
            masked: frame.is_high(&p.masked),
            seq_state: frame.driven(&p.seq_state) as u8,
            write: frame.is_high(&p.wr_en).then_some(write),
            written: taken.then_some(result),
            rd_index: frame.driven(&p.rd_index) as u8,
        });
        frame.expect(&p.rd_count, count);
    }
}
