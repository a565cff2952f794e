//! `spad_hash_stage`: what is in HX, and where the lanes' addresses are by the
//! registers of this very cycle.

use super::access_tag::TagLayout;
use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::hash_units::{RegisterWrites, register_writes};
use super::layout::PortSlot;
use super::pattern::Patterns;
use super::support::{Rhythm, ports, reset};
use super::write_port::HashRegisters;
use crate::config::Config;
use crate::model::unit_of;
use crate::model::{HashStage, HashStageInputs, MAX_LANES, Pass};

ports!(StagePorts {
    in rst cfg_lock_hash in_valid in_ctl in_mask in_addr in_data in_be in_aop out_ready;
    out in_ready out_valid out_ctl out_mask out_bank out_row out_lock out_data out_be out_aop
        hx_valid;
});

struct StageDriver {
    config: Config,
    ports: StagePorts,
    registers: HashRegisters,
    patterns: Patterns,
    offer: Rhythm,
    ready: Rhythm,
    /// The writes of a mapping that are still to come.
    writes: RegisterWrites,
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    Box::new(stage_bench(setup))
}

type StageBench = DrivenBench<StageDriver, GoldenStage>;

fn stage_bench(setup: &Setup) -> StageBench {
    let ports = StagePorts::new(setup.layout);
    let registers = HashRegisters::new(setup.layout);
    let driver = StageDriver {
        config: setup.config.clone(),
        ports: ports.clone(),
        registers: registers.clone(),
        patterns: Patterns::new(setup.config, setup.trace),
        offer: Rhythm::default(),
        ready: Rhythm::default(),
        writes: Vec::new(),
    };
    let golden = GoldenStage {
        tags: TagLayout::of(setup.config),
        addr_bits: setup.config.geometry.addr_bits() as usize,
        registered: setup.config.path.hash_stage == 1,
        model: HashStage::new(setup.config),
        operands: vec![Operands::zero(&ports); SLOTS],
        slot: 0,
        left: None,
        ports,
        registers,
    };
    DrivenBench::new(setup, driver, move || golden.clone())
}

impl StageDriver {
    /// Writes mappings, one register per cycle, at any time; sometimes a value
    /// that no mapping has, for which the contract defines the result.
    fn write_registers(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        if self.writes.is_empty() && stimulus.one_in(64) {
            self.writes = register_writes(&self.config, stimulus);
        }
        let next = if stimulus.one_in(2) {
            self.writes.pop().unwrap_or_default()
        } else {
            (None, None)
        };
        let any = stimulus.one_in(64) && unit_of(self.config.hash_unit).any_registers;
        let writes = if any {
            self.registers.any_writes(stimulus)
        } else {
            next
        };
        self.registers.drive(writes, frame);
        self.registers.disturb(stimulus, frame);
    }
}

impl Driver for StageDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        reset(stimulus, frame, &self.ports.rst);
        self.write_registers(stimulus, frame);
        let access = self.patterns.next(stimulus, true);
        let p = &self.ports;
        let n = self.config.geometry.addr_bits();
        let m = self.config.geometry.bank_bits();
        if stimulus.one_in(16) {
            frame.drive(&p.cfg_lock_hash, stimulus.below(4));
        }
        let places = access.row.into_iter().zip(access.bank);
        let addresses = places.map(|(row, bank)| u32::from(row) << m | u32::from(bank));
        if stimulus.one_in(4) {
            frame.drive_any(&p.in_addr, stimulus)
        } else {
            frame.drive_fields(&p.in_addr, n as usize, addresses)
        }
        frame.drive(&p.in_valid, self.offer.beat(stimulus).into());
        frame.drive_any(&p.in_ctl, stimulus);
        frame.drive_bits(&p.in_mask, access.mask.into());
        frame.drive_some(&p.in_data, stimulus);
        frame.drive_some(&p.in_be, stimulus);
        frame.drive(&p.in_aop, stimulus.below(16));
        frame.drive(&p.out_ready, self.ready.beat(stimulus).into());
    }
}

/// The ports of a pass; most of them are only passed through.
#[derive(Clone)]
struct Operands {
    control: u64,
    addr: [u16; MAX_LANES],
    /// Words of mask, data, byte enables and operation.
    kept: [Vec<u32>; 4],
}

/// Operands that may be needed at once: of the pass in HX, and at the input.
const SLOTS: usize = 2;

impl Operands {
    fn zero(ports: &StagePorts) -> Self {
        Operands {
            control: 0,
            addr: [0; MAX_LANES],
            kept: kept(ports).map(|(port, _)| vec![0; port.words]),
        }
    }
}

/// The fields that a stage passes on unchanged.
fn kept(p: &StagePorts) -> [(&PortSlot, &PortSlot); 4] {
    [
        (&p.in_mask, &p.out_mask),
        (&p.in_data, &p.out_data),
        (&p.in_be, &p.out_be),
        (&p.in_aop, &p.out_aop),
    ]
}

#[derive(Clone)]
struct GoldenStage {
    ports: StagePorts,
    registers: HashRegisters,
    tags: TagLayout,
    addr_bits: usize,
    registered: bool,
    model: HashStage,
    operands: Vec<Operands>,
    /// The slot for the operands of this cycle.
    slot: usize,
    /// The slot of the operands that HX took last, with a pass or without; none since the reset.
    left: Option<usize>,
}

