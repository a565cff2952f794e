//! A cell library as a whole.

use super::cell::{Cell, Direction};
use super::syntax::{self, Group};
use super::table::InverterArc;
use crate::error::{Error, Result};
use crate::input::{self, Limit};
use crate::quote::is_plain;
use crate::tool::KeyBuilder;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// No cell library is larger.
const LIMIT: Limit = Limit {
    bytes: 1 << 30,
    expected: "a Liberty file (.lib), or one packed with gzip",
};
/// The first bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Truth tables over (first input, second input).
const BUFFER: (usize, u64) = (1, 0b10);
const INVERTER: (usize, u64) = (1, 0b01);
const NAND2: (usize, u64) = (2, 0b0111);

/// A Liberty cell library.
#[derive(Clone, Debug)]
pub struct Liberty {
    /// The name in the file.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The text, decompressed.
    pub text: String,
    /// Names the text, for the keys of caches.
    pub digest: String,
    /// The cells by name.
    pub cells: BTreeMap<String, Cell>,
    /// Delay of an inverter that drives four like itself, in ps; `None` if
    /// the tables of the smallest inverter are not in the usual form.
    pub fo4_ps: Option<f64>,
    /// The default wire-load model unless told otherwise; `None` if it has no
    /// `default_wire_load` among its `wire_load` groups.
    pub wire_load: Option<String>,
}

impl Liberty {
    /// Reads a `.lib` file, or a `.lib.gz`, or one of them from standard input
    /// (`-`).
    pub fn load(path: &Path) -> Result<Self> {
        let packed = |bytes: &[u8]| bytes.starts_with(&GZIP);
        let mut bytes = LIMIT.read_if(path, |head| packed(head) || !head.contains(&0))?;
        let path = input::name_of(path);
        if packed(&bytes) {
            let refuse = |what: String| {
                let what = format!("{} {what}", path.display());
                Error::usage(what, format!("expected {}", LIMIT.expected))
            };
            let mut inside = Vec::new();
            flate2::read::MultiGzDecoder::new(bytes.as_slice())
                .take(LIMIT.bytes + 1)
                .read_to_end(&mut inside)
                .map_err(|e| refuse(format!("cannot be decompressed: {e}")))?;
            if inside.len() as u64 > LIMIT.bytes {
                return Err(refuse("is larger than 1 GiB when decompressed".to_owned()));
            }
            bytes = inside;
        }
        // Comments may be in an old encoding; names are ASCII.
        Self::parse(String::from_utf8_lossy(&bytes).into_owned(), path)
    }

    /// Parses the text of a library; `path` is for messages.
    pub fn parse(text: String, path: &Path) -> Result<Self> {
        let library = syntax::parse(&text, path)?;
        let ff = femtofarads_per_unit(&library, path, &text)?;
        let ps = picoseconds_per_unit(&library, path, &text)?;
        let mut cells = BTreeMap::new();
        for group in library.groups("cell") {
            let cell = Cell::read(group, ff).ok_or_else(|| {
                let what = format!("cell {}: area is not a number", group.label());
                Error::input(what, None, path, &text, group.offset)
            })?;
            // They go into the scripts of tools.
            if !is_plain(&cell.name) {
                let what = format!("the cell name '{}' is not supported", cell.name);
                let help = "expected letters, digits, '_', '-' and '.'".to_owned();
                return Err(Error::input(what, Some(help), path, &text, group.offset));
            }
            cells.insert(cell.name.clone(), cell);
        }
        if cells.is_empty() {
            let help = "expected a library with 'cell (NAME) { ... }' groups".to_owned();
            let what = "the library has no cells";
            return Err(Error::input(what, Some(help), path, &text, library.offset));
        }
        let fo4_ps = smallest(&cells, INVERTER)
            .and_then(|inverter| fo4(&library, inverter, ff))
            .map(|delay| delay * ps);
        Ok(Liberty {
            name: library.label().to_owned(),
            path: path.to_owned(),
            cells,
            fo4_ps,
            wire_load: wire_load(&library, path, &text)?,
            digest: KeyBuilder::new("liberty")
                .add("text", &text)
                .finish()
                .to_string(),
            text,
        })
    }

