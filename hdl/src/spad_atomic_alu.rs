//! The arithmetic of one lane of an atomic operation
//! (microarchitecture/parameters.md).

use crate::codes::aop;
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, code, when};
use crate::unit::UnitBuilder;

/// Emits the slice of a lane.
pub(crate) fn emit_kernel(p: &Params) -> Result<Module> {
    let u = UnitBuilder::new(UnitDoc::part(
        "spad_atomic_alu",
        "the arithmetic of an atomic operation. Operations: 0 add, 1 and, 2 or, 3 xor, \
         4 exchange, 5 umin, 6 umax, 7 smin, 8 smax.",
        p.text(&["D"]),
        "parameters.md",
    ));
    let s = u.all_sizes(p);
    let aop = u.input("aop", 4, "operation");
    let word = u.input("word", s.D, "the word in the scratchpad");
    let operand = u.input("operand", s.D, "the lane's operand");
    let result = u.output("result", s.D, "what the word becomes");

    // Minima and maxima: of two signs the negative one is below.
    let below = u.name("below", word.less(operand));
    let [sign, other] = [word, operand].map(|number| number.at(p.D - 1));
    let signed_below = when(sign.clone() ^ other, sign).otherwise(below);
    let signed_below = u.name("signed_below", signed_below);
    let less = |name, below| u.name(name, when(below, word).otherwise(operand));
    let more = |name, below| u.name(name, when(below, operand).otherwise(word));
    let (umin, umax) = (less("umin", below), more("umax", below));
    let (smin, smax) = (less("smin", signed_below), more("smax", signed_below));
    let results = [
        (aop::ADD, word + operand),
        (aop::AND, word & operand),
        (aop::OR, word | operand),
        (aop::XOR, word ^ operand),
        (aop::SWAP, operand.into()),
        (aop::UMIN, umin.into()),
        (aop::UMAX, umax.into()),
        (aop::SMIN, smin.into()),
    ];
    let results = results.map(|(value, result)| (code(&aop::FIELD, value), result));
    let chosen = u.table("chosen", aop, results, smax);
    u.assign(result, chosen);
    u.emit()
}
