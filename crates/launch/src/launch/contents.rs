//! The contents of buffers: their keys in `[[arg]]`, `[[symbol]]`,
//! `[[texture]]` and `[[surface]]` tables.

use super::element::Element;
use super::expect::Expect;
use super::image_keys::parse_image;
use super::init::{Init, Random, Range};
use spadkit_base::error::Result;
use spadkit_base::input::section::{Number, Placed, Section, Source};

/// The largest buffer; a larger one is probably a mistake.
pub(super) const MAX_BYTES: u64 = 1 << 32;

/// A buffer in global memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Type of its elements.
    pub element: Element,
    /// Number of elements.
    pub count: u64,
    /// Content of the buffer before the run.
    pub init: Init,
    /// Expected content of the buffer after the run.
    pub expect: Option<Expect>,
}

impl Buffer {
    /// Bytes in all.
    pub fn bytes(&self) -> u64 {
        self.count * self.element.size() as u64
    }
}

impl Buffer {
    /// Bytes of memory that making its contents takes at most.
    pub(super) fn room(&self) -> usize {
        let bytes = self.bytes();
        let all = match &self.init {
            // Words of 64 bits for each pixel, of the grid and of the image.
            Init::Image(image) => bytes + 24 * image.width * image.height,
            // The file with its header, and its data.
            Init::File(_) => 2 * bytes,
            _ => bytes,
        };
        usize::try_from(all).unwrap_or(usize::MAX)
    }
}

/// Keys of a buffer in any table.
pub(super) const BUFFER_KEYS: [&str; 16] = [
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

/// The keys that make an argument a buffer; `count` is present.
pub(super) fn parse_buffer(section: &Section, source: &Source, element: Element) -> Result<Buffer> {
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
    let texels = parse_contents(section, source, element, count)?;
    refuse_no_contents(section, &texels)?;
    Ok(texels)
}

/// Refuses `init = "none"`, which only a buffer in `[[arg]]` may have: variables of the PTX
/// begin with zeros, and reads of texels are not checked.
pub(super) fn refuse_no_contents(section: &Section, buffer: &Buffer) -> Result<()> {
    match buffer.init {
        Init::None => {
            let what = "init = \"none\" outside of [[arg]]";
            Err(section.wrong("init", what, "expected contents, or a buffer in [[arg]]"))
        }
        _ => Ok(()),
    }
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
    const EXPECTED: &str =
        "zeros, none, iota, random, image, fill, or a file (\"in.npy\", \"in.raw\")";
    let given = section.string("init", EXPECTED)?;
    let init = given.as_ref().map_or("zeros", |g| g.value.as_str());
    refuse_keys_of_others(section, init)?;
    let init = match init {
        "zeros" => Init::Zeros,
        "none" => Init::None,
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

/// The bytes of a key's number.
pub(super) fn parse_number(
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
