//! All units, and how each is checked: its bench, the circuits that are proved
//! for it, and its bound on logic levels. The checks themselves are defined where
//! they run: in `cosim`, `prove` and the test `structure`.

mod access_tag;
mod answers;
mod bench;
mod circuit;
mod frame;
mod hash_units;
mod held_registers;
mod layout;
mod neighbour;
mod packing;
mod pattern;
mod payloads;
mod queue;
mod spad_access_unit;
mod spad_atomic_bank;
mod spad_axi;
mod spad_bank_ram;
mod spad_conflict_arbiter;
mod spad_conflict_history;
mod spad_conflict_predictor;
mod spad_counters;
mod spad_crossbar;
mod spad_degree_accumulator;
mod spad_eligibility;
mod spad_hash_config;
mod spad_hash_stage;
mod spad_issue_select;
mod spad_lock_unit;
mod spad_memory_entry;
mod spad_memory_exit;
mod spad_nonmem_queue;
mod spad_pass_issue;
mod spad_phases;
mod spad_premem_queue;
mod spad_release_register;
mod spad_relssp;
mod spad_retry_sequencer;
mod spad_row_map;
mod spad_scratchpad;
mod spad_sm_path;
mod spad_stream;
mod spad_tcdm;
mod spad_warp_mask;
mod spad_warp_scheduler;
mod spad_wide_stream;
mod spad_writeback_mux;
mod stages;
mod stimulus;
mod stream_atomics;
mod support;
mod tcdm_atomics;
mod warps;
mod wide_accesses;
mod write_port;

pub use bench::{Bench, Chunk, Driver, Frame, Golden, Setup, Stimulus};
pub use circuit::{Circuit, Need, Size};
pub use layout::{Layout, PortSlot};
pub use stages::Stages;

use crate::config::Config;
use crate::error::Result;
use crate::hash::{Configured, HashKind};
use crate::rtl::no_unit;
use crate::sm::Workload;
use circuit::circuit;
use hash_units::Mappings;
use spad_sm_path::ReplayBench;
use stages::Kinds;
use std::sync::LazyLock;

/// A unit of the kit.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Name of the unit, which is also its module's.
    pub name: &'static str,
    bench: NewBench,
    /// The circuits of its proofs by induction.
    pub circuits: &'static [Circuit],
    /// Gates in a row on the machine of the test `structure`, in Yosys' own
    /// gates; `None` where the test has no bound.
    pub levels: Option<u64>,
    /// Clock cycles of random stimulus that `cosim` runs unless told otherwise.
    pub cycles: u64,
}

/// The constructor of its bench.
#[derive(Clone, Copy, Debug)]
enum NewBench {
    Own(fn(&Setup) -> Box<dyn Bench>),
    /// The bench of a configurable hash.
    Hash(HashKind),
    /// The bench of the registers of a hash.
    Registers(Configured),
}

impl Unit {
    const fn new(name: &'static str, bench: fn(&Setup) -> Box<dyn Bench>) -> Self {
        Unit::with(name, NewBench::Own(bench))
    }

    /// The configurable hash of `kind`.
    fn hash(kind: HashKind) -> Self {
        Unit::with(kind.unit(), NewBench::Hash(kind))
    }

    /// The registers of `of`.
    fn registers(of: Configured) -> Self {
        Unit::with(of.config_unit(), NewBench::Registers(of))
    }

    const fn with(name: &'static str, bench: NewBench) -> Self {
        Unit {
            name,
            bench,
            circuits: &[],
            levels: None,
            cycles: 20_000,
        }
    }

    const fn cycles(mut self, cycles: u64) -> Self {
        self.cycles = cycles;
        self
    }

    const fn levels(mut self, levels: u64) -> Self {
        self.levels = Some(levels);
        self
    }

    const fn proved(mut self, circuits: &'static [Circuit]) -> Self {
        self.circuits = circuits;
        self
    }
}

/// The path with this many memory stages, and this many that decide the issue:
/// nothing lost, doubled or reordered, no deadlock.
const fn whole(memory: u32, ahead: u32) -> Circuit {
    circuit!("spad_sm_path", Whole)
        .needs(Need::Path { locks: true })
        .free(MEMORIES)
        .cycles(24)
        .with(Stages::Whole(memory, ahead))
}

/// The path with this many memory stages, and this many that decide the issue: no
/// access to a shared part but by its owner.
const fn owner(memory: u32, ahead: u32) -> Circuit {
    circuit!("spad_sm_path_owner", Whole)
        .needs(Need::Path { locks: true })
        .free(MEMORIES)
        .with(Stages::Whole(memory, ahead))
}

