//! Helpers with Verilog parameters: one text for every machine and every width.
//! What they do is said in the template alone, since loops of Verilog say it.

use crate::module::{Dir, Module, Port, Result, UnitDoc};
use crate::template::render;
use std::collections::BTreeMap;

/// Nothing that a template needs from here.
const NOTHING: BTreeMap<&str, &str> = BTreeMap::new();

/// A port; of width 0 if a parameter says how wide it is.
pub(crate) fn port(name: &str, dir: Dir, width: usize, doc: &str) -> Port {
    Port {
        name: name.into(),
        dir,
        width,
        doc: doc.into(),
        depends_on: None,
    }
}

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
