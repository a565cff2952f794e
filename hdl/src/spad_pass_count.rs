//! Computes the number of passes of an instruction (microarchitecture/issue.md).

use crate::codes::kind;
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::signal::{Bits, code, number, when};
use crate::unit::UnitBuilder;

/// Emits the count.
pub(crate) fn emit_kernel(p: &Params) -> Result<Module> {
    let u = UnitBuilder::new(UnitDoc::part(
        "spad_pass_count",
        "passes of an instruction after its first: one per subwarp, and of loads and stores \
         one per word of a lane.",
        p.text(&["S", "PW"]),
        "issue.md",
    ));
    let s = u.all_sizes(p);
    let kind = u.input("kind", 4, "kind of the instruction");
    let words = u.input("words", 2, "words per lane: 0 one, 1 two, 2 four");
    let more = u.output("more", s.PW, "passes but for the first");
    let is = |value| kind.is(code(&kind::FIELD, value));
    let wide = u.name("wide", is(kind::LOAD) | is(kind::STORE));
    let further = |words: usize| number(p.PW, words * p.S - 1);
    let passes = when(wide & words.is(1), further(2)).when(wide & words.is(2), further(4));
    u.assign(more, passes.otherwise(further(1)));
    u.emit()
}