/// `spad_tcdm` with registers for requests, for answers, for both, or for none, and with
/// writes that are posted, or answered.
const fn tcdm_with(request: bool, response: bool, posted: bool) -> Circuit {
    circuit!("spad_tcdm", Rows)
        .needs(Need::FewWords)
        .apart()
        .free(HASHES)
        .with(Stages::Registers(request, response, posted))
}

/// `spad_tcdm` with atomic operations, and with writes that are posted, or answered.
const fn tcdm_atomic(posted: bool) -> Circuit {
    circuit!("spad_tcdm_atomic", Rows)
        .needs(Need::FewWords)
        .free(ATOMIC_PARTS)
        .with(Stages::Atomic(posted))
}

/// `spad_stream` around its scratchpad, or around a window of this many accesses.
const fn around_the_inside(accesses: u32, kinds: Kinds) -> Circuit {
    circuit!("spad_stream", Pair)
        .free(HASHES)
        .with(Stages::Stream(accesses, kinds))
}

/// The window of `spad_stream`, of this many accesses.
const fn window_of(accesses: u32) -> Circuit {
    circuit!("spad_stream_window", Rows)
        .needs(Need::FewWords)
        .apart()
        .with(Stages::Window(accesses))
}

/// The window of `spad_stream`, of this many accesses, with banks that perform atomic
/// operations; stores are posted, or have answers.
const fn atomic_window_of(accesses: u32, posted: bool) -> Circuit {
    circuit!("spad_stream_atomic", Rows)
        .needs(Need::FewWords)
        .apart()
        .free(ATOMIC_PARTS)
        .with(Stages::AtomicWindow(accesses, posted))
}

/// Every unit.
pub static UNITS: LazyLock<Vec<Unit>> = LazyLock::new(|| {
    let mut units: Vec<Unit> = HashKind::ALL.map(Unit::hash).into();
    let kinds = HashKind::ALL.into_iter().map(Configured::Hash);
    let registers = kinds.chain([Configured::Rap, Configured::RowMap]);
    units.extend(registers.map(Unit::registers));
    units.extend_from_slice(OTHERS);
    units
});

