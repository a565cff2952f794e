//! A whole configuration, bank unit and row map, as a table; and what the
//! machine's own path takes for it.

use crate::hash::{Configuration, Encoding, HashSpec};
use crate::rtl::Vector;
use crate::terminal::Table;

/// A note if the machine's path takes other values; else empty.
pub(super) fn path_note(configuration: &Configuration) -> String {
    let registers = configuration.path.as_ref().and_then(Encoding::config_unit);
    registers.map_or(String::new(), |registers| {
        format!(
            "spad_sm_path, spad_stream and spad_tcdm of this machine have {registers}: \
             hash_wr_* takes its values, row_wr_* those of spad_hash_config_row_map\n"
        )
    })
}

/// A note on whether the machine's blocks have the mapping `spec` after a reset; else empty.
pub(super) fn reset_note(parameters: &[Vector], spec: &HashSpec) -> String {
    let set = parameters
        .iter()
        .map(|p| format!(".{}({})", p.name, p.value()));
    match set.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => none,
        set => format!(
            "to have it after every reset: [hash] reset = \"{spec}\" in the configuration, or \
             #({set}) at an instance\n"
        ),
    }
}

/// Every port and every register write.
pub(super) fn configuration_table(configuration: &Configuration) -> Table {
    let mut rows = Vec::new();
    for unit in configuration.units().into_iter().chain(&configuration.path) {
        for (name, value) in &unit.ports {
            rows.push(vec![
                unit.unit.to_owned(),
                (*name).to_owned(),
                value.width().to_string(),
                value.to_string(),
            ]);
        }
        if let Some(config) = unit.config_unit() {
            let writes = unit.writes_text();
            rows.push(vec![
                config.into(),
                "wr_data 0, 1, ...".into(),
                String::new(),
                writes,
            ]);
        }
    }
    let titles = ["unit", "port", "bits", "value"];
    Table::new(&titles, rows).right(&["bits"]).minor(&["bits"])
}
