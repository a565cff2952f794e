//! Lists the templates for `src/template.rs`, so that a new one is found by
//! its file alone.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=templates");
    let folder = Path::new(&variable("CARGO_MANIFEST_DIR")).join("templates");
    let files = fs::read_dir(&folder)?.map(|entry| Ok(entry?.file_name()));
    let mut names: Vec<_> = files.collect::<io::Result<_>>()?;
    names.retain(|name| Path::new(name).extension() == Some("tera".as_ref()));
    names.sort();
    // The folder is left to rustc: a build directory that was copied to another
    // checkout would keep a path written here, and emit the other's templates.
    let entry = |name: &std::ffi::OsString| {
        format!(
            "    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/templates/\", {name:?}))),\n"
        )
    };
    let list: String = names.iter().map(entry).collect();
    let target = Path::new(&variable("OUT_DIR")).join("templates.rs");
    fs::write(target, format!("&[\n{list}]\n"))
}

/// A variable that Cargo sets for build scripts.
fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
