//! `spad_crossbar`: groups that an arbiter can form, with any data, each byte of
//! a bank by one lane at most, and free response selects.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::pattern::{LaneAccess, Patterns};
use super::support::ports;
use crate::model::{self, RequestInputs, ResponseInputs};

ports!(Ports {
    in leader lane_bank lane_row lane_data lane_writes sel_valid sel_bank bank_rdata;
    out bank_row bank_wdata bank_wbe lane_rdata;
});

struct CrossbarDriver {
    ports: Ports,
    patterns: Patterns,
    lanes: usize,
    banks: usize,
    word_bits: usize,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
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
        lanes,
        word_bits,
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl CrossbarDriver {
    /// Leaders of the first group, the lowest lane of each bank, and what the
    /// lanes on their rows write of the bytes `be`, the lowest lane first.
    fn first_group(&self, access: &LaneAccess, mut be: Vec<u32>) -> (u64, Vec<u32>) {
        let all = u32::MAX >> (32 - self.word_bits / 8);
        let (mut leader, mut row) = (0u64, vec![None; self.banks]);
        let mut taken = vec![0u32; self.banks];
        for (i, be) in be.iter_mut().enumerate() {
            let bank = access.bank[i] as usize;
            let active = access.mask >> i & 1 == 1;
            if active && row[bank].is_none() {
                leader |= 1 << i;
                row[bank] = Some(access.row[i]);
            }
            *be = if active && row[bank] == Some(access.row[i]) {
                *be & all & !taken[bank]
            } else {
                0
            };
            taken[bank] |= *be;
        }
        (leader, be)
    }
}

impl Driver for CrossbarDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let (p, lanes, bits) = (&self.ports, self.lanes, self.word_bits);
        let access = self.patterns.next(stimulus, true);
        let (bank_bits, row_bits) = (p.sel_bank.width / lanes, p.lane_row.width / lanes);
        frame.drive_any(&p.lane_data, stimulus);
        frame.drive_any(&p.bank_rdata, stimulus);
        // Few bytes each, so that those of several lanes meet in a word.
        let few = |_| stimulus.bits() & stimulus.bits();
        let (leader, writes) = self.first_group(&access, (0..lanes).map(few).collect());
        frame.drive_bits(&p.leader, leader.into());
        frame.drive_fields(&p.lane_bank, bank_bits, access.bank);
        frame.drive_fields(&p.lane_row, row_bits, access.row);
        frame.drive_fields(&p.lane_writes, bits / 8, writes);
        frame.drive_bits(&p.sel_valid, stimulus.wide(lanes));
        let select = |_| stimulus.below(self.banks as u32);
        frame.drive_fields(&p.sel_bank, bank_bits, (0..lanes).map(select));
    }
}

#[derive(Clone)]
struct GoldenCrossbar {
    ports: Ports,
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
        let lane_writes: Vec<u8> = frame.driven_list(&p.lane_writes, bits / 8);
        let sel_bank: Vec<u8> = frame.driven_list(&p.sel_bank, bank_bits);
        let bank_rdata: Vec<u64> = frame.driven_list(&p.bank_rdata, bits);
        let request = RequestInputs {
            leader: frame.driven_mask(&p.leader),
            lane_bank: &lane_bank,
            lane_row: &lane_row,
            lane_data: &lane_data,
            lane_writes: &lane_writes,
        };
        let response = ResponseInputs {
            sel_valid: frame.driven_mask(&p.sel_valid),
            sel_bank: &sel_bank,
            bank_rdata: &bank_rdata,
        };
        let out = model::crossbar(&request, &response);
        frame.expect_fields(&p.bank_row, row_bits, out.banks.row);
        frame.expect_fields(&p.bank_wdata, bits, out.banks.wdata);
        frame.expect_fields(&p.bank_wbe, bits / 8, out.banks.wbe);
        frame.expect_fields(&p.lane_rdata, bits, out.lane_rdata);
    }
}
