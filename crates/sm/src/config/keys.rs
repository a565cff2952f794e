//! The keys of a configuration file: what each sets, and its legal values.
//! Files, `--set` and the check of a machine all read this table.

use super::path::{Barrel, LockHash, Pipeline, Scheduler};
use super::refusal::Refusal;
use super::{Config, PathHash};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error as ValueError;
use spadkit_base::error::Error;
use spadkit_base::input::section::{described, float_of, integer_of};
use spadkit_base::quote::did_you_mean;
use spadkit_hdl::{Allowed, Machine};
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::{HashKind, HashSpec};
use spadkit_mapping::trace::{Atomics, Wide};
use std::ops::RangeInclusive;
use toml::de::DeValue;

/// A key of one section.
pub(super) struct Key {
    /// `path.mem_stages`.
    pub name: &'static str,
    field: Field,
}

/// The field of a machine that a key sets.
enum Field {
    Number {
        get: fn(&Config) -> u32,
        set: fn(&mut Config, u32),
        allowed: Allowed,
    },
    Real {
        get: fn(&Config) -> f64,
        set: fn(&mut Config, f64),
        holds: fn(f64) -> bool,
        expected: &'static str,
    },
    Flag(fn(&mut Config, bool)),
    /// The name of a variant of the field.
    Choice {
        check: fn(&str) -> Result<(), ValueError>,
        set: fn(&mut Config, &str),
    },
    /// A hash spec.
    Mapping(fn(&mut Config, HashSpec)),
}

