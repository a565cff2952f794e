//! An array of shared memory with the accesses to it.

use super::super::Steps;
use super::super::layout::{Layout, LayoutSpec};
use super::copied;
use crate::geometry::Geometry;
use crate::hash::HashSpec;
use crate::search::Problem;
use crate::trace::{
    AccessTrace, BulkCopy, ConflictCount, ConflictProfile, ConflictRule, MatrixRows, TensorCopy,
    WeightedPass,
};
use std::collections::BTreeSet;
use std::fmt;

/// Words of shared memory that are mapped together, and how they are accessed.
#[derive(Clone, Debug)]
pub struct Array {
    geometry: Geometry,
    words: u32,
    vector_words: u32,
    room: u32,
    profile: ConflictProfile,
    problem: Problem,
    copies: Vec<TensorCopy>,
    in_order: Vec<BulkCopy>,
    matrices: Vec<MatrixRows>,
    by_descriptor: bool,
}

/// Why an array cannot have a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The mapping tears vector accesses of this many bytes.
    Tears(u32),
    /// The array takes this many words then, of the second number that there are.
    NoRoom(u32, u32),
    /// The tensor copy at this line of the PTX cannot take the words in its
    /// order.
    Copied(u32),
    /// `wmma` computes the addresses of rows, which are no longer at one distance then,
    /// or not at one that it takes.
    OfRows,
    /// `wgmma` reads the array by a descriptor.
    Descriptor,
    /// A bulk copy without a tensor map keeps the words in their order: it stores from the
    /// array if true.
    InOrder(bool),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Tears(bytes) => write!(f, "it splits accesses of {} bits", 8 * bytes),
            Refusal::NoRoom(needed, room) => {
                write!(f, "it needs {needed} words; {room} are available")
            }
            Refusal::Copied(line) => {
                write!(f, "no swizzle mode of the tensor copy at PTX line {line}")
            }
            Refusal::OfRows => f.write_str(
                "wmma computes the addresses of its rows: only gaps of whole 16 bytes between \
                 rows can spread them",
            ),
            Refusal::Descriptor => f.write_str(
                "wgmma reads the array by a descriptor, whose swizzle mode is its mapping",
            ),
            Refusal::InOrder(stores) => f.write_str(BulkCopy::reason(*stores)),
        }
    }
}

impl Array {
    /// An array of all the shared memory of `trace`, counted by `rule`; with a
    /// mapping, it may occupy up to `room` words.
    pub fn new(trace: &AccessTrace, geometry: Geometry, rule: ConflictRule, room: u32) -> Self {
        let profile = ConflictProfile::new(trace, rule);
        let accesses = trace.accesses.iter();
        let active = accesses.filter(|a| a.addrs.iter().any(Option::is_some));
        let vector_words = active.map(|a| a.words()).max().unwrap_or(1);
        Array {
            geometry,
            words: trace.words().min(geometry.words() as u32),
            vector_words,
            room,
            problem: Problem::new(&profile, geometry).with_vectors(vector_words.ilog2()),
            profile,
            copies: trace.tensor_copies(),
            in_order: trace.bulk_copies(),
            matrices: trace.matrix_rows(),
            by_descriptor: trace.has_descriptors(),
        }
    }

    /// Address and bank bits.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Words of the array.
    pub fn words(&self) -> u32 {
        self.words
    }

    /// Words of the widest access: this many, aligned to their size, stay
    /// together.
    pub fn vector_words(&self) -> u32 {
        self.vector_words
    }

    /// Words that it may take.
    pub fn room(&self) -> u32 {
        self.room
    }

    /// Number of warp accesses to the array.
    pub fn accesses(&self) -> u64 {
        self.profile.accesses
    }

    /// The profile that determines its conflicts.
    pub fn profile(&self) -> &ConflictProfile {
        &self.profile
    }

    /// The tensor copies that go through it, by their lines: it can only be in
    /// the swizzle modes of their maps.
    pub fn tensor_copies(&self) -> &[TensorCopy] {
        &self.copies
    }

    /// The bulk copies without a tensor map that go through it, by their lines: with one, its
    /// words stay in their order.
    pub fn bulk_copies(&self) -> &[BulkCopy] {
        &self.in_order
    }

    /// Whether `wmma` computes the addresses of some of its accesses: then only gaps
    /// between rows can spread them.
    pub fn has_matrices(&self) -> bool {
        !self.matrices.is_empty()
    }

