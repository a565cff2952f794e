//! `spad_axi`: a master with bursts of all kinds, also such as AXI does not have,
//! and a memory that grants and answers in its own rhythm.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::support::{Rhythm, ports, reset};
use crate::model::spad_axi::burst;
use crate::model::{Axi, AxiBurst, AxiData, AxiInputs};
use std::collections::VecDeque;

ports!(AxiPorts {
    in rst axi_awvalid axi_awid axi_awaddr axi_awlen axi_awsize axi_awburst
       axi_wvalid axi_wdata axi_wstrb axi_wlast axi_bready
       axi_arvalid axi_arid axi_araddr axi_arlen axi_arsize axi_arburst axi_rready
       tcdm_gnt tcdm_r_valid tcdm_r_rdata tcdm_r_opc;
    out axi_awready axi_wready axi_bvalid axi_bid axi_bresp
        axi_arready axi_rvalid axi_rid axi_rdata axi_rresp axi_rlast
        tcdm_req tcdm_add tcdm_wen tcdm_wdata tcdm_be idle;
});

#[derive(Clone)]
struct GoldenAxi {
    ports: AxiPorts,
    model: Axi,
}

/// Write bursts that are drawn ahead of what is offered.
const AHEAD: usize = 4;

struct AxiDriver {
    ports: AxiPorts,
    /// Bytes of a word, and of all words.
    word_bytes: u64,
    end: u64,
    aw: VecDeque<AxiBurst>,
    w: VecDeque<AxiData>,
    ar: Option<AxiBurst>,
    /// What is offered stays until it is taken: at AW, W and AR.
    offered: [bool; 3],
    /// When each happens: AW, W, B, AR, R, grants, answers.
    rhythms: [Rhythm; 7],
    /// Granted requests that are not answered, and whether one is in this cycle.
    granted: u32,
    answered: bool,
}

