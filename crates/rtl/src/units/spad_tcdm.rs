//! `spad_tcdm`: lanes that keep the rules of microarchitecture/bus.md. What a
//! lane requests stays until it is granted, and the mapping changes only while
//! nothing is inside or requested.

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::layout::{Layout, PortSlot};
use super::neighbour::Neighbour;
use super::support::{Resets, ports};
use super::tcdm_atomics::{AtomicNeighbour, AtomicPorts};
use super::write_port::HashRegisters;
use crate::model::{Tcdm, TcdmInputs, TcdmRequests};

ports!(TcdmPorts {
    in rst tcdm_req tcdm_add tcdm_wen tcdm_wdata tcdm_be;
    out tcdm_gnt tcdm_r_valid tcdm_r_rdata tcdm_r_opc idle;
});

/// The ports of the identifiers, if any.
#[derive(Clone)]
struct IdPorts {
    asked: PortSlot,
    answered: PortSlot,
    /// Bits of one.
    bits: usize,
}

impl IdPorts {
    fn find(layout: &Layout, lanes: usize) -> Option<Self> {
        let find = |slots: &[PortSlot], name: &str| slots.iter().find(|p| p.name == name).cloned();
        let asked = find(&layout.inputs, "tcdm_id")?;
        Some(IdPorts {
            bits: asked.width / lanes,
            asked,
            answered: find(&layout.outputs, "tcdm_r_id")?,
        })
    }
}

#[derive(Clone)]
struct GoldenTcdm {
    ports: TcdmPorts,
    atomics: Option<AtomicPorts>,
    ids: Option<IdPorts>,
    registers: HashRegisters,
    model: Tcdm,
    word_bits: usize,
    addr_bits: usize,
}

impl GoldenTcdm {
    /// The requests of the lanes.
    fn requests(&self, frame: &Frame) -> TcdmRequests {
        let (p, bits) = (&self.ports, self.word_bits);
        let req = frame.driven_mask(&p.tcdm_req);
        if req == 0 {
            return TcdmRequests::NONE;
        }
        let ids = self.ids.as_ref();
        let plain = TcdmRequests {
            req,
            wen: frame.driven_mask(&p.tcdm_wen),
            addr: frame.driven_array(&p.tcdm_add, self.addr_bits),
            data: frame.driven_array(&p.tcdm_wdata, bits),
            be: frame.driven_array(&p.tcdm_be, bits / 8),
            id: ids.map_or(TcdmRequests::NONE.id, |id| {
                frame.driven_array(&id.asked, id.bits)
            }),
            ..TcdmRequests::NONE
        };
        match &self.atomics {
            Some(atomics) => atomics.requests(frame, plain),
            None => plain,
        }
    }
}

impl Golden for GoldenTcdm {
    fn respond(&mut self, frame: &mut Frame) {
        let requests = self.requests(frame);
        let (p, answers) = (&self.ports, self.model.answers());
        frame.expect_bits(&p.tcdm_gnt, self.model.grants(&requests).into());
        frame.expect_bits(&p.tcdm_r_valid, answers.valid.into());
        frame.expect_bits(&p.tcdm_r_opc, answers.failed.into());
        frame.expect_fields(&p.tcdm_r_rdata, self.word_bits, answers.data);
        if let Some(id) = &self.ids {
            frame.expect_fields(&id.answered, id.bits, answers.id);
        }
        frame.expect(&p.idle, self.model.idle().into());
        let (hash_wr, row_wr) = self.registers.read(frame);
        self.model.commit(&TcdmInputs {
            rst: frame.is_high(&p.rst),
            hash_wr,
            row_wr,
            requests,
        });
    }
}

/// Stimulus of `spad_tcdm`.
struct TcdmDriver {
    resets: Resets,
    ports: TcdmPorts,
    ids: Option<IdPorts>,
    /// The lanes' state for atomic operations, if any.
    atomics: Option<AtomicNeighbour>,
    neighbour: Neighbour,
    /// The requests of the lanes.
    asked: TcdmRequests,
    /// The unit was empty, and no lane requested.
    idle: bool,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    Box::new(tcdm_bench(setup))
}

type TcdmBench = DrivenBench<TcdmDriver, GoldenTcdm>;

fn tcdm_bench(setup: &Setup) -> TcdmBench {
    let ports = TcdmPorts::new(setup.layout);
    let ids = IdPorts::find(setup.layout, setup.config.lanes as usize);
    let driver = TcdmDriver {
        resets: Resets::default(),
        ports: ports.clone(),
        ids: ids.clone(),
        atomics: AtomicPorts::find(setup.layout, &ports.tcdm_r_rdata).map(AtomicNeighbour::new),
        neighbour: Neighbour::new(setup),
        asked: TcdmRequests::NONE,
        idle: true,
    };
    let golden = GoldenTcdm {
        atomics: AtomicPorts::find(setup.layout, &ports.tcdm_r_rdata),
        ports,
        ids,
        registers: HashRegisters::new(setup.layout),
        model: Tcdm::new(setup.config).reset_at_any_time(setup.reset.is_async()),
        word_bits: setup.config.word_bits as usize,
        addr_bits: setup.config.geometry.addr_bits() as usize,
    };
    DrivenBench::new(setup, driver, move || golden.clone())
}

