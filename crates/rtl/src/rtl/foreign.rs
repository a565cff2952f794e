//! Checks Verilog that the kit did not write for constructs that could harm the user's machine.
//!
//! Co-simulation runs what is in the Verilog: `$system` calls a shell,
//! Verilator's `$c` and `` `systemc_...`` are C++, a DPI import is any C
//! function, and `$fopen` writes files. So Verilog of others is refused if it
//! has more than a synthesizable block and its messages need. The rule is a
//! list of what is allowed. If the lexer is not certain (a name that macros
//! would compose, an escaped name with a comment in it), the text is refused,
//! too. The rule prevents accidents; it is not a sandbox for hostile files.

use super::design::SourceFile;
use crate::error::{Error, Result};
use crate::input::Limit;
use crate::input::require_plain;
use std::collections::BTreeSet;
use std::path::Path;

/// System functions and tasks that calculate or print.
const SYSTEM: &str = "signed unsigned clog2 bits size left right low high increment dimensions \
    unpacked_dimensions cast isunbounded typename isunknown countones countbits onehot onehot0 \
    itor rtoi bitstoreal realtobits bitstoshortreal shortrealtobits \
    ln log10 exp sqrt pow floor ceil sin cos tan asin acos atan atan2 hypot sinh cosh tanh \
    past rose fell stable changed sampled asserton assertoff assertkill \
    display displayb displayh displayo write writeb writeh writeo \
    strobe strobeb strobeh strobeo monitor monitorb monitorh monitoro monitoron monitoroff \
    info warning error fatal finish stop time stime realtime timeformat printtimescale \
    random urandom urandom_range \
    setup hold setuphold recovery removal recrem width period skew nochange root unit";

/// Compiler directives that read no file and insert nothing.
const DIRECTIVES: &str = "define undef undefineall ifdef ifndef elsif else endif timescale \
    default_nettype resetall celldefine endcelldefine begin_keywords end_keywords \
    unconnected_drive nounconnected_drive __FILE__ __LINE__";

/// Names that no macro may have: tools know them as directives.
const NO_MACROS: [&str; 6] = [
    "include",
    "pragma",
    "line",
    "protect",
    "systemc",
    "verilator",
];

/// No hand-written block, and hardly a netlist, is larger.
const LIMIT: Limit = Limit {
    bytes: 64 << 20,
    expected: "Verilog",
};

const HELP: &str = "this Verilog would be executed on this machine: read it first; \
                    --trust takes it as it is";

/// Reads files that the kit did not write, by name from `dir`. Unless they are
/// trusted, they are checked by [`check_foreign`].
pub(crate) fn read_foreign(names: &[String], dir: &Path, trusted: bool) -> Result<Vec<SourceFile>> {
    let read = |name: &String| {
        // Names go into the scripts of tools.
        require_plain("the file name", name)?;
        let text = LIMIT.read_text(&dir.join(name))?;
        let name = name.clone();
        Ok(SourceFile::plain(name, text))
    };
    let files: Vec<SourceFile> = names.iter().map(read).collect::<Result<_>>()?;
    if !trusted {
        check_foreign(&files, dir)?;
    }
    Ok(files)
}

/// Refuses files with anything that could reach out of the simulation. The
/// message names the first such line; `dir` is for messages.
pub fn check_foreign(files: &[SourceFile], dir: &Path) -> Result<()> {
    let mut macros = BTreeSet::new();
    for file in files {
        Lexer::new(&file.text).macros(&mut macros);
    }
    for file in files {
        let mut lexer = Lexer::new(&file.text);
        if let Err(Suspect { at, what }) = lexer.check(&macros) {
            let path = dir.join(&file.name);
            let help = Some(HELP.to_owned());
            return Err(Error::input(what, help, &path, &file.text, at));
        }
    }
    Ok(())
}

