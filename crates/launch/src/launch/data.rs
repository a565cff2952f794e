//! Buffers' contents: made, or read from a file.

use super::contents::Buffer;
use super::element::Element;
use super::expect::{Comparison, compare};
use super::image::image;
use super::init::{Init, iota, random};
use super::npy;
use spadkit_base::error::{Error, Result};
use spadkit_base::input::{Limit, require_file};
use spadkit_base::quote::shown_path;
use std::path::Path;

impl Buffer {
    /// The content of the buffer before the run.
    pub fn contents(&self) -> Result<Vec<u8>> {
        let (element, count) = (self.element, self.count);
        let bytes = self.bytes() as usize;
        Ok(match &self.init {
            Init::Zeros | Init::None => vec![0; bytes],
            Init::Iota => iota(element, count),
            Init::Random(how) => random(element, count, how),
            Init::Image(what) => image(element, count, what),
            Init::Fill(item) => item.repeat(count as usize),
            Init::File(path) => read(path, element, count)?,
            Init::Bytes(given) if given.len() == bytes => given.clone(),
            Init::Bytes(given) => {
                return Err(Error::usage(
                    format!("{} bytes for a buffer of {bytes}", given.len()),
                    format!("expected {count} elements of {}", element.name()),
                ));
            }
        })
    }

    /// Compares what the buffer holds after the run with what was expected;
    /// `None` where nothing was.
    pub fn compare(&self, result: &[u8]) -> Result<Option<Comparison>> {
        let Some(expect) = &self.expect else {
            return Ok(None);
        };
        let expected = read(&expect.file, self.element, self.count)?;
        Ok(Some(compare(
            self.element,
            result,
            &expected,
            expect.tolerance,
        )))
    }

    /// The buffer in the form of a .npy file.
    pub fn to_npy(&self, bytes: &[u8]) -> Vec<u8> {
        npy::write(self.element, bytes)
    }
}

/// A .npy file, or a .raw one: the elements' bytes and nothing else.
fn read(path: &Path, element: Element, count: u64) -> Result<Vec<u8>> {
    let expected = count * element.size() as u64;
    let there = require_file(path)?.len();
    let is_npy = path.extension().is_some_and(|e| e == "npy");
    // Nothing is read that cannot be right.
    let wrong = if is_npy {
        there > expected + npy::MOST_HEADER
    } else {
        there != expected
    };
    if wrong {
        return Err(Error::usage(
            format!("{} has {there} bytes", shown_path(path)),
            format!(
                "expected {expected}{}: {count} elements of {}",
                if is_npy { " after a header" } else { "" },
                element.name()
            ),
        ));
    }
    let limit = Limit {
        bytes: expected + npy::MOST_HEADER,
        expected: "a .npy or .raw file",
    };
    let content = limit.read(path)?;
    match is_npy {
        true => npy::read(&content, path, element, count),
        // The file may have changed in between.
        false if content.len() as u64 == expected => Ok(content),
        false => Err(Error::usage(
            format!("{} has changed while it was read", shown_path(path)),
            "expected a file that does not change while it is read",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::{Expect, Random, Range};

    fn buffer(init: Init) -> Buffer {
        Buffer {
            element: Element::Unsigned(2),
            count: 4,
            init,
            expect: None,
        }
    }

    #[test]
    fn every_init_fills_the_whole_buffer() {
        let folder = tempfile::tempdir().unwrap();
        let (npy, raw) = (folder.path().join("a.npy"), folder.path().join("a.raw"));
        let bytes: Vec<u8> = (1..9).collect();
        std::fs::write(&npy, buffer(Init::Zeros).to_npy(&bytes)).unwrap();
        std::fs::write(&raw, &bytes).unwrap();
        let contents = |init| buffer(init).contents();
        assert_eq!(contents(Init::Zeros).unwrap(), [0; 8]);
        assert_eq!(contents(Init::Iota).unwrap(), [0, 0, 1, 0, 2, 0, 3, 0]);
        assert_eq!(
            contents(Init::Fill(vec![7, 8])).unwrap(),
            [7, 8, 7, 8, 7, 8, 7, 8]
        );
        assert_eq!(contents(Init::File(npy)).unwrap(), bytes);
        assert_eq!(contents(Init::File(raw.clone())).unwrap(), bytes);
        assert_eq!(contents(Init::Bytes(bytes.clone())).unwrap(), bytes);
        let range = Range::Integers(9, 9);
        let nines = contents(Init::Random(Random { seed: 1, range })).unwrap();
        assert_eq!(nines, [9, 0, 9, 0, 9, 0, 9, 0]);
        // Wrong sizes and missing files.
        std::fs::write(&raw, [0; 7]).unwrap();
        let error = contents(Init::File(raw)).unwrap_err();
        assert!(error.to_string().ends_with("a.raw has 7 bytes"), "{error}");
        assert!(contents(Init::Bytes(vec![0])).is_err());
        let missing = contents(Init::File(folder.path().join("b.npy"))).unwrap_err();
        assert_eq!(missing.exit_status(), 2);
    }

    #[test]
    fn a_result_is_compared_with_the_expected_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("e.raw");
        std::fs::write(&file, [1, 0, 2, 0, 3, 0, 4, 0]).unwrap();
        let mut expecting = buffer(Init::Zeros);
        assert_eq!(expecting.compare(&[0; 8]).unwrap(), None);
        let tolerance = 0.0;
        expecting.expect = Some(Expect { file, tolerance });
        let same = expecting
            .compare(&[1, 0, 2, 0, 3, 0, 4, 0])
            .unwrap()
            .unwrap();
        assert!(same.ok);
        let other = expecting
            .compare(&[1, 0, 2, 0, 3, 0, 6, 0])
            .unwrap()
            .unwrap();
        assert_eq!(
            (other.ok, other.first, other.max_error),
            (false, Some(3), 0.5)
        );
    }
}
