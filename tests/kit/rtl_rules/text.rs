//! Rules for the text of an emitted module, checked token by token: a word in a
//! comment or a longer name breaks none.

use std::collections::{BTreeMap, BTreeSet};

/// System functions of synthesizable Verilog.
const SYSTEM: [&str; 3] = ["$clog2", "$signed", "$unsigned"];

/// What a text consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Comment(&'a str),
    /// A keyword, name or number.
    Word(&'a str),
    /// `$name`
    System(&'a str),
    /// A directive or macro with its backtick.
    Directive(&'a str),
    Other(char),
}

/// The rules that the text of the file `name` breaks.
pub fn broken_rules(name: &str, text: &str) -> Vec<String> {
    // The memory looks at the reset, and has one; it can be set to zeros.
    let is_memory = ["spad_bank_ram.v", "spad_two_port_ram.v"].contains(&name);
    let all = tokens(text);
    let code: Vec<_> = all
        .iter()
        .filter(|t| !matches!(t, Token::Comment(_)))
        .collect();
    let mut broken = Vec::new();
    // A timescale, which a design may have, is in front of the rest.
    let stated = code.first() == Some(&&Token::Directive("`timescale"));
    let code = match code
        .iter()
        .position(|t| **t == Token::Directive("`default_nettype"))
    {
        Some(start) if stated => &code[start..],
        _ => &code[..],
    };
    let nettype = |at: usize, value| {
        let directive = code.get(at) == Some(&&Token::Directive("`default_nettype"));
        directive && code.get(at + 1) == Some(&&Token::Word(value))
    };
    if !nettype(0, "none") || !nettype(code.len().saturating_sub(2), "wire") {
        broken.push("no `default_nettype around the module".to_owned());
    }
    let mut zeros = false;
    for (i, token) in code.iter().enumerate() {
        match **token {
            Token::Word("initial") if !zeros => broken.push("initial".to_owned()),
            Token::System(name) if !SYSTEM.contains(&name) => broken.push(name.to_owned()),
            Token::Directive("`ifdef") if is_memory => {
                zeros = code[i + 1] == &Token::Word("SPADKIT_RAM_ZEROS");
            }
            Token::Directive("`endif") if zeros => zeros = false,
            Token::Directive("`default_nettype") => {}
            Token::Directive(name) => broken.push(name.to_owned()),
            _ => {}
        }
    }
    let waivers = all.iter().filter_map(|token| match token {
        Token::Comment(text) => text.split_once("lint_off ").map(|(_, rule)| rule),
        _ => None,
    });
    let allowed = if is_memory { "SYNCASYNCNET" } else { "UNUSED" };
    let waivers = waivers.filter(|rule| !rule.starts_with(allowed));
    broken.extend(waivers.map(|rule| format!("lint_off {rule}")));
    broken.extend(alike(text));
    broken
}

/// The names in a module's code that differ from another one by case alone.
pub fn alike(text: &str) -> Vec<String> {
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    let (mut before, mut in_string) = (Token::Other(' '), false);
    let mut found = BTreeSet::new();
    for token in tokens(text) {
        in_string ^= token == Token::Other('"');
        // Behind a dot is a name of another module, behind a quote a number.
        let elsewhere = matches!(before, Token::Other('.' | '\''));
        if let Token::Word(word) = token
            && !(in_string || elsewhere || word.starts_with(|c: char| c.is_ascii_digit()))
        {
            let first = *known.entry(word.to_lowercase()).or_insert(word);
            if first != word {
                found.insert(format!("{first} and {word}"));
            }
        }
        before = token;
    }
    found.into_iter().collect()
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let after_sign = &rest[first.len_utf8()..];
        let word_ends = |from: &str| from.find(|c| !is_part(c)).unwrap_or(from.len());
        let end = match first {
            '/' if after_sign.starts_with('/') => rest.find('\n').unwrap_or(rest.len()),
            '/' if after_sign.starts_with('*') => rest.find("*/").map_or(rest.len(), |at| at + 2),
            '$' | '`' => 1 + word_ends(after_sign),
            c if is_part(c) => word_ends(rest),
            c => c.len_utf8(),
        };
        let (token, behind) = rest.split_at(end);
        tokens.push(match first {
            '/' if end > 1 => Token::Comment(token),
            '$' => Token::System(token),
            '`' => Token::Directive(token),
            c if is_part(c) => Token::Word(token),
            c => Token::Other(c),
        });
        rest = behind.trim_start();
    }
    tokens
}

fn module(body: &str) -> String {
    format!("// m\n`default_nettype none\nmodule m;\n{body}\nendmodule\n`default_nettype wire\n")
}

#[test]
fn a_module_that_breaks_a_rule_is_found() {
    let broken = |name: &str, body: &str| broken_rules(name, &module(body));
    let zeros = "`ifdef SPADKIT_RAM_ZEROS\ninitial a = 0;\n`endif";
    for (body, what) in [
        ("initial a = 0;", "initial"),
        ("always @* begin $display(\"\"); end", "$display"),
        ("$random", "$random"),
        ("`include \"x.v\"", "`include"),
        ("/* verilator lint_off WIDTH */", "lint_off WIDTH */"),
    ] {
        assert_eq!(broken("m.v", body), [what], "{body}");
    }
    assert_eq!(broken("m.v", zeros), ["`ifdef", "initial", "`endif"]);
    let always = format!("{zeros}\ninitial b = 0;");
    assert_eq!(broken("spad_bank_ram.v", &always), ["initial"]);
    let open = "module m;\nendmodule\n";
    assert_eq!(
        broken_rules("m.v", open),
        ["no `default_nettype around the module"]
    );
}

#[test]
fn names_that_differ_by_case_alone_are_found() {
    let text = "module m #(parameter BE = 4) (input wire [BE-1:0] be);\n    wire [7:0] x = 8'hBe;\n\
                part p (.Be(x), .X(be)); // X\n    $display(\"X\");\nendmodule\n";
    assert_eq!(alike(text), ["BE and be"]);
    assert_eq!(alike(&text.replace("BE", "DB")), [""; 0]);
}

#[test]
fn words_in_comments_and_names_break_no_rule() {
    let text = "// the initial $value\nwire initial_value = $clog2(4); /* `include */\n\
                /* verilator lint_off UNUSEDSIGNAL */ // initial";
    assert!(broken_rules("m.v", &module(text)).is_empty());
    let zeros = "`ifdef SPADKIT_RAM_ZEROS\ninitial a = 0;\n`endif";
    assert!(broken_rules("spad_bank_ram.v", &module(zeros)).is_empty());
}
