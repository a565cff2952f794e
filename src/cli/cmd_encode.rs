//! `spadkit encode`: a hash spec as the values of configuration ports.

use super::Global;
use super::configuration::{configuration_json, configuration_table};
use super::printer::Printer;
use crate::error::Result;
use crate::hash::{Configuration, HashKind, HashSpec, Mapping};
use clap::Args;
use serde_json::json;

/// A hash spec as the values of configuration ports.
///
/// Both units are shown, the one that computes the bank and spad_row_map,
/// which makes the mapping a bijection: a bank unit with the row map of
/// another mapping sends two addresses to one place. Ports are loaded by the
/// writes to spad_hash_config_*: wr_data for wr_index 0, 1, and so on.
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
    let configuration = Configuration::new(&args.spec, args.unit, machine.geometry)?;
    let fits = mapping.fits(machine.pivot_limit());
    if !fits {
        printer.warn(format!(
            "{}: rows beyond the capacity of {} words would be addressed (pivot bits {:?})",
            args.spec,
            machine.capacity_words,
            mapping.pivots_beyond(machine.pivot_limit())
        ));
    }
    let mut json = configuration_json(&configuration);
    json["hash"] = json!(args.spec);
    json["fits"] = json!(fits);
    printer.result(json, || {
        let table = configuration_table(&configuration);
        format!("{} for {}\n{table}", args.spec, machine.geometry)
    })
}