/// A refused construct, with its position.
struct Suspect {
    at: usize,
    what: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    /// A keyword or a name.
    Name(&'a str),
    /// `$name`, without the sign.
    System(&'a str),
    /// A directive or the use of a macro, without the backtick.
    Directive(&'a str),
    /// A string, an escaped name, a character that means itself.
    Other(u8),
}

/// The tokens of a Verilog text before any macro is put in.
struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// The last token was a word, and nothing but comments followed.
    glued: bool,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str) -> Self {
        Lexer {
            text,
            at: 0,
            glued: false,
        }
    }

    /// Adds the names of the macros that the text defines.
    fn macros(&mut self, names: &mut BTreeSet<&'a str>) {
        let mut define = false;
        // `check` refuses text that cannot be read.
        while let Ok(Some((_, token))) = self.next() {
            if let Token::Name(name) = token
                && define
            {
                names.insert(name);
            }
            define = token == Token::Directive("define");
        }
    }

    fn check(&mut self, macros: &BTreeSet<&str>) -> std::result::Result<(), Suspect> {
        let listed = |list: &str, name: &str| list.split_whitespace().any(|w| w == name);
        while let Some((at, token)) = self.next()? {
            let refuse = |what: String| Err(Suspect { at, what });
            match token {
                Token::System(name) if !listed(SYSTEM, name) => {
                    return refuse(format!(
                        "${name} is not a system function that is allowed here"
                    ));
                }
                Token::Directive("define") => self.definition()?,
                Token::Directive(name) if !listed(DIRECTIVES, name) && !macros.contains(name) => {
                    return refuse(format!("`{name} is not an allowed directive here"));
                }
                Token::Name(word @ ("import" | "export")) => self.package(at, word)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Behind `` `define``: a macro without parameters, since those could put
    /// any name together.
    fn definition(&mut self) -> std::result::Result<(), Suspect> {
        let Some((at, Token::Name(name))) = self.next()? else {
            return Ok(());
        };
        let refuse = |what: &str| {
            let what = format!("the macro {name} {what}");
            Err(Suspect { at, what })
        };
        if NO_MACROS.iter().any(|n| name.starts_with(n)) {
            return refuse("has the name of a directive");
        }
        match self.byte(0) {
            b'(' => refuse("has parameters, which can make any name"),
            _ => Ok(()),
        }
    }

    /// `import NAME::` is of a package; anything else of `import` and `export`
    /// is C.
    fn package(&mut self, at: usize, word: &str) -> std::result::Result<(), Suspect> {
        let mut token = || Ok(self.next()?.map(|(_, token)| token));
        let package = matches!(token()?, Some(Token::Name(_)))
            && token()? == Some(Token::Other(b':'))
            && token()? == Some(Token::Other(b':'));
        if package {
            Ok(())
        } else {
            Err(Suspect {
                at,
                what: format!("{word} of something that is not a package"),
            })
        }
    }

    /// The byte so far ahead, 0 after the end.
    fn byte(&self, ahead: usize) -> u8 {
        let bytes = self.text.as_bytes();
        bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Goes on while `more` holds.
    fn skip(&mut self, more: impl Fn(u8) -> bool) {
        while self.at < self.text.len() && more(self.byte(0)) {
            self.at += 1;
        }
    }

    fn word(&mut self) -> &'a str {
        let from = self.at;
        self.skip(is_word);
        &self.text[from..self.at]
    }

    fn suspect<T>(&self, at: usize, what: &str) -> std::result::Result<T, Suspect> {
        let what = what.to_owned();
        Err(Suspect { at, what })
    }

    /// The next token and its position; nothing but a word may touch a word.
    fn next(&mut self) -> std::result::Result<Option<(usize, Token<'a>)>, Suspect> {
        self.blanks()?;
        let (at, first) = (self.at, self.byte(0));
        if at >= self.text.len() {
            return Ok(None);
        }
        if self.glued && (is_word(first) || first == b'`' || first == b'\\') {
            return self.suspect(at, "two adjacent words, which a tool may join");
        }
        let token = match first {
            b'"' => self.string(at)?,
            b'\\' => self.escaped_name(at)?,
            b'`' => self.directive(at)?,
            b'$' => self.system(at)?,
            byte if is_word(byte) => Token::Name(self.word()),
            byte => {
                self.at += 1;
                Token::Other(byte)
            }
        };
        self.glued = !matches!(token, Token::Other(_));
        Ok(Some((at, token)))
    }

    /// Skips white space, comments, and line ends after a backslash.
    fn blanks(&mut self) -> std::result::Result<(), Suspect> {
        loop {
            let at = self.at;
            match (self.byte(0), self.byte(1)) {
                (b' ' | b'\t' | b'\n' | b'\r' | 0x0c, _) => {
                    self.at += 1;
                    self.glued = false;
                }
                // Not white space: a tool may join the tokens around it.
                (b'\\', b'\n') => self.at += 2,
                (b'\\', b'\r') => self.at += 2 + usize::from(self.byte(2) == b'\n'),
                (b'/', b'/') => self.skip(|b| b != b'\n' && b != b'\r'),
                (b'/', b'*') => match self.text[at + 2..].find("*/") {
                    Some(length) => self.at += length + 4,
                    None => return self.suspect(at, "a comment without end"),
                },
                _ => return Ok(()),
            }
        }
    }

    fn string(&mut self, at: usize) -> std::result::Result<Token<'a>, Suspect> {
        if self.text[at..].starts_with("\"\"\"") {
            return self.suspect(at, "a string of the kind that not all tools know");
        }
        self.at += 1;
        loop {
            match self.byte(0) {
                b'"' => break,
                b'\\' if !matches!(self.byte(1), 0 | b'\n' | b'\r') => self.at += 2,
                0 | b'\n' | b'\r' | b'\\' => {
                    return self.suspect(at, "a string that does not end in its line");
                }
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Ok(Token::Other(b'"'))
    }

    /// `\name ` up to white space. Tools differ where something else seems to
    /// begin inside.
    fn escaped_name(&mut self, at: usize) -> std::result::Result<Token<'a>, Suspect> {
        self.at += 1;
        let from = self.at;
        self.skip(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0c));
        let name = &self.text[from..self.at];
        let odd = ["\"", "`", "//", "/*", "*/"];
        let plain = name.bytes().all(|b| b.is_ascii_graphic());
        if plain && !name.is_empty() && !odd.iter().any(|o| name.contains(o)) {
            Ok(Token::Other(b'\\'))
        } else {
            self.suspect(at, "an escaped name that tools may read in different ways")
        }
    }

    fn directive(&mut self, at: usize) -> std::result::Result<Token<'a>, Suspect> {
        self.at += 1;
        match self.word() {
            "" => self.suspect(at, "a backtick that puts names or strings together"),
            name => Ok(Token::Directive(name)),
        }
    }

