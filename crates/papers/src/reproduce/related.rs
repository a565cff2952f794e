//! Bank mappings of related work, as baselines for the hash paper's: the bank
//! of each word address. Mappings that need another number of banks, or more
//! memory, are no `HashSpec`.
//!
//! Polynomial interleaving over GF(2) and CuTe's swizzles are linear, so that
//! [`Related::matrix`] gives them as the `matrix` unit; the others are not.

use spadkit_base::error::{Error, Result};
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::HashSpec;
use std::str::FromStr;

/// A mapping of related work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Related {
    /// The address modulo the number of banks: a prime number or an odd one (Lawrie
    /// and Vora; the hash paper's reference 27 for any number). The hardware is a
    /// modulo by a constant for the bank, a division by it for the row, and a
    /// crossbar of that many banks.
    Modulus(u32),
    /// A word of padding behind every row of all banks: bank = (a + a / w) mod
    /// w. No hardware; an adder in the index arithmetic, and one word in w + 1
    /// is lost.
    Padding(u32),
    /// Polynomial interleaving (Rau; Accel-Sim's IPOLY): the address as a
    /// polynomial over GF(2) modulo an irreducible one. The hardware is a tree
    /// of XORs for each bank bit.
    Polynomial(u32),
    /// CuTe's `Swizzle<B, M, S>` in words: address bits M..M+B are XORed with
    /// those S above. In software an XOR and an AND.
    Swizzle {
        /// Bits.
        bits: u32,
        /// Lowest of these bits.
        base: u32,
        /// Distance of the bits that they are XORed with.
        shift: u32,
    },
}

/// The polynomials that Accel-Sim has for a number of banks: x^4 + x + 1, x^5 +
/// x^2 + 1, x^6 + x + 1. They are irreducible.
const POLYNOMIALS: [(u32, u32); 3] = [(16, 0b1_0011), (32, 0b10_0101), (64, 0b100_0011)];

impl Related {
    /// The bank of word `address`.
    pub fn bank(self, address: u32, geometry: Geometry) -> u32 {
        let banks = geometry.banks() as u32;
        match self {
            Related::Modulus(modulus) => address % modulus,
            Related::Padding(banks) => (address + address / banks) % banks,
            Related::Polynomial(polynomial) => remainder(address, polynomial),
            Related::Swizzle { bits, base, shift } => {
                let mask = ((1 << bits) - 1) << base;
                (address ^ (address >> shift & mask)) % banks
            }
        }
    }

    /// The linear ones as the matrix unit's configuration: row i has the
    /// address bits that come into bank bit i.
    pub fn matrix(self, geometry: Geometry) -> Option<HashSpec> {
        if matches!(self, Related::Modulus(_) | Related::Padding(_)) {
            return None;
        }
        let row = |bank: u32| -> u32 {
            let bits = 0..geometry.addr_bits();
            let in_bank = bits.filter(|&a| self.bank(1 << a, geometry) >> bank & 1 == 1);
            in_bank.map(|a| 1 << a).sum()
        };
        let rows: Vec<String> = (0..geometry.bank_bits())
            .map(|bank| format!("{:#x}", row(bank)))
            .collect();
        HashSpec::from_str(&format!("matrix:{}", rows.join(","))).ok()
    }
}

/// The remainder of polynomials over GF(2).
fn remainder(mut dividend: u32, divisor: u32) -> u32 {
    let degree = divisor.ilog2();
    while dividend >> degree != 0 {
        dividend ^= divisor << (dividend.ilog2() - degree);
    }
    dividend
}

impl FromStr for Related {
    type Err = Error;

    /// `modulus:31`, `padding`, `ipoly`, `swizzle:3,2,3`; of padding and ipoly
    /// for 32 banks, or `padding:16`.
    fn from_str(text: &str) -> Result<Self> {
        let (name, arguments) = text.split_once(':').unwrap_or((text, ""));
        let numbers: Vec<u32> = arguments
            .split(',')
            .filter_map(|n| n.parse().ok())
            .collect();
        let banks = numbers.first().copied().unwrap_or(32);
        let polynomial = POLYNOMIALS.iter().find(|p| p.0 == banks);
        match (name, numbers.as_slice(), polynomial) {
            ("modulus", &[modulus @ 2..=64], _) => Ok(Related::Modulus(modulus)),
            ("padding", [] | [_], Some(_)) => Ok(Related::Padding(banks)),
            ("ipoly", [] | [_], Some(&(_, polynomial))) => Ok(Related::Polynomial(polynomial)),
            ("swizzle", &[bits @ 1..=6, base @ 0..=6, shift @ 1..=9], _) => {
                Ok(Related::Swizzle { bits, base, shift })
            }
            _ => Err(Error::usage(
                format!("mapping of related work '{text}'"),
                "expected modulus:N (2 to 64 banks), padding, ipoly or swizzle:B,M,S",
            )),
        }
    }
}
