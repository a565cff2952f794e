//! `spad_scratchpad`: all operations, in bounds and beyond, with back-pressure.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::pattern::{LaneAccess, Patterns};
use super::support::{Rhythm, ports, reset};
use crate::model::{Scratchpad, ScratchpadInputs};

ports!(Ports {
    in rst req_valid req_op req_mask req_bank req_row req_lock req_data req_be req_tag resp_ready;
    out req_ready resp_valid resp_op resp_mask resp_tag resp_data resp_success resp_error
        resp_degree stages busy_more blocked;
});

#[derive(Clone)]
struct GoldenScratchpad {
    ports: Ports,
    model: Scratchpad<u64>,
    lanes: usize,
    word_bits: usize,
}

struct ScratchpadDriver {
    ports: Ports,
    lanes: usize,
    patterns: Patterns,
    offer: Rhythm,
    ready: Rhythm,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let (lanes, word_bits) = (setup.config.lanes as usize, setup.config.word_bits as usize);
    let driver = ScratchpadDriver {
        ports: Ports::new(setup.layout),
        lanes,
        patterns: Patterns::new(setup.config, setup.trace),
        offer: Rhythm::default(),
        ready: Rhythm::default(),
    };
    let golden = GoldenScratchpad {
        ports: Ports::new(setup.layout),
        model: Scratchpad::new(setup.config),
        lanes,
        word_bits,
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for ScratchpadDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let (p, lanes) = (&self.ports, self.lanes);
        reset(stimulus, frame, &p.rst);
        let LaneAccess {
            mask,
            bank,
            row,
            lock,
        } = self.patterns.next(stimulus, true);
        frame.drive(&p.req_valid, self.offer.beat(stimulus).into());
        let op = [0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7][stimulus.below(13) as usize];
        frame.drive(&p.req_op, op);
        frame.drive_bits(&p.req_mask, mask.into());
        frame.drive_fields(&p.req_bank, p.req_bank.width / lanes, bank);
        frame.drive_fields(&p.req_row, p.req_row.width / lanes, row);
        frame.drive_fields(&p.req_lock, p.req_lock.width / lanes, lock);
        frame.drive_any(&p.req_data, stimulus);
        frame.drive_any(&p.req_be, stimulus);
        frame.drive_bits(&p.req_tag, stimulus.wide(p.req_tag.width));
        frame.drive(&p.resp_ready, self.ready.beat(stimulus).into());
    }
}

impl Golden for GoldenScratchpad {
    fn respond(&mut self, frame: &mut Frame) {
        let (p, lanes, bits) = (&self.ports, self.lanes, self.word_bits);
        let bank: Vec<u8> = frame.driven_list(&p.req_bank, p.req_bank.width / lanes);
        let row: Vec<u16> = frame.driven_list(&p.req_row, p.req_row.width / lanes);
        let lock: Vec<u16> = frame.driven_list(&p.req_lock, p.req_lock.width / lanes);
        let data: Vec<u64> = frame.driven_list(&p.req_data, bits);
        let be: Vec<u8> = frame.driven_list(&p.req_be, bits / 8);
        let inputs = ScratchpadInputs {
            rst: frame.is_high(&p.rst),
            req_valid: frame.is_high(&p.req_valid),
            req_op: frame.driven(&p.req_op) as u8,
            req_mask: frame.driven_mask(&p.req_mask),
            req_bank: &bank,
            req_row: &row,
            req_lock: &lock,
            req_data: &data,
            req_be: &be,
            req_tag: frame.driven_mask(&p.req_tag),
            resp_ready: frame.is_high(&p.resp_ready),
        };
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
        frame.expect(&p.stages, out.stages);
        frame.expect(&p.busy_more, out.busy_more.into());
        frame.expect(&p.blocked, out.blocked.into());
    }
}
