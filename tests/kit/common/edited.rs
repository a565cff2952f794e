//! Emitted Verilog with an edit, as somebody makes it by hand.

use super::spadkit;
use tempfile::TempDir;

/// The Verilog of some units of a preset in a folder, with an edit in one file.
pub struct Edited(TempDir);

impl Edited {
    /// Emits `units` and replaces the first `from` in `file` by `to`.
    pub fn new(preset: &str, units: &[&str], file: &str, [from, to]: [&str; 2]) -> Self {
        Edited::of(["--preset", preset], units, file, [from, to])
    }

    /// The same of the machine that these two arguments name.
    pub fn of(machine: [&str; 2], units: &[&str], file: &str, [from, to]: [&str; 2]) -> Self {
        let edited = Edited(tempfile::tempdir().unwrap());
        let options = ["--bench-cycles", "0", "-q", "-o", edited.path()];
        let args = [&["emit"], units, &machine[..], &options].concat();
        spadkit(&args).assert().success();
        let file = edited.0.path().join(file);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{}: {from}", file.display());
        std::fs::write(file, text.replacen(from, to, 1)).unwrap();
        edited
    }

    pub fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }
}