    /// The smallest buffer.
    pub fn buffer(&self) -> Option<&Cell> {
        smallest(&self.cells, BUFFER)
    }

    /// The smallest inverter.
    pub fn inverter(&self) -> Option<&Cell> {
        smallest(&self.cells, INVERTER)
    }

    /// The smallest two-input NAND.
    pub fn nand2(&self) -> Option<&Cell> {
        smallest(&self.cells, NAND2)
    }
}

/// The smallest cell of a function; of equals, the one with the least input
/// capacitance, then the first by name.
fn smallest(cells: &BTreeMap<String, Cell>, function: (usize, u64)) -> Option<&Cell> {
    cells
        .values()
        .filter(|c| !c.dont_use && c.area_um2 > 0.0 && c.truth_table() == Some(function))
        .min_by(|a, b| {
            let key = |c: &Cell| (c.area_um2, c.input_capacitance_ff());
            key(a)
                .partial_cmp(&key(b))
                .unwrap_or(std::cmp::Ordering::Equal)
        })
}

/// FO4 delay in the library's time unit.
fn fo4(library: &Group<'_>, inverter: &Cell, ff_per_unit: f64) -> Option<f64> {
    let cell = library
        .groups("cell")
        .find(|c| c.label() == inverter.name)?;
    let output = inverter
        .pins
        .iter()
        .find(|p| p.direction == Direction::Output)?;
    let pin = cell.groups("pin").find(|p| p.label() == output.name)?;
    let arc = InverterArc::read(pin.groups("timing").next()?, library)?;
    let load = 4.0 * inverter.input_capacitance_ff() / ff_per_unit;
    Some(arc.chain_delay(load))
}

/// The name of the default wire load.
fn wire_load(library: &Group<'_>, path: &Path, text: &str) -> Result<Option<String>> {
    let named = library.get("default_wire_load");
    let group = named.and_then(|n| library.groups("wire_load").find(|g| g.label() == n));
    let Some(group) = group else {
        return Ok(None);
    };
    // Both go into the scripts of tools.
    for name in [group.label(), library.label()] {
        if !is_plain(name) {
            let what = format!("the name '{name}' is not supported in a library with a wire load");
            let help = "expected letters, digits, '_', '-' and '.'".to_owned();
            return Err(Error::input(what, Some(help), path, text, group.offset));
        }
    }
    Ok(Some(group.label().to_owned()))
}

/// `capacitive_load_unit (1, pf)` in fF.
fn femtofarads_per_unit(library: &Group<'_>, path: &Path, text: &str) -> Result<f64> {
    let unit = library.get_complex("capacitive_load_unit");
    let parsed = match unit {
        None => Some(1000.0), // Liberty's default is 1 pF
        Some([number, unit]) => {
            let scale = match unit.to_ascii_lowercase().as_str() {
                "ff" => Some(1.0),
                "pf" => Some(1000.0),
                _ => None,
            };
            number.parse::<f64>().ok().zip(scale).map(|(n, s)| n * s)
        }
        Some(_) => None,
    };
    let help = "expected: capacitive_load_unit (1, ff) or (1, pf)".to_owned();
    parsed.filter(|u| *u > 0.0).ok_or_else(|| {
        let what = "capacitive_load_unit is not understood";
        Error::input(what, Some(help), path, text, library.offset)
    })
}

