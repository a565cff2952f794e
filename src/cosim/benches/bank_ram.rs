//! `spad_bank_ram`: few rows, so that reads find what was written.

use super::support::{drive_reset, ports, reset};
use crate::config::Config;
use crate::cosim::bench::{Bench, Frame, Stimulus};
use crate::cosim::layout::Layout;
use crate::model::{BankInputs, BankRam};

ports!(Ports {
    in rst en we be row wdata;
    out dout;
});

pub(super) struct BankRamBench {
    ports: Ports,
    model: BankRam,
    word_bits: usize,
}

impl BankRamBench {
    pub(super) fn new(config: &Config, layout: &Layout) -> Self {
        let rows = config.capacity_words as usize / config.geometry.banks();
        BankRamBench {
            ports: Ports::new(layout),
            model: BankRam::new(rows),
            word_bits: config.word_bits as usize,
        }
    }
}

impl Bench for BankRamBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        let rst = reset(stimulus);
        let row = stimulus.below(1 << p.row.width);
        let inputs = BankInputs {
            rst,
            en: !stimulus.one_in(4),
            we: stimulus.one_in(2),
            be: stimulus.wide(self.word_bits / 8) as u8,
            row: (if stimulus.one_in(8) { row } else { row & 3 }) as u16,
            wdata: stimulus.wide(self.word_bits) as u64,
        };
        frame.drive(&p.en, inputs.en.into());
        frame.drive(&p.we, inputs.we.into());
        frame.drive(&p.be, inputs.be.into());
        frame.drive(&p.row, inputs.row.into());
        frame.drive_bits(&p.wdata, inputs.wdata.into());
        frame.expect_bits(&p.dout, self.model.step(&inputs).into());
        drive_reset(stimulus, frame, &p.rst, rst);
    }
}
