//! The presets of the papers (microarchitecture/presets.md).

use super::path::{Barrel, LockHash, PathParams, PathSettings, Pipeline, Scheduler};
use super::sm::{
    Dram, GlobalMemory, L1Cache, L2Cache, Latencies, Sharing, SmParams, TensorUnits, TextureUnit,
};
use super::{AxiOptions, Config, PRESETS, PathHash, RetryLatencies, StreamOptions, TcdmOptions};
use spadkit_base::error::{Error, Result};
use spadkit_base::quote::did_you_mean;
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::HashKind;
use spadkit_mapping::trace::{Atomics, Wide};

/// The latencies that the atomics paper measures.
const FERMI_RETRY: RetryLatencies = RetryLatencies {
    read: 32,
    update: 18,
    write: 36,
    branch: 32,
};

/// The preset of the GPUs that PTX for `sm_SM` is for, the newest for newer
/// ones; none before sm_70, whose machines are those of the papers.
pub(super) fn of_target(sm: u32) -> Option<&'static str> {
    match sm {
        ..70 => None,
        70..80 => Some("sm70"),
        80..90 => Some("sm80"),
        _ => Some("sm90"),
    }
}

/// The preset called `name`.
pub(super) fn preset(name: &str) -> Result<Config> {
    match name {
        "fermi" => fermi(),
        "gt200" => gt200(),
        "small" => small(),
        "gpgpusim-16k" => gpgpusim(name, (12, 5), 4096, (96, 16)),
        "sharing-48k" => gpgpusim(name, (14, 5), 12288, (64, 16)),
        "sharing-64k" => gpgpusim(name, (14, 5), 16384, (64, 32)),
        name if PROOF_MACHINES.contains(&name) => proof(name),
        _ => match TODAY.iter().find(|t| t.name == name) {
            Some(generation) => today(generation),
            None => Err(Error::usage(
                format!("there is no preset '{name}'{}", did_you_mean(name, PRESETS)),
                format!(
                    "presets are {}; small machines for proofs are {}",
                    PRESETS.join(", "),
                    PROOF_MACHINES.join(", ")
                ),
            )),
        },
    }
}

/// Hash and atomics papers; warp and block limits of compute capability 2.0.
fn fermi() -> Result<Config> {
    Ok(Config {
        name: "fermi".to_owned(),
        geometry: Geometry::new(14, 5)?,
        lanes: 32,
        warp_size: 32,
        word_bits: 32,
        capacity_words: 48 * 1024 / 4,
        block_words: 48 * 1024 / 4,
        wide: Wide::FirstWord,
        atomics: Atomics::Words,
        hash_unit: HashKind::Matrix,
        path: PathParams {
            warps: 48,
            blocks: 8,
            locks: 1024,
            lock_group_cycles: 2,
            mem_stages: 4,
            ahead: 3,
            hash_stage: 1,
            hash: PathHash::Configurable,
            broadcast: true,
            merge_bytes: true,
            history_sets: 256,
            retry: FERMI_RETRY,
            emitted_retry: RetryLatencies::NONE,
            tcdm: TcdmOptions::default(),
            stream: StreamOptions::default(),
            axi: AxiOptions::default(),
            retry_contexts: 1,
        },
        settings: PathSettings {
            pipeline: Pipeline::Elastic,
            barrel: Barrel::Relaxed,
            scheduler: Scheduler::Lrr,
            aware: None,
            violate: false,
            lock_hash: LockHash::None,
        },
        sm: SmParams {
            frontend_stages: 0,
            schedulers: 1,
            active_warps: 8,
            registers: 32768,
            atomics_as_loads: false,
            // Atomics paper: the add, the branch and the locking load.
            latencies: Latencies {
                alu: 18,
                sfu: 18,
                branch: 32,
                shared: 32,
            },
            tensor: TensorUnits::NONE,
            texture: TextureUnit {
                per_cycle: 2,
                latency: 400,
            },
            global: GlobalMemory {
                latency: 400,
                segment_bytes: 128,
                bytes_per_cycle: 16.0,
                max_segments: 64,
                max_stores: 32,
                store_latency: 0,
                merge: false,
            },
            l1: L1Cache::NONE,
            l2: L2Cache::NONE,
            dram: Dram::NONE,
            sharing: Sharing {
                on: false,
                threshold: 0.1,
            },
        },
    })
}

