//! The structure stays: no circle among modules, and no import against the
//! layers that docs/explanation/architecture.md draws.

mod graph;
mod layers;
mod source;

use graph::{Graph, Import};
use layers::Layers;
use source::Crate;
use std::collections::BTreeSet;
use std::path::Path;

const DOCUMENT: &str = include_str!("../../../docs/explanation/architecture.md");
/// The name of the hardware's crate within the kit.
const HDL: &str = "spadkit_hdl";
/// The sources of the crates, with the crates that the picture draws as modules
/// of them.
const CRATES: [(&str, &[&str]); 12] = [
    ("src", &[]),
    ("crates/papers/src", &[]),
    ("crates/report/src", &[]),
    ("crates/compiler/src", &[]),
    ("crates/launch/src", &[]),
    ("crates/rtl/src", &[HDL]),
    ("crates/sm/src", &[HDL]),
    ("crates/mapping/src", &[]),
    ("crates/ptx/src", &[]),
    ("crates/base/src", &[]),
    ("crates/names/src", &[]),
    ("hdl/src", &[]),
];

fn read(folder: &str) -> Crate {
    Crate::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))
}

fn listed<T: ToString>(items: &[T]) -> String {
    let lines: Vec<String> = items.iter().map(T::to_string).collect();
    lines.join("\n")
}

/// The modules at the root of a crate.
fn modules(all: &Crate) -> Vec<String> {
    let names: BTreeSet<&String> = all.modules.keys().filter_map(|m| m.first()).collect();
    names.into_iter().cloned().collect()
}

/// What is wrong with a crate at its root: circles, modules without a layer,
/// imports that do not go down.
fn faults(all: &Crate, others: &[&str], layers: &Layers) -> Vec<String> {
    let graph = Graph::of(all, others);
    let mut names = modules(all);
    names.extend(others.iter().map(|n| n.to_string()));
    let mut faults = Vec::new();
    let mut fault = |what: &str, list: String| {
        if !list.is_empty() {
            faults.push(format!("{what}:\n{list}"));
        }
    };
    let siblings: Vec<&Import> = graph.circles(&[]);
    fault("imports in a circle", listed(&siblings));
    fault(
        "docs/explanation/architecture.md",
        listed(&layers.unplaced(&names)),
    );
    let against = layers.against(&graph.level(&[]));
    fault("imports against the layers", listed(&against));
    faults
}

/// Circles between the files of one folder: `module: file file ...`. A file
/// and its own parts (`a.rs` and `a/`) are one thing and may use each other.
fn circles_between_files(all: &Crate) -> Vec<(String, String)> {
    let graph = Graph::of(all, &[]);
    let inner = graph.levels.keys().filter(|module| !module.is_empty());
    let circle = |module: &Vec<String>| {
        let imports = graph.circles(module);
        let names: BTreeSet<&str> = imports.iter().map(|i| &*i.from).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let line = format!("{}: {}", module.join("::"), names.join(" "));
        (!imports.is_empty()).then(|| (line, listed(&imports)))
    };
    inner.filter_map(circle).collect()
}

#[test]
fn modules_import_downwards_only() {
    for (folder, others) in CRATES {
        let all = read(folder);
        let layers = Layers::read(DOCUMENT, &format!("{folder}/"));
        let faults = faults(&all, others, &layers);
        assert!(faults.is_empty(), "{folder}: {}", faults.join("\n"));
    }
}

#[test]
fn files_of_a_folder_form_no_circle() {
    for (folder, _) in CRATES {
        let circles = circles_between_files(&read(folder));
        assert!(circles.is_empty(), "imports in a circle: {circles:#?}");
    }
}

