//! How many passes an instruction takes (section 18.3).

use crate::expr::{assign, choose, equals, is, number, vector};
use crate::kernel::Kernel;
use crate::module::{Module, Result, Unit, UnitDoc};
use crate::params::Params;

/// Emits the count.
pub(crate) fn emit_kernel(p: &Params) -> Result<Module> {
    let further = |words: usize| number(p.PW, words * p.S - 1);
    let wide = is("kind", "KIND_LOAD") | is("kind", "KIND_STORE");
    let cases = [
        (vector("wide") & equals("words", 2, 1), further(2)),
        (vector("wide") & equals("words", 2, 2), further(4)),
    ];
    let kernel = Kernel::default()
        .input("kind", 4)
        .input("words", 2)
        .output("more", p.PW)
        .local("wide", 1)
        .logic(vec![
            assign("wide", wide),
            choose("more", cases.into_iter(), further(1)),
        ]);
    Unit::new(UnitDoc {
        name: "spad_pass_count".into(),
        summary: "passes of an instruction behind its first: one per subwarp, and of loads and \
                  stores one per word of a lane."
            .into(),
        parameters: p.text(&["S", "PW"]),
        timing: "combinational".into(),
        paper: "docs/microarchitecture.md, section 18.3".into(),
        latency_cycles: 0,
    })
    .port("kind", "its kind")
    .port("words", "words per lane: 0 one, 1 two, 2 four")
    .port("more", "passes but for the first")
    .emit_kernel(kernel)
}
