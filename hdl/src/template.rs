//! Tera templates for what rust-hdl is poor at: registers, replication, shells.

use crate::module::{HdlError, Port, Result, UnitDoc, header};
use serde::Serialize;
use tera::{Context, Tera};

/// A template's file name and text; `sv`: SystemVerilog.
macro_rules! template {
    ($name:literal) => {
        template!(@ concat!($name, ".v.tera"), concat!("../templates/", $name, ".v.tera"))
    };
    (sv $name:literal) => {
        template!(@ concat!($name, ".sv.tera"), concat!("../templates/", $name, ".sv.tera"))
    };
    (@ $file:expr, $path:expr) => {
        ($file, include_str!($path))
    };
}

/// Every template, by file name.
const TEMPLATES: [(&str, &str); 40] = [
    template!("hashed_lanes"),
    template!("spad_access_unit"),
    template!("spad_bank_ram"),
    template!("spad_conflict_arbiter"),
    template!("spad_conflict_history"),
    template!("spad_conflict_predictor"),
    template!("spad_counters"),
    template!("spad_crossbar"),
    template!("spad_degree_accumulator"),
    template!("spad_eligibility"),
    template!("spad_hash_config"),
    template!("spad_hash_stage"),
    template!("spad_issue_select"),
    template!("spad_lane_hash"),
    template!("spad_lock_unit"),
    template!("spad_memory_entry"),
    template!("spad_memory_exit"),
    template!("spad_nonmem_queue"),
    template!("spad_pass_issue"),
    template!("spad_pick"),
    template!(sv "spad_pkg"),
    template!("spad_premem_queue"),
    template!("spad_release_register"),
    template!("spad_relssp"),
    template!("spad_retry_sequencer"),
    template!("spad_scratchpad"),
    template!("spad_select"),
    template!("spad_skid"),
    template!("spad_sm_path"),
    template!(sv "spad_sm_path_rules"),
    template!("spad_stream"),
    template!(sv "spad_stream_rules"),
    template!(sv "spad_stream_sv"),
    template!("spad_table_ram"),
    template!("spad_tcdm"),
    template!(sv "spad_tcdm_rules"),
    template!(sv "spad_tcdm_sv"),
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
    let body = render_body(template, values)?;
    Ok(format!("{}{}\n", header(doc, ports), body.trim()))
}

/// Renders a template.
pub(crate) fn render_body(template: &str, values: &impl Serialize) -> Result<String> {
    let fail = |e: tera::Error| HdlError::Template {
        name: template.into(),
        reason: e.to_string(),
    };
    let mut tera = Tera::new();
    tera.autoescape_on(Vec::<&str>::new());
    tera.add_raw_templates(TEMPLATES).map_err(fail)?;
    let context = Context::from_serialize(values).map_err(fail)?;
    let body = tera.render(template, &context).map_err(fail)?;
    Ok(body.trim_end().to_owned())
}
