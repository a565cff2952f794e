//! What an emission needs to know about the machine: the parameters of
//! docs/microarchitecture.md, section 2.1, and the widths that follow.

use crate::geometry::Geometry;
use crate::module::{HdlError, Result};
use serde::Serialize;

/// The units that have configuration registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Configured {
    /// `spad_hash_bitvec_perm`
    BitvecPerm,
    /// `spad_hash_bitvec_xor`
    BitvecXor,
    /// `spad_hash_bitwise_perm`
    BitwisePerm,
    /// `spad_hash_bitwise_xor`
    BitwiseXor,
    /// `spad_hash_matrix`
    Matrix,
    /// `spad_rap`
    Rap,
    /// `spad_row_map`
    RowMap,
}

impl Configured {
    /// All of them.
    pub const ALL: [Configured; 7] = [
        Configured::BitvecPerm,
        Configured::BitvecXor,
        Configured::BitwisePerm,
        Configured::BitwiseXor,
        Configured::Matrix,
        Configured::Rap,
        Configured::RowMap,
    ];

    /// The suffix of the module's name: `spad_hash_config_...`.
    pub fn suffix(self) -> &'static str {
        match self {
            Configured::BitvecPerm => "bitvec_perm",
            Configured::BitvecXor => "bitvec_xor",
            Configured::BitwisePerm => "bitwise_perm",
            Configured::BitwiseXor => "bitwise_xor",
            Configured::Matrix => "matrix",
            Configured::Rap => "rap",
            Configured::RowMap => "row_map",
        }
    }
}

/// The bank hash of the SM path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathHash {
    /// The m low address bits.
    Mod,
    /// `spad_hash_xor`
    Xor,
    /// `spad_hash_add`
    Add,
    /// A unit with configuration registers; not the row map.
    Configured(Configured),
}

/// Cycles of the four states of an atomic operation's round, per degree for
/// read and write (atomics paper, section 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryLatencies {
    /// Load and lock, per conflict degree.
    pub read: usize,
    /// Update.
    pub update: usize,
    /// Store and unlock, per conflict degree.
    pub write: usize,
    /// Branch back.
    pub branch: usize,
}

/// The machine that is emitted.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Address and bank bits.
    pub geometry: Geometry,
    /// The unit whose registers `spad_hash_config` holds.
    pub hash_unit: Configured,
    /// The bank hash of the SM path.
    pub path_hash: PathHash,
    /// Words of the scratchpad; a multiple of the number of banks.
    pub capacity_words: usize,
    /// Lanes: a power of two from 2 to 64.
    pub lanes: usize,
    /// Bits of a word: 32 or 64.
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
    /// Lanes on one address are served together.
    pub broadcast: bool,
    /// Stores of one word are merged per byte.
    pub merge_bytes: bool,
    /// Memory stages: 2 to 8.
    pub mem_stages: usize,
    /// Stages in which the issue is decided in front of EXE: 0 or 3.
    pub ahead: usize,
    /// Extra hash stages: 0 or 1.
    pub hash_stage: usize,
    /// Sets of the conflict history.
    pub history_sets: usize,
    /// Latencies of the retry sequencer.
    pub retry: RetryLatencies,
}

/// Program-counter bits (elastic paper, section 5.4).
pub(crate) const PC_BITS: usize = 14;
/// Destination-tag bits.
pub(crate) const TAG_BITS: usize = 8;

/// Bits of an index below `count`: max(1, ceil(log2 count)).
pub(crate) fn index_bits(count: usize) -> usize {
    (count.next_power_of_two().trailing_zeros() as usize).max(1)
}

impl Machine {
    /// A machine of this geometry with one full pass per warp, for what
    /// depends on nothing else.
    pub fn of_geometry(geometry: Geometry, hash_unit: Configured) -> Self {
        Machine {
            geometry,
            hash_unit,
            path_hash: PathHash::Configured(hash_unit),
            capacity_words: 1 << geometry.addr_bits,
            lanes: 1 << geometry.bank_bits,
            word_bits: 32,
            warp_size: 64,
            warps: 8,
            blocks: 4,
            locks: 64,
            lock_group_cycles: 1,
            broadcast: true,
            merge_bytes: true,
            mem_stages: 2,
            ahead: 0,
            hash_stage: 0,
            history_sets: 256,
            retry: RetryLatencies {
                read: 1,
                update: 1,
                write: 1,
                branch: 1,
            },
        }
    }

