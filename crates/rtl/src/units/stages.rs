//! The machines that the circuits of the proofs are for, as far as these are about
//! certain stages and options.

use crate::config::{AxiOptions, Config, TcdmOptions};
use crate::trace::Wide;

/// The stages of the machines that a circuit is about. A circuit uses stages
/// of its own, so that no preset decides what is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stages {
    /// The unit is the same with any.
    Any,
    /// A scratchpad with this many memory stages.
    Memory(u32),
    /// A path with this many memory stages: some after the scratchpad (above 4), or
    /// none.
    AfterScratchpad(u32),
    /// A path with this many stages before EX, which decide the issue.
    Ahead(u32),
    /// A hash with this many stages of its own: 0 or 1.
    Hash(u32),
    /// Locks that know their owner, or do not.
    Owners(bool),
    /// A path with this many memory stages, and this many before EX.
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
    /// The window of `spad_stream`, of this many accesses, with banks that perform
    /// atomic operations; the flag: whether stores are posted, in which case the window
    /// reports what it answers.
    AtomicWindow(u32, bool),
    /// An AXI port that replaces this many lanes, with two beats in flight.
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

    /// Whether the machine has the parts that these stages are about, in any size.
    pub fn resemble(self, config: &Config) -> bool {
        let (tcdm, stream) = (&config.path.tcdm, &config.path.stream);
        match self {
            Stages::Axi(lanes) => config.path.axi.lanes == lanes,
            Stages::Phases(merged) => config.wide == wide(merged),
            Stages::Atomic(posted) => tcdm.atomics && tcdm.posted == posted,
            Stages::Window(_) => stream.window > 0 && !stream.atomics,
            Stages::AtomicWindow(_, posted) => {
                stream.window > 0 && stream.atomics && stream.posted == posted
            }
            Stages::Stream(accesses, kinds) => {
                let windows = (stream.window > 0) == (accesses > 0);
                windows && (stream.atomics, stream.posted) == kinds.options()
            }
            _ => self.fit(config),
        }
    }

    /// The line of a configuration file that gives a machine these stages; nothing
    /// if all machines have them.
    pub fn line(self) -> Option<String> {
        let path = |memory, ahead| format!("path = {{ mem_stages = {memory}, ahead = {ahead} }}");
        let stream = |window, atomics, posted| {
            format!("stream = {{ window = {window}, atomics = {atomics}, posted = {posted} }}")
        };
        Some(match self {
            Stages::Any => return None,
            Stages::Memory(stages) | Stages::AfterScratchpad(stages) => path(stages, 0),
            Stages::Ahead(ahead) => path(4, ahead),
            Stages::Whole(stages, ahead) => path(stages, ahead),
            Stages::Hash(stages) => format!("hash = {{ stage = {stages} }}"),
            Stages::Owners(known) => format!("path = {{ lock_owner = {known} }}"),
            Stages::Registers(request, response, posted) => format!(
                "tcdm = {{ request_register = {request}, response_register = {response}, \
                 id_bits = 2, posted = {posted} }}"
            ),
            Stages::Atomic(posted) => format!("tcdm = {{ atomics = true, posted = {posted} }}"),
            Stages::Window(accesses) => stream(accesses, false, false),
            Stages::AtomicWindow(accesses, posted) => stream(accesses, true, posted),
            Stages::Stream(accesses, kinds) => {
                let (atomics, posted) = kinds.options();
                stream(accesses, atomics, posted)
            }
            Stages::Axi(lanes) => {
                format!("axi = {{ addr_bits = 12, lanes = {lanes}, id_bits = 1, in_flight = 2 }}")
            }
            Stages::Phases(merged) => {
                let merged = if merged { "-merged" } else { "" };
                format!("geometry = {{ warp_size = 4, wide = \"phases{merged}\" }}")
            }
        })
    }

    /// The stages that the proofs of a unit cover, to tell the user of a machine with
    /// others.
    pub fn otherwise(self) -> &'static str {
        match self {
            Stages::Axi(_) => {
                "the proofs are about [axi] with lanes of 1 or 2 and in_flight = 2, and words of \
                 32 bits"
            }
            Stages::Phases(_) => {
                "the proofs are about wide accesses in phases of four lanes or more, without \
                 [stream] atomics"
            }
            Stages::Registers(..) | Stages::Atomic(_) => {
                "no proof is about its registers, atomics and posted of [tcdm] together"
            }
            Stages::Stream(..) | Stages::Window(_) | Stages::AtomicWindow(..) => {
                "no proof is about its window, atomics and posted of [stream] together"
            }
            _ => "no proof is about its mem_stages, ahead and hash stage",
        }
    }
}

/// Accesses of `spad_stream` other than loads and stores with an answer.
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
