//! Tera templates for what rust-hdl is poor at: registers, replication, shells.

use crate::module::{HdlError, Port, Result, UnitDoc, header};
use serde::Serialize;
use tera::{Context, Tera};

/// A template's file name and text.
macro_rules! template {
    ($name:literal) => {
        (
            concat!($name, ".v.tera"),
            include_str!(concat!("../templates/", $name, ".v.tera")),
        )
    };
}

/// Every template, by file name.
const TEMPLATES: [(&str, &str); 25] = [
    template!("hashed_lanes"),
    template!("spad_access_unit"),
    template!("spad_bank_ram"),
    template!("spad_conflict_arbiter"),
    template!("spad_conflict_history"),
    template!("spad_crossbar"),
    template!("spad_degree_accumulator"),
    template!("spad_hash_config"),
    template!("spad_lane_hash"),
    template!("spad_lock_unit"),
    template!("spad_nonmem_queue"),
    template!("spad_pick"),
    template!("spad_premem_queue"),
    template!("spad_relssp"),
    template!("spad_retry_sequencer"),
    template!("spad_scratchpad"),
    template!("spad_select"),
    template!("spad_skid"),
    template!("spad_sm_path"),
    template!("spad_stream"),
    template!("spad_table_ram"),
    template!("spad_tcdm"),
    template!("spad_warp_mask"),
    template!("spad_warp_scheduler"),
    template!("spad_writeback_mux"),
];

/// Renders a template behind the header comment of the module.
pub(crate) fn render(
    template: &str,
    doc: &UnitDoc,
    ports: &[Port],
    values: &impl Serialize,
) -> Result<String> {
    let fail = |e: tera::Error| HdlError::Template {
        name: template.into(),
        reason: e.to_string(),
    };
    let mut tera = Tera::new();
    tera.autoescape_on(Vec::<&str>::new());
    tera.add_raw_templates(TEMPLATES).map_err(fail)?;
    let context = Context::from_serialize(values).map_err(fail)?;
    let body = tera.render(template, &context).map_err(fail)?;
    Ok(format!("{}{}\n", header(doc, ports), body.trim()))
}
