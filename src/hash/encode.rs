//! Hash specs as the values of the hash units' configuration ports and as the
//! writes to the configuration registers.
//!
//! The meaning of each port is documented in the header of the unit's Verilog
//! file; this is the software's own reading of it.

use super::HashKind;
use super::mapping::{BankFunction, Mapping, RowMap};
use super::port_value::PortValue;
use super::spec::HashSpec;
use crate::error::{Error, Result};
use crate::geometry::Geometry;
use serde::Serialize;

/// One unit configured for one spec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Encoding {
    /// The Verilog module that takes the ports.
    pub unit: &'static str,
    /// Name and value of each `cfg_*` port.
    pub ports: Vec<(&'static str, PortValue)>,
    /// Data of each register of the unit's `spad_hash_config_*`, by write index.
    pub registers: Vec<u64>,
}

impl Encoding {
    /// The configuration registers that drive the ports; `None` for a unit
    /// without ports. `registers[i]` is what `wr_data` is while `wr_index` is i.
    pub fn config_unit(&self) -> Option<String> {
        let kind = self.unit.strip_prefix("spad_hash_");
        let kind = kind.or(self.unit.strip_prefix("spad_"))?;
        (!self.ports.is_empty()).then(|| format!("spad_hash_config_{kind}"))
    }

    /// The register writes for people: `0x0 0x50 0x61`, by `wr_index`.
    pub fn writes_text(&self) -> String {
        let writes = self.registers.iter().map(|r| format!("{r:#x}"));
        writes.collect::<Vec<_>>().join(" ")
    }
}

/// Everything that hardware must be set to for one mapping: a bank unit with
/// the row map of another mapping sends two addresses to one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The unit that computes the bank.
    pub bank: Encoding,
    /// `spad_row_map`, which computes the row.
    pub row_map: Encoding,
    /// The bank unit of a machine's own path, where that is another one: its
    /// registers take other values for the same mapping.
    pub path: Option<Encoding>,
}

impl Configuration {
    /// Bank unit and row map for `spec`; the unit is that of `kind`, or the
    /// spec's own.
    pub fn new(spec: &HashSpec, kind: Option<HashKind>, geometry: Geometry) -> Result<Self> {
        let mapping = Mapping::new(spec, geometry)?;
        Ok(Configuration {
            bank: match kind {
                None => encode(spec, geometry)?,
                Some(kind) => encode_for(spec, kind, geometry)?,
            },
            row_map: encode_row_map(mapping.row_map(), geometry),
            path: None,
        })
    }

    /// With the values for a machine whose path has the bank unit of `kind`, if
    /// that is another one and `spec` can be expressed by it.
    pub fn for_path(self, spec: &HashSpec, kind: HashKind, geometry: Geometry) -> Self {
        let path = encode_for(spec, kind, geometry).ok();
        Configuration {
            path: path.filter(|path| path.unit != self.bank.unit),
            ..self
        }
    }

    /// The bank unit, then the row map.
    pub fn units(&self) -> [&Encoding; 2] {
        [&self.bank, &self.row_map]
    }
}

/// Encodes `spec` for the unit that it names (the fixed hashes have units
/// without ports; `mod` is bit-vector permutation with k = 0).
pub fn encode(spec: &HashSpec, geometry: Geometry) -> Result<Encoding> {
    // Rank first: what is encoded is a legal configuration.
    Mapping::new(spec, geometry)?;
    encode_ports(spec, geometry)
}

/// Encodes any spec whose parameters are in range, even one of low rank: what
/// the configuration registers may hold while they are being written.
pub fn encode_ports(spec: &HashSpec, geometry: Geometry) -> Result<Encoding> {
    let function = BankFunction::new(spec, geometry)?;
    Ok(match spec {
        HashSpec::Mod => bitvec_perm(0, geometry),
        HashSpec::Xor => fixed("spad_hash_xor"),
        HashSpec::Add => fixed("spad_hash_add"),
        HashSpec::BitvecPerm { k } => bitvec_perm(*k as usize, geometry),
        HashSpec::BitvecXor { k1, k2, mask } => bitvec_xor(*k1, *k2, *mask, geometry),
        HashSpec::BitwisePerm(bits) => bitwise_perm(bits, geometry),
        HashSpec::BitwiseXor(pairs) => bitwise_xor(pairs, geometry),
        HashSpec::Matrix(rows) => matrix(rows, geometry),
        HashSpec::Rap(_) | HashSpec::Ras(_) => match function {
            BankFunction::Shift(shifts) => rap(&shifts, geometry),
            _ => unreachable!("RAP and RAS are shift tables"),
        },
    })
}

