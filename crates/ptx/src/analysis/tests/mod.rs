//! Tests of the static analyses; what they know of a kernel is in
//! `tests/filetests/analyse` and `bits`.

mod random;

use super::*;
use crate::{Cfg, Module};

fn graph(body: &str) -> (Module, Cfg) {
    let text = format!(
        ".version 8.5\n.target sm_80\n.address_size 64\n.entry k() {{\n\
         .reg .b32 %r<10>; .reg .pred %p<10>; .shared .align 4 .b8 a[64];\n{body}\nret; }}"
    );
    let module = Module::parse(&text, "t.ptx").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let cfg = Cfg::new(&module.functions[0]);
    (module, cfg)
}

/// The instruction at whose place the text has that operand list.
fn find(module: &Module, text: &str) -> u32 {
    let all = module.functions[0].instructions.iter();
    let found = all
        .map(|i| i.span.of(&module.text))
        .position(|t| t.contains(text));
    found.unwrap_or_else(|| panic!("no {text}")) as u32
}

#[test]
fn dominators_loops_and_irreducible_cycles() {
    let (module, cfg) = graph(
        "mov.u32 %r1, 0;
         A: add.u32 %r1, %r1, 1; mov.u32 %r2, 0;
         B: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 9; @%p1 bra B;
         setp.eq.u32 %p2, %r1, 5; @%p2 bra OUT;
         setp.lt.u32 %p3, %r1, 20; @%p3 bra A;
         OUT: setp.lt.u32 %p4, %r1, 3; @%p4 bra Y;
         X: add.u32 %r1, %r1, 2;
         Y: add.u32 %r1, %r1, 3; setp.lt.u32 %p5, %r1, 50; @%p5 bra X;",
    );
    let dominators = Dominators::new(&cfg);
    let loops = Loops::new(&cfg, &dominators);
    let block = |text: &str| cfg.block_of[find(&module, text) as usize];
    let (a, b, x, y) = (
        block("add.u32 %r1, %r1, 1"),
        block("add.u32 %r2, %r2, 1"),
        block("add.u32 %r1, %r1, 2"),
        block("add.u32 %r1, %r1, 3"),
    );
    assert!(dominators.dominates(a, b) && dominators.dominates(a, a));
    assert!(!dominators.dominates(b, a) && !dominators.dominates(x, y));
    let headers: Vec<(u32, u32)> = loops.list.iter().map(|l| (l.header, l.depth)).collect();
    assert_eq!(headers, [(a, 1), (b, 2)]);
    assert_eq!(loops.list[1].parent, Some(0));
    assert_eq!(loops.list[0].exits.len(), 2);
    assert_eq!(loops.list[1].entering, [(a, b)]);
    assert!(loops.is_inside(b, 0) && loops.is_inside(b, 1) && !loops.is_inside(a, 1));
    assert!(loops.is_irreducible(x) && loops.is_irreducible(y) && !loops.is_irreducible(b));
}

#[test]
fn values_meet_where_they_are_read_later() {
    let (module, cfg) = graph(
        "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 7; mov.u32 %r2, 5; mov.u32 %r9, 1;
         @%p1 bra E; mov.u32 %r2, 6; mov.u32 %r9, 2; bra J;
         E: @%p1 mov.u32 %r2, 7; mov.u32 %r9, 3;
         J: add.u32 %r3, %r2, %r2; @!%p1 bra K; add.u32 %r4, %r3, 1;
         K: add.u32 %r5, %r2, %r4; ret; mov.u32 %r6, %r5; st.shared.u32 [a], %r6;",
    );
    let function = &module.functions[0];
    let values = Values::new(function, &cfg);
    let register = |name: &str| {
        let all = &function.registers;
        crate::Register(all.iter().position(|r| r.name == name).unwrap() as u32)
    };
    let (r2, r4, r9) = (register("%r2"), register("%r4"), register("%r9"));
    let sum = find(&module, "add.u32 %r3");
    let meeting = values.read(sum, r2);
    let Definition::Phi { block, inputs, .. } = values.definition(meeting) else {
        panic!("{:?}", values.definition(meeting));
    };
    assert_eq!((*block, inputs.len()), (cfg.block_of[sum as usize], 2));
    let guarded = inputs.iter().find_map(|i| match values.definition(i.1) {
        Definition::Guarded { at, old, .. } => Some((*at, *old)),
        _ => None,
    });
    let (at, old) = guarded.unwrap();
    assert_eq!(at, find(&module, "mov.u32 %r2, 7"));
    let first = find(&module, "mov.u32 %r2, 5");
    assert_eq!(values.written(first, r2), Some(old));
    assert_eq!(
        values.definition(old),
        &Definition::Instruction {
            at: first,
            register: r2
        }
    );
    assert!(values.users(old).contains(&Use::Instruction(at)));
    // The second of the joins has a value on one side only.
    let last = find(&module, "add.u32 %r5");
    let Definition::Phi { inputs, .. } = values.definition(values.read(last, r4)) else {
        panic!("no phi");
    };
    let undefined = |v: &ValueId| matches!(values.definition(*v), Definition::Undefined(_));
    assert_eq!(inputs.iter().filter(|i| undefined(&i.1)).count(), 1);
    // Nothing reads %r9 after the join: no phi, and no answer either.
    let join = cfg.block_of[sum as usize];
    assert_eq!(values.phis(join).len(), 1);
    assert_eq!(values.at_end(join, r9), None);
    assert_eq!(values.before(last, r2), Some(meeting));
    let start = find(&module, "mov.u32 %r9, 1");
    assert_eq!(values.at_end(0, r9), values.written(start, r9));
    // Code that nothing reaches has values, too.
    let dead = find(&module, "mov.u32 %r6");
    assert!(undefined(&values.read(dead, register("%r5"))));
}
