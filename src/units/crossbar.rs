//! `spad_crossbar`: groups that an arbiter can form, with any data and byte
//! enables, and free response selects.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::pattern::{LaneAccess, Patterns};
use super::support::ports;
use crate::model::{Crossbar, RequestInputs, ResponseInputs};

ports!(Ports {
    in served leader lane_bank lane_row lane_data lane_be sel_valid sel_bank bank_rdata;
    out bank_row bank_wdata bank_wbe lane_rdata;
});

struct CrossbarDriver {
    ports: Ports,
    patterns: Patterns,
    lanes: usize,
    banks: usize,
    word_bits: usize,
}

pub(super) fn crossbar(setup: &Setup) -> Box<dyn Bench> {
    let config = setup.config;
    let (lanes, word_bits) = (config.lanes as usize, config.word_bits as usize);
    let driver = CrossbarDriver {
        ports: Ports::new(setup.layout),
        patterns: Patterns::new(config, setup.trace),
        lanes,
        banks: config.geometry.banks(),
        word_bits,
    };
    let golden = GoldenCrossbar {
        ports: Ports::new(setup.layout),
        model: Crossbar {
            word_bytes: config.word_bytes(),
            merge: config.path.merge_bytes,
        },
        lanes,
        word_bits,
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl CrossbarDriver {
    /// Leaders and served lanes of the first group: the lowest lane of each
    /// bank, and all on its row.
    fn first_group(&self, access: &LaneAccess) -> (u64, u64) {
        let (mut leader, mut served, mut bank_valid) = (0u64, 0u64, 0u64);
        let mut bank_lane = vec![0u8; self.banks];
        for i in (0..self.lanes).filter(|i| access.mask >> i & 1 == 1) {
            let bank = access.bank[i] as usize;
            if bank_valid >> bank & 1 == 0 {
                (leader, bank_valid) = (leader | 1 << i, bank_valid | 1 << bank);
                bank_lane[bank] = i as u8;
            }
            let same_row = access.row[bank_lane[bank] as usize] == access.row[i];
            served |= u64::from(same_row) << i;
        }
        (leader, served)
    }
}

impl Driver for CrossbarDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let (p, lanes, bits) = (&self.ports, self.lanes, self.word_bits);
        let access = self.patterns.next(stimulus, true);
        let (leader, served) = self.first_group(&access);
        let (bank_bits, row_bits) = (p.sel_bank.width / lanes, p.lane_row.width / lanes);
        frame.drive_bits(&p.served, served.into());
        frame.drive_bits(&p.leader, leader.into());
        frame.drive_fields(&p.lane_bank, bank_bits, access.bank);
        frame.drive_fields(&p.lane_row, row_bits, access.row);
        frame.drive_any(&p.lane_data, stimulus);
        frame.drive_any(&p.bank_rdata, stimulus);
        // Few bytes each, so that those of several lanes meet in a word.
        let few = |_| stimulus.bits() & stimulus.bits();
        frame.drive_fields(&p.lane_be, bits / 8, (0..lanes).map(few));
        frame.drive_bits(&p.sel_valid, stimulus.wide(lanes));
        let select = |_| stimulus.below(self.banks as u32);
        frame.drive_fields(&p.sel_bank, bank_bits, (0..lanes).map(select));
    }
}

#[derive(Clone)]
struct GoldenCrossbar {
    ports: Ports,
    model: Crossbar,
    lanes: usize,
    word_bits: usize,
}

impl Golden for GoldenCrossbar {
    fn respond(&mut self, frame: &mut Frame) {
        let (p, lanes, bits) = (&self.ports, self.lanes, self.word_bits);
        let (bank_bits, row_bits) = (p.sel_bank.width / lanes, p.lane_row.width / lanes);
        let lane_bank: Vec<u8> = frame.driven_list(&p.lane_bank, bank_bits);
        let lane_row: Vec<u16> = frame.driven_list(&p.lane_row, row_bits);
        let lane_data: Vec<u64> = frame.driven_list(&p.lane_data, bits);
        let lane_be: Vec<u8> = frame.driven_list(&p.lane_be, bits / 8);
        let sel_bank: Vec<u8> = frame.driven_list(&p.sel_bank, bank_bits);
        let bank_rdata: Vec<u64> = frame.driven_list(&p.bank_rdata, bits);
        let request = RequestInputs {
            served: frame.driven_mask(&p.served),
            leader: frame.driven_mask(&p.leader),
            lane_bank: &lane_bank,
            lane_row: &lane_row,
            lane_data: &lane_data,
            lane_be: &lane_be,
        };
        let response = ResponseInputs {
            sel_valid: frame.driven_mask(&p.sel_valid),
            sel_bank: &sel_bank,
            bank_rdata: &bank_rdata,
        };
        let out = self.model.eval(&request, &response);
        frame.expect_fields(&p.bank_row, row_bits, out.banks.row);
        frame.expect_fields(&p.bank_wdata, bits, out.banks.wdata);
        frame.expect_fields(&p.bank_wbe, bits / 8, out.banks.wbe);
        frame.expect_fields(&p.lane_rdata, bits, out.lane_rdata);
    }
}
