//! `bitwise-xor:0,0^4,1^6`: one address bit, or the XOR of two, per bank bit.

use super::{Below, Family, Kind, Parser, Ports, Ranges, Search, Visit, each_set, list, sets};
use crate::geometry::Geometry;
use crate::hash::PortValue;
use spadkit_base::error::Result;
use std::fmt;

/// An address bit, and a higher one that is XORed to it.
type Pair = (u32, Option<u32>);

/// One address bit, or the XOR of two, per bank bit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BitwiseXor {
    /// The one or two address bits, the lower one first; bank bit 0 first.
    pub pairs: Vec<Pair>,
}

/// The select lines of `spad_hash_bitwise_xor`: (group, address bit) per line
/// of one bank bit. Address bit a < 4 is in group a, the others are in two
/// groups each, in the repeating order 01 23 02 13 03 12.
pub fn select_lines(n: u32) -> Vec<(u32, u32)> {
    const ORDER: [[u32; 2]; 6] = [[0, 1], [2, 3], [0, 2], [1, 3], [0, 3], [1, 2]];
    let in_group = |g: u32, a: u32| match a {
        0..4 => a == g,
        _ => ORDER[(a as usize - 4) % 6].contains(&g),
    };
    (0..4)
        .flat_map(|g| (0..n).filter(move |&a| in_group(g, a)).map(move |a| (g, a)))
        .collect()
}

fn pair(parser: Parser, s: &str) -> Result<Pair> {
    match s.split_once('^') {
        None => Ok((parser.decimal(s)?, None)),
        Some((a, b)) => {
            let (a, b) = (parser.decimal(a)?, parser.decimal(b)?);
            if a == b {
                return Err(parser.error(format!("{a}^{b} is always zero")));
            }
            Ok((a.min(b), Some(a.max(b))))
        }
    }
}

impl fmt::Display for BitwiseXor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        list(f, &self.pairs, |&(a, b)| match b {
            None => a.to_string(),
            Some(b) => format!("{a}^{b}"),
        })
    }
}

impl Kind for BitwiseXor {
    fn example() -> &'static str {
        "0,0^4,0^5,1^6,2^7"
    }

    fn search() -> Search {
        Search::Rows(Family::Xor)
    }

    fn parse(parser: Parser, args: &str) -> Result<Self> {
        let pairs = parser.list(args, |s| pair(parser, s))?;
        Ok(BitwiseXor { pairs })
    }

    fn check(&self, ranges: &Ranges) -> Result<()> {
        ranges.count(self.pairs.len())?;
        let bits = self.pairs.iter().flat_map(|&(a, b)| [Some(a), b]);
        ranges.bits(bits.flatten())
    }

    fn rows(&self, _: Geometry) -> Vec<u32> {
        let row = |&(a, b): &Pair| (1 << a) ^ b.map_or(0, |b| 1 << b);
        self.pairs.iter().map(row).collect()
    }

    fn of_rows(rows: &[u32], _: Geometry) -> Option<Self> {
        let pair = |row: &u32| {
            let mut bits = (0..u32::BITS).filter(|b| row >> b & 1 == 1);
            let pair = (bits.next()?, bits.next());
            bits.next().is_none().then_some(pair)
        };
        let pairs = rows.iter().map(pair).collect::<Option<_>>()?;
        Some(BitwiseXor { pairs })
    }

    fn ports(&self, g: Geometry) -> Ports {
        let lines = select_lines(g.addr_bits());
        let mut sel = PortValue::zero(self.pairs.len() * lines.len());
        for (i, &(a, b)) in self.pairs.iter().enumerate() {
            let line_of = |bit, taken: Option<u32>| {
                lines
                    .iter()
                    .position(|&(g, x)| x == bit && Some(g) != taken)
                    .expect("every pair of bits has lines in two groups")
            };
            let first = line_of(a, None);
            sel.set_bit(i * lines.len() + first, true);
            if let Some(b) = b {
                let second = line_of(b, Some(lines[first].0));
                sel.set_bit(i * lines.len() + second, true);
            }
        }
        vec![("cfg_sel", sel)]
    }

    fn registers(&self, g: Geometry) -> Vec<u64> {
        let bits = g.bit_number_bits();
        let register = |&(a, b): &Pair| u64::from(a) | u64::from(b.unwrap_or(0)) << bits;
        self.pairs.iter().map(register).collect()
    }

    fn count(g: Geometry) -> u128 {
        let n = g.addr_bits();
        sets(n * (n + 1) / 2, g.bank_bits())
    }

    fn each(g: Geometry, visit: Visit<Self>) -> Result<()> {
        let n = g.addr_bits();
        let from = |a| std::iter::once((a, None)).chain((a + 1..n).map(move |b| (a, Some(b))));
        let pairs: Vec<Pair> = (0..n).flat_map(from).collect();
        each_set(&pairs, g.bank_bits(), &mut |pairs| {
            visit(BitwiseXor { pairs })
        })
    }

    fn draw(g: Geometry, below: Below) -> Self {
        let n = g.addr_bits();
        let mut pair = || {
            let (a, b) = (below(n), below(n));
            if a == b {
                (a, None)
            } else {
                (a.min(b), Some(a.max(b)))
            }
        };
        BitwiseXor {
            pairs: (0..g.bank_bits()).map(|_| pair()).collect(),
        }
    }

    fn draw_register(_: usize, g: Geometry, below: Below) -> Option<u32> {
        let (first, second) = (below(g.addr_bits()), below(g.addr_bits()));
        let second = if second > first { second } else { 0 };
        Some(first | second << g.bit_number_bits())
    }
}
