//! The machine instructions that `ptxas` makes of `wmma.load` and `wmma.store`,
//! and which bytes each lane accesses: what bank conflicts depend on.
//!
//! The PTX ISA leaves this open. The rules are those of `ptxas` 12.9 and 13.5
//! for sm_70, sm_75, sm_80 and sm_90 (`pieces.txt` has its machine code for every
//! form, and a test compares):
//!
//! - factors of 16 bits, and smaller ones that lie along `k`: `LDSM`, a matrix of
//!   eight rows of 16 bytes at a time, which sm_70 does not have;
//! - other factors, and sums: each lane loads what it holds, elements that are
//!   neighbours in memory together; sums of 16 bits as words, whose elements are
//!   exchanged between lanes where they lie across;
//! - addresses that do not name shared memory: the same words, `LD` in place of
//!   `LDSM`.

use super::target::Target;
use super::wmma::{Held, Side};
use crate::names::Type;

/// An instruction: the bytes from the address of each lane on, and where in the
/// matrix these are. Lanes beyond give no address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pieces {
    /// Bytes at each address: 1, 2, 4, 8 or 16.
    pub bytes: u32,
    /// By lane, the row in memory (or column, if the matrix lies by columns) and the byte
    /// in it.
    pub places: Vec<(u32, u32)>,
}

impl Pieces {
    fn of_warp(bytes: u32, place: impl Fn(u32) -> (u32, u32)) -> Self {
        Pieces {
            bytes,
            places: (0..32).map(place).collect(),
        }
    }
}

/// Elements of a side of the square tiles that matrices are made of.
const TILE: u32 = 8;
/// Bytes of a row of such a tile of halves: what a lane of `LDSM` points to.
const ROW: u32 = 16;

/// The instructions of a load or store of `held`, which memory has by columns or
/// by rows; `shared` where the address names shared memory.
pub(crate) fn pieces(held: &Held, by_columns: bool, target: Target, shared: bool) -> Vec<Pieces> {
    let [rows, columns] = held.size;
    let [runs, long] = if by_columns {
        [columns, rows]
    } else {
        [rows, columns]
    };
    let form = Form {
        held,
        by_columns,
        runs,
        long,
        target,
    };
    match (held.side, held.ty.bits()) {
        (Side::Sum, 16 | 32) if target.0 < 75 && held.ty != Type::S32 => form.quad_sums(),
        (Side::Sum, _) => form.sums(),
        (_, 16) if target.0 < 75 => form.quad_factors(),
        (_, 16) => form.matrices(shared),
        (_, 32 | 64) => form.single(),
        _ if form.along_k() => form.matrices(shared),
        _ => form.bytes(),
    }
}

struct Form<'a> {
    held: &'a Held,
    by_columns: bool,
    /// Rows in memory, and elements of each.
    runs: u32,
    long: u32,
    target: Target,
}

impl Form<'_> {
    /// The elements of a row in memory are those of one product.
    fn along_k(&self) -> bool {
        self.by_columns == (self.held.side == Side::B)
    }

    /// Tiles of eight rows of 16 bytes: several in one `LDSM`, or one in a load of
    /// words.
    fn matrices(&self, shared: bool) -> Vec<Pieces> {
        let across = self.long * self.held.ty.bits() / 8 / ROW;
        let mut tiles = Vec::new();
        for down in 0..self.runs / TILE {
            tiles.extend((0..across).map(|at| (down * TILE, at * ROW)));
        }
        if !shared {
            let word = |&(run, byte): &(u32, u32)| {
                Pieces::of_warp(4, |lane| (run + lane / 4, byte + 4 * (lane % 4)))
            };
            return tiles.iter().map(word).collect();
        }
        let most = if self.target.0 >= 80 && self.held.ty.bits() == 16 {
            4
        } else {
            2
        };
        let together = |tiles: &[(u32, u32)]| {
            let rows = tiles
                .iter()
                .flat_map(|&(run, byte)| (0..TILE).map(move |row| (run + row, byte)));
            Pieces {
                bytes: ROW,
                places: rows.collect(),
            }
        };
        tiles.chunks(most).map(together).collect()
    }

    /// Factors of 32 and 64 bits: element by element, as `mma` holds them.
    fn single(&self) -> Vec<Pieces> {
        let bytes = self.held.ty.bits() / 8;
        let (downs, acrosses) = if self.along_k() {
            (self.runs / TILE, self.long / 4)
        } else {
            (self.long / TILE, self.runs / 4)
        };
        let one = |down: u32, across: u32| {
            Pieces::of_warp(bytes, |lane| {
                let (outer, k) = (lane / 4 + TILE * down, lane % 4 + 4 * across);
                if self.along_k() {
                    (outer, k * bytes)
                } else {
                    (k, outer * bytes)
                }
            })
        };
        let each = |down| (0..acrosses).map(move |across| (down, across));
        let all = (0..downs).flat_map(each);
        all.map(|(down, across)| one(down, across)).collect()
    }

    /// Factors of bytes across `k`: byte by byte.
    fn bytes(&self) -> Vec<Pieces> {
        let each = |across| (0..4).map(move |k| (across, k));
        let all = (0..self.long / TILE).flat_map(each);
        all.map(|(across, k)| {
            Pieces::of_warp(1, |lane| (4 * (lane % 4) + k, lane / 4 + TILE * across))
        })
        .collect()
    }

    /// Sums, tile by tile.
    fn sums(&self) -> Vec<Pieces> {
        let bytes = self.held.ty.bits() / 8;
        // The sums of m8n32 are held as those of m32n8, but for integers before
        // sm_80.
        let turned =
            self.held.size == [8, 32] && (self.target.0 >= 80 || self.held.ty != Type::S32);
        let together = bytes == 2 || self.by_columns == turned;
        let mut all = Vec::new();
        for run in (0..self.runs).step_by(TILE as usize) {
            for at in (0..self.long).step_by(TILE as usize) {
                if together {
                    all.push(Pieces::of_warp(2 * bytes, |lane| {
                        (run + lane / 4, (at + 2 * (lane % 4)) * bytes)
                    }));
                    continue;
                }
                all.extend((0..2).map(|second| {
                    Pieces::of_warp(bytes, |lane| {
                        (run + 2 * (lane % 4) + second, (at + lane / 4) * bytes)
                    })
                }));
            }
        }
        all
    }
}

