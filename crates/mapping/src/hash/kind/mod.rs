//! The kinds of configurable hash unit, one file each: how a configuration is
//! written, what it maps, how it is encoded, how many configurations exist, and
//! how a random one is drawn. A new kind is a new file and a line at the end of
//! this one.

mod bitvec_perm;
mod bitvec_xor;
mod bitwise_perm;
mod bitwise_xor;
mod matrix;
mod parameters;
mod ranges;

pub(super) use parameters::Parser;
pub(super) use ranges::Ranges;

use super::{HashKind, PortValue};
use crate::geometry::Geometry;
use spadkit_base::error::Result;
use std::fmt;

/// Draws a random number below the given bound.
pub type Below<'a> = &'a mut dyn FnMut(u32) -> u32;

/// Called for each configuration.
pub type Visit<'a, S> = &'a mut dyn FnMut(S) -> Result<()>;

/// Name and value of each `cfg_*` port.
pub type Ports = Vec<(&'static str, PortValue)>;

/// A kind of configurable hash unit; the value is one of its configurations,
/// and is displayed as the part of a spec after the colon.
pub trait Kind: fmt::Debug + fmt::Display {
    /// Parameters for the list of all specs in a message.
    fn example() -> &'static str
    where
        Self: Sized;

    /// The search for the best configuration.
    fn search() -> Search
    where
        Self: Sized;

    /// Parses `args`, the part of a spec after the colon.
    fn parse(parser: Parser, args: &str) -> Result<Self>
    where
        Self: Sized;

    /// Whether the parameters are in range.
    fn check(&self, ranges: &Ranges) -> Result<()>;

    /// Per bank bit the mask of address bits whose XOR it is; bits beyond the
    /// address read as zero.
    fn rows(&self, g: Geometry) -> Vec<u32>;

    /// The configuration with these rows, if there is one.
    fn of_rows(rows: &[u32], g: Geometry) -> Option<Self>
    where
        Self: Sized;

    /// Name and value of each `cfg_*` port of the unit.
    fn ports(&self, g: Geometry) -> Ports;

    /// Data of each configuration register, by write index.
    fn registers(&self, g: Geometry) -> Vec<u64>;

    /// Number of configurations (hash paper, Table 1): of bitwise units sets of bank
    /// bits, of the matrix unit row spaces.
    fn count(g: Geometry) -> u128
    where
        Self: Sized;

    /// Every configuration, those of bitwise units up to the order of bank bits.
    fn each(g: Geometry, visit: Visit<Self>) -> Result<()>
    where
        Self: Sized;

    /// A configuration at random, all of one rank equally likely; it need not
    /// have full rank.
    fn draw(g: Geometry, below: Below) -> Self
    where
        Self: Sized;

    /// A value with a meaning for register `index`; `None` where all have one.
    fn draw_register(index: usize, g: Geometry, below: Below) -> Option<u32>
    where
        Self: Sized;
}

/// The search for the best configuration of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// One configuration after the other, for kinds with few.
    Each,
    /// All pairs of windows of address bits, many at once.
    Windows,
    /// Row by row of the bank matrix.
    Rows(Family),
}

/// The rows that a unit can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// One address bit.
    Permutation,
    /// One address bit or the XOR of two.
    Xor,
    /// Any XOR of address bits.
    Matrix,
}

impl Family {
    /// The families from the narrowest to the widest.
    const ALL: [Family; 3] = [Family::Permutation, Family::Xor, Family::Matrix];

    /// The spec of bank rows: of the family, or of a wider one where it has no
    /// such rows.
    pub fn spec(self, rows: &[u32], g: Geometry) -> UnitSpec {
        let families = Family::ALL.into_iter().skip_while(|family| *family != self);
        let mut kinds = families.flat_map(Family::kinds);
        match kinds.find_map(|kind| (of(kind).of_rows)(rows, g)) {
            Some(spec) => spec,
            None => unreachable!("the widest family has any rows"),
        }
    }

    /// The kinds that have it.
    pub fn kinds(self) -> impl Iterator<Item = HashKind> {
        let kinds = HashKind::ALL.into_iter();
        kinds.filter(move |kind| of(*kind).search == Search::Rows(self))
    }
}

/// A [`Kind`] that is known at run time only: its functions, with the type of
/// its specs erased.
#[derive(Debug)]
pub struct ErasedKind {
    /// Verilog of what the proofs compare the unit with.
    pub definition: &'static str,
    /// Parameters for the list of all specs in a message.
    pub example: &'static str,
    /// Search for the best configuration.
    pub search: Search,
    pub(super) parse: fn(Parser, &str) -> Result<UnitSpec>,
    /// The configuration with these rows, if there is one.
    pub of_rows: fn(&[u32], Geometry) -> Option<UnitSpec>,
    /// Number of configurations.
    pub count: fn(Geometry) -> u128,
    /// Every configuration.
    pub each: fn(Geometry, Visit<UnitSpec>) -> Result<()>,
    /// A configuration at random.
    pub draw: fn(Geometry, Below) -> UnitSpec,
    /// A value with a meaning for a register.
    pub draw_register: fn(usize, Geometry, Below) -> Option<u32>,
}

