//! Modules that are linked, run, and refused.

use crate::Module;
use crate::exec::{Launch, Memory, Options, Outcome, Program};
use spadkit_base::error::{Error, Result};

fn module(name: &str, body: &str) -> Module {
    let text = format!(".version 7.0\n.target sm_70\n.address_size 64\n{body}");
    Module::parse(&text, name).unwrap_or_else(|e| panic!("{e}"))
}

fn linked(a: &str, b: &str) -> Result<Module> {
    Module::link(vec![module("a.ptx", a), module("b.ptx", b)])
}

/// What the single thread of `entry` stores after its parameter, which is the
/// same with one text for all.
fn run(module: &Module, entry: &str) -> (Vec<u32>, Outcome) {
    let one = one_text(module);
    let found = run_module(module, entry);
    assert_eq!(run_module(&one, entry).0, found.0, "{}", one.text);
    found
}

/// The module as one text, which is PTX by itself, line by line.
fn one_text(module: &Module) -> Module {
    let one = module.clone().one_text().unwrap_or_else(|e| panic!("{e}"));
    let alone = Module::parse(&one.text, "one.ptx").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(alone.functions.len(), one.functions.len());
    let lines = |m: &Module| m.text.matches('\n').count();
    assert_eq!(lines(&one), lines(module), "{}", one.text);
    one
}

fn run_module(module: &Module, entry: &str) -> (Vec<u32>, Outcome) {
    let program = Program::new(module).unwrap();
    let mut memory = Memory::new();
    let out = memory.alloc("out", vec![0; 16]);
    let launch = Launch {
        entry: entry.to_owned(),
        grid: [1; 3],
        block: [1; 3],
        dynamic_shared: 0,
        params: memory.address(out).to_le_bytes().to_vec(),
    };
    let outcome = program.run(&mut memory, &launch, &Options::default());
    let words = memory.bytes(out).as_chunks::<4>().0.iter();
    let words = words.map(|w| u32::from_le_bytes(*w)).collect();
    (words, outcome.unwrap_or_else(|e| panic!("{e:?}")))
}

/// Calls `twice` of another module with 21, adds its `table[1]` and `constant`,
/// and its own `hidden`.
const MAIN: &str = ".extern .func (.param .b32 r) twice (.param .b32 x);\n\
    .extern .global .align 4 .u32 table[];\n\
    .extern .const .align 4 .u32 constant;\n\
    .global .align 4 .u32 hidden = 1000;\n\
    .visible .entry k(.param .u64 out) {\n\
      .reg .b32 %r<9>; .reg .b64 %rd<3>; .param .b32 p0; .param .b32 p1;\n\
      ld.param.u64 %rd1, [out];\n\
      mov.u32 %r1, 21;\n\
      st.param.b32 [p0], %r1;\n\
      call (p1), twice, (p0);\n\
      ld.param.b32 %r2, [p1];\n\
      st.global.u32 [%rd1], %r2;\n\
      ld.global.u32 %r3, [table+4];\n\
      st.global.u32 [%rd1+4], %r3;\n\
      ld.const.u32 %r4, [constant];\n\
      st.global.u32 [%rd1+8], %r4;\n\
      ld.global.u32 %r5, [hidden];\n\
      st.global.u32 [%rd1+12], %r5;\n\
      ret;\n}\n";

const OTHER: &str = ".visible .global .align 4 .u32 table[2] = {7, 8};\n\
    .visible .const .align 4 .u32 constant = 9;\n\
    .global .align 4 .u32 hidden = 2000;\n\
    .visible .func (.param .b32 r) twice (.param .b32 x) {\n\
      .reg .b32 %r<3>;\n\
      ld.param.b32 %r1, [x];\n\
      add.u32 %r2, %r1, %r1;\n\
      st.param.b32 [r], %r2;\n\
      ret;\n}\n\
    .visible .entry second(.param .u64 out) {\n\
      .reg .b32 %r<3>; .reg .b64 %rd<3>;\n\
      ld.param.u64 %rd1, [out];\n\
      ld.global.u32 %r1, [hidden];\n\
      st.global.u32 [%rd1], %r1;\n\
      st.global.u32 [%rd1+16], %r1;\n\
      ret;\n}\n";

