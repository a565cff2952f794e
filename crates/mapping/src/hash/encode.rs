//! Hash specs as the values of the hash units' configuration ports and as the
//! writes to the configuration registers.
//!
//! The meaning of each port is documented in the header of the unit's Verilog
//! file; this is the software's own reading of it.

use super::kind::{self, Family, UnitSpec};
use super::mapping::{BankFunction, Mapping, RowMap};
use super::port_value::PortValue;
use super::spec::HashSpec;
use super::{Configured, HASH_ADD, HASH_XOR, HashKind};
use crate::geometry::Geometry;
use serde::{Serialize, Serializer};
use spadkit_base::error::{Error, Result};

/// A unit configured for one spec.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub fn config_unit(&self) -> Option<&'static str> {
        Configured::of_unit(self.unit).map(Configured::config_unit)
    }

    /// The register writes for people: `0x0 0x50 0x61`, by `wr_index`.
    pub fn writes_text(&self) -> String {
        let writes = self.registers.iter().map(|r| format!("{r:#x}"));
        writes.collect::<Vec<_>>().join(" ")
    }
}

/// The fields of an [`Encoding`] in JSON: ports are an object, and the unit that
/// has the registers is named.
#[derive(Serialize)]
struct Fields<'a> {
    unit: &'static str,
    #[serde(serialize_with = "as_object")]
    ports: &'a [(&'static str, PortValue)],
    config_unit: Option<&'static str>,
    registers: &'a [u64],
}

fn as_object<S: Serializer>(
    ports: &&[(&'static str, PortValue)],
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(ports.iter().map(|(name, value)| (name, value)))
}

impl Serialize for Encoding {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let fields = Fields {
            unit: self.unit,
            ports: &self.ports,
            config_unit: self.config_unit(),
            registers: &self.registers,
        };
        fields.serialize(serializer)
    }
}

/// Values of all registers for one mapping. The bank unit and the row map must be
/// set together: with the row map of another mapping, two addresses map to the same
/// word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Configuration {
    /// The unit that computes the bank.
    #[serde(flatten)]
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

    /// Adds the values for the bank unit of `kind`, which the machine's path
    /// has, if it is another unit and can compute `spec`.
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
fn encode_ports(spec: &HashSpec, geometry: Geometry) -> Result<Encoding> {
    let function = BankFunction::new(spec, geometry)?;
    Ok(match spec {
        HashSpec::Mod => match smallest(&function, geometry) {
            Some(unit) => configured(&unit, geometry),
            None => unreachable!("every unit is conventional after reset"),
        },
        HashSpec::Xor => fixed(HASH_XOR),
        HashSpec::Add => fixed(HASH_ADD),
        HashSpec::Unit(unit) => configured(unit, geometry),
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
                "hash spec '{spec}' is not linear, and {} implements only linear hashes",
                kind.unit()
            ),
            "expected a linear hash: mod, xor, bitvec-*, bitwise-* or matrix",
        ));
    };
    let as_kind = (kind::of(kind).of_rows)(m.rows(), geometry).ok_or_else(|| {
        Error::usage(
            format!("hash spec '{spec}' cannot be expressed by {}", kind.unit()),
            any_linear(),
        )
    })?;
    encode(&as_kind.into(), geometry)
}

/// The unit that can compute any linear hash.
fn any_linear() -> String {
    let units = Family::Matrix.kinds();
    let units =
        units.map(|kind| format!("{} takes every linear hash (--unit {kind})", kind.unit()));
    units.collect::<Vec<_>>().join("; ")
}

/// A linear function as a configuration of the smallest unit that has it.
fn smallest(function: &BankFunction, geometry: Geometry) -> Option<UnitSpec> {
    let BankFunction::Linear(matrix) = function else {
        return None;
    };
    let mut kinds = HashKind::ALL.into_iter();
    kinds.find_map(|kind| (kind::of(kind).of_rows)(matrix.rows(), geometry))
}

fn configured(unit: &UnitSpec, geometry: Geometry) -> Encoding {
    Encoding {
        unit: unit.kind().unit(),
        ports: unit.get().ports(geometry),
        registers: unit.get().registers(geometry),
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
        unit: Configured::Rap.unit(),
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
