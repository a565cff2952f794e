//! Machine configurations: the presets of the papers and configuration files.

use crate::error::{Error, Result};
use crate::geometry::Geometry;
use crate::hash::HashKind;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Everything that describes one machine.
///
/// A configuration file is TOML and gives `[geometry]` and `[hash]`; what it
/// leaves out comes from its `base` preset (`fermi` unless named).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Config {
    /// Name of the preset or of the file's machine.
    pub name: String,
    /// Address and bank bits.
    pub geometry: Geometry,
    /// Lanes that access the scratchpad in one pass.
    pub lanes: u32,
    /// Threads of a warp; a warp access takes `warp_size / lanes` passes.
    pub warp_size: u32,
    /// Bits of one scratchpad word.
    pub word_bits: u32,
    /// Scratchpad capacity in words; at most 2^n.
    pub capacity_words: u32,
    /// The configurable hash unit that the SM has.
    pub hash_unit: HashKind,
}

/// The names of the presets.
pub const PRESETS: [&str; 3] = ["fermi", "gt200", "small"];

impl Config {
    /// A preset by name: `fermi` (hash and atomics papers), `gt200` (elastic
    /// paper, Table 4), `small` (for quick runs).
    pub fn preset(name: &str) -> Result<Self> {
        let (addr_bits, bank_bits, lanes, capacity_words) = match name {
            "fermi" => (14, 5, 32, 48 * 1024 / 4),
            "gt200" => (12, 3, 8, 16 * 1024 / 4),
            "small" => (10, 3, 8, 1024),
            _ => {
                return Err(Error::usage(
                    format!("there is no preset '{name}'"),
                    format!("presets are {}", PRESETS.join(", ")),
                ));
            }
        };
        Ok(Config {
            name: name.to_owned(),
            geometry: Geometry::new(addr_bits, bank_bits)?,
            lanes,
            warp_size: 32,
            word_bits: 32,
            capacity_words,
            hash_unit: HashKind::Matrix,
        })
    }

    /// Reads a configuration file.
    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
        Self::from_toml(&text, path)
    }

    /// Parses a configuration file's text; `path` is for messages.
    pub fn from_toml(text: &str, path: &Path) -> Result<Self> {
        let file: ConfigFile = toml::from_str(text).map_err(|e| {
            let offset = e.span().map_or(0, |s| s.start);
            Error::input(e.message().to_owned(), None, path, text, offset)
        })?;
        let base = Config::preset(file.base.as_deref().unwrap_or("fermi"))?;
        let g = file.geometry;
        let geometry = Geometry::new(
            g.addr_bits.unwrap_or(base.geometry.addr_bits()),
            g.bank_bits.unwrap_or(base.geometry.bank_bits()),
        )?;
        // A geometry of its own comes with a full scratchpad, unless said otherwise.
        let default_capacity = if geometry == base.geometry {
            base.capacity_words
        } else {
            geometry.words() as u32
        };
        let config = Config {
            name: file.name.unwrap_or_else(|| base.name.clone()),
            geometry,
            lanes: g.lanes.unwrap_or(base.lanes),
            warp_size: g.warp_size.unwrap_or(base.warp_size),
            word_bits: g.word_bits.unwrap_or(base.word_bits),
            capacity_words: g.capacity_words.unwrap_or(default_capacity),
            hash_unit: file.hash.unit.unwrap_or(base.hash_unit),
        };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        let bad = |what: String, help: &str| Err(Error::usage(what, help));
        if !(1..=64).contains(&self.warp_size) || !self.warp_size.is_power_of_two() {
            return bad(
                format!("warp_size {} is not supported", self.warp_size),
                "expected a power of two from 1 to 64",
            );
        }
        if self.lanes == 0 || self.lanes > self.warp_size || !self.lanes.is_power_of_two() {
            return bad(
                format!(
                    "{} lanes do not divide a warp of {}",
                    self.lanes, self.warp_size
                ),
                "expected a power of two, at most warp_size",
            );
        }
        if ![32, 64].contains(&self.word_bits) {
            return bad(
                format!("word_bits {} is not supported", self.word_bits),
                "expected 32 or 64",
            );
        }
        if self.capacity_words == 0 || self.capacity_words as usize > self.geometry.words() {
            return bad(
                format!(
                    "capacity_words {} does not fit {}",
                    self.capacity_words, self.geometry
                ),
                "expected 1 to 2^addr_bits words",
            );
        }
        Ok(())
    }

    /// The first address bit that may not be a pivot (DESIGN: log2 of the
    /// largest power of two that divides the capacity). Rows beyond the
    /// capacity would be addressed otherwise.
    pub fn pivot_limit(&self) -> u32 {
        self.capacity_words
            .trailing_zeros()
            .min(self.geometry.addr_bits())
    }

    /// Bytes of one word.
    pub fn word_bytes(&self) -> u32 {
        self.word_bits / 8
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    name: Option<String>,
    base: Option<String>,
    #[serde(default)]
    geometry: GeometrySection,
    #[serde(default)]
    hash: HashSection,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct GeometrySection {
    addr_bits: Option<u32>,
    bank_bits: Option<u32>,
    lanes: Option<u32>,
    warp_size: Option<u32>,
    word_bits: Option<u32>,
    capacity_words: Option<u32>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct HashSection {
    unit: Option<HashKind>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fermi_forbids_pivots_above_the_capacity() {
        let fermi = Config::preset("fermi").unwrap();
        assert_eq!(fermi.pivot_limit(), 12);
        assert_eq!(Config::preset("gt200").unwrap().pivot_limit(), 12);
    }

    #[test]
    fn a_file_overrides_its_base_and_errors_point_into_it() {
        let path = Path::new("m.toml");
        let c = Config::from_toml("[geometry]\naddr_bits = 9\nbank_bits = 3\n", path).unwrap();
        assert_eq!(c.capacity_words, 512);
        let e = Config::from_toml("[geometry]\naddr_bitz = 9\n", path).unwrap_err();
        assert!(e.to_string().contains("m.toml:2:1"), "{e}");
        assert!(Config::from_toml("[geometry]\naddr_bits = 40\n", path).is_err());
    }
}
