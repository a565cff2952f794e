//! Technologies: a cell library and what surrounds a unit in it.

use super::liberty::Liberty;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The technology that is used unless another is named.
pub const DEFAULT_TECHNOLOGY: &str = "osu018";

const PRESETS: [&str; 2] = [
    include_str!("../../synth/technologies/nangate45.toml"),
    include_str!("../../synth/technologies/osu018.toml"),
];

/// The kit's knowledge about a technology by name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TechnologyPreset {
    /// The name on the command line.
    pub name: String,
    /// The name for people.
    pub title: String,
    /// The name of the library inside its Liberty file.
    pub library: String,
    /// Places where its Liberty file may be.
    pub files: Vec<PathBuf>,
    /// Instructions to get it.
    pub how_to_get: String,
    /// The cell that drives every input.
    pub driving_cell: String,
    /// The load of every output in fF.
    pub load_ff: f64,
    /// Memory macros, where they are not scaled by FO4 delays.
    pub memory: Option<MemoryTiming>,
}

/// Times of a memory macro.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryTiming {
    /// Delay from the clock's rising edge to the output in ps.
    pub clock_to_output_ps: f64,
    /// Set-up time of the inputs, in ps.
    pub setup_ps: f64,
}

impl MemoryTiming {
    /// Delay from the clock to the output: [`MemoryTiming`] of nangate45, in FO4
    /// delays of that library.
    const CLOCK_TO_OUTPUT_FO4: f64 = 20.5;
    const SETUP_FO4: f64 = 4.5;

    /// Scaled to a library's FO4 delay in ps; if that is unknown, the timing at 45 nm.
    fn scaled(fo4_ps: Option<f64>) -> Self {
        let fo4_ps = fo4_ps.unwrap_or(22.0);
        MemoryTiming {
            clock_to_output_ps: (Self::CLOCK_TO_OUTPUT_FO4 * fo4_ps).round(),
            setup_ps: (Self::SETUP_FO4 * fo4_ps).round(),
        }
    }
}

/// The source of the cells.
#[derive(Clone, Debug)]
pub enum CellLibrary {
    /// A Liberty file.
    Liberty(PathBuf),
    /// A technology by name.
    Technology(String),
}

impl CellLibrary {
    /// Reads the cells.
    pub fn load(&self) -> Result<Technology> {
        match self {
            CellLibrary::Liberty(path) => Technology::load(path),
            CellLibrary::Technology(name) => Technology::named(name),
        }
    }
}

/// A cell library, and the cells and loads around a unit.
#[derive(Clone, Debug)]
pub struct Technology {
    /// Name of the preset, or of the library.
    pub name: String,
    /// The library.
    pub liberty: Liberty,
    /// The cell that drives every input.
    pub driving_cell: String,
    /// The load of every output in fF.
    pub load_ff: f64,
    /// Area of the smallest two-input NAND in µm²: the unit of gate counts.
    pub nand2_um2: Option<f64>,
    /// Times of the memory macros.
    pub memory: MemoryTiming,
}

/// A technology in reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TechnologySummary {
    /// Name of the preset, or of the library.
    pub name: String,
    /// The library's name in its file.
    pub library: String,
    /// The cell that drives every input.
    pub driving_cell: String,
    /// The load of every output in fF.
    pub load_ff: f64,
    /// Area of the smallest two-input NAND in µm².
    pub nand2_um2: Option<f64>,
    /// Delay of an inverter that drives four like itself in ps.
    pub fo4_ps: Option<f64>,
    /// Times of the memory macros.
    pub memory: MemoryTiming,
    /// The library's default wire load, which OpenSTA's figures contain; null
    /// if it has none: then wires load nothing. ABC's figures have no wires.
    pub wire_load: Option<String>,
}

impl TechnologyPreset {
    /// All presets, by name.
    pub fn all() -> Vec<TechnologyPreset> {
        let parse = |text| toml::from_str(text).expect("the presets are valid: a test parses them");
        PRESETS.map(parse).into()
    }

    /// The path of its Liberty file: the first of `NAME.lib` and `NAME.lib.gz`
    /// in `$SPADKIT_LIBERTY_DIR`, then in the folders that packages use.
    pub fn find(&self) -> Option<PathBuf> {
        let own = std::env::var_os("SPADKIT_LIBERTY_DIR").filter(|d| !d.is_empty());
        let own = own.into_iter().flat_map(|directory| {
            let file = |end| Path::new(&directory).join(format!("{}.{end}", self.name));
            [file("lib"), file("lib.gz")]
        });
        own.chain(self.files.iter().cloned()).find(|f| f.is_file())
    }
}

