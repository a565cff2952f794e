//! The SM around the path (microarchitecture/sm-model.md).

use serde::Serialize;

/// Latencies of relaxed barrel execution, in cycles from issue to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Latencies {
    /// alu, mov.
    pub alu: u32,
    /// Special functions.
    pub sfu: u32,
    /// Branches.
    pub branch: u32,
    /// Loads of shared memory, with or without lock, that meet no conflict,
    /// without a hash stage; 0 or less than the path takes: as the path.
    pub shared: u32,
    /// Loads of shared memory of other blocks of the cluster.
    pub remote: u32,
}

impl Default for Latencies {
    /// Nothing is known but the network between SMs, which most machines do not have.
    fn default() -> Self {
        Latencies {
            alu: 0,
            sfu: 0,
            branch: 0,
            shared: 0,
            remote: 180,
        }
    }
}

/// Cycles from one instruction of a scheduler to the next of the same unit: of the 32 lanes of
/// a warp, a unit begins a part in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct IssueIntervals {
    /// Arithmetic, but for what the others are for.
    pub alu: u32,
    /// Integers of 32 bits, but for their products.
    pub integer: u32,
    /// Floating-point numbers of 64 bits.
    pub f64: u32,
    /// Special functions.
    pub sfu: u32,
    /// Exchanges between the lanes of a warp.
    pub exchange: u32,
}

impl Default for IssueIntervals {
    fn default() -> Self {
        IssueIntervals {
            alu: 1,
            integer: 1,
            f64: 1,
            sfu: 1,
            exchange: 1,
        }
    }
}

impl IssueIntervals {
    /// All of them, in the order of the fields.
    pub fn of_units(&self) -> [u32; 5] {
        let IssueIntervals {
            alu,
            integer,
            f64,
            sfu,
            exchange,
        } = *self;
        [alu, integer, f64, sfu, exchange]
    }
}

/// The tensor units, one for each scheduler (microarchitecture/sm-model.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TensorUnits {
    /// Multiplications, each with its addition, of f16 that a unit begins in a
    /// cycle; 0: there are none. Narrower elements have more of them in the
    /// same bits, tf32 half.
    pub macs_per_cycle: u32,
    /// Multiplications, each with its addition, of f64 that a unit begins in a
    /// cycle; 0: the units have no f64.
    pub f64_macs_per_cycle: u32,
    /// Cycles from the last multiplication's beginning to the use of the result.
    pub latency: u32,
    /// [`macs_per_cycle`](Self::macs_per_cycle) of products of warpgroups; 0: as
    /// many.
    pub group_macs_per_cycle: u32,
}

impl TensorUnits {
    /// Cycles that a product occupies its unit: `macs` multiplications of
    /// factors of `bits` bits, of a warpgroup or of a warp. None where the unit
    /// has none such.
    pub fn occupied(&self, bits: u8, macs: u32, group: bool) -> Option<u64> {
        let words = match self.group_macs_per_cycle {
            of_groups if group && of_groups > 0 => of_groups,
            _ => self.macs_per_cycle,
        };
        let (work, rate) = match bits {
            64 => (u64::from(macs), self.f64_macs_per_cycle),
            _ => (u64::from(macs) * u64::from(bits), words.saturating_mul(16)),
        };
        (rate > 0).then(|| work.div_ceil(rate.into()).max(1))
    }
}

/// The texture unit (microarchitecture/sm-model.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TextureUnit {
    /// Lanes whose fetch it begins in a cycle.
    pub per_cycle: u32,
    /// Cycles from the last lane's beginning to the texels.
    pub latency: u32,
}

/// Global memory as one SM sees it (microarchitecture/sm-model.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct GlobalMemory {
    /// Cycles from a request's start to its first data.
    pub latency: u32,
    /// Bytes of the aligned segments into which lanes coalesce.
    pub segment_bytes: u32,
    /// Bytes that the channel takes in a cycle, with three decimals at most.
    pub bytes_per_cycle: f64,
    /// Segments outstanding.
    pub max_segments: u32,
    /// Store instructions that wait for their slots on the channel.
    pub max_stores: u32,
    /// Cycles from the slot of a store's last segment to its acknowledgement,
    /// which the end of its warp waits for; 0: it waits for none.
    pub store_latency: u32,
    /// Loads of a segment that a load has asked for wait for the data of that
    /// one. Those of an L1 do so anyway.
    pub merge: bool,
}

impl GlobalMemory {
    /// [`bytes_per_cycle`](Self::bytes_per_cycle) in thousandths of a byte.
    pub fn millibytes_per_cycle(&self) -> u64 {
        (self.bytes_per_cycle * 1000.0).round() as u64
    }
}

