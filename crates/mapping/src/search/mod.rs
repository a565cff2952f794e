//! Search for hash configurations with the fewest bank conflicts.
//!
//! - [`each`]: a unit with few configurations, one after the other;
//! - [`bitvec`]: exhaustive search of bit-vector XOR, full or with the hash
//!   paper's pruned ranges (section 5.1);
//! - [`heuristic`], with [`givargis`] and [`imbalance`]: the two published heuristics (section 5.2);
//! - [`optimal`]: branch and bound over bitwise and matrix mappings, with proof;
//! - [`space`]: how many configurations there are (Table 1).
//!
//! All of it rests on one fact: the conflicts of a linear bank function depend
//! only on its *kernel*, the differences of addresses that share a bank. The
//! order of bank bits, and any XOR among them, change nothing.

pub mod bitvec;
mod columns;
mod control;
pub mod each;
mod family;
pub mod givargis;
pub mod heuristic;
pub mod imbalance;
mod loads;
mod local;
pub mod optimal;
mod passes;
mod plan;
mod quotient;
pub mod reference;
mod score;
pub mod space;
mod tree;
pub mod tune;

pub use control::{Control, Update};
pub use local::reduced;
pub use passes::{Pass, Passes};

use crate::geometry::Geometry;
use crate::hash::{BankFunction, Gf2Matrix, HashKind, HashSpec, kind};
use crate::trace::ConflictProfile;
use spadkit_base::error::{Error, Result};

/// The problem: the fewest conflicts of `passes`, over the mappings whose
/// pivots are among the low `pivot_limit` address bits.
#[derive(Clone, Debug)]
pub struct Problem {
    geometry: Geometry,
    pivot_limit: u32,
    vector_bits: u32,
    passes: Passes,
}

impl Problem {
    /// The problem with all mappings of full rank.
    pub fn new(profile: &ConflictProfile, geometry: Geometry) -> Self {
        Problem {
            geometry,
            pivot_limit: geometry.addr_bits(),
            vector_bits: 0,
            passes: Passes::new(profile, geometry),
        }
    }

    /// Allows only mappings under which vectors of 2^bits words, aligned to
    /// their size, stay whole: the low `bits` address bits are the low bank
    /// bits, and nothing else reads them.
    pub fn with_vectors(mut self, bits: u32) -> Self {
        debug_assert!(bits < self.geometry.bank_bits());
        self.vector_bits = bits;
        self
    }

    /// Number of low address bits that no mapping may change.
    pub fn vector_bits(&self) -> u32 {
        self.vector_bits
    }

    /// Allows only mappings whose pivots are below address bit `pivot_limit`:
    /// `Config::pivot_limit` of the kit for those
    /// that fit the capacity, m for those whose row is the upper address bits.
    pub fn with_pivot_limit(mut self, pivot_limit: u32) -> Result<Self> {
        let m = self.geometry.bank_bits();
        if pivot_limit < m {
            return Err(Error::usage(
                format!("no mapping of rank {m} has its pivots in {pivot_limit} address bits"),
                "the capacity must be a multiple of the number of banks",
            ));
        }
        self.pivot_limit = pivot_limit.min(self.geometry.addr_bits());
        Ok(self)
    }

    /// Address and bank bits.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// The first address bit that may not be a pivot.
    pub fn pivot_limit(&self) -> u32 {
        self.pivot_limit
    }

    /// The accesses.
    pub fn passes(&self) -> &Passes {
        &self.passes
    }

    /// Whether bank rows `rows` can still be completed to an allowed mapping:
    /// they are independent even without the forbidden pivot columns. Where
    /// vectors stay whole, a basis of the rows can be chosen that has the low
    /// address bits alone.
    pub fn allows(&self, rows: &[u32]) -> bool {
        let allowed = (1u32 << self.pivot_limit) - 1;
        let rank = |rows: Vec<u32>| Gf2Matrix::from_rows(rows).rank() as usize;
        if rank(rows.iter().map(|r| r & allowed).collect()) != rows.len() {
            return false;
        }
        if self.vector_bits == 0 {
            return true;
        }
        let whole = (0..self.vector_bits).map(|bit| 1 << bit);
        let rows: Vec<u32> = rows.iter().copied().chain(whole).collect();
        let all = rank(rows.clone());
        let needed = self.geometry.bank_bits() as usize;
        all <= needed && rank(rows.iter().map(|r| r & allowed).collect()) == all
    }

