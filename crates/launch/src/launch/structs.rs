//! Structs by value, with addresses and tensor maps in them.

use super::contents::MAX_BYTES;
use super::named::index_of;
use super::tensor_map::TENSOR_MAP;
use spadkit_base::error::Result;
use spadkit_base::input::section::{Placed, Section, Source};
use toml::de::DeTable;

/// A struct by value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Struct {
    /// The bytes, as far as nothing else is at their place.
    pub bytes: Vec<u8>,
    /// Addresses in it.
    pub pointers: Vec<Pointer>,
    /// Tensor maps in it.
    pub maps: Vec<MapMember>,
}

/// An address in a struct, of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// Offset of the first byte in the struct.
    pub at: usize,
    /// Index of the argument whose buffer it points into.
    pub arg: usize,
    /// Bytes from the buffer's begin.
    pub bytes: u64,
}

/// A tensor map in a struct, of 128 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapMember {
    /// Offset of the first byte in the struct.
    pub at: usize,
    /// Index of the argument that is the map.
    pub arg: usize,
}

/// Keys of what is in a struct.
pub(super) const MEMBER_KEYS: [&str; 2] = ["pointers", "maps"];

pub(super) const POINTER_KEYS: [&str; 3] = ["at", "to", "offset"];
pub(super) const MAP_KEYS: [&str; 2] = ["at", "to"];

/// Bytes of an address.
const ADDRESS: usize = 8;

/// Alignment of a map in memory (CUDA driver API, `CUtensorMap`).
const MAP_ALIGN: usize = 64;

impl Struct {
    /// The indices of the arguments that it names.
    pub(super) fn names(&self) -> impl Iterator<Item = usize> {
        let pointers = self.pointers.iter().map(|p| p.arg);
        pointers.chain(self.maps.iter().map(|m| m.arg))
    }
}

/// Reads what is in a struct of these bytes.
pub(super) fn parse_struct(
    section: &Section,
    source: &Source,
    names: &[String],
    bytes: Vec<u8>,
) -> Result<Struct> {
    let last = |size: usize, what: &str| {
        let last = bytes.len().checked_sub(size);
        last.map(|last| last as u64).ok_or_else(|| {
            (
                format!("a struct of {} bytes has no room for {what}", bytes.len()),
                format!("expected a value of {size} bytes or more"),
            )
        })
    };
    let mut members = Vec::new();
    let mut pointers = Vec::new();
    for own in sections(section, source, "pointers", &POINTER_KEYS)? {
        let last = last(ADDRESS, "an address");
        let last = last.map_err(|(what, help)| section.wrong("pointers", &what, &help))?;
        let at = place(&own, last, "the first byte of the address")?;
        members.push((at, ADDRESS, own.place("at")));
        let name = own.required_string("to", "\"NAME\", another argument")?;
        pointers.push(Pointer {
            at,
            arg: index_of(&name, source, names)?,
            bytes: own.integer("offset", 0, MAX_BYTES)?.unwrap_or(0),
        });
    }
    let mut maps = Vec::new();
    for own in sections(section, source, "maps", &MAP_KEYS)? {
        let last = last(TENSOR_MAP, "a tensor map");
        let last = last.map_err(|(what, help)| section.wrong("maps", &what, &help))?;
        let at = place(&own, last, "the first byte of the tensor map")?;
        if !at.is_multiple_of(MAP_ALIGN) {
            let what = format!("a tensor map at byte {at} of a struct");
            let help = format!("expected a multiple of {MAP_ALIGN}, the alignment of CUtensorMap");
            return Err(own.wrong("at", &what, &help));
        }
        members.push((at, TENSOR_MAP, own.place("at")));
        let name = own.required_string("to", "\"NAME\", an argument with a tensor_map")?;
        let arg = index_of(&name, source, names)?;
        maps.push(MapMember { at, arg });
    }
    check_apart(source, members)?;
    Ok(Struct {
        bytes,
        pointers,
        maps,
    })
}

/// The tables of a key, each with the keys that it may have.
pub(super) fn sections<'a>(
    section: &Section<'a>,
    source: &'a Source,
    key: &str,
    known: &[&str],
) -> Result<Vec<Section<'a>>> {
    let own = |t: &Placed<&'a DeTable<'a>>| Section::new(source, t.value, t.offset, key, known);
    section.tables(key)?.iter().map(own).collect()
}

fn place(own: &Section, last: u64, what: &str) -> Result<usize> {
    let at = own.integer("at", 0, last)?;
    Ok(at.ok_or_else(|| own.missing("at", what))? as usize)
}

/// Members, each with its byte, its size and its place in the file, do not overlap.
fn check_apart(source: &Source, mut members: Vec<(usize, usize, usize)>) -> Result<()> {
    members.sort_unstable();
    let Some(two) = members.windows(2).find(|m| m[1].0 - m[0].0 < m[0].1) else {
        return Ok(());
    };
    let named = |size| match size {
        ADDRESS => "address",
        _ => "tensor map",
    };
    let (first, second) = (two[0], two[1]);
    let what = if first.1 == second.1 {
        let (name, more) = (named(first.1), if first.1 == ADDRESS { "es" } else { "s" });
        format!(
            "the {name}{more} at bytes {} and {} overlap",
            first.0, second.0
        )
    } else {
        format!(
            "the {} at byte {} overlaps the {} at byte {}",
            named(second.1),
            second.0,
            named(first.1),
            first.0
        )
    };
    let help = format!("expected 8 bytes for an address, {TENSOR_MAP} for a tensor map");
    Err(source.error(what, help, second.2))
}
