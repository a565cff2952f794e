//! Brackets, statements and functions of C++ source, found without a parser.

use super::blocks::{self, Namespace};
use super::masked::masked;
use super::words::{closing_brace, is_word, last_name, word};

/// Lines of a file that are read at most.
pub(in crate::suggest) const MOST_LINES: usize = 100_000;
/// Words before a parenthesis that are no function.
pub(in crate::suggest) const KEYWORDS: [&str; 6] =
    ["if", "for", "while", "switch", "catch", "return"];

/// A part of a source file.
pub(in crate::suggest) struct Text {
    /// The text as it is.
    pub text: String,
    /// The text with blanks instead of string literals and comments, so that every
    /// bracket counts, and without the heads and braces of namespaces.
    pub masked: String,
    pub(super) namespaces: Vec<Namespace>,
}

/// The head of a function or of a lambda that has a name.
pub(in crate::suggest) struct Function {
    pub name: String,
    /// The opening parenthesis of its parameters.
    pub open: usize,
    pub close: usize,
    /// The start of its body.
    pub body: usize,
}

impl Text {
    pub fn new(text: String) -> Self {
        let mut masked = masked(&text);
        let namespaces = blocks::dissolved(&mut masked);
        Text {
            text,
            masked,
            namespaces,
        }
    }

    /// The text of a span, whose blocks may end outside of it.
    pub fn part(&self, (from, to): (usize, usize)) -> Text {
        Text {
            text: self.text[from..to].to_owned(),
            masked: self.masked[from..to].to_owned(),
            namespaces: Vec::new(),
        }
    }