/// Number of sets of `size` among `items` things.
fn sets(items: u32, size: u32) -> u128 {
    let (items, size) = (u128::from(items), u128::from(size));
    (0..size).fold(1, |count, i| count * (items - i) / (i + 1))
}

/// Every set of `size` of the `items`.
fn each_set<T: Copy>(
    items: &[T],
    size: u32,
    visit: &mut dyn FnMut(Vec<T>) -> Result<()>,
) -> Result<()> {
    extend(items, size as usize, &mut Vec::new(), visit)
}

/// Every set of `size` that has those `taken`, and others of the `items`.
fn extend<T: Copy>(
    items: &[T],
    size: usize,
    taken: &mut Vec<T>,
    visit: &mut dyn FnMut(Vec<T>) -> Result<()>,
) -> Result<()> {
    if taken.len() == size {
        return visit(taken.clone());
    }
    for (i, &item) in items.iter().enumerate() {
        taken.push(item);
        extend(&items[i + 1..], size, taken, visit)?;
        taken.pop();
    }
    Ok(())
}

/// The items, with commas between them.
fn list<T>(f: &mut fmt::Formatter<'_>, items: &[T], show: impl Fn(&T) -> String) -> fmt::Result {
    let items: Vec<String> = items.iter().map(show).collect();
    f.write_str(&items.join(","))
}

macro_rules! kinds {
    ($($kind:ident, $file:ident;)+) => {
        $(pub use $file::$kind;)+

        /// A configuration of a configurable unit.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub enum UnitSpec {
            $(
                #[doc = concat!("Of `spad_hash_", stringify!($file), "`.")]
                $kind($kind),
            )+
        }

        $(
            impl From<$kind> for UnitSpec {
                fn from(spec: $kind) -> Self {
                    UnitSpec::$kind(spec)
                }
            }
        )+

        impl UnitSpec {
            /// The unit's kind.
            pub fn kind(&self) -> HashKind {
                match self {
                    $(UnitSpec::$kind(_) => HashKind::$kind,)+
                }
            }

            /// The configuration as what all kinds have in common.
            pub fn get(&self) -> &dyn Kind {
                match self {
                    $(UnitSpec::$kind(spec) => spec,)+
                }
            }
        }

        /// The kind's functions, for `kind`.
        pub fn of(kind: HashKind) -> ErasedKind {
            match kind {
                $(HashKind::$kind => ErasedKind {
                    definition: include_str!(concat!(stringify!($file), ".v")),
                    example: $kind::example(),
                    search: $kind::search(),
                    parse: |parser, args| $kind::parse(parser, args).map(UnitSpec::$kind),
                    of_rows: |rows, g| $kind::of_rows(rows, g).map(UnitSpec::$kind),
                    count: $kind::count,
                    each: |g, visit| $kind::each(g, &mut |spec| visit(UnitSpec::$kind(spec))),
                    draw: |g, below| UnitSpec::$kind($kind::draw(g, below)),
                    draw_register: $kind::draw_register,
                },)+
            }
        }
    };
}

kinds! {
    BitvecPerm, bitvec_perm;
    BitvecXor, bitvec_xor;
    BitwisePerm, bitwise_perm;
    BitwiseXor, bitwise_xor;
    Matrix, matrix;
}

pub use bitwise_xor::select_lines;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_counted_and_listed_alike() {
        let mut listed = 0;
        let items: Vec<u32> = (0..9).collect();
        let mut count = |_| {
            listed += 1;
            Ok(())
        };
        each_set(&items, 4, &mut count).unwrap();
        assert_eq!(listed, sets(9, 4));
    }

    /// Text, rows and number of a configuration agree.
    #[test]
    fn every_configuration_is_found_by_its_rows() {
        let g = Geometry::new(9, 3).unwrap();
        for kind in HashKind::ALL
            .into_iter()
            .filter(|k| (of(*k).count)(g) < 20_000)
        {
            let mut listed = 0;
            let visit = &mut |spec: UnitSpec| {
                listed += 1;
                let rows = spec.get().rows(g);
                let rows: Vec<u32> = rows.iter().map(|row| row & g.addr_mask()).collect();
                let found = (of(kind).of_rows)(&rows, g).expect("its rows are of the kind");
                let again = found.get().rows(g);
                assert!(
                    again
                        .iter()
                        .zip(&rows)
                        .all(|(a, b)| a & g.addr_mask() == *b)
                );
                assert_eq!(
                    spec.get().registers(g).len(),
                    found.get().registers(g).len()
                );
                Ok(())
            };
            (of(kind).each)(g, visit).unwrap();
            assert_eq!(listed, (of(kind).count)(g), "{kind}");
        }
    }
}
