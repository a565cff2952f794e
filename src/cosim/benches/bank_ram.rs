//! `spad_bank_ram`: few rows, so that reads find what was written.

use super::support::{drive_reset, ports, reset};
use crate::config::Config;
use crate::cosim::bench::{Bench, Frame, Golden, Stimulus};
use crate::cosim::layout::Layout;
use crate::model::{BankInputs, BankRam};

ports!(Ports {
    in rst en we be row wdata;
    out dout;
});

#[derive(Clone)]
struct GoldenRam {
    ports: Ports,
    model: BankRam,
}

pub(super) struct BankRamBench {
    golden: GoldenRam,
    power_up: GoldenRam,
    word_bits: usize,
    rows: usize,
}

impl BankRamBench {
    pub(super) fn new(config: &Config, layout: &Layout) -> Self {
        let rows = config.capacity_words as usize / config.geometry.banks();
        let golden = GoldenRam {
            ports: Ports::new(layout),
            model: BankRam::new(rows),
        };
        BankRamBench {
            power_up: golden.clone(),
            golden,
            word_bits: config.word_bits as usize,
            rows,
        }
    }
}

impl Bench for BankRamBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.golden.ports;
        let rst = reset(stimulus);
        let row = stimulus.below(self.rows as u32);
        frame.drive(&p.en, (!stimulus.one_in(4)).into());
        frame.drive(&p.we, stimulus.one_in(2).into());
        frame.drive(&p.be, stimulus.wide(self.word_bits / 8) as u32);
        frame.drive(&p.row, if stimulus.one_in(8) { row } else { row & 3 });
        frame.drive_bits(&p.wdata, stimulus.wide(self.word_bits));
        drive_reset(stimulus, frame, &p.rst, rst);
        self.golden.respond(frame);
    }

    fn golden(&self) -> Option<Box<dyn Golden>> {
        Some(Box::new(self.power_up.clone()))
    }
}

impl Golden for GoldenRam {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let inputs = BankInputs {
            rst: frame.is_high(&p.rst),
            en: frame.is_high(&p.en),
            we: frame.is_high(&p.we),
            be: frame.driven(&p.be) as u8,
            row: frame.driven(&p.row) as u16,
            wdata: frame.driven_mask(&p.wdata),
        };
        frame.expect_bits(&p.dout, self.model.step(&inputs).into());
    }
}