    /// The closing bracket for the one at `open`.
    pub fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0;
        for (at, c) in self.masked[open..].char_indices() {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(open + at);
            }
        }
        None
    }

    /// The bracket around `at` that opens last.
    pub fn open_before(&self, at: usize) -> Option<usize> {
        let mut depth = 0;
        let mut before = self.masked[..at].char_indices().rev();
        let open = before.find(|(_, c)| {
            depth += match c {
                ')' | ']' | '}' => 1,
                '(' | '[' | '{' => -1,
                _ => 0,
            };
            depth < 0
        });
        open.map(|(open, _)| open)
    }

    /// The end of the block around `at`, or of the text.
    pub fn block_end(&self, at: usize) -> usize {
        closing_brace(&self.masked, at).unwrap_or(self.text.len())
    }

    /// The opening bracket for the one at `close`.
    pub fn opening(&self, close: usize) -> Option<usize> {
        let mut depth = 0;
        for (at, c) in self.masked[..=close].char_indices().rev() {
            match c {
                ')' | ']' | '}' => depth += 1,
                '(' | '[' | '{' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(at);
            }
        }
        None
    }

    /// The parts between `from` and `to` that `separator` divides outside of all
    /// brackets; the angle brackets of a template count.
    pub fn split(&self, from: usize, to: usize, separator: char) -> Vec<(usize, usize)> {
        let (mut parts, mut start, mut at) = (Vec::new(), from, from);
        while let Some(c) = self.masked[at..to].chars().next() {
            if c == separator {
                parts.push((start, at));
                start = at + 1;
            }
            let end = match c {
                '(' | '[' | '{' => self.closing(at),
                '<' => self.template_end(at, to),
                _ => None,
            };
            at = end.filter(|end| *end < to).unwrap_or(at) + c.len_utf8();
        }
        parts.push((start, to));
        parts
    }

    /// The end of the template arguments that may open at `at`: a name stands
    /// before them, and no operator within.
    fn template_end(&self, at: usize, to: usize) -> Option<usize> {
        self.masked[..at].ends_with(is_word).then_some(())?;
        let end = at + self.masked[at..to].find('>')?;
        let within = &self.masked[at + 1..end];
        (!within.contains(['<', ';', '&', '|', '('])).then_some(end)
    }

    /// The parentheses of the statement `name (...)` that has the line at `line`.
    pub fn statement(&self, name: &str, line: usize) -> Option<(usize, usize)> {
        let line_end = line + self.masked[line..].find('\n')?;
        let before = &self.masked[..line_end];
        let mut at = None;
        let mut from = 0;
        while let Some(found) = word(&before[from..], name) {
            at = Some(from + found);
            from += found + name.len();
        }
        let open = at? + self.masked[at?..].find('(')?;
        let close = self.closing(open)?;
        (close >= line).then_some((open, close))
    }

    /// The call of `function` in the statement at `line`: where its name begins,
    /// and its parenthesis.
    pub fn call(&self, function: &str, line: usize) -> Option<(usize, usize)> {
        let after = |from: usize, to: usize| {
            let name = from + word(&self.masked[from..to], function)?;
            let mut open = name + function.len();
            if self.masked[open..].starts_with('<') {
                open = self.template_end(open, self.masked.len())? + 1;
            }
            open = self.masked.len() - self.masked[open..].trim_start().len();
            self.masked[open..].starts_with('(').then_some((name, open))
        };
        let end = self.statement_end(line);
        // The line may be within the statement.
        after(line, end).or_else(|| after(self.statement_start(line), end))
    }

    /// The name of the function that is called with the parenthesis at `open`, and where
    /// it begins; arguments of a template may be between the two.
    pub fn called(&self, open: usize) -> Option<(usize, &str)> {
        self.masked[open..].starts_with('(').then_some(())?;
        let mut before = self.masked[..open].trim_end();
        if before.ends_with('>') {
            before = &before[..before.rfind('<')?];
        }
        let name = last_name(before);
        (!name.is_empty()).then(|| (before.len() - name.len(), name))
    }

    /// The start of the statement that contains `at`.
    pub fn statement_start(&self, at: usize) -> usize {
        let before = self.masked[..at].rfind([';', '{', '}']);
        let from = before.map_or(0, |end| end + 1);
        at - self.masked[from..at].trim_start().len()
    }

    /// Just after the semicolon that ends the statement at `at`.
    pub fn statement_end(&self, at: usize) -> usize {
        let end = self.masked[at..].find(';');
        end.map_or(self.text.len(), |end| at + end + 1)
    }

    /// The start of a line, counted from 1.
    pub fn start_of_line(&self, line: u32) -> Option<usize> {
        let before = line.checked_sub(1)?;
        let mut starts =
            std::iter::once(0).chain(self.text.match_indices('\n').map(|(at, _)| at + 1));
        starts.nth(before as usize)
    }

    /// The number of the line with `at`, from 1.
    pub fn line_of(&self, at: usize) -> u32 {
        self.text[..at].matches('\n').count() as u32 + 1
    }

    /// The start of the line that contains `at`.
    pub fn line_start(&self, at: usize) -> usize {
        self.text[..at].rfind('\n').map_or(0, |end| end + 1)
    }

    /// The end of the line that contains `at`.
    pub fn line_end(&self, at: usize) -> usize {
        let end = self.text[at..].find('\n');
        end.map_or(self.text.len(), |end| at + end)
    }

    /// The contents of the string literals in a part.
    pub fn strings(&self, (from, to): (usize, usize)) -> String {
        let literals = self.text[from..to].split('"').skip(1).step_by(2);
        literals.collect()
    }

    /// The text before `at` without the blocks that are closed: what is declared
    /// in it is in scope.
    pub fn visible_before(&self, at: usize) -> String {
        let mut depth = 0;
        let mut seen: Vec<char> = Vec::new();
        for c in self.masked[..at].chars().rev() {
            match c {
                '}' => {
                    depth += 1;
                    // A block ends a statement.
                    seen.push(';');
                }
                '{' if depth > 0 => depth -= 1,
                '{' => seen.push(';'),
                c if depth == 0 => seen.push(c),
                _ => {}
            }
        }
        seen.iter().rev().collect()
    }

    /// Whether the block in which the text begins is open at its end.
    pub fn stays_in_its_block(&self) -> bool {
        let mut depth = 0;
        self.masked.chars().all(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth >= 0
        })
    }

    /// Whether all blocks of the text end in it, and no other.
    pub fn is_balanced(&self) -> bool {
        let count = |bracket: char| self.masked.matches(bracket).count();
        self.stays_in_its_block() && count('{') == count('}')
    }

    /// The function or the named lambda around `at`.
    pub fn function_around(&self, at: usize) -> Option<Function> {
        let mut depth = 0;
        for (open, c) in self.masked[..at].char_indices().rev() {
            match c {
                '}' => depth += 1,
                '{' if depth > 0 => depth -= 1,
                '{' => {
                    if let Some(function) = self.head(open) {
                        return Some(function);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The function around `at` that no other is around.
    pub fn outermost_function(&self, at: usize) -> Option<Function> {
        let mut found = self.function_around(at)?;
        while let Some(outer) = self.function_around(found.open) {
            found = outer;
        }
        Some(found)
    }

    /// The head of the block that opens at `body`, if it is a function's.
    fn head(&self, body: usize) -> Option<Function> {
        let before = self.masked[..body].trim_end();
        let close = before.len().checked_sub(1)?;
        before.ends_with(')').then_some(())?;
        let open = self.opening(close)?;
        let mut before = self.masked[..open].trim_end();
        if before.ends_with(']') {
            let captures = self.opening(before.len() - 1)?;
            before = self.masked[..captures]
                .trim_end()
                .strip_suffix('=')?
                .trim_end();
        }
        let name = last_name(before).to_owned();
        let is_function = !name.is_empty() && !KEYWORDS.contains(&name.as_str());
        is_function.then_some(Function {
            name,
            open,
            close,
            body: body + 1,
        })
    }
}

/// The arguments of the call whose parenthesis is at `open`.
pub(in crate::suggest) fn arguments(text: &Text, open: usize) -> Option<Vec<(usize, usize)>> {
    Some(text.split(open + 1, text.closing(open)?, ','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_comments_hide_their_brackets() {
        let text = Text::new("f(\"(\", ')', g /* ( */ (1)); // )\nh();".to_owned());
        assert_eq!(text.masked.len(), text.text.len());
        assert_eq!(text.closing(1), Some(text.text.find(");").unwrap()));
        let parts = arguments(&text, 1).unwrap();
        assert_eq!(parts.len(), 3);
    }

    #[test]
    fn raw_and_continued_strings_hide_their_brackets() {
        for literal in [
            "R\"(\" ) } )\"",
            "u8R\"x( )\" } )x\"",
            "\"(\\\n} (\"",
            "\"\\\"(\"",
            "'('",
        ] {
            let text = Text::new(format!("f({literal}, 1'000, '[', a);"));
            assert_eq!(text.masked.len(), text.text.len());
            let parts = arguments(&text, 1).unwrap();
            assert_eq!(parts.len(), 4, "{literal}: {}", text.masked);
        }
        // A comment begins with two characters, and a backslash may join a line to it.
        let text = Text::new("/*/ ( */f(1); // (\\\n (\n{".to_owned());
        assert_eq!(text.masked.trim_start(), "f(1);      \n  \n{");
    }

    #[test]
    fn characters_of_several_bytes_are_no_names() {
        assert_eq!(last_name("naïve"), "ve");
        assert_eq!(last_name("a→"), "");
        let text = Text::new("void f→g(int a) { x".to_owned());
        let around = text.function_around(text.text.len()).unwrap();
        assert_eq!(around.name, "g");
    }

    #[test]
    fn a_comma_between_template_arguments_is_no_end() {
        let text = Text::new("f(a < b, g<1, T>(x), c > d)".to_owned());
        let parts = arguments(&text, 1).unwrap();
        let parts: Vec<&str> = parts.iter().map(|&(a, b)| text.text[a..b].trim()).collect();
        assert_eq!(parts, ["a < b", "g<1, T>(x)", "c > d"]);
    }

    #[test]
    fn closed_blocks_are_out_of_sight() {
        let text = Text::new("int a; void f() { int b; } void g(int c) { if (c) { x".to_owned());
        let seen = text.visible_before(text.text.len());
        assert!(seen.contains("int a") && seen.contains("int c") && !seen.contains("int b"));
        let around = text.function_around(text.text.len()).unwrap();
        assert_eq!(around.name, "g");
    }
}