    /// `$name`, or the `$` of a range, `[0:$]`.
    fn system(&mut self, at: usize) -> std::result::Result<Token<'a>, Suspect> {
        self.at += 1;
        match self.word() {
            "" if self.text[self.at..]
                .trim_start_matches(' ')
                .starts_with(']') =>
            {
                Ok(Token::Other(b'$'))
            }
            "" => self.suspect(at, "a '$' without a name, which a macro could give it"),
            name => Ok(Token::System(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Design;
    use super::*;
    use crate::config::Config;

    fn check(text: &str) -> Result<()> {
        let file = SourceFile::plain("m.v".to_owned(), text.to_owned());
        check_foreign(&[file], Path::new("rtl"))
    }

    #[test]
    fn what_the_kit_emits_is_allowed() {
        for preset in crate::config::PRESETS {
            let design = Design::emit(&[], &Config::preset(preset).unwrap()).unwrap();
            check_foreign(&design.files, Path::new("rtl")).unwrap();
        }
    }

    #[test]
    fn what_designs_are_made_of_is_allowed() {
        for text in [
            "`timescale 1ns/1ps\n`define W 8 // $system\nmodule m(input [`W-1:0] a); endmodule",
            "`ifdef FORMAL\n`undef W\n`endif",
            "initial begin $display(\"$system `include \\\" // /*\"); $finish; end",
            "/* $system(\"x\"); import \"DPI-C\" `include */ wire \\$system ; wire \\import ;",
            "wire [7:0] x = $signed(a) >>> $clog2(8); // `include \"x\"",
            "import pkg::*; import pkg :: f; int q[$]; a = q[0: $ ];",
            "wire \\a.b[3]$x ; wire imports, reimport; `define GO assign x = $signed(y);",
            "always @(*) x=1;always @(posedge clk)q<=d; assign {a,b}=8'hff;",
        ] {
            check(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        }
    }

    #[test]
    fn what_reaches_out_of_the_simulation_is_refused_with_its_place() {
        for text in [
            "initial $system(\"touch x\");",
            "initial $c(\"system(0);\");",
            "initial $c32(1);",
            "f = $fopen(\"x\");",
            "initial $readmemh(\"x\", m);",
            "initial $dumpfile(\"x\");",
            "import \"DPI-C\" function int system(string s);",
            "import\n/* */ \"DPI-C\" context function void f();",
            "export \"DPI-C\" task t;",
            "import \\system ;",
            "`include \"/etc/passwd\"",
            "`systemc_header\nint x;\n`verilog",
            "`verilator_config\nlint_off",
            "`pragma protect",
        ] {
            let text = format!("module m;\n  {text}\nendmodule\n");
            let error = check(&text).unwrap_err();
            assert!(error.to_string().contains("rtl/m.v:2:"), "{text}: {error}");
            assert_eq!(error.exit_status(), 2);
            let help = miette::Diagnostic::help(&error).unwrap().to_string();
            assert!(help.contains("--trust"), "{help}");
        }
    }

    #[test]
    fn names_that_macros_or_comments_hide_are_refused() {
        for text in [
            // Pasted, given as a parameter, or cut in two.
            "`define P(a, b) a``b\n`P($sys, tem)",
            "`define P(a) $a\ninitial `P(system)(\"x\");",
            "`define S $system\ninitial `S(\"x\");",
            "`define I import \"DPI-C\" function int f();\n`I",
            "`define I include\n``I \"x\"",
            "`define X tem\ninitial $sys`X(\"x\");",
            "`define A im\n`define B port\n`A`B \"DPI-C\" function f();",
            "`define A im\n`define B port\n`A/**/`B \"DPI-C\" function f();",
            "`define D $\n`D system(\"x\");",
            "initial $`X(\"x\");",
            "im/**/port \"DPI-C\" function f();",
            "im\\\nport \"DPI-C\" function f();",
            "`define Q `\"x`\"",
            "`UNKNOWN",
            "`define include_once 1",
            // Tools differ in where a string, comment or name ends.
            "\"a\ninitial $display; \"",
            "\"a\\\nb\" initial $system; \"",
            "\"\"\" \" \"\"\" $system(\"x\");",
            "/* no end",
            "wire \\a\"b ; initial x = \"$system\";",
            "wire \\a/*b ; initial $display; /* */",
            "wire \\é ;",
            "// a comment\rinitial $system(\"x\");",
            "x = \"\\\\\"; initial $system(\"\");",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
    }
}
