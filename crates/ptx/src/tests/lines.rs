//! The source lines of instructions, and the calls around inlined ones.

use super::*;

/// A chain of inlined calls is followed through the `.loc` of each call; one
/// that leads back to itself ends.
#[test]
fn inlined_calls_are_followed_outwards() {
    let text = |outer: &str| {
        format!(
            ".version 7.1\n.target sm_70\n.address_size 64\n.file 1 \"k.cu\"\n.file 2 \"lib.h\"\n\
             .visible .entry k()\n{{\n.reg .b32 %r<3>;\n.loc 1 30 5\nmov.u32 %r1, 0;\n\
             .loc 2 20 7, function_name $L0, inlined_at {outer}\nmov.u32 %r1, 1;\n\
             .loc 2 10 3, function_name $L1+8, inlined_at 2 20 7\nmov.u32 %r2, %r1;\nret;\n}}\n"
        )
    };
    let calls = |outer: &str| {
        let module = Module::parse(&text(outer), "k.ptx").unwrap();
        let k = &module.functions[0];
        let of = |at: usize| module.inlined_at(k, &k.instructions[at]);
        (of(0), of(1), of(2))
    };
    let places = |list: &[&str]| list.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>();
    let (none, one, two) = calls("1 30 5");
    assert_eq!(none, places(&[]));
    assert_eq!(one, places(&["k.cu:30"]));
    assert_eq!(two, places(&["lib.h:20", "k.cu:30"]));
    assert_eq!(calls("2 10 3").2.len(), 64);
}

/// `.loc` of `places`, each before an instruction; the source of the last, and
/// the calls around it.
fn placed(places: &[&str]) -> (Option<String>, Vec<String>) {
    let one = |place: &&str| format!(".loc {place}\nmov.u32 %r1, 0;\n");
    let body: String = places.iter().map(one).collect();
    let text = format!(
        ".version 7.1\n.target sm_70\n.address_size 64\n.file 1 \"k.cu\"\n.file 2 \"lib.h\"\n\
         .visible .entry k()\n{{\n.reg .b32 %r<3>;\n{body}}}\n"
    );
    let module = Module::parse(&text, "k.ptx").unwrap();
    let k = &module.functions[0];
    let last = k.instructions.last().unwrap();
    (module.source(k, last), module.inlined_at(k, last))
}

/// LLVM gives each line of inline assembly the next line of the source.
#[test]
fn lines_of_inline_assembly_are_those_of_the_statement() {
    let text = ".version 7.1\n.target sm_70\n.address_size 64\n.file 1 \"k.py\"\n\
                .visible .entry k()\n{\n.reg .b32 %r<3>;\n.loc 1 20 5\nmov.u32 %r1, 0;\n\
                // begin inline asm\n.loc 1 11 32\n{\n.loc 1 12 32\nmov.u32 %r1, 1;\n.loc 1 13 32\n\
                }\n// end inline asm\nmov.u32 %r1, 2;\n// begin inline asm\nmov.u32 %r1, 3;\n\
                .loc 1 12 32\nmov.u32 %r1, 4;\n// end inline asm\n.loc 1 30 1\nret;\n}\n";
    let module = Module::parse(text, "k.ptx").unwrap();
    let k = &module.functions[0];
    let lines = k.instructions.iter().map(|i| module.source(k, i).unwrap());
    let lines: Vec<String> = lines.collect();
    let line = |n: &u32| format!("k.py:{n}");
    let expected: Vec<String> = [20, 11, 11, 11, 11, 30].iter().map(line).collect();
    assert_eq!(lines, expected);
}

/// A function that is inlined twice has the same `.loc` twice: the call is the
/// one that came last.
#[test]
fn the_call_of_an_inlined_function_is_the_latest() {
    let calls = |calls: &[&str]| calls.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>();
    let first = [
        "1 14 5",
        "1 7 5, function_name $S, inlined_at 1 14 5",
        "1 3 5, function_name $G, inlined_at 1 7 5",
    ];
    let second = [
        "1 15 5",
        "1 7 5, function_name $S, inlined_at 1 15 5",
        "1 3 5, function_name $G, inlined_at 1 7 5",
    ];
    let source = Some("k.cu:3".to_owned());
    assert_eq!(
        placed(&first),
        (source.clone(), calls(&["k.cu:7", "k.cu:14"]))
    );
    let both = [first, second].concat();
    assert_eq!(placed(&both), (source, calls(&["k.cu:7", "k.cu:15"])));
}

/// Line 0 stands for no line: the place is the last one of the same function.
#[test]
fn line_zero_is_no_line() {
    let source = |places: &[&str]| placed(places).0;
    let text = |place: &str| Some(place.to_owned());
    assert_eq!(source(&["1 5 5", "1 7 5", "1 0 5"]), text("k.cu:7"));
    // What was inlined between is not where the kernel's own instruction is.
    let inlined = "2 9 1, function_name $S, inlined_at 1 7 5";
    assert_eq!(source(&["1 7 5", inlined, "1 0 5"]), text("k.cu:7"));
    // Nothing before: what comes after; an inlined function is at its call.
    let between = "2 0 1, function_name $S, inlined_at 1 7 5";
    assert_eq!(
        placed(&["1 7 5", inlined, "1 8 1", between]),
        (text("lib.h:9"), vec!["k.cu:7".to_owned()])
    );
    assert_eq!(placed(&["1 7 5", between]), (text("k.cu:7"), Vec::new()));
    assert_eq!(source(&["1 0 5"]), None);
}

/// Older compilers do not say where a header of the toolkit came in: after the user's
/// line before it.
#[test]
fn a_header_without_a_call_is_at_the_users_line_before_it() {
    let of = |header: &str, places: &[&str]| {
        let one = |place: &&str| format!(".loc {place}\nmov.u32 %r1, 0;\n");
        let body: String = places.iter().map(one).collect();
        let text = format!(
            ".version 7.1\n.target sm_70\n.address_size 64\n.file 1 \"k.cu\"\n.file 2 \"{header}\"\n\
             .visible .entry k()\n{{\n.reg .b32 %r<3>;\n{body}}}\n"
        );
        let module = Module::parse(&text, "k.ptx").unwrap();
        let k = &module.functions[0];
        module.inlined_at(k, k.instructions.last().unwrap())
    };
    let places = ["1 4 5", "1 7 5", "2 91 5"];
    assert_eq!(of("crt/mma.hpp", &places), ["k.cu:7"]);
    assert_eq!(of("lib.h", &places), [""; 0]);
    assert_eq!(of("crt/mma.hpp", &["2 91 5"]), [""; 0]);
    let stated = ["1 7 5", "2 91 5, function_name $S, inlined_at 1 4 5"];
    assert_eq!(of("crt/mma.hpp", &stated), ["k.cu:4"]);
}
