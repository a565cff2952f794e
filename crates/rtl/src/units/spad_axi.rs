//! `spad_axi`: a master with bursts of all kinds, also such as AXI does not have,
//! and a memory that grants and answers in its own rhythm.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::support::{Resets, Rhythm, ports};
use crate::model::spad_axi::burst;
use crate::model::{Axi, AxiBurst, AxiData, AxiInputs, AxiWords, LaneRequests, MAX_AXI_LANES};
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

/// The lanes that the AXI port replaces.
#[derive(Clone, Copy)]
struct Lanes {
    count: usize,
    /// Bits of a word, and of its address.
    word_bits: usize,
    addr_bits: usize,
}

#[derive(Clone)]
struct GoldenAxi {
    ports: AxiPorts,
    lanes: Lanes,
    model: Axi,
}

/// Write bursts that are drawn ahead of what is offered.
const AHEAD: usize = 4;

struct AxiDriver {
    resets: Resets,
    ports: AxiPorts,
    lanes: Lanes,
    /// Bytes of a beat, and of all words.
    beat_bytes: u64,
    end: u64,
    aw: VecDeque<AxiBurst>,
    w: VecDeque<AxiData>,
    ar: Option<AxiBurst>,
    /// The offers at AW, W and AR, each kept until it is accepted.
    offered: [bool; 3],
    /// Rhythm of each event: AW, W, B, AR, R, grants, answers.
    rhythms: [Rhythm; 7],
    /// Per lane: granted requests without an answer, and whether one is granted in this cycle.
    granted: [u32; MAX_AXI_LANES],
    answered: [bool; MAX_AXI_LANES],
    /// Lanes that answer rarely, so that the others get ahead.
    slow: u32,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    let ports = AxiPorts::new(setup.layout);
    let p = setup.config.parameters();
    let lanes = Lanes {
        count: p.XL,
        word_bits: p.D,
        addr_bits: p.n,
    };
    let golden = GoldenAxi {
        ports: ports.clone(),
        lanes,
        model: Axi::new(setup.config),
    };
    let driver = AxiDriver {
        resets: Resets::default(),
        ports,
        lanes,
        beat_bytes: (p.DB * p.XL) as u64,
        end: (p.DB as u64) << p.n,
        aw: VecDeque::new(),
        w: VecDeque::new(),
        ar: None,
        offered: [false; 3],
        rhythms: [Rhythm::with_silence(); 7],
        granted: [0; MAX_AXI_LANES],
        answered: [false; MAX_AXI_LANES],
        slow: 0,
    };
    Box::new(DrivenBench::new(setup, driver, move || golden.clone()))
}

