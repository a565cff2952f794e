//! Version numbers of external tools.

use serde::{Serialize, Serializer};
use std::fmt;

/// A dotted version number. Parts compare as numbers, so 0.23 is newer than
/// 0.9, and 5.006 is 5.6.
#[derive(Clone, Debug)]
pub struct Version {
    text: String,
    parts: Vec<u64>,
}

impl Version {
    /// The first dotted number of what a tool prints about itself.
    pub fn find_in(text: &str) -> Option<Self> {
        text.split(|c: char| !c.is_ascii_digit() && c != '.')
            .find_map(Self::parse)
    }

    /// `1.2` or longer; anything else is not a version.
    fn parse(word: &str) -> Option<Self> {
        let text = word.trim_matches('.');
        let parts: Option<Vec<u64>> = text.split('.').map(|p| p.parse().ok()).collect();
        match parts {
            Some(parts) if parts.len() >= 2 => Some(Version {
                text: text.to_owned(),
                parts,
            }),
            _ => None,
        }
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.parts.cmp(&other.parts)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        Version::find_in(text).unwrap()
    }

    #[test]
    fn finds_the_version_in_what_tools_print() {
        let cases = [
            ("Verilator 5.006 2023-01-22 rev (Debian 5.006-3)", "5.006"),
            ("Yosys 0.23 (git sha1 7ce5011c24b)", "0.23"),
            ("Yosys 0.33+65 (git sha1 x)", "0.33"),
            ("2.0.17", "2.0.17"),
            ("Icarus Verilog version 11.0 (stable) ()", "11.0"),
            ("c++ (Debian 12.2.0-14+deb12u1) 12.2.0", "12.2.0"),
            ("Z3 version 4.8.12 - 64 bit", "4.8.12"),
        ];
        for (text, expected) in cases {
            assert_eq!(version(text).to_string(), expected, "{text}");
        }
        assert!(Version::find_in("Segmentation fault 11 ... 1.").is_none());
        assert!(Version::find_in("").is_none());
    }

    #[test]
    fn parts_compare_as_numbers() {
        assert!(version("0.9") < version("0.23"));
        assert!(version("5.006") < version("5.020"));
        assert!(version("5.006") == version("5.6"));
        assert!(version("5.006") < version("5.006.1"));
    }
}
