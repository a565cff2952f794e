//! The arguments of a launch file, its `[[arg]]` tables.

use super::contents::{BUFFER_KEYS, Buffer, MAX_BYTES, parse_buffer, parse_number};
use super::element::{Element, parse_element};
use super::named::index_of;
use super::structs::{MAP_KEYS, MEMBER_KEYS, POINTER_KEYS, Struct, parse_struct, sections};
use super::tensor_map::{TENSOR_MAP, TensorMapArg, parse_tensor_map};
use spadkit_base::error::Result;
use spadkit_base::input::section::{Placed, Section, Source};
use spadkit_base::quote::shown;
use toml::de::DeTable;

/// A kernel argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// Name of the argument, for messages, dumps and expectations.
    pub name: String,
    /// Value that is passed.
    pub kind: ArgKind,
    /// Position of the argument in the file.
    pub offset: usize,
}

/// The value that is passed for a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgKind {
    /// The address of a buffer in global memory.
    Buffer(Buffer),
    /// A scalar, or a struct: its bytes.
    Value(Element, Vec<u8>),
    /// A struct with addresses of other arguments' buffers in it, or with tensor maps.
    Struct(Struct),
    /// The address of another argument's buffer, plus an offset in bytes.
    Same {
        /// Index of the other argument.
        arg: usize,
        /// Bytes added.
        bytes: u64,
    },
    /// The address of a buffer that holds the addresses of other arguments'
    /// buffers, 64 bits each; their indices.
    Addresses(Vec<usize>),
    /// A null pointer.
    Null,
    /// The handle of a texture, a surface or a sampler.
    Handle(Handle),
    /// A tensor map of another argument's buffer: its 128 bytes, or the address
    /// of them.
    TensorMap(TensorMapArg),
}

/// The object whose handle is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handle {
    /// Index into [`LaunchFile::textures`](super::LaunchFile::textures).
    Texture(usize),
    /// Index into [`LaunchFile::samplers`](super::LaunchFile::samplers).
    Sampler(usize),
}

/// The names that arguments may give of other tables.
pub(super) struct Tables {
    /// Surfaces, then textures.
    pub textures: Vec<String>,
    /// The number of surfaces among them.
    pub surfaces: usize,
    pub samplers: Vec<String>,
}

/// Keys of an argument that passes a handle.
const HANDLE_KEYS: [&str; 3] = ["texture", "surface", "sampler"];

/// Keys that an argument without its own buffer or value must not have.
const VALUE_KEYS: &[&str] = BUFFER_KEYS.split_at(1).1;

/// Reads the `[[arg]]` tables.
pub(super) fn parse_args(
    tables: &[Placed<&DeTable>],
    source: &Source,
    others: &Tables,
) -> Result<Vec<Arg>> {
    let known = [
        &BUFFER_KEYS[..],
        &MEMBER_KEYS,
        &["same_as", "offset", "addresses", "null", "tensor_map"],
        &HANDLE_KEYS,
    ]
    .concat();
    let sections = tables
        .iter()
        .map(|t| Section::new(source, t.value, t.offset, "[[arg]]", &known))
        .collect::<Result<Vec<_>>>()?;
    let mut names: Vec<String> = Vec::new();
    for section in &sections {
        let name = section.required_string("name", "\"NAME\"")?;
        if names.contains(&name.value) {
            let what = format!("the name '{}' is used twice", name.value);
            return Err(source.error(what, "expected a name for each argument", name.offset));
        }
        if name.value.contains('=') {
            let what = format!("the name '{}' cannot be used in --dump", name.value);
            return Err(source.error(what, "expected a name without '='", name.offset));
        }
        if shown(&name.value) != name.value {
            let what = format!("the name '{}' has control characters", name.value);
            return Err(source.error(what, "expected a name of one line", name.offset));
        }
        names.push(name.value);
    }
    let kinds = sections
        .iter()
        .map(|section| parse_kind(section, source, &names, others))
        .collect::<Result<Vec<_>>>()?;
    for (section, kind) in sections.iter().zip(&kinds) {
        check_same(section, source, kind, &kinds)?;
        if let ArgKind::Struct(given) = kind {
            check_members(section, source, given, &kinds, &names)?;
        }
        if let ArgKind::TensorMap(map) = kind {
            let bytes = match &kinds[map.buffer] {
                ArgKind::Buffer(buffer) => Some(buffer.bytes()),
                _ => None,
            };
            map.check(section, bytes)?;
        }
    }
    let arg = |((name, kind), section): ((String, ArgKind), &Section)| Arg {
        name,
        kind,
        offset: section.offset(),
    };
    Ok(names
        .into_iter()
        .zip(kinds)
        .zip(&sections)
        .map(arg)
        .collect())
}