pub(super) fn axi(setup: &Setup) -> Box<dyn Bench> {
    let ports = AxiPorts::new(setup.layout);
    let golden = GoldenAxi {
        ports: ports.clone(),
        model: Axi::new(setup.config),
    };
    let p = setup.config.parameters();
    let driver = AxiDriver {
        ports,
        word_bytes: p.DB as u64,
        end: (p.DB as u64) << p.n,
        aw: VecDeque::new(),
        w: VecDeque::new(),
        ar: None,
        offered: [false; 3],
        rhythms: [Rhythm::with_silence(); 7],
        granted: 0,
        answered: false,
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl AxiDriver {
    /// Any burst: mostly such as AXI has, and short.
    fn burst(&self, stimulus: &mut Stimulus) -> AxiBurst {
        let p = &self.ports;
        let widest = self.word_bytes.trailing_zeros();
        let size = match stimulus.below(16) {
            0 => stimulus.below(8),
            1..4 => stimulus.below(widest + 1),
            _ => widest,
        };
        let kind = match stimulus.below(16) {
            0 => 3,
            1..4 => burst::FIXED,
            4..8 => burst::WRAP,
            _ => burst::INCR,
        };
        let len = match stimulus.below(16) {
            0 => stimulus.below(256),
            1..4 if kind == burst::WRAP => stimulus.below(16),
            _ if kind == burst::WRAP => (2 << stimulus.below(4)) - 1,
            1..5 => 0,
            _ => stimulus.below(8),
        };
        AxiBurst {
            id: stimulus.word(p.axi_awid.width) as u16,
            addr: self.address(stimulus, size),
            len: len as u8,
            size: size as u8,
            kind,
        }
    }

    /// Mostly an address inside, at any byte of a beat or at its first, often
    /// close to the end or to a boundary of 4 KB.
    fn address(&self, stimulus: &mut Stimulus, size: u32) -> u64 {
        let width = self.ports.axi_awaddr.width;
        let any = stimulus.word(width);
        let inside = any % self.end;
        let close = u64::from(stimulus.below(64));
        let addr = match stimulus.below(16) {
            0 => any,
            // One bit above those of an address inside.
            1 => inside | 1 << stimulus.below(width as u32),
            2..4 => self.end.wrapping_sub(close),
            4..6 => (inside | 0xfff).wrapping_sub(close),
            _ => inside,
        };
        let addr = addr & (u64::MAX >> (64 - width));
        if stimulus.one_in(4) {
            addr
        } else {
            addr >> size << size
        }
    }

    /// A write burst and its data.
    fn write(&mut self, stimulus: &mut Stimulus) {
        let of = self.burst(stimulus);
        self.aw.push_back(of);
        let all = u8::MAX >> (8 - self.word_bytes);
        for beat in 0..=of.len {
            let strobe = match stimulus.below(4) {
                0 => stimulus.bits() as u8 & all,
                1 => 0,
                _ => all,
            };
            self.w.push_back(AxiData {
                data: stimulus.word(8 * self.word_bytes as usize),
                strobe,
                last: (beat == of.len) != stimulus.one_in(64),
            });
        }
    }

    fn drive_burst(&self, frame: &mut Frame, writes: bool, of: AxiBurst) {
        let p = &self.ports;
        let [id, addr, len, size, kind] = if writes {
            [
                &p.axi_awid,
                &p.axi_awaddr,
                &p.axi_awlen,
                &p.axi_awsize,
                &p.axi_awburst,
            ]
        } else {
            [
                &p.axi_arid,
                &p.axi_araddr,
                &p.axi_arlen,
                &p.axi_arsize,
                &p.axi_arburst,
            ]
        };
        frame.drive(id, of.id.into());
        frame.drive_bits(addr, of.addr.into());
        frame.drive(len, of.len.into());
        frame.drive(size, of.size.into());
        frame.drive(kind, of.kind.into());
    }
}

impl Driver for AxiDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        reset(stimulus, frame, &self.ports.rst);
        while self.aw.len() < AHEAD || self.w.is_empty() {
            self.write(stimulus);
        }
        let [aw, w, b, ar, r, grant, answer] = self.rhythms.each_mut().map(|x| x.beat(stimulus));
        for (offered, beat) in self.offered.iter_mut().zip([aw, w, ar]) {
            *offered |= beat;
        }
        if self.ar.is_none() {
            self.ar = Some(self.burst(stimulus));
        }
        let p = &self.ports;
        frame.drive(&p.axi_awvalid, self.offered[0].into());
        frame.drive(&p.axi_wvalid, self.offered[1].into());
        frame.drive(&p.axi_arvalid, self.offered[2].into());
        frame.drive(&p.axi_bready, b.into());
        frame.drive(&p.axi_rready, r.into());
        self.drive_burst(frame, true, self.aw[0]);
        self.drive_burst(frame, false, self.ar.unwrap_or_default());
        frame.drive_bits(&p.axi_wdata, self.w[0].data.into());
        frame.drive(&p.axi_wstrb, self.w[0].strobe.into());
        frame.drive(&p.axi_wlast, self.w[0].last.into());
        frame.drive(&p.tcdm_gnt, grant.into());
        // Rarely an answer that belongs to no request.
        self.answered = answer && self.granted > 0;
        let stray = self.granted == 0 && stimulus.one_in(64);
        frame.drive(&p.tcdm_r_valid, (self.answered || stray).into());
        frame.drive_any(&p.tcdm_r_rdata, stimulus);
        frame.drive(&p.tcdm_r_opc, stimulus.one_in(8).into());
    }

    fn follow(&mut self, _stimulus: &mut Stimulus, frame: &Frame) {
        let p = &self.ports;
        if frame.is_high(&p.rst) {
            self.aw.clear();
            self.w.clear();
            self.ar = None;
            self.offered = [false; 3];
            self.granted = 0;
            return;
        }
        let ready = [&p.axi_awready, &p.axi_wready, &p.axi_arready];
        let ready = ready.map(|port| frame.shows(port));
        let taken = [0, 1, 2].map(|i| self.offered[i] && ready[i]);
        for (offered, taken) in self.offered.iter_mut().zip(taken) {
            *offered &= !taken;
        }
        if taken[0] {
            self.aw.pop_front();
        }
        if taken[1] {
            self.w.pop_front();
        }
        if taken[2] {
            self.ar = None;
        }
        let granted = frame.is_high(&p.tcdm_gnt) && frame.shows(&p.tcdm_req);
        self.granted += u32::from(granted);
        self.granted -= u32::from(self.answered);
    }
}

