//! `spad_conflict_arbiter`: accesses of all degrees, held up in every position.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::pattern::{LaneAccess, Patterns};
use super::support::{Rhythm, ports, reset};
use crate::model::{ArbiterInputs, ConflictArbiter};

ports!(Ports {
    in rst req_valid req_mask req_access req_bank req_row req_be adv;
    out req_ready grp_valid grp_last grp_served grp_leader grp_writes grp_bank_valid grp_bank
        grp_row grp_degree;
});

#[derive(Clone)]
struct GoldenArbiter {
    ports: Ports,
    model: ConflictArbiter,
    lanes: usize,
    /// An access has come since the reset: banks and rows are of the last one.
    loaded: bool,
}

/// Any access, whenever it likes.
struct ArbiterDriver {
    ports: Ports,
    lanes: usize,
    patterns: Patterns,
    offer: Rhythm,
    adv: Rhythm,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let lanes = setup.config.lanes as usize;
    let driver = ArbiterDriver {
        ports: Ports::new(setup.layout),
        lanes,
        patterns: Patterns::new(setup.config, setup.trace),
        offer: Rhythm::default(),
        adv: Rhythm::default(),
    };
    let golden = GoldenArbiter {
        ports: Ports::new(setup.layout),
        model: ConflictArbiter::of(setup.config),
        lanes,
        loaded: false,
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for ArbiterDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let (p, lanes) = (&self.ports, self.lanes);
        reset(stimulus, frame, &p.rst);
        let LaneAccess {
            mask, bank, row, ..
        } = self.patterns.next(stimulus, true);
        frame.drive(&p.req_valid, self.offer.beat(stimulus).into());
        frame.drive_bits(&p.req_mask, mask.into());
        frame.drive(&p.req_access, (!stimulus.one_in(8)).into());
        frame.drive_fields(&p.req_bank, p.req_bank.width / lanes, bank);
        frame.drive_fields(&p.req_row, p.req_row.width / lanes, row);
        frame.drive(&p.adv, self.adv.beat(stimulus).into());
        // Few bytes each, so that those of several lanes meet in a word.
        let few = |_| stimulus.bits() & stimulus.bits();
        frame.drive_fields(&p.req_be, p.req_be.width / lanes, (0..lanes).map(few));
    }
}

impl Golden for GoldenArbiter {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let (bank_bits, row_bits) = (p.req_bank.width / self.lanes, p.req_row.width / self.lanes);
        let bank: Vec<u8> = frame.driven_list(&p.req_bank, bank_bits);
        let row: Vec<u16> = frame.driven_list(&p.req_row, row_bits);
        let be: Vec<u8> = frame.driven_list(&p.req_be, p.req_be.width / self.lanes);
        let inputs = ArbiterInputs {
            rst: frame.is_high(&p.rst),
            req_valid: frame.is_high(&p.req_valid),
            req_mask: frame.driven_mask(&p.req_mask),
            req_access: frame.is_high(&p.req_access),
            req_bank: &bank,
            req_row: &row,
            req_be: &be,
            adv: frame.is_high(&p.adv),
        };
        let out = self.model.step(&inputs);
        let group = &out.group;
        frame.expect(&p.req_ready, out.req_ready.into());
        frame.expect(&p.grp_valid, group.valid.into());
        frame.expect(&p.grp_last, group.last.into());
        frame.expect_bits(&p.grp_served, group.served.into());
        frame.expect_bits(&p.grp_leader, group.leader.into());
        frame.expect_fields(&p.grp_writes, p.req_be.width / self.lanes, group.writes);
        frame.expect_bits(&p.grp_bank_valid, group.bank_valid.into());
        if self.loaded {
            frame.expect_fields(&p.grp_bank, bank_bits, group.bank);
            frame.expect_fields(&p.grp_row, row_bits, group.row);
        } else {
            frame.ignore(&p.grp_bank);
            frame.ignore(&p.grp_row);
        }
        frame.expect(&p.grp_degree, group.degree);
        self.loaded = !inputs.rst && (self.loaded || (inputs.req_valid && out.req_ready));
    }
}
