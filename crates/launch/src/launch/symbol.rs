//! Variables of the module that the host writes or looks at: the `[[symbol]]`
//! tables of a launch file.

use super::contents::{BUFFER_KEYS, Buffer, parse_buffer, refuse_no_contents};
use super::element::parse_element;
use spadkit_base::error::Result;
use spadkit_base::input::section::{Placed, Section, Source};
use std::collections::HashSet;
use toml::de::DeTable;

/// A module variable that the host writes before the run, or wants to see after
/// it.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    /// Name of the variable in the PTX.
    pub name: String,
    /// Type and number of its elements and what is written; `None`: as the PTX
    /// says.
    pub buffer: Buffer,
    /// Whether it keeps what the PTX gives it.
    pub keep: bool,
    /// Position of the symbol in the file.
    pub offset: usize,
}

/// Reads the `[[symbol]]` tables.
pub(super) fn parse_symbols(tables: &[Placed<&DeTable>], source: &Source) -> Result<Vec<Symbol>> {
    let mut symbols: Vec<Symbol> = Vec::new();
    let mut names = HashSet::new();
    for table in tables {
        let section = Section::new(
            source,
            table.value,
            table.offset,
            "[[symbol]]",
            &BUFFER_KEYS,
        )?;
        let name = section.required_string("name", "\"NAME\", a variable of the PTX")?;
        if !names.insert(name.value.clone()) {
            let what = format!("the symbol '{}' is defined twice", name.value);
            return Err(source.error(what, "expected each symbol once", name.offset));
        }
        let element = parse_element(&section, source)?;
        let buffer = parse_buffer(&section, source, element)?;
        refuse_no_contents(&section, &buffer)?;
        symbols.push(Symbol {
            name: name.value,
            buffer,
            keep: !section.has("init"),
            offset: section.offset(),
        });
    }
    Ok(symbols)
}