/// Encodes `spec` for the unit of `kind`, which may be another than its own:
/// the matrix unit takes every linear spec, and a spec goes wherever its rows
/// have the unit's form.
pub fn encode_for(spec: &HashSpec, kind: HashKind, geometry: Geometry) -> Result<Encoding> {
    let mapping = Mapping::new(spec, geometry)?;
    let BankFunction::Linear(m) = mapping.bank_function() else {
        return Err(Error::usage(
            format!(
                "hash spec '{spec}' is not linear, {} takes no such hash",
                kind.unit()
            ),
            "expected a linear hash: mod, xor, bitvec-*, bitwise-* or matrix",
        ));
    };
    let as_kind = express(m.rows(), kind, geometry).ok_or_else(|| {
        Error::usage(
            format!("hash spec '{spec}' cannot be expressed by {}", kind.unit()),
            "spad_hash_matrix takes every linear hash (--unit matrix)",
        )
    })?;
    encode(&as_kind, geometry)
}

/// The row masks `rows` as a spec of `kind`, if it has one.
fn express(rows: &[u32], kind: HashKind, geometry: Geometry) -> Option<HashSpec> {
    let bits = |row: u32| (0..u32::BITS).filter(move |b| row >> b & 1 == 1);
    let one = |row: u32| (row.count_ones() == 1).then(|| row.trailing_zeros());
    match kind {
        HashKind::Matrix => Some(HashSpec::Matrix(rows.to_vec())),
        HashKind::BitwisePerm => rows
            .iter()
            .map(|&r| one(r))
            .collect::<Option<_>>()
            .map(HashSpec::BitwisePerm),
        HashKind::BitwiseXor => {
            let pair = |&row: &u32| {
                let mut b = bits(row);
                let first = b.next()?;
                let second = b.next();
                b.next().is_none().then_some((first, second))
            };
            rows.iter()
                .map(pair)
                .collect::<Option<_>>()
                .map(HashSpec::BitwiseXor)
        }
        HashKind::BitvecPerm | HashKind::BitvecXor => {
            // The search space is small: try every configuration.
            let (n, m) = (geometry.addr_bits(), geometry.bank_bits());
            let same = |spec: &HashSpec| {
                matches!(BankFunction::new(spec, geometry),
                    Ok(BankFunction::Linear(l)) if l.rows() == rows)
            };
            let perm = |k| HashSpec::BitvecPerm { k };
            let xor = |k1, k2, mask| HashSpec::BitvecXor { k1, k2, mask };
            match kind {
                HashKind::BitvecPerm => (0..=n - m).map(perm).find(same),
                _ => (0..=n - m)
                    .flat_map(|k1| (0..n).map(move |k2| (k1, k2)))
                    .flat_map(|(k1, k2)| (0..1 << m).map(move |mask| xor(k1, k2, mask)))
                    .find(same),
            }
        }
    }
}

/// The ports of `spad_row_map` for the row map of a mapping.
pub fn encode_row_map(row: &RowMap, geometry: Geometry) -> Encoding {
    let m = geometry.bank_bits() as usize;
    let mut sel = PortValue::zero(row.sources().len() * (m + 1));
    let mut registers = Vec::new();
    for (j, &source) in row.sources().iter().enumerate() {
        let kept = source as usize == m + j;
        sel.set_bit(j * (m + 1) + if kept { m } else { source as usize }, true);
        registers.push(if kept { 0 } else { u64::from(source) + 1 });
    }
    Encoding {
        unit: "spad_row_map",
        ports: vec![("cfg_row_sel", sel)],
        registers,
    }
}

fn fixed(unit: &'static str) -> Encoding {
    Encoding {
        unit,
        ports: Vec::new(),
        registers: Vec::new(),
    }
}