    /// Whether `wgmma` reads it by a descriptor, and no tensor copy writes it: it can be in
    /// the descriptor's swizzle modes, which change every instruction that stores to it,
    /// and in no mapping else.
    pub fn is_by_descriptor(&self) -> bool {
        self.by_descriptor && self.copies.is_empty()
    }

    /// Whether a gap of `by` words after every `every` leaves the rows of its matrices at
    /// one distance that `wmma` takes: a multiple of 16 bytes.
    pub(super) fn allows_gaps(&self, every: u32, by: u32) -> bool {
        let keeps = |m: &MatrixRows| by.is_multiple_of(4) && m.keeps_rows(every);
        self.matrices.iter().all(keeps)
    }

    fn keeps_matrices(&self, spec: &LayoutSpec) -> bool {
        match *spec {
            LayoutSpec::Pad { every, by } => self.allows_gaps(every, by),
            _ => *spec == LayoutSpec::Hash(HashSpec::Mod),
        }
    }

    /// The tensor copies that go through it, each with the swizzle of its map
    /// under the mapping `spec`, in bytes.
    pub fn copies_under(&self, spec: &LayoutSpec) -> Vec<(&TensorCopy, u32)> {
        let copies = self.copies.iter();
        let under = |copy| Some((copy, copied::mode_under(copy, spec)?));
        copies.filter_map(under).collect()
    }

    /// The search among linear mappings that keep its vectors whole.
    pub(super) fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Conflicts that no mapping avoids that keeps the vectors of the array
    /// whole: the words at one position of their vector share that part of the
    /// banks.
    pub fn floor(&self) -> u64 {
        self.problem.lower_bound()
    }

    /// Conflicts that no mapping at all avoids: a bank serves one of its words
    /// at a time.
    pub fn any_floor(&self) -> u64 {
        self.lower_bound(0)
    }

    /// Conflicts that no mapping avoids that keeps vectors of 2^`vector_bits`
    /// words whole.
    pub(super) fn lower_bound(&self, vector_bits: u32) -> u64 {
        let m = self.geometry.bank_bits();
        self.problem.passes().lower_bound(m, vector_bits)
    }

    /// Conflicts under `layout`.
    pub fn count(&self, layout: &Layout) -> ConflictCount {
        self.profile.count(|word| layout.bank(word))
    }

    /// Loads of the layout's table: constant memory serves one word at a time, so that an
    /// access has as many as its lanes need different words. 0 without a table.
    pub fn look_ups(&self, layout: &Layout) -> u64 {
        let steps = Steps::of(layout);
        if steps.table.is_empty() {
            return 0;
        }
        let passes = self.profile.passes.iter();
        let of_pass = |pass: &WeightedPass| {
            let words = pass.addrs.iter().filter_map(|word| steps.table_word(*word));
            words.collect::<BTreeSet<u32>>().len() as u64 * pass.weight
        };
        passes.map(of_pass).sum()
    }

    /// Words that `layout` takes beyond those of the array.
    pub fn wasted(&self, layout: &Layout) -> u32 {
        layout.words_needed(self.words).saturating_sub(self.words)
    }

    /// Why this array cannot have `layout`, if it cannot.
    pub fn refuses(&self, layout: &Layout) -> Option<Refusal> {
        let moves = *layout.spec() != LayoutSpec::Hash(HashSpec::Mod);
        if let Some(copy) = self.in_order.first().filter(|_| moves) {
            return Some(Refusal::InOrder(copy.stores));
        }
        if self.is_by_descriptor() && moves {
            return Some(Refusal::Descriptor);
        }
        if !layout.keeps_vectors(self.vector_words, self.words) {
            return Some(Refusal::Tears(4 * self.vector_words));
        }
        if let [copy, ..] = &self.copies[..]
            && !copied::allows(&self.copies, layout.spec())
        {
            return Some(Refusal::Copied(copy.ptx_line));
        }
        if self.has_matrices() && !self.keeps_matrices(layout.spec()) {
            return Some(Refusal::OfRows);
        }
        let needed = layout.words_needed(self.words);
        // An array that does not fit unmapped does not fit in any mapping.
        let too_many = needed > self.room.max(self.words);
        too_many.then_some(Refusal::NoRoom(needed, self.room))
    }

    /// Index bits that are not always zero; the bank bits at least.
    pub(super) fn index_bits(&self) -> u32 {
        let bits = u32::BITS - self.words.saturating_sub(1).leading_zeros();
        bits.max(self.geometry.bank_bits())
    }
}
