//! How many passes an instruction takes (microarchitecture/issue.md).

use crate::expr::{assign, choose, equals, is, number, wire};
use crate::kernel::Kernel;
use crate::module::{Module, Result, Unit, UnitDoc};
use crate::params::Params;

/// Emits the count.
pub(crate) fn emit_kernel(p: &Params) -> Result<Module> {
    let further = |words: usize| number(p.PW, words * p.S - 1);
    let wide = is("kind", "KIND_LOAD") | is("kind", "KIND_STORE");
    let cases = [
        (wire("wide") & equals("words", 2, 1), further(2)),
        (wire("wide") & equals("words", 2, 2), further(4)),
    ];
    let kernel = Kernel::default()
        .input("kind", 4, "its kind")
        .input("words", 2, "words per lane: 0 one, 1 two, 2 four")
        .output("more", p.PW, "passes but for the first")
        .logic(vec![
            assign("wide", wide),
            choose("more", cases, further(1)),
        ]);
    Unit::new(UnitDoc::part(
        "spad_pass_count",
        "passes of an instruction behind its first: one per subwarp, and of loads and stores \
         one per word of a lane.",
        p.text(&["S", "PW"]),
        "issue.md",
    ))
    .emit_kernel(kernel)
}
