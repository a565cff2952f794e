//! A whole configuration, bank unit and row map, as JSON and as tables.

use super::printer::table;
use crate::hash::{Configuration, Encoding};
use serde_json::{Map, Value, json};

/// Bank unit with its ports and registers, the same of the row map inside.
pub(super) fn configuration_json(configuration: &Configuration) -> Value {
    let mut json = unit_json(&configuration.bank);
    json["row_map"] = unit_json(&configuration.row_map);
    json
}

fn unit_json(encoding: &Encoding) -> Value {
    let ports: Map<String, Value> = encoding
        .ports
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    json!({
        "unit": encoding.unit,
        "ports": ports,
        "config_unit": encoding.config_unit(),
        "registers": encoding.registers,
    })
}

/// Every port and every register write.
pub(super) fn configuration_table(configuration: &Configuration) -> String {
    let mut rows = Vec::new();
    for unit in configuration.units() {
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
                config,
                "wr_data 0, 1, ...".into(),
                String::new(),
                writes,
            ]);
        }
    }
    table(&["unit", "port", "bits", "value"], &["bits"], rows)
}
