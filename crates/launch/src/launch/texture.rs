//! Textures, surfaces and samplers of a launch file.

use super::arg::{Arg, ArgKind};
use super::contents::{Buffer, parse_texels};
use super::element::{Element, parse_element};
use spadkit_base::error::Result;
use spadkit_base::input::section::{Placed, Section, Source};
use spadkit_ptx::exec::{AddressMode, Channel, Format, Geometry, Sampler, Shape};
use toml::de::DeTable;

/// CUDA's largest textures, in texels.
const MAX_EXTENT: [u32; 3] = [1 << 28, 1 << 16, 1 << 14];
/// CUDA's most layers.
const MAX_LAYERS: u64 = 2048;

/// A texture or a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct TextureTable {
    /// Name of the texture: of the argument's key, or of a variable of the PTX.
    pub name: String,
    /// Texels of its own, or the object whose texels it reads.
    pub texels: Texels,
    /// Layout of the texels, and how they are read.
    pub shape: Shape,
    /// Position of the texture in the file.
    pub offset: usize,
}

/// The location of a texture's texels.
#[derive(Clone, Debug, PartialEq)]
pub enum Texels {
    /// Texels in a buffer of their own.
    Own(Buffer),
    /// Texels in the buffer of the argument of that index.
    Arg(usize),
    /// Texels of the texture or surface of that index, which stands before.
    Other(usize),
}

/// A sampler for textures without their own.
#[derive(Clone, Debug, PartialEq)]
pub struct SamplerTable {
    /// Name of the sampler: of the argument's key, or of a variable of the PTX.
    pub name: String,
    /// Modes of reading.
    pub sampler: Sampler,
    /// Position of the sampler in the file.
    pub offset: usize,
}

const DATA_KEYS: [&str; 7] = ["init", "seed", "min", "max", "value", "expect", "tolerance"];
const KEYS: [&str; 8] = [
    "name", "of", "type", "channels", "extent", "layers", "cube", "read",
];
const SAMPLER_KEYS: [&str; 3] = ["address", "filter", "normalized"];

/// The names of tables, which must differ from each other.
pub(super) fn names(tables: &[Placed<&DeTable>], source: &Source) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for table in tables {
        let known: Vec<&str> = table.value.keys().map(|k| k.get_ref().as_ref()).collect();
        let section = Section::new(source, table.value, table.offset, "the table", &known)?;
        let name = section.required_string("name", "\"NAME\"")?;
        if names.contains(&name.value) {
            let what = format!("the name '{}' is used twice", name.value);
            return Err(source.error(what, "expected a name for each table", name.offset));
        }
        names.push(name.value);
    }
    Ok(names)
}

/// The kind of the table: only a texture has a sampler.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TableKind {
    Texture,
    Surface,
}

/// Reads the `[[texture]]` and `[[surface]]` tables, surfaces first.
pub(super) fn parse_textures(
    surfaces: &[Placed<&DeTable>],
    textures: &[Placed<&DeTable>],
    source: &Source,
    args: &[Arg],
) -> Result<Vec<TextureTable>> {
    let mut all: Vec<TextureTable> = Vec::new();
    let surfaces = surfaces.iter().map(|t| (t, TableKind::Surface));
    let textures = textures.iter().map(|t| (t, TableKind::Texture));
    for (table, kind) in surfaces.chain(textures) {
        let (name, more) = match kind {
            TableKind::Surface => ("[[surface]]", &[][..]),
            TableKind::Texture => ("[[texture]]", &SAMPLER_KEYS[..]),
        };
        let known = [&KEYS[..], &DATA_KEYS, more].concat();
        let section = Section::new(source, table.value, table.offset, name, &known)?;
        all.push(texture(&section, source, (args, &all), kind)?);
    }
    Ok(all)
}

/// Reads the `[[sampler]]` tables.
pub(super) fn parse_samplers(
    tables: &[Placed<&DeTable>],
    source: &Source,
) -> Result<Vec<SamplerTable>> {
    let one = |table: &Placed<&DeTable>| {
        let known = [&["name"][..], &SAMPLER_KEYS].concat();
        let section = Section::new(source, table.value, table.offset, "[[sampler]]", &known)?;
        Ok(SamplerTable {
            name: section.required_string("name", "\"NAME\"")?.value,
            sampler: sampler(&section, source, 3)?,
            offset: section.offset(),
        })
    };
    tables.iter().map(one).collect()
}

fn texture(
    section: &Section,
    source: &Source,
    (args, before): (&[Arg], &[TextureTable]),
    kind: TableKind,
) -> Result<TextureTable> {
    let element = parse_element(section, source)?;
    let shape = shape(section, source, element, kind)?;
    let texels = shape.extent.iter().map(|&n| u64::from(n)).product::<u64>();
    let count = texels * u64::from(shape.layers) * u64::from(shape.format.channels);
    Ok(TextureTable {
        name: section.required_string("name", "\"NAME\"")?.value,
        texels: parse_of(section, source, (args, before), (element, count))?,
        shape,
        offset: section.offset(),
    })
}

