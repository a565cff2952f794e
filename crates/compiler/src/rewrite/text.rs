//! Positions in the text of an instruction, and unused names.

use spadkit_base::error::{Error, Result};
use spadkit_ptx::ast::{Module, Span, Statement, StatementKind};

/// The spans of the operands of an instruction (not of a call) in the text, in order.
pub(super) fn operand_spans(module: &Module, span: Span) -> Vec<Span> {
    let text = &module.text.as_bytes()[span.start as usize..span.end as usize];
    let marks = blanked(text);
    let end = marks
        .iter()
        .rposition(|&b| b == b';')
        .unwrap_or(marks.len());
    let marks = &marks[..end];
    let from = operands_start(marks);
    let mut spans = Vec::new();
    let (mut depth, mut start) = (0usize, from);
    for place in from..=end {
        match marks.get(place) {
            Some(b'[' | b'{' | b'(') => depth += 1,
            Some(b']' | b'}' | b')') => depth = depth.saturating_sub(1),
            byte if byte.is_none() || byte == Some(&b',') && depth == 0 => {
                let part = &marks[start..place];
                let inside = part.trim_ascii();
                if !inside.is_empty() {
                    let begin = start + part.len() - part.trim_ascii_start().len();
                    spans.push(Span {
                        start: span.start + begin as u32,
                        end: span.start + (begin + inside.len()) as u32,
                        line: span.line,
                    });
                }
                start = place + 1;
            }
            _ => {}
        }
    }
    spans
}

/// The byte after the guard, the opcode, and modifiers that stand apart.
fn operands_start(marks: &[u8]) -> usize {
    let after_blanks = |from: usize| marks.len() - marks[from..].trim_ascii_start().len();
    // An operand may follow without white space: `ldmatrix.b16{%r1}`, `mov.u32%r1`.
    let after = |from: usize, others: &[u8]| {
        let is_word = |b: &&u8| b.is_ascii_alphanumeric() || others.contains(b);
        from + marks[from..].iter().take_while(is_word).count()
    };
    let after_opcode = |from: usize| after(after_blanks(from), b"._:");
    let guard_end = match marks.first() {
        Some(b'@') => {
            let register = marks
                .iter()
                .position(|b| !b"@!".contains(b) && !b.is_ascii_whitespace());
            after(register.unwrap_or(marks.len()), b"%_$")
        }
        _ => 0,
    };
    let mut at = after_opcode(guard_end);
    while marks.get(after_blanks(at)) == Some(&b'.') {
        at = after_opcode(at);
    }
    at
}

/// The text with blanks instead of comments.
fn blanked(text: &[u8]) -> Vec<u8> {
    let mut marks = text.to_vec();
    let mut at = 0;
    while at + 1 < marks.len() {
        let end = match &marks[at..at + 2] {
            b"//" => marks[at..].iter().position(|&b| b == b'\n'),
            b"/*" => marks[at..]
                .windows(2)
                .position(|w| w == b"*/")
                .map(|n| n + 2),
            _ => {
                at += 1;
                continue;
            }
        };
        let end = end.map_or(marks.len(), |n| at + n);
        marks[at..end].fill(b' ');
        at = end;
    }
    marks
}

/// `wanted`, with underscores after it until the text has no such word.
pub(super) fn free_name(module: &Module, wanted: &str) -> String {
    let mut name = wanted.to_owned();
    while module.text.contains(&name) {
        name.push('_');
    }
    name
}

/// The module of a text that the pass has made of that of `module`.
pub(super) fn written(text: &str, module: &Module) -> Result<Module> {
    Module::parse(text, &module.name)
        .map_err(|error| Error::defect(format!("rewritten PTX that cannot be read: {error}")))
}

/// The byte after the `{` of a function's body.
pub(super) fn body_start(module: &Module, function: u32) -> Option<u32> {
    definition(module, function).map(|(_, open)| open.span.end)
}

/// The byte at which the head of a function with a body starts.
pub(super) fn head_start(module: &Module, function: u32) -> u32 {
    let own = module.functions[function as usize].span.start;
    definition(module, function).map_or(own, |(head, _)| head.span.start)
}

/// The head of a function and the `{` after it; a function may also be
/// declared before.
fn definition(module: &Module, function: u32) -> Option<(&Statement, &Statement)> {
    let pairs = module
        .statements
        .iter()
        .zip(module.statements.iter().skip(1));
    let is_head = |kind| kind == StatementKind::FunctionHead(function);
    let found = |(head, open): &(&Statement, &Statement)| {
        is_head(head.kind) && open.kind == StatementKind::Open
    };
    pairs.into_iter().find(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_found_whatever_is_around_them() {
        let text = ".version 7.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n\
            .reg .b32 %r<4>;\n.reg .b64 %d<3>;\n.reg .pred %p;\n.shared .b32 s[4];\n\
            @!%p ld.shared .v2.u32 {%r1, %r2}, [ %d1 + 8 ] /* a, b */ ; // c\n\
            st.shared.u32 [s+4] , %r1;\n\
            @ ! %p\tldmatrix.sync.aligned.m8n8.x2.shared::cta.b16{%r1,%r2},[%r3];\n\
            @%p mov.u32%r1, %r2;\n\
            ret;\n}\n";
        let module = Module::parse(text, "t").unwrap();
        let operands = |at: usize| -> Vec<&str> {
            let span = module.functions[0].instructions[at].span;
            let spans = operand_spans(&module, span);
            spans.iter().map(|s| s.of(text)).collect()
        };
        assert_eq!(operands(0), ["{%r1, %r2}", "[ %d1 + 8 ]"]);
        assert_eq!(operands(1), ["[s+4]", "%r1"]);
        assert_eq!(operands(2), ["{%r1,%r2}", "[%r3]"]);
        assert_eq!(operands(3), ["%r1", "%r2"]);
        assert!(operands(4).is_empty());
        assert_eq!(free_name(&module, "%r"), "%r_");
        let start = body_start(&module, 0).unwrap() as usize;
        assert!(text[..start].ends_with("k()\n{"));
        assert!(text[head_start(&module, 0) as usize..].starts_with(".entry"));
    }
}
