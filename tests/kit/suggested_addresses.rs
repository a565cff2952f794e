//! Accesses through the address of another element, pointers that walk, rows whose length the
//! source knows, and objects of a class: what `tune --software` changes, and what it leaves to
//! a person. What it prints was pasted and compiled by nvcc: each kernel then has the
//! conflicts that are said, and the results that it had.

use crate::common::suggested::{Case, changed, changes, number};
use crate::common::text;
use serde_json::Value;

/// A kernel of `addresses.cu`.
fn case<'a>(entry: &'a str, block: &'a str) -> Case<'a> {
    Case::of("addresses", entry, block)
}

/// The index is behind the address: around that of the first element, the function would map
/// element 0 alone.
#[test]
fn an_element_behind_the_address_of_another_is_mapped_itself() {
    let expected = [
        (
            9,
            "for (int i = y * WIDE + x; i < WIDE * WIDE; i += 256) (*spad_place_at(tile, \
             &(&tile[0][0])[i])) = in[i];",
        ),
        (
            11,
            "for (int r = y; r < WIDE; r += 8) out[r * WIDE + x] = *(spad_place_at(tile, \
             &tile[x][0] + r));",
        ),
    ];
    let found = case("filled", "32, 8").changes_to(&expected);
    let function = found["function"].as_str().unwrap();
    assert!(function.contains("spad_place_at("), "{function}");
}

#[test]
fn a_pointer_to_an_element_is_mapped_where_it_is_read() {
    let expected = [
        (
            19,
            "for (int r = y; r < WIDE; r += 8) { float *e = &tile[r][x]; (*spad_place_at(tile, \
             e)) = in[r * WIDE + x]; }",
        ),
        (
            21,
            "for (int r = y; r < WIDE; r += 8) { auto e = &tile[x][0]; out[r * WIDE + x] = \
             (*spad_place_at(tile, &e[r])); }",
        ),
    ];
    case("named", "32, 8").changes_to(&expected);
}

/// The whole operand is the address, with the bytes that are added to it.
#[test]
fn an_address_with_bytes_added_is_mapped_as_a_whole() {
    let found = changes(&case("operand", "32, 8").suggestion());
    let loaded = &found[1].1;
    let whole = "\"r\"(spad_place_at(tile, (unsigned)__cvta_generic_to_shared(&tile[x][0]) + 4 * \
                 r))";
    assert!(loaded.contains(whole), "{loaded}");
}

/// The line of the loop is that of its own store, and nothing has moved.
#[test]
fn a_store_through_a_walking_pointer_is_no_other_lines() {
    let sums = "(&sums[0][0])[spad_place";
    let expected = [
        (
            44,
            "for (float *p = begin; p != end; ++p) (*spad_place_at(sums, p)) = in[threadIdx.x + \
             128 * (p - begin)];"
                .to_owned(),
        ),
        (
            46,
            "for (int j = 0; j < 8; j++) (*spad_place_at(sums, &begin[j])) += in[1024 + j];"
                .to_owned(),
        ),
        (
            50,
            format!(
                "for (int j = 0; j < 8; j++) {sums}(threadIdx.x * 8 + j)] += \
                 {sums}((threadIdx.x + s) * 8 + j)];"
            ),
        ),
        (
            53,
            format!("if (threadIdx.x < 8) out[threadIdx.x] = {sums}(0 * 8 + threadIdx.x)];"),
        ),
    ];
    let expected = expected.each_ref().map(|(n, text)| (*n, text.as_str()));
    let found = case("walked", "128").changes_to(&expected);
    for line in found["lines"].as_array().unwrap() {
        assert_eq!(line["moved_to"], Value::Null, "{line}");
    }
}

/// The changed statement of line `at` of kernel `entry`; none where it is left to a person.
fn changed_at(entry: &str, at: u64) -> Option<String> {
    let found = case(entry, "32, 8").suggestion();
    let mut lines = found["lines"].as_array().unwrap().iter();
    let line = lines.find(|line| number(line) == at);
    changed(line.unwrap_or_else(|| panic!("{at}: {found}"))).map(str::to_owned)
}

/// The line names element 0 alone, and the run stores to others there.
#[test]
fn a_line_that_accesses_more_than_it_names_is_left_to_a_person() {
    assert_eq!(changed_at("hidden", 62), None);
    assert!(changed_at("hidden", 64).is_some());
}

/// The address is mapped once, where it is used; `[%1+4]` is another one.
#[test]
fn an_asm_statement_that_adds_to_its_operand_is_left_to_a_person() {
    let found = case("offsets", "32, 8").suggestion();
    let lines = found["lines"].as_array().unwrap();
    let is_definition = |line: &Value| line["source"].as_str().unwrap().ends_with(":74");
    assert!(!lines.iter().any(is_definition), "{found}");
    let mapped = changed_at("offsets", 77).unwrap();
    assert!(
        mapped.contains("\"r\"(spad_place_at(tile, base + 4 * r))"),
        "{mapped}"
    );
    assert_eq!(changed_at("offsets", 78), None);
}

/// The padding in the declaration of kernel `entry`.
fn padding(entry: &str, block: &str) -> Option<String> {
    let found = Case::of("lengths", entry, block).suggestion();
    assert!(found["conflicts_before"].as_u64() > Some(0), "{found}");
    let padding = &found["padding"];
    (padding["in_declaration"] == true).then(|| padding["declaration"].as_str().unwrap().to_owned())
}

/// A declaration alone changes results there, does not compile, or changes nothing.
#[test]
fn rows_whose_length_the_source_knows_do_not_become_longer() {
    for (entry, block) in [
        ("deduced", "64"),
        ("ranged", "32, 8"),
        ("sized", "32, 8"),
        ("rows_of", "32, 8"),
        ("cast", "32, 8"),
    ] {
        assert_eq!(padding(entry, block), None, "{entry}");
    }
    let declaration = padding("pointed", "32, 8");
    let expected = "__shared__ float tile[WIDE][WIDE + 1];";
    assert_eq!(declaration.as_deref(), Some(expected));
}

/// The PTX stores the members one by one; the statement copies both, and the operator loads
/// what the line of the kernel names.
#[test]
fn objects_of_a_class_are_copied_by_their_members() {
    let case = Case::of("complex", "products", "32, 8");
    let found = case.suggestion();
    let lines = found["lines"].as_array().unwrap();
    let places: Vec<&str> = lines
        .iter()
        .map(|line| line["source"].as_str().unwrap().rsplit_once(':').unwrap().1)
        .collect();
    assert_eq!(places, ["18", "15"]);
    for line in lines {
        assert_eq!(line["takes_apart"], true, "{line}");
        assert_eq!(changed(line), None, "{line}");
    }
    let launch = case.launch();
    let said = text(&["tune", &launch.file, "--software", "-q"]);
    let said = said.replace("\n    ", " ");
    let advice = "copy them by their members, the address of each wrapped: *spad_place_at(&t, \
                  &ELEMENT.MEMBER)";
    assert!(said.contains(advice), "{said}");
}
