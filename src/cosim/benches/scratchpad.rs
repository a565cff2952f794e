//! `spad_scratchpad`: all operations, in bounds and beyond, with back-pressure.

use super::pattern::{LaneAccess, Patterns};
use super::support::{Rhythm, drive_reset, ports, reset};
use crate::config::Config;
use crate::cosim::bench::{Bench, Frame, Stimulus};
use crate::cosim::layout::Layout;
use crate::model::{Scratchpad, ScratchpadInputs};
use crate::trace::AccessTrace;

ports!(Ports {
    in rst req_valid req_op req_mask req_bank req_row req_lock req_data req_be req_tag resp_ready;
    out req_ready resp_valid resp_op resp_mask resp_tag resp_data resp_success resp_error
        resp_degree busy_more blocked;
});

pub(super) struct ScratchpadBench {
    ports: Ports,
    model: Scratchpad<u64>,
    patterns: Patterns,
    lanes: usize,
    word_bits: usize,
    offer: Rhythm,
    ready: Rhythm,
}

impl ScratchpadBench {
    pub(super) fn new(config: &Config, layout: &Layout, trace: Option<&AccessTrace>) -> Self {
        ScratchpadBench {
            ports: Ports::new(layout),
            model: Scratchpad::new(config),
            patterns: Patterns::new(config, trace),
            lanes: config.lanes as usize,
            word_bits: config.word_bits as usize,
            offer: Rhythm::default(),
            ready: Rhythm::default(),
        }
    }
}

impl Bench for ScratchpadBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        let (rst, lanes, bits) = (reset(stimulus), self.lanes, self.word_bits);
        let LaneAccess {
            mask,
            bank,
            row,
            lock,
        } = self.patterns.next(stimulus, true);
        let data: Vec<u64> = (0..lanes).map(|_| stimulus.wide(bits) as u64).collect();
        let be: Vec<u8> = (0..lanes).map(|_| stimulus.wide(bits / 8) as u8).collect();
        let inputs = ScratchpadInputs {
            rst,
            req_valid: self.offer.beat(stimulus),
            req_op: [0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7][stimulus.below(13) as usize],
            req_mask: mask,
            req_bank: &bank,
            req_row: &row,
            req_lock: &lock,
            req_data: &data,
            req_be: &be,
            req_tag: stimulus.wide(p.req_tag.width) as u64,
            resp_ready: self.ready.beat(stimulus),
        };
        frame.drive(&p.req_valid, inputs.req_valid.into());
        frame.drive(&p.req_op, inputs.req_op.into());
        frame.drive_bits(&p.req_mask, mask.into());
        frame.drive_fields(&p.req_bank, p.req_bank.width / lanes, bank.iter().copied());
        frame.drive_fields(&p.req_row, p.req_row.width / lanes, row.iter().copied());
        frame.drive_fields(&p.req_lock, p.req_lock.width / lanes, lock.iter().copied());
        frame.drive_fields(&p.req_data, bits, data.iter().copied());
        frame.drive_fields(&p.req_be, bits / 8, be.iter().copied());
        frame.drive_bits(&p.req_tag, inputs.req_tag.into());
        frame.drive(&p.resp_ready, inputs.resp_ready.into());
        let out = self.model.step(&inputs);
        frame.expect(&p.req_ready, out.req_ready.into());
        frame.expect(&p.resp_valid, out.resp.valid.into());
        frame.expect(&p.resp_op, out.resp.op.into());
        frame.expect_bits(&p.resp_mask, out.resp.mask.into());
        frame.expect_bits(&p.resp_tag, out.resp.tag.into());
        frame.expect_fields(&p.resp_data, bits, out.resp_data);
        frame.expect_bits(&p.resp_success, out.resp.success.into());
        frame.expect(&p.resp_error, out.resp.error.into());
        frame.expect(&p.resp_degree, out.resp.degree);
        frame.expect(&p.busy_more, out.busy_more.into());
        frame.expect(&p.blocked, out.blocked.into());
        drive_reset(stimulus, frame, &p.rst, rst);
    }
}