#[test]
fn declarations_stand_for_the_definitions_of_others_in_any_order() {
    for modules in [[("a", MAIN), ("b", OTHER)], [("b", OTHER), ("a", MAIN)]] {
        let modules = modules.map(|(name, body)| module(name, body));
        let module = Module::link(modules.to_vec()).unwrap();
        let (words, outcome) = run(&module, "k");
        assert_eq!(words, [42, 8, 9, 1000]);
        assert!(outcome.findings.is_empty());
        // The other module has a hidden variable of the same name.
        let program = Program::new(&module).unwrap();
        let mut names: Vec<String> = program.symbols().map(|s| s.name).collect();
        names.sort_unstable();
        let second = &module.units[1].name;
        assert_eq!(
            names[1..3],
            ["hidden".to_owned(), format!("hidden ({second})")]
        );
        assert_eq!(run(&module, "second").0[0], 2000);
    }
}

#[test]
fn findings_and_sources_are_those_of_the_right_file() {
    let at = |text: &str, line| text.replacen("ld.param.u64", &format!("{line}\nld.param.u64"), 1);
    let first = format!(".file 1 \"first.cu\"\n{}", at(MAIN, ".loc 1 5 0"));
    let second = format!(".file 1 \"second.cu\"\n{}", at(OTHER, ".loc 1 6 0"));
    let module = linked(&first, &second).unwrap();
    let (_, outcome) = run(&module, "second");
    let [finding] = &outcome.findings[..] else {
        panic!("{:?}", outcome.findings);
    };
    assert_eq!(finding.ptx_file.as_deref(), Some("b.ptx"));
    assert_eq!(finding.source.as_deref(), Some("second.cu:6"));
    let text = format!(".version\n.target\n.address\n{second}");
    let line = text.lines().position(|l| l.contains("%rd1+16")).unwrap() + 1;
    assert_eq!(finding.ptx_line as usize, line);
    let k = &module.functions[module.entry("k").unwrap() as usize];
    let source = module.source(k, &k.instructions[0]);
    assert_eq!(source.as_deref(), Some("first.cu:5"));
    assert_eq!(module.file_of(k.instructions[0].span), Some("a.ptx"));
}

/// A function that returns a constant.
fn constant(linkage: &str, value: u32) -> String {
    format!(
        "{linkage} .func (.param .b32 r) f () {{\n.reg .b32 %r<2>;\n\
         mov.u32 %r1, {value};\nst.param.b32 [r], %r1;\nret;\n}}\n"
    )
}

const CALLS: &str = ".visible .entry k(.param .u64 out) {\n\
      .reg .b32 %r<2>; .reg .b64 %rd<2>; .param .b32 p;\n\
      ld.param.u64 %rd1, [out];\n\
      call (p), f, ();\n\
      ld.param.b32 %r1, [p];\n\
      st.global.u32 [%rd1], %r1;\n\
      ret;\n}\n";

#[test]
fn weak_gives_way_to_visible_and_to_earlier_ones() {
    for (first, second, wanted) in [
        (".weak", ".weak", 1),
        (".weak", ".visible", 2),
        (".visible", ".weak", 1),
        ("", ".visible", 1),
        (".visible", "", 1),
    ] {
        let a = constant(first, 1) + CALLS;
        let module = linked(&a, &constant(second, 2)).unwrap();
        assert_eq!(run(&module, "k").0[0], wanted, "{first} {second}");
    }
}

#[test]
fn common_variables_are_one_of_the_largest_size() {
    let a = ".common .global .align 4 .u32 shared_by_all[1];\n";
    let b = ".common .global .align 4 .u32 shared_by_all[4];\n";
    let module = linked(a, b).unwrap();
    let variables: Vec<u64> = module.variables.iter().map(|v| v.bytes).collect();
    assert_eq!(variables, [16]);
}

#[test]
fn function_addresses_in_tables_are_those_of_the_other_module() {
    let a = ".extern .global .align 8 .u64 table[1];\n\
        .visible .entry k(.param .u64 out) {\n\
          .reg .b32 %r<2>; .reg .b64 %rd<3>; .param .b32 p;\n\
          ld.param.u64 %rd1, [out];\n\
          ld.global.u64 %rd2, [table];\n\
          prototype: .callprototype (.param .b32 _) _ ();\n\
          call (p), %rd2, (), prototype;\n\
          ld.param.b32 %r1, [p];\n\
          st.global.u32 [%rd1], %r1;\n\
          ret;\n}\n";
    let b = constant("", 5) + ".visible .global .align 8 .u64 table[1] = {f};\n";
    let module = linked(a, &b).unwrap();
    assert_eq!(run(&module, "k").0[0], 5);
}