/// Elastic paper, Table 4: 24 stages of which 4 are memory stages.
fn gt200() -> Result<Config> {
    let mut c = fermi()?;
    c.name = "gt200".to_owned();
    c.geometry = Geometry::new(12, 3)?;
    (c.lanes, c.capacity_words) = (8, 16 * 1024 / 4);
    c.block_words = c.capacity_words;
    (c.path.warps, c.path.blocks) = (32, 8);
    (c.path.mem_stages, c.path.hash_stage) = (4, 0);
    c.path.hash = PathHash::Mod;
    c.path.lock_group_cycles = 1;
    c.settings.barrel = Barrel::Strict;
    c.sm.frontend_stages = 17;
    c.sm.registers = 16384;
    c.sm.latencies.branch = 18;
    c.sm.texture.per_cycle = 1;
    c.sm.global.segment_bytes = 64;
    c.sm.global.bytes_per_cycle = 8.0;
    c.sm.global.max_segments = 32;
    Ok(c)
}

/// Few of everything: quick runs and proofs.
fn small() -> Result<Config> {
    let mut c = fermi()?;
    c.name = "small".to_owned();
    c.geometry = Geometry::new(10, 3)?;
    (c.lanes, c.capacity_words, c.block_words) = (8, 1024, 1024);
    (c.path.warps, c.path.blocks) = (8, 4);
    (c.path.locks, c.path.lock_group_cycles) = (64, 1);
    c.path.hash_stage = 0;
    c.path.history_sets = 16;
    // All different, and longer or shorter than an access by its degree.
    c.path.retry = RetryLatencies {
        read: 5,
        update: 3,
        write: 4,
        branch: 2,
    };
    c.sm.registers = 8192;
    c.sm.latencies = Latencies {
        alu: 1,
        sfu: 4,
        branch: 1,
        shared: 5,
    };
    c.sm.texture.latency = 40;
    c.sm.global = GlobalMemory {
        latency: 40,
        segment_bytes: 32,
        bytes_per_cycle: 16.0,
        max_segments: 8,
        max_stores: 8,
        store_latency: 0,
        merge: false,
    };
    Ok(c)
}

/// The machines that units of the path are proved for. They are as small as all
/// mechanisms of the unit allow: lock groups of two cycles, several passes, two
/// sharing pairs, a second round of an atomic.
pub const PROOF_MACHINES: [&str; 6] = ["pair", "quad", "prompt", "rows", "whole", "lockless"];

/// One of [`PROOF_MACHINES`].
fn proof(name: &str) -> Result<Config> {
    let whole = ["whole", "lockless"].contains(&name);
    let mut c = small()?;
    c.name = name.to_owned();
    c.geometry = Geometry::new(9, 3)?;
    c.lanes = if whole || name == "pair" { 2 } else { 4 };
    c.capacity_words = if name == "rows" { 4 * 8 } else { 1 << 9 };
    c.block_words = c.capacity_words;
    c.warp_size = 8;
    (c.path.warps, c.path.blocks) = (4, 4);
    (c.path.locks, c.path.lock_group_cycles) = (32, 2);
    c.path.history_sets = 2;
    // A definition in a line; the others are proved by themselves.
    c.path.hash = PathHash::Xor;
    if whole {
        // Addresses are any, so banks, rows and locks are with any hash.
        c.path.hash = PathHash::Mod;
        c.warp_size = 4;
        (c.path.warps, c.path.blocks) = (2, 2);
    }
    if name == "lockless" {
        c.path.locks = 0;
    }
    // Short, so that a second round is only a few cycles away.
    c.path.retry = RetryLatencies {
        read: 2,
        update: 3,
        write: 2,
        branch: 1,
    };
    if name == "prompt" {
        c.path.retry = RetryLatencies::NONE;
    }
    Ok(c)
}

