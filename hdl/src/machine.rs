//! The parameters of a machine that an emission needs.

use crate::address_widths::AddressWidths;
use crate::allowed::Allowed;
use crate::error::{HdlError, Result};
use serde::Serialize;
use spadkit_names::{Configured, HashKind, PathHash};

/// Program-counter bits (elastic paper, section 5.4).
pub const PC_BITS: usize = 14;
/// Destination-tag bits.
pub(crate) const TAG_BITS: usize = 8;

/// Cycles that the four states of an atomic operation's round last at least
/// (atomics paper, section III).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RetryLatencies {
    /// READ, per degree of the load-and-lock; 0: until its answer.
    pub read: u32,
    /// UPDATE.
    pub update: u32,
    /// WRITE, per degree of the store-and-unlock; 0: until the scratchpad takes
    /// it, whose answer comes later.
    pub write: u32,
    /// BRANCH.
    pub branch: u32,
}

impl RetryLatencies {
    /// No waiting: what the scratchpad and the sequencer itself take.
    pub const NONE: RetryLatencies = RetryLatencies {
        read: 0,
        update: 1,
        write: 0,
        branch: 1,
    };
}

/// Options of `spad_tcdm` beyond banks and arbitration (microarchitecture/bus.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TcdmOptions {
    /// Requests go through registers, so that the grant is one.
    pub request_register: bool,
    /// Answers go through a register after the banks' multiplexers.
    pub response_register: bool,
    /// Bits of a request's identifier; 0 for none.
    pub id_bits: u32,
    /// The banks perform atomic operations (microarchitecture/atomic-bank.md).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub atomics: bool,
    /// Writes are not answered.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub posted: bool,
}

/// The AXI port (microarchitecture/axi.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AxiOptions {
    /// Bits of a byte address; 0: there is no AXI port.
    pub addr_bits: u32,
    /// Lanes that the port replaces, which is also the words of a beat.
    pub lanes: u32,
    /// Bits of an identifier.
    pub id_bits: u32,
    /// Beats in flight, reads and writes each.
    pub in_flight: u32,
}

impl AxiOptions {
    /// Whether there is no AXI port.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.addr_bits == 0
    }
}

impl Default for AxiOptions {
    /// No port; one that is asked for has beats enough for a lane without
    /// registers.
    fn default() -> Self {
        AxiOptions {
            addr_bits: 0,
            lanes: 1,
            id_bits: 4,
            in_flight: 4,
        }
    }
}

/// The memory between the buffers of `spad_stream` (microarchitecture/bus.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StreamOptions {
    /// Memory stages of that scratchpad, as [`Machine::mem_stages`] are of the
    /// path's.
    pub mem_stages: u32,
    /// Accesses whose bank conflicts overlap, a power of two; 0: one after the
    /// other, in a scratchpad as the path has it.
    pub window: u32,
    /// Bits of the tag of an access; 0: those of a warp and its destination.
    pub tag_bits: u32,
    /// The banks of the window perform atomic operations
    /// (microarchitecture/atomic-bank.md).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub atomics: bool,
    /// Stores are not answered.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub posted: bool,
}

impl Default for StreamOptions {
    /// The fewest cycles possible.
    fn default() -> Self {
        StreamOptions {
            mem_stages: 2,
            window: 0,
            tag_bits: 0,
            atomics: false,
            posted: false,
        }
    }
}

/// The way in which accesses of 8 and 16 bytes a lane are served
/// (microarchitecture/phases.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Phases {
    /// There are none: an access has one word a lane.
    #[default]
    None,
    /// Wide accesses go in two phases of half a warp, or four of a quarter.
    All,
    /// Wide accesses go in phases as in `All`, but loads of equal pairs of lanes
    /// take half of them.
    Merged,
}

/// The machine that is emitted.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Address and bank bits.
    pub geometry: AddressWidths,
    /// The configurable hash unit, whose registers `spad_hash_config` holds.
    pub hash_unit: HashKind,
    /// The bank hash of the SM path.
    pub path_hash: PathHash,
    /// The registers of its mapping after a reset, by write index, for each
    /// unit; those of other units select bank = addr mod 2^m.
    pub hash_reset: Vec<(Configured, Vec<u64>)>,
    /// Words of the scratchpad; a multiple of the number of banks.
    pub capacity_words: usize,
    /// Lanes.
    pub lanes: usize,
    /// Bits of a word.
    pub word_bits: usize,
    /// Threads of a warp; a multiple of the lanes.
    pub warp_size: usize,
    /// Warp slots.
    pub warps: usize,
    /// Thread-block slots; even.
    pub blocks: usize,
    /// Lock bits; 0 for none.
    pub locks: usize,
    /// Cycles in which the lock unit looks at one group.
    pub lock_group_cycles: usize,
    /// Each lock knows the lane that took it.
    pub lock_owner: bool,
    /// Lanes on one address are served together.
    pub broadcast: bool,
    /// Stores of one word are merged per byte.
    pub merge_bytes: bool,
    /// Memory stages.
    pub mem_stages: usize,
    /// Stages in which the issue is decided in front of EX.
    pub ahead: usize,
    /// Extra hash stages.
    pub hash_stage: usize,
    /// Sets of the conflict history.
    pub history_sets: usize,
    /// Latencies of the retry sequencer.
    pub retry: RetryLatencies,
    /// Options of the ports per lane.
    pub tcdm: TcdmOptions,
    /// Options of the port of all lanes.
    pub stream: StreamOptions,
    /// The AXI port that replaces a lane.
    pub axi: AxiOptions,
    /// Accesses of 8 and 16 bytes a lane.
    pub phases: Phases,
}