fn parse_kind(
    section: &Section,
    source: &Source,
    names: &[String],
    others: &Tables,
) -> Result<ArgKind> {
    if let Some(key) = MEMBER_KEYS.into_iter().find(|key| section.has(key)) {
        let struct_only =
            format!("'{key}' is only allowed for a struct, with type = \"bytes\" and value");
        let others = ["count", "same_as", "addresses", "null", "tensor_map"];
        section.refuse(&others, &struct_only)?;
        section.refuse(&HANDLE_KEYS, &struct_only)?;
    }
    if let Some(handle) = parse_handle(section, source, others)? {
        return Ok(ArgKind::Handle(handle));
    }
    if section.has("tensor_map") {
        let alone = "expected nothing besides name and tensor_map";
        section.refuse(VALUE_KEYS, alone)?;
        section.refuse(&["same_as", "offset", "addresses", "null"], alone)?;
    }
    if let Some(map) = parse_tensor_map(section, source, names)? {
        return Ok(ArgKind::TensorMap(map));
    }
    if let Some(null) = section.boolean("null")? {
        let alone = "expected nothing besides name and null = true";
        section.refuse(VALUE_KEYS, alone)?;
        section.refuse(&["same_as", "offset", "addresses"], alone)?;
        return if null {
            Ok(ArgKind::Null)
        } else {
            Err(section.wrong("null", "null = false has no effect", alone))
        };
    }
    if section.has("addresses") {
        section.refuse(VALUE_KEYS, "expected nothing besides name and addresses")?;
        section.refuse(&["same_as", "offset"], "expected nothing besides it")?;
        return parse_addresses(section, source, names);
    }
    if let Some(same) = section.string("same_as", "\"NAME\", another argument")? {
        section.refuse(
            VALUE_KEYS,
            "expected nothing besides name, same_as and offset",
        )?;
        let arg = index_of(&same, source, names)?;
        let bytes = section.integer("offset", 0, MAX_BYTES)?.unwrap_or(0);
        return Ok(ArgKind::Same { arg, bytes });
    }
    section.refuse(&["offset"], "only allowed together with same_as")?;
    let element = parse_element(section, source)?;
    if section.has("count") {
        Ok(ArgKind::Buffer(parse_buffer(section, source, element)?))
    } else {
        parse_value(section, source, element, names)
    }
}

/// The arguments whose addresses a table holds.
fn parse_addresses(section: &Section, source: &Source, names: &[String]) -> Result<ArgKind> {
    const EXPECTED: &str = "[\"NAME\", ...], other arguments";
    let listed = section.strings("addresses", EXPECTED)?;
    if listed.is_empty() {
        let what = "'addresses' is empty";
        return Err(section.wrong("addresses", what, &format!("expected {EXPECTED}")));
    }
    let index = |name| index_of(name, source, names);
    let found = listed.iter().map(index).collect::<Result<_>>()?;
    Ok(ArgKind::Addresses(found))
}

/// The texture, surface or sampler that an argument names.
fn parse_handle(section: &Section, source: &Source, others: &Tables) -> Result<Option<Handle>> {
    let Some(key) = HANDLE_KEYS.into_iter().find(|k| section.has(k)) else {
        return Ok(None);
    };
    let alone = format!("expected nothing besides name and {key}");
    section.refuse(VALUE_KEYS, &alone)?;
    section.refuse(&["same_as", "offset", "addresses", "null"], &alone)?;
    let others_of = HANDLE_KEYS.into_iter().filter(|k| *k != key);
    section.refuse(&others_of.collect::<Vec<_>>(), &alone)?;
    let name = section.required_string(key, &format!("\"NAME\", a [[{key}]]"))?;
    let (list, first) = match key {
        "surface" => (&others.textures[..others.surfaces], 0),
        "texture" => (&others.textures[others.surfaces..], others.surfaces),
        _ => (&others.samplers[..], 0),
    };
    match list.iter().position(|n| *n == name.value) {
        Some(at) if key == "sampler" => Ok(Some(Handle::Sampler(at))),
        Some(at) => Ok(Some(Handle::Texture(first + at))),
        None => {
            let what = format!("there is no [[{key}]] '{}'", name.value);
            let help = if list.is_empty() {
                format!("expected a [[{key}]] table with name = {:?}", name.value)
            } else {
                format!("expected one of {}", list.join(", "))
            };
            Err(source.error(what, help, name.offset))
        }
    }
}