/// sm_70 multiplies by groups of four lanes: lanes 0 to 3 and 16 to 19 have rows
/// 0 to 7 together, and the two bits between say which rows and columns beyond.
impl Form<'_> {
    /// Begin of the rows (columns) of a lane's group, of this many.
    fn group(count: u32, lane: u32, of_rows: bool) -> u32 {
        let group = lane >> 2 & 3;
        match (count, of_rows) {
            (8, _) => 0,
            (16, true) => (group & 1) * 8,
            (16, false) => (group >> 1) * 8,
            _ => group * 8,
        }
    }

    fn quad_factors(&self) -> Vec<Pieces> {
        let of_rows = self.held.side == Side::A;
        let bytes = self.held.ty.bits() / 8;
        if self.along_k() {
            let half = |half: u32| {
                Pieces::of_warp(ROW, |lane| {
                    let group = Self::group(self.runs, lane, of_rows);
                    (group + 4 * (lane >> 4) + (lane & 3), half * ROW)
                })
            };
            return (0..2).map(half).collect();
        }
        let four = |k: u32| {
            Pieces::of_warp(4 * bytes, |lane| {
                let group = Self::group(self.long, lane, of_rows);
                (4 * k + (lane & 3), (group + 4 * (lane >> 4)) * bytes)
            })
        };
        (0..4).map(four).collect()
    }

    fn quad_sums(&self) -> Vec<Pieces> {
        let bytes = self.held.ty.bits() / 8;
        let [rows, columns] = self.held.size;
        let place = |row: u32, column: u32| {
            if self.by_columns {
                (column, row * bytes)
            } else {
                (row, column * bytes)
            }
        };
        // Of a lane: rows and columns beside those of its group, and elements of
        // a row that are together.
        let (downs, acrosses, beside): (u32, &[u32], u32) = match bytes {
            2 => (1, &[0], 8),
            _ => (2, &[0, 4], 2),
        };
        let first = |lane: u32| {
            let (row, column) = match bytes {
                2 => (lane & 3, 0),
                _ => (lane & 1, lane & 2),
            };
            (
                row + 4 * (lane >> 4) + Self::group(rows, lane, true),
                column + Self::group(columns, lane, false),
            )
        };
        let mut all = Vec::new();
        for down in 0..downs {
            for across in acrosses {
                let apart = if self.by_columns { beside } else { 1 };
                all.extend((0..apart).map(|n| {
                    Pieces::of_warp(bytes * beside / apart, |lane| {
                        let (row, column) = first(lane);
                        place(row + 2 * down, column + across + n)
                    })
                }));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Module;
    use crate::tensor::moved;
    use std::collections::{BTreeMap, BTreeSet};

    /// What `ptxas` makes of each form, with the wavefronts of all its
    /// instructions at several strides.
    const TABLE: &str = include_str!("pieces.txt");

    /// Wavefronts of an instruction: per phase the most words in a bank.
    fn wavefronts(pieces: &Pieces, stride: u32) -> usize {
        let lanes = match pieces.bytes {
            16 => 8,
            8 => 16,
            _ => 32,
        };
        let phase = |lanes: &[(u32, u32)]| {
            let mut banks: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
            for (run, byte) in lanes {
                let first = run * stride + byte;
                for word in first / 4..=(first + pieces.bytes - 1) / 4 {
                    banks.entry(word % 32).or_default().insert(word);
                }
            }
            banks.values().map(BTreeSet::len).max().unwrap_or(0)
        };
        pieces.places.chunks(lanes).map(phase).sum()
    }

    /// Number, bytes and addresses of the instructions of `4 LDS.64`.
    fn described(text: &str) -> (usize, u32, usize) {
        let (count, name) = text.split_once(' ').unwrap();
        let number = |name: &str| match name.rsplit('.').next().unwrap() {
            "2" => 16,
            "4" => 32,
            _ => 8,
        };
        let (bytes, lanes) = match name {
            _ if name.starts_with("LDSM") => (16, number(name)),
            _ if name.ends_with(".128") => (16, 32),
            _ if name.ends_with(".64") => (8, 32),
            _ if name.ends_with(".U16") => (2, 32),
            _ if name.ends_with(".U8") => (1, 32),
            _ => (4, 32),
        };
        (count.parse().unwrap(), bytes, lanes)
    }

    #[test]
    fn matrices_move_by_the_instructions_of_ptxas() {
        let mut forms = 0;
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let [form, made, counts] = line.split(" | ").collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            let [sm, shape, ty, side, layout] = form.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            let kind = if side == "d" { "store" } else { "load" };
            let (operands, mut list) = ("[%a], %s", String::new());
            for n in 0..16 {
                list += &format!("{}%v{n}", if n > 0 { "," } else { "" });
            }
            let text = format!(
                ".version 8.0\n.target {sm}\n.address_size 64\n.entry k() {{\n\
                 .reg .b32 %a, %s, %v<16>;\n\
                 wmma.{kind}.{side}.sync.aligned.{layout}.{shape}.shared.{ty} {{{list}}}, \
                 {operands};\nret;\n}}\n"
            );
            let module = Module::parse(&text, "k.ptx").unwrap();
            let target = Target::of(&module);
            let instruction = &module.functions[0].instructions[0];
            let (held, by_columns) = moved(instruction, target).unwrap();
            let all = pieces(&held, by_columns, target, true);
            let (count, bytes, lanes) = described(made);
            let found: BTreeSet<_> = all.iter().map(|p| (p.bytes, p.places.len())).collect();
            assert_eq!(
                (all.len(), found),
                (count, [(bytes, lanes)].into()),
                "{line}"
            );
            for pair in counts.split(' ') {
                let (stride, expected) = pair.split_once(':').unwrap();
                let stride = stride.parse::<u32>().unwrap() * held.ty.bits() / 8;
                let sum: usize = all.iter().map(|p| wavefronts(p, stride)).sum();
                assert_eq!(sum, expected.parse::<usize>().unwrap(), "{line}");
            }
            forms += 1;
        }
        assert_eq!(forms, 344);
    }

    /// Every byte of a matrix is accessed, of a store once, whatever the address
    /// names.
    #[test]
    fn pieces_cover_the_matrix() {
        let every = TABLE.lines().filter(|line| !line.starts_with('#'));
        for line in every {
            let form: Vec<&str> = line.split(" | ").next().unwrap().split(' ').collect();
            let kind = if form[3] == "d" { "store" } else { "load" };
            let text = format!(
                ".version 8.0\n.target {}\n.address_size 64\n.entry k() {{\n.reg .b32 %a, %s, %v;\n\
                 wmma.{kind}.{}.sync.aligned.{}.{}.shared.{} {{%v}}, [%a], %s;\nret;\n}}\n",
                form[0], form[3], form[4], form[1], form[2]
            );
            let module = Module::parse(&text, "k.ptx").unwrap();
            let target = Target::of(&module);
            let (held, by_columns) = moved(&module.functions[0].instructions[0], target).unwrap();
            let bytes = held.size[0] * held.size[1] * held.ty.bits() / 8;
            for shared in [true, false] {
                let mut seen: BTreeMap<(u32, u32), u32> = BTreeMap::new();
                for one in pieces(&held, by_columns, target, shared) {
                    for (run, byte) in &one.places {
                        for at in 0..one.bytes {
                            *seen.entry((*run, byte + at)).or_default() += 1;
                        }
                    }
                }
                assert_eq!(seen.len() as u32, bytes, "{line}");
                let stored = kind == "load" || seen.values().all(|&count| count == 1);
                assert!(stored, "{line}");
            }
        }
    }
}
