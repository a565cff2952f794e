//! Writes a design into a directory.

use super::design::Design;
use crate::error::{Error, Result};
use std::fmt::Write as _;
use std::path::Path;

/// Writes the Verilog files, `filelist.f`, `spadkit.core` (FuseSoC) and
/// `manifest.json` into `dir`. Everything is first written beside `dir`; only
/// when all of it is there are the files moved into place.
pub fn write_design(design: &Design, dir: &Path) -> Result<()> {
    if dir.exists() && !dir.is_dir() {
        let not_dir = std::io::ErrorKind::NotADirectory.into();
        return Err(Error::io("write into", dir, not_dir));
    }
    let parent = match dir.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(parent).map_err(|e| Error::io("create", parent, e))?;
    let staging = tempfile::Builder::new()
        .prefix(".spadkit-emit")
        .tempdir_in(parent)
        .map_err(|e| Error::io("create a directory beside", dir, e))?;
    let files = all_files(design);
    for (name, text) in &files {
        let path = staging.path().join(name);
        std::fs::write(&path, text).map_err(|e| Error::io("write", &path, e))?;
    }
    std::fs::create_dir_all(dir).map_err(|e| Error::io("create", dir, e))?;
    for (name, _) in &files {
        let (from, to) = (staging.path().join(name), dir.join(name));
        std::fs::rename(from, &to).map_err(|e| Error::io("write", &to, e))?;
    }
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
}
