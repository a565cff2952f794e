//! Writes a design into a folder.

use super::design::{Design, SourceFile};
use super::source_map::source_map;
use super::{bender, constraints, fusesoc};
use crate::error::Result;
use crate::output::{OwnedFile, OwnedFolder};

/// The files of an emission: the Verilog, `filelist.f`, `spadkit.core`
/// (FuseSoC), `Bender.yml`, `manifest.json`, constraints in `sdc/`, the test benches in `tb/`
/// and SystemVerilog with `filelist_sv.f` where the design has them, and source
/// maps where it wants them.
pub fn design_files(design: &Design) -> Vec<OwnedFile> {
    let manifest = serde_json::to_string_pretty(&design.manifest()).expect("a JSON value") + "\n";
    let sources = design.files.iter().chain(&design.system);
    let sources = sources.chain(&design.benches);
    let mut files: Vec<OwnedFile> = sources
        .map(|f| OwnedFile::new(f.name.clone(), f.text.clone()))
        .collect();
    if design.source_map {
        let described = design.files.iter().chain(&design.system);
        let map = |f: &SourceFile| Some(OwnedFile::new(format!("{}.map", f.name), source_map(f)?));
        files.extend(described.filter_map(map));
    }
    files.extend(constraints::files(design));
    files.push(OwnedFile::new("filelist.f", file_list(&design.files)));
    let beside = |file: &&SourceFile| design.files.iter().all(|f| f.module() != file.module());
    let mut all = design.in_system_verilog(&design.files);
    all.extend(design.system.iter().filter(beside).cloned());
    if !design.system.is_empty() {
        files.push(OwnedFile::new("filelist_sv.f", file_list(&all)));
    }
    files.push(OwnedFile::new("Bender.yml", bender::manifest(design, &all)));
    files.push(OwnedFile::new("spadkit.core", fusesoc::core(design)));
    files.push(OwnedFile::new("manifest.json", manifest));
    files
}

/// Makes `folder` hold the [`design_files`], and of the kit's files no others.
pub fn write_design(design: &Design, folder: &OwnedFolder) -> Result<()> {
    folder.write(&design_files(design))
}

/// A file list for `verilator -F`, `iverilog -f` and most other tools.
fn file_list(files: &[SourceFile]) -> String {
    let names = files.iter().map(|file| format!("{}\n", file.name));
    format!(
        "// SPDX-License-Identifier: MIT OR Apache-2.0\n\
         // Paths are relative to this folder. From any other one: verilator -F, vcs -F,\n\
         // xrun -F, vlog -F FOLDER/filelist.f. Icarus Verilog has no -F: iverilog -y FOLDER\n\
         // (each module is in the file of its name), or cd FOLDER; iverilog -f filelist.f.\n\
         {}",
        names.collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_folder_holds_what_was_asked_for_last() {
        let config = Config::preset("small").unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("a/b");
        let folder = OwnedFolder::new(&dir, false);
        let emit = |unit: &str| {
            let design = Design::emit(&[unit.to_owned()], &config).unwrap();
            write_design(&design, &folder)
        };
        emit("spad_hash_config").unwrap();
        emit("spad_rap").unwrap();
        assert!(!dir.join("spad_hash_config.v").exists());
        assert!(!dir.join("sdc/spad_hash_config.sdc").exists());
        let text = std::fs::read_to_string(dir.join("spad_rap.v")).unwrap();
        assert!(text.contains("module spad_rap ("));
        let manifest: serde_json::Value =
            serde_json::from_slice(&std::fs::read(dir.join("manifest.json")).unwrap()).unwrap();
        assert_eq!(manifest["units"][0]["ports"][0]["name"], "addr");
        // An edit is not lost.
        std::fs::write(dir.join("spad_rap.v"), "mine").unwrap();
        assert!(emit("spad_hash_config").is_err());
        assert!(!dir.join("spad_hash_config.v").exists());
        // No temporary folder is left next to the directory.
        assert_eq!(
            std::fs::read_dir(scratch.path().join("a")).unwrap().count(),
            1
        );
    }

    /// The same files as in the lists, by target.
    #[test]
    fn bender_has_the_files_of_the_lists() {
        let config = Config::preset("small").unwrap();
        let design = Design::emit(&["spad_tcdm".to_owned()], &config).unwrap();
        let wanted = crate::rtl::SystemVerilog {
            wrappers: true,
            assertions: false,
        };
        let with = design.clone().with_system_verilog(wanted, &config);
        for design in [design, with.unwrap()] {
            let files = design_files(&design);
            let text = |name: &str| {
                let file = files.iter().find(|f| f.name == name)?;
                String::from_utf8(file.content.clone()).ok()
            };
            let bender = text("Bender.yml").unwrap();
            assert!(bender.contains("  name: spadkit_small\n"), "{bender}");
            let groups: Vec<&str> = bender.split("files:\n").skip(1).collect();
            let lists = ["filelist.f", "filelist_sv.f"].into_iter().filter_map(text);
            let lists: Vec<String> = lists.collect();
            assert_eq!(groups.len(), lists.len());
            for (group, list) in groups.iter().zip(&lists) {
                let of_group = group.lines().filter_map(|l| l.strip_prefix("      - "));
                let of_list = list.lines().filter(|l| !l.starts_with("//"));
                assert!(of_group.eq(of_list), "{bender}");
            }
        }
    }

    #[test]
    fn a_file_in_the_place_of_the_folder_is_reported() {
        let config = Config::preset("small").unwrap();
        let design = Design::emit(&["spad_rap".into()], &config).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(write_design(&design, &OwnedFolder::new(file.path(), true)).is_err());
    }
}
