//! Arguments and symbols of a launch file.

use super::element::{Element, parse_element};
use super::expect::Expect;
use super::image_keys::parse_image;
use super::init::{Init, Random, Range};
use super::tensor_map::{TensorMapArg, parse_tensor_map};
use crate::error::Result;
use crate::input::section::{Number, Placed, Section, Source};
use crate::quote::shown;
use toml::de::DeTable;

/// The largest buffer; a larger one is probably a mistake.
const MAX_BYTES: u64 = 1 << 32;

/// A kernel argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// For messages, dumps and expectations.
    pub name: String,
    /// What is passed.
    pub kind: ArgKind,
    /// Its position in the file.
    pub offset: usize,
}

/// What is passed for a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgKind {
    /// The address of a buffer in global memory.
    Buffer(Buffer),
    /// A scalar, or a struct: its bytes.
    Value(Element, Vec<u8>),
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

/// Whose handle is passed.
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
    /// How many of these are surfaces.
    pub surfaces: usize,
    pub samplers: Vec<String>,
}

/// Keys of an argument that passes a handle.
const HANDLE_KEYS: [&str; 3] = ["texture", "surface", "sampler"];

/// A buffer in global memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Type of its elements.
    pub element: Element,
    /// How many there are.
    pub count: u64,
    /// What it holds before the run.
    pub init: Init,
    /// What it must hold after the run.
    pub expect: Option<Expect>,
}

impl Buffer {
    /// Bytes in all.
    pub fn bytes(&self) -> u64 {
        self.count * self.element.size() as u64
    }
}

/// A module variable that the host writes before the run, or wants to see after
/// it.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    /// Its name in the PTX.
    pub name: String,
    /// Type and number of its elements and what is written; `None`: as the PTX
    /// says.
    pub buffer: Buffer,
    /// Whether it keeps what the PTX gives it.
    pub keep: bool,
    /// Its position in the file.
    pub offset: usize,
}

const BUFFER_KEYS: [&str; 16] = [
    "name",
    "type",
    "count",
    "init",
    "seed",
    "min",
    "max",
    "kind",
    "width",
    "height",
    "bits",
    "levels",
    "share",
    "value",
    "expect",
    "tolerance",
];
/// What an argument without a buffer or value of its own must not have.
const VALUE_KEYS: &[&str] = BUFFER_KEYS.split_at(1).1;

