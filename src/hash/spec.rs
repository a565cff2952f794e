//! Hash specs: the textual names of bank mappings.

use super::shift::ShiftTable;
use crate::error::{Error, Result};
use serde::Serialize;
use spadkit_hdl::HashKind;
use std::fmt;
use std::str::FromStr;

/// The kind of configurable hash unit called `name`.
pub fn hash_kind(name: &str) -> Result<HashKind> {
    let known = HashKind::ALL.into_iter().find(|kind| kind.name() == name);
    known.ok_or_else(|| {
        Error::usage(
            format!("'{name}' is no kind of hash unit"),
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
    /// `bitvec-perm:k=3`: `addr[k..k+m)`.
    BitvecPerm {
        /// First address bit.
        k: u32,
    },
    /// `bitvec-xor:k1=0,k2=5,mask=7`: `addr[k1..k1+m) ^ (addr[k2..k2+m) & mask)`.
    BitvecXor {
        /// First address bit of the first vector.
        k1: u32,
        /// First address bit of the masked vector.
        k2: u32,
        /// m-bit mask of the second vector.
        mask: u32,
    },
    /// `bitwise-perm:0,4,5`: one address bit per bank bit.
    BitwisePerm(Vec<u32>),
    /// `bitwise-xor:0,0^4,1^6`: one address bit, or the XOR of two, per bank bit.
    BitwiseXor(Vec<(u32, Option<u32>)>),
    /// `matrix:0x21,0x42`: the mask of address bits that are XORed, per bank bit.
    Matrix(Vec<u32>),
    /// `rap:seed=1` or `rap:2,0,3,1`: random address permute-shift (RAP paper).
    Rap(ShiftTable),
    /// `ras:...`: random address shift, independent shifts.
    Ras(ShiftTable),
}

impl HashSpec {
    /// The configurable unit that takes this spec as it stands; `None` for the
    /// fixed hashes and for RAP and RAS, which have units of their own.
    pub fn kind(&self) -> Option<HashKind> {
        match self {
            HashSpec::BitvecPerm { .. } => Some(HashKind::BitvecPerm),
            HashSpec::BitvecXor { .. } => Some(HashKind::BitvecXor),
            HashSpec::BitwisePerm(_) => Some(HashKind::BitwisePerm),
            HashSpec::BitwiseXor(_) => Some(HashKind::BitwiseXor),
            HashSpec::Matrix(_) => Some(HashKind::Matrix),
            _ => None,
        }
    }
}

impl fmt::Display for HashSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
            items.iter().map(show).collect::<Vec<_>>().join(",")
        }
        let shifts = |table: &ShiftTable| match table {
            ShiftTable::Seed(seed) => format!("seed={seed}"),
            ShiftTable::Values(v) => list(v, u32::to_string),
        };
        match self {
            HashSpec::Mod => f.write_str("mod"),
            HashSpec::Xor => f.write_str("xor"),
            HashSpec::Add => f.write_str("add"),
            HashSpec::BitvecPerm { k } => write!(f, "bitvec-perm:k={k}"),
            HashSpec::BitvecXor { k1, k2, mask } => {
                write!(f, "bitvec-xor:k1={k1},k2={k2},mask={mask}")
            }
            HashSpec::BitwisePerm(bits) => {
                write!(f, "bitwise-perm:{}", list(bits, u32::to_string))
            }
            HashSpec::BitwiseXor(pairs) => {
                let show = |&(a, b): &(u32, Option<u32>)| match b {
                    None => a.to_string(),
                    Some(b) => format!("{a}^{b}"),
                };
                write!(f, "bitwise-xor:{}", list(pairs, show))
            }
            HashSpec::Matrix(rows) => write!(f, "matrix:{}", list(rows, |r| format!("{r:#x}"))),
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
        let p = Parser { text };
        let needs = || p.args(name, args);
        match name {
            "mod" | "xor" | "add" if args.is_some() => {
                Err(p.error(format!("'{name}' takes no parameters")))
            }
            "mod" => Ok(HashSpec::Mod),
            "xor" => Ok(HashSpec::Xor),
            "add" => Ok(HashSpec::Add),
            "bitvec-perm" => {
                let [k] = p.named(needs()?, ["k"])?;
                Ok(HashSpec::BitvecPerm { k })
            }
            "bitvec-xor" => {
                let [k1, k2, mask] = p.named(needs()?, ["k1", "k2", "mask"])?;
                Ok(HashSpec::BitvecXor { k1, k2, mask })
            }
            "bitwise-perm" => p
                .list(needs()?, |s| p.decimal(s))
                .map(HashSpec::BitwisePerm),
            "bitwise-xor" => p.list(needs()?, |s| p.pair(s)).map(HashSpec::BitwiseXor),
            "matrix" => p.list(needs()?, |s| p.mask(s)).map(HashSpec::Matrix),
            "rap" => p.shifts(needs()?).map(HashSpec::Rap),
            "ras" => p.shifts(needs()?).map(HashSpec::Ras),
            _ => Err(p.error(format!("'{name}' is no hash"))),
        }
    }
}

/// Parses the parameters of one spec; every error quotes the whole spec.
#[derive(Clone, Copy)]
struct Parser<'a> {
    text: &'a str,
}

