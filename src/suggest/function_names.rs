//! The names of the functions that the changed lines call.

/// That of each array, by its name in the source. Arrays of several functions may have one
/// name, and each has a mapping of its own.
pub(super) fn names(arrays: &[String]) -> Vec<String> {
    if let [_] = arrays {
        return vec!["spad_place".to_owned()];
    }
    let mut names: Vec<String> = Vec::new();
    for array in arrays {
        let own = format!("spad_place_{}", identifier(array));
        let numbered = (2..).map(|n| format!("{own}_{n}"));
        let mut all = std::iter::once(own.clone()).chain(numbered);
        names.extend(all.find(|new| !names.iter().any(|known| clash(known, new))));
    }
    names
}

/// Whether the functions of two names do: that of addresses ends with `_at`.
fn clash(one: &str, other: &str) -> bool {
    let is_of = |long: &str, short: &str| long.strip_suffix("_at") == Some(short);
    one == other || is_of(one, other) || is_of(other, one)
}

/// A name that C takes.
fn identifier(name: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars()
        .map(|c| if is_word(c) { c } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_arrays_have_a_function_of_one_name() {
        let named =
            |arrays: &[&str]| names(&arrays.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>());
        assert_eq!(named(&["tile"]), ["spad_place"]);
        let two = ["spad_place_tile", "spad_place_tile_2", "spad_place_b"];
        assert_eq!(named(&["tile", "tile", "b"]), two);
        // Two names that C takes as one, a name with a number, and one that ends with `_at`.
        let others = named(&["a$b", "a.b", "a_b_2", "a_b_at", "x_at", "x"]);
        let expected = ["a_b", "a_b_2", "a_b_2_2", "a_b_at_2", "x_at", "x_2"];
        assert_eq!(others, expected.map(|name| format!("spad_place_{name}")));
    }
}