    /// Whether bank rows `rows`, in this order, are an allowed mapping.
    pub fn allows_as_written(&self, rows: &[u32]) -> bool {
        let vector = (1u32 << self.vector_bits) - 1;
        let keeps = |(i, row): (usize, &u32)| {
            if i < self.vector_bits as usize {
                *row == 1 << i
            } else {
                row & vector == 0
            }
        };
        self.allows(rows) && rows.iter().enumerate().all(keeps)
    }

    /// No mapping that keeps vectors whole has fewer conflicts: a bank serves
    /// one of its words at a time.
    pub fn lower_bound(&self) -> u64 {
        let m = self.geometry.bank_bits();
        self.passes.lower_bound(m, self.vector_bits)
    }

    /// Conflicts of a linear `spec` of any rank.
    pub fn conflicts(&self, spec: &HashSpec) -> Result<u64> {
        match BankFunction::new(spec, self.geometry)? {
            BankFunction::Linear(matrix) => Ok(self.passes.conflicts(matrix.rows(), u64::MAX)),
            _ => Err(Error::usage(
                format!("'{spec}' is not a linear bank function"),
                "configurations of the hash units are searched",
            )),
        }
    }
}

/// The result of one search.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The best configuration found.
    pub spec: HashSpec,
    /// Conflicts under that configuration.
    pub conflicts: u64,
    /// Every configuration that the search was asked about has at least as
    /// many: all those of the unit that the [`Problem`] allows.
    pub lower_bound: u64,
    /// Configurations, whole or partial, whose conflicts were counted or
    /// bounded from below.
    pub evaluated: u64,
    /// Rank of the bank function.
    pub rank: u32,
    /// Whether the rank is m; only heuristics as published may miss it.
    pub is_mapping: bool,
}

impl Outcome {
    /// The outcome of a heuristic that took `rows`.
    fn of_rows(problem: &Problem, spec: HashSpec, rows: &[u32]) -> Result<Self> {
        Ok(Outcome {
            conflicts: problem.conflicts(&spec)?,
            spec,
            lower_bound: problem.lower_bound(),
            evaluated: 1,
            rank: Gf2Matrix::from_rows(rows.to_vec()).rank(),
            is_mapping: Gf2Matrix::from_rows(rows.to_vec())
                .dependent_rows()
                .is_none(),
        })
    }

    /// This outcome of a search for unit `kind`, or a better configuration of the unit among
    /// those that `earlier` searches of the same problem have found for others: a search that
    /// its budget ends may miss what a narrower unit can do.
    #[must_use]
    pub fn or_of(self, kind: HashKind, problem: &Problem, earlier: &[Outcome]) -> Self {
        if self.optimal() {
            return self;
        }
        let geometry = problem.geometry();
        let taken = |other: &Outcome| {
            let function = BankFunction::new(&other.spec, geometry).ok()?;
            let BankFunction::Linear(matrix) = function else {
                return None;
            };
            let spec = (kind::of(kind).of_rows)(matrix.rows(), geometry)?;
            Some((other.conflicts, HashSpec::from(spec)))
        };
        let better = earlier
            .iter()
            .filter(|o| o.is_mapping && o.conflicts < self.conflicts);
        match better.filter_map(taken).min_by_key(|taken| taken.0) {
            Some((conflicts, spec)) => Outcome {
                spec,
                conflicts,
                ..self
            },
            None => self,
        }
    }

    /// Whether no allowed configuration of the unit is better, proved.
    pub fn optimal(&self) -> bool {
        self.is_mapping && self.conflicts == self.lower_bound
    }
}

#[cfg(test)]
mod testing {
    use crate::trace::ConflictProfile;
    use rand_chacha::ChaCha12Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    /// `passes` warp accesses of `lanes` uniform addresses of `n` bits.
    pub fn random_profile(seed: u64, n: u32, passes: usize, lanes: u32) -> ConflictProfile {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let mut address = || Some(rng.next_u32() >> (32 - n));
        let accesses: Vec<Vec<Option<u32>>> = (0..passes)
            .map(|_| (0..lanes).map(|_| address()).collect())
            .collect();
        ConflictProfile::of_accesses(accesses.iter().map(Vec::as_slice), lanes)
    }

    /// Warp accesses of up to 32 active lanes.
    pub fn profile_of(accesses: &[Vec<u32>]) -> ConflictProfile {
        let lanes = |a: &Vec<u32>| a.iter().copied().map(Some).collect();
        let accesses: Vec<Vec<Option<u32>>> = accesses.iter().map(lanes).collect();
        ConflictProfile::of_accesses(accesses.iter().map(Vec::as_slice), 32)
    }
}