/// A value of the type that its key has.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(u32),
    Real(f64),
    Flag(bool),
    Choice(String),
    Mapping(HashSpec),
}

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
pub(super) static KEYS: &[Key] = &[
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

impl Key {
    /// The key called `name`, `section.key`.
    pub fn find(name: &str) -> Option<&'static Key> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// The sections, in order.
    pub fn sections() -> Vec<&'static str> {
        let mut sections: Vec<_> = KEYS.iter().map(|key| key.parts().0).collect();
        sections.dedup();
        sections
    }

    /// The keys of one section.
    pub fn of(section: &str) -> impl Iterator<Item = &'static Key> {
        KEYS.iter().filter(move |key| key.parts().0 == section)
    }

    /// Section and key.
    pub fn parts(&self) -> (&'static str, &'static str) {
        self.name.split_once('.').unwrap_or(("", self.name))
    }

    /// The value as the key has it, if it is of the key's type. Whether a
    /// number is allowed, [`put`](Self::put) says.
    pub fn read(&self, value: &DeValue) -> Result<Value, Refusal> {
        let read = match (&self.field, value) {
            (Field::Number { .. }, DeValue::Integer(i)) => {
                let number = integer_of(value).and_then(|v| u32::try_from(v).ok());
                return number
                    .map(Value::Number)
                    .ok_or_else(|| self.refuse(i.as_str()));
            }
            (Field::Real { .. }, DeValue::Float(f)) => Some(Value::Real(float_of(f.as_str()))),
            (Field::Real { .. }, DeValue::Integer(_)) => {
                integer_of(value).map(|v| Value::Real(v as f64))
            }
            (Field::Flag(_), DeValue::Boolean(on)) => Some(Value::Flag(*on)),
            (Field::Choice { check, .. }, DeValue::String(text)) => {
                check(text).map_err(|error| self.refuse_name(text, &error.to_string()))?;
                Some(Value::Choice(text.to_string()))
            }
            (Field::Mapping(_), DeValue::String(text)) => {
                let spec = text.parse::<HashSpec>();
                Some(Value::Mapping(
                    spec.map_err(|error| self.refuse_spec(error))?,
                ))
            }
            _ => None,
        };
        read.ok_or_else(|| {
            let what = format!("{} is {}", self.name, described(value));
            Refusal::of(self.name, what, format!("expected {}", self.expected()))
        })
    }

    /// Sets the value in a machine, unless no machine may have it.
    pub fn put(&self, value: &Value, c: &mut Config) -> Result<(), Refusal> {
        match (&self.field, value) {
            (Field::Number { set, allowed, .. }, Value::Number(value)) => {
                if !allowed.contains((*value).into()) {
                    return Err(self.refuse(&value.to_string()));
                }
                set(c, *value);
            }
            (Field::Real { set, .. }, Value::Real(value)) => set(c, *value),
            (Field::Flag(set), Value::Flag(value)) => set(c, *value),
            (Field::Choice { set, .. }, Value::Choice(text)) => set(c, text),
            (Field::Mapping(set), Value::Mapping(spec)) => set(c, spec.clone()),
            _ => unreachable!("{} cannot be {value:?}", self.name),
        }
        self.check(c)
    }

    /// Refuses a machine whose value of this key no machine may have.
    pub fn check(&self, c: &Config) -> Result<(), Refusal> {
        match self.field {
            Field::Number { get, allowed, .. } if !allowed.contains(get(c).into()) => {
                Err(self.refuse(&get(c).to_string()))
            }
            // NaN is refused, too.
            Field::Real { get, holds, .. } if !holds(get(c)) => {
                Err(self.refuse(&get(c).to_string()))
            }
            _ => Ok(()),
        }
    }

    /// The legal values, as text.
    pub fn expected(&self) -> String {
        match self.field {
            Field::Number { allowed, .. } => allowed.to_string(),
            Field::Real { expected, .. } => expected.to_owned(),
            Field::Flag(_) => "true or false".to_owned(),
            Field::Choice { .. } => "a name in quotes".to_owned(),
            Field::Mapping(_) => "a hash spec in quotes, as tune and encode have them".to_owned(),
        }
    }

    fn refuse(&self, value: &str) -> Refusal {
        let what = format!("{} {value} is not supported", self.name);
        Refusal::of(self.name, what, format!("expected {}", self.expected()))
    }

    fn refuse_spec(&self, error: Error) -> Refusal {
        let help = match &error {
            Error::Usage { help, .. } => help.clone(),
            _ => None,
        };
        let what = format!("{}: {error}", self.name);
        Refusal::of(self.name, what, help.unwrap_or_else(|| self.expected()))
    }

    /// `reason` is serde's: it quotes the name first, then those that there are.
    fn refuse_name(&self, name: &str, reason: &str) -> Refusal {
        let known: Vec<&str> = reason.split('`').skip(3).step_by(2).collect();
        let nearest = did_you_mean(name, known.iter().copied());
        Refusal::of(
            self.name,
            format!("{} {name:?} is not supported{nearest}", self.name),
            format!("expected {}", known.join(", ")),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use std::path::Path;

    /// The example of docs/reference/formats.md, a line for every key.
    fn documented() -> String {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/formats.md");
        let page = std::fs::read_to_string(page).unwrap();
        let (_, section) = page.split_once("## Configuration file").unwrap();
        let (_, block) = section.split_once("```toml\n").unwrap();
        block.split_once("```").unwrap().0.to_owned()
    }

    #[test]
    fn every_key_is_documented_with_what_it_may_be() {
        let text = documented();
        for section in Key::sections() {
            let (_, rest) = text.split_once(&format!("[{section}]")).unwrap();
            let lines: Vec<&str> = rest
                .lines()
                .skip(1)
                .take_while(|line| !line.starts_with('['))
                .collect();
            let keys = lines.iter().filter(|line| line.contains(" = ")).count();
            assert_eq!(keys, Key::of(section).count(), "[{section}]");
            for key in Key::of(section) {
                let name = key.parts().1;
                let line = lines
                    .iter()
                    .find(|line| line.starts_with(&format!("{name} = ")));
                let line = line.unwrap_or_else(|| panic!("{} is not documented", key.name));
                if let Field::Number { .. } | Field::Real { .. } = key.field {
                    let expected = key.expected();
                    assert!(line.contains(&expected), "{}: {expected}\n{line}", key.name);
                }
            }
        }
        Config::from_toml(&text, Path::new("formats.md")).unwrap();
    }
}
