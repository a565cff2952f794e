//! The combinational hash units: random legal configurations, all kinds of
//! address sequences.

use super::bench::{Bench, Frame, Setup, Stimulus};
use super::layout::{Layout, PortSlot};
use crate::config::{Config, PathHash};
use crate::geometry::Geometry;
use crate::hash::kind::{self, Family, Search};
use crate::hash::{BankFunction, HashKind, HashSpec, Mapping, ShiftTable, encode, encode_row_map};
use crate::model::{Bank, HashAdd, HashXor, Rap, RegisterWrite, bank_of};
use crate::trace::AccessTrace;

/// Cycles with one configuration.
const CONFIG_CYCLES: u64 = 128;

/// The mappings that a unit can have.
#[derive(Clone, Copy)]
pub(super) enum Mappings {
    Kind(HashKind),
    Xor,
    Add,
    Shift,
}

impl Mappings {
    /// A random legal mapping.
    pub(super) fn draw(self, geometry: Geometry, stimulus: &mut Stimulus) -> HashSpec {
        match self {
            Mappings::Kind(kind) => random_spec(kind, geometry, stimulus),
            Mappings::Xor => HashSpec::Xor,
            Mappings::Add => HashSpec::Add,
            Mappings::Shift => {
                let seed = ShiftTable::Seed(stimulus.bits().into());
                if stimulus.one_in(2) {
                    HashSpec::Rap(seed)
                } else {
                    HashSpec::Ras(seed)
                }
            }
        }
    }
}

/// A uniformly drawn configuration of `kind` that is a mapping.
fn random_spec(kind: HashKind, g: Geometry, stimulus: &mut Stimulus) -> HashSpec {
    loop {
        let unit = (kind::of(kind).draw)(g, &mut |bound| stimulus.below(bound));
        let spec = HashSpec::from(unit);
        if has_full_rank(&spec, g) {
            return spec;
        }
    }
}

/// Whether `spec` is a mapping; most draws of some kinds are none, and why is
/// of no interest.
fn has_full_rank(spec: &HashSpec, geometry: Geometry) -> bool {
    match BankFunction::new(spec, geometry) {
        Ok(BankFunction::Linear(matrix)) => matrix.rank() == geometry.bank_bits(),
        other => other.is_ok(),
    }
}

/// A random mapping for a row map. Uniform draws reach every set of pivots, but
/// only in the long run. Half of the draws therefore displace one row bit only,
/// so that every source of every row bit is seen soon.
pub(super) fn displacing_spec(kind: HashKind, g: Geometry, stimulus: &mut Stimulus) -> HashSpec {
    let families = [Family::Permutation, Family::Matrix].map(Search::Rows);
    let any_bits = families.contains(&kind::of(kind).search);
    if !any_bits || stimulus.one_in(2) {
        return random_spec(kind, g, stimulus);
    }
    let m = g.bank_bits();
    let mut rows: Vec<u32> = (0..m).map(|bit| 1 << bit).collect();
    rows[stimulus.below(m) as usize] = 1 << (m + stimulus.below(g.row_bits()));
    match (kind::of(kind).of_rows)(&rows, g) {
        Some(unit) => unit.into(),
        None => unreachable!("a kind of these families has any address bits as rows"),
    }
}

/// Writes to the registers of the hash and of the row map, the last one first.
pub(super) type RegisterWrites = Vec<(Option<RegisterWrite>, Option<RegisterWrite>)>;

/// The writes of a random legal mapping, in any order, if the path has
/// registers: a register must keep its value while others are written.
pub(super) fn register_writes(config: &Config, stimulus: &mut Stimulus) -> RegisterWrites {
    let geometry = config.geometry;
    let (registers, rows) = match config.path.hash {
        PathHash::Configurable => {
            let spec = displacing_spec(config.hash_unit, geometry, stimulus);
            let mapping = Mapping::new(&spec, geometry).expect("drawn specs are legal");
            let encoding = encode(&spec, geometry).expect("drawn specs are legal");
            let rows = encode_row_map(mapping.row_map(), geometry).registers;
            (encoding.registers, rows)
        }
        PathHash::Rap => {
            let spec = Mappings::Shift.draw(geometry, stimulus);
            let encoding = encode(&spec, geometry).expect("drawn specs are legal");
            (encoding.registers, Vec::new())
        }
        PathHash::Mod | PathHash::Xor | PathHash::Add => return Vec::new(),
    };
    let registers = in_any_order(registers, stimulus);
    let rows = in_any_order(rows, stimulus);
    (0..registers.len().max(rows.len()))
        .map(|i| (registers.get(i).copied(), rows.get(i).copied()))
        .collect()
}