impl TcdmDriver {
    /// Lanes that do not request yet may begin to.
    fn ask(&mut self, stimulus: &mut Stimulus) {
        let Some((mask, addr)) = self.neighbour.access(stimulus) else {
            return;
        };
        let reads = match stimulus.below(4) {
            0 => 0,
            1 | 2 => u64::MAX,
            _ => stimulus.wide(64) as u64,
        };
        for (lane, addr) in addr.into_iter().enumerate() {
            if (mask & !self.asked.req) >> lane & 1 == 0 {
                continue;
            }
            let bit = 1 << lane;
            self.asked.req |= bit;
            self.asked.wen = (self.asked.wen & !bit) | (reads & bit);
            self.asked.addr[lane] = addr;
            self.asked.data[lane] = self.neighbour.data(stimulus);
            self.asked.be[lane] = self.neighbour.enables(stimulus);
            if let Some(id) = &self.ids {
                self.asked.id[lane] = stimulus.wide(id.bits) as u32;
            }
            if let Some(atomics) = &mut self.atomics {
                atomics.ask(stimulus, lane, &mut self.asked);
            }
        }
    }
}

impl Driver for TcdmDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let rst = self.resets.drive(stimulus, frame, &self.ports.rst);
        self.neighbour.configure(stimulus, frame, (self.idle, rst));
        let writes = self.neighbour.registers();
        let quiet = writes.read(frame) == (None, None);
        if quiet {
            self.ask(stimulus);
        }
        let (p, asked) = (&self.ports, &self.asked);
        let lanes = p.tcdm_req.width;
        frame.drive_bits(&p.tcdm_req, asked.req.into());
        frame.drive_bits(&p.tcdm_wen, asked.wen.into());
        frame.drive_fields(&p.tcdm_add, p.tcdm_add.width / lanes, asked.addr);
        frame.drive_fields(&p.tcdm_wdata, p.tcdm_wdata.width / lanes, asked.data);
        frame.drive_fields(&p.tcdm_be, p.tcdm_be.width / lanes, asked.be);
        if let Some(id) = &self.ids {
            frame.drive_fields(&id.asked, id.bits, asked.id);
        }
        if let Some(atomics) = &self.atomics {
            atomics.drive(frame, asked);
        }
    }

    fn follow(&mut self, _stimulus: &mut Stimulus, frame: &Frame) {
        let p = &self.ports;
        self.idle = frame.shows(&p.idle) && self.asked.req == 0;
        let granted = frame.shown_bits(&p.tcdm_gnt) as u64;
        self.asked.req &= !granted;
        if let Some(atomics) = &mut self.atomics {
            let answered = frame.shown_bits(&p.tcdm_r_valid) as u64;
            atomics.follow(frame, answered, &p.tcdm_r_rdata);
        }
        if frame.is_high(&p.rst) {
            self.asked.req = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::rtl::Design;
    use crate::units::bench::Words;
    use crate::units::tcdm_atomics::Outcomes;
    use std::collections::BTreeMap;
    use std::path::Path;

    /// Counts of events in 20,000 cycles of a machine with addresses beyond the capacity.
    fn seen(options: &str) -> BTreeMap<&'static str, u64> {
        let text = format!(
            "base = 'small'\n[geometry]\ncapacity_words = 768\n\
             [hash]\npath = 'configurable'\n{options}"
        );
        let config = Config::from_toml(&text, Path::new("t.toml")).unwrap();
        let design = Design::emit(&["spad_tcdm".to_owned()], &config).unwrap();
        let layout = Layout::new(&design.units[0]);
        let mut bench = tcdm_bench(&Setup::new(&config, &layout));
        let (mut stimulus, mut words) = (Stimulus::new(1), Words::new(&layout));
        let (mut seen, mut outcomes) = (BTreeMap::new(), Outcomes::default());
        // A write of each register of the row map, the first in the same cycle.
        let all_writes = config.geometry.row_bits() as usize - 1;
        for _ in 0..20_000 {
            let waited = bench.driver.neighbour.pending_writes();
            bench.cycle(&mut stimulus, &mut words.frame());
            stimulus.cycle += 1;
            let (model, asked) = (&bench.golden.model, &bench.driver.asked);
            let answers = model.answers();
            let mut count = |name, happened: bool| {
                *seen.entry(name).or_default() += u64::from(happened);
            };
            count("idle", model.idle());
            count("a lane waits", asked.req != 0);
            count("all but one wait", asked.req.count_ones() == 7);
            count("all are answered", answers.valid == 0xff);
            count("read", answers.data.iter().any(|word| *word != 0));
            count("some fail", answers.failed != 0);

            let waits = bench.driver.neighbour.pending_writes();
            count("waits for a mapping", waits != 0);
            let begins = waited == 0 && waits != 0;
            count(
                "a mapping writes all registers",
                begins && waits >= all_writes,
            );
            count("a mapping leaves some alone", begins && waits < all_writes);
            let (frame, golden) = (words.frame(), &bench.golden);
            if let Some(atomics) = &golden.atomics {
                let p = &golden.ports;
                let mut granted = atomics.requests(&frame, golden.requests(&frame));
                granted.req &= frame.shown_bits(&p.tcdm_gnt) as u64;
                let answered = frame.shown_bits(&p.tcdm_r_valid) as u64;
                let data: Vec<u64> = frame.shown_fields(&p.tcdm_r_rdata, 32).collect();
                outcomes.follow(granted, (answered, &data), count);
                if frame.is_high(&p.rst) {
                    outcomes.reset();
                }
            }
        }
        seen
    }

    #[test]
    fn the_neighbours_reach_what_is_rare() {
        let registers = "[tcdm]\nrequest_register = true\nresponse_register = true\nid_bits = 3\n";
        let atomics = "[tcdm]\natomics = true\n";
        for options in ["", registers, atomics] {
            let rare: Vec<_> = seen(options)
                .into_iter()
                .filter(|(_, times)| *times == 0)
                .collect();
            assert!(rare.is_empty(), "{options}: {rare:?}");
        }
    }
}
