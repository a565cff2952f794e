//! Hash specs: the textual names of bank mappings.

use super::kind::{self, Parser, UnitSpec};
use super::shift::ShiftTable;
use serde::Serialize;
use spadkit_base::error::{Error, Result};
use spadkit_base::quote::did_you_mean;
use spadkit_names::HashKind;
use std::fmt;
use std::str::FromStr;

/// The kind of configurable hash unit called `name`.
pub fn hash_kind(name: &str) -> Result<HashKind> {
    let known = HashKind::ALL.into_iter().find(|kind| kind.name() == name);
    known.ok_or_else(|| {
        Error::usage(
            format!(
                "'{name}' is not a kind of hash unit{}",
                did_you_mean(name, HashKind::ALL.map(HashKind::name))
            ),
            format!("kinds are {}", HashKind::ALL.map(HashKind::name).join(", ")),
        )
    })
}

/// A bank mapping as written on the command line, in files and in JSON.
///
/// Bank bit 0 comes first. Numbers are decimal, in `matrix` also hexadecimal.
/// A spec is geometry-independent text; [`Mapping::new`](super::Mapping::new)
/// checks it against a geometry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HashSpec {
    /// `mod`: bank = addr mod 2^m, the conventional mapping.
    Mod,
    /// `xor`: `addr[0..m) ^ addr[m..2m)`, the fixed hash of the atomics paper.
    Xor,
    /// `add`: `(addr[0..m) + addr[m..2m)) mod 2^m`.
    Add,
    /// `bitwise-perm:0,4,5` and so on: of a configurable unit, see [`kind`](super::kind).
    Unit(UnitSpec),
    /// `rap:seed=1` or `rap:2,0,3,1`: random address permute-shift (RAP paper).
    Rap(ShiftTable),
    /// `ras:...`: random address shift, independent shifts.
    Ras(ShiftTable),
}

impl HashSpec {
    /// Whether it is written `mod`.
    pub fn is_mod(&self) -> bool {
        *self == HashSpec::Mod
    }

    /// The configurable unit that takes this spec as it stands; `None` for the
    /// fixed hashes and for RAP and RAS, which have units of their own.
    pub fn kind(&self) -> Option<HashKind> {
        match self {
            HashSpec::Unit(spec) => Some(spec.kind()),
            _ => None,
        }
    }
}

impl<K: Into<UnitSpec>> From<K> for HashSpec {
    fn from(spec: K) -> Self {
        HashSpec::Unit(spec.into())
    }
}

impl fmt::Display for HashSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shifts = |table: &ShiftTable| match table {
            ShiftTable::Seed(seed) => format!("seed={seed}"),
            ShiftTable::Values(v) => {
                let values: Vec<String> = v.iter().map(u32::to_string).collect();
                values.join(",")
            }
        };
        match self {
            HashSpec::Mod => f.write_str("mod"),
            HashSpec::Xor => f.write_str("xor"),
            HashSpec::Add => f.write_str("add"),
            HashSpec::Unit(spec) => write!(f, "{}:{}", spec.kind(), spec.get()),
            HashSpec::Rap(table) => write!(f, "rap:{}", shifts(table)),
            HashSpec::Ras(table) => write!(f, "ras:{}", shifts(table)),
        }
    }
}

impl Serialize for HashSpec {
    fn serialize<S: serde::Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl FromStr for HashSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, args) = match text.split_once(':') {
            Some((name, args)) => (name, Some(args)),
            None => (text, None),
        };
        let p = Parser::new(text, expected);
        let needs = || p.args(name, args);
        match name {
            "mod" | "xor" | "add" if args.is_some() => {
                Err(p.error(format!("'{name}' takes no parameters")))
            }
            "mod" => Ok(HashSpec::Mod),
            "xor" => Ok(HashSpec::Xor),
            "add" => Ok(HashSpec::Add),
            "rap" => shifts(p, needs()?).map(HashSpec::Rap),
            "ras" => shifts(p, needs()?).map(HashSpec::Ras),
            _ => match HashKind::ALL.into_iter().find(|kind| kind.name() == name) {
                Some(kind) => (kind::of(kind).parse)(p, needs()?).map(HashSpec::Unit),
                None => {
                    let kinds = HashKind::ALL.map(HashKind::name);
                    // Software layouts, which are parsed before, are named alike.
                    let others = ["mod", "xor", "add", "rap", "ras", "swizzle", "pad", "tma"];
                    let near = did_you_mean(name, kinds.into_iter().chain(others));
                    Err(p.error(format!("'{name}' is not a hash{near}")))
                }
            },
        }
    }
}

/// The accepted forms, for the error of an invalid spec.
fn expected() -> String {
    let kinds = HashKind::ALL.map(|kind| format!("{kind}:{}", kind::of(kind).example));
    format!(
        "expected one of mod, xor, add, {}, rap:seed=1, rap:2,0,3,1,..., ras:...; bank bit 0 first",
        kinds.join(", ")
    )
}

fn shifts(parser: Parser, args: &str) -> Result<ShiftTable> {
    match args.strip_prefix("seed=") {
        Some(seed) => seed
            .bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| seed.parse().ok())
            .flatten()
            .map(ShiftTable::Seed)
            .ok_or_else(|| parser.error(format!("'{seed}' is not a seed"))),
        None => parser
            .list(args, |s| parser.decimal(s))
            .map(ShiftTable::Values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_survive_a_round_trip() {
        for text in [
            "mod",
            "xor",
            "add",
            "bitvec-perm:k=3",
            "bitvec-xor:k1=0,k2=5,mask=7",
            "bitwise-perm:0,4,5,6,7",
            "bitwise-xor:0,0^4,0^5,1^6,2^7",
            "matrix:0x21,0x42,0x84,0x108,0x210",
            "rap:seed=1",
            "rap:2,0,3,1",
            "ras:seed=18446744073709551615",
        ] {
            let spec: HashSpec = text.parse().unwrap();
            assert_eq!(spec.to_string(), text);
        }
        assert_eq!(
            "matrix:33,66".parse::<HashSpec>().unwrap(),
            "matrix:0x21,0x42".parse().unwrap()
        );
        assert_eq!(
            "bitwise-xor:4^0".parse::<HashSpec>().unwrap().to_string(),
            "bitwise-xor:0^4"
        );
    }

    #[test]
    fn bad_specs_are_refused_with_the_reason() {
        for (text, reason) in [
            ("", "is not a hash"),
            ("mod:1", "takes no parameters"),
            ("xor:", "takes no parameters"),
            ("bitvec-perm", "needs parameters"),
            ("bitvec-perm:", "needs parameters"),
            ("bitvec-perm:k=-1", "'-1' is not a number"),
            ("bitvec-perm:k=+1", "'+1' is not a number"),
            ("bitvec-xor:k1=0,k2=5", "'mask' is missing"),
            ("bitvec-xor:k1=0,k1=0,k2=5,mask=7", "given twice"),
            ("bitvec-xor:k1=0,k3=5,mask=7", "unknown parameter 'k3'"),
            ("bitwise-perm:0,,5", "'' is not a number"),
            ("bitwise-perm:0,99999999999", "is not a number"),
            ("bitwise-xor:3^3", "always zero"),
            ("matrix:0xzz", "not a hexadecimal number"),
            ("matrix:0x1ffffffff", "not a mask"),
            ("rap:seed=x", "is not a seed"),
            ("rap:seed=+5", "is not a seed"),
        ] {
            let error = text.parse::<HashSpec>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
