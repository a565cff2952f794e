//! `spadkit encode`: a hash spec as the values of configuration ports.

use super::Global;
use super::printer::{Printer, table};
use crate::error::Result;
use crate::hash::{Encoding, HashKind, HashSpec, Mapping, encode, encode_for, encode_row_map};
use clap::Args;
use serde_json::{Map, Value, json};

/// A hash spec as the values of the unit's configuration ports.
#[derive(Args)]
pub struct EncodeArgs {
    /// The mapping.
    #[arg(value_parser = super::parsed::<HashSpec>)]
    spec: HashSpec,
    /// Unit to encode for: bitvec-perm, bitvec-xor, bitwise-perm, bitwise-xor
    /// or matrix; the spec's own if not given.
    #[arg(long, value_name = "KIND", value_parser = super::parsed::<HashKind>)]
    unit: Option<HashKind>,
}

pub(super) fn run(args: &EncodeArgs, global: &Global, printer: &Printer) -> Result<()> {
    let machine = global.machine()?;
    let mapping = Mapping::new(&args.spec, machine.geometry)?;
    let encoding = match args.unit {
        None => encode(&args.spec, machine.geometry)?,
        Some(kind) => encode_for(&args.spec, kind, machine.geometry)?,
    };
    let row_map = encode_row_map(mapping.row_map(), machine.geometry);
    let fits = mapping.fits(machine.pivot_limit());
    if !fits {
        printer.warn(format!(
            "{}: rows beyond the capacity of {} words would be addressed (pivot bits {:?})",
            args.spec,
            machine.capacity_words,
            mapping.pivots_beyond(machine.pivot_limit())
        ));
    }
    let mut json = to_json(&encoding);
    json["hash"] = json!(args.spec);
    json["fits"] = json!(fits);
    json["row_map"] = to_json(&row_map);
    printer.result(json, || {
        let mut rows = Vec::new();
        for e in [&encoding, &row_map] {
            for (name, value) in &e.ports {
                let bits = value.width().to_string();
                rows.push(vec![
                    e.unit.to_owned(),
                    (*name).to_owned(),
                    bits,
                    value.to_string(),
                ]);
            }
            let writes: Vec<_> = e.registers.iter().map(|r| format!("{r:#x}")).collect();
            if !writes.is_empty() {
                let unit = e.unit.replace("spad_hash_", "").replace("spad_", "");
                let config = format!("spad_hash_config_{unit}");
                rows.push(vec![
                    config,
                    "wr_data 0, 1, ...".into(),
                    String::new(),
                    writes.join(" "),
                ]);
            }
        }
        format!(
            "{} for {}\n{}",
            args.spec,
            machine.geometry,
            table(&["unit", "port", "bits", "value"], &["bits"], rows)
        )
    })
}

fn to_json(encoding: &Encoding) -> Value {
    let ports: Map<String, Value> = encoding
        .ports
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    json!({"unit": encoding.unit, "ports": ports, "registers": encoding.registers})
}