impl GoldenStage {
    /// Puts what is at the ports into the slot of this cycle.
    fn read(&mut self, frame: &Frame) {
        let p = &self.ports;
        let operands = &mut self.operands[self.slot];
        operands.control = frame.driven_mask(&p.in_ctl);
        operands.addr = frame.driven_array(&p.in_addr, self.addr_bits);
        for (words, (port, _)) in operands.kept.iter_mut().zip(kept(p)) {
            words.copy_from_slice(frame.driven_words(port));
        }
    }

    /// Bank and row of the addresses, also of idle lanes.
    fn expect_places(&self, frame: &mut Frame, addr: &[u16]) {
        let p = &self.ports;
        let lanes = addr.len();
        let (mut bank, mut row) = ([0; MAX_LANES], [0; MAX_LANES]);
        let mut lock = [0; MAX_LANES];
        let hash = self.model.lanes();
        hash.places(addr, &mut bank[..lanes], &mut row[..lanes]);
        let all = u64::MAX >> (64 - lanes);
        let lock_hash = frame.driven(&p.cfg_lock_hash) as u8;
        hash.locks(all, lock_hash, addr, &mut lock[..lanes]);
        frame.expect_fields(&p.out_bank, p.out_bank.width / lanes, bank);
        frame.expect_fields(&p.out_row, p.out_row.width / lanes, row);
        frame.expect_fields(&p.out_lock, p.out_lock.width / lanes, lock);
    }

    /// The slot of the operands at the outputs; none if they are unknown, as after a reset.
    fn shown(&self, output: Option<Pass>) -> Option<usize> {
        match output {
            Some(pass) => Some(pass.slot.into()),
            None if self.registered => self.left,
            None => Some(self.slot),
        }
    }

    fn expect_operands(&self, frame: &mut Frame, output: Option<Pass>) {
        let p = &self.ports;
        let Some(shown) = self.shown(output).map(|slot| &self.operands[slot]) else {
            for port in [&p.out_ctl, &p.out_bank, &p.out_row, &p.out_lock] {
                frame.ignore(port);
            }
            for (_, port) in kept(p) {
                frame.ignore(port);
            }
            return;
        };
        let control = output.map(|pass| self.tags.control_bits(&pass.control));
        frame.expect_bits(&p.out_ctl, control.unwrap_or(shown.control).into());
        for ((_, port), words) in kept(p).into_iter().zip(&shown.kept) {
            frame.expect_words(port, words);
        }
        self.expect_places(frame, &shown.addr[..p.in_mask.width]);
    }
}

impl Golden for GoldenStage {
    fn respond(&mut self, frame: &mut Frame) {
        self.read(frame);
        let control = self.tags.control(self.operands[self.slot].control);
        let p = &self.ports;
        let (hash_wr, row_wr) = self.registers.read(frame);
        let inputs = HashStageInputs {
            rst: frame.is_high(&p.rst),
            hash_wr,
            row_wr,
            input: frame.is_high(&p.in_valid).then_some(Pass {
                control,
                slot: self.slot as u8,
            }),
            out_ready: frame.is_high(&p.out_ready),
        };
        let out = self.model.eval(&inputs);
        frame.expect(&p.in_ready, out.in_ready.into());
        frame.expect(&p.out_valid, out.output.is_some().into());
        frame.expect(&p.hx_valid, out.hx_valid.into());
        self.expect_operands(frame, out.output);
        self.model.commit(&inputs);
        if inputs.rst {
            self.left = None;
        } else if out.in_ready {
            self.left = Some(self.slot);
            self.slot = (self.slot + 1) % SLOTS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtl::Design;
    use crate::units::bench::Words;
    use crate::units::layout::Layout;
    use std::collections::BTreeMap;

    #[test]
    fn the_stimulus_reaches_what_is_rare() {
        let text = "base = 'small'\n[hash]\npath = 'configurable'\nstage = 1\n";
        let config = Config::from_toml(text, std::path::Path::new("t.toml")).unwrap();
        let design = Design::emit(&["spad_hash_stage".to_owned()], &config).unwrap();
        let layout = Layout::new(&design.units[0]);
        let mut bench = stage_bench(&Setup::new(&config, &layout));
        let (mut stimulus, mut words) = (Stimulus::new(1), Words::new(&layout));
        let mut seen = BTreeMap::new();
        for _ in 0..20_000 {
            bench.cycle(&mut stimulus, &mut words.frame());
            stimulus.cycle += 1;
            let (frame, p) = (words.frame(), &bench.driver.ports);
            let written = bench.driver.registers.hash.as_ref().unwrap().read(&frame);
            let waits = frame.shows(&p.hx_valid) && !frame.is_high(&p.out_ready);
            let mut count = |name, happened: bool| {
                *seen.entry(name).or_insert(0) += u64::from(happened);
            };
            count("a pass waits in HX", waits);
            count("another after it", waits && frame.is_high(&p.in_valid));
            count("a register changes meanwhile", waits && written.is_some());
            count("HX is empty", !frame.shows(&p.hx_valid));
            count("no lane", frame.driven_mask(&p.in_mask) == 0);
            let mut addr = frame.driven_fields(&p.in_addr, config.geometry.addr_bits() as usize);
            count("the last word", addr.any(|a| a == 0x3ff));
        }
        let rare: Vec<_> = seen.iter().filter(|e| *e.1 == 0).collect();
        assert!(rare.is_empty(), "{seen:?}");
    }
}
