//! `spad_crossbar`: groups that an arbiter can form, with any data and byte
//! enables, and free response selects.

use super::pattern::Patterns;
use super::support::ports;
use crate::config::Config;
use crate::cosim::bench::{Bench, Frame, Stimulus};
use crate::cosim::layout::Layout;
use crate::model::{Crossbar, RequestInputs, ResponseInputs};
use crate::trace::AccessTrace;

ports!(Ports {
    in served leader lane_bank lane_row lane_data lane_be sel_valid sel_bank bank_rdata;
    out bank_row bank_wdata bank_wbe lane_rdata;
});

pub(super) struct CrossbarBench {
    ports: Ports,
    model: Crossbar,
    patterns: Patterns,
    lanes: usize,
    banks: usize,
    word_bits: usize,
}

impl CrossbarBench {
    pub(super) fn new(config: &Config, layout: &Layout, trace: Option<&AccessTrace>) -> Self {
        CrossbarBench {
            ports: Ports::new(layout),
            model: Crossbar {
                word_bytes: config.word_bytes(),
                merge: config.path.merge_bytes,
            },
            patterns: Patterns::new(config, trace),
            lanes: config.lanes as usize,
            banks: config.geometry.banks(),
            word_bits: config.word_bits as usize,
        }
    }
}

impl Bench for CrossbarBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        let access = self.patterns.next(stimulus, true);
        // The first group: the lowest lane of each bank and all on its row.
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
        let word = |s: &mut Stimulus| s.wide(self.word_bits) as u64;
        let lane_data: Vec<u64> = (0..self.lanes).map(|_| word(stimulus)).collect();
        let bank_rdata: Vec<u64> = (0..self.banks).map(|_| word(stimulus)).collect();
        let byte_mask = (1u32 << (self.word_bits / 8)) - 1;
        let lane_be: Vec<u8> = (0..self.lanes)
            .map(|_| (stimulus.bits() & stimulus.bits() & byte_mask) as u8)
            .collect();
        let sel_valid = stimulus.wide(self.lanes) as u64;
        let sel_bank: Vec<u8> = (0..self.lanes)
            .map(|_| stimulus.below(self.banks as u32) as u8)
            .collect();
        let (bank_bits, row_bits) = (p.sel_bank.width / self.lanes, p.lane_row.width / self.lanes);
        frame.drive_bits(&p.served, served.into());
        frame.drive_bits(&p.leader, leader.into());
        frame.drive_fields(&p.lane_bank, bank_bits, access.bank.iter().copied());
        frame.drive_fields(&p.lane_row, row_bits, access.row.iter().copied());
        frame.drive_fields(&p.lane_data, self.word_bits, lane_data.iter().copied());
        frame.drive_fields(&p.lane_be, self.word_bits / 8, lane_be.iter().copied());
        frame.drive_bits(&p.sel_valid, sel_valid.into());
        frame.drive_fields(&p.sel_bank, bank_bits, sel_bank.iter().copied());
        frame.drive_fields(&p.bank_rdata, self.word_bits, bank_rdata.iter().copied());
        let request = RequestInputs {
            served,
            leader,
            lane_bank: &access.bank,
            lane_row: &access.row,
            lane_data: &lane_data,
            lane_be: &lane_be,
        };
        let response = ResponseInputs {
            sel_valid,
            sel_bank: &sel_bank,
            bank_rdata: &bank_rdata,
        };
        let out = self.model.eval(&request, &response);
        frame.expect_fields(&p.bank_row, row_bits, out.banks.row);
        frame.expect_fields(&p.bank_wdata, self.word_bits, out.banks.wdata);
        frame.expect_fields(&p.bank_wbe, self.word_bits / 8, out.banks.wbe);
        frame.expect_fields(&p.lane_rdata, self.word_bits, out.lane_rdata);
    }
}
