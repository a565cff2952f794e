//! A layout on the byte addresses of one region of shared memory.
//!
//! A linear layout, ADD and the shifts of RAP and RAS read and change only the
//! low bits of an address, so they repeat with a period of 2 to the number of
//! these bits. If the base of the region is certainly a multiple of the period,
//! they can be computed from the address itself: the base's upper bits are
//! unchanged. It is certain up to [`WINDOW_ALIGN`]; beyond that the base is
//! subtracted first. Padding counts from the base, too.

mod parts;

use super::code::{Arg, BYTE_BITS, Op};
use spadkit_mapping::hash::BankFunction;
use spadkit_mapping::software::{Layout, LayoutSpec, Steps};
use spadkit_ptx::shared::WINDOW_ALIGN;

/// Bytes of a word.
pub(super) const WORD: u32 = 1 << BYTE_BITS;

/// A layout of a region of some size.
#[derive(Clone, Debug)]
pub(super) struct Map {
    /// The first word that it maps.
    first: u32,
    /// The new word index of each word from `first` on, relative to the base.
    places: Vec<u32>,
    /// Words that the region needs.
    needed: u32,
    /// Required alignment of the base, in bytes.
    align: u32,
    /// The period in bytes: offsets one period apart are mapped to offsets one
    /// period apart. `None` if there is none.
    period: Option<u32>,
    ops: Vec<Op>,
    table: Vec<u32>,
}

impl Map {
    /// `layout` on a region of `words` words.
    pub fn new(layout: &Layout, words: u32) -> Map {
        let places: Vec<u32> = (0..words).map(|i| layout.place(i)).collect();
        let needed = places.iter().map(|p| p + 1).max().unwrap_or(0);
        let mut map = Map {
            first: 0,
            needed,
            // So that the banks of the region are those of its mapped words.
            align: layout.geometry().banks() as u32 * WORD,
            period: None,
            ops: Vec::new(),
            table: Vec::new(),
            places,
        };
        if map.is_identity() {
            return map;
        }
        match (layout.spec(), layout.mapping().map(|m| m.bank_function())) {
            (&LayoutSpec::Pad { every, by }, _) => map.pad(every, by),
            (_, Some(BankFunction::Shift(shifts))) => map.shift(layout, Some(shifts)),
            (_, Some(BankFunction::Add)) => map.shift(layout, None),
            _ => map.linear(layout),
        }
        map.align_to_period();
        map
    }

    /// Whether every word stays where it is.
    pub fn is_identity(&self) -> bool {
        self.places
            .iter()
            .zip(self.first..)
            .all(|(&place, i)| place == i)
    }

    /// Words of the region before it is mapped, or up to the last that it maps.
    pub fn words(&self) -> u32 {
        self.first + self.places.len() as u32
    }

    /// The first word that it maps: that of the region, or of a part.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Bytes of the region when it is mapped.
    pub fn bytes(&self) -> u32 {
        self.needed * WORD
    }

    /// Required alignment of the base, in bytes: a power of two.
    pub fn align(&self) -> u32 {
        self.align
    }

    /// The period in bytes: a multiple of it, added by a loop, is added to the
    /// mapped address as well. `None` if there is none.
    pub fn period(&self) -> Option<u32> {
        self.period
    }

    /// The operations that map an address. The result of the last is the mapped
    /// address; without any, the address is unchanged.
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Instructions that map an address in a register of 32 bits.
    pub fn cost(&self) -> usize {
        let loads = self.ops.iter().filter(|o| matches!(o, Op::Entry(_)));
        self.ops.len() + loads.count()
    }

    /// Words of constant memory that the operations read.
    pub fn table(&self) -> &[u32] {
        &self.table
    }

    /// The new offset of the byte at offset `byte` of the region; `None` beyond the mapped part.
    pub fn place(&self, byte: i64) -> Option<i64> {
        let word = (byte >> BYTE_BITS) - i64::from(self.first);
        let place = *self.places.get(usize::try_from(word).ok()?)?;
        Some(i64::from(place) << BYTE_BITS | byte & 3)
    }

    /// The result of the operations for an offset that may lie outside the region,
    /// as an offset again.
    pub fn computed(&self, byte: i64) -> i64 {
        if let Some(place) = self.place(byte) {
            return place;
        }
        // Any base will do: the operations keep it.
        self.evaluate(1 << 24, byte)
    }

    /// The result of the operations for an offset from that base, as an offset
    /// again.
    fn evaluate(&self, base: u32, byte: i64) -> i64 {
        let input = base.wrapping_add(byte as u32);
        let mut results: Vec<u32> = Vec::with_capacity(self.ops.len());
        for op in &self.ops {
            let of = |arg| match arg {
                Arg::Input => input,
                Arg::Base => base,
                Arg::Op(at) => results[at],
            };
            let result = op.evaluate(of, &self.table);
            results.push(result);
        }
        let result = results.last().copied().unwrap_or(input);
        i64::from(result.wrapping_sub(base) as i32)
    }