/// Sharing paper, Tables II and VIII; registers and schedulers are Table II's.
fn gpgpusim(
    name: &str,
    (addr_bits, bank_bits): (u32, u32),
    capacity_words: u32,
    (warps, blocks): (u32, u32),
) -> Result<Config> {
    let mut c = fermi()?;
    c.name = name.to_owned();
    c.geometry = Geometry::new(addr_bits, bank_bits)?;
    (c.capacity_words, c.block_words) = (capacity_words, capacity_words);
    (c.path.warps, c.path.blocks) = (warps, blocks);
    c.path.hash_stage = 0;
    c.path.hash = PathHash::Mod;
    c.settings.pipeline = Pipeline::Unified;
    c.sm.schedulers = 4;
    c.sm.registers = 65536;
    // The load's is the path's own. With the stages of the paper's Fig. 4 (two of
    // memory, none that decide the issue) it would be five cycles.
    c.sm.latencies = Latencies {
        alu: 4,
        sfu: 16,
        branch: 4,
        shared: 7,
    };
    Ok(c)
}

/// The shared memory of a generation of today's GPUs, in KiB.
struct Today {
    name: &'static str,
    addr_bits: u32,
    /// Of an SM.
    capacity: u32,
    /// Of one block: the system takes 1 KiB of each on the later ones.
    block: u32,
    /// How accesses wider than a word are served, and atomics.
    served: (Wide, Atomics),
    tensor: TensorUnits,
}

/// Rates are those of NVIDIA's whitepapers, latencies near what the
/// microbenchmarks of others found (microarchitecture/sm-model.md).
const fn tensor(macs_per_cycle: u32, f64_macs_per_cycle: u32, latency: u32) -> TensorUnits {
    TensorUnits {
        macs_per_cycle,
        f64_macs_per_cycle,
        latency,
        group_macs_per_cycle: 0,
    }
}

/// Compute capabilities 7.0, 8.0 and 9.0. From 8.0 on, ptxas has the lanes of an
/// increment counted; that loads merge was measured on 9.0 alone.
const TODAY: [Today; 3] = [
    Today {
        name: "sm70",
        addr_bits: 15,
        capacity: 96,
        block: 96,
        served: (Wide::Phases, Atomics::Lanes),
        tensor: tensor(128, 0, 22),
    },
    Today {
        name: "sm80",
        addr_bits: 16,
        capacity: 164,
        block: 163,
        served: (Wide::Phases, Atomics::LanesButIncrements),
        tensor: tensor(256, 16, 17),
    },
    Today {
        name: "sm90",
        addr_bits: 16,
        capacity: 228,
        block: 227,
        served: (Wide::PhasesMerged, Atomics::LanesButIncrements),
        tensor: TensorUnits {
            group_macs_per_cycle: 512,
            ..tensor(320, 32, 17)
        },
    },
];

/// Today's machines: wide accesses in phases, no hash, no sharing, no lock
/// unit. Nothing is emitted for them: their path has the fewest stages that a
/// synchronous bank allows. Other latencies and global memory are those of the
/// sharing presets, except for what was [measured](h100).
fn today(t: &Today) -> Result<Config> {
    let words = |kib: u32| kib * 1024 / 4;
    let mut c = gpgpusim(t.name, (t.addr_bits, 5), words(t.capacity), (64, 32))?;
    c.block_words = words(t.block);
    (c.wide, c.atomics) = t.served;
    c.path.locks = 0;
    c.sm.tensor = t.tensor;
    c.sm.texture.per_cycle = 4;
    (c.path.mem_stages, c.path.ahead, c.sm.latencies.shared) = (2, 0, 5);
    if t.name == "sm90" {
        h100(&mut c);
    }
    Ok(c)
}

/// The latencies that were measured on an H100 (docs/reference/gpu.md), of global
/// memory where the L2 holds it. The bytes per cycle stay an SM's share if all SMs
/// read.
fn h100(c: &mut Config) {
    c.sm.latencies = Latencies {
        alu: 4,
        sfu: 17,
        branch: 4,
        shared: 23,
    };
    c.sm.global.latency = 297;
    c.sm.l1 = L1Cache {
        size_bytes: 128 * 1024,
        latency: 34,
        mshrs: 256,
        ..L1Cache::NONE
    };
}