/// Code and initial values before the definition see it, too.
#[test]
fn a_definition_takes_the_place_of_its_declaration_in_one_text() {
    let text = ".extern .global .align 4 .u32 later[];\n\
        .visible .global .align 8 .u64 pointer = generic(later) + 4;\n\
        .visible .entry k(.param .u64 out) {\n\
          .reg .b32 %r<4>; .reg .b64 %rd<4>;\n\
          ld.param.u64 %rd1, [out];\n\
          ld.global.u64 %rd2, [pointer];\n\
          ld.u32 %r1, [%rd2];\n\
          ld.global.u32 %r2, [later];\n\
          st.global.v2.u32 [%rd1], {%r1, %r2};\n\
          ret;\n}\n\
        .extern .global .align 4 .u32 later[];\n\
        .visible .global .align 4 .u32 later[2] = {7, 8};\n";
    let module = module("one.ptx", text);
    assert_eq!(module.variables.len(), 2);
    let (words, outcome) = run(&module, "k");
    assert_eq!((&words[..2], outcome.findings.len()), (&[8, 7][..], 0));
    let head = ".version 7.0\n.target sm_70\n.address_size 64\n";
    let wrong = text.replace(".u32 later[2] = {7, 8}", ".f32 later[2]");
    let error = Module::parse(&format!("{head}{wrong}"), "one.ptx").unwrap_err();
    let Error::Input(error) = error else {
        panic!("{error}");
    };
    assert_eq!(
        (error.what.as_str(), error.line),
        ("later has a different type here", 16)
    );
    assert_eq!(
        error.help.as_deref(),
        Some("expected it as declared in line 4")
    );
}