impl GoldenAxi {
    fn inputs(&self, frame: &Frame) -> AxiInputs {
        let p = &self.ports;
        let offered = |valid, burst: AxiBurst| frame.is_high(valid).then_some(burst);
        let aw = AxiBurst {
            id: frame.driven(&p.axi_awid) as u16,
            addr: frame.driven_mask(&p.axi_awaddr),
            len: frame.driven(&p.axi_awlen) as u8,
            size: frame.driven(&p.axi_awsize) as u8,
            kind: frame.driven(&p.axi_awburst) as u8,
        };
        let ar = AxiBurst {
            id: frame.driven(&p.axi_arid) as u16,
            addr: frame.driven_mask(&p.axi_araddr),
            len: frame.driven(&p.axi_arlen) as u8,
            size: frame.driven(&p.axi_arsize) as u8,
            kind: frame.driven(&p.axi_arburst) as u8,
        };
        let w = AxiData {
            data: frame.driven_mask(&p.axi_wdata),
            strobe: frame.driven(&p.axi_wstrb) as u8,
            last: frame.is_high(&p.axi_wlast),
        };
        let answer = (
            frame.driven_mask(&p.tcdm_r_rdata),
            frame.is_high(&p.tcdm_r_opc),
        );
        AxiInputs {
            rst: frame.is_high(&p.rst),
            aw: offered(&p.axi_awvalid, aw),
            w: frame.is_high(&p.axi_wvalid).then_some(w),
            ar: offered(&p.axi_arvalid, ar),
            b_ready: frame.is_high(&p.axi_bready),
            r_ready: frame.is_high(&p.axi_rready),
            grant: frame.is_high(&p.tcdm_gnt),
            answer: frame.is_high(&p.tcdm_r_valid).then_some(answer),
        }
    }
}

impl Golden for GoldenAxi {
    fn respond(&mut self, frame: &mut Frame) {
        let inputs = self.inputs(frame);
        let out = self.model.step(&inputs);
        let p = &self.ports;
        frame.expect(&p.axi_awready, out.aw_ready.into());
        frame.expect(&p.axi_wready, out.w_ready.into());
        frame.expect(&p.axi_arready, out.ar_ready.into());
        frame.expect(&p.axi_bvalid, out.b.is_some().into());
        frame.expect(&p.axi_bid, out.b.map_or(0, |b| b.id.into()));
        frame.expect(&p.axi_bresp, out.b.map_or(0, |b| b.resp.into()));
        frame.expect(&p.axi_rvalid, out.r.is_some().into());
        frame.expect(&p.axi_rid, out.r.map_or(0, |r| r.id.into()));
        frame.expect_bits(&p.axi_rdata, out.r.map_or(0, |r| r.data.into()));
        frame.expect(&p.axi_rresp, out.r.map_or(0, |r| r.resp.into()));
        frame.expect(&p.axi_rlast, out.r.is_some_and(|r| r.last).into());
        let request = out.request;
        frame.expect(&p.tcdm_req, request.is_some().into());
        frame.expect(&p.tcdm_add, request.map_or(0, |of| of.add));
        frame.expect(&p.tcdm_wen, request.is_some_and(|of| of.reads).into());
        frame.expect_bits(&p.tcdm_wdata, request.map_or(0, |of| of.data.into()));
        frame.expect(&p.tcdm_be, request.map_or(0, |of| of.be.into()));
        frame.expect(&p.idle, out.idle.into());
    }
}
