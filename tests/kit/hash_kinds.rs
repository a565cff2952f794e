//! A hash kind stands in its own files, and in one line of each list of kinds:
//! no other source file names it, so that another kind needs no arm elsewhere.

use spadkit::hash::HashKind;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The lists of kinds: CONTRIBUTING.md, "Add a hash kind".
const LISTS: [&str; 6] = [
    "crates/names/src/hashes.rs",
    "hdl/src/kinds.rs",
    "hdl/src/lib.rs",
    "crates/mapping/src/hash/kind/mod.rs",
    "crates/sm/src/model/hash_units.rs",
    "crates/sm/src/model/mod.rs",
];

/// What else names a kind, and why.
const OTHERS: [(&str, &str, &str); 12] = [
    // Its search, which evaluates all masks of a pair of windows together.
    (
        "bitvec-xor",
        "crates/mapping/src/search/bitvec.rs",
        "its search",
    ),
    (
        "matrix",
        "crates/sm/src/config/blank.rs",
        "the unit of the presets",
    ),
    ("matrix", "src/cli/cmd_prove.rs", "the example of its help"),
    // What the hash paper publishes of its units.
    (
        "bitvec-perm",
        "crates/rtl/src/synth/published.rs",
        "a paper's table",
    ),
    (
        "bitvec-xor",
        "crates/rtl/src/synth/published.rs",
        "a paper's table",
    ),
    (
        "bitwise-perm",
        "crates/rtl/src/synth/published.rs",
        "a paper's table",
    ),
    (
        "bitwise-xor",
        "crates/rtl/src/synth/published.rs",
        "a paper's table",
    ),
    // The columns of its table of mappings.
    (
        "bitvec-xor",
        "crates/papers/src/reproduce/table5.rs",
        "a paper's table",
    ),
    (
        "bitwise-perm",
        "crates/papers/src/reproduce/table5.rs",
        "a paper's table",
    ),
    (
        "bitwise-xor",
        "crates/papers/src/reproduce/table5.rs",
        "a paper's table",
    ),
    // Its row of Table 1, and mappings of related work that are linear.
    (
        "matrix",
        "crates/papers/src/reproduce/analytic/hash.rs",
        "a paper's table",
    ),
    (
        "matrix",
        "crates/papers/src/reproduce/related.rs",
        "any linear function",
    ),
];

/// How source code calls a kind.
struct Names {
    /// `BitwisePerm`
    variant: String,
    /// `bitwise_perm`
    file: String,
    /// `bitwise-perm`
    spec: &'static str,
}

impl Names {
    fn of(kind: HashKind) -> Self {
        let file = kind.unit().strip_prefix("spad_hash_");
        Names {
            variant: format!("{kind:?}"),
            file: file.expect("a hash unit's name").to_owned(),
            spec: kind.name(),
        }
    }

    fn own_files(&self) -> [String; 4] {
        let file = &self.file;
        [
            format!("crates/mapping/src/hash/kind/{file}.rs"),
            format!("crates/sm/src/model/spad_hash_{file}.rs"),
            format!("hdl/src/spad_hash_{file}.rs"),
            format!("crates/mapping/src/hash/kind/{file}.v"),
        ]
    }

    /// Whether a line of code names the kind. `Matrix` alone may be anything:
    /// it is the kind behind the name of its type, and in a list of kinds.
    fn are_in(&self, line: &str) -> bool {
        let Names {
            variant,
            file,
            spec,
        } = self;
        if !line.contains(&**variant) && !line.contains(&**file) && !line.contains(spec) {
            return false;
        }
        let word = |text: &str| {
            line.match_indices(text).any(|(at, _)| {
                let inside = |c: char| c.is_alphanumeric() || c == '_';
                !line[..at].ends_with(inside) && !line[at + text.len()..].starts_with(inside)
            })
        };
        let qualified = ["HashKind", "UnitSpec", "kind"].map(|of| format!("{of}::{variant}"));
        file.contains('_') && word(variant)
            || qualified.iter().any(|name| word(name))
            || line.contains(&format!("{variant}, {file};"))
            || word(&format!("Hash{variant}"))
            || line.contains(&format!("hash_{file}"))
            || line.contains(&format!("config_{file}"))
            || line.contains(&format!("\"{spec}\""))
            || line.contains(&format!("\"{spec}:"))
    }
}

/// The code of a source file: without comments, and without the tests at its end.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
    let lines = lines.take_while(|(_, line)| !line.starts_with("#[cfg(test)]"));
    lines.filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") || name.ends_with(".tera") {
            found.push(path);
        }
    }
}

/// The files that name `kind`, each with the first line.
fn places(kind: HashKind) -> BTreeMap<String, usize> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in ["src", "crates", "hdl/src", "hdl/templates"] {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 100, "the sources are not there");
    let names = Names::of(kind);
    let mut places = BTreeMap::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("a source file");
        if let Some((number, _)) = code(&text).find(|(_, line)| names.are_in(line)) {
            let path = path.strip_prefix(root).expect("below the root");
            places.insert(path.display().to_string(), number);
        }
    }
    places
}

#[test]
fn a_kind_is_named_in_its_own_files_and_in_the_lists_alone() {
    let mut wrong = Vec::new();
    for kind in HashKind::ALL {
        let own = Names::of(kind).own_files();
        for (file, line) in places(kind) {
            let listed = LISTS.contains(&&*file);
            let excused = OTHERS.iter().any(|o| o.0 == kind.name() && o.1 == file);
            if !own.contains(&file) && !listed && !excused {
                wrong.push(format!("  {kind} at {file}:{line}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "what depends on the kind belongs behind its trait, crates/mapping/src/hash/kind/:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn every_kind_has_its_files_and_is_in_every_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for kind in HashKind::ALL {
        for file in Names::of(kind).own_files() {
            assert!(root.join(&file).is_file(), "{kind} has no {file}");
        }
    }
    let all = HashKind::ALL.map(|kind| (kind.name(), places(kind)));
    for (kind, places) in &all {
        for list in LISTS {
            assert!(places.contains_key(list), "{kind} is not in {list}");
        }
    }
    for (kind, file, why) in OTHERS {
        let there = all
            .iter()
            .any(|(name, places)| *name == kind && places.contains_key(file));
        assert!(there, "strike it from the list: {kind} in {file}, {why}");
    }
}

#[test]
fn a_name_is_found_in_code() {
    let names = Names::of(HashKind::ALL[2]);
    for line in [
        "HashKind::BitwisePerm => 1,",
        "use x::{BitwisePerm, Y};",
        "let unit = \"spad_hash_bitwise_perm\";",
        "match name { \"bitwise-perm\" => 1 }",
    ] {
        assert!(names.are_in(line), "{line}");
    }
    assert!(!names.are_in("NotBitwisePermutation"));
    let matrix = Names::of(HashKind::ALL[4]);
    assert!(matrix.are_in("HashKind::Matrix") && !matrix.are_in("Family::Matrix"));
    assert!(!matrix.are_in("Gf2Matrix::new(matrix)"));
    let text = "// BitwisePerm\nBitwiseXor\n#[cfg(test)]\nBitwisePerm\n";
    assert_eq!(code(text).collect::<Vec<_>>(), [(2, "BitwiseXor")]);
}
