//! All units, and how each is checked: its bench, the circuits that are proved
//! for it, and its bound on logic levels. The checks themselves are defined where
//! they run: in `cosim`, `prove` and the test `structure`.

mod access_tag;
mod answers;
mod arbiter;
mod atomic_bank;
mod axi;
mod bank_ram;
mod bench;
mod bus;
mod circuit;
mod config;
mod counters;
mod crossbar;
mod frame;
mod hash;
mod hash_stage;
mod issue;
mod layout;
mod lock_unit;
mod memory_entry;
mod memory_exit;
mod packing;
mod pattern;
mod prediction;
mod queues;
mod row_map;
mod scratchpad;
mod sequencer;
mod sharing;
mod sm_path;
mod stimulus;
mod support;
mod tcdm;
mod tcdm_atomics;
mod write_port;

pub use bench::{Bench, Chunk, Driver, Frame, Golden, Setup, Stimulus};
pub use circuit::{Circuit, Need, Size, Stages};
pub use layout::{Layout, PortSlot};

use crate::config::Config;
use crate::error::{Error, Result};
use crate::hash::{Configured, HashKind};
use crate::sm::Workload;
use circuit::circuit;
use hash::Mappings;
use sm_path::ReplayBench;
use std::sync::LazyLock;

/// A unit of the kit.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Its module.
    pub name: &'static str,
    bench: NewBench,
    /// What is proved of it by induction.
    pub circuits: &'static [Circuit],
    /// Gates in a row on the machine of the test `structure`, in Yosys' own
    /// gates; `None` where the test has no bound.
    pub levels: Option<u64>,
    /// Clock cycles of random stimulus that `cosim` runs unless told otherwise.
    pub cycles: u64,
}

/// What makes the bench.
#[derive(Clone, Copy, Debug)]
enum NewBench {
    Own(fn(&Setup) -> Box<dyn Bench>),
    /// Of a configurable hash.
    Hash(HashKind),
    /// Of the registers of a hash.
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
    circuit!("sm_path", Whole)
        .needs(Need::Path { locks: true })
        .free(MEMORIES)
        .cycles(24)
        .with(Stages::Whole(memory, ahead))
}

/// The same path: no access to a shared part but by its owner.
const fn owner(memory: u32, ahead: u32) -> Circuit {
    circuit!("sm_path_owner", Whole)
        .needs(Need::Path { locks: true })
        .free(MEMORIES)
        .with(Stages::Whole(memory, ahead))
}

