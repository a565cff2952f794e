//! A unit under Verilator, driven cycle by cycle by its ports' names, and the
//! memory that it should be.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use spadkit::config::{Config, PathHash};
use spadkit::cosim::{Compiled, Instance, VerilatedUnit};
use spadkit::error::Error;
use spadkit::hash::HashSpec;
use spadkit::rtl::{Design, SourceFile, SystemVerilog};
use spadkit::tool::{Cache, Toolbox};
use spadkit::units::{Layout, PortSlot};
use std::path::Path;

/// A machine of 4 lanes and 8 banks with the fixed XOR hash; bank and row of
/// every address are known without asking the kit. 60 of 64 rows exist.
pub const MACHINE: &str = "base = 'small'
[geometry]
addr_bits = 9
lanes = 4
warp_size = 8
capacity_words = 480
[hash]
path = 'xor'
stage = 0
[path]
mem_stages = 2
ahead = 0
warps = 4
blocks = 2
locks = 32
lock_group_cycles = 2
history_sets = 4
";

pub const LANES: usize = 4;
pub const BANKS: u64 = 8;
pub const ROWS: u64 = 60;

/// [`MACHINE`] with other stages.
pub fn text(mem_stages: u32, ahead: u32) -> String {
    let stages = format!("mem_stages = {mem_stages}\nahead = {ahead}\n");
    MACHINE.replace("mem_stages = 2\nahead = 0\n", &stages)
}

pub fn machine(mem_stages: u32, ahead: u32) -> Config {
    Config::from_toml(&text(mem_stages, ahead), Path::new("test.toml")).unwrap()
}

/// The machine with registers for the mapping, which after a reset hold its own.
pub fn mapped_by_registers(mut machine: Config) -> Config {
    machine.path.hash = PathHash::Configurable;
    machine.with_hash_reset(&HashSpec::Xor).unwrap()
}

/// `spad_tcdm` with all of its wrappers and assertions.
pub fn wrapped_tcdm(config: &Config) -> Vec<SourceFile> {
    let design = Design::emit(&["spad_tcdm".to_owned()], config).unwrap();
    let wanted = SystemVerilog {
        wrappers: true,
        assertions: true,
    };
    let design = design.with_system_verilog(wanted, config).unwrap();
    let mut files = design.in_system_verilog(&design.files);
    let beside = |file: &&SourceFile| files.iter().all(|other| other.name != file.name);
    let beside: Vec<_> = design.system.iter().filter(beside).cloned().collect();
    files.extend(beside);
    files.sort_by_key(|f| f.name != "spad_pkg.sv");
    files
}

/// The unit between two clock edges.
pub struct Rtl {
    pub layout: Layout,
    instance: Instance,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
}

impl Rtl {
    /// The unit behind two cycles of reset.
    pub fn new(unit: &str, config: &Config) -> Self {
        let design = Design::emit(&[unit.to_owned()], config).unwrap();
        let layout = Layout::new(&design.units[0]);
        let files = design.files_of(&design.units[0]);
        Rtl::of(unit, &files, layout)
    }

    /// A module with these ports, behind two cycles of reset.
    pub fn of(top: &str, files: &[SourceFile], layout: Layout) -> Self {
        let (tools, cache) = (Toolbox::new(), Cache::user().unwrap());
        let built = VerilatedUnit::build(
            top,
            files,
            layout.clone(),
            Compiled::Quickly,
            &tools,
            &cache,
        )
        .unwrap();
        let mut rtl = Rtl {
            instance: built.instance(),
            inputs: vec![0; layout.input_words],
            outputs: vec![0; layout.output_words],
            layout,
        };
        rtl.set("rst", 1);
        rtl.clock();
        rtl.clock();
        rtl.set("rst", 0);
        rtl
    }

    pub fn set(&mut self, port: &str, value: u64) {
        let slot = self.layout.input(port).clone();
        self.set_lanes(&slot.name, slot.width, &[value]);
    }

    /// Fields of `width` bits, lane 0 in the low bits.
    pub fn set_lanes(&mut self, port: &str, width: usize, values: &[u64]) {
        let slot = self.layout.input(port).clone();
        put(&mut self.inputs, &slot, width, values);
    }

    /// One cycle: the outputs before the clock edge can be read afterwards.
    pub fn clock(&mut self) {
        self.clocked().unwrap();
    }

