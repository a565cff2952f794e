//! The circuits around the units that their proofs are about
//! (`testbenches/prove/path/`), and the machines that these are for.

use crate::config::{AxiOptions, Config, PathHash, RetryLatencies, TcdmOptions};
use crate::trace::Wide;

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
    /// What a machine must have for the unit to hold anything.
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

    /// The same where a machine must have something for it.
    pub(super) const fn needs(mut self, needs: Need) -> Self {
        self.needs = needs;
        self
    }

    /// The same with other units in it.
    pub(super) const fn beside(mut self, units: &'static [&'static str]) -> Self {
        self.beside = units;
        self
    }

    /// The same with modules that may answer anything.
    pub(super) const fn free(mut self, modules: &'static [&'static str]) -> Self {
        self.free = modules;
        self
    }

    /// The same with counterexamples of this many cycles.
    pub(super) const fn cycles(mut self, cycles: u32) -> Self {
        self.cycles = cycles;
        self
    }

    /// The same with a question for each invariant and property.
    pub(super) const fn apart(mut self) -> Self {
        self.apart = true;
        self
    }

    /// The same for machines of these stages.
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

/// The stages of the machines that a circuit is about. A circuit uses stages
/// of its own, so that no preset decides what is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stages {
    /// The unit is the same with any.
    Any,
    /// This many in the scratchpad.
    Memory(u32),
    /// This many memory stages: some after the scratchpad (above 4), or none.
    AfterScratchpad(u32),
    /// This many before EX, which decide the issue.
    Ahead(u32),
    /// This many of the hash alone: 0 or 1.
    Hash(u32),
    /// Locks that know their owner, or do not.
    Owners(bool),
    /// This many memory stages, and this many before EX.
    Whole(u32, u32),
    /// Registers of `spad_tcdm`, without atomic operations: for requests, for
    /// answers; and whether writes are posted.
    Registers(bool, bool, bool),
    /// `spad_tcdm` with atomic operations and no registers, and its banks; whether
    /// writes are posted.
    Atomic(bool),
    /// `spad_stream` with a window of this many accesses; 0: with the scratchpad.
    Stream(u32, Kinds),
    /// The window of `spad_stream`, of this many accesses.
    Window(u32),
    /// The same with banks that perform atomic operations; whether stores are posted, so
    /// that it tells what it answers.
    AtomicWindow(u32, bool),
    /// An AXI port in the place of this many lanes, with two beats in flight.
    Axi(u32),
    /// Wide accesses in phases, and whether loads of equal pairs take half of them.
    Phases(bool),
}

impl Stages {
    /// Gives the machine these stages.
    pub fn set(self, config: &mut Config) {
        let path = &mut config.path;
        (path.mem_stages, path.ahead) = (2, 0);
        match self {
            Stages::Any => {}
            Stages::Memory(stages) | Stages::AfterScratchpad(stages) => path.mem_stages = stages,
            Stages::Ahead(ahead) => path.ahead = ahead,
            Stages::Hash(stages) => path.hash_stage = stages,
            Stages::Owners(known) => path.lock_owner = known,
            Stages::Whole(stages, ahead) => (path.mem_stages, path.ahead) = (stages, ahead),
            Stages::Registers(request, response, posted) => {
                path.tcdm = TcdmOptions {
                    request_register: request,
                    response_register: response,
                    // So that an answer shows whose it is.
                    id_bits: 2,
                    posted,
                    ..TcdmOptions::default()
                };
            }
            Stages::Atomic(posted) => {
                path.tcdm = TcdmOptions {
                    atomics: true,
                    posted,
                    ..TcdmOptions::default()
                };
            }
            Stages::Window(accesses) => path.stream.window = accesses,
            Stages::AtomicWindow(accesses, posted) => {
                path.stream.window = accesses;
                (path.stream.atomics, path.stream.posted) = (true, posted);
            }
            Stages::Stream(accesses, kinds) => {
                path.stream.window = accesses;
                (path.stream.atomics, path.stream.posted) = kinds.options();
            }
            Stages::Phases(merged) => {
                config.warp_size = config.lanes;
                config.wide = wide(merged);
            }
            Stages::Axi(lanes) => {
                path.axi = AxiOptions {
                    addr_bits: 12,
                    lanes,
                    id_bits: 1,
                    in_flight: 2,
                };
            }
        }
    }

    /// Whether the machine has these stages.
    pub fn fit(self, config: &Config) -> bool {
        match self {
            Stages::Any => true,
            Stages::Memory(stages) => config.path.mem_stages.min(4) == stages,
            Stages::AfterScratchpad(stages) => (config.path.mem_stages > 4) == (stages > 4),
            Stages::Owners(known) => config.path.lock_owner == known,
            Stages::Ahead(ahead) => config.path.ahead == ahead,
            Stages::Hash(stages) => config.path.hash_stage == stages,
            Stages::Whole(stages, ahead) => {
                (config.path.mem_stages, config.path.ahead) == (stages, ahead)
            }
            Stages::Registers(request, response, posted) => {
                let options = &config.path.tcdm;
                let registers = (options.request_register, options.response_register);
                registers == (request, response) && !options.atomics && options.posted == posted
            }
            Stages::Window(accesses) => {
                config.path.stream.window == accesses && !config.path.stream.atomics
            }
            Stages::AtomicWindow(accesses, posted) => {
                let options = &config.path.stream;
                options.window == accesses && options.atomics && options.posted == posted
            }
            Stages::Stream(accesses, kinds) => {
                let options = &config.path.stream;
                options.window == accesses && (options.atomics, options.posted) == kinds.options()
            }
            Stages::Axi(lanes) => {
                let options = &config.path.axi;
                let sizes = (options.lanes, options.in_flight, config.word_bits);
                !options.is_absent() && sizes == (lanes, 2, 32)
            }
            Stages::Phases(merged) => {
                config.wide == wide(merged) && config.lanes >= 4 && !config.path.stream.atomics
            }
            Stages::Atomic(posted) => {
                let options = &config.path.tcdm;
                let registers = options.request_register || options.response_register;
                options.atomics && !registers && options.posted == posted
            }
        }
    }
}

/// Accesses of `spad_stream` beside loads and stores that are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinds {
    /// None.
    Plain,
    /// Atomic operations.
    Atomic,
    /// Posted stores.
    Posted,
    /// Posted stores and atomic operations.
    PostedAtomic,
}

impl Kinds {
    /// Whether there are atomic operations, and whether stores are posted.
    fn options(self) -> (bool, bool) {
        match self {
            Kinds::Plain => (false, false),
            Kinds::Atomic => (true, false),
            Kinds::Posted => (false, true),
            Kinds::PostedAtomic => (true, true),
        }
    }
}

fn wide(merged: bool) -> Wide {
    if merged {
        Wide::PhasesMerged
    } else {
        Wide::Phases
    }
}

/// How large a machine the solver takes in seconds.
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

/// What a machine may lack.
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
    /// What the proof is about that this machine lacks; nothing if it has all.
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