/// The cache that an SM has for loads of global memory
/// (microarchitecture/sm-model.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct L1Cache {
    /// Bytes of data; 0: there is none.
    pub size_bytes: u32,
    /// Lines of a set.
    pub ways: u32,
    /// Bytes of a line: the lanes of a load look up each that they touch once.
    pub line_bytes: u32,
    /// Cycles from a look-up that hits to the data.
    pub latency: u32,
    /// Lines that are under way from global memory at a time; of a sectored cache,
    /// segments.
    pub mshrs: u32,
    /// A miss fetches the segments that the load touches; else the line.
    pub sectored: bool,
    /// The scratchpad of the resident blocks takes its bytes from
    /// [`size_bytes`](Self::size_bytes).
    pub unified: bool,
    /// Atomics go past it, and so do loads that name another cache or that see the stores of
    /// other SMs.
    pub bypass: bool,
}

/// An SM's share of the L2 (microarchitecture/sm-model.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct L2Cache {
    /// Bytes of data; 0: there is none.
    pub size_bytes: u32,
    /// Lines of a set.
    pub ways: u32,
    /// Bytes of a line.
    pub line_bytes: u32,
    /// Cycles from a request's start to its data, of a hit.
    pub latency: u32,
    /// A store to a line that is not there fetches it first.
    pub fetch_on_write: bool,
}

/// DRAM behind the L2, or behind the channel if there is none
/// (microarchitecture/sm-model.md). Cycles are those of the SM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Dram {
    /// Channels; 0: global memory has only a latency and a bandwidth.
    pub channels: u32,
    /// Banks of a channel, each with an open row.
    pub banks: u32,
    /// Bytes that follow each other in a channel.
    pub stripe_bytes: u32,
    /// Bytes of a row.
    pub row_bytes: u32,
    /// Bytes that a channel transfers in a cycle, with three decimals at most.
    pub bytes_per_cycle: f64,
    /// Cycles from closing a row to the first access of the next one.
    pub open: u32,
    /// Least cycles between two openings of rows of a channel.
    pub between: u32,
    /// Least cycles between two openings of rows of a bank.
    pub row_cycle: u32,
    /// Requests of this SM that wait before a channel.
    pub queue: u32,
    /// SMs that ask for as much as this one.
    pub sms: u32,
}

impl Dram {
    /// [`bytes_per_cycle`](Self::bytes_per_cycle) in thousandths of a byte.
    pub fn millibytes_per_cycle(&self) -> u64 {
        (self.bytes_per_cycle * 1000.0).round() as u64
    }
}

/// Scratchpad sharing between two blocks (sharing paper, section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sharing {
    /// Whether blocks share.
    pub on: bool,
    /// t: the part of a block's scratchpad that stays its own, 0 to 1.
    pub threshold: f64,
}

/// How the SM allocates registers and scratchpad to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Allocation {
    /// A warp gets a multiple of so many 32-bit registers; 0: a block gets those of its
    /// threads, as in the papers.
    pub register_unit: u32,
    /// Parts of the registers; a warp has all of its registers in one of them.
    pub register_files: u32,
    /// Bytes of scratchpad that the system takes beside those of each block.
    pub reserved_bytes: u32,
    /// A block gets a multiple of so many bytes of scratchpad.
    pub shared_unit: u32,
}

impl Default for Allocation {
    fn default() -> Self {
        Allocation {
            register_unit: 0,
            register_files: 1,
            reserved_bytes: 0,
            shared_unit: 1,
        }
    }
}

/// The parameters of the SM.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SmParams {
    /// F: stages before the issue port; latency only.
    pub frontend_stages: u32,
    /// K: warp schedulers.
    pub schedulers: u32,
    /// A: warps in the active set of each two-level scheduler.
    pub active_warps: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// The units in which blocks get registers and scratchpad.
    pub allocation: Allocation,
    /// Atomics on shared memory take no locks: they are served as loads, as in
    /// stock GPGPU-Sim (atomics paper, section III).
    pub atomics_as_loads: bool,
    /// Accesses of the simulated path whose bank conflicts overlap, as in a window of
    /// `spad_stream`; 0: one after the other, as in the RTL's path.
    pub window: u32,
    /// Instruction latencies.
    pub latencies: Latencies,
    /// Rates of arithmetic.
    pub issue: IssueIntervals,
    /// Tensor units.
    pub tensor: TensorUnits,
    /// The texture unit.
    pub texture: TextureUnit,
    /// Global memory.
    pub global: GlobalMemory,
    /// The cache before it.
    pub l1: L1Cache,
    /// The cache behind it.
    pub l2: L2Cache,
    /// The memory behind that.
    pub dram: Dram,
    /// Scratchpad sharing.
    pub sharing: Sharing,
}
