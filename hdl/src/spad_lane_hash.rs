//! One lane's hash stage of the SM path: bank, row and lock of an address.

use crate::codes::lock_hash;
use crate::configured::selects;
use crate::kinds::rtl;
use crate::machine::Machine;
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, Expr, Operand, code, concat, when};
use crate::unit::UnitBuilder;
use crate::{spad_hash_add, spad_hash_config, spad_hash_xor};
use spadkit_names::{Configured, PathHash};

/// The low lock bits, as many as the lock hash changes.
const HASHED: usize = 5;

/// The hash of a path: the modules of a lane and the configuration blocks.
pub(crate) struct LaneHash {
    /// The modules of the lane: first those that it instantiates, its own last.
    pub modules: Vec<Module>,
    /// The configuration blocks: prefix of the path's write ports, and modules.
    pub configs: Vec<(&'static str, Vec<Module>)>,
}

/// Emits the hash of `machine`'s path.
pub(crate) fn emit_helper(p: &Params, machine: &Machine) -> Result<LaneHash> {
    let g = machine.geometry;
    let block = |unit: Configured| spad_hash_config::emit_unit(machine, unit, unit.config_unit());
    let (to_bank, to_row, configs) = match machine.path_hash {
        PathHash::Mod => (None, None, vec![]),
        PathHash::Xor => (Some(spad_hash_xor::emit_unit(g)?), None, vec![]),
        PathHash::Add => (Some(spad_hash_add::emit_unit(g)?), None, vec![]),
        PathHash::Configurable => {
            let unit = Configured::Hash(machine.hash_unit);
            let configs = vec![("hash", block(unit)?), ("row", block(Configured::RowMap)?)];
            let row_map = rtl(Configured::RowMap).emit(g)?;
            (Some(rtl(unit).emit(g)?), Some(row_map), configs)
        }
        // A shift needs no row map: the row is the upper address bits.
        PathHash::Rap => {
            let configs = vec![("hash", block(Configured::Rap)?)];
            (Some(rtl(Configured::Rap).emit(g)?), None, configs)
        }
    };
    let lane = lane(p, to_bank.as_ref(), to_row.as_ref())?;
    let units = to_bank.into_iter().chain(to_row);
    Ok(LaneHash {
        modules: units.chain([lane]).collect(),
        configs,
    })
}

/// The lane, with the units that make bank and row; without one, the bank is
/// the low bits of the address, the row the others.
fn lane(p: &Params, to_bank: Option<&Module>, to_row: Option<&Module>) -> Result<Module> {
    let u = UnitBuilder::new(doc(p));
    let s = u.all_sizes(p);
    let selects_of = |unit: Option<&Module>| {
        let ports = unit.into_iter().flat_map(selects);
        let declared = ports.map(|port| u.input(&port.name, port.width, &port.doc));
        declared.collect::<Vec<_>>()
    };
    let (bank_selects, row_selects) = (selects_of(to_bank), selects_of(to_row));
    let cfg_lock_hash = u.input("cfg_lock_hash", 2, "lock hash");
    let addr = u.input("addr", s.n, "word address");
    let bank = u.output("bank", s.m, "bank");
    let row = u.output("row", s.R, "row inside the bank");
    let lock = u.output("lock", s.LK, "lock index");

    match to_bank {
        None => u.assign(bank, addr.part(0, p.m)),
        Some(unit) => {
            let hash = u.instance(unit, "hash").same([addr]);
            hash.same(bank_selects).same([bank]).done();
        }
    }
    match to_row {
        None => u.assign(row, addr.part(p.m, p.R)),
        Some(unit) => {
            let row_map = u.instance(unit, "row_map").same([addr]);
            row_map.same(row_selects).same([row]).done();
        }
    }

    u.section(
        "The low lock bits, unchanged or combined with the address bits above the lock index.",
    );
    let bits = hashed_bits(p);
    let low = u.name("low", addr.part(0, bits));
    let above = p.n.saturating_sub(p.LK).min(bits);
    let up: Operand = match above {
        0 => 0.into(),
        _ => addr.part(p.LK, above).extended(bits).into(),
    };
    let up = u.named("up", bits, up);
    let is = |value| cfg_lock_hash.is(code(&lock_hash::FIELD, value));
    let combined = when(is(lock_hash::XOR), low ^ up).when(is(lock_hash::ADD), low + up);
    let hashed = u.name("hashed", combined.otherwise(low));
    let index: Expr = match p.LK - bits {
        0 => hashed.into(),
        rest => concat([addr.part(bits, rest), hashed.into()]),
    };
    u.assign(lock, index);
    u.emit()
}

/// The low bits of a lock index that `cfg_lock_hash` changes.
fn hashed_bits(p: &Params) -> usize {
    p.LK.min(HASHED)
}

fn doc(p: &Params) -> UnitDoc {
    let bits = hashed_bits(p);
    UnitDoc {
        name: "spad_lane_hash".into(),
        summary: format!(
            "bank, row and lock of one lane's address. cfg_lock_hash: 0 the low address bits; 1 \
             the low {bits} of them XORed with the bits above the index; 2 added to them, modulo \
             {}.",
            1u32 << bits
        ),
        parameters: p.text(&["n", "m", "R", "LK"]),
        timing: "combinational; cfg_* is static while a kernel runs".into(),
        paper: "hash paper, section 4; atomics paper, section IV; microarchitecture/hash-units.md"
            .into(),
        latency_cycles: 0,
    }
}
