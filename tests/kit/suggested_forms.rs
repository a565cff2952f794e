//! The forms in which people write accesses, and how `tune --software` changes them
//! (`tests/fixtures/cuda/forms.cu`). What it prints was pasted and compiled: each kernel
//! then has the conflicts that are said, and the results that it had.

use crate::common::json;
use serde_json::Value;
use std::fs;

/// The suggestions for kernel `entry`; `more` is put into its launch file.
fn suggestions(entry: &str, block: &str, types: [&str; 2], more: &str) -> Value {
    let dir = tempfile::tempdir().unwrap();
    for file in ["forms.cu", "forms.ptx"] {
        fs::copy(format!("tests/fixtures/cuda/{file}"), dir.path().join(file)).unwrap();
    }
    let argument = |name: &str, ty: &str, init: &str| {
        format!("[[arg]]\nname = \"{name}\"\ntype = \"{ty}\"\ncount = 4096\ninit = \"{init}\"\n")
    };
    let launch = format!(
        "ptx = \"forms.ptx\"\nentry = \"{entry}\"\ngrid = [1]\nblock = [{block}]\n{more}{}{}",
        argument("input", types[0], "iota"),
        argument("output", types[1], "zeros")
    );
    let path = dir.path().join("k.toml");
    fs::write(&path, launch).unwrap();
    // Whether a form is understood does not depend on what is installed.
    let own = ["tune", path.to_str().unwrap(), "--software"];
    json(&[&own[..], &["--no-machine-code"]].concat())["suggestions"].take()
}

/// That for the only array of kernel `entry`, and the changed statements by their line.
fn changes(entry: &str, block: &str, types: [&str; 2]) -> (Value, Vec<(u64, String)>) {
    let suggestion = suggestions(entry, block, types, "")[0].take();
    let line = |line: &Value| {
        let call = &line["call"];
        let own = if call.is_null() { line } else { call };
        let (_, number) = own["source"].as_str()?.rsplit_once(':')?;
        Some((
            number.parse().ok()?,
            own["changed_text"].as_str()?.to_owned(),
        ))
    };
    let lines = suggestion["lines"].as_array().unwrap();
    let mut all: Vec<_> = lines.iter().filter_map(line).collect();
    assert_eq!(
        all.len(),
        lines.len(),
        "a line is left to a person: {suggestion}"
    );
    all.sort();
    (suggestion, all)
}

#[track_caller]
fn change(entry: &str, block: &str, types: [&str; 2], expected: &[(u64, &str)]) -> Value {
    let (suggestion, found) = changes(entry, block, types);
    let found: Vec<_> = found.iter().map(|(n, text)| (*n, text.as_str())).collect();
    assert_eq!(found, expected);
    suggestion
}

/// The load of a variable is done where the variable is used.
#[test]
fn a_load_that_has_moved_to_its_use_changes_where_it_is_written() {
    let expected = [
        (8, "t[spad_place(threadIdx.x)] = in[threadIdx.x];"),
        (11, "float4 v = t[spad_place(i)];"),
    ];
    let found = change("float4s", "64", ["f32", "f32"], &expected);
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
    change("aos", "128", ["f32", "f32"], &expected);
}

/// An asynchronous copy is one access of 16 bytes under every mapping.
#[test]
fn an_asynchronous_copy_stays_whole() {
    let (found, _) = changes("cpasync", "128", ["f32", "f32"]);
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
    let found = change("unions", "64", ["f32", "f32"], &expected);
    assert_eq!(found["padding"], Value::Null);
}

#[test]
fn a_lambda_changes_in_place_of_its_calls() {
    let expected = [(
        59,
        "auto at = [&](int r, int c) -> float & { return tile[spad_place(r * 32 + c)]; };",
    )];
    let found = change("lambda", "32, 8", ["f32", "f32"], &expected);
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
    change("ldm", "32", ["f16", "u32"], &expected);
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
    let found = change("ptrwalk", "32", ["f32", "f32"], &expected);
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
    change("macro4", "128", ["f32", "f32"], &expected);
}

/// A pointer that goes to one array or the other is under no function of one of them.
#[test]
fn a_pointer_into_two_arrays_is_left_to_a_person() {
    let found = suggestions("tern", "32, 4", ["f32", "f32"], "");
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
    let found = suggestions("storage", "128", ["f32", "f32"], "dynamic_shared = 8192\n");
    let lines = found[0]["lines"].as_array().unwrap();
    let changed = lines
        .iter()
        .map(|l| l["call"]["changed_text"].as_str().unwrap());
    let expected = "for (int i = threadIdx.x; i < 1024; i += 128) \
                    (*spad_place_at(smem, &s.b[i / 32][i % 32])) = \
                    (*spad_place_at(smem, &s.a[i % 32][i / 32]));";
    assert!(changed.into_iter().any(|text| text == expected), "{found}");
}

/// The definition of a macro that names elements changes, and not the lines that use it.
#[test]
fn a_macro_that_names_elements_changes_in_its_definition() {
    let expected = [(133, "#define TILE(i, j) tile[spad_place(((j) << 5) + (i))]")];
    let found = change("bymacro", "32, 4", ["f32", "f32"], &expected);
    assert_eq!(found["conflicts_before"], 992);
    let code = found["function"].as_str().unwrap();
    assert!(!code.contains("spad_place_at"), "indices alone: {code}");
    // What stands for a parameter may be a sum.
    let expected = [(
        134,
        "#define CUBE(y, z) (&cube[0][0][0])[spad_place((plane * 16 + (y)) * 32 + (z))]",
    )];
    change("cubes", "32, 4", ["f32", "f32"], &expected);
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
    let found = change("merged", "32", ["f32", "f32"], &expected);
    assert_eq!(found["torn"][0]["bytes"], 16, "{found}");
    assert_eq!(found["conflicts"], 0);
    assert_eq!(found["hash"], "swizzle:5,0,5");
}

/// A statement of two lines with elements on both: each line changes its own.
#[test]
fn lines_of_one_statement_change_apart() {
    let more = "dynamic_shared = 4352\n";
    let found = suggestions("apart", "32", ["f32", "f32"], more);
    let lines = found[0]["lines"].as_array().unwrap();
    let changed = |number: u32| {
        let own = |l: &&Value| {
            l["source"]
                .as_str()
                .unwrap()
                .ends_with(&format!(":{number}"))
        };
        let line = lines.iter().find(own).unwrap();
        line["call"]["changed_text"].as_str().unwrap()
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