/// The units that are no configurable hash.
const OTHERS: &[Unit] = &[
    Unit::new("spad_hash_xor", |s| hash_units::bench(Mappings::Xor, s)),
    Unit::new("spad_hash_add", |s| hash_units::bench(Mappings::Add, s)),
    Unit::new("spad_rap", |s| hash_units::bench(Mappings::Shift, s)),
    Unit::new("spad_row_map", spad_row_map::bench),
    Unit::new("spad_hash_config", |s| {
        spad_hash_config::bench(Configured::Hash(s.config.hash_unit), s)
    }),
    Unit::new("spad_conflict_arbiter", spad_conflict_arbiter::bench)
        .levels(11)
        .proved(&[circuit!("spad_conflict_arbiter", Quad).needs(Need::Broadcast)]),
    Unit::new("spad_crossbar", spad_crossbar::bench)
        .levels(7)
        .proved(&[circuit!("spad_crossbar", Quad)]),
    Unit::new("spad_bank_ram", spad_bank_ram::bench)
        .levels(4)
        .proved(&[circuit!("spad_bank_ram", Rows).needs(Need::FourRows)]),
    Unit::new("spad_scratchpad", spad_scratchpad::bench)
        .levels(17)
        .proved(&[
            circuit!("spad_scratchpad", Rows)
                .needs(Need::Words)
                .with(Stages::Memory(2)),
            circuit!("spad_scratchpad", Rows)
                .needs(Need::Words)
                .with(Stages::Memory(3)),
            circuit!("spad_scratchpad", Rows)
                .needs(Need::Words)
                .with(Stages::Memory(4)),
        ]),
    Unit::new("spad_lock_unit", spad_lock_unit::bench)
        .levels(9)
        .proved(&[
            circuit!("spad_lock_unit", Quad)
                .needs(Need::Locks)
                .with(Stages::Owners(false)),
            circuit!("spad_lock_unit", Quad)
                .needs(Need::Locks)
                .with(Stages::Owners(true)),
        ]),
    Unit::new("spad_retry_sequencer", spad_retry_sequencer::bench)
        .levels(26)
        .proved(&[
            circuit!("spad_retry_sequencer", Quad).needs(Need::ShortRetry { waits: true }),
            circuit!("spad_retry_sequencer", Prompt).needs(Need::ShortRetry { waits: false }),
        ]),
    Unit::new("spad_premem_queue", spad_premem_queue::bench)
        .levels(5)
        .proved(&[circuit!("spad_premem_queue", Pair).needs(Need::PrememQueue)]),
    Unit::new("spad_nonmem_queue", spad_nonmem_queue::bench)
        .levels(8)
        .proved(&[circuit!("spad_nonmem_queue", Pair)]),
    Unit::new("spad_writeback_mux", spad_writeback_mux::bench)
        .levels(6)
        .proved(&[
            circuit!("spad_writeback_mux", Pair).with(Stages::Ahead(0)),
            circuit!("spad_writeback_mux", Pair).with(Stages::Ahead(3)),
        ]),
    Unit::new("spad_degree_accumulator", spad_degree_accumulator::bench)
        .levels(9)
        .proved(&[circuit!("spad_degree_accumulator", Quad)]),
    Unit::new("spad_conflict_history", spad_conflict_history::bench)
        .levels(11)
        .proved(&[circuit!("spad_conflict_history", Quad).needs(Need::TwoSets)]),
    Unit::new("spad_warp_mask", spad_warp_mask::bench)
        .levels(10)
        .proved(&[
            circuit!("spad_warp_mask", Quad).with(Stages::Ahead(0)),
            circuit!("spad_warp_mask", Quad).with(Stages::Ahead(3)),
        ]),
    Unit::new("spad_warp_scheduler", spad_warp_scheduler::bench)
        .levels(21)
        .proved(&[circuit!("spad_warp_scheduler", Quad)]),
    Unit::new("spad_access_unit", spad_access_unit::bench)
        .levels(23)
        .proved(&[circuit!("spad_access_unit", Quad)]),
    Unit::new("spad_relssp", spad_relssp::bench)
        .levels(15)
        .proved(&[circuit!("spad_relssp", Quad)]),
    Unit::new("spad_eligibility", spad_eligibility::bench)
        .levels(11)
        .proved(&[circuit!("spad_eligibility", Quad)]),
    Unit::new("spad_issue_select", spad_issue_select::bench)
        .levels(21)
        .proved(&[
            circuit!("spad_issue_select", Quad)
                .with(Stages::Ahead(2))
                .beside(&["spad_access_unit"]),
            circuit!("spad_issue_select", Quad)
                .with(Stages::Ahead(3))
                .beside(&["spad_access_unit"]),
        ]),
    Unit::new("spad_pass_issue", spad_pass_issue::bench)
        .levels(13)
        .proved(&[
            circuit!("spad_pass_issue", Quad).with(Stages::Ahead(0)),
            circuit!("spad_pass_issue", Quad).with(Stages::Ahead(3)),
        ]),
    Unit::new("spad_release_register", spad_release_register::bench).proved(&[circuit!(
        "spad_release_register",
        Quad
    )
    .with(Stages::Ahead(3))]),
    Unit::new("spad_conflict_predictor", spad_conflict_predictor::bench).levels(21),
    Unit::new("spad_hash_stage", spad_hash_stage::bench)
        .levels(8)
        .proved(&[
            circuit!("spad_hash_stage", Pair)
                .needs(Need::XorHash)
                .with(Stages::Hash(0)),
            circuit!("spad_hash_stage", Pair)
                .needs(Need::XorHash)
                .with(Stages::Hash(1)),
        ]),
    Unit::new("spad_memory_entry", spad_memory_entry::bench)
        .levels(26)
        .proved(&[circuit!("spad_memory_entry", Pair).needs(Need::LocksAndQueue)]),
    Unit::new("spad_memory_exit", spad_memory_exit::bench)
        .levels(5)
        .proved(&[
            circuit!("spad_memory_exit", Pair).with(Stages::AfterScratchpad(4)),
            circuit!("spad_memory_exit", Pair).with(Stages::AfterScratchpad(6)),
        ]),
    Unit::new("spad_counters", spad_counters::bench)
        .levels(24)
        .proved(&[circuit!("spad_counters", Quad)]),
    Unit::new("spad_stream", spad_stream::bench)
        .levels(18)
        .proved(&[
            around_the_inside(0, Kinds::Plain),
            around_the_inside(2, Kinds::Plain),
            around_the_inside(2, Kinds::Atomic),
            around_the_inside(0, Kinds::Posted),
            around_the_inside(2, Kinds::Posted),
            around_the_inside(2, Kinds::PostedAtomic),
            window_of(2),
            window_of(4),
            atomic_window_of(2, false),
            atomic_window_of(2, true),
        ]),
    Unit::new("spad_phases", spad_phases::bench).proved(&[
        circuit!("spad_phases", Quad)
            .apart()
            .with(Stages::Phases(false)),
        circuit!("spad_phases", Quad)
            .apart()
            .with(Stages::Phases(true)),
    ]),
    Unit::new("spad_wide_stream", spad_wide_stream::bench),
    Unit::new("spad_atomic_bank", spad_atomic_bank::bench)
        .levels(28)
        .proved(&[circuit!("spad_atomic_bank", Rows)
            .needs(Need::FourRows)
            .with(Stages::Atomic(false))]),
    Unit::new("spad_tcdm", spad_tcdm::bench)
        .levels(31)
        .proved(&[
            tcdm_with(false, false, false),
            tcdm_with(false, true, false),
            tcdm_with(true, false, false),
            tcdm_with(true, true, false),
            tcdm_with(false, false, true),
            tcdm_with(true, true, true),
            tcdm_atomic(false),
            tcdm_atomic(true),
        ]),
    Unit::new("spad_axi", spad_axi::bench).levels(11).proved(&[
        circuit!("spad_axi", Pair).with(Stages::Axi(1)),
        circuit!("spad_axi", Pair).with(Stages::Axi(2)),
    ]),
    Unit::new("spad_sm_path", spad_sm_path::bench)
        // Some events of its parts are rare in the whole: an atomic that ends
        // while the scratchpad accepts nothing, and the next one that waits.
        .cycles(200_000)
        .levels(105)
        .proved(&[
            whole(4, 3),
            circuit!("spad_sm_path", Lockless)
                .needs(Need::Path { locks: false })
                .free(MEMORIES)
                .cycles(24)
                .with(Stages::Whole(4, 3)),
            whole(2, 0),
            whole(3, 1),
            whole(4, 2),
            owner(3, 1),
            owner(4, 2),
            owner(4, 3),
            owner(2, 0),
        ]),
];