    /// Fails on what the templates cannot express.
    pub(crate) fn check(&self) -> Result<()> {
        self.geometry.check()?;
        let banks = 1 << self.geometry.bank_bits;
        let lane_count = (2..=64).contains(&self.lanes) && self.lanes.is_power_of_two();
        let rules = [
            (lane_count, "lanes: a power of two from 2 to 64"),
            (
                self.warp_size.is_multiple_of(self.lanes) && self.warp_size.is_power_of_two(),
                "warp_size: a power of two, at least the lanes",
            ),
            (
                self.capacity_words > 0
                    && self.capacity_words.is_multiple_of(banks)
                    && self.capacity_words <= 1 << self.geometry.addr_bits,
                "capacity_words: a multiple of the banks, at most 2^n",
            ),
            ([32, 64].contains(&self.word_bits), "word_bits: 32 or 64"),
            (self.warps >= 2, "warps: at least 2"),
            (
                self.blocks >= 2 && self.blocks.is_multiple_of(2),
                "blocks: even, at least 2",
            ),
            (
                self.locks == 0
                    || (32..=1024).contains(&self.locks) && self.locks.is_power_of_two(),
                "locks: 0 or a power of two from 32 to 1024",
            ),
            (
                [1, 2, 4, 8].contains(&self.lock_group_cycles)
                    && self.lock_group_cycles <= self.lanes,
                "lock_group_cycles: 1, 2, 4 or 8, at most the lanes",
            ),
            ((2..=8).contains(&self.mem_stages), "mem_stages: 2 to 8"),
            ([0, 3].contains(&self.ahead), "ahead: 0 or 3"),
            (self.hash_stage <= 1, "hash_stage: 0 or 1"),
            (
                self.history_sets.is_power_of_two()
                    && (2..=1 << (PC_BITS - 1)).contains(&self.history_sets),
                "history_sets: a power of two from 2 to 8192",
            ),
        ];
        match rules.iter().find(|(holds, _)| !holds) {
            None => Ok(()),
            Some((_, expected)) => Err(HdlError::Machine {
                expected: (*expected).into(),
            }),
        }
    }
}

/// The parameters under the names of the document, for the templates.
#[derive(Clone, Debug, Serialize)]
#[allow(non_snake_case, reason = "the names of docs/microarchitecture.md")]
pub(crate) struct Params {
    pub n: usize,
    pub m: usize,
    pub B: usize,
    pub R: usize,
    pub ROWS: usize,
    /// Row bits of a bank RAM.
    pub RW: usize,
    pub L: usize,
    pub LW: usize,
    pub D: usize,
    pub BE: usize,
    pub WS: usize,
    pub S: usize,
    /// Bits of a subwarp's number.
    pub SUBW: usize,
    pub W: usize,
    pub WW: usize,
    pub T: usize,
    pub TW: usize,
    pub LOCKS: usize,
    pub LK: usize,
    pub M: usize,
    /// Memory stages in the scratchpad.
    pub MS: usize,
    pub AHEAD: usize,
    pub H: usize,
    pub NQ: usize,
    pub PQ: usize,
    /// Bits of the PREMEM queue's count.
    pub PQW: usize,
    pub PCW: usize,
    pub TG: usize,
    pub PW: usize,
    pub DG: usize,
    /// Bits of a pass's cycles in MEM0: a degree, times LKG.
    pub OCC: usize,
    pub EX: usize,
    pub SETS: usize,
    pub SETW: usize,
    pub LKG: usize,
    /// Bits of a lock window's number.
    pub LKW: usize,
    /// Lanes of a lock window.
    pub P: usize,
    pub BCAST: bool,
    pub MERGE: bool,
    pub LR: usize,
    pub LU: usize,
    pub LWR: usize,
    pub LB: usize,
    /// Bits of a cycle within a state of the retry loop.
    pub CTW: usize,
    /// Bits of the warp mask's counter.
    pub CW: usize,
    /// Control fields that travel with a pass: warp, kind, tag, pc, pass, last.
    pub CTL: usize,
    /// Tag of a scratchpad request: source, error, degree, control.
    pub TGW: usize,
    /// Payload of a PREMEM entry.
    pub PREW: usize,
    /// Payload of the writeback multiplexer.
    pub WBW: usize,
    /// Payload of a NONMEM entry.
    pub NMW: usize,
}

