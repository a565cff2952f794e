//! The number of the bit that is set in a one-hot vector.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, or_all};
use crate::size::index_bits;
use crate::unit::UnitBuilder;

/// Emits `spad_warp_number`, the encoder of a warp slot.
pub(crate) fn of_warp(p: &Params) -> Result<Module> {
    emit_kernel("spad_warp_number", p.W)
}

/// Emits `spad_lane_number`, the encoder of a lane.
pub(crate) fn of_lane(lanes: usize) -> Result<Module> {
    emit_kernel("spad_lane_number", lanes)
}

/// The encoder of `count` bits (2 or more). Its name says what is numbered, not
/// how many there are: what names a module holds for every machine.
fn emit_kernel(name: &str, count: usize) -> Result<Module> {
    let u = UnitBuilder::new(UnitDoc {
        name: name.into(),
        summary: format!(
            "one-hot to binary encoder of {count} bits. Bit 0 is no input: without it the number \
             is 0, as it is for bit 0."
        ),
        parameters: format!("{count} bits"),
        timing: "combinational".into(),
        paper: "microarchitecture/warp-scheduler.md".into(),
        latency_cycles: 0,
    });
    let bits = index_bits(count);
    let about = "the vector but for its lowest bit: at most one bit is set";
    let above = u.input("above", count - 1, about);
    let about = "its number in the whole vector; 0 if none is";
    let number = u.output("number", bits, about);
    for k in 0..bits {
        let with = (1..count).filter(|i| i >> k & 1 == 1);
        u.assign(number.at(k), or_all(with.map(|i| above.at(i - 1))));
    }
    u.emit()
}