    /// The first word of an aligned group of `words` words (a power of two)
    /// that does not stay together and aligned; of the groups that begin at these
    /// bytes, where they are known.
    pub fn torn(&self, words: u32, begins: Option<(u32, u32)>) -> Option<u32> {
        let all = match begins {
            Some((low, high)) => low / WORD..(high / WORD + words).min(self.words()),
            None => self.first..self.words(),
        };
        let place = |i: u32| {
            self.places
                .get(i.checked_sub(self.first)? as usize)
                .copied()
        };
        all.into_iter().find(|&i| {
            let first = i & !(words - 1);
            match (place(i), place(first)) {
                (Some(place), Some(head)) => head % words != 0 || place != head + (i - first),
                _ => true,
            }
        })
    }

    fn linear(&mut self, layout: &Layout) {
        let bits = bits_of(self.words());
        let column = |j: u32| layout.place(1 << j);
        // The highest bit that is read or changed.
        let reach = |j: u32| j.max(column(j).checked_ilog2().unwrap_or(0)) + 1;
        let moved = (0..bits).filter(|&j| column(j) != 1 << j);
        let height = moved.map(reach).max().unwrap_or(0);
        // No address in the region has the bits above it: what the matrix
        // says of them is free.
        let free: [&dyn Fn(u32) -> u32; 3] = [&column, &|j| 1 << j, &|_| 0];
        let choices = free.map(|free| {
            let columns: Vec<u32> = (0..height)
                .map(|j| if j < bits { column(j) } else { free(j) })
                .collect();
            let row = |bit: u32| {
                let set = columns.iter().enumerate();
                set.fold(0, |row, (j, column)| row | (column >> bit & 1) << j)
            };
            let rows: Vec<u32> = (0..height).map(row).collect();
            Steps::of_open_matrix(&rows)
        });
        let best = choices.iter().min_by_key(|s| s.count());
        self.ops = best.map_or(Vec::new(), |s| s.steps.iter().map(Op::of_step).collect());
        self.period = Some(1 << (height + BYTE_BITS));
    }

    /// bank = (word + shift of its row) mod 2^m; without shifts that of a row
    /// is its number (ADD).
    fn shift(&mut self, layout: &Layout, shifts: Option<&[u32]>) {
        let m = layout.geometry().bank_bits();
        let row_bits = bits_of(self.words()).saturating_sub(m).min(m);
        let low = m + BYTE_BITS;
        self.period = Some(1 << (low + row_bits));
        let row = self.push(Op::Field {
            value: Arg::Input,
            low,
            bits: row_bits,
        });
        let sum = match shifts {
            None => self.push(Op::MulAdd {
                value: row,
                factor: WORD,
                add: Arg::Input,
            }),
            Some(shifts) => {
                self.table = shifts.iter().map(|s| s * WORD).collect();
                let shift = self.push(Op::Entry(row));
                self.push(Op::Add(shift, Arg::Input))
            }
        };
        self.push(Op::Merge {
            inside: sum,
            outside: Arg::Input,
            mask: layout.geometry().bank_mask() << BYTE_BITS,
        });
    }

    /// Operations that work on the address itself need a base that is a multiple
    /// of the period. Where that is too much to ask for, they work on the offset.
    fn align_to_period(&mut self) {
        let period = self.period.unwrap_or(1);
        self.align = self.align.max(period.min(WINDOW_ALIGN));
        if period <= WINDOW_ALIGN {
            return;
        }
        // If only bits below the alignment change, all but what is shifted or
        // masked may stay the address.
        let absolute = std::mem::take(&mut self.ops);
        self.ops = relative(&absolute, false);
        if !self.keeps_base() {
            self.ops = relative(&absolute, true);
            let last = Arg::Op(self.ops.len() - 1);
            self.push(Op::Add(last, Arg::Base));
        }
    }

    /// Whether the operations map every word correctly at bases that are only
    /// multiples of the alignment.
    fn keeps_base(&self) -> bool {
        let bases = [1, 5, 0x2aab].map(|odd| odd * self.align);
        let right = |base: u32| {
            let mut words = self.places.iter().zip(0..);
            words.all(|(place, i)| {
                self.evaluate(base, i * i64::from(WORD)) == i64::from(place * WORD)
            })
        };
        bases.into_iter().all(right)
    }

