//! The dependencies keep what `Cargo.toml` and `deny.toml` promise: no newer compiler,
//! permissive licences, one registry. `make deny` and `make msrv` check more, with tools that
//! not everybody has.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What a program prints.
fn output(program: &str, args: &[&str]) -> String {
    let output = Command::new(program)
        .args(args)
        .current_dir(root())
        .output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The workspace and all of its dependencies on this computer's platform.
fn packages() -> Vec<Value> {
    let version = output("rustc", &["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let platform = ["--filter-platform", host.expect("a host")];
    let options = ["metadata", "--locked", "--format-version", "1"];
    let args = [&options[..], &platform].concat();
    let metadata: Value = serde_json::from_str(&output(env!("CARGO"), &args)).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// `1.88` or `1.88.0` as numbers.
fn version(text: &str) -> (u32, u32) {
    let mut parts = text.split('.').map(|part| part.parse().unwrap());
    (parts.next().unwrap(), parts.next().unwrap())
}

/// What is wrong with a package for a workspace of that compiler and these licences.
fn fault(package: &Value, oldest: &str, allowed: &[&str]) -> Option<String> {
    let needs = package["rust_version"].as_str();
    if let Some(needs) = needs.filter(|needs| version(needs) > version(oldest)) {
        return Some(format!("needs Rust {needs}, Cargo.toml promises {oldest}"));
    }
    if let Some(other) = package["source"].as_str()
        && !other.starts_with("registry+")
    {
        return Some(format!("is from {other}"));
    }
    match package["license"].as_str() {
        Some(licence) if is_allowed(licence, allowed) => None,
        licence => Some(format!("has the licence {licence:?}")),
    }
}

/// Whether the expression holds with the allowed licences, as in
/// `(MIT OR Apache-2.0) AND Unicode-3.0`; old manifests have `/` for `OR`.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', "( ");
    let spaced = spaced.replace(')', " )").replace(" WITH ", "+WITH+");
    let mut words = spaced.split_whitespace().peekable();
    let holds = either(&mut words, allowed);
    assert_eq!(words.next(), None, "{expression}");
    holds
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn either(words: &mut Words, allowed: &[&str]) -> bool {
    let mut holds = both(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        holds |= both(words, allowed);
    }
    holds
}

fn both(words: &mut Words, allowed: &[&str]) -> bool {
    let mut holds = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        holds &= one(words, allowed);
    }
    holds
}

fn one(words: &mut Words, allowed: &[&str]) -> bool {
    match words.next().expect("a licence") {
        "(" => {
            let holds = either(words, allowed);
            assert_eq!(words.next(), Some(")"));
            holds
        }
        name => allowed.contains(&&*name.replace("+WITH+", " WITH ")),
    }
}

#[test]
fn dependencies_keep_the_promises_of_the_manifests() {
    let read = |file: &str| -> toml::Table {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        text.parse().unwrap()
    };
    let (workspace, deny) = (read("Cargo.toml"), read("deny.toml"));
    let oldest = workspace["workspace"]["package"]["rust-version"].as_str();
    let allowed = deny["licenses"]["allow"].as_array().unwrap().iter();
    let allowed: Vec<&str> = allowed.map(|name| name.as_str().unwrap()).collect();
    let packages = packages();
    assert!(packages.len() > 100, "only {} packages", packages.len());
    let faults: Vec<String> = packages
        .iter()
        .filter_map(|package| {
            let fault = fault(package, oldest.unwrap(), &allowed)?;
            Some(format!("{} {}", package["name"], fault))
        })
        .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
    let registries: BTreeSet<&str> = packages
        .iter()
        .filter_map(|p| p["source"].as_str())
        .collect();
    assert_eq!(registries.len(), 1, "{registries:?}");
}

#[test]
fn a_broken_promise_is_noticed() {
    let of = |key: &str, value: &str| {
        let mut package = serde_json::json!({"license": "MIT", "rust_version": "1.88.0"});
        package[key] = value.into();
        fault(&package, "1.88", &["MIT", "Apache-2.0 WITH LLVM-exception"])
    };
    for (key, value) in [
        ("rust_version", "1.9"),
        ("license", "GPL-3.0 OR MIT"),
        ("license", "GPL-3.0/MIT"),
        (
            "license",
            "(GPL-3.0 OR MIT) AND Apache-2.0 WITH LLVM-exception",
        ),
    ] {
        assert_eq!(of(key, value), None, "{value}");
    }
    for (key, value) in [
        ("rust_version", "1.89"),
        ("rust_version", "2.0"),
        ("license", "GPL-3.0"),
        ("license", "MIT AND (Zlib OR Apache-2.0)"),
        ("source", "git+ssh://a"),
    ] {
        assert!(of(key, value).is_some(), "{value}");
    }
}
