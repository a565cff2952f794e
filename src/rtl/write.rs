//! Writes a design into a directory.

use super::design::Design;
use crate::error::{Error, Result};
use crate::output::{MadeDirs, plain};
use std::fmt::Write as _;
use std::path::Path;

/// Writes the Verilog files, `filelist.f`, `spadkit.core` (FuseSoC) and
/// `manifest.json` into `dir`. Everything is first written into a hidden
/// directory inside `dir` (which may be a mount point: a rename would not
/// get there from beside it); only when all of it is there are the files
/// moved into place. If anything fails, what was in `dir` is as it was.
pub fn write_design(design: &Design, dir: &Path) -> Result<()> {
    if dir.exists() && !dir.is_dir() {
        let not_dir = std::io::ErrorKind::NotADirectory.into();
        return Err(Error::io("write into", dir, not_dir));
    }
    let made = MadeDirs::all(dir)?;
    let staging = tempfile::Builder::new()
        .prefix(".spadkit-emit")
        .tempdir_in(dir)
        .map_err(|e| Error::io("write into", dir, plain(e)))?;
    let files = all_files(design);
    for (name, text) in &files {
        let (path, place) = (staging.path().join(name), dir.join(name));
        std::fs::write(path, text).map_err(|e| Error::io("write", &place, e))?;
        if place.is_dir() {
            let is_dir = std::io::ErrorKind::IsADirectory.into();
            return Err(Error::io("write", &place, is_dir));
        }
    }
    for (name, _) in &files {
        let (from, to) = (staging.path().join(name), dir.join(name));
        std::fs::rename(from, &to).map_err(|e| Error::io("write", &to, e))?;
    }
    drop(staging);
    made.keep();
    Ok(())
}

fn all_files(design: &Design) -> Vec<(String, String)> {
    let verilog = design
        .files
        .iter()
        .map(|f| (f.name.clone(), f.text.clone()));
    let manifest = serde_json::to_string_pretty(&design.manifest()).expect("a JSON value") + "\n";
    let rest = [
        ("filelist.f".to_owned(), file_list(design)),
        ("spadkit.core".to_owned(), fusesoc_core(design)),
        ("manifest.json".to_owned(), manifest),
    ];
    verilog.chain(rest).collect()
}

/// A file list for `verilator -f`, `iverilog -c` and most other tools.
fn file_list(design: &Design) -> String {
    design.files.iter().fold(String::new(), |mut list, file| {
        let _ = writeln!(list, "{}", file.name);
        list
    })
}

/// A FuseSoC core description (CAPI2), one lint target per unit.
fn fusesoc_core(design: &Design) -> String {
    let mut core = format!(
        "CAPI=2:\nname: spadkit:scratchpad:{}:{}\n\
         description: Scratchpad path of a GPU streaming multiprocessor ({})\n\
         filesets:\n  rtl:\n    file_type: verilogSource\n    files:\n",
        design.preset,
        env!("CARGO_PKG_VERSION"),
        design.geometry
    );
    for file in &design.files {
        let _ = writeln!(core, "      - {}", file.name);
    }
    core.push_str("targets:\n  default: &default\n    filesets: [rtl]\n");
    for unit in &design.units {
        let name = &unit.name;
        let _ = write!(
            core,
            "  {name}:\n    <<: *default\n    default_tool: verilator\n    toplevel: {name}\n    \
             tools:\n      verilator:\n        mode: lint-only\n"
        );
    }
    core
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn writes_all_files_and_replaces_old_ones() {
        let config = Config::preset("small").unwrap();
        let design = Design::emit(&["spad_hash_config".into()], &config).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("a/b");
        write_design(&design, &dir).unwrap();
        std::fs::write(dir.join("spad_hash_config.v"), "old").unwrap();
        write_design(&design, &dir).unwrap();
        let text = std::fs::read_to_string(dir.join("spad_hash_config.v")).unwrap();
        assert!(text.contains("module spad_hash_config ("));
        let manifest: serde_json::Value =
            serde_json::from_slice(&std::fs::read(dir.join("manifest.json")).unwrap()).unwrap();
        assert_eq!(manifest["units"][0]["ports"][0]["name"], "clk");
        // Nothing but the result is left beside the directory.
        assert_eq!(
            std::fs::read_dir(scratch.path().join("a")).unwrap().count(),
            1
        );
    }

    #[test]
    fn a_file_in_the_way_is_reported() {
        let config = Config::preset("small").unwrap();
        let design = Design::emit(&["spad_rap".into()], &config).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(write_design(&design, file.path()).is_err());
    }

    #[test]
    fn a_directory_in_the_way_leaves_everything_as_it_was() {
        let config = Config::preset("small").unwrap();
        let units = ["spad_hash_add".into(), "spad_rap".into()];
        let design = Design::emit(&units, &config).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        std::fs::create_dir(scratch.path().join("spad_rap.v")).unwrap();
        assert!(write_design(&design, scratch.path()).is_err());
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 1);
        assert!(write_design(&design, &scratch.path().join("spad_rap.v/new")).is_ok());
    }
}