    /// The same, or the assertion that it trips.
    pub fn clocked(&mut self) -> Result<(), Error> {
        self.instance.run(&self.inputs, &mut self.outputs)
    }

    pub fn get(&self, port: &str) -> u64 {
        let slot = self.layout.output(port);
        take(&self.outputs, slot, slot.width.min(64))[0]
    }

    pub fn get_lanes(&self, port: &str, width: usize) -> Vec<u64> {
        take(&self.outputs, self.layout.output(port), width)
    }
}

/// Writes fields of a port into the words of one cycle.
pub fn put(words: &mut [u32], slot: &PortSlot, width: usize, values: &[u64]) {
    for i in 0..slot.width {
        let value = values.get(i / width).copied().unwrap_or(0);
        let word = &mut words[slot.offset + i / 32];
        *word = *word & !(1 << (i % 32))
            | ((value.checked_shr((i % width) as u32).unwrap_or(0) & 1) as u32) << (i % 32);
    }
}

/// The fields of a port in the words of one cycle.
pub fn take(words: &[u32], slot: &PortSlot, width: usize) -> Vec<u64> {
    let bit = |i: usize| u64::from(words[slot.offset + i / 32] >> (i % 32) & 1);
    let field = |start: usize| {
        let end = (start + width).min(slot.width);
        (start..end).map(|i| bit(i) << (i - start)).sum()
    };
    (0..slot.width).step_by(width).map(field).collect()
}

/// Random choices.
pub struct Dice(ChaCha8Rng);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(ChaCha8Rng::seed_from_u64(seed))
    }

    pub fn bits(&mut self, width: u32) -> u64 {
        self.0.next_u64() & (u64::MAX >> (64 - width))
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    pub fn chance(&mut self, of_8: u64) -> bool {
        self.below(8) < of_8
    }

    /// Word addresses of the lanes: few, so that they meet, in few banks.
    pub fn addresses(&mut self) -> [u64; LANES] {
        let stride = [0, 1, BANKS, 9][self.below(4) as usize];
        let base = self.below(96);
        // Now and then beyond the capacity.
        let base = if self.below(24) == 0 {
            400 + base
        } else {
            base
        };
        std::array::from_fn(|lane| match self.below(4) {
            0 => base & !63 | self.bits(6),
            _ => (base + stride * lane as u64) % 512,
        })
    }
}

/// In how many of 8 cycles the neighbours offer and take; it changes now and then.
pub struct Rhythm {
    pub requests: u64,
    pub ready: u64,
}

impl Rhythm {
    pub fn new() -> Self {
        Rhythm {
            requests: 8,
            ready: 8,
        }
    }

    /// At the beginning of each cycle.
    pub fn step(&mut self, cycle: u64, dice: &mut Dice) {
        if cycle.is_multiple_of(128) {
            self.requests = [0, 2, 8, 8][dice.below(4) as usize];
            self.ready = [0, 1, 4, 8, 8][dice.below(5) as usize];
        }
    }
}

/// Words by address.
#[derive(Default)]
pub struct Memory(std::collections::HashMap<u64, u64>);

impl Memory {
    pub fn word(&self, addr: u64) -> u64 {
        self.0.get(&addr).copied().unwrap_or(0)
    }

    /// A store of the lanes in `mask`: per byte the lowest lane's.
    pub fn store(&mut self, mask: u64, addr: &[u64], data: &[u64], be: &[u64]) {
        for lane in (0..LANES).rev().filter(|lane| mask >> lane & 1 == 1) {
            let word = self.0.entry(addr[lane]).or_default();
            for byte in (0..4).filter(|byte| be[lane] >> byte & 1 == 1) {
                let bits = 0xff << (8 * byte);
                *word = *word & !bits | data[lane] & bits;
            }
        }
    }
}

/// Whether the row exists.
pub fn inside(addr: u64) -> bool {
    addr / BANKS < ROWS
}

/// The largest number of different words of one bank.
pub fn degree(mask: u64, addr: &[u64]) -> u64 {
    let bank = |a: u64| (a ^ (a / BANKS)) % BANKS;
    let words = |b: u64| {
        let of_bank = |lane: &usize| mask >> lane & 1 == 1 && bank(addr[*lane]) == b;
        let mut words: Vec<u64> = (0..LANES).filter(of_bank).map(|l| addr[l]).collect();
        words.sort();
        words.dedup();
        words.len() as u64
    };
    (0..BANKS).map(words).max().unwrap()
}
