//! Names for parts of dynamic shared memory: the `[[shared]]` tables of a launch
//! file.

use super::single::MAX_SHARED;
use spadkit_base::error::Result;
use spadkit_base::input::section::{Placed, Section, Source};
use spadkit_ptx::exec::SharedPart;
use toml::de::DeTable;

/// Reads the `[[shared]]` tables; `dynamic` is the most dynamic shared memory that
/// a launch of the file has. The parts in the order of their offsets.
pub(super) fn parse_parts(
    tables: &[Placed<&DeTable>],
    source: &Source,
    dynamic: u32,
) -> Result<Vec<SharedPart>> {
    let mut parts: Vec<SharedPart> = Vec::new();
    for table in tables {
        let keys = ["name", "offset", "bytes"];
        let section = Section::new(source, table.value, table.offset, "[[shared]]", &keys)?;
        let name = section.required_string("name", "\"NAME\", what messages call the part")?;
        if parts.iter().any(|part| part.name == name.value) {
            let what = format!("two parts of shared memory are '{}'", name.value);
            return Err(source.error(what, "expected each name once", name.offset));
        }
        let number = |key, least, what| {
            let number = section.integer(key, least, MAX_SHARED)?;
            number.ok_or_else(|| section.missing(key, what))
        };
        let part = SharedPart {
            name: name.value,
            offset: number(
                "offset",
                0,
                "its first byte, from the beginning of dynamic memory",
            )? as u32,
            bytes: number("bytes", 1, "its bytes")? as u32,
        };
        if part.end() > dynamic {
            let what = format!(
                "'{}' ends at byte {} of dynamic memory",
                part.name,
                part.end()
            );
            let help = format!("expected at most {dynamic}, the dynamic_shared of the launches");
            return Err(source.error(what, help, section.place("bytes")));
        }
        let meets = |other: &&SharedPart| other.offset < part.end() && part.offset < other.end();
        if let Some(other) = parts.iter().find(meets) {
            let what = format!("'{}' and '{}' overlap", other.name, part.name);
            let help = format!(
                "bytes {} to {} belong to '{}': parts may not overlap",
                other.offset,
                other.end() - 1,
                other.name
            );
            return Err(source.error(what, help, section.place("offset")));
        }
        parts.push(part);
    }
    parts.sort_by_key(|part| part.offset);
    Ok(parts)
}