/// The legal range of each number of a machine. Configuration files read these limits, too.
impl Machine {
    /// Lanes; at most the threads of a warp.
    pub const LANES: Allowed = Allowed::PowerOfTwo(2, 64);
    /// Threads of a warp.
    pub const WARP_SIZE: Allowed = Allowed::PowerOfTwo(2, 64);
    /// Bits of a word.
    pub const WORD_BITS: Allowed = Allowed::Either(32, 64);
    /// Words of the scratchpad; a multiple of the banks, at most 2^n.
    pub const CAPACITY_WORDS: Allowed = Allowed::Range(1, 1 << 16);
    /// Warp slots.
    pub const WARPS: Allowed = Allowed::Range(2, 128);
    /// Thread-block slots; even, at most one per warp slot.
    pub const BLOCKS: Allowed = Allowed::Range(2, 64);
    /// Lock bits; at most one per word.
    pub const LOCKS: Allowed = Allowed::ZeroOrPowerOfTwo(32, 1024);
    /// Cycles in which the lock unit looks at a group; at most the lanes.
    pub const LOCK_GROUP_CYCLES: Allowed = Allowed::PowerOfTwo(1, 8);
    /// Memory stages.
    pub const MEM_STAGES: Allowed = Allowed::Range(2, 8);
    /// Stages in which the issue is decided in front of EX.
    pub const AHEAD: Allowed = Allowed::Range(0, 3);
    /// Extra hash stages.
    pub const HASH_STAGE: Allowed = Allowed::Range(0, 1);
    /// Sets of the conflict history, which the low bits of a PC choose.
    pub const HISTORY_SETS: Allowed = Allowed::PowerOfTwo(2, 1 << (PC_BITS - 1));
    /// Cycles of a state of the retry loop that computes.
    pub const RETRY_CYCLES: Allowed = Allowed::Range(1, 63);
    /// Cycles per degree of a state of the retry loop that accesses the scratchpad.
    pub const RETRY_ACCESS: Allowed = Allowed::Range(0, 63);
    /// Bits of an identifier at the ports per lane.
    pub const TCDM_ID_BITS: Allowed = Allowed::Range(0, 32);
    /// Accesses that overlap at the port of all lanes.
    pub const STREAM_WINDOW: Allowed = Allowed::ZeroOrPowerOfTwo(2, 16);
    /// Memory stages behind the port of all lanes.
    pub const STREAM_MEM_STAGES: Allowed = Allowed::Range(2, 4);
    /// Bits of the tag of an access at the port of all lanes; 0: those of a warp
    /// and its destination.
    pub const STREAM_TAG_BITS: Allowed = Allowed::Range(0, 64);
    /// Bits of a byte address at the AXI port: 0, or at least 12 and those of a
    /// byte of the scratchpad.
    pub const AXI_ADDR_BITS: Allowed = Allowed::Range(0, 64);
    /// Lanes that the AXI port replaces; at most the lanes of the machine.
    pub const AXI_LANES: Allowed = Allowed::PowerOfTwo(1, 8);
    /// Bits of an identifier at the AXI port.
    pub const AXI_ID_BITS: Allowed = Allowed::Range(1, 16);
    /// Beats in flight at the AXI port.
    pub const AXI_IN_FLIGHT: Allowed = Allowed::PowerOfTwo(2, 32);
}

impl Machine {
    /// A machine of this geometry with one full pass per warp, for what
    /// depends on nothing else.
    pub fn of_geometry(geometry: AddressWidths, hash_unit: HashKind) -> Self {
        Machine {
            geometry,
            hash_unit,
            path_hash: PathHash::Configurable,
            hash_reset: Vec::new(),
            capacity_words: 1 << geometry.addr_bits,
            lanes: 1 << geometry.bank_bits,
            word_bits: 32,
            warp_size: 64,
            warps: 8,
            blocks: 4,
            locks: 64,
            lock_group_cycles: 1,
            lock_owner: false,
            broadcast: true,
            merge_bytes: true,
            mem_stages: 2,
            ahead: 0,
            hash_stage: 0,
            history_sets: 256,
            retry: RetryLatencies::NONE,
            tcdm: TcdmOptions::default(),
            stream: StreamOptions::default(),
            axi: AxiOptions::default(),
            phases: Phases::None,
        }
    }