/// `same_as` names a buffer, and its offset stays inside or right after it.
fn check_same(section: &Section, source: &Source, kind: &ArgKind, kinds: &[ArgKind]) -> Result<()> {
    if let ArgKind::Addresses(args) = kind {
        let buffer = |arg: &usize| matches!(kinds[*arg], ArgKind::Buffer(_) | ArgKind::Same { .. });
        return if args.iter().all(buffer) {
            Ok(())
        } else {
            let what = "'addresses' names an argument that is not a buffer";
            Err(section.wrong("addresses", what, "expected arguments with a count"))
        };
    }
    let ArgKind::Same { arg, bytes } = kind else {
        return Ok(());
    };
    let ArgKind::Buffer(buffer) = &kinds[*arg] else {
        let what = "'same_as' names an argument that is not a buffer";
        return Err(section.wrong("same_as", what, "expected one with a count"));
    };
    if *bytes > buffer.bytes() {
        let what = format!(
            "'offset' is past the end of the buffer ({} bytes)",
            buffer.bytes()
        );
        let offset = section.place("offset");
        return Err(source.error(what, "expected an offset within it", offset));
    }
    Ok(())
}

/// Addresses in a struct point into buffers, or right after one, or to tensor maps; maps are
/// arguments that are one.
fn check_members(
    section: &Section,
    source: &Source,
    given: &Struct,
    kinds: &[ArgKind],
    names: &[String],
) -> Result<()> {
    let pointers = sections(section, source, "pointers", &POINTER_KEYS)?;
    for (pointer, own) in given.pointers.iter().zip(pointers) {
        let bytes = match &kinds[pointer.arg] {
            ArgKind::Buffer(buffer) => buffer.bytes(),
            ArgKind::TensorMap(_) => TENSOR_MAP as u64,
            ArgKind::Same { arg, bytes } => match &kinds[*arg] {
                ArgKind::Buffer(buffer) => buffer.bytes().saturating_sub(*bytes),
                // Refused where it stands.
                _ => 0,
            },
            _ => {
                let what = "'pointers' names an argument that is not a buffer";
                return Err(own.wrong("to", what, "expected arguments with a count"));
            }
        };
        if pointer.bytes > bytes {
            let what = format!("'offset' is past the end of the buffer ({bytes} bytes)");
            return Err(own.wrong("offset", &what, "expected an offset within it"));
        }
    }
    let maps = sections(section, source, "maps", &MAP_KEYS)?;
    for (map, own) in given.maps.iter().zip(maps) {
        if !matches!(kinds[map.arg], ArgKind::TensorMap(_)) {
            let all = names.iter().zip(kinds);
            let maps = all.filter(|(_, kind)| matches!(kind, ArgKind::TensorMap(_)));
            let maps: Vec<&str> = maps.map(|(name, _)| name.as_str()).collect();
            let help = if maps.is_empty() {
                "expected an argument with an [arg.tensor_map]".to_owned()
            } else {
                format!("expected one of {}", maps.join(", "))
            };
            let what = format!("the argument '{}' is no tensor map", names[map.arg]);
            return Err(own.wrong("to", &what, &help));
        }
    }
    Ok(())
}

/// A scalar, or a struct in hexadecimal.
fn parse_value(
    section: &Section,
    source: &Source,
    element: Element,
    names: &[String],
) -> Result<ArgKind> {
    let keys = ["init", "seed", "min", "max", "expect", "tolerance"];
    section.refuse(&keys, "only allowed for a buffer, which has a count")?;
    if element == Element::Bytes {
        let expected = "a string of hexadecimal digits, two per byte";
        let text = section.required_string("value", expected)?;
        let bytes = from_hex(&text.value).ok_or_else(|| {
            let help = format!("expected {expected}");
            source.error("'value' is not hexadecimal", help, text.offset)
        })?;
        return Ok(if MEMBER_KEYS.iter().any(|key| section.has(key)) {
            ArgKind::Struct(parse_struct(section, source, names, bytes)?)
        } else {
            ArgKind::Value(element, bytes)
        });
    }
    section.refuse(
        &MEMBER_KEYS,
        "only allowed for a struct, with type = \"bytes\"",
    )?;
    match parse_number(section, source, element, "value")? {
        Some(bytes) => Ok(ArgKind::Value(element, bytes)),
        None => Err(section.missing("value", "the scalar, or count = the elements of a buffer")),
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: char| c.to_digit(16).map(|d| d as u8);
    let digits: Vec<u8> = text.chars().map(digit).collect::<Option<_>>()?;
    let whole = digits.len().is_multiple_of(2);
    whole.then(|| digits.chunks(2).map(|d| d[0] << 4 | d[1]).collect())
}
