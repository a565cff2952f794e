//! What each key sets, and its legal values.

use super::{Field, Key};
use crate::config::PathHash;
use crate::config::path::{Barrel, LockHash, Pipeline, Scheduler};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as ValueError;
use spadkit_hdl::{Allowed, Machine};
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::HashKind;
use spadkit_mapping::trace::{Atomics, Wide};
use std::ops::RangeInclusive;

macro_rules! number {
    ($name:literal, $($field:ident).+, $allowed:expr) => {
        Key {
            name: $name,
            field: Field::Number {
                get: |c| c.$($field).+,
                set: |c, value| c.$($field).+ = value,
                allowed: $allowed,
            },
        }
    };
}

macro_rules! flag {
    ($name:literal, $($field:ident).+) => {
        Key {
            name: $name,
            field: Field::Flag(|c, value| c.$($field).+ = value),
        }
    };
}

macro_rules! choice {
    ($name:literal, $($field:ident).+, $of:ty) => {
        Key {
            name: $name,
            field: Field::Choice {
                check: |text| named::<$of>(text).map(drop),
                set: |c, text| c.$($field).+ = named(text).unwrap_or(c.$($field).+),
            },
        }
    };
}

/// The value with that name.
fn named<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ValueError> {
    T::deserialize(text.into_deserializer())
}

const fn range(of: &RangeInclusive<u32>) -> Allowed {
    Allowed::Range(*of.start(), *of.end())
}

/// Cycles of an instruction.
const LATENCY: Allowed = Allowed::Range(1, 1024);
/// Cycles between two instructions of a unit.
const INTERVAL: Allowed = Allowed::Range(1, 256);
/// Cycles of global memory and its caches.
const FAR: Allowed = Allowed::Range(1, 100_000);
/// Bytes that are fetched together: at least a word.
const SEGMENT: Allowed = Allowed::PowerOfTwo(4, 4096);
/// Bytes of a row of DRAM, or of what lies in one channel.
const ROW: Allowed = Allowed::PowerOfTwo(64, 1 << 16);
/// Cycles of DRAM.
const DRAM_CYCLES: Allowed = Allowed::Range(0, 1024);
/// Entries of a table that software sizes at will.
const ENTRIES: Allowed = Allowed::Range(1, 1 << 16);

