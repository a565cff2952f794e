//! The arithmetic of one lane of an atomic operation
//! (microarchitecture/parameters.md).

use crate::expr::{assign, below, bit, choose, sum, table, wire};
use crate::kernel::Kernel;
use crate::module::{Module, Result, Unit, UnitDoc};
use crate::params::Params;
use rust_hdl::core::ast::VerilogStatement;

/// Minima and maxima: of two signs the negative one is below.
fn extremes(p: &Params) -> Vec<VerilogStatement> {
    let sign = |name| bit(name, p.D - 1);
    let less = |name, test| choose(name, [(wire(test), wire("word"))], "operand");
    let more = |name, test| choose(name, [(wire(test), wire("operand"))], "word");
    vec![
        assign("below", below("word", "operand")),
        choose(
            "signed_below",
            [(sign("word") ^ sign("operand"), sign("word"))],
            "below",
        ),
        less("umin", "below"),
        more("umax", "below"),
        less("smin", "signed_below"),
        more("smax", "signed_below"),
    ]
}

/// Emits the slice of a lane.
pub(crate) fn emit_kernel(p: &Params) -> Result<Module> {
    let both = || (wire("word"), wire("operand"));
    let cases = vec![
        ("AOP_ADD", sum("word", "operand")),
        ("AOP_AND", both().0 & both().1),
        ("AOP_OR", both().0 | both().1),
        ("AOP_XOR", both().0 ^ both().1),
        ("AOP_EXCH", wire("operand")),
        ("AOP_UMIN", wire("umin")),
        ("AOP_UMAX", wire("umax")),
        ("AOP_SMIN", wire("smin")),
    ];
    let result = [
        table("chosen", "aop", cases, "smax"),
        assign("result", "chosen"),
    ];
    let kernel = Kernel::default()
        .input("aop", 4, "operation")
        .input("word", p.D, "the word in the scratchpad")
        .input("operand", p.D, "the lane's operand")
        .output("result", p.D, "what the word becomes")
        .logic(extremes(p).into_iter().chain(result).collect());
    Unit::new(UnitDoc::part(
        "spad_atomic_alu",
        "the arithmetic of an atomic operation. Operations: 0 add, 1 and, 2 or, 3 xor, \
         4 exchange, 5 umin, 6 umax, 7 smin, 8 smax.",
        p.text(&["D"]),
        "parameters.md",
    ))
    .emit_kernel(kernel)
}
