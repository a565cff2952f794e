//! The hash of the lanes: address to bank, row and lock
//! (microarchitecture/hash-units.md).
//!
//! Linear hashes are evaluated from two tables of the address's halves, which
//! the unit models fill whenever the configuration changes.

use crate::config::{Config, PathHash};
use crate::model::hash_units::unit_of;
use crate::model::lanes::{LaneMask, lanes_of};
use crate::model::{ConfigInputs, HashAdd, HashConfig, HashXor, Rap};
use spadkit_base::error::Result;
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::{BankFunction, Configured, HashKind, HashSpec, Mapping};

/// A write to a configuration register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterWrite {
    /// Index of the register.
    pub index: usize,
    /// Value of the register.
    pub data: u64,
}

/// The function from an address to bank and row.
#[derive(Clone, Debug)]
enum Function {
    /// bank: the lowest bits, row: those above. What most kernels run with,
    /// and what needs no table.
    Modulo,
    /// bank | row << 8 of the low and of the high address byte, to be XORed.
    Linear(Box<[[u32; 256]; 2]>),
    Add(HashAdd),
    Shift(Rap),
}

/// The hash of the lanes with its configuration registers.
#[derive(Clone, Debug)]
pub struct LaneHash {
    geometry: Geometry,
    lock_bits: u32,
    hash: PathHash,
    hash_unit: HashKind,
    /// The registers of the configurable unit or of RAP, and of the row map.
    unit: Option<HashConfig>,
    row_map: Option<HashConfig>,
    function: Function,
}

impl LaneHash {
    /// The hash of `config`, after reset.
    pub fn new(config: &Config) -> Self {
        let geometry = config.geometry;
        let block = |unit| Some(HashConfig::new(unit, config));
        let (unit, row_map) = match config.path.hash {
            PathHash::Configurable => (
                block(Configured::Hash(config.hash_unit)),
                block(Configured::RowMap),
            ),
            PathHash::Rap => (block(Configured::Rap), None),
            PathHash::Mod | PathHash::Xor | PathHash::Add => (None, None),
        };
        let mut stage = LaneHash {
            geometry,
            lock_bits: config.parameters().LK as u32,
            hash: config.path.hash,
            hash_unit: config.hash_unit,
            unit,
            row_map,
            function: Function::Modulo,
        };
        stage.decode();
        stage
    }

    /// Loads a mapping as a host would by writing the registers. It stays until
    /// the next write or reset.
    pub fn load(&mut self, spec: &HashSpec) -> Result<()> {
        let mapping = Mapping::new(spec, self.geometry)?;
        let geometry = self.geometry;
        self.function = match mapping.bank_function() {
            BankFunction::Add => Function::Add(HashAdd { geometry }),
            BankFunction::Shift(shifts) => Function::Shift(Rap {
                geometry,
                shifts: shifts.clone(),
            }),
            BankFunction::Linear(_) => {
                linear(geometry, |addr| (mapping.bank(addr), mapping.row(addr)))
            }
        };
        Ok(())
    }

    /// The registers of the unit and of the row map; none where there is no such block.
    pub fn registers(&self) -> [&[u64]; 2] {
        [&self.unit, &self.row_map]
            .map(|block| block.as_ref().map_or(&[][..], HashConfig::registers))
    }

    /// The registers' reset.
    pub fn reset(&mut self) {
        for block in [&mut self.unit, &mut self.row_map].into_iter().flatten() {
            block.step(&ConfigInputs {
                rst: true,
                ..ConfigInputs::default()
            });
        }
        self.decode();
    }

    /// The clock edge of the registers.
    pub fn commit(&mut self, unit: Option<RegisterWrite>, row: Option<RegisterWrite>) {
        if unit.is_none() && row.is_none() {
            return;
        }
        for (block, write) in [(&mut self.unit, unit), (&mut self.row_map, row)] {
            if let (Some(block), Some(write)) = (block, write) {
                block.step(&ConfigInputs {
                    rst: false,
                    wr_en: true,
                    wr_index: write.index,
                    wr_data: write.data,
                });
            }
        }
        self.decode();
    }