    /// Fails on what cannot be emitted: a number that is not allowed, or two
    /// that do not go together.
    pub(crate) fn check(&self) -> Result<()> {
        self.geometry.check()?;
        self.check_numbers()?;
        let banks = 1 << self.geometry.bank_bits;
        let rules = [
            (
                self.warp_size.is_multiple_of(self.lanes),
                "warp_size: at least the lanes",
            ),
            (
                self.capacity_words.is_multiple_of(banks)
                    && self.capacity_words <= 1 << self.geometry.addr_bits,
                "capacity_words: a multiple of the banks, at most 2^n",
            ),
            (self.blocks.is_multiple_of(2), "blocks: an even number"),
            (
                self.lock_group_cycles <= self.lanes,
                "lock_group_cycles: at most the lanes",
            ),
            (
                self.stream.window == 0 || (self.broadcast && self.merge_bytes),
                "stream.window: 0 without path.broadcast and path.merge_bytes",
            ),
            (
                !self.stream.atomics || self.stream.window > 0,
                "stream.atomics: false without stream.window",
            ),
            (
                !self.stream.posted || !self.has_phases(),
                "stream.posted: false with phases",
            ),
            (
                !self.tcdm.posted || self.axi.is_absent(),
                "tcdm.posted: false with axi.addr_bits",
            ),
            (
                !self.has_phases() || (self.lanes >= 4 && self.word_bits == 32),
                "phases: none with fewer than 4 lanes, or with words of 64 bits",
            ),
            (
                self.axi.is_absent() || self.axi.addr_bits as usize >= self.byte_bits().max(12),
                "axi.addr_bits: 0, or at least 12 and the bits of a byte address",
            ),
            (
                self.axi.is_absent() || self.axi.lanes as usize <= self.lanes,
                "axi.lanes: at most the lanes",
            ),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            None => Ok(()),
            Some((_, expected)) => Err(HdlError::Machine {
                expected: (*expected).into(),
            }),
        }
    }

    /// Whether wide accesses go in phases.
    pub(crate) fn has_phases(&self) -> bool {
        self.phases != Phases::None
    }

    /// Bits of the number of a byte in 2^n words.
    fn byte_bits(&self) -> usize {
        self.geometry.addr_bits + (self.word_bits / 8).trailing_zeros() as usize
    }

    fn check_numbers(&self) -> Result<()> {
        let numbers = [
            ("lanes", self.lanes, Self::LANES),
            ("warp_size", self.warp_size, Self::WARP_SIZE),
            ("capacity_words", self.capacity_words, Self::CAPACITY_WORDS),
            ("word_bits", self.word_bits, Self::WORD_BITS),
            ("warps", self.warps, Self::WARPS),
            ("blocks", self.blocks, Self::BLOCKS),
            ("locks", self.locks, Self::LOCKS),
            (
                "lock_group_cycles",
                self.lock_group_cycles,
                Self::LOCK_GROUP_CYCLES,
            ),
            ("mem_stages", self.mem_stages, Self::MEM_STAGES),
            ("ahead", self.ahead, Self::AHEAD),
            ("hash_stage", self.hash_stage, Self::HASH_STAGE),
            ("history_sets", self.history_sets, Self::HISTORY_SETS),
            (
                "stream.mem_stages",
                self.stream.mem_stages as usize,
                Self::STREAM_MEM_STAGES,
            ),
            (
                "stream.window",
                self.stream.window as usize,
                Self::STREAM_WINDOW,
            ),
            (
                "stream.tag_bits",
                self.stream.tag_bits as usize,
                Self::STREAM_TAG_BITS,
            ),
            (
                "axi.addr_bits",
                self.axi.addr_bits as usize,
                Self::AXI_ADDR_BITS,
            ),
            ("axi.lanes", self.axi.lanes as usize, Self::AXI_LANES),
            ("axi.id_bits", self.axi.id_bits as usize, Self::AXI_ID_BITS),
            (
                "axi.in_flight",
                self.axi.in_flight as usize,
                Self::AXI_IN_FLIGHT,
            ),
        ];
        match numbers
            .iter()
            .find(|(_, value, allowed)| !allowed.contains(*value as u64))
        {
            None => Ok(()),
            Some((name, _, allowed)) => Err(HdlError::Machine {
                expected: format!("{name}: {allowed}"),
            }),
        }
    }
}