fn refused(a: &str, b: &str) -> (String, usize) {
    match linked(a, b) {
        Err(Error::Input(e)) => {
            let help = e.help.clone().unwrap_or_default();
            (format!("{}: {}; {help}", e.path.display(), e.what), e.line)
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("linked: {a} {b}"),
    }
}

#[test]
fn what_does_not_fit_together_is_named_with_its_place() {
    let visible = ".visible .global .align 4 .u32 v[2];\n";
    let cases = [
        (
            constant(".visible", 1),
            "\n".to_owned() + &constant(".visible", 2),
            5,
            "b.ptx: f is defined twice; it is defined at a.ptx:4, too",
        ),
        (
            visible.to_owned(),
            visible.to_owned(),
            4,
            "b.ptx: v is defined twice",
        ),
        (
            visible.to_owned(),
            ".extern .global .align 4 .u32 v[3];\n".to_owned(),
            4,
            "b.ptx: v has a different size here; expected it as at a.ptx:4",
        ),
        (
            visible.to_owned(),
            ".extern .global .align 4 .f32 v[2];\n".to_owned(),
            4,
            "b.ptx: v has a different type here",
        ),
        (
            ".extern .const .align 4 .u32 v[2];\n".to_owned(),
            visible.to_owned(),
            4,
            "a.ptx: v is in a different state space here",
        ),
        (
            constant(".visible", 1),
            ".extern .func (.param .b64 r) f ();\n".to_owned(),
            4,
            "b.ptx: f has other return values here",
        ),
        (
            constant(".visible", 1),
            ".extern .func (.param .b32 r) f (.param .b32 x);\n".to_owned(),
            4,
            "b.ptx: f has other parameters here",
        ),
        (
            constant(".visible", 1),
            ".extern .global .align 4 .u32 f;\n".to_owned(),
            4,
            "b.ptx: f is a variable here; it is a function at a.ptx:4",
        ),
        (
            ".entry k() { ret; }\n".to_owned(),
            "\n.visible .entry k() { ret; }\n".to_owned(),
            5,
            "b.ptx: k is defined twice",
        ),
    ];
    for (a, b, line, what) in cases {
        let (text, at) = refused(&a, &b);
        assert!(text.contains(what), "{text}");
        assert_eq!(at, line, "{text}");
    }
    let narrow = Module::parse(".version 7.0\n.target sm_70\n.address_size 32\n", "n.ptx");
    let error = Module::link(vec![module("a.ptx", ""), narrow.unwrap()]).unwrap_err();
    assert!(
        error.to_string().contains("a different address size"),
        "{error}"
    );
}

#[test]
fn what_stays_undefined_is_named_where_it_is_used() {
    let uses = format!("\n{MAIN}");
    let module = linked("", &uses).unwrap();
    let error = module.check_supported("k").unwrap_err();
    let Error::Input(error) = error else {
        panic!("{error}");
    };
    let help = error.help.clone().unwrap();
    let call = module.functions[module.entry("k").unwrap() as usize].instructions[3].span;
    assert_eq!(
        (error.line, error.path.to_str()),
        (call.line as usize, Some("b.ptx"))
    );
    for what in [
        "twice has no body",
        "table is not defined here",
        "constant is not defined",
    ] {
        assert!(help.contains(what), "{help}");
    }
    assert!(
        help.contains(&format!("b.ptx, line {}:", call.line)),
        "{help}"
    );
}

/// Lines and files of findings and sources are those of the linked module.
#[test]
fn one_text_has_the_places_of_its_texts() {
    let at = |text: &str, line| text.replacen("ld.param.u64", &format!("{line}\nld.param.u64"), 1);
    let first = format!(".file 1 \"first.cu\"\n{}", at(MAIN, ".loc 1 5 0"));
    let second = format!(".file 1 \"second.cu\"\n{}", at(OTHER, ".loc 1 6 0"));
    let linked = linked(&first, &second).unwrap();
    let one = one_text(&linked);
    let [expected, found] = [&linked, &one].map(|m| run_module(m, "second").1.findings);
    assert_eq!(expected.len(), 1);
    for (a, b) in expected.iter().zip(&found) {
        assert_eq!((a.ptx_line, &a.ptx_file), (b.ptx_line, &b.ptx_file));
        assert_eq!(a.source, b.source);
    }
    for function in &linked.functions {
        let own = &one.functions[one.function(&function.name).unwrap() as usize];
        for (a, b) in function.instructions.iter().zip(&own.instructions) {
            assert_eq!(a.span.line, b.span.line);
            assert_eq!(linked.file_of(a.span), one.file_of(b.span));
            assert_eq!(linked.source(function, a), one.source(own, b));
        }
    }
    // What is one text already stays as it is.
    assert_eq!(one.clone().one_text().unwrap().text, one.text);
}

/// A variable that both define, and debug information in both.
#[test]
fn one_text_has_one_definition_of_each_name() {
    let shared = |linkage: &str, value: u32| {
        format!("{linkage} .global .align 4 .u32 w[2] = {{{value}, 1}};\n")
    };
    let reads = |entry: &str| {
        format!(
            ".visible .entry {entry}(.param .u64 out) {{\n.reg .b32 %r<2>; .reg .b64 %rd<2>;\n\
             .loc 1 7 3, function_name $L__info0, inlined_at 1 9 3\n\
             ld.param.u64 %rd1, [out];\nld.global.u32 %r1, [w];\n\
             st.global.u32 [%rd1], %r1;\nret;\n}}\n"
        )
    };
    let debug = ".section .debug_str\n{\n$L__info0:\n.b8 97, 0\n}\n";
    let file = |name: &str| format!(".file 1 \"{name}.cu\"\n");
    let text = |name: &str, variable: String| file(name) + &variable + &reads(name) + debug;
    let pair = |linkage: &str| {
        let second = text("second", shared(linkage, 4));
        linked(&text("first", shared(".weak", 3)), &second).unwrap()
    };
    // The first one is declared where the second one counts.
    for (linkage, wanted) in [(".weak", 3), (".visible", 4)] {
        for entry in ["first", "second"] {
            assert_eq!(run(&pair(linkage), entry).0[0], wanted, "{linkage}");
        }
        assert_eq!(one_text(&pair(linkage)).text.matches("= {").count(), 1);
    }
    let one = one_text(&pair(".weak"));
    // Two texts' debug information is none of one.
    assert!(!one.text.contains(".debug_str") && !one.text.contains("function_name"));
    assert!(one.text.contains(".loc 2 7 3"), "{}", one.text);
}

#[test]
fn variables_that_stand_together_are_refused_by_name() {
    let pair = ".extern .global .align 4 .u32 table[], other[];\n";
    let linked = linked(
        &OTHER.replace("second", "s"),
        &format!("{pair}{MAIN}").replace(".extern .global .align 4 .u32 table[];", ""),
    );
    let error = linked.unwrap().one_text().unwrap_err();
    assert!(
        error
            .to_string()
            .contains("table is declared together with other variables"),
        "{error}"
    );
}