/// The layout of the texels, and how they are read.
fn shape(section: &Section, source: &Source, element: Element, kind: TableKind) -> Result<Shape> {
    let format = format(section, element)?;
    let dimensions = section.length("extent").clamp(1, 3);
    let extent = section.dimensions("extent", MAX_EXTENT)?.value;
    let cube = section.boolean("cube")?.unwrap_or(false);
    let layers = section.integer("layers", 1, MAX_LAYERS)?;
    let layered = layers.is_some();
    if cube && (dimensions != 2 || extent[0] != extent[1] || kind == TableKind::Surface) {
        let help = "expected extent = [N, N] in a [[texture]]: the faces of a cube are squares";
        return Err(section.wrong("cube", "the faces of a cube must be square", help));
    }
    if layered && dimensions == 3 {
        let help = "expected one or two dimensions beside 'layers'";
        return Err(section.wrong("layers", "a 3D texture has no layers", help));
    }
    let layers = layers.unwrap_or(1) as u32 * if cube { 6 } else { 1 };
    let normalized_read = match section.choice("read", &["element", "normalized"])? {
        Some(1) if format.channel == Channel::Float || format.bits > 16 => {
            let help = "expected it with u8, s8, u16 or s16; floating-point texels are read as \
                        they are";
            return Err(section.wrong("read", "texels of this type are not normalised", help));
        }
        read => read == Some(1),
    };
    let sampler = match kind {
        TableKind::Surface => None,
        TableKind::Texture => Some(sampler(section, source, dimensions)?),
    };
    if sampler.is_some_and(|s| s.linear) && !format.is_real(normalized_read) {
        let help = "expected type f16 or f32, or read = \"normalized\"";
        return Err(section.wrong("filter", "integers are not filtered", help));
    }
    Ok(Shape {
        format,
        geometry: Geometry {
            dimensions: dimensions as u32,
            layered,
            cube,
        },
        extent,
        layers,
        sampler,
        normalized_read,
    })
}

fn format(section: &Section, element: Element) -> Result<Format> {
    let (channel, bits) = match element {
        Element::Unsigned(bytes @ 1..=4) => (Channel::Unsigned, u32::from(bytes) * 8),
        Element::Signed(bytes @ 1..=4) => (Channel::Signed, u32::from(bytes) * 8),
        Element::F16 => (Channel::Float, 16),
        Element::F32 => (Channel::Float, 32),
        _ => {
            let help = "expected one of u8, s8, u16, s16, u32, s32, f16, f32";
            return Err(section.wrong("type", "texels cannot have this type", help));
        }
    };
    let channels = section.integer("channels", 1, 4)?.unwrap_or(1) as u32;
    if channels == 3 {
        let help = "expected 1, 2 or 4 channels";
        return Err(section.wrong("channels", "texels cannot have three channels", help));
    }
    Ok(Format {
        channel,
        bits,
        channels,
    })
}

/// The texels: those of another, named by `of`, or of its own.
fn parse_of(
    section: &Section,
    source: &Source,
    (args, before): (&[Arg], &[TextureTable]),
    (element, count): (Element, u64),
) -> Result<Texels> {
    let Some(of) = section.string("of", "\"NAME\", a buffer or a surface")? else {
        return Ok(Texels::Own(parse_texels(section, source, element, count)?));
    };
    section.refuse(&DATA_KEYS, "set it on the buffer that 'of' names")?;
    let bytes = count * element.size() as u64;
    let arg = args.iter().position(|a| a.name == of.value);
    let other = before.iter().position(|t| t.name == of.value);
    let (found, there) = match (arg, other) {
        (Some(arg), _) => match &args[arg].kind {
            ArgKind::Buffer(buffer) => (Texels::Arg(arg), buffer.bytes()),
            _ => {
                let what = format!("the argument '{}' is not a buffer", of.value);
                return Err(source.error(what, "expected one with a count", of.offset));
            }
        },
        (None, Some(other)) => {
            let t = &before[other];
            let texels: u64 = t.shape.extent.iter().map(|&n| u64::from(n)).product();
            let all = texels * u64::from(t.shape.layers) * u64::from(t.shape.format.bytes());
            (Texels::Other(other), all)
        }
        (None, None) => {
            let what = format!("there is no buffer or surface '{}'", of.value);
            let help = "expected the name of an [[arg]] with a count, or of a [[surface]]";
            return Err(source.error(what, help, of.offset));
        }
    };
    if there == bytes {
        Ok(found)
    } else {
        Err(source.error(
            format!("'{}' has {there} bytes, and the texels {bytes}", of.value),
            "expected as many bytes as extent, layers, type and channels give",
            of.offset,
        ))
    }
}

fn sampler(section: &Section, source: &Source, dimensions: usize) -> Result<Sampler> {
    const MODES: [&str; 4] = ["wrap", "clamp", "mirror", "border"];
    let normalized = section.boolean("normalized")?.unwrap_or(false);
    let linear = section.choice("filter", &["point", "linear"])? == Some(1);
    let expected = format!("one of {}, or one for each dimension", MODES.join(", "));
    let names = section.one_or_more("address", &expected)?;
    if names.len() > 1 && names.len() != dimensions {
        let what = format!("'address' has {} modes", names.len());
        return Err(section.wrong("address", &what, &format!("expected {expected}")));
    }
    let mut address = [AddressMode::Clamp; 3];
    for (at, name) in names.iter().enumerate() {
        let mode = match name.value.as_str() {
            "wrap" => AddressMode::Wrap,
            "clamp" => AddressMode::Clamp,
            "mirror" => AddressMode::Mirror,
            "border" => AddressMode::Border,
            other => {
                let what = format!("there is no address mode '{other}'");
                return Err(source.error(what, format!("expected {expected}"), name.offset));
            }
        };
        if matches!(mode, AddressMode::Wrap | AddressMode::Mirror) && !normalized {
            let what = format!("'{}' needs normalised coordinates", name.value);
            let help = "expected normalized = true, or the address mode clamp or border";
            return Err(source.error(what, help, name.offset));
        }
        match names.len() {
            1 => address = [mode; 3],
            _ => address[at] = mode,
        }
    }
    Ok(Sampler {
        address,
        linear,
        normalized,
    })
}

impl TextureTable {
    /// The texture's own texels, if it has some.
    pub fn buffer(&self) -> Option<&Buffer> {
        match &self.texels {
            Texels::Own(buffer) => Some(buffer),
            _ => None,
        }
    }
}
