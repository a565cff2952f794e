//! `spad_conflict_arbiter`: accesses of all degrees, held up in every position.

use super::pattern::{LaneAccess, Patterns};
use super::support::{Rhythm, drive_reset, ports, reset};
use crate::config::Config;
use crate::cosim::bench::{Bench, Frame, Stimulus};
use crate::cosim::layout::Layout;
use crate::model::{ArbiterInputs, ConflictArbiter};
use crate::trace::AccessTrace;

ports!(Ports {
    in rst req_valid req_mask req_access req_bank req_row adv;
    out req_ready grp_valid grp_last grp_served grp_leader grp_bank_valid grp_lane grp_bank
        grp_row grp_degree;
});

pub(super) struct ArbiterBench {
    ports: Ports,
    model: ConflictArbiter,
    patterns: Patterns,
    lanes: usize,
    banks: usize,
    offer: Rhythm,
    adv: Rhythm,
}

impl ArbiterBench {
    pub(super) fn new(config: &Config, layout: &Layout, trace: Option<&AccessTrace>) -> Self {
        let lanes = config.lanes as usize;
        ArbiterBench {
            ports: Ports::new(layout),
            model: ConflictArbiter::new(lanes, config.path.broadcast),
            patterns: Patterns::new(config, trace),
            lanes,
            banks: config.geometry.banks(),
            offer: Rhythm::default(),
            adv: Rhythm::default(),
        }
    }
}

impl Bench for ArbiterBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        let rst = reset(stimulus);
        let LaneAccess {
            mask, bank, row, ..
        } = self.patterns.next(stimulus, true);
        let inputs = ArbiterInputs {
            rst,
            req_valid: self.offer.beat(stimulus),
            req_mask: mask,
            req_access: !stimulus.one_in(8),
            req_bank: &bank,
            req_row: &row,
            adv: self.adv.beat(stimulus),
        };
        let (bank_bits, row_bits) = (p.req_bank.width / self.lanes, p.req_row.width / self.lanes);
        frame.drive(&p.req_valid, inputs.req_valid.into());
        frame.drive_bits(&p.req_mask, mask.into());
        frame.drive(&p.req_access, inputs.req_access.into());
        frame.drive_fields(&p.req_bank, bank_bits, bank.iter().copied());
        frame.drive_fields(&p.req_row, row_bits, row.iter().copied());
        frame.drive(&p.adv, inputs.adv.into());
        let out = self.model.step(&inputs);
        let group = &out.group;
        frame.expect(&p.req_ready, out.req_ready.into());
        frame.expect(&p.grp_valid, group.valid.into());
        frame.expect(&p.grp_last, group.last.into());
        frame.expect_bits(&p.grp_served, group.served.into());
        frame.expect_bits(&p.grp_leader, group.leader.into());
        frame.expect_bits(&p.grp_bank_valid, group.bank_valid.into());
        let lane_bits = p.grp_lane.width / self.banks;
        frame.expect_fields(&p.grp_lane, lane_bits, group.lane);
        frame.expect_fields(&p.grp_bank, bank_bits, group.bank);
        frame.expect_fields(&p.grp_row, row_bits, group.row);
        frame.expect(&p.grp_degree, group.degree);
        drive_reset(stimulus, frame, &p.rst, rst);
    }
}