    /// Takes over the meaning of the registers.
    fn decode(&mut self) {
        let geometry = self.geometry;
        let registers = self.unit.as_ref().map_or(&[][..], HashConfig::registers);
        self.function = match self.hash {
            PathHash::Mod => linear(geometry, |a| (a & geometry.bank_mask(), self.row(a))),
            PathHash::Xor => {
                let unit = HashXor { geometry };
                linear(geometry, |a| (unit.step(a), self.row(a)))
            }
            PathHash::Add => Function::Add(HashAdd { geometry }),
            PathHash::Rap => {
                let mut shifts: Vec<u32> = registers.iter().map(|&r| r as u32).collect();
                shifts.resize(geometry.banks(), 0);
                Function::Shift(Rap { geometry, shifts })
            }
            PathHash::Configurable => {
                let bank = (unit_of(self.hash_unit).bank)(registers, geometry);
                linear(geometry, |a| (bank(a), self.row(a)))
            }
        };
    }

    /// The row of `addr`, by the row map's registers if there is one.
    fn row(&self, addr: u32) -> u32 {
        let m = self.geometry.bank_bits();
        let upper = addr >> m;
        let Some(map) = &self.row_map else {
            return upper;
        };
        let bit = |(j, &source): (usize, &u64)| match source {
            0 => upper & 1 << j,
            low if low <= u64::from(m) => (addr >> (low - 1) & 1) << j,
            _ => 0,
        };
        map.registers().iter().enumerate().map(bit).sum()
    }

    /// Bank and row of every lane.
    pub fn places(&self, addr: &[u16], bank: &mut [u8], row: &mut [u16]) {
        let (m, addr_mask) = (self.geometry.bank_bits(), self.geometry.addr_mask() as u16);
        let places = bank.iter_mut().zip(row);
        let lanes = addr.iter().map(|addr| addr & addr_mask);
        match &self.function {
            Function::Modulo => {
                let bank_mask = (1 << m) - 1;
                for (addr, (bank, row)) in lanes.zip(places) {
                    *bank = (addr & bank_mask) as u8;
                    *row = addr >> m;
                }
            }
            Function::Linear(tables) => {
                // The tables ignore bits beyond the address.
                for (addr, (bank, row)) in addr.iter().zip(places) {
                    let [low, high] = addr.to_le_bytes();
                    let place = tables[0][usize::from(low)] ^ tables[1][usize::from(high)];
                    *bank = place as u8;
                    *row = (place >> 8) as u16;
                }
            }
            Function::Add(unit) => {
                for (addr, (bank, row)) in lanes.zip(places) {
                    *bank = unit.step(addr.into()) as u8;
                    *row = addr >> m;
                }
            }
            Function::Shift(unit) => {
                for (addr, (bank, row)) in lanes.zip(places) {
                    *bank = unit.step(addr.into()) as u8;
                    *row = addr >> m;
                }
            }
        }
    }

    /// Lock index of the lanes in `mask`; `hash` as `cfg_lock_hash`.
    pub fn locks(&self, mask: LaneMask, hash: u8, addr: &[u16], lock: &mut [u16]) {
        let index = (1 << self.lock_bits) - 1;
        let low_bits = self.lock_bits.min(5);
        let low = (1u32 << low_bits) - 1;
        for lane in lanes_of(mask) {
            let addr = u32::from(addr[lane]) & self.geometry.addr_mask();
            let plain = addr & index;
            let upper = addr >> self.lock_bits & low;
            let hashed = match hash {
                1 => (plain ^ upper) & low,
                2 => (plain + upper) & low,
                _ => plain & low,
            };
            lock[lane] = ((plain & !low) | hashed) as u16;
        }
    }
}

