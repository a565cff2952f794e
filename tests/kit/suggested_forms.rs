//! The forms in which people write accesses, and how `tune --software` changes them
//! (`tests/fixtures/cuda/forms.cu`). What it prints was pasted and compiled: each kernel
//! then has the conflicts that are said, and the results that it had.

use crate::common::suggested::{Case, changed, changes, number};
use serde_json::Value;

/// A kernel of `forms.cu`.
fn case<'a>(entry: &'a str, block: &'a str) -> Case<'a> {
    Case::of("forms", entry, block)
}

/// The load of a variable is done where the variable is used.
#[test]
fn a_load_that_has_moved_to_its_use_changes_where_it_is_written() {
    let expected = [
        (8, "t[spad_place(threadIdx.x)] = in[threadIdx.x];"),
        (11, "float4 v = t[spad_place(i)];"),
    ];
    let found = case("float4s", "64").changes_to(&expected);
    let line = &found["lines"][0];
    assert_eq!(line["conflicts"], 56);
    let to = line["moved_to"].as_str().unwrap();
    assert!(to.ends_with("forms.cu:12"), "{to}");
}

/// Members of elements, through references; loads out of the loop are done at the
/// barrier.
#[test]
fn members_are_mapped_through_references() {
    let at = |name: &str| format!("(*spad_place_at(p, &{name}))");
    let [mx, my, mz] = ["mine.x", "mine.y", "mine.z"].map(at);
    let [qx, qy, qz] = ["q.x", "q.y", "q.z"].map(at);
    let stores = format!(
        "{mx} = in[threadIdx.x]; {my} = in[threadIdx.x + 128]; {mz} = in[threadIdx.x + 256];"
    );
    let loads = format!("const float dx = {qx} - {mx}, dy = {qy} - {my}, dz = {qz} - {mz};");
    let mass = format!("{} = 1.f;", at("mine.m"));
    let sum = format!("e += {} / (dx * dx + dy * dy + dz * dz + 1.f);", at("q.m"));
    let expected = [(20, &*stores), (21, &*mass), (26, &*loads), (27, &*sum)];
    case("aos", "128").changes_to(&expected);
}

/// An asynchronous copy is one access of 16 bytes under every mapping.
#[test]
fn an_asynchronous_copy_stays_whole() {
    let found = case("cpasync", "128").suggestion();
    assert!(!changes(&found).is_empty(), "{found}");
    assert_eq!(found["torn"], Value::Null);
    assert_eq!(found["conflicts"], 96);
}

#[test]
fn an_object_that_is_no_array_is_named_by_its_address() {
    let expected = [
        (
            49,
            "for (int n = 0; n < 8; n++) (*spad_place_at(&s, &s.f[threadIdx.x * 8 + n])) = \
             in[n * 64 + threadIdx.x];",
        ),
        (
            52,
            "for (int n = 0; n < 8; n++) sum += (*spad_place_at(&s, &s.f[n * 64 + threadIdx.x]));",
        ),
    ];
    let found = case("unions", "64").changes_to(&expected);
    assert_eq!(found["padding"], Value::Null);
}

#[test]
fn a_lambda_changes_in_place_of_its_calls() {
    let expected = [(
        59,
        "auto at = [&](int r, int c) -> float & { return tile[spad_place(r * 32 + c)]; };",
    )];
    let found = case("lambda", "32, 8").changes_to(&expected);
    assert_eq!(found["lines"][0]["conflicts"], 992);
}

#[test]
fn an_address_under_a_cast_is_mapped() {
    let expected = [
        (
            75,
            "*reinterpret_cast<uint4 *>(&(&a[0][0])[spad_place((i / 8) * 64 + (i % 8 * 8))]) = \
             reinterpret_cast<const uint4 *>(in)[i];",
        ),
        (
            80,
            "ldsm4(r, spad_place_at(a, &a[threadIdx.x % 16][k + threadIdx.x / 16 * 8]));",
        ),
    ];
    let case = Case {
        types: ["f16", "u32"],
        ..case("ldm", "32")
    };
    case.changes_to(&expected);
}

#[test]
fn a_pointer_that_walks_is_mapped_where_it_is_read() {
    let expected = [
        (
            90,
            "for (int i = 0; i < 32; i++, p += 32) (*spad_place_at(s, p)) = \
             in[i * 32 + threadIdx.x];",
        ),
        (
            94,
            "for (int i = 0; i < 32; i++) sum += (*spad_place_at(s, q++));",
        ),
    ];
    let found = case("ptrwalk", "32").changes_to(&expected);
    // The pointers count elements: rows of a declaration are not what they know.
    assert_eq!(found["padding"]["index"], "s[i + i / 32] for element i");
}

