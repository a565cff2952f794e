//! Helpers with Verilog parameters: one text for every machine and every width.
//! What they do is said in the template alone, since loops of Verilog say it.

use crate::module::{Module, Port, Result, UnitDoc};
use crate::template::render;
use std::collections::BTreeMap;

/// Nothing that a template needs from here.
const NOTHING: BTreeMap<&str, &str> = BTreeMap::new();

/// The helper whose text `template` is; its ports are those of the text.
pub(crate) fn emit(template: &str, doc: UnitDoc, ports: Vec<Port>) -> Result<Module> {
    let text = render(template, &doc, &ports, &NOTHING)?;
    Ok(Module {
        doc,
        ports,
        submodules: Vec::new(),
        text,
    })
}
