//! README's table of the hardware says of each unit what the page of all units says.

use super::root;

/// The cells of the rows of all tables of a page.
fn rows(page: &str) -> impl Iterator<Item = Vec<&str>> {
    page.lines()
        .filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'))
        .map(|row| row.split('|').map(str::trim).collect())
}

/// The letters of a cell such as `L C X M ¹`; none if the cell is no list of checks.
fn checks(cell: &str) -> Option<String> {
    let letters: Vec<&str> = cell.split(' ').filter(|word| word.is_ascii()).collect();
    let known = letters
        .iter()
        .all(|letter| ["L", "C", "P", "X", "M"].contains(letter));
    (known && letters.contains(&"L")).then(|| letters.concat())
}

/// The units in a cell: `spad_tcdm`, or `spad_hash_bitvec_*` for all that begin so.
fn units(cell: &str) -> impl Iterator<Item = &str> {
    let names = cell.split('`').skip(1).step_by(2);
    names.filter(|name| name.starts_with("spad_"))
}

/// The checks of `unit` in the page of all units: of its first row that has any.
fn of_unit(page: &str, unit: &str) -> Option<String> {
    let prefix = unit.trim_end_matches('*');
    let names =
        |row: &[&str]| units(row[0]).any(|n| n == unit || prefix != unit && n.starts_with(prefix));
    rows(page)
        .filter(|row| names(row))
        .find_map(|row| checks(row.last()?))
}

/// The number of units compared, and those that differ.
fn compare(readme: &str, page: &str) -> (usize, Vec<String>) {
    let (mut compared, mut faults) = (0, Vec::new());
    for row in rows(readme) {
        let Some(stated) = row.last().and_then(|cell| checks(cell)) else {
            continue;
        };
        for unit in units(row[1]) {
            compared += 1;
            match of_unit(page, unit) {
                Some(there) if there == stated => {}
                there => faults.push(format!("{unit}: README {stated}, units.md {there:?}")),
            }
        }
    }
    (compared, faults)
}

#[test]
fn the_readme_claims_the_checks_that_the_units_have() {
    let read = |path| std::fs::read_to_string(root().join(path)).unwrap();
    let (compared, faults) = compare(&read("README.md"), &read("docs/reference/units.md"));
    assert!(compared > 15, "only {compared} units");
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn another_claim_is_noticed() {
    let page = "| `spad_a` | x | |\n| `spad_a` | | L C X M ⁴ |\n| `spad_b_c` | | L C |\n";
    let readme =
        |a: &str, b: &str| format!("| g | `spad_a`, `_d` | {a} |\n| g | `spad_b_*` | {b} |\n");
    assert_eq!(compare(&readme("L C X M ¹", "L C"), page), (2, Vec::new()));
    assert_eq!(compare(&readme("L C P X M", "L C"), page).1.len(), 1);
    assert_eq!(compare(&readme("L C P X M", "L"), page).1.len(), 2);
    assert_eq!(compare("| g | `spad_e` | L |", page).1.len(), 1);
}