impl Technology {
    /// A technology by name.
    pub fn named(name: &str) -> Result<Self> {
        let presets = TechnologyPreset::all();
        let Some(preset) = presets.iter().find(|p| p.name == name) else {
            let names: Vec<&str> = presets.iter().map(|p| p.name.as_str()).collect();
            return Err(Error::usage(
                format!("there is no technology '{name}'"),
                format!(
                    "technologies are {}; --liberty FILE takes any other",
                    names.join(", ")
                ),
            ));
        };
        match preset.find() {
            Some(path) => Self::load(&path),
            None => Err(Error::ToolMissing {
                tool: format!("the cell library {name} ({})", preset.title),
                help: format!(
                    "{}; --liberty FILE takes it, or any other, from elsewhere, and {name}.lib in SPADKIT_LIBERTY_DIR is found",
                    preset.how_to_get
                ),
            }),
        }
    }

    /// The technology of a Liberty file. A library that a preset knows gets
    /// the preset's surroundings; any other is driven by its smallest buffer
    /// and loaded with three inputs of its smallest inverter.
    pub fn load(path: &Path) -> Result<Self> {
        Self::of(Liberty::load(path)?)
    }

    /// The technology of a library.
    pub fn of(liberty: Liberty) -> Result<Self> {
        let presets = TechnologyPreset::all();
        let preset = presets.into_iter().find(|p| p.library == liberty.name);
        let nand2_um2 = liberty.nand2().map(|c| c.area_um2);
        let memory = preset.as_ref().and_then(|p| p.memory);
        let memory = memory.unwrap_or_else(|| MemoryTiming::scaled(liberty.fo4_ps));
        let (name, driving_cell, load_ff) = match preset {
            Some(p) => (p.name, p.driving_cell, p.load_ff),
            None => {
                let buffer = liberty.buffer().or(liberty.inverter());
                let buffer = buffer.ok_or_else(|| lacks(&liberty, "no buffer and no inverter"))?;
                let input = liberty.inverter().unwrap_or(buffer).input_capacitance_ff();
                (liberty.name.clone(), buffer.name.clone(), 3.0 * input)
            }
        };
        if !liberty.cells.contains_key(&driving_cell) {
            return Err(lacks(
                &liberty,
                &format!("no cell {driving_cell}, which {name} drives inputs with"),
            ));
        }
        Ok(Technology {
            name,
            liberty,
            driving_cell,
            load_ff,
            nand2_um2,
            memory,
        })
    }

    /// The technology for reports.
    pub fn summary(&self) -> TechnologySummary {
        TechnologySummary {
            name: self.name.clone(),
            library: self.liberty.name.clone(),
            driving_cell: self.driving_cell.clone(),
            load_ff: self.load_ff,
            nand2_um2: self.nand2_um2,
            fo4_ps: self.liberty.fo4_ps,
            memory: self.memory,
            wire_load: self.liberty.wire_load.clone(),
        }
    }
}

fn lacks(liberty: &Liberty, what: &str) -> Error {
    Error::usage(
        format!(
            "the library {} ({}) has {what}",
            liberty.name,
            liberty.path.display()
        ),
        "expected a library of standard cells, with inverters, buffers and NAND gates",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: &str = include_str!("../../../../tests/fixtures/tiny.lib");

    fn technology(text: &str) -> Result<Technology> {
        Technology::of(Liberty::parse(text.to_owned(), Path::new("x.lib"))?)
    }

    #[test]
    fn presets_are_valid() {
        let names: Vec<String> = TechnologyPreset::all()
            .into_iter()
            .map(|p| p.name)
            .collect();
        assert_eq!(names, ["nangate45", "osu018"]);
        assert!(names.iter().any(|n| n == DEFAULT_TECHNOLOGY));
    }

    #[test]
    fn an_unknown_library_gets_its_own_surroundings() {
        let tiny = technology(TINY).unwrap();
        assert_eq!(tiny.driving_cell, "BUF_B");
        assert_eq!(tiny.load_ff, 6.0);
        assert_eq!(tiny.nand2_um2, Some(1.5));
        assert_eq!(tiny.summary().name, "tiny");
    }

    #[test]
    fn a_library_without_the_driving_cell_is_refused() {
        let wrong = TINY.replace("library (tiny)", "library (osu018_stdcells)");
        let error = technology(&wrong).unwrap_err();
        assert!(error.to_string().contains("no cell BUFX2"), "{error}");
        let only_flops = "library (l) { cell (F) { area : 1; ff (a, b) { } } }";
        let error = technology(only_flops).unwrap_err();
        assert!(error.to_string().contains("no buffer"), "{error}");
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = Technology::named("osu999").unwrap_err();
        assert_eq!(error.exit_status(), 2);
    }
}
