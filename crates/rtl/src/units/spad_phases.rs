//! Wide accesses in phases: any memory behind them, which answers in order.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::pattern::Patterns;
use super::stream_atomics::OperationPorts;
use super::support::{Resets, Rhythm, ports};
use super::wide_accesses::{WideNeighbour, WidePorts};
use crate::model::spad_scratchpad::ResponseControl;
use crate::model::{Phases, StreamAnswer};

ports!(MemoryPorts {
    in rst mem_ready ans_valid ans_op ans_tag ans_data ans_success ans_error ans_degree;
    out mem_valid mem_op mem_mask mem_addr mem_data mem_be mem_tag ans_ready;
});

#[derive(Clone)]
struct GoldenPhases {
    ports: WidePorts,
    memory: MemoryPorts,
    /// Ports for the operations of the access, and of the phase.
    operations: Option<[OperationPorts; 2]>,
    model: Phases,
    lanes: usize,
}

impl GoldenPhases {
    /// The answer that the memory offers.
    fn answer(&self, frame: &Frame) -> Option<StreamAnswer> {
        let p = &self.memory;
        frame.is_high(&p.ans_valid).then(|| StreamAnswer {
            control: ResponseControl {
                valid: true,
                op: frame.driven(&p.ans_op) as u8,
                mask: 0,
                tag: frame.driven_mask(&p.ans_tag),
                success: frame.driven_mask(&p.ans_success),
                error: frame.is_high(&p.ans_error),
                degree: frame.driven(&p.ans_degree),
            },
            data: frame.driven_array(&p.ans_data, 32),
        })
    }

    fn expect_phase(&self, frame: &mut Frame) {
        let (p, lanes) = (&self.memory, self.lanes);
        let phase = self.model.phase();
        frame.expect(&p.mem_valid, phase.is_some().into());
        frame.expect(&p.mem_op, phase.map_or(0, |r| r.op.into()));
        frame.expect_bits(&p.mem_mask, phase.map_or(0, |r| r.mask.into()));
        frame.expect_bits(&p.mem_tag, phase.map_or(0, |r| r.tag.into()));
        let addr = phase.map_or(&[][..], |r| &r.addr[..lanes]);
        frame.expect_fields(&p.mem_addr, p.mem_addr.width / lanes, addr.iter().copied());
        let data = phase.map_or(&[][..], |r| &r.data[..lanes]);
        frame.expect_fields(&p.mem_data, 32, data.iter().copied());
        let be = phase.map_or(&[][..], |r| &r.be[..lanes]);
        frame.expect_fields(&p.mem_be, 4, be.iter().copied());
        if let Some([_, ports]) = &self.operations {
            ports.expect(frame, phase.and_then(|r| r.atomic.as_ref()));
        }
    }
}

impl Golden for GoldenPhases {
    fn respond(&mut self, frame: &mut Frame) {
        let (p, memory) = (&self.ports, &self.memory);
        let mem_ready = frame.is_high(&memory.mem_ready);
        let rsp_ready = frame.is_high(&p.rsp_ready);
        let answer = self.answer(frame);
        let shown = self.model.answer(answer.as_ref());
        let ready = self.model.req_ready(mem_ready);
        p.expect(frame, shown.as_ref(), [ready, self.model.idle()]);
        frame.expect(&memory.ans_ready, self.model.ans_ready(rsp_ready).into());
        self.expect_phase(frame);
        let operations = self.operations.as_ref().map(|[ports, _]| ports);
        let request = p.request(frame, operations);
        let rst = frame.is_high(&memory.rst);
        self.model
            .commit(rst, request.as_ref(), mem_ready, answer.as_ref(), rsp_ready);
    }
}

/// Stimulus: a neighbour, and a memory that answers phases in their order.
struct PhasesDriver {
    resets: Resets,
    neighbour: WideNeighbour,
    memory: MemoryPorts,
    patterns: Patterns,
    bank_bits: u32,
    lanes: usize,
    /// Rhythms of the neighbour, and of the memory's two ports.
    offers: Rhythm,
    ready: Rhythm,
    answers: Rhythm,
    /// Phases that the memory has taken and not answered.
    inside: u32,
    /// An answer is offered.
    answered: bool,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let (layout, config) = (setup.layout, setup.config);
    let (ports, memory) = (WidePorts::new(layout), MemoryPorts::new(layout));
    let lanes = config.lanes as usize;
    let driver = PhasesDriver {
        resets: Resets::default(),
        neighbour: WideNeighbour::new(layout),
        memory: memory.clone(),
        patterns: Patterns::new(config, setup.trace),
        bank_bits: config.geometry.bank_bits(),
        lanes,
        offers: Rhythm::with_silence(),
        ready: Rhythm::with_silence(),
        answers: Rhythm::with_silence(),
        inside: 0,
        answered: false,
    };
    let golden = GoldenPhases {
        ports,
        memory,
        operations: OperationPorts::find(layout, 32)
            .zip(OperationPorts::among(&layout.outputs, "mem", 32))
            .map(<[_; 2]>::from),
        model: Phases::new(config),
        lanes,
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl Driver for PhasesDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let p = &self.memory;
        self.resets.drive(stimulus, frame, &p.rst);
        if !self.neighbour.offered && self.offers.beat(stimulus) {
            let access = self.patterns.next(stimulus, true);
            let words = access.words(self.bank_bits, self.lanes);
            self.neighbour.offer(stimulus, frame, (access.mask, words));
        }
        self.neighbour.shake_hands(stimulus, frame);
        frame.drive(&p.mem_ready, self.ready.beat(stimulus).into());
        if !self.answered && self.inside > 0 && self.answers.beat(stimulus) {
            self.answered = true;
            for port in [&p.ans_op, &p.ans_success, &p.ans_error, &p.ans_degree] {
                frame.drive_any(port, stimulus);
            }
            frame.drive_any(&p.ans_tag, stimulus);
            frame.drive_some(&p.ans_data, stimulus);
        }
        frame.drive(&p.ans_valid, self.answered.into());
    }

    fn follow(&mut self, _stimulus: &mut Stimulus, frame: &Frame) {
        let p = &self.memory;
        let taken = frame.shows(&p.mem_valid) && frame.is_high(&p.mem_ready);
        let leaves = self.answered && frame.shows(&p.ans_ready);
        self.inside = self.inside + u32::from(taken) - u32::from(leaves);
        self.answered &= !leaves;
        if frame.is_high(&p.rst) {
            (self.inside, self.answered) = (0, false);
        }
        self.neighbour.follow(frame, &p.rst);
    }
}
