//! The number of the bit that is set in a one-hot vector.

use crate::expr::{assign_bit, bit, or_all};
use crate::kernel::Kernel;
use crate::module::{Module, Result, Unit, UnitDoc};
use crate::params::index_bits;

/// Emits the encoder of `count` bits (2 or more).
pub(crate) fn emit_kernel(count: usize) -> Result<Module> {
    let bits = index_bits(count);
    let any_with = |k: usize| {
        let with = (1..count).filter(|i| i >> k & 1 == 1);
        or_all(with.map(|i| bit("above", i - 1)))
    };
    let logic = (0..bits).map(|k| assign_bit("number", k, any_with(k)));
    let kernel = Kernel::default()
        .input(
            "above",
            count - 1,
            "the vector but for its lowest bit: at most one bit is set",
        )
        .output(
            "number",
            bits,
            "its number in the whole vector; 0 if none is",
        )
        .logic(logic.collect());
    Unit::new(UnitDoc {
        name: format!("spad_number_{count}"),
        summary: "the number of the bit that is set.".into(),
        parameters: format!("{count} bits"),
        timing: "combinational".into(),
        paper: "microarchitecture/warp-scheduler.md".into(),
        latency_cycles: 0,
    })
    .emit_kernel(kernel)
}
