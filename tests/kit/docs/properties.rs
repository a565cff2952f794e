//! The page of the proofs lists the properties of each circuit by name: exactly the outputs
//! `check_NAME` that the circuit has.

use super::{files_below, root};
use std::collections::{BTreeMap, BTreeSet};

/// Circuits by their names, without endings, and the properties of each.
type Circuits = BTreeMap<String, BTreeSet<String>>;

/// Headings that are not the name of the circuit.
const OTHER_NAMES: [(&str, &str); 4] = [
    ("`spad_stream` around its inside", "spad_stream"),
    ("The window of `spad_stream`", "spad_stream_window"),
    ("The window with atomic operations", "spad_stream_atomic"),
    ("`spad_tcdm` with atomic operations", "spad_tcdm_atomic"),
];
/// Circuits of the whole path, whose properties its section names in sentences.
const WHOLE_PATH: [&str; 2] = ["spad_sm_path", "spad_sm_path_owner"];

/// The names of the properties in a circuit's ports.
fn properties(circuit: &str) -> BTreeSet<String> {
    let ports = circuit
        .lines()
        .filter_map(|line| line.trim().strip_prefix("output wire check_"));
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    ports
        .map(|port| port.chars().take_while(|c| is_name(*c)).collect())
        .collect()
}

/// The circuits that have properties.
fn circuits() -> Circuits {
    let mut found = Circuits::new();
    for path in files_below("testbenches/prove/path", &["tera"]) {
        let properties = properties(&std::fs::read_to_string(root().join(&path)).unwrap());
        let file = path.file_name().unwrap().to_str().unwrap();
        if !properties.is_empty() {
            found.insert(file.trim_end_matches(".v.tera").to_owned(), properties);
        }
    }
    found
}

/// The text of the section with that heading, up to the next one of its level.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, section) = page.split_once(&format!("\n### {heading}\n")).unwrap();
    section.split("\n### ").next().unwrap()
}

/// What the page says otherwise than the circuits.
fn faults(page: &str, circuits: &Circuits) -> Vec<String> {
    let mut faults = Vec::new();
    let mut open: BTreeSet<&str> = circuits.keys().map(String::as_str).collect();
    for unit in section(page, "Properties of the units")
        .split("\n#### ")
        .skip(1)
    {
        let (heading, list) = unit.split_once('\n').unwrap();
        let other = OTHER_NAMES.iter().find(|(name, _)| *name == heading);
        let circuit = other.map_or(heading.trim_matches('`'), |(_, circuit)| circuit);
        let Some(properties) = circuits.get(circuit).filter(|_| open.remove(circuit)) else {
            faults.push(format!("{heading}: no circuit {circuit}, or again"));
            continue;
        };
        let items = list.lines().filter_map(|line| line.strip_prefix("- `"));
        let items: Vec<&str> = items.filter_map(|item| item.split('`').next()).collect();
        let listed: BTreeSet<String> = items.iter().map(|item| (*item).to_owned()).collect();
        if items.len() != listed.len() {
            faults.push(format!("{heading}: a property is listed twice"));
        }
        for (what, names) in [
            ("not in the circuit", &listed - properties),
            ("not on the page", properties - &listed),
        ] {
            faults.extend(names.iter().map(|n| format!("{heading}: `{n}` is {what}")));
        }
    }
    let whole = section(page, "The path as a whole");
    for circuit in WHOLE_PATH.iter().filter(|circuit| open.remove(**circuit)) {
        for name in &circuits[*circuit] {
            if !whole.contains(&format!("`{name}`")) {
                faults.push(format!("{circuit}: `{name}` is not on the page"));
            }
        }
    }
    faults.extend(open.iter().map(|circuit| format!("{circuit}: no section")));
    faults
}

#[test]
fn the_page_of_the_proofs_lists_the_properties_of_the_circuits() {
    let page = std::fs::read_to_string(root().join("docs/explanation/proofs.md")).unwrap();
    let circuits = circuits();
    let count: usize = circuits.values().map(BTreeSet::len).sum();
    assert!(count > 200, "only {count} properties are found");
    let faults = faults(&page, &circuits);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn a_property_that_is_missing_or_invented_is_noticed() {
    let page = |list: &str| {
        format!(
            "\n### Properties of the units\n\n#### `spad_a`\n\n{list}\n\
             ### The path as a whole\n\n(`order`)\n"
        )
    };
    let of = |text: &str| properties(text);
    let a = "    output wire check_a, // 1\n    output wire check_b_2,\n    wire check_c;\n";
    let order = "output wire check_order\n";
    let circuits = Circuits::from([
        ("spad_a".to_owned(), of(a)),
        ("spad_sm_path".to_owned(), of(order)),
    ]);
    let list = "- `a`: one.\n- `b_2`, with locks: two.\n";
    assert_eq!(faults(&page(list), &circuits), Vec::<String>::new());
    for (from, to, fault) in [
        ("- `a`: one.\n", "", "`spad_a`: `a` is not on the page"),
        ("`a`", "`c`", "`spad_a`: `c` is not in the circuit"),
        ("- `a`", "- `a`: x.\n- `a`", "listed twice"),
    ] {
        let faults = faults(&page(&list.replacen(from, to, 1)), &circuits);
        assert!(faults.iter().any(|f| f.contains(fault)), "{faults:?}");
    }
    let other = page(list)
        .replace("`order`", "")
        .replace("spad_a", "spad_b");
    let faults = faults(&other, &circuits);
    assert!(
        faults.iter().any(|f| f == "spad_a: no section"),
        "{faults:?}"
    );
    assert!(faults.iter().any(|f| f.starts_with("`spad_b`: no circuit")));
    assert!(
        faults
            .iter()
            .any(|f| f == "spad_sm_path: `order` is not on the page")
    );
}
