//! Names of the PTX as the source has them, and numbers of things.

use spadkit_ptx::source_name;
use std::fmt::Display;

/// A function or variable without C++'s mangling: `_ZN4math3addEPfi` is
/// `math::add`. Parameters and template arguments are left out. A name that is
/// not mangled, or in an unknown way, is returned unchanged.
pub fn readable(name: &str) -> String {
    demangled(name).unwrap_or_else(|| name.to_owned())
}

/// A sentence, or the kernel of `FILE entry`, with all names in it readable.
pub fn readable_words(text: &str) -> String {
    let word = |word: &str| {
        let name = word.trim_end_matches([',', ';', ':', '.', ')']);
        readable(name) + &word[name.len()..]
    };
    let words = text.split(' ').map(word);
    words.collect::<Vec<_>>().join(" ")
}

/// A sentence on a kernel whose trace is empty.
pub fn without_accesses(name: &str) -> String {
    format!("{name} does not access shared memory.")
}

/// Names with commas between them, readable.
pub fn readable_list(text: &str) -> String {
    let names = text.split(", ").map(readable);
    names.collect::<Vec<_>>().join(", ")
}

/// A number of things: `1 conflict`, `3 conflicts`.
pub fn counted<N: Display + PartialEq + From<u8>>(n: N, what: &str) -> String {
    let s = if n == N::from(1) { "" } else { "s" };
    format!("{n} {what}{s}")
}

fn demangled(name: &str) -> Option<String> {
    let rest = name.strip_prefix("_Z")?;
    // A variable of a function: `_ZZ`, the function, `E`, the variable.
    if let Some(local) = rest.strip_prefix('Z') {
        let (at, _) = local.match_indices('E').rfind(|(at, _)| {
            let rest = &local[at + 1..];
            source_name(rest).is_some_and(|(_, rest)| rest.is_empty())
        })?;
        return Some(source_name(&local[at + 1..])?.0.to_owned());
    }
    let Some(mut nested) = rest.strip_prefix('N') else {
        // Internal linkage: `_ZL`.
        return Some(
            source_name(rest.strip_prefix('L').unwrap_or(rest))?
                .0
                .to_owned(),
        );
    };
    nested = nested.trim_start_matches(['r', 'V', 'K']);
    let mut parts = Vec::new();
    while let Some((part, rest)) = source_name(nested) {
        if !part.starts_with("_GLOBAL__N") && !part.starts_with("_INTERNAL_") {
            parts.push(part);
        }
        nested = rest;
    }
    // After the names comes the end, or template arguments.
    (!parts.is_empty() && nested.starts_with(['E', 'I'])).then(|| parts.join("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_source() {
        for (mangled, name) in [
            ("_Z9transposePfS_ii", "transpose"),
            ("_ZN4math3addEPfi", "math::add"),
            ("_ZN12_GLOBAL__N_13addEv", "add"),
            ("_ZN14_INTERNAL_a_cu12_GLOBAL__N_14tileE", "tile"),
            ("_ZN7cutlass6KernelINS_4gemmEEEvT_", "cutlass::Kernel"),
            ("_ZZ9transposePfS_iiE4tile", "tile"),
            ("_ZL3mapi", "map"),
            ("_ZN8__main__2trB2v1B4cw51E5ArrayIfE", "__main__::tr"),
            ("plain", "plain"),
            ("_Z", "_Z"),
            ("_Z99x", "_Z99x"),
            ("_ZN3fooC1Ev", "_ZN3fooC1Ev"),
        ] {
            assert_eq!(readable(mangled), name);
        }
        assert_eq!(readable_words("a.cu _Z1ki"), "a.cu k");
        let message = "writes byte 0 of _ZZ1kPiE4lock, read at 3; _Z1ki: (ordered).";
        let expected = "writes byte 0 of lock, read at 3; k: (ordered).";
        assert_eq!(readable_words(message), expected);
        assert_eq!(readable_list("_ZZ1kvE1a, b"), "a, b");
    }

    #[test]
    fn one_is_no_plural() {
        let bytes = [0_u32, 1, 4].map(|n| counted(n, "byte"));
        assert_eq!(bytes, ["0 bytes", "1 byte", "4 bytes"]);
    }
}