fn bitvec_perm(k: usize, geometry: Geometry) -> Encoding {
    let offsets = geometry.row_bits() as usize + 1;
    // Pairs of offsets, an even number of pairs, go through the coarse step.
    let pairs = (offsets + 1) / 4 * 2;
    let direct = offsets.saturating_sub(2 * pairs);
    let mut coarse = PortValue::zero(2 * pairs);
    let mut fine = PortValue::zero(2 + direct);
    if k < 2 * pairs {
        coarse.set_bit(k / 2, true);
        coarse.set_bit(pairs + k / 2, true);
        fine.set_bit(k % 2, true);
    } else {
        fine.set_bit(2 + k - 2 * pairs, true);
    }
    Encoding {
        unit: HashKind::BitvecPerm.unit(),
        ports: vec![("cfg_coarse", coarse), ("cfg_fine", fine)],
        registers: vec![k as u64],
    }
}

fn bitvec_xor(k1: u32, k2: u32, mask: u32, geometry: Geometry) -> Encoding {
    let (n, m) = (geometry.addr_bits() as usize, geometry.bank_bits() as usize);
    let triples = (n - m + 1).div_ceil(3);
    let (first, second) = (k1 as usize, k2 as usize);
    let mut coarse1 = PortValue::zero(2 * triples);
    coarse1.set_bit(first / 3, true);
    coarse1.set_bit(triples + first / 3, true);
    let fine1 = PortValue::from_u64(3, !(1 << (first % 3)));
    // The second copy of coarse2, for odd outputs, is one line short for odd n.
    let even_lines = n.div_ceil(2);
    let mut coarse2 = PortValue::zero(n);
    coarse2.set_bit(second / 2, true);
    if second / 2 < n / 2 {
        coarse2.set_bit(even_lines + second / 2, true);
    }
    let mut fine2 = PortValue::zero(2 * m);
    for i in (0..m).filter(|&i| mask >> i & 1 == 1 && second + i < n) {
        fine2.set_bit(2 * i + second % 2, true);
    }
    Encoding {
        unit: HashKind::BitvecXor.unit(),
        ports: vec![
            ("cfg_coarse1", coarse1),
            ("cfg_fine1_n", fine1),
            ("cfg_coarse2", coarse2),
            ("cfg_fine2", fine2),
        ],
        registers: vec![k1.into(), k2.into(), mask.into()],
    }
}

fn bitwise_perm(bits: &[u32], geometry: Geometry) -> Encoding {
    let n = geometry.addr_bits() as usize;
    let mut sel = PortValue::zero(bits.len() * n);
    for (i, &bit) in bits.iter().enumerate() {
        sel.set_bit(i * n + bit as usize, true);
    }
    Encoding {
        unit: HashKind::BitwisePerm.unit(),
        ports: vec![("cfg_sel", sel)],
        registers: bits.iter().map(|&b| b.into()).collect(),
    }
}

/// The select lines of `spad_hash_bitwise_xor`: (group, address bit) per line
/// of one bank bit. Address bit a < 4 is in group a, the others are in two
/// groups each, in the repeating order 01 23 02 13 03 12.
pub(crate) fn xor_lines(n: u32) -> Vec<(u32, u32)> {
    const ORDER: [[u32; 2]; 6] = [[0, 1], [2, 3], [0, 2], [1, 3], [0, 3], [1, 2]];
    let in_group = |g: u32, a: u32| match a {
        0..4 => a == g,
        _ => ORDER[(a as usize - 4) % 6].contains(&g),
    };
    (0..4)
        .flat_map(|g| (0..n).filter(move |&a| in_group(g, a)).map(move |a| (g, a)))
        .collect()
}

fn bitwise_xor(pairs: &[(u32, Option<u32>)], geometry: Geometry) -> Encoding {
    let lines = xor_lines(geometry.addr_bits());
    let index_bits = geometry.bit_number_bits();
    let mut sel = PortValue::zero(pairs.len() * lines.len());
    let mut registers = Vec::new();
    for (i, &(a, b)) in pairs.iter().enumerate() {
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
        registers.push(u64::from(a) | u64::from(b.unwrap_or(0)) << index_bits);
    }
    Encoding {
        unit: HashKind::BitwiseXor.unit(),
        ports: vec![("cfg_sel", sel)],
        registers,
    }
}

