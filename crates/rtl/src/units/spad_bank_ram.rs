//! `spad_bank_ram`: few rows, so that reads find what was written.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::support::{ports, reset};
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

struct RamDriver {
    ports: Ports,
    word_bits: usize,
    rows: u32,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let rows = setup.config.parameters().ROWS as u32;
    let driver = RamDriver {
        ports: Ports::new(setup.layout),
        word_bits: setup.config.word_bits as usize,
        rows,
    };
    let golden = GoldenRam {
        ports: Ports::new(setup.layout),
        model: BankRam::new(rows as usize),
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for RamDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        reset(stimulus, frame, &p.rst);
        let row = stimulus.below(self.rows);
        frame.drive(&p.en, (!stimulus.one_in(4)).into());
        frame.drive(&p.we, stimulus.one_in(2).into());
        frame.drive(&p.be, stimulus.wide(self.word_bits / 8) as u32);
        frame.drive(&p.row, if stimulus.one_in(8) { row } else { row & 3 });
        frame.drive_bits(&p.wdata, stimulus.wide(self.word_bits));
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
