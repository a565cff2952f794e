//! The function of a unit of the hash family after a reset, from the mapping itself.

use super::subject::{Form, Subject};
use crate::config::Config;
use crate::geometry::Geometry;
use crate::hash::{BankFunction, HashSpec, Mapping};

/// The machine in another geometry, where its mapping after a reset has no meaning.
pub(super) fn in_geometry(machine: &Config, geometry: Geometry) -> Config {
    let mut config = machine.clone();
    if geometry != machine.geometry {
        config.geometry = geometry;
        config.path.hash_reset = HashSpec::Mod;
    }
    config
}

/// The mapping of the unit after a reset of `machine`.
pub(super) fn reset_mapping(subject: &Subject, machine: &Config) -> HashSpec {
    let registers = machine.reset_registers();
    let own = |unit| registers.iter().any(|(of, _)| *of == unit);
    match subject.configured {
        Some(unit) if own(unit) => machine.path.hash_reset.clone(),
        _ => HashSpec::Mod,
    }
}

/// The value of the unit's output after a reset, in Verilog: a function of `addr`.
pub(super) fn after_reset(subject: &Subject, machine: &Config) -> String {
    let spec = reset_mapping(subject, machine);
    let (n, m) = (machine.geometry.addr_bits(), machine.geometry.bank_bits());
    let mapping = Mapping::new(&spec, machine.geometry).expect("a machine that has been checked");
    match (mapping.bank_function(), subject.form) {
        (BankFunction::Shift(shifts), Form::Shift) => {
            let table = shifts.iter().rev().map(|shift| format!("{m}'d{shift}"));
            let table = table.collect::<Vec<_>>().join(", ");
            let row = format!("(addr >> {m}) % {}", 1 << m);
            format!("addr + ({{ {table} }} >> {m} * ({row}))")
        }
        _ => {
            let value = |addr| match subject.form {
                Form::Row => mapping.row(addr),
                Form::Linear | Form::Shift => mapping.bank(addr),
            };
            let bit = |i: u32| {
                let mask = (0..n)
                    .filter(|a| value(1 << a) >> i & 1 == 1)
                    .map(|a| 1u32 << a);
                format!("^(addr & {n}'d{})", mask.sum::<u32>())
            };
            let bits = (0..subject.value_width(machine.geometry)).rev().map(bit);
            format!("{{ {} }}", bits.collect::<Vec<_>>().join(", "))
        }
    }
}