    fn pad(&mut self, every: u32, by: u32) {
        let offset = self.push(Op::Sub(Arg::Input, Arg::Base));
        let step = every * WORD;
        let factor = |divisor: u32| (1u64 << 32).div_ceil(u64::from(divisor)) as u32;
        // Exact where the error of the factor stays below one part.
        let exact = |divisor: u32, end: u32| {
            let error = u64::from(factor(divisor)) * u64::from(divisor) - (1 << 32);
            error * u64::from(end) < 1 << 32
        };
        let gaps = if every.is_power_of_two() {
            self.push(Op::Right(offset, step.ilog2()))
        } else if exact(step, self.words() * WORD) {
            self.push(Op::MulHigh(offset, factor(step)))
        } else {
            let word = self.push(Op::Right(offset, BYTE_BITS));
            self.push(Op::MulHigh(word, factor(every)))
        };
        self.push(Op::MulAdd {
            value: gaps,
            factor: by * WORD,
            add: Arg::Input,
        });
    }

    fn push(&mut self, op: Op) -> Arg {
        self.ops.push(op);
        Arg::Op(self.ops.len() - 1)
    }
}

/// The operations with the offset instead of the address: everywhere, or only in shifts and masks.
fn relative(ops: &[Op], everywhere: bool) -> Vec<Op> {
    let later = |arg: Arg| match arg {
        Arg::Op(at) => Arg::Op(at + 1),
        other => other,
    };
    let offset = |arg: Arg| match arg {
        Arg::Input => Arg::Op(0),
        other => later(other),
    };
    let kept = |arg: Arg| if everywhere { offset(arg) } else { later(arg) };
    let moved = ops.iter().map(|op| op.with_args(offset, kept));
    std::iter::once(Op::Sub(Arg::Input, Arg::Base))
        .chain(moved)
        .collect()
}

/// Bits of the index of a word of `words`.
fn bits_of(words: u32) -> u32 {
    words.next_power_of_two().ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use spadkit_mapping::geometry::Geometry;

    const SPECS: [&str; 17] = [
        "mod",
        "xor",
        "add",
        "bitvec-perm:k=4",
        "bitvec-perm:k=9",
        "bitvec-xor:k1=0,k2=5,mask=7",
        "bitvec-xor:k1=3,k2=1,mask=21",
        "bitwise-perm:8,0,6,2,11",
        "bitwise-xor:0^6,2,2^3,2^4,4^5",
        "matrix:0x1ff,0x0f2,0x104,0x2008,0x3ff0",
        "rap:seed=3",
        "ras:seed=9",
        "pad:every=32,by=1",
        "pad:every=33,by=3",
        "pad:every=1,by=1",
        "swizzle:5,0,5",
        "swizzle:2,1,-3",
    ];

    fn map(spec: &str, words: u32) -> (Map, Layout) {
        let geometry = Geometry::new(14, 5).unwrap();
        let layout = Layout::new(&spec.parse().unwrap(), geometry).unwrap();
        (Map::new(&layout, words), layout)
    }

    /// The operations on byte addresses, with any base, map the word as the
    /// layout does and keep the byte within the word.
    #[test]
    fn operations_compute_the_place_of_every_byte() {
        for spec in SPECS {
            for words in [1, 31, 64, 272, 545, 2048, 16384] {
                let (map, layout) = map(spec, words);
                assert!(map.align().is_power_of_two() && map.align() <= WINDOW_ALIGN);
                // Every byte of small regions, some of large ones.
                for byte in (0..words * WORD).step_by(1 + words as usize / 700) {
                    let expected = layout.place(byte / 4) * 4 + byte % 4;
                    for base in [1, 5, 37].map(|odd| odd * map.align()) {
                        let got = map.evaluate(base, byte.into());
                        assert_eq!(got, i64::from(expected), "{spec} {words} {byte} {base}");
                    }
                    assert!(expected < map.bytes());
                }
            }
        }
    }

    #[test]
    fn small_regions_take_fewer_operations() {
        for (spec, words, most) in [
            ("xor", 32, 0),
            ("xor", 256, 2),
            ("xor", 1024, 3),
            ("bitvec-xor:k1=0,k2=3,mask=30", 256, 2),
            ("bitvec-xor:k1=0,k2=3,mask=30", 2048, 3),
            ("swizzle:3,0,5", 16384, 2),
            ("swizzle:5,0,5", 16384, 3),
            ("add", 256, 3),
            ("add", 1024, 4),
            ("pad:every=32,by=1", 1024, 3),
            ("rap:seed=1", 1024, 5),
        ] {
            let count = map(spec, words).0.ops().len();
            assert!(count <= most, "{spec}, {words} words: {count}");
        }
    }

    #[test]
    fn torn_groups_are_found() {
        assert_eq!(map("xor", 1024).0.torn(2, None), Some(32));
        assert_eq!(map("swizzle:3,2,5", 1024).0.torn(4, None), None);
        assert_eq!(map("pad:every=32,by=4", 1024).0.torn(4, None), None);
        assert_eq!(map("pad:every=32,by=1", 1024).0.torn(2, None), Some(32));
    }
}
