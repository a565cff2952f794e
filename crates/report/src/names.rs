//! The names of mappings for readers, in a table and in a sentence.

use spadkit_mapping::hash::hash_kind;

/// The spec of the conventional mapping.
pub(super) const PLAIN: &str = "mod";

/// The names of a mapping.
pub struct Names {
    /// Name in a table: "Bit-vector XOR unit".
    pub label: String,
    /// Name as the subject of a sentence: "a bit-vector XOR hash unit".
    pub subject: String,
}

/// The names of the hash `spec` in hardware.
pub fn unit(spec: &str) -> Names {
    let (label, subject) = match kind(spec) {
        PLAIN => ("Nothing".to_owned(), "the kernel as it is".to_owned()),
        "xor" => ("Fixed XOR".to_owned(), "a fixed XOR hash".to_owned()),
        "add" => ("Fixed ADD".to_owned(), "a fixed ADD hash".to_owned()),
        kind if hash_kind(kind).is_ok() => {
            let words = kind.split('-').map(|word| match word {
                "bitvec" => "bit-vector",
                "perm" => "permutation",
                "xor" => "XOR",
                other => other,
            });
            let name = words.collect::<Vec<_>>().join(" ");
            let subject = format!("a {name} hash unit");
            (capital(&name) + " unit", subject)
        }
        other => (other.to_owned(), format!("a {other} hash")),
    };
    Names { label, subject }
}

/// The names of the mapping `spec` in software.
pub fn software(spec: &str) -> Names {
    let (label, subject) = match kind(spec) {
        "pad" => ("Padding", "padding of the array"),
        "swizzle" => ("Swizzle", "a swizzle of the index"),
        "add" => ("Shifted index", "a shift of the index"),
        _ => ("XOR of the index", "an XOR in the index"),
    };
    Names {
        label: format!("{label} in software"),
        subject: subject.to_owned(),
    }
}

/// The names of longer rows in the declarations.
pub fn padding() -> Names {
    Names {
        label: "Padding in the declaration".to_owned(),
        subject: "padding in the declaration alone".to_owned(),
    }
}

/// The part of a spec before its parameters.
fn kind(spec: &str) -> &str {
    spec.split(':').next().unwrap_or(spec)
}

/// The text with a capital letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}
