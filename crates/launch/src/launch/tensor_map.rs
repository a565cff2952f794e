//! Tensor maps as arguments of a launch file, or of another program.

use super::element::{Element, parse_element};
use super::named::index_of;
use spadkit_base::error::Result;
use spadkit_base::input::section::{Section, Source};
use spadkit_ptx::Type;
use spadkit_ptx::exec::{Boxed, TensorMap, Wrong};
use spadkit_ptx::tensor::Swizzle;

/// Bytes of a tensor map.
pub(super) const TENSOR_MAP: usize = 128;

/// A tensor map of an argument's buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorMapArg {
    /// Index of the argument with the buffer.
    pub buffer: usize,
    /// The map; its address is an offset in the buffer.
    pub map: TensorMap,
}

/// Keys of the table, as the parameters of `cuTensorMapEncodeTiled`.
const KEYS: [&str; 10] = [
    "buffer",
    "offset",
    "type",
    "extent",
    "strides",
    "box",
    "element_strides",
    "interleave",
    "swizzle",
    "fill",
];
/// Keys that replace `box`, with the meaning that they have in `cuTensorMapEncodeIm2col`.
const PIXEL_KEYS: [&str; 4] = ["lower", "upper", "channels", "pixels"];

/// The largest integers that a rule of maps may still judge.
const MOST: i64 = 1 << 48;

/// The keys of a map before they are checked. Lists begin with the innermost
/// dimension; missing ones have the values of a tensor without gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenMap {
    /// Type of the elements.
    pub element: Element,
    /// Bytes of the buffer before the tensor.
    pub offset: u64,
    /// Elements of each dimension.
    pub extent: Vec<u64>,
    /// Bytes between elements of each dimension but the innermost.
    pub strides: Option<Vec<u64>>,
    /// The box that one copy moves.
    pub boxed: Boxed,
    /// Every how manyth element is moved.
    pub element_strides: Option<Vec<u32>>,
    /// The swizzle of rows in shared memory.
    pub swizzle: Swizzle,
    /// Whether elements outside the tensor are read as NaN.
    pub nan_fill: bool,
}

impl GivenMap {
    /// The map, whose address is an offset in the buffer. The error is the first
    /// rule that it breaks, by the key of a launch file.
    pub fn map(self) -> std::result::Result<TensorMap, Wrong> {
        let element = element(self.element)?;
        let rank = self.extent.len();
        let outer = rank.saturating_sub(1);
        sized("strides", self.strides.as_deref(), outer)?;
        sized("element_strides", self.element_strides.as_deref(), rank)?;
        match &self.boxed {
            Boxed::Tile(extent) => sized("box", Some(extent), rank)?,
            Boxed::Pixels { lower, upper, .. } => {
                sized("lower", Some(lower), rank.saturating_sub(2))?;
                sized("upper", Some(upper), rank.saturating_sub(2))?;
            }
        }
        let packed = || packed(&self.extent, element.bytes().into());
        let map = TensorMap {
            address: self.offset,
            element,
            strides: self.strides.unwrap_or_else(packed),
            boxed: self.boxed,
            steps: self.element_strides.unwrap_or_else(|| vec![1; rank]),
            extent: self.extent,
            swizzle: self.swizzle,
            nan_fill: self.nan_fill,
        };
        map.check()?;
        Ok(map)
    }
}

impl TensorMapArg {
    /// The map where the buffer begins at an address.
    pub fn placed(&self, begin: u64) -> TensorMap {
        TensorMap {
            address: begin + self.map.address,
            ..self.map.clone()
        }
    }

    /// Whether the tensor is inside of its buffer of this many bytes; none where
    /// the argument is not a buffer.
    pub(super) fn check(&self, arg: &Section, buffer: Option<u64>) -> Result<()> {
        let Some(bytes) = buffer else {
            let what = "'buffer' names an argument that is not a buffer";
            return Err(arg.wrong("tensor_map", what, "expected one with a count"));
        };
        let inside = check_inside(&self.map, bytes);
        inside.map_err(|wrong| arg.wrong(wrong.key, &wrong.what, &wrong.expected))
    }
}

/// Whether the tensor of a map is inside of a buffer of this many bytes, if its
/// address is an offset there.
pub fn check_inside(map: &TensorMap, bytes: u64) -> std::result::Result<(), Wrong> {
    let outer = map.extent.iter().skip(1).zip(&map.strides);
    let last = outer.fold(0u64, |sum, (n, stride)| {
        sum.saturating_add((n - 1).saturating_mul(*stride))
    });
    let row = map.extent[0].saturating_mul(map.element.bytes().into());
    let end = map.address.saturating_add(last).saturating_add(row);
    if end <= bytes {
        return Ok(());
    }
    Err(Wrong {
        key: "tensor_map",
        what: format!("the tensor ends at byte {end} of a buffer of {bytes} bytes"),
        expected: "expected offset, extent and strides inside of it".to_owned(),
    })
}

