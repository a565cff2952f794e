//! Relations of one mapped address to another.

use super::super::map::Map;
use super::super::region::Region;
use super::{Facts, Site};
use spadkit_ptx::analysis::KnownBits;

/// A mapped address, relative to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// The address is this much larger.
    Add(i64),
    /// The address differs in these bits.
    Xor(u32),
}

/// The offsets in a region that an address may have.
#[derive(Clone, Debug)]
pub(super) struct Offsets {
    zeros: u32,
    ones: u32,
    start: u32,
    end: u32,
    /// Bytes that are accessed; the address is a multiple.
    align: u32,
}

impl Offsets {
    /// The possible offsets of an access: from the known bits of its address,
    /// if the region's base has zeros there, and from the address minus the
    /// base.
    pub fn of(facts: &Facts, region: &Region, site: &Site) -> Offsets {
        let low = region.known_align() - 1;
        let sum = |known: KnownBits| match site.offset as u32 {
            0 => (known.zeros as u32, known.ones as u32),
            offset => added(known.zeros as u32, known.ones as u32, offset),
        };
        let (zeros, ones) = sum(facts.facts.of(site.value));
        let is_base = |symbol| facts.affines.variable_name(symbol) == region.name;
        let relative = facts.affines.offset_bits(site.value, is_base);
        let (more_zeros, more_ones) = relative.map_or((0, 0), sum);
        Offsets {
            zeros: zeros & low | more_zeros,
            ones: ones & low | more_ones,
            start: region.map.first() * super::super::map::WORD,
            end: region.map.words() * super::super::map::WORD,
            align: site.bytes.next_power_of_two().max(1),
        }
    }

    fn each(&self, step: u32) -> impl Iterator<Item = i64> + '_ {
        let fits = |o: &u32| o & self.zeros == 0 && o & self.ones == self.ones;
        (self.start.next_multiple_of(step)..self.end)
            .step_by(step as usize)
            .filter(fits)
            .map(i64::from)
    }
}

/// Known bits of a sum with a constant.
fn added(zeros: u32, ones: u32, constant: u32) -> (u32, u32) {
    let (mut known_zeros, mut known_ones) = (0u32, 0u32);
    let mut carry = Some(false);
    for bit in 0..32 {
        let a = match (zeros >> bit & 1, ones >> bit & 1) {
            (1, _) => Some(false),
            (_, 1) => Some(true),
            _ => None,
        };
        let c = constant >> bit & 1 == 1;
        if let (Some(a), Some(carry)) = (a, carry) {
            if a ^ c ^ carry {
                known_ones |= 1 << bit
            } else {
                known_zeros |= 1 << bit
            }
        }
        carry = match (a, carry) {
            (_, Some(carry)) if carry == c => Some(c),
            (Some(a), _) if a == c => Some(c),
            (Some(_), Some(carry)) => Some(carry),
            _ => None,
        };
    }
    (known_zeros, known_ones)
}

/// The relation of the mapped address of these offsets to the mapped address
/// `distance` below, or, with `raw`, to the unmapped address `distance` below. A sum
/// if there is one; an XOR only of the bits below `align`.
pub(super) fn relation(
    map: &Map,
    offsets: &Offsets,
    distance: i64,
    raw: bool,
    align: u32,
) -> Option<Relation> {
    // Mapped bytes differ as their words do.
    let step = if distance % 4 == 0 { 4 } else { offsets.align };
    let step = step.max(offsets.align).max(1);
    let known_low = step - 1;
    let words = Offsets {
        // Unknown low bits make no difference.
        ones: match distance % 4 {
            0 => offsets.ones & !known_low & !3,
            _ => offsets.ones,
        },
        ..offsets.clone()
    };
    let (mut sum, mut xor): (Option<i64>, Option<i64>) = (None, None);
    let (mut sums, mut xors) = (true, true);
    for offset in words.each(step) {
        let place = map.place(offset)?;
        let other = if raw {
            offset - distance
        } else {
            map.computed(offset - distance)
        };
        sums &= *sum.get_or_insert(place - other) == place - other;
        xors &= *xor.get_or_insert(place ^ other) == place ^ other;
        if !sums && !xors {
            return None;
        }
    }
    match (sums, sum, xors, xor) {
        (true, Some(sum), ..) => Some(Relation::Add(sum)),
        (_, _, true, Some(xor)) if (0..i64::from(align)).contains(&xor) => {
            Some(Relation::Xor(xor as u32))
        }
        // The access is never executed inside of the region.
        (true, None, ..) => Some(Relation::Add(0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spadkit_mapping::geometry::Geometry;
    use spadkit_mapping::software::Layout;

    fn map(spec: &str, words: u32) -> Map {
        let geometry = Geometry::new(14, 5).unwrap();
        Map::new(
            &Layout::new(&spec.parse().unwrap(), geometry).unwrap(),
            words,
        )
    }

    fn offsets(map: &Map, zeros: u32) -> Offsets {
        Offsets {
            zeros,
            ones: 0,
            start: 0,
            end: map.words() * 4,
            align: 4,
        }
    }

    #[test]
    fn carries_that_do_not_matter_are_seen() {
        let xor = map("xor", 1024);
        let anything = offsets(&xor, 3);
        let of = |offsets: &Offsets, distance| relation(&xor, offsets, distance, false, 4096);
        // A row below: the row's bits carry.
        assert_eq!(of(&anything, 128), None);
        // In row 0 the row above is an XOR of its number.
        let row = offsets(&xor, !0x7c & 0xf7f);
        assert_eq!(of(&row, 128), None);
        let even = offsets(&xor, 0x83);
        assert_eq!(of(&even, -128), Some(Relation::Xor(128 | 4)));
        // From column 0, all other columns are XORs, in every row.
        let column = |c: u32| Offsets {
            ones: c,
            ..offsets(&xor, 0x7f & !c)
        };
        assert_eq!(of(&column(12), 12), Some(Relation::Xor(12)));
        // Bits that the map does not read are added.
        let large = map("xor", 4096);
        let all = offsets(&large, 3);
        assert_eq!(
            relation(&large, &all, 4096, false, 4096),
            Some(Relation::Add(4096))
        );
        // The first row stays where it is.
        let first = offsets(&xor, 0xf83);
        assert_eq!(
            relation(&xor, &first, 8, true, 4096),
            Some(Relation::Add(8))
        );
    }

    #[test]
    fn sums_have_the_bits_that_they_must_have() {
        for (zeros, ones, constant) in
            [(0xf3u32, 4u32, 8u32), (3, 0, 4), (0, 1, 255), (0xff, 0, 77)]
        {
            let (z, o) = added(zeros, ones, constant);
            for value in 0..4096u32 {
                if value & zeros == 0 && value & ones == ones {
                    let sum = value.wrapping_add(constant);
                    assert!(
                        sum & z == 0 && sum & o == o,
                        "{zeros:x} {ones:x} {constant} {value}"
                    );
                }
            }
        }
        assert_eq!(added(!0, 0, 77), (!77, 77));
    }
}