/// Every key, by section, in the order of docs/reference/formats.md.
pub(in crate::config) static KEYS: &[Key] = &[
    Key {
        name: "geometry.addr_bits",
        field: Field::Number {
            get: |c| c.geometry.addr_bits(),
            set: |c, n| c.geometry = Geometry::new(n, c.geometry.bank_bits()).unwrap_or(c.geometry),
            allowed: range(&Geometry::ADDR_BITS),
        },
    },
    Key {
        name: "geometry.bank_bits",
        field: Field::Number {
            get: |c| c.geometry.bank_bits(),
            set: |c, m| c.geometry = Geometry::new(c.geometry.addr_bits(), m).unwrap_or(c.geometry),
            allowed: range(&Geometry::BANK_BITS),
        },
    },
    number!("geometry.lanes", lanes, Machine::LANES),
    number!("geometry.warp_size", warp_size, Machine::WARP_SIZE),
    number!("geometry.word_bits", word_bits, Machine::WORD_BITS),
    number!(
        "geometry.capacity_words",
        capacity_words,
        Machine::CAPACITY_WORDS
    ),
    number!("geometry.block_words", block_words, Machine::CAPACITY_WORDS),
    choice!("geometry.wide", wide, Wide),
    choice!("geometry.atomics", atomics, Atomics),
    choice!("hash.unit", hash_unit, HashKind),
    choice!("hash.path", path.hash, PathHash),
    Key {
        name: "hash.reset",
        field: Field::Mapping(|c, spec| c.path.hash_reset = spec),
    },
    number!("hash.stage", path.hash_stage, Machine::HASH_STAGE),
    number!("path.warps", path.warps, Machine::WARPS),
    number!("path.blocks", path.blocks, Machine::BLOCKS),
    number!("path.locks", path.locks, Machine::LOCKS),
    number!(
        "path.lock_group_cycles",
        path.lock_group_cycles,
        Machine::LOCK_GROUP_CYCLES
    ),
    flag!("path.lock_owner", path.lock_owner),
    choice!("path.lock_hash", settings.lock_hash, LockHash),
    number!("path.mem_stages", path.mem_stages, Machine::MEM_STAGES),
    number!("path.ahead", path.ahead, Machine::AHEAD),
    flag!("path.broadcast", path.broadcast),
    flag!("path.merge_bytes", path.merge_bytes),
    number!(
        "path.history_sets",
        path.history_sets,
        Machine::HISTORY_SETS
    ),
    number!("retry.read", path.retry.read, Machine::RETRY_ACCESS),
    number!("retry.update", path.retry.update, Machine::RETRY_CYCLES),
    number!("retry.write", path.retry.write, Machine::RETRY_ACCESS),
    number!("retry.branch", path.retry.branch, Machine::RETRY_CYCLES),
    number!("retry.contexts", path.retry_contexts, Allowed::Range(1, 32)),
    flag!("tcdm.request_register", path.tcdm.request_register),
    flag!("tcdm.response_register", path.tcdm.response_register),
    number!("tcdm.id_bits", path.tcdm.id_bits, Machine::TCDM_ID_BITS),
    flag!("tcdm.atomics", path.tcdm.atomics),
    flag!("tcdm.posted", path.tcdm.posted),
    number!(
        "stream.mem_stages",
        path.stream.mem_stages,
        Machine::STREAM_MEM_STAGES
    ),
    number!("stream.window", path.stream.window, Machine::STREAM_WINDOW),
    flag!("stream.atomics", path.stream.atomics),
    flag!("stream.posted", path.stream.posted),
    number!(
        "stream.tag_bits",
        path.stream.tag_bits,
        Machine::STREAM_TAG_BITS
    ),
    number!("axi.addr_bits", path.axi.addr_bits, Machine::AXI_ADDR_BITS),
    number!("axi.lanes", path.axi.lanes, Machine::AXI_LANES),
    number!("axi.id_bits", path.axi.id_bits, Machine::AXI_ID_BITS),
    number!("axi.in_flight", path.axi.in_flight, Machine::AXI_IN_FLIGHT),
    choice!("pipeline.kind", settings.pipeline, Pipeline),
    choice!("pipeline.barrel", settings.barrel, Barrel),
    number!(
        "pipeline.frontend_stages",
        sm.frontend_stages,
        Allowed::Range(0, 64)
    ),
    choice!("scheduler.policy", settings.scheduler, Scheduler),
    Key {
        name: "scheduler.aware",
        field: Field::Flag(|c, value| c.settings.aware = Some(value)),
    },
    flag!("scheduler.violate", settings.violate),
    number!("scheduler.count", sm.schedulers, Allowed::Range(1, 128)),
    number!(
        "scheduler.active_warps",
        sm.active_warps,
        Allowed::Range(1, 128)
    ),
    number!("sm.registers", sm.registers, Allowed::Range(1, 1 << 24)),
    number!(
        "sm.register_unit",
        sm.allocation.register_unit,
        Allowed::Range(0, 4096)
    ),
    number!(
        "sm.register_files",
        sm.allocation.register_files,
        Allowed::Range(1, 16)
    ),
    number!(
        "sm.reserved_bytes",
        sm.allocation.reserved_bytes,
        Allowed::Range(0, 1 << 16)
    ),
    number!(
        "sm.shared_unit",
        sm.allocation.shared_unit,
        Allowed::Range(1, 4096)
    ),
    number!("sm.alu_cycles", sm.latencies.alu, LATENCY),
    number!("sm.sfu_cycles", sm.latencies.sfu, LATENCY),
    flag!("sm.atomics_as_loads", sm.atomics_as_loads),
    number!("sm.window", sm.window, Machine::STREAM_WINDOW),
    number!("sm.branch_cycles", sm.latencies.branch, LATENCY),
    number!(
        "sm.shared_cycles",
        sm.latencies.shared,
        Allowed::Range(0, 1024)
    ),
    number!("sm.remote_cycles", sm.latencies.remote, LATENCY),
    number!("sm.alu_issue", sm.issue.alu, INTERVAL),
    number!("sm.integer_issue", sm.issue.integer, INTERVAL),
    number!("sm.f64_issue", sm.issue.f64, INTERVAL),
    number!("sm.sfu_issue", sm.issue.sfu, INTERVAL),
    number!("sm.exchange_issue", sm.issue.exchange, INTERVAL),
    number!(
        "tensor.macs_per_cycle",
        sm.tensor.macs_per_cycle,
        Allowed::Range(0, 1 << 16)
    ),
    number!(
        "tensor.f64_macs_per_cycle",
        sm.tensor.f64_macs_per_cycle,
        Allowed::Range(0, 1 << 16)
    ),
    number!("tensor.latency", sm.tensor.latency, LATENCY),
    number!(
        "tensor.group_macs_per_cycle",
        sm.tensor.group_macs_per_cycle,
        Allowed::Range(0, 1 << 16)
    ),
    number!(
        "texture.per_cycle",
        sm.texture.per_cycle,
        Allowed::Range(1, 64)
    ),
    number!("texture.latency", sm.texture.latency, FAR),
    flag!("sharing.on", sm.sharing.on),
    Key {
        name: "sharing.threshold",
        field: Field::Real {
            get: |c| c.sm.sharing.threshold,
            set: |c, value| c.sm.sharing.threshold = value,
            holds: |value| (0.0..=1.0).contains(&value),
            expected: "t, the private fraction of a block's scratchpad, from 0 to 1",
        },
    },
    number!("global.latency", sm.global.latency, FAR),
    number!("global.segment_bytes", sm.global.segment_bytes, SEGMENT),
    Key {
        name: "global.bytes_per_cycle",
        field: Field::Real {
            get: |c| c.sm.global.bytes_per_cycle,
            set: |c, value| c.sm.global.bytes_per_cycle = value,
            holds: is_bandwidth,
            expected: "0.01 to 4096, with three decimals at most",
        },
    },
    number!("global.max_segments", sm.global.max_segments, ENTRIES),
    number!("global.max_stores", sm.global.max_stores, ENTRIES),
    number!(
        "global.store_latency",
        sm.global.store_latency,
        Allowed::Range(0, 100_000)
    ),
    flag!("global.merge", sm.global.merge),
    number!(
        "l1.size_bytes",
        sm.l1.size_bytes,
        Allowed::Range(0, 1 << 26)
    ),
    number!("l1.ways", sm.l1.ways, ENTRIES),
    number!("l1.line_bytes", sm.l1.line_bytes, SEGMENT),
    number!("l1.latency", sm.l1.latency, FAR),
    number!("l1.mshrs", sm.l1.mshrs, ENTRIES),
    flag!("l1.sectored", sm.l1.sectored),
    flag!("l1.unified", sm.l1.unified),
    flag!("l1.bypass", sm.l1.bypass),
    number!(
        "l2.size_bytes",
        sm.l2.size_bytes,
        Allowed::Range(0, 1 << 26)
    ),
    number!("l2.ways", sm.l2.ways, ENTRIES),
    number!("l2.line_bytes", sm.l2.line_bytes, SEGMENT),
    number!("l2.latency", sm.l2.latency, FAR),
    flag!("l2.fetch_on_write", sm.l2.fetch_on_write),
    number!("dram.channels", sm.dram.channels, Allowed::Range(0, 1024)),
    number!("dram.banks", sm.dram.banks, Allowed::Range(1, 1024)),
    number!("dram.stripe_bytes", sm.dram.stripe_bytes, ROW),
    number!("dram.row_bytes", sm.dram.row_bytes, ROW),
    Key {
        name: "dram.bytes_per_cycle",
        field: Field::Real {
            get: |c| c.sm.dram.bytes_per_cycle,
            set: |c, value| c.sm.dram.bytes_per_cycle = value,
            holds: is_bandwidth,
            expected: "0.01 to 4096, with three decimals at most",
        },
    },
    number!("dram.open", sm.dram.open, DRAM_CYCLES),
    number!("dram.between", sm.dram.between, DRAM_CYCLES),
    number!("dram.row_cycle", sm.dram.row_cycle, DRAM_CYCLES),
    number!("dram.queue", sm.dram.queue, ENTRIES),
    number!("dram.sms", sm.dram.sms, Allowed::Range(1, 1024)),
];

/// Whether it is a legal bandwidth: a multiple of 0.001 bytes, so that times are whole numbers.
fn is_bandwidth(bytes_per_cycle: f64) -> bool {
    let thousandths = bytes_per_cycle * 1000.0;
    (0.01..=4096.0).contains(&bytes_per_cycle) && (thousandths - thousandths.round()).abs() < 1e-6
}
