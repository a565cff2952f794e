//! Accesses in helper functions, and how `tune --software` changes them
//! (`tests/fixtures/cuda/helpers.cu`). What it prints was pasted and compiled: each kernel
//! then has the conflicts that are said, and the results that it had.

use crate::common::suggested::{Case, changes};

/// A kernel whose arrays have 2048 elements of type `ty`.
fn case<'a>(entry: &'a str, block: &'a str, ty: &'a str) -> Case<'a> {
    Case {
        types: [ty; 2],
        count: 2048,
        input: Some("random"),
        ..Case::of("helpers", entry, block)
    }
}

#[test]
fn a_call_that_hands_over_elements_by_reference_changes() {
    let suggestions = case("network", "128", "u32").suggestions();
    let suggestions = suggestions.as_array().unwrap();
    let [key, tag] = &suggestions[..] else {
        panic!("{suggestions:?}")
    };
    let calls = [
        (
            21,
            "order(key[spad_place_key(i + half)], key[spad_place_key(i)]);",
        ),
        (
            22,
            "order(tag[spad_place_tag(i)], tag[spad_place_tag(i + half)]);",
        ),
    ];
    for (suggestion, (number, text)) in [key, tag].into_iter().zip(calls) {
        let all = changes(suggestion);
        assert_eq!(all.len(), 4, "{all:?}");
        assert!(all.contains(&(number, text.to_owned())), "{all:?}");
        assert_eq!(suggestion["conflicts"], 0);
    }
}

/// The pointer has the start of an array that its function does not see; a line that the
/// run does not reach changes, too.
#[test]
fn elements_of_shared_memory_as_samples_declare_it_change() {
    let case = Case {
        more: "dynamic_shared = 1024\n",
        ..case("dynamic", "256", "f32")
    };
    case.changes_to(&[
        (
            41,
            "(*spad_place_at(part, &part[threadIdx.x])) = input[threadIdx.x];",
        ),
        (43, "(*spad_place_at(part, &part[threadIdx.x])) = 0;"),
        (
            48,
            "(*spad_place_at(part, &part[i])) += (*spad_place_at(part, &part[i + s]));",
        ),
        (
            51,
            "output[threadIdx.x] = (*spad_place_at(part, &part[0]));",
        ),
    ]);
}

#[test]
fn functions_that_hand_a_pointer_on_get_the_start_of_the_array() {
    case("bins", "64", "u32").changes_to(&[
        (
            59,
            "__device__ void count(unsigned *bins, unsigned bin, const void *spad_all) { \
                 atomicAdd(spad_place_at(spad_all, bins + bin), 2); }",
        ),
        (
            61,
            "__device__ void count_two(unsigned *bins, unsigned word, const void *spad_all)",
        ),
        (63, "count(bins, word & 31, spad_all);"),
        (64, "count(bins, word >> 3 & 31, spad_all);"),
        (71, "all[spad_place(i)] = 0;"),
        (
            73,
            "count_two(all + 32 * threadIdx.x, input[threadIdx.x], all);",
        ),
        (76, "output[i] = all[spad_place(i)];"),
    ]);
}

/// The rows of the comment are longer. The store has the line of the value.
#[test]
fn a_declaration_in_a_comment_is_none() {
    case("commented", "128", "f32").changes_to(&[
        (
            85,
            "(&tile[0][0])[spad_place(row * (32 + GAP) + (threadIdx.x % 32))] = \
                 input[32 * row + threadIdx.x % 32];",
        ),
        (
            91,
            "(&tile[0][0])[spad_place((threadIdx.x % 32) * (32 + GAP) + row)];",
        ),
    ]);
}

/// The best mapping of a kind removes all three conflicts, and makes the compiler split 64-bit
/// loads. Of all kinds, one removes those of the halves, too.
#[test]
fn a_change_after_which_more_conflicts_are_left_is_no_suggestion() {
    let case = case("pairs", "256", "f32");
    let any = case.tuned(&[]);
    assert_eq!(any["suggestions"][0]["hash"], "swizzle:2,0,5", "{any}");
    assert_eq!(any["suggestions"][0]["conflicts"], 0);
    let tuned = case.tuned(&["--hash", "bitvec-xor"]);
    assert_eq!(tuned["suggestions"].as_array().unwrap().len(), 0, "{tuned}");
    let left = &tuned["left_alone"][0];
    assert_eq!(
        (&left["conflicts_before"], &left["conflicts"]),
        (&3.into(), &128.into())
    );
    let torn = left["torn"][0]["source"].as_str().unwrap();
    assert!(torn.ends_with("helpers.cu:107"), "{torn}");
}