#[test]
fn an_element_that_a_macro_casts_is_mapped() {
    let expected = [
        (
            102,
            "for (int i = threadIdx.x; i < 512; i += 128) \
             FLOAT4((&s[0][0])[spad_place((i / 16) * 64 + (i % 16 * 4))]) = FLOAT4(in[i * 4]);",
        ),
        (
            104,
            "for (int i = threadIdx.x; i < 512; i += 128) FLOAT4(out[i * 4]) = \
             FLOAT4((&s[0][0])[spad_place((i % 32) * 64 + (i / 32 * 4))]);",
        ),
    ];
    case("macro4", "128").changes_to(&expected);
}

/// A pointer that goes to one array or the other is under no function of one of them.
#[test]
fn a_pointer_into_two_arrays_is_left_to_a_person() {
    let found = case("tern", "32, 4").suggestions();
    for (at, other) in [(0, "b"), (1, "a")] {
        let line = &found[at]["lines"][0];
        assert!(line["source"].as_str().unwrap().ends_with(":129"), "{line}");
        assert_eq!(line["shared_with"], serde_json::json!([other]));
        assert!(
            line["call"].is_null() && line["changed_text"].is_null(),
            "{line}"
        );
    }
}

/// Members of a structure that lies in dynamic shared memory.
#[test]
fn a_structure_in_dynamic_memory_is_mapped_by_its_members() {
    let case = Case {
        more: "dynamic_shared = 8192\n",
        ..case("storage", "128")
    };
    let found = case.suggestion();
    let mut changed = found["lines"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(changed);
    let expected = "for (int i = threadIdx.x; i < 1024; i += 128) \
                    (*spad_place_at(smem, &s.b[i / 32][i % 32])) = \
                    (*spad_place_at(smem, &s.a[i % 32][i / 32]));";
    assert!(changed.any(|text| text == expected), "{found}");
}

/// The definition of a macro that names elements changes, and not the lines that use it.
#[test]
fn a_macro_that_names_elements_changes_in_its_definition() {
    let expected = [(133, "#define TILE(i, j) tile[spad_place(((j) << 5) + (i))]")];
    let found = case("bymacro", "32, 4").changes_to(&expected);
    assert_eq!(found["conflicts_before"], 992);
    let code = found["function"].as_str().unwrap();
    assert!(!code.contains("spad_place_at"), "indices alone: {code}");
    // What stands for a parameter may be a sum.
    let expected = [(
        134,
        "#define CUBE(y, z) (&cube[0][0][0])[spad_place((plane * 16 + (y)) * 32 + (z))]",
    )];
    case("cubes", "32, 4").changes_to(&expected);
}

/// The compiler merges what neighbouring pointers read, and no longer under a function:
/// the mapping is that of words.
#[test]
fn loads_through_a_pointer_are_counted_apart() {
    let expected = [
        (
            157,
            "*spad_place_at(all, &rows[i][threadIdx.x]) = in[32 * i + threadIdx.x];",
        ),
        (
            161,
            "out[32 * i + threadIdx.x] = *spad_place_at(all, &rows[threadIdx.x][i]);",
        ),
    ];
    let found = case("merged", "32").changes_to(&expected);
    assert_eq!(found["torn"][0]["bytes"], 16, "{found}");
    assert_eq!(found["conflicts"], 0);
    assert_eq!(found["hash"], "swizzle:5,0,5");
}

/// A statement of two lines with elements on both: each line changes its own.
#[test]
fn lines_of_one_statement_change_apart() {
    let case = Case {
        more: "dynamic_shared = 4352\n",
        ..case("apart", "32")
    };
    let found = case.suggestion();
    let changed = |at: u64| {
        let mut lines = found["lines"].as_array().unwrap().iter();
        changed(lines.find(|line| number(line) == at).unwrap()).unwrap()
    };
    assert_eq!(
        changed(172),
        "(*spad_place_at(bytes, &sums[threadIdx.x])) ="
    );
    assert_eq!(
        changed(173),
        "(*spad_place_at(bytes, &rows[32 * threadIdx.x + i])) + \
         (*spad_place_at(bytes, &rows[32 * threadIdx.x + i + 1])) * in[i];"
    );
}
