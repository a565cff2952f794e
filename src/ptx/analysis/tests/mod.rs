//! Tests of the static analyses.

mod random;

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

fn graph(text: &str) -> (Module, Cfg) {
    let text = entry(text);
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
        crate::ptx::Register(all.iter().position(|r| r.name == name).unwrap() as u32)
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
    // Nobody reads %r9 after the join: no phi, and no answer either.
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

/// What each access touches, as names.
fn touched(text: &str) -> Vec<Result<Vec<String>, &'static str>> {
    let analysed = Analysed::new(text, Context::default());
    let names = |a: &SharedAccess| match &a.touches {
        Touches::Variables(set) => Ok(set
            .iter()
            .map(|v| v.of(&analysed.module).name.clone())
            .collect()),
        Touches::All { reason, .. } => Err(*reason),
    };
    analysed.accesses().iter().map(names).collect()
}

#[test]
fn addresses_are_followed_to_their_variables() {
    let own = |names: &[&str]| Ok(names.iter().map(|&n| n.to_owned()).collect());
    for (body, expected) in [
        ("st.shared.u32 [a+8], %r1;", own(&["a"])),
        (
            "mov.u64 %rd1, b; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; \
             st.shared.u32 [%rd3+4], %r1;",
            own(&["b"]),
        ),
        // An index from memory stays an index.
        (
            "ld.global.u32 %r2, [%rd9]; mad.lo.u32 %r3, %r2, 4, a; ld.shared.u32 %r4, [%r3];",
            Err(""),
        ),
        (
            "mov.u32 %r1, a; mov.u32 %r2, b; selp.b32 %r3, %r1, %r2, %p1; ld.shared.u32 %r4, [%r3];",
            own(&["a", "b"]),
        ),
        (
            "mov.u32 %r1, a; @%p1 mov.u32 %r1, b; ld.shared.u32 %r4, [%r1];",
            own(&["a", "b"]),
        ),
        (
            "mov.u32 %r1, a; L: ld.shared.u32 %r4, [%r1]; add.s32 %r1, %r1, 4; \
             setp.lt.u32 %p1, %r4, 3; @%p1 bra L;",
            own(&["a"]),
        ),
        (
            "mov.u64 %rd1, a; cvta.shared.u64 %rd2, %rd1; ld.u32 %r1, [%rd2];",
            own(&["a"]),
        ),
        ("st.shared.u32 [dynamic+64], %r1;", own(&["dynamic"])),
        (
            "st.shared.u32 [a+4096], %r1;",
            Err("a constant offset that leads out of the variable"),
        ),
        (
            "ld.local.u32 %r1, [%rd9]; st.shared.u32 [%r1], %r2;",
            Err("an address that was in memory"),
        ),
        ("ld.u32 %r1, [%rd9];", Err("none")),
        (
            "shl.b32 %r1, %r2, 2; ld.shared.u32 %r3, [%r1];",
            Err("an address that belongs to no variable"),
        ),
    ] {
        let found = touched(&entry(body));
        match expected {
            Err("none") => assert!(found.is_empty(), "{body}: {found:?}"),
            // `mad` with a variable's address as operand.
            Err("") => assert_eq!(found, [own(&["a"])], "{body}"),
            expected => assert_eq!(found, [expected], "{body}"),
        }
    }
}

#[test]
fn calls_touch_what_the_functions_touch() {
    let head = ".version 8.5\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 a[64];
        .shared .align 4 .b8 b[64]; .shared .align 4 .b8 c[64];
        .func quiet(.param .b32 x) { .reg .b32 %r<3>; ld.param.u32 %r1, [x]; ret; }
        .func direct(.param .b32 x) { .reg .b32 %r<3>; ld.param.u32 %r1, [x]; st.shared.u32 [a], %r1; ret; }
        .func through(.param .b32 x) { .reg .b32 %r<3>; ld.param.u32 %r1, [x]; st.shared.u32 [%r1+4], %r1; ret; }
        .func (.param .b32 y) gives(.param .b32 x) { .reg .b32 %r<3>; mov.u32 %r1, c;
          st.param.b32 [y], %r1; ret; }
        .global .u64 table[2] = {direct, quiet};\n";
    let call = |function: &str, rest: &str| {
        format!(
            "{head}.visible .entry k(.param .u64 p) {{ .reg .b32 %r<9>; .reg .b64 %rd<9>; mov.u32 %r1, b;
             ld.param.u64 %rd1, [p];
             {{ .param .b32 q; .param .b32 s; st.param.b32 [q], %r1; {function}; {rest} }} ret; }}"
        )
    };
    let one = |name: &str| vec![Ok(vec![name.to_owned()])];
    assert_eq!(touched(&call("call.uni quiet, (q)", "")), []);
    assert_eq!(touched(&call("call.uni direct, (q)", "")), one("a"));
    assert_eq!(touched(&call("call.uni through, (q)", "")), one("b"));
    assert_eq!(
        touched(&call(
            "call.uni (s), gives, (q)",
            "ld.param.b32 %r2, [s]; st.shared.u32 [%r2], %r1;"
        )),
        [Err("the result of a call")]
    );
    // Through a pointer: whatever has its address taken.
    assert_eq!(
        touched(&call(
            "ld.global.u64 %rd2, [table]; P: .callprototype _ (.param .b32 _); call %rd2, (q), P",
            ""
        )),
        one("a")
    );
}

#[test]
fn what_makes_an_address_not_affine_is_named() {
    for (body, part, reason) in [
        ("and.b32 %r2, %r1, 31;", "and.b32", "masking"),
        ("shr.u32 %r2, %r1, 3;", "shr.u32", "division"),
        (
            "ld.global.u32 %r2, [%rd9];",
            "ld.global",
            "data from memory",
        ),
        ("min.u32 %r2, %r1, 7;", "min.u32", "minimum or maximum"),
        (
            "mul.lo.u32 %r2, %r1, %r1;",
            "mul.lo",
            "a product of values that both vary",
        ),
        ("selp.u32 %r2, %r1, 3, %p1;", "selp", "a selection"),
    ] {
        let text = entry(&format!(
            "mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 9; {body} shl.b32 %r3, %r2, 2;
             mov.u32 %r4, a; add.u32 %r5, %r4, %r3; st.shared.u32 [%r5], %r1;"
        ));
        let analysed = Analysed::new(&text, Context::default());
        let access = &analysed.accesses()[0];
        let unknown = access.address.as_ref().unwrap_err();
        assert_eq!(unknown.reason, reason);
        let at = find_in(&analysed.module, part);
        assert_eq!(unknown.at, at, "{body}");
        // Where the variable is does not depend on that.
        assert!(access.touches.only().is_some());
    }
    // Where a block has 32 threads in x, the mask changes nothing.
    let text = entry(
        "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; shl.b32 %r3, %r2, 2; mov.u32 %r4, a;
         add.u32 %r5, %r4, %r3; st.shared.u32 [%r5], %r1;",
    );
    let context = Context {
        block: Some([32, 8, 1]),
        ..Context::default()
    };
    let analysed = Analysed::new(&text, context);
    assert!(analysed.accesses()[0].address.is_ok());
}

fn find_in(module: &Module, text: &str) -> u32 {
    let index = module.function("k").unwrap() as usize;
    let all = module.functions[index].instructions.iter();
    all.map(|i| i.span.of(&module.text))
        .position(|t| t.starts_with(text))
        .unwrap() as u32
}
