//! Tests of the static analyses.

use super::*;
use crate::ptx::{Cfg, Module};

/// A module with the entry `k`, and its analyses.
struct Analysed {
    module: Module,
    cfg: Cfg,
    values: Values,
    loops: Loops,
    facts: BitFacts,
    context: Context,
}

impl Analysed {
    fn new(text: &str, context: Context) -> Self {
        let module = Module::parse(text, "t.ptx").unwrap_or_else(|e| panic!("{e}\n{text}"));
        let function = &module.functions[module.function("k").unwrap() as usize];
        let cfg = Cfg::new(function);
        let values = Values::new(function, &cfg);
        let loops = Loops::new(&cfg, values.dominators());
        let facts = BitFacts::new(&module, function, &cfg, &values, &context);
        Analysed {
            cfg,
            values,
            loops,
            facts,
            context,
            module,
        }
    }

    fn accesses(&self) -> Vec<SharedAccess> {
        let function = &self.module.functions[self.module.function("k").unwrap() as usize];
        let affines = Affines::new(
            &self.module,
            function,
            &self.cfg,
            &self.values,
            &self.loops,
            &self.facts,
            &self.context,
        );
        let summaries = Summaries::new(&self.module);
        shared_accesses(
            &self.module,
            function,
            &self.cfg,
            &self.values,
            &affines,
            &summaries,
        )
    }
}

fn entry(body: &str) -> String {
    format!(
        ".version 8.5\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 dynamic[];
         .visible .entry k(.param .u64 p, .param .u32 n) {{
         .reg .b64 %rd<40>; .reg .b32 %r<60>; .reg .pred %p<10>; .reg .b16 %h<10>; .reg .f32 %f<9>;
         .shared .align 4 .b8 a[4096]; .shared .align 4 .b8 b[4096];
         {body}
         ret; }}"
    )
}

#[test]
fn a_loop_over_a_tile_is_affine() {
    let text = entry(
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, 0; mov.u32 %r9, a;
         L: shl.b32 %r4, %r2, 6; add.s32 %r5, %r4, %r1; add.s32 %r6, %r5, %r3;
         shl.b32 %r7, %r6, 2; add.s32 %r8, %r9, %r7; st.shared.f32 [%r8+8], %f1;
         add.s32 %r3, %r3, 16; setp.lt.u32 %p1, %r3, 64; @%p1 bra L;",
    );
    let analysed = Analysed::new(&text, Context::default());
    let list = analysed.accesses();
    let [access] = &list[..] else {
        panic!("{list:?}")
    };
    let address = access.address.as_ref().unwrap();
    let header = analysed.loops.list[0].header;
    assert_eq!(address.constant, 8);
    for (term, coefficient) in [
        (Term::Tid(0), 4),
        (Term::Tid(1), 256),
        (Term::Trips(header), 64),
    ] {
        assert_eq!(address.coefficient(&term), coefficient, "{term:?}");
    }
    assert_eq!((address.terms.len(), address.bits), (4, 32));
    assert_eq!(
        access.touches.only().unwrap().of(&analysed.module).name,
        "a"
    );
}