/// Reads the table `tensor_map` of an `[[arg]]`, if there is one.
pub(super) fn parse_tensor_map(
    arg: &Section,
    source: &Source,
    names: &[String],
) -> Result<Option<TensorMapArg>> {
    let Some(table) = arg.table("tensor_map")? else {
        return Ok(None);
    };
    let known = [&KEYS[..], &PIXEL_KEYS].concat();
    let section = Section::new(source, table.value, table.offset, "tensor_map", &known)?;
    let buffer = section.required_string("buffer", "\"NAME\", another argument")?;
    let index = index_of(&buffer, source, names)?;
    let map = parse_map(&section, source)?.map();
    let map = map.map_err(|wrong| section.wrong(wrong.key, &wrong.what, &wrong.expected))?;
    Ok(Some(TensorMapArg { buffer: index, map }))
}

fn parse_map(section: &Section, source: &Source) -> Result<GivenMap> {
    let element = parse_element(section, source)?;
    let Some(extent) = section.integers("extent", 1, MOST)? else {
        return Err(section.missing("extent", "[x, ...], elements of each dimension"));
    };
    let strides = section.integers("strides", 0, MOST)?;
    let steps = section.integers("element_strides", 0, i64::from(u32::MAX))?;
    // Interleaved layouts are the only other ones.
    section.choice("interleave", &["none"])?;
    let swizzle = section.choice("swizzle", &["none", "32", "64", "128"])?;
    let fill = section.choice("fill", &["zeros", "nan"])?;
    let wide = |all: Vec<i64>| all.into_iter().map(|n| n as u64).collect();
    Ok(GivenMap {
        element,
        offset: section.integer("offset", 0, MOST as u64)?.unwrap_or(0),
        extent: wide(extent),
        strides: strides.map(wide),
        boxed: boxed(section)?,
        element_strides: steps.map(narrow),
        swizzle: Swizzle::ALL[swizzle.unwrap_or(0)],
        nan_fill: fill == Some(1),
    })
}

fn narrow(all: Vec<i64>) -> Vec<u32> {
    all.into_iter().map(|n| n as u32).collect()
}

fn boxed(section: &Section) -> Result<Boxed> {
    if let Some(extent) = section.integers("box", 0, i64::from(u32::MAX))? {
        section.refuse(&PIXEL_KEYS, "only allowed without 'box', for .im2col")?;
        return Ok(Boxed::Tile(narrow(extent)));
    }
    let corner = |key| section.integers(key, i64::from(i32::MIN), i64::from(i32::MAX));
    let number = |key| section.integer(key, 0, u64::from(u32::MAX));
    match (
        corner("lower")?,
        corner("upper")?,
        number("channels")?,
        number("pixels")?,
    ) {
        (Some(lower), Some(upper), Some(channels), Some(count)) => Ok(Boxed::Pixels {
            lower: lower.into_iter().map(|n| n as i32).collect(),
            upper: upper.into_iter().map(|n| n as i32).collect(),
            channels: channels as u32,
            count: count as u32,
        }),
        _ => Err(section.missing(
            "box",
            "[x, ...], or lower, upper, channels and pixels of a map for .im2col",
        )),
    }
}

/// A list has as many numbers as there are dimensions.
fn sized<T>(key: &'static str, list: Option<&[T]>, count: usize) -> std::result::Result<(), Wrong> {
    match list {
        Some(list) if list.len() != count => Err(Wrong {
            key,
            what: format!("'{key}' has {} numbers", list.len()),
            expected: format!("expected {count}, by the dimensions of 'extent'"),
        }),
        _ => Ok(()),
    }
}

fn element(element: Element) -> std::result::Result<Type, Wrong> {
    Ok(match element {
        Element::Unsigned(1) => Type::U8,
        Element::Unsigned(2) => Type::U16,
        Element::Unsigned(4) => Type::U32,
        Element::Unsigned(_) => Type::U64,
        Element::Signed(4) => Type::S32,
        Element::Signed(8) => Type::S64,
        Element::F16 => Type::F16,
        Element::Bf16 => Type::Bf16,
        Element::F32 => Type::F32,
        Element::F64 => Type::F64,
        Element::Signed(_) | Element::Bytes => {
            return Err(Wrong {
                key: "type",
                what: "tensor maps cannot have this type".to_owned(),
                expected: "expected u8, u16, u32, s32, u64, s64, f16, bf16, f32 or f64".to_owned(),
            });
        }
    })
}

/// Strides of a tensor without gaps.
fn packed(extent: &[u64], size: u64) -> Vec<u64> {
    let outer = extent.len().saturating_sub(1);
    let grow = |bytes: &mut u64, n: &u64| {
        *bytes = bytes.saturating_mul(*n);
        Some(*bytes)
    };
    extent[..outer].iter().scan(size, grow).collect()
}
