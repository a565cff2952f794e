//! Tensor maps: parameters, parts of structs, or what addresses in parameters lead to.

use super::parts::{Addresses, Part, loaded};
use super::usage::origins;
use spadkit_ptx::{Base, Function, Instruction, Opcode, Operand, Word};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a tensor map.
pub(super) const BYTES: u64 = 128;
/// Alignment of a tensor map.
const ALIGN: u32 = 64;

/// A tensor map, as far as the instructions that use it show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MapUse {
    /// Dimensions of the tensor; 0 where no copy uses the map.
    pub rank: usize,
    /// Whether they move pixels of an image.
    pub image: bool,
    pub reads: bool,
    pub writes: bool,
}

/// The tensor maps of an entry.
#[derive(Debug, Default)]
pub(super) struct Maps {
    /// By the place of their first byte, those that parameters have in them.
    pub inside: BTreeMap<Part, MapUse>,
    /// By the place of their address, those that addresses lead to.
    pub behind: BTreeMap<Part, MapUse>,
}

impl Maps {
    /// The maps with which an entry copies parts of tensors, or that it prefetches.
    /// Addresses have `width` bits.
    pub fn of(function: &Function, width: u32, addresses: &Addresses) -> Self {
        let pointers = origins(function, width, |i| loaded(i, addresses));
        let mut found = Maps::default();
        for (base, bytes, used) in function.instructions.iter().filter_map(used) {
            for part in addresses.at(base, bytes) {
                let size = function.variables[part.param as usize].bytes;
                if part.byte.is_multiple_of(ALIGN) && u64::from(part.byte) + BYTES <= size {
                    found.inside.entry(part).or_default().add(&used);
                }
            }
            if let (Base::Register(register), 0) = (base, bytes) {
                for part in pointers.get(&register).into_iter().flatten() {
                    found.behind.entry(*part).or_default().add(&used);
                }
            }
        }
        found.keep_apart();
        found
    }

    /// Drops what starts within another map.
    fn keep_apart(&mut self) {
        let mut taken: BTreeSet<Part> = BTreeSet::new();
        self.inside.retain(|part, _| {
            let free = !taken.last().is_some_and(|last| covers(last, part));
            if free {
                taken.insert(*part);
            }
            free
        });
    }

    /// Whether a part is in a map of a struct.
    pub fn cover(&self, part: &Part) -> bool {
        self.inside.keys().any(|map| covers(map, part))
    }

    /// The maps of a parameter that has them in it, by their bytes.
    pub fn in_struct(&self, param: u32) -> impl Iterator<Item = (u32, &MapUse)> {
        of_param(&self.inside, param)
    }

    /// The maps to which addresses in a parameter lead, by the bytes of these.
    pub fn by_addresses(&self, param: u32) -> impl Iterator<Item = (u32, &MapUse)> {
        of_param(&self.behind, param)
    }
}

fn of_param(maps: &BTreeMap<Part, MapUse>, param: u32) -> impl Iterator<Item = (u32, &MapUse)> {
    let own = maps.iter().filter(move |(part, _)| part.param == param);
    own.map(|(part, used)| (part.byte, used))
}

fn covers(map: &Part, part: &Part) -> bool {
    let bytes = u64::from(map.byte)..u64::from(map.byte) + BYTES;
    map.param == part.param && bytes.contains(&u64::from(part.byte))
}

impl MapUse {
    fn add(&mut self, other: &MapUse) {
        self.rank = self.rank.max(other.rank);
        self.image |= other.image;
        self.reads |= other.reads;
        self.writes |= other.writes;
    }
}

/// The address of the map that an instruction uses, and how it uses it.
fn used(i: &Instruction) -> Option<(Base, i64, MapUse)> {
    if i.opcode == Opcode::Prefetch && i.has(Word::Tensormap) {
        let Some(Operand::Address(base, bytes)) = i.operands.first() else {
            return None;
        };
        return Some((*base, *bytes, MapUse::default()));
    }
    if i.opcode != Opcode::Cp || !i.has(Word::Tensor) {
        return None;
    }
    let (at, map) = i.operands.iter().enumerate().find_map(map_operand)?;
    let (base, bytes) = match map {
        Operand::Register(register) => (Base::Register(*register), 0),
        Operand::Variable(symbol, bytes) => (Base::Variable(*symbol), *bytes),
        _ => return None,
    };
    // The target stands first; that of a prefetch is a cache.
    let writes = at == 0 && !i.has(Word::Prefetch);
    let used = MapUse {
        rank: rank(i)?,
        image: i.has(Word::Im2col) || i.has(Word::Im2colNoOffs),
        reads: !writes || i.has(Word::Reduce),
        writes,
    };
    Some((base, bytes, used))
}

/// The map of `[map, {coordinates}]`, with the index of the operand.
fn map_operand((at, operand): (usize, &Operand)) -> Option<(usize, &Operand)> {
    match operand {
        Operand::Indexed(items) => Some((at, items.first()?)),
        _ => None,
    }
}

fn rank(i: &Instruction) -> Option<usize> {
    const WORDS: [Word; 5] = [Word::D1, Word::D2, Word::D3, Word::D4, Word::D5];
    Some(WORDS.iter().position(|word| i.has(*word))? + 1)
}