/// Golden model and RTL share names, nothing that computes.
#[test]
fn the_model_takes_only_codes_from_the_hardware() {
    let all = read("crates/sm/src");
    let model = all
        .modules
        .iter()
        .filter(|(path, _)| path[..].first().is_some_and(|m| m == "model"));
    let (mut codes, mut wrong) = (0, Vec::new());
    for (_, module) in model {
        for mention in module.mentions.iter().filter(|m| m.path[0] == HDL) {
            match mention.path.get(1).map(String::as_str) {
                Some("codes") => codes += 1,
                _ => wrong.push(format!("  {}:{}", module.file, mention.line)),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "the model uses the RTL at\n{}",
        wrong.join("\n")
    );
    assert!(codes > 3, "the reader of imports sees nothing");
}

/// A crate of (file, text).
fn made_up(files: &[(&str, &str)]) -> Crate {
    let own = |(name, text): &(&str, &str)| (name.to_string(), text.to_string());
    Crate::of(&files.iter().map(own).collect::<Vec<_>>())
}

const PICTURE: &str = "```layers\nsrc/ it\n+--+\n| top | t |\n| left right | l |\n\
                       | unit_* | u |\n| leaf | |\n+--+\nother/\n| x | |\n```\n";

fn found(files: &[(&str, &str)]) -> String {
    let mut all = vec![
        (
            "lib.rs",
            "mod top; mod left; mod right; mod leaf; pub use leaf::Deep;",
        ),
        ("top.rs", "use crate::{left::L, right};"),
        ("right/mod.rs", "mod inner; pub use inner::R;"),
        ("right/inner.rs", "pub struct R;"),
        ("unit_a.rs", "use crate::unit_b::B;"),
        ("unit_b.rs", "pub struct B;"),
    ];
    all.extend_from_slice(files);
    for needed in [
        ("left.rs", "pub struct L;"),
        ("leaf.rs", "pub struct Deep;"),
    ] {
        if !files.iter().any(|f| f.0 == needed.0) {
            all.push(needed);
        }
    }
    let layers = Layers::read(PICTURE, "src/");
    faults(&made_up(&all), &[], &layers).join("\n")
}

#[test]
fn a_made_up_crate_in_order_has_no_faults() {
    assert_eq!(found(&[]), "");
    // Neither comments nor strings nor test code import.
    let quiet = "/// [`T`](crate::top::T)\n// use crate::top::T;\n/* crate::top */\n\
                 pub const S: &str = \"crate::top::T\"; const R: &str = r#\"\"crate::top\"#;\n\
                 const C: [char; 3] = ['\"', '\\'', '{'];\npub struct L;\n\
                 #[cfg(test)]\nuse crate::top::{T, U};\n\
                 #[cfg(test)]\nmod tests { use crate::top::T; fn f() { crate::top::g() } }\n";
    assert_eq!(found(&[("left.rs", quiet)]), "");
    // What stands behind a test module counts again.
    let behind = format!("{quiet}use crate::top::T;\n");
    let behind = found(&[("left.rs", &behind)]);
    assert!(behind.contains("left -> top at left.rs:11"), "{behind}");
    let parts = [
        ("left/mod.rs", "#[cfg(test)]\nmod tests;\npub struct L;"),
        ("left/tests.rs", "use crate::top::T;"),
        ("left.rs", "pub struct L;"),
    ];
    assert_eq!(found(&parts), "");
}

#[test]
fn an_import_upwards_is_found_where_it_stands() {
    let against = "imports against the layers:\n  leaf -> left at leaf.rs:2";
    assert_eq!(
        found(&[("leaf.rs", "pub struct Deep;\nuse super::left::L;")]),
        against
    );
    // In an expression, behind a re-export, and in a sibling.
    let path = "pub struct Deep;\nfn f() -> u8 { crate::left::L::new() }";
    assert_eq!(found(&[("leaf.rs", path)]), against);
    let unit = found(&[("unit_b.rs", "pub struct B; use crate::right::R as Q;")]);
    assert_eq!(
        unit,
        "imports against the layers:\n  unit_b -> right at unit_b.rs:1"
    );
    let beside = found(&[(
        "left.rs",
        "pub struct L;\n\nuse crate::{leaf::Deep,\n  right::R};",
    )]);
    assert_eq!(
        beside,
        "imports against the layers:\n  left -> right at left.rs:4"
    );
}

#[test]
fn a_circle_is_found_with_its_imports() {
    let circle = found(&[("unit_b.rs", "pub struct B;\nuse crate::unit_a;")]);
    let imports = "  unit_a -> unit_b at unit_a.rs:1\n  unit_b -> unit_a at unit_b.rs:2";
    assert_eq!(circle, format!("imports in a circle:\n{imports}"));
    // Through a name that the root hands out: Deep is leaf's.
    let through = [
        ("leaf.rs", "pub struct Deep; use crate::left::L;"),
        ("left.rs", "pub struct L; use crate::Deep;"),
    ];
    assert!(
        found(&through).contains("circle:\n  leaf -> left"),
        "{}",
        found(&through)
    );
}

#[test]
fn a_module_without_a_layer_is_found() {
    let found = found(&[("extra.rs", "")]);
    assert_eq!(
        found,
        "docs/explanation/architecture.md:\n  extra stands in no layer"
    );
    let layers = Layers::read(PICTURE, "other/");
    assert_eq!(layers.unplaced(&[]), ["  x is drawn but is not a module"]);
}

#[test]
fn circles_between_files_of_a_folder_are_found() {
    let parent = (
        "a/mod.rs",
        "mod b; mod c; pub use b::B; use c::C; struct A(C);",
    );
    let in_order = [
        parent,
        ("a/b.rs", "use super::A;"),
        ("a/c.rs", "use super::B;"),
    ];
    assert_eq!(circles_between_files(&made_up(&in_order)), []);
    let circle = [
        parent,
        ("a/b.rs", "use super::c::C;"),
        ("a/c.rs", "use super::B;"),
    ];
    let found = circles_between_files(&made_up(&circle));
    let imports = "  b -> c at a/b.rs:1\n  c -> b at a/c.rs:1";
    assert_eq!(found, [("a: b c".to_owned(), imports.to_owned())]);
}
