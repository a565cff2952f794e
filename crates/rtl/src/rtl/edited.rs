//! Verilog that the user has edited, which replaces the emitted files.

use super::design::Design;
use super::foreign::read_foreign;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::quote::shown_path;
use std::path::Path;

impl Design {
    /// `units` of `machine`; if none is named, all whose files are in `dir`.
    /// The text is still what would be emitted.
    pub fn of_folder(units: &[String], machine: &Config, dir: &Path) -> Result<Self> {
        let design = Design::emit(units, machine)?;
        if !units.is_empty() {
            return Ok(design);
        }
        let design = design.retain_units_in(dir);
        if design.units.is_empty() {
            Err(Error::usage(
                format!("{} has no unit of {}", shown_path(dir), machine.name),
                "expected a folder with Verilog from `spadkit emit`, one MODULE.v per module; \
                 --preset or --config names the machine that it was emitted for",
            ))
        } else {
            Ok(design)
        }
    }

    /// Takes the text of every file from `dir`, under the name that it was
    /// emitted with. A file that is not there is an error.
    ///
    /// For tools that only read Verilog: the files are not checked for
    /// constructs that a simulator would execute.
    pub fn with_files_of(mut self, dir: &Path) -> Result<Self> {
        let names: Vec<String> = self.files.iter().map(|f| f.name.clone()).collect();
        self.files = read_foreign(&names, dir, true)?;
        Ok(self)
    }

    /// Keeps the units whose files all are in `dir`.
    pub fn retain_units_in(mut self, dir: &Path) -> Self {
        let there = |file: &String| dir.join(file).is_file();
        self.units.retain(|unit| unit.files.iter().all(there));
        let needed = |name: &String| self.units.iter().any(|u| u.files.contains(name));
        self.files.retain(|file| needed(&file.name));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_come_from_the_folder_as_far_as_they_are_there() {
        let machine = Config::preset("small").unwrap();
        let names = ["spad_hash_xor", "spad_row_map"].map(str::to_owned);
        let design = Design::emit(&names, &machine).unwrap();
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("spad_hash_xor.v"), "edited").unwrap();

        let there = design.clone().retain_units_in(dir.path());
        assert_eq!(there.units.len(), 1);
        let edited = there.with_files_of(dir.path()).unwrap();
        assert_eq!(edited.files.len(), 1);
        assert_eq!(edited.files[0].text, "edited");

        let missing = design.with_files_of(dir.path()).unwrap_err();
        assert_eq!(missing.exit_status(), 2);
        assert!(missing.to_string().contains("spad_row_map.v"), "{missing}");
    }
}
