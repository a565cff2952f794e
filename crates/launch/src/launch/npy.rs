//! NumPy's .npy files: little-endian, C order, one array.

mod header;

use super::element::Element;
use header::Header;
use spadkit_base::error::{Error, Result};
use std::path::Path;

/// No header has more bytes: those of NumPy have some hundred.
pub const MOST_HEADER: u64 = 1 << 16;

const MAGIC: &[u8] = b"\x93NUMPY";
const EXPECTED: &str = "expected a .npy file, little-endian, C order, of a plain number type \
                        (numpy.save of an array does)";

/// The type as .npy writes it; bfloat16, which NumPy does not have, as u16.
fn descriptor(element: Element) -> String {
    match element {
        Element::Signed(1) => "|i1".to_owned(),
        Element::Unsigned(1) | Element::Bytes => "|u1".to_owned(),
        Element::Signed(n) => format!("<i{n}"),
        Element::Unsigned(n) => format!("<u{n}"),
        Element::F16 => "<f2".to_owned(),
        Element::Bf16 => "<u2".to_owned(),
        Element::F32 => "<f4".to_owned(),
        Element::F64 => "<f8".to_owned(),
    }
}

/// A file's content for a one-dimensional array of `bytes`.
pub fn write(element: Element, bytes: &[u8]) -> Vec<u8> {
    let count = bytes.len() / element.size();
    let mut header = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({count},), }}",
        descriptor(element)
    );
    // The data begins at a multiple of 64; the header ends with a line feed.
    let unpadded = MAGIC.len() + 4 + header.len() + 1;
    header.push_str(&" ".repeat(unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    let mut file = MAGIC.to_vec();
    file.extend([1, 0]);
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(bytes);
    file
}

/// The data of a file's content, which must be of `element` and have `count`
/// elements of any shape.
pub fn read(content: &[u8], path: &Path, element: Element, count: u64) -> Result<Vec<u8>> {
    let wrong =
        |what: String, help: &str| Error::usage(format!("{}: {what}", path.display()), help);
    let (header, data) =
        split(content).ok_or_else(|| wrong("not a .npy file".to_owned(), EXPECTED))?;
    let header = Header::parse(header)
        .map_err(|why| wrong(format!("its header cannot be read: {why}"), EXPECTED))?;
    if header.fortran {
        return Err(wrong("it is in Fortran order".to_owned(), EXPECTED));
    }
    let wanted = descriptor(element);
    // The types of a byte come with '|' or '<', halves also as plain words.
    let same = |d: &str| d.replace('|', "<") == wanted.replace('|', "<");
    let half_as_word = element == Element::F16 && header.descr == "<u2";
    if !same(&header.descr) && !half_as_word {
        return Err(wrong(
            format!("its elements are '{}'", header.descr),
            &format!("expected '{wanted}' for {}", element.name()),
        ));
    }
    let elements = header
        .shape
        .iter()
        .try_fold(1u64, |n, d| n.checked_mul(*d))
        .unwrap_or(u64::MAX);
    if elements != count {
        return Err(wrong(
            format!("it has {elements} elements"),
            &format!("expected {count}, in any shape"),
        ));
    }
    if data.len() as u64 != count * element.size() as u64 {
        return Err(wrong(
            format!("it has {} bytes of data", data.len()),
            &format!(
                "expected {}: is the file truncated?",
                count * element.size() as u64
            ),
        ));
    }
    Ok(data.to_vec())
}

/// Header text and data.
fn split(content: &[u8]) -> Option<(&str, &[u8])> {
    let rest = content.strip_prefix(MAGIC)?;
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (u16::from_le_bytes([*a, *b]).into(), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        _ => return None,
    };
    let (header, data) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(header).ok()?, data))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_as(content: &[u8], element: Element, count: u64) -> Result<Vec<u8>> {
        read(content, Path::new("a.npy"), element, count)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let bytes: Vec<u8> = (0..48).collect();
        for name in [
            "s8", "u8", "s16", "f16", "bf16", "s32", "f32", "u64", "f64", "bytes",
        ] {
            let element = Element::parse(name).unwrap();
            let file = write(element, &bytes);
            assert_eq!((file.len() - bytes.len()) % 64, 0, "{name}");
            let count = (bytes.len() / element.size()) as u64;
            assert_eq!(read_as(&file, element, count).unwrap(), bytes, "{name}");
        }
    }

    #[test]
    fn files_of_numpy_are_read() {
        // numpy.save of numpy.arange(6, dtype='<i2').reshape(2, 3), versions 1 and 2.
        let header = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }";
        let padded = format!("{header:<117}\n");
        let data: Vec<u8> = (0..6u16).flat_map(u16::to_le_bytes).collect();
        let one = [b"\x93NUMPY\x01\x00v\x00", padded.as_bytes(), &data].concat();
        let two = [b"\x93NUMPY\x02\x00v\x00\x00\x00", padded.as_bytes(), &data].concat();
        for file in [one, two] {
            assert_eq!(read_as(&file, Element::Signed(2), 6).unwrap(), data);
        }
    }

    #[test]
    fn other_types_shapes_and_damage_are_refused_with_what_was_expected() {
        let good = write(Element::F32, &[0; 16]);
        let refused = |content: &[u8], element, count, reason: &str| {
            let error = read_as(content, element, count).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
            assert_eq!(error.exit_status(), 2);
        };
        refused(&good, Element::Signed(4), 4, "its elements are '<f4'");
        refused(&good, Element::F32, 5, "it has 4 elements");
        refused(&good[..good.len() - 1], Element::F32, 4, "15 bytes of data");
        refused(&good[..40], Element::F32, 4, "not a .npy file");
        refused(b"", Element::F32, 4, "not a .npy file");
        refused(b"\x93NUMPY\x09\x00\x00\x00", Element::F32, 4, "not a .npy");
        let edit = |from: &str, to: &str| {
            let header = String::from_utf8_lossy(&good[10..]).replace(from, to);
            [&good[..10], header.as_bytes()].concat()
        };
        refused(&edit("False", "True "), Element::F32, 4, "Fortran");
        refused(&edit("<f4", ">f4"), Element::F32, 4, "'>f4'");
        refused(&edit("(4,)", "(x,)"), Element::F32, 4, "header");
        refused(&edit("'shape'", "'shade'"), Element::F32, 4, "header");
    }
}
