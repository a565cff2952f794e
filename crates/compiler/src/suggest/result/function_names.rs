//! The names of the functions that the changed lines call.

use crate::suggest::array::target::Target;
use std::collections::BTreeSet;

/// The names that the functions of several kernels have. Kernels whose code stands in one
/// file can be changed one after the other, or all together: each mapping of an array has
/// a name of its own there.
#[derive(Debug, Default)]
pub struct FunctionNames(Vec<Named>);

/// A function.
#[derive(Debug)]
struct Named {
    /// The files that its kernel's accesses are in.
    files: BTreeSet<String>,
    of: MappedArray,
    name: String,
}

/// An array under its mapping. Launches of one kernel that are best with one mapping have one
/// function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::suggest) struct MappedArray {
    kernel: String,
    variable: Option<String>,
    /// Name of the array in the source.
    array: String,
    mapping: String,
}

impl MappedArray {
    pub fn of(target: &Target, kernel: &str) -> Self {
        MappedArray {
            kernel: kernel.to_owned(),
            variable: target.variable.map(|v| v.name.clone()),
            array: target.array_name(),
            mapping: target.choices.best().layout.spec().to_string(),
        }
    }
}

impl FunctionNames {
    /// The function name for each array of a kernel in `files`; `is_taken` tells which
    /// words the source already uses. Arrays of several functions may have one name.
    pub(in crate::suggest) fn give(
        &mut self,
        arrays: &[MappedArray],
        files: &BTreeSet<String>,
        is_taken: impl Fn(&str) -> bool,
    ) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for array in arrays {
            let near = |named: &&Named| !named.files.is_disjoint(files);
            let known = self.0.iter().filter(near).find(|n| n.of == *array);
            if let Some(known) = known.filter(|k| !names.contains(&k.name)) {
                names.push(known.name.clone());
                continue;
            }
            let own = format!("spad_place_{}", identifier(&array.array));
            let alone = (arrays.len() == 1).then(|| "spad_place".to_owned());
            let numbered = (2..).map(|n| format!("{own}_{n}"));
            let mut all = alone.into_iter().chain([own.clone()]).chain(numbered);
            let is_free = |new: &String| {
                let others = self.0.iter().filter(near).map(|named| &named.name);
                !is_taken(new) && !others.into_iter().any(|known| clash(known, new))
            };
            let name = all.find(is_free).unwrap_or(own);
            names.push(name.clone());
            self.0.push(Named {
                files: files.clone(),
                of: array.clone(),
                name,
            });
        }
        names
    }
}

/// The functions that go with one of this name: that of words, and that of addresses.
pub(in crate::suggest) fn with_helpers(name: &str) -> [String; 3] {
    ["", "_word", "_at"].map(|end| format!("{name}{end}"))
}

/// Whether functions of two names do.
fn clash(one: &str, other: &str) -> bool {
    let (own, others) = (with_helpers(one), with_helpers(other));
    own.iter().any(|name| others.contains(name))
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

    fn array(kernel: &str, array: &str) -> MappedArray {
        MappedArray {
            kernel: kernel.to_owned(),
            variable: None,
            array: array.to_owned(),
            mapping: "xor".to_owned(),
        }
    }

    fn files(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn no_two_arrays_have_a_function_of_one_name() {
        let named = |arrays: &[&str]| {
            // Equal names are arrays of different functions.
            let all = arrays.iter().enumerate();
            let all: Vec<_> = all.map(|(n, a)| array(&n.to_string(), a)).collect();
            FunctionNames::default().give(&all, &files(&["k.cu"]), |_| false)
        };
        assert_eq!(named(&["tile"]), ["spad_place"]);
        let two = ["spad_place_tile", "spad_place_tile_2", "spad_place_b"];
        assert_eq!(named(&["tile", "tile", "b"]), two);
        // Two names that C takes as one, a name with a number, and one that ends with `_at`.
        let others = named(&["a$b", "a.b", "a_b_2", "a_b_at", "x_at", "x"]);
        let expected = ["a_b", "a_b_2", "a_b_2_2", "a_b_at_2", "x_at", "x_2"];
        assert_eq!(others, expected.map(|name| format!("spad_place_{name}")));
    }

    /// Kernels of one file have no name in common; one that is launched twice has one function.
    #[test]
    fn names_of_a_file_are_those_of_one_mapping_each() {
        let mut names = FunctionNames::default();
        let mut give = |kernel: &str, of: &[&str], within: &[&str]| {
            let arrays: Vec<_> = of.iter().map(|a| array(kernel, a)).collect();
            names.give(&arrays, &files(within), |word| word == "spad_place_gone")
        };
        assert_eq!(give("f", &["s"], &["a.cu", "h.h"]), ["spad_place"]);
        assert_eq!(give("g", &["s"], &["a.cu"]), ["spad_place_s"]);
        assert_eq!(give("h", &["s"], &["b.cu", "h.h"]), ["spad_place_s"]);
        assert_eq!(give("f", &["s"], &["a.cu", "h.h"]), ["spad_place"]);
        assert_eq!(give("f", &["s"], &["c.cu"]), ["spad_place"]);
        let two = ["spad_place_s_2", "spad_place_gone_2"];
        assert_eq!(give("k", &["s", "gone"], &["a.cu"]), two);
    }
}