impl Params {
    pub(crate) fn new(machine: &Machine) -> Result<Self> {
        machine.check()?;
        let (n, m) = (machine.geometry.addr_bits, machine.geometry.bank_bits);
        let (lanes, warp_size) = (machine.lanes, machine.warp_size);
        let subwarps = warp_size / lanes;
        let rows = machine.capacity_words >> m;
        let (pass_bits, degree_bits) = (index_bits(4 * subwarps), index_bits(lanes + 1));
        let excess_bits = index_bits(warp_size);
        let lock_bits = match machine.locks {
            0 => 1,
            locks => index_bits(locks),
        };
        let control = index_bits(machine.warps) + 4 + TAG_BITS + PC_BITS + pass_bits + 1;
        let lane_data = lanes * machine.word_bits;
        let enables = lanes * machine.word_bits / 8;
        Ok(Params {
            n,
            m,
            B: 1 << m,
            R: n - m,
            ROWS: rows,
            RW: index_bits(rows),
            L: lanes,
            LW: index_bits(lanes),
            D: machine.word_bits,
            BE: machine.word_bits / 8,
            WS: warp_size,
            S: subwarps,
            SUBW: index_bits(subwarps),
            W: machine.warps,
            WW: index_bits(machine.warps),
            T: machine.blocks,
            TW: index_bits(machine.blocks),
            LOCKS: machine.locks,
            LK: lock_bits,
            M: machine.mem_stages,
            MS: machine.mem_stages.min(4),
            AHEAD: machine.ahead,
            H: machine.hash_stage,
            NQ: machine.mem_stages + machine.hash_stage,
            PQ: subwarps - 1,
            PQW: index_bits(subwarps),
            PCW: PC_BITS,
            TG: TAG_BITS,
            PW: pass_bits,
            DG: degree_bits,
            OCC: match machine.locks {
                0 => degree_bits,
                _ => degree_bits + machine.lock_group_cycles.trailing_zeros() as usize,
            },
            EX: excess_bits,
            SETS: machine.history_sets,
            SETW: index_bits(machine.history_sets),
            LKG: machine.lock_group_cycles,
            LKW: index_bits(machine.lock_group_cycles),
            P: lanes / machine.lock_group_cycles,
            BCAST: machine.broadcast,
            MERGE: machine.merge_bytes,
            LR: machine.retry.read,
            LU: machine.retry.update,
            LWR: machine.retry.write,
            LB: machine.retry.branch,
            CTW: index_bits(longest_state(machine) + 1),
            CW: pass_bits.max(excess_bits) + 1,
            CTL: control,
            TGW: control + degree_bits + 2,
            PREW: control + 4 + lanes + lanes * (n + lock_bits) + lane_data + enables,
            WBW: index_bits(machine.warps)
                + TAG_BITS
                + 4
                + pass_bits
                + 1
                + lanes
                + lane_data
                + lanes
                + 1
                + degree_bits,
            NMW: index_bits(machine.warps) + TAG_BITS + 4 + pass_bits + 1 + lanes + lane_data,
        })
    }

    /// The widths as they stand in a file's header.
    pub(crate) fn text(&self, names: &[&str]) -> String {
        let all = serde_fields(self);
        let value = |name: &&str| {
            let found = all.iter().find(|(n, _)| n == name);
            format!("{name} = {}", found.map_or("?", |(_, v)| v))
        };
        names.iter().map(value).collect::<Vec<_>>().join(", ")
    }
}

/// Cycles of the longest state of the retry loop when nothing delays it.
fn longest_state(machine: &Machine) -> usize {
    let RetryLatencies {
        read,
        update,
        write,
        branch,
    } = machine.retry;
    (machine.lanes * read.max(write)).max(update).max(branch)
}

/// Names and values of the parameters.
fn serde_fields(p: &Params) -> Vec<(&'static str, String)> {
    macro_rules! fields {
        ($($name:ident)*) => { vec![$((stringify!($name), p.$name.to_string())),*] };
    }
    fields!(n m B R ROWS L LW D BE WS S W WW T TW LOCKS LK M MS AHEAD H NQ PQ PCW TG PW DG OCC EX SETS LKG
            P BCAST MERGE LR LU LWR LB CW TGW PREW WBW NMW)
}
