//! The circuits around the units that their proofs are about
//! (`testbenches/prove/path/`), and the machines that these are for.

use super::stages::Stages;
use crate::config::{Config, PathHash, RetryLatencies};

/// A circuit around a unit.
#[derive(Debug)]
pub struct Circuit {
    /// The template's path in the kit's repository.
    pub file: &'static str,
    /// Verilog with the module `miter` first; a template (Tera), as registers are
    /// listed by name and Verilog's own parameters cannot do that.
    pub text: &'static str,
    /// The machines that it is proved for.
    pub size: Size,
    /// Need of a machine for the unit to contain anything.
    pub needs: Need,
    /// The stages of those machines.
    pub stages: Stages,
    /// Other units that the circuit has in it.
    pub beside: &'static [&'static str],
    /// Modules inside the unit (patterns as Yosys has them) that may answer
    /// anything: what is proved then holds whatever they do.
    pub free: &'static [&'static str],
    /// Counterexamples are looked for in this many cycles, the first a reset.
    pub cycles: u32,
    /// The solver is asked about each invariant and property by itself. That is
    /// faster where they are about different parts of a large state.
    pub apart: bool,
}

impl Circuit {
    pub(super) const fn new(file: &'static str, text: &'static str, size: Size) -> Self {
        Circuit {
            file,
            text,
            size,
            needs: Need::Nothing,
            stages: Stages::Any,
            beside: &[],
            free: &[],
            cycles: 10,
            apart: false,
        }
    }

    /// The circuit, for machines that have what it needs.
    pub(super) const fn needs(mut self, needs: Need) -> Self {
        self.needs = needs;
        self
    }

    /// The circuit with other units in it.
    pub(super) const fn beside(mut self, units: &'static [&'static str]) -> Self {
        self.beside = units;
        self
    }

    /// The circuit with modules whose outputs are arbitrary.
    pub(super) const fn free(mut self, modules: &'static [&'static str]) -> Self {
        self.free = modules;
        self
    }

    /// The circuit with counterexamples of this many cycles.
    pub(super) const fn cycles(mut self, cycles: u32) -> Self {
        self.cycles = cycles;
        self
    }

    /// The circuit with a separate question for each invariant and property.
    pub(super) const fn apart(mut self) -> Self {
        self.apart = true;
        self
    }

    /// The circuit for machines of these stages.
    pub(super) const fn with(mut self, stages: Stages) -> Self {
        self.stages = stages;
        self
    }
}

/// The circuit in `testbenches/prove/path/FILE.v.tera`.
macro_rules! circuit {
    ($file:literal, $size:ident) => {
        Circuit::new(
            concat!("testbenches/prove/path/", $file, ".v.tera"),
            include_str!(concat!("../../testbenches/prove/path/", $file, ".v.tera")),
            Size::$size,
        )
    };
}
pub(super) use circuit;

/// The size of machine that the solver handles within seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Two lanes: for what only moves payloads as wide as all lanes.
    Pair,
    /// Four lanes, four warps.
    Quad,
    /// As `Quad`, with a retry loop that waits for nothing but its scratchpad.
    Prompt,
    /// As `Quad`, with banks of four rows: for the proofs that name them.
    Rows,
    /// Two lanes, two warps of two passes, two blocks: for the path as a whole.
    Whole,
    /// As `Whole`, without locks, so without the retry loop.
    Lockless,
}

/// A feature that a machine may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Every machine has all that it takes.
    Nothing,
    /// PREMEM has an entry.
    PrememQueue,
    /// Lanes on one word are served together.
    Broadcast,
    /// There are locks.
    Locks,
    /// Locks, and PREMEM has an entry.
    LocksAndQueue,
    /// The fixed XOR hash: the proof has its definition.
    XorHash,
    /// Locks, and latencies with which a second round is reached in ten cycles.
    ShortRetry {
        /// Whether the loop waits longer than its scratchpad.
        waits: bool,
    },
    /// Two sets in the history: the proof names them.
    TwoSets,
    /// Four rows in a bank: the proof names them.
    FourRows,
    /// Broadcast, locks in several windows, and at most 64 words: the proof names
    /// them.
    Words,
    /// At most 64 words: the proof names them.
    FewWords,
    /// Two lanes, two passes or more for a warp, lock groups of two cycles at most,
    /// the plain hash without a stage of its own, memory stages in the scratchpad
    /// only; locks, or none.
    Path {
        /// Whether there are locks.
        locks: bool,
    },
}

impl Need {
    /// The feature that the proof needs and this machine lacks, if any.
    pub fn lacking(self, config: &Config) -> Option<&'static str> {
        let (path, p) = (&config.path, config.parameters());
        let has_locks = path.locks > 0;
        let few_words = config.capacity_words <= 64;
        let (met, otherwise) = match self {
            Need::Nothing => (true, ""),
            Need::PrememQueue => (p.PQ > 0, "it has depth 0 there: wires"),
            Need::Broadcast => (path.broadcast, "the proofs are about broadcast"),
            Need::Locks => (has_locks, "it has no locks"),
            Need::LocksAndQueue => (
                has_locks && p.PQ > 0,
                "the proof is about locks and a PREMEM queue with an entry",
            ),
            Need::XorHash => (
                path.hash == PathHash::Xor,
                "the proof is about the path with the hash 'xor'",
            ),
            Need::ShortRetry { waits } => (
                has_locks && is_short(&path.retry, waits),
                "one proof is about latencies of at most 2, 3, 2, 1 cycles, one about none",
            ),
            Need::TwoSets => (
                path.history_sets == 2,
                "the proof is about a history of two sets",
            ),
            Need::FourRows => (p.ROWS == 4, "the proof is about banks of four rows"),
            Need::Path { locks } if has_locks != locks => (
                false,
                "one proof is about a path with locks, one about a path without",
            ),
            Need::Path { .. } => (
                is_plain(config),
                "the proofs are about two lanes, several passes for a warp, lock groups of \
                 at most two cycles, the hash 'mod', and at most four memory stages",
            ),
            Need::FewWords => (few_words, "the proof is about at most 64 words"),
            Need::Words => (
                few_words && path.broadcast && has_locks && path.lock_group_cycles > 1,
                "the proof is about at most 64 words with broadcast, and locks with \
                 lock_group_cycles of 2 or more",
            ),
        };
        (!met).then_some(otherwise)
    }
}

/// Whether a second round of the retry loop is reached in ten cycles: where the loop
/// waits longer than its scratchpad, or where it does not.
fn is_short(retry: &RetryLatencies, waits: bool) -> bool {
    let none = *retry == RetryLatencies::NONE;
    let short = retry.read.max(retry.write) <= 2 && retry.update <= 3 && retry.branch == 1;
    if waits { short && !none } else { none }
}

/// Whether the path is one of [`Need::Path`], but for its locks.
fn is_plain(config: &Config) -> bool {
    let p = config.parameters();
    let hash = config.path.hash == PathHash::Mod && p.H == 0;
    hash && p.L == 2 && p.S > 1 && p.M <= 4 && p.LKG <= 2
}