/// Words and histories: what is proved of the path as a whole holds for any.
const MEMORIES: &[&str] = &["spad_bank_ram", "spad_table_ram_*"];

/// The modules that compute bank and row, which the proofs cut out: the properties
/// then hold for any mapping that is one to one, and the hash units have proofs of
/// that. Yosys adds text to the name of a module whose parameters are set.
const HASHES: &[&str] = &["spad_lane_hash", "*spad_hash_config*"];

/// The modules of `HASHES`, and the banks, which are proved separately.
const ATOMIC_PARTS: &[&str] = &["spad_lane_hash", "*spad_hash_config*", "spad_atomic_bank"];

/// The unit called `name`.
pub fn unit_of(name: &str) -> Result<&'static Unit> {
    UNITS.iter().find(|u| u.name == name).ok_or_else(|| {
        let all: Vec<&str> = UNITS.iter().map(|u| u.name).collect();
        no_unit(name, &all)
    })
}

/// The bench of the unit called `name`.
pub fn bench_for(name: &str, setup: &Setup) -> Result<Box<dyn Bench>> {
    Ok(match unit_of(name)?.bench {
        NewBench::Own(bench) => bench(setup),
        NewBench::Hash(kind) => hash_units::bench(Mappings::Kind(kind), setup),
        NewBench::Registers(of) => spad_hash_config::bench(of, setup),
    })
}

/// The bench of `spadkit cosim spad_sm_path --trace`: `workload` on an SM;
/// `seed` chooses the values that are loaded and stored.
pub fn replay_for<'a>(
    config: &Config,
    layout: &Layout,
    workload: &'a dyn Workload,
    seed: u64,
) -> Result<Box<dyn Bench + 'a>> {
    let bench = ReplayBench::new(config, layout, workload, seed)?;
    Ok(Box::new(bench))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtl::Design;
    use std::collections::BTreeSet;

    #[test]
    fn the_table_has_the_units_that_can_be_emitted() {
        let names: BTreeSet<&str> = UNITS.iter().map(|u| u.name).collect();
        let emitted = Design::all_units();
        assert_eq!(names, emitted.iter().map(String::as_str).collect());
        assert_eq!(names.len(), UNITS.len(), "a unit is there twice");
    }

    #[test]
    fn a_name_of_no_unit_is_refused() {
        assert_eq!(unit_of("spad_turm").err().unwrap().exit_status(), 2);
        let error = unit_of("spad_hash_matrx").err().unwrap();
        assert_eq!(error.to_string(), "there is no unit 'spad_hash_matrx'");
        let advice = error.advice().unwrap();
        assert_eq!(advice, "did you mean 'spad_hash_matrix'?");
    }

    /// A circuit that is proved with posted stores must also be proved without them.
    #[test]
    fn what_is_proved_with_posted_stores_is_proved_without_them() {
        let machine = |stages: Stages, posted: Option<bool>| {
            let mut config = Config::preset("small").unwrap();
            stages.set(&mut config);
            if let Some(posted) = posted {
                (config.path.stream.posted, config.path.tcdm.posted) = (posted, posted);
            }
            config
        };
        let mut with_them = 0;
        for unit in UNITS.iter() {
            for circuit in unit.circuits {
                let path = machine(circuit.stages, None).path;
                if path.stream.posted || path.tcdm.posted {
                    with_them += 1;
                    let without = machine(circuit.stages, Some(false));
                    let mut others = unit.circuits.iter().filter(|c| c.file == circuit.file);
                    assert!(
                        others.any(|other| machine(other.stages, None) == without),
                        "{:?}",
                        circuit.stages
                    );
                }
            }
        }
        assert!(with_them > 0);
    }
}
