//! Tensor maps as arguments of a launch file.

use super::element::{Element, parse_element};
use crate::error::Result;
use crate::input::section::{Section, Source};
use crate::ptx::Type;
use crate::ptx::exec::{Boxed, TensorMap};
use crate::ptx::tensor::Swizzle;

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
/// In the place of `box`, as those of `cuTensorMapEncodeIm2col`.
const PIXEL_KEYS: [&str; 4] = ["lower", "upper", "channels", "pixels"];

/// The largest integers that a rule of maps may still judge.
const MOST: i64 = 1 << 48;

impl TensorMapArg {
    /// The map where the buffer begins at an address.
    pub fn placed(&self, begin: u64) -> TensorMap {
        TensorMap {
            address: begin + self.map.address,
            ..self.map.clone()
        }
    }

    /// Bytes of the buffer up to the end of the tensor.
    pub fn bytes(&self) -> u64 {
        let map = &self.map;
        let outer = map.extent.iter().skip(1).zip(&map.strides);
        let last = outer.fold(0u64, |sum, (n, stride)| {
            sum.saturating_add((n - 1).saturating_mul(*stride))
        });
        let row = map.extent[0].saturating_mul(map.element.bytes().into());
        map.address.saturating_add(last).saturating_add(row)
    }

    /// Whether the tensor is inside of its buffer of so many bytes; none where
    /// the argument is no buffer.
    pub(super) fn check(&self, arg: &Section, buffer: Option<u64>) -> Result<()> {
        let (what, help) = match buffer {
            Some(bytes) if self.bytes() <= bytes => return Ok(()),
            Some(bytes) => {
                let end = self.bytes();
                let what = format!("the tensor ends at byte {end} of a buffer of {bytes} bytes");
                (what, "expected offset, extent and strides inside of it")
            }
            None => {
                let what = "'buffer' names an argument that is not a buffer".to_owned();
                (what, "expected one with a count")
            }
        };
        Err(arg.wrong("tensor_map", &what, help))
    }
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
    let Some(index) = names.iter().position(|n| *n == buffer.value) else {
        let what = format!("there is no argument '{}'", buffer.value);
        let help = format!("expected one of {}", names.join(", "));
        return Err(source.error(what, help, buffer.offset));
    };
    let map = parse_map(&section, source)?;
    if let Err(wrong) = map.check() {
        let offset = section.place(wrong.key);
        return Err(source.error(wrong.what, wrong.expected, offset));
    }
    Ok(Some(TensorMapArg { buffer: index, map }))
}

fn parse_map(section: &Section, source: &Source) -> Result<TensorMap> {
    let element = element(section, source)?;
    let Some(extent) = section.integers("extent", 1, MOST)? else {
        return Err(section.missing("extent", "[x, ...], elements of each dimension"));
    };
    let rank = extent.len();
    let extent: Vec<u64> = extent.into_iter().map(|n| n as u64).collect();
    let strides = match sized(section, "strides", rank.saturating_sub(1), (0, MOST))? {
        Some(strides) => strides.into_iter().map(|n| n as u64).collect(),
        None => packed(&extent, element.bytes().into()),
    };
    let steps = sized(section, "element_strides", rank, (0, i64::from(u32::MAX)))?;
    // Interleaved layouts are the only other ones.
    section.choice("interleave", &["none"])?;
    let swizzle = section.choice("swizzle", &["none", "32", "64", "128"])?;
    let fill = section.choice("fill", &["zeros", "nan"])?;
    Ok(TensorMap {
        address: section.integer("offset", 0, MOST as u64)?.unwrap_or(0),
        element,
        strides,
        boxed: boxed(section, rank)?,
        steps: steps.map_or(vec![1; rank], narrow),
        extent,
        swizzle: Swizzle::ALL[swizzle.unwrap_or(0)],
        nan_fill: fill == Some(1),
    })
}

fn narrow(all: Vec<i64>) -> Vec<u32> {
    all.into_iter().map(|n| n as u32).collect()
}

/// An array of that many integers.
fn sized(
    section: &Section,
    key: &str,
    count: usize,
    (min, max): (i64, i64),
) -> Result<Option<Vec<i64>>> {
    match section.integers(key, min, max)? {
        Some(list) if list.len() != count => {
            let what = format!("'{key}' has {} numbers", list.len());
            let help = format!("expected {count}, by the dimensions of 'extent'");
            Err(section.wrong(key, &what, &help))
        }
        list => Ok(list),
    }
}

fn boxed(section: &Section, rank: usize) -> Result<Boxed> {
    const NUMBER: (i64, i64) = (0, u32::MAX as i64);
    if let Some(extent) = sized(section, "box", rank, NUMBER)? {
        section.refuse(&PIXEL_KEYS, "expected it without 'box', for .im2col")?;
        return Ok(Boxed::Tile(narrow(extent)));
    }
    const CORNER: (i64, i64) = (i32::MIN as i64, i32::MAX as i64);
    let outer = rank.saturating_sub(2);
    let corner = |key| sized(section, key, outer, CORNER);
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

fn element(section: &Section, source: &Source) -> Result<Type> {
    Ok(match parse_element(section, source)? {
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
            let help = "expected u8, u16, u32, s32, u64, s64, f16, bf16, f32 or f64";
            return Err(section.wrong("type", "tensor maps have no such type", help));
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