impl<'a> Parser<'a> {
    fn error(self, what: String) -> Error {
        Error::usage(
            format!("hash spec '{}': {what}", self.text),
            "expected one of mod, xor, add, bitvec-perm:k=3, bitvec-xor:k1=0,k2=5,mask=7, \
             bitwise-perm:0,4,5,6,7, bitwise-xor:0,0^4,0^5,1^6,2^7, matrix:0x21,0x42,..., \
             rap:seed=1, rap:2,0,3,1,..., ras:...; bank bit 0 first",
        )
    }

    fn args(self, name: &str, args: Option<&'a str>) -> Result<&'a str> {
        args.filter(|a| !a.is_empty())
            .ok_or_else(|| self.error(format!("'{name}' needs parameters after a colon")))
    }

    fn list<T>(self, args: &str, item: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
        args.split(',').map(item).collect()
    }

    fn decimal(self, s: &str) -> Result<u32> {
        // u32::from_str would take a leading '+'.
        s.bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| s.parse().ok())
            .flatten()
            .ok_or_else(|| self.error(format!("'{s}' is no number")))
    }

    fn mask(self, s: &str) -> Result<u32> {
        match s.strip_prefix("0x") {
            Some(hex) if hex.bytes().all(|b| b.is_ascii_hexdigit()) => u32::from_str_radix(hex, 16)
                .map_err(|_| self.error(format!("'{s}' is no mask of address bits"))),
            Some(_) => Err(self.error(format!("'{s}' is no hexadecimal number"))),
            None => self.decimal(s),
        }
    }

    fn pair(self, s: &str) -> Result<(u32, Option<u32>)> {
        match s.split_once('^') {
            None => Ok((self.decimal(s)?, None)),
            Some((a, b)) => {
                let (a, b) = (self.decimal(a)?, self.decimal(b)?);
                if a == b {
                    return Err(self.error(format!("{a}^{b} is always zero")));
                }
                Ok((a.min(b), Some(a.max(b))))
            }
        }
    }

    fn named<const K: usize>(self, args: &str, names: [&str; K]) -> Result<[u32; K]> {
        let mut values = [None; K];
        for arg in args.split(',') {
            let (name, value) = arg
                .split_once('=')
                .ok_or_else(|| self.error(format!("'{arg}' is no NAME=VALUE")))?;
            let i = names.iter().position(|n| *n == name).ok_or_else(|| {
                self.error(format!(
                    "unknown parameter '{name}', expected {}",
                    names.join(", ")
                ))
            })?;
            if values[i].replace(self.decimal(value)?).is_some() {
                return Err(self.error(format!("parameter '{name}' is given twice")));
            }
        }
        let missing = (0..K).find(|&i| values[i].is_none());
        match missing {
            Some(i) => Err(self.error(format!("parameter '{}' is missing", names[i]))),
            None => Ok(values.map(|v| v.unwrap_or_default())),
        }
    }

    fn shifts(self, args: &str) -> Result<ShiftTable> {
        match args.strip_prefix("seed=") {
            Some(seed) => seed
                .bytes()
                .all(|b| b.is_ascii_digit())
                .then(|| seed.parse().ok())
                .flatten()
                .map(ShiftTable::Seed)
                .ok_or_else(|| self.error(format!("'{seed}' is no seed"))),
            None => self.list(args, |s| self.decimal(s)).map(ShiftTable::Values),
        }
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
            ("", "is no hash"),
            ("mod:1", "takes no parameters"),
            ("xor:", "takes no parameters"),
            ("bitvec-perm", "needs parameters"),
            ("bitvec-perm:", "needs parameters"),
            ("bitvec-perm:k=-1", "'-1' is no number"),
            ("bitvec-perm:k=+1", "'+1' is no number"),
            ("bitvec-xor:k1=0,k2=5", "'mask' is missing"),
            ("bitvec-xor:k1=0,k1=0,k2=5,mask=7", "given twice"),
            ("bitvec-xor:k1=0,k3=5,mask=7", "unknown parameter 'k3'"),
            ("bitwise-perm:0,,5", "'' is no number"),
            ("bitwise-perm:0,99999999999", "is no number"),
            ("bitwise-xor:3^3", "always zero"),
            ("matrix:0xzz", "no hexadecimal"),
            ("matrix:0x1ffffffff", "no mask"),
            ("rap:seed=x", "is no seed"),
            ("rap:seed=+5", "is no seed"),
        ] {
            let error = text.parse::<HashSpec>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
