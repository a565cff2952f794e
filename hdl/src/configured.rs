//! Units with configuration registers: what `spad_hash_config` must know of one
//! to hold its registers and to drive its select lines.

use crate::address_widths::AddressWidths;
use crate::module::{Dir, Module, Port, Result, UnitDoc};
use crate::signal::{Bits, Expr, Signal};
use crate::unit::UnitBuilder;

/// A unit whose `cfg_*` ports come from configuration registers.
pub(crate) trait Configurable {
    /// Emits the unit itself.
    fn emit(&self, g: AddressWidths) -> Result<Module>;

    /// The registers in the order of their write index.
    fn registers(&self, g: AddressWidths) -> Vec<Register>;

    /// The meaning of a write.
    fn write_doc(&self, g: AddressWidths) -> String;

    /// The decoder, which makes select lines of the registers.
    fn decoder(&self, g: AddressWidths) -> Result<Decoder>;
}

/// One configuration register.
#[derive(Clone, Debug)]
pub(crate) struct Register {
    pub name: String,
    pub width: usize,
    /// Reset value, for bank = addr mod 2^m.
    pub reset: usize,
}

impl Register {
    pub(crate) fn new(name: impl Into<String>, width: usize, reset: usize) -> Self {
        Register {
            name: name.into(),
            width,
            reset,
        }
    }

    /// `count` registers of one width, `r0` and so on.
    pub(crate) fn each(count: usize, width: usize, reset: impl Fn(usize) -> usize) -> Vec<Self> {
        let register = |i| Register::new(format!("r{i}"), width, reset(i));
        (0..count).map(register).collect()
    }
}

/// The logic between the registers and the unit's `cfg_*` ports. It exists once
/// per SM, so that none of it is in the path of an access.
pub(crate) enum Decoder {
    /// The registers, side by side, are what the unit's one port takes.
    None,
    /// One module for all registers. Its ports have their names, and those of
    /// the unit's ports.
    Whole(Module),
    /// A module per register. Its inputs take the register's fields, the first
    /// one the low bits; its output is that register's part of the port.
    Each(Module),
}

impl Decoder {
    /// The module, if any.
    pub(crate) fn into_module(self) -> Option<Module> {
        match self {
            Decoder::None => None,
            Decoder::Whole(module) | Decoder::Each(module) => Some(module),
        }
    }
}

/// The ports that select a unit's function.
pub(crate) fn selects(module: &Module) -> impl Iterator<Item = &Port> {
    let is_select = |port: &&Port| port.name.starts_with("cfg_") && port.dir == Dir::In;
    module.ports.iter().filter(is_select)
}

/// Bits that count from 0 to `values - 1`.
pub(crate) const fn index_width(values: usize) -> usize {
    values.next_power_of_two().trailing_zeros() as usize
}

/// `lines[i] = value(i)` for every line of a select port.
#[track_caller]
pub(crate) fn assign_lines(u: &UnitBuilder, lines: Signal, values: impl IntoIterator<Item = Expr>) {
    // A loop, because a closure would hide the caller's line.
    for (i, value) in values.into_iter().enumerate() {
        u.assign(lines.at(i), value);
    }
}

/// Waives the lint of address bits from `used` upward, if any.
pub(crate) fn unused_above(u: &UnitBuilder, g: AddressWidths, addr: Signal, used: usize) {
    let reason = format!("addr[{}:{used}] does not enter the hash", g.addr_bits - 1);
    u.unused(used < g.addr_bits, addr, &reason);
}

/// The decoder `spad_hash_decode_WHAT`, before its ports.
pub(crate) fn decoder_unit(g: AddressWidths, what: &str, summary: &str) -> UnitBuilder {
    UnitBuilder::new(UnitDoc {
        name: format!("spad_hash_decode_{what}"),
        summary: summary.into(),
        parameters: g.parameters(),
        timing: "combinational, after the registers of spad_hash_config".into(),
        paper: "hash paper, section 4".into(),
        latency_cycles: 0,
    })
}
