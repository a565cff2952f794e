//! The keys of a buffer with `init = "image"`.

use super::element::Element;
use super::image::{Image, ImageKind};
use spadkit_base::error::Result;
use spadkit_base::input::section::Section;

/// Largest width or height of an image.
const MAX_SIDE: u64 = 1 << 15;

/// Reads the keys; the section has `count`.
pub(super) fn parse_image(section: &Section, element: Element) -> Result<Image> {
    let bits = parse_bits(section, element)?;
    let kind = parse_kind(section, bits)?;
    let (width, height) = parse_size(section)?;
    match kind {
        ImageKind::Points(_) => require_room_for_points(section, element)?,
        _ => require_count(section, width * height)?,
    }
    Ok(Image {
        seed: section.integer("seed", 0, u64::MAX)?.unwrap_or(0),
        width,
        height,
        bits,
        kind,
    })
}

/// Bits of a pixel: by default 8 of bytes, 12 of wider types.
fn parse_bits(section: &Section, element: Element) -> Result<u32> {
    let Some((_, max)) = element.integer_range() else {
        let what = "image pixels cannot have this type";
        return Err(section.wrong("type", what, "expected an integer type"));
    };
    let most = (128 - max.leading_zeros()).min(16);
    let bits = section.integer("bits", 1, most.into())?;
    Ok(bits.map_or(most.min(if most <= 8 { 8 } else { 12 }), |b| b as u32))
}

/// Width and height.
fn parse_size(section: &Section) -> Result<(u64, u64)> {
    let side = |key: &str, expected: &str| match section.integer(key, 1, MAX_SIDE)? {
        Some(side) => Ok(side),
        None => Err(section.missing(key, expected)),
    };
    let width = side("width", "the pixels of a row")?;
    let height = side("height", "the number of rows")?;
    Ok((width, height))
}

/// An image fills its buffer.
fn require_count(section: &Section, pixels: u64) -> Result<()> {
    if section.integer("count", 1, u64::MAX)? == Some(pixels) {
        return Ok(());
    }
    let help = format!("expected count = {pixels}");
    Err(section.wrong("count", "'count' is not width times height", &help))
}

/// Coordinates need 32 bits.
fn require_room_for_points(section: &Section, element: Element) -> Result<()> {
    if element.size() >= 4 {
        return Ok(());
    }
    let help = "expected one of 32 bits: y << 16 | x";
    Err(section.wrong("type", "this type is too narrow for a point", help))
}

/// `kind` with `levels` or `share`.
fn parse_kind(section: &Section, bits: u32) -> Result<ImageKind> {
    const EXPECTED: &str = "\"smooth\", \"noise\", \"share\", \"uniform\", \"edges\" or \"points\"";
    let kind = section.required_string("kind", EXPECTED)?.value;
    if !["noise", "edges", "points"].contains(&kind.as_str()) {
        let help = "only allowed with kind = \"noise\", \"edges\" or \"points\"";
        section.refuse(&["levels"], help)?;
    }
    if kind != "share" {
        section.refuse(&["share"], "only allowed with kind = \"share\"")?;
    }
    let levels = |default: u64| -> Result<u64> {
        let levels = section.integer("levels", 1, 1 << bits)?;
        Ok(levels.unwrap_or(default.min(1 << bits)))
    };
    Ok(match kind.as_str() {
        "smooth" => ImageKind::Smooth,
        "noise" => ImageKind::Noise(levels(256)?),
        "uniform" => ImageKind::Uniform,
        "edges" => ImageKind::Edges(levels(4)?),
        "points" => ImageKind::Points(levels(4)?),
        "share" => match section.integer("share", 0, 100)? {
            Some(percent) => ImageKind::Share(percent),
            None => return Err(section.missing("share", "percent of the pixels")),
        },
        other => {
            let what = format!("there is no kind '{other}'");
            return Err(section.wrong("kind", &what, &format!("expected {EXPECTED}")));
        }
    })
}