/// `time_unit : "1ns"` in ps.
fn picoseconds_per_unit(library: &Group<'_>, path: &Path, text: &str) -> Result<f64> {
    let unit = library.get("time_unit").unwrap_or("1ns");
    let digits = unit.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &unit[digits.len()..] {
        "ps" => Some(1.0),
        "ns" => Some(1000.0),
        _ => None,
    };
    let parsed = digits.trim().parse::<f64>().ok().zip(scale);
    parsed
        .map(|(n, s)| n * s)
        .filter(|u| *u > 0.0)
        .ok_or_else(|| {
            let what = format!("time_unit '{unit}' is not understood");
            let help = "expected a number and ns or ps, such as \"1ns\"".to_owned();
            Error::input(what, Some(help), path, text, library.offset)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const TINY: &str = include_str!("../../../../../tests/fixtures/tiny.lib");

    fn parse(text: &str) -> Result<Liberty> {
        Liberty::parse(text.to_owned(), Path::new("x.lib"))
    }

    #[test]
    fn finds_the_reference_cells_by_function() {
        let lib = parse(TINY).unwrap();
        assert_eq!(lib.name, "tiny");
        assert_eq!(lib.inverter().unwrap().name, "INV");
        assert_eq!(lib.buffer().unwrap().name, "BUF_B"); // not the three-state one
        assert_eq!(lib.nand2().unwrap().name, "ND2"); // not the forbidden one
        assert!(lib.cells["FF"].flop && lib.cells["FF"].sequential);
        assert!(!lib.cells["ND2"].sequential);
        // Delay 5 + load, load 4 x 2 fF.
        assert!((lib.fo4_ps.unwrap() - 13.0).abs() < 1e-9);
    }

    #[test]
    fn units_are_converted() {
        let pf = TINY.replace("(1, ff)", "(2, pf)").replace("1ps", "10ns");
        let lib = parse(&pf).unwrap();
        assert_eq!(lib.inverter().unwrap().input_capacitance_ff(), 4000.0);
        assert!((lib.fo4_ps.unwrap() - 130_000.0).abs() < 1e-6);
        assert!(parse(&TINY.replace("(1, ff)", "(1, bushels)")).is_err());
        assert!(parse(&TINY.replace("1ps", "soon")).is_err());
        let error = parse(&TINY.replace("area : 1.5", "area : big")).unwrap_err();
        assert!(
            error.to_string().contains("cell ND2: area is not a number"),
            "{error}"
        );
    }

    #[test]
    fn the_default_wire_load_is_one_that_the_library_has() {
        let with = |text: &str| TINY.replacen("cell (", &format!("{text} cell ("), 1);
        let load = |text: &str| parse(&with(text)).map(|l| l.wire_load);
        let small = "wire_load (\"small\") { capacitance : 1; }";
        assert_eq!(load(small).unwrap(), None);
        let default = |name| format!("{small} default_wire_load : \"{name}\";");
        assert_eq!(load(&default("small")).unwrap().as_deref(), Some("small"));
        assert_eq!(load(&default("large")).unwrap(), None);
        let odd = default("small").replace("small", "s[exit]");
        assert!(load(&odd).unwrap_err().to_string().contains("s[exit]"));
    }

    /// Tcl, ABC and Yosys would all make something else of them.
    #[test]
    fn cell_names_that_are_more_than_a_name_are_refused() {
        for name in [
            "BUF B",
            "B;exec",
            "B[exec x]",
            "$env(HOME)",
            "B{",
            "a\\b",
            "B\u{1b}",
            "-B",
        ] {
            let text = TINY.replace("cell (BUF_B)", &format!("cell (\"{name}\")"));
            assert_ne!(text, TINY);
            let error = parse(&text).unwrap_err().to_string();
            assert!(
                error.contains("is not supported at x.lib:"),
                "{name}: {error}"
            );
        }
    }

    #[test]
    fn libraries_without_cells_or_tables() {
        assert!(
            parse("library (l) { }")
                .unwrap_err()
                .to_string()
                .contains("no cells")
        );
        let no_tables = TINY.replace("cell_rise", "cell_nothing");
        assert!(parse(&no_tables).unwrap().fo4_ps.is_none());
        let no_slews = TINY.replace("index_1 (\"1, 100\")", "index_1 (\"100, 1\")");
        assert!(parse(&no_slews).unwrap().fo4_ps.is_none());
    }

    #[test]
    fn packed_files_are_read_and_broken_ones_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tiny.lib.gz");
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        packer.write_all(TINY.as_bytes()).unwrap();
        let packed = packer.finish().unwrap();
        std::fs::write(&path, &packed).unwrap();
        assert_eq!(Liberty::load(&path).unwrap().cells.len(), 8);
        std::fs::write(&path, &packed[..packed.len() / 2]).unwrap();
        let error = Liberty::load(&path).unwrap_err();
        assert!(
            error.to_string().contains("cannot be decompressed"),
            "{error}"
        );
        assert_eq!(error.exit_status(), 2);
        assert_eq!(Liberty::load(dir.path()).unwrap_err().exit_status(), 2);
        assert!(Liberty::load(&dir.path().join("none.lib")).is_err());
    }
}