/// A linear function address -> (bank, row).
fn linear(geometry: Geometry, place: impl Fn(u32) -> (u32, u32)) -> Function {
    // A linear mapping is determined by its values for single bits.
    let modulo = |addr| (addr & geometry.bank_mask(), addr >> geometry.bank_bits());
    if (0..geometry.addr_bits()).all(|bit| place(1 << bit) == modulo(1 << bit)) {
        return Function::Modulo;
    }
    let mut tables = Box::new([[0; 256]; 2]);
    for (half, table) in tables.iter_mut().enumerate() {
        for (value, entry) in table.iter_mut().enumerate() {
            let addr = (value as u32) << (8 * half) & geometry.addr_mask();
            let (bank, row) = place(addr);
            *entry = bank | row << 8;
        }
    }
    Function::Linear(tables)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_chacha::rand_core::SeedableRng;
    use spadkit_mapping::hash::{encode_for, encode_row_map, kind, uniform};

    fn place(stage: &LaneHash, addr: u16) -> (u8, u16) {
        let (mut bank, mut row) = ([0], [0]);
        stage.places(&[addr], &mut bank, &mut row);
        (bank[0], row[0])
    }

    /// Registers written as a host would, against the mapping itself.
    #[test]
    fn written_registers_and_loaded_specs_agree_with_the_mapping() {
        let mut config = Config::preset("small").unwrap();
        let g = config.geometry;
        let mut rng = ChaCha12Rng::seed_from_u64(1);
        for kind in HashKind::ALL {
            config.hash_unit = kind;
            let mut below = |bound| uniform(&mut rng, bound);
            let draw = std::iter::repeat_with(|| (kind::of(kind).draw)(g, &mut below).into());
            let legal = |spec: &HashSpec| Mapping::new(spec, g).is_ok();
            let spec: HashSpec = draw.take(100).find(legal).expect("some are mappings");
            let mapping = Mapping::new(&spec, g).unwrap();
            let mut stage = LaneHash::new(&config);
            let unit = encode_for(&spec, kind, g).unwrap().registers;
            let rows = encode_row_map(mapping.row_map(), g).registers;
            for (index, data) in unit.into_iter().enumerate() {
                stage.commit(Some(RegisterWrite { index, data }), None);
            }
            for (index, data) in rows.into_iter().enumerate() {
                stage.commit(None, Some(RegisterWrite { index, data }));
            }
            let mut loaded = LaneHash::new(&config);
            loaded.load(&spec).unwrap();
            for addr in 0..g.words() as u16 {
                let expected = (
                    mapping.bank(addr.into()) as u8,
                    mapping.row(addr.into()) as u16,
                );
                assert_eq!(place(&stage, addr), expected, "{spec} {addr}");
                assert_eq!(place(&loaded, addr), expected, "{spec} {addr}");
            }
        }
    }

    #[test]
    fn fixed_hashes_and_rap() {
        let mut config = Config::preset("gt200").unwrap();
        for (hash, spec) in [
            (PathHash::Mod, "mod"),
            (PathHash::Xor, "xor"),
            (PathHash::Add, "add"),
            (PathHash::Rap, "rap:3,1,4,0,5,2,7,6"),
        ] {
            config.path.hash = hash;
            let spec: HashSpec = spec.parse().unwrap();
            let mapping = Mapping::new(&spec, config.geometry).unwrap();
            let mut stage = LaneHash::new(&config);
            for (index, data) in [3, 1, 4, 0, 5, 2, 7, 6].into_iter().enumerate() {
                stage.commit(Some(RegisterWrite { index, data }), None);
            }
            for addr in 0..config.geometry.words() as u16 {
                let expected = (
                    mapping.bank(addr.into()) as u8,
                    mapping.row(addr.into()) as u16,
                );
                assert_eq!(place(&stage, addr), expected, "{spec} {addr}");
            }
        }
    }

    /// Atomics paper, section IV: bits 4..0 with bits 14..10.
    #[test]
    fn lock_hashes() {
        let text = "[geometry]\naddr_bits = 15\nbank_bits = 5\n";
        let config = Config::from_toml(text, std::path::Path::new("t.toml")).unwrap();
        let stage = LaneHash::new(&config);
        let lock = |hash, addr| {
            let mut lock = [0];
            stage.locks(1, hash, &[addr], &mut lock);
            lock[0]
        };
        let addr = 0b11011_01010_10111;
        assert_eq!(lock(0, addr), 0b01010_10111);
        assert_eq!(lock(1, addr), 0b01010_01100);
        assert_eq!(lock(2, addr), 0b01010_10010);
        assert_eq!(lock(3, addr), lock(0, addr));
    }
}
