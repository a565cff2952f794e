//! The documents are consistent: every relative link and anchor exists, every
//! page is in the book, and every page that a source file names and every file
//! that a page names exists.

mod page;
mod properties;
mod units;

use page::{Page, Pages};
use spadkit::report::draw::theme::dark_style;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Pages of docs/ that are no chapter.
const NOT_CHAPTERS: [&str; 1] = ["docs/SUMMARY.md"];
/// Where paths begin that are not in the repository: what is built, hooks of Git,
/// and files of other projects.
const ELSEWHERE: [&str; 5] = [
    "target/",
    "spadkit-out/",
    ".git/",
    "src/kernels/",
    "src/L1Cache/",
];
/// Where sources name pages.
const SOURCES: [&str; 10] = [
    "src",
    "crates",
    "hdl",
    "tests",
    "examples",
    "benches",
    "testbenches",
    "reproduce",
    "generated",
    "fuzz/fuzz_targets",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below `dir`, relative to the repository, with one of the endings.
fn files_below(dir: &str, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(dir)];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("");
            if path.is_dir() {
                open.push(path);
            } else if endings.contains(&ending) {
                found.push(path.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// README, CONTRIBUTING and CHANGELOG, the README of every top folder and of
/// every crate, and everything in docs/.
fn documents() -> Vec<PathBuf> {
    let mut found = files_below("docs", &["md"]);
    found.extend(files_below("crates", &["md"]));
    for entry in std::fs::read_dir(root()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_owned();
        if path.extension().is_some_and(|e| e == "md") {
            found.push(PathBuf::from(name));
        } else if path.join("README.md").is_file() && name != "docs" {
            found.push(Path::new(&name).join("README.md"));
        }
    }
    found.sort();
    found
}

fn pages() -> Pages {
    let mut pages = Pages::new(root());
    for path in documents() {
        let text = std::fs::read_to_string(root().join(&path)).unwrap();
        pages.add(path, Page::parse(&text));
    }
    pages
}

#[test]
fn every_link_leads_somewhere() {
    let faults = pages().faults();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// A page names files of the kit in code.
#[test]
fn every_file_that_a_page_names_exists() {
    let missing = pages().missing(&ELSEWHERE);
    assert!(missing.is_empty(), "\n{}", missing.join("\n"));
}

#[test]
fn every_page_is_a_chapter_once() {
    let pages = pages();
    let summary = pages.get(Path::new("docs/SUMMARY.md")).unwrap();
    let listed: Vec<PathBuf> = summary
        .links
        .iter()
        .map(|link| Path::new("docs").join(&link.target))
        .collect();
    let chapters: BTreeSet<PathBuf> = listed.iter().cloned().collect();
    assert_eq!(
        chapters.len(),
        listed.len(),
        "a page is in SUMMARY.md twice"
    );
    let there: BTreeSet<PathBuf> = files_below("docs", &["md"])
        .into_iter()
        .filter(|path| !NOT_CHAPTERS.iter().any(|other| path == Path::new(other)))
        .collect();
    let missing: Vec<_> = there.difference(&chapters).collect();
    assert!(missing.is_empty(), "not in docs/SUMMARY.md: {missing:?}");
}

/// Comments and messages name pages by their path, some with an anchor. This
/// test is left out: it names pages that are not there.
#[test]
fn every_page_that_a_source_names_exists() {
    let pages = pages();
    let mut faults = Vec::new();
    for dir in SOURCES {
        let named = files_below(dir, &["rs", "v", "sv", "tera", "toml", "py"]);
        for path in named
            .iter()
            .filter(|path| !path.starts_with("tests/kit/docs"))
        {
            let text = std::fs::read_to_string(root().join(path)).unwrap();
            for (line, target) in page::named_in(&text) {
                if let Err(fault) = pages.resolve(Path::new("README.md"), &target) {
                    faults.push(format!("{}:{line}: {fault}", path.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// So do comments name files, those of circuits and their faults, too.
#[test]
fn every_file_that_a_source_names_exists() {
    let mut faults = Vec::new();
    for dir in SOURCES {
        let naming = files_below(
            dir,
            &["rs", "v", "sv", "tera", "toml", "py", "faults", "sdc", "ys"],
        );
        for path in naming
            .iter()
            .filter(|path| !path.starts_with("tests/kit/docs"))
        {
            let text = std::fs::read_to_string(root().join(path)).unwrap();
            for (line, named) in page::files_named_in(&text) {
                if !root().join(named).exists() {
                    faults.push(format!("{}:{line}: there is no {named}", path.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    let text = "# (tests/a.rs), ../tests/b.rs\n// crates/UNIT/x.rs crates/c.v.tera.\n";
    let named = page::files_named_in(text);
    assert_eq!(named, [(1, "tests/a.rs"), (2, "crates/c.v.tera")]);
}

/// The checks above see a fault of each kind.
#[test]
fn faults_are_found() {
    let mut pages = Pages::new(root());
    let text = "# A `b` c_d, e\n\n[1](#a-b-c_d-e) [2](#a) [3](no.md)\n\n\
                [4](guides/a.md#a) [5](../README.md) `[6](code)`\n\n# A `b` c_d, e\n";
    pages.add("docs/README.md".into(), Page::parse(text));
    pages.add(
        "docs/guides/a.md".into(),
        Page::parse("[7](../README.md#a-b-c_d-e-1)"),
    );
    assert_eq!(
        pages.faults(),
        [
            "docs/README.md:3: docs/README.md has no heading #a",
            "docs/README.md:3: there is no docs/no.md",
            "docs/README.md:5: docs/guides/a.md has no heading #a",
            "docs/README.md:5: README.md is outside docs/, the book cannot show it: \
             name it in `code` instead",
        ]
    );
    pages.add(
        "docs/a.md".into(),
        Page::parse(
            "`src/lib.rs:3` `src/none.rs:3` `src/cmd_NAME.rs` `src/*.rs`\n`guides/flow.md`\n\n\
             `cd src/none` `other/none.rs` `target/none` `hdl/src/none/`",
        ),
    );
    assert_eq!(
        pages.missing(&ELSEWHERE),
        [
            "docs/a.md:1: there is no src/none.rs",
            "docs/a.md:4: there is no hdl/src/none/",
        ]
    );
    let named = page::named_in(
        "x\n// docs/a/b.md, section 3; (docs/c.md#d-e).\n// (microarchitecture/f.md); ../docs/g.md",
    );
    let paths = [
        "docs/a/b.md",
        "docs/c.md#d-e",
        "docs/reference/microarchitecture/f.md",
    ];
    assert_eq!(
        named,
        [
            (2, paths[0].into()),
            (2, paths[1].into()),
            (3, paths[2].into())
        ]
    );
}

/// Every picture has a dark theme, made from the colours that it has. `UPDATE=1`
/// gives it one; a picture that a command draws has it from there.
#[test]
fn pictures_have_a_dark_theme() {
    let mut stale = Vec::new();
    for path in files_below("docs", &["svg"]) {
        let file = root().join(&path);
        let text = std::fs::read_to_string(&file).unwrap();
        let drawn = text.lines().filter(|l| !l.starts_with("<style>"));
        let drawn: String = drawn.flat_map(|l| [l, "\n"]).collect();
        let inner = drawn.strip_suffix("</svg>\n").expect("one picture");
        let themed = format!("{inner}{}</svg>\n", dark_style(inner));
        if themed != text {
            stale.push(path.display().to_string());
            if std::env::var_os("UPDATE").is_some() {
                std::fs::write(&file, themed).unwrap();
            }
        }
    }
    assert!(stale.is_empty(), "UPDATE=1 mends {}", stale.join(", "));
}
