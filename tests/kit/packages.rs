//! Each published crate is whole by itself: what it compiles in is in its package,
//! and its manifest says what a registry shows of it.
//!
//! The tests of a crate run in the repository and may read beyond their package.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// Published crates and their folders.
const PACKAGES: [(&str, &str); 12] = [
    ("spadkit", "."),
    ("spadkit-base", "crates/base"),
    ("spadkit-compiler", "crates/compiler"),
    ("spadkit-hdl", "hdl"),
    ("spadkit-launch", "crates/launch"),
    ("spadkit-mapping", "crates/mapping"),
    ("spadkit-names", "crates/names"),
    ("spadkit-papers", "crates/papers"),
    ("spadkit-ptx", "crates/ptx"),
    ("spadkit-report", "crates/report"),
    ("spadkit-rtl", "crates/rtl"),
    ("spadkit-sm", "crates/sm"),
];
/// Macros that compile a file in.
const INCLUDING: [&str; 3] = ["include_str!(", "include_bytes!(", "include!("];
/// Begins the tests at the end of a file.
const TESTS: &str = "#[cfg(test)]\nmod tests {";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What `cargo package` would put into the package.
fn packaged(name: &str) -> BTreeSet<PathBuf> {
    let output = Command::new(env!("CARGO"))
        .args(["package", "--list", "--frozen", "--allow-dirty", "-p", name])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {errors}");
    let list = String::from_utf8(output.stdout).expect("names are UTF-8");
    list.lines().map(PathBuf::from).collect()
}

/// Whether a source is compiled for who depends on the crate or installs it.
fn is_compiled(file: &Path) -> bool {
    let tests = |part: Component| part.as_os_str() == "tests" || part.as_os_str() == "tests.rs";
    file.extension().is_some_and(|e| e == "rs") && !file.components().any(tests)
}

/// The paths that a source includes. Of a path that a macro puts together, the folder
/// that its first piece names.
fn included(text: &str) -> Vec<&str> {
    let text = text.split(TESTS).next().unwrap_or(text);
    let calls = INCLUDING.iter().flat_map(|name| text.split(name).skip(1));
    let path = |call| {
        let call: &str = call;
        let argument = call.trim_start();
        let (whole, argument) = match argument.strip_prefix("concat!(") {
            Some(pieces) => (false, pieces.trim_start()),
            None => (true, argument),
        };
        let piece = argument.strip_prefix('"')?.split('"').next()?;
        if whole {
            Some(piece)
        } else {
            piece.rfind('/').map(|slash| &piece[..=slash])
        }
    };
    calls.filter_map(path).collect()
}

/// `path` from the folder of `file`, both within the package; none if it leaves it.
fn resolved(file: &Path, path: &str) -> Option<PathBuf> {
    let mut parts: Vec<Component> = file.parent()?.components().collect();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => drop(parts.pop()?),
            Component::CurDir => {}
            part => parts.push(part),
        }
    }
    Some(parts.into_iter().collect())
}

/// How many paths the sources of `list` include, and those that are not in it.
fn missing(list: &BTreeSet<PathBuf>, read: impl Fn(&Path) -> String) -> (usize, Vec<String>) {
    let (mut count, mut missing) = (0, Vec::new());
    for file in list.iter().filter(|file| is_compiled(file)) {
        let text = read(file);
        for path in included(&text) {
            count += 1;
            let there = resolved(file, path).is_some_and(|target| {
                if path.ends_with('/') {
                    list.iter().any(|other| other.starts_with(&target))
                } else {
                    list.contains(&target)
                }
            });
            if !there {
                missing.push(format!("{}: {path}", file.display()));
            }
        }
    }
    (count, missing)
}

#[test]
fn packages_contain_what_they_compile_in() {
    let mut all = 0;
    for (name, folder) in PACKAGES {
        let folder = root().join(folder);
        let read = |file: &Path| std::fs::read_to_string(folder.join(file)).unwrap();
        let (count, missing) = missing(&packaged(name), read);
        assert!(missing.is_empty(), "{name}:\n{}", missing.join("\n"));
        all += count;
    }
    assert!(all > 20, "only {all} included files were found");
}

/// The rule notices what leaves the package, what is left out of it, and a folder that
/// a macro names.
#[test]
fn a_file_outside_of_the_package_is_noticed() {
    let list = ["src/a.rs", "src/b.txt", "src/tests/c.rs"].map(PathBuf::from);
    let text = "include_str!(\"b.txt\") include_bytes!(\n    \"../../b.txt\") \
        include_str!(\"c.txt\") include_str!(concat!(\"../data/\", $name))";
    let (count, missing) = missing(&list.into(), |_| text.to_owned());
    assert_eq!(count, 4);
    let expected = ["../data/", "../../b.txt", "c.txt"].map(|path| format!("src/a.rs: {path}"));
    assert_eq!(
        missing.into_iter().collect::<BTreeSet<_>>(),
        expected.into()
    );
}

#[test]
fn every_member_is_listed_here_or_not_published() {
    let text = |folder: &Path| std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let crates = std::fs::read_dir(root().join("crates")).unwrap();
    let crates = crates.map(|entry| entry.unwrap().path());
    let others = [".", "benches", "hdl", "python"].map(|folder| root().join(folder));
    let folders = crates
        .chain(others)
        .filter(|f| f.join("Cargo.toml").exists());
    let published: BTreeSet<String> = folders
        .map(|folder| text(&folder).parse::<toml::Table>().unwrap())
        .filter(|manifest| manifest["package"].get("publish").is_none())
        .map(|manifest| manifest["package"]["name"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(published, PACKAGES.map(|(name, _)| name.to_owned()).into());
}

fn manifest(folder: &str) -> toml::Table {
    let file = root().join(folder).join("Cargo.toml");
    std::fs::read_to_string(file).unwrap().parse().unwrap()
}

/// Who needs one layer compiles no command line: only the program has one.
#[test]
fn a_layer_compiles_no_command_line() {
    let has_one = |folder| {
        let dependencies = manifest(folder)["dependencies"].as_table().cloned();
        dependencies.is_some_and(|all| {
            let coloured = |d: &toml::Value| d.to_string().contains("fancy");
            all.contains_key("clap") || all.contains_key("indicatif") || all.values().any(coloured)
        })
    };
    let with_one = PACKAGES.iter().filter(|(_, folder)| has_one(folder));
    let with_one: Vec<&str> = with_one.map(|(name, _)| *name).collect();
    assert_eq!(with_one, ["spadkit"]);
}

#[test]
fn manifests_say_what_a_registry_shows() {
    for (name, folder) in PACKAGES {
        let manifest = manifest(folder);
        let package = &manifest["package"];
        for key in ["description", "keywords", "categories"] {
            assert!(package.get(key).is_some(), "{name} has no {key}");
        }
        let keywords = package["keywords"].as_array().unwrap();
        assert!((1..=5).contains(&keywords.len()), "{name}: {keywords:?}");
        let docs = package.get("metadata").and_then(|m| m.get("docs"));
        assert!(docs.and_then(|d| d.get("rs")).is_some(), "{name}");
    }
}
