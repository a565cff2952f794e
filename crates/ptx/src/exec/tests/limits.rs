//! Limits: of the instructions of a launch, of memory.

use super::*;

#[test]
fn calls_that_call_twice_end_at_the_limit() {
    let mut module = String::from(".func f0() { ret; }\n");
    for n in 1..60 {
        let below = n - 1;
        module += &format!(".func f{n}() {{ call f{below}; call f{below}; ret; }}\n");
    }
    module += ".visible .entry k() { call f59; ret; }";
    let run = run_with(&module, [64, 1, 1], [8, 1, 1], &[], |options, launch| {
        options.limit = 100_000;
        launch.params.clear();
    });
    assert_eq!(kinds(&run), [FindingKind::Limit]);
    let executed = run.outcome.thread_instructions;
    assert!((100_000..103_200).contains(&executed), "{executed}");
}

#[test]
fn local_memory_and_module_variables_are_bounded() {
    let head = ".version 8.5\n.target sm_80\n.address_size 64\n";
    let check = |body: &str| {
        let module = Module::parse(&format!("{head}{body}"), "t.ptx").unwrap();
        let refused = Program::new(&module).and_then(|p| p.check("k"));
        refused.map_err(|e| format!("{:?}", miette::Report::new(e)))
    };
    check(".visible .entry k() { .local .b8 l[524288]; ret; }").unwrap();
    let error = check(".visible .entry k() { .local .b8 l[524289]; ret; }").unwrap_err();
    assert!(error.contains("524289 bytes of local memory"), "{error}");
    let two = ".global .b8 g[536870912]; .global .b8 h[536870913];";
    let error = check(&format!("{two} .visible .entry k() {{ ret; }}")).unwrap_err();
    assert!(error.contains("h has 536870913 bytes"), "{error}");
}

/// A finding in an inlined function names the calls around it.
#[test]
fn a_finding_names_the_calls_around_it() {
    let text = ".file 1 \"k.cu\"\n.file 2 \"lib.h\"\n.visible .entry k()\n{\n\
         .loc 2 20 7, function_name $L0, inlined_at 1 30 5\nbar.sync 1;\n\
         .loc 2 10 3, function_name $L1, inlined_at 2 20 7\ntrap;\nret;\n}\n";
    let run = run_with(text, [32, 1, 1], [1, 1, 1], &[], |_, launch| {
        launch.params.clear();
    });
    let finding = &run.outcome.findings[0];
    assert_eq!(finding.source.as_deref(), Some("lib.h:10"));
    assert_eq!(finding.inlined_at, ["lib.h:20", "k.cu:30"]);
    assert_eq!(finding.users_line(), Some("lib.h:10"));
}

/// A function that is called once is where the kernel calls it; one without lines of its
/// own as well.
#[test]
fn a_finding_names_the_only_call_of_its_function() {
    let run = |lines: &str, again: &str| {
        let text = format!(
            ".file 1 \"k.cu\"\n.file 2 \"lib.h\"\n\
             .func f()\n{{\n{lines}trap;\nret;\n}}\n\
             .func g()\n{{\n.loc 2 20 7\ncall f;\nret;\n}}\n\
             .visible .entry k()\n{{\n.loc 1 30 5\ncall g;\n{again}ret;\n}}\n"
        );
        let run = run_with(&text, [32, 1, 1], [1, 1, 1], &[], |_, launch| {
            launch.params.clear();
        });
        run.outcome.findings[0].clone()
    };
    let finding = run(".loc 2 10 3\n", "");
    assert_eq!(finding.source.as_deref(), Some("lib.h:10"));
    assert_eq!(finding.inlined_at, ["lib.h:20", "k.cu:30"]);
    let finding = run("", "");
    assert_eq!(finding.source.as_deref(), Some("lib.h:20"));
    assert_eq!(finding.inlined_at, ["k.cu:30"]);
    // Which of two calls it was is not known.
    let finding = run("", ".loc 1 31 5\ncall g;\n");
    assert_eq!(finding.source.as_deref(), Some("lib.h:20"));
    assert_eq!(finding.users_line(), Some("lib.h:20"));
}

/// As a GPU: it does not launch an entry with another block than it requires, or more
/// threads than it allows.
#[test]
fn a_block_that_the_entry_excludes_is_refused() {
    let run = |directive: &str, block: [u32; 3]| {
        let text = format!(
            ".version 8.5\n.target sm_80\n.address_size 64\n\
             .visible .entry k() {directive} {{ ret; }}"
        );
        let program = Program::new(&Module::parse(&text, "t.ptx").unwrap()).unwrap();
        let launch = Launch {
            entry: "k".to_owned(),
            grid: [1; 3],
            block,
            dynamic_shared: 0,
            params: Vec::new(),
        };
        let outcome = program.run(&mut Memory::new(), &launch, &Options::default());
        outcome.map(|_| ()).map_err(|e| e.to_string())
    };
    assert_eq!(run(".reqntid 32, 2", [32, 2, 1]), Ok(()));
    let refused = run(".reqntid 32, 2", [64, 1, 1]).unwrap_err();
    assert_eq!(
        refused,
        "a block of [64, 1, 1], where the PTX requires [32, 2, 1]"
    );
    assert_eq!(run(".maxntid 32, 2", [64, 1, 1]), Ok(()));
    let refused = run(".maxntid 32, 2", [65, 1, 1]).unwrap_err();
    assert_eq!(refused, "a block of 65 threads, where the PTX allows 64");
}

/// As ptxas does, for all GPUs.
#[test]
fn static_shared_memory_is_bounded() {
    let run = |bytes: u32| {
        let text = format!(
            ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k() {{\n\
             .shared .align 4 .b8 a[{bytes}]; .reg .b32 %r<2>; ld.shared.u8 %r1, [a]; ret; }}"
        );
        let program = Program::new(&Module::parse(&text, "t.ptx").unwrap()).unwrap();
        let launch = Launch {
            entry: "k".to_owned(),
            grid: [1; 3],
            block: [1; 3],
            dynamic_shared: 0,
            params: Vec::new(),
        };
        let outcome = program.run(&mut Memory::new(), &launch, &Options::default());
        outcome.map(|_| ()).map_err(|e| e.to_string())
    };
    assert_eq!(run(49152), Ok(()));
    let refused = run(49156).unwrap_err();
    assert_eq!(refused, "49156 bytes of static shared memory in k");
}