/// Reads the `[[arg]]` tables.
pub(super) fn parse_args(
    tables: &[Placed<&DeTable>],
    source: &Source,
    others: &Tables,
) -> Result<Vec<Arg>> {
    let known = [
        &BUFFER_KEYS[..],
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
        let Some(arg) = names.iter().position(|n| *n == same.value) else {
            return Err(source.error(
                format!("there is no argument '{}'", same.value),
                format!("expected one of {}", names.join(", ")),
                same.offset,
            ));
        };
        let bytes = section.integer("offset", 0, MAX_BYTES)?.unwrap_or(0);
        return Ok(ArgKind::Same { arg, bytes });
    }
    section.refuse(&["offset"], "only allowed together with same_as")?;
    let element = parse_element(section, source)?;
    if section.has("count") {
        Ok(ArgKind::Buffer(parse_buffer(section, source, element)?))
    } else {
        parse_value(section, source, element)
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
    let index = |name: &Placed<String>| {
        let found = names.iter().position(|n| *n == name.value);
        found.ok_or_else(|| {
            let what = format!("there is no argument '{}'", name.value);
            let help = format!("expected one of {}", names.join(", "));
            source.error(what, help, name.offset)
        })
    };
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

/// A scalar, or a struct in hexadecimal.
fn parse_value(section: &Section, source: &Source, element: Element) -> Result<ArgKind> {
    let keys = ["init", "seed", "min", "max", "expect", "tolerance"];
    section.refuse(&keys, "only allowed for a buffer, which has a count")?;
    if element == Element::Bytes {
        let expected = "a string of hexadecimal digits, two per byte";
        let text = section.required_string("value", expected)?;
        let bytes = from_hex(&text.value).ok_or_else(|| {
            let help = format!("expected {expected}");
            source.error("'value' is not hexadecimal", help, text.offset)
        })?;
        return Ok(ArgKind::Value(element, bytes));
    }
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

/// The bytes of a key's number.
fn parse_number(
    section: &Section,
    source: &Source,
    element: Element,
    key: &str,
) -> Result<Option<Vec<u8>>> {
    let number = section.number(key)?;
    let bytes = |n: Placed<Number>| {
        let wrong = |what| source.error(format!("'{key}' is {what}"), element.expected(), n.offset);
        element.bytes_of(&n.value).map_err(wrong)
    };
    number.map(bytes).transpose()
}

/// The keys of a buffer, of which `count` is there.
fn parse_buffer(section: &Section, source: &Source, element: Element) -> Result<Buffer> {
    let most = MAX_BYTES / element.size() as u64;
    let Some(count) = section.integer("count", 1, most)? else {
        return Err(section.missing("count", "the number of elements"));
    };
    parse_contents(section, source, element, count)
}

/// The texels of a texture or a surface, `count` elements.
pub(super) fn parse_texels(
    section: &Section,
    source: &Source,
    element: Element,
    count: u64,
) -> Result<Buffer> {
    if count * element.size() as u64 > MAX_BYTES {
        let what = format!("{count} elements of {} are too many", element.name());
        return Err(section.wrong("extent", &what, "expected at most 4 GiB"));
    }
    parse_contents(section, source, element, count)
}

fn parse_contents(
    section: &Section,
    source: &Source,
    element: Element,
    count: u64,
) -> Result<Buffer> {
    let init = parse_init(section, source, element)?;
    Ok(Buffer {
        element,
        count,
        init: init.unwrap_or(Init::Zeros),
        expect: parse_expect(section, source)?,
    })
}

fn parse_init(section: &Section, source: &Source, element: Element) -> Result<Option<Init>> {
    const EXPECTED: &str = "zeros, iota, random, image, fill, or a file (\"in.npy\", \"in.raw\")";
    let given = section.string("init", EXPECTED)?;
    let init = given.as_ref().map_or("zeros", |g| g.value.as_str());
    refuse_keys_of_others(section, init)?;
    let init = match init {
        "zeros" => Init::Zeros,
        "iota" => Init::Iota,
        "random" => Init::Random(Random {
            seed: section.integer("seed", 0, u64::MAX)?.unwrap_or(0),
            range: parse_range(section, source, element)?,
        }),
        "image" => Init::Image(parse_image(section, element)?),
        "fill" => match parse_number(section, source, element, "value")? {
            Some(bytes) => Init::Fill(bytes),
            None => return Err(section.missing("value", "what every element is")),
        },
        file if is_data_file(file) => Init::File(source.resolve(file)),
        other => {
            let what = format!("there is no init '{other}'");
            let offset = given.as_ref().map_or(0, |g| g.offset);
            return Err(source.error(what, format!("expected {EXPECTED}"), offset));
        }
    };
    Ok(given.is_some().then_some(init))
}

/// Keys that belong to another init than this one.
fn refuse_keys_of_others(section: &Section, init: &str) -> Result<()> {
    const IMAGE: [&str; 6] = ["kind", "width", "height", "bits", "levels", "share"];
    if init != "random" {
        section.refuse(&["min", "max"], "only allowed with init = \"random\"")?;
    }
    if init != "random" && init != "image" {
        section.refuse(
            &["seed"],
            "only allowed with init = \"random\" or \"image\"",
        )?;
    }
    if init != "image" {
        section.refuse(&IMAGE, "only allowed with init = \"image\"")?;
    }
    if init != "fill" {
        section.refuse(
            &["value"],
            "only allowed with init = \"fill\", or without count",
        )?;
    }
    Ok(())
}

fn is_data_file(name: &str) -> bool {
    name.ends_with(".npy") || name.ends_with(".raw")
}

/// `min` and `max` of a random buffer.
fn parse_range(section: &Section, source: &Source, element: Element) -> Result<Range> {
    let bound = |key| parse_number(section, source, element, key);
    let (min, max) = (bound("min")?, bound("max")?);
    let range = match Range::of(element) {
        Range::Integers(low, high) => Range::Integers(
            min.map_or(low, |b| element.to_integer(&b)),
            max.map_or(high, |b| element.to_integer(&b)),
        ),
        Range::Floats(low, high) => Range::Floats(
            min.map_or(low, |b| element.to_f64(&b)),
            max.map_or(high, |b| element.to_f64(&b)),
        ),
    };
    let (ordered, finite) = match range {
        Range::Integers(min, max) => (min <= max, true),
        Range::Floats(min, max) => (min <= max, (max - min).is_finite()),
    };
    if ordered && finite {
        Ok(range)
    } else {
        Err(source.error(
            "the range from 'min' to 'max' is empty or infinite",
            "expected min <= max",
            section.place(if section.has("min") { "min" } else { "max" }),
        ))
    }
}

fn parse_expect(section: &Section, source: &Source) -> Result<Option<Expect>> {
    let Some(file) = section.string("expect", "a file: \"out.npy\" or \"out.raw\"")? else {
        section.refuse(&["tolerance"], "only allowed together with 'expect'")?;
        return Ok(None);
    };
    if !is_data_file(&file.value) {
        let what = format!("'{}' is not a data file", file.value);
        return Err(source.error(what, "expected a .npy or .raw file", file.offset));
    }
    let tolerance = match section.number("tolerance")? {
        None => 0.0,
        Some(number) => {
            let value = Element::F64.float(&number.value).unwrap_or(f64::NAN);
            if !(value >= 0.0 && value.is_finite()) {
                let what = "'tolerance' is not a tolerance";
                let help = "expected a number that is not negative; 0 means the same bits";
                return Err(source.error(what, help, number.offset));
            }
            value
        }
    };
    Ok(Some(Expect {
        file: source.resolve(&file.value),
        tolerance,
    }))
}

/// Reads the `[[symbol]]` tables.
pub(super) fn parse_symbols(tables: &[Placed<&DeTable>], source: &Source) -> Result<Vec<Symbol>> {
    let mut symbols: Vec<Symbol> = Vec::new();
    for table in tables {
        let section = Section::new(
            source,
            table.value,
            table.offset,
            "[[symbol]]",
            &BUFFER_KEYS,
        )?;
        let name = section.required_string("name", "\"NAME\", a variable of the PTX")?;
        if symbols.iter().any(|s| s.name == name.value) {
            let what = format!("the symbol '{}' is defined twice", name.value);
            return Err(source.error(what, "expected each symbol once", name.offset));
        }
        let element = parse_element(&section, source)?;
        symbols.push(Symbol {
            name: name.value,
            buffer: parse_buffer(&section, source, element)?,
            keep: !section.has("init"),
            offset: section.offset(),
        });
    }
    Ok(symbols)
}