/// `spad_tcdm` with registers for requests, for answers, for both, or for none.
const fn tcdm_with(request: bool, response: bool) -> Circuit {
    circuit!("tcdm", Rows)
        .needs(Need::FewWords)
        .free(HASHES)
        .with(Stages::Registers(request, response))
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

/// Those that are not a kind of configurable hash.
const OTHERS: &[Unit] = &[
    Unit::new("spad_hash_xor", |s| hash::hash(Mappings::Xor, s)),
    Unit::new("spad_hash_add", |s| hash::hash(Mappings::Add, s)),
    Unit::new("spad_rap", |s| hash::hash(Mappings::Shift, s)),
    Unit::new("spad_row_map", row_map::row_map),
    Unit::new("spad_hash_config", |s| {
        config::registers(Configured::Hash(s.config.hash_unit), s)
    }),
    Unit::new("spad_conflict_arbiter", arbiter::arbiter)
        .levels(11)
        .proved(&[circuit!("conflict_arbiter", Quad).needs(Need::Broadcast)]),
    Unit::new("spad_crossbar", crossbar::crossbar)
        .levels(7)
        .proved(&[circuit!("crossbar", Quad)]),
    Unit::new("spad_bank_ram", bank_ram::bank_ram)
        .levels(4)
        .proved(&[circuit!("bank_ram", Rows).needs(Need::FourRows)]),
    Unit::new("spad_scratchpad", scratchpad::scratchpad)
        .levels(17)
        .proved(&[
            circuit!("scratchpad", Rows)
                .needs(Need::Words)
                .with(Stages::Memory(2)),
            circuit!("scratchpad", Rows)
                .needs(Need::Words)
                .with(Stages::Memory(3)),
            circuit!("scratchpad", Rows)
                .needs(Need::Words)
                .with(Stages::Memory(4)),
        ]),
    Unit::new("spad_lock_unit", lock_unit::lock_unit)
        .levels(9)
        .proved(&[circuit!("lock_unit", Quad).needs(Need::Locks)]),
    Unit::new("spad_retry_sequencer", sequencer::sequencer)
        .levels(26)
        .proved(&[
            circuit!("retry_sequencer", Quad).needs(Need::ShortRetry { waits: true }),
            circuit!("retry_sequencer", Prompt).needs(Need::ShortRetry { waits: false }),
        ]),
    Unit::new("spad_premem_queue", queues::premem)
        .levels(5)
        .proved(&[circuit!("premem_queue", Pair).needs(Need::PrememQueue)]),
    Unit::new("spad_nonmem_queue", queues::nonmem)
        .levels(8)
        .proved(&[circuit!("nonmem_queue", Pair)]),
    Unit::new("spad_writeback_mux", queues::writeback)
        .levels(6)
        .proved(&[
            circuit!("writeback_mux", Pair).with(Stages::Ahead(0)),
            circuit!("writeback_mux", Pair).with(Stages::Ahead(3)),
        ]),
    Unit::new("spad_degree_accumulator", prediction::accumulator)
        .levels(9)
        .proved(&[circuit!("degree_accumulator", Quad)]),
    Unit::new("spad_conflict_history", prediction::history)
        .levels(11)
        .proved(&[circuit!("conflict_history", Quad).needs(Need::TwoSets)]),
    Unit::new("spad_warp_mask", prediction::mask)
        .levels(10)
        .proved(&[
            circuit!("warp_mask", Quad).with(Stages::Ahead(0)),
            circuit!("warp_mask", Quad).with(Stages::Ahead(3)),
        ]),
    Unit::new("spad_warp_scheduler", sharing::scheduler)
        .levels(21)
        .proved(&[circuit!("warp_scheduler", Quad)]),
    Unit::new("spad_access_unit", sharing::access)
        .levels(23)
        .proved(&[circuit!("access_unit", Quad)]),
    Unit::new("spad_relssp", sharing::relssp)
        .levels(15)
        .proved(&[circuit!("relssp", Quad)]),
    Unit::new("spad_eligibility", issue::eligibility)
        .levels(11)
        .proved(&[circuit!("eligibility", Quad)]),
    Unit::new("spad_issue_select", issue::select)
        .levels(21)
        .proved(&[
            circuit!("issue_select", Quad)
                .with(Stages::Ahead(2))
                .beside(&["spad_access_unit"]),
            circuit!("issue_select", Quad)
                .with(Stages::Ahead(3))
                .beside(&["spad_access_unit"]),
        ]),
    Unit::new("spad_pass_issue", issue::passes)
        .levels(13)
        .proved(&[
            circuit!("pass_issue", Quad).with(Stages::Ahead(0)),
            circuit!("pass_issue", Quad).with(Stages::Ahead(3)),
        ]),
    Unit::new("spad_release_register", sharing::release).proved(&[circuit!(
        "release_register",
        Quad
    )
    .with(Stages::Ahead(3))]),
    Unit::new("spad_conflict_predictor", prediction::predictor).levels(21),
    Unit::new("spad_hash_stage", hash_stage::hash_stage)
        .levels(8)
        .proved(&[
            circuit!("hash_stage", Pair)
                .needs(Need::XorHash)
                .with(Stages::Hash(0)),
            circuit!("hash_stage", Pair)
                .needs(Need::XorHash)
                .with(Stages::Hash(1)),
        ]),
    Unit::new("spad_memory_entry", memory_entry::memory_entry)
        .levels(26)
        .proved(&[circuit!("memory_entry", Pair).needs(Need::LocksAndQueue)]),
    Unit::new("spad_memory_exit", memory_exit::memory_exit)
        .levels(5)
        .proved(&[
            circuit!("memory_exit", Pair).with(Stages::AfterScratchpad(4)),
            circuit!("memory_exit", Pair).with(Stages::AfterScratchpad(6)),
        ]),
    Unit::new("spad_counters", counters::counters)
        .levels(24)
        .proved(&[circuit!("counters", Quad)]),
    Unit::new("spad_stream", bus::stream).levels(18),
    Unit::new("spad_atomic_bank", atomic_bank::atomic_bank)
        .levels(28)
        .proved(&[circuit!("atomic_bank", Rows)
            .needs(Need::FourRows)
            .with(Stages::Atomic)]),
    Unit::new("spad_tcdm", tcdm::tcdm).levels(31).proved(&[
        tcdm_with(false, false),
        tcdm_with(false, true),
        tcdm_with(true, false),
        tcdm_with(true, true),
        circuit!("tcdm_atomic", Rows)
            .needs(Need::FewWords)
            .free(ATOMIC_PARTS)
            .with(Stages::Atomic),
    ]),
    Unit::new("spad_axi", axi::axi)
        .levels(11)
        .proved(&[circuit!("axi", Pair).with(Stages::Axi(2))]),
    Unit::new("spad_sm_path", sm_path::random)
        // What a part of it shows at once is rare in the whole: an atomic that
        // ends while the scratchpad takes nothing, and the next that waits.
        .cycles(200_000)
        .levels(105)
        .proved(&[
            whole(4, 3),
            circuit!("sm_path", Lockless)
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

/// Where an address lies, and the registers that tell: what is proved holds for
/// any mapping that is one to one, which the hash units are by proofs of their own.
const HASHES: &[&str] = &["spad_lane_hash", "spad_hash_config*"];

/// The same, and the banks: what they do with their accesses is proved of them alone.
const ATOMIC_PARTS: &[&str] = &["spad_lane_hash", "spad_hash_config*", "spad_atomic_bank"];

/// The unit called `name`.
pub fn unit_of(name: &str) -> Result<&'static Unit> {
    UNITS.iter().find(|u| u.name == name).ok_or_else(|| {
        Error::usage(
            format!("unit '{name}' has no co-simulation bench"),
            "run 'spadkit cosim' without a unit to run every unit that has one",
        )
    })
}

/// The bench of the unit called `name`.
pub fn bench_for(name: &str, setup: &Setup) -> Result<Box<dyn Bench>> {
    Ok(match unit_of(name)?.bench {
        NewBench::Own(bench) => bench(setup),
        NewBench::Hash(kind) => hash::hash(Mappings::Kind(kind), setup),
        NewBench::Registers(of) => config::registers(of, setup),
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
}