fn matrix(rows: &[u32], geometry: Geometry) -> Encoding {
    let n = geometry.addr_bits() as usize;
    let mut port = PortValue::zero(rows.len() * n);
    for (i, &row) in rows.iter().enumerate() {
        port.set_field(i * n, n, row.into());
    }
    Encoding {
        unit: HashKind::Matrix.unit(),
        ports: vec![("cfg_rows", port)],
        registers: rows.iter().map(|&r| r.into()).collect(),
    }
}

fn rap(shifts: &[u32], geometry: Geometry) -> Encoding {
    let m = geometry.bank_bits() as usize;
    // A short address reaches only the first rows of the table.
    let reachable = 1usize << geometry.row_bits().min(geometry.bank_bits());
    let shifts = &shifts[..reachable.min(shifts.len())];
    let mut port = PortValue::zero(shifts.len() * m);
    for (i, &r) in shifts.iter().enumerate() {
        port.set_field(i * m, m, r.into());
    }
    Encoding {
        unit: "spad_rap",
        ports: vec![("cfg_shift", port)],
        registers: shifts.iter().map(|&r| r.into()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports(spec: &str) -> Vec<(String, String)> {
        let g = Geometry::new(14, 5).unwrap();
        let encoding = encode(&spec.parse().unwrap(), g).unwrap();
        let show = |(name, value): &(&str, PortValue)| ((*name).to_owned(), value.to_string());
        encoding.ports.iter().map(show).collect()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.into(), value.into())
    }

    #[test]
    fn known_encodings() {
        assert_eq!(
            ports("bitvec-perm:k=3"),
            [pair("cfg_coarse", "0x22"), pair("cfg_fine", "0x2")]
        );
        assert_eq!(
            ports("bitvec-perm:k=9"),
            [pair("cfg_coarse", "0x0"), pair("cfg_fine", "0x8")]
        );
        assert_eq!(
            ports("matrix:0x1,0x2,0x4,0x8,0x2010"),
            [pair("cfg_rows", "0x201000200040008001")]
        );
        assert_eq!(ports("xor"), []);
    }

    #[test]
    fn a_configuration_has_the_row_map_of_its_mapping() {
        let g = Geometry::new(10, 3).unwrap();
        let spec: HashSpec = "bitwise-perm:0,4,5".parse().unwrap();
        let both = Configuration::new(&spec, None, g).unwrap();
        let names = both.units().map(|e| (e.unit, e.config_unit().unwrap()));
        assert_eq!(names[0].0, "spad_hash_bitwise_perm");
        let own = both.clone().for_path(&spec, HashKind::BitwisePerm, g);
        assert_eq!(own.path, None);
        assert_eq!(names[0].1, "spad_hash_config_bitwise_perm");
        assert_eq!(names[1].1, "spad_hash_config_row_map");
        // Row bits 1 and 2 are pivots: they take address bits 1 and 2.
        assert_eq!(both.row_map.registers, [0, 2, 3, 0, 0, 0, 0]);
        assert_eq!(both.row_map.writes_text(), "0x0 0x2 0x3 0x0 0x0 0x0 0x0");
        let xor: HashSpec = "xor".parse().unwrap();
        let xor = Configuration::new(&xor, None, g)
            .unwrap()
            .for_path(&xor, HashKind::Matrix, g);
        assert_eq!(xor.bank.config_unit(), None);
        assert_eq!(xor.path.unwrap().registers, [0x9, 0x12, 0x24]);
        assert!(xor.row_map.registers.iter().all(|&r| r == 0));
    }

    #[test]
    fn linear_specs_move_between_units() {
        let g = Geometry::new(14, 5).unwrap();
        let xor: HashSpec = "xor".parse().unwrap();
        let as_bitvec = encode_for(&xor, HashKind::BitvecXor, g).unwrap();
        assert_eq!(as_bitvec.registers, [0, 5, 31]);
        let as_pairs = encode_for(&xor, HashKind::BitwiseXor, g).unwrap();
        assert_eq!(as_pairs.registers, [0x50, 0x61, 0x72, 0x83, 0x94]);
        assert!(encode_for(&xor, HashKind::BitwisePerm, g).is_err());
        assert!(encode_for(&"add".parse().unwrap(), HashKind::Matrix, g).is_err());
    }
}