impl AxiDriver {
    /// Any burst: mostly such as AXI has, and short.
    fn burst(&self, stimulus: &mut Stimulus) -> AxiBurst {
        let p = &self.ports;
        let widest = self.beat_bytes.trailing_zeros();
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
        let all = u64::MAX >> (64 - self.beat_bytes);
        let (missing, early) = misplaced(stimulus, of.len);
        for beat in 0..=of.len {
            let strobe = match stimulus.below(4) {
                0 => stimulus.bits64() & all,
                1 => 0,
                _ => all,
            };
            let mut data = AxiWords::default();
            for word in &mut data[..self.lanes.count] {
                *word = stimulus.word(self.lanes.word_bits);
            }
            self.w.push_back(AxiData {
                data,
                strobe,
                last: (beat == of.len && !missing) || early == Some(beat),
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

/// In one of eight bursts, WLAST is wrong: it is missing at the last beat, set at an
/// earlier beat, or both. Returns whether the last beat lacks it, and the earlier beat
/// that has it. Were it drawn for each beat, the last one would hardly ever lack it.
fn misplaced(stimulus: &mut Stimulus, len: u8) -> (bool, Option<u8>) {
    if !stimulus.one_in(8) {
        return (false, None);
    }
    let kind = stimulus.below(3);
    let early = (kind > 0 && len > 0).then(|| stimulus.below(len.into()) as u8);
    (kind != 1 || early.is_none(), early)
}

impl Driver for AxiDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        self.resets.drive(stimulus, frame, &self.ports.rst);
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
        frame.drive_fields(&p.axi_wdata, self.lanes.word_bits, self.w[0].data);
        frame.drive_bits(&p.axi_wstrb, self.w[0].strobe.into());
        frame.drive(&p.axi_wlast, self.w[0].last.into());
        let all = stimulus.word(self.lanes.count) as u32;
        let every = u32::MAX >> (32 - self.lanes.count);
        let grants = if stimulus.one_in(2) { every } else { all };
        frame.drive(&p.tcdm_gnt, if grant { grants } else { 0 });
        // Rarely an answer that belongs to no request; lanes that answer together
        // rely on the memory.
        let stray = self.lanes.count == 1 && self.granted[0] == 0 && stimulus.one_in(64);
        if self.lanes.count > 1 && stimulus.one_in(32) {
            self.slow = stimulus.bits() & stimulus.bits();
        }
        let mut valid = u32::from(stray);
        for lane in 0..self.lanes.count {
            let late = self.slow >> lane & 1 == 1 && !stimulus.one_in(8);
            let now = answer && self.granted[lane] > 0 && !late;
            self.answered[lane] = now;
            valid |= u32::from(now) << lane;
        }
        frame.drive(&p.tcdm_r_valid, valid);
        frame.drive_any(&p.tcdm_r_rdata, stimulus);
        let failed = stimulus.word(self.lanes.count) & stimulus.word(self.lanes.count);
        let failed = if stimulus.one_in(4) { failed } else { 0 };
        frame.drive(&p.tcdm_r_opc, failed as u32);
    }

    fn follow(&mut self, _stimulus: &mut Stimulus, frame: &Frame) {
        let p = &self.ports;
        if frame.is_high(&p.rst) {
            self.aw.clear();
            self.w.clear();
            self.ar = None;
            self.offered = [false; 3];
            self.granted = [0; MAX_AXI_LANES];
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
        let granted = frame.driven(&p.tcdm_gnt) & frame.shown_bits(&p.tcdm_req) as u32;
        for (lane, count) in self.granted.iter_mut().enumerate() {
            *count += granted >> lane & 1;
            *count -= u32::from(self.answered[lane]);
        }
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
            data: frame.driven_array(&p.axi_wdata, self.lanes.word_bits),
            strobe: frame.driven_mask(&p.axi_wstrb),
            last: frame.is_high(&p.axi_wlast),
        };
        let words: AxiWords = frame.driven_array(&p.tcdm_r_rdata, self.lanes.word_bits);
        let [valid, failed] = [&p.tcdm_r_valid, &p.tcdm_r_opc].map(|port| frame.driven(port));
        let answer = |lane: usize| {
            let answer = (words[lane], failed >> lane & 1 == 1);
            (valid >> lane & 1 == 1).then_some(answer)
        };
        AxiInputs {
            rst: frame.is_high(&p.rst),
            aw: offered(&p.axi_awvalid, aw),
            w: frame.is_high(&p.axi_wvalid).then_some(w),
            ar: offered(&p.axi_arvalid, ar),
            b_ready: frame.is_high(&p.axi_bready),
            r_ready: frame.is_high(&p.axi_rready),
            grant: frame.driven(&p.tcdm_gnt) as u8,
            answers: std::array::from_fn(answer),
        }
    }
}

impl GoldenAxi {
    fn expect_request(&self, frame: &mut Frame, request: Option<LaneRequests>) {
        let p = &self.ports;
        let Some(request) = request else {
            frame.expect(&p.tcdm_req, 0);
            frame.expect_zeros(&p.tcdm_add);
            frame.expect(&p.tcdm_wen, 0);
            frame.expect_zeros(&p.tcdm_wdata);
            frame.expect_zeros(&p.tcdm_be);
            return;
        };
        let Lanes {
            count,
            word_bits,
            addr_bits,
        } = self.lanes;
        let adds = (0..count as u32).map(|lane| request.add + lane);
        let reads = if request.reads { (1 << count) - 1 } else { 0 };
        frame.expect(&p.tcdm_req, request.waiting.into());
        frame.expect_fields(&p.tcdm_add, addr_bits, adds);
        frame.expect(&p.tcdm_wen, reads);
        frame.expect_fields(&p.tcdm_wdata, word_bits, request.data);
        frame.expect_bits(&p.tcdm_be, request.be.into());
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
        let read = out.r.map_or(AxiWords::default(), |r| r.data);
        frame.expect_fields(&p.axi_rdata, self.lanes.word_bits, read);
        frame.expect(&p.axi_rresp, out.r.map_or(0, |r| r.resp.into()));
        frame.expect(&p.axi_rlast, out.r.is_some_and(|r| r.last).into());
        self.expect_request(frame, out.request);
        let p = &self.ports;
        frame.expect(&p.idle, out.idle.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::rtl::Design;
    use crate::units::bench::Words;
    use crate::units::layout::Layout;
    use std::collections::BTreeMap;
    use std::path::Path;

    fn machine(lanes: usize) -> Config {
        let text = format!("base = 'small'\n[axi]\naddr_bits = 14\nlanes = {lanes}\n");
        Config::from_toml(&text, Path::new("t.toml")).unwrap()
    }

    fn emitted(config: &Config) -> Design {
        Design::emit(&["spad_axi".to_owned()], config).unwrap()
    }

    /// Cycles from a read burst's to its answer's, with a memory that grants at once and
    /// answers a cycle later.
    fn latency(config: &Config) -> u32 {
        let (mut port, mut granted) = (Axi::new(config), 0);
        for cycle in 0.. {
            let out = port.eval();
            if out.r.is_some() {
                return cycle;
            }
            let answer = |lane: usize| (granted >> lane & 1 == 1).then_some((0, false));
            let answers = std::array::from_fn(answer);
            granted = out.request.map_or(0, |request| request.waiting);
            port.commit(&AxiInputs {
                ar: (cycle == 0).then(AxiBurst::default),
                grant: granted,
                answers,
                ..AxiInputs::default()
            });
        }
        unreachable!("it answers");
    }

    #[test]
    fn the_stated_latency_is_that_of_the_model() {
        for lanes in [1, 2, 4, 8] {
            let config = machine(lanes);
            let unit = &emitted(&config).units[0];
            assert_eq!(unit.latency_cycles, latency(&config), "{lanes} lanes");
        }
    }

    /// Counts the write bursts of a run with a wrong WLAST, by kind of error, that are
    /// refused for no other reason.
    #[test]
    fn the_master_misplaces_the_last_beat_in_every_way() {
        let config = machine(1);
        let design = emitted(&config);
        let layout = Layout::new(&design.units[0]);
        let setup = Setup::new(&config, &layout);
        let mut seen = BTreeMap::<[bool; 2], u32>::new();
        let (mut stimulus, mut words) = (Stimulus::new(1), Words::new(&layout));
        let mut bench = super::bench(&setup);
        let p = AxiPorts::new(&layout);
        let (mut bursts, mut beats) = (VecDeque::new(), VecDeque::new());
        for _ in 0..20_000 {
            let mut frame = words.frame();
            bench.cycle(&mut stimulus, &mut frame);
            stimulus.cycle += 1;
            if frame.is_high(&p.rst) {
                (bursts, beats) = Default::default();
                continue;
            }
            if frame.is_high(&p.axi_awvalid) && frame.shows(&p.axi_awready) {
                bursts.push_back(frame.driven(&p.axi_awlen) as usize);
            }
            if frame.is_high(&p.axi_wvalid) && frame.shows(&p.axi_wready) {
                beats.push_back(frame.is_high(&p.axi_wlast));
            }
            while let Some(&len) = bursts.front().filter(|len| beats.len() > **len) {
                bursts.pop_front();
                let earlier = beats.drain(..len).filter(|last| *last).count() > 0;
                let missing = !beats.pop_front().unwrap_or_default();
                *seen.entry([missing, earlier]).or_default() += 1;
            }
        }
        let often = |[missing, earlier]: [bool; 2]| seen.get(&[missing, earlier]) >= Some(&8);
        assert!(
            [[true, false], [false, true], [true, true]]
                .into_iter()
                .all(often),
            "{seen:?}"
        );
        assert!(seen[&[false, false]] > 100, "{seen:?}");
    }
}
