//! `spad_atomic_bank`: few rows, so that accesses of one word follow each other.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::support::{Resets, ports};
use crate::model::spad_atomic_bank::amo;
use crate::model::{AtomicBank, BankOperation};

ports!(Ports {
    in rst en amo aop we be row data cmp lanes reserved;
    out dout written at;
});

/// An access that waits for its second cycle.
#[derive(Clone, Copy)]
struct Begun {
    row: usize,
    /// Operation of the access; of a store-conditional, without what is known in the
    /// second cycle.
    operation: BankOperation,
    data: u64,
}

/// An access that waits for its third cycle.
#[derive(Clone, Copy)]
struct Answered {
    row: usize,
    written: bool,
    /// The word before it.
    before: u64,
}

#[derive(Clone)]
struct GoldenBank {
    ports: Ports,
    model: AtomicBank,
    /// The access in its second cycle.
    begun: Option<Begun>,
    /// The access in its third cycle.
    answered: Option<Answered>,
    /// The reset is asynchronous.
    asynchronous: bool,
}

struct BankDriver {
    resets: Resets,
    ports: Ports,
    word_bits: usize,
    rows: u32,
    /// The word of the last access.
    word: u64,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let rows = setup.config.parameters().ROWS;
    let word_bits = setup.config.word_bits;
    let driver = BankDriver {
        resets: Resets::default(),
        ports: Ports::new(setup.layout),
        word_bits: word_bits as usize,
        rows: rows as u32,
        word: 0,
    };
    let golden = GoldenBank {
        ports: Ports::new(setup.layout),
        model: AtomicBank::new(rows, word_bits),
        begun: None,
        answered: None,
        asynchronous: setup.reset.is_async(),
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for BankDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.ports;
        self.resets.drive(stimulus, frame, &p.rst);
        let row = stimulus.below(self.rows);
        let few = 3.min(self.rows - 1);
        frame.drive(&p.en, (!stimulus.one_in(4)).into());
        frame.drive(&p.amo, (!stimulus.one_in(3)).into());
        let aop = stimulus.below(20);
        frame.drive(&p.aop, if aop < 16 { aop } else { amo::CAS.into() });
        frame.drive(&p.we, stimulus.one_in(2).into());
        frame.drive(&p.be, stimulus.wide(self.word_bits / 8) as u32);
        frame.drive(&p.row, if stimulus.one_in(8) { row } else { row & few });
        let any = stimulus.word(self.word_bits);
        // Numbers that are small, and such that differ from the word in one bit.
        let near = self.word ^ 1 << stimulus.below(self.word_bits as u32);
        let data = [any, any, any & 3, near][stimulus.below(4) as usize];
        frame.drive_bits(&p.data, data.into());
        // Often the word, if the access is of the row of the last one.
        let other = stimulus.word(self.word_bits);
        let expected = if stimulus.one_in(3) { other } else { self.word };
        frame.drive_bits(&p.cmp, expected.into());
        frame.drive_bits(&p.lanes, stimulus.wide(p.lanes.width));
        frame.drive(&p.reserved, stimulus.one_in(2).into());
    }

    fn follow(&mut self, _stimulus: &mut Stimulus, frame: &Frame) {
        let p = &self.ports;
        let shown = frame.shown_bits(&p.dout) as u64;
        // The word after a write or an exchange is known, too.
        let data = frame.driven_mask(&p.data);
        self.word = if frame.is_high(&p.we) { data } else { shown };
    }
}

impl GoldenBank {
    /// The access that a frame begins.
    fn begun(&self, frame: &Frame) -> Begun {
        let p = &self.ports;
        let operation = if frame.is_high(&p.amo) {
            BankOperation::Atomic {
                code: frame.driven(&p.aop) as u8,
                expected: frame.driven_mask(&p.cmp),
                reserved: false,
            }
        } else if frame.is_high(&p.we) {
            BankOperation::Write {
                be: frame.driven(&p.be) as u8,
            }
        } else {
            BankOperation::Read
        };
        let counts = matches!(
            operation,
            BankOperation::Atomic {
                code: amo::COUNT,
                ..
            }
        );
        Begun {
            row: frame.driven(&p.row) as usize,
            operation,
            data: if counts {
                frame.driven_mask(&p.lanes).count_ones().into()
            } else {
                frame.driven_mask(&p.data)
            },
        }
    }
}

impl Golden for GoldenBank {
    fn respond(&mut self, frame: &mut Frame) {
        let p = &self.ports;
        let third = self.answered.take();
        match third {
            Some(answered) => {
                frame.expect(&p.written, answered.written.into());
                frame.expect(&p.at, answered.row as u32);
            }
            None => {
                frame.expect(&p.written, 0);
                frame.ignore(&p.at);
            }
        }
        match self.begun.take() {
            Some(Begun {
                row,
                mut operation,
                data,
            }) => {
                if let BankOperation::Atomic { reserved, .. } = &mut operation {
                    *reserved = frame.is_high(&p.reserved);
                }
                let before = self.model.word(row);
                let answer = self.model.access(row, operation, data);
                frame.expect_bits(&p.dout, answer.word.into());
                if frame.is_high(&p.rst) {
                    self.model.restore(row, before);
                } else {
                    self.answered = Some(Answered {
                        row,
                        written: answer.written,
                        before,
                    });
                }
            }
            None => frame.ignore(&p.dout),
        }
        if frame.is_high(&p.rst) {
            // The later access has been taken back.
            if let Some(answered) = third.filter(|_| self.asynchronous) {
                self.model.restore(answered.row, answered.before);
            }
            return;
        }
        if !frame.is_high(&p.en) {
            return;
        }
        self.begun = Some(self.begun(frame));
    }
}