/// A write to each register.
fn in_any_order(values: Vec<u64>, stimulus: &mut Stimulus) -> Vec<RegisterWrite> {
    let write = |(index, data)| RegisterWrite { index, data };
    let mut writes: Vec<_> = values.into_iter().enumerate().map(write).collect();
    for i in (1..writes.len()).rev() {
        writes.swap(i, stimulus.below(i as u32 + 1) as usize);
    }
    writes
}

/// The source of the addresses.
pub(super) struct Addresses {
    geometry: Geometry,
    /// The addresses of a trace in order; random patterns if empty.
    replay: Vec<u32>,
    next: u32,
    step: u32,
}

impl Addresses {
    pub(super) fn new(trace: Option<&AccessTrace>, geometry: Geometry) -> Self {
        let all = trace.iter().flat_map(|t| &t.accesses);
        let replay = all
            .flat_map(|a| a.addrs.iter().flatten())
            .map(|a| a & geometry.addr_mask())
            .collect();
        Addresses {
            geometry,
            replay,
            next: 0,
            step: 1,
        }
    }

    /// The next address: the trace's, or strided runs (stride 1 sweeps the
    /// space), single bits and uniform ones.
    #[inline]
    pub(super) fn next(&mut self, stimulus: &mut Stimulus) -> u32 {
        if !self.replay.is_empty() {
            return self.replay[(stimulus.cycle % self.replay.len() as u64) as usize];
        }
        let choice = stimulus.bits();
        let addr = match choice & 7 {
            0 => 1 << (choice >> 8 & 15),
            1 | 2 => choice >> 8,
            _ => self.next,
        };
        if choice >> 24 == 0 {
            self.next = stimulus.bits();
            self.step = 1 << (choice >> 8 & 7);
        }
        self.next = self.next.wrapping_add(self.step);
        addr & self.geometry.addr_mask()
    }
}

/// The golden model that a mapping configures.
fn model(spec: &HashSpec, geometry: Geometry) -> Bank {
    let rap = |table: &ShiftTable, permutation| -> Bank {
        let shifts = table.values(geometry.banks(), permutation);
        let shifts = shifts.expect("seeded tables are legal");
        let unit = Rap { geometry, shifts };
        Box::new(move |addr| unit.step(addr))
    };
    match spec {
        HashSpec::Mod => Box::new(move |addr| addr & geometry.bank_mask()),
        HashSpec::Xor => Box::new(move |addr| HashXor { geometry }.step(addr)),
        HashSpec::Add => Box::new(move |addr| HashAdd { geometry }.step(addr)),
        HashSpec::Unit(unit) => bank_of(unit, geometry),
        HashSpec::Rap(table) => rap(table, true),
        HashSpec::Ras(table) => rap(table, false),
    }
}

/// Bench of one combinational hash unit: ports and model are set from the same
/// mapping, so that they are two readings of it.
struct HashBench {
    mappings: Mappings,
    geometry: Geometry,
    layout: Layout,
    addr: PortSlot,
    bank: PortSlot,
    addresses: Addresses,
    model: Bank,
}

/// The bench of a hash unit with `mappings`.
pub(super) fn bench(mappings: Mappings, setup: &Setup) -> Box<dyn Bench> {
    let (geometry, layout) = (setup.config.geometry, setup.layout);
    Box::new(HashBench {
        mappings,
        geometry,
        layout: layout.clone(),
        addr: layout.input("addr").clone(),
        bank: layout.output("bank").clone(),
        addresses: Addresses::new(setup.trace, geometry),
        model: model(&HashSpec::Mod, geometry),
    })
}

impl HashBench {
    fn configure(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let spec = self.mappings.draw(self.geometry, stimulus);
        let encoding = encode(&spec, self.geometry).expect("drawn specs are legal");
        for (name, value) in &encoding.ports {
            frame.drive_wide(self.layout.input(name), value);
        }
        self.model = model(&spec, self.geometry);
    }
}

impl Bench for HashBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        if stimulus.cycle.is_multiple_of(CONFIG_CYCLES) {
            self.configure(stimulus, frame);
        }
        let addr = self.addresses.next(stimulus);
        frame.drive(&self.addr, addr);
        frame.expect(&self.bank, (self.model)(addr));
    }
}
